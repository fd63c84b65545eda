"""Numba loops that turn genomes into distributions inside intervals, and score them on rows.

A distribution is a line of counts, one a value. Every value has a box: its place by the genome,
and the ends of its interval. Rows know their ``places``: line 0 of the log table is nothing, then
come the cells of all groups, then the sums of cells that agree with rows that have gaps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._kernel import kernel
from unnaive.structure.tree import TIE_TOLERANCE

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, IntArray

EPSILON = 1e-6  # SPEC 9.3: no interval comes nearer to 0 or 1, unless the estimate itself does
CENTRED, LINEAR, ABSOLUTE = 0, 1, 2
PROJECT, NORMALISE = 0, 1
BLOCK = 256


class Setting(NamedTuple):
    """N(c), N(c, cell) of all groups (k, cells), the groups' starts; z, α, encoding and repair."""

    class_counts: FloatArray
    counts: FloatArray
    starts: IntArray
    rule: tuple[float, float, int, int, float]
    prior_rule: tuple[float, float, int, int, float]


class Rows(NamedTuple):
    """Places (n, groups) of rows sorted into segments of one class and weight.

    ``segments`` (s, 5): the class, the class that loses a row (−1: none), first row, last row + 1,
    and 1 if the class is the one to guess where none has any chance. Sum i over cells is over
    ``cells[sums[i]]`` to ``cells[sums[i + 1]]``.
    """

    places: AnyArray
    segments: IntArray
    weights: FloatArray
    sums: IntArray
    cells: IntArray


class Work(NamedTuple):
    """Room for one thread: what a genome stands for, and what is needed on the way."""

    prior: FloatArray
    chances: FloatArray
    own: FloatArray
    table: FloatArray
    begin: FloatArray
    joint: FloatArray
    boxes: FloatArray
    edges: FloatArray
    order: IntArray


@kernel
def work_for(setting, n_sums):
    """Allocate the room for one thread; classes come in fours."""
    n_classes, n_cells = setting.counts.shape
    width = (n_classes + 3) // 4 * 4
    longest = n_classes
    for group in range(setting.starts.size - 1):
        longest = max(longest, setting.starts[group + 1] - setting.starts[group])
    return Work(
        np.empty(n_classes),
        np.empty((n_classes, n_cells)),
        np.empty(max(n_cells, n_classes)),
        np.zeros((1 + n_cells + n_sums, width)),
        np.full(width, -np.inf),
        np.empty((BLOCK, width)),
        np.empty((3, longest)),
        np.empty((3, 2 * longest + 1)),
        np.empty((2, 2 * longest), dtype=np.int64),
    )


@kernel
def interval(count, total, n_values, z, alpha):
    """Smoothed estimate p = (n + α) / (N + α·v), and the half width z·√(p(1 − p)/N)."""
    below = total + alpha * n_values
    point = (count + alpha) / below if below > 0.0 else 1.0 / n_values
    if z == 0.0:
        return point, 0.0
    if total <= 0.0:
        return point, np.inf
    return point, z * math.sqrt(max(point * (1.0 - point), 0.0) / total)


@kernel
def box(count, total, n_values, u, rule):
    """Where gene u lies, and the lower and upper end of its interval."""
    z, each, encoding, _, shared = rule
    point, half = interval(count, total, n_values, z, each + shared / n_values)
    low = min(max(point - half, EPSILON), point)
    high = max(min(point + half, 1.0 - EPSILON), point)
    if encoding == ABSOLUTE:
        return u, low, high
    if encoding == LINEAR:
        return low + u * (high - low), low, high
    side = high - point if u > 0.5 else point - low
    return point + (2.0 * u - 1.0) * side, low, high


@kernel
def fill_bounds(counts, z, alpha, out):
    """Estimates and both ends of the unclipped intervals of lines (m, v) of counts."""
    n_lines, n_values = counts.shape
    for line in range(n_lines):
        total = counts[line].sum()
        for value in range(n_values):
            point, half = interval(counts[line, value], total, n_values, z, alpha)
            out[0, line, value] = point
            out[1, line, value] = point - half
            out[2, line, value] = point + half


@kernel
def fill_boxes(counts, total, genes, rule, boxes):
    """Boxes (3, v) of one distribution whose counts are said to sum to ``total``."""
    n_values = counts.size
    for value in range(n_values):
        boxes[0, value], boxes[1, value], boxes[2, value] = box(
            counts[value], total, n_values, genes[value], rule
        )


