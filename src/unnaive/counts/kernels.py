"""Numba loops over rows: bitmaps with AND + popcount, and histograms.

Columns of few values become bitmaps, one bit a row. Rows are first ordered by class
within blocks, so that a class is a run of words and one AND + popcount of two words counts
64 rows of one class. ``layout`` describes column i as (first bitmap, number of bitmaps,
first slot among all values, number of values v); where nothing is missing v − 1 bitmaps do,
and the last value's counts follow by subtraction.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from unnaive._kernel import kernel

WORD = 64
TILE_WORDS = 512  # the words of one value of column i and four of column j: 20 KB, in the cache
LINE_WORDS = 8  # runs are whole cache lines, so that no load straddles two


@intrinsic
def popcount(typing_context, word):  # noqa: ARG001 - numba's signature
    """Count the bits set in a word: one machine instruction that LLVM also vectorises."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def equal_bits(typing_context, codes, first, value):  # noqa: ARG001
    """Bit b of the result says whether ``codes[first + b] == value``, for 64 codes at once."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        code = ir.IntType(signature.args[0].dtype.bitwidth)
        lanes = ir.VectorType(code, WORD)
        address = builder.gep(array.data, [arguments[1]])
        loaded = builder.load(builder.bitcast(address, lanes.as_pointer()), align=1)
        undefined = ir.Constant(lanes, ir.Undefined)
        one = builder.insert_element(undefined, arguments[2], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WORD), [0] * WORD)
        every = builder.shuffle_vector(one, undefined, zeros)
        return builder.bitcast(builder.icmp_unsigned("==", loaded, every), ir.IntType(64))

    return types.uint64(codes, types.intp, codes.dtype), generate


@kernel
def class_positions(classes, cursor, positions):
    """Place each row behind the earlier rows of its class; ``cursor[c]`` is the next place."""
    for row in range(classes.size):
        place = cursor[classes[row]]
        positions[row] = place
        cursor[classes[row]] = place + 1


@kernel
def fill_bitmaps(codes, start, positions, layout, runs, ordered, words, tally):
    """Make the bitmaps of one block of rows and count every bitmap by class; cost n·d.

    The block's rows begin at ``start``; ``runs`` are the k + 1 word boundaries of its classes,
    ``ordered`` is a buffer of codes, and ``tally`` (k, bitmaps) is added to.
    """
    base = runs[0]
    for column in range(codes.shape[0]):
        first, used, missing = layout[column, 0], layout[column, 1], layout[column, 3]
        if used == 0:
            continue
        for row in range(ordered.size):
            ordered[row] = missing
        line = codes[column, start : start + positions.size]
        for row in range(line.size):
            ordered[positions[row]] = line[row]
        for label in range(runs.size - 1):
            for value in range(used):
                target = words[first + value]
                total = np.uint64(0)
                for word in range(runs[label], runs[label + 1]):
                    bits = equal_bits(ordered, (word - base) * WORD, codes.dtype.type(value))
                    target[word] = bits
                    total += popcount(bits)
                tally[label, first + value] += total


@kernel
def and_popcount(flat, left, right, length):
    """Rows that two bitmaps share, from their places in one flat array of words."""
    shared = np.uint64(0)
    for word in range(length):
        shared += popcount(flat[np.uint64(left + word)] & flat[np.uint64(right + word)])
    return shared


@kernel
def and_popcount_four(flat, left, right, stride, length, cells, cell):
    """Rows that a bitmap shares with each of four others: one load of it serves four.

    Places in flat arrays instead of slices: a slice costs as much as a hundred words.
    """
    second = right + stride
    third = second + stride
    fourth = third + stride
    shared_0 = np.uint64(0)
    shared_1 = np.uint64(0)
    shared_2 = np.uint64(0)
    shared_3 = np.uint64(0)
    for word in range(length):
        bits = flat[np.uint64(left + word)]
        shared_0 += popcount(bits & flat[np.uint64(right + word)])
        shared_1 += popcount(bits & flat[np.uint64(second + word)])
        shared_2 += popcount(bits & flat[np.uint64(third + word)])
        shared_3 += popcount(bits & flat[np.uint64(fourth + word)])
    cells[cell] += shared_0
    cells[cell + 1] += shared_1
    cells[cell + 2] += shared_2
    cells[cell + 3] += shared_3


@kernel
def count_pairs(words, layout, runs, pairs, starts, marginals, out):
    """Count chosen pairs of bitmap columns: n/64 words a pair of values.

    ``runs`` are word boundaries, run r of class r mod k; pair p's table (v_i, v_j) begins at
    ``starts[p]`` of every class's row of ``out``.
    """
    n_classes, width = out.shape
    stride = words.shape[1]
    flat, cells = words.ravel(), out.ravel()
    for run in range(runs.size - 1):
        base = (run % n_classes) * width
        for low in range(runs[run], runs[run + 1], TILE_WORDS):
            length = min(TILE_WORDS, runs[run + 1] - low)
            for pair in range(pairs.shape[0]):
                i, j = pairs[pair, 0], pairs[pair, 1]
                used_j = layout[j, 1]
                right = layout[j, 0] * stride + low
                for a in range(layout[i, 1]):
                    left = (layout[i, 0] + a) * stride + low
                    cell = base + starts[pair] + a * layout[j, 3]
                    for b in range(0, used_j - 3, 4):
                        place = right + b * stride
                        and_popcount_four(flat, left, place, stride, length, cells, cell + b)
                    for b in range(used_j - used_j % 4, used_j):
                        cells[cell + b] += and_popcount(flat, left, right + b * stride, length)
    for pair in range(pairs.shape[0]):
        for label in range(n_classes):
            first = label * width + starts[pair]
            complete_pair(cells, first, layout, pairs[pair, 0], pairs[pair, 1], marginals[label])


@kernel
def complete_pair(cells, first, layout, i, j, marginal):
    """Fill in the values that have no bitmap: what their column's total leaves over."""
    size_i, size_j = layout[i, 3], layout[j, 3]
    if layout[j, 1] < size_j:
        for a in range(layout[i, 1]):
            rest = marginal[layout[i, 2] + a]
            for b in range(size_j - 1):
                rest -= cells[first + a * size_j + b]
            cells[first + (a + 1) * size_j - 1] = rest
    if layout[i, 1] < size_i:
        for b in range(size_j):
            rest = marginal[layout[j, 2] + b]
            for a in range(size_i - 1):
                rest -= cells[first + a * size_j + b]
            cells[first + (size_i - 1) * size_j + b] = rest


