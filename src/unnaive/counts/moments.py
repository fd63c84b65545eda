"""Moments: the sufficient statistics of numbers, which add and subtract like counts."""

from __future__ import annotations

import operator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.precise import NumberColumns, Total
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import FloatArray, IntArray, State

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)  # the inverse of a smaller variance overflows


@dataclass(frozen=True, eq=False)
class Moments:
    """Weights, sums and products of every class and pair of columns.

    Each pair uses the rows in which both columns are observed. An ``origin`` near the data is
    subtracted from all values, so that small variances stay exact although means are large.

    Attributes
    ----------
    schema : Schema
        Columns and classes.
    class_weights : ndarray of shape (k,)
        Number of rows of every class, or the sum of their weights.
    origin : ndarray of shape (d,)
        Subtracted from every value.
    weights : ndarray of shape (k, d, d)
        Weight of the rows in which columns i and j are both observed.
    sums : ndarray of shape (k, d, d)
        Sum of column i over these rows.
    products : ndarray of shape (k, d, d)
        Sum of the product of columns i and j over these rows.
    rests : pair of ndarray of shape (k, d, d), default=None
        What rounding took from the sums and products, so that rows that are added and removed
        again leave nothing behind; None: nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.counts.moments import moments_of
    >>> X = np.array([[1.0, 2.0], [3.0, 5.0], [8.0, np.nan]])
    >>> moments = moments_of(X, np.array([0, 0, 1]), Schema.of_numbers(("a", "b"), ("no", "yes")))
    >>> moments.means.tolist()
    [[2.0, 3.5], [8.0, 3.5]]
    >>> moments.covariances()[0].tolist()
    [[1.0, 1.5], [1.5, 2.25]]
    """

    schema: Schema
    class_weights: FloatArray
    origin: FloatArray
    weights: FloatArray
    sums: FloatArray
    products: FloatArray
    rests: tuple[FloatArray, FloatArray] | None = None

    @cached_property
    def complete(self) -> bool:
        """Whether no value is missing, so that every pair has the weight of its class."""
        weights = np.einsum("kii->ki", self.weights)
        return bool((weights == self.class_weights[:, None]).all())

    @cached_property
    def used(self) -> IntArray:
        """Columns that are observed in at least one row; shape (m,)."""
        return np.flatnonzero(np.einsum("kii->i", self.weights) > 0)

    @property
    def means(self) -> FloatArray:
        """Mean of every class and column; of all rows if a class has none; shape (k, d)."""
        weight = np.einsum("kii->ki", self.weights)
        total = np.einsum("kii->ki", self.sums)
        pooled = _ratio(total.sum(axis=0), weight.sum(axis=0))
        return np.asarray(np.where(weight > 0, _ratio(total, weight), pooled) + self.origin)

    @cached_property
    def variances(self) -> FloatArray:
        """Variance of every column over all rows (divided by n); shape (d,)."""
        arrays = (self.weights, self.sums, self.products)
        weight, total, squares = (np.einsum("kii->i", array) for array in arrays)
        square = _ratio(squares, weight)
        return _unless_rounding(square - _ratio(total, weight) ** 2, square)

    def covariances(self, ddof: int = 0) -> FloatArray:
        """Covariance of every class and pair of columns, from the rows that have both; (k, d, d).

        If a class has no rows of a column, it has the variance of all rows there.
        """
        if self.complete:
            covariance = self._of_complete_rows()
        else:
            means = _ratio(self.sums, self.weights)
            covariance = _ratio(self.products, self.weights)
            covariance -= means * means.transpose(0, 2, 1)
        if ddof:
            covariance *= _ratio(self.weights, np.maximum(self.weights - ddof, 0.0))
        arrays = (covariance, self.products, self.weights)
        variances, squares, weights = (np.einsum("kii->ki", array) for array in arrays)
        variances[...] = _unless_rounding(variances, _ratio(squares, weights))
        label, column = np.nonzero(variances == 0)
        covariance[label, column, :] = covariance[label, :, column] = 0.0
        variances[...] = np.where(weights > 0, variances, self.variances)
        return covariance

    def _of_complete_rows(self) -> FloatArray:
        """Covariance if all pairs of a class have the same rows, in less time and memory."""
        weights = np.where(self.class_weights > 0, self.class_weights, 1.0)[:, None]
        means = np.einsum("kii->ki", self.sums) / weights
        covariance = self.products / weights[:, :, None]
        covariance -= means[:, :, None] * means[:, None, :]
        covariance[self.class_weights <= 0] = 0.0
        return covariance

    def __add__(self, other: Moments) -> Moments:
        return self._combined(other, operator.add)

    def __sub__(self, other: Moments) -> Moments:
        return self._combined(other, operator.sub)

    def _combined(self, other: Moments, combine: Callable[[Any, Any], Any]) -> Moments:
        self.schema.require_same(other.schema)
        if (other.origin != self.origin).any():
            raise SchemaMismatch(
                "these moments were taken from different origins; make them with moments_of(…, "
                "origin=first.origin)"
            )
        slack = 0.0
        if combine is operator.sub:
            slack = 1e-9 * max(float(self.class_weights.max(initial=0.0)), 1.0)
        rows = _left(combine(self.class_weights, other.class_weights), slack)
        sums, products = (combine(*both) for both in zip(self._totals, other._totals, strict=True))
        if self.complete and other.complete:
            lines = Total(*(np.einsum("kii->ki", array) for array in sums))
            return complete_moments(self.schema, rows, self.origin, lines, products)
        weights, rests = (
            _left(combine(self.weights, other.weights), slack),
            (sums.rest, products.rest),
        )
        return Moments(self.schema, rows, self.origin, weights, sums.value, products.value, rests)

    @property
    def _totals(self) -> tuple[Total, Total]:
        """Sums and products, with what they lack."""
        rests = self.rests or (np.zeros_like(self.sums), np.zeros_like(self.products))
        return Total(self.sums, rests[0]), Total(self.products, rests[1])

    def state(self) -> State:
        """Plain values and arrays for the store."""
        names = ("class_weights", "origin", "weights", "sums", "products")
        state = {"schema": self.schema.state(), **{name: getattr(self, name) for name in names}}
        return state if self.rests is None else {**state, "rests": np.stack(self.rests)}

    @classmethod
    def from_state(cls, state: State) -> Moments:
        """Restore the moments from :meth:`state`."""
        schema, rests = Schema.from_state(state["schema"]), state.get("rests")
        moments = cls(**{**state, "schema": schema, "rests": None if rests is None else (*rests,)})
        k, d = len(schema.classes), len(schema.names)
        square = [moments.weights, moments.sums, moments.products, *(moments.rests or ())]
        lines = (moments.class_weights.shape, moments.origin.shape)
        if {array.shape for array in square} != {(k, d, d)} or lines != ((k,), (d,)):
            raise UnnaiveError("the moments do not fit the columns and classes")
        return moments


