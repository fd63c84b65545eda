"""Files of rows: CSV and Parquet through pyarrow, ARFF on our own.

Whatever is wrong is a :class:`~unnaive.exceptions.DataFileError` that names the file, what was
found and the cure.
"""

from __future__ import annotations

from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError
from unnaive.io.arff import parse_arff
from unnaive.io.arrow import column_names, frame_of, is_text, with_plain_types
from unnaive.io.cells import BLOCK, conversion, converted, diagnose, kind_of, sniff, trimmed
from unnaive.io.content import (
    arrow_for,
    check_names,
    checked_ending,
    is_compressed,
    open_bytes,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from os import PathLike
    from typing import IO

    import pyarrow as pa

    from unnaive.io.frames import Frame


def read(
    path: str | PathLike[str], target: str | None = None, labels: Collection[str] = ()
) -> Frame:
    r"""Read a file of rows: CSV, TSV, Parquet or ARFF, told by its ending.

    CSV has a header line and is UTF-8, with or without a byte order mark. Commas,
    semicolons or tabs separate its cells, whichever the header line has most of. Blanks
    around a cell do not count, blank lines are skipped, and a cell, quoted or not, that
    reads one of ``unnaive.io.cells.MISSING`` is missing (``None`` is not in that list: it is a
    category of many surveys). A column is numbers if every cell of it is; among semicolons
    ``1,5`` is a number too. true and false make a column of booleans; dates stay labels.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of ``unnaive.io.content.ENDINGS``, in capitals or not.
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
    ending = checked_ending(path)
    if ending == ".arff":
        frame = parse_arff(text_of(path), str(path))
    elif ending == ".parquet":
        frame = _read_parquet(path)
    else:
        frame = _read_csv(path, ending, labels)
    if target is not None and target not in frame.names:
        raise DataFileError(f"{path} has no column {target!r}; {nearest(target, frame.names)}")
    return frame


def nearest(wanted: str, names: Sequence[str]) -> str:
    """Say which column may have been meant, or what columns there are."""
    if close := get_close_matches(wanted, names, n=1):
        return f"did you mean {close[0]!r}?"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"its columns are {', '.join(map(repr, names[:20]))}{more}"


def _to_frame(table: pa.Table, path: Path) -> Frame:
    if not table.num_rows:
        raise DataFileError(f"{path} has a header but no rows; add at least one")
    try:
        return frame_of(table, {field.name for field in table.schema if is_text(field.type)})
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataFileError(f"{path}: {error}") from error


def _read_parquet(path: Path) -> Frame:
    arrow, parquet = arrow_for(path), arrow_for(path, "pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            check_names(file.schema_arrow.names, path)
            table = file.read()
    except (arrow.ArrowException, OSError, EOFError) as error:
        raise DataFileError(f"{path} is damaged ({error}); write or fetch it again") from error
    return _to_frame(with_plain_types(table.select(column_names(table.schema))), path)


def _read_csv(path: Path, ending: str, labels: Collection[str]) -> Frame:
    arrow = arrow_for(path)
    separator, block = sniff(path, ending)
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
        diagnose(path, separator)
    names = [name.strip() for name in table.column_names]
    columns = [
        _settle(column, separator, is_label=name in labels)
        if arrow.types.is_string(column.type)
        else column
        for name, column in zip(names, table.itercolumns(), strict=True)
    ]
    return _to_frame(arrow.table(columns, names=names), path)


def _parse(path: Path, separator: str, block: int, text: Sequence[str] = ()) -> pa.Table:
    """Let pyarrow read a CSV, with the columns ``text`` left as they stand."""
    arrow, arrow_csv = arrow_for(path), arrow_for(path, "pyarrow.csv")
    try:
        with _native_stream(path) as stream:
            table = arrow_csv.read_csv(
                stream,
                arrow_csv.ReadOptions(block_size=block),
                arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=_has_quotes(path)),
                conversion(path, dict.fromkeys(text, arrow.string())),
            )
        check_names([name.strip() for name in table.column_names], path)
    except (arrow.ArrowInvalid, UnicodeDecodeError) as error:
        diagnose(path, separator)
        raise DataFileError(f"{path}: {error}; check that line") from error
    return table


def _has_quotes(path: Path) -> bool:
    """Whether a file has a quote somewhere, so that a cell may hold the end of a line.

    Where there is none, pyarrow reads blocks side by side. Compressed files are not looked at.
    """
    if is_compressed(path):
        return True
    with path.open("rb") as stream:
        return any(b'"' in piece for piece in iter(partial(stream.read, 4 * BLOCK), b""))


@contextmanager
def _native_stream(path: Path) -> Iterator[IO[bytes] | pa.NativeFile]:
    """Open a file for pyarrow, which reads plain ones without Python's help."""
    with open_bytes(path) if is_compressed(path) else arrow_for(path).OSFile(str(path)) as stream:
        yield stream


def _settle(column: pa.ChunkedArray, separator: str, *, is_label: bool) -> pa.ChunkedArray:
    """Trim a column of text and blank its missing cells; make it numbers if all of it is."""
    text = trimmed(column)
    # What pyarrow left as it stands is no number to it.
    if is_label or (separator != ";" and text.equals(column)):
        return text
    kind = kind_of(text, separator)
    return text if kind == "text" else converted(text, "float" if kind == "none" else kind)
