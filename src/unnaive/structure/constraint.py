"""PC-stable: a graph of what depends on what, from tests of independence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.counts.families import context_of
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG, PDAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import CodeArray, CountArray, FloatArray, IntArray
    from unnaive.structure.dag import Node

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
SINGULAR = 1e-10  # variance that is left of a standardised variable which others determine
NEARLY_ONE = 1 - 2.0**-53


@dataclass(frozen=True)
class PcResult:
    """What PC found.

    Attributes
    ----------
    graph : PDAG
        Edges between variables that nothing separates, directed as far as the tests tell.
    separators : dict
        What separates each pair (i, j), i < j, that was found independent.
    tests_done : int
        Number of tests asked for.
    complete : bool
        Whether time was enough; if not, edges are left that a test might have removed.
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
    """Learn a class of equivalent networks from tests of independence.

    All variables are joined at first. Level ℓ = 0, 1, … tests i and j, if still joined, given
    any ℓ variables that were joined to i, or any to j, when the level began, and parts them at
    the first independence. Neighbours frozen like this give the same skeleton in whatever order
    the variables come. Then i → w ← j if i and j are parted, both are joined to w, and w does
    not separate them; where these contradict each other or close a cycle, the first (i, w, j)
    wins. Meek's rules direct what follows. Wrong tests may leave a graph that no DAG fits, whose
    ``to_dag`` raises.

    Parameters
    ----------
    names : sequence of str
        Variables.
    independent : callable
        Whether variables i < j are independent given others: ``independent(i, j, given)``.
    max_given : int, optional
        Last level.
    required, forbidden : iterables of (parent, child), optional
        Edges that are there whatever the tests say, and that are not. A pair forbidden both
        ways is never joined, but tested for what separates it.
    limit : float, optional
        Seconds after which no test is begun; the edges left then stay.

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
    wanted, barred = _arcs(names, required), _arcs(names, forbidden)
    if wanted & barred:
        raise ValueError(f"edges {sorted(wanted & barred)} are both required and forbidden")
    _refuse_cycles(names, wanted)
    skeleton = _Skeleton.complete(len(names), wanted, barred)
    done = skeleton.thin(independent, len(names) if max_given is None else max_given, deadline)
    graph = skeleton.oriented(tuple(names)).meek(background=bool(wanted or barred))
    return PcResult(graph, skeleton.separators, skeleton.tests_done, done)


def _arcs(names: Sequence[str], edges: Iterable[tuple[Node, Node]]) -> frozenset[Arc]:
    """Edges as positions."""
    places: dict[Node, int] = {name: place for place, name in enumerate(names)}
    places.update({place: place for place in range(len(names))})
    arcs = set()
    for edge in edges:
        arc = tuple(places[node] for node in edge if node in places)
        if len(arc) != 2 or arc[0] == arc[1]:
            raise ValueError(f"edge {edge!r} does not join two of the {len(names)} variables")
        arcs.add((arc[0], arc[1]))
    return frozenset(arcs)


def _refuse_cycles(names: Sequence[str], arcs: Iterable[Arc]) -> None:
    try:
        DAG.of_edges(names, arcs)
    except UnnaiveError as error:
        raise ValueError(f"what is required and forbidden cannot be: {error}") from error


@dataclass
class _Skeleton:
    """Who is joined to whom, what separates the others, and what is known beforehand."""

    adjacent: list[set[int]]
    wanted: frozenset[Arc]
    barred: frozenset[Arc]
    separators: dict[Arc, Given] = field(default_factory=dict)
    tests_done: int = 0

    @classmethod
    def complete(cls, n_nodes: int, wanted: frozenset[Arc], barred: frozenset[Arc]) -> _Skeleton:
        """Join all but the pairs that are forbidden both ways."""
        adjacent = [set(range(n_nodes)) - {node} for node in range(n_nodes)]
        for parent, child in barred:
            if (child, parent) in barred:
                adjacent[parent].discard(child)
        return cls(adjacent, wanted, barred)

    def thin(
        self, independent: Callable[[int, int, Given], bool], most: int, deadline: float
    ) -> bool:
        """Part what is found independent, level by level; whether time was enough."""
        for size in range(most + 1):
            frozen = [sorted(others) for others in self.adjacent]
            before = self.tests_done
            for first, second in self._untold():
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

    def _untold(self) -> list[Arc]:
        """Pairs that neither a test nor what is known has settled, in order."""
        known = self.wanted | {(child, parent) for parent, child in self.wanted}
        pairs = combinations(range(len(self.adjacent)), 2)
        return [pair for pair in pairs if pair not in known and pair not in self.separators]

    def oriented(self, names: tuple[str, ...]) -> PDAG:
        """Direct what is known, then the colliders that do not contradict what came before."""
        turned = {(child, parent) for parent, child in self.barred}
        directed = self.wanted | {(i, j) for i, j in turned if j in self.adjacent[i]}
        _refuse_cycles(names, directed)
        children: list[set[int]] = [set() for _ in names]
        for parent, child in directed:
            children[parent].add(child)
        for first, middle, last in self._colliders():
            if not {first, last} & _below(middle, children):
                children[first].add(middle)
                children[last].add(middle)
        pairs = {(i, j) for i, others in enumerate(self.adjacent) for j in others}
        arcs = {(i, j) for i, j in pairs if j in children[i]}
        loose = {(i, j) for i, j in pairs - arcs if i < j and (j, i) not in arcs}
        return PDAG(names, frozenset(arcs), frozenset(loose))

    def _colliders(self) -> Iterator[tuple[int, int, int]]:
        """Yield all i → w ← j with i < j that separators tell of, in order of (i, w, j)."""
        for first, near in enumerate(self.adjacent):
            for middle in sorted(near):
                for last in sorted(self.adjacent[middle] - near):
                    separator = self.separators.get((first, last)) if first < last else None
                    if separator is not None and middle not in separator:
                        yield first, middle, last


def _conditions(frozen: list[list[int]], first: int, second: int, size: int) -> Iterator[Given]:
    """Yield sets of so many neighbours of the first, then those of the second that are new."""
    mine = [other for other in frozen[first] if other != second]
    yield from combinations(mine, size)
    theirs = [other for other in frozen[second] if other != first]
    told = set(mine)
    if not told.issuperset(theirs):
        yield from (given for given in combinations(theirs, size) if not told.issuperset(given))


def _below(start: int, children: list[set[int]]) -> set[int]:
    """Nodes that directed edges lead to."""
    reached, waiting = set[int](), [start]
    while waiting:
        new = children[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


class Outcome(NamedTuple):
    """A test's statistic, its degrees of freedom and its p-value; nan where rows are too few."""

    statistic: float
    freedom: float
    p_value: float


