"""Directed acyclic graphs, the independences they imply, and classes of equivalent graphs.

References
----------
Dor & Tarsi, "A simple algorithm to construct a consistent extension of a partially oriented
graph", technical report R-185, UCLA 1992. Koller & Friedman, "Probabilistic Graphical Models",
MIT Press 2009. Meek, "Causal inference and causal explanation with background knowledge", UAI
1995. Pearl, "Causality", 2nd edition, Cambridge University Press 2009. Verma & Pearl,
"Equivalence and synthesis of causal models", UAI 1990. Shachter, "Bayes-Ball: the rational
pastime", UAI 1998.
"""

from __future__ import annotations

from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations, pairwise
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dot import read_dot, write_dot
from unnaive.structure.marks import Marks, reached

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import State

    Node = int | str  # a position or a name
    Nodes = Node | Iterable[Node]

__all__ = ["DAG", "PDAG"]


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UnnaiveError(f"names={names!r}; it must be a sequence of strings")
    if len(set(names)) < len(names):
        twice = next(first for first, second in pairwise(sorted(names)) if first == second)
        raise UnnaiveError(f"two nodes are called {twice!r}; names must differ")
    return tuple(names)


class _NamedNodes:
    """Nodes that are referred to by position or by name."""

    names: tuple[str, ...]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def _position(self, node: Node) -> int:
        if type(node) is int and 0 <= node < len(self.names):
            return node
        if isinstance(node, str) and node in self._places:
            return self._places[node]
        if isinstance(node, np.integer):
            return self._position(int(node))
        known = shorten(", ".join(self.names), 300, placeholder=" …")
        raise UnnaiveError(f"there is no node {node!r}; the {len(self.names)} nodes are {known}")

    def _positions(self, nodes: Nodes) -> set[int]:
        if isinstance(nodes, (str, int, np.integer)):
            return {self._position(nodes)}
        return {self._position(node) for node in nodes}


