"""PC-stable: learns a graph from tests of conditional independence."""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property, partial
from itertools import combinations
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.families import context_of
from unnaive.structure.dag import DAG, PDAG
from unnaive.structure.knowledge import Knowledge
from unnaive.structure.marks import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import CodeArray, CountArray, FloatArray, IntArray
    from unnaive.structure.dag import Node

    Arc = tuple[int, int]
    Given = tuple[int, ...]

MOST_CELLS = 2**62  # beyond this a context has no number
SINGULAR = 1e-10  # remaining variance of a standardized variable that others determine
NEARLY_ONE = 1 - 2.0**-53


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
        for size in range(most + 1):
            frozen = [sorted(others) for others in self.adjacent]
            before = self.tests_done
            for first, second in self._open_pairs():
                for given in _conditions(frozen, first, second, size):
                    if monotonic() >= deadline:
                        return False
                    self.tests_done += 1
                    if independent(first, second, given):
                        self.separators[first, second] = given
                        self.adjacent[first].discard(second)
                        self.adjacent[second].discard(first)
                        break
            if self.tests_done == before:
                break
        return True

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
        children = [set(below) for below in DAG.of_edges(self.known.names, required).children]
        for parent, child in sorted(self.known.directions(joined) - required):
            if parent in reached([child], children):
                self.adjacent[parent].discard(child)
                self.adjacent[child].discard(parent)
            else:
                children[parent].add(child)
        for first, middle, last in self._colliders():
            if not {first, last} & reached([middle], children):
                children[first].add(middle)
                children[last].add(middle)
        pairs = {(i, j) for i, others in enumerate(self.adjacent) for j in others}
        arcs = {(i, j) for i, j in pairs if j in children[i]}
        loose = {(i, j) for i, j in pairs - arcs if i < j and (j, i) not in arcs}
        return PDAG(self.known.names, frozenset(arcs), frozenset(loose))

    def _colliders(self) -> Iterator[tuple[int, int, int]]:
        """Yield all i → w ← j, i < j, that the separating sets imply, in order of (i, w, j)."""
        for first, near in enumerate(self.adjacent):
            for middle in sorted(near):
                for last in sorted(self.adjacent[middle] - near):
                    separator = self.separators.get((first, last)) if first < last else None
                    if separator is not None and middle not in separator:
                        yield first, middle, last


def _conditions(frozen: list[list[int]], first: int, second: int, size: int) -> Iterator[Given]:
    """Yield sets of ``size`` neighbours of the first, then the new sets of the second."""
    mine = [other for other in frozen[first] if other != second]
    yield from combinations(mine, size)
    theirs = [other for other in frozen[second] if other != first]
    known = set(mine)
    if not known.issuperset(theirs):
        yield from (given for given in combinations(theirs, size) if not known.issuperset(given))


class Outcome(NamedTuple):
    """Statistic, degrees of freedom and p-value of a test; NaN if there are too few rows."""

    statistic: float
    freedom: float
    p_value: float


@dataclass(frozen=True, eq=False)
class IndependenceTest:
    """Test of conditional independence: variables are independent if the p-value exceeds alpha.

    Every outcome is computed once and cached. If there are too few rows, variables count as
    dependent.
    """

    measure: Callable[[int, int, Given], Outcome]
    alpha: float
    outcomes: dict[tuple[int, int, Given], Outcome] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha}; it must lie between 0 and 1")

    def outcome(self, first: int, second: int, given: Given = ()) -> Outcome:
        """Outcome of a test; the order of the pair and of the given variables does not matter."""
        key = (min(first, second), max(first, second), tuple(sorted(given)))
        if key not in self.outcomes:
            self.outcomes[key] = self.measure(*key)
        return self.outcomes[key]

    def __call__(self, first: int, second: int, given: Given = ()) -> bool:
        """Whether two variables are independent given others."""
        return self.outcome(first, second, given).p_value > self.alpha


