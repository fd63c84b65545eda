"""What one column is: its categories or its bin edges, and how its cells become codes."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, cast

import numpy as np

from unnaive._core.coding import look_up_floats, look_up_integers
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import from_objects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unnaive._typing import AnyArray, CodeArray, IntArray
    from unnaive.io.frames import Column

Label = str | int | float | bool
CodeType = type[np.uint8] | type[np.uint16] | type[np.uint32]
_EXACT = 2**53  # whole numbers up to here are exact as floats
_WIDEST_TABLE = 1 << 16  # integers further apart than this are searched, not looked up


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of categories, coded by their position; missing and unknown are the next code."""

    name: str
    categories: tuple[Label, ...]

    @property
    def size(self) -> int:
        """Number of values v."""
        return len(self.categories)

    def label(self, code: int) -> str:
        """Name the value of a code for people."""
        return str(self.categories[code])

    @cached_property
    def is_text(self) -> bool:
        """Whether some category is a string."""
        return any(isinstance(label, str) for label in self.categories)

    @cached_property
    def _index(self) -> dict[object, int]:
        return {label: code for code, label in enumerate(self.categories)}

    @cached_property
    def _sorted(self) -> tuple[AnyArray, IntArray]:
        """Numeric categories in increasing order, and the code of each."""
        values = np.asarray(self.categories)
        order = np.argsort(values, kind="stable")
        return values[order], order.astype(np.int64)

    @cached_property
    def integer_table(self) -> tuple[int, CodeArray] | None:
        """Lowest integer category, and the codes of it and the following; None if too wide.

        The table ends with the code v, for every integer outside of it.
        """
        if self.is_text or not self.categories:
            return None
        values, codes = self._sorted
        if values.dtype.kind not in "iub" or int(values[-1]) > np.iinfo(np.int64).max:
            return None
        if int(values[-1]) - int(values[0]) >= _WIDEST_TABLE:
            return None
        lowest = int(values[0])
        table = np.full(int(values[-1]) - lowest + 2, self.size, dtype=code_type(self.size))
        table[values.astype(np.int64) - lowest] = codes
        return lowest, table

    def code(self, cell: object) -> int:
        """Code one cell as :meth:`encode` does, without a column around it."""
        try:
            found = self._index.get(cell)
        except TypeError:  # not hashable
            found = None
        if found is not None:
            return found
        return self.size if cell is None else _code_alone(self, cell)

    def encode(self, column: Column) -> CodeArray:
        """Code the cells; a cell that is missing or in no category gets the code v."""
        if column.is_text:
            return self._encode_labels(column)
        if self.is_text and not all(isinstance(label, str) for label in self.categories):
            return self._encode_mixed(column)
        if self.is_text and not column.missing.all():
            value = column.values[~column.missing][0]
            raise UnnaiveError(
                f"column {self.name!r} held labels such as {self.categories[0]!r} in fit and has "
                f"the number {value} now; convert it to strings"
            )
        if self.integer_table is not None and column.values.dtype.kind in "iub":
            return _look_up(column.values, *self.integer_table)
        return self._search(column)

    def _encode_labels(self, column: Column) -> CodeArray:
        labels = column.categories or ()
        if self.categories and not self.is_text and any(isinstance(x, str) for x in labels):
            text = next(x for x in labels if isinstance(x, str))
            raise UnnaiveError(
                f"column {self.name!r} held numbers such as {self.categories[0]!r} in fit and has "
                f"the label {text!r} now; convert it to numbers"
            )
        codes = [self._index.get(label, self.size) for label in labels]
        table = np.array([*codes, self.size], dtype=code_type(self.size))
        return np.asarray(table[column.values])

    def _encode_mixed(self, column: Column) -> CodeArray:
        """Code numbers by categories of which some are text and some are numbers."""
        values, places = np.unique(column.values, return_inverse=True)
        codes = [self._index.get(value, self.size) for value in values.tolist()]
        return np.array(codes, dtype=code_type(self.size))[places]

    def _search(self, column: Column) -> CodeArray:
        codes = np.full(len(column.values), self.size, dtype=code_type(self.size))
        refuse_infinite(self.name, column.values)
        if not self.size or self.is_text:
            return codes
        values, order = self._sorted
        place = np.minimum(np.searchsorted(values, column.values), self.size - 1)
        found = values[place] == column.values
        codes[found] = order[place[found]]
        return codes


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers cut into bins: the code is the number of edges below the value."""

    name: str
    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of bins v."""
        return len(self.edges) + 1

    def label(self, code: int) -> str:
        """Name the bin of a code for people."""
        cuts = ["", *(format(edge, ".6g") for edge in self.edges), ""]
        low, high = list(pairwise(cuts))[code]
        if not low and not high:
            return "any"
        if not low:
            return f"≤ {high}"
        return f"> {low}" if not high else f"({low}, {high}]"

    def code(self, cell: object) -> int:
        """Code one cell as :meth:`encode` does, without a column around it."""
        if cell is None:
            return self.size
        if type(cell) is not float and type(cell) is not int:
            return _code_alone(self, cell)
        if isfinite(cell):
            return bisect_left(self.edges, cell)
        return self.size if cell != cell else _code_alone(self, cell)  # noqa: PLR0124 - NaN

    def encode(self, column: Column) -> CodeArray:
        """Code the cells by their bin, missing ones by v."""
        codes: CodeArray = np.empty((1, len(column.values)), dtype=code_type(self.size))
        if column.is_text:
            if not column.missing.all():
                seen = column.values[~column.missing][0]
                label = (column.categories or ())[seen]
                raise UnnaiveError(
                    f"column {self.name!r} held numbers in fit and has the label {label!r} now; "
                    "convert it to numbers"
                )
            codes.fill(self.size)
            return np.asarray(codes[0])
        block = np.ascontiguousarray(column.values, dtype=np.float64).reshape(-1, 1)
        starts = np.array([0, len(self.edges)])
        if look_up_floats(block, np.asarray(self.edges, dtype=float), starts, codes, 0) >= 0:
            refuse_infinite(self.name, column.values)
        return np.asarray(codes[0])


