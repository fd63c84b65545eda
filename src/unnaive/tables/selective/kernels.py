"""Numba loops of the sweep over nested models: counts of contexts, left-out factors, scores.

A product of many factors is a fraction in [1, 2) and a power of two, one of each for every class
and row: neither a logarithm a factor nor an exponential a class is needed, and none is lost below
the smallest number. A factor of 0 adds ``NEVER`` to the power.
"""

from __future__ import annotations

import math

import numpy as np

from unnaive._kernel import kernel
from unnaive.tables.kernels import bits_of, number_of

TIE = 1e-10  # SPEC 0.7
NEVER = -(1 << 40)
LEAST = NEVER // 2  # powers below hold a factor of 0
LOG_2 = math.log(2.0)
SMALLEST = 2.0**-1022
FRACTION_BITS = (1 << 52) - 1
ONE_BITS = 1023 << 52


@kernel
def number_rows(taking_part, before, codes, size, splits, slots, keys, out):
    """Give numbers to pairs of a number and a code as they come, return how many; cost n.

    Rows that take no part (−1), or lack the number (−1) or the code, have −1. Unless it
    ``splits`` (1, not 0), the code is not looked at. ``slots`` (a power of two) are where pairs
    are hashed to, ``keys`` (n,) the pairs found.
    """
    mask = np.uint64(slots.size - 1)
    for slot in range(slots.size):
        slots[slot] = -1
    known = 0
    for row in range(codes.size):
        code = np.int64(codes[row])
        out[row] = -1
        if taking_part[row] < 0 or before[row] < 0 or code >= size:
            continue
        key = before[row] * size + code * splits
        place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
        number = slots[place & mask]
        while number >= 0 and keys[number] != key:
            place += np.uint64(1)
            number = slots[place & mask]
        if number < 0:
            number = known
            slots[place & mask] = number
            keys[number] = key
            known += 1
        out[row] = number
    return known


@kernel
def count_rows(places, classes, weights, first, number, out):
    """Count rows by place and class, from line ``first`` of out (lines, k) on; cost n."""
    for line in range(first, first + number):
        for label in range(out.shape[1]):
            out[line, label] = 0.0
    for row in range(places.size):
        if places[row] >= 0:
            out[first + places[row], classes[row]] += weights[row]


@kernel
def count_steps(codes, family, sizes, taking_part, own, slots, keys, run):
    """Count a column (the first) with none of its parents, with one, with two, …; cost n·steps.

    Into ``run``: places (steps + 1, 2, n), every row's context and cell (context and value) among
    those of a step, −1 where it lacks a value or, from the second step on, takes no part (−1);
    the first are given. Then starts (steps + 1, 2) of the steps' contexts and cells, and counts
    (…, k) of both.
    """
    places, starts, counts = run
    for step in range(family.size):
        line, size = codes[family[step]], sizes[family[step]]
        before, now = places[step], places[step + 1]
        for kind in range(2):
            taking = now[0] if kind > 0 else (taking_part if step > 0 else before[0])
            splits = 1 if step + kind > 0 else 0
            number = number_rows(taking, before[kind], line, size, splits, slots, keys, now[kind])
            first = starts[step, kind]
            count_rows(now[kind], own[0], own[1], first, number, counts[kind])
            starts[step + 1, kind] = first + number


@kernel
def smoothed(count, total, alpha, whole, even):
    """Estimate (N + α) / (N of the context + A); 0/0 is 1/v."""
    bottom = max(total, 0.0) + whole
    return (max(count, 0.0) + alpha) / bottom if bottom > 0.0 else even


@kernel
def fill_factors(run, own, share, pseudo, leans, span, out):
    """Factors of every cell, and of left-out rows for their own class; cost (n + cells·k)·steps.

    ``pseudo`` (steps, 4): what smoothing adds to every count, what it adds in proportion, the sum
    over values, and 1/v. In proportion to the row's ``share``, or, where a step ``leans``, to the
    step before. ``span``: first row and last, first free line, and whether every row has a line
    of its own. ``out``: lines and chances (steps + 1, rows), the first of both given, and factors
    (lines, k). A row that lacks a cell has the line of the step before.
    """
    places, starts, (totals, table) = run
    classes, weights = own
    lines, chances, factors = out
    first_row, last_row, free, row_by_row = span
    for step in range(len(pseudo)):
        each, part, whole, even = pseudo[step, 0], pseudo[step, 1], pseudo[step, 2], pseudo[step, 3]
        leaning = leans and step > 0
        size = last_row - first_row if row_by_row else starts[step + 1, 1] - starts[step, 1]
        for line in range(free, free + size):
            factors[line, 0] = -1.0  # not known yet
        for row in range(first_row, last_row):
            at, label, held = row - first_row, classes[row], weights[row]
            context, cell = places[step + 1, 0, row], places[step + 1, 1, row]
            above, base = lines[step, at], chances[step, at]
            if context < 0:
                lines[step + 1, at] = above
                chances[step + 1, at] = base
                continue
            line = free + (at if row_by_row else cell)
            context, cell = context + starts[step, 0], cell + starts[step, 1]
            count, total = table[cell, label] - held, totals[context, label] - held
            alpha = each + part * (base if leaning else share[row])
            lines[step + 1, at] = line
            chances[step + 1, at] = smoothed(count, total, alpha, whole, even)
            if factors[line, 0] < 0.0:
                for other in range(factors.shape[1]):
                    if leaning:
                        alpha = each + part * factors[above, other]
                    count, total = table[cell, other], totals[context, other]
                    factors[line, other] = smoothed(count, total, alpha, whole, even)
        free += size


