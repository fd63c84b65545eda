"""Files of rows: CSV and Parquet through pyarrow, ARFF on our own.

Whatever is wrong is a :class:`~unnaive.exceptions.DataFileError` that names the file, what was
found and the cure.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.arff import parse_arff
from unnaive.io.arrow import column_names, frame_of, text_names, with_plain_types
from unnaive.io.cells import diagnose
from unnaive.io.content import arrow_for, check_names, checked_ending, open_bytes, text_of
from unnaive.io.frames import Column, Frame
from unnaive.io.parts.text import CsvPart

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence
    from os import PathLike

_ROWS = 1 << 30  # of a frame: as many as a piece of the file has
_PIECE = 1 << 24  # bytes
_NO_ROWS = "{} has a header but no rows; add at least one"


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


def _read_parquet(path: Path) -> Frame:
    arrow, parquet = arrow_for(path), arrow_for(path, "pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            check_names(file.schema_arrow.names, path)
            table = file.read()
    except (arrow.ArrowException, OSError, EOFError) as error:
        raise DataFileError(f"{path} is damaged ({error}); write or fetch it again") from error
    if not table.num_rows:
        raise DataFileError(_NO_ROWS.format(path))
    table = with_plain_types(table.select(column_names(table.schema)))
    try:
        return frame_of(table, text_names(table.schema))
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataFileError(f"{path}: {error}") from error


def _read_csv(path: Path, ending: str, labels: Collection[str]) -> Frame:
    part, frames = CsvPart(path, ending), list[Frame]()
    for frame in part.frames(_ROWS, dict.fromkeys(labels, "text"), threads=True):
        if isinstance(frame, str):  # read anew, with more care
            frames.clear()
        else:
            frames.append(frame)
    with open_bytes(path) as stream:
        quotes = sum(piece.count(b'"') for piece in iter(partial(stream.read, _PIECE), b""))
    if quotes % 2:  # the last cell may have swallowed rows
        diagnose(path, part.separator)
    if not frames:
        raise DataFileError(_NO_ROWS.format(path))
    columns = zip(*(frame.columns for frame in frames), strict=True)
    n_rows = sum(frame.n_rows for frame in frames)
    return Frame(part.columns, n_rows, tuple(map(_joined, columns)))


def _joined(parts: Sequence[Column]) -> Column:
    """Put pieces of a column together; labels that are not declared get common numbers."""
    places: dict[Hashable, int] = {}
    pieces = [part.values for part in parts]
    if parts[0].is_text and not parts[0].declared:
        for number, part in enumerate(parts):
            codes = [places.setdefault(label, len(places)) for label in part.categories or ()]
            pieces[number] = np.array([*codes, -1], dtype=np.int32)[part.values]
        return Column(parts[0].name, np.concatenate(pieces), tuple(places))
    return replace(parts[0], values=np.concatenate(pieces))
