"""Numba loops over contingency tables."""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel


@kernel
def conditional_information(tables, pairs, starts, sizes, out):
    """I(X_i;X_j|Y) in nats of each pair from its table (k, v_i, v_j); cost of the tables."""
    n_classes = tables.shape[0]
    for pair in range(pairs.shape[0]):
        size_i, size_j = sizes[pairs[pair, 0]], sizes[pairs[pair, 1]]
        rows = np.empty(size_i)
        columns = np.empty(size_j)
        information = 0.0
        grand_total = 0.0
        for label in range(n_classes):
            table = tables[label, starts[pair] : starts[pair + 1]]
            rows[:] = 0.0
            columns[:] = 0.0
            total = 0.0
            for a in range(size_i):
                for b in range(size_j):
                    count = float(table[a * size_j + b])
                    rows[a] += count
                    columns[b] += count
                    total += count
            grand_total += total
            for a in range(size_i):
                for b in range(size_j):
                    count = float(table[a * size_j + b])
                    if count > 0.0:
                        information += count * math.log(count * total / (rows[a] * columns[b]))
        out[pair] = information / grand_total if grand_total > 0.0 else 0.0
