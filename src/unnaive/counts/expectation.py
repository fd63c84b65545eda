"""Means and covariances of rows with missing values, by expectation-maximization (EM)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.expectation import estimate_moments
from unnaive.counts.distinct import distinct_rows

if TYPE_CHECKING:
    from unnaive._typing import FloatArray

_ROUNDS = 300
_CHANGE = 1e-8  # of a correlation, below which there are no further rounds


def maximum_likelihood(
    X: FloatArray, weights: FloatArray, mean: FloatArray, variances: FloatArray, least: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Estimate mean (d,) and covariance (d, d) from rows with missing values (NaN).

    The E-step replaces missing values by their mean and covariance given the observed values;
    the M-step computes mean and covariance again. The estimate is the maximum likelihood one if
    values are missing at random: whether a value is missing depends only on observed values.
    Rows that miss the same values are computed together, from sums over them if they are many.

    Parameters
    ----------
    X, weights
        Rows (n, d) and their weights (n,).
    mean, variances
        Starting values; columns that are never observed, or constant, keep them.
    least : array of shape (d,)
        Added to variances when equations are solved, so that copies of columns do no harm.

    Returns
    -------
    mean : ndarray of shape (d,)
    covariance : ndarray of shape (d, d)

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.0]])
    >>> start = np.array([2.0, 4.0]), np.array([0.7, 4.0]), np.full(2, 1e-9)
    >>> mean, covariance = maximum_likelihood(X, np.ones(3), *start)
    >>> mean.round(3), covariance.round(3).tolist()
    (array([2., 4.]), [[0.667, 1.333], [1.333, 2.667]])

    References
    ----------
    Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
    Journal of the Royal Statistical Society B 39, 1977; Schafer, "Analysis of Incomplete
    Multivariate Data", 1997, section 5.3, by patterns of missing values.
    """
    X, weights = distinct_rows(X, weights)  # of which no sum depends on their order
    empty = np.isnan(X)
    columns = np.argsort(empty.sum(axis=0), kind="stable")  # patterns begin alike
    patterns = np.packbits(empty[:, columns], axis=1)
    order = np.lexsort(patterns.T[::-1])  # rows of a pattern side by side
    mean, covariance = mean[columns], np.diag(variances[columns])
    rows = np.ascontiguousarray(X[np.ix_(order, columns)])
    estimate_moments(rows, weights[order], least[columns], _ROUNDS, _CHANGE, mean, covariance)
    back = np.argsort(columns)
    return mean[back], covariance[np.ix_(back, back)]
