"""Counts of families: a column, and the joint values of its parents that occurred."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import BoolArray, CodeArray, CountArray, FloatArray, IntArray, State

    Operation = Callable[[CountArray, CountArray], CountArray]


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """N(c, parents, x) of a column given its parents, for the contexts that occurred alone.

    Attributes
    ----------
    columns : tuple of int
        The child, then its parents.
    contexts : ndarray of shape (m,)
        Joint values of the parents as one number each (see :func:`context_of`), in order.
    table : ndarray of shape (k, m, v)
        Counts of the rows in which child and parents are all observed.
    """

    columns: tuple[int, ...]
    contexts: IntArray
    table: CountArray

    def combine(self, other: FamilyCounts, operation: Operation) -> FamilyCounts:
        """Add or subtract another count of the same family; contexts that are left are kept."""
        contexts = np.union1d(self.contexts, other.contexts)
        shape = (self.table.shape[0], len(contexts), self.table.shape[2])
        kind = np.result_type(self.table, other.table)
        mine, theirs = np.zeros(shape, dtype=kind), np.zeros(shape, dtype=kind)
        mine[:, np.searchsorted(contexts, self.contexts)] = self.table
        theirs[:, np.searchsorted(contexts, other.contexts)] = other.table
        table = operation(mine, theirs)
        used = (table != 0).any(axis=(0, 2))
        return FamilyCounts(self.columns, contexts[used], table[:, used])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        return (
            self.columns == other.columns
            and np.array_equal(self.contexts, other.contexts)
            and np.array_equal(self.table, other.table)
        )

    __hash__ = None  # type: ignore[assignment]

    def fits(self, sizes: IntArray, n_classes: int) -> bool:
        """Whether columns, contexts and table are what the schema calls for."""
        within = all(0 <= column < len(sizes) for column in self.columns)
        return (
            within
            and len(set(self.columns)) == len(self.columns) > 0
            and self.contexts.dtype == np.int64
            and self.contexts.ndim == 1
            and bool((np.diff(self.contexts) > 0).all())
            and self.table.shape == (n_classes, len(self.contexts), sizes[self.columns[0]])
        )

    def state(self) -> State:
        """Plain values and arrays for the store."""
        return {"columns": list(self.columns), "contexts": self.contexts, "table": self.table}

    @classmethod
    def from_state(cls, state: State) -> FamilyCounts:
        """Make the counts that :meth:`state` described."""
        return cls(tuple(state["columns"]), state["contexts"], state["table"])


def strides_of(sizes: IntArray, parents: tuple[int, ...]) -> list[int]:
    """Return what each parent's value is multiplied by in the number of a context."""
    widths = sizes[list(parents)].tolist()
    return [math.prod(widths[place + 1 :]) for place in range(len(widths))]


def context_of(
    codes: CodeArray, sizes: IntArray, parents: tuple[int, ...]
) -> tuple[IntArray, BoolArray]:
    """Return each row's context as a number, and whether all parents are observed; (n,) both."""
    number = np.zeros(codes.shape[1], dtype=np.int64)
    observed = np.ones(codes.shape[1], dtype=bool)
    for parent, stride in zip(parents, strides_of(sizes, parents), strict=True):
        number += codes[parent].astype(np.int64) * stride
        observed &= codes[parent] < sizes[parent]
    return number, observed


def count_family(
    columns: tuple[int, ...],
    codes: CodeArray,
    classes: IntArray,
    *,
    weights: FloatArray | None,
    sizes: IntArray,
    n_classes: int,
) -> FamilyCounts:
    """Count one family; contexts are numbered densely where they are few, else sorted."""
    child, parents = columns[0], columns[1:]
    number, observed = context_of(codes, sizes, parents)
    observed &= codes[child] < sizes[child]
    if not observed.all():
        number, classes = number[observed], classes[observed]
        codes = codes[:, observed]
        weights = None if weights is None else weights[observed]
    possible = math.prod(sizes[list(parents)].tolist())
    if possible <= max(1024, len(number)):
        contexts, place = np.arange(possible), number
    else:
        contexts, place = np.unique(number, return_inverse=True)
    size = int(sizes[child])
    shape = (n_classes, len(contexts), size)
    cell = (classes * len(contexts) + place) * size + codes[child]
    table = np.bincount(cell, weights, minlength=int(np.prod(shape))).reshape(shape)
    if weights is None:
        table = table.astype(np.int64)
    used = (table != 0).any(axis=(0, 2))
    return FamilyCounts(columns, contexts[used], table[:, used])
