"""Drawings of junction trees: clusters from left to right, separators between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.structure.picture import LINE, Label, Line, Picture, paint, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive.structure.junction import JunctionTree

SEPARATOR, CLUSTER = "#e3edf7", "white"
_GAP, _FAN, _STEP, _LETTERS = 0.3, 0.45, 1.5 * LINE, 60


def draw_junction(tree: JunctionTree, ax: Axes | None = None) -> Axes:
    """Draw a junction tree; the first cluster is on the left."""
    texts = [", ".join(cluster) for cluster in tree.clusters]
    shared = [", ".join(separator) for separator in tree.separators]
    depth, rows = _places(tree)
    above = {child: place for place, (_, child) in enumerate(tree.joins)}
    deep = max(depth, default=0) + 1
    boxes = [0.0] * deep
    between = [0.0] * deep
    for cluster, level in enumerate(depth):
        boxes[level] = max(boxes[level], width_of(texts[cluster], _LETTERS))
        if cluster in above:
            between[level] = max(between[level], width_of(shared[above[cluster]], _LETTERS))
    starts = [0.0]
    for level in range(1, deep):
        starts.append(starts[-1] + boxes[level - 1] + _FAN + between[level] + _GAP)
    picture = Picture(starts[-1] + boxes[-1], _STEP * (max(rows, default=0.0) + 1))

    def middle(cluster: int) -> tuple[float, float]:
        level = depth[cluster]
        return starts[level] + width_of(texts[cluster], _LETTERS) / 2, -_STEP * (
            rows[cluster] + 0.5
        )

    for place, (parent, child) in enumerate(tree.joins):
        (left, above_y), (right, y) = middle(parent), middle(child)
        wide = width_of(shared[place], _LETTERS)
        fan = starts[depth[parent]] + boxes[depth[parent]]  # lines part between the columns only
        start = starts[depth[child]] - _GAP - between[depth[child]]
        points = [(left, above_y), (fan, above_y), (start, y), (right, y)]
        picture.lines.append(Line(points, 0.2, arrow=False, curve="columns"))
        box = Label(shared[place], (start + wide / 2, y), SEPARATOR, letters=_LETTERS)
        picture.labels.append(box)
    for cluster, text in enumerate(texts):
        picture.labels.append(Label(text, middle(cluster), CLUSTER, letters=_LETTERS))
    told = f"{len(texts)} clusters, {len(shared)} separators"
    return paint(picture, ax, told, {"cluster": CLUSTER, "separator": SEPARATOR})


def _places(tree: JunctionTree) -> tuple[list[int], list[float]]:
    """Depth of every cluster below the first one, and its row; parents are beside their middle."""
    below: list[list[int]] = [[] for _ in tree.members]
    depth = [0] * len(tree.members)
    for parent, child in tree.joins:  # a parent is joined before its children
        below[parent].append(child)
        depth[child] = depth[parent] + 1
    rows, leaves = [0.0] * len(depth), 0
    waiting = [(0, False)] if depth else []
    while waiting:
        cluster, placed = waiting.pop()
        if not below[cluster]:
            rows[cluster], leaves = float(leaves), leaves + 1
        elif placed:
            rows[cluster] = sum(rows[child] for child in below[cluster]) / len(below[cluster])
        else:
            waiting.append((cluster, True))
            waiting += [(child, False) for child in reversed(below[cluster])]
    return depth, rows
