"""Pictures of comparisons as SVG, in the colour of the text around them, light or dark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unnaive._svg import element, line, picture, shortened, text, words
from unnaive.evaluate.tables import metric_title, number, spread
from unnaive.explain.critical_difference import undecided

if TYPE_CHECKING:
    from unnaive.evaluate.comparison import Comparison
    from unnaive.evaluate.verdicts import NemenyiVerdict

_INK = {"stroke": "currentColor", "stroke_width": 1}
_WIDE, _NAME, _STEP = 640.0, 150.0, 22.0
_LETTERS = 20  # of a name
_STYLE = "font:13px system-ui,sans-serif;max-width:100%;height:auto"


def draw_critical_difference(verdict: NemenyiVerdict, metric: str) -> str:
    """Draw mean ranks on a scale; thick bars join models that do not differ significantly.

    Parameters
    ----------
    verdict : NemenyiVerdict
        Mean ranks and the critical difference.
    metric : str
        The metric by which models were ranked, for the description that screen readers say.

    Returns
    -------
    str
        An ``svg`` element; its lines and letters have the color of the text around it.

    See Also
    --------
    unnaive.explain.plot_critical_difference : The same with matplotlib.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006,
    figure 1.

    Examples
    --------
    >>> from unnaive.evaluate import nemenyi
    >>> verdict = nemenyi({"nb": [0.8, 0.7, 0.9], "tan": [0.9, 0.8, 0.95]})
    >>> draw_critical_difference(verdict, "auc").partition("aria-label=")[2][:46]
    '"mean ranks by AUC: tan 1.00, nb 2.00; critica'
    """
    ordered = sorted(verdict.ranks.items(), key=lambda item: item[1])
    high = max(math.ceil(ordered[-1][1]), len(ordered), 2)
    groups = undecided([rank for _, rank in ordered], verdict.critical)
    half, top = math.ceil(len(ordered) / 2), 62.0

    def x(rank: float) -> float:
        return _NAME + (_WIDE - 2 * _NAME) * (rank - 1) / (high - 1)

    parts = [line(x(1), top, x(high), top, **_INK)]
    for tick in range(1, high + 1, max(1, high // 15)):
        parts.append(line(x(tick), top - 5, x(tick), top, **_INK))
        parts.append(text(tick, x(tick), top - 9, fill="currentColor"))
    told = f"critical difference {verdict.critical:.2f}"
    if 1 + verdict.critical <= high:
        ends = x(1), x(1 + verdict.critical)
        parts.append(line(ends[0], 22, ends[1], 22, **_INK | {"stroke_width": 2}))
        parts += [line(end, 18, end, 26, **_INK) for end in ends]
    else:
        told += ", larger than the range of ranks"
    parts.append(text(told, x(1), 13, "start", fill="currentColor"))
    for place, (first, last) in enumerate(groups):
        y, ends = top + 9 + 8 * place, (x(ordered[first][1]) - 4, x(ordered[last][1]) + 4)
        parts.append(line(ends[0], y, ends[1], y, **_INK | {"stroke_width": 4}))
    below = top + 18 + 8 * len(groups)
    for place, (name, rank) in enumerate(ordered):
        left = place < half
        y = below + _STEP * (place if left else len(ordered) - 1 - place) + 4
        end, shift = (_NAME - 14, -5) if left else (_WIDE - _NAME + 14, 5)
        corner = f"{x(rank):.1f},{top} {x(rank):.1f},{y} {end},{y}"
        faint = _INK | {"opacity": 0.45, "fill": "none"}
        parts.append(element("polyline", points=corner, **faint))
        label = f"{shortened(name, _LETTERS)} {rank:.2f}" if left else f"{rank:.2f} {name}"
        side = "end" if left else "start"
        parts.append(text(shortened(label, 26), end + shift, y + 4, side, fill="currentColor"))
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in ordered)
    story = f"mean ranks by {metric_title(metric)}: {ranks}; {told}"
    return _shown(below + _STEP * half, parts, story)


def draw_means(comparison: Comparison, metric: str) -> str:
    """Draw mean and standard deviation of every model; models worse than the best are hollow.

    Models without scores are left out; if all are, there is no picture.

    Parameters
    ----------
    comparison : Comparison
        Models on the same folds.
    metric : str
        One of its metrics.

    Returns
    -------
    str
        An ``svg`` element, or an empty text; the best model is at the top, and a pointer over a
        model shows its numbers.
    """
    rows = [row for row in comparison.table() if not math.isnan(row[metric])]
    if not rows:
        return ""
    rows.sort(key=lambda row: (math.isnan(row[f"{metric}_rank"]), row[f"{metric}_rank"]))
    margins = [0.0 if math.isnan(row[f"{metric}_std"]) else row[f"{metric}_std"] for row in rows]
    pairs = list(zip(rows, margins, strict=True))
    low = min(row[metric] - margin for row, margin in pairs)
    high = max(row[metric] + margin for row, margin in pairs)
    room = (high - low) or 1.0

    def x(value: float) -> float:
        return float(_NAME + (_WIDE - _NAME - 30) * (value - low) / room)

    bottom = 14 + _STEP * len(rows)
    parts = [line(_NAME, bottom, _WIDE - 30, bottom, **_INK | {"opacity": 0.45})]
    for tick in (low, (low + high) / 2, high):
        parts.append(line(x(tick), bottom, x(tick), bottom + 5, **_INK | {"opacity": 0.45}))
        parts.append(text(number(tick), x(tick), bottom + 19, fill="currentColor"))
    for place, (row, margin) in enumerate(pairs):
        y, worse = 14 + _STEP * place, row[f"{metric}_worse"]
        name = shortened(row["model"], _LETTERS)
        parts.append(text(name, _NAME - 12, y + 4, "end", fill="currentColor"))
        story = f"{row['model']}: {spread(row[metric], margin or math.nan)}"
        dot = {"cx": x(row[metric]), "cy": y, "r": 4.5, **_INK | {"stroke_width": 1.5}}
        inside = [
            element("title", words(story)),
            line(x(row[metric] - margin), y, x(row[metric] + margin), y, **_INK),
            element("circle", **dot, fill="Canvas" if worse else "currentColor"),
        ]
        parts.append(element("g", *inside))
    label = f"{metric_title(metric)}, mean ± standard deviation over folds"
    parts.append(text(label, (_NAME + _WIDE - 30) / 2, bottom + 38, fill="currentColor"))
    return _shown(bottom + 46, parts, f"{label}; the table has the numbers")


def _shown(height: float, parts: list[str], story: str) -> str:
    return picture(_WIDE, height, *parts, style=_STYLE, role="img", aria_label=story)
