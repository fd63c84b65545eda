"""Numba loops that make log-probability tables and look rows up in them.

Tables are class-major and stacked: set 0 is used for the classes that a row does not
belong to, set 1 for its own class (leave-one-out), set 2 for its own class where it lacks a
parent's cell, set 3 where it took no part in a table. Plain prediction has set 0 alone, and no
row belongs to any class.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from unnaive._kernel import kernel

BLOCK = 256
NO_CHANCE = 1e-306  # a mean below this is what is left of exp(−inf)
AVERAGE_CELLS = 1 << 16
AVERAGE_BLOCK = 1024  # rows that share a super-parent's tables while these are in the cache


@kernel
def log_estimate(count, context, alpha, total, n_values):
    """Log of the smoothed estimate (count + α) / (context + A); 0/0 is 1/v."""
    denominator = max(context, 0.0) + total
    if denominator <= 0.0:
        return -math.log(n_values)
    numerator = max(count, 0.0) + alpha
    return math.log(numerator / denominator) if numerator > 0.0 else -np.inf


@kernel
def log_table(counts, alpha, total, held_value, held_context, out):
    """Estimate every cell of (contexts, values); held-out weights are taken off first."""
    n_contexts, n_values = counts.shape
    for context in range(n_contexts):
        size = 0.0
        for value in range(n_values):
            size += counts[context, value]
        for value in range(n_values):
            out[context, value] = log_estimate(
                counts[context, value] - held_value,
                size - held_context,
                alpha[value],
                total,
                n_values,
            )


@kernel
def sum_factors(codes, columns, chosen, tables, held, start, stop, out):
    """Add the chosen columns' factors to the log joint of rows start … stop; cost n·d·k.

    ``columns`` (d, 3) holds parent (−1: none), slots of the column and start of its table.
    ``held`` is the row's own class, −1 for none.
    """
    n_classes = out.shape[1]
    width = tables.shape[1]
    flat = tables.ravel()
    cell = np.empty(BLOCK, dtype=np.int64)
    base = np.empty((n_classes, BLOCK), dtype=np.int64)
    joint = np.empty((n_classes, BLOCK))
    for low in range(start, stop, BLOCK):
        rows = min(BLOCK, stop - low)
        for label in range(n_classes):
            for row in range(rows):
                own = n_classes if held[low + row] == label else 0
                base[label, row] = (label + own) * width
                joint[label, row] = out[low + row, label]
        for column in chosen:
            first, slots = columns[column, 2], columns[column, 1]
            line = codes[column, low : low + rows]
            if columns[column, 0] >= 0:
                above = codes[columns[column, 0], low : low + rows]
                for row in range(rows):
                    cell[row] = first + np.int64(above[row]) * slots + np.int64(line[row])
            else:
                for row in range(rows):
                    cell[row] = first + np.int64(line[row])
            for label in range(n_classes):
                add_cells(flat, base[label, :rows], cell[:rows], joint[label, :rows])
        for row in range(rows):
            for label in range(n_classes):
                out[low + row, label] = joint[label, row]


@kernel
def add_cells(flat, base, cell, joint):
    """Add one table entry to every row's sum; a loop that LLVM turns into gathers."""
    for row in range(joint.size):
        joint[row] += flat[np.uint64(base[row] + cell[row])]


