"""Drawings of dense structures and of sets: circles, stars, bags and groups."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING

from unnaive.structure.compose import (
    below_class,
    flowed,
    in_lines,
    largest_weight,
    legend_of,
    share_of,
    strongest,
    undirected,
)
from unnaive.structure.picture import CLASS, Label, Line, Picture, width_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive.structure.compose import Drawing, Legend, Wish
    from unnaive.structure.graph import Graph
    from unnaive.structure.groups import GroupGraph
    from unnaive.structure.parents import HiddenParents, SuperParents

MOST_CHORDS, MOST_PARENTS = 60, 24  # drawn by default
BAG_LINES = 5
_GROUP = "#e3edf7"


def _around(
    names: Sequence[str], least: float = 0.9, marked: Sequence[str] = ()
) -> tuple[Picture, dict[str, tuple[float, float]]]:
    """Names around a circle, and the places where their lines end."""
    radius = max(least, 0.19 * len(names) / (2 * pi))
    longest = max(map(width_of, names), default=0.5)
    centre = radius + longest + 0.05
    picture = Picture(2 * centre, 2 * centre)
    ends = {}
    for index, name in enumerate(names):
        angle = pi / 2 - 2 * pi * index / len(names)
        x, y = cos(angle), sin(angle)
        ends[name] = (centre + radius * x, -centre + radius * y)
        outer = radius + 0.06
        place = (centre + outer * x, -centre + outer * y)
        picture.labels.append(Label(name, place, None, angle, bold=name in marked))
    return picture, ends


def circle(graph: Graph, wish: Wish) -> Drawing:
    """Draw columns around a circle and the strongest dependences as chords."""
    used = [graph.names[column] for column in graph.used]
    shown, told = strongest(
        undirected(wish.edges), wish.most or min(MOST_CHORDS, max(2 * len(used), 10))
    )
    picture, ends = _around(used, 1.5, wish.marked)
    centre = (picture.width / 2, -picture.height / 2)
    largest = largest_weight(shown)
    for edge in shown:
        points = [ends[edge[0]], ends[edge[1]], centre]
        picture.lines.append(Line(points, share_of(edge, largest), arrow=False, curve="chord"))
    told = told.replace("edge", "dependence")
    if wish.marked:
        told += "; columns in bold type are treated as independent"
    return below_class(picture, graph.target), told, legend_of(shown, wish.unit)


def super_parents(graph: SuperParents, wish: Wish) -> Drawing:
    """Draw the heaviest super-parents as rays from the class, as wide as their weights."""
    weights = dict(zip(graph.names, graph.weights.tolist(), strict=True))
    equal = max(weights.values()) - min(weights.values()) < 1e-12
    ranked = sorted(weights, key=lambda name: (-weights[name], -wish.relevance.get(name, 0.0)))
    shown = [name for name in ranked[: wish.most or MOST_PARENTS] if weights[name] > 0]
    told = f"{len(shown)} super-parents"
    if len(shown) < len(weights):
        kind = "most informative" if equal and wish.relevance else "heaviest"
        told = f"the {kind} {len(shown)} of {len(weights)} super-parents"
    told += ", each a parent of all other columns"
    if equal:
        told += f", all with the weight {weights[graph.names[0]]:.2g}"
    rays = {name: weights[name] for name in shown}
    return _star(graph.target, rays, told, "" if equal else "weight")


def without_edges(graph: Graph, wish: Wish) -> Drawing:
    """Draw independent columns as rays from the class, as wide as they are informative."""
    used = [graph.names[column] for column in graph.used]
    rays = {n: wish.relevance[n] for n in sorted(used, key=lambda name: -wish.relevance[name])}
    told = "no edges, columns are independent given the class"
    return _star(graph.target, rays, told, f"{wish.unit} with the class")


def _star(target: str, weights: Mapping[str, float], told: str, unit: str) -> Drawing:
    """Draw columns around the class, with rays as wide as their weights."""
    picture, ends = _around(list(weights))
    centre = (picture.width / 2, -picture.height / 2)
    largest = max(weights.values(), default=0.0)
    for name, weight in weights.items():
        share = weight / largest if unit and largest > 0 else 0.2
        picture.lines.append(Line([centre, ends[name]], share, curve="straight"))
    picture.labels.append(Label(target, centre, CLASS))
    legend: Legend = {"class": CLASS}
    if unit and largest > 0:
        legend |= {f"{largest * share:.2g} {unit}": share for share in (1.0, 0.25)}
    return picture, told, legend


def has_bags(graph: HiddenParents) -> bool:
    """Whether bags differ from the set of all other columns, and are small enough to be listed."""
    d = len(graph.names)
    return bool(0 < graph.members.sum() < d * (d - 1) and graph.members.sum() <= 12 * d)


def bags(graph: HiddenParents, wish: Wish) -> Drawing:
    """Draw every column with its bag: the members with the largest weights, as bars."""
    cards, free = [], []
    order = sorted(graph.names, key=lambda name: -wish.relevance.get(name, 0.0))
    place = {name: index for index, name in enumerate(graph.names)}
    shown = total = 0
    for name in order:
        weights = graph.weights[place[name]]
        members = sorted(graph.bags[name], key=lambda other: -weights[place[other]])
        if not members:
            free.append(name)
            continue
        total, shown = total + len(members), shown + min(len(members), BAG_LINES)
        cards.append(_card(name, {other: float(weights[place[other]]) for other in members}))
    width = max(card.width for card in cards)
    height = max(card.height for card in cards)
    for card in cards:
        card.width, card.height = width, height
        card.frames.insert(0, (0.0, -height, width, height, "white"))
    whole = flowed(cards, 0.12)
    if free:
        below = in_lines(free, max(whole.width - 0.2, 5.0))
        bag = Picture(below.width + 0.2, below.height + 0.38)
        bag.width = max(bag.width, width_of("naive Bayes") + 0.2)
        bag.frames.append((0.0, -bag.height, bag.width, bag.height, "white"))
        bag.labels.append(Label("naive Bayes", (0.08, -0.14), None, bold=True))
        bag.put(below, 0.1, -0.28)
        whole.put(bag, 0.0, -whole.height - 0.15)
    told = f"{len(cards)} bags, {shown} of {total} members drawn with their weights"
    if free:
        told += f"; {len(free)} column{'s' * (len(free) != 1)} in the bag of naive Bayes"
    return below_class(whole, graph.target), told, legend_of((), "")


def _card(name: str, members: Mapping[str, float]) -> Picture:
    """Draw a column and its bag: names of the members on bars as long as their weights."""
    line, card = 0.17, Picture()
    first = list(members)[:BAG_LINES]
    longest = max([width_of(name), *map(width_of, first)]) + 0.1
    card.labels.append(Label(name, (0.08, -0.14), None, bold=True))
    y = -0.25
    for other in first:
        length = max(members[other] / max(members.values()) * longest, 0.02)
        card.frames.append((0.06, y - line + 0.02, length, line - 0.03, "#d6e4f2"))
        card.labels.append(Label(other, (0.08, y - line / 2 + 0.005), None))
        y -= line
    if len(members) > len(first):
        card.labels.append(
            Label(f"and {len(members) - len(first)} more", (0.08, y - line / 2), None)
        )
        y -= line
    card.width, card.height = longest + 0.12, -y + 0.06
    return card


def groups(graph: GroupGraph, _: Wish) -> Drawing:
    """Draw the columns of each group in one frame, and single columns below."""
    cards = []
    for group in sorted(graph.named, key=len, reverse=True):
        if len(group) > 1:
            lines = in_lines(group, 3.0)
            card = Picture(lines.width + 0.2, lines.height + 0.16)
            card.frames.append((0.0, -card.height, card.width, card.height, _GROUP))
            card.put(lines, 0.1, -0.08)
            cards.append(card)
    whole = flowed(cards)
    single = [group[0] for group in graph.named if len(group) == 1]
    if single:
        whole.put(in_lines(single, max(whole.width, 6.0)), 0.0, -whole.height - 0.15)
    told = f"{len(cards)} groups of columns, each treated as one column"
    if len(cards) == 1:
        told = "1 group of columns, treated as one column"
    return below_class(whole, graph.target), told, legend_of((), "") | {"group": _GROUP}