def chi_square_test(
    codes: ArrayLike,
    sizes: ArrayLike,
    alpha: float = 0.05,
    weights: ArrayLike | None = None,
    min_rows_per_cell: float = 5,
    *,
    adjust_zeros: bool = False,
) -> IndependenceTest:
    r"""Make the likelihood ratio test of conditional independence of discrete variables.

    .. math:: G^2 = 2 \sum_{x,y,s} N_{xys} \log \frac{N_{xys} N_s}{N_{xs} N_{ys}}

    is asymptotically χ² distributed with :math:`(v_x - 1)(v_y - 1) \prod v_s` degrees of freedom
    if X and Y are independent given S.

    Parameters
    ----------
    codes : array of shape (d, n)
        Codes of each variable; its size is the code of a missing value. A test uses the rows in
        which all its variables are observed.
    sizes : array of shape (d,)
        Number of values of every variable.
    alpha : float, default=0.05
        Significance level: how often independent variables are called dependent.
    weights : array of shape (n,), optional
        How many rows each row represents.
    min_rows_per_cell : float, default=5
        Variables are called dependent if there are fewer rows than this times the number of
        cells :math:`v_x v_y \prod v_s`.
    adjust_zeros : bool, default=False
        Subtract the degrees of freedom of values that do not occur for some s.

    Returns
    -------
    IndependenceTest
        The test, called with two variables and those that are given.

    References
    ----------
    Bishop, Fienberg & Holland, *Discrete Multivariate Analysis*, 1975. Spirtes, Glymour &
    Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000, section 5.5.

    Examples
    --------
    >>> coins = [[0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10, [0, 1, 1, 0] * 10]  # two, and their sum
    >>> independent = chi_square_test(coins, [2, 2, 2])
    >>> independent(0, 1), independent(0, 1, (2,))
    (True, False)
    >>> independent.outcome(0, 1, (2,)).freedom
    2.0
    """
    rows = _Rows.checked(codes, sizes, weights)
    return IndependenceTest(partial(rows.outcome, min_rows_per_cell, adjust_zeros), alpha)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Coded rows: ``codes`` (d, n), ``sizes`` (d,), ``weights`` (n,) or None."""

    codes: CodeArray
    sizes: IntArray
    weights: FloatArray | None

    @classmethod
    def checked(cls, codes: ArrayLike, sizes: ArrayLike, weights: ArrayLike | None) -> _Rows:
        coded, width = np.asarray(codes), np.asarray(sizes, dtype=np.int64)
        if coded.ndim != 2 or width.shape != coded.shape[:1]:
            raise ValueError(f"codes of shape {coded.shape} with sizes of shape {width.shape}")
        if coded.min(initial=0) < 0:
            raise ValueError("a code is negative; a missing cell is coded as its variable's size")
        if weights is None:
            return cls(coded, width, None)
        share = np.asarray(weights, dtype=np.float64)
        if share.shape != coded.shape[1:]:
            raise ValueError(f"{coded.shape[1]} rows with weights of shape {share.shape}")
        return cls(coded, width, share)

    @cached_property
    def domain(self) -> IntArray:
        """Numbers of values, 1 for variables that have none; shape (d,)."""
        return np.maximum(self.sizes, 1)

    @cached_property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.codes.shape[1] if self.weights is None else float(self.weights.sum())

    def outcome(
        self, min_rows_per_cell: float, adjust_zeros: bool, first: int, second: int, given: Given
    ) -> Outcome:
        """Test two variables given others."""
        shape = self.domain[[first, second]]
        width = math.prod(self.domain[list(given)].tolist())
        freedom = float((shape - 1).prod()) * width
        if freedom == 0:
            return Outcome(0.0, 0.0, 1.0)
        cells = width * int(shape.prod())
        if self.total >= min_rows_per_cell * cells and cells <= MOST_CELLS:
            table = self.table(first, second, given)
            if table.sum() >= min_rows_per_cell * cells:
                return _likelihood_ratio(table, None if adjust_zeros else freedom)
        return Outcome(math.nan, freedom, math.nan)

    def table(self, first: int, second: int, given: Given) -> CountArray:
        """Count N(given, first, second) in rows where all are observed; shape (m, v, v).

        If there are many contexts, those that do not occur are left out.
        """
        number, observed = context_of(self.codes, self.sizes, (*given, first, second))
        weights = self.weights
        if not observed.all():
            number = number[observed]
            weights = None if weights is None else weights[observed]
        shape = self.domain[[first, second]]
        width, cells = math.prod(self.domain[list(given)].tolist()), int(shape.prod())
        if width > max(1024, len(number)):
            contexts, place = np.unique(number // cells, return_inverse=True)
            number, width = place * cells + number % cells, len(contexts)
        return np.bincount(number, weights, minlength=width * cells).reshape(width, *shape)


def _likelihood_ratio(table: CountArray, freedom: float | None) -> Outcome:
    """G² of a table N(s, x, y); None: count the degrees of freedom of values that occur."""
    across, along = table.sum(axis=2), table.sum(axis=1)
    total = across.sum(axis=1)
    expected = across[:, :, None] * (along / np.where(total > 0, total, 1)[:, None])[:, None, :]
    from scipy.special import chdtrc, rel_entr  # noqa: PLC0415 - slow to import

    statistic = max(2 * float(rel_entr(table, expected).sum()), 0.0)
    if freedom is None:
        spread = [np.maximum((sums > 0).sum(axis=1) - 1, 0) for sums in (across, along)]
        freedom = float((spread[0] * spread[1]).sum())
    return Outcome(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def fisher_z_test(covariance: ArrayLike, n_rows: int, alpha: float = 0.05) -> IndependenceTest:
    r"""Make Fisher's test of conditional independence of jointly Gaussian variables.

    .. math:: z = \sqrt{n - |S| - 3} \, \operatorname{artanh} \rho_{xy \cdot S}

    of the partial correlation given S is approximately standard normal if X and Y are
    independent given S. A variable that the given ones determine is constant given these, so it
    is independent of all others.

    Parameters
    ----------
    covariance : array of shape (d, d)
        Covariances, or correlations.
    n_rows : int
        Number of rows they were computed from; variables are called dependent if n ≤ \|S\| + 3.
    alpha : float, default=0.05
        Significance level: how often independent variables are called dependent.

    Returns
    -------
    IndependenceTest
        The test, called with two variables and those that are given.

    References
    ----------
    Fisher, "The distribution of the partial correlation coefficient", Metron 3, 1924.

    Examples
    --------
    >>> chain = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]  # 0 → 1 → 2
    >>> independent = fisher_z_test(chain, 100)
    >>> independent(0, 2), independent(0, 2, (1,))
    (False, True)
    """
    spread = np.asarray(covariance, dtype=np.float64)
    if spread.ndim != 2 or spread.shape[0] != spread.shape[1] or not np.isfinite(spread).all():
        raise ValueError(f"covariance of shape {spread.shape}; it must be (d, d) and finite")
    scale = np.sqrt(spread.diagonal())
    scale = np.where(scale > 0, scale, np.inf)  # a constant is uncorrelated with anything
    correlation = spread / np.outer(scale, scale)

    def measure(first: int, second: int, given: Given) -> Outcome:
        pair, rest = [first, second], list(given)
        inverse = np.linalg.pinv(correlation[np.ix_(rest, rest)], SINGULAR, hermitian=True)
        to_rest = correlation[np.ix_(pair, rest)]
        left = correlation[np.ix_(pair, pair)] - to_rest @ inverse @ to_rest.T
        freedom = float(n_rows - len(given) - 3)
        if left.diagonal().min() <= SINGULAR:
            return Outcome(0.0, freedom, 1.0)
        if freedom <= 0:
            return Outcome(math.nan, freedom, math.nan)
        rho = float(left[0, 1] / np.sqrt(left[0, 0] * left[1, 1]))
        z = math.sqrt(freedom) * math.atanh(max(-NEARLY_ONE, min(rho, NEARLY_ONE)))
        from scipy.special import erfc  # noqa: PLC0415 - slow to import

        return Outcome(z, freedom, float(erfc(abs(z) / math.sqrt(2))))

    return IndependenceTest(measure, alpha)
