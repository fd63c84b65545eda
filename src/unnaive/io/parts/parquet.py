"""Parts that say themselves what their columns are: Parquet, datasets, ARFF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.io.arrow import column_names, frame_of, is_text
from unnaive.io.content import arrow_for, check_names
from unnaive.io.files import read
from unnaive.io.parts.base import Part, kinds_of, naming

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping
    from pathlib import Path

    import pyarrow as pa
    from pyarrow import dataset

    from unnaive.io.frames import Frame


class ParquetPart(Part):
    """A Parquet file; its footer is read at once, its rows in batches."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        parquet = arrow_for(path, "pyarrow.parquet")
        with naming(self.name), parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
        check_names(schema.names, path)
        self.columns = column_names(schema)
        self.kinds = kinds_of(schema)
        self._text = {field.name for field in schema if is_text(field.type)}

    def frames(
        self,
        rows: int,
        told: Mapping[str, str],  # noqa: ARG002
        threads: bool,
        wanted: Collection[str] | None = None,
    ) -> Generator[Frame | str]:
        """Yield frames; ``told`` is not needed."""
        parquet = arrow_for(self.path, "pyarrow.parquet")
        with (
            naming(self.name),
            parquet.ParquetFile(self.path, read_dictionary=sorted(self._text)) as file,
        ):
            how = {"batch_size": rows, "columns": list(self.chosen(wanted)), "use_threads": threads}
            for batch in file.iter_batches(**how):
                if batch.num_rows:
                    yield frame_of(batch, self._text)


class FragmentPart(Part):
    """A fragment of a ``pyarrow.dataset``, or all of one that is filtered."""

    def __init__(
        self, fragment: dataset.Fragment | dataset.Dataset, schema: pa.Schema, name: str
    ) -> None:
        self._fragment, self._schema, self.name = fragment, schema, name
        self.columns = column_names(schema)
        self.kinds = kinds_of(schema)
        self._text = {field.name for field in schema if is_text(field.type)}

    def frames(
        self,
        rows: int,
        told: Mapping[str, str],  # noqa: ARG002
        threads: bool,
        wanted: Collection[str] | None = None,
    ) -> Generator[Frame | str]:
        """Yield frames; ``told`` is not needed."""
        how = {"batch_size": rows, "columns": list(self.chosen(wanted)), "use_threads": threads}
        how |= {"batch_readahead": 1, "fragment_readahead": 1}
        if not hasattr(self._fragment, "get_fragments"):  # a dataset knows its own
            how["schema"] = self._schema
        with naming(self.name):
            for batch in self._fragment.to_batches(**how):
                if batch.num_rows:
                    yield frame_of(batch, self._text)


class WholePart(Part):
    """A file that can only be read as a whole: ARFF."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        frame = read(path)
        self.columns = frame.names
        self.kinds = {}
        for index, name in enumerate(frame.names):
            column = frame.column(index)
            if not column.missing.all():
                self.kinds[name] = "text" if column.is_text else "number"

    def frames(
        self,
        rows: int,
        told: Mapping[str, str],  # noqa: ARG002
        threads: bool,  # noqa: ARG002
        wanted: Collection[str] | None = None,
    ) -> Generator[Frame | str]:
        """Yield blocks of the whole; ``told`` is not needed."""
        frame = read(self.path)
        frame = frame.select(self.chosen(wanted))
        for start in range(0, frame.n_rows, rows):
            yield frame.block(start, min(start + rows, frame.n_rows))
