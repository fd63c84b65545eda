"""Models whose graph is a tree over the columns below the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.counts.engines.memory import require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    class_mutual_information,
    conditional_mutual_information,
    mutual_information,
)
from unnaive.models.base import CountsClassifier
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
class TAN(SpanningTreeClassifier):
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
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing cell that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

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

    def _learn_structure(self, source: JointCounts | CodedRows) -> Any:
        schema = source.schema
        if self.parents is not None:
            parents = given_parents(self.parents, schema)
            graph = ParentGraph(schema.names, schema.target, parents, np.zeros(len(parents)))
            graph.order  # noqa: B018 - raises for a cycle
            return graph
        if not self.per_class:
            return super()._learn_structure(source)
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