@kernel
def add_values(codes, classes, weights, layout, columns, out):
    """Add each row's weight to its class and value, in row order; cost n a column."""
    for index in range(columns.size):
        column = columns[index]
        first, size = layout[column, 2], layout[column, 3]
        line = codes[column]
        for row in range(line.size):
            if line[row] < size:
                out[classes[row], first + line[row]] += weights[row]


@kernel
def add_triples(codes, classes, weights, layout, triples, starts, out):
    """Add each row's weight to its class and three values, in row order; cost n a triple."""
    for triple in range(triples.shape[0]):
        first, second, third = triples[triple, 0], triples[triple, 1], triples[triple, 2]
        size_i, size_j, size_l = layout[first, 3], layout[second, 3], layout[third, 3]
        for row in range(classes.size):
            a, b, c = codes[first, row], codes[second, row], codes[third, row]
            if a < size_i and b < size_j and c < size_l:
                cell = starts[triple] + (np.int64(a) * size_j + b) * size_l + c
                out[classes[row], cell] += weights[row]


@kernel
def add_pairs(codes, classes, weights, layout, pairs, starts, out):
    """Add each row's weight to its class and pair of values, in row order; cost n a pair."""
    for pair in range(pairs.shape[0]):
        left, right = codes[pairs[pair, 0]], codes[pairs[pair, 1]]
        size_i, size_j = layout[pairs[pair, 0], 3], layout[pairs[pair, 1], 3]
        start = starts[pair]
        for row in range(left.size):
            if left[row] < size_i and right[row] < size_j:
                out[classes[row], start + left[row] * size_j + right[row]] += weights[row]
