"""Models whose graph is a tree over the columns below the class."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._ties import first_best
from unnaive.counts.sizes import require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    class_mutual_information,
    conditional_mutual_information,
    mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.selective import SelectiveClassifier, path_of
from unnaive.structure import (
    ClassGraphs,
    ParentGraph,
    best_parents,
    graph_of_state,
    independent,
    maximum_spanning_tree,
    orient,
    penalised,
    with_parents,
)
from unnaive.structure.graph import LEFT_OUT
from unnaive.tables.selective import SCORES, path_scores
from unnaive.tables.trees import (
    AveragedTrees,
    ClassTrees,
    TreeTables,
    only_class,
    tree_bytes,
    tree_tables,
)

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class TreeClassifier(CountsClassifier):
    """Base of the models with one table a column: a graph, and a product of its factors."""

    @property
    def _marginalize(self) -> bool:
        """Whether missing inner nodes are summed out."""
        return True

    def _tree(
        self,
        graph: ParentGraph,
        held_out: float | None,
        counts: JointCounts | None = None,
        **options: Any,
    ) -> TreeTables:
        counts = self.counts_ if counts is None else counts
        needed = tree_bytes(counts.schema.sizes, graph.parents, counts.n_classes)
        needed *= 1 if held_out is None else 3
        require_memory(
            counts.schema, needed, self.max_memory, f"the tables of {type(self).__name__}"
        )
        return tree_tables(
            counts,
            graph,
            self._smoothing,
            class_prior=self._class_prior,
            marginalize=self._marginalize,
            held_out=held_out,
            **options,
        )

    def _make_tables(self, held_out: float | None = None) -> Any:
        return self._tree(self.structure_, held_out)

    def _pairs_of(self, structure: Any) -> IntArray:
        pairs: IntArray = structure.pairs
        return pairs

    def _restore_structure(self, state: Any, schema: Schema) -> Any:
        return graph_of_state(state, schema.names, schema.target)


@dataclass(eq=False, repr=False, kw_only=True)
class SelectiveTree(SelectiveClassifier, TreeClassifier):
    """Base of the trees that may leave columns out: parents enter before their children."""

    @property
    def feature_order_(self) -> IntArray:
        """Columns in the model by falling I(X_i;Y), parents before children; shape (m,)."""
        return self._entering(self.structure_, self.counts_)

    @abstractmethod
    def _whole_graph(self, source: JointCounts | CodedRows) -> Any:
        """Learn the graph of all columns."""

    def _learn_structure(self, source: JointCounts | CodedRows) -> Any:
        if self._selects:
            return self._kept_structure(source)
        graph = self._whole_graph(source)
        if self.n_features is None:
            return graph
        order = self._entering(graph, source)
        return only_columns(graph, order[: self._asked(len(order))])

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> Any:
        if not self._selects:
            return self._learn_structure(source)
        self._check_criterion()
        graph = self._whole_graph(source)
        order = self._entering(graph, source)
        numbers = np.arange(len(order) + 1)
        self.feature_path_ = path_of(self._sweep(graph, order, rows), n_features=numbers)
        return only_columns(graph, order[: self._best_of(self.feature_path_)])

    def _entering(self, graph: Any, source: JointCounts | CodedRows) -> IntArray:
        if isinstance(graph, ClassGraphs):
            raise UnnaiveError(
                "per_class=True makes a tree for every class, so that the columns have no common "
                "order; leave n_features out"
            )
        parents = np.where(source.schema.sizes > 0, graph.parents, LEFT_OUT)
        return entering_order(parents, mutual_information(source))

    def _sweep(self, graph: ParentGraph, order: IntArray, rows: CodedRows) -> FloatArray:
        """Leave-one-out scores of the first 0, 1, … columns; shape (columns + 1, 3)."""
        counts = rows.select(graph.pairs)
        weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
        total = np.zeros((len(order) + 1, len(SCORES)))
        for weight in np.unique(weights):
            tables = self._tree(graph, float(weight), counts)
            part = np.flatnonzero(weights == weight)
            codes, held = np.ascontiguousarray(rows.codes[:, part]), rows.classes[part]
            prior = replace(tables, order=order[:0]).joint(codes, held)
            joints = chain([prior], tables.prefixes(codes, held, order, self.n_jobs))
            total += path_scores(joints, held, weights[part])
        return np.asarray(total / float(weights.sum()))


@dataclass(eq=False, repr=False, kw_only=True)
class MarginalizingTree(TreeClassifier):
    """Base of the models that leave it to the user how a missing inner node is dealt with."""

    missing: str = "marginalize"

    @property
    def _marginalize(self) -> bool:
        if self.missing not in {"marginalize", "drop"}:
            raise ValueError(f"missing={self.missing!r}; it must be 'marginalize' or 'drop'")
        return self.missing == "marginalize"


@dataclass(eq=False, repr=False, kw_only=True)
class SpanningTreeClassifier(MarginalizingTree):
    """Base of the models on a maximum spanning tree."""

    forest: Any = False

    def _learn_structure(self, source: JointCounts | CodedRows) -> Any:
        return self._spanning_tree(conditional_mutual_information(source, self.n_jobs), source)

    def _spanning_tree(
        self, information: FloatArray, source: JointCounts | CodedRows
    ) -> ParentGraph:
        schema, weights = source.schema, information
        if self.forest:
            weights = penalised(information, source, self._penalty)
        edges = maximum_spanning_tree(weights, schema.sizes > 0)
        if self.forest:
            edges = edges[weights[edges[:, 0], edges[:, 1]] > 0]
        parents = orient(edges, len(schema.columns), self._preference(source))
        return with_parents(schema.names, schema.target, parents, information)

    def _preference(self, source: JointCounts | CodedRows) -> FloatArray:
        """Each column's claim to be the root."""
        return mutual_information(source)

    @property
    def _penalty(self) -> str:
        penalty = "bic" if self.forest is True else self.forest
        if penalty not in {"bic", "aic"}:
            raise ValueError(f"forest={self.forest!r}; it must be a boolean, 'bic' or 'aic'")
        return str(penalty)


