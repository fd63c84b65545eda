"""Read CSV files in batches with pyarrow; the kinds of the columns follow from the cells."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, TypeVar

import numpy as np

from unnaive import _parallel
from unnaive._core.coding import has_quote, row_end
from unnaive.exceptions import DataFileError
from unnaive.io import cells
from unnaive.io.arrow import frame_of, strings
from unnaive.io.cells import MISSING, arrow_type, kind_of, trimmed
from unnaive.io.content import arrow_for, check_names, open_bytes
from unnaive.io.parts.base import RESTART, Part, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from unnaive._typing import AnyArray
    from unnaive.io.frames import Frame
    from unnaive.io.parts.base import Frames, Told

PIECE = 1 << 23  # bytes that one thread reads at a time
_WORKERS = 8
_LOOKED_AT = 1 << 20  # bytes by which columns are judged at first
_BLOCK = 1 << 20  # bytes that pyarrow reads at a time, more where rows seem to be long
_FIRST = 1 << 16  # bytes that tell how lines end
_LONGEST = 16  # pieces that a row may take, or a quote was left open
_SMALL = 1 << 28  # bytes: what may be read whole to say which line is wrong

Used = TypeVar("Used")


class CsvPart(Part):
    """A CSV or TSV file; opening it reads the header and the first block.

    The kind of a column follows from the first block. If a later cell does not fit, all cells of
    the file are examined, and the file is read again.
    """

    typed = False

    def __init__(self, path: Path, ending: str) -> None:
        self.path, self.name = path, str(path)
        self.separator = cells.sniff(path, ending)
        with self._explained():
            header = next(self._lines())
            self._header = len(header)
            self._raw = self._parse(import_module("pyarrow").py_buffer(header), {}).column_names
        self.columns = tuple(name.strip() for name in self._raw)
        check_names(self.columns, path)
        with self._explained():
            first = self._tables("text", {}, list(self.columns), self._look, size=_LOOKED_AT)
            self._kinds = next(first, {})

    @property
    def kinds(self) -> dict[str, str]:  # type: ignore[override]
        """The kinds of the columns, as far as the file was read."""
        numbers = {"int": "number", "float": "number", "comma": "number"}
        return {n: numbers.get(kind, kind) for n, kind in self._kinds.items() if kind != "none"}

    def read(self, rows: int, columns: list[str], threads: bool, told: Told) -> Frames:
        """Yield frames; the kinds of columns that are not ``told`` follow from their cells."""
        try:
            kinds = {**self._kinds, **told}
            yield from self._read(rows, kinds, columns, by_arrow=True, threads=threads)
        except arrow_for(self.path).ArrowInvalid:
            yield RESTART
            yield from self._read_carefully(rows, columns, threads, told)

    def _read_carefully(self, rows: int, chosen: list[str], threads: bool, told: Told) -> Frames:
        """Examine every cell, then read all columns as text and convert them."""
        with self._explained():
            for kinds in self._tables("text", {}, chosen, self._look, threads=threads):
                for name, kind in kinds.items():
                    self._kinds[name] = _join(self._kinds.get(name, "none"), kind)
            kinds = {**self._kinds, **told}
            yield from self._read(rows, kinds, chosen, by_arrow=False, threads=threads)

    def _read(
        self,
        rows: int,
        kinds: Mapping[str, str],
        chosen: list[str],
        *,
        by_arrow: bool,
        threads: bool,
    ) -> Iterator[Frame]:
        """Yield frames of known kinds; ``by_arrow`` is fast and refuses cells that do not fit."""
        labels = {"text"} if by_arrow else {"text", "none"}
        text = {name for name in chosen if kinds.get(name, "none") in labels}

        def frames(table: pa.Table, _: list[str]) -> list[Frame]:
            starts = range(0, table.num_rows, rows)
            return [self._frame(table.slice(i, rows), kinds, chosen, text) for i in starts]

        every = "" if by_arrow else "text"
        for some in self._tables(every, kinds, chosen, frames, threads=threads):
            yield from some

    def _frame(
        self, table: pa.Table, kinds: Mapping[str, str], chosen: list[str], text: set[str]
    ) -> Frame:
        columns = [
            column if name in text else self._convert(name, column, kinds.get(name, "none"))
            for name, column in zip(chosen, table.itercolumns(), strict=True)
        ]
        table = import_module("pyarrow").table(columns, names=chosen)
        with naming(self.name):
            return frame_of(table.combine_chunks(), text, MISSING)

    def _convert(self, name: str, column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
        """Convert a column of text to numbers or booleans."""
        arrow = import_module("pyarrow")
        if not arrow.types.is_string(column.type):
            return column
        plain = trimmed(column)
        try:
            return cells.converted(plain, kind)
        except arrow.ArrowInvalid as error:
            if kind == "float" and self.separator == ";":
                return self._convert(name, column, "comma")
            wanted = "true or false" if kind == "bool" else "a number"
            held = plain.unique().to_pylist()
            odd = next((cell for cell in held if not _casts(cell, kind)), str(error))
            what = f"column {name!r} has {odd!r}, where it should have {wanted}"
            raise DataFileError(f"{self.path}: {what}; correct it, or leave it empty") from error

    def check_quotes(self) -> None:
        """Raise if a quote is not closed, so that the last cell may have swallowed rows."""
        with open_bytes(self.path) as stream:
            quotes = sum(piece.count(b'"') for piece in iter(lambda: stream.read(PIECE), b""))
        if quotes % 2:
            cells.diagnose(self.path, self.separator)

    def _look(self, table: pa.Table, chosen: list[str]) -> dict[str, str]:
        """Return the kind of each column of a table of text."""
        columns = zip(chosen, table.columns, strict=True)
        return {name: kind_of(trimmed(column), self.separator) for name, column in columns}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the wrong line when pyarrow refuses a file."""
        try:
            yield
        except (arrow_for(self.path).ArrowInvalid, UnicodeDecodeError) as error:
            if self.path.stat().st_size < _SMALL:
                cells.diagnose(self.path, self.separator)
            raise DataFileError(f"{self.path}: {error}; check that line") from error

    def _tables(
        self,
        every: str,
        kinds: Mapping[str, str],
        chosen: list[str],
        use: Callable[[pa.Table, list[str]], Used],
        *,
        threads: bool = False,
        size: int | None = None,
    ) -> Iterator[Used]:
        """Yield ``use`` of the arrow table of every piece of the file, in parallel.

        If ``every`` is given, all columns are read as this kind.
        """
        types = {
            raw: arrow_type(every) if every else _encoded_type(kinds.get(name, "none"))
            for raw, name in zip(self._raw, self.columns, strict=True)
            if name in chosen
        }

        def read(piece: pa.Buffer) -> Used:
            return use(self._parse(piece, types, names=self._raw), chosen)

        workers = min(_WORKERS, _parallel.effective_n_jobs(-1)) if threads else 1
        yield from _parallel.map_ahead(read, self._pieces(size or PIECE), workers)

    def _pieces(self, size: int) -> Iterator[pa.Buffer]:
        """Yield the bytes after the header in pieces of whole rows."""
        rest: AnyArray = np.empty(0, np.uint8)
        with open_bytes(self.path) as stream:
            stream.seek(self._header)
            while True:
                text = np.empty(len(rest) + size, np.uint8)
                text[: len(rest)] = rest
                filled = len(rest) + _fill(stream, text[len(rest) :])
                text, last = text[:filled], filled < len(text)
                end = len(text) if last else _row_end(text, len(text) // size)
                if end:
                    yield import_module("pyarrow").py_buffer(text[:end])
                if last:
                    return
                rest = text[end:]

    def _lines(self) -> Iterator[bytes]:
        """Yield the first lines of the file, each with the blank ones before it."""
        line = b""
        with open_bytes(self.path) as stream:
            for more in stream:
                line += more
                if line.strip(b"\xef\xbb\xbf \t\r\n") and not line.count(b'"') % 2:
                    yield line
                    line = b""
        yield line

    def _parse(
        self, piece: pa.Buffer, types: Mapping[str, pa.DataType], names: list[str] | None = None
    ) -> pa.Table:
        """Parse some rows with pyarrow; without ``names`` the first row is the header."""
        arrow, arrow_csv = arrow_for(self.path), arrow_for(self.path, "pyarrow.csv")
        convert = arrow_csv.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            true_values=cells.TRUE,
            false_values=cells.FALSE,
            column_types=types,
            include_columns=list(types),
        )
        quoted = has_quote(np.frombuffer(piece, np.uint8))  # or no cell holds the end of a line
        parse = arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=quoted)

        def parsed(block: int) -> pa.Table:
            read = arrow_csv.ReadOptions(block_size=block, use_threads=False, column_names=names)
            return arrow_csv.read_csv(arrow.BufferReader(piece), read, parse, convert)

        if (block := max(_BLOCK, 4 * self._header)) <= len(piece):
            with suppress(arrow.ArrowInvalid):  # a row may be longer than a block
                return parsed(block)
        return parsed(len(piece) + 1)


