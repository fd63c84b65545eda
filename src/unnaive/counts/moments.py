"""Moments: the sufficient statistics of numbers, a value that adds and subtracts like counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, State

_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Moments:
    """Weights, sums and products of every class and pair of columns, where both are observed.

    Everything is taken from an ``origin`` near the data, so that large means do not drown
    small variances.

    Attributes
    ----------
    schema : Schema
        What the columns and classes are.
    class_weights : ndarray of shape (k,)
        Rows, or their weight.
    origin : ndarray of shape (d,)
        What is subtracted from every cell.
    weights : ndarray of shape (k, d, d)
        Weight of the rows in which columns i and j are both observed.
    sums : ndarray of shape (k, d, d)
        Sum of column i over these rows.
    products : ndarray of shape (k, d, d)
        Sum of the product of columns i and j over these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.counts.moments import moments_of
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0], [8.0, np.nan]])
    >>> found = moments_of(X, np.array([0, 0, 1]), Schema.of_numbers(("a", "b"), ("no", "yes")))
    >>> found.means.tolist()
    [[2.0, 3.5], [8.0, 3.5]]
    >>> found.covariances()[0].tolist()
    [[1.0, 1.5], [1.5, 2.25]]
    """

    schema: Schema
    class_weights: FloatArray
    origin: FloatArray
    weights: FloatArray
    sums: FloatArray
    products: FloatArray

    @cached_property
    def complete(self) -> bool:
        """Whether no cell is missing, so that the weight of a pair is that of its class."""
        weights = np.einsum("kii->ki", self.weights)
        return bool((weights == self.class_weights[:, None]).all())

    @property
    def used(self) -> IntArray:
        """Columns that are observed in some row; shape (m,)."""
        return np.flatnonzero(np.einsum("kii->i", self.weights) > 0)

    @property
    def means(self) -> FloatArray:
        """Mean of every class and column; that of all rows where a class has none; (k, d)."""
        weight = np.einsum("kii->ki", self.weights)
        total = np.einsum("kii->ki", self.sums)
        pooled = _ratio(total.sum(axis=0), weight.sum(axis=0))
        own = _ratio(total, weight)
        return np.asarray(np.where(weight > 0, own, pooled) + self.origin)

    @property
    def variances(self) -> FloatArray:
        """Variance of every column over all rows (divided by n); shape (d,)."""
        weight = np.einsum("kii->i", self.weights)
        mean = _ratio(np.einsum("kii->i", self.sums), weight)
        square = _ratio(np.einsum("kii->i", self.products), weight)
        return _unless_rounding(square - mean**2, square)

    def covariances(self, ddof: int = 0) -> FloatArray:
        """Covariance of every class and pair of columns, from the rows that have both; (k, d, d).

        A class without rows of a column has the variance of all rows there.
        """
        covariance = self._whole() if self.complete else self._of_pairs()
        if ddof:
            covariance *= _ratio(self.weights, np.maximum(self.weights - ddof, 0.0))
        own, squares, weights = (
            np.einsum("kii->ki", part) for part in (covariance, self.products, self.weights)
        )
        own[...] = _unless_rounding(own, _ratio(squares, weights))
        label, column = np.nonzero(own == 0)
        covariance[label, column, :] = covariance[label, :, column] = 0.0
        own[...] = np.where(weights > 0, own, self.variances)
        return covariance

    def _of_pairs(self) -> FloatArray:
        means = _ratio(self.sums, self.weights)
        covariance = _ratio(self.products, self.weights)
        covariance -= means * means.transpose(0, 2, 1)
        return covariance

    def _whole(self) -> FloatArray:
        """Do the same where all pairs of a class are of the same rows, in fewer steps."""
        covariance = np.zeros(self.products.shape)
        for label in np.flatnonzero(self.class_weights > 0).tolist():
            weight, own = self.class_weights[label], covariance[label]
            mean = np.diag(self.sums[label]) / weight
            np.divide(self.products[label], weight, out=own)
            own -= np.outer(mean, mean)
        return covariance

    def __add__(self, other: Moments) -> Moments:
        return self._combined(other, np.add)

    def __sub__(self, other: Moments) -> Moments:
        return self._combined(other, np.subtract)

    def _combined(self, other: Moments, combine: np.ufunc) -> Moments:
        self.schema.require_same(other.schema)
        if (other.origin != self.origin).any():
            raise SchemaMismatch(
                "these moments were taken from different origins; make them with moments_of(…, "
                "origin=first.origin)"
            )
        slack = 0.0
        if combine is np.subtract:
            slack = 1e-9 * max(float(self.class_weights.max(initial=0.0)), 1.0)
        rows = _left(combine(self.class_weights, other.class_weights), slack)
        products = combine(self.products, other.products)
        if self.complete and other.complete:
            mine, theirs = (np.einsum("kii->ki", one.sums) for one in (self, other))
            return complete_moments(self.schema, rows, self.origin, combine(mine, theirs), products)
        weights = _left(combine(self.weights, other.weights), slack)
        sums = combine(self.sums, other.sums)
        return Moments(self.schema, rows, self.origin, weights, sums, products)

    def state(self) -> State:
        """Plain values and arrays for the store."""
        names = ("class_weights", "origin", "weights", "sums", "products")
        return {"schema": self.schema.state(), **{name: getattr(self, name) for name in names}}

    @classmethod
    def from_state(cls, state: State) -> Moments:
        """Make the moments that :meth:`state` described."""
        moments = cls(**{**state, "schema": Schema.from_state(state["schema"])})
        k, d = len(moments.schema.classes), len(moments.schema.names)
        square = {moments.weights.shape, moments.sums.shape, moments.products.shape}
        lines = (moments.class_weights.shape, moments.origin.shape)
        if square != {(k, d, d)} or lines != ((k,), (d,)):
            raise UnnaiveError("the moments do not fit the columns and classes")
        return moments


def moments_of(
    X: FloatArray,
    classes: IntArray,
    schema: Schema,
    weights: FloatArray | None = None,
    origin: FloatArray | None = None,
) -> Moments:
    """Take the moments of rows (n, d) whose missing cells are NaN; cost n·d²."""
    k, d = len(schema.classes), X.shape[1]
    observed = ~np.isnan(X)
    origin = origin_of(X) if origin is None else origin
    members = [np.flatnonzero(classes == label) for label in range(k)]
    shares = [np.ones(len(rows)) if weights is None else weights[rows] for rows in members]
    totals = np.array([share.sum() for share in shares], dtype=np.float64)
    sums, products = np.zeros((k, d)), np.zeros((k, d, d))
    for label, rows in enumerate(members):
        away = np.where(observed[rows], X[rows] - origin, 0.0)
        weighted = away if weights is None else shares[label][:, None] * away
        sums[label], products[label] = weighted.sum(axis=0), weighted.T @ away
    moments = complete_moments(schema, totals, origin, sums, products)
    return moments if observed.all() else _of_gaps(moments, X, members, shares)


def origin_of(X: FloatArray) -> FloatArray:
    """Means of the observed cells of every column, a good origin for all of the rows; (d,)."""
    observed = ~np.isnan(X)
    return _ratio(np.where(observed, X, 0.0).sum(axis=0), observed.sum(axis=0))


def complete_moments(
    schema: Schema, totals: FloatArray, origin: FloatArray, sums: FloatArray, products: FloatArray
) -> Moments:
    """Moments of rows without missing cells: one weight a class, and sums (k, d)."""
    shape = products.shape
    weights = np.broadcast_to(totals[:, None, None], shape)
    return Moments(
        schema, totals, origin, weights, np.broadcast_to(sums[:, :, None], shape), products
    )


def _of_gaps(
    complete: Moments, X: FloatArray, members: list[IntArray], shares: list[FloatArray]
) -> Moments:
    """Take the weights and sums of pairs of columns, where both are observed."""
    both, sums = complete.weights.copy(), complete.sums.copy()
    for label, (rows, share) in enumerate(zip(members, shares, strict=True)):
        gaps = np.isnan(X[rows])
        if gaps.any():
            seen = (~gaps).astype(np.float64)
            away = np.where(gaps, 0.0, X[rows] - complete.origin)
            both[label] = (share[:, None] * seen).T @ seen
            sums[label] = (share[:, None] * away).T @ seen
    return replace(complete, weights=both, sums=sums)


def all_and_without_each(parts: Sequence[Moments]) -> tuple[Moments, list[Moments]]:
    """Moments of all parts, taken from one origin, and of all but one, for each.

    They are sums. What is left after a subtraction would hold the rounding of all rows, and a
    column that is constant in the others would not have the variance 0.

    Examples
    --------
    >>> X, schema = np.array([[1.0], [3.0], [8.0]]), Schema.of_numbers(("a",), ("no",))
    >>> parts = [moments_of(row[None], np.zeros(1, int), schema, origin=X[0]) for row in X]
    >>> whole, without = all_and_without_each(parts)
    >>> whole.means.item(), [others.means.item() for others in without]
    (4.0, [5.5, 4.5, 2.0])
    """
    before = list(accumulate(parts))
    after = list(accumulate(parts[:0:-1]))[::-1]
    between = [one + other for one, other in zip(before, after[1:], strict=False)]
    return before[-1], [after[0], *between, before[-2]]


def _left(weights: FloatArray, slack: float) -> FloatArray:
    """Weights after rows came or went: what rounding left of none is 0."""
    if (weights < -slack).any():
        raise UnnaiveError("more rows were taken out than there are; only rows learned can go")
    return np.where(weights > slack, weights, 0.0)


def _unless_rounding(variances: FloatArray, squares: FloatArray) -> FloatArray:
    """Variances, 0 where they are no more than subtracting leaves of the squares of a constant."""
    return np.where(variances > _ROUNDING * squares, variances, 0.0)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide, with 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.asarray(whole) > 0)
