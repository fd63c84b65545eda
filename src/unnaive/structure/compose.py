"""Parts of drawings: selection of edges, titles, legends, frames and lines of names."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass
from unnaive.structure.picture import (
    CLASS,
    CLASS_LETTERS,
    LINE,
    PLATE,
    Label,
    Line,
    Picture,
    page_scale,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive.structure.graph import Edge

    Legend = dict[str, float | str]
    Drawing = tuple[Picture, str, Legend]  # what is drawn, what the title says of it, the legend


@dataclass(frozen=True)
class Wish:
    """What is known about a structure that is going to be drawn.

    Attributes
    ----------
    edges : sequence of edges
        Edges, with weights if they are known.
    most : int or None
        Maximum number of edges that are drawn.
    relevance : dict
        Information of every column with the class, if it is known.
    labels : sequence of str
        Names of the classes, if every class has a structure.
    unit : str
        Unit of the weights.
    marked : sequence of str
        Columns that a model treats as independent, if it chooses them; they are in bold type.
    """

    edges: Sequence[Edge]
    most: int | None = None
    relevance: Mapping[str, float] = field(default_factory=dict)
    labels: Sequence[str] = ()
    unit: str = ""
    marked: Sequence[str] = ()


def strongest(edges: Sequence[Edge], most: int) -> tuple[list[Edge], str]:
    """Return the heaviest edges, and what the title says about it."""
    ranked = sorted(edges, key=lambda edge: -edge[2] if len(edge) > 2 else 0.0)
    if len(ranked) <= most:
        told = (
            f"{len(edges)} edge{'s' * (len(edges) != 1)}" if edges else "no edges between columns"
        )
        return list(edges), told
    return ranked[:most], f"the strongest {most} of {len(edges)} edges"


def undirected(edges: Sequence[Edge]) -> list[Edge]:
    """Join both directions of an edge, by the larger weight; without weights if all are equal."""
    weights: dict[tuple[str, str], float] = {}
    for parent, child, *weight in edges:
        ends = (min(parent, child), max(parent, child))
        weights[ends] = max(weights.get(ends, 0.0), *weight, 0.0)
    if len(set(weights.values())) == 1:
        return list(weights)
    return [(*ends, weight) for ends, weight in weights.items()]


def largest_weight(edges: Sequence[Edge]) -> float:
    """Largest weight of all edges, 0 if none has a weight."""
    return max((edge[2] for edge in edges if len(edge) > 2), default=0.0)


def share_of(edge: Edge, largest: float) -> float:
    """Width of an edge as a share of the widest; edges without a weight are narrow."""
    return float(edge[2] / largest) if len(edge) > 2 and largest > 0 else 0.15


def legend_of(edges: Sequence[Edge], unit: str) -> Legend:
    """Legend of the widths of edges and of the class."""
    largest = largest_weight(edges)
    known: Legend = {"class, a parent of every column in the frame": CLASS}
    if largest > 0:
        known |= {f"{largest * share:.2g} {unit}".strip(): share for share in (1.0, 0.25)}
    return known


def below_class(picture: Picture, target: str) -> Picture:
    """Put a picture into a frame below the class."""
    margin = 0.14
    width = max(picture.width + 2 * margin, width_of(target, CLASS_LETTERS), 1.2)
    whole = Picture()
    whole.labels.append(Label(target, (width / 2, -LINE / 2), CLASS, letters=CLASS_LETTERS))
    top = -LINE - 0.3
    height = picture.height + 2 * margin
    whole.lines.append(
        Line([(width / 2, -LINE + 0.02), (width / 2, top)], 0.0, curve="straight", kind="class")
    )
    whole.frames.append((0.0, top - height, width, height, PLATE))
    whole.put(picture, (width - picture.width) / 2, top - margin)
    whole.width, whole.height = width, height - top
    return whole


def in_lines(names: Sequence[str], width: float) -> Picture:
    """Put names one after the other into lines of a width."""
    picture, x, y = Picture(), 0.0, 0.0
    for name in names:
        wide = width_of(name)
        if x and x + wide > width:
            x, y = 0.0, y + LINE + 0.05
        picture.labels.append(Label(name, (x + wide / 2, -y - LINE / 2)))
        picture.width = max(picture.width, x + wide)
        x += wide + 0.1
    picture.height = y + LINE
    return picture


def flowed(pictures: Sequence[Picture], gap: float = 0.2) -> Picture:
    """Put pictures next to each other, in as many lines as fill a page best."""
    best = Picture()
    widest = max(picture.width for picture in pictures)
    total = sum(picture.width + gap for picture in pictures)
    for lines in range(1, len(pictures) + 1):
        limit = max(widest, 1.1 * total / lines)
        whole, x, y, tall = Picture(), 0.0, 0.0, 0.0
        for picture in pictures:
            if x and x + picture.width > limit:
                x, y, tall = 0.0, y + tall + gap, 0.0
            whole.put(picture, x, -y)
            x, tall = x + picture.width + gap, max(tall, picture.height)
        if not best.labels or page_scale(whole.width, whole.height) > 1.01 * page_scale(
            best.width, best.height
        ):
            best = whole
        if page_scale(best.width, best.height) == 1.0:
            break
    return best
