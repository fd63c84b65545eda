"""The order in which categories are shown."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")


def shown_order(labels: Sequence[str]) -> list[int]:
    """Positions of labels in the order to show them.

    Labels in alphabetical order are sorted by the numbers in them. Any other order was chosen by
    somebody, and stays; the order of bins is such an order.

    Examples
    --------
    >>> labels = ["0-9", "10-19", "100+", "20-29"]
    >>> [labels[place] for place in shown_order(labels)]
    ['0-9', '10-19', '20-29', '100+']
    >>> shown_order(["low", "medium", "high"]), shown_order(["≤ 9", "(9, 10]", "> 10"])
    ([0, 1, 2], [0, 1, 2])
    """
    places = list(range(len(labels)))
    if any(a > b for a, b in pairwise(labels)):
        return places
    return sorted(places, key=lambda place: _natural(labels[place]))


def _natural(label: str) -> list[tuple[int, float, str]]:
    """Split a label into texts and numbers, so that 2 comes before 10."""
    parts = [part for part in _NUMBER.split(label.lstrip("<≤>≥ ")) if part]
    return [(0, float(part), "") if _NUMBER.fullmatch(part) else (1, 0.0, part) for part in parts]
