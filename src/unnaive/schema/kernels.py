"""Numba loops that turn numbers into codes: one pass, 64 rows of every column at a time.

A block is a C-ordered (rows, columns) array, the codes are (columns, rows); the tile of 64
rows keeps what is read and what is written in the first-level cache.
"""

from __future__ import annotations

import numpy as np

from unnaive._kernel import kernel

TILE = 64
OUTSIDE = 63  # the highest raw code of a first look: one bit a value, the last for all others


@kernel
def offset_line(line, base, limit, marks, out):
    """Code one row as value − base, at most limit, and mark the codes that occur; vectorises."""
    for column in range(line.size):
        value = min(np.uint64(line[column] - base[column]), limit[column])
        marks[column] |= np.uint64(1) << value
        out[column] = value


@kernel
def offset_integers(block, base, limit, marks, codes, first):
    """Code integers as value − base, or ``limit`` where that is out of 0 … limit − 1; cost n·d.

    Bit b of ``marks[c]`` is set if column c has the code b (for limits up to 63).
    """
    n_rows, n_columns = block.shape
    tile = np.empty((TILE, n_columns), dtype=codes.dtype)
    for low in range(0, n_rows, TILE):
        rows = min(TILE, n_rows - low)
        for row in range(rows):
            offset_line(block[low + row], base, limit, marks, tile[row])
        for column in range(n_columns):
            target = codes[column, first + low : first + low + rows]
            for row in range(rows):
                target[row] = tile[row, column]


@kernel
def look_up_integers(values, lowest, table, codes):
    """Code one column by table[value − lowest]; the table's last entry is for all others; cost n.

    Seen as unsigned, what lies below the lowest value is beyond the table, too.
    """
    last = np.uint64(table.size - 1)
    for row in range(values.size):
        codes[row] = table[min(np.uint64(np.int64(values[row]) - lowest), last)]


@kernel
def look_up_floats(block, edges, starts, codes, first):
    """Code numbers by their bin, the number of edges below; NaN is the slot after the bins.

    Returns the first column that holds an infinite value, or −1; cost n·d·log(edges).
    """
    n_rows, n_columns = block.shape
    infinite = -1
    for low in range(0, n_rows, TILE):
        high = min(low + TILE, n_rows)
        for column in range(n_columns):
            cuts = edges[starts[column] : starts[column + 1]]
            target = codes[column, first + low : first + high]
            for row in range(high - low):
                value = block[low + row, column]
                below = 0
                above = cuts.size
                while below < above:
                    middle = (below + above) >> 1
                    if cuts[middle] < value:
                        below = middle + 1
                    else:
                        above = middle
                if not np.isfinite(value):
                    if np.isnan(value):
                        below = cuts.size + 1
                    elif infinite < 0:
                        infinite = column
                target[row] = below
    return infinite
