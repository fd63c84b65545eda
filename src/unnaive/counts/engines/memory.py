"""Counting rows in memory, with threads over blocks of rows and tiles of pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core import counting as core
from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive.counts.cells import count_cells, is_wide_family, wide_pairs
from unnaive.counts.families import FamilyCounts, context_of, count_family
from unnaive.counts.joint import JointCounts
from unnaive.counts.sizes import all_pairs, all_triples, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unnaive._typing import (
        AnyArray,
        BoolArray,
        CodeArray,
        CountArray,
        FloatArray,
        IntArray,
        State,
    )
    from unnaive.counts.cells import CellCounts
    from unnaive.io.frames import Column, Frame
    from unnaive.schema import Schema

BITMAP_VALUES = 16  # with more values, one increment per row is faster than v² words
BLOCK_ROWS = 1 << 16
TILE_COLUMNS = (32, 16, 8)  # the widest that leaves several tiles for every thread
CHUNK_BYTES = 1 << 26
TRIPLES_A_TASK = 256


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as codes, ready to be counted.

    Parameters
    ----------
    schema : Schema
        Columns and classes.
    codes : ndarray of shape (d, n)
        Codes of the values; the number of a column's values is the code of a missing one.
    classes : ndarray of shape (n,)
        Codes of the class labels.
    weights : ndarray of shape (n,) or None, default=None
        Weights of the rows.
    n_jobs : int or None, default=None
        Number of threads.
    groups : int or None, default=None
        Number of groups of rows, if these take the place of the classes.

    See Also
    --------
    count_batch : Counts a frame in one call.
    JointCounts : The counts.

    Examples
    --------
    >>> import numpy as np, unnaive
    >>> X = [["a", "u"], ["b", "u"], ["b", "w"]]
    >>> counts = unnaive.count(X, target=[0, 1, 1])
    >>> codes = np.array([[0, 1, 1], [0, 0, 1]], dtype=np.uint8)
    >>> CodedRows(counts.schema, codes, np.array([0, 1, 1])).count() == counts
    True
    """

    schema: Schema
    codes: CodeArray
    classes: IntArray
    weights: FloatArray | None = None
    n_jobs: int | None = None
    groups: int | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes k, or of the groups that take their place."""
        return len(self.schema.classes) if self.groups is None else self.groups

    def given(self, columns: tuple[int, ...]) -> CodedRows:
        """Group rows by class and the values of some columns.

        Information given the class then becomes information given the class and these columns.

        Parameters
        ----------
        columns : tuple of int
            Positions of the columns.

        Returns
        -------
        CodedRows
            Rows in which these columns are observed, with groups in place of the classes.
        """
        rows = self.seen(columns)
        context, _ = context_of(rows.codes, self.schema.sizes, columns)
        possible = math.prod(self.schema.sizes[list(columns)].tolist())
        if possible * rows.n_classes <= max(1024, len(rows.classes)):
            classes, groups = rows.classes * possible + context, possible * rows.n_classes
        else:
            both = np.stack([rows.classes, context])
            groups_seen, classes = np.unique(both, axis=1, return_inverse=True)
            groups = groups_seen.shape[1]
        return replace(rows, classes=classes.reshape(-1), groups=max(groups, 1))

    @described_like(given)
    def seen(self, columns: tuple[int, ...]) -> CodedRows:
        """Select the rows in which some columns are all observed.

        Returns
        -------
        CodedRows
            The rows; this object itself if no value is missing.
        """
        _, observed = context_of(self.codes, self.schema.sizes, columns)
        return self if observed.all() else self.take(observed)

    def take(self, chosen: AnyArray) -> CodedRows:
        """Select rows.

        Parameters
        ----------
        chosen : ndarray
            Mask of shape (n,), or positions.

        Returns
        -------
        CodedRows
            The rows.
        """
        weights = None if self.weights is None else self.weights[chosen]
        codes = np.ascontiguousarray(self.codes[:, chosen])
        return replace(self, codes=codes, classes=self.classes[chosen], weights=weights)

    @cached_property
    def class_counts(self) -> CountArray:
        """N(c); shape (k,)."""
        counts = np.bincount(self.classes, weights=self.weights, minlength=self.n_classes)
        return counts.astype(np.int64) if self.weights is None else counts

    @cached_property
    def values(self) -> CountArray:
        """N(c, x_i) of every column; shape (k, V)."""
        bitmaps = self._bitmaps
        starts = starts_of(self.schema.sizes)
        counts = np.zeros((self.n_classes, starts[-1]), dtype=self._row_weights.dtype)
        for column in np.flatnonzero(bitmaps.layout[:, 1]):
            first, used, start, size = bitmaps.layout[column]
            counts[:, start : start + used] = bitmaps.tally[:, first : first + used]
            if used < size:
                counted = counts[:, start : start + used].sum(axis=1)
                counts[:, start + used] = self.class_counts - counted

        def add(columns: IntArray) -> None:
            core.add_values(*self._rows, bitmaps.layout, columns, counts)

        rest = np.flatnonzero(bitmaps.layout[:, 1] == 0)
        if len(rest):
            _parallel.run(add, rest.reshape(-1, 1), self._few_jobs)
        return counts

    def count(self, pairs: IntArray | None = None) -> JointCounts:
        """Count classes, values and pairs.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2), default=None
            Pairs i < j to count; None: all, which are counted only once.

        Returns
        -------
        JointCounts
            The counts.
        """
        if pairs is None:
            return self._all_pairs_counted
        columns = np.unique(pairs, axis=0)
        wide = self._wide(columns)
        tables, cells = self.count_pairs(columns[~wide]), tuple(self.cell_counts(columns))
        known = (self.schema, self.class_counts, self.values, columns, tables)
        return JointCounts(*known, cells=cells)

    @cached_property
    def _all_pairs_counted(self) -> JointCounts:
        return self.count(all_pairs(len(self.codes)))

    def select(self, pairs: IntArray) -> JointCounts:
        """Count classes, values and some pairs.

        Parameters
        ----------
        pairs : array of shape (m, 2)
            Pairs i < j; may be empty.

        Returns
        -------
        JointCounts
            The counts.
        """
        return self.count(np.asarray(pairs, dtype=np.int64).reshape(-1, 2))

    def _wide(self, pairs: IntArray) -> BoolArray:
        """Which pairs are counted by the cells that occurred; shape (m,)."""
        return wide_pairs(pairs, self.schema.sizes, self.n_classes)

    def cell_counts(self, pairs: IntArray | None = None) -> Iterator[CellCounts]:
        """Yield the counts of pairs of very many cells, one after the other.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2), default=None
            Pairs i < j; None: all. The other pairs are left to :meth:`pair_chunks`.

        Yields
        ------
        CellCounts
            The cells of a pair that occurred.
        """
        pairs = all_pairs(len(self.codes)) if pairs is None else pairs
        for low, high in pairs[self._wide(pairs)].tolist():
            yield self._count_cells((high, low))

    def _count_cells(self, columns: tuple[int, ...]) -> CellCounts:
        return count_cells(columns, self.codes, self.classes, **self._layout)

    @property
    def _layout(self) -> State:
        sizes, n_classes = self.schema.sizes, self.n_classes
        return {"weights": self.weights, "sizes": sizes, "n_classes": n_classes}

    def count_families(
        self, families: Sequence[tuple[int, ...]]
    ) -> tuple[FamilyCounts | CellCounts, ...]:
        """Count columns with several parents.

        Parameters
        ----------
        families : sequence of tuples of int
            Families (child, parent, parent, …).

        Returns
        -------
        tuple of FamilyCounts or CellCounts
            Counts in the same order.
        """

        def count_one(columns: tuple[int, ...]) -> FamilyCounts | CellCounts:
            if is_wide_family(columns, self.schema.sizes, self.n_classes):
                return self._count_cells(columns)
            return count_family(columns, self.codes, self.classes, **self._layout)

        return tuple(_parallel.run(count_one, families, self._few_jobs))

    def _empty_tables(self, sets: IntArray) -> tuple[IntArray, AnyArray]:
        """Where the table of each set of columns (m, s) begins, and zeros for all of them."""
        starts = starts_of(self.schema.sizes[sets].prod(axis=1))
        return starts, np.zeros((self.n_classes, starts[-1]), dtype=self._row_weights.dtype)

    def count_triples(self) -> CountArray:
        """Count all triples of columns i < j < l.

        Returns
        -------
        ndarray of shape (k, T)
            N(c, x_i, x_j, x_l), one table after the other.
        """
        triples = all_triples(len(self.codes))
        starts, counts = self._empty_tables(triples)

        def count_some(block: tuple[int, int]) -> None:
            some = slice(*block)
            layout = self._bitmaps.layout
            core.add_triples(*self._rows, layout, triples[some], starts[some], counts)

        _parallel.run(count_some, _parallel.row_blocks(len(triples), TRIPLES_A_TASK), self.n_jobs)
        return counts

    def pair_chunks(self, pairs: IntArray | None = None) -> Iterator[tuple[IntArray, CountArray]]:
        """Yield pairs with their tables, some tens of megabytes at a time.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2), default=None
            Pairs i < j; None: all. Those of very many cells are left to :meth:`cell_counts`.

        Yields
        ------
        columns : ndarray of shape (m, 2)
            Some of the pairs.
        tables : ndarray of shape (k, P)
            Their tables, one after the other.
        """
        pairs = all_pairs(len(self.codes)) if pairs is None else pairs
        pairs = pairs[~self._wide(pairs)]
        lengths = self.schema.sizes[pairs].prod(axis=1) * self.n_classes * 8
        chunk = np.cumsum(lengths) // CHUNK_BYTES
        for columns in np.split(pairs, np.flatnonzero(np.diff(chunk)) + 1):
            yield columns, self.count_pairs(columns)

    def count_pairs(self, pairs: IntArray) -> CountArray:
        """Count pairs of columns.

        Parameters
        ----------
        pairs : ndarray of shape (m, 2)
            Pairs i < j.

        Returns
        -------
        ndarray of shape (k, P)
            N(c, x_i, x_j), one table after the other.
        """
        starts, counts = self._empty_tables(pairs)
        if not len(pairs):
            return counts
        bitmaps = self._bitmaps
        by_words = (bitmaps.layout[pairs, 1] > 0).all(axis=1)

        def count_tile(members: IntArray) -> None:
            chosen, begins = pairs[members], starts[members]
            if by_words[members[0]]:
                layout, runs = bitmaps.layout, bitmaps.runs
                values: AnyArray = self.values
                core.count_pairs(bitmaps.words, layout, runs, chosen, begins, values, counts)
            else:
                core.add_pairs(*self._rows, bitmaps.layout, chosen, begins, counts)

        threads = _parallel.effective_n_jobs(self._few_jobs)
        _parallel.run(count_tile, _tiles(pairs, by_words, threads), self._few_jobs)
        return counts

    @property
    def _few_jobs(self) -> int | None:
        """Number of threads, one for few rows."""
        return _parallel.jobs_for(self.codes.size, self.n_jobs)

    @cached_property
    def _row_weights(self) -> AnyArray:
        """Weights as the kernels take them: none of them means that every row counts once."""
        return np.empty(0, dtype=np.int64) if self.weights is None else self.weights

    @cached_property
    def _rows(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Codes, narrow classes and weights, as the kernels take them."""
        narrow = np.uint8 if self.n_classes <= 256 else np.uint32
        return self.codes, self.classes.astype(narrow), self._row_weights

    @cached_property
    def _bitmaps(self) -> Bitmaps:
        return make_bitmaps(self)


