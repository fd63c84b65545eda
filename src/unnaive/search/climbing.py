"""Structure of a network of genes, learned by greedy search or by tests of independence."""

from __future__ import annotations

from graphlib import TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unnaive.structure.climb import ADD, IMPROVES, Climber, best_move, hill_climbing
from unnaive.structure.constraint import pc_stable
from unnaive.structure.independence import chi_square_test
from unnaive.structure.knowledge import Knowledge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import IntArray
    from unnaive.information.gaussian_scores import GaussianScores
    from unnaive.information.scores import FamilyScores

Parents = tuple[tuple[int, ...], ...]


def climbed(
    scores: FamilyScores | GaussianScores, max_parents: int, previous: Parents | None = None
) -> Parents:
    """Find the parents of every gene by greedy search.

    Without a previous network this is algorithm B: arcs are added to the empty graph, the arc
    of largest gain first, while one gains. With a previous network, hill climbing continues
    from it and adds, deletes and reverses arcs.

    References
    ----------
    Buntine, "Theory refinement on Bayesian networks", UAI 1991.
    """
    d = len(scores.sizes)
    none = np.zeros((d, d), dtype=bool)
    if previous is not None:
        start = [set(above) for above in previous]
        network = hill_climbing(Climber(scores, max_parents, none, none, start))
        if not network.complete:  # hill climbing catches an interrupt
            raise KeyboardInterrupt
        return network.parents
    climber = Climber(scores, max_parents, none, none)
    while True:
        move, gain = best_move(climber.all_gains()[ADD : ADD + 1])
        if move is None or gain <= IMPROVES:
            return tuple(tuple(sorted(above)) for above in climber.parents)
        climber.apply(move)


def by_tests(genes: IntArray, sizes: IntArray, significance: float, max_parents: int) -> Parents:
    """Find the parents of every gene by PC: tests of independence instead of a score.

    Each pair is tested given at most ``max_parents`` genes, which is enough for networks with no
    more parents. Every test is made, however few the genomes are, with the degrees of freedom of
    the values that occur: populations lose values as they converge. A gene with more parents
    keeps those with the smallest p-values given nothing, on ties the lower ones.

    References
    ----------
    Spirtes & Glymour, "An algorithm for fast recovery of sparse causal graphs", Social Science
    Computer Review 9(1), 1991.

    Examples
    --------
    >>> coins = np.array([[0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10, [0, 1, 1, 0] * 10])
    >>> by_tests(coins[:2], np.array([2, 2]), 0.05, 3)
    ((), ())
    >>> by_tests(coins[[0, 0]], np.array([2, 2]), 0.05, 3)
    ((1,), ())
    """
    test = chi_square_test(genes, sizes, significance, min_rows_per_cell=0, adjust_zeros=True)
    names = [f"x{gene}" for gene in range(len(genes))]
    graph = pc_stable(names, test, max_given=max_parents).graph
    dag = Knowledge.of(names).extended(graph)

    def strongest(child: int, above: tuple[int, ...]) -> tuple[int, ...]:
        ordered = sorted(above, key=lambda parent: (test.outcome(parent, child).p_value, parent))
        return tuple(sorted(ordered[:max_parents]))

    return tuple(strongest(child, above) for child, above in enumerate(dag.parents))


def chained(order: Sequence[int]) -> Parents:
    """Return the parents of genes that form a chain: each gene's parent is the one before it.

    Examples
    --------
    >>> chained([1, 2, 0])
    ((2,), (), (1,))
    """
    above = {gene: (before,) for before, gene in pairwise(order)}
    return tuple(above.get(gene, ()) for gene in range(len(order)))


def sampling_order(parents: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Sort genes so that parents come before children.

    Examples
    --------
    >>> sampling_order([(1,), (2,), ()])
    (2, 1, 0)
    """
    if not any(parents):
        return tuple(range(len(parents)))
    return tuple(TopologicalSorter(dict(enumerate(parents))).static_order())
