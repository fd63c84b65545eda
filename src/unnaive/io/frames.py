"""Plain columns: the common form of tables of numpy, pandas, polars and pyarrow.

The other rooms see only this form. A column is numeric (a numpy array of integers or floats,
NaN = missing) or categorical (indices into a list of categories, −1 = missing). A numeric array
with two dimensions is kept as it is, so that the kernels read it without a copy.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._scikit import check_array, column_or_1d
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from typing_extensions import TypeIs

    from unnaive._typing import AnyArray, BoolArray

_FEW_ROWS = 8
_MISSING_TYPES = {"NAType", "NaTType"}  # pandas.NA and pandas.NaT, without importing pandas


@dataclass(frozen=True)
class Column:
    """The values of one column.

    If ``categories`` is None, ``values`` are numbers. Otherwise ``values`` are indices into
    ``categories``, −1 for missing values, and ``declared`` says whether the list is the domain
    of the column in its order, including categories that do not occur (a pandas category, an
    ARFF nominal attribute). ``unknown`` says that nobody has looked at the cells: they are missing,
    and not in the category of missing values either, if a model has one.
    """

    name: str
    values: AnyArray
    categories: tuple[Hashable, ...] | None = None
    declared: bool = False
    unknown: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the column is categorical."""
        return self.categories is not None

    @property
    def missing(self) -> BoolArray:
        """Which values are missing; shape (n,)."""
        if self.is_text:
            return np.asarray(self.values < 0)
        if self.values.dtype.kind == "f":
            return np.isnan(self.values)
        return np.zeros(len(self.values), dtype=bool)

    def cell(self, row: int) -> object:
        """Return the value of a cell; None for a missing label."""
        value = self.values[row]
        if self.categories is not None:
            return self.categories[value] if value >= 0 else None
        return value.item()

    def take(self, rows: AnyArray) -> Column:
        """Return some rows of the column; undeclared categories that do not occur are dropped."""
        column = replace(self, values=self.values[rows])
        if self.categories is None or self.declared:
            return column
        present = np.bincount(column.values[column.values >= 0], minlength=len(self.categories)) > 0
        codes = np.append(np.where(present, np.cumsum(present) - 1, -1), -1).astype(np.int32)
        labels = tuple(compress(self.categories, present))
        return replace(column, values=codes[column.values], categories=labels)


@dataclass(frozen=True)
class Frame:
    """A table of plain columns; a numeric array is kept as ``matrix`` instead."""

    names: tuple[str, ...]
    n_rows: int
    columns: tuple[Column, ...] = ()
    matrix: AnyArray | None = None

    def column(self, index: int) -> Column:
        """Return column ``index`` as plain values."""
        if self.matrix is not None:
            return Column(self.names[index], self.matrix[:, index])
        return self.columns[index]

    def take(self, rows: AnyArray) -> Frame:
        """Return some rows of the table, by a mask or by positions."""
        columns = tuple(column.take(rows) for column in self.columns)
        matrix = None if self.matrix is None else self.matrix[rows]
        n_rows = int(rows.sum()) if rows.dtype == bool else len(rows)
        return Frame(self.names, n_rows, columns, matrix)

    def block(self, start: int, stop: int) -> Frame:
        """Return consecutive rows with all categories, without a copy."""
        if (start, stop) == (0, self.n_rows):
            return self
        rows = slice(start, stop)
        columns = tuple(replace(column, values=column.values[rows]) for column in self.columns)
        matrix = None if self.matrix is None else self.matrix[rows]
        return Frame(self.names, stop - start, columns, matrix)

    def select(self, names: Sequence[str]) -> Frame:
        """Return some columns, in the order of ``names``."""
        position = {name: index for index, name in enumerate(self.names)}
        columns = tuple(self.column(position[name]) for name in names)
        return Frame(tuple(names), self.n_rows, columns)

    def split(self, target: str) -> tuple[Frame, Column]:
        """Separate the column ``target`` from the rest."""
        if target not in self.names:
            known = ", ".join(repr(name) for name in self.names)
            raise ValueError(f"there is no column {target!r}; the columns are {known}")
        features = self.select([name for name in self.names if name != target])
        return features, self.column(self.names.index(target))


def to_frame(X: object) -> Frame:
    """Convert an array, a data frame, or a list of rows to a :class:`Frame`.

    Raises for sparse matrices, lazy frames, duplicate column names, and columns (dates, lists,
    …) that are neither numbers nor labels.
    """
    if isinstance(X, Frame):
        return _at_least_one(X)
    if _is_sparse(X):
        raise TypeError("sparse data was passed, but dense data is required; use X.toarray()")
    if isinstance(X, str | PathLike):
        raise TypeError(
            f"{str(X)!r} is the name of a file, and rows are needed here: read the file as a table "
            "first, for example with pandas.read_csv"
        )
    if is_mappings(X):
        return _from_mappings(X)
    if isinstance(X, np.ndarray | list | tuple):
        return _from_array(X)
    from unnaive.io.tables import from_table  # noqa: PLC0415 - imports narwhals

    frame = from_table(X)
    return _from_array(X) if frame is None else _at_least_one(frame)


