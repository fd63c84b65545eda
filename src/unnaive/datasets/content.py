"""Convert cells to declared columns and compare their values with the catalogue.

To add a data set, write its entry into ``catalogue.json`` and fill in ``content`` and
``digests`` from the :func:`fingerprint` of the frame that :func:`settle` returns.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from unnaive.datasets.dataset import Dataset, label_column
from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.frames import Column, Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, FloatArray
    from unnaive.datasets.entries import Entry

    Cells = list[str] | FloatArray  # text, "" where missing, or numbers, NaN where missing

TARGET = "class"
_SHORT = 8  # hexadecimal digits of the checksum of a column


def settle(entry: Entry, cells: Sequence[Cells], where: str) -> Frame:
    """Make a frame of the columns that the catalogue declares, the class last.

    Raises :class:`~unnaive.exceptions.DataFileError` if the number of columns differs, if a
    numeric column has a cell that is not a number, or if a categorical one has an undeclared
    value. ``where`` names the file or server in the message.
    """
    names = (*entry.names, TARGET)
    if len(cells) != len(names):
        what = f"{where} has {len(cells)} columns and {entry.name!r} has {len(names)}"
        raise DataFileError(f"{what}, including the class; this is another data set")
    declared = {**entry.categories, TARGET: entry.classes}
    try:
        columns = tuple(
            label_column(name, _text(column), declared[name])
            if name in declared
            else Column(name, _numbers(name, column))
            for name, column in zip(names, cells, strict=True)
        )
    except UnnaiveError as error:
        raise DataFileError(f"{where}: {error}") from error
    return Frame(names, len(cells[0]), columns)


def fingerprint(frame: Frame) -> tuple[str, tuple[str, ...]]:
    """Compute checksums of the values, which do not depend on the file or server.

    A numeric column is hashed as ``n`` and its little-endian float64 values, with 0 for −0 and
    the same NaN for every missing value. A categorical column is hashed as ``c``, the JSON list
    of its declared values, and the codes as little-endian int32, −1 for missing values. Column
    names do not matter; the order of rows does.

    Returns
    -------
    content : str
        Hexadecimal SHA-256 of the concatenated SHA-256 checksums of the columns.
    digests : tuple of str
        First eight digits of the checksum of every column, to find out which one differs.
    """
    hashes = [hashlib.sha256(_bytes_of(column)) for column in frame.columns]
    content = hashlib.sha256(b"".join(one.digest() for one in hashes)).hexdigest()
    return content, tuple(one.hexdigest()[:_SHORT] for one in hashes)


def difference(entry: Entry, frame: Frame) -> str:
    """Describe how the values differ from the catalogue; "" if they are the same."""
    if frame.n_rows != entry.rows:
        return f"{frame.n_rows} rows instead of {entry.rows}"
    content, digests = fingerprint(frame)
    if content == entry.content:
        return ""
    pairs = zip(frame.names, digests, entry.digests, strict=True)
    changed = [name for name, digest, expected in pairs if digest != expected]
    if len(changed) == len(frame.names):
        return "other values in every column, or its rows in another order"
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    columns = ", ".join(map(repr, changed[:5]))
    return f"other values in {'column' if len(changed) == 1 else 'columns'} {columns}{more}"


def to_dataset(entry: Entry, frame: Frame, test: Dataset | None) -> Dataset:
    """Make the data set from the frame of declared columns."""
    X = np.empty((frame.n_rows, entry.attributes), dtype=object if entry.categories else float)
    for index, column in enumerate(frame.columns[:-1]):
        X[:, index] = _cells(column)
    return Dataset(
        X=X,
        y=np.array(entry.classes)[frame.columns[-1].values],
        names=entry.names,
        target=TARGET,
        title=entry.title,
        categories=dict(entry.categories),
        classes=entry.classes,
        description=f"{entry.source}. Against the papers' tables: {entry.notes}.",
        licence=entry.licence,
        test=test,
    )


def _text(cells: Cells) -> list[str]:
    if isinstance(cells, list):
        return [cell.strip() for cell in cells]
    return ["" if np.isnan(number) else f"{number:.15g}" for number in cells.tolist()]


def _numbers(name: str, cells: Cells) -> FloatArray:
    if not isinstance(cells, list):
        return np.asarray(cells, dtype=np.float64)
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError as error:
        raise UnnaiveError(f"column {name!r} must have numbers ({error})") from None


def _cells(column: Column) -> AnyArray:
    if column.categories is None:
        return column.values
    return np.array([*column.categories, None], dtype=object)[column.values]


def _bytes_of(column: Column) -> bytes:
    if column.categories is None:
        values = np.where(np.isnan(column.values), np.nan, column.values + 0.0)
        return b"n" + values.astype("<f8").tobytes()
    domain = json.dumps(column.categories, ensure_ascii=False, separators=(",", ":"))
    return b"c" + domain.encode() + column.values.astype("<i4").tobytes()
