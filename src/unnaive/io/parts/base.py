"""A part: some rows that are read together, a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.files import _plain
from unnaive.io.frames import Column, Frame, to_frame

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from unnaive._typing import AnyArray

RESTART = "restart"  # between frames: those of this part so far do not count, it begins anew


class Part(ABC):
    """A file, or a fragment of a ``pyarrow.dataset``.

    Attributes
    ----------
    name : str
        What it is called in errors and checkpoints.
    columns : tuple of str
        Names of its columns.
    kinds : dict
        By column "number", "bool" or "text"; a column without any value is not listed.
    typed : bool
        Whether the file itself says what a column is; the cells of a CSV are all text.
    """

    name: str
    columns: tuple[str, ...]
    kinds: dict[str, str]
    typed = True

    @abstractmethod
    def frames(
        self,
        rows: int,
        told: Mapping[str, str],
        threads: bool,
        wanted: Collection[str] | None = None,
    ) -> Iterator[Frame | str]:
        """Yield frames of at most about ``rows`` rows, or ``RESTART``.

        ``told`` says what columns are where the file does not: "int" and "float" (numbers),
        "bool", "text". ``wanted`` names the columns that are read; None: all.
        """

    def chosen(self, wanted: Collection[str] | None) -> tuple[str, ...]:
        """Columns to read, in the order of the file."""
        return tuple(name for name in self.columns if wanted is None or name in wanted)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Turn whatever pyarrow or the disk says of damaged rows into an error with the name."""
    arrow = import_module("pyarrow")
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise DataFileError(f"{name} is damaged ({error}); write or fetch it again") from error
    except (TypeError, NotImplementedError) as error:
        raise DataFileError(f"{name}: {error}") from error


def kinds_of(schema: Any) -> dict[str, str]:
    """Say what the columns of an arrow schema are; those of other types are not listed."""
    types = import_module("pyarrow").types
    kinds = {}
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_boolean(kind):
            kinds[field.name] = "bool"
        elif is_text(kind):
            kinds[field.name] = "text"
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            kinds[field.name] = "number"
    return kinds


def is_text(kind: Any) -> bool:
    """Whether an arrow type is one of strings."""
    types = import_module("pyarrow").types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def frame_of(table: Any, text: Collection[str], missing: Collection[str] = ()) -> Frame:
    """Make plain columns of an arrow table or batch of some rows.

    Columns ``text`` are labels without a declared order, be they encoded or not; a label that
    is one of ``missing``, blanks aside, is none.
    """
    types = import_module("pyarrow").types
    names = list(table.schema.names)
    columns: dict[str, Column] = {}
    for name, array in zip(names, table.columns, strict=True):
        if name in text:
            columns[name] = _labels(name, array, missing)
        elif types.is_integer(array.type) or types.is_floating(array.type):
            columns[name] = _numbers(name, array)
    if len(columns) < len(names):
        arrow = import_module("pyarrow")
        rest = [name for name in names if name not in columns]
        others = arrow.table({name: table.column(name) for name in rest})
        plain = arrow.schema([_plain(field, arrow) for field in others.schema])
        columns |= {column.name: column for column in to_frame(others.cast(plain)).columns}
    return Frame(tuple(names), table.num_rows, tuple(columns[name] for name in names))


def _numbers(name: str, array: Any) -> Column:
    """Take numbers as they are; a missing one makes floats of all."""
    arrow = import_module("pyarrow")
    if array.null_count or not arrow.types.is_integer(array.type):
        array = array.cast(arrow.float64(), safe=False)
    whole = array.combine_chunks() if hasattr(array, "combine_chunks") else array
    return Column(name, whole.to_numpy(zero_copy_only=False))


def _labels(name: str, column: Any, missing: Collection[str]) -> Column:
    arrow = import_module("pyarrow")
    merged = column if arrow.types.is_dictionary(column.type) else column.dictionary_encode()
    if hasattr(merged, "unify_dictionaries"):
        merged = merged.unify_dictionaries().combine_chunks()
    indices = merged.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    labels = merged.dictionary.to_pylist()
    return _cleaned(name, indices, labels, missing) if missing else _column(name, indices, labels)


def _column(name: str, indices: AnyArray, labels: list[str]) -> Column:
    return Column(name, indices, tuple(labels))


def _cleaned(name: str, indices: AnyArray, labels: list[str], missing: Collection[str]) -> Column:
    """Trim labels and take the missing ones out; work is done on the distinct ones."""
    places: dict[str, int] = {}
    table = [
        -1 if text in missing else places.setdefault(text, len(places))
        for text in map(str.strip, labels)
    ]
    return _column(name, np.array([*table, -1], dtype=np.int32)[indices], list(places))
