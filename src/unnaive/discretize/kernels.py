"""Numba kernels: MDLP's blocks and best cut; class counts of bins, their evidence, halves."""

from __future__ import annotations

import math

from unnaive._kernel import kernel

TIE_TOL = 1e-10
LOG2_3 = math.log2(3.0)


@kernel
def collapse(values, codes, weights, ends, latest):
    """Sum sorted rows, in place, to one entry per block and class; returns their number; O(n).

    A block is a distinct value, or several in a row that hold one and the same class:
    between those no cut can be best (Fayyad & Irani 1993, theorem 1). ``ends`` is the
    block's last row at the last entry of each block and -1 elsewhere; ``latest`` is
    scratch, -1 for each class.
    """
    size = start = block = 0
    for i in range(values.size):
        c = codes[i]
        if latest[c] < start:
            latest[c] = size
            codes[size] = c
            weights[size] = weights[i]
            ends[size] = -1
            size += 1
        else:
            weights[latest[c]] += weights[i]
        if i + 1 == values.size or values[i] != values[i + 1]:
            if size == start + 1 and block == start - 1 and codes[block] == c:
                weights[block] += weights[start]
                size = start
                latest[c] = block
            else:
                block = start
            ends[size - 1] = i
            start = size
    return size


@kernel
def xlogx(x, table):
    """``x log2(x)``, looked up where x is a whole number that the table reaches."""
    whole = int(x)
    if whole < table.size and whole == x:
        return table[whole]
    return x * math.log2(x) if x > 0.0 else 0.0


@kernel
def describe(codes, weights, table, counts, first, last):
    """Class counts of entries first..last-1 into ``counts``; total, n·H in bits, classes."""
    for c in range(counts.size):
        counts[c] = 0.0
    total = 0.0
    for i in range(first, last):
        counts[codes[i]] += weights[i]
        total += weights[i]
    bits = xlogx(total, table)
    present = 0
    for c in range(counts.size):
        bits -= xlogx(counts[c], table)
        present += counts[c] > 0.0
    return total, bits, present


@kernel
def best_split(codes, weights, ends, table, scratch, first, last, candidates):
    """First entry right of the best cut of entries first..last-1, or -1 if not worth it.

    ``candidates`` is the number of cuts to choose from, ``scratch`` is of shape (3, k).
    O(entries · k), with four look-ups an entry.
    """
    left, right, terms = scratch[0], scratch[1], scratch[2]
    total, bits, present = describe(codes, weights, table, right, first, last)
    if total < 2.0:
        return -1
    for c in range(right.size):
        left[c] = 0.0
        terms[c] = xlogx(right[c], table)
    lowest = bits - TIE_TOL * total
    best = first
    passed = 0.0
    for i in range(first, last - 1):
        c = codes[i]
        left[c] += weights[i]
        right[c] -= weights[i]
        passed += weights[i]
        terms[c] = xlogx(left[c], table) + xlogx(right[c], table)
        if ends[i] >= 0:
            split = xlogx(passed, table) + xlogx(total - passed, table)
            for j in range(terms.size):
                split -= terms[j]
            if split < lowest:
                lowest = split - TIE_TOL * total
                best = i + 1
    if best == first:
        return -1
    below, bits_below, present_below = describe(codes, weights, table, left, first, best)
    above, bits_above, present_above = describe(codes, weights, table, right, best, last)
    spread = present * bits / total
    spread -= present_below * bits_below / below + present_above * bits_above / above
    alphabet = present * LOG2_3 + math.log2(1.0 - 2.0 * 3.0**-present)
    cost = math.log2(candidates) + alphabet - spread
    return best if bits - bits_below - bits_above > cost else -1


@kernel
def count_up_to(classes, weights, rows, counts):
    """Class weights of all rows up to and including each of ``rows``, into (m, k); O(n + m·k)."""
    start = 0
    for j in range(rows.size):
        if j > 0:
            counts[j] = counts[j - 1]
        for i in range(start, rows[j] + 1):
            counts[j, classes[i]] += weights[i]
        start = rows[j] + 1


@kernel
def log_evidence(upto, places, prior, share):
    """Log marginal likelihood of the classes in bins that end at ``places`` of ``upto`` (m, k).

    Counts are taken times ``share``; ``prior`` holds pseudo-counts of the classes; O(bins·k).
    """
    mass = prior.sum()
    score = 0.0
    for j in range(places.size):
        total = 0.0
        for c in range(prior.size):
            count = upto[places[j], c]
            if j > 0:
                count -= upto[places[j - 1], c]
            if count > 0.0 and prior[c] > 0.0:
                total += share * count
                score += math.lgamma(share * count + prior[c]) - math.lgamma(prior[c])
        score -= math.lgamma(total + mass) - math.lgamma(mass)
    return score


@kernel
def halve(cuts, number, ranks, total, few, least):
    """Cut the largest bin of at least ``least`` rows in half until there are ``few`` bins.

    ``cuts`` holds ``number`` places of ``ranks``, the rows up to and including each value but
    the last; returns how many it then holds. Of equals the first bin, and the lower half.
    """
    while number + 1 < few:
        largest, size = -1, 0.0
        for piece in range(number + 1):
            first = cuts[piece - 1] + 1 if piece > 0 else 0
            last = cuts[piece] if piece < number else ranks.size
            before = ranks[first - 1] if first > 0 else 0.0
            upto = ranks[last] if piece < number else total
            if last > first and upto - before > size:
                largest, size = piece, upto - before
        if largest < 0 or size < least:
            break
        first = cuts[largest - 1] + 1 if largest > 0 else 0
        last = cuts[largest] if largest < number else ranks.size
        target = (ranks[first - 1] if first > 0 else 0.0) + size / 2
        middle = first
        for place in range(first + 1, last):
            if abs(ranks[place] - target) < abs(ranks[middle] - target):
                middle = place
        for place in range(number, largest, -1):
            cuts[place] = cuts[place - 1]
        cuts[largest] = middle
        number += 1
    return number
