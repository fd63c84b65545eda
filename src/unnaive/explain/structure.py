"""Plots of the structure of models: which features depend on which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive._axes import new_axes
from unnaive.counts.families import strides_of
from unnaive.explain.cells import heaviest
from unnaive.explain.influence import class_information
from unnaive.explain.shared import documented
from unnaive.information import conditional_mutual_information, family_information
from unnaive.information.gaussian import gaussian_information
from unnaive.models.base import CountsClassifier
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_parts import shares_of
from unnaive.structure.bags import HiddenParents
from unnaive.structure.dag import DAG
from unnaive.structure.draw import (
    EDGES_A_COLUMN,
    draw_circle,
    draw_graph,
    draw_label,
    draw_layers,
    draw_side_by_side,
    weighed_width,
)
from unnaive.structure.graph import ClassGraphs, Graph
from unnaive.structure.groups import GroupGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts.families import FamilyCounts
    from unnaive.models import Classifier
    from unnaive.models.recipe import Structure
    from unnaive.structure.graph import Edge

_GROUPS_A_LINE = 10


@dataclass(frozen=True, eq=False)
class DrawnGraph(Graph):
    """A graph with the edges to draw."""

    names: tuple[str, ...]
    target: str
    edges: Sequence[Edge] = ()
    columns: IntArray | None = None

    @property
    def used(self) -> IntArray:
        """Columns that are drawn, by default all; shape (m,)."""
        return super().used if self.columns is None else self.columns


@documented
def plot_structure(model: Classifier, ax: Axes | None = None) -> Axes:
    r"""Plot which features depend on which in a fitted model.

    The width of an edge is the conditional mutual information :math:`I(X_i;X_j|Y)` of its ends,
    if the model counted both features together. Trees and networks hang below the class, each
    feature below its first parent. Joined features share a box. Where every feature depends on
    all others (HNB, AODE), they stand in a circle around the class; the width of the line from
    the class is the mutual information with the class. A model with a tree for every class has
    all trees side by side. Of a blend, the member with the largest weight is drawn.

    Parameters
    ----------
    {model}
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_importance : Importance of features as bars.

    Examples
    --------
    >>> from unnaive import HNB
    >>> X = [["a", "u", 1], ["a", "v", 2], ["b", "u", 2], ["b", "v", 1]] * 3
    >>> ax = plot_structure(HNB().fit(X, [0, 1, 1, 0] * 3))
    >>> sorted(text.get_text() for text in ax.texts)
    ['x0', 'x1', 'x2', 'y']
    """
    model = heaviest(model)
    graph: Structure = model.fitted_.structure
    schema = model.schema_
    information = pair_information(model)
    if isinstance(graph, ClassGraphs):
        named = [f"{schema.target} = {label}" for label in model.classes_.tolist()]
        return draw_side_by_side(list(zip(named, graph.graphs, strict=True)), ax)
    if isinstance(graph, GroupGraph) and graph.edges:
        return _draw_groups(graph, information, ax)
    if isinstance(graph, DAG):
        return _draw_network(model, graph, information, ax)
    if graph.is_one_network and not isinstance(graph, HiddenParents):
        edges = _weighed(graph.edges, schema.names, information)
        if not 0 < len(edges) <= EDGES_A_COLUMN * len(graph.used):
            return _around(model, [schema.names[i] for i in graph.used], edges, ax)
        return draw_graph(DrawnGraph(schema.names, graph.target, edges, graph.used), ax)
    used = [name for name, size in zip(schema.names, schema.sizes, strict=True) if size]
    pairs = [(a, b) for place, a in enumerate(used) for b in used[place + 1 :]]
    if isinstance(graph, HiddenParents):  # members of a bag depend on each other
        heard = {(parent, child) for parent, child, weight in graph.edges if weight > 0}
        pairs = [(a, b) for a, b in pairs if (a, b) in heard or (b, a) in heard]
    return _around(model, used, _weighed(pairs, schema.names, information), ax)


def pair_information(model: Classifier) -> FloatArray:
    """I(X_i;X_j|Y) of pairs of columns in nats, NaN for pairs that were not counted; (d, d)."""
    found = np.full((len(model.schema_.names),) * 2, np.nan)
    if isinstance(model, CountsClassifier):
        counts = model.counts_
        if counts.has_all_pairs:
            return conditional_mutual_information(counts)
        for a, b in counts.pair_columns.tolist():
            found[a, b] = found[b, a] = family_information(counts.pair(a, b))
        for family in counts.families:
            _add_family(found, family, counts.schema.sizes)
    elif isinstance(model, GaussianClassifier):
        moments, numbers = model.moments_, model.fitted_.columns
        shares = shares_of(moments.class_weights)
        found[np.ix_(numbers, numbers)] = gaussian_information(moments.covariances(), shares)
    return found


def _add_family(found: FloatArray, family: FamilyCounts, sizes: IntArray) -> None:
    """Fill in the information of all pairs of columns in one family."""
    child, parents = family.columns[0], family.columns[1:]
    k, m, v = family.table.shape
    codes = {child: np.broadcast_to(np.arange(v), (m, v)).reshape(-1)}
    for parent, stride in zip(parents, strides_of(sizes, parents), strict=True):
        values = family.contexts // stride % int(sizes[parent])
        codes[parent] = np.broadcast_to(values[:, None], (m, v)).reshape(-1)
    for a in family.columns:
        for b in family.columns:
            if a < b:
                table = np.zeros((int(sizes[a]), int(sizes[b]), k))
                np.add.at(table, (codes[a], codes[b]), family.table.reshape(k, -1).T)
                found[a, b] = found[b, a] = family_information(table.transpose(2, 0, 1))


def _weighed(edges: Sequence[Edge], names: tuple[str, ...], information: FloatArray) -> list[Edge]:
    """Edges with their own weight or, if they have none, the measured information."""
    place = {name: index for index, name in enumerate(names)}
    found: list[Edge] = []
    for edge in edges:
        measured = float(information[place[edge[0]], place[edge[1]]])
        untold = len(edge) == 2 and np.isfinite(measured)
        found.append((edge[0], edge[1], measured) if untold else edge)
    return found


def _around(model: Classifier, used: list[str], edges: list[Edge], ax: Axes | None) -> Axes:
    """Draw columns around the class; widths of lines are mutual information with it."""
    relevance = dict(zip(model.schema_.names, class_information(model).tolist(), strict=True))
    return draw_circle(model.schema_.target, used, edges, relevance, ax)


def _draw_groups(graph: GroupGraph, information: FloatArray, ax: Axes | None) -> Axes:
    """Draw groups of columns in lines below the class, joined columns in one box."""
    edges = _weighed(graph.edges, graph.names, information)
    largest = max((edge[2] for edge in edges if len(edge) > 2), default=0.0)
    lines = [
        graph.named[i : i + _GROUPS_A_LINE] for i in range(0, len(graph.groups), _GROUPS_A_LINE)
    ]
    wide, deep = max(map(len, lines), default=1), sum(max(map(len, line)) for line in lines)
    ax = new_axes(ax, figsize=(max(4.0, 1.3 * wide), max(2.4, 0.7 * (deep + 2))))
    places: dict[str, tuple[float, float]] = {}
    top = 1.0
    for line in lines:
        for x, group in enumerate(line):
            ax.plot([(wide - 1) / 2, x], [0, -top], color="0.85", linewidth=0.7, zorder=0)
            places.update({name: (float(x), -top - depth) for depth, name in enumerate(group)})
            if len(group) > 1:
                _draw_box(ax, x, top, len(group))
        top += max(map(len, line))
    for edge in edges:
        ends = zip(places[edge[0]], places[edge[1]], strict=True)
        ax.plot(*ends, color="C0", linewidth=weighed_width(edge, largest), zorder=1)
    draw_label(ax, graph.target, ((wide - 1) / 2, 0.0), "C1")
    for name, place in places.items():
        draw_label(ax, name, place, "white")
    ax.set_axis_off()
    ax.set_xlim(-0.7, wide - 0.3)
    ax.set_ylim(-top + 0.3, 0.5)
    return ax


def _draw_box(ax: Axes, x: float, top: float, members: int) -> None:
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415 - optional

    corner = (x - 0.3, -top - members + 0.85)
    box = FancyBboxPatch(corner, 0.6, members - 0.7, "round,pad=0.12", fc="0.95", ec="C0", zorder=0)
    ax.add_patch(box)


def _draw_network(model: Classifier, dag: DAG, information: FloatArray, ax: Axes | None) -> Axes:
    """Draw a network over columns and class, in layers if the class has parents too."""
    label, names = len(dag.names) - 1, dag.names[:-1]
    arcs = [
        (dag.names[parent], dag.names[child])
        for child, above in enumerate(dag.parents)
        for parent in above
    ]
    inner = [arc for arc in arcs if dag.names[label] not in arc]
    edges = _weighed(inner, names, information)
    used = np.flatnonzero(model.schema_.sizes > 0)
    if not dag.parents[label] and all(label in dag.parents[column] for column in used):
        return draw_graph(DrawnGraph(names, dag.names[label], edges, used), ax)
    relevance = dict(zip(names, class_information(model).tolist(), strict=True))
    for parent, child in arcs:
        if dag.names[label] in (parent, child):
            other = parent if child == dag.names[label] else child
            edges.append((parent, child, relevance[other]))
    return draw_layers(dag, edges, ax)
