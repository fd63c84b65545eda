"""Background knowledge about a network: edges that it must have, and edges that it must not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG, PDAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unnaive.structure.dag import Node

    Arc = tuple[int, int]


@dataclass(frozen=True)
class Knowledge:
    """Required and forbidden edges between named variables.

    Attributes
    ----------
    names : tuple of str
        Variables.
    required, forbidden : frozenset of pairs of int
        Edges (parent, child) that a network must have, and that it must not have.

    Examples
    --------
    >>> known = Knowledge.of(["age", "smoker", "cough"], [("smoker", "cough")], [(2, 0), (1, 0)])
    >>> chain = PDAG(known.names, frozenset(), frozenset({(0, 1), (1, 2)}))
    >>> known.member(chain).edges
    [('age', 'smoker'), ('smoker', 'cough')]
    """

    names: tuple[str, ...]
    required: frozenset[Arc]
    forbidden: frozenset[Arc]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        required: Iterable[tuple[Node, Node]] = (),
        forbidden: Iterable[tuple[Node, Node]] = (),
    ) -> Knowledge:
        """Read edges, given by names or positions; raise if no network agrees with them."""
        wanted, barred = _arcs(names, required), _arcs(names, forbidden)
        if wanted & barred:
            raise ValueError(f"edges {sorted(wanted & barred)} are both required and forbidden")
        try:
            if wanted:
                DAG.of_edges(names, wanted)
        except UnnaiveError as error:
            raise ValueError(f"required edges contradict each other: {error}") from error
        return cls(tuple(names), wanted, barred)

    def __bool__(self) -> bool:
        return bool(self.required or self.forbidden)

    def directions(self, joined: Iterable[Arc]) -> frozenset[Arc]:
        """Known directions of the pairs (i, j) that are joined, and all required edges."""
        if not self.forbidden:
            return self.required
        turned = {
            (j, i) for a, b in joined for i, j in ((a, b), (b, a)) if (i, j) in self.forbidden
        }
        return self.required | turned

    def member(self, graph: PDAG) -> DAG | None:
        """Return a network of a class of equivalent networks that agrees, or None.

        The known directions and Meek's rules leave a graph whose extensions are exactly the
        networks of the class that agree.
        """
        joined = graph.directed | graph.undirected
        directed = graph.directed | self.directions(joined)
        lines = frozenset((i, j) for i, j in graph.undirected if not {(i, j), (j, i)} & directed)
        try:
            dag = PDAG(self.names, directed, lines).meek(background=True).to_dag()
        except UnnaiveError:  # a pair is joined in both directions, or in a cycle
            return None
        return dag if dag.cpdag() == graph else None

    def extended(self, graph: PDAG) -> DAG:
        """Direct all edges of a graph in agreement, even if no network has just its colliders.

        Edges that would close a cycle are reversed, or left out if that is forbidden.
        """
        try:
            return graph.to_dag()
        except UnnaiveError:
            dag = DAG.of_edges(self.names, self.required)
        for arc in (*sorted(graph.directed), *sorted(graph.undirected)):
            if {arc, arc[::-1]} & self.required:
                continue
            for parent, child in (arc, arc[::-1]):
                if (parent, child) not in self.forbidden and parent not in dag.descendants(child):
                    dag = dag.with_edge(parent, child)
                    break
        return dag

    def limited(self, dag: DAG, most: int, score: Callable[[int, tuple[int, ...]], float]) -> DAG:
        """Remove parents that are not required until no variable has more than ``most``.

        The parent without which the variable's score is best is removed first.
        """
        parents = list(dag.parents)
        for node, above in enumerate(dag.parents):
            kept = [parent for parent in above if (parent, node) in self.required]
            while len(parents[node]) > max(most, len(kept)):
                rests = [
                    tuple(other for other in parents[node] if other != parent)
                    for parent in parents[node]
                    if parent not in kept
                ]
                parents[node] = max(rests, key=partial(score, node))
        return DAG(dag.names, tuple(parents))


def _arcs(names: Sequence[str], edges: Iterable[tuple[Node, Node]]) -> frozenset[Arc]:
    """Convert edges to positions."""
    listed = list(edges)
    if not listed:
        return frozenset()
    places: dict[Node, int] = {name: place for place, name in enumerate(names)}
    places.update({place: place for place in range(len(names))})
    arcs = set()
    for edge in listed:
        arc = tuple(places[node] for node in edge if node in places)
        if len(arc) != 2 or arc[0] == arc[1]:
            raise ValueError(f"edge {edge!r} does not join two of the {len(names)} variables")
        arcs.add((arc[0], arc[1]))
    return frozenset(arcs)
