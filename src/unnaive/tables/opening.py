"""Factors of families of which some columns are missing: entries for all values of these columns.

A factor has a line for every row and class, and an axis for every missing column. Lines are made
when they are asked for, so that only those that are computed together need memory.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._core.opening import open_cells, open_contexts
from unnaive.counts.families import strides_of
from unnaive.tables.family import CellTable, FamilyTable

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray

    Family = tuple[int, ...]


class Rows(NamedTuple):
    """Rows that miss the same columns of a family; missing cells have the code 0.

    Attributes
    ----------
    codes : ndarray of shape (d, n)
        Codes of all columns.
    held : ndarray of shape (n,)
        Class of every row that is left out, −1 for others.
    sizes : ndarray of shape (d,)
        Numbers of values.
    sets : tuple of 2 ints
        Sets of a table to look up for other classes, and for the class that a row has.
    """

    codes: CodeArray
    held: IntArray
    sizes: IntArray
    sets: tuple[int, int]


class _Layer(NamedTuple):
    """A table, its axes as the kernels read them, and the context of every row."""

    table: FamilyTable | CellTable
    axes: IntArray
    bases: IntArray


class OpenFactor:
    """The factor of a family over its missing columns.

    Parameters
    ----------
    table : FamilyTable or CellTable
        Table of the family.
    family : tuple of int
        The child and its parents.
    scope : tuple of int
        Columns of the family that are missing, ascending.
    rows : Rows
        The rows.

    Examples
    --------
    >>> entries = np.log([[[[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]]]])
    >>> table = FamilyTable((1,), np.array([0, 1]), entries)
    >>> rows = Rows(np.zeros((2, 1), np.uint8), np.array([-1]), np.array([2, 2]), (0, 0))
    >>> np.exp(OpenFactor(table, (0, 1), (1,), rows).lines(0, 1)).round(1)
    array([[0.9, 0.4]])
    """

    def __init__(
        self, table: FamilyTable | CellTable, family: Family, scope: Family, rows: Rows
    ) -> None:
        self.scope, self.rows = scope, rows
        self.shape = rows.sizes[list(scope)].tolist()
        self.children = rows.codes[family[0]].astype(np.int64)
        self._layers = self._layers_of(table, family[0])

    def _layers_of(self, table: FamilyTable | CellTable, child: int) -> list[_Layer]:
        """List the table and the simpler ones behind it, the simplest first."""
        strides = dict(zip(table.parents, strides_of(self.rows.sizes, table.parents), strict=True))
        axes = [
            (size, strides.get(column, 0), int(column == child))
            for column, size in zip(self.scope, self.shape, strict=True)
        ]
        bases = np.zeros(self.rows.codes.shape[1], dtype=np.int64)
        for parent, stride in strides.items():
            bases += self.rows.codes[parent].astype(np.int64) * stride
        layer = _Layer(table, np.array(axes, dtype=np.int64).reshape(-1, 3), bases)
        if isinstance(table, CellTable) or table.simpler is None:
            return [layer]
        return [*self._layers_of(table.simpler, child), layer]

    def lines(self, low: int, high: int) -> FloatArray:
        """Return the lines ``low`` to ``high`` − 1; line r·k + c is of row r and class c."""
        out = np.empty((high - low, math.prod(self.shape)))
        for table, axes, bases in self._layers:
            where = (axes, bases, self.children, self.rows.held, self.rows.sets, low, out)
            if isinstance(table, CellTable):
                cells = (table.keys, table.entries, table.of_context, table.of_value)
                open_cells(table.contexts, cells, *where)
            else:
                open_contexts(table.contexts, table.table, *where)
        return out.reshape(high - low, *self.shape)
