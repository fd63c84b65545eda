"""Cells of rows in the form that the page's engine takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.models import CountsClassifier
from unnaive.schema import NumericColumn
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier

    Cells = list[list[float | str | None]]
    Numbers = list[list[float | None]]


def engine_cells(model: Classifier, frame: Frame) -> tuple[Cells, Numbers]:
    """Return cells for the engine, and the numbers among them, row by row; None: unknown.

    The engine takes the code of a category or a bin; models without bins take numbers, and
    "missing" where missing values are a category.
    """
    cells: Cells = []
    numbers: Numbers = []
    for place, known in enumerate(model.schema_.columns):
        column = frame.column(place)
        codes = [code if code < known.size else None for code in known.encode(column).tolist()]
        if isinstance(known, NumericColumn):
            pairs = zip(column.values.tolist(), column.missing.tolist(), strict=True)
            numbers.append([None if missing else float(value) for value, missing in pairs])
            asked = known.missing_category and not column.unknown
            absent = MISSING_VALUES if asked else None
            given = [absent if number is None else number for number in numbers[-1]]
            cells.append(codes if isinstance(model, CountsClassifier) else given)
        else:
            numbers.append([None] * frame.n_rows)
            cells.append(codes)
    by_row = [list(row) for row in zip(*cells, strict=True)]
    return by_row, [list(row) for row in zip(*numbers, strict=True)]