@kernel
def multiply(factor, own, start, products, prior, scratch, out):
    """Multiply products of rows from ``start`` on by a column's factors, and score; cost n·k.

    ``factor``: lines, chances and factors of a step, see :func:`fill_factors`. ``products``:
    fractions and powers (k, rows). Where no class has a chance, the prior (k, rows) answers.
    ``out``: weighted hits, log loss and squared error are added.
    """
    lines, chances, factors = factor
    classes, weights = own
    fractions, powers = products
    found, sums, peaks = scratch
    n_classes, n_rows = fractions.shape
    for row in range(n_rows):
        line = lines[start + row]
        for label in range(n_classes):
            found[label, row] = factors[line, label]
        found[classes[start + row], row] = chances[start + row]
        peaks[row] = 2 * NEVER
        sums[0, row], sums[1, row], sums[2, row] = 0.0, 0.0, 0.0
    for label in range(n_classes):  # plain loops over rows, so that LLVM makes vectors of them
        for row in range(n_rows):
            product = fractions[label, row] * found[label, row]
            bits = bits_of(product)
            power = powers[label, row] + ((bits >> 52) - 1023 if product >= SMALLEST else NEVER)
            fractions[label, row] = number_of((bits & FRACTION_BITS) | ONE_BITS)
            powers[label, row] = power
            peaks[row] = max(peaks[row], power)
    for label in range(n_classes):
        for row in range(n_rows):
            power = max(powers[label, row] - peaks[row] + 1023, 0)
            chance = fractions[label, row] * number_of(power << 52)
            found[label, row] = chance if peaks[row] >= LEAST else prior[label, row]
        for row in range(n_rows):
            chance = found[label, row]
            sums[0, row] = max(sums[0, row], chance)
            sums[1, row] += chance
            sums[2, row] += chance * chance
    for row in range(n_rows):
        label, weight = classes[start + row], weights[start + row]
        least, total = sums[0, row] * (1.0 - TIE), sums[1, row]
        share = found[label, row] / total
        hit = found[label, row] >= least
        if share <= 0.5 + TIE:  # or none before can be as likely
            for other in range(label):
                hit = hit and found[other, row] < least
        out[0] += weight * hit
        out[2] += weight * max(1.0 - 2.0 * share + sums[2, row] / (total * total), 0.0)
        if share >= SMALLEST:
            out[1] -= weight * math.log(share)
        elif powers[label, row] >= LEAST:
            behind = peaks[row] - powers[label, row]
            out[1] += weight * (math.log(total / fractions[label, row]) + behind * LOG_2)
        elif weight > 0.0:
            out[1] = np.inf


@kernel
def add_columns(columns, own, products, prior, blocks, out):
    """Multiply rows' products by the factors of columns, and score them; cost n·k·depths·columns.

    ``columns``: steps of every depth (columns, depths), then lines, chances and factors of each,
    see :func:`fill_factors`. ``own``: classes and weights. ``products``: fractions and powers
    (blocks, depths, k, rows a block). ``out`` (blocks, columns, depths, 3).
    """
    steps, lines, chances, factors = columns
    fractions, powers = products
    n_classes, size = prior.shape[1], prior.shape[2]
    scratch = (np.empty((n_classes, size)), np.empty((3, size)), np.empty(size, np.int64))
    for block in range(blocks[0], blocks[1]):
        for column in range(len(steps)):
            for depth in range(steps.shape[1]):
                step = steps[column, depth]
                factor = (lines[column, step], chances[column, step], factors[column])
                now = (fractions[block, depth], powers[block, depth])
                found = out[block, column, depth]
                multiply(factor, own, block * size, now, prior[block], scratch, found)


@kernel
def measure(joint, prior, classes, weights, out):
    """Add to ``out`` the rows' weighted hits, log loss and squared error; cost n·k.

    Where no class has a chance, the prior answers.
    """
    chances = np.empty(joint.shape[1])
    for row in range(joint.shape[0]):
        line = joint[row]
        best = line.max()
        if best == -np.inf:
            line = prior[row]
            best = line.max()
        total = 0.0
        guess = -1
        for label in range(line.size):
            chances[label] = math.exp(line[label] - best)
            total += chances[label]
            if guess < 0 and line[label] >= best - TIE:
                guess = label
        own = classes[row]
        error = (1.0 - chances[own] / total) ** 2
        for label in range(line.size):
            if label != own:
                error += (chances[label] / total) ** 2
        out[0] += weights[row] * (guess == own)
        out[1] += weights[row] * (best + math.log(total) - line[own])
        out[2] += weights[row] * error
