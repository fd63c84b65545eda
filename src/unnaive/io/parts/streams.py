"""Rows that come as arrow record batches: queries, lazy frames, readers, cursors."""

from __future__ import annotations

from contextlib import closing, contextmanager
from importlib import import_module
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.content import one_line
from unnaive.io.parts.parquet import ArrowPart
from unnaive.io.sources import AGAIN, ONCE, is_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

BATCH_ROWS = 1 << 17
READ_AHEAD = {"batch_readahead": 4, "fragment_readahead": 1}  # of a dataset, which holds them all


class StreamPart(ArrowPart):
    """The rows of a stream, and how to read them again.

    Attributes
    ----------
    again, once : bool
        Whether the stream can certainly be read again, as a query, or only once, as a cursor. Of
        other sources this is not known.
    n_read : int
        Rows read so far.
    """

    def __init__(self, source: Any) -> None:
        self._source, kind = source, type(source)
        self.again = isinstance(source, list | tuple) or any(hasattr(kind, name) for name in AGAIN)
        self.once = not self.again and any(hasattr(kind, name) for name in (*ONCE, "__next__"))
        self.n_read = 0
        name = getattr(source, "described", f"the {kind.__name__}")
        self._first: pa.RecordBatchReader | None = None
        with _breaking_off(name, self):
            schema = columns_of(source)
            if schema is None:
                self._first = open_reader(source)
                schema = self._first.schema
        if self._first is not None and self.again:  # a connection has only one open result
            self._first = self._first.close()
        super().__init__(name, schema)

    def batches(self, **how: Any) -> Iterator[pa.RecordBatch]:
        """Yield batches of about the size that is asked for."""
        reader, self._first, self.n_read = self._first, None, 0
        if reader is None:
            reader = self._again()
        waiting: list[pa.RecordBatch] = []
        ready = 0
        with closing(reader):
            while True:
                with _breaking_off(self.name, self):
                    batch = next(reader, None)
                if batch is not None:
                    waiting.append(batch.select(how["columns"]))
                    self.n_read += batch.num_rows
                    ready += batch.num_rows
                if waiting and (batch is None or ready >= how["batch_size"]):
                    yield from _joined(waiting, how["batch_size"])
                    waiting, ready = [], 0
                if batch is None:
                    return

    def _again(self) -> pa.RecordBatchReader:
        """Open the source a second time."""
        if self.again:
            with _breaking_off(self.name, self):
                return open_reader(self._source)
        try:
            return open_reader(self._source)
        except Exception as error:
            raise self.is_read_once() from error

    def is_read_once(self) -> UnnaiveError:
        """Return the error of a source that is needed a second time."""
        return UnnaiveError(
            f"{self.name} can be read only once, and its rows do not fit into memory; count "
            "with a schema=, so that one pass is enough, or give a source that can be read again, "
            "such as a query, a lazy frame, or a Parquet file"
        )


def columns_of(source: Any) -> pa.Schema | None:
    """Return the columns of a source that knows them before it is read; None of others."""
    if hasattr(source, "described_columns"):
        schema: pa.Schema | None = source.described_columns()
        return schema
    return source.schema if hasattr(source, "get_fragments") else None


def open_reader(source: Any) -> pa.RecordBatchReader:
    """Start to read a source from its beginning."""
    for name in (*AGAIN, "fetch_record_batch"):
        if hasattr(source, name):
            if name == "collect_schema":
                return _of_lazy_frame(source)
            if name in {"to_pyarrow_dataset", "get_fragments"}:
                dataset = source if name == "get_fragments" else source.to_pyarrow_dataset()
                return dataset.scanner(batch_size=BATCH_ROWS, **READ_AHEAD).to_reader()
            if name.endswith("_arrow_reader"):  # a relation keeps its result, a new one has none
                return getattr(source.project("*"), name)(BATCH_ROWS)
            return getattr(source, name)()
    if is_batches(source):  # so are readers
        return source if hasattr(source, "read_next_batch") else _of_batches(iter(source))
    return import_module("pyarrow").RecordBatchReader.from_stream(source)


def _of_lazy_frame(frame: Any) -> pa.RecordBatchReader:
    """Read a lazy frame of polars by its streaming engine, with strings that all libraries know."""
    plain = import_module("polars").CompatLevel.oldest()
    schema = frame.head(0).collect().to_arrow(compat_level=plain).schema
    if hasattr(frame, "collect_batches"):
        frames = frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
    else:  # polars before 1.34
        frames = [frame.collect()]
    batches = (
        batch.cast(schema)
        for one in frames
        for batch in one.to_arrow(compat_level=plain).to_batches()
    )
    return import_module("pyarrow").RecordBatchReader.from_batches(schema, batches)


def _of_batches(batches: Iterator[Any]) -> pa.RecordBatchReader:
    """Read the batches of a list or an iterator, which must have the same columns and types."""
    first = _required(next(batches, None))
    later = (_required(batch, first) for batch in batches)
    reader = import_module("pyarrow").RecordBatchReader
    return reader.from_batches(first.schema, chain([first], later))


def _required(batch: Any, first: pa.RecordBatch | None = None) -> pa.RecordBatch:
    """Return a batch if it is one, and has the columns of the first."""
    if batch is None:
        raise ValueError("there is no batch, so that not even the columns are known")
    if not isinstance(batch, import_module("pyarrow").RecordBatch):
        kind = type(batch).__name__
        raise TypeError(
            f"it gives a {kind}, and not a record batch of arrow; give a table, or paths of files"
        )
    if first is not None and not batch.schema.equals(first.schema):
        raise ValueError(f"{_difference(batch, first)}; give all batches one schema")
    return batch


def _difference(batch: pa.RecordBatch, first: pa.RecordBatch) -> str:
    """Name the first column in which two batches differ."""
    pairs = enumerate(zip_longest(batch.schema, first.schema), start=1)
    place, fields = next((at, (a, b)) for at, (a, b) in pairs if a is None or b is None or a != b)
    here, there = ("absent" if f is None else f"{f.name!r} ({f.type})" for f in fields)
    return f"column {place} of a batch is {here}, and of the first batch {there}"


def _joined(batches: list[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Join short batches and cut long ones."""
    table = import_module("pyarrow").Table.from_batches(batches)
    yield from (table if len(batches) == 1 else table.combine_chunks()).to_batches(rows)


@contextmanager
def _breaking_off(name: str, part: StreamPart) -> Iterator[None]:
    """Name the source in an error of whatever library reads it."""
    try:
        yield
    except (MemoryError, UnnaiveError):
        raise
    except Exception as error:
        when = f"broke off after {part.n_read:,} rows" if part.n_read else "cannot be read"
        raise DataFileError(f"{name} {when}: {one_line(error)}") from error
