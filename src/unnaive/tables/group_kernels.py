"""Numba loops that score naive Bayes over groups of columns by exact leave-one-out.

A group is one variable; its joint values are numbered row by row, densely where they are few and
anew where they would not be. Rows without some of a group's cells take no part in its table; what
they do show is looked up in the table's margin.
"""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel
from unnaive.tables.kernels import log_estimate

NONE = -1  # the cell of a row in which nothing of the group is known
PART = -2  # some of it is


@kernel
def number_cells(codes, sizes, members, cells):
    """Give joint values of some columns a number each; returns how many numbers there are."""
    n_rows = cells.size
    n_cells = 1
    for row in range(n_rows):
        cells[row] = 0
    for member in members:
        line, size = codes[member], np.int64(sizes[member])
        if n_cells * size > max(n_rows, 64):
            n_cells = renumber(cells, n_cells)
        append_column(cells, line, size)
        n_cells *= size
    if n_cells > max(n_rows, 64):
        n_cells = renumber(cells, n_cells)
    for row in range(n_rows):
        if cells[row] < 0:
            cells[row] = NONE
            for member in members:
                if codes[member, row] < sizes[member]:
                    cells[row] = PART
    return n_cells


@kernel
def append_column(cells, line, size):
    """Extend joint values by a column; below 0 where anything is missing."""
    for row in range(cells.size):
        known = (cells[row] >= 0) & (line[row] < size)
        cells[row] = cells[row] * size + line[row] if known else -1


@kernel
def renumber(cells, n_cells):
    """Give cells that occur new numbers, in the order of their rows; returns how many do."""
    names = np.full(n_cells, -1, dtype=np.int64)
    found = 0
    for row in range(cells.size):
        cell = cells[row]
        if cell >= 0:
            if names[cell] < 0:
                names[cell] = found
                found += 1
            cells[row] = names[cell]
    return found


@kernel
def add_group(codes, sizes, members, classes, weights, logs, shares, joint):
    """Add a group's leave-one-out factor to the log joint (k, n) of every row.

    ``shares`` are the smoothing's: what each value gets, what all share, and whether they share by
    frequency. ``logs[x]`` is log(x + α) for plain rows, where every table has the same α.
    """
    n_classes, n_rows = joint.shape
    cells = np.empty(n_rows, dtype=np.int64)
    n_cells = number_cells(codes, sizes, members, cells)
    n_values = 1.0
    for member in members:
        n_values *= sizes[member]
    counts = np.zeros((n_classes, n_cells))
    partly = False
    for row in range(n_rows):
        if cells[row] >= 0:
            counts[classes[row], cells[row]] += weights[row] if weights.size else 1.0
        partly |= cells[row] == PART
    totals = np.zeros(n_classes)
    for label in range(n_classes):
        for cell in range(n_cells):
            totals[label] += counts[label, cell]
    if logs.size:
        add_plain(cells, counts, totals, classes, logs, shares[0] * n_values, joint)
    else:
        add_any(cells, counts, totals, n_values, classes, weights, shares, joint)
    if partly:
        add_parts(codes, sizes, members, cells, counts, totals, shares, joint)


@kernel
def add_plain(cells, counts, totals, classes, logs, pseudo_total, joint):
    """Add the factors of plain rows: logarithms by table, once a cell."""
    n_classes, n_cells = counts.shape
    others = np.zeros(n_cells + 1)  # the last is of rows that take no part
    change = np.zeros((n_classes, n_cells + 1))  # from others to what a row's own class has
    for label in range(n_classes):
        below = math.log(totals[label] + pseudo_total)
        without = math.log(max(totals[label] - 1.0 + pseudo_total, 1e-300))
        for cell in range(n_cells):
            count = np.int64(counts[label, cell])
            others[cell] = logs[count] - below
            change[label, cell] = logs[max(count - 1, 0)] - without - others[cell]
        look_up(others, cells, joint[label])
    for row in range(cells.size):
        joint[classes[row], row] += change[classes[row], cells[row] if cells[row] >= 0 else n_cells]


@kernel
def look_up(table, cells, out):
    """Add each row's entry of a table, the last where the cell is below 0."""
    last = np.int64(table.size - 1)
    for row in range(cells.size):
        cell = cells[row] if cells[row] >= 0 else last
        out[row] += table[np.uint64(cell)]


@kernel
def add_any(cells, counts, totals, n_values, classes, weights, shares, joint):
    """Add the factors of rows of any weight under any smoothing: a logarithm a row and class."""
    grand = totals.sum()
    for row in range(cells.size):
        cell = cells[row]
        if cell < 0:
            continue
        off = min(weights[row], 1.0) if weights.size else 1.0
        part = 1.0 / n_values
        if shares[2] > 0.0 and grand - off > 0.0:
            part = max(counts[:, cell].sum() - off, 0.0) / (grand - off)
        alpha, total = shares[0] + shares[1] * part, shares[0] * n_values + shares[1]
        for label in range(totals.size):
            held = off if label == classes[row] else 0.0
            joint[label, row] += log_estimate(
                counts[label, cell] - held, totals[label] - held, alpha, total, n_values
            )


