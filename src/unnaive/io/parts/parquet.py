"""Files that declare the types of their columns: Parquet, pyarrow datasets, ARFF."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING

from unnaive.io.arff import parse_arff
from unnaive.io.arrow import column_names, frame_of, is_text, text_names, values_of
from unnaive.io.content import arrow_for, check_names, encoding_of, refuse_duplicates, text_of
from unnaive.io.parts.base import Part, naming

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    from pyarrow import dataset

    from unnaive.exceptions import DataWarning
    from unnaive.io.frames import Frame
    from unnaive.io.parts.base import Frames, Told
    from unnaive.io.reading import Reading


class ArrowPart(Part):
    """Rows that pyarrow reads in batches, with a known schema."""

    def __init__(self, name: str, schema: pa.Schema) -> None:
        self.name, self.schema = name, schema
        refuse_duplicates(schema.names, name)
        with naming(name):
            self.columns, self.kinds = column_names(schema), kinds_of(schema)
        self._text = text_names(schema)

    @property
    def fields(self) -> list[pa.Field]:
        """The columns with their types."""
        return [self.schema.field(name) for name in self.columns]

    @abstractmethod
    def batches(self, **how: int | list[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of rows; ``how`` has the batch size, the columns and the use of threads."""

    def read(self, rows: int, columns: list[str], threads: bool, _: Told) -> Frames:
        """Yield a frame per batch."""
        yield from self.plain(rows, columns, threads)

    def plain(self, rows: int, columns: list[str], threads: bool) -> Iterator[Frame]:
        """Yield a frame per batch."""
        with naming(self.name):
            for batch in self.batches(batch_size=rows, columns=columns, use_threads=threads):
                if batch.num_rows:
                    check_codes(batch)
                    yield frame_of(batch, self._text)


class ParquetPart(ArrowPart):
    """A Parquet file; opening it reads only the footer."""

    def __init__(self, path: Path) -> None:
        self.path, parquet = path, arrow_for(path, "pyarrow.parquet")
        with naming(str(path)), parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
        check_names(schema.names, path)
        super().__init__(str(path), schema)

    def batches(self, **how: int | list[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of the file."""
        parquet = arrow_for(self.path, "pyarrow.parquet")
        with parquet.ParquetFile(self.path, read_dictionary=sorted(self._text)) as file:
            yield from file.iter_batches(**how)


class FragmentPart(ArrowPart):
    """A fragment of a ``pyarrow.dataset``, or all of one that is filtered."""

    def __init__(
        self, fragment: dataset.Fragment | dataset.Dataset, schema: pa.Schema, name: str
    ) -> None:
        super().__init__(name, schema)
        self._fragment = fragment

    def batches(self, **how: int | list[str]) -> Iterator[pa.RecordBatch]:
        """Yield batches of the fragment."""
        is_whole = hasattr(self._fragment, "get_fragments")  # a dataset has its schema
        known = {} if is_whole else {"schema": self.schema}
        known |= {"batch_readahead": 1, "fragment_readahead": 1}
        yield from self._fragment.to_batches(**how, **known)


class WholePart(Part):
    """An ARFF file, which can only be read as a whole."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.name = path, str(path)
        self.encoding = encoding_of(path, reading)
        frame = self.parse()
        self.columns, self.kinds = frame.names, {}
        for column in frame.columns:
            if not column.missing.all():
                self.kinds[column.name] = "text" if column.is_text else "number"

    def parse(self) -> Frame:
        """Parse the whole file."""
        return parse_arff(text_of(self.path, self.encoding.name), self.name)

    def notes(self) -> list[DataWarning]:
        """Return the note on the encoding, if there is one."""
        return list(self.encoding.note(self.name))

    def read(self, rows: int, columns: list[str], _: bool, __: Told) -> Frames:
        """Yield blocks of rows."""
        frame = self.parse().select(columns)
        for start in range(0, frame.n_rows, rows):
            yield frame.block(start, min(start + rows, frame.n_rows))


def check_codes(batch: pa.RecordBatch) -> None:
    """Raise if a code of a damaged file is beyond the labels; pyarrow does not look."""
    types = import_module("pyarrow").types
    for column in batch.columns:
        if types.is_dictionary(column.type):
            column.validate()
            codes = None if column.null_count else values_of(column.indices, -1)
            if codes is None or codes.min(initial=0) < 0 or codes.max() >= len(column.dictionary):
                column.validate(full=True)
            column.dictionary.validate(full=True)


def kinds_of(schema: pa.Schema) -> dict[str, str]:
    """Return the kinds of the columns of an arrow schema; other types are not listed."""
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