@dataclass(eq=False, repr=False, kw_only=True)
class TAN(SelectiveTree, SpanningTreeClassifier):
    r"""Tree-augmented naive Bayes.

    .. math:: P(c, x) = P(c)\, P(x_r \mid c) \prod_{i \ne r} P(x_i \mid x_{\pi(i)}, c)

    The tree is the maximum spanning tree of :math:`I(X_i;X_j|Y)`, which of all trees makes
    the data most likely. Friedman's own smoothing is ``"backoff"``.

    Parameters
    ----------
    root : str or int, default=None
        The column without a parent; None: the one that tells most about the class.
    parents : list of str, int or None, default=None
        A parent for every column (None or −1: none), instead of the learned tree.
    forest : bool or {"bic", "aic"}, default=False
        Keep only edges that are worth their parameters: the forest of best BIC (True) or AIC.
    per_class : bool, default=False
        A tree of its own for every class, of :math:`I(X_i;X_j)` among its rows: the Bayesian
        multinet of the paper's section 4.
    n_features : int, float, "loo" or None, default=None
        Keep so many columns, or a share of all, by falling I(X_i;Y), parents before children;
        "loo": the number of best exact leave-one-out score, all tried in one sweep; None: all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        What ``n_features="loo"`` looks at; fewer columns on ties.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing cell that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

    Attributes
    ----------
    feature_order_ : ndarray of shape (m,)
        Columns in the model by falling I(X_i;Y), parents before children.
    feature_path_ : dict of arrays
        With ``n_features="loo"``: ``n_features``, ``accuracy``, ``log_loss`` and ``brier``.

    References
    ----------
    Friedman, Geiger & Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import TAN
    >>> rng = np.random.default_rng(0)
    >>> coin = rng.integers(2, size=(200, 2))
    >>> X = np.column_stack([coin, coin[:, 0] ^ coin[:, 1]])
    >>> y = coin[:, 0]
    >>> model = TAN().fit(X, y)
    >>> model.structure_.parents
    array([-1,  0,  1])
    """

    root: Any = None
    parents: Any = None
    per_class: bool = False

    def _whole_graph(self, source: JointCounts | CodedRows) -> Any:
        schema = source.schema
        if self.parents is not None:
            parents = given_parents(self.parents, schema)
            graph = ParentGraph(schema.names, schema.target, parents, np.zeros(len(parents)))
            graph.order  # noqa: B018 - raises for a cycle
            return graph
        if not self.per_class:
            information = conditional_mutual_information(source, self.n_jobs)
            return self._spanning_tree(information, source)
        return ClassGraphs(
            tuple(
                self._spanning_tree(class_mutual_information(source, label, self.n_jobs), source)
                if rows >= 2
                else independent(schema.names, schema.target)
                for label, rows in enumerate(source.class_counts)
            )
        )

    def _preference(self, source: JointCounts | CodedRows) -> FloatArray:
        preference = mutual_information(source)
        if self.root is not None:
            preference[column_position(self.root, source.schema, "root")] = np.inf
        return preference

    def _make_tables(self, held_out: float | None = None) -> Any:
        if not isinstance(self.structure_, ClassGraphs):
            return self._tree(self.structure_, held_out)
        trees = [self._tree(graph, held_out) for graph in self.structure_.graphs]
        return ClassTrees(tuple(only_class(tree, label) for label, tree in enumerate(trees)))


