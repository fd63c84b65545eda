"""Leave-one-out: rows that are left out of the counts, and how well models then predict them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.selective import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows

SCORES = ("accuracy", "log_loss", "brier")


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows of one weight, each of which is left out of the counts in turn.

    Attributes
    ----------
    places : ndarray of shape (m,)
        Which rows they are.
    codes : ndarray of shape (d, m)
    classes : ndarray of shape (m,)
        Their own classes, whose tables lack the row.
    weight : float
        What leaving one out takes off the counts.
    """

    places: IntArray
    codes: CodeArray
    classes: IntArray
    weight: float

    def among(self, others: FloatArray, own: FloatArray) -> FloatArray:
        """Give every row numbers of the classes (k,): one list, and another for its own class."""
        found = np.repeat(others[None], len(self.classes), axis=0)
        found[np.arange(len(found)), self.classes] = own[self.classes]
        return found


def by_weight(rows: CodedRows, most: int | None = None) -> Iterator[LeftOut]:
    """Yield rows to be left out, those of one weight together.

    Of more than ``most`` distinct weights, all rows are left out as if of the mean weight.
    """
    weights = rows.weights
    distinct = np.ones(1) if weights is None else np.unique(weights)
    few = len(distinct) == 1 or most is None or len(distinct) <= most
    if weights is None or len(distinct) == 1 or not few:
        every, codes = np.arange(len(rows.classes)), np.ascontiguousarray(rows.codes)
        weight = distinct[0] if weights is None or few else weights.mean()
        yield LeftOut(every, codes, rows.classes, float(weight))
        return
    for weight in distinct.tolist():
        places = np.flatnonzero(weights == weight)
        codes = np.ascontiguousarray(rows.codes[:, places])
        yield LeftOut(places, codes, rows.classes[places], weight)


def left_out_scores(
    rows: CodedRows,
    joints: Callable[[LeftOut], Iterable[FloatArray]],
    prior: Callable[[LeftOut], FloatArray],
) -> FloatArray:
    """Weighted leave-one-out scores of candidates, see :data:`SCORES`; shape (m, 3).

    ``joints`` gives the log joint of rows by every candidate in turn, each (n, k); ``prior`` what
    is answered where no class has any chance.
    """
    total, weight = np.zeros((0, len(SCORES))), 0.0
    for group in by_weight(rows):
        alike, fallback = np.full(len(group.classes), group.weight), prior(group)
        scores = []
        for joint in joints(group):
            scores.append(np.zeros(len(SCORES)))
            measure(joint, fallback, group.classes, alike, scores[-1])
        total = np.array(scores) + (total if len(total) else 0.0)
        weight += float(alike.sum())
    return np.asarray(total / weight)


def some_rows(classes: IntArray, most: int, width: int = 1) -> IntArray:
    """All rows, or, where n · ``width`` is above ``most``, an equal share of every class.

    In their order; shape (m,).
    """
    step = max(-(-len(classes) * width // most), 1)
    return np.sort(np.argsort(classes, kind="stable")[::step])
