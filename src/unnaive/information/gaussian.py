"""Information between columns of numbers that are Gaussian within every class, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive._typing import FloatArray

SINGULAR = (
    "the covariance of a class is singular: a column is constant, or a sum of others, or "
    'there are too few rows; raise var_smoothing, or set shrinkage="ledoit-wolf"'
)
_CAP = 1e-12  # squared correlations are capped at 1 − _CAP


def solved(covariance: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a linear system of covariances; a singular one raises an error with the cure."""
    try:
        return np.asarray(np.linalg.solve(covariance, right))
    except np.linalg.LinAlgError:
        raise UnnaiveError(SINGULAR) from None


def gaussian_information(covariances: FloatArray, shares: FloatArray) -> FloatArray:
    r"""Information :math:`I(X_i;X_j|Y)` of every pair of columns; shape (d, d).

    .. math:: I(X_i;X_j|Y) = -\tfrac12 \sum_c P(c) \log(1 - \rho_{ij|c}^2)

    References
    ----------
    Pérez, Larrañaga & Inza, "Supervised classification with conditional Gaussian networks",
    International Journal of Approximate Reasoning 43, 2006.
    """
    information = np.zeros(covariances.shape[1:])
    for own, share in zip(covariances, shares, strict=True):
        variances = np.diag(own)
        scale = 1.0 / np.sqrt(np.where(variances > 0, variances, np.inf))
        squares = own * scale[:, None]
        squares *= scale
        squares *= squares
        np.minimum(squares, 1 - _CAP, out=squares)
        np.subtract(1.0, squares, out=squares)
        information -= share / 2 * np.log(squares, out=squares)
    np.fill_diagonal(information, 0.0)
    return np.asarray(np.maximum(information, 0.0))


def gaussian_relevance(
    covariances: FloatArray, shares: FloatArray, variances: FloatArray
) -> FloatArray:
    r"""Mutual information of every column with the class, if it were Gaussian; shape (d,).

    .. math:: I(X_i;Y) = \tfrac12 \big(\log \sigma_i^2 - \sum_c P(c) \log \sigma_{ic}^2\big)
    """
    within = np.einsum("kii->ki", covariances)
    known = (within > 0).all(axis=0) & (variances > 0)
    safe = np.where(known, within, 1.0)
    logs = np.log(np.where(known, variances, 1.0)) - shares @ np.log(safe)
    return np.asarray(np.maximum(logs / 2, 0.0))


def label_information(weights: FloatArray, variances: FloatArray, within: FloatArray) -> float:
    r"""Information :math:`I(X;V|Y)` of a number, Gaussian within categories, and its categories.

    .. math:: I(X;V|Y) = \tfrac12 \sum_{c,v} P(c, v) \big(\log \sigma_c^2 - \log \sigma_{cv}^2\big)

    Parameters
    ----------
    weights : ndarray of shape (k, v)
        Number of rows of every class and category.
    variances : ndarray of shape (k, v)
        Variance of the number in these rows.
    within : ndarray of shape (k,)
        Variance of the number in all rows of a class.

    Returns
    -------
    float
        The information in nats, at least 0: shrunk variances may sum up to less.

    Examples
    --------
    >>> weights, within = np.array([[10.0, 10.0]]), np.array([5.0])
    >>> round(label_information(weights, np.array([[1.0, 1.0]]), within), 4)  # means apart by 4
    0.8047
    """
    total = weights.sum()
    known = (weights > 0) & (variances > 0) & (within > 0)[:, None]
    if not total > 0:
        return 0.0
    logs = np.log(np.where(known, within[:, None], 1.0)) - np.log(np.where(known, variances, 1.0))
    return max(float((weights * logs).sum() / total) / 2, 0.0)


def mean_log_derivatives(
    means: FloatArray, covariances: FloatArray, scatter: FloatArray
) -> FloatArray:
    r"""Mean log dependence derivative of every column; shape (k of rows, k of densities, d).

    .. math:: \log dd_c(x_i) = \log p(x_i \mid x_{-i}, c) - \log p(x_i \mid c)

    is a quadratic function, so its mean over the rows of a class follows from their
    covariance ``scatter`` (k, d, d) and mean, without another pass over the rows.
    """
    k, d = means.shape
    derivatives = np.zeros((k, k, d))
    for label in range(k):
        precision = solved(covariances[label], np.eye(d))
        given, alone = np.diag(precision), 1.0 / np.diag(covariances[label])
        for rows in range(k):
            away = means[rows] - means[label]
            second = scatter[rows] + np.outer(away, away)
            squares = np.einsum("ij,jl,il->i", precision, second, precision) / given
            own = np.diag(second) * alone
            derivatives[rows, label] = (np.log(given / alone) - squares + own) / 2
    return derivatives
