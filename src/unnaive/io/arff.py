"""ARFF, the format of WEKA: attributes with declared domains, then dense or sparse rows.

Cells are separated by commas, or by blanks in a row without commas. ``%`` starts a comment at
the beginning of a line or after a blank; within a word it is an ordinary character (``50%``).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import DataFileError
from unnaive.io.content import printable
from unnaive.io.frames import Column, Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unnaive._typing import AnyArray

    Cell = str | None  # None is a missing value, an unquoted ?
    Lines = Iterator[tuple[int, str]]  # line numbers from 1, text without comments

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"""@attribute\s+({_QUOTED}|[^\s{{'"][^\s{{]*)\s*(.*)""", re.IGNORECASE)
_COMMENT = re.compile(rf"({_QUOTED})|(?:^|\s)%.*")
_COMMA_CELL = re.compile(rf"""\s*({_QUOTED}|[^,'"][^,]*?|)\s*(,|$)""")
_BLANK_CELL = re.compile(rf"""\s*({_QUOTED}|[^\s'"]\S*)(\s|$)\s*""")
_SPARSE_CELL = re.compile(rf"""\s*([0-9]{{1,9}})\s+({_QUOTED}|[^,'"][^,]*?)\s*(?:,|$)""")
_WEIGHT = re.compile(r"[,\s]\s*\{[^{}]*\}$")
_NUMBERS = {"numeric", "real", "integer"}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class _Attribute:
    """One ``@attribute`` line: its type, and the domain if it is nominal."""

    name: str
    kind: str
    domain: tuple[str, ...] = ()


def parse_arff(text: str, source: str = "<ARFF>") -> Frame:
    r"""Parse the text of an ARFF file.

    Nominal attributes become categorical columns with the declared domain in its order.
    Numeric, real and integer attributes become numbers (int64 if they are declared as integer
    and all cells are integers). String attributes become labels. An unquoted ``?`` in a domain
    is dropped, since it means a missing value. Cells that a sparse row does not list are 0, or
    the first value of the domain.

    Parameters
    ----------
    text : str
        The whole file.
    source : str, default="<ARFF>"
        Name of the file in error messages.

    Returns
    -------
    Frame
        Plain columns, one for each attribute.

    Raises
    ------
    DataFileError
        If the text is not ARFF, has no rows, uses dates, relations or instance weights, or has
        a row that contradicts the header; the message has the line number.

    Examples
    --------
    >>> frame = parse_arff("@attribute 'skin tone' {fair, dark}\n@data\ndark\n?\n")
    >>> frame.names, frame.column(0).values.tolist(), frame.column(0).categories
    (('skin tone',), [1, -1], ('fair', 'dark'))
    """
    lines = _lines(text)
    attributes = _read_header(lines, source)
    numbers, rows = _read_rows(lines, attributes, source)
    if not rows:
        raise DataFileError(f"{source} has no rows after @data; add at least one")
    columns = tuple(
        _column(attribute, cells, numbers, source)
        for attribute, cells in zip(attributes, zip(*rows, strict=True), strict=True)
    )
    return Frame(tuple(attribute.name for attribute in attributes), len(rows), columns)


def _lines(text: str) -> Lines:
    """Yield the lines that are not empty, with their numbers."""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        bare = _COMMENT.sub(lambda match: match[1] or "", line) if "%" in line else line
        if stripped := bare.strip():
            yield number, stripped


def _read_header(lines: Lines, source: str) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for number, line in lines:
        keyword = line.split(maxsplit=1)[0].lower()
        if keyword == "@data":
            _check_names(attributes, source)
            return attributes
        if keyword == "@attribute":
            attributes.append(_read_attribute(line, number, source))
        elif keyword != "@relation":
            what = f"found {line[:40]!r} where @relation, @attribute or @data is expected"
            raise _error(source, number, what, "is this an ARFF file?")
    raise DataFileError(f"{source} has no @data line; it is not an ARFF file, or it is cut off")


def _check_names(attributes: list[_Attribute], source: str) -> None:
    if not attributes:
        raise DataFileError(f"{source} has no @attribute before @data; declare the columns")
    for name, times in Counter(attribute.name for attribute in attributes).items():
        if times > 1:
            raise DataFileError(f"{source} declares attribute {name!r} {times} times; rename them")


def _read_attribute(line: str, number: int, source: str) -> _Attribute:
    match = _ATTRIBUTE.match(line)
    if not match or not match[2]:
        cure = "write @attribute name type, with quotes around a name that has blanks"
        raise _error(source, number, f"cannot read {line[:60]!r}", cure)
    name = _unquote(match[1])
    if match[2].startswith("{"):
        return _Attribute(name, "nominal", _read_domain(name, match[2], number, source))
    kind = re.split(r"[\s\[]", match[2], maxsplit=1)[0].lower()
    if kind in _NUMBERS or kind == "string":
        return _Attribute(name, kind)
    cure = "declare it numeric, string or {nominal}"
    if kind in {"date", "relational"}:
        cure = f"{kind} attributes are not supported; {cure}, or remove it"
    raise _error(source, number, f"attribute {name!r} has type {kind!r}", cure)


def _read_domain(name: str, text: str, number: int, source: str) -> tuple[str, ...]:
    if not text.endswith("}"):
        cure = "end the list of values with } on the same line"
        raise _error(source, number, f"the domain of attribute {name!r} is not closed", cure)
    inside = text[1:-1].strip()
    cells = _split(inside, number, source) if inside else []
    domain = tuple(cell for cell in cells if cell is not None)
    if not domain or "" in domain:
        cure = "list every value, with commas between"
        raise _error(source, number, f"the domain of attribute {name!r} has an empty place", cure)
    for value, times in Counter(domain).items():
        if times > 1:
            what = f"the domain of attribute {name!r} lists {value!r} {times} times"
            raise _error(source, number, what, "list it once")
    return domain


def _read_rows(
    lines: Lines, attributes: list[_Attribute], source: str
) -> tuple[list[int], list[list[Cell]]]:
    """Read every row after ``@data``, with the number of its line."""
    numbers: list[int] = []
    rows: list[list[Cell]] = []
    for number, line in lines:
        if "{" in line and _WEIGHT.search(line):
            what = f"the row ends in an instance weight, {line[line.rfind('{') :]}"
            cure = "weights in ARFF are not supported; remove it and pass sample_weight"
            raise _error(source, number, what, cure)
        if line.startswith("{"):
            cells = _sparse(line, attributes, number, source)
        else:
            cells = _split(line, number, source)
        if len(cells) != len(attributes):
            what = f"the row has {len(cells)} cells, and {len(attributes)} attributes are declared"
            cure = "write ? for a missing value and quotes around a value with commas or blanks"
            raise _error(source, number, what, cure)
        numbers.append(number)
        rows.append(cells)
    return numbers, rows


def _split(line: str, number: int, source: str) -> list[Cell]:
    """Split a row, or the inside of a domain, into its cells."""
    if "," in line and "'" not in line and '"' not in line:
        return [None if cell == "?" else cell for cell in map(str.strip, line.split(","))]
    pattern = _COMMA_CELL if "," in re.sub(_QUOTED, "", line) else _BLANK_CELL
    cells: list[Cell] = []
    position, separator = 0, ","
    while position < len(line) or separator == ",":
        match = pattern.match(line, position)
        if not match:
            what = f"the quotes of {line[position : position + 40]!r} do not match"
            raise _error(source, number, what, "close them, and write a quote within as \\'")
        cells.append(None if match[1] == "?" else _unquote(match[1]))
        position, separator = match.end(), match[2]
    return cells


def _sparse(line: str, attributes: list[_Attribute], number: int, source: str) -> list[Cell]:
    """Expand a sparse row; cells that it does not list are 0 or the first value of the domain."""
    inside = line[1:-1].strip()
    cells: dict[int, Cell] = {}
    position = 0
    while position < len(inside):
        match = _SPARSE_CELL.match(inside, position)
        if not match or not line.endswith("}") or int(match[1]) in cells:
            what = f"cannot read the sparse row at {inside[position : position + 40]!r}"
            raise _error(source, number, what, "write {0 5, 3 'a'}, each index once, from 0")
        cells[int(match[1])] = None if match[2] == "?" else _unquote(match[2])
        position = match.end()
    if cells and max(cells) >= len(attributes):
        last = len(attributes) - 1
        what = f"the sparse row has index {max(cells)}, and attributes are 0 to {last}"
        raise _error(source, number, what, "count attributes from 0")
    for index, attribute in enumerate(attributes):
        if attribute.kind == "string" and index not in cells:
            what = f"the sparse row leaves out string attribute {attribute.name!r}"
            raise _error(source, number, what, "write its value, or ? if it is missing")
    defaults = [attribute.domain[0] if attribute.domain else "0" for attribute in attributes]
    return [cells.get(index, default) for index, default in enumerate(defaults)]


def _column(
    attribute: _Attribute, cells: Sequence[Cell], numbers: list[int], source: str
) -> Column:
    if attribute.kind in _NUMBERS:
        return Column(attribute.name, _to_numbers(attribute, cells, numbers, source))
    nominal = attribute.kind == "nominal"
    labels = attribute.domain or tuple(dict.fromkeys(cell for cell in cells if cell is not None))
    index: dict[Cell, int] = {label: code for code, label in enumerate(labels)} | {None: -1}
    codes = np.fromiter((index.get(cell, -2) for cell in cells), np.int32, len(cells))
    if codes.min() < -1:
        row = int(codes.argmin())
        what = f"attribute {attribute.name!r} has value {cells[row]!r}, not in its domain"
        known = ", ".join(labels[:12]) + (", …" if len(labels) > 12 else "")
        raise _error(source, numbers[row], what, f"add it to {{{known}}}, or write ?")
    return Column(attribute.name, codes, labels, declared=nominal)


def _to_numbers(
    attribute: _Attribute, cells: Sequence[Cell], numbers: list[int], source: str
) -> AnyArray:
    values = np.full(len(cells), np.nan)
    try:
        for row, cell in enumerate(cells):
            if cell is not None:
                values[row] = float(cell)
    except ValueError:
        what = f"attribute {attribute.name!r} is {attribute.kind} and has value {cell!r}"
        raise _error(source, numbers[row], what, "write a number, or ? if it is missing") from None
    if attribute.kind == "integer" and np.isfinite(values).all() and not (values % 1).any():
        return values.astype(np.int64)
    return values


def _unquote(text: str) -> str:
    if text[:1] in {"'", '"'}:
        return re.sub(r"\\(.)", lambda match: _ESCAPED.get(match[1], match[1]), text[1:-1])
    return text


def _error(source: str, number: int, what: str, cure: str) -> DataFileError:
    return DataFileError(printable(f"{source}, line {number}: {what}; {cure}"))
