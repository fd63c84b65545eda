"""Figures as the papers printed them."""

from __future__ import annotations

import csv
from importlib.resources import files


def printed(name: str) -> list[dict[str, str]]:
    """Return the rows of a paper's table, every cell as printed, "" if it is empty.

    Examples
    --------
    >>> printed("eda_table6")[3]["pazzani_eda_mean_pct"]
    '100.00'
    """
    text = files("unnaive.papers").joinpath("published", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def number(cell: str) -> float | None:
    """Return a printed number, or None for an empty cell."""
    return float(cell) if cell.strip() else None
