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
def score_additions(codes, sizes, candidates, groups, shape, weights, logs, settings, out):
    """Score a variable with each candidate as a further parent; cost n a candidate.

    ``groups`` (n,) is context · v + value, and contexts · v where a cell is missing; ``shape``
    holds both numbers. ``settings`` (m, 3) holds whether gammas are summed, and α; ``logs[x]`` is
    x·log x for plain rows. ``out`` (m, 2) gets score and rows; −1 is no candidate.
    """
    n_contexts, size = shape
    for place in range(candidates.size):
        other = candidates[place]
        values = sizes[other] if other >= 0 else 1
        table = np.zeros((n_contexts * size + 1, values + 1))
        if weights.size:
            for row in range(groups.size):
                cell = np.int64(codes[other, row]) if other >= 0 else 0
                table[groups[row], cell] += weights[row]
        elif other >= 0:
            add_rows(codes[other], groups, table.ravel(), values + 1)
        else:
            for row in range(groups.size):
                table[groups[row], 0] += 1.0
        bayesian, alpha = settings[place, 0] > 0.0, settings[place, 1]
        out[place, 0] = 0.0
        out[place, 1] = 0.0
        for context in range(n_contexts):
            for value in range(values):
                cells = table[context * size : (context + 1) * size, value]
                total = cells.sum()
                out[place, 1] += total
                if total > 0.0 and bayesian:
                    out[place, 0] += gamma_score(cells, total, alpha)
                elif total > 0.0:
                    out[place, 0] += likelihood_score(cells, total, logs)


@kernel
def add_rows(codes, groups, table, width):
    """Count rows in a flat table, one a row; a loop of its own, without branches."""
    for row in range(groups.size):
        table[np.int64(groups[row]) * width + np.int64(codes[row])] += 1.0


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