def code_rows(
    frame: Frame,
    target: Column,
    schema: Schema,
    weights: FloatArray | None = None,
    *,
    n_jobs: int | None = 1,
) -> CodedRows:
    """Encode rows by a schema."""
    codes, classes = schema.encode(frame, n_jobs=n_jobs), schema.encode_target(target)
    return CodedRows(schema, codes, classes, weights, n_jobs)


def count_batch(  # noqa: PLR0917 - as the engines call it
    frame: Frame,
    target: Column,
    schema: Schema,
    weights: FloatArray | None = None,
    pairs: str | None = "all",
    n_jobs: int | None = 1,
) -> JointCounts:
    """Count rows by a schema, as all engines do.

    Counts of all batches added together are the counts of all rows.

    Parameters
    ----------
    frame : Frame
        The rows.
    target : Column
        Class labels.
    schema : Schema
        Columns and classes.
    weights : ndarray of shape (n,) or None, default=None
        Weights of the rows.
    pairs : "all" or None, default="all"
        Whether pairs of columns are counted.
    n_jobs : int or None, default=1
        Number of threads.

    Returns
    -------
    JointCounts
        The counts.

    See Also
    --------
    unnaive.count : Counts rows, wherever they are, and learns a schema.

    Examples
    --------
    >>> import numpy as np, unnaive
    >>> from unnaive.io.frames import to_column, to_frame
    >>> X, y = np.array([[0, 1], [1, 1], [1, 0]]), ["a", "b", "b"]
    >>> whole = unnaive.count(X, y, discretize=None)
    >>> first = count_batch(to_frame(X[:1]), to_column(y[:1]), whole.schema)
    >>> first + count_batch(to_frame(X[1:]), to_column(y[1:]), whole.schema) == whole
    True
    """
    return count_codes(code_rows(frame, target, schema, weights, n_jobs=n_jobs), pairs)


