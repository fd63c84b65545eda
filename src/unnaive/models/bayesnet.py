"""Bayesian networks as classifiers: any graph over the columns and the class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._scikit import check_is_fitted
from unnaive.counts.sizes import require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.information import mutual_information
from unnaive.information.scores import FamilyScores
from unnaive.models.base import CountsClassifier
from unnaive.models.gaussian import as_number, whole_number
from unnaive.models.tree import column_position
from unnaive.schema.columns import code_type
from unnaive.structure.climb import Climber, anneal, hill_climbing, k2_search, perturb
from unnaive.structure.constraint import chi_square_test, pc_stable
from unnaive.structure.dag import DAG
from unnaive.structure.equivalence import greedy_equivalence_search
from unnaive.tables.export import NetworkTables, class_node, network_of

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema
    from unnaive.structure.climb import Found
    from unnaive.structure.dag import PDAG
    from unnaive.tables.network import Network

_SEARCHES = ("hill-climbing", "tabu", "k2", "annealing", "pc", "ges")
_TABU = (100, 30)  # moves that may not be undone, and moves in a row that may fail
_PERTURBATIONS = 10


def extended(graph: PDAG) -> DAG:
    """Make a network of a graph; where there is none, arcs that close cycles turn."""
    try:
        return graph.to_dag()
    except UnnaiveError:
        dag = DAG.empty(graph.names)
    for parent, child in (*sorted(graph.directed), *sorted(graph.undirected)):
        turned = parent in dag.descendants(child)
        dag = dag.with_edge(*((child, parent) if turned else (parent, child)))
    return dag


@dataclass(eq=False, repr=False, kw_only=True)
class BayesNet(CountsClassifier):
    r"""A Bayesian network learned from the rows.

    .. math:: P(c, x) = P(c \mid \mathrm{pa}_c) \prod_i P(x_i \mid \mathrm{pa}_i)

    By default the class is a parent of every column, and the search adds arcs between columns.
    With ``augmented=False`` the class is a variable like any other; only its Markov blanket then
    matters. ``network_`` answers any other question: the posterior of any variable given any
    evidence, samples, files for other programs.

    ``partial_fit`` keeps the graph of the first batch.

    Parameters
    ----------
    criterion : str, default="bic"
        "bic", "aic", "k2", "bd" or "bdeu", the last two with a strength if you like: "bdeu:10".
    search : {"hill-climbing", "tabu", "k2", "annealing", "pc", "ges"}, default="hill-climbing"
        "pc" tests independence instead of scoring, "ges" scores classes of equivalent graphs;
        both need ``augmented=False``.
    augmented : bool, default=True
        Whether the class is a parent of every column.
    max_parents : int, default=3
        Most parents of a variable, an augmenting class not counted.
    required, forbidden : lists of (parent, child), default=()
        Arcs that must, or may not, be there; columns by name or position, the class by its name.
    n_restarts : int, default=0
        Further climbs from randomly changed networks; the best counts.
    alpha : float, default=0.05
        Level of the tests of "pc".
    time_limit : float, default=None
        Seconds of search; the best network so far is kept, as upon an interrupt.
    random_state : int or None, default=0
        Seed of restarts and of annealing; None: another one each time.
    {parameters}

    Attributes
    ----------
    structure_ : DAG
        Over the columns and, last, the class.
    network_ : Network
        The graph with its tables.

    References
    ----------
    Heckerman, Geiger & Chickering, "Learning Bayesian networks: the combination of knowledge and
    statistical data", Machine Learning 20, 1995.

    Examples
    --------
    >>> from unnaive import BayesNet
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 20
    >>> model = BayesNet().fit(X, [0, 1, 1, 0] * 20)
    >>> model.structure_.edges
    [('x0', 'x1'), ('y', 'x0'), ('y', 'x1')]
    >>> model.network_.query("x0", {"y": "0", "x1": "u"}).round(2)
    array([0.95, 0.05])
    """

    criterion: str = "bic"
    search: str = "hill-climbing"
    augmented: bool = True
    max_parents: int = 3
    required: Any = ()
    forbidden: Any = ()
    n_restarts: int = 0
    alpha: float = 0.05
    time_limit: float | None = None
    random_state: int | None = 0

    @property
    def network_(self) -> Network:
        """The graph with its tables."""
        check_is_fitted(self)
        network: Network = self._tables.network
        return network

    def to_network(self) -> Network:
        """Return ``network_``."""
        return self.network_

    def _learn_structure(self, source: JointCounts | CodedRows) -> DAG:
        if not hasattr(self, "structure_"):
            raise UnnaiveError(
                "BayesNet searches for its graph in rows, and counts hold pairs alone; call fit"
            )
        dag: DAG = self.structure_
        return dag

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> DAG:
        if self.search not in _SEARCHES:
            raise ValueError(f"search={self.search!r}; it must be one of {_SEARCHES}")
        schema = rows.schema
        sizes = np.append(schema.sizes, len(schema.classes))
        narrow = code_type(int(sizes.max()))
        codes = np.concatenate([rows.codes.astype(narrow), rows.classes.astype(narrow)[None]])
        scores = FamilyScores(codes, sizes, str(self.criterion), rows.weights, self.n_jobs)
        names = (*schema.names, class_node(schema))
        if self.search in {"pc", "ges"}:
            return self._of_equivalence(names, scores)
        found = self._climbed(schema, scores, mutual_information(source))
        return DAG(names, found.parents)

    def _climbed(self, schema: Schema, scores: FamilyScores, relevance: Any) -> Found:
        """Search by moves from the network of required arcs."""
        required, forbidden = self._arcs(schema)
        label = len(schema.names)
        most = whole_number(self.max_parents, "max_parents", 0) + int(bool(self.augmented))
        seed = self.random_state
        random = np.random.default_rng(
            None if seed is None else whole_number(seed, "random_state", 0)
        )
        limit = math.inf if self.time_limit is None else as_number(self.time_limit)
        if not limit >= 0:
            raise ValueError(f"time_limit={self.time_limit!r}; it must be a number of seconds")
        if self.search == "k2":
            order = [label, *np.argsort(-relevance, kind="stable").tolist()]
            return k2_search(scores, order, most, required, forbidden)
        start = [set(np.flatnonzero(line).tolist()) for line in required]
        DAG((*schema.names, class_node(schema)), tuple(tuple(sorted(above)) for above in start))

        def climb(parents: list[set[int]], changes: int = 0) -> Found:
            climber = Climber(scores, most, required, forbidden, parents)
            perturb(climber, changes, random)
            if self.search == "annealing":
                return anneal(climber, random, limit=limit)
            length, rounds = _TABU if self.search == "tabu" else (0, 0)
            return hill_climbing(climber, tabu_length=length, tabu_rounds=rounds, limit=limit)

        best = climb(start)
        for _ in range(whole_number(self.n_restarts, "n_restarts", 0)):
            again = climb([set(above) for above in best.parents], _PERTURBATIONS)
            best = max(best, again, key=lambda found: found.score)
        return best

    def _arcs(self, schema: Schema) -> tuple[BoolArray, BoolArray]:
        """Read required and forbidden arcs; both [child, parent], shape (d + 1, d + 1)."""
        label = len(schema.names)
        required, forbidden = (np.zeros((label + 1, label + 1), dtype=bool) for _ in range(2))
        for name, matrix in (("required", required), ("forbidden", forbidden)):
            for arc in getattr(self, name):
                if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
                    raise ValueError(f"{name} has {arc!r}; arcs are pairs (parent, child)")
                parent, child = arc
                matrix[self._node(child, schema, name), self._node(parent, schema, name)] = True
        empty = np.flatnonzero(schema.sizes == 0)
        forbidden[empty] = forbidden[:, empty] = True
        if self.augmented:
            required[:label, label] = schema.sizes > 0
            forbidden[label] = True
        if (required & forbidden).any():
            child, parent = np.argwhere(required & forbidden)[0]
            names = (*schema.names, class_node(schema))
            raise ValueError(f"the arc {names[parent]} -> {names[child]} is required and forbidden")
        return required, forbidden

    def _node(self, node: Any, schema: Schema, parameter: str) -> int:
        if isinstance(node, str) and node == class_node(schema):
            return len(schema.names)
        return column_position(node, schema, parameter)

    def _of_equivalence(self, names: tuple[str, ...], scores: FamilyScores) -> DAG:
        """Search for a class of equivalent networks, and take one of them."""
        if self.augmented:
            raise ValueError(f'search="{self.search}" needs augmented=False: it places every arc')
        if self.search == "ges":
            limit = None if self.time_limit is None else as_number(self.time_limit)
            found = greedy_equivalence_search(
                names, scores.local, max_parents=self.max_parents, limit=limit
            )
            return found.graph.to_dag()
        test = chi_square_test(scores.codes, scores.sizes, self.alpha, scores.weights)
        return extended(pc_stable(names, test).graph)

    def _restore_structure(self, state: Any, schema: Schema) -> DAG:
        dag = DAG.of_state(state)
        if dag.names != (*schema.names, class_node(schema)):
            raise UnnaiveError("the network does not fit the columns")
        return dag

    def _pairs_of(self, structure: DAG) -> IntArray:
        return np.empty((0, 2), dtype=np.int64)

    def _families_of(self, structure: DAG) -> list[tuple[int, ...]]:
        label = len(structure.names) - 1
        families = [
            (node, *(parent for parent in above if parent != label))
            for node, above in enumerate(structure.parents[:-1])
        ]
        above = structure.parents[-1]
        return families + ([(above[-1], *above[:-1])] if above else [])

    def _make_tables(self, held_out: float | None = None) -> NetworkTables:
        counts = self.counts_
        sizes = np.append(counts.schema.sizes, counts.n_classes).astype(object)
        nodes = enumerate(self.structure_.parents)
        cells = sum(int(sizes[node] * np.prod(sizes[list(above)])) for node, above in nodes)
        require_memory(counts.schema, 8 * cells, self.max_memory, "the tables of BayesNet")
        network = network_of(counts, self.structure_, self._smoothing, self._class_prior)
        return NetworkTables(network, counts, self._smoothing, held_out)
