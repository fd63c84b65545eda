"""Search for a network by a genetic algorithm over orders of its variables."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.structure.climb import k2_search

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.information.scores import FamilyScores
    from unnaive.structure.climb import Found


@dataclass(frozen=True, eq=False)
class GeneticOrders:
    """Networks by order: K2 gives every order its network, whose score is the fitness.

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

    def search(self, random: np.random.Generator, limit: float | None = None) -> Found:
        """Search orders as random keys, and return the network of the best."""
        from unnaive.search import Box, Genetic  # noqa: PLC0415 - import time

        d = len(self.required)
        algorithm = Genetic(
            population=40,
            selected=20,
            offspring=40,
            max_generations=40,
            patience=8,
            time_limit=limit,
        )
        result = algorithm.maximise(
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
