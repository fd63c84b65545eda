"""The HTML page: a summary through templates into one file that loads nothing."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from unnaive import _svg as svg
from unnaive.exceptions import UnnaiveError
from unnaive.explain.order import shown_order
from unnaive.export.javascript import engine_module
from unnaive.report import charts
from unnaive.report.drawing import draw_structure
from unnaive.report.effect_charts import draw_effect, draw_nomogram, largest_effect
from unnaive.report.writing import FILTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jinja2 import Environment

    from unnaive._typing import State

_SCRIPTS = ("explorer.js", "threshold.js", "page.js")
_STYLE = "report.css"


def render(summary: State, document: State | None = None) -> str:
    """Make the HTML page of a summary.

    Parameters
    ----------
    summary : dict
        Result of :func:`~unnaive.report.summarise`.
    document : dict or None, default=None
        Result of :func:`~unnaive.export.model_document`; None: the page has no explorer.

    Returns
    -------
    str
        One HTML page with its scripts and style inside. Its Content-Security-Policy allows only
        these. Names and labels of the data are always text in it, never markup.

    See Also
    --------
    write : Compute the summary and write the page to a file.

    Examples
    --------
    >>> from unnaive import NaiveBayes, report
    >>> X, y = [["a", "u"], ["b", "v"]] * 10, ["no", "yes"] * 10
    >>> summary = report.summarise(NaiveBayes().fit(X, y), X, y, folds=2)
    >>> report.render(summary)[:15]
    '<!doctype html>'
    """
    environment = _environment(svg.readable)
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2

    colours, curves = _colours(summary["data"]["classes"]), _ranked_curves(summary)
    shown = {curve["name"] for curve in curves}
    drawn = {
        name: (lambda *values, draw=draw: Markup(draw(*values)))  # noqa: S704 - they escape
        for name, draw in _drawings(summary, colours).items()
    }
    static = files("unnaive.report") / "static"
    explorer, *scripts = [(static / name).read_text("utf-8") for name in _SCRIPTS]
    if document:
        scripts.insert(0, f"{engine_module()}\n{explorer}")
    style = (static / _STYLE).read_text("utf-8")
    page = environment.get_template("report.html.jinja").render(
        summary=summary,
        colours=colours,
        ranked=_ranked(summary),
        policy=_policy(scripts, style),
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - our own files
        style=Markup(style),  # noqa: S704
        curves=curves,
        silent=[entry["name"] for entry in _ranked(summary) if entry["name"] not in shown],
        threshold_data=Markup(_embedded(summary["performance"].get("thresholds"))),  # noqa: S704
        explorer=Markup(_embedded(_explorer(summary, document))) if document else "",  # noqa: S704
        **drawn,
    )
    return str(page)


def render_markdown(summary: State) -> str:
    """Make the Markdown twin of the page: the same words and tables, without pictures."""
    text = (
        _environment(markdown)
        .get_template("report.md.jinja")
        .render(summary=summary, ranked=_ranked(summary), curves=_ranked_curves(summary))
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def markdown(content: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, also in a table.

    Examples
    --------
    >>> print(markdown("mean_area | <i> *x*"))
    mean_area \| &lt;i> \*x\*
    """
    line = " ".join(svg.readable(content).splitlines())
    return re.sub(r"[\\`*|\[]|(?<!\w)_|_(?!\w)", r"\\\g<0>", line).replace("<", "&lt;")


@cache
def _environment(write: Callable[[str], str]) -> Environment:
    """Set up the templates, which are compiled once; ``write`` passes on every text."""
    try:
        from jinja2 import (  # noqa: PLC0415 - optional, see the extra "report"
            Environment,
            PackageLoader,
            StrictUndefined,
        )
    except ImportError:
        raise UnnaiveError('a report needs jinja2: pip install "unnaive[report]"') from None
    environment = Environment(
        loader=PackageLoader("unnaive.report"),
        autoescape=write is not markdown,  # noqa: S701 - it escapes for itself
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: write(value) if type(value) is str else value,
    )
    environment.filters |= FILTERS | {"short": svg.shortened}
    return environment


def _policy(scripts: Sequence[str], style: str) -> str:
    """Allow only the page's own scripts and style, by their hashes."""
    hashes = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _embedded(value: object) -> str:
    r"""Write JSON that cannot end the script element that contains it.

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
        "certainty": summary["performance"].get("certainty"),
        "order": [places[entry["name"]] for entry in _ranked(summary)],
        "shares": [entry["share"] for entry in summary["data"]["classes"]],
        "ranges": [
            column["quartiles"] and [column["quartiles"][0], column["quartiles"][-1]]
            for column in summary["data"]["columns"]
        ],
        "orders": [shown_order(column.get("labels", [])) for column in document["columns"]],
        "rows": [
            {
                "title": f"row {row['row'] + 1}: actual {row['actual']}, "
                f"predicted {row['predicted']}",
                "codes": row["codes"],
                "numbers": row["numbers"],
            }
            for row in wrong
        ],
    }


def _ranked(summary: State) -> list[State]:
    """Columns by importance, the largest first; None is infinite."""

    def size(entry: State) -> float:
        return float("inf") if entry["importance"] is None else float(entry["importance"])

    return sorted(summary["importance"], key=size, reverse=True)


def _ranked_curves(summary: State) -> list[State]:
    """Effect curves in the order of importance."""
    places = {entry["name"]: place for place, entry in enumerate(_ranked(summary))}
    return sorted(summary["effects"]["curves"], key=lambda curve: places[curve["name"]])


def _colours(classes: Sequence[State]) -> list[int]:
    """Color of every class; of more than six, the five largest have their own."""
    if len(classes) <= svg.OTHER:
        return list(range(len(classes)))
    ranked = sorted(range(len(classes)), key=lambda code: -classes[code]["rows"])[: svg.OTHER - 1]
    return [ranked.index(code) if code in ranked else svg.OTHER for code in range(len(classes))]


def _drawings(summary: State, colours: Sequence[int]) -> State:
    """Functions that draw, by the names that templates use."""
    kinds = sorted(set(colours))

    def merged(by_class: Sequence[float]) -> list[float]:
        return [
            sum(count for count, colour in zip(by_class, colours, strict=True) if colour == kind)
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

    target, effects = summary["data"]["target"], summary["effects"]
    limit = largest_effect(effects["curves"])
    return {
        "class_shares": class_shares,
        "small_bars": small_bars,
        "bar": svg.bar,
        "structure_picture": lambda drawn: draw_structure(drawn, target),
        "reliability": charts.draw_reliability,
        "roc_curve": charts.draw_roc,
        "effect": lambda curve: draw_effect(curve, limit),
        "nomogram": draw_nomogram,
    }