@dataclass(frozen=True)
class DAG(_NamedNodes):
    """A directed acyclic graph: each node depends on its parents.

    It represents a factorization P(x) = Π P(x_i | parents of x_i), and with it the independences
    that :meth:`d_separated` finds. Wherever a method takes a node, it takes its position or its
    name. An unknown node is an error, and so is a cycle.

    Attributes
    ----------
    names : tuple of str
        Names of the nodes, all different.
    parents : tuple of tuples of int
        Parents of every node, ascending.

    Examples
    --------
    >>> names = ["cloudy", "rain", "sprinkler", "wet"]
    >>> graph = DAG.of_edges(names, [(0, 1), (0, 2), ("rain", "wet"), ("sprinkler", "wet")])
    >>> graph.d_separated("rain", "sprinkler", given="cloudy")
    True
    >>> graph.d_separated("rain", "sprinkler", given=["cloudy", "wet"])  # one explains the other
    False
    >>> graph.with_edge("wet", "cloudy")
    Traceback (most recent call last):
    unnaive.exceptions.UnnaiveError: the edges make a cycle: cloudy -> rain -> wet -> cloudy
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", _checked(self.names))
        if len(self.parents) != len(self.names):
            raise UnnaiveError(f"{len(self.names)} nodes have {len(self.parents)} sets of parents")
        parents = tuple(tuple(sorted(map(self._position, above))) for above in self.parents)
        for name, above in zip(self.names, parents, strict=True):
            for i, j in pairwise(above):
                if i == j:
                    raise UnnaiveError(f"the edge {self.names[i]} -> {name} is given twice")
        object.__setattr__(self, "parents", parents)
        if len(self.order) < len(parents):
            cycle = " -> ".join(self.names[node] for node in self._cycle())
            raise UnnaiveError(f"the edges make a cycle: {cycle}")

    @classmethod
    def empty(cls, names: Sequence[str]) -> DAG:
        """Make the graph without edges: all nodes are independent."""
        return cls.of_edges(names, [])

    @classmethod
    def of_edges(cls, names: Sequence[str], edges: Iterable[tuple[Node, Node]]) -> DAG:
        """Make the graph of edges (parent, child), given by positions or names."""
        bare = cls(_checked(names), ((),) * len(names))
        above: list[list[int]] = [[] for _ in bare.names]
        for parent, child in edges:
            above[bare._position(child)].append(bare._position(parent))
        return cls(bare.names, tuple(map(tuple, above)))

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Edges as names (parent, child), sorted by the position of the parent, then the child."""
        return [(self.names[i], self.names[j]) for i, j in self._arrows]

    @cached_property
    def _arrows(self) -> list[tuple[int, int]]:
        return [(i, j) for i, below in enumerate(self.children) for j in below]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of every node, ascending."""
        below: list[list[int]] = [[] for _ in self.parents]
        for child, above in enumerate(self.parents):
            for parent in above:
                below[parent].append(child)
        return tuple(map(tuple, below))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Nodes, parents before children; the lowest of those that could come next comes next."""
        missing = [len(above) for above in self.parents]
        ready = [node for node, count in enumerate(missing) if count == 0]
        order = []
        while ready:
            order.append(heappop(ready))
            for child in self.children[order[-1]]:
                missing[child] -= 1
                if missing[child] == 0:
                    heappush(ready, child)
        return tuple(order)

    def _cycle(self) -> list[int]:
        """Find a cycle by going from parent to parent; its first node is repeated at the end."""
        left = set(range(len(self.names))) - set(self.order)
        path = [min(left)]
        while path[-1] not in path[:-1]:
            path.append(min(left.intersection(self.parents[path[-1]])))
        return path[path.index(path[-1]) :][::-1]

    def ancestors(self, nodes: Nodes) -> frozenset[int]:
        """Parents of the nodes, their parents, and so on.

        A node is not its own ancestor, but it is included if it is an ancestor of another node.
        """
        return reached(self._positions(nodes), self.parents)

    def descendants(self, nodes: Nodes) -> frozenset[int]:
        """Children of the nodes, their children, and so on; see :meth:`ancestors`."""
        return reached(self._positions(nodes), self.children)

    def markov_blanket(self, node: Node) -> frozenset[int]:
        """Parents, children and the children's other parents of a node.

        Given these, the node is d-separated from all others; no smaller set has this property.
        """
        place = self._position(node)
        near = {*self.parents[place], *self.children[place]}
        near.update(other for child in self.children[place] for other in self.parents[child])
        return frozenset(near - {place})

    @cached_property
    def moral(self) -> frozenset[tuple[int, int]]:
        """Undirected edges i < j between parent and child and between parents of one child."""
        return frozenset(
            pair
            for child, above in enumerate(self.parents)
            for pair in combinations(sorted((child, *above)), 2)
        )

    def d_separated(self, first: Nodes, second: Nodes, given: Nodes = ()) -> bool:
        """Whether the graph implies that two sets of nodes are independent given a third.

        A path is open if each of its colliders → w ← is given or has a descendant that is given,
        and none of its other nodes is given. Two sets are separated if no open path joins them.
        The Bayes ball finds the nodes that have an open path to ``first`` in time
        O(nodes + edges) (Shachter 1998; Koller & Friedman 2009, section 3.3.3). Rising from a
        child to w, it continues to all parents and children of w unless w is given. Falling from
        a parent to w, it continues to the children if w is not given, and back up to the parents
        if it is. Given nodes are known and therefore separated from all others. A node that is
        in both sets and not given is not separated from itself.

        Examples
        --------
        >>> collider = DAG.of_edges(["a", "b", "c", "d"], [(0, 1), (2, 1), (1, 3)])
        >>> collider.d_separated("a", "c"), collider.d_separated("a", "c", given="d")
        (True, False)
        """
        known = self._positions(given)
        goal = self._positions(second) - known
        rising = self._positions(first) - known
        falling, risen, fallen = set[int](), set[int](), set[int]()
        while rising or falling:
            if not (goal.isdisjoint(rising) and goal.isdisjoint(falling)):
                return False
            risen |= rising
            fallen |= falling
            through = rising - known
            down = through | (falling - known)
            up = through | (falling & known)
            rising = {above for node in up for above in self.parents[node]} - risen
            falling = {below for node in down for below in self.children[node]} - fallen
        return True

    def do(self, nodes: Nodes) -> DAG:
        """Return the graph after an intervention on nodes: edges into them are removed."""
        cut = self._positions(nodes)
        return DAG.of_edges(self.names, [(i, j) for i, j in self._arrows if j not in cut])

    def satisfies_back_door(self, cause: Node, effect: Node, given: Nodes = ()) -> bool:
        r"""Whether adjusting for the given nodes identifies a causal effect (back-door criterion).

        No given node may be the cause, the effect or a descendant of the cause. The given nodes
        must block all paths that enter the cause, which is d-separation in the graph without
        the edges that leave the cause (Pearl 2009, definition 3.3.1). Then

        .. math:: P(y \mid do(x)) = \sum_z P(y \mid x, z) P(z)

        Examples
        --------
        >>> graph = DAG.of_edges(["age", "drug", "cure"], [(0, 1), (0, 2), (1, 2)])
        >>> graph.satisfies_back_door("drug", "cure", "age"), graph.satisfies_back_door(1, 2)
        (True, False)
        """
        start, end, known = self._position(cause), self._position(effect), self._positions(given)
        if known & {start, end} or known & self.descendants(start):
            return False
        without = DAG.of_edges(self.names, [(i, j) for i, j in self._arrows if i != start])
        return without.d_separated(start, end, known)

    def cpdag(self) -> PDAG:
        """Return the class of graphs that imply the same independences as this one.

        These graphs have the same edges, apart from directions, and the same colliders between
        nodes that are not joined (Verma & Pearl 1990). An edge of the class has a direction if it
        has this direction in all of them: edges of colliders, and those :meth:`PDAG.meek` adds.

        Examples
        --------
        >>> graph = DAG.of_edges(["a", "b", "c", "d"], [(0, 2), (1, 2), (2, 3)])
        >>> sorted(graph.cpdag().directed), sorted(graph.without_edge(1, 2).cpdag().undirected)
        ([(0, 2), (1, 2), (2, 3)], [(0, 2), (2, 3)])
        """
        arrows = set(self._arrows)
        fixed = {
            (parent, child)
            for child, above in enumerate(self.parents)
            for pair in combinations(above, 2)
            if pair not in arrows and pair[::-1] not in arrows
            for parent in pair
        }
        return PDAG(self.names, frozenset(fixed), frozenset(arrows - fixed)).meek()

    def with_edge(self, parent: Node, child: Node) -> DAG:
        """Return the graph with one more edge; raise if it exists or makes a cycle."""
        return DAG.of_edges(self.names, [*self._arrows, (parent, child)])

    def without_edge(self, parent: Node, child: Node) -> DAG:
        """Return the graph without an edge; raise if it does not exist."""
        edge = self._position(parent), self._position(child)
        if edge not in self._arrows:
            raise UnnaiveError(f"there is no edge {self.names[edge[0]]} -> {self.names[edge[1]]}")
        return DAG.of_edges(self.names, [arrow for arrow in self._arrows if arrow != edge])

    def reversed_edge(self, parent: Node, child: Node) -> DAG:
        """Return the graph with one edge reversed; raise if that makes a cycle."""
        return self.without_edge(parent, child).with_edge(child, parent)

    def to_dot(self) -> str:
        """Write the graph in Graphviz' language."""
        return PDAG(self.names, frozenset(self._arrows), frozenset()).to_dot()

    @classmethod
    def of_dot(cls, text: str) -> DAG:
        """Read a graph in Graphviz' language; nodes are in the order in which they occur.

        Examples
        --------
        >>> DAG.of_dot("digraph { rain -> wet; sprinkler -> wet }").edges
        [('rain', 'wet'), ('sprinkler', 'wet')]
        """
        nodes, arrows = read_dot(text)
        return cls.of_edges(tuple(nodes), arrows)

    @classmethod
    def of_networkx(cls, graph: Any) -> DAG:
        """Make the graph of a ``networkx.DiGraph``, whose nodes become names."""
        if not (hasattr(graph, "edges") and getattr(graph, "is_directed", bool)()):
            raise UnnaiveError(f"{graph!r:.80} is not a directed graph of networkx; pass a DiGraph")
        edges = [(str(parent), str(child)) for parent, child in graph.edges()]
        return cls.of_edges([str(node) for node in graph.nodes()], edges)

    def to_networkx(self) -> Any:
        """Make a ``networkx.DiGraph`` of the names."""
        return PDAG(self.names, frozenset(self._arrows), frozenset()).to_networkx()

    def state(self) -> State:
        """Plain values for the store."""
        return {"names": list(self.names), "parents": [list(above) for above in self.parents]}

    @classmethod
    def of_state(cls, state: State) -> DAG:
        """Restore the graph from :meth:`state`, and check it."""
        return cls(state["names"], state["parents"])


