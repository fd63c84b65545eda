"""Bins that tell the classes apart: Fayyad and Irani's minimum description length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.discretize import best_split, collapse
from unnaive.discretize.base import SupervisedDiscretizer, midpoints

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray

TABLE_SIZE = 1 << 20


class MDLP(SupervisedDiscretizer):
    """Cut each column where the classes part, as long as a cut pays for its description.

    Of all midpoints between neighbouring distinct values, the one that leaves the least
    class entropy is taken (the first on ties), and kept if, in bits,

        Gain > [log₂(n − 1) + log₂(3ᵏ − 2) − (k·H(S) − k₁·H(S₁) − k₂·H(S₂))] / n,

    where n rows of k classes are parted into S₁ and S₂ with k₁ and k₂ classes present.
    Then both sides are cut in the same way. This is WEKA's supervised ``Discretize``
    (Mathematics 1.4). A column that says nothing of the class gets no edge: one bin.

    Parameters
    ----------
    better_encoding : bool, default=False
        Pay for the choice among the cuts that there are (distinct values − 1) and not
        among n − 1: WEKA's "more efficient split encoding". Cuts columns of few values
        more readily.
    n_jobs : int or None, default=None
        Threads, over columns.

    Attributes
    ----------
    edges_, n_features_in_, feature_names_in_
        As in :class:`Discretizer`.

    See Also
    --------
    Quantile : Bins that do not look at the class.

    Notes
    -----
    n is the sum of the weights, so weights are numbers of rows: weights scaled to sum to
    one are less than two rows, and nothing is cut.

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
    """Rows, increasing, after which sorted ``values`` are cut; spoils classes and weights.

    ``upto`` counts, up to and including each row, what the number of possible cuts is
    one less than: rows or distinct values.
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
