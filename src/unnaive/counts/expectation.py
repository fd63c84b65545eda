"""Means and covariances of rows with missing values, by expectation-maximization (EM)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts.distinct import distinct_rows

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray

_ROUNDS = 300
_CHANGE = 1e-8  # of a correlation, below which there are no further rounds
_ENTRIES = 1 << 18  # of the matrices of several patterns


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
        Starting values; columns that are never observed, or constant, keep them.
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
    X, weights = distinct_rows(X, weights)  # of which no sum depends on their order
    empty = np.isnan(X)
    patterns, pattern = np.unique(empty, axis=0, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")  # rows of a pattern side by side
    X, empty, weights = X[order], empty[order], weights[order]
    ends = np.append(0, np.cumsum(np.bincount(pattern.reshape(-1))))
    groups = _groups(patterns)
    constant = variances == 0
    changes = ~empty.all(axis=0) & ~constant
    covariance, total = np.diag(variances), weights.sum()
    sums = np.add.reduceat(weights, ends[:-1])
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    for _ in range(_ROUNDS if total > 0 else 0):
        filled, spread = np.where(empty, 0.0, X - mean), np.zeros_like(covariance)
        for group in groups:
            slopes, left = _given_observed(covariance, least, patterns[group])
            for slope, start, stop in zip(slopes, ends[group], ends[group + 1], strict=True):
                filled[start:stop] += filled[start:stop] @ slope
            spread += np.einsum("p,pij->ij", sums[group], left)
        filled = np.where(empty, filled + mean, X)
        new_mean = np.where(changes, weights @ filled / total, mean)
        centred = filled - new_mean
        new = ((weights[:, None] * centred).T @ centred + spread) / total
        new[constant, :] = new[:, constant] = 0.0  # rounding would give them a variance
        change = np.abs((new - covariance) / np.outer(scale, scale)).max(initial=0.0)
        change = max(change, np.abs((new_mean - mean) / scale).max(initial=0.0))
        mean, covariance = new_mean, (new + new.T) / 2
        if change < _CHANGE:
            break
    return mean, covariance


def _groups(patterns: BoolArray) -> list[IntArray]:
    """Patterns with missing values, those with equally many together, some megabytes at a time."""
    missing, step = patterns.sum(axis=1), max(1, _ENTRIES // max(patterns.shape[1] ** 2, 1))
    alike = [np.flatnonzero(missing == number) for number in np.unique(missing[missing > 0])]
    return [group[at : at + step] for group in alike for at in range(0, len(group), step)]


def _given_observed(
    covariance: FloatArray, least: FloatArray, missing: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Slopes of missing on observed columns, and covariance that these leave; both (p, d, d).

    All p patterns have equally many missing values.
    """
    p, d = missing.shape
    there = np.nonzero(missing)[1].reshape(p, -1)
    here = np.nonzero(~missing)[1].reshape(p, -1)
    each, from_here = np.arange(p)[:, None, None], here[:, :, None]
    inner = (covariance + np.diag(least))[from_here, here[:, None, :]]
    across = covariance[from_here, there[:, None, :]]
    slopes, left = np.zeros((2, p, d, d))
    solved = np.linalg.solve(inner, across)
    slopes[each, from_here, there[:, None, :]] = solved
    pairs = (there[:, :, None], there[:, None, :])
    left[each, *pairs] = covariance[pairs] - across.transpose(0, 2, 1) @ solved
    return slopes, left
