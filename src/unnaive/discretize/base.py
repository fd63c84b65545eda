"""What every discretiser does: edges per column at fit, bin indices at transform."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from unnaive._parallel import run
from unnaive._scikit import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_classification_targets,
    check_is_fitted,
    check_sample_weight,
    validate_data,
)

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

    from unnaive._typing import FloatArray, IntArray

NO_EDGES: FloatArray = np.empty(0)


class Discretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the discretisers: a subclass says where the edges of one column are.

    The edges of a column are strictly increasing, and the bin of x is the number of edges
    below x: bins are (a, b], a value on an edge belongs to the bin on its left, and the
    first and the last bin have no end. So any number has a bin, and NaN stays missing.

    Attributes
    ----------
    edges_ : list of n_features arrays
        Strictly increasing bin edges; the bin of x is the number of edges below x.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns, if fit saw a frame.
    """

    n_jobs: int | None
    edges_: list[FloatArray]
    n_features_in_: int

    @abstractmethod
    def _edges(
        self,
        values: FloatArray,
        classes: IntArray | None,
        n_classes: int,
        weights: FloatArray | None,
    ) -> FloatArray:
        """Edges of a column that has at least two distinct values, all weights positive."""

    def column_edges(
        self,
        values: FloatArray,
        classes: IntArray | None = None,
        n_classes: int = 0,
        weights: FloatArray | None = None,
    ) -> FloatArray:
        """Find the bin edges of one column.

        Parameters
        ----------
        values : array of shape (n,), float64
            The values that are not missing.
        classes : array of shape (n,), int64, or None
            Class codes 0..n_classes-1 of these rows; only supervised methods read them.
        n_classes : int
            Number of classes.
        weights : array of shape (n,), float64, or None
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        array of shape (n_edges,)
            Strictly increasing; empty if the column is constant or has no values.
        """
        self._check_parameters()
        if weights is not None and not weights.all():
            kept = weights > 0
            values, weights = values[kept], weights[kept]
            classes = None if classes is None else classes[kept]
        if not values.size or values.min() == values.max():
            return NO_EDGES.copy()
        return self._edges(values, classes, n_classes, weights)

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Find the bin edges of every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is missing.
        y : array-like of shape (n_samples,), optional
            Class labels; only supervised methods read them.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, a row of weight 0 as none.

        Returns
        -------
        self
        """
        rows, classes, n_classes = self._read(X, y)
        weights: FloatArray | None = None
        if sample_weight is not None:
            weights = check_sample_weight(
                sample_weight, rows, dtype=np.float64, ensure_non_negative=True
            )

        def edges_of(column: int) -> FloatArray:
            values = np.ascontiguousarray(rows[:, column])
            known = ~np.isnan(values)
            if known.all():
                return self.column_edges(values, classes, n_classes, weights)
            return self.column_edges(
                values[known],
                None if classes is None else classes[known],
                n_classes,
                None if weights is None else weights[known],
            )

        self.edges_ = run(edges_of, range(rows.shape[1]), self.n_jobs)
        return self

    def transform(self, X: object) -> FloatArray:
        """Replace every value by the index of its bin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, inside of the fitted range or not; NaN is missing.

        Returns
        -------
        array of shape (n_samples, n_features), float64
            Bin indices from 0; NaN where X is NaN.
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        bins = np.empty(rows.shape, order="F")

        def fill(column: int) -> None:
            values = rows[:, column]
            bins[:, column] = np.searchsorted(self.edges_[column], values)
            bins[np.isnan(values), column] = np.nan

        run(fill, range(rows.shape[1]), self.n_jobs)
        return bins

    def _check_parameters(self) -> None:
        """Raise if a parameter makes no sense."""

    def _read(self, X: object, y: object) -> tuple[FloatArray, IntArray | None, int]:  # noqa: ARG002
        """Check X; also the class codes and their number, for those who look at y."""
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan"), None, 0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class BinnedDiscretizer(Discretizer):
    """Base of the discretisers that are told a number of bins and do not look at classes."""

    def __init__(self, bins: int = 5, *, n_jobs: int | None = None) -> None:
        self.bins = bins
        self.n_jobs = n_jobs

    @abstractmethod
    def _cut(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Edges of a column that has at least two distinct values, all weights positive."""

    def _edges(
        self,
        values: FloatArray,
        classes: IntArray | None,  # noqa: ARG002
        n_classes: int,  # noqa: ARG002
        weights: FloatArray | None,
    ) -> FloatArray:
        return self._cut(values, weights)

    def _check_parameters(self) -> None:
        if not isinstance(self.bins, Integral) or self.bins < 1:
            raise ValueError(
                f"bins={self.bins!r} is not a number of bins; use an integer of at least 1"
            )


class SupervisedDiscretizer(Discretizer):
    """Base of the discretisers that look at the class of every row."""

    @abstractmethod
    def _cut(
        self, values: FloatArray, classes: IntArray, n_classes: int, weights: FloatArray
    ) -> FloatArray:
        """Edges for sorted values, at least two distinct; may spoil classes and weights."""

    def _edges(
        self,
        values: FloatArray,
        classes: IntArray | None,
        n_classes: int,
        weights: FloatArray | None,
    ) -> FloatArray:
        if classes is None:
            name = type(self).__name__
            raise ValueError(f"{name} looks at the classes: pass the class of every row")
        order = np.argsort(values)
        weights = np.ones(values.size) if weights is None else weights[order]
        return self._cut(values[order], classes[order], n_classes, weights)

    def _read(self, X: object, y: object) -> tuple[FloatArray, IntArray | None, int]:
        rows, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        labels, classes = np.unique(targets, return_inverse=True)
        return rows, classes.astype(np.int64), labels.size

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def midpoints(low: FloatArray, high: FloatArray) -> FloatArray:
    """Cuts that part each ``low`` from its ``high``: the middle, or ``low`` if it rounds away."""
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where(middle < high, middle, low)


def distinct(values: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Sorted distinct values and the weight of all rows up to and including each."""
    if weights is None:
        ordered, upto = np.sort(values), np.arange(1.0, values.size + 1.0)
    else:
        order = np.argsort(values)
        ordered, upto = values[order], np.cumsum(weights[order])
    last = np.append(ordered[1:] != ordered[:-1], True)
    return ordered[last], upto[last]
