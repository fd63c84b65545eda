"""Numba loops of hierarchical smoothing: one level, and how well a concentration does there."""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel
from unnaive.structure.tree import TIE_TOLERANCE


@kernel
def back_off(counts, above, place, alpha, held, out):
    """P(x | context) = (N(x) + α·P(x | context above)) / (N + α) of every cell; cost of the table.

    ``place`` (q,) is each context's row in ``above``; ``held`` is taken off value and context.
    """
    n_contexts, n_values = counts.shape
    for context in range(n_contexts):
        size = 0.0
        for value in range(n_values):
            size += counts[context, value]
        size = max(size - held, 0.0) + alpha
        for value in range(n_values):
            count = max(counts[context, value] - held, 0.0) + alpha * above[place[context], value]
            out[context, value] = count / size if size > 0.0 else above[place[context], value]


@kernel
def left_out_gains(counts, above, place, alphas, out):
    """Add to ``out`` the log-likelihood of every row left out, for every α; cost cells · alphas.

    ``above`` holds P(x | context above) without a row that has x.
    """
    n_contexts, n_values = counts.shape
    for context in range(n_contexts):
        size = 0.0
        for value in range(n_values):
            size += counts[context, value]
        if size <= 0.0:
            continue
        for trial in range(alphas.size):
            alpha = alphas[trial]
            gain = -size * math.log(max(size - 1.0, 0.0) + alpha)
            for value in range(n_values):
                count = counts[context, value]
                if count > 0.0:
                    share = max(count - 1.0, 0.0) + alpha * above[place[context], value]
                    gain += count * math.log(share)
            out[trial] += gain


@kernel
def best_concentration(counts, above, place, alphas):
    """Return the first α of the largest gain; those within the tolerance are equals."""
    gains = np.zeros(alphas.size)
    left_out_gains(counts, above, place, alphas, gains)
    return alphas[np.argmax(gains >= gains.max() - TIE_TOLERANCE)]


@kernel
def root_shares(margin, held, rows, even):
    """P(x) from the counts of all contexts and some imaginary rows, spread evenly; (1, v)."""
    out = np.empty((1, margin.size))
    total = 0.0
    for value in range(margin.size):
        total += margin[value]
    total = max(total - held, 0.0)
    for value in range(margin.size):
        out[0, value] = (max(margin[value] - held, 0.0) + rows * even) / (total + rows)
    return out


@kernel
def pair_gains(pairs, pair_starts, slots, above, alphas, out):
    """Add what :func:`left_out_gains` does for every column below each other column, to out (d, α).

    ``above`` (k, slots) is P(x_i | c) without a row that has x_i.
    """
    n_columns = slots.size - 1
    for label in range(above.shape[0]):
        pair = 0
        for i in range(n_columns):
            size_i = slots[i + 1] - slots[i] - 1
            for j in range(i + 1, n_columns):
                size_j = slots[j + 1] - slots[j] - 1
                table = pairs[label, pair_starts[pair] : pair_starts[pair + 1]]
                table = table.reshape((size_i, size_j))
                first = above[label : label + 1, slots[i] : slots[i] + size_i]
                second = above[label : label + 1, slots[j] : slots[j] + size_j]
                left_out_gains(table, second, np.zeros(size_i, dtype=np.int64), alphas, out[j])
                left_out_gains(table.T, first, np.zeros(size_j, dtype=np.int64), alphas, out[i])
                pair += 1
