"""Files of rows: CSV and Parquet through pyarrow, ARFF on our own.

The ending says what a file is, and the first bytes must agree. Whatever is wrong is a
:class:`~unnaive.exceptions.DataFileError` that names the file, what was found and the cure.
"""

from __future__ import annotations

import csv
import errno
import gzip
import re
import zlib
from collections import Counter
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from unnaive.exceptions import DataFileError
from unnaive.io.arff import parse_arff
from unnaive.io.arrow import frame_of, is_text, plain_field, strings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from os import PathLike

    from unnaive.io.frames import Frame

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".arff", ".arff.gz")
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "Null", "NULL")
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_BLOCK = 1 << 22  # bytes; no row may be longer than a block of pyarrow's
_UTF8 = 'save it as UTF-8 (in Excel: "CSV UTF-8")'
_SIGNATURES = (
    (rb"PK\x03\x04", "a zip archive or an Excel workbook", "save the sheet as CSV, or unpack it"),
    (rb"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (rb"\x1f\x8b", "gzip-compressed", "let its name end in .gz"),
    (rb"PAR1[^ -~]", "a Parquet file", "let its name end in .parquet"),
    (rb"\xff\xfe|\xfe\xff", "text in UTF-16", _UTF8),
    (rb"(?i)\s*<(!doctype|html)\b", "a web page", "download the data itself"),
    (rb"(?i)(\xef\xbb\xbf)?\s*(%.*\n\s*)*@relation\b", "an ARFF file", "let its name end in .arff"),
    (rb"[^\0]*\0", "binary data", "convert it, or rename it after what it is"),
)
_OWN = {".parquet": "a Parquet file", ".arff": "an ARFF file"}


def read(
    path: str | PathLike[str], target: str | None = None, labels: Collection[str] = ()
) -> Frame:
    r"""Read a file of rows: CSV, TSV, Parquet or ARFF, told by its ending.

    CSV has a header line and is UTF-8, with or without a byte order mark. Commas,
    semicolons or tabs separate its cells, whichever the header line has most of. Blanks
    around a cell do not count, blank lines are skipped, and a cell, quoted or not, that
    reads one of ``MISSING`` is missing (``None`` is not in that list: it is a category of
    many surveys). A column is numbers if every cell of it is; among semicolons ``1,5`` is a
    number too. true and false make a column of booleans; dates stay labels.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of ``ENDINGS``, in capitals or not.
    target : str, optional
        A column that must be there.
    labels : collection of str, optional
        Columns of a CSV whose cells are labels even if all of them look like numbers.

    Returns
    -------
    Frame
        Plain columns, the target among them.

    Raises
    ------
    DataFileError
        If the file is not what its ending says, is damaged, or is no table with rows.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("age;smoker\n61;no\nNA;yes\n")
    ...     frame = read(path, target="smoker")
    >>> frame.column(0).values.tolist(), frame.column(1).categories
    ([61.0, nan], ('no', 'yes'))
    """
    path = Path(path)
    ending = _ending(path)
    _check_content(path, ending)
    if ending == ".arff":
        frame = parse_arff(_text(path), str(path))
    elif ending == ".parquet":
        frame = _read_parquet(path)
    else:
        frame = _read_csv(path, ending, labels)
    if target is not None and target not in frame.names:
        raise DataFileError(f"{path} has no column {target!r}; {_known(frame.names, target)}")
    return frame


def _ending(path: Path) -> str:
    """Tell the ending without .gz, once the path is known to be a file."""
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "no such file; check its name and folder", str(path))
    if not path.is_file():
        raise DataFileError(f"{path} is a folder or a device; name one file in it")
    ending = next((e for e in ENDINGS if path.name.lower().endswith(e)), None)
    if ending is None:
        known = ", ".join(ENDINGS)
        raise DataFileError(f"{path} has no known ending; rename or convert it to one of {known}")
    return ending.removesuffix(".gz")


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """Open the plain bytes of a file, and say so when it is compressed and damaged."""
    try:
        compressed = path.name.lower().endswith(".gz")
        with gzip.open(path) if compressed else path.open("rb") as stream:
            yield cast("IO[bytes]", stream)
    except EOFError as error:
        raise DataFileError(f"{path} is cut off before its end; fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        cure = "fetch it again, or drop .gz from its name if it is not compressed"
        raise DataFileError(f"{path} is not a sound gzip file ({error}); {cure}") from error


def has_quotes(path: Path) -> bool:
    """Whether a file has a quote somewhere, so that a cell may hold the end of a line.

    Where there is none, pyarrow reads blocks side by side. Compressed files are not looked at.
    """
    if path.name.lower().endswith(".gz"):
        return True
    with path.open("rb") as stream:
        return any(b'"' in piece for piece in iter(partial(stream.read, 4 * _BLOCK), b""))


@contextmanager
def native_stream(path: Path) -> Iterator[Any]:
    """Open a file for pyarrow, which reads plain ones without Python's help."""
    if path.name.lower().endswith(".gz"):
        with _open(path) as stream:
            yield stream
    else:
        with _arrow("pyarrow", path).OSFile(str(path), "rb") as stream:
            yield stream


def _check_content(path: Path, ending: str) -> None:
    """Compare the first bytes of a file with its ending."""
    with _open(path) as stream:
        head = stream.read(4096)
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise DataFileError(f"{path} is empty; it needs a header and rows")
    for signature, what, cure in _SIGNATURES:
        if re.match(signature, head) and what == _OWN.get(ending):
            return
        if re.match(signature, head):
            raise DataFileError(f"{path} is {what}, not what its ending says; {cure}")
    if ending == ".parquet":
        raise DataFileError(f"{path} is text, not a Parquet file; rename it after what it is")


def _text(path: Path) -> str:
    with _open(path) as stream:
        content = stream.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        what = f"line {number} has the byte 0x{content[error.start]:02x}, which is not UTF-8"
        raise DataFileError(f"{path}: {what}; {_UTF8}") from error


def _arrow(module: str, path: Path) -> Any:
    """Import pyarrow or a part of it, which only these files need."""
    try:
        return import_module(module)
    except ImportError as error:
        cure = 'pip install "unnaive[files]"'
        raise DataFileError(f"{path} cannot be read without pyarrow; {cure}") from error


def _to_frame(table: Any, path: Path) -> Frame:
    if not table.num_rows:
        raise DataFileError(f"{path} has a header but no rows; add at least one")
    try:
        return frame_of(table, {field.name for field in table.schema if is_text(field.type)})
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataFileError(f"{path}: {error}") from error


def _check_names(names: Sequence[str], path: Path) -> None:
    if "" in names:
        cure = "name it, or remove it if it holds row numbers or follows a last separator"
        raise DataFileError(f"{path}: column {names.index('') + 1} has no name; {cure}")
    for name, times in Counter(names).items():
        if times > 1:
            raise DataFileError(f"{path}: column name {name!r} occurs {times} times; rename them")


def _known(names: Sequence[str], wanted: str) -> str:
    if close := get_close_matches(wanted, names, n=1):
        return f"did you mean {close[0]!r}?"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"its columns are {', '.join(map(repr, names[:20]))}{more}"


def _read_parquet(path: Path) -> Frame:
    arrow, parquet = _arrow("pyarrow", path), _arrow("pyarrow.parquet", path)
    try:
        with parquet.ParquetFile(path) as file:
            _check_names(file.schema_arrow.names, path)
            table = file.read()
    except (arrow.ArrowException, OSError, EOFError) as error:
        raise DataFileError(f"{path} is damaged ({error}); write or fetch it again") from error
    # The row index that pandas stores is no column of the table.
    index = (table.schema.pandas_metadata or {}).get("index_columns", ())
    table = table.drop_columns([name for name in index if name in table.column_names])
    plain = [plain_field(field, arrow) for field in table.schema]
    return _to_frame(table.cast(arrow.schema(plain)), path)


def _read_csv(path: Path, ending: str, labels: Collection[str]) -> Frame:
    arrow = _arrow("pyarrow", path)
    separator, block = _sniff(path, ending)
    table = _parse(path, separator, block)
    text = [
        field.name
        for field in table.schema
        if arrow.types.is_temporal(field.type) or field.name.strip() in labels
    ]
    if text:
        table = _parse(path, separator, block, text)
    last = table.slice(max(0, table.num_rows - 1)).to_pylist()
    swallowed = any("\n" in cell for row in last for cell in row.values() if isinstance(cell, str))
    if swallowed or any(arrow.types.is_binary(kind) for kind in table.schema.types):
        _diagnose(path, separator)
    names = [name.strip() for name in table.column_names]
    columns = [
        _settle(column, arrow, separator, is_label=name in labels)
        for name, column in zip(names, table.itercolumns(), strict=True)
    ]
    return _to_frame(arrow.table(columns, names=names), path)


def _sniff(path: Path, ending: str) -> tuple[str, int]:
    """Tell the separator of a CSV from its header, and a block size that holds a row."""
    with _open(path) as stream:
        line = next(line for line in stream if line.strip()).decode(errors="replace")
    bare = re.sub(r'"[^"]*"?', "", line)
    separator = "\t" if ending == ".tsv" and "\t" in bare else max(",;\t", key=bare.count)
    return separator, max(_BLOCK, 16 * len(line))


def _parse(path: Path, separator: str, block: int, text: Sequence[str] = ()) -> Any:
    """Let pyarrow read a CSV, with the columns ``text`` left as they stand."""
    arrow, arrow_csv = _arrow("pyarrow", path), _arrow("pyarrow.csv", path)
    convert = arrow_csv.ConvertOptions(
        null_values=MISSING,
        strings_can_be_null=True,
        true_values=_TRUE,
        false_values=_FALSE,
        column_types=dict.fromkeys(text, arrow.string()),
    )
    try:
        with native_stream(path) as stream:
            table = arrow_csv.read_csv(
                stream,
                arrow_csv.ReadOptions(block_size=block),
                arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=has_quotes(path)),
                convert,
            )
        _check_names([name.strip() for name in table.column_names], path)
    except (arrow.ArrowInvalid, UnicodeDecodeError) as error:
        _diagnose(path, separator)
        raise DataFileError(f"{path}: {error}; check that line") from error
    return table


