"""Pictures made of labels, edges and frames, and how matplotlib draws them on a page."""

from __future__ import annotations

import math
import warnings
from dataclasses import field, replace
from functools import cache
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from unnaive._axes import new_axes
from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    Point = tuple[float, float]

PAGE = (12.0, 9.0)  # inches that a new figure never exceeds, without title and legend
FONT = 9.0  # points
LINE = 0.27  # inches from one line of labels to the next
WIDEST, NARROWEST = 4.0, 0.7  # points
CLASS, COLUMN, PLATE = "#f6c28b", "white", "#f7f7f7"
EDGE = "C0"
_LETTERS, CLASS_LETTERS = 18, 30  # of a name
_FALLBACK = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "WenQuanYi Micro Hei"),
    *("Microsoft YaHei", "Hiragino Sans", "Malgun Gothic", "Arial Unicode MS"),
    *("Noto Sans Arabic", "Noto Sans Devanagari", "Noto Sans Thai"),
)


@dataclass(frozen=True)
class Label:
    """A name at a place; ``colour`` None: without a box; ``angle`` for names around a circle."""

    text: str
    place: Point
    colour: str | None = COLUMN
    angle: float | None = None
    bold: bool = False
    letters: int = _LETTERS


@dataclass(frozen=True)
class Line:
    """An edge through points; ``share`` of the widest one; ``kind`` is its matplotlib gid."""

    points: list[Point]
    share: float
    arrow: bool = True
    curve: str = "layers"
    kind: str = "edge"


@dataclass
class Picture:
    """Labels, lines and frames in inches, x to the right and y upwards from (0, 0) at the top."""

    width: float = 0.0
    height: float = 0.0
    labels: list[Label] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    frames: list[tuple[float, float, float, float, str]] = field(default_factory=list)

    def put(self, other: Picture, x: float, y: float) -> None:
        """Add another picture, its upper left corner at a place."""
        self.labels += [
            replace(label, place=(label.place[0] + x, label.place[1] + y)) for label in other.labels
        ]
        self.lines += [
            replace(line, points=[(p + x, q + y) for p, q in line.points]) for line in other.lines
        ]
        self.frames += [(p + x, q + y, w, h, colour) for p, q, w, h, colour in other.frames]
        self.width = max(self.width, x + other.width)
        self.height = max(self.height, other.height - y)


def shortened(name: str, letters: int = _LETTERS) -> str:
    """Shorten a name in the middle to a width of so many letters; wide characters count as two.

    Examples
    --------
    >>> shortened("systolic_blood_pressure_2"), shortened("smoker")
    ('systolic_bl…sure_2', 'smoker')
    """
    wide = [1 + (east_asian_width(letter) in "WF") for letter in name]
    if sum(wide) <= letters:
        return name
    kept = list(range(len(name)))
    while sum(wide[place] for place in kept) > letters - 1:
        kept.pop(round(0.65 * (len(kept) - 1)))
    begin = next((n for n, place in enumerate(kept) if place != n), len(kept))
    return name[:begin] + "…" + name[len(name) - (len(kept) - begin) :]


@cache
def width_of(name: str, letters: int = _LETTERS) -> float:
    """Width in inches of a name in its box."""
    from matplotlib.textpath import TextPath  # noqa: PLC0415 - optional, see the extra "plot"

    short = shortened(name, letters).replace("$", r"\$")
    plain = "".join("M" if east_asian_width(letter) in "WF" else letter for letter in short)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the font lacks is drawn as a box
        inches = TextPath((0, 0), plain, size=FONT).get_extents().width / 72
    return float(max(inches, 0.1) + 0.02 * plain.count("M") + 0.14)


@cache
def _families() -> list[str]:
    """Matplotlib's font, and those for other scripts that are installed."""
    import matplotlib as mpl  # noqa: PLC0415 - optional
    from matplotlib import font_manager  # noqa: PLC0415 - optional

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [*mpl.rcParams["font.family"], *(name for name in _FALLBACK if name in installed)]


def page_scale(width: float, height: float) -> float:
    """Scale at which a picture fits a page; 1 if it fits as it is."""
    return min(1.0, PAGE[0] / max(width, 0.1), PAGE[1] / max(height, 0.1))


