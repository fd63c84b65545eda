"""Pictures of graphs: the class on top, below it the columns as trees of their first parents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive.structure.graph import Graph

_WIDEST, _NARROWEST = 6.0, 0.8  # points
_LONGEST_NAME = 18


def new_axes(ax: Any = None, **figure: Any) -> Any:
    """Return the axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional, see the extra "plot"
    except ImportError:
        raise UnnaiveError('pictures need matplotlib: pip install "unnaive[plot]"') from None
    return Figure(**{"layout": "constrained", **figure}).subplots()


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


def draw_graph(graph: Graph, ax: Any = None) -> Any:
    """Draw a graph, its edges as wide as they are informative; returns matplotlib axes."""
    positions = tree_positions(graph)
    across = [x for x, _ in positions.values()] or [0.0]
    deepest = -min((y for _, y in positions.values()), default=0.0)
    if ax is None:
        size = (max(6.0, 1.5 * (max(across) + 1)), max(3.0, 0.7 * (deepest + 1)))
        ax = new_axes(figsize=size, layout=None)
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    top = ((max(across) + min(across)) / 2, 0.0)
    for x, y in positions.values():
        ax.plot([top[0], x], [top[1], y], color="0.85", linewidth=0.7, zorder=0)
    weights = [edge[2] for edge in graph.edges if len(edge) > 2]
    largest = max(weights, default=0.0) or 1.0
    for parent, child, *information in graph.edges:
        share = information[0] / largest if information else 0.3
        ends = zip(positions[parent], positions[child], strict=True)
        width = _NARROWEST + (_WIDEST - _NARROWEST) * share
        ax.plot(*ends, color="C0", linewidth=width, solid_capstyle="round", zorder=1)
    _label(ax, graph.target, top, "C1")
    for name, place in positions.items():
        _label(ax, name, place, "white")
    ax.set_axis_off()
    ax.set_xlim(min(across) - 0.7, max(across) + 0.7)
    ax.set_ylim(-deepest - 0.5, 0.5)
    return ax


def _label(ax: Any, name: str, place: tuple[float, float], colour: str) -> None:
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    box = {"boxstyle": "round", "facecolor": colour, "edgecolor": "0.3"}
    ax.text(*place, short.replace("$", r"\$"), ha="center", va="center", fontsize=9, bbox=box)