def _diagnose(path: Path, separator: str) -> None:
    """Raise for the first line that is not UTF-8, has cells too many or few, or an open quote."""
    rows = csv.reader(StringIO(_text(path), newline=""), delimiter=separator, strict=True)
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


def _settle(column: Any, arrow: Any, separator: str, *, is_label: bool) -> Any:
    """Trim a column of text and blank its missing cells; make it numbers if all of it is."""
    if not arrow.types.is_string(column.type):
        return column
    compute = import_module("pyarrow.compute")
    text = compute.utf8_trim_whitespace(column)
    absent = compute.is_in(text, value_set=strings(MISSING))
    text = compute.if_else(absent, arrow.nulls(1, arrow.string())[0], text)
    if is_label:
        return text
    number = r"^[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?$"
    if separator == ";" and compute.all(compute.match_substring_regex(text, number)).as_py():
        text = compute.replace_substring(text, ",", ".")
    if text.equals(column):  # then pyarrow has already found that these are no numbers
        return text
    distinct, truths = text.unique().drop_null(), strings([*_TRUE, *_FALSE])
    if compute.all(compute.is_in(distinct, value_set=truths)).as_py():
        return text.cast(arrow.bool_())
    for kind in (arrow.int64(), arrow.float64()):
        with suppress(arrow.ArrowInvalid):
            distinct.cast(kind)
            return text.cast(kind)
    return text
