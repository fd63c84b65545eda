"""What depends on what, for people and for other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray

LEFT_OUT = -2  # in place of a parent: the column is not in the model


class Graph(ABC):
    """What all graphs of columns below the class can be turned into."""

    names: tuple[str, ...]
    target: str

    @property
    @abstractmethod
    def edges(self) -> Sequence[tuple[Any, ...]]:
        """Edges between columns: parent, child and, where it is known, their information."""

    @property
    def used(self) -> IntArray:
        """Columns that are in the model; shape (m,)."""
        return np.arange(len(self.names))

    def to_dot(self) -> str:
        """Describe the graph in Graphviz' language."""
        quoted = {name: '"' + name.replace('"', r"\"") + '"' for name in (self.target, *self.names)}
        lines = [f"  {quoted[self.target]} -> {quoted[self.names[i]]};" for i in self.used]
        for parent, child, *information in self.edges:
            label = f' [label="{information[0]:.4g}"]' if information else ""
            lines.append(f"  {quoted[parent]} -> {quoted[child]}{label};")
        return "\n".join(["digraph {", *lines, "}"])

    def to_networkx(self) -> Any:
        """Make a ``networkx.DiGraph`` with the class, the columns and the edges' weights."""
        import networkx as nx  # noqa: PLC0415 - optional, see the extra "plot"

        graph = nx.DiGraph()
        graph.add_edges_from((self.target, self.names[i]) for i in self.used)
        for parent, child, *information in self.edges:
            graph.add_edge(parent, child, **({"weight": information[0]} if information else {}))
        return graph

    def plot(self, ax: Any = None) -> Any:
        """Draw the class, and below it the columns, each under its first parent.

        Edges are as wide as they are informative. Returns matplotlib axes.
        """
        from unnaive.structure.draw import draw_graph  # noqa: PLC0415 - matplotlib is optional

        return draw_graph(self, ax)


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
        depth = np.zeros(len(self.parents), dtype=np.int64)
        above = self.parents.copy()
        while (above >= 0).any():
            depth += above >= 0
            if depth.max() > len(self.parents):
                raise UnnaiveError("the parents make a cycle, so they are no tree")
            above = np.where(above >= 0, self.parents[above], -1)
        order = np.argsort(depth, kind="stable")
        return order[self.parents[order] > LEFT_OUT]

    def state(self) -> dict[str, Any]:
        """Plain values and arrays for the store."""
        return {"parents": self.parents, "weights": self.weights}

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
    families: tuple[tuple[int, ...], ...]

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

    def state(self) -> dict[str, Any]:
        """Plain values for the store."""
        return {"families": [list(family) for family in self.families]}


@dataclass(frozen=True, eq=False)
class ClassGraphs:
    """A graph for every class, in the order of the classes."""

    graphs: tuple[ParentGraph, ...]

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that are joined in some class; shape (m, 2)."""
        return np.unique(np.concatenate([graph.pairs for graph in self.graphs]), axis=0)

    def state(self) -> dict[str, Any]:
        """Plain values and arrays for the store."""
        return {
            "parents": np.stack([graph.parents for graph in self.graphs]),
            "weights": np.stack([graph.weights for graph in self.graphs]),
        }


def graph_of_state(state: dict[str, Any], names: tuple[str, ...], target: str) -> Any:
    """Make the graph, or the graphs of the classes, that ``state()`` described."""
    parents, weights = state["parents"], state["weights"]
    fits = parents.shape[-1:] == (len(names),) and parents.shape == weights.shape
    if not fits or parents.min(initial=0) < LEFT_OUT or parents.max(initial=-1) >= len(names):
        raise UnnaiveError("the parents do not fit the columns")
    if parents.ndim == 1:
        return ParentGraph(names, target, parents, weights)
    lines = zip(parents, weights, strict=True)
    return ClassGraphs(tuple(ParentGraph(names, target, p, w) for p, w in lines))


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
