"""The structure of a model as SVG: the class on the left, dependent columns to the right."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unnaive._svg import element, picture, rect, shortened, text, width_of, words
from unnaive.explain.structure import DrawnGraph
from unnaive.report.writing import percent
from unnaive.structure.draw import tree_positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State

_LINE, _NARROW, _HEIGHT = 38.0, 33.0, 28.0  # pixels from line to line, and of a node
_GAP, _MARGIN, _PAD = 44.0, 12.0, 12.0
_HEADING = 16.0
_WIDE = 1250.0  # pixels beyond which trees become an outline
_INDENT = 30.0
_FLOW = 620.0  # width of a box before its nodes go to the next line
_LETTERS = 22
_THINNEST, _WIDEST = 1.25, 6.0
CLASS = -1


@dataclass
class _Canvas:
    """Nodes with their positions, boxes behind them, and the size of the picture."""

    target: str
    nodes: dict[int, State]
    places: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    frames: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    above: dict[int, int] = field(default_factory=dict)  # of every node in a tree, its parent there
    outline: bool = False
    below: float = _MARGIN
    right: float = 0.0

    def label(self, column: int) -> str:
        return self.target if column == CLASS else str(self.nodes[column]["name"])

    def width(self, column: int) -> float:
        return max(56.0, width_of(shortened(self.label(column), _LETTERS)) + 2 * _PAD)

    def put(self, column: int, x: float, y: float) -> None:
        wide = self.width(column)
        self.places[column] = (x, y, wide)
        self.right = max(self.right, x + wide)


def draw_structure(drawn: State, target: str) -> str:
    """Draw one picture of :func:`~unnaive.report.graph.describe_structure`.

    Nodes with edges are trees from left to right. Joined columns share a box, and so do columns
    that depend only on the class. Every node has its description as a title.
    """
    canvas = _Canvas(target, {node["column"]: node for node in drawn["nodes"]})
    above_all, unit = drawn["class_is_above_all"], drawn["unit"]
    left = _MARGIN + (canvas.width(CLASS) + _GAP if above_all else 0.0)
    edges = drawn["edges"]
    tied = {end for edge in edges for end in (edge["parent"], edge["child"])}
    roots = _place_trees(canvas, [*canvas.nodes, CLASS], edges, left) if tied else []
    boxed = {column for box in drawn["boxes"] for column in box}
    for box in drawn["boxes"]:
        _place_box(canvas, box, left, "joined to one variable")
    alone = [column for column in canvas.nodes if column not in tied | boxed]
    if alone:
        heading = "depend only on the class" if above_all else "no parents"
        _place_box(canvas, alone, left, heading)
    parts = _trunks(canvas, roots) if above_all else []
    parts += [_frame(*frame) for frame in canvas.frames]
    parts += _edges(canvas, edges, unit)
    parts += [_node(canvas, column, edges, unit) for column in canvas.places]
    wide, tall = canvas.right + _MARGIN, canvas.below + _MARGIN
    return picture(wide, tall, *parts, class_="structure", role="group", aria_label="structure")


def _place_trees(
    canvas: _Canvas, columns: Sequence[int], edges: Sequence[State], left: float
) -> list[int]:
    """Place nodes with edges, each right of its first parent; return those without parents."""
    ordered = sorted(edges, key=lambda edge: -(edge["strength"] or 0.0))
    links = tuple((str(edge["parent"]), str(edge["child"])) for edge in ordered)
    inside = {name for link in links for name in link}
    names = tuple(str(column) for column in columns if str(column) in inside)
    placed = tree_positions(DrawnGraph(names, canvas.target, links))  # nodes by number, as text
    found = {int(name): place for name, place in placed.items()}
    for parent, child in ((int(a), int(b)) for a, b in links):
        if found[parent][1] == found[child][1] + 1:  # levels count downwards
            canvas.above.setdefault(child, parent)
    top = canvas.below + _HEIGHT / 2
    for column in sorted(found, key=lambda one: -found[one][1]):
        x, _, wide = canvas.places.get(canvas.above.get(column, CLASS - 1), (left, 0.0, -_GAP))
        canvas.put(column, x + wide + _GAP, top + found[column][0] * _LINE)
    lines = int(max(line for line, _ in found.values())) + 1
    if canvas.right > _WIDE:
        lines = _place_outline(canvas, found, left, top)
    canvas.below += lines * _LINE + _MARGIN
    return [column for column in found if column not in canvas.above]


def _place_outline(
    canvas: _Canvas, found: dict[int, tuple[float, float]], left: float, top: float
) -> int:
    """Place trees that are too deep as an outline, one node a line; return the number of lines."""
    canvas.right, canvas.outline = 0.0, True
    waiting = sorted((c for c in found if c not in canvas.above), key=lambda c: -found[c][0])
    line = 0
    while waiting:
        column = waiting.pop()
        canvas.put(column, left - found[column][1] * _INDENT - _INDENT, top + line * _NARROW)
        below = [child for child, parent in canvas.above.items() if parent == column]
        waiting += sorted(below, key=lambda child: -found[child][0])
        line += 1
    return math.ceil(line * _NARROW / _LINE)


def _place_box(canvas: _Canvas, columns: Sequence[int], left: float, heading: str) -> None:
    """Place nodes side by side in a box of several lines."""
    x, top = left + _PAD, canvas.below
    y, right = top + _PAD + _HEADING + _HEIGHT / 2, left + width_of(heading) + 3 * _PAD
    for column in columns:
        wide = canvas.width(column)
        if x > left + _PAD and x + wide > left + _FLOW:
            x, y = left + _PAD, y + _LINE
        canvas.put(column, x, y)
        x += wide + _PAD
        right = max(right, x)
    bottom = y + _HEIGHT / 2 + _PAD
    canvas.frames.append((left, top, right - left, bottom - top, heading))
    canvas.right = max(canvas.right, right)
    canvas.below = bottom + _MARGIN


def _trunks(canvas: _Canvas, roots: Sequence[int]) -> list[str]:
    """Place the class, with lines to the root of every tree and to every box."""
    ends = [(canvas.places[root][0], canvas.places[root][1]) for root in roots]
    ends += [(left, top + tall / 2) for left, top, _, tall, _ in canvas.frames]
    middle = sum(y for _, y in ends) / len(ends)
    canvas.put(CLASS, _MARGIN, middle)
    start = _MARGIN + canvas.width(CLASS)
    return [
        element("path", d=_curve(start, middle, *end), class_="trunk", fill="none") for end in ends
    ]


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    bend = max(24.0, (to_x - x) / 2)
    begin = f"M{x:.1f} {y:.1f}C{x + bend:.1f} {y:.1f}"
    return f"{begin} {to_x - bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"


def _elbow(x: float, y: float, to_x: float, to_y: float) -> str:
    """Write a line down, around a corner, and to the right."""
    return f"M{x:.1f} {y:.1f}V{to_y - 8:.1f}Q{x:.1f} {to_y:.1f} {x + 8:.1f} {to_y:.1f}H{to_x:.1f}"


def _arc(x: float, y: float, to_x: float, to_y: float) -> str:
    """Write a curve from the right side of a node to the right side of one not right of it."""
    far = max(x, to_x) + 28 + abs(to_y - y) / 8
    return f"M{x:.1f} {y:.1f}C{far:.1f} {y:.1f} {far:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}"


def _frame(left: float, top: float, wide: float, tall: float, heading: str) -> str:
    shape = element("rect", x=left, y=top, width=wide, height=tall, rx=10, class_="box")
    return shape + text(heading, left + _PAD, top + 18, "start", class_="heading")


def _edges(canvas: _Canvas, edges: Sequence[State], unit: str | None) -> list[str]:
    """Draw edges with an arrow at the child; strong edges are wide."""
    strongest = max((edge["strength"] or 0.0 for edge in edges), default=0.0) or 1.0
    parts = []
    for edge in edges:
        x, y, wide = canvas.places[edge["parent"]]
        to_x, to_y, to_wide = canvas.places[edge["child"]]
        share = 0.2 if edge["strength"] is None else edge["strength"] / strongest
        forward = to_x > x + wide
        if canvas.outline and canvas.above.get(edge["child"]) == edge["parent"]:
            path, tip, way = _elbow(x + _INDENT / 2, y + _HEIGHT / 2, to_x - 5, to_y), to_x, -1
        elif forward:
            path, tip, way = _curve(x + wide, y, to_x - 5, to_y), to_x, -1
        else:
            path, tip, way = _arc(x + wide, y, to_x + to_wide + 5, to_y), to_x + to_wide, 1
            canvas.right = max(canvas.right, max(x + wide, tip) + 40 + abs(to_y - y) / 8)
        arrow = f"M{tip:.1f} {to_y:.1f}l{7 * way} -4.5v9z"
        story = f"{canvas.label(edge['parent'])} → {canvas.label(edge['child'])}"
        if edge["strength"] is not None:
            story += f": {_amount(edge['strength'], unit)}"
        width = _THINNEST + (_WIDEST - _THINNEST) * share
        line = element("path", d=path, stroke_width=width, fill="none")
        ends = {"data_parent": edge["parent"], "data_child": edge["child"]}
        inside = (element("title", words(story)), line, element("path", d=arrow, class_="arrow"))
        parts.append(element("g", *inside, class_="edge", **ends))
    return parts


def _amount(strength: float, unit: str | None) -> str:
    if unit == "of the bag":
        return f"weight {percent(strength, 0)}"
    return f"weight {strength:.3g}" if unit == "weight" else f"{strength:.3g} {unit or ''}".strip()


def _node(canvas: _Canvas, column: int, edges: Sequence[State], unit: str | None) -> str:
    x, y, wide = canvas.places[column]
    story = _story(canvas, column, edges, unit)
    return element(
        "g",
        element("title", words(story)),
        rect(x, y - _HEIGHT / 2, wide, _HEIGHT, rx=_HEIGHT / 2, class_="shape"),
        text(shortened(canvas.label(column), _LETTERS), x + wide / 2, y + 4.5),
        class_="node class-node" if column == CLASS else "node",
        role="img",
        tabindex="0" if column == next(iter(canvas.places)) else "-1",
        aria_label=story,
        data_column=column,
    )


def _story(canvas: _Canvas, column: int, edges: Sequence[State], unit: str | None) -> str:
    """Describe a node: its information about the class, its parents and its children."""
    if column == CLASS:
        return f"{canvas.target}: the class"
    node = canvas.nodes[column]
    story = f"{node['name']}: {node['information']:.3g} bits of mutual information with the class"
    parents = [
        canvas.label(edge["parent"])
        + ("" if edge["strength"] is None else f" ({_amount(edge['strength'], unit)})")
        for edge in edges
        if edge["child"] == column
    ]
    children = [canvas.label(edge["child"]) for edge in edges if edge["parent"] == column]
    for title, names in (
        ("besides the class it depends on", parents),
        ("parent of", children),
        ("joined with", node["joined"]),
    ):
        story += f"; {title} {', '.join(names)}" if names else ""
    return story + "."
