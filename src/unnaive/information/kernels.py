"""Numba loops over contingency tables."""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel


@kernel
def conditional_information(tables, pairs, starts, sizes, guard, out):
    """I(X_i;X_j|Y) in nats of each pair from its table (k, v_i, v_j); cost of the tables.

    A term p·log(a/b) counts as 0 where a or b is below ``guard``.
    """
    n_classes = tables.shape[0]
    widest = 0
    for pair in range(pairs.shape[0]):
        widest = max(widest, sizes[pairs[pair, 0]], sizes[pairs[pair, 1]])
    totals = np.empty((2, widest))
    for pair in range(pairs.shape[0]):
        size_i, size_j = sizes[pairs[pair, 0]], sizes[pairs[pair, 1]]
        information = 0.0
        grand_total = 0.0
        for label in range(n_classes):
            for cell in range(starts[pair], starts[pair + 1]):
                grand_total += tables[label, cell]
        least = guard * grand_total * grand_total
        for label in range(n_classes):
            for value in range(widest):
                totals[0, value] = 0.0
                totals[1, value] = 0.0
            total = 0.0
            cell = starts[pair]
            for a in range(size_i):
                for b in range(size_j):
                    count = float(tables[label, cell])
                    totals[0, a] += count
                    totals[1, b] += count
                    total += count
                    cell += 1
            cell = starts[pair]
            for a in range(size_i):
                for b in range(size_j):
                    count = float(tables[label, cell])
                    above, below = count * total, totals[0, a] * totals[1, b]
                    if count > 0.0 and above >= least and below >= least:
                        information += count * math.log(above / below)
                    cell += 1
        out[pair] = information / grand_total if grand_total > 0.0 else 0.0


@kernel
def score_additions(codes, candidates, base, shape, weights, logs, settings, out):
    """Score a variable with each candidate as a further parent; cost n a candidate.

    ``base`` (n,) is (context · v + value) · width, with contexts · v · width where a cell is
    missing; ``shape`` holds contexts, v, and the width: one more than the values of all
    candidates. ``settings`` (m, 3) holds whether gammas are summed, and α; ``logs[x]`` is x·log x
    for plain rows. ``out`` (m, 2) gets scores and rows.
    """
    n_contexts, size, width = shape
    n_cells = (n_contexts * size + 1) * width
    for place in range(candidates.size):
        line = codes[candidates[place]]
        table = np.zeros(n_cells)
        if weights.size:
            for row in range(base.size):
                table[np.uint64(base[row] + line[row])] += weights[row]
        else:
            counts = np.zeros(n_cells, dtype=np.uint32)
            count_rows(line, base, counts)
            table[:] = counts
        score_table(table.reshape(-1, width), shape, settings[place], logs, out[place])


@kernel
def count_rows(line, base, counts):
    """Count rows in a flat table; a loop of its own, without branches, in narrow numbers."""
    for row in range(base.size):
        counts[np.uint64(base[row] + line[row])] += np.uint32(1)


@kernel
def score_table(table, shape, settings, logs, out):
    """Score a table (contexts · v + 1, values + 1) of a variable and one of its parents."""
    n_contexts, size, width = shape
    out[0] = 0.0
    out[1] = 0.0
    for context in range(n_contexts):
        for value in range(width - 1):
            cells = table[context * size : (context + 1) * size, value]
            total = cells.sum()
            out[1] += total
            if total > 0.0 and settings[0] > 0.0:
                out[0] += gamma_score(cells, total, settings[1])
            elif total > 0.0:
                out[0] += likelihood_score(cells, total, logs)


@kernel
def score_both_ways(tables, pairs, starts, sizes, logs, settings, out):
    """Score each of two variables given the other, from their table; cost of the tables.

    ``settings`` (m, 2, 3) and ``out`` (m, 2, 2) as in :func:`score_additions`, for the first given
    the second and the other way round.
    """
    for pair in range(pairs.shape[0]):
        shape = (sizes[pairs[pair, 0]], sizes[pairs[pair, 1]])
        flat = np.empty(starts[pair + 1] - starts[pair])
        for cell in range(flat.size):
            flat[cell] = tables[starts[pair] + cell]
        table = flat.reshape(shape)
        for way in range(2):
            out[pair, way, 0] = 0.0
            out[pair, way, 1] = 0.0
            for value in range(shape[1 - way]):
                cells = table[:, value].copy() if way == 0 else table[value, :].copy()
                total = cells.sum()
                out[pair, way, 1] += total
                if total > 0.0 and settings[pair, way, 0] > 0.0:
                    out[pair, way, 0] += gamma_score(cells, total, settings[pair, way, 1])
                elif total > 0.0:
                    out[pair, way, 0] += likelihood_score(cells, total, logs)


@kernel
def likelihood_score(cells, total, logs):
    """Sum N log N over values less that of the whole; by table where counts are whole."""
    if logs.size > 1:
        score = -logs[np.int64(total)]
        for count in cells:
            score += logs[np.int64(count)]
        return score
    score = -total * math.log(total)
    for count in cells:
        if count > 0.0:
            score += count * math.log(count)
    return score


@kernel
def gamma_score(cells, total, alpha):
    """Log marginal likelihood of one context under a Dirichlet prior of α a value."""
    score = math.lgamma(cells.size * alpha) - math.lgamma(total + cells.size * alpha)
    for count in cells:
        if count > 0.0:
            score += math.lgamma(count + alpha) - math.lgamma(alpha)
    return score
