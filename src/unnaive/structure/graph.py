"""What depends on what, for people and for other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    import networkx as nx
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.structure.dag import DAG

Edge = tuple[str, str] | tuple[str, str, float]
_MOST_LINES = 100
LEFT_OUT = -2  # in place of a parent: the column is not in the model


class Graph(ABC):
    """What depends on what below the class: the structure of every model that has one.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    keys : tuple of str
        What :meth:`state` holds.
    is_one_network : bool
        Whether the edges are those of one model, not of several that answer together.
    """

    names: tuple[str, ...]
    target: str
    keys: ClassVar[tuple[str, ...]] = ()
    is_one_network: ClassVar[bool] = True

    @property
    @abstractmethod
    def edges(self) -> Sequence[Edge]:
        """Edges between columns: parent, child and, where it is known, a weight."""

    @property
    def used(self) -> IntArray:
        """Columns that are in the model; shape (m,)."""
        return np.arange(len(self.names))

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns whose counts the tables need; shape (m, 2)."""
        return np.empty((0, 2), dtype=np.int64)

    @property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Columns with their several parents whose counts the tables need."""
        return ()

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return a column's parents besides the class."""
        name, place = self.names[column], {name: i for i, name in enumerate(self.names)}
        return tuple(place[edge[0]] for edge in self.edges if edge[1] == name)

    def state(self) -> State:
        """Plain values and arrays for the store."""
        return {key: getattr(self, key) for key in self.keys}

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Graph:
        """Make the graph that :meth:`state` described; raises if it does not fit the columns."""
        return cls(names, target, **state)  # type: ignore[call-arg]

    def to_dot(self) -> str:
        """Describe the graph in Graphviz' language."""
        quoted = {name: '"' + name.replace('"', r"\"") + '"' for name in (self.target, *self.names)}
        lines = [f"  {quoted[self.target]} -> {quoted[self.names[i]]};" for i in self.used]
        for parent, child, *weight in self.edges:
            label = f' [label="{weight[0]:.4g}"]' if weight else ""
            lines.append(f"  {quoted[parent]} -> {quoted[child]}{label};")
        return "\n".join(["digraph {", *lines, "}"])

    def to_networkx(self) -> nx.DiGraph[str]:
        """Make a ``networkx.DiGraph`` with the class, the columns and the edges' weights."""
        import networkx as nx  # noqa: PLC0415 - optional, see the extra "plot"

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((self.target, self.names[i]) for i in self.used)
        for parent, child, *weight in self.edges:
            graph.add_edge(parent, child, **({"weight": weight[0]} if weight else {}))
        return graph

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the class, and below it the columns, each under its first parent.

        Edges are as wide as they are informative; where there are very many, the columns stand in
        a circle and the strongest edges are drawn. Returns matplotlib axes.
        """
        from unnaive.structure.draw import draw_structure  # noqa: PLC0415 - matplotlib is optional

        drawn: Axes = draw_structure(self, ax)
        return drawn

    def _repr_html_(self) -> str:
        """Show the edges as a table in a notebook."""
        return table_of_edges(self)


def table_of_edges(graph: Graph | DAG) -> str:
    """Write the edges of a graph as an HTML table, the first hundred of them."""
    edges = list(graph.edges)
    lines = [
        "".join(
            f"<td>{escape(cell) if isinstance(cell, str) else format(cell, '.4g')}</td>"
            for cell in edge
        )
        for edge in edges[:_MOST_LINES]
    ]
    more = f", the first {_MOST_LINES} of them" if len(edges) > _MOST_LINES else ""
    widths = {len(edge) for edge in edges}
    weight = "<th>weight</th>" if 3 in widths else ""
    return (
        f"<table><caption>{type(graph).__name__} of {len(graph.names)} columns: "
        f"{len(edges)} edges{more}</caption><tr><th>parent</th><th>child</th>{weight}</tr>"
        + "".join(f"<tr>{line}</tr>" for line in lines)
        + "</table>"
    )


@dataclass(frozen=True, eq=False)
class ParentGraph(Graph):
    """A graph in which the class is a parent of every column, and a column has one more at most.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.
    parents : ndarray of shape (d,)
        Each column's other parent, −1 for none, −2 where the column is not in the model.
    weights : ndarray of shape (d,)
        Information of the edge to the parent, in nats; 0 where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> graph = ParentGraph(("a", "b"), "y", np.array([-1, 0]), np.array([0.0, 0.25]))
    >>> graph.edges
    [('a', 'b', 0.25)]
    >>> print(graph.to_dot())
    digraph {
      "y" -> "a";
      "y" -> "b";
      "a" -> "b" [label="0.25"];
    }
    """

    names: tuple[str, ...]
    target: str
    parents: IntArray
    weights: FloatArray

    keys: ClassVar[tuple[str, ...]] = ("parents", "weights")

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges between columns as (parent, child, information in nats)."""
        return [
            (self.names[parent], self.names[child], float(self.weights[child]))
            for child, parent in enumerate(self.parents)
            if parent >= 0
        ]

    @property
    def used(self) -> IntArray:
        """Columns that are in the model; shape (m,)."""
        return np.flatnonzero(self.parents > LEFT_OUT)

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return a column's parents besides the class."""
        return (int(self.parents[column]),) if self.parents[column] >= 0 else ()

    @property
    def order(self) -> IntArray:
        """Columns in the model, parents before children; raises if the graph has a cycle."""
        order = np.argsort(self._depths(), kind="stable")
        return order[self.parents[order] > LEFT_OUT]

    def _depths(self) -> IntArray:
        """Length of the chain of parents above every column; raises for a cycle; shape (d,)."""
        depth = np.zeros(len(self.parents), dtype=np.int64)
        above = self.parents.copy()
        while (above >= 0).any():
            depth += above >= 0
            if depth.max() > len(self.parents):
                raise UnnaiveError("the parents make a cycle, so they are no tree")
            above = np.where(above >= 0, self.parents[above], -1)
        return depth

    def require_tree(self) -> Self:
        """Return the graph itself; raises if its parents make a cycle."""
        self._depths()
        return self

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Graph:
        """Make the graph, or the graphs of the classes, that :meth:`state` described."""
        if "parents" not in state:
            return independent(names, target)
        parents, weights = state["parents"], state["weights"]
        fits = parents.shape[-1:] == (len(names),) and parents.shape == weights.shape
        if not fits or parents.min(initial=0) < LEFT_OUT or parents.max(initial=-1) >= len(names):
            raise UnnaiveError("the parents do not fit the columns")
        if parents.ndim == 1:
            return ParentGraph(names, target, parents, weights)
        lines = zip(parents, weights, strict=True)
        return ClassGraphs(tuple(ParentGraph(names, target, p, w) for p, w in lines))

    def only(self, columns: IntArray) -> Self:
        """Return the graph of some columns, with their parents among them."""
        inside = np.isin(np.arange(len(self.names)), columns)
        parents = np.where(inside, self.parents, LEFT_OUT)
        return replace(self, parents=parents, weights=np.where(inside, self.weights, 0.0))

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that are joined; shape (m, 2)."""
        children = np.flatnonzero(self.parents >= 0)
        return np.sort(np.stack([self.parents[children], children], axis=1), axis=1)


@dataclass(frozen=True, eq=False)
class FamilyGraph(Graph):
    """A graph in which the class and any number of columns are a column's parents.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    families : tuple of tuples of int
        Every column followed by its parents, the most informative first.
    """

    names: tuple[str, ...]
    target: str
    families: tuple[tuple[int, ...], ...] = ()

    keys: ClassVar[tuple[str, ...]] = ("families",)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Edges between columns as (parent, child)."""
        return [
            (self.names[parent], self.names[family[0]])
            for family in self.families
            for parent in family[1:]
        ]

    @property
    def used(self) -> IntArray:
        """Columns that are in the model; shape (m,)."""
        return np.sort(self.feature_order)

    @property
    def feature_order(self) -> IntArray:
        """Columns in the order of their families; shape (m,)."""
        return np.array([family[0] for family in self.families], dtype=np.int64)

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """Largest sets of columns that are all joined, if parents of a column are joined, too."""
        sets = sorted((frozenset(family) for family in self.families), key=len, reverse=True)
        kept: list[frozenset[int]] = []
        for members in sets:
            if not any(members <= other for other in kept):
                kept.append(members)
        return [tuple(self.names[column] for column in sorted(members)) for members in kept]

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return a column's parents besides the class."""
        return next((family[1:] for family in self.families if family[0] == column), ())

    def state(self) -> State:
        """Plain values for the store."""
        return {"families": [list(family) for family in self.families]}

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Make the graph that :meth:`state` described."""
        return cls(names, target, tuple(tuple(family) for family in state["families"]))


@dataclass(frozen=True, eq=False)
class ClassGraphs(Graph):
    """A graph for every class, in the order of the classes."""

    graphs: tuple[ParentGraph, ...]

    keys: ClassVar[tuple[str, ...]] = ("parents", "weights")
    is_one_network: ClassVar[bool] = False

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns."""
        return self.graphs[0].names

    @property
    def target(self) -> str:  # type: ignore[override]
        """Name of the class."""
        return self.graphs[0].target

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges of all classes, each with its largest information."""
        found: dict[tuple[str, str], float] = {}
        for parent, child, weight in (edge for graph in self.graphs for edge in graph.edges):
            found[parent, child] = max(weight, found.get((parent, child), 0.0))
        return [(parent, child, weight) for (parent, child), weight in found.items()]

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that are joined in some class; shape (m, 2)."""
        return np.unique(np.concatenate([graph.pairs for graph in self.graphs]), axis=0)

    @property
    def parents(self) -> IntArray:
        """Parents of every class's graph; shape (k, d)."""
        return np.stack([graph.parents for graph in self.graphs])

    @property
    def weights(self) -> FloatArray:
        """Information of the edges to them; shape (k, d)."""
        return np.stack([graph.weights for graph in self.graphs])

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Graph:
        """Make the graphs that :meth:`state` described."""
        return ParentGraph.of_state(state, names, target)


def independent(names: tuple[str, ...], target: str) -> ParentGraph:
    """Return the graph of naive Bayes: every column depends on the class alone."""
    alone = np.full(len(names), -1, dtype=np.int64)
    return ParentGraph(names, target, alone, np.zeros(len(names)))


def with_parents(
    names: tuple[str, ...], target: str, parents: IntArray, information: FloatArray
) -> ParentGraph:
    """Return the graph of these parents, its edges weighed by a matrix of information."""
    edge = information[np.arange(len(parents)), parents]
    return ParentGraph(names, target, parents, np.where(parents >= 0, edge, 0.0))


def topological(parents: Sequence[Sequence[int]], used: Iterable[int]) -> list[int]:
    """Order columns by the longest chain of parents above them, then by their position."""
    depth: dict[int, int] = {}

    def of(column: int) -> int:
        if column not in depth:
            depth[column] = 1 + max((of(parent) for parent in parents[column]), default=-1)
        return depth[column]

    return sorted(used, key=lambda column: (of(column), column))
