"""Rows to evaluate on: converted once, taken from many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, to_column, to_frame
from unnaive.schema import learn_target

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray, IntArray
    from unnaive.schema.columns import Label


class EvaluationRows(NamedTuple):
    """Rows, labels and weights, and the classes of all of them."""

    frame: Frame
    target: Column
    weights: FloatArray | None
    classes: tuple[Label, ...]
    codes: IntArray

    def take(self, rows: IntArray) -> tuple[Frame, Column, FloatArray | None]:
        """Return some rows as if there had never been others."""
        weights = None if self.weights is None else self.weights[rows]
        return self.frame.take(rows), self.target.take(rows), weights


def prepare_rows(X: object, y: object, sample_weight: ArrayLike | None = None) -> EvaluationRows:
    """Read rows, labels and weights."""
    frame, target = to_frame(X), to_column(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    check_consistent_length(np.empty((frame.n_rows, 0)), target.values, weights)
    if weights is not None and not (weights > 0).all():
        row = int(np.argmin(weights > 0))
        raise UnnaiveError(
            f"sample_weight is {weights[row]} in row {row}; to evaluate, weights must be above 0: "
            "leave the other rows out"
        )
    labels, codes = learn_target(target)
    if not target.is_text and target.values.dtype.kind == "f":
        check_classification_targets(target.values)
    return EvaluationRows(frame, target, weights, tuple(labels.tolist()), codes)
