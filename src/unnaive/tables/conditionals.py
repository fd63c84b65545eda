"""Probabilities of single cells: given only the class, and given all other cells of the row."""

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
    logs = np.empty((codes.shape[1], counts.n_classes, len(codes)))
    for column, line in enumerate(codes):
        logs[:, :, column] = column_factor(counts, column, -1, smoothing, PLAIN)[:, 0, line].T
    return logs


def full_conditionals(
    joint: Callable[[CodeArray], FloatArray], codes: CodeArray, sizes: IntArray
) -> FloatArray:
    """Log P(x_i | all other cells, c), 0 for missing cells; shape (n, k, d).

    It calls ``joint`` once for every value of every column. If a row has probability 0 in a
    class, the conditional is 0/0; here it is −inf.
    """
    whole = joint(codes)
    logs = np.zeros((*whole.shape, len(codes)))
    for column, size in enumerate(sizes):
        changed, total = codes.copy(), np.full(whole.shape, -np.inf)
        for value in range(int(size)):
            changed[column] = value
            np.logaddexp(total, joint(changed), out=total)
        observed = codes[column] < size
        with np.errstate(invalid="ignore"):
            conditional = np.where(np.isneginf(whole), -np.inf, whole - total)
        logs[observed, :, column] = conditional[observed]
    return logs