def table_with_target(X: object, target: str) -> tuple[Frame, Column]:
    """Separate the column of labels from a table that has it."""
    if isinstance(X, np.ndarray | list | tuple) and not is_mappings(X):
        raise UnnaiveError(
            f"y is the text {target!r}, which names a column, but X has no names; give a label "
            "for every row"
        )
    return to_frame(X).split(target)


def rows_and_labels(X: object, y: object) -> tuple[Frame, Column]:
    """Read samples and their labels; text names the column of labels among those of X."""
    return table_with_target(X, y) if isinstance(y, str) else (to_frame(X), to_column(y))


def joined_columns(columns: Sequence[Column]) -> Column:
    """Join parts of one column, one below the other.

    Examples
    --------
    >>> parts = [Column("a", np.array([0, -1]), ("x",)), Column("a", np.array([0]), ("y",))]
    >>> joined_columns(parts).values.tolist(), joined_columns(parts).categories
    ([0, -1, 1], ('x', 'y'))
    """
    first = columns[0]
    seen = [column for column in columns if not column.missing.all()] or [first]
    if not any(column.is_text for column in seen):
        parts = [np.full(len(c.values), np.nan) if c.is_text else c.values for c in columns]
        if any(values.dtype.kind == "b" for values in parts):
            parts = [values for values in parts if len(values)]
        if len({values.dtype.kind == "b" for values in parts}) < 2:
            return Column(first.name, np.concatenate(parts))
    index: dict[Hashable, int] = {}
    values = [_shared_indices(column, index) for column in columns]
    declared = all(column.declared for column in columns)
    return Column(first.name, np.concatenate(values), tuple(index), declared)


def _shared_indices(column: Column, index: dict[Hashable, int]) -> AnyArray:
    """Return indices into categories that all parts of a column share, and that are added to."""
    if column.categories is None:
        column = from_objects(_objects(column), column.name)
    if column.categories is None:
        raise ValueError(
            f"column {column.name!r} has numbers in some parts and labels in others; convert it to "
            "one type"
        )
    codes = [index.setdefault(label, len(index)) for label in column.categories]
    return np.array([*codes, -1], dtype=np.int32)[column.values]


def _objects(column: Column) -> list[object]:
    """Return the values of a column of numbers, None where missing."""
    return [None if value != value else value for value in column.values.tolist()]  # noqa: PLR0124 - NaN


def dates_as_text(X: object) -> tuple[object, list[str]]:
    """Replace dates of a data frame by texts such as 2024-02-29; return the names of the columns.

    Other data are returned as they are.
    """
    if isinstance(X, Frame | np.ndarray | list | tuple):
        return X, []
    from unnaive.io.tables import dates_of_table  # noqa: PLC0415 - imports narwhals

    return dates_of_table(X)


def is_mappings(X: object) -> TypeIs[Sequence[Mapping[str, object]]]:
    """Whether X is a list of rows that map column names to values."""
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def is_few_rows(X: object) -> bool:
    """Whether X has so few rows that encoding cell by cell is fastest."""
    kind = type(X)
    is_pandas = kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas"
    return is_mappings(X) or (is_pandas and isinstance(X, Sized) and 0 < len(X) <= _FEW_ROWS)


def _from_mappings(rows: Sequence[Mapping[str, object]]) -> Frame:
    """Make columns of mappings, in the order of first appearance; absent names are missing."""
    names = tuple(dict.fromkeys(str(name) for row in rows for name in row))
    columns = tuple(from_objects([row.get(name) for row in rows], name) for name in names)
    return _at_least_one(Frame(names, len(rows), columns))


