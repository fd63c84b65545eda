"""Slow twin of ``discretize="auto"``: every candidate, its evidence and its penalty, row by row."""

import itertools
import math

import naive

NUMBERS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)


def evidence(xs, ys, cuts):
    """Log evidence of the classes in the bins between cuts, by a quarter of the rows; s = 1/2."""
    score = 0.0
    for bin_ in range(len(cuts) + 1):
        inside = [y for x, y in zip(xs, ys, strict=True) if sum(cut < x for cut in cuts) == bin_]
        score += math.lgamma(0.5) - math.lgamma(len(inside) / 4 + 0.5)
        for c in set(ys):
            share = 0.5 * ys.count(c) / len(ys)
            score += math.lgamma(inside.count(c) / 4 + share) - math.lgamma(share)
    return score


def equal_cuts(xs):
    """Candidates that do not use the classes: cuts by number of bins, five rows per bin."""
    distinct = sorted(set(xs))
    found = []
    for bins in [number for number in NUMBERS if 5 * number <= len(xs)]:
        if len(distinct) <= bins:
            return [*found, [(a + b) / 2 for a, b in itertools.pairwise(distinct)]]
        found.append(sorted(naive.equal_frequency_cuts(xs, bins)))
    return found


def halve(xs, cuts, bins):
    """Cut the largest bin of several values in the middle, until there are enough bins."""
    while len(cuts) + 1 < bins:
        parts = [[] for _ in range(len(cuts) + 1)]
        for x in sorted(xs):
            parts[sum(cut < x for cut in cuts)].append(x)
        largest = max((part for part in parts if len(set(part)) > 1), key=len, default=[])
        if len(largest) < 10:
            break
        cuts = sorted(cuts + naive.equal_frequency_cuts(largest, 2))
    return cuts


def automatic_cuts(xs, ys, bins):
    """Cuts of the candidate with the most evidence after the penalty, split into a few bins."""
    equal, supervised = equal_cuts(xs), naive.mdlp_cuts(xs, ys)
    ways = math.comb(len(set(xs)) - 1, len(supervised))
    candidates = [(evidence(xs, ys, []), [])]
    candidates += [(evidence(xs, ys, cuts) - math.log(len(equal)), cuts) for cuts in equal]
    candidates += [(evidence(xs, ys, supervised) - math.log(ways), supervised)]
    top = max(score for score, _ in candidates)
    tied = [cuts for score, cuts in candidates if score > top - 1e-9 * max(1, abs(top))]
    return halve(xs, min(tied, key=len), bins)
