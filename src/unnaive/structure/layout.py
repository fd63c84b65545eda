"""Positions of a graph's nodes in layers, and routes of its edges between them.

Sugiyama's method: layers by the longest path of parents, an order within layers that has few
crossings, and positions near those of the neighbours. An edge over several layers gets a narrow
place of its own in every layer between, so no edge runs through a node.

References
----------
Sugiyama, Tagawa & Toda, "Methods for visual understanding of hierarchical system structures",
IEEE Transactions on Systems, Man, and Cybernetics 11, 1981.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Ends = tuple[str, str]
    Node = str | tuple[str, str, int]  # a name, or the place of an edge in a layer

_SWEEPS = 12


@dataclass(frozen=True)
class Layers:
    """Nodes in layers.

    Attributes
    ----------
    places : dict
        Layer and position across the layer of every node.
    routes : dict
        Layers and positions that an edge passes, from its upper to its lower end.
    """

    places: dict[str, tuple[int, float]]
    routes: dict[Ends, list[tuple[int, float]]]


def layered(
    names: Sequence[str],
    edges: Sequence[Ends],
    sizes: Mapping[str, float],
    *,
    gap: float,
    most: int | None = None,
) -> Layers:
    """Arrange the nodes of a graph in layers.

    Parameters
    ----------
    names : sequence of str
        Nodes.
    edges : sequence of (parent, child)
        Edges; cycles are allowed.
    sizes : dict
        Size of every node across the layers.
    gap : float
        Distance between neighbours of a layer.
    most : int or None, default=None
        Maximum number of nodes in a layer; surplus nodes without children move on to the next.

    Returns
    -------
    Layers
        Positions and routes.

    Examples
    --------
    >>> found = layered("abc", [("a", "b"), ("a", "c")], dict.fromkeys("abc", 1.0), gap=0.5)
    >>> found.places
    {'a': (0, 1.25), 'b': (1, 0.5), 'c': (1, 2.0)}
    """
    downward = _acyclic(names, edges)
    layer = _layers_of(names, downward, most)
    chains = {
        (a, b): [a, *((a, b, depth) for depth in range(layer[a] + 1, layer[b])), b]
        for a, b in downward
    }
    rows: list[list[Node]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
    above: dict[Node, list[Node]] = {}
    below: dict[Node, list[Node]] = {}
    for name in _first_order(names, downward):
        rows[layer[name]].append(name)
        for chain in (chain for (a, _), chain in chains.items() if a == name):
            for node in chain[1:-1]:
                rows[node[2]].append(node)  # type: ignore[index,arg-type]
    for chain in chains.values():
        for upper, lower in pairwise(chain):
            below.setdefault(upper, []).append(lower)  # type: ignore[arg-type]
            above.setdefault(lower, []).append(upper)  # type: ignore[arg-type]
    rows = _with_few_crossings(rows, above, below)
    widths = {node: sizes[node] if isinstance(node, str) else 0.0 for row in rows for node in row}
    across = _positions(rows, above, below, widths, gap)
    places = {name: (layer[name], across[name]) for name in names}
    routes = {
        ends: [(depth + layer[ends[0]], across[node]) for depth, node in enumerate(chain)]  # type: ignore[index]
        for ends, chain in chains.items()
    }
    return Layers(places, routes)


def _acyclic(names: Sequence[str], edges: Sequence[Ends]) -> list[Ends]:
    """Return the edges, each once, reversed where they would close a cycle."""
    children: dict[str, list[str]] = {name: [] for name in names}
    for parent, child in dict.fromkeys(edges):
        children[parent].append(child)
    state: dict[str, int] = {}  # 1: on the path, 2: done
    downward: dict[Ends, None] = {}
    for start in names:
        path = [(start, iter(children[start]))] if start not in state else []
        state.setdefault(start, 1)
        while path:
            node, rest = path[-1]
            child = next(rest, "")
            if not child:
                state[node] = 2
                path.pop()
                continue
            downward[(child, node) if state.get(child) == 1 else (node, child)] = None
            if child not in state:
                state[child] = 1
                path.append((child, iter(children[child])))
    return list(downward)


def _layers_of(names: Sequence[str], edges: Sequence[Ends], most: int | None) -> dict[str, int]:
    """Layer of every node: below its parents, and no layer has too many nodes."""
    parents: dict[str, list[str]] = {name: [] for name in names}
    children: dict[str, list[str]] = {name: [] for name in names}
    for parent, child in edges:
        parents[child].append(parent)
        children[parent].append(child)
    order: list[str] = []
    missing = {name: len(parents[name]) for name in names}
    ready = [name for name in names if not missing[name]]
    layer: dict[str, int] = {}
    filled: dict[int, int] = {}
    while ready:
        name = ready.pop(0)
        order.append(name)
        depth = 1 + max((layer[parent] for parent in parents[name]), default=-1)
        while most is not None and not children[name] and filled.get(depth, 0) >= most:
            depth += 1
        layer[name] = depth
        filled[depth] = filled.get(depth, 0) + 1
        for child in children[name]:
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    for name in reversed(order):  # nodes without parents stand just above their children
        if not parents[name] and children[name]:
            layer[name] = min(layer[child] for child in children[name]) - 1
    return layer


def _first_order(names: Sequence[str], edges: Sequence[Ends]) -> list[str]:
    """Order nodes depth first, so that subtrees stay together."""
    children: dict[str, list[str]] = {name: [] for name in names}
    for parent, child in edges:
        children[parent].append(child)
    lower = {child for _, child in edges}
    order: dict[str, None] = {}
    waiting = [name for name in reversed(names) if name not in lower]
    while waiting:
        name = waiting.pop()
        if name not in order:
            order[name] = None
            waiting += reversed(children[name])
    return list(order)


def _with_few_crossings(
    rows: list[list[Node]], above: dict[Node, list[Node]], below: dict[Node, list[Node]]
) -> list[list[Node]]:
    """Order each layer by the mean place of the neighbours, down and up, and keep the best."""
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        rows = [list(row) for row in rows]
        around = above if down else below
        for index in range(len(rows)) if down else reversed(range(len(rows))):
            beside = index - 1 if down else index + 1
            if not 0 <= beside < len(rows):
                continue
            place = {node: position for position, node in enumerate(rows[beside])}
            now = {node: float(position) for position, node in enumerate(rows[index])}
            for node in rows[index]:
                near = [place[other] for other in around.get(node, ()) if other in place]
                now[node] = sum(near) / len(near) if near else now[node]
            rows[index].sort(key=now.__getitem__)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _crossings(rows: list[list[Node]], below: dict[Node, list[Node]]) -> int:
    """Count crossings of edges between neighbouring layers."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {node: position for position, node in enumerate(lower)}
        ends = [
            sorted(place[other] for other in below.get(node, ()) if other in place)
            for node in upper
        ]
        flat = np.array([end for some in ends for end in some])
        total += int(np.triu(flat[:, None] > flat, 1).sum()) if len(flat) else 0
    return total