def _is_sparse(X: object) -> bool:
    """Whether X is a sparse matrix, without importing scipy.sparse."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def to_column(y: object, name: str = "y") -> Column:
    """Convert a vector of labels (series, list, array, pandas categorical) to a column."""
    if isinstance(y, Column):
        return y
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if not isinstance(y, np.ndarray | list | tuple):
        from unnaive.io.tables import from_series  # noqa: PLC0415 - imports narwhals

        column = from_series(y, name)
        if column is not None:
            return column
    if isinstance(y, np.ndarray) and y.ndim == 1:
        return _from_vector(y, name)
    values = column_or_1d(y if hasattr(y, "__array__") else _as_array(y), warn=True)
    return _from_vector(np.asarray(values), name)


def _as_array(labels: object) -> AnyArray:
    """Convert a list to an array, without turning numbers among strings into strings."""
    array = np.asarray(labels)
    if array.dtype.kind in "US" and isinstance(labels, Sequence):
        if all(isinstance(label, str) for label in labels):
            return array
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
    return array


def _at_least_one(frame: Frame) -> Frame:
    if not frame.names:
        shape = (frame.n_rows, 0)
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if not frame.n_rows:
        shape = (0, len(frame.names))
        raise ValueError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required: "
            "the frame has columns but no rows"
        )
    return frame


@lru_cache(maxsize=16)
def _numbered(n_columns: int) -> tuple[str, ...]:
    """Default names of columns."""
    return tuple(f"x{i}" for i in range(n_columns))


def _from_array(X: object) -> Frame:
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "iufb" and 0 not in X.shape:
        return Frame(_numbered(X.shape[1]), len(X), matrix=aligned(X))
    array: AnyArray = check_array(X, dtype=None, ensure_all_finite=False)
    if array.dtype.kind in "US" and not hasattr(X, "__array__"):
        array = np.array(X, dtype=object)  # keeps numbers and None among strings as they are
    names = _numbered(array.shape[1])
    if array.dtype.kind in "iufb":
        return Frame(names, len(array), matrix=aligned(array))
    columns = tuple(_from_vector(array[:, i], name) for i, name in enumerate(names))
    return Frame(names, len(array), columns)


def aligned(values: AnyArray) -> AnyArray:
    """Return numbers at addresses that kernels read; those that came over a network may not be.

    Examples
    --------
    >>> sent = np.frombuffer(b"." + np.arange(3).tobytes(), dtype=np.int64, offset=1)
    >>> sent.flags.aligned, aligned(sent).flags.aligned, aligned(sent).tolist()
    (False, True, [0, 1, 2])
    """
    return values if values.flags.aligned else values.copy()


def _from_vector(values: AnyArray, name: str) -> Column:
    kind = values.dtype.kind
    if kind in "iufb":
        return Column(name, aligned(values))
    if kind in "US":
        labels, indices = np.unique(values.astype(str), return_inverse=True)
        return Column(name, indices.astype(np.int32), tuple(labels.tolist()))
    if kind == "O":
        return from_objects(values.tolist(), name)
    raise unsupported(name, str(values.dtype))


def from_objects(values: Sequence[object], name: str) -> Column:
    """Make a column of a list of values; it is numeric if all values are numbers."""
    index: dict[object, int] = {}
    indices = np.empty(len(values), dtype=np.int32)
    try:
        for row, value in enumerate(values):
            if value is None or value != value or type(value).__name__ in _MISSING_TYPES:  # noqa: PLR0124 - NaN
                indices[row] = -1
            else:
                indices[row] = index.setdefault(value, len(index))
    except (TypeError, ValueError):
        if type(value).__name__ in _MISSING_TYPES:  # pandas.NA refuses to be compared
            plain = [None if type(v).__name__ in _MISSING_TYPES else v for v in values]
            return from_objects(plain, name)
        raise TypeError(
            f"column {name!r} has value {value!r} of type {type(value).__name__}; "
            "argument must be a string or a number"
        ) from None
    return _numbers_or_labels(name, indices, list(index))


def _numbers_or_labels(name: str, indices: AnyArray, categories: list[object]) -> Column:
    """Make a column of distinct objects: numeric if all are numbers, else categorical."""
    if any(isinstance(c, complex | np.complexfloating) for c in categories):
        raise ValueError(f"Complex data not supported: column {name!r}")
    numeric = all(isinstance(c, Real) and not isinstance(c, bool | np.bool_) for c in categories)
    if numeric and (categories or not len(indices)):
        whole = all(isinstance(c, int | np.integer) and abs(int(c)) < 2**63 for c in categories)
        if whole and indices.min(initial=0) >= 0:
            return Column(name, np.asarray(categories, dtype=np.int64)[indices])
        return Column(name, np.append(np.asarray(categories, dtype=float), np.nan)[indices])
    return Column(name, indices, tuple(categories))


def unsupported(name: str, dtype: str) -> TypeError:
    """Make the error for a column that is neither numbers nor labels."""
    if dtype.startswith(("Date", "Time", "Duration")):
        return TypeError(
            f"column {name!r} has dates or times; convert it to numbers, such as the days since a "
            "date, or drop it"
        )
    return TypeError(
        f"column {name!r} has type {dtype}, which is neither numbers nor labels; "
        "convert it to numbers or strings, or drop it"
    )
