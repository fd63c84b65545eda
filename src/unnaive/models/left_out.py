"""Left-out predictions of coded rows: what calibration and the choice of a model are judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._core.tables import log_posterior
from unnaive.exceptions import UnnaiveError
from unnaive.models.classifier import first_of_the_best

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.base import CountsClassifier
    from unnaive.tables.calibration import Calibration

    Joints = Callable[[float, CodeArray, IntArray], Iterable[FloatArray]]

_MOST_WEIGHTS = 16  # of more distinct ones, all rows are left out as if of the mean weight


def some_rows(classes: IntArray, most: int, width: int = 1) -> IntArray:
    """All rows, or, where n · ``width`` is above ``most``, an equal share of every class.

    In their order; shape (m,).
    """
    step = max(-(-len(classes) * width // most), 1)
    return np.sort(np.argsort(classes, kind="stable")[::step])


def left_out_joint(model: CountsClassifier, rows: CodedRows) -> FloatArray:
    """Log joint of rows of the fit, each by the model without it, not calibrated; shape (n, k)."""
    if not model.has_leave_one_out:
        raise UnnaiveError(
            f"{type(model).__name__} has no leave-one-out in closed form, so it cannot be "
            "calibrated by it; use scikit-learn's CalibratedClassifierCV"
        )
    given = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
    weights = np.unique(given)
    if len(weights) > _MOST_WEIGHTS:
        weights = given.mean(keepdims=True)
    out = np.empty((len(rows.classes), len(rows.schema.classes)))
    for weight in weights.tolist():
        part = np.arange(len(out))
        if len(weights) > 1:
            part = np.flatnonzero(given == weight)
        codes, held = np.ascontiguousarray(rows.codes[:, part]), rows.classes[part]
        joint = model._joint(model._make_tables(weight), codes, held, model.n_jobs)
        model._answer_hopeless(joint, held, weight, model.counts_)
        out[part] = joint
    return out


def left_out_scores(
    model: CountsClassifier, rows: CodedRows, counts: JointCounts, joints_of: Joints
) -> FloatArray:
    """Weighted leave-one-out accuracy and mean log-likelihood of candidates; shape (m, 2).

    ``joints_of`` gives, for rows of one weight, the log joint by every candidate in turn.
    """
    weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
    total: Any = 0.0
    for weight in np.unique(weights):
        part = np.flatnonzero(weights == weight)
        codes, held = np.ascontiguousarray(rows.codes[:, part]), rows.classes[part]
        found = []
        for joint in joints_of(float(weight), codes, held):
            model._answer_hopeless(joint, held, float(weight), counts)
            chances = np.empty_like(joint)
            log_posterior(joint, chances)
            right = first_of_the_best(chances) == held
            found.append([right.sum(), chances[np.arange(len(held)), held].sum()])
        total = total + weight * np.array(found)
    return np.asarray(total / float(weights.sum()))


def calibration(model: CountsClassifier, rows: CodedRows) -> Calibration:
    """Calibrate a model by left-out predictions of all rows."""
    from unnaive.tables.calibration import calibrated  # noqa: PLC0415 - loads when asked

    joint = left_out_joint(model, rows)
    return calibrated(joint, rows.classes, rows.weights, model.n_jobs)


def restored_calibration(state: dict[str, Any]) -> Calibration:
    """Make the calibration of a saved model."""
    from unnaive.tables.calibration import Calibration  # noqa: PLC0415 - loads when asked

    return Calibration(**state)
