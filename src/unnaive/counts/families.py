"""Counts of families: a column given the joint values of its parents that occurred."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.counting import unite
from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import (
        AnyArray,
        BoolArray,
        CodeArray,
        CountArray,
        FloatArray,
        IntArray,
        State,
    )

    Operation = Callable[[CountArray, CountArray], CountArray]

_ROUNDING = 1e-9  # relative error that subtracting float weights may leave


class Compared:
    """Counts of the same kind are equal if all their fields are."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(map(np.array_equal, vars(self).values(), vars(other).values()))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class FamilyCounts(Compared):
    """N(c, parents, x) of a column given its parents, only for contexts that occurred.

    Attributes
    ----------
    columns : tuple of int
        The child, then its parents.
    contexts : ndarray of shape (m,)
        Numbers of the parents' joint values (see :func:`context_of`), ascending.
    table : ndarray of shape (k, m, v)
        Counts of the rows in which the child and all parents are observed.
    """

    columns: tuple[int, ...]
    contexts: IntArray
    table: CountArray

    def combine(self, other: FamilyCounts, operation: Operation) -> FamilyCounts:
        """Add or subtract counts of the same family; contexts without rows are dropped."""
        contexts, places = united(self.contexts, other.contexts)
        shape = (self.table.shape[0], len(contexts), self.table.shape[2])
        tables = np.zeros((2, *shape), dtype=np.result_type(self.table, other.table))
        for table, family, place in zip(tables, (self, other), places, strict=True):
            table[:, place] = family.table
        return _occurring(self.columns, contexts, operation(*tables))

    def changed(self, change: Callable[[CountArray], CountArray]) -> FamilyCounts:
        """Apply a function to the counts."""
        return replace(self, table=change(self.table))

    def fits(self, sizes: IntArray, n_classes: int) -> bool:
        """Whether columns, contexts and table fit the schema."""
        return (
            are_distinct(self.columns, len(sizes))
            and self.contexts.dtype == np.int64
            and self.contexts.ndim == 1
            and bool((np.diff(self.contexts) > 0).all())
            and self.table.shape == (n_classes, len(self.contexts), sizes[self.columns[0]])
        )

    def state(self) -> State:
        """Plain values and arrays for the store."""
        held = {"contexts": narrow(self.contexts), "table": narrow(self.table)}
        return {"columns": list(self.columns), **held}

    @classmethod
    def from_state(cls, state: State) -> FamilyCounts:
        """Restore the counts from :meth:`state`."""
        return cls(tuple(state["columns"]), widened(state["contexts"]), widened(state["table"]))


def united(mine: IntArray, theirs: IntArray) -> tuple[IntArray, tuple[IntArray, IntArray]]:
    """Unite two ascending arrays in linear time; also where the entries of each are.

    Examples
    --------
    >>> united(np.array([2, 5]), np.array([5, 9]))
    (array([2, 5, 9]), (array([0, 1]), array([1, 2])))
    """
    both = np.empty(len(mine) + len(theirs), dtype=np.int64)
    places = np.empty(len(mine), dtype=np.int64), np.empty(len(theirs), dtype=np.int64)
    first, second = (np.require(some, requirements=["C", "A"]) for some in (mine, theirs))
    number = unite(first, second, both, *places)
    return both[:number], places


def are_distinct(columns: tuple[int, ...], n_columns: int) -> bool:
    """Whether columns are a family: at least one, none twice, all among ``n_columns``."""
    return len(set(columns)) == len(columns) > 0 and all(0 <= i < n_columns for i in columns)


def _occurring(columns: tuple[int, ...], contexts: IntArray, table: CountArray) -> FamilyCounts:
    """Make counts of a family without the contexts that have no rows."""
    used = (table != 0).any(axis=(0, 2))
    return FamilyCounts(columns, contexts[used], table[:, used])


def strides_of(sizes: IntArray, parents: tuple[int, ...]) -> list[int]:
    """Return the factor of each parent's value in the number of a context."""
    widths = sizes[list(parents)].tolist()
    return [math.prod(widths[place + 1 :]) for place in range(len(widths))]


def context_of(
    codes: CodeArray, sizes: IntArray, parents: tuple[int, ...]
) -> tuple[IntArray, BoolArray]:
    """Return the number of each row's context, and whether all parents are observed; (n,) both."""
    number = np.zeros(codes.shape[1], dtype=np.int64)
    observed = np.ones(codes.shape[1], dtype=bool)
    for parent, stride in zip(parents, strides_of(sizes, parents), strict=True):
        number += codes[parent].astype(np.int64) * stride
        observed &= codes[parent] < sizes[parent]
    return number, observed


def context_places(contexts: IntArray, numbers: IntArray) -> IntArray:
    """Position of every number among the contexts, which ascend; len(contexts) if it is absent."""
    if not len(contexts):
        return np.zeros(len(numbers), dtype=np.int64)
    place = np.searchsorted(contexts, numbers)
    known = contexts[np.minimum(place, len(contexts) - 1)] == numbers
    return np.where(known, place, len(contexts))


def count_family(
    columns: tuple[int, ...],
    codes: CodeArray,
    classes: IntArray,
    *,
    weights: FloatArray | None,
    sizes: IntArray,
    n_classes: int,
) -> FamilyCounts:
    """Count one family; if there are many possible contexts, only observed ones are numbered."""
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
    return _occurring(columns, contexts, table.astype(np.int64) if weights is None else table)


def subtract(left: CountArray, right: CountArray) -> CountArray:
    """Subtract, and set rounding errors of float weights to zero."""
    rest = left - right
    if rest.dtype.kind == "f":
        rest[(right > 0) & (np.abs(rest) < _ROUNDING * np.abs(left))] = 0
    return rest


def narrow(numbers: AnyArray) -> AnyArray:
    """Whole numbers from 0 as the narrowest type that holds them, for the store.

    Examples
    --------
    >>> narrow(np.array([3, 300])).dtype.name
    'uint16'
    """
    if numbers.dtype.kind != "i" or numbers.min(initial=0) < 0:
        return numbers
    most = int(numbers.max(initial=0))
    kind = next((k for k in (np.uint8, np.uint16, np.uint32) if most <= np.iinfo(k).max), np.int64)
    return numbers.astype(kind)


def widened(numbers: AnyArray) -> AnyArray:
    """Undo :func:`narrow`."""
    return numbers.astype(np.int64) if numbers.dtype.kind == "u" else numbers
