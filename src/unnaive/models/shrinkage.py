"""Whole covariance matrices of the classes: shrinkage, pooling, and samples with missing values.

Models of them declare the two parameters, and :func:`learn_spread` is a method of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from unnaive._caution import caution
from unnaive.counts.expectation import maximum_likelihood
from unnaive.exceptions import UnnaiveError
from unnaive.parameters import described, is_number, number, parameter

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.counts.moments import Moments
    from unnaive.models.gaussian_parts import NumberRows, Spread


class Shrinks(Protocol):
    """A model with the parameters ``shrinkage`` and ``pooling``."""

    shrinkage: float | str | None
    pooling: float


def shrinkage_of() -> float | str | None:
    """Declare the parameter ``shrinkage``."""
    return described(
        parameter(
            None,
            "a number from 0 to 1",
            also=("ledoit-wolf", None),
            test=lambda value: is_number(value, 0, 1),
        ),
        'float, "ledoit-wolf" or None, default=None',
        "Share of the mean variance, on the diagonal, in the covariance of each class.",
    )


def pooling_of() -> float:
    """Declare the parameter ``pooling``."""
    return described(
        number(0.0, 0.0, most=1.0),
        "float, default=0.0",
        "Share of the common covariance of all classes (Friedman's λ): 0 is a quadratic "
        "discriminant, 1 a linear one. Applied before shrinkage.",
    )


def learn_spread(self: Shrinks, spread: Spread, rows: NumberRows | None) -> State:
    """Learn the shrinkage, and covariances of samples with missing values.

    With missing values ``fit`` estimates covariances by maximum likelihood, up to a precision of
    about 1e-8 of a correlation; ``partial_fit`` and ``forget`` have only moments, and each
    covariance is that of the samples with both values.

    Parameters
    ----------
    spread : Spread
        Moments and settings.
    rows : NumberRows or None
        The samples; None: there are only moments.

    Returns
    -------
    dict
        Plain values and arrays by name.
    """
    moments = spread.moments
    if self.shrinkage is None and not self.pooling:
        _warn_of_few_rows(moments)
    shares = _shares(self.shrinkage, moments, rows)
    learned: State = {"shrinkage": shares, "pooling": float(self.pooling)}
    used = moments.used
    if rows is not None and not moments.complete and np.isnan(rows.X[:, used]).any():
        classes = range(len(moments.class_weights))
        likely = [_most_likely(spread, rows, label) for label in classes]
        learned["means"] = np.stack([mean for mean, _ in likely])
        learned["covariances"] = np.stack([covariance for _, covariance in likely])
    return learned


def _warn_of_few_rows(moments: Moments) -> None:
    """Warn if a class has no more rows than columns."""
    seen, columns = moments.class_weights, len(moments.used)
    few = (seen > 0) & (seen <= columns)
    if few.any():
        label = moments.schema.classes[int(np.argmax(few))]
        message = (
            f"class {label!r} has {seen[few][0]:g} rows for {columns} columns; its covariances "
            'say little: set shrinkage="ledoit-wolf", or pooling=0.5'
        )
        caution(UserWarning(message))


def _shares(shrinkage: float | str | None, moments: Moments, rows: NumberRows | None) -> FloatArray:
    """Share of the mean variance in each class's covariance; shape (k,)."""
    k = len(moments.class_weights)
    if not isinstance(shrinkage, str):
        return np.full(k, float(shrinkage or 0.0))
    if rows is None or rows.weights is not None:
        raise UnnaiveError(
            'shrinkage="ledoit-wolf" needs whole rows without weights; call fit, or give '
            "the number that it found there"
        )
    from sklearn.covariance import ledoit_wolf_shrinkage  # noqa: PLC0415 - slow to import

    X = rows.X[:, moments.used]
    whole = ~np.isnan(X).any(axis=1)
    samples = [X[whole & (rows.classes == label)] for label in range(k)]
    return np.array([ledoit_wolf_shrinkage(x) if len(x) > 1 else 1.0 for x in samples])


def _most_likely(spread: Spread, rows: NumberRows, label: int) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of one class from rows with missing values."""
    moments, used = spread.moments, spread.used
    mine = np.flatnonzero(rows.classes == label)
    weights = np.ones(len(mine)) if rows.weights is None else rows.weights[mine]
    variances = np.diag(moments.covariances()[label])[used]
    least = spread.added(moments.variances[used]) + 1e-12 * variances
    X, mean = rows.X[np.ix_(mine, used)], moments.means[label, used]
    return maximum_likelihood(X, weights, mean, variances, np.where(least > 0, least, 1.0))
