"""PC-stable: a graph of what depends on what, from tests of independence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtrc, erfc, rel_entr

from unnaive.counts.families import context_of
from unnaive.structure.dag import PDAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray

    Arc = tuple[int, int]
    Given = tuple[int, ...]

__all__ = [
    "IndependenceTest",
    "Outcome",
    "PcResult",
    "chi_square_test",
    "fisher_z_test",
    "pc_stable",
]

MOST_CELLS = 2**62  # beyond this a context has no number
SINGULAR = 1e-10  # variance left of a standardised variable that others determine


@dataclass(frozen=True)
class PcResult:
    """What PC found.

    Attributes
    ----------
    graph : PDAG
        Directed where every graph that fits the tests agrees.
    separators : dict
        For every pair (i, j), i < j, found independent, the variables given which it is so.
    tests_done : int
        Number of tests asked for.
    complete : bool
        Whether all tests were done; if not, edges are left that a test might have removed.
    """

    graph: PDAG
    separators: dict[Arc, Given]
    tests_done: int
    complete: bool


def pc_stable(
    names: Sequence[str],
    independent: Callable[[int, int, Given], bool],
    *,
    max_given: int | None = None,
    required: Iterable[Arc] = (),
    forbidden: Iterable[Arc] = (),
    limit: float | None = None,
) -> PcResult:
    """Learn the equivalence class of a DAG from tests of independence.

    All variables are joined at first. Level ℓ = 0, 1, … tests i and j, if still joined, given
    every ℓ variables that were joined to i, or to j, when the level began, and parts them at
    the first independence. Such frozen neighbours make the skeleton the same in whatever order
    the variables come (PC-*stable*). Then i → w ← j wherever i and j are parted, both joined to
    w, and w did not separate them; of those that contradict each other or close a cycle the
    first (i, w, j) wins. Meek's rules direct what follows. Of tests that err, the graph may
    still have no DAG.

    Parameters
    ----------
    names : sequence of str
        Variables.
    independent : callable
        Whether i and j are independent given a tuple of others: ``independent(i, j, given)``.
    max_given : int, optional
        Last level.
    required, forbidden : iterables of (i, j), optional
        Arcs i → j known to be there, whatever the tests say, and known not to be there. A pair
        forbidden both ways is never joined, yet tested for what separates it.
    limit : float, optional
        Seconds; tests not begun by then are left out.

    References
    ----------
    Spirtes & Glymour, "An algorithm for fast recovery of sparse causal graphs", Social Science
    Computer Review 9, 1991. Colombo & Maathuis, "Order-independent constraint-based causal
    structure learning", JMLR 15, 2014. Meek, "Causal inference and causal explanation with
    background knowledge", UAI 1995.

    Examples
    --------
    >>> found = pc_stable(["rain", "sprinkler", "wet"], lambda i, j, given: (i, j, given) == (0, 1, ()))
    >>> sorted(found.graph.directed), found.separators
    ([(0, 2), (1, 2)], {(0, 1): ()})
    """
    most = len(names) if max_given is None else max_given
    if most < 0:
        raise ValueError(f"max_given={max_given}; it must be at least 0, or None for no bound")
    wanted, barred = _checked_arcs(len(names), required, forbidden)
    skeleton = _Skeleton.complete(len(names), wanted, barred)
    finished = skeleton.thin(independent, most, math.inf if limit is None else monotonic() + limit)
    graph = PDAG(tuple(names), *skeleton.oriented()).meek(background=bool(wanted or barred))
    return PcResult(graph, skeleton.separators, skeleton.tests_done, finished)


def _checked_arcs(
    n_nodes: int, required: Iterable[Arc], forbidden: Iterable[Arc]
) -> tuple[frozenset[Arc], frozenset[Arc]]:
    """Required arcs, and forbidden ones with the required arcs turned round."""
    wanted, barred = frozenset(required), frozenset(forbidden)
    for first, second in wanted | barred:
        if first == second or not (0 <= first < n_nodes and 0 <= second < n_nodes):
            raise ValueError(f"arc {(first, second)} does not join two of {n_nodes} variables")
    if wanted & barred:
        raise ValueError(f"arcs {sorted(wanted & barred)} are both required and forbidden")
    return wanted, barred | {(second, first) for first, second in wanted}


@dataclass
class _Skeleton:
    """Who is joined to whom, what separated the others, and what is known beforehand."""

    adjacent: list[set[int]]
    wanted: frozenset[Arc]
    barred: frozenset[Arc]
    separators: dict[Arc, Given] = field(default_factory=dict)
    tests_done: int = 0

    @classmethod
    def complete(cls, n_nodes: int, wanted: frozenset[Arc], barred: frozenset[Arc]) -> _Skeleton:
        """Join all but the pairs that are forbidden both ways."""
        nodes = range(n_nodes)
        gaps = {(i, j) for i, j in barred if (j, i) in barred}
        return cls([{j for j in nodes if j != i and (i, j) not in gaps} for i in nodes], wanted, barred)

    def thin(
        self, independent: Callable[[int, int, Given], bool], most: int, deadline: float
    ) -> bool:
        """Part what tests find independent, level by level; whether time was enough."""
        for size in range(most + 1):
            frozen = [sorted(others) for others in self.adjacent]
            tests = [test for pair in self._open_pairs() for test in [(pair, frozen, size)]]
            sets = [(pair, _conditions(*test)) for pair, test in zip(self._open_pairs(), tests)]
        return True
