r"""Hierarchical smoothing: a table backs off to the table with one parent less, and so on.

.. math:: P(x \mid \pi_1 \ldots \pi_m) =
          \frac{N(x, \pi_1 \ldots \pi_m) + \alpha_m P(x \mid \pi_1 \ldots \pi_{m-1})}
               {N(\pi_1 \ldots \pi_m) + \alpha_m}

starting from P(x) without any context. The concentration :math:`\alpha_m` of each depth maximizes
the leave-one-out likelihood of the rows; only counts are needed for that.

References
----------
Petitjean, Buntine, Webb & Zaidi, "Accurate parameter estimation for Bayesian network
classifiers using hierarchical Dirichlet processes", Machine Learning 107, 2018.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.back_off import (
    back_off,
    best_concentration,
    pair_gains,
    root_shares,
    term_shares,
)
from unnaive._dataclasses import dataclass
from unnaive._ties import first_best
from unnaive.counts.sizes import starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut

# Candidates; with a larger one, the counts of a level would hardly matter.
CONCENTRATIONS: FloatArray = np.exp2(np.arange(-1.0, 15.0))
ROOT = 1.0  # pseudo-count of P(x), spread evenly


@dataclass(frozen=True, eq=False)
class Level:
    """Counts of one level.

    Attributes
    ----------
    counts : ndarray of shape (q, v)
        Counts of the values in each context.
    above : ndarray of shape (q,)
        The context of each context one level up.
    """

    counts: FloatArray
    above: IntArray

    @classmethod
    def of(cls, counts: CountArray, above: IntArray | None = None) -> Level:
        """Create a level; without ``above``, all contexts are below the root."""
        place = np.zeros(len(counts), dtype=np.int64) if above is None else above
        return cls(np.ascontiguousarray(counts, dtype=np.float64), place)


def root(margin: CountArray, held: float, n_values: float | None = None) -> FloatArray:
    """P(x) from the counts of all contexts, with ``held`` subtracted from each; shape (1, v)."""
    even = 1.0 / max(len(margin) if n_values is None else n_values, 1)
    shares = np.empty((1, len(margin)))
    root_shares(np.ascontiguousarray(margin, dtype=np.float64), held, ROOT, even, shares)
    return shares


def concentrations(
    margin: CountArray,
    levels: Sequence[Level],
    given: float | None = None,
    n_values: float | None = None,
) -> list[float]:
    """Choose the concentration of every level by leave-one-out, unless it is given.

    Parameters
    ----------
    margin : ndarray of shape (v,)
        Counts of the values in all contexts together.
    levels : sequence of Level
        Levels, from few parents to all.
    given : float, default=None
        If not None, the concentration of all levels.
    n_values : float, default=None
        Number of values, if the margin does not list all of them.

    Returns
    -------
    list of float
        One concentration per level.
    """
    if given is not None:
        return [given] * len(levels)
    chosen: list[float] = []
    above = root(margin, 1.0, n_values)
    for level in levels:
        chosen.append(best_concentration(level.counts, above, level.above, CONCENTRATIONS))
        above = _level(level, above, chosen[-1], 1.0)
    return chosen


def hierarchical(
    margin: CountArray,
    levels: Sequence[Level],
    alphas: Sequence[float],
    held: tuple[float, float, float] = (0.0, 0.0, 0.0),
    n_values: float | None = None,
) -> list[FloatArray]:
    """P(x), then P(x | context) of the contexts of every level, each of shape (q, v).

    For leave-one-out, ``held`` is subtracted from the counts of the root, of the first level
    (given only the class), and of the other levels.

    Examples
    --------
    >>> level = Level.of(np.array([[2, 0], [1, 1]]))
    >>> hierarchical(np.array([3, 1]), [level], [1.0])[-1].round(2)
    array([[0.9 , 0.1 ],
           [0.57, 0.43]])
    """
    shares = [root(margin, held[0], n_values)]
    for depth, (level, alpha) in enumerate(zip(levels, alphas, strict=True)):
        shares.append(_level(level, shares[-1], alpha, held[min(depth + 1, 2)]))
    return shares


def _level(level: Level, above: FloatArray, alpha: float, held: float) -> FloatArray:
    out = np.empty(level.counts.shape)
    back_off(level.counts, above, level.above, alpha, held, out)
    return out


def shares_alone(
    counts: JointCounts, smoothing: Smoothing, held: Sequence[tuple[float, float]]
) -> FloatArray:
    """P(x | c) of every column, with a slot of 1 for missing values; shape (sets, k, S).

    These are the shares of :func:`hierarchical` with one level for each column.

    Parameters
    ----------
    counts : JointCounts
        Counts of the columns.
    smoothing : Smoothing
        Hierarchical smoothing, whose concentration is chosen for each column if it is None.
    held : sequence of (float, float)
        For leave-one-out, what every set subtracts from the counts of the root, and of the classes.

    Returns
    -------
    ndarray of shape (sets, k, S)
        Shares, column after column.
    """
    sizes, k = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    terms = np.zeros((len(sizes), 7), dtype=np.int64)
    terms[:, 0], terms[:, 1], terms[:, 2], terms[:, 6] = (
        starts_of(sizes)[:-1],
        sizes,
        -1,
        slots[:-1],
    )
    given = smoothing.concentration
    alphas = CONCENTRATIONS if given is None else np.array([float(given)])
    values = np.ascontiguousarray(counts.values, dtype=np.float64)
    less = np.array([(total, 0.0, alone) for total, alone in held])
    shape = (len(held), k, int(slots[-1]))
    shares = np.empty(shape)
    none = np.empty((k, 0))
    term_shares(values, none, terms, alphas, less, shares, np.empty(shape), np.empty(shape))
    return shares


def factors_alone(
    counts: JointCounts, smoothing: Smoothing, sets: Sequence[HeldOut]
) -> dict[tuple[int, int, int], FloatArray]:
    """Log P(x | c) of all columns without a parent, with a slot of 0 for missing values.

    Parameters
    ----------
    counts : JointCounts
        Counts of the columns.
    smoothing : Smoothing
        Hierarchical smoothing.
    sets : sequence of HeldOut
        What leave-one-out subtracts in every set.

    Returns
    -------
    dict of ndarray of shape (k, 1, v + 1)
        Factors by set, column and parent, which is −1.
    """
    logs = np.log(shares_alone(counts, smoothing, [(held.total, held.alone) for held in sets]))
    slots = starts_of(counts.schema.sizes + 1).tolist()
    return {
        (index, column, -1): lines[:, None, start:stop]
        for index, lines in enumerate(logs)
        for column, (start, stop) in enumerate(pairwise(slots))
    }


def pair_concentrations(
    pairs: FloatArray, pair_starts: IntArray, slots: IntArray, alone: FloatArray
) -> FloatArray:
    """Choose the concentration of every column given any one other column; shape (d,).

    ``alone`` (k, slots) is P(x_i | c) without a row that has x_i.
    """
    gains = np.zeros((len(slots) - 1, len(CONCENTRATIONS)))
    pair_gains(pairs, pair_starts, slots, alone, CONCENTRATIONS, gains)
    return np.array([CONCENTRATIONS[first_best(line)] for line in gains])
