"""How many rows a model can be cross-validated on in the time that people wait."""

from __future__ import annotations

from math import floor, log10
from time import perf_counter
from typing import TYPE_CHECKING

from sklearn.base import clone

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

_FEW = 8000  # rows of which all are judged, however long it takes
_PILOTS = (500, 1000, 4000)  # the first is for the compiler
_LEAST = 2000


def affordable_rows(
    model: Classifier, rows: ReportRows, folds: int, seconds: float, seed: int
) -> int | None:
    """Most rows for a cross-validation of about so many seconds, a round number; None: all.

    Two small fits tell what a fit takes at all and what a row adds to it.
    """
    if len(rows.codes) <= _FEW:
        return None
    try:
        _, low, high = (_seconds(model, rows.take(rows.drawn(size, seed))) for size in _PILOTS)
    except UnnaiveError:
        return None
    a_row = max(high - low, 1e-9) / (_PILOTS[2] - _PILOTS[1])
    fixed = max(low - a_row * _PILOTS[1], 0.0)
    most = (seconds / folds - fixed) / a_row
    return None if most >= len(rows.codes) else rounded(max(most, _LEAST))


def _seconds(model: Classifier, rows: ReportRows) -> float:
    """Time to learn from rows and to predict them."""
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
