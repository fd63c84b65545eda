"""Sources of rows that are streams of arrow batches, recognized by what their type offers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

# Methods of sources that can be read again: of DuckDB, Iceberg, pyarrow's scanners, Delta, polars
AGAIN = (
    *("to_arrow_reader", "fetch_arrow_reader", "to_arrow_batch_reader", "to_reader"),
    *("to_pyarrow_dataset", "collect_schema", "get_fragments"),
)
ONCE = ("fetch_record_batch", "read_next_batch")  # of cursors of ADBC, of readers of pyarrow
_LAZY = {
    *(("polars", "LazyFrame"), ("pyarrow", "RecordBatchReader")),
    *(("pyarrow", "Scanner"), ("pyarrow", "Dataset")),
}
_HELD = {"numpy", "pandas", "polars", "pyarrow", "modin", "cudf", "dask", "pyspark"}


def is_stream(source: object) -> bool:
    """Whether rows are read from a source as a stream; tables in memory are no streams.

    Record batches in a list are one, and so is every iterator, which can only give batches.

    Examples
    --------
    >>> from unnaive.io.sources import is_stream
    >>> is_stream([[1, 2], [3, 4]])
    False
    """
    if is_batches(source):
        return True
    kind: Any = type(source)
    return _gives_batches(kind)


def is_batches(source: object) -> bool:
    """Whether a source is an iterator, or a list of arrow record batches."""
    if isinstance(source, list | tuple) and source:
        kind = type(source[0])
        return kind.__name__ == "RecordBatch" and kind.__module__.startswith("pyarrow")
    return isinstance(source, Iterator)


@cache
def _gives_batches(kind: type) -> bool:
    names = {(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__}
    if names & _LAZY:
        return True
    if any(module in _HELD for module, _ in names):
        return False
    return any(hasattr(kind, name) for name in (*AGAIN, *ONCE, "__arrow_c_stream__"))
