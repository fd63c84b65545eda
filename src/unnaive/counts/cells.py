"""Counts of the cells that occurred, where a table of all cells would be mostly empty.

A table of columns with very many values has far more cells than there are rows. Which tables are
held by cells depends only on the schema, so that counts of different rows have the same form and
add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.families import Compared, FamilyCounts, are_distinct, narrow, united, widened
from unnaive.exceptions import TableTooLarge, UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from unnaive._typing import (
        AnyArray,
        BoolArray,
        CodeArray,
        CountArray,
        FloatArray,
        IntArray,
        State,
    )
    from unnaive.counts.families import Operation

DENSE_CELLS = 1 << 18  # larger tables are held by the cells that occurred
DENSE_VALUES = 64  # values times classes up to which every context of a family holds all of them
_LARGEST_KEY = 2**62
_LEAST_STORED = 1 << 13  # a larger table is stored by the cells that occurred,
_STORED_SHARE = 4  # if it has that many times more cells
_NARROW = ("values", "triples")
_BYTE = 8  # bits
_LOW_BITS = {_BYTE // 2: "half", _BYTE: "low"}  # of all counts of a table in which few have more
_LARGEST_HIGH = 2 ** (63 - _BYTE) - 1
_MOST_FILLED = 1 << 27  # cells of a table that is asked for as a whole: 1 GiB


@dataclass(frozen=True, eq=False)
class CellCounts(Compared):
    """N(c, parents, x) of a column given its parents, only of the cells that occurred.

    ``sizes`` (d,) in its methods has the number of values of every column.

    Attributes
    ----------
    columns : tuple of int
        The child, then its parents.
    keys : ndarray of shape (m,)
        Numbers of the cells, ascending; the class counts most, then the parents in their order,
        the child least.
    table : ndarray of shape (m,)
        Counts of these cells.
    """

    columns: tuple[int, ...]
    keys: IntArray
    table: CountArray

    def combine(self, other: CellCounts, operation: Operation) -> CellCounts:
        """Add or subtract counts of the same columns; cells without rows are dropped.

        Parameters
        ----------
        other : CellCounts
            Counts of the same columns in other rows.
        operation : callable
            Adds or subtracts two arrays.

        Returns
        -------
        CellCounts
            Counts of the cells that are left.
        """
        keys, places = united(self.keys, other.keys)
        tables = np.zeros((2, len(keys)), dtype=np.result_type(self.table, other.table))
        for table, cells, place in zip(tables, (self, other), places, strict=True):
            table[place] = cells.table
        result = operation(*tables)
        return CellCounts(self.columns, keys[result != 0], result[result != 0])

    def changed(self, change: Callable[[CountArray], CountArray]) -> CellCounts:
        """Apply a function to the counts; cells that become 0 are dropped, as if never seen.

        Parameters
        ----------
        change : callable
            Maps an array of counts to one of the same shape; it must map 0 to 0.

        Returns
        -------
        CellCounts
            The changed counts.
        """
        table = change(self.table)
        return CellCounts(self.columns, self.keys[table != 0], table[table != 0])

    def fits(self, sizes: IntArray, n_classes: int) -> bool:
        """Whether columns, keys and counts fit the schema; if not, a file was altered."""
        return (
            are_distinct(self.columns, len(sizes))
            and self.keys.dtype == np.int64
            and self.keys.shape == self.table.shape == (len(self.keys),)
            and bool((np.diff(self.keys) > 0).all())
            and self.keys.min(initial=0) >= 0
            and self.keys.max(initial=-1) < n_cells(self.columns, sizes, n_classes)
        )

    def state(self) -> State:
        """Plain values and arrays for the store; a cell takes few bytes."""
        return {
            "columns": list(self.columns),
            "steps": narrow(np.diff(self.keys, prepend=0)),
            "counts": narrow(self.table),
        }

    @classmethod
    def from_state(cls, state: State) -> CellCounts:
        """Restore the counts from :meth:`state`."""
        keys = np.cumsum(state["steps"], dtype=np.int64)
        return cls(tuple(state["columns"]), keys, widened(state["counts"]))

    def digits(self, sizes: IntArray) -> tuple[IntArray, dict[int, IntArray]]:
        """Class of every cell, shape (m,), and its value of every column, by column."""
        rest, values = self.keys, {}
        for column in (self.columns[0], *reversed(self.columns[1:])):
            rest, values[column] = np.divmod(rest, max(int(sizes[column]), 1))
        return rest, values

    def given(self, columns: tuple[int, ...], sizes: IntArray) -> CellCounts:
        """Return counts of another child and parents; other columns are summed out.

        Parameters
        ----------
        columns : tuple of int
            The child, then its parents, all among the columns of these counts.
        sizes : ndarray of shape (d,)
            Number of values of every column.

        Returns
        -------
        CellCounts
            Their counts, of the rows in which all columns of these counts are observed.
        """
        if columns == self.columns:
            return self
        classes, values = self.digits(sizes)
        return gathered(columns, numbered(columns, values, classes, sizes), self.table)

    def of_class(self, label: int, sizes: IntArray) -> CellCounts:
        """Return the cells of one class, as if it were the only one."""
        cells = n_cells(self.columns, sizes, 1)
        low, high = np.searchsorted(self.keys, [label * cells, (label + 1) * cells])
        return CellCounts(self.columns, self.keys[low:high] - label * cells, self.table[low:high])

    def without_class(self, sizes: IntArray) -> CellCounts:
        """Return the counts of all classes together."""
        keys = self.keys % max(n_cells(self.columns, sizes, 1), 1)
        return gathered(self.columns, keys, self.table)

    def filled(self, sizes: IntArray, n_classes: int) -> CountArray:
        """All cells as a table, 0 where none occurred; shape (k, parents …, v). Raises if huge."""
        cells = n_cells(self.columns, sizes, n_classes)
        _require_filled(cells, self.columns, sizes)
        table: AnyArray = np.zeros(cells, dtype=self.table.dtype)
        table[self.keys] = self.table
        return table.reshape(n_classes, *sizes[[*self.columns[1:], self.columns[0]]])

    def by_context(self, sizes: IntArray, n_classes: int) -> FamilyCounts:
        """Return the same counts with all values of the child in every context that occurred.

        Raises an error if their table is huge.
        """
        size = int(sizes[self.columns[0]])
        classes, contexts, place = self.contexts(sizes)
        _require_filled(n_classes * size * len(contexts), self.columns, sizes)
        table: AnyArray = np.zeros((n_classes, len(contexts), size), dtype=self.table.dtype)
        table[classes, place, self.keys % max(size, 1)] = self.table
        return FamilyCounts(self.columns, contexts, table)

    def contexts(self, sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Class of every cell, numbers of the contexts that occurred, and which each cell has."""
        possible = max(n_cells(self.columns[1:], sizes, 1), 1)
        classes, number = np.divmod(self.keys // max(int(sizes[self.columns[0]]), 1), possible)
        contexts, place = np.unique(number, return_inverse=True)
        return classes, contexts, place.reshape(-1)


def _require_filled(cells: int, columns: tuple[int, ...], sizes: IntArray) -> None:
    """Raise an error if a table of all cells would be huge."""
    if cells > _MOST_FILLED:
        widest = max(columns, key=lambda column: int(sizes[column]))
        raise TableTooLarge(
            f"a table of {cells:,} cells is needed, since column {widest} has "
            f"{sizes[widest]:,} values; leave it out, or group its rare values by min_frequency "
            "or max_categories"
        )


def by_context(family: FamilyCounts | CellCounts, sizes: IntArray, n_classes: int) -> FamilyCounts:
    """Return the counts of a family with all values in every context that occurred."""
    return family.by_context(sizes, n_classes) if isinstance(family, CellCounts) else family


def n_cells(columns: tuple[int, ...], sizes: IntArray, n_classes: int) -> int:
    """Return the number of cells of a table of columns and classes."""
    return n_classes * math.prod(map(int, sizes[list(columns)]))


def holds_cells(held: Iterable[CellCounts], pairs: IntArray) -> bool:
    """Whether one of some pairs i < j (m, 2) is held by the cells that occurred."""
    wide = {cells.columns[::-1] for cells in held}
    return bool(wide) and any(tuple(pair) in wide for pair in pairs.tolist())


def wide_pairs(pairs: IntArray, sizes: IntArray, n_classes: int) -> BoolArray:
    """Which pairs (m, 2) are held by the cells that occurred; shape (m,).

    Parameters
    ----------
    pairs : ndarray of shape (m, 2)
        Pairs of columns.
    sizes : ndarray of shape (d,)
        Number of values of every column.
    n_classes : int
        Number of classes k.

    Returns
    -------
    ndarray of shape (m,)
        True for the pairs of more than ``DENSE_CELLS`` cells.
    """
    cells = n_classes * sizes[pairs].astype(np.float64).prod(axis=1)
    return np.asarray(cells > DENSE_CELLS)


def is_wide_family(columns: tuple[int, ...], sizes: IntArray, n_classes: int) -> bool:
    """Whether the counts of a family are held by the cells that occurred.

    Parameters
    ----------
    columns : tuple of int
        The child, then its parents.
    sizes : ndarray of shape (d,)
        Number of values of every column.
    n_classes : int
        Number of classes k.

    Returns
    -------
    bool
        True if there are very many cells, and many of them in every context. A column of few
        values costs little in a context that occurred, so that its contexts hold all values.
    """
    many = n_classes * int(sizes[columns[0]]) > min(DENSE_VALUES, DENSE_CELLS)
    return many and n_cells(columns, sizes, n_classes) > DENSE_CELLS


def numbered(
    columns: tuple[int, ...],
    values: Mapping[int, AnyArray] | CodeArray,
    classes: IntArray,
    sizes: IntArray,
) -> IntArray:
    """Return the number of the cell of every row, see :class:`CellCounts`."""
    keys = classes.astype(np.int64)
    for column in (*columns[1:], columns[0]):
        keys = keys * sizes[column] + values[column]
    return keys


def count_cells(
    columns: tuple[int, ...],
    codes: CodeArray,
    classes: IntArray,
    *,
    weights: FloatArray | None,
    sizes: IntArray,
    n_classes: int,
) -> CellCounts:
    """Count the cells of rows in which all columns are observed; cost of sorting the rows.

    Parameters
    ----------
    columns : tuple of int
        The child, then its parents.
    codes : ndarray of shape (d, n)
        Codes of the values.
    classes : ndarray of shape (n,)
        Codes of the classes.
    weights : ndarray of shape (n,) or None
        Weights of the rows.
    sizes : ndarray of shape (d,)
        Number of values of every column.
    n_classes : int
        Number of classes k.

    Returns
    -------
    CellCounts
        The counts.

    Examples
    --------
    >>> codes = np.array([[0, 0, 2], [1, 1, 0]])
    >>> sizes, classes = np.array([3, 2]), np.array([0, 0, 1])
    >>> fixed = {"weights": None, "sizes": sizes, "n_classes": 2}
    >>> cells = count_cells((1, 0), codes, classes, **fixed)
    >>> cells.keys.tolist(), cells.table.tolist()
    ([1, 10], [2, 1])
    """
    if n_cells(columns, sizes, n_classes) > _LARGEST_KEY:
        widest = max(sizes[list(columns)].tolist())
        raise TableTooLarge(
            f"{len(columns)} columns, one of them with {widest:,} values, have more joint values "
            "than can be numbered; use fewer parents, or group rare values by min_frequency"
        )
    observed = np.ones(len(classes), dtype=bool)
    for column in columns:
        observed &= codes[column] < sizes[column]
    if not observed.all():
        codes, classes = codes[:, observed], classes[observed]
        weights = None if weights is None else weights[observed]
    return gathered(columns, numbered(columns, codes, classes, sizes), weights)


def gathered(columns: tuple[int, ...], keys: IntArray, counts: AnyArray | None) -> CellCounts:
    """Add up the counts (None: 1 each) of equal keys, in the order of the rows."""
    if counts is None:
        keys, times = np.unique(keys, return_counts=True)
        return CellCounts(columns, keys, times.astype(np.int64))
    keys, place = np.unique(keys, return_inverse=True)
    summed = np.bincount(place.reshape(-1), counts, len(keys)).astype(counts.dtype)
    return CellCounts(columns, keys[summed != 0], summed[summed != 0])


def combined(mine: Sequence[Any], theirs: Sequence[Any], operation: Operation) -> tuple[Any, ...]:
    """Combine counts of the same columns, one by one."""
    return tuple(a.combine(b, operation) for a, b in zip(mine, theirs, strict=True))


def is_sparse(table: AnyArray) -> bool:
    """Whether a table is stored by its cells: it is large, but not huge, and mostly empty."""
    large = _LEAST_STORED < table.size <= _MOST_FILLED
    return large and bool(_STORED_SHARE * np.count_nonzero(table) < table.size)


def packed(table: CountArray) -> CountArray | State:
    """Return a table for the store, or its positions and counts that are not 0.

    Examples
    --------
    >>> table = np.zeros((2, 9000), dtype=np.int64)
    >>> table[1, 7] = 5
    >>> {key: numbers.tolist() for key, numbers in packed(table).items()}
    {'steps': [9007], 'counts': [5]}
    """
    if is_sparse(table):
        return _by_steps(table)
    if table.dtype.kind == "i" and table.any() and table.min() >= 0:
        whole: IntArray = np.asarray(table, dtype=np.int64)
        for bits, key in _LOW_BITS.items():  # few large counts among many small ones
            high = whole >> bits
            if is_sparse(high) and (high.any() or bits < _BYTE):
                low = (whole - (high << bits)).astype(np.uint8)
                return {key: low if bits == _BYTE else _halves(low), **_by_steps(high)}
    return narrow(table)


def _halves(low: AnyArray) -> AnyArray:
    """Two numbers below 16 in a byte, the first in its lower half; shape (n + 1) // 2."""
    flat = np.append(low.reshape(-1), np.zeros(low.size % 2, dtype=np.uint8))
    return np.asarray(flat[::2] | (flat[1::2] << np.uint8(_BYTE // 2)))


def _whole(halves: AnyArray, shape: tuple[int, int]) -> AnyArray:
    """Undo :func:`_halves`."""
    if halves.shape != ((math.prod(shape) + 1) // 2,) or halves.dtype != np.uint8:
        raise UnnaiveError("the counts do not fit their schema")
    both = np.stack([halves & np.uint8(15), halves >> np.uint8(_BYTE // 2)], axis=1)
    return both.reshape(-1)[: math.prod(shape)].reshape(shape)


def _by_steps(table: CountArray) -> State:
    """Describe a table by the steps between the cells that are not 0, and their counts."""
    places = np.flatnonzero(table)
    counts = table.reshape(-1)[places]
    return {"steps": narrow(np.diff(places, prepend=0)), "counts": narrow(counts)}


def unpacked(stored: CountArray | State, shape: tuple[int, int]) -> CountArray:
    """Undo :func:`packed`."""
    if not isinstance(stored, dict):
        return widened(stored)
    if math.prod(shape) > _MOST_FILLED:
        raise UnnaiveError("the counts do not fit their schema")
    counts, places = widened(stored["counts"]), np.cumsum(stored["steps"], dtype=np.int64)
    bits = next((bits for bits, key in _LOW_BITS.items() if stored.get(key) is not None), None)
    if bits is None:
        table = np.zeros(math.prod(shape), dtype=counts.dtype)
        table[places] = counts
        return table.reshape(shape)
    low = stored["low"] if bits == _BYTE else _whole(stored[_LOW_BITS[bits]], shape)
    if low.shape != shape or counts.dtype.kind != "i" or counts.max(initial=0) > _LARGEST_HIGH:
        raise UnnaiveError("the counts do not fit their schema")
    whole: IntArray = low.reshape(-1).astype(np.int64)
    whole[places] += counts << bits
    return whole.reshape(shape)


def stored(state: State) -> State:
    """Tables of values, pairs and triples for the store, in fewer bytes."""
    tables = {key: narrow(state[key]) for key in _NARROW if state.get(key) is not None}
    return {**tables, "pairs": packed(state["pairs"])}


def restored(state: State, shape: tuple[int, int]) -> State:
    """Undo :func:`stored`; the pairs have a given shape."""
    tables = {key: widened(state[key]) for key in _NARROW if state.get(key) is not None}
    return {**tables, "pairs": unpacked(state["pairs"], shape)}


def alike(
    mine: Sequence[FamilyCounts | CellCounts],
    theirs: Sequence[FamilyCounts | CellCounts],
    sizes: IntArray,
    n_classes: int,
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return families in one form: older files hold all of them by contexts."""
    if [type(one) for one in mine] == [type(one) for one in theirs]:
        return mine, theirs
    first, second = ([by_context(one, sizes, n_classes) for one in held] for held in (mine, theirs))
    return first, second


def family_state(family: FamilyCounts | CellCounts, sizes: IntArray, n_classes: int) -> State:
    """Plain values of a family's counts; a large table is stored by the cells that occurred."""
    cells = n_cells(family.columns, sizes, n_classes)
    if isinstance(family, CellCounts) or cells > _LARGEST_KEY or not is_sparse(family.table):
        return family.state()
    return cells_of(family, sizes).state()


def cells_of(family: FamilyCounts | CellCounts, sizes: IntArray) -> CellCounts:
    """Return the cells of a family that occurred."""
    if isinstance(family, CellCounts):
        return family
    labels, place, value = np.nonzero(family.table)
    contexts = labels * n_cells(family.columns[1:], sizes, 1) + family.contexts[place]
    keys = contexts * family.table.shape[2] + value
    return CellCounts(family.columns, keys, family.table[labels, place, value])


def family_of(state: State, sizes: IntArray, n_classes: int) -> FamilyCounts | CellCounts:
    """Restore the counts of a family, in the form in which rows of it are counted."""
    if "steps" not in state:
        return FamilyCounts.from_state(state)
    cells = CellCounts.from_state(state)
    if not cells.fits(sizes, n_classes):
        raise UnnaiveError("the counts do not fit their schema")
    return as_counted(cells, sizes, n_classes)


def as_counted(cells: CellCounts, sizes: IntArray, n_classes: int) -> FamilyCounts | CellCounts:
    """Return the counts in the form in which rows of this family are counted."""
    wide = is_wide_family(cells.columns, sizes, n_classes)
    return cells if wide else cells.by_context(sizes, n_classes)
