"""The leaderboard of :class:`~unnaive.AutoBayes`: a list that notebooks show as a table."""

from __future__ import annotations

from typing import Any

from unnaive._html import html_table

_COLUMNS = ("name", "log_loss", "accuracy", "seconds", "weight", "why")


class Leaderboard(list[dict[str, Any]]):
    """Candidates, the best first: one dictionary for each.

    Examples
    --------
    >>> board = Leaderboard([{"name": "tan", "log_loss": 0.09143, "weight": 1.0}])
    >>> board._repr_html_()[-55:]
    'tan</td><td>0.09143</td><td>1</td></tr></tbody></table>'
    """

    def _repr_html_(self) -> str:
        names = [name for name in _COLUMNS if any(name in line for line in self)]
        rows = [[line.get(name, "") for name in names] for line in self]
        heads = [name.replace("_", " ") for name in names]
        return html_table("", heads, rows, text=(0, len(_COLUMNS) - 1))
