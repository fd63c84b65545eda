r"""What to ask next: which missing attribute is expected to tell most.

.. math:: I(C; X_i \mid o) = H(C \mid o) - \sum_v P(v \mid o)\, H(C \mid o, v), \qquad
          P(v \mid o) \propto \sum_c P(c, o, v)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.explain.cells import bin_points, members_of, one_row, repeated, values_of, with_values
from unnaive.explain.wording import percent
from unnaive.io.frames import Column
from unnaive.models.gaussian import GaussianClassifier
from unnaive.schema import CategoricalColumn

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
    """A value that an attribute may turn out to have, how probable that is, and P(c | …) then."""

    value: str
    probability: float
    posterior: tuple[float, ...]


@dataclass(frozen=True)
class Question:
    """A missing attribute, and what it is expected to tell about the class.

    Attributes
    ----------
    column : str
    information : float
        Expected information in bits.
    answers : tuple of Answer
        All values, none for numbers that are not binned.
    """

    column: str
    information: float
    answers: tuple[Answer, ...] = ()


def ask_next(model: Classifier, X_row: object) -> list[Question]:
    """Rank the missing attributes of a row by what they are expected to tell about the class.

    A value counts as probable as the model finds it beside what is observed. Numbers of Gaussian
    models are integrated by Gauss–Hermite quadrature with 15 points for every class; a blend is
    asked for one number in every bin of a member that has bins. Models that are no distribution
    over rows (ODANB, HNB) may expect to know less than before; that counts as 0.

    Parameters
    ----------
    model : Classifier
        Fitted.
    X_row : row
        A frame or list with one row, or a dictionary of what is known.

    Returns
    -------
    list of Question
        The most informative first; none if nothing is missing.

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
    questions = []
    used = {column for term in now.terms for column in term.columns}
    for column in sorted(used):
        if now.observed[0, column]:
            continue
        known = model.schema_.columns[column]
        before = float(entropy(now.posterior)[0])
        points = _points(model, column)
        if points and not isinstance(known, CategoricalColumn) and known.size == 1:
            names = [f"{point:.6g}" for point in points]
            questions.append(_of_rows(model, _asked(row, column, points), column, names, before))
        elif isinstance(model, GaussianClassifier) and not isinstance(known, CategoricalColumn):
            questions.append(_of_numbers(model, row, column, now))
        else:
            values = with_values(row.column(column), known, np.arange(known.size))
            rows = repeated(row, known.size, {column: values})
            questions.append(_of_rows(model, rows, column, values_of(known), before))
    return sorted(questions, key=lambda question: -question.information)


def entropy(posterior: FloatArray) -> FloatArray:
    """Entropy in nats of every row of probabilities; shape (n,)."""
    safe = np.where(posterior > 0, posterior, 1.0)
    return np.asarray(-(posterior * np.log(safe)).sum(axis=1))


def _bits(before: float, weights: FloatArray, posterior: FloatArray) -> float:
    """Compute the expected information in bits, at least 0."""
    return max(0.0, float(before - weights @ entropy(posterior)) / log(2))


def _points(model: Classifier, column: int) -> list[float]:
    """Numbers to ask for where a blend's heaviest member has no bins: in those of another.

    Without any, 31 numbers within three standard deviations of the classes' means.
    """
    members = [member.model for member in members_of(model)]
    known = [member.schema_.columns[column] for member in members]
    cut = [c.edges for c in known if not isinstance(c, CategoricalColumn) and c.edges]
    if cut:
        return bin_points(cut[0])
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
    """Ask for a column that each of some rows has another value of."""
    found = model.explain(rows)
    peak = found.log_evidence.max()
    chances = np.ones(len(values))
    if np.isfinite(peak):
        chances = np.exp(found.log_evidence - peak)
    chances = chances / chances.sum()
    posterior = found.posterior
    answers = tuple(
        Answer(value, float(chance), tuple(after))
        for value, chance, after in zip(values, chances, posterior.tolist(), strict=True)
    )
    return Question(rows.names[column], _bits(before, chances, posterior), answers)


def _of_numbers(model: GaussianClassifier, row: Frame, column: int, now: Explanation) -> Question:
    """Integrate over the mixture of the classes' Gaussians."""
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
    """Mean and standard deviation of a number in every class, given the row; NaN for none.

    The log joint is a parabola in the number, which three points determine.
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
    """List what to ask next, with what the answers would mean for a class, or the last one.

    Examples
    --------
    >>> answers = (Answer("no", 0.75, (0.9, 0.1)), Answer("yes", 0.25, (0.2, 0.8)))
    >>> print(questions_in_words([Question("smoker", 0.21, answers)], "ill", ["no", "yes"]))
    smoker: 0.21 bits expected; ill = yes would be 10 % (no), 80 % (yes)
    """
    if not questions:
        return "nothing is missing"
    lines, label = [], classes[-1] if positive is None else positive
    place = classes.index(label)
    for question in questions:
        line = f"{question.column}: {question.information:.2f} bits expected"
        if question.answers:
            shown = question.answers[:_SHOWN]
            then = ", ".join(f"{percent(a.posterior[place])} ({a.value})" for a in shown)
            more = ", …" if len(shown) < len(question.answers) else ""
            line += f"; {target} = {label} would be {then}{more}"
        lines.append(line)
    return "\n".join(lines)
