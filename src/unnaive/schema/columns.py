"""The schema of one column: its categories or bin edges, and how its cells become codes."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.coding import look_up_floats, look_up_integers
from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import from_objects

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unnaive._typing import AnyArray, CodeArray, IntArray
    from unnaive.io.frames import Column

Label = str | int | float | bool
CodeType = type[np.uint8] | type[np.uint16] | type[np.uint32]
_EXACT = 2**53  # integers up to here are exact as floats
LARGEST_NUMBER = 1e150  # that Gaussian models accept; squares of larger numbers overflow
_NUMBER = re.compile(r"((?:^-)?\d+(?:\.\d+)?)")
MISSING_VALUES = "missing"  # the category of missing values
WIDEST_TABLE = 1 << 16  # a column of integers with a wider range is searched, not looked up


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of categories; the code of a category is its position.

    Category ``categories[j]`` has the code j. A missing value and an unseen category have the
    code v = ``size``. If missing values are a category of their own, it is the last one, with the
    code v − 1.

    Parameters
    ----------
    name : str
        Name of the column.
    categories : tuple of str, int, float or bool
        Distinct values of the column, in the order of their codes.
    others : tuple of str, default=()
        Rare values that share the last category, which is then called "other values".
    missing_category : bool, default=False
        Whether missing values are a further category, after all others.

    See Also
    --------
    NumericColumn : A column of numbers that is cut into bins.
    Schema : All columns and the classes.

    Examples
    --------
    >>> from unnaive.schema import CategoricalColumn
    >>> smoker = CategoricalColumn("smoker", ("never", "ex", "current"))
    >>> smoker.code("ex"), smoker.code("pipe"), smoker.code(None), smoker.label(2)
    (1, 3, 3, 'current')
    >>> asked = CategoricalColumn("smoker", ("no", "yes"), missing_category=True)
    >>> asked.code(None), asked.code("pipe"), asked.label(2)
    (2, 3, 'missing')
    """

    name: str
    categories: tuple[Label, ...]
    others: tuple[Label, ...] = field(default=(), repr=False)
    missing_category: bool = field(default=False, repr=False)

    @property
    def size(self) -> int:
        """Number of categories v, with that of missing values."""
        return len(self.categories) + self.missing_category

    def label(self, code: int) -> str:
        """Return the category of a code as text.

        Parameters
        ----------
        code : int
            A code from 0 to ``size`` - 1.

        Returns
        -------
        str
            The category, for reports and plots.
        """
        if code == len(self.categories) and self.missing_category:
            return MISSING_VALUES if MISSING_VALUES not in self.categories else "(missing)"
        return str(self.categories[code])

    @cached_property
    def is_text(self) -> bool:
        """Whether at least one category is a string."""
        return any(isinstance(label, str) for label in self.categories)

    @cached_property
    def _index(self) -> dict[object, int]:
        codes: dict[object, int] = dict.fromkeys(self.others, len(self.categories) - 1)
        return codes | {label: code for code, label in enumerate(self.categories)}

    @cached_property
    def _sorted(self) -> tuple[AnyArray, IntArray]:
        """Numeric categories in increasing order, and the code of each."""
        values = np.asarray(self.categories)
        order = np.argsort(values, kind="stable")
        return values[order], order.astype(np.int64)

    @cached_property
    def integer_table(self) -> tuple[int, CodeArray] | None:
        """Lowest category, and a table of codes for it and the following integers.

        The last entry of the table is the code v, for all integers outside the table. None if
        the categories are not integers, or if their range is too wide for a table.
        """
        if self.is_text or not self.categories:
            return None
        values, codes = self._sorted
        if values.dtype.kind not in "iub" or int(values[-1]) > np.iinfo(np.int64).max:
            return None
        if int(values[-1]) - int(values[0]) >= WIDEST_TABLE:
            return None
        lowest = int(values[0])
        table = np.full(int(values[-1]) - lowest + 2, self.size, dtype=code_type(self.size))
        table[values.astype(np.int64) - lowest] = codes
        return lowest, table

    def code(self, cell: object) -> int:
        """Code one cell, with the same result as :meth:`encode`.

        Parameters
        ----------
        cell : object
            A string, a number, or None or NaN for a missing value.

        Returns
        -------
        int
            The code of the category; ``size`` for an unseen category, and for a missing value
            unless it is a category.
        """
        if cell is None:
            return len(self.categories)
        try:
            code = self._index.get(cell)
        except TypeError:  # not hashable
            code = None
        return _code_as_column(self, cell) if code is None else code

    def encode(self, column: Column) -> CodeArray:
        """Code all cells of a column.

        Parameters
        ----------
        column : Column
            The cells, as :func:`unnaive.io.frames.to_column` returns them.

        Returns
        -------
        array of shape (n,), uint8, uint16 or uint32
            The code of every cell; ``size`` for an unseen category, and for a missing value unless
            it is a category.

        Raises
        ------
        UnnaiveError
            If the categories are strings and the cells are numbers, or the other way round.
        """
        if column.unknown:
            return np.full(len(column.values), self.size, dtype=code_type(self.size))
        if column.is_text:
            return self._encode_labels(column)
        if self.is_text and not all(isinstance(label, str) for label in self.categories):
            return self._encode_mixed(column)
        if self.is_text and not column.missing.all():
            raise UnnaiveError(
                f"column {self.name!r} held labels such as {self.categories[0]!r} in fit and has "
                f"the number {first_cell(column)} now; convert it to strings"
            )
        if self.integer_table is not None and column.values.dtype.kind in "iub":
            return _look_up(column.values, *self.integer_table)
        return self._search(column)

    def _encode_labels(self, column: Column) -> CodeArray:
        labels = column.categories or ()
        text = next((label for label in labels if isinstance(label, str)), None)
        if self.categories and not self.is_text and text is not None:
            raise UnnaiveError(
                f"column {self.name!r} held numbers such as {self.categories[0]!r} in fit and has "
                f"the label {text!r} now; convert it to numbers"
            )
        codes = [self._index.get(label, self.size) for label in labels]
        table = np.array([*codes, len(self.categories)], dtype=code_type(self.size))
        return _look_up(column.values, 0, table)  # −1 selects the last

    def _encode_mixed(self, column: Column) -> CodeArray:
        """Code numbers by categories of which some are text and some are numbers."""
        values, places = np.unique(column.values, return_inverse=True)
        codes = np.array([self._index.get(x, self.size) for x in values.tolist()])
        codes[np.isnan(values.astype(float))] = len(self.categories)
        return codes.astype(code_type(self.size))[places]

    def _search(self, column: Column) -> CodeArray:
        codes = np.full(len(column.values), self.size, dtype=code_type(self.size))
        refuse_infinite(self.name, column.values)
        codes[column.missing] = len(self.categories)
        if not self.categories or self.is_text:
            return codes
        values, order = self._sorted
        place = np.minimum(np.searchsorted(values, column.values), len(values) - 1)
        known = values[place] == column.values
        codes[known] = order[place[known]]
        return codes


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers that is cut into bins; the code is the number of edges below the value.

    With the edges e₁ < … < e_m there are v = m + 1 bins (−∞, e₁], (e₁, e₂], …, (e_m, ∞). A
    missing value has the code v. If missing values are a bin of their own, v = m + 2, and its code
    is v − 1.

    Parameters
    ----------
    name : str
        Name of the column.
    edges : tuple of float
        Strictly increasing edges of the bins; empty for a single bin.
    missing_category : bool, default=False
        Whether missing values are a further bin, after all others.

    See Also
    --------
    CategoricalColumn : A column of categories.
    unnaive.discretize : The methods that find the edges.

    Examples
    --------
    >>> from unnaive.schema import NumericColumn
    >>> age = NumericColumn("age", (18.0, 65.0))
    >>> age.code(18), age.code(19), age.code(None)
    (0, 1, 3)
    >>> [age.label(code) for code in range(age.size)]
    ['≤ 18', '(18, 65]', '> 65']
    """

    name: str
    edges: tuple[float, ...]
    missing_category: bool = field(default=False, repr=False)

    @property
    def size(self) -> int:
        """Number of bins v, with that of missing values."""
        return len(self.edges) + 1 + self.missing_category

    def label(self, code: int) -> str:
        """Return the bin of a code as text.

        Parameters
        ----------
        code : int
            A code from 0 to ``size`` - 1.

        Returns
        -------
        str
            The bin, such as "(18, 65]", for reports and plots; "any" if there is only one.
        """
        if code > len(self.edges):
            return MISSING_VALUES
        low, high = list(pairwise(["", *self._edge_texts, ""]))[code]
        if low and high:
            return f"({low}, {high}]"
        return f"> {low}" if low else f"≤ {high}" if high else "any"

    @cached_property
    def _edge_texts(self) -> list[str]:
        """Edges with six digits, or with as many as are needed to tell them apart."""
        texts: list[str] = []
        for digits in range(6, 18):
            texts = [f"{edge:.{digits}g}" for edge in self.edges]
            if len(set(texts)) == len(texts):
                break
        return texts

    def code(self, cell: object) -> int:
        """Code one cell, with the same result as :meth:`encode`.

        Parameters
        ----------
        cell : object
            A number, or None or NaN for a missing value.

        Returns
        -------
        int
            The index of the bin; ``len(edges) + 1`` for a missing value.
        """
        if cell is None:
            return len(self.edges) + 1
        if type(cell) is not float and type(cell) is not int:
            return _code_as_column(self, cell)
        if isfinite(cell):
            return bisect_left(self.edges, cell)
        return len(self.edges) + 1 if cell != cell else _code_as_column(self, cell)  # noqa: PLR0124 - NaN

    def encode(self, column: Column) -> CodeArray:
        """Code all cells of a column.

        Parameters
        ----------
        column : Column
            The cells, as :func:`unnaive.io.frames.to_column` returns them.

        Returns
        -------
        array of shape (n,), uint8, uint16 or uint32
            The index of the bin of every cell; ``len(edges) + 1`` for a missing value.

        Raises
        ------
        UnnaiveError
            If a cell is text or infinite.
        """
        codes: CodeArray = np.full((1, len(column.values)), self.size, code_type(self.size))
        if column.unknown:
            return np.asarray(codes[0])
        if column.is_text:
            if not column.missing.all():
                raise UnnaiveError(
                    f"column {self.name!r} held numbers in fit and has the label "
                    f"{first_cell(column)!r} now; convert it to numbers"
                )
            codes.fill(len(self.edges) + 1)
            return np.asarray(codes[0])
        block = np.ascontiguousarray(column.values, dtype=np.float64).reshape(-1, 1)
        starts = np.array([0, len(self.edges)])
        if look_up_floats(block, np.asarray(self.edges, dtype=float), starts, codes, 0) >= 0:
            refuse_infinite(self.name, column.values)
        return np.asarray(codes[0])


ColumnSchema = CategoricalColumn | NumericColumn


def first_cell(column: Column) -> object:
    """Return the first value of a column that is not missing; there must be one."""
    return column.cell(int(np.argmin(column.missing)))


def _code_as_column(column: ColumnSchema, cell: object) -> int:
    """Code a cell that is not a plain number or a known label, as a column of one cell."""
    if isinstance(cell, np.generic):
        return column.code(cell.item())
    return int(column.encode(from_objects([cell], column.name))[0])


def cell_kind(column: ColumnSchema) -> str:
    """Type as which a text file's cells must be read: "float", "int", "bool" or "text"."""
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
        native = native.view(np.int64)  # values from 2**63 are outside of every table
    look_up_integers(native, lowest, table, codes)
    return codes


