"""The same counts in the tables of another schema: more categories, merged ones, fewer columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.cells import (
    CellCounts,
    as_counted,
    cells_of,
    gathered,
    is_wide_family,
    numbered,
    wide_pairs,
)
from unnaive.counts.families import FamilyCounts, strides_of
from unnaive.counts.sizes import all_triples, starts_of
from unnaive.exceptions import SchemaMismatch
from unnaive.schema.columns import CategoricalColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, BoolArray, CountArray, IntArray, State
    from unnaive.counts.joint import JointCounts
    from unnaive.schema import ColumnSchema, Schema

_BLOCK_CELLS = 1 << 22  # cells that are moved at once


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the values, columns and classes of one schema are in another.

    Attributes
    ----------
    schema : Schema
        The new schema.
    columns : ndarray of shape (d,)
        New position of every old column; −1 for one that is dropped.
    codes : tuple of ndarray
        New code of every old code, of every old column.
    classes : ndarray of shape (k,)
        New code of every old class.
    """

    schema: Schema
    columns: IntArray
    codes: tuple[IntArray, ...]
    classes: IntArray

    @classmethod
    def between(cls, old: Schema, new: Schema) -> Layout:
        """Find everything of a schema in an extended one; raises if something is not there."""
        if old.names != new.names:
            raise SchemaMismatch(
                f"columns {list(old.names)} here, {list(new.names)} in the extended schema; "
                "only categories and classes can be added"
            )
        codes = tuple(
            np.array(_places(mine, theirs), dtype=np.int64)
            for mine, theirs in zip(old.columns, new.columns, strict=True)
        )
        lost = [label for label in old.classes if label not in new.classes]
        if lost:
            raise SchemaMismatch(
                f"the extended schema lacks the class {lost[0]!r} of these counts; make it by "
                "schema.extend"
            )
        classes = np.array([new.classes.index(label) for label in old.classes], dtype=np.int64)
        return cls(new, np.arange(len(old.columns)), codes, classes)

    @property
    def sizes(self) -> IntArray:
        """Number of values of every new column; shape (d',)."""
        return self.schema.sizes

    @property
    def n_classes(self) -> int:
        """Number of new classes."""
        return len(self.schema.classes)


def _places(mine: ColumnSchema, theirs: ColumnSchema) -> list[int]:
    """Return the new code of every old code of a column."""
    cure = "make the schema by schema.extend"
    if not isinstance(mine, CategoricalColumn) or not isinstance(theirs, CategoricalColumn):
        if mine != theirs:
            raise SchemaMismatch(f"column {mine.name!r} has other bins in the new schema; {cure}")
        return list(range(mine.size))
    lost = [label for label in mine.categories if label not in theirs.categories]
    if lost or mine.others != theirs.others or mine.missing_category != theirs.missing_category:
        what = f"lacks the category {lost[0]!r} of" if lost else "treats values otherwise in"
        raise SchemaMismatch(f"the new schema {what} column {mine.name!r}; {cure}")
    places = [theirs.categories.index(label) for label in mine.categories]
    return [*places, *([len(theirs.categories)] if mine.missing_category else [])]


def extend(self: JointCounts, schema: Schema) -> JointCounts:
    """Return the same counts with the categories and classes of an extended schema.

    The result equals, bit for bit, the counts of the same rows by the extended schema, if no row
    had a value that this schema lacks: such a value was counted as missing, and stays so.

    Parameters
    ----------
    schema : Schema
        What :meth:`unnaive.schema.Schema.extend` returned: the same columns with the same bin
        edges, and at least the categories and classes of these counts.

    Returns
    -------
    JointCounts
        The counts; those of new categories and classes are 0.

    Raises
    ------
    SchemaMismatch
        If the schema lacks something that was counted here.

    Examples
    --------
    >>> import unnaive
    >>> monday = unnaive.count([["no"], ["yes"]], target=["ill", "well"])
    >>> schema = monday.schema.extend({"x0": ["ex"]})
    >>> monday.extend(schema).marginal(0).tolist()
    [[0, 1, 0], [0, 0, 1]]
    """
    if schema == self.schema:
        return self
    return laid_out(self, Layout.between(self.schema, schema))


