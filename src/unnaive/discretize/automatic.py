"""Supervised discretization that chooses the partition with the largest evidence."""

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
FEW_BINS = 6  # the least number of bins, also of an uninformative feature
FEW_ROWS = 5  # the least number of samples in a bin of equal frequency
COMPANION = 4.0  # number of values of the other feature in a table of two features
PRIOR_MASS = 0.5
TIE_TOL = 1e-9


class Automatic(SupervisedDiscretizer):
    """Choose the number of bins and the cuts of each feature by their evidence.

    The candidates are a single bin, bins of equal frequency (2, 3, 4, 5, 6, 8, … 50 of them,
    at least five samples each), and the cuts of :class:`MDLP`. With n_bc samples of class c among
    the n_b samples of bin b, the classes have the Dirichlet–multinomial evidence

        E = Σ_b [ln Γ(s) − ln Γ(n_b/r + s) + Σ_c ln Γ(n_bc/r + s·p_c) − ln Γ(s·p_c)],

    where p_c is the share of class c in all samples, s = ½ and r = 4. Each candidate has a
    description cost: ln(number of such candidates) for equal frequency, and ln C(m − 1, b − 1) for
    MDLP's b bins of m distinct values, as in MODL. The candidate with the largest evidence minus
    cost is chosen; on ties, the one with fewer bins.

    The division by r = 4 computes the evidence for a quarter of the samples. The reason: most
    models use a bin together with the value of another feature, so a cell of their tables has
    only a fraction of the samples. The bins are therefore coarser than for the feature alone.

    A feature that is not informative by itself may be informative together with others. If the
    chosen partition has fewer than six bins, the largest bin is halved until there are six, as
    long as it has ten samples.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MDLP : The supervised candidate.
    EqualFrequency : The unsupervised candidates.

    Notes
    -----
    A weight is a number of samples, as in :class:`MDLP`. Uninformative features also get bins,
    so this method works best with ``smoothing="hierarchical"``, which reduces their effect.

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

    def _cut(
        self, values: FloatArray, classes: IntArray, n_classes: int, weights: FloatArray
    ) -> FloatArray:
        upto = np.cumsum(weights)
        ends = np.flatnonzero(values[1:] != values[:-1])
        equal = _equal_frequency(ends, upto)
        supervised = split_rows(values, classes.copy(), weights.copy(), n_classes, upto)
        partitions = [ends[:0], *equal, supervised]
        cost = log(max(1, len(equal)))
        costs = [0.0, *[cost] * len(equal), _log_choose(ends.size, supervised.size)]
        scores = _evidence(partitions, classes, weights, n_classes) - np.array(costs)
        last = _halve(_best(scores, partitions), ends, upto)
        return midpoints(values[last], values[last + 1])


def _equal_frequency(ends: IntArray, upto: FloatArray) -> list[IntArray]:
    """Find where to cut into equal frequencies, for every possible number of bins.

    ``ends`` are the indices after which another value follows; a result may contain one twice. If
    there are no more distinct values than bins, every value gets a bin.
    """
    numbers = [bins for bins in BINS if bins * FEW_ROWS <= upto[-1]]
    coarser = [bins for bins in numbers if bins <= ends.size]
    partitions = []
    if coarser:
        steps = np.concatenate([np.arange(1, bins) for bins in coarser])
        cuts = np.array(coarser) - 1
        chosen = nearest(upto[ends], upto[-1] * steps / np.repeat(coarser, cuts))
        partitions = np.split(ends[chosen], np.cumsum(cuts)[:-1])
    return [*partitions, ends] if len(coarser) < len(numbers) else partitions


def _log_choose(places: int, cuts: int) -> float:
    """Log of the number of ways to choose cuts among places."""
    return lgamma(places + 1.0) - lgamma(cuts + 1.0) - lgamma(places - cuts + 1.0)


def _evidence(
    partitions: list[IntArray], classes: IntArray, weights: FloatArray, n_classes: int
) -> FloatArray:
    """Log evidence of the classes for each partition."""
    final = [np.append(cuts, classes.size - 1) for cuts in partitions]
    rows, flat = np.unique(np.concatenate(final), return_inverse=True)
    counts = np.zeros((rows.size, n_classes))
    count_up_to(classes, weights, rows, counts)
    prior = PRIOR_MASS * counts[-1] / counts[-1].sum()
    places = np.split(flat, np.cumsum([cuts.size for cuts in final])[:-1])
    return np.array([log_evidence(counts, place, prior, 1.0 / COMPANION) for place in places])


def _best(scores: FloatArray, partitions: list[IntArray]) -> IntArray:
    """Return the partition with the highest score; on ties the one with fewer bins."""
    tied = np.flatnonzero(scores >= scores.max() - TIE_TOL * max(1.0, np.abs(scores).max()))
    return min((np.unique(partitions[candidate]) for candidate in tied), key=len)


def _halve(rows: IntArray, ends: IntArray, upto: FloatArray) -> IntArray:
    """Halve the largest bin that has two values until there are ``FEW_BINS`` bins."""
    cuts = np.zeros(max(rows.size, FEW_BINS - 1), dtype=np.int64)
    cuts[: rows.size] = np.searchsorted(ends, rows)
    number = halve(cuts, rows.size, upto[ends], upto[-1], FEW_BINS, 2 * FEW_ROWS)
    return ends[cuts[:number]]
