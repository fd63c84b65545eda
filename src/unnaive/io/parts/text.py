"""Read CSV files in batches with pyarrow; the kinds of the columns follow from the cells."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from typing import IO, TYPE_CHECKING, TypeVar

import numpy as np

from unnaive import _parallel
from unnaive._core.coding import has_quote, row_end
from unnaive.exceptions import DataFileError
from unnaive.io import cells
from unnaive.io.arrow import frame_of, strings
from unnaive.io.cells import arrow_type, trimmed
from unnaive.io.content import Encoding, arrow_for, check_names, encoding_of, open_bytes
from unnaive.io.parts.base import RESTART, TextPart, naming, one_line
from unnaive.io.reading import FALSE, PLAIN, TRUE, Format, Tally, fitting

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from unnaive._typing import AnyArray
    from unnaive.io.frames import Frame
    from unnaive.io.parts.base import Frames, Told
    from unnaive.io.reading import Reading

PIECE = 1 << 23  # bytes that one thread reads at a time
_WORKERS = 8
_LOOKED_AT = 1 << 20  # bytes by which columns are judged at first
_BLOCK = 1 << 20  # bytes that pyarrow reads at a time, more where rows seem to be long
_FIRST = 1 << 16  # bytes that tell how lines end
_LONGEST = 16  # pieces that a row may take, or a quote was left open
_SMALL = 1 << 28  # bytes: what may be read whole to say which line is wrong

Used = TypeVar("Used")


class CsvPart(TextPart):
    """A CSV or TSV file; opening it reads the header and the first block.

    The formats of the columns follow from the first block, or from all cells if a column has
    both numbers and words, or numbers that are ambiguous. If a later cell does not fit, all
    cells of the file are examined, and the file is read again.
    """

    def __init__(self, path: Path, ending: str, reading: Reading) -> None:
        super().__init__(path, reading)
        self.encoding = encoding_of(path, reading, _LOOKED_AT)
        self.separator = cells.sniff(path, ending, self.encoding.name)
        with self._explained():
            header = next(self._lines())
            self._header, self._ascii = len(header), header.removeprefix(BOM_UTF8).isascii()
            self._raw = self._parse(import_module("pyarrow").py_buffer(header), {}).column_names
        self.columns = tuple(name.strip() for name in self._raw)
        check_names(self.columns, path)
        with self._explained():
            with closing(self._pieces(_LOOKED_AT)) as pieces:
                first, more = next(pieces, None), next(pieces, None)
            if first is not None:
                types = dict.fromkeys(self._raw, arrow_type("text"))
                table = self._parse(first, types, names=self._raw)
                self.tallies = self._look(table, list(self.columns))
            self.decide()
            self._watched = {n for n, t in self.tallies.items() if t.words and more is not None}
            mixed = [n for n in self.columns if n in self._watched and self.tallies[n].numbers]
            if more is not None and (mixed or self.ambiguous):
                self._examine(list(self.columns) if self.ambiguous else mixed, threads=True)

    def read(self, rows: int, columns: list[str], threads: bool, told: Told) -> Frames:
        """Yield frames; the formats of columns that are not ``told`` follow from their cells."""
        try:
            yield from self._read(rows, columns, told, by_arrow=True, threads=threads)
        except arrow_for(self.path).ArrowInvalid:
            yield RESTART
            with self._explained():
                self._check_encoding()
                self._examine(columns, threads=threads)
                yield from self._read(rows, columns, told, by_arrow=False, threads=threads)

    def _check_encoding(self) -> None:
        """Find the encoding from the whole file, since more than its first block is needed."""
        if self.encoding == Encoding():
            encoding = encoding_of(self.path, self.reading)
            if encoding.line and not self._ascii:  # the header is UTF-8, and so is its meaning
                what = f"line {encoding.line} has the byte 0x{encoding.byte:02x}"
                cure = "save it as UTF-8, or name its encoding (--encoding)"
                raise DataFileError(f"{self.path}: {what}, which is not UTF-8; {cure}")
            self.encoding = encoding

    def _examine(self, chosen: list[str], *, threads: bool) -> None:
        """Tally all cells of some columns of the file, and choose the formats again."""
        self.tallies |= {name: Tally() for name in chosen}
        text = dict.fromkeys(chosen, Format("text"))
        for tallies in self._tables(text, self._look, encoded=False, threads=threads):
            for name, tally in tallies.items():
                self.tallies[name].merge(tally)
        self.decide()

    def _read(
        self, rows: int, chosen: list[str], told: Told, *, by_arrow: bool, threads: bool
    ) -> Iterator[Frame]:
        """Yield frames; ``by_arrow`` is fast and refuses cells that do not fit."""
        formats = self.choose(chosen, told)
        labels = {"text"} if by_arrow else {"text", "none"}
        text = {name for name, form in formats.items() if form.kind in labels}
        watched = (self._watched & text) - set(told) - self.reading.keep_text

        def frames(table: pa.Table, _: list[str]) -> list[Frame]:
            starts = range(0, table.num_rows, rows)
            made = [self._frame(table.slice(i, rows), formats, text, by_arrow) for i in starts]
            if by_arrow:
                for frame in made:
                    _require_words(frame, watched)
            return made

        every = formats if by_arrow else dict.fromkeys(formats, Format("text"))
        for some in self._tables(every, frames, encoded=by_arrow, threads=threads):
            yield from some

    def _frame(
        self, table: pa.Table, formats: Mapping[str, Format], text: set[str], by_arrow: bool
    ) -> Frame:
        columns = [
            column if name in text else self._convert(name, column, form, by_arrow)
            for (name, form), column in zip(formats.items(), table.itercolumns(), strict=True)
        ]
        table = import_module("pyarrow").table(columns, names=list(formats))
        with naming(self.name):
            return frame_of(table.combine_chunks(), text, self.reading.spellings)

    def _convert(
        self, name: str, column: pa.ChunkedArray, form: Format, by_arrow: bool
    ) -> pa.ChunkedArray:
        """Convert a column of text to numbers or booleans."""
        arrow = import_module("pyarrow")
        if not arrow.types.is_string(column.type):
            return column
        plain = trimmed(column, self.reading.spellings)
        try:
            return cells.converted(plain, form)
        except arrow.ArrowInvalid as error:
            if by_arrow:
                raise  # all cells are examined before the file is read again
            distinct = plain.unique().to_pylist()
            odd = next((cell for cell in distinct if not _casts(cell, form)), str(error))
            raise self.misfit(name, odd, form.kind) from error

    def _look(self, table: pa.Table, chosen: list[str]) -> dict[str, Tally]:
        """Tally the cells of each column of a table of text."""
        missing = self.reading.spellings
        columns = zip(chosen, table.columns, strict=True)
        return {name: cells.tally(trimmed(column, missing)) for name, column in columns}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the wrong line when pyarrow refuses a file."""
        try:
            yield
        except (arrow_for(self.path).ArrowInvalid, UnicodeDecodeError) as error:
            if self.path.stat().st_size < _SMALL:
                cells.diagnose(self.path, self.separator, self.encoding.name)
            raise DataFileError(f"{self.path}: {one_line(error)}; check that line") from error

    def _tables(
        self,
        formats: Mapping[str, Format],
        use: Callable[[pa.Table, list[str]], Used],
        *,
        encoded: bool,
        threads: bool,
    ) -> Iterator[Used]:
        """Yield ``use`` of the arrow table of every piece of the file, in parallel.

        Text is dictionary-encoded if ``encoded``.
        """
        plain = not any(fitting(word) for word in self.reading.missing if word)
        types = {
            raw: _type_of(formats[name], encoded=encoded, plain=plain)
            for raw, name in zip(self._raw, self.columns, strict=True)
            if name in formats
        }

        def read(piece: pa.Buffer) -> Used:
            return use(self._parse(piece, types, names=self._raw), list(formats))

        workers = min(_WORKERS, _parallel.effective_n_jobs(-1)) if threads else 1
        yield from _parallel.map_ahead(read, self._pieces(PIECE), workers)

    def _pieces(self, size: int) -> Generator[pa.Buffer]:
        """Yield the bytes after the header in pieces of whole rows."""
        rest: AnyArray = np.empty(0, np.uint8)
        self.empty_rows = 0
        with open_bytes(self.path, self.encoding.name) as stream:
            stream.read(self._header)
            while True:
                text = np.empty(len(rest) + size, np.uint8)
                text[: len(rest)] = rest
                filled = len(rest) + _fill(stream, text[len(rest) :])
                text, last = text[:filled], filled < len(text)
                end = len(text) if last else _row_end(text, len(text) // size)
                if piece := self._without_empty_rows(text[:end]):
                    yield piece
                if last:
                    return
                rest = text[end:]

    def _without_empty_rows(self, text: AnyArray) -> pa.Buffer | None:
        """Return the rows without those of separators and blanks; None if no row is left."""
        mark, content = self.separator.encode(), text.tobytes()
        if content.startswith(mark) or b"\n" + mark in content:
            blank = b"[ \t" + re.escape(mark) + b"]*"
            row = b'(?m)"[^"]*"|^' + blank + re.escape(mark) + blank + rb"(?:\r?\n|\Z)"
            content = re.sub(row, self._count_empty_row, content)
        return import_module("pyarrow").py_buffer(content) if content else None

    def _count_empty_row(self, row: re.Match[bytes]) -> bytes:
        if row[0].startswith(b'"'):  # a quoted cell, which may hold several lines
            return row[0]
        self.empty_rows += 1
        return b""

    def _lines(self) -> Iterator[bytes]:
        """Yield the first lines of the file, each with the blank ones before it."""
        line = b""
        with open_bytes(self.path, self.encoding.name) as stream:
            for more in stream:
                line += more
                if line.strip(BOM_UTF8 + b" \t\r\n") and not line.count(b'"') % 2:
                    yield line
                    line = b""
        yield line

    def _parse(
        self, piece: pa.Buffer, types: Mapping[str, pa.DataType], names: list[str] | None = None
    ) -> pa.Table:
        """Parse some rows with pyarrow; without ``names`` the first row is the header."""
        arrow, arrow_csv = arrow_for(self.path), arrow_for(self.path, "pyarrow.csv")
        convert = arrow_csv.ConvertOptions(
            null_values=self.reading.spellings,
            strings_can_be_null=True,
            true_values=TRUE,
            false_values=FALSE,
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


def _casts(cell: str | None, form: Format) -> bool:
    """Whether a cell is missing or fits a format."""
    if cell is None:
        return True
    with suppress(import_module("pyarrow").ArrowInvalid):
        return len(cells.converted(strings([cell]), form)) == 1
    return False


def _require_words(frame: Frame, watched: set[str]) -> None:
    """Raise ``ArrowInvalid`` if a column that had only words so far has numbers, too."""
    for column in frame.columns:
        if column.name in watched and any(fitting(str(label)) for label in column.categories or ()):
            raise import_module("pyarrow").ArrowInvalid(f"column {column.name!r} has numbers")


def _type_of(form: Format, *, encoded: bool, plain: bool) -> pa.DataType:
    """Return the arrow type in which a column is read; text is converted later."""
    arrow = import_module("pyarrow")
    if form.kind == "text" and encoded:
        return arrow.dictionary(arrow.int32(), arrow.string())
    plain &= form.style == PLAIN and not form.words
    return arrow_type(form.kind) if plain else arrow.string()
