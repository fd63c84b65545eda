"""CSV, a batch at a time: what a column is must be found out, and may turn out otherwise."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unnaive.exceptions import DataFileError
from unnaive.io.arrow import frame_of, strings
from unnaive.io.files import (
    _FALSE,
    _TRUE,
    MISSING,
    _arrow,
    _check_names,
    _diagnose,
    _sniff,
    has_quotes,
    native_stream,
)
from unnaive.io.parts.base import RESTART, Part, naming

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping
    from pathlib import Path

    from unnaive.io.frames import Frame

_SMALL = 1 << 28  # bytes: what may be read whole to say which line is wrong
_COMMA_NUMBER = r"^[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?$"


class CsvPart(Part):
    """A CSV or TSV file; its header and first block are read at once, its rows in batches.

    A column is what its first block says it is, until a later cell does not fit. Then the
    whole file is looked at, cell by cell, and read once more.
    """

    typed = False

    def __init__(self, path: Path, ending: str) -> None:
        self.path, self.name = path, str(path)
        self._separator, self._block = _sniff(path, ending)
        self._has_quotes = has_quotes(path)
        with self._explained(), self._reader({}) as reader:
            self._raw = list(reader.schema.names)
        self.columns = tuple(name.strip() for name in self._raw)
        _check_names(self.columns, path)
        with self._explained():
            first = next(self._batches("text", {}, self.columns), None)
        self._kinds = {} if first is None else self._look(first, self.columns)

    @property
    def kinds(self) -> dict[str, str]:  # type: ignore[override]
        """What the columns are, as far as rows were read."""
        numbers = {"int": "number", "float": "number", "comma": "number"}
        return {n: numbers.get(kind, kind) for n, kind in self._kinds.items() if kind != "none"}

    def frames(
        self,
        rows: int,
        told: Mapping[str, str],
        threads: bool,
        wanted: Collection[str] | None = None,
    ) -> Generator[Frame | str]:
        """Yield frames; columns that are not ``told`` are what the file makes them look like."""
        arrow, chosen = _arrow("pyarrow", self.path), self.chosen(wanted)
        kinds = {**self._kinds, **told}
        try:
            yield from self._read(rows, kinds, chosen, by_arrow=True, threads=threads)
        except arrow.ArrowInvalid:
            yield RESTART
            yield from self._read_carefully(rows, told, chosen, threads)

    def _read_carefully(
        self, rows: int, told: Mapping[str, str], chosen: tuple[str, ...], threads: bool
    ) -> Generator[Frame | str]:
        """Look at every cell, then read all as text and convert it."""
        with self._explained():
            for batch in self._batches("text", {}, chosen, threads=threads):
                for name, kind in self._look(batch, chosen).items():
                    self._kinds[name] = _join(self._kinds.get(name, "none"), kind)
            kinds = {**self._kinds, **told}
            yield from self._read(rows, kinds, chosen, by_arrow=False, threads=threads)

    def _read(
        self,
        rows: int,
        kinds: Mapping[str, str],
        chosen: tuple[str, ...],
        *,
        by_arrow: bool,
        threads: bool,
    ) -> Iterator[Frame]:
        """Yield frames of known kinds; ``by_arrow`` is the fast way, and refuses odd cells."""
        arrow = _arrow("pyarrow", self.path)
        labels = {"text"} if by_arrow else {"text", "none"}
        text = {name for name in chosen if kinds.get(name, "none") in labels}
        every = "" if by_arrow else "text"
        held: list[Any] = []
        for batch in self._batches(every, kinds, chosen, threads=threads):
            held.append(batch)
            if sum(part.num_rows for part in held) >= rows:
                yield self._frame(arrow.Table.from_batches(held), kinds, chosen, text)
                held = []
        if held and any(part.num_rows for part in held):
            yield self._frame(arrow.Table.from_batches(held), kinds, chosen, text)

    def _frame(
        self, table: Any, kinds: Mapping[str, str], chosen: tuple[str, ...], text: set[str]
    ) -> Frame:
        columns = [
            column if name in text else self._convert(name, column, kinds.get(name, "none"))
            for name, column in zip(chosen, table.itercolumns(), strict=True)
        ]
        table = import_module("pyarrow").table(columns, names=list(chosen))
        with naming(self.name):
            return frame_of(table.combine_chunks(), text, MISSING)

    def _convert(self, name: str, column: Any, kind: str) -> Any:
        """Make numbers or booleans of a column that was read as text."""
        arrow = import_module("pyarrow")
        if not arrow.types.is_string(column.type):
            return column
        plain = _trimmed(column)
        try:
            if kind != "comma":
                return plain.cast(_arrow_type(kind))
            return (
                import_module("pyarrow.compute").replace_substring(plain, ",", ".").cast("double")
            )
        except arrow.ArrowInvalid as error:
            if kind == "float" and self._separator == ";":
                return self._convert(name, column, "comma")
            what = f"column {name!r} should hold {'booleans' if kind == 'bool' else 'numbers'}"
            raise DataFileError(f"{self.path}: {what}, but {error}") from error

    def _look(self, batch: Any, chosen: tuple[str, ...]) -> dict[str, str]:
        """Tell what each column of a batch of text looks like."""
        columns = zip(chosen, batch.columns, strict=True)
        return {name: _kind(_trimmed(column), self._separator) for name, column in columns}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say which line is wrong where pyarrow refuses a file."""
        try:
            yield
        except _arrow("pyarrow", self.path).ArrowInvalid as error:
            if self.path.stat().st_size < _SMALL:
                _diagnose(self.path, self._separator)
            raise DataFileError(f"{self.path}: {error}; check that line") from error

    def _batches(
        self,
        every: str,
        kinds: Mapping[str, str],
        chosen: tuple[str, ...],
        *,
        threads: bool = False,
    ) -> Iterator[Any]:
        """Yield arrow batches, all columns of the kind ``every`` if one is given."""
        types = {
            raw: _arrow_type(every or kinds.get(name, "none"))
            for raw, name in zip(self._raw, self.columns, strict=True)
            if name in chosen
        }
        with self._reader(types, threads=threads) as reader:
            yield from reader

    @contextmanager
    def _reader(self, types: Mapping[str, Any], *, threads: bool = False) -> Iterator[Any]:
        """Open pyarrow's streaming reader over the plain bytes."""
        arrow_csv = _arrow("pyarrow.csv", self.path)
        convert = arrow_csv.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            true_values=_TRUE,
            false_values=_FALSE,
            column_types=dict(types),
            include_columns=list(types),
        )
        read = arrow_csv.ReadOptions(block_size=self._block, use_threads=threads)
        parse = arrow_csv.ParseOptions(
            delimiter=self._separator, newlines_in_values=self._has_quotes
        )
        with (
            native_stream(self.path) as stream,
            arrow_csv.open_csv(stream, read, parse, convert) as reader,
        ):
            yield reader