@dataclass(frozen=True, eq=False)
class IndependenceTest:
    """Tells whether two variables are independent given others: their p-value exceeds alpha.

    Every outcome is computed once and kept. Where rows are too few to tell, the answer is no.
    """

    measure: Callable[[int, int, Given], Outcome]
    alpha: float
    outcomes: dict[tuple[int, int, Given], Outcome] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha}; it must lie between 0 and 1")

    def outcome(self, first: int, second: int, given: Given = ()) -> Outcome:
        """Outcome of a test; the order of the pair and of what is given does not matter."""
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
    r"""Make the likelihood ratio test of independence of discrete variables.

    .. math:: G^2 = 2 \sum_{x,y,s} N_{xys} \log \frac{N_{xys} N_s}{N_{xs} N_{ys}}

    has in the long run, if X and Y are independent given S, a χ² distribution with
    :math:`(v_x - 1)(v_y - 1) \prod v_s` degrees of freedom.

    Parameters
    ----------
    codes : array of shape (d, n)
        Values of each variable; its size stands for a missing one. A test takes the rows in
        which all its variables are observed.
    sizes : array of shape (d,)
        Numbers of values.
    alpha : float, default=0.05
        How often independent variables may be called dependent.
    weights : array of shape (n,), optional
        How many rows each row stands for.
    min_rows_per_cell : float, default=5
        Variables are called dependent if rows are fewer than this times the cells
        :math:`v_x v_y \prod v_s`.
    adjust_zeros : bool, default=False
        Let values that do not occur under some s take their degrees of freedom with them.

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
        """Number of rows, or their weight."""
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
        """N(given, first, second) of the rows in which all are observed; shape (m, v, v).

        Where contexts are many, those that do not occur have no place.
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
    """G² of a table N(s, x, y), by default with the degrees of freedom of what occurs."""
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
    r"""Make Fisher's test of independence of variables that are Gaussian together.

    .. math:: z = \sqrt{n - |S| - 3} \, \operatorname{artanh} \rho_{xy \cdot S}

    of the partial correlation given S is near to normal if X and Y are independent given S. A
    variable that others determine is constant given these, hence independent of all the rest.

    Parameters
    ----------
    covariance : array of shape (d, d)
        Covariances, or correlations.
    n_rows : int
        Number of rows they were computed from; variables are called dependent if n ≤ \|S\| + 3.
    alpha : float, default=0.05
        How often independent variables may be called dependent.

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
