"""How many rows a model can be cross-validated on in a given time."""

from __future__ import annotations

from math import floor, log10
from time import perf_counter
from typing import TYPE_CHECKING

from sklearn.base import clone

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

_FEW = 8000  # rows up to which all are used, however long it takes
_PILOTS = (500, 3000)
_LEAST = 2000
_LEAST_FOLDS = 5


def affordable(
    model: Classifier, rows: ReportRows, folds: int, seconds: float, seed: int
) -> tuple[int, int | None]:
    """Choose folds and rows of a cross-validation of about some seconds; rows None: all.

    Two small fits measure the fixed time of a fit and the time per row. The number of rows is
    round. If even few rows are too many for a slow model, there are fewer folds.
    """
    n = len(rows.codes)
    if n <= _FEW:
        return folds, None
    try:
        low, high = (_seconds(model, rows.take(rows.drawn(size, seed))) for size in _PILOTS)
    except UnnaiveError:
        return folds, None
    per_row = max(high - low, 1e-9) / (_PILOTS[1] - _PILOTS[0])
    fixed = max(low - per_row * _PILOTS[0], 0.0)
    for number in (folds, min(folds, _LEAST_FOLDS)):
        most = (seconds / number - fixed) / per_row
        if most >= n:
            return number, None
        if most >= 2 * _LEAST:
            return number, rounded(most)
    return min(folds, _LEAST_FOLDS), _LEAST


def _seconds(model: Classifier, rows: ReportRows) -> float:
    """Time to fit rows and to predict them."""
    start = perf_counter()
    clone(model).fit(rows.frame, rows.target).predict_proba(rows.frame)
    return perf_counter() - start


def rounded(number: float) -> int:
    """Round down to 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> rounded(2000), rounded(7999), rounded(43_210)
    (2000, 5000, 20000)
    """
    size = 10 ** floor(log10(number))
    return int(max(step for step in (1, 2, 5) if step * size <= number) * size)