def code_type(size: int) -> CodeType:
    """Return the narrowest code type for ``size`` values and the code of missing values."""
    if size <= np.iinfo(np.uint8).max:
        return np.uint8
    return np.uint16 if size <= np.iinfo(np.uint16).max else np.uint32


def sorted_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort labels; labels of types that do not compare are sorted by type, then by text.

    Parameters
    ----------
    labels : iterable of str, int, float or bool
        The labels.

    Returns
    -------
    tuple
        The labels in order.

    See Also
    --------
    label_array : An array of labels.

    Examples
    --------
    >>> from unnaive.schema import sorted_labels
    >>> sorted_labels(["b", "a"]), sorted_labels(["b", 2, "a", 1])
    (('a', 'b'), (1, 2, 'a', 'b'))
    """
    distinct = list(labels)
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(sorted(distinct, key=lambda label: (type(label).__name__, str(label))))


def natural_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort categories; numbers inside text sort by value, and "<5" comes before "5" and ">5".

    >>> natural_order(["stage 10", "stage 9", ">65", "18-65", "<18"])
    ('<18', '18-65', '>65', 'stage 9', 'stage 10')
    """
    distinct = list(labels)
    if any(not isinstance(label, str) for label in distinct):
        return sorted_labels(distinct)
    return tuple(sorted(distinct, key=_natural_key))


def _natural_key(label: Label) -> tuple[list[object], Label]:
    """Return texts and numbers in turn; a leading "<" or ">" counts after its number."""
    text = str(label)
    side = {"<": -1, "≤": -1, ">": 1, "≥": 1}.get(text[:1], 0)
    pieces = _NUMBER.split(text.lstrip("<>≤≥= ") if side else text)
    key: list[object] = [(float(x), side) if at % 2 else x for at, x in enumerate(pieces)]
    return key, label


def refuse_infinite(name: str, values: AnyArray) -> None:
    """Raise an error if a numeric column has an infinite value."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise UnnaiveError(
            f"column {name!r} has the infinite value {values[row]} in row {row}: infinity is "
            "neither a number to bin nor a category; replace it by a number or by NaN (missing)"
        )
