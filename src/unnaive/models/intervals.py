r"""Credible intervals of posterior probabilities: how sure a model can be, given its counts.

The probabilities in the tables of a model are estimates from counts, and 9 rows say less than 900.
Given the rows, every line of a table has a Dirichlet distribution, so the log joint of a class has
exact moments (:mod:`unnaive.tables.posterior`), and P(c | x) an interval (Mathematics 15.11).
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import _parallel
from unnaive._core.certainty import point_quantiles, quantiles
from unnaive._core.tables import posterior
from unnaive._dataclasses import dataclass
from unnaive._html import MOST_ROWS, html_table
from unnaive._scikit import check_is_fitted, clone
from unnaive.exceptions import UnnaiveError
from unnaive.models.blocks import in_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.io.frames import Frame
    from unnaive.models.classifier import Classifier

_ROWS_A_TASK = 1 << 12
_METHODS = ("auto", "delta", "sample")
_STRUCTURES = ("given", "bootstrap")
_LEAST = 1e-300  # instead of probability 0, where odds are taken
_MATTERS = 9.0  # as the kernel has it
_TOO_WIDE = 25.0  # variance of a log joint from which on sums of joints have no good closed form


def _percent(chance: float) -> str:
    """Write a probability as a whole percentage, never as 0 or 100 where it is neither.

    >>> _percent(0.823), _percent(0.004), _percent(0.996), _percent(1.0)
    ('82', '< 1', '> 99', '100')
    """
    if 0 < chance < 0.005:
        return "< 1"
    return "> 99" if 0.995 <= chance < 1 else f"{100 * chance:.0f}"


@dataclass(frozen=True, eq=False)
class Intervals:
    """Credible intervals of posterior probabilities.

    Attributes
    ----------
    lower, median, upper : ndarray of shape (n, k)
        Quantiles of P(c | x): (1 − level)/2, one half, and (1 + level)/2.
    classes : ndarray of shape (k,)
        Class labels.
    level : float
        Probability of the interval.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> model = NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
    >>> model.predict_interval([["a"]])
    Intervals(1 sample, 2 classes, level=0.9): 0: 79 % (34-99 %)
    """

    lower: FloatArray
    median: FloatArray
    upper: FloatArray
    classes: AnyArray
    level: float

    @property
    def width(self) -> FloatArray:
        """Width of the intervals; shape (n, k)."""
        return np.asarray(self.upper - self.lower)

    def text(self, row: int, label: int) -> str:
        """Write one interval in percent.

        Parameters
        ----------
        row : int
            Position of the sample.
        label : int
            Position of the class.

        Returns
        -------
        str
            Such as "82 % (74-88 %)".
        """
        bounds = (self.median, self.lower, self.upper)
        middle, low, high = (_percent(float(bound[row, label])) for bound in bounds)
        if low == high:
            return f"{middle} % ({low} %)"
        limits = low.startswith("<") or high.startswith(">")
        return f"{middle} % ({low}{' % to ' if limits else '-'}{high} %)"

    def _best(self, row: int) -> str:
        label = int(np.argmax(self.median[row]))
        return f"{self.classes[label]}: {self.text(row, label)}"

    def __len__(self) -> int:
        return len(self.median)

    def __repr__(self) -> str:
        n, k = self.median.shape
        shown = ", ".join(self._best(row) for row in range(min(n, 3))) + (", …" if n > 3 else "")
        samples = "1 sample" if n == 1 else f"{n} samples"
        return f"Intervals({samples}, {k} classes, level={self.level:g}): {shown}"

    def _repr_html_(self) -> str:
        heads = ["sample", *map(str, self.classes.tolist())]
        every = range(self.median.shape[1])
        some = range(min(len(self), MOST_ROWS + 1))
        rows = [(str(row), *(self.text(row, label) for label in every)) for row in some]
        return html_table(f"Median of P(c | x) and {self.level:.0%} interval", heads, rows)


def interval_of(
    self: Classifier,
    X: object,
    level: float,
    *,
    method: str,
    structure: str,
    training: tuple[Any, ...] | None,
    draws: int,
    random_state: int,
) -> Intervals:
    """Compute intervals as ``predict_interval`` says."""
    check_is_fitted(self)
    _check(level, method, structure, draws)
    model = copy(self)  # as it is fitted now, whatever another thread does meanwhile
    frame, random = model.known_frame(X), np.random.default_rng(random_state)
    if structure == "bootstrap":
        models = islice(_refitted(model, training, random), draws)
        bounds = _sampled(_posteriors(models, frame), level)
    else:
        bounds = _bounds(model, frame, level, method, draws, random)
    return Intervals(bounds[0], bounds[1], bounds[2], model.classes_, level)


def _check(level: float, method: str, structure: str, draws: int) -> None:
    if not isinstance(level, float | int) or not 0 < level < 1:
        raise ValueError(f"level={level!r}; it must be a number between 0 and 1, such as 0.9")
    if method not in _METHODS:
        raise ValueError(f"method={method!r}; it must be one of {', '.join(map(repr, _METHODS))}")
    if structure not in _STRUCTURES:
        known = " or ".join(map(repr, _STRUCTURES))
        raise ValueError(f"structure={structure!r}; it must be {known}")
    if not isinstance(draws, int) or draws < 2:
        raise ValueError(f"draws={draws!r}; it must be a whole number of at least 2")


def _bounds(  # noqa: PLR0917 - what predict_interval was given
    model: Any, frame: Frame, level: float, method: str, draws: int, random: np.random.Generator
) -> FloatArray:
    """Lower, median and upper bounds, with the structure given; shape (3, n, k)."""
    members = getattr(model.fitted_, "members", None)
    if members is not None:
        total = np.zeros((3, frame.n_rows, len(model.classes_)))
        for member in members:
            total += member.weight * _bounds(
                recalibrated(member), frame, level, method, draws, random
            )
        return _shifted(total, model.fitted_.calibration)
    closed = getattr(model.fitted_, "combines", str)() == "product"
    if method == "delta" and not closed:
        raise UnnaiveError(
            f"{type(model).__name__} has no intervals in closed form; use method='sample'"
        )
    if not closed or method == "sample":
        models = islice(drawn_models(model, random), draws)
        return _sampled(_posteriors(models, frame), level)
    points = _Points(draws, len(model.classes_), random) if method == "auto" else None
    return _closed(model, frame, level, points)


class _Points:
    """Points of independent standard normal variables, one for each class, made when needed.

    The points of a variable stand for equal probabilities, in random order (a Latin hypercube), so
    fewer of them are needed than of random draws.
    """

    def __init__(self, number: int, n_classes: int, random: np.random.Generator) -> None:
        self.shape, self.seed = (n_classes, number), int(random.integers(2**32))

    @cached_property
    def normal(self) -> FloatArray:
        """Points; shape (n_classes, number)."""
        from statistics import NormalDist  # noqa: PLC0415 - slow to import

        n_classes, number = self.shape
        z = [NormalDist().inv_cdf((place + 0.5) / number) for place in range(number)]
        return np.random.default_rng(self.seed).permuted(np.tile(z, (n_classes, 1)), axis=1)


def _closed(model: Any, frame: Frame, level: float, points: _Points | None) -> FloatArray:
    """Bounds from the cumulants of the log joint, where too rough at points; shape (3, n, k)."""
    from statistics import NormalDist  # noqa: PLC0415 - slow to import

    fitted, reach = model.fitted_, NormalDist().inv_cdf((1 + level) / 2)
    out = np.empty((3, frame.n_rows, len(fitted.labels)))

    def bound_block(rows: tuple[int, int], n_jobs: int | None) -> None:
        codes = model.codes_of(frame.block(*rows), n_jobs, fitted.schema)
        cumulants = fitted.cumulants(codes, n_jobs)
        _parallel.run(
            lambda part: quantiles(
                cumulants[slice(*part)], reach, rows[0] + part[0], rows[0] + part[1], out
            ),
            _parallel.row_blocks(len(cumulants), _ROWS_A_TASK),
            n_jobs,
        )
        if points is not None and len(fitted.labels) > 2:
            wide = _too_wide(cumulants)
            if len(wide):
                some = np.ascontiguousarray(cumulants[wide])
                point_quantiles(some, points.normal, level, rows[0] + wide, out)

    in_blocks(frame, bound_block, model.n_jobs)
    return out


def _too_wide(cumulants: FloatArray) -> IntArray:
    """Rows in which a class with too large a variance enters sums of classes; cumulants (n, 3, k).

    Those far below the others are left out of the sums (Mathematics 15.11): their own probability
    is below e^-9, and that of the others does not depend on them.
    """
    rows: IntArray = np.unique(np.nonzero(cumulants[:, 1] > _TOO_WIDE)[0])
    mean, variance = cumulants[rows, 0], cumulants[rows, 1]
    deviation = np.sqrt(variance)
    least = (mean - 3 * deviation).max(axis=1, keepdims=True) - _MATTERS
    matters = (variance > _TOO_WIDE) & (mean + 2 * deviation >= least)
    return np.asarray(rows[matters.any(axis=1)])


def drawn_models(model: Classifier, random: np.random.Generator) -> Iterator[Classifier]:
    """Yield copies of a model, each with tables or moments drawn from their posterior."""
    for fitted in model.fitted_.draws(random, model):
        drawn = copy(model)
        drawn._fitted = fitted
        yield drawn


def _posteriors(models: Iterator[Classifier], frame: Frame) -> Iterator[FloatArray]:
    """Yield the posterior probabilities of several models."""
    for model in models:
        yield model._predict_rows(frame, posterior)


def _refitted(
    model: Classifier, training: tuple[Any, ...] | None, random: np.random.Generator
) -> Iterator[Classifier]:
    """Yield models fitted to the training samples with random exponential weights."""
    if training is None:
        raise UnnaiveError(
            'structure="bootstrap" fits the model anew, and it keeps only counts; give the '
            "training samples as training=(X, y)"
        )
    X, y, *rest = training
    given = model._given(X, y, rest[0] if rest else None, first=True)
    labels = model.classes_.tolist()
    while True:
        weights = random.standard_exponential(given.frame.n_rows)
        weights = weights if given.weights is None else weights * given.weights
        refitted = clone(model).fit(given.frame, given.target, weights)
        if refitted.classes_.tolist() != labels:
            raise UnnaiveError(
                "the training samples have other classes than the model; give the samples that it "
                "was fitted to"
            )
        yield refitted


def _sampled(posteriors: Iterator[FloatArray], level: float) -> FloatArray:
    """Quantiles of posterior probabilities; shape (3, n, k)."""
    chances = np.stack(list(posteriors))
    return np.quantile(chances, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0)


def recalibrated(member: Any) -> Any:
    """Return the model of a blend's member with the member's calibration on top of its own."""
    model = copy(member.model)
    model._fitted = model.fitted_.calibrated(member.calibration)
    return model


def _shifted(bounds: FloatArray, calibration: Any) -> FloatArray:
    """Bounds of a blend with another prior: odds against the other classes are shifted."""
    if calibration is None:
        return bounds
    scale, k = np.exp(calibration.bias), bounds.shape[2]
    middle = np.maximum(bounds[1], _LEAST)
    weighted = middle * scale
    others = np.stack([np.delete(weighted, c, axis=1).sum(axis=1) for c in range(k)], axis=1)
    alone = np.stack([np.delete(middle, c, axis=1).sum(axis=1) for c in range(k)], axis=1)
    with np.errstate(divide="ignore"):
        odds = bounds / (1.0 - bounds) * scale * np.maximum(alone, _LEAST) / others
        return np.asarray(1.0 / (1.0 + 1.0 / odds))