def laid_out(counts: JointCounts, layout: Layout) -> JointCounts:
    """Return counts in the tables of another schema; counts of merged values are added.

    Parameters
    ----------
    counts : JointCounts
        Counts by the old schema.
    layout : Layout
        Where everything is in the new one.

    Returns
    -------
    JointCounts
        Counts by the new schema.
    """
    singles, triples = _Moves(counts, layout, np.arange(counts.n_columns)[:, None]), None
    class_counts: AnyArray = np.zeros(layout.n_classes, dtype=counts.class_counts.dtype)
    np.add.at(class_counts, layout.classes, counts.class_counts)
    if counts.triples is not None:
        every = _Moves(counts, layout, all_triples(counts.n_columns))
        triples = every.moved(counts.triples, counts.triple_starts)
    kept = [one for one in counts.families if (layout.columns[list(one.columns)] >= 0).all()]
    return replace(
        counts,
        schema=layout.schema,
        class_counts=class_counts,
        values=singles.moved(counts.values, counts.value_starts),
        families=tuple(_family(one, counts, layout) for one in kept),
        triples=triples,
        **_pairs(counts, layout),
    )


def _pairs(counts: JointCounts, layout: Layout) -> State:
    """Return the tables and cells of all pairs, by the names of their attributes."""
    moves = _Moves(counts, layout, counts.pair_columns)
    wide = wide_pairs(moves.sets, layout.sizes, layout.n_classes)
    old_wide = np.diff(counts.pair_starts) < counts.schema.sizes[counts.pair_columns].prod(axis=1)
    by_cells = old_wide[moves.old] | wide[moves.place]
    pairs = moves.moved(counts.pairs, counts.pair_starts, wide, by_cells)
    starts, cells = moves.starts(wide), {}
    for one in np.flatnonzero(by_cells).tolist():
        low, high = counts.pair_columns[moves.old[one]].tolist()
        if layout.columns[low] > layout.columns[high]:
            low, high = high, low
        found = _cells(counts.family((high, low)), counts, layout)
        place = int(moves.place[one])
        if wide[place]:
            cells[place] = found
        else:
            table = found.filled(layout.sizes, layout.n_classes)
            pairs[:, starts[place] : starts[place + 1]] = table.reshape(layout.n_classes, -1)
    ordered = tuple(cells[place] for place in sorted(cells))
    return {"pair_columns": moves.sets, "pairs": pairs, "cells": ordered}


