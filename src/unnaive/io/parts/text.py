"""Text files, which the compiled core reads in pieces; kinds of columns follow from the cells."""

from __future__ import annotations

import re
from abc import abstractmethod
from codecs import BOM_UTF8
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from typing import IO, TYPE_CHECKING, TypeVar

import numpy as np

from unnaive import _parallel
from unnaive._core import csv
from unnaive.exceptions import DataFileError, DataWarning
from unnaive.io.content import Encoding, check_names, encoding_of, open_bytes
from unnaive.io.parts.base import RESTART, Part
from unnaive.io.parts.parsing import CellError, look, parse
from unnaive.io.reading import Format, Tally, decide, numbers_notes, words_note

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Iterator
    from pathlib import Path

    from unnaive._typing import AnyArray
    from unnaive.io.frames import Frame
    from unnaive.io.parts.base import Frames, Told
    from unnaive.io.reading import Reading

PIECE = 1 << 23  # bytes that one thread reads at a time
_WORKERS = 8
_LOOKED_AT = 1 << 20  # bytes by which columns are judged at first
_LONGEST = 16  # pieces that a row may take, or a quote was left open
_LONGEST_HEADER = 1 << 24  # bytes

Used = TypeVar("Used")


class TextPart(Part):
    """A file whose cells are text.

    The formats of the columns follow from the first block, or from all cells if a column has
    both numbers and words, or numbers that are ambiguous. If a later cell does not fit, all
    cells of the file are examined, and the file is read again. ``tallies`` and ``formats`` are by
    column; ``read_as`` has the formats of the columns that were read.
    """

    typed = False
    separator: str

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.name, self.reading = path, str(path), reading
        self.encoding = Encoding()
        self.tallies: dict[str, Tally] = {}
        self.formats: dict[str, Format] = {}
        self.read_as: dict[str, Format] = {}
        self.ambiguous: list[str] = []
        self.empty_rows = 0

    @property
    def kinds(self) -> dict[str, str]:  # type: ignore[override]
        """The kinds of the columns, as far as the file was read."""
        kinds = {name: form.kind for name, form in self.formats.items() if form.kind != "none"}
        return {n: "number" if kind in {"int", "float"} else kind for n, kind in kinds.items()}

    @abstractmethod
    def pieces(self, size: int) -> Generator[AnyArray]:
        """Yield the rows below the header as CSV in UTF-8, in pieces of about ``size`` bytes."""

    def open(self) -> None:
        """Check the names of the columns and choose their formats."""
        check_names(self.columns, self.path)
        with closing(self.pieces(_LOOKED_AT)) as pieces:
            first = list(islice(pieces, 2))
        more = len(first) > 1
        with self._explained():
            self._tally(self.columns if first else (), first[:1], threads=False)
            self._watched = {n for n, tally in self.tallies.items() if tally.words and more}
            mixed = [n for n in self._watched if self.tallies[n].numbers]
            if more and (mixed or self.ambiguous):
                self._examine(self.columns if self.ambiguous else mixed, threads=True)

    def read(self, rows: int, columns: list[str], threads: bool, told: Told) -> Frames:
        """Yield frames; the formats of columns that are not ``told`` follow from their cells."""
        try:
            yield from self._parse(rows, columns, told, threads=threads)
        except CellError:
            yield RESTART
            with self._explained():
                self.check_encoding()
                self._examine(columns, threads=threads)
                yield from self._parse(rows, columns, told, threads=threads)

    def check_encoding(self) -> None:
        """Find the encoding from the whole file, if only its first block decided."""

    def notes(self) -> list[DataWarning]:
        """Return notes on the encoding, number formats, missing values and empty rows."""
        notes = list(self.encoding.note(self.name))
        notes += numbers_notes(self.name, self.read_as, self.tallies, self.ambiguous)
        worded = {n: self.tallies[n] for n, form in self.read_as.items() if form.words}
        if worded:
            notes.append(words_note(self.name, worded))
        if self.empty_rows:
            what = f"{self.empty_rows:,} empty row{'s were' if self.empty_rows > 1 else ' was'}"
            notes.append(DataWarning(f"{self.name}: {what} skipped", kind="rows"))
        return notes

    def _examine(self, chosen: Collection[str], *, threads: bool) -> None:
        """Tally all cells of some columns of the file, and choose the formats again."""
        try:
            self._tally(chosen, self.pieces(PIECE), threads=threads)
        except CellError:
            self.check_encoding()
            self._tally(chosen, self.pieces(PIECE), threads=threads)
        self._watched.difference_update(chosen)

    def _tally(self, chosen: Collection[str], pieces: Iterable[AnyArray], *, threads: bool) -> None:
        self.tallies |= {name: Tally() for name in self.columns if name in chosen}
        missing = self.reading.spellings

        def use(piece: AnyArray) -> tuple[dict[str, Tally], int]:
            return look(piece, self.separator, self.columns, chosen, missing)

        for tallies in self._each(use, pieces, threads=threads):
            for name, tally in tallies.items():
                self.tallies[name].merge(tally)
        self.formats, self.ambiguous = decide(self.tallies, self.separator, self.reading)

    def _parse(self, rows: int, chosen: list[str], told: Told, *, threads: bool) -> Iterator[Frame]:
        """Yield frames; ``CellError`` if a cell does not fit the format of its column."""
        none = Format("none")
        self.read_as = {n: self.formats.get(n, none).told(told.get(n)) for n in chosen}
        formats = dict(self.read_as)
        for name, form in formats.items():
            if name in told and form.kind == "bool":
                formats[name] = replace(form, kind="binary")
            elif name in self._watched - set(told) - self.reading.keep_text and form.kind == "text":
                formats[name] = replace(form, kind="words")

        def use(piece: AnyArray) -> tuple[list[Frame], int]:
            missing = self.reading.spellings
            frame, empty = parse(piece, self.separator, self.columns, formats, missing)
            starts = range(0, frame.n_rows, rows)
            return [frame.block(i, min(i + rows, frame.n_rows)) for i in starts], empty

        for frames in self._each(use, self.pieces(PIECE), threads=threads):
            yield from frames

    def _each(
        self,
        use: Callable[[AnyArray], tuple[Used, int]],
        pieces: Iterable[AnyArray],
        *,
        threads: bool,
    ) -> Iterator[Used]:
        """Yield ``use`` of every piece, in parallel, and count the empty rows."""

        def use_one(task: tuple[int, AnyArray]) -> tuple[Used, int]:
            try:
                return use(task[1])
            except CellError as error:
                error.piece = task[0]
                raise

        self.empty_rows = 0
        workers = min(_WORKERS, _parallel.effective_n_jobs(-1)) if threads else 1
        for made, empty in _parallel.map_ahead(use_one, enumerate(pieces), workers):
            self.empty_rows += empty
            yield made

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Name the line or the cell that cannot be read."""
        try:
            yield
        except CellError as error:
            raise self._explanation(error) from error

    def _explanation(self, error: CellError) -> DataFileError:
        if error.column < 0:
            before = islice(self.pieces(PIECE), error.piece)
            lines = sum(len(piece.tobytes().splitlines()) for piece in before)
            return self.wrong_row(lines + error.line + 1, error.cells)
        try:
            cell, name = error.cell.decode(), self.columns[error.column]
        except UnicodeDecodeError as wrong:
            what = f"{self.path} is not text in {self.encoding.name} ({wrong.reason})"
            return DataFileError(f"{what}; name its encoding (--encoding)")
        wanted = "true or false" if self.read_as[name].kind == "bool" else "a number"
        what = f"column {name!r} has {cell!r}, where it should have {wanted}"
        cure = "correct it, leave it empty, or declare it as missing (--missing)"
        return DataFileError(f"{self.path}: {what}; {cure}")

    def wrong_row(self, line: int, cells: int) -> DataFileError:
        """Make the error for a row with an open quote, or with too many or too few cells."""
        if not cells:
            what = f"a quote opened near line {line} is not closed"
            return DataFileError(f"{self.path}: {what}; close it")
        what = f"line {line} has {cells} cells and the header has {len(self.columns)}"
        cure = f"quote cells that contain {self.separator!r}, leave missing cells empty"
        return DataFileError(f"{self.path}: {what}; {cure}")


class CsvPart(TextPart):
    """A CSV or TSV file; opening it reads the header and the first block."""

    def __init__(self, path: Path, ending: str, reading: Reading) -> None:
        super().__init__(path, reading)
        self.encoding = encoding_of(path, reading, _LOOKED_AT)
        self.separator = _sniff(path, ending, self.encoding.name)
        self._header = b""
        self.columns = self._names() or ("",)
        self.open()

    def _names(self) -> tuple[str, ...]:
        """Read the header."""
        text = b""
        with open_bytes(self.path, self.encoding.name) as stream:
            while more := stream.read(max(len(text), _LOOKED_AT)):
                text += more
                mark = len(BOM_UTF8) * text.startswith(BOM_UTF8)
                names, end = csv.header(np.frombuffer(text, np.uint8)[mark:], ord(self.separator))
                self._header = text[: mark + end]
                if 0 <= end < len(text) - mark or len(text) > _LONGEST_HEADER:
                    break
            if end < 0:
                raise self.wrong_row(1, 0)
            return tuple(name.decode().strip() for name in names)

    def wrong_row(self, line: int, cells: int) -> DataFileError:
        """Make the error for a row; ``line`` is counted from the end of the header."""
        return super().wrong_row(line + len(self._header.splitlines()), cells)

    def check_encoding(self) -> None:
        """Find the encoding from the whole file, if only its first block decided."""
        if self.encoding != Encoding():
            return
        self.encoding = encoding_of(self.path, self.reading)
        if self.encoding.line and not self._header.removeprefix(BOM_UTF8).isascii():
            what = f"line {self.encoding.line} has the byte 0x{self.encoding.byte:02x}"
            cure = "save it as UTF-8, or name its encoding (--encoding)"
            raise DataFileError(f"{self.path}: {what}, which is not UTF-8; {cure}")

    def pieces(self, size: int) -> Generator[AnyArray]:
        """Yield the bytes after the header in pieces of whole rows."""
        rest: AnyArray = np.empty(0, np.uint8)
        with open_bytes(self.path, self.encoding.name) as stream:
            stream.read(len(self._header))
            while True:
                text = np.empty(len(rest) + size, np.uint8)
                text[: len(rest)] = rest
                filled = len(rest) + _fill(stream, text[len(rest) :])
                text, last = text[:filled], filled < len(text)
                whole = last or filled > _LONGEST * size
                end = filled if whole else csv.row_end(text, ord(self.separator))
                if end:
                    yield text[:end]
                if last:
                    return
                rest = text[end:]


def _sniff(path: Path, ending: str, encoding: str) -> str:
    """Find the separator of a CSV file from its header."""
    with open_bytes(path, encoding) as stream:
        line = next((line for line in stream if line.strip()), b"").decode(errors="replace")
    if not line:
        raise DataFileError(f"{path} is empty; it needs a header and rows")
    bare = re.sub(r'"[^"]*"?', "", line)
    return "\t" if ending == ".tsv" and "\t" in bare else max(",;\t|", key=bare.count)


def _fill(stream: IO[bytes], room: AnyArray) -> int:
    """Fill a buffer from a stream as far as possible; return the number of bytes."""
    filled = 0
    while read := stream.readinto(room[filled:].data):  # type: ignore[attr-defined]
        filled += read
    return filled
