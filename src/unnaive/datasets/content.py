"""From cells to declared columns, and whether these are the values of the catalogue.

To add a data set: write its entry into ``catalogue.json`` and take ``content`` and ``digests``
from :func:`fingerprint` of what :func:`settle` returns.
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
_SHORT = 8  # hexadecimal digits that tell which column differs


def settle(entry: Entry, cells: Sequence[Cells], where: str) -> Frame:
    """Make columns, the class last, as the catalogue declares them.

    Raises :class:`~unnaive.exceptions.DataFileError` for columns too many or few and for
    cells that are no numbers or no declared values.
    """
    names = (*entry.names, TARGET)
    if len(cells) != len(names):
        what = f"{where} has {len(cells)} columns and {entry.name!r} has {len(names)}"
        raise DataFileError(f"{what}, the class included; this is other data")
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
    """Hash the values of declared columns, whatever file or server they come from.

    A column of numbers is hashed as ``n`` and its float64 values, little-endian, with 0 for
    −0 and one NaN for every missing cell. A column of labels is hashed as ``c``, the JSON list
    of its declared values, and the place of every cell in it as int32, little-endian, −1 where
    missing. Names do not count; the order of rows does.

    Returns
    -------
    content : str
        SHA-256, in hexadecimal digits, of the columns' SHA-256 one after the other.
    digests : tuple of str
        The first eight digits of every column's own, to tell which one differs.
    """
    hashes = [hashlib.sha256(_bytes_of(frame.column(i))) for i in range(len(frame.names))]
    content = hashlib.sha256(b"".join(one.digest() for one in hashes)).hexdigest()
    return content, tuple(one.hexdigest()[:_SHORT] for one in hashes)


def difference(entry: Entry, frame: Frame) -> str:
    """Say how values differ from those of the catalogue; "" if they are the same."""
    if frame.n_rows != entry.rows:
        return f"{frame.n_rows} rows instead of {entry.rows}"
    content, digests = fingerprint(frame)
    if content == entry.content:
        return ""
    pairs = zip(frame.names, digests, entry.digests, strict=True)
    other = [name for name, found, wanted in pairs if found != wanted]
    if len(other) == len(frame.names):
        return "other values in every column, or its rows in another order"
    more = f" and {len(other) - 5} more" if len(other) > 5 else ""
    columns = ", ".join(map(repr, other[:5]))
    return f"other values in {'column' if len(other) == 1 else 'columns'} {columns}{more}"


def to_dataset(entry: Entry, frame: Frame, test: Dataset | None) -> Dataset:
    """Make the data set of declared columns."""
    attributes = [frame.column(i) for i in range(entry.attributes)]
    X = np.empty((frame.n_rows, entry.attributes), dtype=object if entry.categories else float)
    for index, column in enumerate(attributes):
        X[:, index] = _cells(column)
    return Dataset(
        X=X,
        y=np.array(entry.classes)[frame.column(entry.attributes).values],
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