def paint(
    picture: Picture, ax: Axes | None, title: str = "", legend: dict[str, float | str] | None = None
) -> Axes:
    """Draw a picture on axes, or on a new figure that is no larger than a page.

    Parameters
    ----------
    picture : Picture
        What to draw.
    ax : matplotlib.axes.Axes or None
        Axes to draw into, in whose size everything is fitted; None: a new figure.
    title : str
        Title, wrapped to the width.
    legend : dict
        Meaning of line widths (shares of the widest) and of colours.
    """
    legend = legend or {}
    strip = 0.3 if legend else 0.05
    width, height = picture.width + 0.2, picture.height + 0.15
    if ax is None:
        scale = page_scale(width, height)
        wide = max(4.5, width * scale)
        lines = fill(title, int(wide * 12)).splitlines()
        top, tall = 0.1 + 0.17 * len(lines), height * scale + strip
        ax = new_axes(figsize=(wide, tall + top), layout=None)
        ax.set_position((0.0, 0.0, 1.0, tall / (tall + top)))
    else:
        dpi = ax.figure.dpi
        wide, tall = (float(pixels) / dpi for pixels in ax.get_window_extent().size)
        lines = fill(title, max(int(wide * 12), 20)).splitlines()
        strip = min(strip, tall / 4)
        scale = min(1.0, wide / width, (tall - strip) / height)
    ax.set_axis_off()
    middle = picture.width / 2
    ax.set_xlim(middle - wide / scale / 2, middle + wide / scale / 2)
    spare = (tall - strip) / scale - height
    ax.set_ylim(-picture.height - 0.05 - spare / 2 - strip / scale, 0.1 + spare / 2)
    for x, y, w, h, colour in picture.frames:
        _frame(ax, (x, y, w, h), colour, scale)
    for line in picture.lines:
        _line(ax, line, scale)
    for label in picture.labels:
        _label(ax, label, scale)
    if title:
        ax.set_title("\n".join(lines), fontsize=FONT, pad=4)
    if legend:
        _legend(ax, legend, scale)
    return ax


def _frame(ax: Axes, box: tuple[float, float, float, float], colour: str, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415 - optional

    x, y, w, h = box
    style = f"round,pad=0,rounding_size={min(0.12, h / 2, w / 2)}"
    drawn = FancyBboxPatch((x, y), w, h, style, fc=colour, ec="0.75", lw=0.8 * scale, zorder=0)
    drawn.set_gid("frame")
    ax.add_patch(drawn)


def edge_width(share: float) -> float:
    """Width in points of an edge that has a share of the largest information."""
    return NARROWEST + (WIDEST - NARROWEST) * min(max(share, 0.0), 1.0)


def _line(ax: Axes, line: Line, scale: float) -> None:
    """Draw an edge as a smooth curve, with an arrowhead if it has a direction."""
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415 - optional
    from matplotlib.path import Path  # noqa: PLC0415 - optional

    points = [line.points[0]]
    for (x0, y0), (x1, y1) in pairwise(line.points):
        if line.curve == "layers":  # vertical tangents
            points += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
        elif line.curve == "columns":  # horizontal tangents
            points += [((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1), (x1, y1)]
        elif line.curve == "chord":  # towards the third point, the centre
            centre = line.points[-1]
            pulled = [
                (p + 0.5 * (centre[0] - p), q + 0.5 * (centre[1] - q)) for p, q in line.points[:2]
            ]
            points += [*pulled, (x1, y1)]
            break
        else:
            third, rest = (2 * x0 + x1) / 3, (2 * y0 + y1) / 3
            points += [(third, rest), ((x0 + 2 * x1) / 3, (y0 + 2 * y1) / 3), (x1, y1)]
    width = edge_width(line.share) * scale if line.kind == "edge" else 1.2 * scale
    arrow = FancyArrowPatch(
        path=Path(points, [Path.MOVETO, *[Path.CURVE4] * (len(points) - 1)]),
        arrowstyle="-|>" if line.arrow else "-",
        mutation_scale=(5 + 2 * width) * max(scale, 0.6),
        linewidth=width,
        color=EDGE if line.kind == "edge" else "0.6",
        alpha=0.85 if line.arrow else 0.55,
        shrinkA=0,
        shrinkB=width if line.arrow else 0,
        joinstyle="miter",
        capstyle="butt",
        zorder=1 + line.share / 2,
    )
    arrow.set_gid(line.kind)
    ax.add_patch(arrow)


def _label(ax: Axes, label: Label, scale: float) -> None:
    """Draw a name, shortened if it is long, in a box if it has a colour."""
    options: dict[str, Any] = {"ha": "center", "va": "center"}
    if label.angle is not None:
        flipped = math.cos(label.angle) < -1e-9
        turn = math.degrees(label.angle) + 180 * flipped
        options = {"ha": "right" if flipped else "left", "va": "center", "rotation": turn}
        options["rotation_mode"] = "anchor"
    elif label.colour is None:
        options["ha"] = "left"
    if label.colour is not None and label.angle is None:
        style = "round,pad=0.25,rounding_size=0.3"
        options["bbox"] = {"boxstyle": style, "fc": label.colour, "ec": "0.35", "lw": 0.7 * scale}
    text = shortened(label.text, label.letters).replace("$", r"\$")
    weight = "bold" if label.bold else "normal"
    families = _families() if not text.isascii() else None
    ax.text(
        *label.place,
        text,
        fontsize=FONT * scale,
        weight=weight,
        family=families,
        zorder=3,
        **options,
    )


def _legend(ax: Axes, legend: dict[str, float | str], scale: float) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 - optional
    from matplotlib.patches import Patch  # noqa: PLC0415 - optional

    handles = [
        Patch(fc=mark, ec="0.35", lw=0.7, label=meaning)
        if isinstance(mark, str)
        else Line2D([], [], color=EDGE, lw=edge_width(mark) * scale, label=meaning)
        for meaning, mark in legend.items()
    ]
    ax.legend(
        handles=handles,
        loc="lower center",
        ncols=len(handles),
        frameon=False,
        fontsize=7.5,
        handlelength=1.6,
        borderaxespad=0.1,
        columnspacing=1.4,
    )
