"""The base of all discretizers: edges of every feature at fit, bin indices at transform."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.buckets import BINADES, find_buckets
from unnaive._docstrings import Inherits
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
from unnaive.parameters import is_whole

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

    from unnaive._typing import FloatArray, IntArray

    Codes = IntArray | None
    Weights = FloatArray | None

_MANY = 1 << 16  # samples per class from which equal ones are counted,
_FEW = 1 << 14  # if they have at most this many values


class Discretizer(Inherits, OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of the discretizers; a subclass computes the bin edges of one feature.

    The edges e₁ < … < e_m of a feature are strictly increasing, and the bin of x is the number
    of edges below x. Bins are therefore (a, b]: a value that equals an edge belongs to the bin on
    its left. The first and the last bin are unbounded, so every number has a bin, also a
    number outside the range seen in ``fit``. NaN stays NaN.

    A subclass implements ``_edges`` for values that are not missing. This class validates the
    input, drops missing values and samples of weight 0, and processes features in threads.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads; features are processed in parallel. None means 1.

    Attributes
    ----------
    edges_ : list of n_features arrays
        Strictly increasing bin edges; the bin of x is the number of edges below x.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if ``fit`` got a data frame.

    See Also
    --------
    MDLP : Supervised bins by minimum description length; the default of all models.
    Automatic : Supervised bins chosen by their evidence for the classes.
    Quantile : Unsupervised bins of about equally many samples.
    EqualWidth : Unsupervised bins of equal width.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.discretize import Discretizer
    >>> class AtTheMedian(Discretizer):
    ...     def _edges(self, values, classes, n_classes, weights):
    ...         return np.array([np.median(values)])
    >>> AtTheMedian().fit_transform([[1.0], [2.0], [4.0], [np.nan]]).ravel()
    array([ 0.,  0.,  1., nan])
    """

    edges_: list[FloatArray]
    n_features_in_: int

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @abstractmethod
    def _edges(
        self, values: FloatArray, classes: Codes, n_classes: int, weights: Weights
    ) -> FloatArray:
        """Edges of a feature with at least two distinct values; all weights are positive."""

    def column_edges(
        self, values: FloatArray, classes: Codes = None, n_classes: int = 0, weights: Weights = None
    ) -> FloatArray:
        """Find the bin edges of one feature.

        Parameters
        ----------
        values : array of shape (n,), float64
            The values of the feature. Missing values (NaN) are ignored.
        classes : array of shape (n,), int64, or None, default=None
            Class codes 0..n_classes-1 of the same samples. Only supervised methods read them.
        n_classes : int, default=0
            Number of classes.
        weights : array of shape (n,), float64, or None, default=None
            A sample of weight 2 counts as two samples, a sample of weight 0 is ignored.

        Returns
        -------
        array of shape (n_edges,)
            Strictly increasing edges; empty if the feature is constant or has no values.

        Raises
        ------
        ValueError
            If a parameter is not allowed, or if a supervised method gets no classes.
        """
        self._check_parameters()
        kept = ~np.isnan(values) if weights is None else (weights > 0) & ~np.isnan(values)
        if not kept.all():
            values = values[kept]
            classes = None if classes is None else classes[kept]
            weights = None if weights is None else weights[kept]
        if not values.size or values.min() == values.max():
            return np.empty(0)
        return self._edges(values, classes, n_classes, weights)

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Find the bin edges of every feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array-like of shape (n_samples,), default=None
            Class labels. Supervised methods require them, the others ignore them.
        sample_weight : array-like of shape (n_samples,), default=None
            A sample of weight 2 counts as two samples, a sample of weight 0 is ignored.

        Returns
        -------
        Self
            The fitted discretizer.

        Raises
        ------
        ValueError
            If a parameter is not allowed; the message names it, its value and what is allowed.
        """
        self._check_parameters()
        rows, classes, n_classes = self._read(X, y)
        weights: FloatArray | None = None
        if sample_weight is not None:
            weights = check_sample_weight(
                sample_weight, rows, dtype=np.float64, ensure_non_negative=True
            )

        def edges_of(column: int) -> FloatArray:
            values = np.ascontiguousarray(rows[:, column])
            return self.column_edges(values, classes, n_classes, weights)

        self.edges_ = run(edges_of, range(rows.shape[1]), self.n_jobs)
        return self

    def transform(self, X: object) -> FloatArray:
        """Replace every value by the index of its bin.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, inside or outside the range seen in ``fit``; NaN is a missing value.

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
        """Raise if a parameter has a value that is not allowed."""

    def _read(self, X: object, y: object) -> tuple[FloatArray, IntArray | None, int]:
        """Validate X; supervised methods also return the class codes and their number."""
        return validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan"), None, 0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class BinnedDiscretizer(Discretizer):
    """Base class of the unsupervised discretizers, which take a number of bins."""

    def __init__(self, bins: int = 5, *, n_jobs: int | None = None) -> None:
        self.bins = bins
        self.n_jobs = n_jobs

    @abstractmethod
    def _cut(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:
        """Edges of a feature with at least two distinct values; all weights are positive."""

    def _edges(
        self, values: FloatArray, classes: Codes, n_classes: int, weights: Weights
    ) -> FloatArray:
        return self._cut(values, weights)

    def _check_parameters(self) -> None:
        if not is_whole(self.bins, 1):
            raise ValueError(
                f"bins={self.bins!r} is not a number of bins; use an integer of at least 1"
            )


class SupervisedDiscretizer(Discretizer):
    """Base class of the discretizers that use the classes."""

    @abstractmethod
    def _cut(
        self, values: FloatArray, classes: IntArray, n_classes: int, weights: FloatArray
    ) -> FloatArray:
        """Edges for sorted values, at least two distinct; may overwrite classes and weights."""

    def _edges(
        self, values: FloatArray, classes: Codes, n_classes: int, weights: Weights
    ) -> FloatArray:
        if classes is None:
            name = type(self).__name__
            raise ValueError(f"{name} uses the classes: pass the class of every row")
        if weights is None:
            values, classes, weights = _counted(values, classes, n_classes)
        order = np.argsort(values)
        return self._cut(values[order], classes[order], n_classes, weights[order])

    def _read(self, X: object, y: object) -> tuple[FloatArray, IntArray | None, int]:
        rows, targets = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(targets)
        labels, classes = np.unique(targets, return_inverse=True)
        return rows, classes.astype(np.int64), labels.size

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _counted(
    values: FloatArray, classes: IntArray, n_classes: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Count equal samples, if a feature has many samples and few values, as sorting costs more."""
    step = _MANY * n_classes
    if len(values) < step:
        return values, classes, np.ones(len(values))
    keys, index = np.empty(_FEW, dtype=np.uint64), np.full(2 * _FEW, -1, dtype=np.int32)
    known, counts = np.empty(_FEW), np.zeros(_FEW * n_classes, dtype=np.int64)
    exact, size = np.zeros(BINADES, dtype=np.uint8), 0
    for start in range(0, len(values), step):
        some = values[start : start + step]
        rows = np.empty(len(some), dtype=np.int32)
        done, size = find_buckets(some, exact, index, keys, size, rows)
        if done < len(some):
            return values, classes, np.ones(len(values))
        known[rows] = some
        more = np.bincount(rows * np.int64(n_classes) + classes[start : start + step])
        counts[: len(more)] += more
    kinds = np.flatnonzero(counts)
    return known[kinds // n_classes], kinds % n_classes, counts[kinds].astype(np.float64)


def midpoints(low: FloatArray, high: FloatArray) -> FloatArray:
    """Cuts between each ``low`` and its ``high``: the middle, or ``low`` if it rounds to high."""
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where(middle < high, middle, low)


def distinct(values: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Sorted distinct values and the weight of all samples up to and including each."""
    if weights is None:
        ordered, upto = np.sort(values), np.arange(1.0, values.size + 1.0)
    else:
        order = np.argsort(values)
        ordered, upto = values[order], np.cumsum(weights[order])
    last = np.append(ordered[1:] != ordered[:-1], True)
    return ordered[last], upto[last]
