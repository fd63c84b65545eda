"""How sure the model is: coverage and size of prediction sets, width of intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

COVERAGES = (0.8, 0.9, 0.95)
LEVEL = 0.9  # of the sets and intervals in the explorer
_MOST_ROWS = 2000  # whose intervals are computed
_ROUNDING = 1e-9


def least_probability(true: FloatArray, coverage: float) -> float:
    """Return the probability from which on a class is in the set of a coverage.

    ``true`` (n,) are held-out probabilities of the true classes. A class is in the set if its
    p-value is above 1 − coverage, see :mod:`unnaive.models.sets`; this is the same, solved for the
    probability.

    Examples
    --------
    >>> round(least_probability(np.arange(1, 20) / 20, 0.9), 6)
    0.1
    """
    rank = math.floor((1.0 - coverage) * (len(true) + 1) - 1.0 + _ROUNDING) + 1
    if rank < 1:
        return 0.0
    return float(np.partition(true, rank - 1)[rank - 1]) - _ROUNDING


def describe_certainty(model: Classifier, rows: ReportRows, chances: FloatArray) -> State:
    """Describe sets by held-out probabilities (n, k), and intervals by the model itself.

    The coverage is tested on rows that the threshold was not taken from: of every class one half
    of the rows takes it from the other half.
    """
    codes = rows.codes
    true = chances[np.arange(len(codes)), codes]
    half = _halves(codes)
    sets = [_tested(chances, true, half, coverage) for coverage in COVERAGES]
    return {
        "sets": [{"coverage": c, **found} for c, found in zip(COVERAGES, sets, strict=True)],
        "level": LEVEL,
        "least": least_probability(true, LEVEL),
        "width": _mean_width(model, rows),
    }


def _halves(codes: IntArray) -> IntArray:
    """Assign rows to halves, class by class; shape (n,)."""
    order = np.argsort(codes, kind="stable")
    half = np.empty(len(codes), dtype=np.int64)
    half[order] = np.arange(len(codes)) % 2
    return half


def _tested(chances: FloatArray, true: FloatArray, half: IntArray, coverage: float) -> State:
    limits = np.zeros(len(true))
    for number in (0, 1):
        other = true[half != number]
        limits[half == number] = least_probability(other, coverage) if len(other) else 0.0
    sizes = (chances >= limits[:, None]).sum(axis=1)
    return {
        "covered": float((true >= limits).mean()),
        "size": float(sizes.mean()),
        "single": float((sizes == 1).mean()),
        "empty": float((sizes == 0).mean()),
    }


def _mean_width(model: Classifier, rows: ReportRows) -> float | None:
    """Mean width of the intervals of the predicted classes; None without a closed form."""
    if getattr(model.fitted_, "combines", str)() != "product":
        return None
    step = max(1, -(-rows.frame.n_rows // _MOST_ROWS))
    chosen = np.arange(rows.frame.n_rows) % step == 0
    bounds = model.predict_interval(rows.frame.take(chosen), LEVEL, method="delta")
    best = bounds.median.argmax(axis=1)
    return float(bounds.width[np.arange(len(best)), best].mean())
