"""Moments: the sufficient statistics of numbers, a value that adds and subtracts like counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema import Schema

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray

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
        return np.asarray(np.maximum(square - mean**2, 0.0))

    def covariances(self, ddof: int = 0) -> FloatArray:
        """Covariance of every class and pair of columns, from the rows that have both; (k, d, d).

        A class without rows of a column has the variance of all rows there.
        """
        means = _ratio(self.sums, self.weights)
        covariance = _ratio(self.products, self.weights) - means * means.transpose(0, 2, 1)
        if ddof:
            covariance *= _ratio(self.weights, np.maximum(self.weights - ddof, 0.0))
        own = np.einsum("kii->ki", covariance)
        squares = np.einsum("kii->ki", _ratio(self.products, self.weights))
        own[own <= _ROUNDING * squares] = 0.0  # what subtracting left of a constant
        seen = np.einsum("kii->ki", self.weights) > 0
        own[...] = np.where(seen, np.maximum(own, 0.0), self.variances)
        return covariance

    def __add__(self, other: Moments) -> Moments:
        return self._combined(other, 1.0)

    def __sub__(self, other: Moments) -> Moments:
        return self._combined(other, -1.0)

    def _combined(self, other: Moments, sign: float) -> Moments:
        self.schema.require_same(other.schema)
        if (other.origin != self.origin).any():
            raise SchemaMismatch(
                "these moments were taken from different origins; make them with moments_of(…, "
                "origin=first.origin)"
            )
        parts = {
            name: getattr(self, name) + sign * getattr(other, name)
            for name in ("class_weights", "weights", "sums", "products")
        }
        slack = 1e-9 * max(float(self.class_weights.max(initial=0.0)), 1.0)
        if (parts["class_weights"] < -slack).any() or (parts["weights"] < -slack).any():
            raise UnnaiveError("more rows were taken out than there are; only rows learned can go")
        parts["class_weights"] = np.maximum(parts["class_weights"], 0.0)
        parts["weights"] = np.where(parts["weights"] > slack, parts["weights"], 0.0)
        return replace(self, **parts)

    def state(self) -> dict[str, Any]:
        """Plain values and arrays for the store."""
        names = ("class_weights", "origin", "weights", "sums", "products")
        return {"schema": self.schema.state(), **{name: getattr(self, name) for name in names}}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Moments:
        """Make the moments that :meth:`state` described."""
        found = cls(**{**state, "schema": Schema.from_state(state["schema"])})
        k, d = len(found.schema.classes), len(found.schema.names)
        square = {found.weights.shape, found.sums.shape, found.products.shape}
        lines = (found.class_weights.shape, found.origin.shape)
        if square != {(k, d, d)} or lines != ((k,), (d,)):
            raise UnnaiveError("the moments do not fit the columns and classes")
        return found


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
    if origin is None:
        origin = _ratio(np.where(observed, X, 0.0).sum(axis=0), observed.sum(axis=0))
    weights = np.ones(len(X)) if weights is None else weights
    found = {name: np.zeros((k, d, d)) for name in ("weights", "sums", "products")}
    for label in range(k):
        rows = np.flatnonzero(classes == label)
        part, seen, weight = X[rows] - origin, observed[rows], weights[rows, None]
        if seen.all():
            found["weights"][label] = weight.sum()
            found["sums"][label] = (weight * part).sum(axis=0)[:, None]
        else:
            part = np.where(seen, part, 0.0)
            both = seen.astype(np.float64)
            found["weights"][label] = (weight * both).T @ both
            found["sums"][label] = (weight * part).T @ both
        found["products"][label] = (weight * part).T @ part
    counts = np.bincount(classes, weights, minlength=k).astype(np.float64)
    return Moments(schema, counts, origin, **found)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide, with 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.asarray(whole) > 0)