class _Moves:
    """Where the cells of tables of sets of columns go, if all sets have the same size.

    Parameters
    ----------
    counts : JointCounts
        Counts by the old schema.
    layout : Layout
        Where everything is in the new one.
    sets : ndarray of shape (m, r)
        Sets of old columns, in lexicographic order.
    """

    def __init__(self, counts: JointCounts, layout: Layout, sets: IntArray) -> None:
        self.layout, self.old_sizes = layout, counts.schema.sizes
        self.old = np.flatnonzero((layout.columns[sets] >= 0).all(axis=1))
        self.columns = sets[self.old]
        moved = layout.columns[self.columns]
        order = np.argsort(moved, axis=1)
        ascending = np.take_along_axis(moved, order, axis=1)
        numbers = np.zeros(len(moved), dtype=np.int64)
        for column in ascending.T:
            numbers = numbers * max(len(layout.sizes), 1) + column
        by_number = np.argsort(numbers)
        self.sets = ascending[by_number]
        self.place = np.argsort(by_number)
        sizes = layout.sizes[ascending]
        strides = np.ones_like(sizes)
        for place in range(sizes.shape[1] - 2, -1, -1):
            strides[:, place] = strides[:, place + 1] * sizes[:, place + 1]
        self.strides = np.empty_like(strides)
        np.put_along_axis(self.strides, order, strides, axis=1)

    def starts(self, empty: BoolArray | None = None) -> IntArray:
        """Where the new tables begin; those that are ``empty`` have no cells; shape (m + 1,)."""
        lengths = self.layout.sizes[self.sets].prod(axis=1)
        return starts_of(lengths if empty is None else np.where(empty, 0, lengths))

    def moved(
        self,
        table: CountArray,
        old_starts: IntArray,
        empty: BoolArray | None = None,
        left_out: BoolArray | None = None,
    ) -> CountArray:
        """Return the new tables (k', P'); tables of new sets that are left out stay 0."""
        starts, codes = self.starts(empty), np.concatenate([[0], *self.layout.codes])
        first_codes = 1 + starts_of(self.old_sizes)
        out: AnyArray = np.zeros((self.layout.n_classes, int(starts[-1])), dtype=table.dtype)
        for sets in self._blocks(left_out):
            lengths = self.old_sizes[self.columns[sets]].prod(axis=1)
            which = np.repeat(sets, lengths)
            within = np.arange(len(which)) - np.repeat(starts_of(lengths)[:-1], lengths)
            source, target = old_starts[self.old[which]] + within, starts[self.place[which]]
            for place in range(self.columns.shape[1] - 1, -1, -1):
                column = self.columns[which, place]
                within, digit = np.divmod(within, self.old_sizes[column])
                target += codes[first_codes[column] + digit] * self.strides[which, place]
            for old, new in enumerate(self.layout.classes.tolist()):
                np.add.at(out[new], target, table[old, source])
        return out

    def _blocks(self, left_out: BoolArray | None) -> Iterator[IntArray]:
        """Yield sets that have not too many cells together."""
        sets = np.arange(len(self.old))
        if left_out is not None:
            sets = sets[~left_out]
        ends = np.cumsum(self.old_sizes[self.columns[sets]].prod(axis=1)) // _BLOCK_CELLS
        yield from np.split(sets, np.flatnonzero(np.diff(ends)) + 1)


def _family(
    family: FamilyCounts | CellCounts, counts: JointCounts, layout: Layout
) -> FamilyCounts | CellCounts:
    """Return the counts of a family by the new schema, in the form in which rows are counted."""
    sizes, k = layout.sizes, layout.n_classes
    columns = tuple(layout.columns[list(family.columns)].tolist())
    if isinstance(family, CellCounts) or is_wide_family(columns, sizes, k):
        return as_counted(_cells(family, counts, layout), sizes, k)
    number, rest = np.zeros(len(family.contexts), dtype=np.int64), family.contexts
    strides = strides_of(sizes, columns[1:])
    for parent, stride in zip(reversed(family.columns[1:]), reversed(strides), strict=True):
        rest, digit = np.divmod(rest, max(int(counts.schema.sizes[parent]), 1))
        number += layout.codes[parent][digit] * stride
    contexts, place = np.unique(number, return_inverse=True)
    table: AnyArray = np.zeros((k, len(contexts), int(sizes[columns[0]])), dtype=family.table.dtype)
    values = layout.codes[family.columns[0]]
    cells = (layout.classes[:, None, None], place[None, :, None], values[None, None, :])
    np.add.at(table, cells, family.table)
    return FamilyCounts(columns, contexts, table)


def _cells(family: FamilyCounts | CellCounts, counts: JointCounts, layout: Layout) -> CellCounts:
    """Return the cells of a family by the new schema."""
    cells = cells_of(family, counts.schema.sizes)
    classes, values = cells.digits(counts.schema.sizes)
    new = {int(layout.columns[one]): layout.codes[one][values[one]] for one in cells.columns}
    columns = tuple(layout.columns[list(cells.columns)].tolist())
    keys = numbered(columns, new, layout.classes[classes], layout.sizes)
    return gathered(columns, keys, cells.table)
