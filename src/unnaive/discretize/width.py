"""Bins of equal width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.discretize.base import BinnedDiscretizer

if TYPE_CHECKING:
    from unnaive._typing import FloatArray


class EqualWidth(BinnedDiscretizer):
    """Cut the range of each column into bins of equal width.

    The edges are min + i · (max − min) / bins for i = 1..bins−1, and bins are (a, b]:
    the same as WEKA's unsupervised ``Discretize`` and S001's preprocessing with 10 bins
    (SPEC 1.1). Simple and blind: one outlier can put all other rows into one bin.

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