def _row_end(text: AnyArray, pieces: int) -> int:
    """Return the end of the last whole row, or of the text if a quote was never closed."""
    ending = b"\n" if b"\n" in text[:_FIRST].tobytes() else b"\r"
    return len(text) if pieces > _LONGEST else row_end(text, ord(ending))


def _fill(stream: IO[bytes], room: AnyArray) -> int:
    """Fill a buffer from a stream as far as possible; return the number of bytes."""
    filled = 0
    while read := stream.readinto(room[filled:].data):  # type: ignore[attr-defined]
        filled += read
    return filled


def _casts(cell: str | None, kind: str) -> bool:
    """Whether a cell is missing or of a kind."""
    if cell is None:
        return True
    with suppress(import_module("pyarrow").ArrowInvalid):
        return len(cells.converted(strings([cell]), kind)) == 1
    return False


def _encoded_type(kind: str) -> pa.DataType:
    """Return the arrow type in which columns of a kind are read; labels are dictionaries."""
    arrow = import_module("pyarrow")
    encoded = arrow.dictionary(arrow.int32(), arrow.string())
    return encoded if kind == "text" else arrow_type(kind)


def _join(first: str, second: str) -> str:
    """Return the kind of a column from the kinds of two of its pieces."""
    both = {first, second} - {"none"}
    if len(both) <= 1:
        return both.pop() if both else "none"
    if both == {"int", "float"}:
        return "float"
    return "comma" if both == {"int", "comma"} else "text"
