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
