"""The cells of a CSV file: separator, missing values, numbers and labels."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError
from unnaive.io.arrow import strings
from unnaive.io.content import open_bytes, text_of

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "Null", "NULL")
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
_COMMA_NUMBER = r"^[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?$"


def sniff(path: Path, ending: str) -> str:
    """Find the separator of a CSV file from its header."""
    with open_bytes(path) as stream:
        line = next(line for line in stream if line.strip()).decode(errors="replace")
    bare = re.sub(r'"[^"]*"?', "", line)
    return "\t" if ending == ".tsv" and "\t" in bare else max(",;\t", key=bare.count)


def diagnose(path: Path, separator: str) -> None:
    """Raise for the first line that is not UTF-8, has a wrong number of cells, or an open quote."""
    rows = csv.reader(StringIO(text_of(path), newline=""), delimiter=separator, strict=True)
    width, first = 0, 1
    try:
        for row in rows:
            width = width or len(row)
            if row and len(row) != width:
                what = f"line {first} has {len(row)} cells and the header has {width}"
                cure = f"quote cells that contain {separator!r}, leave missing cells empty"
                raise DataFileError(f"{path}: {what}; {cure}")
            first = rows.line_num + 1
    except csv.Error as error:
        if rows.line_num > first:
            what = f"a quote opened near line {first} is not closed"
            raise DataFileError(f"{path}: {what}; close it") from error


def trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Remove blanks around the cells of a column and make missing values null."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    text = compute.utf8_trim_whitespace(column)
    absent = compute.is_in(text, value_set=strings(MISSING))
    return compute.if_else(absent, arrow.nulls(1, arrow.string())[0], text)


def kind_of(text: pa.ChunkedArray, separator: str) -> str:
    """Return the kind of trimmed cells: "int", "float", "bool", "text" or "none".

    If semicolons separate the cells, ``1,5`` is a number, too: "comma".
    """
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    distinct = text.unique().drop_null()
    if not len(distinct):
        return "none"
    for kind in ("int", "float"):
        with suppress(arrow.ArrowInvalid):
            distinct.cast(arrow_type(kind))
            return kind
    if compute.all(compute.is_in(distinct, value_set=strings([*TRUE, *FALSE]))).as_py():
        return "bool"
    commas = compute.match_substring_regex(distinct, _COMMA_NUMBER)
    return "comma" if separator == ";" and compute.all(commas).as_py() else "text"


def converted(text: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """Convert trimmed cells to their kind, or raise the error of pyarrow."""
    if kind == "comma":
        text = import_module("pyarrow.compute").replace_substring(text, ",", ".")
    return text.cast(arrow_type("float" if kind == "comma" else kind))


def arrow_type(kind: str) -> pa.DataType:
    """Return the arrow type of a kind of cells; "comma" is read as text."""
    arrow = import_module("pyarrow")
    types = {"int": arrow.int64, "float": arrow.float64, "bool": arrow.bool_, "none": arrow.null}
    return types.get(kind, arrow.string)()
