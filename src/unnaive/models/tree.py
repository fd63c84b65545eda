"""Models whose graph is a tree over the columns below the class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    class_mutual_information,
    conditional_mutual_information,
    mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.choice import Prefixes, criterion_of, entering_order, features_of
from unnaive.models.makers import TreeFactors
from unnaive.models.recipe import Learned, Recipe, TableMaker
from unnaive.parameters import flag, one_of, parameter
from unnaive.structure import (
    ClassGraphs,
    ParentGraph,
    best_parents,
    independent,
    maximum_spanning_tree,
    orient,
    penalised,
    with_parents,
)
from unnaive.tables.forests import AveragedTrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Source
    from unnaive.schema import Schema

    Position = str | int


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """Learns the maximum spanning tree of I(X_i;X_j|Y), or one of I(X_i;X_j) in every class.

    Attributes
    ----------
    forest : bool or {"bic", "aic"}
        Keep only edges that are worth their parameters.
    root : str, int or None
        The column without a parent; None: the one that tells most about the class.
    per_class : bool
        A tree for every class.
    n_jobs : int or None
    """

    forest: bool | str = False
    root: Position | None = None
    per_class: bool = False
    n_jobs: int | None = None

    def __call__(self, source: Source, rows: CodedRows | None) -> Learned:
        """Learn the tree from counts, or from rows tile by tile."""
        schema = source.schema
        if not self.per_class:
            information = conditional_mutual_information(source, self.n_jobs)
            return Learned(self._tree(information, source))
        trees = [
            self._tree(class_mutual_information(source, label, self.n_jobs), source)
            if rows_of_class >= 2
            else independent(schema.names, schema.target)
            for label, rows_of_class in enumerate(source.class_counts)
        ]
        return Learned(ClassGraphs(tuple(trees)))

    def _tree(self, information: FloatArray, source: Source) -> ParentGraph:
        schema, weights = source.schema, information
        if self.forest:
            penalty = self.forest if isinstance(self.forest, str) else "bic"
            weights = penalised(information, source, penalty)
        edges = maximum_spanning_tree(weights, schema.sizes > 0)
        if self.forest:
            edges = edges[weights[edges[:, 0], edges[:, 1]] > 0]
        preference = mutual_information(source)
        if self.root is not None:
            preference[column_position(self.root, schema, "root")] = np.inf
        parents = orient(edges, len(schema.columns), preference)
        return with_parents(schema.names, schema.target, parents, information)


@dataclass(frozen=True, eq=False)
class GivenParents:
    """Takes the tree that the user gave."""

    parents: Sequence[Position | None]

    def __call__(self, source: Source, rows: CodedRows | None) -> Learned:
        """Read the parents by name or position; raises if they make a cycle."""
        schema = source.schema
        parents = given_parents(self.parents, schema)
        graph = ParentGraph(schema.names, schema.target, parents, np.zeros(len(parents)))
        return Learned(graph.require_tree())


def forest_of() -> bool | str:
    """Declare the parameter that says whether edges must be worth their parameters."""
    return parameter(False, also=(True, False, "bic", "aic"))


@dataclass(eq=False, repr=False, kw_only=True)
class TAN(CountsClassifier):
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
    path_ : dict of arrays
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

    root: Position | None = None
    parents: Sequence[Position | None] | None = None
    forest: bool | str = forest_of()
    per_class: bool = flag(False)
    n_features: int | float | str | None = features_of()
    criterion: str = criterion_of("brier")
    missing: str = one_of("marginalize", "drop")

    family: ClassVar[str] = "trees"
    assumption: ClassVar[str] = (
        "Within a class, every column depends on at most one other, and these dependences make a "
        "tree. Given its parent and the class, a column is taken to be independent of the rest."
    )

    def recipe(self) -> Recipe:
        """Learn a spanning tree, keep its first columns, and make a table a column."""
        tree = SpanningTree(self.forest, self.root, self.per_class, self.n_jobs)
        first = Prefixes(self.n_features, self.criterion)
        return Recipe(
            learn=tree if self.parents is None else GivenParents(self.parents),
            choose=first,
            tables=TreeFactors(self.missing == "marginalize"),
            keeps=first.by_rows,
        )

    @property
    def feature_order_(self) -> IntArray:
        """Columns in the model by falling I(X_i;Y), parents before children; shape (m,)."""
        return order_of_columns(self)


@dataclass(frozen=True, eq=False)
class RotatedTrees(TableMaker):
    """Tables of one tree that hangs from every column in turn; factors are made once."""

    trees: TreeFactors
    of_posteriors: bool

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> AveragedTrees:
        """Estimate the tables of all trees."""
        graph = learned.graph(ParentGraph)
        shared: dict[tuple[int, int, int], FloatArray] = {}
        members = [
            self.trees.tree(
                counts,
                replace(graph, parents=orient(graph.pairs, len(graph.names), hung)),
                how,
                held_out,
                shared,
            )
            for hung in np.eye(len(graph.names))
        ]
        return AveragedTrees(tuple(members), self.of_posteriors)


@dataclass(eq=False, repr=False, kw_only=True)
class ATAN(CountsClassifier):
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

    average: str = one_of("posterior", "joint")
    forest: bool | str = forest_of()
    missing: str = one_of("marginalize", "drop")

    family: ClassVar[str] = "trees"
    assumption: ClassVar[str] = (
        "Within a class, every column depends on at most one other, along a tree. The tree is hung "
        "from every column in turn, and the answers are averaged."
    )

    def recipe(self) -> Recipe:
        """Learn TAN's tree, and average over all columns as its root."""
        trees = TreeFactors(self.missing == "marginalize")
        return Recipe(
            learn=SpanningTree(self.forest, n_jobs=self.n_jobs),
            tables=RotatedTrees(trees, self.average == "posterior"),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class ODANB(CountsClassifier):
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

    family: ClassVar[str] = "trees"
    assumption: ClassVar[str] = (
        "Within a class, every column depends on the one other column that tells most about it, "
        "whether or not that column depends on it in turn."
    )

    def recipe(self) -> Recipe:
        """Take every column's best parent."""
        return Recipe(learn=self._best_parents, tables=TreeFactors(marginalize=False))

    def _best_parents(self, source: Source, rows: CodedRows | None) -> Learned:
        information, schema = conditional_mutual_information(source, self.n_jobs), source.schema
        parents = best_parents(information)
        return Learned(with_parents(schema.names, schema.target, parents, information))


def order_of_columns(model: CountsClassifier) -> IntArray:
    """Columns in a fitted tree by falling I(X_i;Y), parents before children; shape (m,)."""
    graph = model.structure_
    if not isinstance(graph, ParentGraph):
        raise AttributeError("every class has a tree of its own, so columns have no common order")
    return entering_order(graph, model.counts_)


def given_parents(parents: Sequence[Position | None], schema: Schema) -> IntArray:
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


def column_position(column: object, schema: Schema, name: str) -> int:
    """Read a column given by name or position."""
    if isinstance(column, str) and column in schema.names:
        return schema.names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(schema.columns):
        return int(column)
    raise UnnaiveError(
        f"{name}: {column!r} is no column; give a name or a position from 0 to "
        f"{len(schema.columns) - 1}"
    )