def _arrow_type(kind: str) -> Any:
    arrow = import_module("pyarrow")
    types = {"int": arrow.int64, "float": arrow.float64, "bool": arrow.bool_, "none": arrow.null}
    return types.get(kind, arrow.string)()


def _trimmed(column: Any) -> Any:
    """Take blanks off a column of text, and make the cells that say so missing."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    text = compute.utf8_trim_whitespace(column)
    absent = compute.is_in(text, value_set=strings(MISSING))
    return compute.if_else(absent, arrow.nulls(1, arrow.string())[0], text)


def _kind(text: Any, separator: str) -> str:
    """Tell what trimmed cells look like, as :func:`unnaive.io.files.read` does for a column."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    distinct = text.unique().drop_null()
    if not len(distinct):
        return "none"
    for kind in ("int", "float"):
        with suppress(arrow.ArrowInvalid):
            distinct.cast(_arrow_type(kind))
            return kind
    if compute.all(compute.is_in(distinct, value_set=strings([*_TRUE, *_FALSE]))).as_py():
        return "bool"
    commas = compute.match_substring_regex(distinct, _COMMA_NUMBER)
    return "comma" if separator == ";" and compute.all(commas).as_py() else "text"


def _join(first: str, second: str) -> str:
    """Tell what a column is that looks like this here and like that there."""
    both = {first, second} - {"none"}
    if len(both) <= 1:
        return both.pop() if both else "none"
    if both == {"int", "float"}:
        return "float"
    return "comma" if both == {"int", "comma"} else "text"
