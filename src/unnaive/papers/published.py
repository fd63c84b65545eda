"""What the papers printed, to the letter."""

from __future__ import annotations

import csv
from importlib.resources import files

SOURCES = {
    "gnb": "Generalized naive Bayes (GNB-A, GNB-O), tables 1 to 5",
    "phnb": "Packaged hidden naive Bayes, tables 1 and 2",
    "eda": "Semi-naive Bayes by estimation of distribution algorithms, tables 2 to 6",
    "barrow": "k-naive classifiers from dependence derivatives, error matrices of WDBC",
}


def printed(name: str) -> list[dict[str, str]]:
    """Return the lines of a paper's table, every cell as it was printed, "" where there is none.

    Examples
    --------
    >>> printed("eda_table6")[3]["pazzani_eda_mean_pct"]
    '100.00'
    """
    text = files("unnaive.papers").joinpath("published", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def number(cell: str) -> float | None:
    """Return a printed number, or None where there is none."""
    return float(cell) if cell.strip() else None
