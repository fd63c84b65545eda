"""The leaderboard of :class:`~unnaive.AutoBayes`: a list that notebooks show as a table."""

from __future__ import annotations

from html import escape
from typing import Any

_COLUMNS = ("name", "log_loss", "accuracy", "seconds", "weight", "why")


class Leaderboard(list[dict[str, Any]]):
    """Candidates, the best first: one dictionary for each.

    Examples
    --------
    >>> board = Leaderboard([{"name": "tan", "log_loss": 0.09143, "weight": 1.0}])
    >>> board._repr_html_()
    '<table><tr><th>name<th>log loss<th>weight</tr><tr><td>tan<td>0.0914<td>1</tr></table>'
    """

    def _repr_html_(self) -> str:
        names = [name for name in _COLUMNS if any(name in line for line in self)]
        head = "".join(f"<th>{name.replace('_', ' ')}" for name in names)
        rows = ("".join(f"<td>{_cell(line.get(name, ''))}" for name in names) for line in self)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else escape(str(value))