def moments_of(
    X: FloatArray,
    classes: IntArray,
    schema: Schema,
    weights: FloatArray | None = None,
    origin: FloatArray | None = None,
) -> Moments:
    """Compute the moments of rows (n, d), with NaN for missing values; cost n·d².

    The order of the rows does not matter, and a row of weight 2 is the same row twice: sums are so
    precise that their rounding does not reach the result.
    """
    k, d = len(schema.classes), X.shape[1]
    columns = NumberColumns.of(X, weights, origin)
    parts = [columns.sums(np.flatnonzero(classes == label)) for label in range(k)]
    totals = np.array([part.weight for part in parts], dtype=np.float64)
    products = _stacked([part.products for part in parts], (k, d, d))
    first = [part.first for part in parts if part.first is not None]
    if not first:
        sums = _stacked([part.columns for part in parts], (k, d))
        return complete_moments(schema, totals, columns.origin, sums, products)
    both = np.stack([part.both for part in parts if part.both is not None])
    sums = _stacked(first, (k, d, d))
    rests = (sums.rest, products.rest)
    return Moments(schema, totals, columns.origin, both, sums.value, products.value, rests)


def _stacked(totals: Sequence[Total], shape: tuple[int, ...]) -> Total:
    """Totals of all classes, side by side."""
    value, rest = (np.reshape([total[part] for total in totals], shape) for part in range(2))
    return Total(value, rest)


def complete_moments(
    schema: Schema, totals: FloatArray, origin: FloatArray, sums: Total, products: Total
) -> Moments:
    """Moments of rows without missing values, from one weight and d sums per class."""
    shape = products.value.shape
    weights = np.broadcast_to(totals[:, None, None], shape)
    value, rest = (np.broadcast_to(array[:, :, None], shape) for array in sums)
    return Moments(schema, totals, origin, weights, value, products.value, (rest, products.rest))


def all_and_without_each(parts: Sequence[Moments]) -> tuple[Moments, list[Moments]]:
    """Moments of all folds, which share one origin, and for each fold those of all others.

    They are computed by addition. A subtraction would keep the rounding errors of all rows, and
    a column that is constant in the other folds would not have the variance 0.

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
    """Weights after rows were added or removed, with 0 for what is only rounding."""
    if (weights < -slack).any():
        raise UnnaiveError(
            "more rows would be removed than were learned; forget only rows that were learned"
        )
    return np.where(weights > slack, weights, 0.0)


def _unless_rounding(variances: FloatArray, squares: FloatArray) -> FloatArray:
    """Variances, 0 if they are so small that the column may be constant."""
    return np.where(variances > np.maximum(_ROUNDING * squares, _TINY), variances, 0.0)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide, with 0 for a division by 0."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=np.asarray(whole) > 0)
