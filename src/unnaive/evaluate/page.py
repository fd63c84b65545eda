"""Comparisons as an HTML page, and in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from unnaive.evaluate.tables import Cell, number, spread, to_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import State
    from unnaive.evaluate.comparison import Comparison, Failure
    from unnaive.evaluate.comparisons import Comparisons

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em;color:#222}table{border-collapse:collapse}"
    "td,th{padding:.2em .9em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}"
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


def _head(title: str) -> str:
    top = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    return f"{top}\n<style>{_STYLE}</style><h1>{escape(title)}</h1>"


def page(comparison: Comparison, title: str, alpha: float) -> Iterator[str]:
    """Yield the lines of an HTML page."""
    yield _head(title)
    names = ", ".join(escape(str(label)) for label in comparison.classes)
    how = escape(describe(comparison.protocol))
    yield f"<p>{comparison.n_rows:,} rows, classes {names}; {how}.</p>"
    yield to_html(*cells(comparison, alpha, ".4f"))
    yield f"<p>{legend(alpha)}</p>"
    for line in summarise(comparison.failures, len(next(iter(comparison.fit_seconds.values())))):
        yield f"<p>{escape(line)}</p>"
    yield "</html>"


def page_of_many(comparisons: Comparisons, title: str) -> Iterator[str]:
    """Yield the lines of an HTML page on several data sets."""
    yield _head(title)
    for metric in comparisons.metrics:
        friedman, critical = comparisons.friedman(metric), comparisons.nemenyi(metric).critical
        yield comparisons.html_table(metric)
        yield f"<p>Means over folds; bold: best. Friedman test: p = {friedman.p:.3g}. Mean ranks "
        yield f"that differ by less than {critical:.2f} are not significantly different.</p>"
    yield "</html>"


def legend(alpha: float) -> str:
    """Explain the marks of a table, as HTML."""
    return (
        "Mean ± standard deviation over folds; #: rank of the mean; bold: best; *: significantly "
        f"worse than the best, p &lt; {alpha:g} (corrected resampled t-test of Nadeau &amp; Bengio "
        "2003, with Holm's correction). Times are medians over folds."
    )


def cells(
    comparison: Comparison, alpha: float, form: str = ".3f"
) -> tuple[list[str], list[list[Cell]]]:
    """Return header and cells of the table of a comparison."""
    header = [name for metric in comparison.metrics for name in (metric.replace("_", " "), "#")]
    rows = []
    for row in comparison.table(alpha):
        line = [Cell(row["model"])]
        for metric in comparison.metrics:
            mean, deviation, rank = (row[f"{metric}{end}"] for end in ("", "_std", "_rank"))
            mark = "*" if row[f"{metric}_worse"] else ""
            line.append(Cell(spread(mean, deviation, form) + mark, bold=rank == 1))
            line.append(Cell(number(rank, "g")))
        times = (1000 * row[f"{name}_seconds"] for name in ("fit", "predict"))
        rows.append([*line, *(Cell(number(time, ".3g")) for time in times)])
    return ["model", *header, "fit ms", "predict ms"], rows
