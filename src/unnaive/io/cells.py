"""The cells of a CSV file: its separator, wrong lines, and conversion of columns by pyarrow."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError
from unnaive.io.arrow import strings
from unnaive.io.content import UTF8, open_bytes, text_of
from unnaive.io.reading import BLANK, DOTS, GROUPED, PLAIN, Tally, pattern_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from unnaive.io.reading import Format


def sniff(path: Path, ending: str, encoding: str = UTF8) -> str:
    """Find the separator of a CSV file from its header."""
    with open_bytes(path, encoding) as stream:
        line = next((line for line in stream if line.strip()), b"").decode(errors="replace")
    if not line:
        raise DataFileError(f"{path} is empty; it needs a header and rows")
    bare = re.sub(r'"[^"]*"?', "", line)
    return "\t" if ending == ".tsv" and "\t" in bare else max(",;\t|", key=bare.count)


def diagnose(path: Path, separator: str, encoding: str = UTF8) -> None:
    """Raise for the first line that has a wrong number of cells or an open quote."""
    text = StringIO(text_of(path, encoding), newline="")
    rows = csv.reader(text, delimiter=separator, strict=True)
    width, first = 0, 1
    try:
        for row in rows:
            width = width or len(row)
            if row and len(row) != width:
                raise wrong_width(path, first, len(row), width, separator)
            first = rows.line_num + 1
    except csv.Error as error:
        if rows.line_num > first:
            raise open_quote(path, first) from error


def wrong_width(path: Path, line: int, cells: int, width: int, separator: str) -> DataFileError:
    """Make the error for a line with too many or too few cells."""
    what = f"line {line} has {cells} cells and the header has {width}"
    cure = f"quote cells that contain {separator!r}, leave missing cells empty"
    return DataFileError(f"{path}: {what}; {cure}")


def open_quote(path: Path, line: int) -> DataFileError:
    """Make the error for a quote that is not closed."""
    return DataFileError(f"{path}: a quote opened near line {line} is not closed; close it")


def trimmed(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Remove blanks around the cells of a column and make missing values null."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    text = compute.utf8_trim_whitespace(column)
    absent = compute.is_in(text, value_set=strings(missing))
    return compute.if_else(absent, arrow.nulls(1, arrow.string())[0], text)


def tally(text: pa.ChunkedArray) -> Tally:
    """Count what trimmed cells look like; columns of plain numbers are recognized fast."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    distinct, size = text.unique().drop_null(), len(text) - text.null_count
    with suppress(arrow.ArrowInvalid):
        distinct.cast(arrow.int64())
        return Tally(size)
    with suppress(arrow.ArrowInvalid):
        distinct.cast(arrow.float64())
        if not compute.all(compute.match_substring_regex(distinct, GROUPED)).as_py():
            return Tally(size, whole=False, styles=DOTS)
    counted, cells = text.drop_null().value_counts(), Tally()
    labels = counted.field("values").to_pylist()
    cells.add(dict(zip(labels, counted.field("counts").to_pylist(), strict=True)))
    return cells


def converted(text: pa.ChunkedArray, form: Format) -> pa.ChunkedArray:
    """Convert trimmed cells to a format, or raise ``ArrowInvalid``."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    if form.words:
        absent = compute.is_in(text, value_set=strings(sorted(form.words)))
        text = compute.if_else(absent, arrow.nulls(1, arrow.string())[0], text)
    if form.style != PLAIN:
        fits = compute.all(compute.match_substring_regex(text, pattern_of(form.style))).as_py()
        if fits is False:
            raise arrow.ArrowInvalid("a number has another style")
        marks = BLANK if form.style.thousands == " " else re.escape(form.style.thousands)
        text = compute.replace_substring_regex(text, marks, "") if marks else text
        text = compute.replace_substring(text, form.style.decimal, ".")
    return text.cast(arrow_type(form.kind))


def arrow_type(kind: str) -> pa.DataType:
    """Return the arrow type of a kind of cells."""
    arrow = import_module("pyarrow")
    types = {"int": arrow.int64, "float": arrow.float64, "bool": arrow.bool_, "none": arrow.null}
    return types.get(kind, arrow.string)()
