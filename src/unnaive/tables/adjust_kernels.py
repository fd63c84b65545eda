"""Numba loops over rows for class weights and for iterative Bayes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unnaive._kernel import kernel
from unnaive.structure.tree import TIE_TOLERANCE
from unnaive.tables.kernels import BLOCK, log_estimate

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray

FLOOR = 0.01  # no entry of iterative Bayes goes below


@kernel
def weigh_right(
    joint: FloatArray,
    bounds: IntArray,
    weights: FloatArray,
    log_weights: FloatArray,
    out: FloatArray,
) -> None:
    """Weight of the rows that are right under each of m lists of class weights; cost m·n·k.

    ``joint`` (k, n) and ``weights`` (n,) hold the rows class by class, those of class c from
    ``bounds[c]`` on; ``log_weights`` (m, k), ``out`` (m,). Of classes that tie the lowest wins.
    """
    n_classes = joint.shape[0]
    below, top = np.empty(BLOCK), np.empty(BLOCK)
    right = np.zeros((out.size, BLOCK))
    for own in range(n_classes):
        for low in range(bounds[own], bounds[own + 1], BLOCK):
            rows = min(BLOCK, bounds[own + 1] - low)
            part = joint[:, low : low + rows]
            for individual in range(out.size):
                shifts = log_weights[individual]
                top[:] = -np.inf
                for label in range(n_classes):
                    if label == own:
                        below[:rows] = top[:rows]
                    lift(part[label], shifts[label], top[:rows])
                add_chosen(
                    part[own],
                    shifts[own],
                    below[:rows],
                    top[:rows],
                    weights[low : low + rows],
                    right[individual],
                )
    for individual in range(out.size):
        out[individual] = right[individual].sum()


@kernel
def lift(scores: FloatArray, shift: float, top: FloatArray) -> None:
    """Keep the larger of what there is and of shifted scores; a loop that LLVM vectorises."""
    for row in range(top.size):
        score = scores[row] + shift
        top[row] = max(top[row], score)


@kernel
def add_chosen(
    scores: FloatArray,
    shift: float,
    below: FloatArray,
    top: FloatArray,
    weights: FloatArray,
    out: FloatArray,
) -> None:
    """Add the weights of rows whose class is within the tolerance of the top, and none below is."""
    for row in range(top.size):
        least = top[row] - TIE_TOLERANCE
        chosen = (scores[row] + shift >= least) & (below[row] < least)
        out[row] += weights[row] * chosen


@kernel
def right_spans(
    joint: FloatArray, classes: IntArray, log_weights: FloatArray, label: int, out: FloatArray
) -> None:
    """For each row, what log w of one class means, that of the others being fixed; cost n·k.

    ``out`` (3, n): the log w at which the class draws level with the best of the others, and the
    span [low, high) of log w in which the row is right, empty if there is none.
    """
    n_rows, n_classes = joint.shape
    scores = np.empty(n_classes)
    for row in range(n_rows):
        for other in range(n_classes):
            scores[other] = log_weights[other] + joint[row, other]
        scores[label] = -np.inf
        top, below = -np.inf, -np.inf
        for other in range(n_classes):
            top = max(top, scores[other])
            if other < classes[row]:
                below = max(below, scores[other])
        alone = joint[row, label]
        out[0, row] = top - alone
        low, high = right_span(scores, label, classes[row], top, below)
        out[1, row] = low - alone if low > -np.inf else low
        out[2, row] = high - alone


@kernel
def right_span(
    scores: FloatArray, label: int, own: int, top: float, below: float
) -> tuple[float, float]:
    """Scores [low, high) of a class with which a row's own class is chosen.

    ``top`` is the best of the other scores, ``below`` the best of those before the own class.
    A class within the tolerance of the best has drawn level, and the lowest such is chosen.
    """
    leads = below < top - TIE_TOLERANCE
    if own == label:
        return top - TIE_TOLERANCE if leads else below + TIE_TOLERANCE, np.inf
    if scores[own] < top - TIE_TOLERANCE or (label < own and not leads):
        return np.inf, -np.inf
    low = -np.inf if leads else below + TIE_TOLERANCE
    if label < own:
        return low, top - TIE_TOLERANCE
    return low, scores[own] + TIE_TOLERANCE


@kernel
def one_pass(
    lines: CodeArray,
    classes: IntArray,
    weights: FloatArray,
    prior: FloatArray,
    entries: FloatArray,
    starts: IntArray,
    literal: bool,
    renormalise: bool,
) -> None:
    """Correct the ``entries`` (k, V) of iterative Bayes by rows (n, d) in turn; cost n·k·d.

    With ``renormalise`` every distribution is made to sum to 1 again, at a cost of n·k·V.
    """
    n_rows, n_columns = lines.shape
    n_classes = prior.size
    totals = sums_of(entries, starts)
    floored = np.zeros(n_columns, dtype=np.bool_)
    chances = np.empty(n_classes)
    for row in range(n_rows):
        add_logs(lines[row], prior, entries, totals, starts, chances)
        chosen = most_probable(chances, prior)
        sure = chances[chosen]
        step = 1.0 - sure / n_classes if literal else (1.0 - sure) / n_classes
        step *= weights[row] if chosen == classes[row] else -weights[row]
        change = np.full(n_classes, -step / 2.0)
        change[chosen] = step
        for column in range(n_columns):
            start, stop, value = starts[column], starts[column + 1], np.int64(lines[row, column])
            if value < stop - start:
                for label in range(n_classes):
                    entry = entries[label, start + value]
                    entries[label, start + value] = max(entry + change[label], FLOOR)
                    totals[label, column] += entries[label, start + value] - entry
                if renormalise or not floored[column]:
                    floor_lines(entries[:, start:stop], totals[:, column], renormalise)
                    floored[column] = True


@kernel
def sums_of(entries: FloatArray, starts: IntArray) -> FloatArray:
    """Sum of every distribution's entries; shape (k, d)."""
    sums = np.zeros((entries.shape[0], starts.size - 1))
    for label in range(entries.shape[0]):
        for column in range(starts.size - 1):
            for place in range(starts[column], starts[column + 1]):
                sums[label, column] += entries[label, place]
    return sums


