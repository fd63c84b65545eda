"""Rows of a CSV file parsed by the compiled core: columns whose formats are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core import csv
from unnaive.io.frames import Column, Frame

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from unnaive._typing import AnyArray, ShortArray

_KINDS = {"int": 1, "float": 2, "bool": 3, "text": 4, "none": 5}
_NUMERIC, _CODED = (1, 2), (3, 4)


def parse(
    text: AnyArray,
    separator: str,
    names: Sequence[str],
    kinds: Mapping[str, str],
    missing: Collection[str],
) -> Frame | None:
    """Parse whole rows of a file.

    Parameters
    ----------
    text : ndarray of uint8
        The rows, encoded as UTF-8, without the header.
    separator : str
        The character between cells.
    names : sequence of str
        Names of all columns of the file.
    kinds : mapping
        The columns to read, in the order of the file, and their kinds: "int", "float", "bool",
        "text", or "none" if all values are missing.
    missing : collection of str
        Spellings of missing values.

    Returns
    -------
    Frame or None
        None if a row is too long or too short, if a cell is not of the kind of its column, or if a
        quote is in the middle of a cell; a slower reader then says more.
    """
    codes = np.array([_KINDS[kinds[name]] if name in kinds else 0 for name in names], np.uint8)
    most = csv.most_rows(text)
    numbers = np.empty((np.isin(codes, _NUMERIC).sum(), most))
    labels = np.empty((np.isin(codes, _CODED).sum(), most), np.int32)
    rows, absent, texts = csv.parse(text, ord(separator), codes, list(missing), numbers, labels)
    if rows < 0:
        return None
    of_numbers, of_labels = iter(numbers[:, :rows]), iter(labels[:, :rows])
    columns = []
    for place, (name, code) in enumerate(zip(names, codes.tolist(), strict=True)):
        if code in _NUMERIC:
            values = next(of_numbers)
            whole = code == _KINDS["int"] and not absent[place]
            columns.append(Column(name, values.view(np.int64) if whole else values))
        elif code == _KINDS["text"]:
            columns.append(_labels(name, next(of_labels), texts[place], missing))
        elif code == _KINDS["bool"]:
            columns.append(Column(name, next(of_labels), (False, True), declared=True))
        elif code:
            columns.append(Column(name, np.full(rows, np.nan)))
    return Frame(tuple(kinds), rows, tuple(columns))


def _labels(name: str, codes: ShortArray, texts: list[str], missing: Collection[str]) -> Column:
    """Strip the labels and number them again; one that spells a missing value has no number."""
    places: dict[str, int] = {}
    stripped = map(str.strip, texts)
    table = [-1 if t in missing else places.setdefault(t, len(places)) for t in stripped]
    if table != list(range(len(table))):
        codes = np.array([*table, -1], dtype=np.int32)[codes]
    return Column(name, codes, tuple(places))