ColumnSchema = CategoricalColumn | NumericColumn


def _code_alone(column: ColumnSchema, cell: object) -> int:
    """Code a cell that is no plain number or known label, by way of a column."""
    if isinstance(cell, np.generic):
        return column.code(cell.item())
    return int(column.encode(from_objects([cell], column.name))[0])


def cell_kind(column: ColumnSchema) -> str:
    """Tell how the cells of a text file must be read to be of a column."""
    if isinstance(column, NumericColumn):
        return "float"
    if column.is_text or not column.categories:
        return "text"
    if all(isinstance(label, bool) for label in column.categories):
        return "bool"
    return "float" if all(abs(label) <= _EXACT for label in column.categories) else "int"  # type: ignore[arg-type]


def _look_up(values: AnyArray, lowest: int, table: CodeArray) -> CodeArray:
    codes = np.empty(len(values), dtype=table.dtype)
    native = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    if native.dtype.kind == "b":
        native = native.view(np.uint8)
    elif native.dtype == np.uint64:
        native = native.view(np.int64)  # beyond 2**63 both are beyond every table
    look_up_integers(native, lowest, table, codes)
    return codes


def code_type(size: int) -> CodeType:
    """Return the narrowest code type for ``size`` values and the missing slot."""
    if size <= np.iinfo(np.uint8).max:
        return np.uint8
    return np.uint16 if size <= np.iinfo(np.uint16).max else np.uint32


def sorted_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort labels; where types do not compare, by type and then by their text."""
    distinct = list(labels)
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(sorted(distinct, key=lambda label: (type(label).__name__, str(label))))


def refuse_infinite(name: str, values: AnyArray) -> None:
    """Raise if a numeric column has an infinite value."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise UnnaiveError(
            f"column {name!r} has the infinite value {values[row]} in row {row}: infinity is "
            "neither a number to bin nor a category; replace it by a number or by NaN (missing)"
        )


def labels_of(column: Column) -> tuple[Label, ...]:
    """Return the labels of a column; raise for one that is neither a string nor a number."""
    labels = column.categories or ()
    for label in labels:
        if not isinstance(label, str | int | float | bool | np.generic):
            raise TypeError(
                f"column {column.name!r} has value {label!r} of type {type(label).__name__}, "
                "which is neither a string nor a number; convert the column to strings"
            )
    return cast("tuple[Label, ...]", labels)  # numpy's scalars equal those of Python


def learn_categories(column: Column) -> tuple[CategoricalColumn, CodeArray]:
    """Find the distinct values of a column, in declared or sorted order, and its codes."""
    if column.is_text:
        labels = labels_of(column)
        found = CategoricalColumn(column.name, labels if column.declared else sorted_labels(labels))
        return found, found.encode(column)
    refuse_infinite(column.name, column.values)
    observed = ~column.missing
    if column.values.dtype.kind in "iub":
        distinct = distinct_integers(column.values)
        if distinct is not None:
            found = CategoricalColumn(column.name, tuple(distinct.tolist()))
            return found, found.encode(column)
    distinct, inverse = np.unique(column.values[observed], return_inverse=True)
    found = CategoricalColumn(column.name, tuple(distinct.tolist()))
    codes = np.full(len(column.values), found.size, dtype=code_type(found.size))
    codes[observed] = inverse
    return found, codes


def distinct_integers(values: AnyArray) -> AnyArray | None:
    """Distinct integers in order, without sorting; None where they are far apart."""
    lowest = int(values.min(initial=values[0])) if len(values) else 0
    spread = int(values.max(initial=values[0])) - lowest if len(values) else 0
    if spread >= _WIDEST_TABLE or lowest + spread > np.iinfo(np.int64).max:
        return None
    seen = np.zeros(spread + 1, dtype=bool)
    seen[values.astype(np.int64) - lowest] = True
    return (np.flatnonzero(seen) + lowest).astype(values.dtype)
