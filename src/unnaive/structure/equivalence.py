"""GES: greedy search for a network over classes of equivalent networks."""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import product
from time import monotonic
from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE
from unnaive.structure.dag import DAG, PDAG
from unnaive.structure.knowledge import Knowledge
from unnaive.structure.marks import Marks, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from unnaive.structure.dag import Node

    Score = Callable[[int, Iterable[int]], float]
    Offers = Callable[[Marks, int, int], Iterator["Move"]]

IMPROVES = 1e-9  # minimum gain of a move, Mathematics 7.3


@dataclass(frozen=True)
class Move:
    """A step of GES: the edge source → target is inserted ("insert") or removed ("delete").

    ``others`` are the neighbours of the target that are directed to it before the edge is
    inserted, or that source and target are directed to after it is deleted. ``gain`` is the
    change of the score.
    """

    kind: str
    source: int
    target: int
    others: tuple[int, ...]
    gain: float

    @property
    def place(self) -> tuple[int, int, tuple[int, ...]]:
        """Order of tied moves: by child, then parent, then others (Mathematics 0.7)."""
        return self.target, self.source, self.others


@dataclass(frozen=True)
class GesResult:
    """Result of GES.

    Attributes
    ----------
    graph : PDAG
        The class of equivalent networks, as a CPDAG.
    dag : DAG
        A network of the class that agrees with the required and forbidden edges.
    score : float
        Score of each network of the class.
    moves : list of Move
        Moves that lead from the class of the required edges to this one.
    complete : bool
        Whether the search ended before the time limit; if not, the graph is the best so far.
    """

    graph: PDAG
    dag: DAG
    score: float
    moves: list[Move]
    complete: bool


