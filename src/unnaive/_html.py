"""Small HTML tables by which objects are shown in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

MOST_ROWS = 100
LEFT = ' style="text-align:left"'  # of text; notebooks align everything to the right
_LONGEST = 120


def html_table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    text: Collection[int] = (0,),
) -> str:
    """Write a table, at most its first hundred rows; everything is escaped.

    Parameters
    ----------
    caption : str
        Text above the table; an empty one is left out.
    heads : sequence of str
        Names of the columns.
    rows : iterable of sequences
        Cells; numbers are written to four digits.
    text : collection of int, default=(0,)
        Places of the columns of text, which are aligned to the left; the others, numbers, are
        aligned to the right.

    Returns
    -------
    str
        A ``table`` that needs no style sheet.

    Examples
    --------
    >>> html_table("", ["rows"], [("a<b",)], text=())
    '<table><thead><tr><th>rows</th></tr></thead><tbody><tr><td>a&lt;b</td></tr></tbody></table>'
    """
    lines = list(rows)
    more = f", the first {MOST_ROWS} of them" if len(lines) > MOST_ROWS else ""
    body = "".join(_row("td", map(_text, line), text) for line in lines[:MOST_ROWS])
    style = "text-align:left;white-space:nowrap;font-weight:bold"
    above = f'<caption style="{style}">{escape(caption)}{more}</caption>' if caption else ""
    head = _row("th", heads, text)
    return f"<table>{above}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _row(kind: str, cells: Iterable[str], text: Collection[int]) -> str:
    written = (
        f"<{kind}{LEFT if place in text else ''}>{escape(cell)}</{kind}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(written)}</tr>"


def _text(cell: object) -> str:
    text = format(cell, ".4g") if isinstance(cell, float) else str(cell)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def listed(values: Sequence[object], most: int = 8) -> str:
    """List the first values of several.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(20), 3)
    ('a, b', '0, 1, 2, … (20)')
    """
    shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values[:most]]
    return ", ".join(shown) + (f", … ({len(values)})" if len(values) > most else "")


def html_nodes(
    caption: str,
    names: Sequence[str],
    parents: Sequence[Sequence[int]],
    states: Sequence[Sequence[object]],
) -> str:
    """Write a table of the nodes of a network, with their parents and states."""
    rows = [
        (name, listed([names[parent] for parent in above]), listed(values))
        for name, above, values in zip(names, parents, states, strict=True)
    ]
    return html_table(caption, ["node", "parents", "states"], rows, text=range(3))