@kernel
def add_parts(codes, sizes, members, cells, counts, totals, shares, joint):
    """Add the factors of rows that show some of a group's cells, from the table's margin."""
    n_classes, n_cells = counts.shape
    example = np.full(n_cells, -1, dtype=np.int64)
    for row in range(cells.size):
        if cells[row] >= 0:
            example[cells[row]] = row
    margin = np.empty(n_classes)
    grand = totals.sum()
    for row in range(cells.size):
        if cells[row] != PART:
            continue
        n_values = 1.0
        for member in members:
            if codes[member, row] < sizes[member]:
                n_values *= sizes[member]
        margin[:] = 0.0
        for cell in range(n_cells):
            if example[cell] >= 0 and agrees(codes, sizes, members, row, example[cell]):
                margin += counts[:, cell]
        part = 1.0 / n_values
        if shares[2] > 0.0 and grand > 0.0:
            part = margin.sum() / grand
        alpha, total = shares[0] + shares[1] * part, shares[0] * n_values + shares[1]
        for label in range(n_classes):
            joint[label, row] += log_estimate(margin[label], totals[label], alpha, total, n_values)


@kernel
def agrees(codes, sizes, members, row, other):
    """Whether another row has the values that a row shows of a group."""
    for member in members:
        value = codes[member, row]
        if value < sizes[member] and value != codes[member, other]:
            return False
    return True


@kernel
def judge(joint, prior, classes, weights, tolerance, out):
    """Weigh the rows of which the first of the best classes is their own, and their log chance."""
    n_classes, n_rows = joint.shape
    best = np.full(n_rows, -np.inf)
    for label in range(n_classes):
        raise_to(joint[label], best)
    for row in range(n_rows):
        if best[row] == -np.inf:  # no class has any chance: the prior decides
            joint[:, row] = prior[:, row]
            best[row] = prior[:, row].max()
    first = np.zeros(n_rows, dtype=np.int64)
    for label in range(n_classes - 1, -1, -1):
        note_tied(joint[label], best, tolerance, label, first)
    out[0] = 0.0
    for row in range(n_rows):
        right = weights[row] if weights.size else 1.0
        out[0] += right if first[row] == classes[row] else 0.0
    if out.size > 1:
        out[1] = 0.0
        for row in range(n_rows):
            total = 0.0
            for label in range(n_classes):
                total += math.exp(joint[label, row] - best[row])
            chance = joint[classes[row], row] - best[row] - math.log(total)
            out[1] += chance * (weights[row] if weights.size else 1.0)


@kernel
def raise_to(line, best):
    """Keep the larger of two, row by row."""
    for row in range(line.size):
        best[row] = max(best[row], line[row])


@kernel
def note_tied(line, best, tolerance, label, first):
    """Note a class where it ties with the best."""
    for row in range(line.size):
        first[row] = label if line[row] >= best[row] - tolerance else first[row]


@kernel
def score_genomes(codes, sizes, genomes, classes, weights, prior, logs, shares, tolerance, out):
    """Score groupings (m, d): columns of one label above 0 are a group, those of 0 are left out.

    ``out`` (m, 1) or (m, 2) gets the weight of the rows that are right and, if there is room for
    it, the log-likelihood; both by leave-one-out.
    """
    n_columns = genomes.shape[1]
    members = np.empty(n_columns, dtype=np.int64)
    joint = np.empty(prior.shape)
    for place in range(len(genomes)):
        genome = genomes[place]
        copy_into(prior, joint)
        for first in range(n_columns):
            if genome[first] <= 0:
                continue
            size = 0
            for column in range(n_columns):
                if genome[column] == genome[first]:
                    if column < first:
                        size = 0
                        break
                    members[size] = column
                    size += 1
            if size:
                add_group(codes, sizes, members[:size], classes, weights, logs, shares, joint)
        judge(joint, prior, classes, weights, tolerance, out[place])


@kernel
def copy_into(source, target):
    """Copy (k, n); a slice's assignment takes longer."""
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@kernel
def score_changes(
    codes,
    sizes,
    total,
    factors,
    changes,
    members,
    bounds,
    rows,
    prior,
    logs,
    shares,
    tolerance,
    out,
):
    """Score groupings that differ little from one whose log joint is ``total``.

    ``changes`` (m, 2): groups, by their ``factors`` (g, k, n), that are taken away, −1 for none;
    ``members`` from ``bounds[i]`` to ``bounds[i + 1]`` is a group that comes in their place.
    """
    classes, weights = rows
    joint = np.empty(prior.shape)
    for place in range(len(changes)):
        copy_into(total, joint)
        for group in changes[place]:
            if group >= 0:
                joint -= factors[group]
        added = members[bounds[place] : bounds[place + 1]]
        if added.size:
            add_group(codes, sizes, added, classes, weights, logs, shares, joint)
        judge(joint, prior, classes, weights, tolerance, out[place])