@dataclass(eq=False, repr=False, kw_only=True)
class ATAN(SpanningTreeClassifier):
    r"""Averaged tree-augmented naive Bayes: TAN's tree, hung from every column in turn.

    .. math:: P(c \mid x) = \frac{1}{d} \sum_r P_r(c \mid x)

    The d trees differ by their smoothing alone: under BDeu and without smoothing all of
    them, and so their mean, are TAN.

    Parameters
    ----------
    average : {"posterior", "joint"}, default="posterior"
        What is averaged; with "posterior", the "joint" log-probabilities are posterior ones.
    forest, missing
        As in :class:`TAN`.
    {parameters}

    References
    ----------
    Jiang, Cai, Wang & Zhang, "Improving tree augmented naive Bayes for class probability
    estimation", Knowledge-Based Systems 26, 2012.

    Examples
    --------
    >>> from unnaive import ATAN
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> model = ATAN().fit(X, [0, 1, 1, 0] * 3)
    >>> model.predict(X[:4])
    array([0, 1, 1, 0])
    """

    average: str = "posterior"

    def _make_tables(self, held_out: float | None = None) -> AveragedTrees:
        if self.average not in {"posterior", "joint"}:
            raise ValueError(f"average={self.average!r}; it must be 'posterior' or 'joint'")
        graph = self.structure_
        shared: dict[tuple[int, int, int], FloatArray] = {}
        members = [
            self._tree(
                replace(graph, parents=orient(graph.pairs, len(graph.names), hung)),
                held_out,
                shared=shared,
            )
            for hung in np.eye(len(graph.names))
        ]
        return AveragedTrees(tuple(members), self.average == "posterior")


@dataclass(eq=False, repr=False, kw_only=True)
class ODANB(TreeClassifier):
    r"""One-dependence augmented naive Bayes: each column's parent is its best one.

    .. math:: P(c, x) \propto P(c) \prod_i P(x_i \mid x_{\pi(i)}, c),
              \quad \pi(i) = \arg\max_j I(X_i;X_j|Y)

    No tree is asked for, so two columns may be each other's parent; the product is then no
    distribution over rows, only a score for classes. That is the published method. A child
    whose parent is missing uses P(x_i | c).

    Parameters
    ----------
    {parameters}

    References
    ----------
    Jiang, Zhang, Cai & Su, "One dependence augmented naive Bayes", LNCS 3584, 2005.

    Examples
    --------
    >>> from unnaive import ODANB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> ODANB().fit(X, [0, 1, 1, 0] * 3).structure_.parents
    array([1, 0])
    """

    @property
    def _marginalize(self) -> bool:
        return False

    def _learn_structure(self, source: JointCounts | CodedRows) -> ParentGraph:
        information = conditional_mutual_information(source, self.n_jobs)
        schema = source.schema
        return with_parents(schema.names, schema.target, best_parents(information), information)


def entering_order(parents: IntArray, relevance: FloatArray) -> IntArray:
    """Columns of a tree by falling relevance, each after its parent; shape (m,)."""
    order: list[int] = []
    waiting = np.flatnonzero(parents > LEFT_OUT)
    while len(waiting):
        free = waiting[(parents[waiting] < 0) | np.isin(parents[waiting], order)]
        order.append(int(free[first_best(relevance[free])]))
        waiting = waiting[waiting != order[-1]]
    return np.array(order, dtype=np.int64)


def only_columns(graph: ParentGraph, columns: IntArray) -> ParentGraph:
    """Return the graph of some columns, with their parents among them."""
    inside = np.isin(np.arange(len(graph.names)), columns)
    parents = np.where(inside, graph.parents, LEFT_OUT)
    return replace(graph, parents=parents, weights=np.where(inside, graph.weights, 0.0))


def given_parents(parents: Any, schema: Schema) -> IntArray:
    """Read ``parents=``: a name, a position or None for every column; shape (d,)."""
    if len(parents) != len(schema.columns):
        raise UnnaiveError(
            f"parents has {len(parents)} entries; it needs one for each of the "
            f"{len(schema.columns)} columns (None: no parent)"
        )
    positions = [
        -1 if parent is None or parent == -1 else column_position(parent, schema, "parents")
        for parent in parents
    ]
    with_values = [-1 if p >= 0 and not schema.columns[p].size else p for p in positions]
    return np.array(with_values, dtype=np.int64)


def column_position(column: Any, schema: Schema, parameter: str) -> int:
    """Read a column given by name or position."""
    if isinstance(column, str) and column in schema.names:
        return schema.names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(schema.columns):
        return int(column)
    raise UnnaiveError(
        f"{parameter}: {column!r} is no column; give a name or a position from 0 to "
        f"{len(schema.columns) - 1}"
    )
