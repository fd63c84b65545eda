"""Leave-one-out: each row is subtracted from the counts and then predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.selective import measure
from unnaive._dataclasses import dataclass
from unnaive.tables.trees import leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.smoothing import Smoothing

SCORES = ("accuracy", "log_loss", "brier")


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows of equal weight, each of which is left out of the counts in turn.

    Attributes
    ----------
    places : ndarray of shape (m,)
        Positions of the rows.
    codes : ndarray of shape (d, m)
        Their codes.
    classes : ndarray of shape (m,)
        Their classes; the row is subtracted from the tables of its class.
    weight : float
        What is subtracted from the counts.
    """

    places: IntArray
    codes: CodeArray
    classes: IntArray
    weight: float

    def among(self, others: FloatArray, own: FloatArray) -> FloatArray:
        """Return ``others`` (k,) for every row, with ``own`` at the row's class; shape (m, k)."""
        return _among(others, own, self.classes)


def _among(others: FloatArray, own: FloatArray, classes: IntArray) -> FloatArray:
    out = np.repeat(others[None], len(classes), axis=0)
    out[np.arange(len(out)), classes] = own[classes]
    return out


def left_out_priors(
    counts: JointCounts,
    smoothing: Smoothing,
    class_prior: FloatArray | None,
    classes: IntArray,
    weights: FloatArray,
) -> FloatArray:
    """Log P(c) for every row, estimated without the row and its weight; shape (n, k)."""
    out = np.empty((len(classes), counts.n_classes))
    distinct, kind = np.unique(weights, return_inverse=True)
    rows = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
    for weight, alike in zip(distinct.tolist(), rows, strict=True):
        sets = leave_one_out_sets(weight)[:2]
        others, own = (log_prior(counts, smoothing, class_prior, held) for held in sets)
        out[alike] = _among(others, own, classes[alike])
    return out


def by_weight(rows: CodedRows, most: int | None = None) -> Iterator[LeftOut]:
    """Yield the rows in groups of equal weight.

    If there are more than ``most`` distinct weights, all rows are treated as if they had the
    mean weight.
    """
    weights = rows.weights
    distinct = np.ones(1) if weights is None else np.unique(weights)
    if weights is not None and most is not None and 1 < len(distinct) > most:
        distinct = np.array([weights.mean()])
    if weights is None or len(distinct) == 1:
        every, codes = np.arange(len(rows.classes)), np.ascontiguousarray(rows.codes)
        yield LeftOut(every, codes, rows.classes, float(distinct[0]))
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

    ``joints`` yields the log joint (n, k) of the rows for each candidate. ``prior`` is the answer
    for rows in which every class has probability 0.
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
    """All rows or, if n · ``width`` is above ``most``, an equal share of every class; shape (m,).

    Examples
    --------
    >>> some_rows(np.array([0, 1, 0, 1, 0, 1, 0, 1]), most=4).tolist()
    [0, 1, 4, 5]
    """
    step = max(-(-len(classes) * width // most), 1)
    return np.sort(np.argsort(classes, kind="stable")[::step])
