"""Read a whole data file: CSV, TSV, JSON lines, Excel, Parquet or ARFF.

Every problem of a file is a :class:`~unnaive.exceptions.DataFileError` that names the file, the
problem and the cure.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import DataFileError
from unnaive.io.arff import parse_arff
from unnaive.io.content import checked_ending, encoding_of, text_of
from unnaive.io.frames import Column, Frame
from unnaive.io.parts import part_of
from unnaive.io.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence
    from os import PathLike

    from unnaive.io.parts import Part

_ROWS = 1 << 20  # of a frame


def read(
    path: str | PathLike[str],
    target: str | None = None,
    labels: Collection[str] = (),
    reading: Reading = Reading(),  # noqa: B008 - is immutable
) -> Frame:
    r"""Read a data file; the extension of its name determines the format.

    A CSV file has a header line. Its cells are separated by commas, semicolons, tabs or bars,
    whichever is most frequent in the header. Text is UTF-8, UTF-16 with a byte order mark, or
    else Windows-1252. Blanks around a cell are removed, empty rows are skipped, and a cell,
    quoted or not, is missing if it is one of ``unnaive.io.reading.MISSING``. ``-``, ``.``,
    ``None`` and ``not measured`` are missing only in a column whose other cells are numbers.

    A column is numeric if all its cells are numbers of one style: ``1333.26``, ``1333,26``,
    ``1,333.26``, ``1.333,26``, ``1'333.26`` or ``1 333,26``. If at least 95 % of its cells, and
    at least 20, are numbers, the few words are missing values. true and false make a column of
    booleans; dates stay labels. The first sheet of a workbook and the objects of JSON lines are
    read by the same rules. Every decision that may be wrong is a
    :class:`~unnaive.exceptions.DataWarning`.

    Parameters
    ----------
    path : str or path
        A file whose name ends in one of ``unnaive.io.content.ENDINGS``, in any case.
    target : str, default=None
        A column that the file must have.
    labels : collection of str, default=()
        Columns of a text file that stay text even if all their cells look like numbers.
    reading : Reading, default=Reading()
        Encoding, number style and spellings of missing values, if the file must not decide.

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
    ending = checked_ending(path, reading.encoding)
    reading = replace(reading, keep_text=reading.keep_text.union(labels))
    if ending == ".arff":
        encoding = encoding_of(path, reading)
        frame = parse_arff(text_of(path, encoding.name), str(path))
        notes = list(encoding.note(str(path)))
    else:
        part = part_of(path, ending, reading)
        frame, notes = _read_batches(path, part), part.notes()
    if target is not None and target not in frame.names:
        raise DataFileError(f"{path} has no column {target!r}; {nearest(target, frame.names)}")
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return frame


def nearest(wanted: str, names: Sequence[str]) -> str:
    """Suggest the column with the most similar name, or list the columns."""
    if close := get_close_matches(wanted, names, n=1):
        return f"did you mean {close[0]!r}?"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"its columns are {', '.join(map(repr, names[:20]))}{more}"


def _read_batches(path: Path, part: Part) -> Frame:
    frames = list[Frame]()
    for frame in part.frames(_ROWS, {}, threads=True):
        if isinstance(frame, str):  # the part starts again
            frames.clear()
        else:
            frames.append(frame)
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
