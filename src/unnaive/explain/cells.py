"""Cells of rows: what people read, and rows in which some cells are others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, to_column, to_frame
from unnaive.schema import CategoricalColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray, Label
    from unnaive.models import Classifier
    from unnaive.models.trial import Member
    from unnaive.schema import ColumnSchema, Schema

MISSING = "missing"


def shown_cells(frame: Frame, schema: Schema) -> tuple[AnyArray, BoolArray]:
    """Name what every cell holds, and whether a model sees it; both of shape (n, d).

    Numbers that are binned are followed by their bin, values never seen are called that.
    """
    codes = schema.encode(frame)
    cells = np.empty((frame.n_rows, len(schema.columns)), dtype=object)
    for place, known in enumerate(schema.columns):
        cells[:, place] = _shown(frame.column(place), known, codes[place])
    return cells, (codes < schema.sizes[:, None]).T


def _shown(column: Column, known: ColumnSchema, codes: AnyArray) -> list[str]:
    missing, values = column.missing.tolist(), column.values.tolist()
    names = values_of(known)
    binned = not isinstance(known, CategoricalColumn) and known.size > 1
    shown = []
    for code, absent, value in zip(codes.tolist(), missing, values, strict=True):
        if absent:
            shown.append(MISSING)
        elif code == known.size:
            shown.append(f"{_label(column, value)} (never seen)")
        elif isinstance(known, CategoricalColumn):
            shown.append(names[code])
        else:
            shown.append(f"{value:.6g} ({names[code]})" if binned else f"{value:.6g}")
    return shown


def _label(column: Column, value: Label) -> Label:
    return value if column.categories is None else column.categories[value]


def members_of(model: Classifier) -> list[Member]:
    """Return the models that a blend answers by; of any other model none."""
    return getattr(model, "members_", [])


def heaviest(model: Classifier) -> Classifier:
    """Return the member of most weight of a blend; any other model is its own."""
    members = members_of(model)
    return max(members, key=lambda member: member.weight).model if members else model


def one_row(model: Classifier, X: object) -> Frame:
    """Read a single row: a frame or list with one, a list of cells, or a dictionary of some."""
    names = model.schema_.names
    if isinstance(X, Mapping):
        strange = [name for name in X if name not in names]
        if strange:
            known = ", ".join(map(repr, names))
            raise UnnaiveError(f"there is no column {strange[0]!r}; the columns are {known}")
        cells = [np.nan if X.get(name) is None else X[name] for name in names]
        pairs = zip(cells, names, strict=True)
        return Frame(names, 1, tuple(to_column([cell], name) for cell, name in pairs))
    if isinstance(X, list | tuple) and not any(
        hasattr(cell, "__len__") and not isinstance(cell, str) for cell in X
    ):
        X = [list(X)]
    frame = to_frame(X)
    if frame.n_rows != 1:
        raise UnnaiveError(f"there are {frame.n_rows} rows; give one, such as X[:1]")
    if len(frame.names) == len(names) and not hasattr(X, "columns"):
        columns = tuple(replace(frame.column(i), name=name) for i, name in enumerate(names))
        return Frame(names, 1, columns)
    return frame


def values_of(known: ColumnSchema) -> list[str]:
    """Names of all values, or bins, of a column."""
    return [known.label(code) for code in range(known.size)]


def repeated(row: Frame, n_rows: int, changed: Mapping[int, Column]) -> Frame:
    """Repeat a row, with other columns in some places."""
    columns = [row.column(place) for place in range(len(row.names))]
    for place, own in enumerate(columns):
        columns[place] = changed.get(place) or replace(own, values=np.repeat(own.values, n_rows))
    return Frame(row.names, n_rows, tuple(columns))


def with_values(own: Column, known: ColumnSchema, codes: IntArray) -> Column:
    """Return a cell as a column with the values of some codes, its own where the code is −1."""
    if not isinstance(known, CategoricalColumn):
        return with_numbers(own, np.array(bin_points(known.edges)), codes)
    labels, stays = known.categories, -1
    if not own.missing[0]:
        labels, stays = (*labels, _label(own, own.values[0].item())), known.size
    return Column(own.name, np.where(codes < 0, stays, codes).astype(np.int32), labels)


def with_numbers(own: Column, numbers: FloatArray, places: IntArray) -> Column:
    """Return a cell as a column of numbers by their places, its own where the place is −1."""
    kept = np.nan if own.missing[0] else float(own.values[0])
    return Column(own.name, np.where(places < 0, kept, numbers[places]))


def bin_points(edges: Sequence[float]) -> list[float]:
    """Return a number inside every bin: its upper edge, which belongs to it, and one beyond."""
    return [*edges, edges[-1] + 1.0 + abs(edges[-1])] if edges else [0.0]
