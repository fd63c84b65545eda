"""The rows of a report, checked against the columns and classes of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from unnaive.exceptions import SchemaMismatch
from unnaive.io.frames import Column, Frame, rows_and_labels
from unnaive.models import CountsClassifier
from unnaive.models.inputs import names_that_differ
from unnaive.schema import NumericColumn
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    from unnaive._typing import IntArray
    from unnaive.models import Classifier

    Cells = list[list[float | str | None]]
    Numbers = list[list[float | None]]


class ReportRows(NamedTuple):
    """Rows, their labels as a column and as codes, and the labels of all classes."""

    frame: Frame
    target: Column
    codes: IntArray
    labels: tuple[str, ...]

    def take(self, rows: IntArray) -> ReportRows:
        """Return some rows."""
        return self._replace(
            frame=self.frame.take(rows), target=self.target.take(rows), codes=self.codes[rows]
        )

    def drawn(self, most: int | None, seed: int) -> IntArray:
        """Draw a stratified sample with at least two rows of each class; sorted positions."""
        n = len(self.codes)
        if most is None or n <= most:
            return np.arange(n)
        order = np.random.default_rng(seed).permutation(n)
        ranked = order[np.argsort(self.codes[order], kind="stable")]
        counts = np.bincount(self.codes)
        place = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
        wanted = np.maximum(np.round(counts * most / n), 2)
        return np.sort(ranked[place < np.repeat(wanted, counts)])


def report_rows(model: Classifier, X: object, y: object) -> ReportRows:
    """Read rows and labels; refuse columns and classes that the model does not have."""
    check_is_fitted(model)
    frame, target = rows_and_labels(X, y)
    check_consistent_length(np.empty((frame.n_rows, 0)), target.values)
    known = tuple(model.schema_.names)
    if hasattr(model, "feature_names_in_") and frame.names != known:
        raise SchemaMismatch(
            "the rows have other columns than the model; "
            f"{names_that_differ(frame.names, known)}; pass the columns that it was fitted on: "
            "X[list(model.feature_names_in_)]"
        )
    if len(frame.names) != len(known):
        raise SchemaMismatch(
            f"the rows have {len(frame.names)} columns and the model {len(known)}; pass the "
            "columns that it was fitted on"
        )
    labels = tuple(map(str, model.schema_.classes))
    return ReportRows(frame, target, model.schema_.encode_target(target), labels)


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
