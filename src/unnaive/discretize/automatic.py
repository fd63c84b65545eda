"""Bins that serve prediction: per column, the partition of largest evidence for the classes."""

from __future__ import annotations

from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.discretize import count_up_to, halve, log_evidence
from unnaive.discretize.base import SupervisedDiscretizer, midpoints
from unnaive.discretize.mdlp import split_rows
from unnaive.discretize.unsupervised import nearest

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray

BINS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
FEW_BINS = 6  # a column that says little gets so many all the same
FEW_ROWS = 5  # of a bin that is cut without a look at the classes
COMPANION = 4.0  # values of the other column that a table holds beside this one
PRIOR_MASS = 0.5
TIE_TOL = 1e-9


class Automatic(SupervisedDiscretizer):
    """Choose for each column, by the evidence of the classes, where and how finely to cut.

    The candidates are one bin, bins of equally many rows (2, 3, 4, 5, 6, 8, … 50 of them,
    at least five rows each), and the cuts of :class:`MDLP`. With n_bc rows of class c among
    the n_b rows of bin b, the classes have the Dirichlet–multinomial evidence

        E = Σ_b [ln Γ(s) − ln Γ(n_b/r + s) + Σ_c ln Γ(n_bc/r + s·p_c) − ln Γ(s·p_c)],

    where p_c is the share of class c in all rows, s = ½ and r = 4. A partition pays for
    being told: those of equal frequency ln(number of such candidates), MDLP's b bins of m
    distinct values ln C(m − 1, b − 1), as in MODL. The best candidate wins, of equals the
    one with fewer bins.

    The evidence is that of a quarter of the rows, because models look a bin up together
    with the value of another column, and a cell of their tables has that many fewer rows.
    So bins are coarser than for the column alone.

    A column that says little by itself may matter together with others. Where the winner
    has fewer than six bins, the largest is halved until there are six, as long as it has ten
    rows.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads, over columns.

    Attributes
    ----------
    edges_, n_features_in_, feature_names_in_
        As in :class:`Discretizer`.

    See Also
    --------
    MDLP : The candidate that looks at the classes, alone.
    EqualFrequency : The candidates that do not.

    Notes
    -----
    Weights are numbers of rows, as in :class:`MDLP`. Useless columns get bins, too, so this
    goes best with ``smoothing="hierarchical"``, which makes such columns silent.

    References
    ----------
    Boullé, M. (2006). MODL: a Bayes optimal discretization method for continuous
    attributes. Machine Learning, 65, 131–165.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.discretize import MDLP, Automatic
    >>> X = np.arange(120.0).reshape(-1, 1)
    >>> Automatic().fit(X, X.ravel() >= 90).edges_
    [array([14.5, 29.5, 44.5, 59.5, 89.5])]
    >>> MDLP().fit(X, X.ravel() >= 90).edges_
    [array([89.5])]
    """

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def _cut(
        self, values: FloatArray, classes: IntArray, n_classes: int, weights: FloatArray
    ) -> FloatArray:
        upto = np.cumsum(weights)
        ends = np.flatnonzero(values[1:] != values[:-1])
        equal = _equal_frequency(ends, upto)
        supervised = split_rows(values, classes.copy(), weights.copy(), n_classes, upto)
        parts = [ends[:0], *equal, supervised]
        told = log(max(1, len(equal)))
        costs = [0.0, *[told for _ in equal], _log_choose(ends.size, supervised.size)]
        scores = _evidence(parts, classes, weights, n_classes) - np.array(costs)
        last = _halve(_best(scores, parts), ends, upto)
        return midpoints(values[last], values[last + 1])


def _equal_frequency(ends: IntArray, upto: FloatArray) -> list[IntArray]:
    """Rows after which to cut into equally many rows, for every number of bins there is.

    ``ends`` are the rows after which another value follows; one may be named twice. Where
    there are no more values than bins, each has its own.
    """
    numbers = [bins for bins in BINS if bins * FEW_ROWS <= upto[-1]]
    coarser = [bins for bins in numbers if bins <= ends.size]
    parts = []
    if coarser:
        steps = np.concatenate([np.arange(1, bins) for bins in coarser])
        cuts = np.array(coarser) - 1
        chosen = nearest(upto[ends], upto[-1] * steps / np.repeat(coarser, cuts))
        parts = np.split(ends[chosen], np.cumsum(cuts)[:-1])
    return [*parts, ends] if len(coarser) < len(numbers) else parts


def _log_choose(places: int, cuts: int) -> float:
    """Log of the number of ways to put cuts into places."""
    return lgamma(places + 1.0) - lgamma(cuts + 1.0) - lgamma(places - cuts + 1.0)


def _evidence(
    parts: list[IntArray], classes: IntArray, weights: FloatArray, n_classes: int
) -> FloatArray:
    """Log evidence of the classes by each partition."""
    final = [np.append(part, classes.size - 1) for part in parts]
    rows, flat = np.unique(np.concatenate(final), return_inverse=True)
    counts = np.zeros((rows.size, n_classes))
    count_up_to(classes, weights, rows, counts)
    prior = PRIOR_MASS * counts[-1] / counts[-1].sum()
    places = np.split(flat, np.cumsum([part.size for part in final])[:-1])
    return np.array([log_evidence(counts, place, prior, 1.0 / COMPANION) for place in places])


def _best(scores: FloatArray, parts: list[IntArray]) -> IntArray:
    """Return the partition of the highest score; of equals the one with fewer bins."""
    tied = np.flatnonzero(scores >= scores.max() - TIE_TOL * max(1.0, np.abs(scores).max()))
    return min((np.unique(parts[candidate]) for candidate in tied), key=len)


def _halve(rows: IntArray, ends: IntArray, upto: FloatArray) -> IntArray:
    """Cut the largest bin that holds two values at its middle until there are a few bins."""
    cuts = np.zeros(max(rows.size, FEW_BINS - 1), dtype=np.int64)
    cuts[: rows.size] = np.searchsorted(ends, rows)
    number = halve(cuts, rows.size, upto[ends], upto[-1], FEW_BINS, 2 * FEW_ROWS)
    return ends[cuts[:number]]
