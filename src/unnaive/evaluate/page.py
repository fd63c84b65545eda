"""Comparisons as an HTML page, and in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from unnaive._html import listed
from unnaive.evaluate.pictures import draw_critical_difference, draw_means
from unnaive.evaluate.tables import Cell, metric_title, number, spread, to_html
from unnaive.explain.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import State
    from unnaive.evaluate.comparison import Comparison, Failure
    from unnaive.evaluate.comparisons import Comparisons

_STYLE = """
:root{color-scheme:light dark}
body{font:1rem/1.55 system-ui,sans-serif;margin:0;background:#fff;color:#1b1f24}
main{max-width:70rem;margin:0 auto;padding:1.5rem clamp(.9rem,3vw,2rem)}
h1{font-size:1.8rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.3rem;margin:2.2rem 0 .5rem}
p{max-width:46rem;margin:.5rem 0 .9rem}.muted{color:#57606a;font-size:.9rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.4rem 0}svg{margin:.6rem 0}
td,th{padding:.25rem .5rem;text-align:right;border-bottom:1px solid #d8dee4;white-space:nowrap}
.pictures{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr))}
th{font-weight:600}tbody th{font-weight:400}
@media(prefers-color-scheme:dark){body{background:#12161b;color:#e8ecf1}.muted{color:#a3adb8}
td,th{border-color:#333c46}}
@media print{main{padding:0}h2{break-after:avoid}tr,svg{break-inside:avoid}}
"""


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


def _head(title: str, lead: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style></head>"
        f"<body><main><h1>{escape(title)}</h1><p>{escape(lead)}</p>"
    )


def _wide(table: str, label: str) -> str:
    """Wrap a table that may be wider than the page; keys can scroll it."""
    name = escape(label)
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def page(comparison: Comparison, title: str, alpha: float) -> Iterator[str]:
    """Yield the lines of an HTML page."""
    names = listed(comparison.classes)
    how = describe(comparison.protocol)
    yield _head(title, f"{comparison.n_rows:,} rows, classes {names}; {how}.")
    yield _wide(to_html(*cells(comparison, alpha, ".4f")), "scores of the models")
    yield f'<p class="muted">{legend(alpha)}</p>'
    yield from failed(comparison)
    yield '<h2>Means and standard deviations</h2><div class="pictures">'
    yield from (draw_means(comparison, metric) for metric in comparison.metrics)
    yield '</div><p class="muted">A hollow point is significantly worse than the best.</p>'
    yield "</main></body></html>"


def failed(comparison: Comparison) -> Iterator[str]:
    """Yield a paragraph of HTML for every model that failed, with its first error."""
    folds = len(next(iter(comparison.fit_seconds.values())))
    for told in summarise(comparison.failures, folds):
        yield f"<p>{escape(told)}</p>"


def sentence(name: str) -> str:
    """Return a name with a capital letter at its beginning."""
    return name[:1].upper() + name[1:]


def page_of_many(comparisons: Comparisons, title: str) -> Iterator[str]:
    """Yield the lines of an HTML page on several data sets."""
    parts = comparisons.parts
    how = describe(next(iter(parts.values())).protocol)
    yield _head(title, f"{len(comparisons.models)} models on {len(parts)} data sets; {how}.")
    for metric in comparisons.metrics:
        yield f"<h2>{escape(sentence(metric_title(metric)))}</h2>"
        yield verdict(comparisons, metric)
        yield _wide(comparisons.html_table(metric), f"{metric} of all data sets")
    for name, comparison in parts.items():
        yield f"<h2>{escape(name)}</h2>"
        yield f"<p>{comparison.n_rows:,} rows, {len(comparison.classes)} classes.</p>"
        yield _wide(to_html(*cells(comparison, 0.05)), f"scores on {name}")
        yield from failed(comparison)
    yield f'<p class="muted">{legend(0.05)}</p></main></body></html>'


def verdict(comparisons: Comparisons, metric: str) -> str:
    """Return the tests over all data sets in words, and the critical-difference diagram.

    Parameters
    ----------
    comparisons : Comparisons
        The same models on several data sets.
    metric : str
        One of their metrics.

    Returns
    -------
    str
        A picture and a paragraph of HTML.
    """
    friedman, nemenyi = comparisons.friedman(metric), comparisons.nemenyi(metric)
    if not friedman.n or len(comparisons.models) < 2:
        return "<p>No test: it needs two models, and a data set on which none failed.</p>"
    return (
        f"{draw_critical_difference(nemenyi, metric)}"
        f"<p>Mean ranks over {plural(friedman.n, 'data set')}; 1 is best. Friedman test: "
        f"p = {friedman.p:.3g}. Mean ranks that differ by less than {nemenyi.critical:.2f} are not "
        f"significantly different (Nemenyi test, {nemenyi.alpha:g}); a bar joins such models.</p>"
    )


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
    header = [name for metric in comparison.metrics for name in (metric_title(metric), "#")]
    lines = comparison.table(alpha)
    ranks = {m: [line[f"{m}_rank"] for line in lines] for m in comparison.metrics}
    best = {m: min((r for r in ranks[m] if r > 0), default=0) for m in ranks}  # ties share a rank
    rows = []
    for row in lines:
        line = [Cell(row["model"])]
        for metric in comparison.metrics:
            mean, deviation, rank = (row[f"{metric}{end}"] for end in ("", "_std", "_rank"))
            mark = "*" if row[f"{metric}_worse"] else ""
            line.append(Cell(spread(mean, deviation, form) + mark, bold=rank == best[metric]))
            line.append(Cell(number(rank, "g")))
        times = (1000 * row[f"{name}_seconds"] for name in ("fit", "predict"))
        rows.append([*line, *(Cell(number(time, ".3g")) for time in times)])
    return ["model", *header, "fit ms", "predict ms"], rows
