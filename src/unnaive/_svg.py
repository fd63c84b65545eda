"""SVG as text: every name is escaped, every color is left to the style sheet."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OTHER = 6  # number of the color that all further classes share
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WIDE = {"W", "F"}


def readable(content: object) -> str:
    r"""Replace control characters and half characters, which no page may contain.

    Examples
    --------
    >>> readable("age\x00") == "age\N{REPLACEMENT CHARACTER}"
    True
    """
    return _CONTROL.sub("\ufffd", str(content))


def element(name: str, *inside: str, **attributes: object) -> str:
    """Write an element; ``inside`` is markup, attributes are escaped.

    ``class_`` and ``aria_label`` become ``class`` and ``aria-label``; None is omitted.

    Examples
    --------
    >>> element("text", words("a < b"), x=1.25, class_="name")
    '<text x="1.25" class="name">a &lt; b</text>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>"


def words(content: object) -> str:
    """Escape a text."""
    return escape(readable(content))


def text(content: object, x: float, y: float, anchor: str = "middle", **attributes: object) -> str:
    """Write a text at a position."""
    return element("text", words(content), x=x, y=y, text_anchor=anchor, **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    """Write a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    """Write a line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else readable(value)


def width_of(content: str, letter: float = 7.2) -> float:
    """Estimate the width of a text in pixels; East Asian letters and emoji are wide.

    Examples
    --------
    >>> width_of("age") < width_of("年齢!")
    True
    """
    places = (
        2 if unicodedata.east_asian_width(character) in _WIDE else 1
        for character in content
        if not unicodedata.combining(character)
    )
    return letter * sum(places)


def shortened(content: str, most: int) -> str:
    """Shorten a text to a number of letters.

    Examples
    --------
    >>> shortened("mean concavity", 8)
    'mean co…'
    """
    content = readable(content)
    return content if len(content) <= most else content[: most - 1] + "…"


def picture(width: float, height: float, *inside: str, **attributes: object) -> str:
    """Write a picture with a size in pixels, which the style sheet may shrink."""
    box = f"0 0 {_number(float(width))} {_number(float(height))}"
    return element("svg", *inside, viewBox=box, width=width, height=height, **attributes)


def stacked(shares: Sequence[float], colours: Sequence[int]) -> str:
    """Draw one bar divided by class, as wide as its table cell."""
    starts = [0.0, *accumulate(100 * share for share in shares)]
    return _stretched(
        rect(start, 0, 100 * share, 10, class_=f"c{colour}")
        for start, share, colour in zip(starts, shares, colours, strict=False)
        if share > 0
    )


def bar(low: float, high: float, class_: str, marks: Sequence[float] = ()) -> str:
    """Draw one bar between two shares of its table cell's width, and lines at others."""
    low, high = max(0.0, min(low, high)), min(1.0, max(low, high))
    lines = [line(100 * at, -2, 100 * at, 12, class_="mark") for at in marks if 0 <= at <= 1]
    return _stretched([*lines, rect(100 * low, 0, 100 * (high - low), 10, class_=class_)])


def _stretched(parts: Iterable[str]) -> str:
    hidden = {"class_": "bar", "aria_hidden": "true", "focusable": "false"}
    return element("svg", *parts, viewBox="0 0 100 10", preserveAspectRatio="none", **hidden)


def small_bars(by_class: Sequence[Sequence[float]], colours: Sequence[int]) -> str:
    """Draw one upright bar for every value, stacked by class."""
    width, height, n = 132.0, 36.0, max(len(by_class[0]), 1)
    totals = [sum(counts) for counts in zip(*by_class, strict=True)]
    top = max(totals, default=0) or 1
    step = width / n
    parts = []
    for value in range(len(totals)):
        bottom = height
        for counts, colour in zip(by_class, colours, strict=True):
            tall = (height - 1) * counts[value] / top
            bottom -= tall
            if tall > 0:
                place = (value * step + 0.5, bottom, max(step - 1, 0.6), tall)
                parts.append(rect(*place, class_=f"c{colour}"))
    axis = line(0, height - 0.25, width, height - 0.25, class_="axis")
    return picture(width, height, *parts, axis, class_="small-bars", aria_hidden="true")
