"""Pictures of graphs: the class on top, below it the columns as trees of their first parents."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING

from unnaive._axes import new_axes
from unnaive.structure.dag import DAG
from unnaive.structure.graph import ClassGraphs, topological

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from unnaive.structure.graph import Edge, Graph

_WIDEST, _NARROWEST = 6.0, 0.8  # points
_LONGEST_NAME = 18
EDGES_A_COLUMN = 3  # of a picture in which every column is joined with every other


def tree_positions(graph: Graph) -> dict[str, tuple[float, float]]:
    """Place every column: below its first parent, leaves side by side, parents centred."""
    first_parent: dict[str, str] = {}
    for parent, child, *_ in graph.edges:
        if parent not in _ancestors(parent, first_parent, child):
            first_parent.setdefault(child, parent)
    below: dict[str, list[str]] = {graph.names[i]: [] for i in graph.used}
    for child, parent in first_parent.items():
        below[parent].append(child)
    positions: dict[str, tuple[float, float]] = {}
    leaves = 0
    waiting = [(name, 1, False) for name in reversed(below) if name not in first_parent]
    while waiting:
        name, depth, placed_below = waiting.pop()
        if below[name] and not placed_below:
            waiting.append((name, depth, True))
            waiting += [(child, depth + 1, False) for child in reversed(below[name])]
        elif below[name]:
            middle = sum(positions[child][0] for child in below[name]) / len(below[name])
            positions[name] = (middle, -float(depth))
        else:
            positions[name] = (float(leaves), -float(depth))
            leaves += 1
    return positions


def _ancestors(parent: str, first_parent: dict[str, str], child: str) -> set[str]:
    """Return the parent itself if hanging the child below it would close a circle."""
    above: str | None = parent
    while above is not None:
        if above == child:
            return {parent}
        above = first_parent.get(above)
    return set()


def draw_structure(graph: Graph | DAG, ax: Axes | None = None) -> Axes:
    """Draw any structure as suits its kind; returns matplotlib axes."""
    if isinstance(graph, DAG):
        return draw_layers(graph, graph.edges, ax)
    if isinstance(graph, ClassGraphs):
        named = [(f"{graph.target} {place}", each) for place, each in enumerate(graph.graphs)]
        return draw_side_by_side(named, ax)
    used = [graph.names[column] for column in graph.used]
    if len(graph.edges) > EDGES_A_COLUMN * len(used):
        return draw_circle(graph.target, used, _lines(graph.edges), {}, ax)
    return draw_graph(graph, ax)


def _lines(edges: Sequence[Edge]) -> list[Edge]:
    """One edge for both directions, by the larger weight; none has a weight if all are alike."""
    weights: dict[tuple[str, str], float] = {}
    for parent, child, *weight in edges:
        ends = (min(parent, child), max(parent, child))
        weights[ends] = max(weights.get(ends, 0.0), *weight, 0.0)
    if len(set(weights.values())) == 1:
        return list(weights)
    return [(*ends, weight) for ends, weight in weights.items()]


def draw_graph(graph: Graph, ax: Axes | None = None) -> Axes:
    """Draw a graph, its edges as wide as they are informative; returns matplotlib axes."""
    return draw_side_by_side([(graph.target, graph)], ax)


def draw_side_by_side(graphs: Sequence[tuple[str, Graph]], ax: Axes | None = None) -> Axes:
    """Draw graphs next to each other, each below its name; returns matplotlib axes."""
    placed = [tree_positions(graph) for _, graph in graphs]
    widths = [max((x for x, _ in places.values()), default=0.0) + 1 for places in placed]
    deepest = -min((y for places in placed for _, y in places.values()), default=0.0)
    if ax is None:
        ax = new_axes(
            figsize=(max(6.0, 1.5 * sum(widths)), max(3.0, 0.7 * (deepest + 1))), layout=None
        )
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    weights = [edge[2] for _, graph in graphs for edge in graph.edges if len(edge) > 2]
    largest = max(weights, default=0.0) or 1.0
    left = 0.0
    for (name, graph), places, width in zip(graphs, placed, widths, strict=True):
        moved = {column: (left + x, y) for column, (x, y) in places.items()}
        _draw_below(ax, name, graph, moved, (left + (width - 1) / 2, largest))
        left += width
    ax.set_axis_off()
    ax.set_xlim(-0.7, left - 0.3)
    ax.set_ylim(-deepest - 0.5, 0.5)
    return ax


def _draw_below(
    ax: Axes,
    name: str,
    graph: Graph,
    positions: dict[str, tuple[float, float]],
    scale: tuple[float, float],
) -> None:
    """Draw one graph below its name, which stands at ``scale[0]``; the widest edge is scale[1]."""
    top = (scale[0], 0.0)
    for x, y in positions.values():
        ax.plot([top[0], x], [top[1], y], color="0.85", linewidth=0.7, zorder=0)
    for parent, child, *information in graph.edges:
        ends = zip(positions[parent], positions[child], strict=True)
        width = edge_width(information[0] / scale[1] if information else 0.3)
        ax.plot(*ends, color="C0", linewidth=width, solid_capstyle="round", zorder=1)
    draw_label(ax, name, top, "C1")
    for column, place in positions.items():
        draw_label(ax, column, place, "white")


def edge_width(share: float) -> float:
    """Width in points of an edge that has a share of the largest information."""
    return _NARROWEST + (_WIDEST - _NARROWEST) * share


def draw_label(ax: Axes, name: str, place: tuple[float, float], colour: str) -> None:
    """Draw a name in a box, shortened if it is long."""
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    box = {"boxstyle": "round", "facecolor": colour, "edgecolor": "0.3"}
    ax.text(*place, short.replace("$", r"\$"), ha="center", va="center", fontsize=9, bbox=box)


def weighed_width(edge: Edge, largest: float) -> float:
    """Width in points of an edge, which may have no information."""
    share = edge[2] / largest if len(edge) > 2 and largest > 0 else 0.3
    return edge_width(float(share))


def draw_circle(
    target: str,
    used: Sequence[str],
    edges: Sequence[Edge],
    relevance: Mapping[str, float],
    ax: Axes | None,
) -> Axes:
    """Draw columns around the class, each joined with those it hears.

    Lines from the class are as wide as what a column tells about it, its ``relevance``.
    """
    strongest = sorted(edges, key=lambda edge: -edge[2] if len(edge) > 2 else 0.0)
    if any(len(edge) > 2 for edge in edges):
        strongest = strongest[: max(EDGES_A_COLUMN * len(used), 20)]
    largest = max((edge[2] for edge in strongest if len(edge) > 2), default=0.0)
    size = max(4.5, 0.42 * len(used))
    ax = new_axes(ax, figsize=(size, size))
    turn = 2 * pi / max(len(used), 1)
    places = {name: (sin(turn * i), cos(turn * i)) for i, name in enumerate(used)}
    most = max(relevance.values(), default=0.0) or 1.0
    for name, (x, y) in places.items():
        width = edge_width(relevance.get(name, 0.0) / most)
        ax.plot([0, x], [0, y], color="0.85", linewidth=width, zorder=0)
    for edge in strongest:
        ends = zip(places[edge[0]], places[edge[1]], strict=True)
        width = weighed_width(edge, largest)
        ax.plot(*ends, color="C0", linewidth=width, alpha=0.7, solid_capstyle="round", zorder=1)
    draw_label(ax, target, (0.0, 0.0), "C1")
    for name, place in places.items():
        draw_label(ax, name, place, "white")
    if len(strongest) < len(edges):
        ax.set_title(f"the strongest {len(strongest)} of {len(edges)} edges", fontsize=10)
    ax.set_axis_off()
    ax.set_xlim(-1.3, 1.3)
    ax.set_ylim(-1.2, 1.2)
    return ax


def draw_layers(dag: DAG, edges: Sequence[Edge], ax: Axes | None) -> Axes:
    """Draw nodes in layers, parents above their children, with arrows."""
    order = topological(dag.parents, range(len(dag.names)))
    depth: dict[int, int] = {}
    places: dict[str, tuple[float, float]] = {}
    filled: dict[int, int] = {}
    for node in order:
        depth[node] = 1 + max((depth[parent] for parent in dag.parents[node]), default=-1)
        across = filled.get(depth[node], 0)
        filled[depth[node]] = across + 1
        # Every other layer is moved by half a place, so that fewer arrows run through names.
        places[dag.names[node]] = (across + 0.5 * (depth[node] % 2), -float(depth[node]))
    wide, deep = max(filled.values()), max(filled)
    ax = new_axes(ax, figsize=(max(5.0, 1.4 * wide), max(3.0, 1.1 * (deep + 1))))
    largest = max((edge[2] for edge in edges if len(edge) > 2), default=0.0)
    for edge in edges:
        arrow = {
            "arrowstyle": "-|>",
            "color": "C0",
            "linewidth": weighed_width(edge, largest),
            "shrinkA": 12,
            "shrinkB": 12,
        }
        ax.annotate("", places[edge[1]], places[edge[0]], arrowprops=arrow, zorder=1)
    for node, (name, place) in enumerate((name, places[name]) for name in dag.names):
        draw_label(ax, name, place, "C1" if node == len(dag.names) - 1 else "white")
    ax.set_axis_off()
    ax.set_xlim(-0.7, wide + 0.2)
    ax.set_ylim(-deep - 0.6, 0.6)
    return ax
