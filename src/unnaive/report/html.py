"""The page: a summary through templates into one file that needs nothing from anywhere."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import cache
from importlib.resources import files
from math import exp, isfinite
from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError
from unnaive.report import charts, svg
from unnaive.report.drawing import draw_structure
from unnaive.report.tables import engine_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from unnaive._typing import State

_SCRIPTS = ("explorer.js", "page.js")
_STYLE = "report.css"
_TICKS = (-4.59512, -2.19722, 0.0, 2.19722, 4.59512)  # log-odds of 1, 10, 50, 90 and 99 %
_MINUS, _NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"
_LEAST_SPAN = 3.0  # log-odds that a waterfall shows on either side at least


def render(summary: State, document: State | None = None) -> str:
    """Make the page of a summary.

    Parameters
    ----------
    summary : dict
        What :func:`~unnaive.report.summarise` found.
    document : dict or None, default=None
        What :func:`~unnaive.report.explorer_document` wrote of the model; without it the page has
        no explorer.

    Returns
    -------
    str
        One HTML page. Its scripts and its style are inside, its Content-Security-Policy allows
        these alone, and whatever names and labels hold is text there, never markup.
    """
    try:
        from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

        environment = _environment()
    except ImportError:
        raise UnnaiveError('a report needs jinja2: pip install "unnaive[report]"') from None
    colours = _colours(summary["data"]["classes"])
    drawn = {
        name: (lambda *given, draw=draw: Markup(draw(*given)))  # noqa: S704 - escaped where written
        for name, draw in _drawings(summary, colours).items()
    }
    static = files("unnaive.report") / "static"
    scripts = [engine_script(), *((static / name).read_text("utf-8") for name in _SCRIPTS)]
    scripts = scripts if document else scripts[2:]
    style = (static / _STYLE).read_text("utf-8")
    page = environment.get_template("report.html.jinja").render(
        summary=summary,
        colours=colours,
        ranked=_ranked(summary),
        policy=_policy(scripts, style),
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - our own files
        style=Markup(style),  # noqa: S704
        explorer=Markup(_embedded(_explorer(summary, document))) if document else "",  # noqa: S704
        **drawn,
    )
    return str(page)


@cache
def _environment() -> Environment:
    """Set up the templates; they are compiled once."""
    from jinja2 import (  # noqa: PLC0415 - optional, see the extra "report"
        Environment,
        PackageLoader,
        StrictUndefined,
    )

    environment = Environment(
        loader=PackageLoader("unnaive.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: svg.readable(value) if type(value) is str else value,
    )
    environment.filters |= _FILTERS
    return environment


def _policy(scripts: Sequence[str], style: str) -> str:
    """Allow the page's own scripts and style, by their sums, and nothing else."""
    sums = " ".join(_sum(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {sums}; style-src {_sum(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _sum(content: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _embedded(value: object) -> str:
    r"""Write JSON that stays data inside a script element, whatever its texts hold.

    Examples
    --------
    >>> print(_embedded({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _explorer(summary: State, document: State) -> State:
    """Collect what the explorer needs besides the model's tables."""
    places = {entry["name"]: place for place, entry in enumerate(summary["importance"])}
    wrong = summary["errors"]["rows"] if summary["errors"] else []
    return {
        "document": document,
        "positive": summary["positive"],
        "order": [places[entry["name"]] for entry in _ranked(summary)],
        "rows": [
            {
                "title": f"row {row['row'] + 1}: {row['actual']}, taken for {row['predicted']}",
                "codes": row["codes"],
                "numbers": row["numbers"],
            }
            for row in wrong
        ],
    }


def _ranked(summary: State) -> list[State]:
    """Return what matters most first; None is without bound."""

    def size(entry: State) -> float:
        return float("inf") if entry["importance"] is None else float(entry["importance"])

    return sorted(summary["importance"], key=size, reverse=True)


def _colours(classes: Sequence[State]) -> list[int]:
    """Colour of every class; of more than six, the five largest have one of their own."""
    if len(classes) <= svg.OTHER:
        return list(range(len(classes)))
    ranked = sorted(range(len(classes)), key=lambda code: -classes[code]["rows"])[: svg.OTHER - 1]
    return [ranked.index(code) if code in ranked else svg.OTHER for code in range(len(classes))]


def _drawings(summary: State, colours: Sequence[int]) -> State:
    """Return what templates may draw, by name."""
    kinds = sorted(set(colours))

    def merged(by_class: Sequence[float]) -> list[float]:
        return [
            sum(count for count, own in zip(by_class, colours, strict=True) if own == kind)
            for kind in kinds
        ]

    def class_shares(by_class: Sequence[float]) -> str:
        total = sum(by_class) or 1
        return svg.stacked([count / total for count in merged(by_class)], kinds)

    def small_bars(column: State) -> str:
        histogram = column.get("histogram")
        values = (
            list(zip(*histogram["by_class"], strict=True))
            if histogram
            else [value["by_class"] for value in column["values"]]
        )
        lines = [merged(by_class) for by_class in values] or [[0] * len(kinds)]
        return svg.small_bars(list(zip(*lines, strict=True)), kinds)

    target = summary["data"]["target"]
    return {
        "class_shares": class_shares,
        "small_bars": small_bars,
        "bar": svg.bar,
        "structure_picture": lambda drawn: draw_structure(drawn, target),
        "reliability": charts.draw_reliability,
        "roc_curve": charts.draw_roc,
    }


def waterfall(row: State) -> list[State]:
    """Lay out the reasons of a row: where each begins and ends, as shares of the axis.

    Returns the lines from the prior to the sum; each has ``label``, ``contribution`` (None of the
    first and the last), ``log_odds`` so far, ``low``, ``high``, ``at`` and ``marks``.
    """
    steps = [(reason["label"], reason["contribution"]) for reason in row["reasons"]]
    if row["others"]:
        steps.append((f"{row['others']} others", row["rest"]))
    sums = [row["base"]]
    for _, contribution in steps:
        sums.append(sums[-1] + contribution)
    finite = [value for value in sums if isfinite(value)]
    low, high = min([-_LEAST_SPAN, *finite]), max([_LEAST_SPAN, *finite])
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad

    def share(value: float) -> float:
        return float(min(max((value - low) / (high - low), 0.0), 1.0))

    marks = [share(tick) for tick in _TICKS if low < tick < high]
    shares = [share(value) for value in sums]
    first = {"label": "before anything is known", "contribution": None, "log_odds": sums[0]}
    last = {"label": "all together", "contribution": None, "log_odds": sums[-1]}
    lines = [
        {"label": label, "contribution": contribution, "log_odds": after, "low": a, "high": b}
        for (label, contribution), after, a, b in zip(
            steps, sums[1:], shares, shares[1:], strict=False
        )
    ]
    middle = share(0.0)
    for end, at in ((first, shares[0]), (last, shares[-1])):
        end |= {"low": min(at, middle), "high": max(at, middle)}
    return [{**line, "marks": marks} for line in (first, *lines, last)]


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share; what would be rounded to all or nothing is told as being near.

    Examples
    --------
    >>> percent(0.12345), percent(0.99999), percent(1.0), percent(2e-5), percent(None)
    ('12.3%', '> 99.9%', '100%', '< 0.1%', '–')
    """
    if share is None:
        return _NOTHING
    least = 10.0 ** -(digits + 2)
    if 0 < share < least / 2:
        return f"< {100 * least:.{digits}f}%"
    if 1 - least / 2 < share < 1:
        return f"> {100 - 100 * least:.{digits}f}%"
    return f"{share:.0%}" if share in {0, 1} else f"{share:.{digits}%}"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number, as whole as it is.

    Examples
    --------
    >>> number(12345), number(0.98765), number(None)
    ('12,345', '0.988', '–')
    """
    if value is None:
        return _NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Write a contribution in log-odds with its sign, as people write it.

    Examples
    --------
    >>> signed(1.25), signed(-0.004), signed(float("-inf"))
    ('+1.25', '−0.00', '−∞')
    """
    if not isfinite(value):
        return "+∞" if value > 0 else f"{_MINUS}∞"
    return f"{value:+.2f}".replace("-", _MINUS)


def as_probability(log_odds: float) -> float:
    """Turn log-odds into a probability."""
    if log_odds < -700:
        return 0.0
    return 1.0 / (1.0 + exp(-log_odds))


_FILTERS = {
    "percent": percent,
    "number": number,
    "signed": signed,
    "as_probability": as_probability,
    "waterfall": waterfall,
    "short": svg.shortened,
}
