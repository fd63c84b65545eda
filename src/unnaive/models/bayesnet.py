"""Bayesian networks as classifiers: any graph over the columns and the class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information import mutual_information
from unnaive.information.scores import FamilyScores
from unnaive.models.base import CountsClassifier
from unnaive.models.recipe import Learned, Recipe, TableMaker
from unnaive.models.tree import column_position
from unnaive.parameters import flag, number, one_of, whole
from unnaive.schema.columns import code_type
from unnaive.structure.climb import Climber, anneal, hill_climbing, k2_search, perturb
from unnaive.structure.constraint import chi_square_test, pc_stable
from unnaive.structure.dag import DAG
from unnaive.structure.equivalence import greedy_equivalence_search
from unnaive.structure.network import NetworkGraph
from unnaive.tables.export import NetworkTables, class_node, network_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import BoolArray, FloatArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Source
    from unnaive.schema import Schema
    from unnaive.structure.climb import Found
    from unnaive.structure.dag import PDAG
    from unnaive.tables.network import Network

    Arc = tuple[str | int, str | int]

_TABU = (100, 30)  # moves that may not be undone, and moves in a row that may fail
_PERTURBATIONS = 10


@dataclass(frozen=True, eq=False)
class NetworkFactors(TableMaker):
    """Tables of a network, in which the class is a node like any other."""

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> NetworkTables:
        """Estimate the table of every node, once they are known to fit into memory."""
        dag = learned.graph(NetworkGraph)
        sizes = np.append(counts.schema.sizes, counts.n_classes).astype(object)
        nodes = enumerate(dag.parents)
        cells = sum(int(sizes[node] * np.prod(sizes[list(above)])) for node, above in nodes)
        how.require(counts.schema, 8 * cells)
        network = network_of(counts, dag, how.smoothing, how.class_prior)
        return NetworkTables(network, counts, how.smoothing, held_out)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return the network itself."""
        return network_of(counts, learned.graph(NetworkGraph), how.smoothing, how.class_prior)


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
    search: str = one_of("hill-climbing", "tabu", "k2", "annealing", "pc", "ges")
    augmented: bool = flag(True)
    max_parents: int = whole(3)
    required: Sequence[Arc] = ()
    forbidden: Sequence[Arc] = ()
    n_restarts: int = whole(0)
    alpha: float = number(0.05, 0.0, most=1.0)
    time_limit: float | None = number(None, also=(None,), what="a number of seconds", infinite=True)
    random_state: int | None = whole(0, also=(None,))

    family: ClassVar[str] = "networks"
    assumption: ClassVar[str] = (
        "Each column, and the class, depends on its parents in the graph and on nothing else. The "
        "graph was searched in the rows."
    )

    @property
    def network_(self) -> Network:
        """The graph with its tables."""
        return self.fitted_.network()

    def to_network(self) -> Network:
        """Return ``network_``."""
        return self.network_

    def recipe(self) -> Recipe:
        """Search for the graph in rows, and make a table for every node and its parents."""
        return Recipe(self._search, NetworkFactors(), structure=NetworkGraph, keeps=True)

    def _search(self, source: Source, rows: CodedRows | None) -> Learned | None:
        if rows is None:
            return None
        schema = rows.schema
        sizes = np.append(schema.sizes, len(schema.classes))
        narrow = code_type(int(sizes.max()))
        codes = np.concatenate([rows.codes.astype(narrow), rows.classes.astype(narrow)[None]])
        scores = FamilyScores(codes, sizes, str(self.criterion), rows.weights, self.n_jobs)
        names = (*schema.names, class_node(schema))
        if self.search in {"pc", "ges"}:
            parents = self._of_equivalence(names, scores).parents
        else:
            parents = self._climbed(schema, scores, mutual_information(source)).parents
        return Learned(NetworkGraph(names, parents))

    def _climbed(self, schema: Schema, scores: FamilyScores, relevance: FloatArray) -> Found:
        """Search by moves from the network of required arcs."""
        required, forbidden = self._arcs(schema)
        label = len(schema.names)
        most = self.max_parents + int(self.augmented)
        random = np.random.default_rng(self.random_state)
        limit = math.inf if self.time_limit is None else float(self.time_limit)
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
        for _ in range(self.n_restarts):
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
                matrix[node_of(child, schema, name), node_of(parent, schema, name)] = True
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

    def _of_equivalence(self, names: tuple[str, ...], scores: FamilyScores) -> DAG:
        """Search for a class of equivalent networks, and take one of them."""
        if self.augmented:
            raise ValueError(f'search="{self.search}" needs augmented=False: it places every arc')
        if self.search == "ges":
            result = greedy_equivalence_search(
                names, scores.local, max_parents=self.max_parents, limit=self.time_limit
            )
            return result.graph.to_dag()
        test = chi_square_test(scores.codes, scores.sizes, self.alpha, scores.weights)
        return extended(pc_stable(names, test).graph)


def node_of(node: object, schema: Schema, name: str) -> int:
    """Read a node given by name or position; the class by its name."""
    if isinstance(node, str) and node == class_node(schema):
        return len(schema.names)
    return column_position(node, schema, name)
