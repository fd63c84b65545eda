"""Convert arrow tables to plain columns, without importing pandas."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from unnaive.io.frames import Column, Frame, aligned, to_frame

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from unnaive._typing import AnyArray


def strings(texts: Sequence[str]) -> pa.StringArray:
    """Make an arrow array of strings; ``pyarrow.array`` would import pandas."""
    arrow = import_module("pyarrow")
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(encoded))]
    return arrow.Array.from_buffers(arrow.string(), len(texts), buffers)


def is_text(kind: pa.DataType) -> bool:
    """Whether an arrow type is a string type."""
    types = import_module("pyarrow").types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def numbers(values: AnyArray) -> pa.Array:
    """Make an arrow array that shares the memory of a numpy array of numbers."""
    arrow = import_module("pyarrow")
    kind = arrow.from_numpy_dtype(values.dtype)
    return arrow.Array.from_buffers(kind, len(values), [None, arrow.py_buffer(values)])


def values_of(array: pa.Array | pa.ChunkedArray, missing: float) -> AnyArray:
    """Make a numpy array of arrow numbers, sharing memory where possible.

    Missing numbers become ``missing``. ``to_numpy`` would import pandas.
    """
    whole = array.combine_chunks() if hasattr(array, "combine_chunks") else array
    kind = whole.type.to_pandas_dtype()
    if whole.null_count:
        compute = import_module("pyarrow.compute")
        whole = compute.fill_null(whole, numbers(np.array([missing], dtype=kind))[0])
    size = np.dtype(kind).itemsize
    if not len(whole):
        return np.empty(0, dtype=kind)
    return aligned(np.frombuffer(whole.buffers()[1], kind, len(whole), whole.offset * size))


def frame_of(table: pa.RecordBatch, text: Collection[str]) -> Frame:
    """Make plain columns of an arrow batch.

    The columns ``text`` hold labels without a declared order, dictionary-encoded or not.
    """
    types = import_module("pyarrow").types
    names = list(table.schema.names)
    columns: dict[str, Column] = {}
    for name, array in zip(names, table.columns, strict=True):
        if name in text:
            columns[name] = _labels(name, array)
        elif types.is_integer(array.type) or types.is_floating(array.type):
            columns[name] = _numbers(name, array)
        elif types.is_boolean(array.type):
            columns[name] = _truths(name, array)
        elif types.is_null(array.type):
            columns[name] = Column(name, np.full(len(array), np.nan))
    if len(columns) < len(names):
        arrow = import_module("pyarrow")
        rest = [name for name in names if name not in columns]
        others = arrow.table({name: table.column(name) for name in rest})
        columns |= {column.name: column for column in to_frame(with_plain_types(others)).columns}
    return Frame(tuple(names), table.num_rows, tuple(columns[name] for name in names))


def _numbers(name: str, array: pa.Array) -> Column:
    """Make a numeric column; integers with missing values become floats."""
    arrow = import_module("pyarrow")
    if array.null_count or not arrow.types.is_integer(array.type):
        array = array.cast(arrow.float64(), safe=False)
    return Column(name, values_of(array, np.nan))


def _truths(name: str, array: pa.Array) -> Column:
    indices = values_of(array.cast("int8"), -1).astype(np.int32)
    return Column(name, indices, (False, True), declared=True)


def _labels(name: str, array: pa.Array) -> Column:
    """Make a categorical column; labels that a dictionary has twice get one code."""
    if not import_module("pyarrow").types.is_dictionary(array.type):
        array = array.dictionary_encode()
    places: dict[str, int] = {}
    table = [
        -1 if text is None else places.setdefault(text, len(places))
        for text in array.dictionary.to_pylist()
    ]
    codes = values_of(array.indices, -1)
    if table != list(range(len(table))):
        codes = np.array([*table, -1], dtype=np.int32)[codes]
    return Column(name, codes.astype(np.int32, copy=False), tuple(places))


def with_plain_types(table: pa.Table) -> pa.Table:
    """Decode string views and dictionaries of other types than strings, for ``to_frame``."""
    arrow = import_module("pyarrow")
    fields = []
    for field in table.schema:
        kind = field.type
        if arrow.types.is_dictionary(kind) and not arrow.types.is_string(kind.value_type):
            kind = kind.value_type
        fields.append(field.with_type(arrow.string() if arrow.types.is_string_view(kind) else kind))
    return table.cast(arrow.schema(fields))


def text_names(schema: pa.Schema) -> set[str]:
    """Return the names of string columns."""
    return {field.name for field in schema if is_text(field.type)}


def column_names(schema: pa.Schema) -> tuple[str, ...]:
    """Return the column names without the row index of pandas."""
    metadata = schema.pandas_metadata
    index = metadata.get("index_columns") if isinstance(metadata, dict) else None
    stored = index if isinstance(index, list) else []
    return tuple(name for name in schema.names if name not in stored)
