"""Rows of a CSV file parsed by the compiled core."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core import csv
from unnaive.io.frames import Column, Frame
from unnaive.io.reading import STYLES, Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from unnaive._typing import AnyArray
    from unnaive.io.reading import Format

_KINDS = {"int": 1, "float": 2, "bool": 3, "text": 4, "none": 5, "binary": 6, "words": 7}
_NUMERIC, _TRUTHS, _CODED = (1, 2), (3, 6), (3, 4, 6, 7)


@dataclass(eq=False)
class CellError(Exception):
    """Rows that cannot be read.

    Attributes
    ----------
    line : int
        Number of lines before the row.
    cells : int
        Number of cells of the row; 0 if a quote is not closed.
    column : int
        Position of the column whose cell does not fit; -1 if the row has too few or many cells.
    cell : bytes
        The cell that does not fit.
    piece : int
        Number of pieces of the file before this one.
    """

    line: int
    cells: int
    column: int
    cell: bytes
    piece: int = 0


def parse(
    text: AnyArray,
    separator: str,
    names: Sequence[str],
    formats: Mapping[str, Format],
    missing: Collection[str],
) -> tuple[Frame, int]:
    """Parse whole rows of a file.

    Parameters
    ----------
    text : ndarray of uint8
        The rows, encoded as UTF-8, without the header.
    separator : str
        The character between cells.
    names : sequence of str
        Names of all columns of the file.
    formats : mapping
        The columns to read, in the order of the file. Besides the usual kinds, "binary" is a
        truth value that may be 1 or 0, and "words" is text without numbers.
    missing : collection of str
        Spellings of missing values.

    Returns
    -------
    frame : Frame
        The columns.
    empty : int
        Number of rows without content, which are left out.

    Raises
    ------
    CellError
        If a row is too long or too short, or if a cell is not of the kind of its column.
    """
    chosen = [formats.get(name) for name in names]
    kinds = np.array([_KINDS[form.kind] if form else 0 for form in chosen], np.uint8)
    styles = np.array([STYLES.index(form.style) if form else 0 for form in chosen], np.uint8)
    absent = [[*missing, *form.words] if form else [] for form in chosen]
    most = csv.most_rows(text)
    numbers = np.empty((np.isin(kinds, _NUMERIC).sum(), most))
    labels = np.empty((np.isin(kinds, _CODED).sum(), most), np.int32)
    rows, empty, gaps, texts, fault = csv.parse(
        text, ord(separator), kinds, styles, absent, numbers, labels
    )
    if rows < 0:
        raise CellError(*fault)
    of_numbers, of_labels = iter(numbers[:, :rows]), iter(labels[:, :rows])
    columns = []
    for place, (name, kind) in enumerate(zip(names, kinds.tolist(), strict=True)):
        if kind in _NUMERIC:
            values = next(of_numbers)
            whole = kind == _KINDS["int"] and not gaps[place]
            columns.append(Column(name, values.view(np.int64) if whole else values))
        elif kind in _TRUTHS:
            columns.append(Column(name, next(of_labels), (False, True), declared=True))
        elif kind in _CODED:
            columns.append(Column(name, next(of_labels), tuple(texts[place])))
        elif kind:
            columns.append(Column(name, np.full(rows, np.nan)))
    return Frame(tuple(formats), rows, tuple(columns)), empty


def look(
    text: AnyArray,
    separator: str,
    names: Sequence[str],
    chosen: Collection[str],
    missing: Collection[str],
) -> tuple[dict[str, Tally], int]:
    """Tally the cells of some columns; the parameters are those of :func:`parse`.

    Returns
    -------
    tallies : dict of str to Tally
        What the cells of each chosen column look like.
    empty : int
        Number of rows without content.
    """
    mask = np.array([name in chosen for name in names], np.uint8)
    rows, empty, looks, fault = csv.look(text, ord(separator), mask, list(missing))
    if rows < 0:
        raise CellError(*fault)
    tallies = {}
    for name, what in zip((name for name in names if name in chosen), looks, strict=True):
        numbers, whole, styles, example, words, times = what
        fitting = frozenset(style for place, style in enumerate(STYLES) if styles >> place & 1)
        counts = None if words is None else Counter(dict(zip(words, times, strict=True)))
        tallies[name] = Tally(numbers, whole, fitting, counts, example)
    return tallies, empty
