"""Supervised discretization by Fayyad and Irani's minimum description length principle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.discretize import best_split, collapse
from unnaive.discretize.base import SupervisedDiscretizer, midpoints

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray

TABLE_SIZE = 1 << 20


class MDLP(SupervisedDiscretizer):
    """Cut each feature where the classes separate, by minimum description length.

    Of all midpoints between neighboring distinct values, the method takes the one with the
    lowest remaining class entropy (the first on ties). It accepts the cut if, in bits,

        Gain > [log₂(n − 1) + log₂(3ᵏ − 2) − (k·H(S) − k₁·H(S₁) − k₂·H(S₂))] / n,

    where the cut divides n samples of k classes into S₁ and S₂ with k₁ and k₂ classes present.
    Then it cuts both sides in the same way. This is WEKA's supervised ``Discretize``
    (Mathematics 1.4). A feature that is not informative about the class gets a single bin.

    This is the default of all models. It gives few bins, each with a clear meaning, and removes
    uninformative numeric features. Features that matter only together with others also get a
    single bin; use :class:`Automatic` or :class:`Quantile` for these.

    Parameters
    ----------
    better_encoding : bool, default=False
        Whether the cost of a cut is log₂(distinct values − 1) instead of log₂(n − 1): WEKA's
        "more efficient split encoding". It accepts more cuts on features with few values.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    Automatic : Supervised bins that also keep features of little information.
    Quantile : Unsupervised bins.

    Notes
    -----
    n is the sum of the weights: a weight is a number of samples. Weights that sum to one
    stand for less than two samples, and no cut is accepted then.

    References
    ----------
    Fayyad, U. M., & Irani, K. B. (1993). Multi-interval discretization of
    continuous-valued attributes for classification learning. IJCAI, 1022–1027.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.discretize import MDLP
    >>> X = np.arange(1, 9).reshape(-1, 1)
    >>> MDLP().fit(X, list("AAAABBBB")).edges_
    [array([4.5])]
    >>> MDLP().fit(X, list("ABABABAB")).edges_
    [array([], dtype=float64)]
    """

    def __init__(self, better_encoding: bool = False, *, n_jobs: int | None = None) -> None:
        self.better_encoding = better_encoding
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        if not isinstance(self.better_encoding, bool | np.bool_):
            raise ValueError(
                f"better_encoding={self.better_encoding!r}; it must be True or False. MDLP takes "
                "no number of bins"
            )

    def _cut(
        self, values: FloatArray, classes: IntArray, n_classes: int, weights: FloatArray
    ) -> FloatArray:
        if self.better_encoding:
            upto = np.cumsum(np.append(True, values[1:] != values[:-1]), dtype=np.float64)
        else:
            upto = np.cumsum(weights)
        last = split_rows(values, classes, weights, n_classes, upto)
        return midpoints(values[last], values[last + 1])


def split_rows(
    values: FloatArray, classes: IntArray, weights: FloatArray, n_classes: int, upto: FloatArray
) -> IntArray:
    """Find the indices after which sorted ``values`` are cut; overwrites classes and weights.

    ``upto`` has the number of samples, or of distinct values, up to and including each index; the
    number of possible cuts in a range is one less.
    """
    ends = np.empty(values.size, dtype=np.int64)
    latest = np.full(n_classes, -1, dtype=np.int64)
    size = collapse(values, classes, weights, ends, latest)
    whole = np.arange(min(values.size + 1, TABLE_SIZE), dtype=np.float64)
    table = whole * np.log2(np.maximum(whole, 1.0))
    scratch = np.empty((3, n_classes))
    rows: list[int] = []
    open_runs = [(0, size, 0.0)]
    while open_runs:
        first, last, before = open_runs.pop()
        candidates = upto[ends[last - 1]] - before - 1.0
        middle = best_split(classes, weights, ends, table, scratch, first, last, candidates)
        if middle >= 0:
            row = int(ends[middle - 1])
            rows.append(row)
            open_runs += [(first, middle, before), (middle, last, float(upto[row]))]
    return np.sort(np.array(rows, dtype=np.int64))
