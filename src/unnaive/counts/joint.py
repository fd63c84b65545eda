"""JointCounts: the sufficient statistics, which can be added, subtracted, compared and saved."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._html import html_table
from unnaive.counts import cells as by_cells
from unnaive.counts.cells import CellCounts, as_counted, family_of, family_state
from unnaive.counts.families import FamilyCounts, subtract
from unnaive.counts.laid_out import extend
from unnaive.counts.sizes import all_triples, starts_of
from unnaive.counts.whole import fit_schema
from unnaive.exceptions import ModelFileError, SchemaMismatch, UnnaiveError
from unnaive.io import store
from unnaive.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from unnaive._typing import AnyArray, CountArray, IntArray, State
    from unnaive.counts.families import Operation


@dataclass(frozen=True, eq=False)
class JointCounts:
    """Counts of each class, each value, and each pair of values.

    Made by :func:`unnaive.count`. A row enters a table if all columns of this table are observed
    in it (Mathematics 0.8: available cases). Plain rows give 64-bit integers, weighted rows
    floats. ``a + b`` are the counts of both sets of rows, ``a - b`` those of a without b. Both
    are exact for integers, so a model from merged counts is bit for bit the model of the pooled
    rows, and unlearning is exact.

    Parameters
    ----------
    schema : Schema
        Columns, their categories and bins, and the classes.
    class_counts : ndarray of shape (k,)
        N(c).
    values : ndarray of shape (k, V)
        N(c, x_i); the values of column i begin at ``value_starts[i]``.
    pair_columns : ndarray of shape (m, 2)
        The pairs i < j that were counted, in lexicographic order.
    pairs : ndarray of shape (k, P)
        N(c, x_i, x_j); the tables (v_i, v_j) of the pairs follow one another.
    families : tuple of FamilyCounts, default=()
        Counts of columns with several parents, if a model needs them.
    triples : ndarray of shape (k, T) or None, default=None
        N(c, x_i, x_j, x_l) of all i < j < l, if a model needs them.
    cells : tuple of CellCounts, default=()
        The pairs that would have very many cells, of which only those that occurred are held;
        their tables in ``pairs`` are empty.

    See Also
    --------
    unnaive.count : Counts samples.
    merge : Adds several counts, also saved ones.

    Examples
    --------
    >>> import numpy as np, unnaive
    >>> X = np.array([[0, 1], [1, 1], [1, 0], [1, 1]])
    >>> first = unnaive.count(X[:2], target=["a", "b"], discretize=None, categories=[[0, 1]] * 2)
    >>> second = unnaive.count(X[2:], target=["a", "b"], schema=first.schema)
    >>> (first + second).marginal(0).tolist()
    [[1, 1], [0, 2]]
    >>> (first + second) - second == first
    True
    """

    schema: Schema
    class_counts: CountArray
    values: CountArray
    pair_columns: IntArray
    pairs: CountArray
    families: tuple[FamilyCounts | CellCounts, ...] = ()
    triples: CountArray | None = None
    cells: tuple[CellCounts, ...] = ()

    extend = extend

    @property
    def n_classes(self) -> int:
        """Number of classes k."""
        return len(self.class_counts)

    @property
    def n_columns(self) -> int:
        """Number of columns d."""
        return len(self.schema.columns)

    @property
    def total(self) -> float:
        """Number of rows counted, or the sum of their weights."""
        return float(self.class_counts.sum())

    @property
    def nbytes(self) -> int:
        """Size of the tables in bytes."""
        return sum(table.nbytes for table in self.tables)

    @cached_property
    def value_starts(self) -> IntArray:
        """Where the values of each column begin; shape (d + 1,)."""
        return starts_of(self.schema.sizes)

    @cached_property
    def pair_starts(self) -> IntArray:
        """Where the table of each counted pair begins; shape (m + 1,)."""
        lengths = self.schema.sizes[self.pair_columns].prod(axis=1)
        lengths[self._cell_places] = 0
        return starts_of(lengths)

    @cached_property
    def _cells(self) -> dict[tuple[int, int], CellCounts]:
        """The pairs of which only the cells that occurred are held."""
        return {(cells.columns[1], cells.columns[0]): cells for cells in self.cells}

    @cached_property
    def triple_starts(self) -> IntArray:
        """Where the table of each triple i < j < l begins; shape (m + 1,)."""
        return starts_of(self.schema.sizes[all_triples(self.n_columns)].prod(axis=1))

    @property
    def _cell_places(self) -> list[int]:
        return [self._place(*pair) for pair in self._cells]

    @property
    def has_all_pairs(self) -> bool:
        """Whether every pair of columns was counted."""
        return len(self.pair_columns) == self.n_columns * (self.n_columns - 1) // 2

    def marginal(self, column: int) -> CountArray:
        """Return the counts of the values of one column.

        Parameters
        ----------
        column : int
            Position of the column.

        Returns
        -------
        ndarray of shape (k, v)
            N(c, x).
        """
        return self.values[:, self.value_starts[column] : self.value_starts[column + 1]]

    def pair(self, first: int, second: int) -> CountArray:
        """Return the counts of the joint values of two columns.

        Parameters
        ----------
        first, second : int
            Positions of the columns.

        Returns
        -------
        ndarray of shape (k, v_first, v_second)
            N(c, x_first, x_second).
        """
        low, high = sorted((first, second))
        place = self._place(low, high)
        sizes = self.schema.sizes
        if (low, high) in self._cells:
            table = self._cells[low, high].filled(sizes, self.n_classes)
        else:
            start, stop = self.pair_starts[place], self.pair_starts[place + 1]
            table = self.pairs[:, start:stop].reshape(self.n_classes, sizes[low], sizes[high])
        return table if first < second else table.transpose(0, 2, 1)

    def family(self, columns: tuple[int, ...]) -> FamilyCounts | CellCounts:
        """Return the counts of a column alone, or given one other column.

        Parameters
        ----------
        columns : tuple of int
            The column, or the column and its parent.

        Returns
        -------
        FamilyCounts or CellCounts
            The counts in the form in which rows of this family are counted.
        """
        sizes, k, low_high = self.schema.sizes, self.n_classes, tuple(sorted(columns))
        if len(columns) == 1:
            none = np.zeros(1, dtype=np.int64)
            return FamilyCounts(columns, none, self.marginal(columns[0])[:, None])
        if low_high in self._cells:
            return as_counted(self._cells[low_high].given(columns, sizes), sizes, k)
        return FamilyCounts(columns, np.arange(sizes[columns[1]]), self.pair(*columns[::-1]))

    def filled(self) -> JointCounts:
        """Return the counts with all cells of all pairs.

        Returns
        -------
        JointCounts
            Counts without ``cells``; raises an error if one of the tables is huge.
        """
        if not self.cells:
            return self
        tables = [self.pair(*p).reshape(self.n_classes, -1) for p in self.pair_columns.tolist()]
        pairs: AnyArray = np.concatenate(tables, axis=1)
        return replace(self, pairs=pairs, cells=())

    def _place(self, low: int, high: int) -> int:
        """Position of a pair among those that were counted."""
        if self.has_all_pairs and low < high:
            return low * self.n_columns - low * (low + 1) // 2 + high - low - 1
        keys = self.pair_columns[:, 0] * self.n_columns + self.pair_columns[:, 1]
        place = int(np.searchsorted(keys, low * self.n_columns + high))
        if place == len(keys) or keys[place] != low * self.n_columns + high:
            names = self.schema.names
            raise UnnaiveError(
                f"these counts do not hold the pair {names[low]!r}, {names[high]!r}; count with "
                'pairs="all"'
            )
        return place

    def select(self, pairs: IntArray) -> JointCounts:
        """Return counts that hold at least some pairs: these counts, or an error.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2)
            Pairs i < j that are needed.

        Returns
        -------
        JointCounts
            The same object. Rows, which have this method too, count the pairs here.
        """
        if not self.has_all_pairs:
            for low, high in pairs:
                self._place(int(low), int(high))
        return self

    def pair_chunks(self) -> Iterator[tuple[IntArray, CountArray]]:
        """Yield all pairs that have tables of all cells, in a single chunk.

        Yields
        ------
        columns : ndarray of shape (m, 2)
            The pairs.
        tables : ndarray of shape (k, P)
            Their tables, one after the other.
        """
        if not self.has_all_pairs:
            raise UnnaiveError(
                f"these counts hold {len(self.pair_columns)} of "
                f"{self.n_columns * (self.n_columns - 1) // 2} pairs of columns; this model needs "
                'all of them: count with pairs="all"'
            )
        yield np.delete(self.pair_columns, self._cell_places, axis=0), self.pairs

    def cell_counts(self) -> Iterator[CellCounts]:
        """Yield the other pairs, of which only the cells that occurred are held.

        Yields
        ------
        CellCounts
            The cells of a pair.
        """
        yield from self.cells

    def without_pairs(self) -> JointCounts:
        """Return only the counts of classes and values.

        Returns
        -------
        JointCounts
            Counts without pairs.
        """
        none, empty = self.pair_columns[:0], self.pairs[:, :0]
        return replace(self, pair_columns=none, pairs=empty, cells=())

    def __add__(self, other: JointCounts) -> JointCounts:
        return self._combine(other, np.add)

    def __sub__(self, other: JointCounts) -> JointCounts:
        if not isinstance(other, JointCounts):
            return NotImplemented
        difference = self._combine(other, subtract)
        if any(table.min(initial=0) < 0 for table in difference.tables):
            why = "so some of these rows (or their weight) were never counted here"
            raise UnnaiveError(f"cannot subtract: the result would have negative counts, {why}")
        return difference

    def decay(self, gamma: float) -> JointCounts:
        """Multiply all counts by ``gamma``, so that old rows count less than new ones.

        The counts become floats, as for weighted rows. If this is done once a day, a row of n
        days ago has the weight γⁿ: ``counts = counts.decay(0.99) + today``.

        Parameters
        ----------
        gamma : float
            Factor, above 0 and at most 1.

        Returns
        -------
        JointCounts
            Decayed counts.
        """
        if not 0 < gamma <= 1:
            raise ValueError(f"gamma={gamma!r}; it must be above 0 and at most 1")
        return self.changed(lambda table: table.astype(np.float64) * gamma)

    def changed(self, change: Callable[[CountArray], CountArray]) -> JointCounts:
        """Apply a function to every table.

        Parameters
        ----------
        change : callable
            Maps a table to one of the same shape.

        Returns
        -------
        JointCounts
            Counts of the changed tables.
        """
        return replace(
            self,
            class_counts=change(self.class_counts),
            values=change(self.values),
            pairs=change(self.pairs),
            families=tuple(one.changed(change) for one in self.families),
            cells=tuple(one.changed(change) for one in self.cells),
            triples=None if self.triples is None else change(self.triples),
        )

    def __radd__(self, other: object) -> JointCounts:
        """Support ``sum([a, b, …])``, which starts with 0."""
        return self if other == 0 else NotImplemented

    @property
    def tables(self) -> list[CountArray]:
        """All arrays of counts."""
        triples = [] if self.triples is None else [self.triples]
        held = (one.table for one in (*self.families, *self.cells))
        return [self.class_counts, self.values, self.pairs, *held, *triples]

    def _combine(self, other: JointCounts, operation: Operation) -> JointCounts:
        if not isinstance(other, JointCounts):
            return NotImplemented
        self.schema.require_same(other.schema)
        if not np.array_equal(self.pair_columns, other.pair_columns):
            raise SchemaMismatch(
                f"{len(self.pair_columns)} pairs of columns are held here, "
                f"{len(other.pair_columns)} there; count both with the same pairs="
            )
        if list(self._cells) != list(other._cells):
            return self.filled()._combine(other.filled(), operation)  # noqa: SLF001
        mine, theirs = by_cells.alike(
            self.families, other.families, self.schema.sizes, self.n_classes
        )
        if [family.columns for family in mine] != [family.columns for family in theirs]:
            raise SchemaMismatch(
                f"{len(mine)} families of columns are held here, other {len(theirs)} there; count "
                "both for the same model"
            )
        triples = None
        if self.triples is not None and other.triples is not None:
            triples = operation(self.triples, other.triples)
        elif self.triples is not other.triples:
            raise SchemaMismatch("triples of columns are held on one side only; count both alike")
        return replace(
            self,
            class_counts=operation(self.class_counts, other.class_counts),
            values=operation(self.values, other.values),
            pairs=operation(self.pairs, other.pairs),
            families=by_cells.combined(mine, theirs, operation),
            cells=by_cells.combined(self.cells, other.cells, operation),
            triples=triples,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointCounts):
            return NotImplemented
        return (
            self.schema == other.schema
            and self.families == other.families
            and self.cells == other.cells
            and np.array_equal(self.pair_columns, other.pair_columns)
            and len(self.tables) == len(other.tables)
            and all(map(np.array_equal, self.tables, other.tables))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"JointCounts({self.total:g} rows, {self.n_columns} columns, {self.n_classes} classes,"
            f" {len(self.pair_columns)} pairs, {self.nbytes:,} bytes)"
        )

    def _repr_html_(self) -> str:
        """Table of the columns and of the class counts for a notebook."""
        classes = zip(self.schema.classes, self.class_counts.tolist(), strict=True)
        counted = ", ".join(f"{label}: {count:g}" for label, count in classes)
        rows: list[tuple[object, ...]] = [(self.schema.target, len(self.schema.classes), counted)]
        for index, column in enumerate(self.schema.columns):
            rows.append((column.name, column.size, f"{self.marginal(index).sum():g}"))
        return html_table(repr(self), ["column", "values", "observed rows"], rows)

    def state(self) -> State:
        """Describe the counts by plain values and arrays.

        Returns
        -------
        dict
            State for the store.
        """
        state = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "cells"}
        families = [family_state(one, self.schema.sizes, self.n_classes) for one in self.families]
        held: State = {"cells": [one.state() for one in self.cells]} if self.cells else {}
        held |= {"schema": self.schema.state(), "families": families, **by_cells.stored(state)}
        return {**state, **held}

    @classmethod
    def from_state(cls, state: State) -> JointCounts:
        """Restore counts from :meth:`state`, and check them.

        Parameters
        ----------
        state : dict
            State of counts.

        Returns
        -------
        JointCounts
            The counts.
        """
        schema, k = Schema.from_state(state["schema"]), len(state["schema"]["classes"])
        families = tuple(family_of(one, schema.sizes, k) for one in state["families"])
        cells = tuple(map(CellCounts.from_state, state.get("cells", ())))
        known = {"schema": schema, "families": families, "cells": cells}
        starts = cls(**{**state, **known}).pair_starts
        counts = cls(**{**state, **known, **by_cells.restored(state, (k, int(starts[-1])))})
        counts.check()
        return counts

    def check(self) -> None:
        """Raise an error unless all arrays fit the schema in shape and values.

        The compiled kernels trust their arrays, so everything from a file is checked here.
        """
        if not fit_schema(self):
            raise UnnaiveError("the counts do not fit their schema")

    def save(self, path: str | Path) -> None:
        """Save to one file, atomically.

        Parameters
        ----------
        path : str or path
            File to write; an existing one is replaced.
        """
        store.save(path, self.state(), kind="counts")

    @classmethod
    def load(cls, path: str | Path) -> JointCounts:
        """Load counts that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path
            File to read.

        Returns
        -------
        JointCounts
            The counts.
        """
        from unnaive.io.description import check_counts  # noqa: PLC0415 - loads when asked

        state = store.load(path, kind="counts")
        try:
            check_counts(state)
            return cls.from_state(state)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            why = f"{path} is a counts file, but not one that this version understands ({what})"
            raise ModelFileError(f"{why}; count again with this version") from error
