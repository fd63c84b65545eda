r"""Which missing feature to ask for next: the one with the largest expected information.

.. math:: I(C; X_i \mid o) = H(C \mid o) - \sum_v P(v \mid o)\, H(C \mid o, v), \qquad
          P(v \mid o) \propto \sum_c P(c, o, v)
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.explain.cells import bin_points, members_of, one_row, repeated, values_of, with_values
from unnaive.explain.wording import percent
from unnaive.io.frames import Column
from unnaive.models.gaussian import GaussianClassifier
from unnaive.schema import CategoricalColumn
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, Label
    from unnaive.explain.explanation import Explanation
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier

_GRID = 31  # numbers that are asked for in a blend without any bins
_SHOWN = 8  # answers that words list
_NODES, _WEIGHTS = np.polynomial.hermite.hermgauss(15)


class Answer(NamedTuple):
    """A possible value of a missing feature.

    Parameters
    ----------
    value : str
        The value or bin.
    probability : float
        P(value | observed features).
    posterior : tuple of float
        Posterior probabilities of all classes if the feature has this value.

    See Also
    --------
    Question : A missing feature with all of its answers.

    Examples
    --------
    >>> Answer("yes", 0.25, (0.2, 0.8)).posterior
    (0.2, 0.8)
    """

    value: str
    probability: float
    posterior: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Question:
    """A missing feature, and its expected information about the class.

    Parameters
    ----------
    column : str
        Name of the feature.
    information : float
        Expected information in bits.
    answers : tuple of Answer, default=()
        All values; empty for numbers that are not binned.

    See Also
    --------
    ask_next : Ranks the missing features of a sample.

    Examples
    --------
    >>> question = Question("smoker", 0.21, (Answer("no", 1.0, (0.9, 0.1)),))
    >>> question.answers[0].value
    'no'
    """

    column: str
    information: float
    answers: tuple[Answer, ...] = ()

    def __repr__(self) -> str:
        return f"Question({self.column!r}, {self.information:.3g} bits)"


def ask_next(model: Classifier, X_row: object) -> list[Question]:
    r"""Rank the missing features of a sample by their expected information about the class.

    .. math:: I(C; X_i \mid o) = H(C \mid o) - \sum_v P(v \mid o)\, H(C \mid o, v)

    where o are the observed features and P(v | o) is the model's own probability. For Gaussian
    models the sum is an integral, computed by Gauss–Hermite quadrature with 15 points for every
    class; for a blend it runs over one number in every bin of a member that has bins. Models that
    are not distributions over samples (ODANB, HNB) may expect a loss of information, which counts
    as 0.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    X_row : data frame, list or dict
        One sample: a frame or list with one row, a list of values, or a dictionary of some.

    Returns
    -------
    list of Question
        The most informative feature first; empty if no feature is missing.

    See Also
    --------
    what_if : Find the smallest change of observed features that changes the decision.
    importance : How much each feature matters over many samples.

    References
    ----------
    Lindley, "On a measure of the information provided by an experiment", Annals of Mathematical
    Statistics 27, 1956.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["yes", "old"], ["yes", "young"], ["no", "old"], ["no", "young"]] * 25
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"] * 25)
    >>> for question in ask_next(model, {}):
    ...     print(question.column, round(question.information, 2))
    x0 0.86
    x1 0.0
    """
    row = one_row(model, X_row)
    now = model.explain(row)
    used = {column for term in now.terms for column in term.columns}
    missing = [column for column in sorted(used) if not now.observed[0, column]]
    questions = [_question(model, row, column, now) for column in missing]
    return sorted(questions, key=lambda question: -question.information)


def _question(model: Classifier, row: Frame, column: int, now: Explanation) -> Question:
    """Compute the expected information of one column."""
    schema = model.schema_.columns[column]
    before = float(entropy(now.posterior)[0])
    if not isinstance(schema, CategoricalColumn):
        points = _points(model, column)
        if points and not schema.edges:
            names = [f"{point:.6g}" for point in points]
            if schema.missing_category:
                points, names = [*points, np.nan], [*names, MISSING_VALUES]
            return _of_rows(model, _asked(row, column, points), column, names, before)
        if isinstance(model, GaussianClassifier):
            return _of_numbers(model, row, column, now)
    values = with_values(row.column(column), schema, np.arange(schema.size))
    rows = repeated(row, schema.size, {column: values})
    return _of_rows(model, rows, column, values_of(schema), before)


def entropy(posterior: FloatArray) -> FloatArray:
    """Entropy in nats of every row of probabilities; shape (n,)."""
    safe = np.where(posterior > 0, posterior, 1.0)
    return np.asarray(-(posterior * np.log(safe)).sum(axis=1))


def _bits(before: float, weights: FloatArray, posterior: FloatArray) -> float:
    """Compute the expected information in bits, at least 0."""
    return max(0.0, float(before - weights @ entropy(posterior)) / log(2))


def _points(model: Classifier, column: int) -> list[float]:
    """Numbers to try where the heaviest member of a blend has no bins: one in each bin of another.

    If no member has bins, 31 numbers within three standard deviations of the class means.
    """
    members = [member.model for member in members_of(model)]
    for schema in (member.schema_.columns[column] for member in members):
        if not isinstance(schema, CategoricalColumn) and schema.edges:
            return bin_points(schema.edges)
    name = model.schema_.names[column]
    for moments in (one.moments_ for one in members if isinstance(one, GaussianClassifier)):
        if name in moments.schema.names:
            place = moments.schema.names.index(name)
            reach = 3.0 * np.sqrt(np.einsum("kii->ki", moments.covariances())[:, place])
            means = moments.means[:, place]
            return list(np.linspace((means - reach).min(), (means + reach).max(), _GRID).tolist())
    return []


def _asked(row: Frame, column: int, numbers: Sequence[float] | FloatArray) -> Frame:
    """Repeat a row, with other numbers in one column."""
    values = np.asarray(numbers, dtype=float)
    return repeated(row, len(values), {column: Column(row.names[column], values)})


def _of_rows(
    model: Classifier, rows: Frame, column: int, values: list[str], before: float
) -> Question:
    """Sum over rows that have one value of the column each."""
    answered = model.explain(rows)
    evidence, posterior = answered.log_evidence, answered.posterior
    peak = evidence.max()
    chances = np.exp(evidence - peak) if np.isfinite(peak) else np.ones(len(values))
    chances = chances / chances.sum()
    answers = tuple(
        Answer(value, float(chance), tuple(after))
        for value, chance, after in zip(values, chances, posterior.tolist(), strict=True)
    )
    return Question(rows.names[column], _bits(before, chances, posterior), answers)


def _of_numbers(model: GaussianClassifier, row: Frame, column: int, now: Explanation) -> Question:
    """Integrate over the mixture of the Gaussians of all classes."""
    name = model.schema_.names[column]
    means, deviations = _conditional(model, row, column, now.joint[0])
    shares = now.posterior[0]
    there = np.flatnonzero((shares > 0) & np.isfinite(deviations))
    if not len(there):
        return Question(name, 0.0)
    points = means[there, None] + np.sqrt(2.0) * deviations[there, None] * _NODES
    weights = shares[there, None] * _WEIGHTS / np.sqrt(np.pi)
    posterior = model.predict_proba(_asked(row, column, points.reshape(-1)))
    before = float(entropy(now.posterior)[0])
    return Question(name, _bits(before, weights.reshape(-1), posterior))


def _conditional(
    model: GaussianClassifier, row: Frame, column: int, joint: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of a number in every class, given the row; NaN if impossible.

    The log joint is a parabola in the number, so three points determine it.
    """
    moments = model.moments_
    place = moments.schema.names.index(model.schema_.names[column])
    shares = moments.class_weights / moments.class_weights.sum()
    centre = float(shares @ moments.means[:, place])
    step = float(np.sqrt(moments.variances[place])) or 1.0
    around = _asked(row, column, centre + step * np.array([-1.0, 0.0, 1.0]))
    with np.errstate(invalid="ignore", divide="ignore"):
        low, middle, high = model.predict_joint_log_proba(around)
        variance = step**2 / (2 * middle - low - high)
        variance = np.where(np.isfinite(joint) & (variance > 0), variance, np.nan)
        return centre + variance * (high - low) / (2 * step), np.sqrt(variance)


def questions_in_words(
    questions: list[Question], target: str, classes: list[Label], positive: Label = None
) -> str:
    """List the missing columns, and the probability of a class for each of their values.

    Examples
    --------
    >>> answers = (Answer("no", 0.75, (0.9, 0.1)), Answer("yes", 0.25, (0.2, 0.8)))
    >>> print(questions_in_words([Question("smoker", 0.21, answers)], "ill", ["no", "yes"]))
    smoker: 0.21 bits expected; ill = yes would be 10 % if no, 80 % if yes
    """
    label = classes[-1] if positive is None else positive
    place = classes.index(label)

    def line(question: Question) -> str:
        text = f"{question.column}: {question.information:.2f} bits expected"
        shown = [f"{percent(a.posterior[place])} if {a.value}" for a in question.answers[:_SHOWN]]
        if len(shown) < len(question.answers):
            shown.append("…")
        return f"{text}; {target} = {label} would be {', '.join(shown)}" if shown else text

    return "\n".join(map(line, questions)) or "no column is missing"
