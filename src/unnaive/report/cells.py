"""Cells of rows in the form that the page's engine takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.models import CountsClassifier
from unnaive.schema import NumericColumn

if TYPE_CHECKING:
    from unnaive.io.frames import Column, Frame
    from unnaive.models import Classifier


def explorer_cells(model: Classifier, frame: Frame) -> list[list[float | None]]:
    """Cells of every row as codes, or as numbers if the model takes numbers; None: missing."""
    columns: list[list[float | None]] = []
    for place, known in enumerate(model.schema_.columns):
        cells = frame.column(place)
        if isinstance(known, NumericColumn) and not isinstance(model, CountsClassifier):
            columns.append(_numbers(cells))
        else:
            codes = known.encode(cells).tolist()
            columns.append([code if code < known.size else None for code in codes])
    return [list(row) for row in zip(*columns, strict=True)]


def typed_numbers(model: Classifier, frame: Frame) -> list[list[float | None]]:
    """Numbers of every row, None in columns of categories and where missing."""
    nothing: list[float | None] = [None] * frame.n_rows
    columns = [
        _numbers(frame.column(place)) if isinstance(known, NumericColumn) else nothing
        for place, known in enumerate(model.schema_.columns)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _numbers(cells: Column) -> list[float | None]:
    pairs = zip(cells.values.tolist(), cells.missing.tolist(), strict=True)
    return [None if missing else float(value) for value, missing in pairs]
