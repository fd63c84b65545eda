"""Charts of effects: small bars for every column, and the nomogram."""

from __future__ import annotations

import re
from math import log
from typing import TYPE_CHECKING

from scipy.special import logit

from unnaive._svg import element, line, picture, rect, shortened, text, width_of, words
from unnaive.explain.wording import plural
from unnaive.report.writing import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State

_WIDE, _TALL, _LEFT, _ROOM = 264.0, 96.0, 36.0, 58.0  # of a curve; the room is for its labels
_LETTER = 5.8
_BETWEEN = re.compile(r"\((-?[\d.e+-]+), (-?[\d.e+-]+)\]")
_BEYOND = re.compile(r"([≤>]) (-?[\d.e+-]+)")
_LABEL, _SCALE, _STEP = 224.0, 640.0, 40.0  # of the nomogram
_SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
_ODDS = (2, 5, 10, 20, 50, 100, 500)


def compact(label: str) -> str:
    """Shorten the name of a bin to four digits.

    Examples
    --------
    >>> compact("(14.9051, 16.79]"), compact("> 18.22513"), compact("never")
    ('14.91–16.79', '> 18.23', 'never')
    """
    between = _BETWEEN.fullmatch(label)
    if between:
        return "\N{EN DASH}".join(f"{float(end):.4g}" for end in between.groups())
    beyond = _BEYOND.fullmatch(label)
    return f"{beyond[1]} {float(beyond[2]):.4g}" if beyond else label


def draw_effect(curve: State, limit: float) -> str:
    """Draw the effects of the values of one column as bars, and their rows as a shade below.

    ``limit`` is the largest effect of all columns, so that their charts have the same scale.
    """
    values, middle, half = curve["values"], _TALL / 2 + 6, _TALL / 2 - 4
    step = (_WIDE - _LEFT) / len(values)
    most = max(value["rows"] for value in values)
    parts = [
        text(signed(end * limit), _LEFT - 4, middle - end * half + 3, "end", class_="tick")
        for end in (1, -1)
    ]
    turned = step < max(width_of(shortened(compact(v["label"]), 12), _LETTER) for v in values) + 4
    for place, value in enumerate(values):
        x = _LEFT + place * step
        shade = 12 * value["rows"] / most
        inside = [rect(x + 1, _TALL + 22 - shade, step - 2, shade, class_="count")]
        if value["effect"] is not None:
            low, high, effect = (
                middle - half * value[key] / limit for key in ("low", "high", "effect")
            )
            side = "for" if value["effect"] >= 0 else "against"
            top, tall = min(effect, middle), abs(effect - middle)
            inside.append(rect(x + 0.14 * step, top, 0.72 * step, max(tall, 0.75), class_=side))
            if low - high > 1:
                inside.append(line(x + step / 2, low, x + step / 2, high, class_="whisker"))
        inside.append(_tick(compact(value["label"]), x + step / 2, _TALL + 34, step, turned))
        parts.append(element("g", element("title", words(_story(value))), *inside))
    parts.append(line(_LEFT, middle, _WIDE, middle, class_="axis"))
    label = f"{curve['name']}: " + "; ".join(_story(value) for value in values)
    tall = _TALL + _ROOM + (30 if turned else -14)
    return picture(_WIDE, tall, *parts, class_="effect", role="img", aria_label=label)


def _story(value: State) -> str:
    effect = "no estimate" if value["effect"] is None else signed(value["effect"])
    return f"{value['label']}: {effect}, {plural(value['rows'], 'row')}"


def _tick(label: str, x: float, y: float, step: float, turned: bool) -> str:
    if turned:
        turn = f"rotate(-45 {x + 3:.1f} {y:.1f})"
        return text(shortened(label, 12), x + 3, y, "end", class_="tick", transform=turn)
    return text(shortened(label, max(2, int(step / _LETTER))), x, y, class_="tick")


def largest_effect(curves: Sequence[State]) -> float:
    """Return the largest effect of all curves, the common scale of their charts."""
    ends = [
        abs(v[key])
        for c in curves
        for v in c["values"]
        for key in ("effect", "low", "high")
        if v[key]
    ]
    return max(ends, default=1.0)


