"""Comparisons as an HTML page, and in words."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import State
    from unnaive.evaluate.comparison import Comparison, Failure

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em;color:#222}table{border-collapse:collapse}"
    "td,th{padding:.2em .9em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}.best{font-weight:bold}small{color:#777}"
)


def describe(protocol: State) -> str:
    """Describe the folds in words."""
    folds, repeats = protocol["folds"], protocol.get("repeats", 1)
    how = f"{folds}-fold cross-validation" if isinstance(folds, int) else str(folds)
    return how + (f", {repeats} repeats" if repeats > 1 else "")


def summarise(failures: tuple[Failure, ...], folds: int) -> list[str]:
    """Return one line for each failed model, with its first error."""
    first: dict[str, Failure] = {}
    for failure in failures:
        first.setdefault(failure.model, failure)
    lines = []
    for model, failure in first.items():
        often = sum(other.model == model for other in failures)
        where = f"repeat {failure.repeat + 1}, fold {failure.fold + 1}"
        lines.append(f"{model} failed in {often} of {folds} folds; {where}: {failure.error}")
    return lines


def page(comparison: Comparison, title: str, alpha: float) -> Iterator[str]:
    """Yield the lines of an HTML page."""
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    yield f"<style>{_STYLE}</style><h1>{escape(title)}</h1>"
    names = ", ".join(escape(str(label)) for label in comparison.classes)
    how = escape(describe(comparison.protocol))
    yield f"<p>{comparison.n_rows:,} rows, classes {names}; {how}.</p>"
    heads = "".join(f"<th>{escape(m.replace('_', ' '))}<th>#" for m in comparison.metrics)
    yield f"<table><tr><th>model{heads}<th>fit ms<th>predict ms</tr>"
    for row in comparison.table(alpha):
        cells = "".join(_cells(row, metric) for metric in comparison.metrics)
        times = "".join(
            f"<td>{_number(1000 * row[name], '.3g')}" for name in ("fit_seconds", "predict_seconds")
        )
        yield f"<tr><td>{escape(row['model'])}{cells}{times}</tr>"
    yield "</table><p>Mean ± standard deviation over folds; #: rank of the mean; bold: best; "
    yield (
        f"*: significantly worse than the best, p &lt; {alpha:g} (corrected resampled t-test of "
        "Nadeau &amp; Bengio 2003, with Holm's correction). Times are medians over folds.</p>"
    )
    for line in summarise(comparison.failures, len(next(iter(comparison.fit_seconds.values())))):
        yield f"<p>{escape(line)}</p>"
    yield "</html>"


def _cells(row: State, metric: str) -> str:
    mean, deviation = _number(row[metric], ".4f"), _number(row[f"{metric}_std"], ".4f")
    mark = "*" if row[f"{metric}_worse"] else ""
    kind = ' class="best"' if row[f"{metric}_rank"] == 1 else ""
    place = _number(row[f"{metric}_rank"], "g")
    return f"<td{kind}>{mean} <small>± {deviation}</small>{mark}<td>{place}"


def _number(value: float, how: str) -> str:
    return "-" if math.isnan(value) else format(value, how)