@kernel
def project(boxes, out):
    """Nearest point of the boxes (3, v) that sums to 1: values − λ, cut; cost v a round.

    A round takes the values that are still free for all of them. If more is cut off at the top
    than at the bottom, those at the top stay there, and vice versa: at most v rounds, mostly 2
    (Kiwiel 2008, variable fixing). ``least`` and ``most`` say who is free.
    """
    values, low, high = boxes[0], boxes[1], boxes[2]
    n_values = out.size
    least, most, shift = -np.inf, np.inf, 0.0
    for _ in range(n_values + 1):
        total, free = -1.0, 0
        for value in range(n_values):
            if values[value] - high[value] >= most:
                total += high[value]
            elif values[value] - low[value] <= least:
                total += low[value]
            else:
                total += values[value]
                free += 1
        if free == 0:
            break
        surplus = -1.0
        shift = min(max(total / free, least), most)
        for value in range(n_values):
            out[value] = min(max(values[value] - shift, low[value]), high[value])
            surplus += out[value]
        if abs(surplus) <= 1e-16 * n_values or shift in (least, most):
            break
        if surplus > 0.0:
            least = shift
        else:
            most = shift


@kernel
def repair(boxes, rule, out):
    """Make the places in the boxes a distribution: the nearest one, or divide by their sum."""
    if rule[3] == PROJECT:
        project(boxes, out)
        return
    total = boxes[0, : out.size].sum()
    for value in range(out.size):
        out[value] = boxes[0, value] / total if total > 0.0 else 1.0 / out.size


@kernel
def decode(genome, setting, work):
    """Fill work.prior with P(c), work.chances with P(cell | c); cost of the genome."""
    n_classes = setting.class_counts.size
    counts, rule = setting.class_counts, setting.prior_rule
    fill_boxes(counts, counts.sum(), genome, rule, work.boxes)
    repair(work.boxes, rule, work.prior)
    for group in range(setting.starts.size - 1):
        first, stop = setting.starts[group], setting.starts[group + 1]
        for label in range(n_classes):
            counts = setting.counts[label, first:stop]
            begin = n_classes * (1 + first) + label * (stop - first)
            genes = genome[begin : begin + stop - first]
            fill_boxes(counts, counts.sum(), genes, setting.rule, work.boxes)
            repair(work.boxes, setting.rule, work.chances[label, first:stop])


@kernel
def prior_without(label, weight, genome, setting, work):
    """Fill work.own with P(c) after a row of one class was taken out; cost k a round."""
    counts, boxes, rule = setting.class_counts, work.boxes, setting.prior_rule
    total, mine = max(counts.sum() - weight, 0.0), max(counts[label] - weight, 0.0)
    fill_boxes(counts, total, genome, rule, boxes)
    boxes[0, label], boxes[1, label], boxes[2, label] = box(
        mine, total, counts.size, genome[label], rule
    )
    repair(boxes, rule, work.own[: counts.size])


@kernel
def sort_edges(edges, order):
    """Shell's sort by edge, then by number."""
    gap = edges.size // 2
    while gap > 0:
        for start in range(gap, edges.size):
            edge, number, at = edges[start], order[start], start
            while at >= gap and (
                edges[at - gap] > edge or (edges[at - gap] == edge and order[at - gap] > number)
            ):
                edges[at] = edges[at - gap]
                order[at] = order[at - gap]
                at -= gap
            edges[at] = edge
            order[at] = number
        gap = 1 if gap == 2 else gap * 5 // 11


@kernel
def sweep(boxes, n_values, edges, order):
    """Make the sum of all cut values − λ a table of lines; cost that of a sort.

    Left of the i-th of 2v edges (in order) the sum is edges[1, i] − λ·edges[2, i]. order[1] is
    where the edge of a value is at which it leaves its upper end, or (v later) meets its lower.
    """
    total = 0.0
    for value in range(n_values):
        edges[0, value] = boxes[0, value] - boxes[2, value]
        edges[0, n_values + value] = boxes[0, value] - boxes[1, value]
        order[0, value] = value
        order[0, n_values + value] = n_values + value
        total += boxes[2, value]
    sort_edges(edges[0, : 2 * n_values], order[0, : 2 * n_values])
    free = 0.0
    for at in range(2 * n_values):
        edges[1, at] = total
        edges[2, at] = free
        number = order[0, at]
        order[1, number] = at
        if number < n_values:
            total += boxes[0, number] - boxes[2, number]
            free += 1.0
        else:
            total += boxes[1, number - n_values] - boxes[0, number - n_values]
            free -= 1.0
    edges[1, 2 * n_values] = total
    edges[2, 2 * n_values] = free


