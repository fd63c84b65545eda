"""Search for a network by a genetic algorithm, over orders of its variables or over its arcs."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import Inherits
from unnaive.exceptions import UnnaiveError
from unnaive.structure.climb import Found, k2_search

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.information.scores import FamilyScores

_SETTINGS: dict[str, Any] = {"population": 40, "selected": 20, "offspring": 40, "patience": 8}


@dataclass(frozen=True, eq=False)
class GeneticSearch(Inherits):
    """A search for the network of largest score that keeps some rules.

    Parameters
    ----------
    scores : FamilyScores
        Scores of families.
    max_parents : int
        Largest number of parents of a variable.
    required, forbidden : ndarray of shape (d, d)
        Arcs [child, parent] that must be, and must not be, in the network.
    """

    scores: FamilyScores
    max_parents: int
    required: BoolArray
    forbidden: BoolArray


class GeneticOrders(GeneticSearch):
    """Networks by order: K2 gives every order its network, whose score is the fitness.

    Parameters
    ----------
    {parameters}
    """

    def search(self, random: np.random.Generator, limit: float | None = None) -> Found:
        """Search orders as random keys, and return the network of the best."""
        from unnaive.search import Box, Genetic  # noqa: PLC0415 - import time

        d = len(self.required)
        result = Genetic(**_SETTINGS, max_generations=40, time_limit=limit).maximise(
            Box([0.0] * d, [1.0] * d),
            lambda keys: np.array([self.network(line).score for line in keys]),
            random_state=random,
            key=lambda keys: np.array([ordered(line, self.required) for line in keys]),
        )
        return self.network(result.best)

    def network(self, keys: FloatArray) -> Found:
        """Return the network that K2 finds for the order of keys (d,)."""
        order = ordered(keys, self.required)
        return k2_search(self.scores, order, self.max_parents, self.required, self.forbidden)


class GeneticArcs(GeneticSearch):
    """Networks by their arcs: a gene for every pair of variables, 0 for no arc.

    Arcs that break a rule are left out (:func:`arcs_of`), and the score of the rest is the fitness.

    Parameters
    ----------
    {parameters}

    References
    ----------
    Larrañaga, Poza, Yurramendi, Murga & Kuijpers, "Structure learning of Bayesian networks by
    genetic algorithms", IEEE Transactions on Pattern Analysis and Machine Intelligence 18, 1996.
    """

    def search(self, random: np.random.Generator, limit: float | None = None) -> Found:
        """Search arcs, from random networks and the one of required arcs."""
        from unnaive.search import Categories, Genetic  # noqa: PLC0415 - import time

        d = len(self.required)
        ordered(np.zeros(d), self.required)  # raises if the required arcs make a cycle
        pairs = d * (d - 1) // 2
        if not pairs:
            return self._found(arcs_of(np.zeros(0, int), *self._rules))
        result = Genetic(**_SETTINGS, max_generations=200, time_limit=limit).maximise(
            Categories([3] * pairs),
            lambda genomes: np.array(
                [self._found(arcs_of(g, *self._rules)).score for g in genomes]
            ),
            random_state=random,
            seeds=np.zeros((1, pairs), dtype=np.int64),
        )
        return self._found(arcs_of(result.best, *self._rules))

    @property
    def _rules(self) -> tuple[int, BoolArray, BoolArray]:
        return self.max_parents, self.required, self.forbidden

    def _found(self, parents: tuple[tuple[int, ...], ...]) -> Found:
        return Found(parents, self.scores.total(parents), 0, True)


def arcs_of(
    genome: IntArray, max_parents: int, required: BoolArray, forbidden: BoolArray
) -> tuple[tuple[int, ...], ...]:
    """Read a genome of the pairs (0, 1), (0, 2), …, (1, 2) and so on: parents of every variable.

    A gene 1 is the arc from the first to the second of a pair, 2 the other way, 0 none. An arc is
    left out if it is forbidden, closes a cycle with the arcs before it, or if its child has
    ``max_parents``. Required arcs come first.

    Examples
    --------
    >>> import numpy as np
    >>> none = np.zeros((3, 3), dtype=bool)
    >>> arcs_of(np.array([1, 2, 1]), 2, none, none)  # 0 → 1, 2 → 0; 1 → 2 would close a cycle
    ((2,), (0,), ())
    """
    d = len(required)
    parents: list[set[int]] = [set() for _ in range(d)]
    above: list[set[int]] = [set() for _ in range(d)]  # all ancestors

    def add(parent: int, child: int) -> None:
        parents[child].add(parent)
        for node in range(d):
            if node == child or child in above[node]:
                above[node] |= above[parent] | {parent}

    for child, parent in np.argwhere(required).tolist():
        add(parent, child)
    for (first, second), gene in zip(combinations(range(d), 2), genome.tolist(), strict=True):
        parent, child = (first, second) if gene == 1 else (second, first)
        full = len(parents[child]) >= max_parents
        if gene and not full and not forbidden[child, parent] and child not in above[parent]:
            add(parent, child)
    return tuple(tuple(sorted(some)) for some in parents)


def ordered(keys: FloatArray | IntArray, required: BoolArray) -> list[int]:
    """Sort variables by their keys, but parents of required arcs before children.

    Examples
    --------
    >>> import numpy as np
    >>> ordered(np.array([0.5, 0.1, 0.3]), np.zeros((3, 3), dtype=bool))
    [1, 2, 0]
    """
    waiting = required.sum(axis=1)
    ready = [(keys[node], node) for node in np.flatnonzero(waiting == 0).tolist()]
    heapify(ready)
    order: list[int] = []
    while ready:
        _, node = heappop(ready)
        order.append(node)
        for child in np.flatnonzero(required[:, node]).tolist():
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, (keys[child], child))
    if len(order) < len(required):
        raise UnnaiveError("the required arcs make a cycle; leave one out")
    return order