def greedy_equivalence_search(
    names: Sequence[str],
    local_score: Callable[[int, tuple[int, ...]], float],
    *,
    max_parents: int | None = None,
    required: Iterable[tuple[Node, Node]] = (),
    forbidden: Iterable[tuple[Node, Node]] = (),
    limit: float | None = None,
) -> GesResult:
    """Learn a class of equivalent networks: insert edges while that gains, then delete edges.

    Equivalent networks have the same score, so the search moves from class to class. A move
    reaches every class that adding (later: removing) an edge of some network of the present
    class leads to, and yet its gain is one difference of local scores. With enough data,
    inserting ends in a class that contains the true distribution, and deleting in the true
    class. On ties, the first move by child, parent and neighbours is made. After a move, only
    the gains that depend on changed edges are computed again.

    Parameters
    ----------
    names : sequence of str
        Variables.
    local_score : callable
        Score of a variable with its parents, ``local_score(node, parents)``, parents ascending.
        It is maximized, called once for each family, and must be score equivalent, as BIC, AIC
        and BDeu are; K2 is not.
    max_parents : int, optional
        Maximum number of parents of a variable. The largest number of parents is the same in all
        equivalent networks, so no network of the class has more.
    required, forbidden : iterables of (parent, child), optional
        Edges that a network must have, and edges that it must not have. The search starts from
        the class of the required edges, and only moves to classes with a network that agrees:
        ``dag`` is such a network. The class itself does not show their directions.
    limit : float, optional
        Time limit in seconds.

    Returns
    -------
    GesResult
        The class and the moves that lead to it.

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
    known = Knowledge.of(names, required, forbidden)
    graph, moves, complete = DAG.of_edges(names, known.required).cpdag(), list[Move](), True
    try:
        for offers in (partial(_inserts, score, most), partial(_deletes, score)):
            for move, after in _climb(graph, offers, known):
                moves.append(move)
                graph = after
    except TimeoutError:
        complete = False
    dag = known.member(graph) or graph.to_dag()
    total = sum(kept(*family) for family in enumerate(dag.parents))
    return GesResult(graph, dag, total, moves, complete)


def _timed(kept: Callable[[int, tuple[int, ...]], float], deadline: float) -> Score:
    """Wrap a score so that it takes parents in any order and raises when time is over."""

    def score(node: int, parents: Iterable[int]) -> float:
        if monotonic() >= deadline:
            raise TimeoutError
        return kept(node, tuple(sorted(parents)))

    return score


def moved(graph: PDAG, move: Move) -> PDAG:
    """Make a move in a CPDAG and return the CPDAG that it leads to."""
    source, target = move.source, move.target
    directed, undirected = set(graph.directed), set(graph.undirected)
    if move.kind == "insert":
        arcs = {(source, target), *((other, target) for other in move.others)}
    else:
        directed.discard((source, target))
        undirected.discard((min(source, target), max(source, target)))
        near = graph.neighbours(source)
        arcs = {(target, other) for other in move.others}
        arcs |= {(source, other) for other in move.others if other in near}
    undirected -= {(min(arc), max(arc)) for arc in arcs}
    return PDAG(graph.names, frozenset(directed | arcs), frozenset(undirected)).to_dag().cpdag()


def _cliques(
    marks: Marks, within: Iterable[int], most: float = math.inf
) -> Iterator[tuple[int, ...]]:
    """Yield all sets of at most ``most`` of some nodes that are joined to each other."""
    waiting: list[tuple[tuple[int, ...], list[int]]] = [((), sorted(within))]
    while waiting:
        chosen, left = waiting.pop()
        yield chosen
        if len(chosen) < most:
            for place, node in enumerate(left, start=1):
                beyond = [other for other in left[place:] if other in marks.adjacent[node]]
                waiting.append(((*chosen, node), beyond))


def _allows(marks: Marks, move: Move) -> bool:
    """Whether a move that its neighbourhood permits makes no cycle elsewhere.

    An insertion makes none if every path from target to source, never against the direction of
    an edge, passes through a common neighbour or one of the others.
    """
    if move.kind == "delete":
        return True
    barrier = (marks.neighbours[move.target] & marks.adjacent[move.source]).union(move.others)
    forward = [a | b for a, b in zip(marks.neighbours, marks.children, strict=True)]
    return move.source not in reached([move.target], forward, barrier)


def _inserts(score: Score, most: int, marks: Marks, source: int, target: int) -> Iterator[Move]:
    """Yield insertions of an edge that gain: common neighbours and others must be a clique."""
    near, beside = marks.neighbours[target], marks.adjacent[source]
    common, parents = near & beside, marks.parents[target]
    room = most - len(common) - len(parents) - 1
    clique = all(common - {node} <= marks.adjacent[node] for node in common)
    if source == target or target in beside or room < 0 or not clique:
        return
    free = [node for node in near - beside if common <= marks.adjacent[node]]
    for others in _cliques(marks, free, room):
        family = {*common, *others, *parents}
        gain = score(target, family | {source}) - score(target, family)
        if gain > IMPROVES:
            yield Move("insert", source, target, others, gain)


def _deletes(score: Score, marks: Marks, source: int, target: int) -> Iterator[Move]:
    """Yield deletions of an edge that gain; common neighbours minus others must be a clique."""
    near, parents = marks.neighbours[target], marks.parents[target]
    if source not in near | parents:
        return
    common = near & marks.adjacent[source]
    for left in _cliques(marks, common):
        family = parents.union(left) - {source}
        gain = score(target, family) - score(target, family | {source})
        if gain > IMPROVES:
            yield Move("delete", source, target, tuple(sorted(common.difference(left))), gain)


def _climb(graph: PDAG, offers: Offers, known: Knowledge) -> Iterator[tuple[Move, PDAG]]:
    """Yield the best move and the graph that it leads to, while there is one."""

    def permits(move: Move) -> bool:
        return _allows(marks, move) and (not known or known.member(moved(graph, move)) is not None)

    nodes = range(len(graph.names))
    marks = Marks(graph)
    offered: dict[tuple[int, int], list[Move]] = {}
    stale = list(product(nodes, nodes))
    while True:
        offered |= {pair: list(offers(marks, *pair)) for pair in stale}
        move = _best(offered, permits)
        if move is None:
            return
        graph = moved(graph, move)
        yield move, graph
        before, marks = marks, Marks(graph)
        stale = _stale(before, marks, move)


def _best(
    offered: dict[tuple[int, int], list[Move]], permits: Callable[[Move], bool]
) -> Move | None:
    """Return the permitted move of largest gain, on ties the first by :attr:`Move.place`."""
    tied: list[Move] = []
    moves = [move for some in offered.values() for move in some]
    for move in sorted(moves, key=lambda move: (-move.gain, move.place)):
        if tied and move.gain < tied[0].gain - TIE_TOLERANCE:
            break
        if permits(move):
            tied.append(move)
    return min(tied, key=lambda move: move.place, default=None)


def _stale(before: Marks, after: Marks, move: Move) -> list[tuple[int, int]]:
    """Pairs whose offers a move has changed.

    Offers depend on the target's neighbours and parents, on the nodes joined to the source, and
    on which of the target's neighbours are joined; the move joined or separated only its ends.
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
