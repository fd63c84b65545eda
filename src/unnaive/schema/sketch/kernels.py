"""Numba loops that sort numbers into buckets: one look into a hash table a number.

The bits of a float, its sign turned round, are an unsigned integer in the order of the
numbers. A bucket is all numbers that share the leading bits of that integer; its key has the
others set to zero.
"""

from __future__ import annotations

import numpy as np

from unnaive._kernel import kernel

BINADES = 1 << 12  # sign and exponent: numbers between two powers of two share theirs
_TOP = np.uint64(1 << 63)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_MANTISSA = np.uint64(52)
_HALF = np.uint64(32)
_GOLDEN = np.uint64(0x9E3779B1)  # 2³² by the golden ratio: half a word, so nothing overflows


@kernel
def slot_of(key, mask):
    """First place to look for a key in a table of mask + 1 slots."""
    folded = (key >> _HALF) ^ (key & np.uint64(0xFFFFFFFF))
    return ((folded * _GOLDEN) >> np.uint64(20)) & mask


@kernel
def find_buckets(values, shifts, index, keys, size, rows):
    """Write the row of each number's bucket, −1 for NaN; new buckets are put at ``size``.

    Stops where ``keys`` is full. Returns how many numbers were dealt with, and the new size.
    """
    bits = values.view(np.uint64)
    mask = np.uint64(index.size - 1)
    for place in range(values.size):
        if values[place] != values[place]:
            rows[place] = -1
            continue
        word = bits[place]
        if word == _TOP:
            word = _ZERO  # minus zero is zero
        key = ~word if word & _TOP else word | _TOP
        shift = np.uint64(shifts[key >> _MANTISSA])
        key = (key >> shift) << shift
        slot = slot_of(key, mask)
        while index[slot] >= 0 and keys[index[slot]] != key:
            slot = (slot + _ONE) & mask
        if index[slot] < 0:
            if size == keys.size:
                return place, size
            keys[size] = key
            index[slot] = size
            size += 1
        rows[place] = index[slot]
    return values.size, size


@kernel
def add_rows(values, rows, classes, weights, ends, counts):
    """Add numbers to their buckets: lowest, highest, and the weight of each class; O(n)."""
    for place in range(values.size):
        row = rows[place]
        if row >= 0:
            value = values[place]
            ends[row, 0] = min(ends[row, 0], value)
            ends[row, 1] = max(ends[row, 1], value)
            counts[row, classes[place]] += weights[place]


@kernel
def fill_index(keys, index):
    """Put the rows of all keys into an empty table of slots."""
    mask = np.uint64(index.size - 1)
    for row in range(keys.size):
        slot = slot_of(keys[row], mask)
        while index[slot] >= 0:
            slot = (slot + _ONE) & mask
        index[slot] = row
