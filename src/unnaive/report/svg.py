"""Small pictures as SVG: text in, text out, every name escaped, every colour left to the style."""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OTHER = 6  # place of the colour that all further classes share
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WIDE = {"W", "F"}


def readable(text: object) -> str:
    r"""Return a text without what no page may hold: control characters, halves of characters.

    Examples
    --------
    >>> readable("age\x00") == "age\N{REPLACEMENT CHARACTER}"
    True
    """
    return _CONTROL.sub("\ufffd", str(text))


def element(name: str, *inside: str, **attributes: object) -> str:
    """Write an element; ``inside`` is markup already, attributes are escaped here.

    ``class_`` and ``aria_label`` become ``class`` and ``aria-label``; None is left out.

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


def words(text: object) -> str:
    """Escape a text."""
    return escape(readable(text))


def _number(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else readable(value)


def width_of(text: str, letter: float = 7.2) -> float:
    """Estimate how wide a text is in pixels; letters of East Asia and emoji are wide.

    Examples
    --------
    >>> width_of("age") < width_of("年齢!")
    True
    """
    places = (
        2 if unicodedata.east_asian_width(character) in _WIDE else 1
        for character in text
        if not unicodedata.combining(character)
    )
    return letter * sum(places)


def shortened(text: str, most: int) -> str:
    """Cut a text to so many letters.

    Examples
    --------
    >>> shortened("mean concavity", 8)
    'mean co…'
    """
    text = readable(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def picture(width: float, height: float, *inside: str, **attributes: object) -> str:
    """Write a picture of a size in pixels, which the style may shrink."""
    box = f"0 0 {_number(float(width))} {_number(float(height))}"
    return element("svg", *inside, viewBox=box, width=width, height=height, **attributes)


def stacked(shares: Sequence[float], colours: Sequence[int]) -> str:
    """Draw one bar whose parts are classes, as wide as the style says; for a table's cell."""
    parts, left = [], 0.0
    for share, colour in zip(shares, colours, strict=True):
        if share > 0:
            parts.append(
                element("rect", x=left, y=0, width=100 * share, height=10, class_=f"c{colour}")
            )
        left += 100 * share
    return _stretched(*parts, class_="bar")


def bar(low: float, high: float, class_: str, marks: Sequence[float] = ()) -> str:
    """Draw one bar between two shares of its cell's width, and lines at others."""
    low, high = max(0.0, min(low, high)), min(1.0, max(low, high))
    parts = [
        *(
            element("line", x1=100 * at, x2=100 * at, y1=-2, y2=12, class_="mark")
            for at in marks
            if 0 <= at <= 1
        ),
        element("rect", x=100 * low, y=0, width=100 * (high - low), height=10, class_=class_),
    ]
    return _stretched(*parts, class_="bar")


def _stretched(*parts: str, class_: str) -> str:
    return element(
        "svg",
        *parts,
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_=class_,
        aria_hidden="true",
        focusable="false",
    )


def small_bars(by_class: Sequence[Sequence[float]], colours: Sequence[int]) -> str:
    """Draw one upright bar a value, stacked by class: a column at a glance."""
    width, height, n = 132.0, 36.0, max(len(by_class[0]), 1)
    totals = [sum(counts) for counts in zip(*by_class, strict=True)]
    top = max(totals, default=0) or 1
    step = width / n
    parts = []
    for value in range(len(totals)):
        bottom = height
        for counts, colour in zip(by_class, colours, strict=True):
            tall = (height - 1) * counts[value] / top
            if tall > 0:
                parts.append(
                    element(
                        "rect",
                        x=value * step + 0.5,
                        y=bottom - tall,
                        width=max(step - 1, 0.6),
                        height=tall,
                        class_=f"c{colour}",
                    )
                )
            bottom -= tall
    line = element("line", x1=0, x2=width, y1=height - 0.25, y2=height - 0.25, class_="axis")
    return picture(width, height, *parts, line, class_="small-bars", aria_hidden="true")
