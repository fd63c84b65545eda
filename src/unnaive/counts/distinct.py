"""Rows of numbers in an order that depends on their content alone, each with its total weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, IntArray

_CELLS = 1 << 15  # that are hashed together, so that they stay in the cache
_FOLD, _MIX = np.uint64(32), np.uint64(29)


def distinct_rows(X: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return every distinct row of numbers once, with the sum of the weights of its copies.

    Sums over the result do not depend on the order of the rows, to the last bit, and a row of
    weight 2 is the same row twice. Rows are sorted by a hash of their bits.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows; NaN are missing values.
    weights : ndarray of shape (n,) or None
        Weights of the rows; None: all are 1.

    Returns
    -------
    X : ndarray of shape (m, d)
        Distinct rows.
    weights : ndarray of shape (m,)
        Their weights.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> rows, weights = distinct_rows(X, None)
    >>> sorted(zip(rows.tolist(), weights.tolist()))
    [([1.0, 2.0], 2.0), ([3.0, 4.0], 1.0)]
    """
    bits = np.ascontiguousarray(X, dtype=np.float64).view(np.uint64)
    hashes = _hashes(bits)
    order = np.argsort(hashes) if weights is None else np.lexsort((weights, hashes))
    hashes, bits = hashes[order], bits[order]
    share = np.ones(len(order)) if weights is None else weights[order].astype(np.float64)
    alike = 1 + np.flatnonzero(hashes[1:] == hashes[:-1])
    alike = alike[(bits[alike] == bits[alike - 1]).all(axis=1)]
    if len(alike):
        first = _without(len(order), alike)
        bits, share = bits[first], np.add.reduceat(share, first)
    return bits.view(np.float64), share


def _without(n: int, places: IntArray) -> IntArray:
    """Numbers below n that are not among some places."""
    kept = np.ones(n, dtype=bool)
    kept[places] = False
    return np.flatnonzero(kept)


def _hashes(bits: AnyArray) -> AnyArray:
    """Hash of every row of 64-bit words; shape (n,)."""
    n, d = bits.shape
    factors = np.random.default_rng(0).integers(1 << 63, size=d, dtype=np.uint64) * 2 + 1
    hashes, step = np.empty(n, dtype=np.uint64), max(1, _CELLS // max(d, 1))
    for start in range(0, n, step):
        mixed = bits[start : start + step] >> _FOLD
        mixed ^= bits[start : start + step]
        mixed *= factors
        mixed ^= mixed >> _MIX
        hashes[start : start + step] = mixed.sum(axis=1, dtype=np.uint64)
    return hashes
