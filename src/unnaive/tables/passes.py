"""A pass of iterative Bayes over rows in which entries are probabilities that need not sum to 1.

The compiled pass divides entries by their sums; this variant of the paper does not, and is for
reproduction only, so it is plain numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.adjust import FLOOR
from unnaive._ties import first_best

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray


def unnormalized_pass(
    rows: tuple[CodeArray, IntArray, FloatArray],
    prior: FloatArray,
    entries: FloatArray,
    starts: IntArray,
    *,
    literal: bool,
) -> None:
    """Correct entries (k, V) by rows (n, d) in turn, without dividing by their sums.

    Parameters
    ----------
    rows : tuple of ndarrays of shape (n, d), (n,) and (n,)
        Codes, classes and weights of the rows.
    prior : ndarray of shape (k,)
        Log P(c).
    entries : ndarray of shape (k, V)
        Entries, changed in place; none goes below the floor once its column is corrected.
    starts : ndarray of shape (d + 1,)
        Where the entries of every column start.
    literal : bool
        Whether the step is 1 − P/k instead of (1 − P)/k.
    """
    n_classes, sizes = len(prior), np.diff(starts)
    for line, own, weight in zip(rows[0].astype(np.int64), *rows[1:], strict=True):
        seen = np.flatnonzero(line < sizes)
        cells = starts[seen] + line[seen]
        with np.errstate(divide="ignore"):
            joint = prior + np.log(entries[:, cells]).sum(axis=1)
        joint = prior if np.isneginf(joint).all() else joint
        chances = np.exp(joint - joint.max())
        chances /= chances.sum()
        chosen = first_best(chances)
        sure = chances[chosen]
        step = 1.0 - sure / n_classes if literal else (1.0 - sure) / n_classes
        step *= weight if chosen == own else -weight
        change = np.full(n_classes, -step / 2.0)
        change[chosen] = step
        entries[:, cells] += change[:, None]
        for column in seen:
            table = entries[:, starts[column] : starts[column + 1]]
            np.maximum(table, FLOOR, out=table)
