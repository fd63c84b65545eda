"""Means and covariances of rows with missing values, by expectation-maximization (EM)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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

    Parameters
    ----------
    X, weights
        Rows (n, d) and their weights (n,).
    mean, variances
        Starting values; columns that are never observed keep them.
    least : array of shape (d,)
        Added to variances when equations are solved, so that copies of columns do no harm.

    Returns
    -------
    mean : ndarray of shape (d,)
    covariance : ndarray of shape (d, d)

    References
    ----------
    Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
    Journal of the Royal Statistical Society B 39, 1977.
    """
    empty = np.isnan(X)
    patterns, pattern = np.unique(empty, axis=0, return_inverse=True)
    groups = [np.flatnonzero(pattern.reshape(-1) == index) for index in range(len(patterns))]
    seen = ~empty.all(axis=0)
    covariance, total = np.diag(variances), weights.sum()
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    for _ in range(_ROUNDS if total > 0 else 0):
        filled = np.where(empty, 0.0, X)
        spread = np.zeros_like(covariance)
        for missing, rows in zip(patterns, groups, strict=True):
            here, there = np.flatnonzero(~missing), np.flatnonzero(missing)
            inner = covariance[np.ix_(here, here)] + np.diag(least[here])
            slopes = np.linalg.solve(inner, covariance[np.ix_(here, there)]).T
            filled[np.ix_(rows, there)] = (
                mean[there] + (X[np.ix_(rows, here)] - mean[here]) @ slopes.T
            )
            left = covariance[np.ix_(there, there)] - slopes @ covariance[np.ix_(here, there)]
            spread[np.ix_(there, there)] += weights[rows].sum() * left
        new_mean = np.where(seen, weights @ filled / total, mean)
        centred = filled - new_mean
        new = ((weights[:, None] * centred).T @ centred + spread) / total
        change = np.abs((new - covariance) / np.outer(scale, scale)).max(initial=0.0)
        change = max(change, np.abs((new_mean - mean) / scale).max(initial=0.0))
        mean, covariance = new_mean, (new + new.T) / 2
        if change < _CHANGE:
            break
    return mean, covariance
