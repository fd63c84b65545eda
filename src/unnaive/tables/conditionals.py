"""Densities of single cells: given the class alone, and given all other cells of the row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.trees import PLAIN, column_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing


def factors_alone(counts: JointCounts, codes: CodeArray, smoothing: Smoothing) -> FloatArray:
    """Log P(x_i | c) of every row, class and column, 0 for missing cells; shape (n, k, d)."""
    found = np.empty((codes.shape[1], counts.n_classes, len(codes)))
    for column, line in enumerate(codes):
        found[:, :, column] = column_factor(counts, column, -1, smoothing, PLAIN)[:, 0, line].T
    return found


def full_conditionals(
    joint: Callable[[CodeArray], FloatArray], codes: CodeArray, sizes: IntArray
) -> FloatArray:
    """Log P(x_i | all other cells, c), 0 for missing cells; cost a joint a value; (n, k, d).

    Where a class gives the row no chance at all, the conditional is 0/0, and −inf here.
    """
    own = joint(codes)
    found = np.zeros((*own.shape, len(codes)))
    for column, size in enumerate(sizes):
        changed, total = codes.copy(), np.full(own.shape, -np.inf)
        for value in range(int(size)):
            changed[column] = value
            np.logaddexp(total, joint(changed), out=total)
        observed = codes[column] < size
        with np.errstate(invalid="ignore"):
            given = np.where(np.isneginf(own), -np.inf, own - total)
        found[observed, :, column] = given[observed]
    return found
