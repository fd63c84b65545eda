r"""Hierarchical smoothing: a thin table leans on the one with a parent less, and that on the next.

.. math:: P(x \mid \pi_1 \ldots \pi_m) =
          \frac{N(x, \pi_1 \ldots \pi_m) + \alpha_m P(x \mid \pi_1 \ldots \pi_{m-1})}
               {N(\pi_1 \ldots \pi_m) + \alpha_m}

down from P(x) whatever the context. The concentration of each depth is the one under which the
rows, each left out in turn, are likeliest; only counts are needed.

References
----------
Petitjean, Buntine, Webb & Zaidi, "Accurate parameter estimation for Bayesian network
classifiers using hierarchical Dirichlet processes", Machine Learning 107, 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.back_off import back_off, best_concentration, pair_gains, root_shares
from unnaive._ties import first_best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import CountArray, FloatArray, IntArray

# What is tried; above the last a level says nothing.
CONCENTRATIONS: FloatArray = np.exp2(np.arange(-1.0, 15.0))
ROOT = 1.0  # imaginary rows of equal values above P(x)


@dataclass(frozen=True, eq=False)
class Level:
    """Counts (q, v) of a column's values in contexts, and each context's place one level up."""

    counts: FloatArray
    above: IntArray

    @classmethod
    def of(cls, counts: CountArray, above: IntArray | None = None) -> Level:
        """Make a level; without ``above`` every context is below the one root."""
        place = np.zeros(len(counts), dtype=np.int64) if above is None else above
        return cls(np.ascontiguousarray(counts, dtype=np.float64), place)


def root(margin: CountArray, held: float, n_values: float | None = None) -> FloatArray:
    """P(x) from the counts of all contexts, ``held`` of each value's rows left out; (1, v)."""
    even = 1.0 / max(len(margin) if n_values is None else n_values, 1)
    found = np.empty((1, len(margin)))
    root_shares(np.ascontiguousarray(margin, dtype=np.float64), held, ROOT, even, found)
    return found


def concentrations(
    margin: CountArray,
    levels: Sequence[Level],
    given: float | None = None,
    n_values: float | None = None,
) -> list[float]:
    """Choose the concentration of every level by leave-one-out, or take the one given.

    ``n_values``: how many values there are, if the margin does not list them all.
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
) -> FloatArray:
    """P(x | context) of the last level's contexts; shape (q, v).

    Leave-one-out takes ``held`` off the counts of all rows, of the first level (the class
    alone), and of the others.
    """
    found = root(margin, held[0], n_values)
    for depth, (level, alpha) in enumerate(zip(levels, alphas, strict=True)):
        found = _level(level, found, alpha, held[min(depth + 1, 2)])
    return found


def _level(level: Level, above: FloatArray, alpha: float, held: float) -> FloatArray:
    out = np.empty(level.counts.shape)
    back_off(level.counts, above, level.above, alpha, held, out)
    return out


def pair_concentrations(
    pairs: FloatArray, pair_starts: IntArray, slots: IntArray, alone: FloatArray
) -> FloatArray:
    """Choose every column's concentration below any one other column; shape (d,).

    ``alone`` (k, slots) is P(x_i | c) without a row that has x_i.
    """
    gains = np.zeros((len(slots) - 1, len(CONCENTRATIONS)))
    pair_gains(pairs, pair_starts, slots, alone, CONCENTRATIONS, gains)
    return np.array([CONCENTRATIONS[first_best(line)] for line in gains])
