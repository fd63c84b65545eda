"""Small HTML tables by which objects are shown in notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_ROWS = 100
_LONGEST = 80


def html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table, at most its first hundred rows; everything is escaped.

    Examples
    --------
    >>> html_table("", ["name"], [("a<b",)])
    '<table><caption></caption><tr><th>name</th></tr><tr><td>a&lt;b</td></tr></table>'
    """
    lines = list(rows)
    more = f", the first {MOST_ROWS} of them" if len(lines) > MOST_ROWS else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in line) + "</tr>"
        for line in lines[:MOST_ROWS]
    )
    return f"<table><caption>{escape(caption)}{more}</caption><tr>{head}</tr>{body}</table>"


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
    return html_table(caption, ["node", "parents", "states"], rows)
