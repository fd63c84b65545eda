r"""Logarithms of sums, split exactly: the logarithmic-mean Divisia index.

With :math:`V_1 = \sum_p e^{A_p}`, :math:`V_0 = \sum_p e^{B_p}` and the logarithmic mean
:math:`L(a, b) = (a - b) / (\ln a - \ln b)`, :math:`L(a, a) = a`,

.. math:: \ln V_1 - \ln V_0 = \sum_p \omega_p (A_p - B_p), \qquad
          \omega_p = L(e^{A_p}, e^{B_p}) / L(V_1, V_0),

since each :math:`L(e^{A_p}, e^{B_p}) (A_p - B_p)` equals :math:`e^{A_p} - e^{B_p}`. There is no
residual, the order of the members does not matter, and if :math:`A_p - B_p` is a sum, the split is
the sum of the splits.

References
----------
Ang, "Decomposition analysis for policymaking in energy: which is the preferred method?", Energy
Policy 32, 2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import FloatArray


def log_mean(a: FloatArray, b: FloatArray) -> FloatArray:
    """Log of the logarithmic mean of two numbers, both given as logarithms.

    Parameters
    ----------
    a, b : ndarray
        Logarithms of the two numbers; −inf stands for 0.

    Returns
    -------
    ndarray
        log L(e^a, e^b).

    Examples
    --------
    >>> float(np.exp(log_mean(np.log(2.0), np.log(8.0))))  # (8 − 2) / log 4
    4.3280...
    """
    high = np.maximum(a, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.where(np.isneginf(high), 0.0, np.abs(a - b))
        share = np.where(gap > 0, -np.expm1(-gap) / gap, 1.0)
        return np.asarray(high + np.log(share))


def shares_of_sum(after: FloatArray, before: FloatArray, parts: FloatArray) -> FloatArray:
    """Split log Σ e^after − log Σ e^before among the parts of all members; shape of ``parts``.

    Parameters
    ----------
    after, before : ndarray of shape (..., m)
        Logarithms of the members.
    parts : ndarray of shape (..., m, t)
        Terms of each member, with ``after = before + parts.sum(axis=-1)``.

    Returns
    -------
    ndarray of shape (..., m, t)
        The share of every part. If the probability of a member becomes 0, its shares are finite:
        equal parts for the terms that are −inf. If that happens to all members, these terms have
        −inf. A member whose probability was 0 before has shares of 0.

    Examples
    --------
    >>> parts = np.array([[1.0, -2.0], [0.5, 3.0]])
    >>> shares = shares_of_sum(parts.sum(axis=1), np.zeros(2), parts)
    >>> np.allclose(shares.sum(), np.log(np.exp(-1.0) + np.exp(3.5)) - np.log(2.0))
    True
    """
    scale = log_mean(log_sum(after), log_sum(before))[..., None]
    endless = np.isneginf(parts)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        weights = np.exp(log_mean(after, before) - scale)[..., None]
        lost = -np.exp(before - scale)[..., None] / endless.sum(axis=-1, keepdims=True)
        gone = np.isneginf(after)[..., None]
        shares = np.where(gone, np.where(endless, lost, 0.0), weights * parts)
    shares = np.where(np.isneginf(before)[..., None], 0.0, shares)
    nothing_left = np.isneginf(after.max(axis=-1, initial=-np.inf))[..., None, None]
    taken = np.where(endless & np.isfinite(before)[..., None], -np.inf, 0.0)
    return np.asarray(np.where(nothing_left, taken, shares))


def log_sum(logs: FloatArray) -> FloatArray:
    """Log of the sum of exponentials over the last axis, −inf for none."""
    if not logs.shape[-1]:
        return np.full(logs.shape[:-1], -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        from scipy.special import logsumexp  # noqa: PLC0415 - slow to import

        return np.asarray(logsumexp(logs, axis=-1))
