"""What the kernels of intervals are given: counts and rules, and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, IntArray


class Setting(NamedTuple):
    """N(c), N(c, cell) of all groups (k, cells), the groups' starts; z, α, encoding and repair."""

    class_counts: FloatArray
    counts: FloatArray
    starts: IntArray
    rule: tuple[float, float, int, int, float]
    prior_rule: tuple[float, float, int, int, float]


class Rows(NamedTuple):
    """Places (n, groups) of rows sorted into segments of one class and weight.

    ``segments`` (s, 5): the class, the class that loses a row (−1: none), first row, last row + 1,
    and 1 if the class is the one to guess where none has any chance. Sum i over cells is over
    ``cells[sums[i]]`` to ``cells[sums[i + 1]]``.
    """

    places: AnyArray
    segments: IntArray
    weights: FloatArray
    sums: IntArray
    cells: IntArray
