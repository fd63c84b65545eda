"""Nodes around every node of a partially directed graph, and nodes that paths lead to."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive.structure.dag import PDAG


def reached(
    starts: Iterable[int], steps: Sequence[Iterable[int]], barrier: Iterable[int] = ()
) -> frozenset[int]:
    """Nodes that one or more steps lead to without entering a barrier.

    Examples
    --------
    >>> sorted(reached([0], [[1], [2], [3], []])), sorted(reached([0], [[1], [2], [3], []], [2]))
    ([1, 2, 3], [1])
    """
    blocked = set(barrier)
    visited = set(blocked)
    waiting = list(starts)
    while waiting:
        new = set(steps[waiting.pop()]) - visited
        visited |= new
        waiting += new
    return frozenset(visited - blocked)


class Marks:
    """Nodes around every node of a PDAG, as sets that may change.

    ``neighbours`` are joined to a node by an edge without direction, ``adjacent`` by any edge.
    """

    def __init__(self, graph: PDAG) -> None:
        self.parents, self.children, self.neighbours = (
            [set[int]() for _ in graph.names] for _ in range(3)
        )
        for i, j in graph.undirected:
            self.neighbours[i].add(j)
            self.neighbours[j].add(i)
        for i, j in graph.directed:
            self.parents[j].add(i)
            self.children[i].add(j)
        kinds = zip(self.parents, self.children, self.neighbours, strict=True)
        self.adjacent = [set[int]().union(*kind) for kind in kinds]

    def direct(self, i: int, j: int) -> None:
        """Change the edge i − j into i → j."""
        self.neighbours[i].remove(j)
        self.neighbours[j].remove(i)
        self.children[i].add(j)
        self.parents[j].add(i)

    def forced(self, i: int, j: int, background: bool) -> bool:
        """Whether one of Meek's rules changes i − j into i → j."""
        if not self.parents[i] <= self.adjacent[j] or self.children[i] & self.parents[j]:
            return True  # R1: the collider w → i ← j would be new; R2: i → w → j → i a cycle
        between = self.neighbours[i] & self.parents[j]
        if any(w not in self.adjacent[v] for v, w in combinations(between, 2)):
            return True  # R3: j → i forces v → i ← w, a new collider
        return background and any(  # R4: i − v → w → j, i joined to w, v not to j
            not self.parents[w].isdisjoint(self.neighbours[i] - self.adjacent[j])
            for w in self.parents[j] & self.adjacent[i]
        )

    def may_be_last(self, node: int) -> bool:
        """Whether all edges of a node can point to it without a new collider."""
        return not self.children[node] and all(
            self.adjacent[node] <= self.adjacent[other] | {other} for other in self.neighbours[node]
        )

    def drop(self, node: int) -> None:
        """Remove a node from the sets of all others."""
        for other in self.adjacent[node]:
            for kind in (self.parents, self.children, self.neighbours, self.adjacent):
                kind[other].discard(node)