@kernel
def sum_product(rows, codes, columns, order, tables, held, out):
    """Log joint of rows with missing inner nodes: sum over their values; cost d·v²·k a row.

    ``order`` lists the columns of the model, parents first. Children speak first: ``message``
    collects, for every value of a column, what its children say; a missing column is summed
    out, or says nothing if it has heard nothing.
    """
    n_columns, n_classes = codes.shape[0], out.shape[1]
    heard = np.zeros(n_columns, dtype=np.bool_)
    widest = columns[:, 1].max()
    message = np.zeros((n_columns, widest))
    terms = np.empty(widest)
    apart = tables.shape[0] - n_classes
    for row in rows:
        for label in range(n_classes):
            message[:] = 0.0
            heard[:] = False
            own = n_classes if held[row] == label else 0
            joint = tables[label + own, 0]
            for place in range(order.size - 1, -1, -1):
                column = order[place]
                parent, slots, first = columns[column, 0], columns[column, 1], columns[column, 2]
                value = np.int64(codes[column, row])
                if value == slots - 1 and not heard[column]:
                    if parent < 0:  # the prior, where the root's table holds it
                        joint += tables[label + own, first + value]
                    continue
                if parent >= 0:
                    heard[parent] = True
                table = tables[label + own]
                low, high = 0, 1
                if parent >= 0:
                    low = np.int64(codes[parent, row])
                    high = low + 1
                    if low == columns[parent, 1] - 1:
                        # The row took no part in this table, only in what it may lean on.
                        table = tables[label + 2 * own]
                        low, high = 0, columns[parent, 1] - 1
                if value == slots - 1:
                    table = tables[apart + label]
                for above in range(low, high):
                    cells = table[first + above * slots : first + (above + 1) * slots]
                    if value < slots - 1:
                        said = cells[value] + message[column, value]
                    else:
                        for candidate in range(slots - 1):
                            terms[candidate] = cells[candidate] + message[column, candidate]
                        said = log_sum(terms[: slots - 1])
                    if parent >= 0:
                        message[parent, above] += said
                    else:
                        joint += said
            out[row, label] = joint


@kernel
def log_sum(terms):
    """Log of the sum of exponentials, −inf for none."""
    peak = -np.inf
    for term in terms:
        peak = max(peak, term)
    if peak == -np.inf:
        return peak
    total = 0.0
    for term in terms:
        total += math.exp(term - peak)
    return peak + math.log(total)


@kernel
def super_parent_tables(pairs, pair_starts, slots, alpha, totals, shares, held, out):
    """Log P(x_i | c, x_p) of every ordered pair into out (k, slots, slots); cost of the pairs.

    ``slots`` are the columns' starts among all slots (values and a missing slot each); α (k,
    slots) and A of column i are divided by ``shares[p]`` (BDeu), ``held`` is taken off every count.
    """
    n_classes, n_columns = out.shape[0], slots.size - 1
    for label in range(n_classes):
        pair = 0
        for i in range(n_columns):
            size_i = slots[i + 1] - slots[i] - 1
            for j in range(i + 1, n_columns):
                size_j = slots[j + 1] - slots[j] - 1
                table = pairs[label, pair_starts[pair] : pair_starts[pair + 1]]
                for a in range(size_i):
                    context = 0.0
                    for b in range(size_j):
                        context += table[a * size_j + b]
                    for b in range(size_j):
                        out[label, slots[i] + a, slots[j] + b] = log_estimate(
                            table[a * size_j + b] - held,
                            context - held,
                            alpha[label, slots[j] + b] / shares[i],
                            totals[j] / shares[i],
                            size_j,
                        )
                for b in range(size_j):
                    context = 0.0
                    for a in range(size_i):
                        context += table[a * size_j + b]
                    for a in range(size_i):
                        out[label, slots[j] + b, slots[i] + a] = log_estimate(
                            table[a * size_j + b] - held,
                            context - held,
                            alpha[label, slots[i] + a] / shares[j],
                            totals[i] / shares[j],
                            size_i,
                        )
                pair += 1


@kernel
def sum_entries(flat, base, place, n_groups, first, second):
    """Sum each row's entries of two tables, in a fixed order; cost rows·groups.

    Two classes share the look-up of the places. No array is sliced inside the loop: a slice
    costs more than a dozen look-ups.
    """
    groups = np.uint64(n_groups)
    for row in range(first.size):
        left, right = base[0, row], base[1, row]
        i = np.uint64(row) * groups
        stop = i + groups
        whole = stop - groups % np.uint64(2)
        left_0 = 0.0
        left_1 = 0.0
        right_0 = 0.0
        right_1 = 0.0
        while i < whole:
            even, odd = np.uint64(place[i]), np.uint64(place[i + np.uint64(1)])
            left_0 += flat[left + even]
            left_1 += flat[left + odd]
            right_0 += flat[right + even]
            right_1 += flat[right + odd]
            i += np.uint64(2)
        if i < stop:
            left_0 += flat[left + np.uint64(place[i])]
            right_0 += flat[right + np.uint64(place[i])]
        first[row] = left_0 + left_1
        second[row] = right_0 + right_1


