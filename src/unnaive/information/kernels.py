"""Numba loops over contingency tables."""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel

_MOST_PACKED = 1 << 13  # cells of a joint table: 32 kB, which the nearest cache holds
_ROWS_A_BLOCK = 2048


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


@kernel
def extend_groups(groups, line, size, gap):
    """Extend the numbers of joint values by a column; what was missing, or is, gets gap · size."""
    missing = np.uint32(gap * size)
    for row in range(groups.size):
        known = (groups[row] < gap) & (line[row] < size)
        joint = np.uint32(groups[row] * np.uint32(size) + np.uint32(line[row]))
        groups[row] = joint if known else missing


@kernel
def score_additions(codes, candidates, extents, groups, shape, weights, logs, settings, out):
    """Score a variable with each candidate as a further parent.

    ``groups`` (n,) is context · v + value, or contexts · v where a cell is missing; ``shape``
    holds contexts and v; ``extents`` (m, 2) the values of each candidate, and its codes: one more
    if some are missing. ``settings`` (m, 3) holds whether gammas are summed, and α; ``logs[x]`` is
    x·log x for plain rows. ``out`` (m, 2) gets scores and rows.

    Plain rows are counted for several candidates at a time, as for one joint variable, while its
    table fits the cache: the counting is what takes the time.
    """
    n_groups = shape[0] * shape[1] + 1
    most = 0 if weights.size else min(_MOST_PACKED, groups.size // 2)
    first = 0
    while first < candidates.size:
        last, width = first + 1, extents[first, 1]
        while last < candidates.size and n_groups * width * extents[last, 1] <= most:
            width *= extents[last, 1]
            last += 1
        if weights.size:
            weighed = weigh_rows(codes[candidates[first]], groups, weights, n_groups, width)
            score_table(weighed, shape, extents[first, 0], settings[first], logs, out[first])
        else:
            lines, widths = candidates[first:last], extents[first:last, 1]
            table = count_rows(codes, lines, widths, groups, n_groups * width)
            for place in range(first, last):
                own = first_margin(table, n_groups, extents[place, 1])
                if settings[place, 0] > 0.0:
                    score_table(own, shape, extents[place, 0], settings[place], logs, out[place])
                else:
                    score_counts(own, shape, extents[place, 0], logs, out[place])
                table = without_first(table, n_groups, extents[place, 1])
        first = last


@kernel
def count_rows(codes, lines, widths, groups, n_cells):
    """Count rows by group and the joint value of some columns; a flat table."""
    counts = np.zeros(n_cells, dtype=np.uint32)
    cells = np.empty(min(_ROWS_A_BLOCK, groups.size), dtype=np.uint32)
    for start in range(0, groups.size, _ROWS_A_BLOCK):
        stop = min(start + _ROWS_A_BLOCK, groups.size)
        block = cells[: stop - start]
        for row in range(block.size):  # a slice's assignment would take as long as all the rest
            block[row] = groups[start:stop][row]
        for place in range(lines.size):
            append(block, np.uint32(widths[place]), codes[lines[place]][start:stop])
        tally(block, counts)
    return counts


@kernel
def append(cells, width, line):
    """Append a column to joint values; a loop of its own, for the compiler to make it wide."""
    for row in range(cells.size):
        cells[row] = cells[row] * width + line[row]


@kernel
def tally(cells, counts):
    """Count cells; without branches, in narrow numbers."""
    for row in range(cells.size):
        counts[np.uint64(cells[row])] += np.uint32(1)


@kernel
def weigh_rows(line, groups, weights, n_groups, width):
    """Sum the weights of rows by group and value of a column."""
    table = np.zeros((n_groups, width))
    for row in range(groups.size):
        table[groups[row], line[row]] += weights[row]
    return table


@kernel
def first_margin(table, n_groups, width):
    """Sum a flat table over all but the groups and the first part of its joint variable."""
    own = np.empty(n_groups * width, dtype=np.uint32)
    inner = table.size // own.size
    for cell in range(own.size):
        total = np.uint32(0)
        for place in range(cell * inner, (cell + 1) * inner):
            total += table[place]
        own[cell] = total
    return own.reshape(n_groups, width)


@kernel
def without_first(table, n_groups, width):
    """Sum a flat table over the first part of its joint variable."""
    inner = table.size // (n_groups * width)
    rest = np.zeros(n_groups * inner, dtype=np.uint32)
    for group in range(n_groups):
        own = rest[group * inner : (group + 1) * inner]
        for value in range(group * width, (group + 1) * width):
            line = table[value * inner : (value + 1) * inner]
            for place in range(inner):
                own[place] += line[place]
    return rest


@kernel
def score_counts(table, shape, n_values, logs, out):
    """Log-likelihood of a table (contexts · v + 1, codes) of whole numbers, without branches."""
    score, rows = 0.0, 0.0
    for context in range(shape[0]):
        for value in range(n_values):
            total = np.uint32(0)
            for line in range(context * shape[1], (context + 1) * shape[1]):
                count = table[line, value]
                total += count
                score += logs[count]
            score -= logs[total]
            rows += total
    out[0] = score
    out[1] = rows


@kernel
def score_table(table, shape, n_values, settings, logs, out):
    """Score a table (contexts · v + 1, codes) of a variable and one of its parents."""
    score, rows = 0.0, 0.0
    cells = np.empty(shape[1])
    for context in range(shape[0]):
        lines = table[context * shape[1] : (context + 1) * shape[1]]
        for value in range(n_values):
            total = 0.0
            for own in range(shape[1]):
                cells[own] = lines[own, value]
                total += cells[own]
            rows += total
            if total > 0.0 and settings[0] > 0.0:
                score += gamma_score(cells, total, settings[1])
            elif total > 0.0:
                score += likelihood_score(cells, total, logs)
    out[0] = score
    out[1] = rows


@kernel
def score_both_ways(tables, pairs, starts, sizes, logs, settings, out):
    """Score each of two variables given the other, from their table; cost of the tables.

    ``settings`` (m, 2, 3) and ``out`` (m, 2, 2) as in :func:`score_additions`, for the first given
    the second and the other way round.
    """
    for pair in range(pairs.shape[0]):
        shape = (sizes[pairs[pair, 0]], sizes[pairs[pair, 1]])
        flat = np.empty(starts[pair + 1] - starts[pair])
        for cell in range(flat.size):
            flat[cell] = tables[starts[pair] + cell]
        table = flat.reshape(shape)
        for way in range(2):
            out[pair, way, 0] = 0.0
            out[pair, way, 1] = 0.0
            for value in range(shape[1 - way]):
                cells = table[:, value].copy() if way == 0 else table[value, :].copy()
                total = cells.sum()
                out[pair, way, 1] += total
                if total > 0.0 and settings[pair, way, 0] > 0.0:
                    out[pair, way, 0] += gamma_score(cells, total, settings[pair, way, 1])
                elif total > 0.0:
                    out[pair, way, 0] += likelihood_score(cells, total, logs)


@kernel
def likelihood_score(cells, total, logs):
    """Sum N log N over values less that of the whole; by table where counts are whole."""
    if logs.size > 1:
        score = -logs[np.int64(total)]
        for count in cells:
            score += logs[np.int64(count)]
        return score
    score = -total * math.log(total)
    for count in cells:
        if count > 0.0:
            score += count * math.log(count)
    return score


@kernel
def gamma_score(cells, total, alpha):
    """Log marginal likelihood of one context under a Dirichlet prior of α a value."""
    score = math.lgamma(cells.size * alpha) - math.lgamma(total + cells.size * alpha)
    for count in cells:
        if count > 0.0:
            score += math.lgamma(count + alpha) - math.lgamma(alpha)
    return score