@dataclass(frozen=True)
class PDAG(_NamedNodes):
    """A partially directed graph: some edges have a direction and others have none.

    If it represents a class of Markov equivalent graphs, it is a CPDAG; see :meth:`DAG.cpdag`.

    Attributes
    ----------
    names : tuple of str
        Names of the nodes, all different.
    directed, undirected : frozenset of pairs of int
        Edges (parent, child), and edges i < j without direction.

    Examples
    --------
    >>> graph = PDAG(("a", "b", "c"), frozenset({(0, 1)}), frozenset({(1, 2)}))
    >>> graph.meek().directed == {(0, 1), (1, 2)}  # a → b ← c would be a new collider
    True
    >>> graph.to_dag().edges
    [('a', 'b'), ('b', 'c')]
    """

    names: tuple[str, ...]
    directed: frozenset[tuple[int, int]]
    undirected: frozenset[tuple[int, int]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", _checked(self.names))
        directed = sorted((self._position(i), self._position(j)) for i, j in self.directed)
        lines = sorted((self._position(i), self._position(j)) for i, j in self.undirected)
        seen: set[tuple[int, int]] = set()
        for i, j in directed + lines:
            if i == j:
                raise UnnaiveError(f"{self.names[i]!r} cannot be joined to itself")
            if (i, j) in seen:
                raise UnnaiveError(f"{self.names[i]!r} and {self.names[j]!r} are joined twice")
            seen.update([(i, j), (j, i)])
        object.__setattr__(self, "directed", frozenset(directed))
        object.__setattr__(self, "undirected", frozenset((min(p), max(p)) for p in lines))

    @cached_property
    def _marks(self) -> Marks:
        return Marks(self)

    def neighbours(self, node: Node) -> frozenset[int]:
        """Nodes joined to a node by an edge without direction."""
        return frozenset(self._marks.neighbours[self._position(node)])

    def parents_of(self, node: Node) -> frozenset[int]:
        """Nodes with an edge that points to a node."""
        return frozenset(self._marks.parents[self._position(node)])

    def children_of(self, node: Node) -> frozenset[int]:
        """Nodes that an edge from a node points to."""
        return frozenset(self._marks.children[self._position(node)])

    def adjacent(self, node: Node) -> frozenset[int]:
        """Nodes joined to a node by any edge."""
        return frozenset(self._marks.adjacent[self._position(node)])

    def meek(self, background: bool = False) -> PDAG:
        """Direct the edges that can have only one direction without a cycle or a new collider.

        Until no rule applies, i − j becomes i → j if (R1) w → i and w, j are not joined;
        (R2) i → w → j; (R3) i − v → j and i − w → j and v, w are not joined; with background
        knowledge also (R4) i − v → w → j, i and w are joined and v, j are not. R1 to R3 find all
        of these edges if only colliders were directed; R4 is needed if other edges were (Meek
        1995).
        """
        marks = Marks(self)
        left, directed, before = sorted(self.undirected), set(self.directed), -1
        while before != len(directed):
            before = len(directed)
            for edge in left:
                for i, j in (edge, edge[::-1]):
                    if j in marks.neighbours[i] and marks.forced(i, j, background):
                        marks.direct(i, j)
                        directed.add((i, j))
            left = [(i, j) for i, j in left if j in marks.neighbours[i]]
        return PDAG(self.names, frozenset(directed), frozenset(left))

    def to_dag(self) -> DAG:
        """Direct all edges without a cycle or a new collider; raise if that is impossible.

        The lowest node that can be last is removed, again and again: no edge leaves it, and each
        of its neighbours is joined to all other nodes around it. All its edges then point to it
        (Dor & Tarsi 1992).

        Examples
        --------
        >>> square = frozenset({(0, 1), (1, 2), (2, 3), (0, 3)})
        >>> PDAG(("a", "b", "c", "d"), frozenset(), square).to_dag()
        Traceback (most recent call last):
        unnaive.exceptions.UnnaiveError: a, b, c, d: no directions avoid both a cycle and ...
        """
        marks = Marks(self)
        left = list(range(len(self.names)))
        parents: list[tuple[int, ...]] = [()] * len(left)
        while left:
            last = next((node for node in left if marks.may_be_last(node)), None)
            if last is None:
                among = ", ".join(self.names[node] for node in left)
                raise UnnaiveError(f"{among}: no directions avoid both a cycle and a new collider")
            parents[last] = tuple(sorted(marks.adjacent[last]))
            marks.drop(last)
            left.remove(last)
        return DAG(self.names, tuple(parents))

    def to_dot(self) -> str:
        """Write the graph in Graphviz' language; edges without direction have ``dir=none``."""
        return write_dot(self.names, sorted(self.directed), sorted(self.undirected))

    def to_networkx(self) -> Any:
        """Make a ``networkx.DiGraph``; an edge without direction becomes one each way."""
        import networkx as nx  # noqa: PLC0415 - optional, see the extra "plot"

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names)
        both = [*self.directed, *self.undirected, *((j, i) for i, j in self.undirected)]
        graph.add_edges_from((self.names[i], self.names[j]) for i, j in both)
        return graph
