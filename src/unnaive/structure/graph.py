"""Structures: which columns depend on which, for people and for other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import Inherits
from unnaive._html import html_table
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    import networkx as nx
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, IntArray, State

Edge = tuple[str, str] | tuple[str, str, float]
LEFT_OUT = -2  # in place of a parent: the column is not in the model


class Shown(Inherits, ABC):
    """A structure that can be plotted and has a table of its edges in notebooks."""

    names: tuple[str, ...]

    @property
    @abstractmethod
    def edges(self) -> Sequence[Edge]:
        """Edges between columns: parent, child and, if it is known, a weight."""

    @property
    @abstractmethod
    def used(self) -> IntArray:
        """Columns that are in the model; shape (m,)."""

    def plot(self, ax: Axes | None = None, max_edges: int | None = None) -> Axes:
        """Draw the structure; needs matplotlib.

        The class is above a frame: it is a parent of every column in the frame. Columns are
        drawn in layers, parents before children, and the width of an edge shows its weight. If
        there are very many edges, the columns form a circle and the strongest edges are chords.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None: a new figure, never larger than a page.
        max_edges : int, default=None
            Maximum number of edges drawn, the strongest first; the title says how many of how
            many. None: a number that stays readable.

        Returns
        -------
        matplotlib.axes.Axes
            Axes with the drawing.
        """
        from unnaive.structure.compose import Wish  # noqa: PLC0415 - matplotlib is optional
        from unnaive.structure.draw import draw_structure  # noqa: PLC0415 - matplotlib is optional

        drawn: Axes = draw_structure(self, ax, Wish(self.edges, max_edges))
        return drawn

    def __repr__(self) -> str:
        """Name the kind of the structure and its size."""
        edges = f"{len(self.edges)} edge{'s' * (len(self.edges) != 1)}"
        return f"{type(self).__name__}({len(self.used)} columns, {edges})"

    def _repr_html_(self) -> str:
        """Table of the edges for a notebook, at most the first hundred."""
        edges = list(self.edges)
        caption = f"{type(self).__name__} of {len(self.used)} columns: {len(edges)} edges"
        weight = ["weight"] if any(len(edge) == 3 for edge in edges) else []
        return html_table(caption, ["parent", "child", *weight], edges, text=(0, 1))


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Shown):
    """Dependences between columns given the class: base of most structures.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.
    keys : tuple of str
        Fields that :meth:`state` holds.
    """

    names: tuple[str, ...]
    target: str
    keys: ClassVar[tuple[str, ...]] = ()

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
        """Columns, each followed by its parents, whose counts the tables need."""
        return ()

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return the parents of a column, without the class."""
        name, place = self.names[column], {name: i for i, name in enumerate(self.names)}
        return tuple(place[edge[0]] for edge in self.edges if edge[1] == name)

    def state(self) -> State:
        """Plain values and arrays for the store."""
        state = {key: getattr(self, key) for key in self.keys}
        return {k: [list(v) for v in x] if isinstance(x, tuple) else x for k, x in state.items()}

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Graph:
        """Restore the structure from :meth:`state`; raise if it does not fit the columns.

        Parameters
        ----------
        state : dict
            What :meth:`state` returned.
        names : tuple of str
            Names of the columns.
        target : str
            Name of the class.

        Returns
        -------
        Graph
            The structure.
        """
        fields = {k: tuple(map(tuple, x)) if isinstance(x, list) else x for k, x in state.items()}
        return cls(names, target, **fields)

    def to_dot(self) -> str:
        """Write the graph in Graphviz' language, with the class as a parent of all columns."""
        quoted = {name: '"' + name.replace('"', r"\"") + '"' for name in (self.target, *self.names)}
        lines = [f"  {quoted[self.target]} -> {quoted[self.names[i]]};" for i in self.used]
        for parent, child, *weight in self.edges:
            label = f' [label="{weight[0]:.4g}"]' if weight else ""
            lines.append(f"  {quoted[parent]} -> {quoted[child]}{label};")
        return "\n".join(["digraph {", *lines, "}"])

    def to_networkx(self) -> nx.DiGraph[str]:
        """Make a ``networkx.DiGraph`` of the class, the columns and the weighted edges."""
        import networkx as nx  # noqa: PLC0415 - optional, see the extra "plot"

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((self.target, self.names[i]) for i in self.used)
        for parent, child, *weight in self.edges:
            graph.add_edge(parent, child, **({"weight": weight[0]} if weight else {}))
        return graph


