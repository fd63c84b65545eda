"""Text files that Python reads row by row: JSON lines, Excel workbooks."""

from __future__ import annotations

import csv
import json
from abc import abstractmethod
from contextlib import closing
from datetime import date, datetime, time
from importlib import import_module
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import DataFileError, DataWarning
from unnaive.io.content import encoding_of, one_line, open_bytes
from unnaive.io.parts.text import TextPart

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from unnaive._typing import AnyArray
    from unnaive.io.reading import Reading

    Row = Sequence[str]


class RowsPart(TextPart):
    """A file whose rows are lists of texts; the core reads them as those of a CSV file."""

    separator = ","

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the cells of every row, in the order of the columns, without empty rows."""

    def pieces(self, size: int) -> Generator[AnyArray]:
        """Yield the rows as CSV."""
        text = StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in self.rows():
            writer.writerow(row)
            if text.tell() >= size:
                yield _encoded(text)
        if text.tell():
            yield _encoded(text)


class JsonPart(RowsPart):
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


class ExcelPart(RowsPart):
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
            with (
                self.path.open("rb") as file,  # openpyxl leaves damaged files open
                closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book,
            ):
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
        except (DataFileError, MemoryError):
            raise
        except Exception as error:  # openpyxl raises a dozen kinds of errors for altered bytes
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


def _encoded(text: StringIO) -> AnyArray:
    """Take the text out of a buffer as UTF-8; halves of characters are written as escapes."""
    content = text.getvalue().encode(errors="backslashreplace")
    text.seek(0)
    text.truncate()
    return np.frombuffer(content, np.uint8)


def _text(value: object) -> str:
    """Write a value of a JSON or Excel file as the cell of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date | time) else str(value)
