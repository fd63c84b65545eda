"""Charts of the report: reliability and ROC curves with their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive._svg import element, line, picture, rect, text, words
from unnaive.report.writing import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State

_SIZE, _LEFT, _TOP, _BOTTOM = 280.0, 58.0, 10.0, 44.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_HISTOGRAM = 48.0  # pixels below the reliability curve


def _x(share: float) -> float:
    return _LEFT + _SIZE * share


def _y(share: float) -> float:
    return _TOP + _SIZE * (1 - share)


def _axes(across: str, upwards: str, bottom: float = 0.0) -> list[str]:
    """Draw a square from 0 to 1 with its grid, its diagonal and the names of both axes."""
    low, parts = _y(0) + bottom, []
    for tick in _TICKS:
        parts += [
            line(_x(tick), _y(1), _x(tick), low, class_="grid"),
            line(_x(0), _y(tick), _x(1), _y(tick), class_="grid"),
            text(percent(tick, 0), _x(tick), low + 16, class_="tick"),
            text(percent(tick, 0), _x(0) - 6, _y(tick) + 4, "end", class_="tick"),
        ]
    turned = f"rotate(-90 11 {_y(0.5):.1f})"
    return [
        *parts,
        line(_x(0), _y(0), _x(1), _y(1), class_="diagonal"),
        text(across, _x(0.5), low + 36),
        text(upwards, 11, _y(0.5), transform=turned),
    ]


def _path(points: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)


def _chart(parts: Sequence[str], label: str, bottom: float = 0.0) -> str:
    size = _LEFT + _SIZE + 24, _TOP + _SIZE + bottom + _BOTTOM
    return picture(*size, *parts, class_="chart", role="img", aria_label=label)


def _short(count: int) -> str:
    """Write a count in at most five characters.

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
    """Draw observed frequency against predicted probability, with intervals and row counts."""
    bottom = _HISTOGRAM + 22
    parts = _axes("predicted probability", "observed frequency", bottom)
    filled = [entry for entry in calibration["bins"] if entry["rows"]]
    most = max(entry["rows"] for entry in filled)
    base = _y(0) + bottom
    for entry in filled:
        low, high = entry["interval"]
        left, right, at = _x(entry["low"]), _x(entry["high"]), _x(entry["predicted"])
        tall = max(_HISTOGRAM * entry["rows"] / most, 1.0)
        story = (
            f"{percent(entry['low'], 0)} to {percent(entry['high'], 0)}: {entry['rows']:,} rows, "
            f"predicted {percent(entry['predicted'])}, observed {percent(entry['observed'])} "
            f"(95 % interval {percent(low)} to {percent(high)})"
        )
        parts.append(
            element(
                "g",
                element("title", words(story)),
                rect(left + 1.5, base - tall, right - left - 3, tall, class_="count"),
                text(_short(entry["rows"]), (left + right) / 2, base - tall - 3, class_="rows"),
                line(at, _y(low), at, _y(high), class_="interval"),
                element("circle", cx=at, cy=_y(entry["observed"]), r=4.5, class_="point"),
            )
        )
    points = [(entry["predicted"], entry["observed"]) for entry in filled]
    parts.append(element("polyline", points=_path(points), fill="none", class_="curve faint"))
    return _chart(parts, "reliability curve; the table below has its numbers", bottom)


def draw_roc(roc: State, area: float) -> str:
    """Draw the ROC curve, and mark the decisions of the model."""
    false_positive, sensitivity = roc["decision"]
    story = (
        f"decisions of the model: sensitivity {percent(sensitivity)}, "
        f"false positive rate {percent(false_positive)}"
    )
    place = {"cx": _x(false_positive), "cy": _y(sensitivity)}
    parts = [
        element("polygon", points=_path([*roc["points"], (1.0, 0.0)]), class_="area"),
        *_axes("false positive rate", "true positive rate (sensitivity)"),
        element("polyline", points=_path(roc["points"]), fill="none", class_="curve"),
        element(
            "g",
            element("title", words(story)),
            element("circle", **place, r=5.5, class_="point chosen"),
        ),
        text(f"AUC {area:.3f}", _x(0.62), _y(0.2), "start", class_="figure"),
    ]
    return _chart(parts, f"ROC curve; area {area:.3f}; {story}")
