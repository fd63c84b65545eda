"""PC-stable: learns a graph from tests of conditional independence."""

from __future__ import annotations

import math
from dataclasses import field
from itertools import combinations, repeat
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.independence import thin
from unnaive._dataclasses import dataclass
from unnaive.structure.dag import PDAG
from unnaive.structure.independence import IndependenceTest
from unnaive.structure.knowledge import Knowledge
from unnaive.structure.marks import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from unnaive._typing import BoolArray, IntArray
    from unnaive.structure.dag import Node
    from unnaive.structure.independence import PlainRows

    Arc = tuple[int, int]
    Given = tuple[int, ...]


@dataclass(frozen=True)
class PcResult:
    """Result of PC.

    Attributes
    ----------
    graph : PDAG
        Edges between variables that no tested set separates, directed as far as the tests allow.
    separators : dict
        Separating set of each pair (i, j), i < j, that was found independent.
    tests_done : int
        Number of tests.
    complete : bool
        Whether all tests were done before the time limit; if not, some edges may be superfluous.
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
    required: Iterable[tuple[Node, Node]] = (),
    forbidden: Iterable[tuple[Node, Node]] = (),
    limit: float | None = None,
) -> PcResult:
    """Learn a class of equivalent networks from tests of conditional independence.

    At first all variables are joined. Level ℓ = 0, 1, … tests i and j, if they are still joined,
    given each set of ℓ variables that were joined to i, or to j, when the level began. The edge
    is removed at the first independence. Because neighbours are frozen during a level, the
    skeleton does not depend on the order of the variables. Then i → w ← j if i and j are not
    joined, both are joined to w, and w is not in their separating set; if colliders contradict
    each other or close a cycle, the first (i, w, j) wins. Finally Meek's rules direct further
    edges. Wrong tests may lead to a graph that no DAG fits; its ``to_dag`` raises an error.

    Parameters
    ----------
    names : sequence of str
        Variables.
    independent : callable
        Whether variables i < j are independent given others: ``independent(i, j, given)``.
    max_given : int, optional
        Largest number of conditioning variables.
    required, forbidden : iterables of (parent, child), optional
        Edges that the graph must have, and edges that it must not have, whatever the tests find.
        A pair that is forbidden in both directions is never joined, but it is tested to find its
        separating set. An edge whose only permitted direction would close a cycle is removed.
    limit : float, optional
        Time limit in seconds; after it no test is started, and the remaining edges stay.

    Returns
    -------
    PcResult
        The class and the separating sets.

    References
    ----------
    Spirtes & Glymour, "An algorithm for fast recovery of sparse causal graphs", Social Science
    Computer Review 9(1), 1991. Colombo & Maathuis, "Order-independent constraint-based causal
    structure learning", JMLR 15, 2014. Meek, "Causal inference and causal explanation with
    background knowledge", UAI 1995.

    Examples
    --------
    >>> from unnaive.structure.dag import DAG
    >>> truth = DAG.of_edges(["rain", "sprinkler", "wet", "slip"], [(0, 2), (1, 2), (2, 3)])
    >>> found = pc_stable(truth.names, truth.d_separated)
    >>> found.graph == truth.cpdag(), found.separators
    (True, {(0, 1): (), (0, 3): (2,), (1, 3): (2,)})
    """
    deadline = math.inf if limit is None else monotonic() + limit
    if max_given is not None and max_given < 0:
        raise ValueError(f"max_given={max_given}; it must be at least 0, or None for no bound")
    known = Knowledge.of(names, required, forbidden)
    skeleton = _Skeleton.complete(known)
    done = skeleton.thin(independent, len(names) if max_given is None else max_given, deadline)
    graph = skeleton.oriented().meek(background=bool(known))
    return PcResult(graph, skeleton.separators, skeleton.tests_done, done)


@dataclass
class _Skeleton:
    """Adjacent variables, separating sets of the other pairs, and background knowledge."""

    adjacent: list[set[int]]
    known: Knowledge
    separators: dict[Arc, Given] = field(default_factory=dict)
    tests_done: int = 0

    @classmethod
    def complete(cls, known: Knowledge) -> _Skeleton:
        """Join all variables except the pairs that are forbidden in both directions."""
        nodes = range(len(known.names))
        adjacent = [set(nodes) - {node} for node in nodes]
        for parent, child in known.forbidden:
            if (child, parent) in known.forbidden:
                adjacent[parent].discard(child)
        return cls(adjacent, known)

    def thin(
        self, independent: Callable[[int, int, Given], bool], most: int, deadline: float
    ) -> bool:
        """Remove edges of independent pairs, level by level; return whether time was enough."""
        rows = independent.rows if isinstance(independent, IndependenceTest) else None
        if rows is not None and len(rows.codes) == len(self.adjacent):
            return self._compiled(independent, rows, most, deadline)  # type: ignore[arg-type]
        for size in range(most + 1):
            before = self.tests_done
            if not self._level(independent, size, deadline):
                return False
            if self.tests_done == before:
                break
        return True

    def _level(
        self, independent: Callable[[int, int, Given], bool], size: int, deadline: float
    ) -> bool:
        """Test all pairs given sets of one size; return whether time was enough."""
        frozen = [sorted(others) for others in self.adjacent]
        for first, second in self._open_pairs():
            for given in _conditions(frozen, first, second, size):
                if monotonic() >= deadline:
                    return False
                self.tests_done += 1
                if independent(first, second, given):
                    self._separate((first, second), given)
                    break
        return True

    def _compiled(
        self, independent: IndependenceTest, rows: PlainRows, most: int, deadline: float
    ) -> bool:
        """Do all levels with plain rows in the core; return whether time was enough."""
        joined = ~np.eye(len(self.adjacent), dtype=bool)
        for node, others in enumerate(self.adjacent):
            if len(others) < len(joined) - 1:
                joined[node] = False
                joined[node, list(others)] = True
        undecided = ~np.tri(len(joined), dtype=bool)
        for parent, child in self.known.required:
            undecided[parent, child] = undecided[child, parent] = False
        pairs = np.ascontiguousarray(np.argwhere(undecided))
        for size in range(most + 1):
            separators = np.zeros((len(pairs), size + 1), dtype=np.int64)
            limits = (rows.min_rows_per_cell, deadline - monotonic())
            tests_done, tests_made, in_time = thin(
                *(rows.codes, rows.sizes, rows.logs, joined, pairs, limits),
                *(independent.critical, independent, separators),
            )
            self.tests_done += tests_done
            found = separators[:, 0] > 0
            if found.any():
                apart, pairs = pairs[found], pairs[~found]
                joined[apart[:, 0], apart[:, 1]] = joined[apart[:, 1], apart[:, 0]] = False
                given = zip(*separators[found, 1:].T.tolist(), strict=True) if size else repeat(())
                keys = zip(*apart.T.tolist(), strict=True)
                self.separators.update(zip(keys, given, strict=False))
            if not (in_time and tests_done):
                break
            if not tests_made:  # nor can larger sets have rows enough
                self.tests_done += _n_conditions(joined, pairs, range(size + 1, most + 1))
                break
        self.adjacent = [set() for _ in self.adjacent]
        for node, other in np.argwhere(joined).tolist():
            self.adjacent[node].add(other)
        return in_time

    def _separate(self, pair: Arc, given: Given) -> None:
        """Remove an edge."""
        first, second = pair
        self.separators[pair] = given
        self.adjacent[first].discard(second)
        self.adjacent[second].discard(first)

    def _open_pairs(self) -> list[Arc]:
        """Pairs that neither a test nor background knowledge has decided, in order."""
        required = self.known.required
        known = {*required, *(arc[::-1] for arc in required), *self.separators}
        return [pair for pair in combinations(range(len(self.adjacent)), 2) if pair not in known]

    def oriented(self) -> PDAG:
        """Direct the known edges, then the colliders that do not contradict earlier ones.

        An edge is removed if its only direction that is not forbidden would close a cycle.
        """
        required = self.known.required
        joined = {(i, j) for i, others in enumerate(self.adjacent) for j in others}
        children = [set[int]() for _ in self.adjacent]
        for parent, child in required:
            children[parent].add(child)
        for parent, child in sorted(self.known.directions(joined) - required):
            if parent in reached([child], children):
                self.adjacent[parent].discard(child)
                self.adjacent[child].discard(parent)
            else:
                children[parent].add(child)
        arc, below = None, frozenset[int]()
        for first, middle, last in sorted(self._colliders()):
            if arc != (first, middle):
                arc, below = (first, middle), reached([middle], children)
            if not {first, last} & below:
                children[first].add(middle)
                children[last].add(middle)
        pairs = {(i, j) for i, others in enumerate(self.adjacent) for j in others}
        arcs = {(i, j) for i, j in pairs if j in children[i]}
        loose = {(i, j) for i, j in pairs - arcs if i < j and (j, i) not in arcs}
        return PDAG(self.known.names, frozenset(arcs), frozenset(loose))

    def _colliders(self) -> Iterator[tuple[int, int, int]]:
        """Yield all (i, w, j), i → w ← j and i < j, that the separating sets imply."""
        for middle, near in enumerate(self.adjacent):
            for first, last in combinations(sorted(near), 2):
                separator = self.separators.get((first, last))
                if separator is not None and middle not in separator:
                    yield first, middle, last


def _n_conditions(joined: BoolArray, pairs: IntArray, sizes: range) -> int:
    """Count the sets that :func:`_conditions` yields for all pairs."""
    near = joined[pairs[:, 0]].astype(np.int64), joined[pairs[:, 1]].astype(np.int64)
    edges = joined[pairs[:, 0], pairs[:, 1]]
    alone = np.concatenate([side.sum(axis=1) - edges for side in near])
    times = np.bincount(alone, minlength=len(joined))
    times -= np.bincount((near[0] & near[1]).sum(axis=1), minlength=len(joined))
    return sum(often * _n_sets(n, sizes) for n, often in enumerate(times.tolist()) if often)


def _n_sets(n: int, sizes: range) -> int:
    """Count the subsets of these sizes of n elements."""
    if n < sizes.stop:  # all but the smaller ones
        return (1 << n) - sum(math.comb(n, size) for size in range(sizes.start))
    return sum(math.comb(n, size) for size in sizes)


def _conditions(frozen: list[list[int]], first: int, second: int, size: int) -> Iterator[Given]:
    """Yield sets of ``size`` neighbours of the first, then the new sets of the second."""
    mine = [other for other in frozen[first] if other != second]
    yield from combinations(mine, size)
    theirs = [other for other in frozen[second] if other != first]
    known = set(mine)
    if not known.issuperset(theirs):
        yield from (given for given in combinations(theirs, size) if not known.issuperset(given))
