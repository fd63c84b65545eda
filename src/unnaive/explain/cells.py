"""Cells of rows: their text for people, and copies of a row in which some cells differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, to_column, to_frame
from unnaive.schema import CategoricalColumn
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
    from unnaive.models import Classifier
    from unnaive.models.trial import Member
    from unnaive.schema import ColumnSchema, Schema


def shown_cells(frame: Frame, schema: Schema) -> tuple[AnyArray, BoolArray]:
    """Return the text of every cell, and whether the model uses it; both of shape (n, d).

    A number that is binned is followed by its bin. An unseen category is marked as such, and the
    model treats it as missing.
    """
    codes = schema.encode(frame)
    cells = np.empty((frame.n_rows, len(schema.columns)), dtype=object)
    for place, column in enumerate(schema.columns):
        cells[:, place] = _shown(frame.column(place), column, codes[place])
    return cells, (codes < schema.sizes[:, None]).T


def _shown(cells: Column, column: ColumnSchema, codes: AnyArray) -> list[str]:
    names = values_of(column)
    categorical = isinstance(column, CategoricalColumn)

    def text(code: int, absent: bool, value: Label) -> str:
        if absent:
            return MISSING_VALUES
        if code == column.size:
            return f"{_label(cells, value)} (unseen category)"
        if categorical:
            return names[code]
        if column.size == 1:
            return f"{value:.6g}"
        inside = names[code] if names[code][0] == "(" else f"({names[code]})"
        return f"{value:.6g} {inside}"

    triples = zip(codes.tolist(), cells.missing.tolist(), cells.values.tolist(), strict=True)
    return [text(*triple) for triple in triples]


def _label(column: Column, value: Label) -> Label:
    return value if column.categories is None else column.categories[value]


def members_of(model: Classifier) -> list[Member]:
    """Return the members of a blend; an empty list for any other model."""
    return getattr(model, "members_", [])


def heaviest(model: Classifier) -> Classifier:
    """Return the member of a blend with the largest weight; any other model itself."""
    members = members_of(model)
    return max(members, key=lambda member: member.weight).model if members else model


def one_row(model: Classifier, X: object) -> Frame:
    """Read a single row: a frame or list with one, a list of cells, or a dictionary of some.

    A column that a dictionary lacks is unknown: it has no influence, even if missing values are a
    category.
    """
    names = model.schema_.names
    if isinstance(X, Mapping):
        unknown = [name for name in X if name not in names]
        if unknown:
            known = ", ".join(map(repr, names))
            raise UnnaiveError(f"there is no column {unknown[0]!r}; the columns are {known}")
        cells = [np.nan if X.get(name) is None else X[name] for name in names]
        given = map(to_column, ([cell] for cell in cells), names)
        columns = tuple(replace(column, unknown=column.name not in X) for column in given)
        return Frame(names, 1, columns)
    if isinstance(X, list | tuple) and not any(
        hasattr(cell, "__len__") and not isinstance(cell, str) for cell in X
    ):
        X = [list(X)]
    frame = to_frame(X)
    if frame.n_rows != 1:
        raise UnnaiveError(f"there are {frame.n_rows} rows; pass one, such as X[:1]")
    if len(frame.names) == len(names) and not hasattr(X, "columns"):
        columns = tuple(replace(frame.column(i), name=name) for i, name in enumerate(names))
        return Frame(names, 1, columns)
    return frame


def target_codes(model: Classifier, y: object, n_rows: int) -> IntArray:
    """Return the class codes of labels, one for each row; shape (n,)."""
    codes = model.schema_.encode_target(to_column(y))
    if len(codes) != n_rows:
        raise UnnaiveError(f"there are {n_rows} rows and {len(codes)} labels")
    return codes


def values_of(column: ColumnSchema) -> list[str]:
    """Names of all values, or bins, of a column."""
    return [column.label(code) for code in range(column.size)]


def repeated(row: Frame, n_rows: int, changed: Mapping[int, Column]) -> Frame:
    """Repeat a row, with other columns in some places."""
    columns = [row.column(place) for place in range(len(row.names))]
    for place, cell in enumerate(columns):
        columns[place] = changed.get(place) or replace(cell, values=np.repeat(cell.values, n_rows))
    return Frame(row.names, n_rows, tuple(columns))


def with_values(cell: Column, column: ColumnSchema, codes: IntArray) -> Column:
    """Return a column with the values of some codes; where a code is −1, the cell's own value."""
    if not isinstance(column, CategoricalColumn):
        return with_numbers(cell, np.array([*bin_points(column.edges), np.nan]), codes)
    labels, unchanged = column.categories, -1
    places = np.where(codes < len(labels), codes, -1)  # the code after them is of missing values
    if not cell.missing[0]:
        labels, unchanged = (*labels, _label(cell, cell.values[0].item())), len(labels)
    return Column(cell.name, np.where(codes < 0, unchanged, places).astype(np.int32), labels)


def with_numbers(cell: Column, numbers: FloatArray, places: IntArray) -> Column:
    """Return a column of numbers by their places; where a place is −1, the cell's own number."""
    unchanged = np.nan if cell.missing[0] else float(cell.values[0])
    return Column(cell.name, np.where(places < 0, unchanged, numbers[places]))


def bin_points(edges: Sequence[float]) -> list[float]:
    """Return a number inside every bin: its upper edge, and one beyond the last edge."""
    return [*edges, edges[-1] + 1.0 + abs(edges[-1])] if edges else [0.0]
