"""GES: greedy search for a network, from one class of equivalent networks to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from time import monotonic
from typing import TYPE_CHECKING

from unnaive._ties import TIE_TOLERANCE
from unnaive.structure.dag import PDAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Score = Callable[[int, Iterable[int]], float]
    Offers = Callable[["_Sides", int, int], Iterator["Move"]]

__all__ = ["GesResult", "Move", "greedy_equivalence_search", "moved"]

IMPROVES = 1e-9  # the least gain of a move, Mathematics 7.3


@dataclass(frozen=True)
class Move:
    """A step of GES: the edge source → target comes ("insert") or goes ("delete").

    ``others`` are the neighbours of the target that point to it before an edge is inserted, or
    that source and target point to after one is deleted. ``gain`` is what the score gains.
    """

    kind: str
    source: int
    target: int
    others: tuple[int, ...]
    gain: float

    @property
    def place(self) -> tuple[int, int, tuple[int, ...]]:
        """Where a move stands among those that tie: by child, then parent (Mathematics 0.7)."""
        return self.target, self.source, self.others


@dataclass(frozen=True)
class GesResult:
    """What GES found.

    Attributes
    ----------
    graph : PDAG
        The class of equivalent networks, as a CPDAG.
    score : float
        Score of each of them.
    moves : list of Move
        The way there from the graph without edges.
    complete : bool
        Whether time was enough; if not, the graph is the best so far.
    """

    graph: PDAG
    score: float
    moves: list[Move]
    complete: bool


class _OutOfTime(Exception):
    pass


def greedy_equivalence_search(
    names: Sequence[str],
    local_score: Callable[[int, tuple[int, ...]], float],
    *,
    max_parents: int | None = None,
    limit: float | None = None,
) -> GesResult:
    """Learn a class of equivalent networks by inserting edges while that gains, then deleting.

    Equivalent networks score alike, so the search goes from class to class. A move reaches all
    classes that come from any network of the present one by adding (later: removing) an edge;
    yet its gain is one difference of local scores. If data suffice, inserting ends in a class
    that contains the truth, and deleting in the truth itself. Of moves whose gains tie, the
    first by child, parent and neighbours is made. After a move only the gains that rest on
    changed edges are computed anew.

    Parameters
    ----------
    names : sequence of str
        Variables.
    local_score : callable
        Score of a variable with its parents, ``local_score(node, parents)``, parents ascending.
        It is maximised, asked once for each family, and must be score equivalent, as BIC, AIC
        and BDeu are and K2 is not.
    max_parents : int, optional
        Most parents of a variable. As equivalent networks all have the same largest number of
        parents, no network of the class has more.
    limit : float, optional
        Seconds after which the search ends where it is.

    References
    ----------
    Chickering, "Optimal structure identification with greedy search", JMLR 3, 2002:
    theorems 15 and 17 and their corollaries.

    Examples
    --------
    >>> joint = {(0, 1): -1, (0, 2): 1, (1, 2): 1, (0, 1, 2): 3}  # of a family: score equivalent
    >>> def local_score(node, parents):
    ...     return joint.get(tuple(sorted((node, *parents))), 0) - joint.get(parents, 0)
    >>> found = greedy_equivalence_search(["rain", "sprinkler", "wet"], local_score)
    >>> sorted(found.graph.directed), found.score
    ([(0, 2), (1, 2)], 4)
    """
    if max_parents is not None and max_parents < 0:
        raise ValueError(f"max_parents={max_parents}; it must be at least 0, or None for no bound")
    kept = cache(local_score)
    score = _timed(kept, math.inf if limit is None else monotonic() + limit)
    most = len(names) if max_parents is None else max_parents
    graph, moves, complete = PDAG(tuple(names), frozenset(), frozenset()), list[Move](), True
    try:
        for offers in (partial(_inserts, score, most), partial(_deletes, score)):
            for move, after in _climb(graph, offers):
                moves.append(move)
                graph = after
    except _OutOfTime:
        complete = False
    families = enumerate(graph.to_dag().parents)
    return GesResult(graph, sum(kept(*family) for family in families), moves, complete)


def _timed(kept: Callable[[int, tuple[int, ...]], float], deadline: float) -> Score:
    """Make a score of parents in any order, which gives up when time is over."""

    def score(node: int, parents: Iterable[int]) -> float:
        if monotonic() >= deadline:
            raise _OutOfTime
        return kept(node, tuple(sorted(parents)))

    return score


def moved(graph: PDAG, move: Move) -> PDAG:
    """Make a move in a CPDAG and return the CPDAG of the class it leads to."""
    source, target = move.source, move.target
    directed, undirected = set(graph.directed), set(graph.undirected)
    if move.kind == "insert":
        arcs = {(source, target), *((other, target) for other in move.others)}
    else:
        gone = (source, target)
        directed.discard(gone)
        undirected.discard((min(gone), max(gone)))
        near = graph.neighbours(source)
        arcs = {(target, other) for other in move.others}
        arcs |= {(source, other) for other in move.others if other in near}
    undirected -= {(min(arc), max(arc)) for arc in arcs}
    return PDAG(graph.names, frozenset(directed | arcs), frozenset(undirected)).to_dag().cpdag()


@dataclass(frozen=True, eq=False)
class _Sides:
    """What is on which side of every node of a CPDAG."""

    neighbours: list[frozenset[int]]
    parents: list[frozenset[int]]
    children: list[frozenset[int]]
    adjacent: list[frozenset[int]]

    @classmethod
    def of(cls, graph: PDAG) -> _Sides:
        nodes = range(len(graph.names))
        sides = (graph.neighbours, graph.parents_of, graph.children_of, graph.adjacent)
        return cls(*([side(node) for node in nodes] for side in sides))

    def cliques(self, within: Iterable[int], most: float = math.inf) -> Iterator[tuple[int, ...]]:
        """Yield all sets of some nodes, at most so many, that are joined to each other."""
        waiting: list[tuple[tuple[int, ...], list[int]]] = [((), sorted(within))]
        while waiting:
            chosen, left = waiting.pop()
            yield chosen
            if len(chosen) < most:
                for place, node in enumerate(left, start=1):
                    beyond = [other for other in left[place:] if other in self.adjacent[node]]
                    waiting.append(((*chosen, node), beyond))

    def blocked(self, start: int, goal: int, barrier: frozenset[int]) -> bool:
        """Whether a barrier cuts all ways along edges, none against its direction."""
        reached, waiting = {start, *barrier}, [start]
        while waiting:
            node = waiting.pop()
            new = (self.neighbours[node] | self.children[node]) - reached
            if goal in new:
                return False
            reached |= new
            waiting += new
        return True

    def allows(self, move: Move) -> bool:
        """Whether a move that its neighbourhood permits makes no cycle elsewhere."""
        if move.kind == "delete":
            return True
        common = self.neighbours[move.target] & self.adjacent[move.source]
        return self.blocked(move.target, move.source, common.union(move.others))


def _inserts(score: Score, most: int, sides: _Sides, source: int, target: int) -> Iterator[Move]:
    """Yield insertions of an edge that gain: common neighbours and others must be a clique."""
    near, beside = sides.neighbours[target], sides.adjacent[source]
    common, parents = near & beside, sides.parents[target]
    room = most - len(common) - len(parents) - 1
    clique = all(common - {node} <= sides.adjacent[node] for node in common)
    if source == target or target in beside or room < 0 or not clique:
        return
    free = [node for node in near - beside if common <= sides.adjacent[node]]
    for others in sides.cliques(free, room):
        family = {*common, *others, *parents}
        gain = score(target, family | {source}) - score(target, family)
        if gain > IMPROVES:
            yield Move("insert", source, target, others, gain)


def _deletes(score: Score, sides: _Sides, source: int, target: int) -> Iterator[Move]:
    """Yield deletions of an edge that gain: common neighbours but the others must be a clique."""
    near, parents = sides.neighbours[target], sides.parents[target]
    if source not in near | parents:
        return
    common = near & sides.adjacent[source]
    for left in sides.cliques(common):
        family = parents.union(left) - {source}
        gain = score(target, family) - score(target, family | {source})
        if gain > IMPROVES:
            yield Move("delete", source, target, tuple(sorted(common.difference(left))), gain)


def _climb(graph: PDAG, offers: Offers) -> Iterator[tuple[Move, PDAG]]:
    """Yield the best move and the graph it leads to, again and again while there is one."""
    nodes = range(len(graph.names))
    sides = _Sides.of(graph)
    offered: dict[tuple[int, int], list[Move]] = {}
    stale = list(product(nodes, nodes))
    while True:
        offered |= {pair: list(offers(sides, *pair)) for pair in stale}
        move = _best(offered, sides)
        if move is None:
            return
        graph = moved(graph, move)
        yield move, graph
        before, sides = sides, _Sides.of(graph)
        stale = _stale(before, sides, move)


def _best(offered: dict[tuple[int, int], list[Move]], sides: _Sides) -> Move | None:
    """Return the allowed move of largest gain, the first in its place of those that tie."""
    tied: list[Move] = []
    moves = [move for some in offered.values() for move in some]
    for move in sorted(moves, key=lambda move: (-move.gain, move.place)):
        if tied and move.gain < tied[0].gain - TIE_TOLERANCE:
            break
        if sides.allows(move):
            tied.append(move)
    return min(tied, key=lambda move: move.place, default=None)


def _stale(before: _Sides, after: _Sides, move: Move) -> list[tuple[int, int]]:
    """Pairs whose offers a move has changed.

    They rest on the target's neighbours and parents, on what the source is joined to, and on
    which of the target's neighbours are joined; only the ends of the move were joined or parted.
    """
    ends = {move.source, move.target}
    nodes = range(len(after.parents))
    changed = {
        node
        for node in nodes
        if before.neighbours[node] != after.neighbours[node]
        or before.parents[node] != after.parents[node]
        or ends <= after.neighbours[node]
    }
    return [(one, other) for one, other in product(nodes, nodes) if one in ends or other in changed]
