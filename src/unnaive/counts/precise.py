"""Sums of numbers and of their products that do not depend on the order of the rows.

Numbers are split at a bit of their column. The upper parts have so few bits that their sums are
exact, and the lower parts are so small that their rounding is far below the last bit of the total.
A total is a value and the rest that it lacks, so that rows that are added and removed again leave
nothing behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from unnaive._typing import BoolArray, FloatArray, IntArray

    Part = tuple[FloatArray, FloatArray, FloatArray, BoolArray | None]

_CELLS = 1 << 14  # of a block of rows, which stays in the cache
_ROWS = 256  # at least, so that a product of matrices is worth its overhead
_BITS = 53  # of a double


class Total(NamedTuple):
    """Numbers, and what each lacks of the exact one."""

    value: FloatArray
    rest: FloatArray

    def __add__(self, other: Total) -> Total:  # type: ignore[override]
        """Add other numbers; what rounding takes goes to the rest (Knuth)."""
        total = self.value + other.value
        part = total - self.value
        lost = (self.value - (total - part)) + (other.value - part)
        lost += self.rest + other.rest
        value = total + lost
        return Total(value, lost - (value - total))

    def __sub__(self, other: Total) -> Total:
        """Subtract other numbers."""
        return self + Total(-other.value, -other.rest)


class Sums(NamedTuple):
    """Sums of some rows; missing values add nothing.

    Attributes
    ----------
    weight : float
        Sum of the weights.
    columns : Total of shape (d,)
        Sums of the columns.
    products : Total of shape (d, d)
        Sums of the products of two columns.
    both, first : ndarray, Total of shape (d, d), or None
        Weight of the rows in which both columns are observed, and sums of the first column over
        these rows; None if no value is missing.
    """

    weight: float
    columns: Total
    products: Total
    both: FloatArray | None
    first: Total | None


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """Columns of numbers (n, d), NaN where missing, and how they are split.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Rows.
    weights : ndarray of shape (n,) or None
        Weights of the rows; None: all are 1.
    origin : ndarray of shape (d,)
        Subtracted from all values.
    largest : ndarray of shape (d,)
        Largest distance of a value from the origin.
    missing : bool
        Whether a value is missing.
    """

    X: FloatArray
    weights: FloatArray | None
    origin: FloatArray
    largest: FloatArray
    missing: bool

    @classmethod
    def of(
        cls, X: FloatArray, weights: FloatArray | None = None, origin: FloatArray | None = None
    ) -> Self:
        """Measure the columns; the origin is their mean, if it is not given.

        Examples
        --------
        >>> columns = NumberColumns.of(np.array([[1.0], [3.0], [8.0]]))
        >>> columns.origin, columns.largest
        (array([4.]), array([4.]))
        """
        missing = bool(np.isnan(X.sum())) and bool(np.isnan(X).any())  # the sum is much faster
        low, high = np.zeros((2, X.shape[1]))
        if len(X):
            low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
            low, high = (np.where(np.isnan(end), 0.0, end) for end in (low, high))
        if origin is None:
            origin = low + _rounded(_mean_above(X, weights, low, missing=missing), high - low)
        return cls(X, weights, origin, np.maximum(high - origin, origin - low), missing)

    def sums(self, rows: IntArray) -> Sums:
        """Add up some rows; cost m·d².

        Examples
        --------
        >>> columns = NumberColumns.of(np.array([[1.0, 2.0], [3.0, np.nan]]), origin=np.zeros(2))
        >>> sums = columns.sums(np.arange(2))
        >>> sums.columns.value, sums.products.value.tolist()
        (array([4., 2.]), [[10.0, 2.0], [2.0, 4.0]])
        >>> sums.first.value.tolist()
        [[4.0, 1.0], [2.0, 2.0]]
        """
        d = self.X.shape[1]
        weight, lines, squares = 0.0, np.zeros((2, d)), np.zeros((2, d, d))
        both, first = np.zeros((d, d)), np.zeros((2, d, d))
        for share, upper, lower, seen in self._parts(rows):
            weight += float(share.sum())
            parts = [upper, lower]
            if self.weights is not None:
                parts = [share[:, None] * part for part in parts]
            lines += [share @ upper, share @ lower]
            squares[0] += parts[0].T @ upper
            squares[1] += parts[1].T @ (2 * upper + lower)  # twice one half of a symmetric matrix
            if seen is None:
                continue
            there = seen.astype(np.float64)
            both += (share[:, None] * there).T @ there
            first += [part.T @ there for part in parts]
        squares[1] = (squares[1] + squares[1].T) / 2
        zero = Total(np.zeros(()), np.zeros(()))
        totals = [Total(*array) + zero for array in (lines, squares, first)]
        observed = (both, totals[2]) if self.missing else (None, None)
        return Sums(weight, totals[0], totals[1], *observed)

    def _parts(self, rows: IntArray) -> Iterator[Part]:
        """Weights, upper and lower parts of numbers, and what is observed, block by block.

        The sum of the products of two upper parts over all rows is exact.
        """
        n, d = self.X.shape
        total = n if self.weights is None else float(self.weights.sum())
        shift = _shift_of(self.largest, max(n, total))
        step = max(_ROWS, _CELLS // max(d, 1))
        for start in range(0, len(rows), step):
            block, seen = rows[start : start + step], None
            lower = self.X[block]
            lower -= self.origin
            if self.missing:
                seen = ~np.isnan(lower)
                lower[~seen] = 0.0
            upper = lower + shift
            upper -= shift
            lower -= upper
            share = np.ones(len(block)) if self.weights is None else self.weights[block]
            yield share, upper, lower, seen


def split(numbers: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split columns of numbers (n, d) into upper and lower parts, for sums over some of the rows.

    Sums of products of two upper parts, times the weights, are exact.

    Examples
    --------
    >>> upper, lower = split(np.array([[0.1], [0.3]]), np.ones(2))
    >>> (upper + lower).tolist(), bool((np.abs(lower) < 1e-7).all())
    ([[0.1], [0.3]], True)
    """
    largest = np.abs(numbers).max(axis=0, initial=0.0)
    shift = _shift_of(largest, max(len(numbers), float(weights.sum())))
    upper = numbers + shift
    upper -= shift
    return upper, numbers - upper