@kernel
def swapped(value, place, low, high, boxes, n_values, edges, order):
    """Projection of one value after its box was changed; cost log v.

    Bisection finds the last edge before the sum is 1; there the others sum to A − m·λ, so that
    the value is its place − (A + place − 1)/(m + 1), cut to its box.
    """
    mine, my_low, my_high = boxes[0, value], boxes[1, value], boxes[2, value]
    first, last = 0, 2 * n_values
    while first < last:
        middle = (first + last) // 2
        shift = edges[0, middle]
        total = edges[1, middle] - edges[2, middle] * shift
        total -= min(max(mine - shift, my_low), my_high)
        total += min(max(place - shift, low), high)
        if total > 1.0:
            first = middle + 1
        else:
            last = middle
    others, free = edges[1, first], edges[2, first]
    if first <= order[1, value]:
        others -= my_high
    elif first > order[1, n_values + value]:
        others -= my_low
    else:
        others -= mine
        free -= 1.0
    return min(max(place - (others + place - 1.0) / (free + 1.0), low), high)


@kernel
def own_cells(counts, weight, genes, rule, boxes, edges, order, out):
    """P(x | own class) for every x that a row of some weight is taken out of; cost v·log v.

    Whichever x it is, the boxes of the others are the same, as only N has changed for them.
    Cells that have no row are left as they are.
    """
    n_values = counts.size
    total = max(counts.sum() - weight, 0.0)
    fill_boxes(counts, total, genes, rule, boxes)
    projects = rule[3] == PROJECT
    if projects:
        sweep(boxes, n_values, edges, order)
    others = boxes[0, :n_values].sum()
    for value in range(n_values):
        if counts[value] <= 0.0:
            continue
        mine = max(counts[value] - weight, 0.0)
        place, low, high = box(mine, total, n_values, genes[value], rule)
        if projects:
            out[value] = swapped(value, place, low, high, boxes, n_values, edges, order)
        else:
            whole = others - boxes[0, value] + place
            out[value] = place / whole if whole > 0.0 else 1.0 / n_values


@kernel
def own_column(label, weight, genome, setting, work):
    """Fill work.own with P(cell | c) of one class, every cell without a row of its own."""
    n_classes = setting.class_counts.size
    boxes, edges, order = work.boxes, work.edges, work.order
    for cell in range(setting.counts.shape[1]):
        work.own[cell] = work.chances[label, cell]
    for group in range(setting.starts.size - 1):
        first, stop = setting.starts[group], setting.starts[group + 1]
        begin = n_classes * (1 + first) + label * (stop - first)
        genes = genome[begin : begin + stop - first]
        counts = setting.counts[label, first:stop]
        own_cells(counts, weight, genes, setting.rule, boxes, edges, order, work.own[first:stop])


@kernel
def log_of(chance):
    """Logarithm with log 0 = −inf."""
    return math.log(chance) if chance > 0.0 else -np.inf


@kernel
def begin_with(prior, work):
    """Begin every row's sum with the logarithms of a prior."""
    for label in range(work.prior.size):
        work.begin[label] = log_of(prior[label])


@kernel
def fill_column(label, chances, work):
    """Put the logarithms of one class's cells into the log table."""
    for cell in range(work.chances.shape[1]):
        work.table[1 + cell, label] = log_of(chances[cell])


@kernel
def fill_table(rows, work):
    """Fill the log table with all classes' cells and sums of cells, and begin with the prior."""
    n_classes, n_cells = work.chances.shape
    begin_with(work.prior, work)
    for label in range(n_classes):
        fill_column(label, work.chances[label], work)
        for index in range(rows.sums.size - 1):
            total = 0.0
            for cell in rows.cells[rows.sums[index] : rows.sums[index + 1]]:
                total += work.chances[label, cell]
            work.table[1 + n_cells + index, label] = log_of(total)


@kernel
def take_out(label, weight, genome, setting, work):
    """Change the tables to those that rows of one class and weight see of the others."""
    prior_without(label, weight, genome, setting, work)
    begin_with(work.own, work)
    own_column(label, weight, genome, setting, work)
    fill_column(label, work.own, work)


