"""Slow twins of FSSJ and BSEJ by the rules of Robles et al.; all groupings (Mathematics 9.4)."""

import itertools

import naive_search as slow


def paper_fssj(rows, y, sizes, k, **options):
    """FSSJ as the table of Robles et al. suggests: joins first, the first column always taken."""
    d = len(sizes)

    def fitness(groups):
        return slow.grouped_correct(rows, y, sizes, k, groups, partial="drop", **options)

    def moves(groups):
        adds = [move for move in slow.forward_moves(groups, d) if len(move) > len(groups)]
        return [move for move in slow.forward_moves(groups, d) if len(move) == len(groups)] + adds

    return slow.climb([], moves, fitness, price=lambda groups: d * (1 + len(groups)), least=1)


def paper_bsej(rows, y, sizes, k, **options):
    """BSEJ as the table of Robles et al. suggests: joins first, and only of single columns."""
    start = slow.singletons(sizes)

    def fitness(groups):
        return slow.grouped_correct(rows, y, sizes, k, groups, partial="drop", **options)

    def moves(groups):
        alone = [group for group in groups if len(group) == 1]
        joins = [
            slow.in_order([*(g for g in groups if g not in (a, b)), a + b])
            for a, b in itertools.combinations(alone, 2)
        ]
        return joins + [[g for g in groups if g != gone] for gone in groups]

    return slow.climb(start, moves, fitness, price=lambda _: len(start) ** 2)


def pazzani_optimum(rows, y, sizes, k, **options):
    """(canonical genome, fitness) best of all structures, by enumeration."""
    d, keys = len(sizes), []
    for genome in itertools.product(range(d + 1), repeat=d):
        if list(genome) == slow.canonical(genome):
            fitness = slow.pazzani_fitness(genome, rows, y, sizes, k, **options)
            keys.append(slow.pazzani_key(genome, fitness))
    best = min(keys)
    return list(best[-1]), -best[0]