@kernel
def floor_lines(table: FloatArray, totals: FloatArray, renormalise: bool) -> None:
    """Lift a column's entries (k, v) to the floor, and make them sum to 1 if asked to."""
    for label in range(table.shape[0]):
        total = 0.0
        for value in range(table.shape[1]):
            table[label, value] = max(table[label, value], FLOOR)
            total += table[label, value]
        totals[label] = total
        if renormalise:
            for value in range(table.shape[1]):
                table[label, value] /= total
            totals[label] = 1.0


@kernel
def add_logs(
    line: CodeArray,
    prior: FloatArray,
    entries: FloatArray,
    totals: FloatArray,
    starts: IntArray,
    out: FloatArray,
) -> None:
    """Log joint of one row by entries over their sums, missing cells skipped; shape (k,)."""
    out[:] = prior
    for column in range(line.size):
        start, size = starts[column], starts[column + 1] - starts[column]
        if line[column] < size:
            place = start + np.int64(line[column])
            for label in range(out.size):
                entry, total = entries[label, place], totals[label, column]
                out[label] += log_estimate(entry, total, 0.0, 0.0, size)


@kernel
def most_probable(chances: FloatArray, prior: FloatArray) -> int:
    """Turn a log joint into probabilities, the prior if there is no chance; first of the best."""
    peak = chances.max()
    if peak == -np.inf:
        chances[:] = prior
        peak = prior.max()
    total = 0.0
    for label in range(chances.size):
        chances[label] = math.exp(chances[label] - peak)
        total += chances[label]
    chances /= total
    best, chosen = chances.max(), 0
    while chances[chosen] < best - TIE_TOLERANCE:
        chosen += 1
    return chosen
