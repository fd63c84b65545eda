"""Results as tables: HTML for notebooks, LaTeX for papers, data frames for further work."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from unnaive._html import LEFT
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import State

_LATEX = str.maketrans({"±": r"$\pm$", **{sign: f"\\{sign}" for sign in "&%_#$"}})


_METRICS = {
    "auc": "AUC",
    "auc_hand_till": "AUC of Hand and Till",
    "auc_hard": "AUC of predicted labels",
    "brier": "Brier score",
    "f1": "F1",
}


def metric_title(metric: str) -> str:
    """Return the name of a metric for people.

    Examples
    --------
    >>> metric_title("log_loss"), metric_title("auc")
    ('log loss', 'AUC')
    """
    return _METRICS.get(metric, metric.replace("_", " "))


class Cell(NamedTuple):
    """A cell of a table."""

    text: str
    bold: bool = False


def number(value: float, form: str = ".3f") -> str:
    """Format a number; "-" for NaN.

    Examples
    --------
    >>> number(0.95318), number(math.nan)
    ('0.953', '-')
    """
    return "-" if math.isnan(value) else format(value, form)


def spread(mean: float, deviation: float, form: str = ".3f") -> str:
    """Format a mean and its standard deviation, if there is one.

    Examples
    --------
    >>> spread(0.95318, 0.028), spread(0.95318, math.nan)
    ('0.953 ± 0.028', '0.953')
    """
    return number(mean, form) + ("" if math.isnan(deviation) else f" ± {deviation:{form}}")


def to_html(header: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
    """Return an HTML table; the first column is text, the others are numbers.

    Examples
    --------
    >>> print(to_html(["model", "accuracy"], [[Cell("nb"), Cell("0.9", bold=True)]]))
    <table><thead><tr><th style="text-align:left">model</th><th>accuracy</th></tr></thead><tbody>
    <tr><th style="text-align:left" scope="row">nb</th><td><strong>0.9</strong></td></tr>
    </tbody></table>
    """
    first, *others = map(escape, header)
    head = f"<th{LEFT}>{first}</th>" + "".join(f"<th>{name}</th>" for name in others)
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    lines = [
        f'<tr><th{LEFT} scope="row">{escape(name.text)}</th>{"".join(map(_html_cell, cells))}</tr>'
        for name, *cells in rows
    ]
    body = "\n".join(["<tbody>", *lines, "</tbody>"])
    return f"<table>{above}<thead><tr>{head}</tr></thead>{body}</table>"


def _html_cell(cell: Cell) -> str:
    text = escape(cell.text)
    return f"<td><strong>{text}</strong></td>" if cell.bold else f"<td>{text}</td>"


def to_latex(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    r"""Return a LaTeX table, for the package booktabs.

    Examples
    --------
    >>> print(to_latex(["model", "accuracy"], [[Cell("tan_2"), Cell("0.9 ± 0.1", bold=True)]]))
    \begin{tabular}{lr}
    \toprule
    model & accuracy \\
    \midrule
    tan\_2 & \textbf{0.9 $\pm$ 0.1} \\
    \bottomrule
    \end{tabular}
    """
    lines = [
        " & ".join(rf"\textbf{{{t.translate(_LATEX)}}}" if b else t.translate(_LATEX) for t, b in r)
        for r in [[Cell(name) for name in header], *rows]
    ]
    head, *body = [rf"{line} \\" for line in lines]
    columns = "l" + "r" * (len(header) - 1)
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", end])


def to_pandas(rows: Sequence[State], index: str) -> Any:
    """Return a pandas data frame of dictionaries."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise UnnaiveError("to_frame needs pandas: pip install pandas") from None
    return pd.DataFrame(rows).set_index(index)