@intrinsic
def bits_of(typing_context, number):  # noqa: ARG001 - numba's signature
    """Reinterpret a float as an integer."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def number_of(typing_context, bits):  # noqa: ARG001
    """Reinterpret an integer as a float."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@kernel
def exponential(x):
    """e**x for x ≤ 0 within 1 unit in the last place, of operations that LLVM vectorises.

    x = n·log 2 + r with |r| ≤ log(2)/2; e**r by its Taylor series, 2**n by its exponent bits.
    Below −708 the result is that of −708, some 1e-308; above 0 that of 0.
    """
    x = min(max(x, -708.0), 0.0)
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # 1.5·2**52: the low bits are n
    n = shifted - 6755399441055744.0
    r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10
    series = 1.0 / 6227020800.0
    series = series * r + 1.0 / 479001600.0
    series = series * r + 1.0 / 39916800.0
    series = series * r + 1.0 / 3628800.0
    series = series * r + 1.0 / 362880.0
    series = series * r + 1.0 / 40320.0
    series = series * r + 1.0 / 5040.0
    series = series * r + 1.0 / 720.0
    series = series * r + 1.0 / 120.0
    series = series * r + 1.0 / 24.0
    series = series * r + 1.0 / 6.0
    series = series * r + 0.5
    series = series * r + 1.0
    series = series * r + 1.0
    return series * number_of((bits_of(shifted) + 1023) << 52)


@kernel
def add_exponentials(joint, weight, peak, total):
    """Add one super-parent's weighted share to every row's sum."""
    for row in range(total.size):
        total[row] += weight[row] * exponential(joint[row] - peak[row])


@kernel
def log_mean(joint, weight, scratch, out):
    """Log of the weighted mean over super-parents (rows of ``joint``), NaN where none weighs."""
    n_rows = out.size
    peak, total, weighed = scratch[0, :n_rows], scratch[1, :n_rows], scratch[2, :n_rows]
    for row in range(n_rows):
        peak[row] = -np.inf
        total[row] = 0.0
        weighed[row] = 0.0
    for parent in range(joint.shape[0]):
        for row in range(n_rows):
            weighed[row] += weight[parent, row]
            if weight[parent, row] > 0.0 and joint[parent, row] > peak[row]:
                peak[row] = joint[parent, row]
    for row in range(n_rows):
        if peak[row] == -np.inf:
            peak[row] = 0.0
    for parent in range(joint.shape[0]):
        add_exponentials(joint[parent], weight[parent], peak, total)
    for row in range(n_rows):
        if weighed[row] > 0.0:
            mean = total[row] / weighed[row]
            out[row] = peak[row] + math.log(mean) if mean > NO_CHANCE else -np.inf
        else:
            out[row] = np.nan


