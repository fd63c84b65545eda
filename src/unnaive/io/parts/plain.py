"""Text files that Python reads row by row: CSV without pyarrow, JSON lines, Excel workbooks."""

from __future__ import annotations

import csv
import json
from abc import abstractmethod
from collections import Counter
from contextlib import closing
from datetime import date, datetime, time
from importlib import import_module
from io import TextIOWrapper
from itertools import islice
from typing import TYPE_CHECKING
from zipfile import BadZipFile

import numpy as np

from unnaive.exceptions import DataFileError, DataWarning
from unnaive.io.cells import sniff, wrong_width
from unnaive.io.content import check_names, encoding_of, one_line, open_bytes
from unnaive.io.frames import Column, Frame
from unnaive.io.parts.base import TextPart
from unnaive.io.reading import FALSE, TRUE, Tally, plain_number

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from unnaive.io.parts.base import Frames, Told
    from unnaive.io.reading import Format, Reading

    Row = Sequence[str]

_TALLIED = 10_000  # rows that are tallied together


class PlainPart(TextPart):
    """A file whose rows are lists of texts; opening it examines all cells."""

    def open(self) -> None:
        """Check the names of the columns and examine all cells."""
        check_names(self.columns, self.path)
        self.tallies = {name: Tally() for name in self.columns}
        missing = frozenset(self.reading.spellings)
        for rows in _batches(self.rows(), _TALLIED):
            for tally, cells in zip(self.tallies.values(), zip(*rows, strict=True), strict=True):
                counts = Counter(map(str.strip, cells))
                tally.add({cell: n for cell, n in counts.items() if cell not in missing})
        self.decide()

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the cells of every row, in the order of the columns, without empty rows."""

    def read(self, rows: int, columns: list[str], _: bool, told: Told) -> Frames:
        """Yield frames of some rows."""
        formats = self.choose(columns, told)
        places = [self.columns.index(name) for name in columns]
        for some in _batches(self.rows(), rows):
            cells = list(zip(*some, strict=True))
            chosen = zip(formats.items(), places, strict=True)
            made = tuple(self._column(name, cells[place], form) for (name, form), place in chosen)
            yield Frame(tuple(columns), len(some), made)

    def _column(self, name: str, cells: Sequence[str], form: Format) -> Column:
        """Convert the cells of a column; a cell that does not fit is an error."""
        missing = {*self.reading.spellings, *form.words}
        texts = [None if cell in missing else cell for cell in map(str.strip, cells)]
        if form.kind in {"int", "float"}:
            values = np.array([self._number(name, text, form) for text in texts])
            if form.kind == "int" and None not in texts:
                return Column(name, np.array([int(text) for text in texts if text is not None]))
            return Column(name, values)
        if form.kind == "none" and not any(texts):
            return Column(name, np.full(len(texts), np.nan))
        codes: dict[str | None, int] = {None: -1}
        if form.kind == "bool":
            codes |= {text: text in {"1", *TRUE} for text in ("0", "1", *TRUE, *FALSE)}
            odd = next((text for text in texts if text not in codes), None)
            if odd is not None:
                raise self.misfit(name, odd, form.kind)
            indices = np.array([codes[text] for text in texts], dtype=np.int32)
            return Column(name, indices, (False, True), declared=True)
        indices = np.array([codes.setdefault(text, len(codes) - 1) for text in texts], np.int32)
        return Column(name, indices, tuple(codes)[1:])

    def _number(self, name: str, text: str | None, form: Format) -> float:
        if text is None:
            return np.nan
        try:
            return int(text) if form.kind == "int" else plain_number(text, form.style)
        except ValueError:
            raise self.misfit(name, text, form.kind) from None


class PlainCsvPart(PlainPart):
    """A CSV or TSV file that is read without pyarrow."""

    def __init__(self, path: Path, ending: str, reading: Reading) -> None:
        super().__init__(path, reading)
        self.encoding = encoding_of(path, reading)
        self.separator = sniff(path, ending, self.encoding.name)
        with closing(self._lines()) as lines:
            self.columns = tuple(cell.strip() for cell in next(lines)[1])
        self.open()

    def _lines(self) -> Generator[tuple[int, list[str]]]:
        """Yield the rows that are not empty, the header first, with the numbers of their lines."""
        self.empty_rows, line = 0, 1
        with (
            open_bytes(self.path, self.encoding.name) as stream,
            TextIOWrapper(stream, "utf-8-sig", newline="") as text,
        ):
            reader = csv.reader(text, delimiter=self.separator)
            try:
                for row in reader:
                    if any(cell.strip() for cell in row):
                        yield line, row
                    else:
                        self.empty_rows += len(row) > 1
                    line = reader.line_num + 1
            except csv.Error as error:
                raise DataFileError(f"{self.path}, line {line}: {one_line(error)}") from error

    def rows(self) -> Iterator[Row]:
        """Yield the rows below the header."""
        with closing(self._lines()) as lines:
            _, header = next(lines)
            for line, row in lines:
                if len(row) != len(header):
                    raise wrong_width(self.path, line, len(row), len(header), self.separator)
                yield row


class JsonPart(PlainPart):
    """A file with a JSON object in every line; absent keys and null are missing values."""

    def __init__(self, path: Path, reading: Reading) -> None:
        super().__init__(path, reading)
        self.encoding = encoding_of(path, reading)
        self.columns = tuple(dict.fromkeys(key for row in self._objects() for key in row))
        self.open()

    def _objects(self) -> Iterator[dict[str, str]]:
        with (
            open_bytes(self.path, self.encoding.name) as stream,
            TextIOWrapper(stream, "utf-8-sig") as text,
        ):
            for number, line in enumerate(text, start=1):
                if line.strip():
                    yield self._object(number, line)

    def _object(self, number: int, line: str) -> dict[str, str]:
        where = f"{self.path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = f"this is not JSON ({one_line(error)})"
            raise DataFileError(f"{where}: {what}; write one object per line") from error
        if not isinstance(row, dict):
            raise DataFileError(f'{where}: this is not an object; write {{"column": value, …}}')
        for key, value in row.items():
            if isinstance(value, dict | list):
                kind = "a list" if isinstance(value, list) else "an object"
                what = f"column {key!r} has {kind}"
                raise DataFileError(f"{where}: {what}; write numbers, texts, booleans or null")
        return {key.strip(): _text(value) for key, value in row.items()}

    def rows(self) -> Iterator[Row]:
        """Yield the values of every object."""
        self.empty_rows = 0
        for row in self._objects():
            cells = [row.get(name, "") for name in self.columns]
            if any(cells):
                yield cells
            else:
                self.empty_rows += 1


class ExcelPart(PlainPart):
    """The first sheet of an Excel workbook; formulas are not computed, only values are read."""

    def __init__(self, path: Path, reading: Reading) -> None:
        super().__init__(path, reading)
        self.sheets: tuple[str, ...] = ()
        with closing(self._sheet()) as sheet:
            header = next(sheet, (0, [""]))[1]
        last = max((place for place, cell in enumerate(header, start=1) if cell.strip()), default=1)
        self.columns = tuple(cell.strip() for cell in header[:last])
        self.open()

    def _sheet(self) -> Generator[tuple[int, list[str]]]:
        """Yield the rows that are not empty, with their numbers."""
        try:
            openpyxl = import_module("openpyxl")
        except ImportError as error:
            cure = 'pip install "unnaive[excel]", or save the sheet as CSV'
            raise DataFileError(f"{self.path} cannot be read without openpyxl; {cure}") from error
        self.empty_rows = empty = 0
        try:
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
            with closing(book):
                self.sheets = tuple(sheet.title for sheet in book.worksheets)
                rows = book.worksheets[0].iter_rows(values_only=True)
                for number, row in enumerate(rows, start=1):
                    cells = [_text(value) for value in row]
                    if any(cell.strip() for cell in cells):
                        self.empty_rows += empty  # those at the end of a sheet do not matter
                        empty = 0
                        yield number, cells
                    else:
                        empty += 1
        except (BadZipFile, KeyError, IndexError, ValueError, OSError, SyntaxError) as error:
            if isinstance(error, DataFileError):
                raise
            what = f"is damaged or not an Excel workbook ({one_line(error)})"
            raise DataFileError(f"{self.path} {what}; save it again, or as CSV") from error

    def rows(self) -> Iterator[Row]:
        """Yield the rows below the header."""
        width = len(self.columns)
        with closing(self._sheet()) as sheet:
            next(sheet, None)
            for number, row in sheet:
                if any(cell.strip() for cell in row[width:]):
                    what = f"row {number} has a value to the right of the last column name"
                    raise DataFileError(f"{self.path}: {what}; name the column or remove the value")
                yield [*row[:width], *[""] * (width - len(row))]

    def notes(self) -> list[DataWarning]:
        """Return the notes on cells, and which sheet was read."""
        if len(self.sheets) < 2:
            return super().notes()
        what = f"the workbook has {len(self.sheets)} sheets; only {self.sheets[0]!r} is read"
        sheet = DataWarning(f"{self.name}: {what}", kind="sheet", names=self.sheets[:1])
        return [sheet, *super().notes()]


def _batches(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(rows, size)):
        yield batch


def _text(value: object) -> str:
    """Write a value of a JSON or Excel file as the cell of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)
