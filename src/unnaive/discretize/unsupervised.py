"""Bins that do not look at the class: of about as many rows each, or of equal width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.discretize.base import BinnedDiscretizer, distinct, midpoints

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray


class Quantile(BinnedDiscretizer):
    """Cut each column at its quantiles, but keep columns of few values as they are.

    With the values sorted, x₍₀₎ ≤ … ≤ x₍ₙ₋₁₎, the cuts are Q_j = x₍⌊n·j/bins⌋₎ for
    j = 1..bins−1, without repetitions and without the minimum. Bins are [Q_s, Q_{s+1}),
    the last one unbounded (Mathematics 1.3, the preprocessing of Generalized Naive Bayes). A
    column of at most ``bins`` distinct values keeps one bin for each of them.

    Parameters
    ----------
    bins : int, default=5
        Greatest number of bins.
    n_jobs : int or None, default=None
        Threads, over columns.

    Attributes
    ----------
    edges_, n_features_in_, feature_names_in_
        As in :class:`Discretizer`. As a value equal to Q_s belongs to the bin on its right
        here, the edge is the largest number below Q_s.

    See Also
    --------
    EqualFrequency : The same aim, with cuts halfway between neighbours.
    MDLP : Bins that tell the classes apart.

    References
    ----------
    Kovács, E., Ország, A., Pfeifer, D., & Benczúr, A. (2024). Generalized Naive Bayes.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.discretize import Quantile
    >>> X = np.arange(1, 11).reshape(-1, 1)
    >>> Quantile(bins=5).fit_transform(X).ravel()
    array([0., 0., 1., 1., 2., 2., 3., 3., 4., 4.])
    """

    def _cut(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:
        unique, upto = distinct(values, weights)
        if unique.size <= self.bins:
            chosen = np.arange(1, unique.size)
        else:
            targets = upto[-1] * np.arange(1, self.bins) / self.bins
            chosen = np.unique(np.searchsorted(upto, targets, side="right"))
        return np.nextafter(unique[chosen[chosen > 0]], -np.inf)


class EqualFrequency(BinnedDiscretizer):
    """Cut each column halfway between neighbours, so that bins hold about as many rows.

    A cut between two neighbouring distinct values has as its rank the number of rows
    below it. For each target n·i/bins, i = 1..bins−1, the cut of the nearest rank is
    taken (the lower one on ties), and a cut taken twice counts once (Mathematics 1.2).

    Parameters
    ----------
    bins : int, default=5
        Greatest number of bins.
    n_jobs : int or None, default=None
        Threads, over columns.

    Attributes
    ----------
    edges_, n_features_in_, feature_names_in_
        As in :class:`Discretizer`.

    See Also
    --------
    Quantile : Cuts at values of the column, as in Generalized Naive Bayes.
    EqualWidth : Bins of equal width.

    References
    ----------
    Dougherty, J., Kohavi, R., & Sahami, M. (1995). Supervised and unsupervised
    discretization of continuous features. ICML, 194–202.

    Examples
    --------
    >>> from unnaive.discretize import EqualFrequency
    >>> EqualFrequency(bins=2).fit([[1.0], [1.0], [1.0], [2.0], [9.0]]).edges_
    [array([1.5])]
    """

    def _cut(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:
        unique, upto = distinct(values, weights)
        ranks = upto[:-1]
        targets = upto[-1] * np.arange(1, self.bins) / self.bins
        chosen = np.unique(nearest(ranks, targets))
        return midpoints(unique[chosen], unique[chosen + 1])


class EqualWidth(BinnedDiscretizer):
    """Cut the range of each column into bins of equal width.

    The edges are min + i · (max − min) / bins for i = 1..bins−1, and bins are (a, b]:
    the same as WEKA's unsupervised ``Discretize`` and S001's preprocessing with 10 bins
    (Mathematics 1.1). Simple and blind: one outlier can put all other rows into one bin.

    Parameters
    ----------
    bins : int, default=10
        Number of bins; fewer where floating point has no room for as many edges.
    n_jobs : int or None, default=None
        Threads, over columns.

    Attributes
    ----------
    edges_, n_features_in_, feature_names_in_
        As in :class:`Discretizer`.

    See Also
    --------
    Quantile : Bins of about as many rows each.
    MDLP : Bins that tell the classes apart.

    References
    ----------
    Dougherty, J., Kohavi, R., & Sahami, M. (1995). Supervised and unsupervised
    discretization of continuous features. ICML, 194–202.

    Examples
    --------
    >>> from unnaive.discretize import EqualWidth
    >>> ages = [[20], [30], [35], [60], [float("nan")]]
    >>> width = EqualWidth(bins=4).fit(ages)
    >>> width.edges_
    [array([30., 40., 50.])]
    >>> width.transform(ages).ravel()
    array([ 0.,  0.,  1.,  3., nan])
    """

    def __init__(self, bins: int = 10, *, n_jobs: int | None = None) -> None:
        super().__init__(bins, n_jobs=n_jobs)

    def _cut(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:  # noqa: ARG002
        low, high = float(values.min()), float(values.max())
        steps = np.arange(1, self.bins)
        if np.isfinite(high - low):
            edges = low + (high - low) / self.bins * steps
        else:
            edges = low * (1 - steps / self.bins) + high * (steps / self.bins)
        return np.unique(edges[edges < high])


def nearest(ranks: FloatArray, targets: FloatArray) -> IntArray:
    """Index of the increasing rank nearest to each target, the lower one on ties."""
    upper = np.searchsorted(ranks, targets).clip(max=ranks.size - 1)
    lower = (upper - 1).clip(min=0)
    nearer = np.abs(targets - ranks[lower]) <= np.abs(ranks[upper] - targets)
    return np.where(nearer, lower, upper)