def _positions(
    rows: list[list[Node]],
    above: dict[Node, list[Node]],
    below: dict[Node, list[Node]],
    widths: dict[Node, float],
    gap: float,
) -> dict[Node, float]:
    """Place nodes near the mean of their neighbours, in order and without overlap."""
    across: dict[Node, float] = {}
    for row in rows:
        across.update(_spread(row, [0.0] * len(row), widths, gap))
    for sweep in range(_SWEEPS):
        around = (below, above) if sweep % 2 else (above, below)
        for row in rows[::-1] if sweep % 2 else rows:
            wanted = []
            for node in row:
                near = around[0].get(node) or around[1].get(node, [])
                mean = sum(across[other] for other in near) / len(near) if near else across[node]
                wanted.append(mean)
            across.update(_spread(row, wanted, widths, gap))
    left = min((across[node] - width / 2 for node, width in widths.items()), default=0.0)
    return {node: position - left for node, position in across.items()}


def _spread(
    row: list[Node], wanted: list[float], widths: dict[Node, float], gap: float
) -> dict[Node, float]:
    """Move wanted positions as little as possible, by least squares, so that nothing overlaps."""
    offsets = [0.0]
    for one, other in pairwise(row):
        pad = gap if isinstance(one, str) or isinstance(other, str) else gap / 2
        offsets.append(offsets[-1] + (widths[one] + widths[other]) / 2 + pad)
    blocks: list[list[float]] = []  # mean and number of pooled positions
    for goal, offset in zip(wanted, offsets, strict=False):
        blocks.append([goal - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, count = blocks.pop()
            total = blocks[-1][1] + count
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + mean * count) / total, total]
    means = [mean for mean, count in blocks for _ in range(int(count))]
    return {n: mean + offset for n, mean, offset in zip(row, means, offsets, strict=False)}
