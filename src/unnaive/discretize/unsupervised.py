"""Unsupervised discretization: bins of about equal frequency, or of equal width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.discretize.base import BinnedDiscretizer, distinct, midpoints

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray


class Quantile(BinnedDiscretizer):
    """Cut each feature at its quantiles; a feature with few distinct values keeps them all.

    With the values sorted, x₍₀₎ ≤ … ≤ x₍ₙ₋₁₎, the cuts are Q_j = x₍⌊n·j/bins⌋₎ for
    j = 1..bins−1, without repetitions and without the minimum. Bins are [Q_s, Q_{s+1}),
    the last one unbounded (Mathematics 1.3, the preprocessing of Generalized Naive Bayes). A
    feature with at most ``bins`` distinct values gets one bin for each of them.

    Use it when the classes must not influence the bins, or when a feature has outliers that
    would leave most bins of :class:`EqualWidth` empty.

    Parameters
    ----------
    bins : int, default=5
        Largest number of bins, at least 1.
    {parameters}

    Attributes
    ----------
    edges_ : list of n_features arrays
        Strictly increasing bin edges. A value equal to Q_s belongs to the bin on its right here,
        so the edge is the largest floating-point number below Q_s.
    {attributes}

    See Also
    --------
    EqualFrequency : Equal frequency as well, with cuts halfway between neighboring values.
    MDLP : Supervised bins that separate the classes.

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
    """Cut each feature into bins of about equally many samples, halfway between values.

    A cut between two neighboring distinct values has as its rank the number of samples
    below it. For each target n·i/bins, i = 1..bins−1, the cut of the nearest rank is
    taken (the lower one on ties), and a cut taken twice counts once (Mathematics 1.2).

    Unlike :class:`Quantile`, the edges are midpoints of neighboring values, so a new value
    that lies between two values of the training data goes to the nearer of the two.

    Parameters
    ----------
    bins : int, default=5
        Largest number of bins, at least 1.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Quantile : Cuts at values of the feature, as in Generalized Naive Bayes.
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
    """Cut the range of each feature into bins of equal width.

    The edges are min + i · (max − min) / bins for i = 1..bins−1, and bins are (a, b],
    the same as WEKA's unsupervised ``Discretize`` and S001's preprocessing with 10 bins
    (Mathematics 1.1). The method is simple, but one outlier can put all other samples into
    one bin.

    Parameters
    ----------
    bins : int, default=10
        Number of bins, at least 1. There are fewer if the range is so narrow that floating-point
        numbers cannot represent that many edges.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Quantile : Bins of about equally many samples.
    MDLP : Supervised bins that separate the classes.

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

    def _cut(self, values: FloatArray, weights: FloatArray | None) -> FloatArray:
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
