"""Charts of the report: reliability and ROC curves with their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.report.svg import element, picture, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State

_SIZE, _LEFT, _TOP, _BOTTOM = 280.0, 46.0, 10.0, 44.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_HISTOGRAM = 48.0  # pixels below the reliability curve


def _x(share: float) -> float:
    return _LEFT + _SIZE * share


def _y(share: float) -> float:
    return _TOP + _SIZE * (1 - share)


def _axes(across: str, upwards: str, bottom: float = 0.0) -> list[str]:
    """Draw a square from 0 to 1 with its grid, its diagonal and the names of both axes."""
    parts = []
    for tick in _TICKS:
        name = words(f"{tick:.0%}")
        low = _y(0) + bottom
        parts += [
            element("line", x1=_x(tick), x2=_x(tick), y1=_y(1), y2=low, class_="grid"),
            element("line", x1=_x(0), x2=_x(1), y1=_y(tick), y2=_y(tick), class_="grid"),
            element("text", name, x=_x(tick), y=low + 16, text_anchor="middle", class_="tick"),
            element("text", name, x=_x(0) - 6, y=_y(tick) + 4, text_anchor="end", class_="tick"),
        ]
    parts.append(element("line", x1=_x(0), y1=_y(0), x2=_x(1), y2=_y(1), class_="diagonal"))
    middle = f"rotate(-90 11 {_y(0.5):.1f})"
    parts += [
        element("text", words(across), x=_x(0.5), y=_y(0) + bottom + 36, text_anchor="middle"),
        element("text", words(upwards), x=11, y=_y(0.5), text_anchor="middle", transform=middle),
    ]
    return parts


def _line(points: Sequence[Sequence[float]], class_: str) -> str:
    path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
    return element("polyline", points=path, fill="none", class_=class_)


def _short(count: int) -> str:
    """Write a count in five letters at most.

    Examples
    --------
    >>> _short(342), _short(45_678), _short(2_500_000)
    ('342', '45.7k', '2.5M')
    """
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if count >= 10 * size or (unit == "M" and count >= size):
            return f"{count / size:.3g}{unit}"
    return str(count)


def draw_reliability(calibration: State) -> str:
    """Draw what came true against what was predicted, with intervals and the rows of each bin."""
    bottom = _HISTOGRAM + 22
    parts = _axes("predicted probability", "share that came true", bottom)
    filled = [entry for entry in calibration["bins"] if entry["rows"]]
    most = max(entry["rows"] for entry in filled)
    base = _y(0) + bottom
    for entry in filled:
        low, high = entry["interval"]
        at, tall = entry["predicted"], max(_HISTOGRAM * entry["rows"] / most, 1.0)
        story = (
            f"{entry['low']:.0%} to {entry['high']:.0%}: {entry['rows']:,} rows, predicted "
            f"{at:.1%}, came true {entry['observed']:.1%} (95% interval {low:.1%} to {high:.1%})"
        )
        wide = _x(entry["high"]) - _x(entry["low"]) - 3
        parts.append(
            element(
                "g",
                element("title", words(story)),
                element(
                    "rect",
                    x=_x(entry["low"]) + 1.5,
                    y=base - tall,
                    width=wide,
                    height=tall,
                    class_="count",
                ),
                element(
                    "text",
                    words(_short(entry["rows"])),
                    x=(_x(entry["low"]) + _x(entry["high"])) / 2,
                    y=base - tall - 3,
                    text_anchor="middle",
                    class_="rows",
                ),
                element("line", x1=_x(at), x2=_x(at), y1=_y(low), y2=_y(high), class_="interval"),
                element("circle", cx=_x(at), cy=_y(entry["observed"]), r=4.5, class_="point"),
            )
        )
    points = [(entry["predicted"], entry["observed"]) for entry in filled]
    parts.append(_line(points, "curve faint"))
    label = "reliability curve; the table below holds its numbers"
    size = _LEFT + _SIZE + 16, _TOP + _SIZE + bottom + _BOTTOM
    return picture(*size, *parts, class_="chart", role="img", aria_label=label)


def draw_roc(roc: State, area: float) -> str:
    """Draw sensitivity against false alarms, and where the model's own decisions stand."""
    alarms, found = roc["decision"]
    story = f"decisions of the model: sensitivity {found:.1%}, false alarms {alarms:.1%}"
    corner = [(1.0, 0.0)]
    shape = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in [*roc["points"], *corner])
    parts = [
        element("polygon", points=shape, class_="area"),
        *_axes("false alarms among the others", "sensitivity"),
        _line(roc["points"], "curve"),
        element(
            "g",
            element("title", words(story)),
            element("circle", cx=_x(alarms), cy=_y(found), r=5.5, class_="point chosen"),
        ),
        element("text", words(f"AUC {area:.3f}"), x=_x(0.62), y=_y(0.2), class_="figure"),
    ]
    label = f"ROC curve; area {area:.3f}; {story}"
    size = _LEFT + _SIZE + 16, _TOP + _SIZE + _BOTTOM
    return picture(*size, *parts, class_="chart", role="img", aria_label=label)
