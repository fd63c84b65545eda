"""Bayesian networks as classifiers: any directed graph over the features and the class."""

from __future__ import annotations

import math
import os
from collections.abc import Collection
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np

from unnaive import _progress
from unnaive._dataclasses import dataclass
from unnaive.information import mutual_information
from unnaive.information.scores import FamilyScores
from unnaive.io.content import require_file
from unnaive.io.networks import ENDINGS
from unnaive.models.base import CountsClassifier
from unnaive.models.orders import GeneticArcs, GeneticOrders, ordered
from unnaive.models.persistence import storable
from unnaive.models.recipe import Estimate, Learned, Recipe, Source, TableMaker
from unnaive.models.tree import column_position
from unnaive.parameters import flag, number, one_of, parameter, whole
from unnaive.schema.columns import code_type
from unnaive.structure.climb import Climber, anneal, hill_climbing, k2_search, perturb
from unnaive.structure.constraint import pc_stable
from unnaive.structure.dag import DAG
from unnaive.structure.equivalence import greedy_equivalence_search
from unnaive.structure.independence import chi_square_test
from unnaive.structure.knowledge import Knowledge
from unnaive.structure.network import NetworkGraph
from unnaive.tables.export import NetworkTables, class_node, network_of
from unnaive.tables.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import BoolArray, FloatArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema
    from unnaive.structure.climb import Found

    Arc = tuple[str | int, str | int]

_TABU = (100, 30)  # length of the tabu list, and moves without improvement before it stops
_PERTURBATIONS = 10
_DOT = (".dot", ".gv")  # endings of files in Graphviz' language


@dataclass(frozen=True, eq=False)
class NetworkFactors(TableMaker):
    """Makes the tables of a network in which the class is a node like any other."""

    by_cells: bool = True

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: sum."""
        return "sum"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> NetworkTables:
        """Estimate the table of every node; raises if they do not fit into memory."""
        dag = learned.graph(NetworkGraph)
        sizes = np.append(counts.schema.sizes, counts.n_classes).astype(object)
        nodes = enumerate(dag.parents)
        cells = sum(int(sizes[node] * np.prod(sizes[list(above)])) for node, above in nodes)
        how.require(counts.schema, 8 * cells)
        network = network_of(counts, dag, how.smoothing, how.class_prior)
        return NetworkTables(network, counts, how.smoothing, held_out)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return the network."""
        return network_of(counts, learned.graph(NetworkGraph), how.smoothing, how.class_prior)


def _pairs(matrix: BoolArray) -> list[tuple[int, int]]:
    """Arcs (parent, child) of a matrix [child, parent]."""
    children, parents = np.nonzero(matrix & ~np.eye(len(matrix), dtype=bool))
    return list(zip(parents.tolist(), children.tolist(), strict=True))


