"""Numba loops over rows for hidden parents.

``columns`` (d, 8) holds for column i: its first slot, the group that it is a member of, its
stride there, first and last + 1 of its own list in ``groups``, the start of its table, the
width of a table row, and its number of values. ``groups`` (m, 2) lists group and offset in
the table row. ``tables`` (sets · k + 1, cells) holds sums over a group's bag members of
weight × probability; its last line holds the sums of the weights alone, for rows with gaps.
``alone`` (sets · k, S + 1) holds log P(x_i | c) and, last, the log prior.
"""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel

BLOCK = 512
TIE = 1e-10  # SPEC 0.7
LEAST = 1e-300  # what a probability of 0 counts as in the sweep, which subtracts logarithms


@kernel
def fill_bags(probabilities, weights, columns, groups, slots, out):
    """Add up weight × probability over each group's bag members; cost of the tables.

    ``probabilities`` (slots of j, slots of i) are those of one class, ``out`` its cells.
    """
    n_columns = columns.shape[0]
    for i in range(n_columns):
        values = slots[i + 1] - slots[i] - 1
        for place in range(columns[i, 3], columns[i, 4]):
            group, offset = groups[place, 0], groups[place, 1]
            stop = groups[place + 1, 1] if place + 1 < columns[i, 4] else columns[i, 6]
            for j in range(n_columns):
                if columns[j, 1] != group or weights[i, j] <= 0.0:
                    continue
                size = slots[j + 1] - slots[j]
                for cell in range(offset, stop):
                    value = ((cell - offset) // columns[j, 2]) % size
                    if value == size - 1:
                        continue
                    for x in range(values):
                        chance = probabilities[slots[j] + value, slots[i] + x]
                        out[columns[i, 5] + x * columns[i, 6] + cell] += weights[i, j] * chance


@kernel
def hidden_sums(flat, base, place, n_groups, groups, first, last, out):
    """Sum each row's entries of two tables over the groups first … last of one column."""
    for row in range(out.shape[1]):
        left, right = base[0, row], base[1, row]
        line = np.uint64(row * n_groups)
        sum_0 = 0.0
        sum_1 = 0.0
        for member in range(first, last):
            group, offset = np.uint64(groups[member, 0]), np.uint64(groups[member, 1])
            cell = offset + np.uint64(place[line + group])
            sum_0 += flat[left + cell]
            sum_1 += flat[right + cell]
        out[0, row] = sum_0
        out[1, row] = sum_1


@kernel
def sum_hidden_parents(codes, columns, groups, tables, alone, held, span, out):
    """Log joint of hidden naive Bayes for the rows of ``span``; cost n·k·groups of all bags."""
    n_columns, n_classes = codes.shape[0], out.shape[1]
    n_groups = columns[:, 1].max() + 1
    width, last_slot = tables.shape[1], alone.shape[1] - 1
    flat = tables.ravel()
    place = np.empty((BLOCK, n_groups), dtype=np.uint32)
    gaps = np.empty(BLOCK, dtype=np.bool_)
    base = np.empty((2, BLOCK), dtype=np.uint64)
    own = np.empty((2, BLOCK), dtype=np.int64)
    sums = np.empty((2, BLOCK))
    weigh = np.empty((2, BLOCK))
    joint = np.empty((2, BLOCK))
    for low in range(span[0], span[1], BLOCK):
        rows = min(BLOCK, span[1] - low)
        place[:] = 0
        gaps[:] = False
        for column in range(n_columns):
            line = codes[column, low : low + rows]
            group, stride, missing = columns[column, 1], columns[column, 2], columns[column, 7]
            for row in range(rows):
                place[row, group] += np.uint32(stride * np.int64(line[row]))
                gaps[row] |= line[row] == missing
        places = place.ravel()
        for label in range(0, n_classes, 2):
            two = min(2, n_classes - label)
            for lane in range(2):
                member = label + min(lane, two - 1)
                for row in range(rows):
                    own[lane, row] = member + (n_classes if held[low + row] == member else 0)
                    joint[lane, row] = alone[own[lane, row], last_slot]
            for column in range(n_columns):
                line = codes[column, low : low + rows]
                first, last = columns[column, 3], columns[column, 4]
                missing, slot = columns[column, 7], columns[column, 0]
                for lane in range(2):
                    for row in range(rows):
                        value = min(np.int64(line[row]), max(missing - 1, 0))
                        start = columns[column, 5] + value * columns[column, 6]
                        base[lane, row] = own[lane, row] * width + start
                hidden_sums(flat, base, places, n_groups, groups, first, last, sums[:, :rows])
                if gaps[:rows].any():
                    for row in range(rows):
                        start = base[0, row] - np.uint64(own[0, row] * width)
                        base[0, row] = start + np.uint64((tables.shape[0] - 1) * width)
                        base[1, row] = base[0, row]
                    hidden_sums(flat, base, places, n_groups, groups, first, last, weigh[:, :rows])
                for lane in range(2):
                    for row in range(rows):
                        if line[row] == missing:
                            continue
                        total = sums[lane, row]
                        weight = weigh[0, row] if gaps[row] else 1.0
                        if last > first and weight > 0.0:
                            joint[lane, row] += log_of(total / weight)
                        else:
                            joint[lane, row] += alone[own[lane, row], slot + np.int64(line[row])]
            for lane in range(two):
                for row in range(rows):
                    out[low + row, label + lane] = joint[lane, row]


@kernel
def log_of(chance):
    """Logarithm with log 0 = −inf."""
    return math.log(chance) if chance > 0.0 else -np.inf


@kernel
def sweep_thresholds(codes, classes, slots, pairs, information, marks, chances, alone, out):
    """Leave-one-out loss and hits of every nested set of bags; cost n·k per pair of columns.

    Pairs come by falling information; ``marks[s]`` says whether the threshold between pair s
    and the next is one to score. ``chances`` (S, S, 2k) and ``alone`` (2k, S + 1) hold
    P(x_i | x_j, c) and log P(x_i | c) for the other classes, then for the row's own.
    ``out`` (marks + 1, 2) is added to: first the model without any bag.
    """
    n_columns, n_classes = codes.shape[0], alone.shape[0] // 2
    sums = np.empty((n_columns, n_classes))
    logs = np.empty((n_columns, n_classes))
    weight = np.empty(n_columns)
    joint = np.empty(n_classes)
    line = np.empty(n_classes, dtype=np.int64)
    for row in range(classes.size):
        for label in range(n_classes):
            line[label] = label + (n_classes if classes[row] == label else 0)
            joint[label] = alone[line[label], alone.shape[1] - 1]
            for i in range(n_columns):
                sums[i, label] = 0.0
                logs[i, label] = alone[line[label], slots[i] + np.int64(codes[i, row])]
                joint[label] += logs[i, label]
        for i in range(n_columns):
            weight[i] = 0.0
        score_row(joint, classes[row], out, 0)
        scored = 1
        for step in range(pairs.shape[0]):
            for side in range(2):
                i, j = pairs[step, side], pairs[step, 1 - side]
                x, y = np.int64(codes[i, row]), np.int64(codes[j, row])
                known = x < slots[i + 1] - slots[i] - 1 and y < slots[j + 1] - slots[j] - 1
                if known and information[step] > 0.0:
                    weight[i] += information[step]
                    for label in range(n_classes):
                        chance = chances[slots[j] + y, slots[i] + x, line[label]]
                        sums[i, label] += information[step] * chance
                        joint[label] -= logs[i, label]
                        logs[i, label] = math.log(max(sums[i, label] / weight[i], LEAST))
                        joint[label] += logs[i, label]
            if marks[step]:
                score_row(joint, classes[row], out, scored)
                scored += 1


@kernel
def score_row(joint, label, out, place):
    """Add a row's log loss and whether it was hit (the first class on ties)."""
    peak = -np.inf
    for other in range(joint.size):
        peak = max(peak, joint[other])
    total = 0.0
    best = -1
    for other in range(joint.size):
        total += math.exp(joint[other] - peak)
        if best < 0 and joint[other] >= peak - TIE:
            best = other
    out[place, 0] += math.log(total) + peak - joint[label]
    out[place, 1] += best == label
