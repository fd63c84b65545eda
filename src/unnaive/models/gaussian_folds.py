"""Gaussian models fitted to all rows and without each fold, from one count of moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import log_posterior
from unnaive._dataclasses import dataclass
from unnaive.counts.moments import Moments, all_and_without_each, moments_of
from unnaive.counts.precise import NumberColumns
from unnaive.exceptions import UnnaiveError
from unnaive.models.gaussian_parts import NumberRows
from unnaive.schema import Schema, learn_target

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray
    from unnaive.io.frames import Column, Frame
    from unnaive.models.fitted import Names
    from unnaive.models.gaussian import GaussianClassifier
    from unnaive.models.gaussian_parts import GaussianFitted


@dataclass(frozen=True, eq=False)
class NumberFolds:
    """Rows of numbers in folds, and the moments without each fold.

    Attributes
    ----------
    rows : NumberRows
        All rows.
    fold : ndarray of shape (n,)
        Number of each row's fold, from 0.
    labels : ndarray of shape (k,)
        Classes.
    whole : Moments
        Moments of all rows.
    without : list of Moments
        Moments of the rows outside of each fold.
    """

    rows: NumberRows
    fold: IntArray
    labels: AnyArray
    whole: Moments
    without: list[Moments]

    @classmethod
    def of(
        cls,
        model: GaussianClassifier,
        frame: Frame,
        target: Column,
        weights: FloatArray | None,
        fold: IntArray,
    ) -> Self:
        """Count the rows of each fold; ``model`` says whether it can read them."""
        labels, codes = learn_target(target)
        rows = NumberRows(model.numbers(frame, np.arange(len(frame.names))), codes, weights)
        schema = Schema.of_numbers(frame.names, labels.tolist(), target.name)
        if not fold.any():
            raise UnnaiveError("without the rows of the only fold there are none; give more rows")
        origin, moments = NumberColumns.of(rows.X).origin, []
        with _parallel.one_thread_each():
            for number in range(int(fold.max()) + 1):
                part = _some(rows, fold == number)
                moments.append(moments_of(part.X, part.classes, schema, part.weights, origin))
        return cls(rows, fold, labels, *all_and_without_each(moments))


def fit_and_leave_out(
    model: GaussianClassifier, folds: NumberFolds, names: Names
) -> tuple[GaussianFitted, FloatArray]:
    """Fit a model to all rows; log posterior of each by a fit without its fold; shape (n, k).

    The model must be one that ``learns_from_moments``.
    """
    out = np.empty((len(folds.fold), len(folds.labels)))
    columns = np.arange(folds.rows.X.shape[1])

    def fit(number: int | None) -> GaussianFitted:
        if number is None:
            return model.of_moments(folds.whole, folds.rows, folds.labels, names, columns)
        inside = folds.fold == number
        rest = _some(folds.rows, ~inside)
        fitted = model.of_moments(folds.without[number], rest, folds.labels, names, columns)
        joint = fitted.joint(folds.rows.X[inside], n_jobs=1)
        out[inside] = fitted.normalised(joint, log_posterior)
        return fitted

    with _parallel.one_thread_each():
        fitted, *_ = _parallel.run(fit, [None, *range(len(folds.without))], model.n_jobs)
    return fitted, out


def _some(rows: NumberRows, chosen: BoolArray) -> NumberRows:
    """Return the chosen rows."""
    weights = None if rows.weights is None else rows.weights[chosen]
    return NumberRows(rows.X[chosen], rows.classes[chosen], weights)