def draw_nomogram(nomogram: State) -> str:
    """Draw a scale of points for every column, and one from points to probability or odds.

    The effects of a column begin at 0 points; 100 points are the widest column. A hollow mark is
    a missing value, whose effect on the log-odds is 0 unless it is a category.

    Parameters
    ----------
    nomogram : dict
        ``positive``, the class; ``against``, the other class of the odds, or an empty text if the
        last scale has probabilities; ``base``, the log-odds without any value; ``columns``, each
        with its ``name`` and ``values``, which have a ``label`` and an ``effect``.

    Returns
    -------
    str
        An ``svg`` element; the style sheet of the report has its colors.
    """
    columns = sorted(nomogram["columns"], key=lambda column: -_range(column))
    unit = _range(columns[0]) / 100 if columns else 1.0
    y, parts = 26.0, _scale("points", [(float(at), str(at)) for at in range(0, 101, 10)], 26.0)
    for column in columns:
        low = min(0.0, *(value["effect"] for value in column["values"]))
        y += _STEP
        marks = [((v["effect"] - low) / unit, compact(v["label"])) for v in column["values"]]
        parts += _scale(column["name"], marks, y)
        if "missing" not in column:
            parts.append(element("circle", cx=_x(-low / unit), cy=y, r=3.2, class_="missing"))
    base = nomogram["base"] + sum(min(0.0, *(v["effect"] for v in c["values"])) for c in columns)
    y += _STEP + 14
    parts.append(line(10, y - 24, _LABEL + _SCALE, y - 24, class_="grid"))
    most = sum(map(_range, columns)) / unit
    first, last = ((float(logit(share)) - base) / unit for share in (_SHARES[0], _SHARES[-1]))
    first, last = max(first, 0.0), min(last, most)
    size = next(step for step in (5, 10, 20, 25, 50, 100, 1000) if (last - first) / step <= 12)
    totals = [float(at) for at in range(-(-int(first) // size) * size, int(last) + 1, size)]
    spread = 100 / max(last - first, 1e-9)
    parts += _scale("total points", [((at - first) * spread, f"{at:.0f}") for at in totals], y)
    name, marks = _answers(nomogram)
    places = ((odds - base) / unit for odds, _ in marks)
    inside = [
        ((at - first) * spread, label)
        for at, (_, label) in zip(places, marks, strict=True)
        if first <= at <= last
    ]
    parts += _scale(name, inside, y + _STEP)
    story = f"nomogram of {name}"
    width = _LABEL + _SCALE + 40
    return picture(width, y + _STEP + 26, *parts, class_="nomogram", role="img", aria_label=story)


def _answers(nomogram: State) -> tuple[str, list[tuple[float, str]]]:
    """Name of the last scale, and log-odds with their labels: probabilities, or odds of a pair."""
    positive, against = nomogram["positive"], nomogram["against"]
    if against:
        steps = [(float(factor), f"{factor}:1") for factor in _ODDS] + [(1.0, "1:1")]
        steps += [(1 / factor, f"1:{factor}") for factor in _ODDS]
        return f"{positive} : {against}", [(log(odds), label) for odds, label in steps]
    labels = [f"{100 * share:g}\N{NO-BREAK SPACE}%" for share in _SHARES]
    return f"P({positive})", list(zip(map(float, logit(_SHARES)), labels, strict=True))


def _range(column: State) -> float:
    """Difference of the largest and the smallest effect of a column, missing included."""
    effects = [0.0, *(float(value["effect"]) for value in column["values"])]
    return max(effects) - min(effects)


def _x(points: float) -> float:
    return _LABEL + _SCALE * points / 100


def _scale(name: str, marks: Sequence[tuple[float, str]], y: float) -> list[str]:
    """Draw a scale with marks; labels that would overlap go below the line, or are left out."""
    places = sorted((_x(points), label) for points, label in marks)
    parts = [text(shortened(name, 26), _LABEL - 48, y + 4, "end", class_="name")]
    if places:
        parts.append(line(places[0][0], y, places[-1][0], y, class_="axis"))
    ends = {-7: 0.0, 15: 0.0}  # right end of the last label above and below the line
    for place, label in places:
        short = shortened(label, 16)
        half = width_of(short, _LETTER) / 2 + 3
        parts.append(line(place, y - 4, place, y + 4, class_="axis"))
        side = next((s for s, end in ends.items() if place - half >= end), None)
        if side is not None:
            ends[side] = place + half
            title = element("title", words(label))
            parts.append(element("g", title, text(short, place, y + side, class_="tick")))
    return parts