def _shift_of(largest: FloatArray, total: float) -> FloatArray:
    """Numbers whose addition rounds columns to as few bits as sums of products need; (d,)."""
    kept = (_BITS - np.ceil(np.log2(max(total, 1.0)))) // 2
    shift: FloatArray = _power_above(largest) * (1.5 * np.exp2(_BITS - 1 - kept))
    return shift


def _power_above(numbers: FloatArray) -> FloatArray:
    """Next power of 2 above numbers, 0 for 0; shape (d,)."""
    return np.where(numbers > 0, np.ldexp(1.0, np.frexp(numbers)[1]), 0.0)


def _rounded(numbers: FloatArray, ranges: FloatArray) -> FloatArray:
    """Numbers without the bits that the order of a sum may change; shape (d,)."""
    grid = np.where(ranges > 0, _power_above(ranges) * 2.0**-20, 1.0)
    return np.round(numbers / grid) * grid


def _mean_above(
    X: FloatArray, weights: FloatArray | None, low: FloatArray, *, missing: bool
) -> FloatArray:
    """Mean of the observed values of every column, less its lowest value; shape (d,)."""
    (n, d), sums, weight = X.shape, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    step = max(_ROWS, _CELLS // max(d, 1))
    for start in range(0, n, step):
        above = X[start : start + step] - low
        share = np.ones(len(above)) if weights is None else weights[start : start + step]
        if missing:
            seen = ~np.isnan(above)
            above[~seen] = 0.0
            weight += share @ seen
        else:
            weight += share.sum()
        sums += share @ above
    return np.divide(sums, weight, out=np.zeros(d), where=weight > 0)