@kernel
def sum_super_parents(codes, columns, parents, weights, tables, held, span, out):
    """Log weighted mean of the super-parents' joints, rows of ``span``; cost n·k·parents·groups.

    ``columns`` (d, 4): first slot, group, stride in the group, start of the group (with its
    first member). ``parents`` (m, 5): two columns (or one twice), start of their slots, and the
    strides of their values. ``weights[s]`` is the weight of slot s; NaN where all are 0.
    """
    n_parents, n_classes = parents.shape[0], out.shape[1]
    block = max(16, min(AVERAGE_BLOCK, AVERAGE_CELLS // max(n_parents, 1)))
    n_groups = columns[-1, 1] + 1
    table_size, width = tables.shape[1] * tables.shape[2], tables.shape[2]
    flat = tables.ravel()
    lines = block + 8  # no power of two, or all lines would compete for one cache set
    place = np.empty((block, n_groups), dtype=np.uint32)
    slot = np.empty((n_parents, lines), dtype=np.int64)
    weight = np.empty((n_parents, lines))
    joint = np.empty((2, n_parents, lines))
    base = np.empty((2, block), dtype=np.uint64)
    scratch = np.empty((4, block))
    for low in range(span[0], span[1], block):
        rows = min(block, span[1] - low)
        place[:] = 0
        for column in range(codes.shape[0]):
            line = codes[column, low : low + rows]
            group, stride, begin = columns[column, 1], columns[column, 2], columns[column, 3]
            for row in range(rows):
                place[row, group] += np.uint32(begin + stride * np.int64(line[row]))
        for parent in range(n_parents):
            first, second, begin, stride, second_stride = parents[parent]
            line, other = codes[first, low : low + rows], codes[second, low : low + rows]
            for row in range(rows):
                at = begin + stride * np.int64(line[row]) + second_stride * np.int64(other[row])
                slot[parent, row] = at
                weight[parent, row] = weights[at]
        places = place.ravel()
        for label in range(0, n_classes, 2):
            two = min(2, n_classes - label)
            for parent in range(n_parents):
                for lane in range(2):
                    member = label + min(lane, two - 1)
                    for row in range(rows):
                        own = n_classes if held[low + row] == member else 0
                        base[lane, row] = (member + own) * table_size + slot[parent, row] * width
                sum_entries(
                    flat, base, places, n_groups, joint[0, parent, :rows], joint[1, parent, :rows]
                )
            for lane in range(two):
                mean = scratch[3, :rows]
                log_mean(joint[lane], weight, scratch, mean)
                for row in range(rows):
                    out[low + row, label + lane] = mean[row]


@kernel
def drop_generalisations(codes, slots, generalises, out):
    """Set to missing each cell that another cell of its row specialises; cost n·d²."""
    n_columns = codes.shape[0]
    for row in range(codes.shape[1]):
        for i in range(n_columns):
            missing = slots[i + 1] - slots[i] - 1
            out[i, row] = codes[i, row]
            if codes[i, row] == missing:
                continue
            general = slots[i] + np.int64(codes[i, row])
            for j in range(n_columns):
                if generalises[general, slots[j] + np.int64(codes[j, row])]:
                    out[i, row] = missing
                    break


@kernel
def subtract_squares(rows, means, forms, constants, start, stop, out):
    """Log joint of Gaussian classes, constant − ½ Σ form², rows start … stop; cost n·k·d².

    Entries of ``forms`` (k, d, d) that are 0 cost nothing.
    """
    n_classes, n_columns = means.shape
    away = np.empty((n_columns, BLOCK))
    form = np.empty(BLOCK)
    total = np.empty(BLOCK)
    for low in range(start, stop, BLOCK):
        size = min(BLOCK, stop - low)
        for label in range(n_classes):
            for row in range(size):
                for column in range(n_columns):
                    away[column, row] = rows[low + row, column] - means[label, column]
            total[:] = 0.0
            for line in range(n_columns):
                form[:] = 0.0
                for column in range(n_columns):
                    weight = forms[label, line, column]
                    if weight != 0.0:
                        add_multiple(weight, away[column, :size], form[:size])
                add_squares(form[:size], total[:size])
            for row in range(size):
                out[low + row, label] = constants[label] - 0.5 * total[row]


@kernel
def add_multiple(weight, values, out):
    """Add weight × values; a loop of its own, so that LLVM makes vectors of it."""
    for place in range(out.size):
        out[place] += weight * values[place]


@kernel
def add_squares(values, out):
    """Add the squares of values."""
    for place in range(out.size):
        out[place] += values[place] * values[place]


@kernel
def log_posterior(joint, out):
    """Normalise each row's log joint, of which one at least is finite; cost n·k."""
    n_rows, n_classes = joint.shape
    for row in range(n_rows):
        peak = -np.inf
        for label in range(n_classes):
            peak = max(peak, joint[row, label])
        total = 0.0
        for label in range(n_classes):
            total += math.exp(joint[row, label] - peak)
        for label in range(n_classes):
            out[row, label] = joint[row, label] - peak - math.log(total)


@kernel
def posterior(joint, out):
    """Normalise each row's joint into probabilities that sum to one; cost n·k."""
    n_rows, n_classes = joint.shape
    for row in range(n_rows):
        peak = -np.inf
        for label in range(n_classes):
            peak = max(peak, joint[row, label])
        total = 0.0
        for label in range(n_classes):
            out[row, label] = math.exp(joint[row, label] - peak)
            total += out[row, label]
        for label in range(n_classes):
            out[row, label] /= total