def count_codes(rows: CodedRows, pairs: str | None) -> JointCounts:
    """Count coded rows, with all pairs of columns or without pairs."""
    return rows.select(np.empty((0, 2), dtype=np.int64)) if pairs is None else rows.count()


@dataclass(frozen=True, eq=False)
class Bitmaps:
    """Bitmaps of the columns with few values; see ``_core/counting.cpp``."""

    layout: IntArray
    runs: IntArray
    words: AnyArray
    tally: IntArray


def make_bitmaps(rows: CodedRows) -> Bitmaps:
    """Sort the rows of each block by class and make one bitmap per value.

    Weighted rows have no bitmaps, since popcount cannot count weights.
    """
    layout = _layout(rows)
    n_bitmaps = int(layout[:, 1].sum())
    n_rows, n_classes = len(rows.classes), rows.n_classes
    blocks = _parallel.row_blocks(n_rows, BLOCK_ROWS * n_classes) if n_bitmaps else []
    per_class = [np.bincount(rows.classes[slice(*b)], minlength=n_classes) for b in blocks]
    line = core.LINE_WORDS
    lengths = [-(-counts // (core.WORD * line)) * line for counts in per_class]
    runs = starts_of(np.concatenate(lengths)) if blocks else np.zeros(1, dtype=np.int64)
    words = _aligned_words(n_bitmaps, int(runs[-1]))

    def fill(index: int) -> IntArray:
        low, high = blocks[index]
        boundaries = runs[index * n_classes : (index + 1) * n_classes + 1]
        positions = np.empty(high - low, dtype=np.uint32)
        bits = (boundaries - boundaries[0]) * core.WORD
        core.class_positions(rows.classes[low:high], bits[:-1], positions)
        ordered = np.empty(int(bits[-1]), dtype=rows.codes.dtype)
        tally = np.zeros((n_classes, n_bitmaps), dtype=np.int64)
        core.fill_bitmaps(rows.codes, low, positions, layout, boundaries, ordered, words, tally)
        return tally

    tallies = _parallel.run(fill, range(len(blocks)), rows.n_jobs)
    tally = sum(tallies, np.zeros((n_classes, n_bitmaps), dtype=np.int64))
    return Bitmaps(layout, runs, words, tally)


def _aligned_words(n_bitmaps: int, length: int) -> AnyArray:
    """Make an array of words that is aligned to a cache line; shape (bitmaps, length)."""
    raw = np.empty(n_bitmaps * length + core.LINE_WORDS, dtype=np.uint64)
    first = (-raw.ctypes.data // raw.itemsize) % core.LINE_WORDS
    return raw[first : first + n_bitmaps * length].reshape(n_bitmaps, length)


def _layout(rows: CodedRows) -> IntArray:
    sizes = rows.schema.sizes
    used = np.zeros(len(sizes), dtype=np.int64)
    if rows.weights is None and rows.groups is None:  # with groups, few pairs are counted
        for column in np.flatnonzero((sizes > 0) & (sizes <= BITMAP_VALUES)):
            complete = rows.codes[column].max(initial=0) < sizes[column]
            used[column] = sizes[column] - (complete and sizes[column] > 1)
    first = starts_of(used)[:-1]
    return np.stack([first, used, starts_of(sizes)[:-1], sizes], axis=1)


def _tiles(pairs: IntArray, by_words: AnyArray, threads: int) -> list[IntArray]:
    """Group pairs into tiles of columns whose bitmaps fit into the cache, largest first."""
    for width in TILE_COLUMNS:
        tile = pairs // width
        key = (tile[:, 0] * (tile[:, 1].max() + 1) + tile[:, 1]) * 2 + by_words
        order = np.argsort(key, kind="stable")
        tiles = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
        if len(tiles) > threads:
            break
    return sorted(tiles, key=len, reverse=True)