@kernel
def put_back(label, work):
    """Undo ``take_out``."""
    begin_with(work.prior, work)
    fill_column(label, work.chances[label], work)


@kernel
def sum_four(table, places, begin, lane, joint):
    """Log joint of rows for four classes from ``lane`` on; cost rows·groups."""
    n_groups, width = np.uint64(places.shape[1]), np.uint64(table.shape[1])
    flat, at = places.ravel(), np.uint64(0)
    entries, one, two, three = table.ravel(), np.uint64(1), np.uint64(2), np.uint64(3)
    for row in range(places.shape[0]):
        sum_0, sum_1, sum_2, sum_3 = begin[lane], begin[lane + 1], begin[lane + 2], begin[lane + 3]
        stop = at + n_groups
        while at < stop:
            place = np.uint64(flat[at]) * width + np.uint64(lane)
            sum_0 += entries[place]
            sum_1 += entries[place + one]
            sum_2 += entries[place + two]
            sum_3 += entries[place + three]
            at += one
        joint[row, lane] = sum_0
        joint[row, lane + 1] = sum_1
        joint[row, lane + 2] = sum_2
        joint[row, lane + 3] = sum_3


@kernel
def sum_places(places, work):
    """Log joint of at most BLOCK rows and all classes into work.joint; cost rows·groups·k."""
    for lane in range(0, work.begin.size, 4):
        sum_four(work.table, places, work.begin, lane, work.joint)


@kernel
def count_right(joint, n_rows, label, guess):
    """Count the rows whose first of the best classes is ``label``, or that guess it."""
    right = 0
    for row in range(n_rows):
        best = -np.inf
        for other in range(joint.shape[1]):
            best = max(best, joint[row, other])
        if best == -np.inf:
            right += guess
            continue
        first = 0
        while joint[row, first] < best - TIE_TOLERANCE:
            first += 1
        right += first == label
    return right


@kernel
def score(genomes, setting, rows, out):
    """Weight of the rows that each genome (m, size) gets right; cost n·k·groups each."""
    work = work_for(setting, rows.sums.size - 1)
    for individual in range(genomes.shape[0]):
        genome = genomes[individual]
        decode(genome, setting, work)
        fill_table(rows, work)
        total = 0.0
        for index in range(rows.segments.shape[0]):
            label, held, first, last, guess = rows.segments[index]
            if held >= 0:
                take_out(held, min(rows.weights[index], 1.0), genome, setting, work)
            right = 0
            for low in range(first, last, BLOCK):
                high = min(low + BLOCK, last)
                sum_places(rows.places[low:high], work)
                right += count_right(work.joint, high - low, label, guess)
            total += rows.weights[index] * right
            if held >= 0:
                put_back(held, work)
        out[individual] = total


@kernel
def fill_joint(genome, setting, rows, some, out):
    """Log joint (n, k) of the rows of the segments ``some[0]`` to ``some[1]``."""
    work = work_for(setting, rows.sums.size - 1)
    decode(genome, setting, work)
    fill_table(rows, work)
    for index in range(some[0], some[1]):
        _, held, first, last, _ = rows.segments[index]
        if held >= 0:
            take_out(held, rows.weights[index], genome, setting, work)
        for low in range(first, last, BLOCK):
            high = min(low + BLOCK, last)
            sum_places(rows.places[low:high], work)
            for row in range(high - low):
                for label in range(out.shape[1]):
                    out[low + row, label] = work.joint[row, label]
        if held >= 0:
            put_back(held, work)


@kernel
def fill_distributions(genome, setting, prior, chances):
    """P(c) and P(cell | c) of a genome."""
    work = work_for(setting, 0)
    decode(genome, setting, work)
    for label in range(prior.size):
        prior[label] = work.prior[label]
        for cell in range(chances.shape[1]):
            chances[label, cell] = work.chances[label, cell]


@kernel
def fill_left_out(genome, weight, setting, prior, own):
    """P(c) (k, k) without a row of each class, P(cell | c) (k, cells) without one of the cell."""
    work = work_for(setting, 0)
    decode(genome, setting, work)
    for label in range(prior.shape[0]):
        prior_without(label, weight, genome, setting, work)
        for other in range(prior.shape[0]):
            prior[label, other] = work.own[other]
        own_column(label, weight, genome, setting, work)
        for cell in range(own.shape[1]):
            own[label, cell] = work.own[cell]
