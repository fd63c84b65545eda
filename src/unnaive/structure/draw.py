"""Drawings of structures: layers, bags, groups, circles and stars.

The class is above a frame: it is a parent of every column in the frame. Edges between columns
are as wide as they are informative. No new figure is larger than a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unnaive.structure.compose import (
    Wish,
    below_class,
    flowed,
    in_lines,
    largest_weight,
    legend_of,
    share_of,
    strongest,
)
from unnaive.structure.dag import DAG
from unnaive.structure.draw_sets import bags, circle, groups, has_bags, super_parents, without_edges
from unnaive.structure.graph import ClassGraphs
from unnaive.structure.groups import GroupGraph
from unnaive.structure.layout import layered
from unnaive.structure.parents import HiddenParents, SuperParents
from unnaive.structure.picture import (
    CLASS,
    LINE,
    PAGE,
    Label,
    Line,
    Picture,
    page_scale,
    paint,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes

    from unnaive.structure.compose import Drawing
    from unnaive.structure.graph import Edge, Graph

MOST_EDGES = 120  # drawn by default
MOST_NODES = 120  # beyond this, columns without a drawn edge are not drawn
MOST_PANELS = 6  # classes that get a picture each
MARKED = "#e3edf7"  # columns that a model treats as independent
_GAP = 0.13
# Orientation and most nodes of a layer, in order of preference.
_ARRANGEMENTS = ((False, None), (True, None), (False, 14), (True, 36), (True, 24), (True, 14))


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


def draw_structure(
    graph: Any, ax: Axes | None = None, wish: Wish | None = None, title: str = ""
) -> Axes:
    """Draw a structure in the way that suits its kind.

    Parameters
    ----------
    graph : Graph or DAG
        The structure.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw into; None: a new figure.
    wish : Wish, default=None
        Weights of edges and what else is known; None: the edges of the structure.
    title : str
        Beginning of the title.

    Returns
    -------
    matplotlib.axes.Axes
        Axes with the drawing.
    """
    wish = Wish(graph.edges) if wish is None else wish
    build = _builder(graph, wish)
    picture, told, legend = build(graph, wish)
    if isinstance(graph, ClassGraphs) and build is not by_class:
        told += f" of {len(graph.graphs)} classes together"
    return paint(picture, ax, ": ".join(filter(None, (title, told))), legend)


def _builder(graph: Any, wish: Wish) -> Callable[[Any, Wish], Drawing]:
    """Choose the kind of drawing."""
    hidden = isinstance(graph, HiddenParents)
    kinds: dict[Callable[[Any, Wish], Drawing], bool] = {
        network: isinstance(graph, DAG),
        by_class: isinstance(graph, ClassGraphs) and len(graph.graphs) <= MOST_PANELS,
        super_parents: isinstance(graph, SuperParents),
        without_edges: not wish.edges and bool(wish.relevance),
        groups: isinstance(graph, GroupGraph) and bool(graph.edges),
        bags: hidden and has_bags(graph),
        circle: hidden or len(wish.edges) > 3 * len(graph.used),
        layers: True,
    }
    return next(build for build, holds in kinds.items() if holds)


def layers(graph: Graph, wish: Wish) -> Drawing:
    """Draw columns in layers below the class."""
    used = [graph.names[column] for column in graph.used]
    shown, told = strongest(wish.edges, wish.most or MOST_EDGES)
    picture, hidden = layers_of(used, shown, dict.fromkeys(wish.marked, MARKED))
    legend = legend_of(shown, wish.unit)
    if wish.marked:
        legend["treated as independent"] = MARKED
    return below_class(picture, graph.target), told + hidden, legend


def by_class(graph: ClassGraphs, wish: Wish) -> Drawing:
    """Draw the structure of every class, each below its class."""
    labels = wish.labels or [f"{graph.target} {place}" for place in range(len(graph.graphs))]
    largest = largest_weight(graph.edges)
    panels, drawn = [], 0
    for label, one in zip(labels, graph.graphs, strict=True):
        shown, _ = strongest(one.edges, wish.most or MOST_EDGES)
        drawn += len(shown)
        picture, _ = layers_of([one.names[column] for column in one.used], shown, largest=largest)
        panels.append(below_class(picture, label))
    total = sum(len(one.edges) for one in graph.graphs)
    told = f"{drawn} edges" if drawn == total else f"the strongest {drawn} of {total} edges"
    return flowed(panels), f"a structure for every class, {told}", legend_of(graph.edges, wish.unit)


def network(dag: DAG, wish: Wish) -> Drawing:
    """Draw a network over columns and class; the class is a node unless all are below it."""
    target, most = dag.names[-1], wish.most or MOST_EDGES
    if not dag.parents[-1] and len(dag.children[-1]) == len(dag.names) - 1:
        shown, told = strongest([edge for edge in wish.edges if target not in edge[:2]], most)
        picture, hidden = layers_of(dag.names[:-1], shown)
        return below_class(picture, target), told + hidden, legend_of(shown, wish.unit)
    shown, told = strongest(wish.edges, most)
    picture, hidden = layers_of(dag.names, shown, {target: CLASS})
    widths = list(legend_of(shown, wish.unit).items())[1:]
    return picture, told + hidden, {"class": CLASS, **dict(widths)}


def layers_of(
    names: Sequence[str],
    edges: Sequence[Edge],
    colours: Mapping[str, str] | None = None,
    largest: float | None = None,
) -> tuple[Picture, str]:
    """Arrange columns in layers, in the orientation that leaves the text largest on a page.

    Columns without edges follow in lines below. If there are too many, they are not drawn, and
    the text that is returned says so. ``largest`` is the weight of the widest edge.
    """
    joined = {name for edge in edges for name in edge[:2]}
    inside = [name for name in names if name in joined]
    others = [name for name in names if name not in joined]
    hidden = ""
    if others and joined and len(names) > MOST_NODES:
        hidden = f"; {len(others)} columns without a drawn edge are not shown"
    largest = largest_weight(edges) if largest is None else largest
    widths = {edge[:2]: share_of(edge, largest) for edge in edges}
    picture = Picture()
    for sideways, most in _ARRANGEMENTS if inside else ():
        candidate = _layered_picture(inside, widths, colours or {}, sideways=sideways, most=most)
        scale = page_scale(candidate.width + 0.5, candidate.height + 1.2)
        if not picture.labels or scale > 1.05 * page_scale(
            picture.width + 0.5, picture.height + 1.2
        ):
            picture = candidate
        if scale == 1.0:
            break
    if others and not hidden:
        lines = in_lines(others, max(picture.width, 0.9 * PAGE[0] if len(others) > 30 else 6.0))
        x, y = max(0.0, (picture.width - lines.width) / 2), picture.height
        picture.put(lines, x, -y - (0.15 if y else 0.0))
    return picture, hidden


def _layered_picture(
    names: Sequence[str],
    shares: Mapping[tuple[str, str], float],
    colours: Mapping[str, str],
    *,
    sideways: bool,
    most: int | None,
) -> Picture:
    """Arrange columns in layers; ``shares`` are the widths of the edges."""
    widths = {name: width_of(name) for name in names}
    sizes = dict.fromkeys(names, LINE - 0.04) if sideways else widths
    found = layered(names, list(shares), sizes, gap=0.06 if sideways else _GAP, most=most)
    deep = max(layer for layer, _ in found.places.values()) + 1
    thick = [LINE] * deep
    if sideways:
        thick = [0.05] * deep
        for name, (layer, _) in found.places.items():
            thick[layer] = max(thick[layer], widths[name])
    distance = 0.45 if sideways else 0.36
    starts = [sum(thick[:layer]) + distance * layer for layer in range(deep)]

    def at(layer: int, across: float, edge: float) -> tuple[float, float]:
        along = starts[layer] + edge * thick[layer]
        return (along, -across) if sideways else (across, -along)

    picture = Picture()
    for edge, share in shares.items():
        turned = edge not in found.routes
        route = found.routes[edge[::-1] if turned else edge]
        inner = [at(layer, across, side) for layer, across in route[1:-1] for side in (0.0, 1.0)]
        points = [at(*route[0], 1.0), *inner, at(*route[-1], 0.0)]
        if sideways:
            upper = edge[1] if turned else edge[0]
            points.insert(0, (starts[route[0][0]] + widths[upper], points[0][1]))
        curve = "columns" if sideways else "layers"
        picture.lines.append(Line(points[::-1] if turned else points, share, curve=curve))
    for name, (layer, across) in found.places.items():
        x, y = at(layer, across, 0.5)
        place = (starts[layer] + widths[name] / 2, y) if sideways else (x, y)
        picture.labels.append(Label(name, place, colours.get(name, "white")))
    across = max(position + sizes[name] / 2 for name, (_, position) in found.places.items())
    across = max([across, *(p for route in found.routes.values() for _, p in route)])
    along = starts[-1] + thick[-1]
    picture.width, picture.height = (along, across) if sideways else (across, along)
    return picture
