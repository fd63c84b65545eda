r"""Averages over all networks, by sums over the orders of their variables.

In a network that agrees with an order, the parents of a variable are among those that precede it,
and the choice of one variable's parents does not restrict that of another. So a sum over all
networks of an order is a product, and sums over all orders are computed subset by subset:

.. math:: \alpha_i(S) = \sum_{A \subseteq S} \beta_i(A), \qquad
          L(S) = \sum_{i \in S} \alpha_i(S \setminus i)\, L(S \setminus i)

where β is the weight of a family (its prior times its marginal likelihood) and L(S) the weight of
all orders of S. With R(S), the same for those that come last, the weight of a family is

.. math:: P(A \to i, \text{data}) =
          \beta_i(A) \sum_{A \subseteq S} L(S)\, R(V \setminus S \setminus i)

References
----------
Koivisto & Sood, "Exact Bayesian structure discovery in Bayesian networks", JMLR 5, 2004; Koivisto,
"Advances in exact Bayesian structure discovery in Bayesian networks", UAI 2006; Friedman & Koller,
"Being Bayesian about network structure", Machine Learning 50, 2003.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel, _progress
from unnaive._core.orders import sum_orders, sum_subsets, sum_supersets
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import memory_words
from unnaive.exceptions import TableTooLarge, UnnaiveError

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.information.scores import FamilyScores

_FAMILY_BYTES = 32  # a set of parents, its score, its probability, and scratch


@dataclass(frozen=True, eq=False)
class Families:
    """Sets of parents that variables may have.

    Attributes
    ----------
    required, forbidden : ndarray of shape (d, d)
        Arcs [child, parent] that every network has, and that none has.
    max_parents : int
        Largest number of parents, unless more are required.
    """

    required: BoolArray
    forbidden: BoolArray
    max_parents: int

    def choices(self, node: int) -> tuple[list[int], list[int], int]:
        """Return required parents, other possible ones, and how many of these there may be."""
        needed = np.flatnonzero(self.required[node]).tolist()
        barred = self.required[node] | self.forbidden[node]
        free = [int(other) for other in np.flatnonzero(~barred) if other != node]
        return needed, free, min(len(free), max(0, self.max_parents - len(needed)))

    @property
    def number(self) -> int:
        """Number of all families."""
        choices = map(self.choices, range(len(self.required)))
        return sum(
            math.comb(len(free), size) for _, free, most in choices for size in range(most + 1)
        )

    def scored(
        self, node: int, scores: FamilyScores, by_sizes: bool
    ) -> tuple[IntArray, FloatArray]:
        """Score sets of parents of a variable: as bits, and their log weights; shapes (m,)."""
        needed, free, most = self.choices(node)
        always = sum(1 << parent for parent in needed)
        sets, weights = [always], [scores.local(node, tuple(needed))]
        for size in range(most):
            prior = -math.log(math.comb(len(free), size + 1)) if by_sizes else 0.0
            for places in combinations(range(len(free) - 1), size):
                last = places[-1] if places else -1
                chosen, further = [free[place] for place in places], free[last + 1 :]
                above = tuple(sorted((*needed, *chosen)))
                begun = always + sum(1 << parent for parent in chosen)
                sets += [begun + (1 << parent) for parent in further]
                weights += (scores.additions(node, above, np.array(further)) + prior).tolist()
        return np.array(sets, dtype=np.int64), np.array(weights)


def require_memory(n_variables: int, n_families: int, max_memory: int, threads: int = 1) -> None:
    """Raise ``TableTooLarge`` if the sums over all subsets do not fit into memory."""
    needed = 8 * (n_variables + 4 + threads) * 2 ** max(0, n_variables - 1)
    needed += _FAMILY_BYTES * n_families
    if needed > max_memory:
        raise TableTooLarge(
            f"sums over all subsets of {n_variables} variables and {n_families:,} families would "
            f"need {memory_words(needed)}, more than max_memory ({memory_words(max_memory)}): "
            "choose fewer features, lower max_parents, or raise max_memory; arc_strengths needs no "
            "such sums"
        )


def family_probabilities(
    sets: list[IntArray], weights: list[FloatArray], n_jobs: int | None = None
) -> list[FloatArray]:
    """Probabilities of the families of every variable, over all orders and networks.

    Parameters
    ----------
    sets : list of ndarray of shape (m,)
        Different sets of parents of every variable, as bits.
    weights : list of ndarray of shape (m,)
        Logarithms of their weights; −inf for families that are impossible.
    n_jobs : int or None, default=None
        Number of threads; the result does not depend on it.

    Returns
    -------
    list of ndarray of shape (m,)
        Probabilities; those of a variable sum to 1.

    Raises
    ------
    UnnaiveError
        If no network has all of its families among these.

    Examples
    --------
    >>> none_or_other = [np.array([0, 2]), np.array([0, 1])]  # parents of the first: {} or {1}
    >>> scores = [np.array([0.0, 1.0]), np.array([0.0, 1.0])]  # an arc is worth a factor e
    >>> [p.round(4).tolist() for p in family_probabilities(none_or_other, scores)]
    [[0.6345, 0.3655], [0.6345, 0.3655]]
    """
    d, team = len(sets), _parallel.Team(n_jobs)
    half = 1 << (d - 1)
    peaks = [float(np.max(line, initial=-math.inf)) for line in weights]
    above = np.full((d, half), -math.inf)
    first, last = np.empty(2 * half), np.empty(2 * half)
    places = [_without(masks, node) for node, masks in enumerate(sets)]
    if min(peaks) > -math.inf:
        for node, line in enumerate(weights):
            above[node, places[node]] = line - peaks[node]
        team.run(partial(sum_subsets, d - 1), list(above))
    sum_orders(above, first, last)
    if not math.isfinite(first[-1]):
        raise UnnaiveError(
            "no network agrees with required, forbidden and tiers; they contradict each other"
        )

    def probabilities(node: int) -> FloatArray:
        around = np.empty(half)
        sum_supersets(first, last, d, node, around)
        logs = weights[node] - peaks[node] + around[places[node]] - first[-1]
        return np.asarray(np.exp(logs))

    return team.run(probabilities, range(d))


def _without(sets: IntArray, node: int) -> IntArray:
    """Bits of the other variables: those above the variable move down by one."""
    below = (1 << node) - 1
    return (sets & below) | ((sets >> 1) & ~below)


def score_families(
    families: Families, scores: FamilyScores, by_sizes: bool
) -> tuple[list[IntArray], list[FloatArray]]:
    """Score all families; sets of parents as bits and log weights of every variable."""
    sets, weights, d = [], [], len(families.required)
    for node in range(d):
        masks, line = families.scored(node, scores, by_sizes)
        sets.append(masks)
        weights.append(line)
        _progress.tell("families", node + 1, d)
    return sets, weights


def arc_matrix(sets: list[IntArray], probabilities: list[FloatArray]) -> FloatArray:
    """Probabilities of arcs [parent, child] from those of families; shape (d, d)."""
    d = len(sets)
    arcs = np.zeros((d, d))
    for child, (masks, line) in enumerate(zip(sets, probabilities, strict=True)):
        for parent in range(d):
            arcs[parent, child] = line[(masks >> parent) & 1 == 1].sum()
    return np.minimum(arcs, 1.0)
