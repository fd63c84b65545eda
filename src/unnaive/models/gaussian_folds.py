"""Gaussian models fitted to all rows and without each fold, from one count of moments."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

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


_MOST_HELD = 1 << 20  # numbers whose folds are held; of more, they are selected for every model


class FoldMoments(Moments):
    """Moments that several models are made of: means and covariances are computed once."""

    @cached_property
    def means(self) -> FloatArray:
        """Mean of every class and column; shape (k, d)."""
        return super().means

    @cached_property
    def _covariances(self) -> FloatArray:
        return super().covariances()

    def covariances(self, ddof: int = 0) -> FloatArray:
        """Covariance of every class and pair of columns, a copy; shape (k, d, d)."""
        return super().covariances(ddof) if ddof else self._covariances.copy()


class Part(NamedTuple):
    """Places of the rows in a fold, their numbers, and the rows outside of it."""

    inside: IntArray
    X: FloatArray
    rest: NumberRows


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
    without : list of FoldMoments
        Moments of the rows outside of each fold.
    """

    rows: NumberRows
    fold: IntArray
    labels: AnyArray
    whole: Moments
    without: list[FoldMoments]

    @cached_property
    def _parts(self) -> list[Part]:
        """All folds, if they are small enough to be held."""
        return [self._part(number) for number in range(len(self.without))]

    def part(self, number: int) -> Part:
        """Rows inside and outside of a fold."""
        return self._parts[number] if self.rows.X.size <= _MOST_HELD else self._part(number)

    def _part(self, number: int) -> Part:
        inside = self.fold == number
        return Part(np.flatnonzero(inside), self.rows.X[inside], _some(self.rows, ~inside))

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
        whole, without = all_and_without_each(moments)
        kept = [
            FoldMoments(**{f.name: getattr(one, f.name) for f in fields(one)}) for one in without
        ]
        return cls(rows, fold, labels, whole, kept)


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
        part = folds.part(number)
        fitted = model.of_moments(folds.without[number], part.rest, folds.labels, names, columns)
        out[part.inside] = fitted.normalised(fitted.joint(part.X, n_jobs=1), log_posterior)
        return fitted

    n_jobs = _parallel.jobs_for(folds.rows.X.size, model.n_jobs)
    with _parallel.one_thread_each():
        fitted, *_ = _parallel.run(fit, [None, *range(len(folds.without))], n_jobs)
    return fitted, out


def _some(rows: NumberRows, chosen: BoolArray) -> NumberRows:
    """Return the chosen rows."""
    weights = None if rows.weights is None else rows.weights[chosen]
    return NumberRows(rows.X[chosen], rows.classes[chosen], weights)