@dataclass(frozen=True, eq=False, repr=False)
class ParentGraph(Graph):
    """Structure in which a column depends on the class and on at most one other column.

    Naive Bayes, TAN and their relatives have it. The information of an edge is the conditional
    mutual information I(X_i;X_j|Y) in nats.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.
    parents : ndarray of shape (d,)
        Parent of every column; −1 for none, −2 if the column is not in the model.
    weights : ndarray of shape (d,)
        Information of the edge to the parent, in nats; 0 if there is none.

    See Also
    --------
    ClassGraphs : One such structure for each class.
    independent : The structure of naive Bayes.

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
        """Return the parents of a column, without the class.

        Parameters
        ----------
        column : int
            Position of the column.

        Returns
        -------
        tuple of int
            The parent, or nothing.
        """
        return (int(self.parents[column]),) if self.parents[column] >= 0 else ()

    @property
    def order(self) -> IntArray:
        """Columns in the model, parents before children; raises if there is a cycle."""
        order = np.argsort(self._depths(), kind="stable")
        return order[self.parents[order] > LEFT_OUT]

    def _depths(self) -> IntArray:
        """Length of the chain of parents above every column; raises for a cycle; shape (d,)."""
        depth = np.zeros(len(self.parents), dtype=np.int64)
        above = self.parents.copy()
        while (above >= 0).any():
            depth += above >= 0
            if depth.max() > len(self.parents):
                raise UnnaiveError("the parents make a cycle, so they do not form a tree")
            above = np.where(above >= 0, self.parents[above], -1)
        return depth

    def require_tree(self) -> Self:
        """Return the graph itself, or raise an error if its parents make a cycle.

        Returns
        -------
        ParentGraph
            The same object.
        """
        self._depths()
        return self

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Graph:
        """Restore the structure, or the structures of the classes, from :meth:`state`."""
        if "parents" not in state:
            return independent(names, target)
        parents, weights = state["parents"], state["weights"]
        fits = parents.shape[-1:] == (len(names),) and parents.shape == weights.shape
        if not fits or parents.min(initial=0) < LEFT_OUT or parents.max(initial=-1) >= len(names):
            raise UnnaiveError("the parents do not fit the columns")
        if parents.ndim == 1:
            return ParentGraph(names, target, parents, weights)
        of_classes = zip(parents, weights, strict=True)
        return ClassGraphs(tuple(ParentGraph(names, target, p, w) for p, w in of_classes))

    def only(self, columns: IntArray) -> Self:
        """Return the structure of some columns.

        Parameters
        ----------
        columns : ndarray of shape (m,)
            Columns that stay; their parents must be among them.

        Returns
        -------
        ParentGraph
            The structure; all other columns are marked as not in the model.
        """
        inside = np.isin(np.arange(len(self.names)), columns)
        parents = np.where(inside, self.parents, LEFT_OUT)
        return replace(self, parents=parents, weights=np.where(inside, self.weights, 0.0))

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that are joined by an edge; shape (m, 2)."""
        children = np.flatnonzero(self.parents >= 0)
        return np.sort(np.stack([self.parents[children], children], axis=1), axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class FamilyGraph(Graph):
    """Structure in which a column depends on the class and on any number of columns.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    families : tuple of tuples of int
        Every column followed by its parents, the most informative first.
    """

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
        """Maximal families by name; the maximal cliques if the graph is chordal."""
        kept: list[frozenset[int]] = []
        for members in sorted(map(frozenset, self.families), key=len, reverse=True):
            if not any(members <= other for other in kept):
                kept.append(members)
        return [tuple(self.names[column] for column in sorted(members)) for members in kept]

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return the parents of a column, without the class."""
        return next((family[1:] for family in self.families if family[0] == column), ())


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ClassGraphs(Graph):
    """One structure for each class, as a multinet has.

    Parameters
    ----------
    graphs : tuple of ParentGraph
        Structures in the order of the classes, all over the same columns.

    See Also
    --------
    ParentGraph : The structure of a single class.

    Examples
    --------
    >>> import numpy as np
    >>> names, weights = ("a", "b"), np.array([0.5, 0.25])
    >>> healthy = ParentGraph(names, "y", np.array([-1, 0]), weights)
    >>> ill = ParentGraph(names, "y", np.array([1, -1]), weights)
    >>> ClassGraphs((healthy, ill)).edges
    [('a', 'b', 0.25), ('b', 'a', 0.5)]
    """

    graphs: tuple[ParentGraph, ...]

    keys: ClassVar[tuple[str, ...]] = ("parents", "weights")

    def __init__(self, graphs: tuple[ParentGraph, ...]) -> None:
        vars(self).update(graphs=graphs, names=graphs[0].names, target=graphs[0].target)

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges of all classes, each with its largest information."""
        largest: dict[tuple[str, str], float] = {}
        for parent, child, weight in (edge for graph in self.graphs for edge in graph.edges):
            largest[parent, child] = max(weight, largest.get((parent, child), 0.0))
        return [(parent, child, weight) for (parent, child), weight in largest.items()]

    @property
    def pairs(self) -> IntArray:
        """Pairs i < j of columns that are joined in at least one class; shape (m, 2)."""
        return np.unique(np.concatenate([graph.pairs for graph in self.graphs]), axis=0)

    @property
    def parents(self) -> IntArray:
        """Parents in the structure of every class; shape (k, d)."""
        return np.stack([graph.parents for graph in self.graphs])

    @property
    def weights(self) -> FloatArray:
        """Information of the edges to them; shape (k, d)."""
        return np.stack([graph.weights for graph in self.graphs])

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Graph:
        """Restore the structures from :meth:`state`."""
        return ParentGraph.of_state(state, names, target)


def independent(names: tuple[str, ...], target: str) -> ParentGraph:
    """Make the structure of naive Bayes: every column depends only on the class.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.

    Returns
    -------
    ParentGraph
        A structure without edges between columns.

    See Also
    --------
    with_parents : The structure of given parents.

    Examples
    --------
    >>> independent(("a", "b"), "y").edges
    []
    """
    return ParentGraph(names, target, np.full(len(names), -1), np.zeros(len(names)))


def with_parents(
    names: tuple[str, ...], target: str, parents: IntArray, information: FloatArray
) -> ParentGraph:
    """Make the structure of given parents, its edges weighted by their information.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.
    parents : ndarray of shape (d,)
        Parent of every column, −1 for none.
    information : ndarray of shape (d, d)
        Information of every pair of columns, such as I(X_i;X_j|Y).

    Returns
    -------
    ParentGraph
        The structure.

    See Also
    --------
    orient : Finds the parents of a tree.
    best_parents : Finds each column's best parent.

    Examples
    --------
    >>> import numpy as np
    >>> information = np.array([[0.0, 0.3], [0.3, 0.0]])
    >>> with_parents(("a", "b"), "y", np.array([-1, 0]), information).edges
    [('a', 'b', 0.3)]
    """
    edge = information[np.arange(len(parents)), parents]
    return ParentGraph(names, target, parents, np.where(parents >= 0, edge, 0.0))


def topological(parents: Sequence[Sequence[int]], used: Iterable[int]) -> list[int]:
    """Sort columns by the longest chain of parents above them, then by their position.

    Raises
    ------
    UnnaiveError
        If the parents make a cycle.
    """
    children: list[list[int]] = [[] for _ in parents]
    waiting = [len(above) for above in parents]
    for column, above in enumerate(parents):
        for parent in above:
            children[parent].append(column)
    depth, level = 0, [column for column, left in enumerate(waiting) if not left]
    depths: dict[int, int] = {}
    while level:
        depths |= dict.fromkeys(level, depth)
        below = [child for column in level for child in children[column]]
        for child in below:
            waiting[child] -= 1
        depth, level = depth + 1, [child for child in dict.fromkeys(below) if not waiting[child]]
    if len(depths) < len(parents):
        raise UnnaiveError("the parents make a cycle, so no column is the first")
    return sorted(used, key=lambda column: (depths[column], column))
