"""Read a whole data file: CSV, TSV, Parquet or ARFF.

Every problem of a file is a :class:`~unnaive.exceptions.DataFileError` that names the file, the
problem and the cure.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.arff import parse_arff
from unnaive.io.content import checked_ending, text_of
from unnaive.io.frames import Column, Frame
from unnaive.io.parts import part_of
from unnaive.io.parts.text import CsvPart

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence
    from os import PathLike

    from unnaive.io.parts import Part

_ROWS = 1 << 20  # of a frame


def read(
    path: str | PathLike[str], target: str | None = None, labels: Collection[str] = ()
) -> Frame:
    r"""Read a data file; the extension of its name determines the format.

    A CSV file has a header line and is UTF-8, with or without a byte order mark. Its cells are
    separated by commas, semicolons or tabs, whichever is most frequent in the header. Blanks
    around a cell are removed, blank lines are skipped, and a cell, quoted or not, is missing if
    it is one of ``unnaive.io.cells.MISSING`` (``None`` is not, since it is a category in many
    surveys). A column is numeric if all its cells are numbers; if semicolons separate the cells,
    ``1,5`` is a number, too. true and false make a column of booleans; dates stay labels.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of ``unnaive.io.content.ENDINGS``, in any case.
    target : str, default=None
        A column that the file must have.
    labels : collection of str, default=()
        Columns of a CSV file that are text even if all their cells look like numbers.

    Returns
    -------
    Frame
        Plain columns, the target among them.

    Raises
    ------
    DataFileError
        If the content does not match the extension, or the file is damaged or has no rows.
    FileNotFoundError
        If the file does not exist.

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
    else:
        frame = _read_batches(path, part_of(path, ending), labels)
    if target is not None and target not in frame.names:
        raise DataFileError(f"{path} has no column {target!r}; {nearest(target, frame.names)}")
    return frame


def nearest(wanted: str, names: Sequence[str]) -> str:
    """Suggest the column with the most similar name, or list the columns."""
    if close := get_close_matches(wanted, names, n=1):
        return f"did you mean {close[0]!r}?"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"its columns are {', '.join(map(repr, names[:20]))}{more}"


def _read_batches(path: Path, part: Part, labels: Collection[str]) -> Frame:
    frames = list[Frame]()
    for frame in part.frames(_ROWS, dict.fromkeys(labels, "text"), threads=True):
        if isinstance(frame, str):  # the part starts again
            frames.clear()
        else:
            frames.append(frame)
    if isinstance(part, CsvPart):
        part.check_quotes()
    if not frames:
        raise DataFileError(f"{path} has a header but no rows; add at least one")
    columns = zip(*(frame.columns for frame in frames), strict=True)
    n_rows = sum(frame.n_rows for frame in frames)
    return Frame(part.columns, n_rows, tuple(map(_joined, columns)))


def _joined(pieces: Sequence[Column]) -> Column:
    """Concatenate the pieces of a column; labels get the same codes in all pieces."""
    if not pieces[0].is_text:
        return replace(pieces[0], values=np.concatenate([piece.values for piece in pieces]))
    places: dict[Hashable, int] = {}
    values = []
    for piece in pieces:
        codes = [places.setdefault(label, len(places)) for label in piece.categories or ()]
        values.append(np.array([*codes, -1], dtype=np.int32)[piece.values])
    return replace(pieces[0], values=np.concatenate(values), categories=tuple(places))