def is_listing(value: object) -> TypeGuard[Collection[object]]:
    """Whether a value has members and is no text."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes)


def is_graph_file(value: object) -> bool:
    """Whether a value is the name of a file of a network or a graph."""
    if not isinstance(value, str | os.PathLike):
        return False
    path = Path(value)
    endings = {*ENDINGS, *_DOT}
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower() in endings


def given_arcs(structure: Any) -> Iterable[Arc]:
    """Return the arcs of a structure in any of the forms that ``BayesNet`` takes."""
    if isinstance(structure, str | os.PathLike):
        path = Path(structure)
        if path.suffix.lower() not in _DOT:
            return Network.read(path).dag.edges
        require_file(path)
        return DAG.of_dot(path.read_text(encoding="utf-8")).edges
    if isinstance(structure, Network):
        return structure.dag.edges
    if hasattr(structure, "is_directed"):
        return DAG.of_networkx(structure).edges
    return structure.edges if isinstance(structure, DAG) else structure or ()


storable(DAG)
storable(NetworkGraph)


@dataclass(eq=False, repr=False, kw_only=True)
class BayesNet(CountsClassifier):
    r"""Bayesian network classifier with a structure that is given or learned by search.

    .. math:: P(c, x) = P(c \mid \mathrm{pa}_c) \prod_i P(x_i \mid \mathrm{pa}_i)

    By default the class is a parent of every feature, and the search adds arcs between features.
    With ``augmented=False`` the class is a variable like any other, and only its Markov blanket
    affects predictions. Use it where the whole network is of interest: ``network_`` gives the
    posterior of any variable given any evidence, draws samples, and is written for other programs.
    For classification only, :class:`TAN` or :class:`KDB` are faster.

    ``partial_fit`` keeps the graph of the first batch.

    Parameters
    ----------
    criterion : str, default="bic"
        Score of the search: "bic", "aic", "k2", "bd" or "bdeu"; the last two take an equivalent
        sample size, as in "bdeu:10".
    search : str, default="hill-climbing"
        "hill-climbing", "tabu", "k2", "annealing", "genetic", "genetic-arcs", "pc" or "ges".
        "genetic" searches orders of the variables by a genetic algorithm, and every order for its
        network by K2; "genetic-arcs" searches arcs, which is slower and finds less.
        "pc" tests independence instead of scoring, "ges" scores equivalence classes of graphs;
        both need ``augmented=False``. Where "pc" finds too many parents, those whose loss costs
        the criterion least are removed.
    augmented : bool, default=True
        Whether the class is a parent of every feature.
    structure : DAG, Network, networkx.DiGraph, file or list of (parent, child), default=None
        A known network, of which only the tables are estimated: a graph, arcs, or the name of a
        file in BIF, XMLBIF or DOT ("x.bif", "x.dot"). Nodes are names of features or of the class;
        variables that it does not have are independent of all others. It is taken as it is:
        ``augmented`` and ``max_parents`` do not change it, and a network that breaks ``required``,
        ``forbidden`` or ``tiers`` is refused.
    max_parents : int, default=3
        Largest number of parents of a variable, not counting an augmenting class.
    required : list of (parent, child), default=()
        Arcs that must be in the network; features by name or position, the class by its name.
        They are kept even if a variable then has more than ``max_parents`` parents.
    forbidden : list of (parent, child), default=()
        Arcs that must not be in the network.
    tiers : list of lists of features, default=()
        Variables in the order of time, as in ``[["age", "sex"], ["smoker"], ["cough"]]``: no arc
        leads from a later tier to an earlier one. Variables in no tier are free.
    n_restarts : int, default=0
        Number of further climbs from randomly changed networks; the best network is kept.
    alpha : float, default=0.05
        Significance level of the tests of "pc".
    time_limit : float, default=None
        Seconds of search; the best network so far is kept, also after an interrupt.
    random_state : int or None, default=0
        Random seed of restarts, annealing and genetic searches; None: a new one each time.
    {parameters}

    Attributes
    ----------
    structure_ : DAG
        Network over the features and the class, which is last.
    network_ : Network
        The network with its tables.
    {attributes}

    See Also
    --------
    TAN : The best tree, without a search.
    KDB : Up to k parents by information.

    Notes
    -----
    Assumption: each feature, and the class, depends only on its parents in the graph. The graph was
    learned from the samples by a search, unless it was given.

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
    search: str = one_of(
        "hill-climbing", "tabu", "k2", "annealing", "genetic", "genetic-arcs", "pc", "ges"
    )
    augmented: bool = flag(True)
    structure: DAG | Network | Sequence[Arc] | str | Any = parameter(
        None,
        "a DAG or a list of (parent, child), a network, a graph of networkx, or a file",
        also=(None,),
        test=lambda value: (
            isinstance(value, DAG | Network)
            or is_graph_file(value)
            or hasattr(value, "is_directed")
            or is_listing(value)
        ),
    )
    max_parents: int = whole(3)
    required: Sequence[Arc] = parameter((), "a list of (parent, child)", test=is_listing)
    forbidden: Sequence[Arc] = parameter((), "a list of (parent, child)", test=is_listing)
    tiers: Sequence[Sequence[str | int]] = parameter(
        (),
        "a list of lists of variables",
        test=lambda value: is_listing(value) and all(map(is_listing, value)),
    )
    n_restarts: int = whole(0)
    alpha: float = number(0.05, 0.0, most=1.0)
    time_limit: float | None = number(None, also=(None,), what="a number of seconds", infinite=True)
    random_state: int | None = whole(0, also=(None,))

    family: ClassVar[str] = "networks"

    @property
    def network_(self) -> Network:
        """The network with its tables."""
        return self.fitted_.network()

    def settings(self) -> State:
        """Return the current parameters; a structure of another form as its arcs."""
        known = super().settings()
        if not (self.structure is None or isinstance(self.structure, DAG)):
            known["structure"] = [tuple(arc) for arc in given_arcs(self.structure)]
        return known

    def recipe(self) -> Recipe:
        """Search for the graph, and make a table for every node and its parents."""
        return Recipe(self._search, NetworkFactors(), structure=NetworkGraph, keeps=True)

    def _search(self, source: Source, rows: CodedRows | None) -> Learned | None:
        schema = source.schema
        names = (*schema.names, class_node(schema))
        if self.structure is not None:
            return Learned(NetworkGraph(names, self._as_given(schema, names).parents))
        if rows is None:
            return None
        scores = self._scores(rows)
        if self.search in {"pc", "ges"}:
            parents = self._of_equivalence(schema, names, scores).parents
        else:
            parents = self._climbed(schema, scores, mutual_information(source)).parents
        return Learned(NetworkGraph(names, parents))

    def _scores(self, rows: CodedRows) -> FamilyScores:
        """Scores of families of the features and the class, which is the last."""
        sizes = np.append(rows.schema.sizes, len(rows.schema.classes))
        narrow = code_type(int(sizes.max()))
        codes = np.concatenate([rows.codes.astype(narrow), rows.classes.astype(narrow)[None]])
        return FamilyScores(codes, sizes, str(self.criterion), rows.weights, self.n_jobs)

    def _as_given(self, schema: Schema, names: tuple[str, ...]) -> DAG:
        """Return the given network; raise if it has other nodes or breaks a requirement."""
        edges = given_arcs(self.structure)
        dag = DAG.of_edges(names, self._positions("structure", edges, schema))
        known = Knowledge.of(names, *map(_pairs, self._arcs(schema, augmented=False)))
        arcs = set(self._positions("structure", dag.edges, schema))
        for parent, child in sorted((known.required - arcs) | (known.forbidden & arcs)):
            wrong = "lacks" if (parent, child) in known.required else "has"
            raise ValueError(
                f"structure {wrong} {names[parent]} -> {names[child]}, against required, forbidden "
                "or tiers; change one of them"
            )
        return dag

    def _positions(self, name: str, arcs: Iterable[Arc], schema: Schema) -> list[tuple[int, int]]:
        """Read arcs as positions (parent, child)."""
        read = []
        for arc in arcs:
            if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
                raise ValueError(f"{name} has {arc!r}; arcs are pairs (parent, child)")
            parent, child = arc
            read.append((node_of(parent, schema, name), node_of(child, schema, name)))
        return read

    def _climbed(self, schema: Schema, scores: FamilyScores, relevance: FloatArray) -> Found:
        """Search by moves that start from the network of required arcs."""
        required, forbidden = self._arcs(schema, self.augmented)
        most = self.max_parents + int(self.augmented)
        random = np.random.default_rng(self.random_state)
        limit = math.inf if self.time_limit is None else float(self.time_limit)
        if self.search == "k2":
            order = ordered(np.append(-relevance, -np.inf), required)
            return k2_search(scores, order, most, required, forbidden)
        if self.search.startswith("genetic"):
            kind = GeneticOrders if self.search == "genetic" else GeneticArcs
            genomes = kind(scores, most, required, forbidden)
            return genomes.search(random, None if limit == math.inf else limit)
        start = [set(np.flatnonzero(line).tolist()) for line in required]
        DAG((*schema.names, class_node(schema)), tuple(tuple(sorted(above)) for above in start))

        def climb(parents: list[set[int]], changes: int = 0) -> Found:
            climber = Climber(scores, most, required, forbidden, parents)
            perturb(climber, changes, random)
            if self.search == "annealing":
                return anneal(climber, random, limit=limit)
            length, rounds = _TABU if self.search == "tabu" else (0, 0)
            return hill_climbing(
                climber,
                tabu_length=length,
                tabu_rounds=rounds,
                limit=limit,
                watch=lambda moves, _: _progress.tell("search", moves),
            )

        best = climb(start)
        for _ in range(self.n_restarts):
            again = climb([set(above) for above in best.parents], _PERTURBATIONS)
            best = max(best, again, key=lambda result: result.score)
        return best

    def _arcs(self, schema: Schema, augmented: bool) -> tuple[BoolArray, BoolArray]:
        """Read required and forbidden arcs; both [child, parent], shape (d + 1, d + 1)."""
        label = len(schema.names)
        required, forbidden = (np.zeros((label + 1, label + 1), dtype=bool) for _ in range(2))
        for parent, child in self._positions("required", self.required, schema):
            required[child, parent] = True
        for parent, child in self._positions("forbidden", self.forbidden, schema):
            forbidden[child, parent] = True
        self._order_tiers(schema, forbidden)
        empty = np.flatnonzero(schema.sizes == 0)
        forbidden[empty] = forbidden[:, empty] = True
        if augmented:
            required[:label, label] = schema.sizes > 0
            forbidden[label] = True
        if (required & forbidden).any():
            child, parent = np.argwhere(required & forbidden)[0]
            names = (*schema.names, class_node(schema))
            raise ValueError(f"the arc {names[parent]} -> {names[child]} is required and forbidden")
        return required, forbidden

    def _order_tiers(self, schema: Schema, forbidden: BoolArray) -> None:
        """Forbid arcs [child, parent] from a later tier to an earlier one."""
        places: dict[int, int] = {}
        for place, tier in enumerate(self.tiers):
            for node in tier:
                position = node_of(node, schema, "tiers")
                if position in places:
                    raise ValueError(f"tiers: {node!r} is given twice; a variable is in one tier")
                places[position] = place
        for child, parent in permutations(places, 2):
            forbidden[child, parent] |= places[parent] > places[child]

    def _of_equivalence(self, schema: Schema, names: tuple[str, ...], scores: FamilyScores) -> DAG:
        """Search for an equivalence class of networks, and take one of its members."""
        if self.augmented:
            raise ValueError(f'search="{self.search}" needs augmented=False: it places every arc')
        known = Knowledge.of(names, *map(_pairs, self._arcs(schema, augmented=False)))
        if self.search == "ges":
            return greedy_equivalence_search(
                names,
                scores.local,
                max_parents=self.max_parents,
                required=known.required,
                forbidden=known.forbidden,
                limit=self.time_limit,
            ).dag
        result = pc_stable(
            names,
            chi_square_test(scores.codes, scores.sizes, self.alpha, scores.weights),
            required=known.required,
            forbidden=known.forbidden,
            limit=self.time_limit,
        )
        dag = known.extended(result.graph)
        return known.limited(dag, self.max_parents, scores.local)


def node_of(node: object, schema: Schema, name: str) -> int:
    """Return the position of a node that is given by name or position; the class by its name."""
    if isinstance(node, str) and node == class_node(schema):
        return len(schema.names)
    return column_position(node, schema, name)
