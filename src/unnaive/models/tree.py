"""Models whose features form a tree below the class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    class_mutual_information,
    conditional_mutual_information,
    mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.choice import Prefixes, criterion_of, features_of, order_of_features
from unnaive.models.makers import TreeFactors
from unnaive.models.recipe import Estimate, Learned, Recipe, Source, TableMaker
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema
    from unnaive.tables.forests import AveragedTrees

    Position = str | int


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """Learns the maximum spanning tree of I(X_i;X_j|Y), or one of I(X_i;X_j) in every class.

    Attributes
    ----------
    forest : bool or {"bic", "aic"}
        Keep only edges whose gain in likelihood exceeds the penalty of their parameters.
    root : str, int or None
        The column without a parent; None: the one of largest I(X_i;Y).
    per_class : bool
        Whether every class has its own tree.
    n_jobs : int or None
        Number of threads.
    """

    forest: bool | str = False
    root: Position | None = None
    per_class: bool = False
    n_jobs: int | None = None

    def __call__(self, source: Source, rows: CodedRows | None) -> Learned:
        """Learn the tree from counts, or from rows tile by tile."""
        if not self.per_class:
            information = conditional_mutual_information(source, self.n_jobs)
            return Learned(self._tree(information, source))
        trees = [
            self._tree(class_mutual_information(source, label, self.n_jobs), source)
            if rows_of_class >= 2
            else independent(source.schema.names, source.schema.target)
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
    """Takes the tree that the user gave: a name, a position or None for every column."""

    parents: Sequence[Position | None]

    def __call__(self, source: Source, rows: CodedRows | None) -> Learned:
        """Read the parents by name or position; raises if they make a cycle."""
        schema, number = source.schema, len(source.schema.columns)
        if len(self.parents) != number:
            raise UnnaiveError(
                f"parents has {len(self.parents)} entries; it needs one for each of the {number} "
                "columns (None: no parent)"
            )
        places = [
            -1 if parent is None or parent == -1 else column_position(parent, schema, "parents")
            for parent in self.parents
        ]
        parents = np.array([p if p >= 0 and schema.columns[p].size else -1 for p in places], int)
        return Learned(
            ParentGraph(schema.names, schema.target, parents, np.zeros(number)).require_tree()
        )


def forest_of() -> bool | str:
    """Declare the parameter ``forest``: whether edges must be worth their parameters."""
    return parameter(False, also=(True, False, "bic", "aic"))


@dataclass(eq=False, repr=False, kw_only=True)
class TAN(CountsClassifier):
    r"""Tree-augmented naive Bayes (TAN): features form a tree below the class.

    .. math:: P(c, x) = P(c)\, P(x_r \mid c) \prod_{i \ne r} P(x_i \mid x_{\pi(i)}, c)

    The tree is the maximum spanning tree of the conditional mutual information
    :math:`I(X_i;X_j|Y)`: of all trees the one of largest likelihood. Use it where the strongest
    dependences between features should be seen and drawn; it needs some hundreds of samples, and
    with fewer ``forest=True`` keeps only the edges that the data support. The smoothing of
    Friedman et al. is ``"backoff"``.

    Parameters
    ----------
    root : str or int, default=None
        The feature without a parent; None: the one of largest I(X_i;Y).
    parents : list of str, int or None, default=None
        A parent for every feature (None or −1: none), instead of the learned tree.
    forest : bool or {"bic", "aic"}, default=False
        Keep only edges that are worth their parameters: the forest of best BIC (True) or AIC.
    per_class : bool, default=False
        Learn a tree for every class, from :math:`I(X_i;X_j)` among its samples: the Bayesian
        multinet of section 4 of the paper.
    n_features : int, float, "loo" or None, default=None
        Keep a number of features, or a share of all, by decreasing I(X_i;Y), parents before
        children; "loo": the number with the best exact leave-one-out score, all tried in one
        sweep; None: all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        Score that ``n_features="loo"`` optimizes; fewer features on ties.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing value that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

    Attributes
    ----------
    feature_order_ : ndarray of shape (m,)
        Features in the model by decreasing I(X_i;Y), parents before children.
    path_ : dict of arrays
        With ``n_features="loo"``: ``n_features``, ``accuracy``, ``log_loss`` and ``brier``.
    {attributes}

    See Also
    --------
    ATAN : Averages over all roots of the tree.
    KDB : Allows several parents per feature.
    GeneralizedNB : A tree that also ranks and selects features.

    Notes
    -----
    Assumption: within a class, every feature depends on at most one other feature, and these
    dependences form a tree. Given its parent and the class, a feature is independent of the rest.

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

    def recipe(self) -> Recipe:
        """Learn a spanning tree, keep its first features, and make one table per feature."""
        tree = SpanningTree(self.forest, self.root, self.per_class, self.n_jobs)
        learn = tree if self.parents is None else GivenParents(self.parents)
        first, tables = Prefixes(self.n_features, self.criterion), TreeFactors(self.marginalizes)
        return Recipe(learn, tables, first, keeps=first.by_rows)

    @property
    def feature_order_(self) -> IntArray:
        """Features in the model by decreasing I(X_i;Y), parents before children; shape (m,)."""
        return order_of_features(self)


@dataclass(frozen=True, eq=False)
class RotatedTrees(TableMaker):
    """Tables of one tree with every column as its root in turn; factors are made once."""

    trees: TreeFactors
    of_posteriors: bool
    by_cells: bool = True

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: average."""
        return "average"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> AveragedTrees:
        """Estimate the tables of all trees."""
        from unnaive.tables.forests import AveragedTrees  # noqa: PLC0415 - loads when asked

        graph = learned.graph(ParentGraph)
        shared: dict[Any, Any] = {}
        roots = np.eye(len(graph.names))
        graphs = [replace(graph, parents=orient(graph.pairs, len(roots), root)) for root in roots]
        members = [self.trees.tree(counts, tree, how, held_out, shared) for tree in graphs]
        return AveragedTrees(tuple(members), self.of_posteriors)


@dataclass(eq=False, repr=False, kw_only=True)
class ATAN(CountsClassifier):
    r"""Averaged tree-augmented naive Bayes: the mean of TAN over all roots of its tree.

    .. math:: P(c \mid x) = \frac{1}{d} \sum_r P_r(c \mid x)

    The d models differ only in their smoothing: under BDeu, and without smoothing, all of them
    are TAN. Use it instead of TAN where probabilities matter more than speed.

    Parameters
    ----------
    average : {"posterior", "joint"}, default="posterior"
        What is averaged; with "posterior", ``predict_joint_log_proba`` gives log posteriors.
    forest : bool or {"bic", "aic"}, default=False
        Keep only edges that are worth their parameters: the forest of best BIC (True) or AIC.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing value that has children is summed out exactly; "drop" uses P(x_i | c) for them.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    TAN : One tree, with one root.
    AODE : Averages over super-parents instead of roots.

    Notes
    -----
    Assumption: within a class, every feature depends on at most one other feature, along a tree.
    Every feature in turn is the root of the tree, and the predictions are averaged.

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

    def recipe(self) -> Recipe:
        """Learn the tree of TAN, and average over all features as its root."""
        tables = RotatedTrees(TreeFactors(self.marginalizes), self.average == "posterior")
        return Recipe(SpanningTree(self.forest, n_jobs=self.n_jobs), tables)


@dataclass(eq=False, repr=False, kw_only=True)
class ODANB(CountsClassifier):
    r"""One-dependence augmented naive Bayes: every feature has its best parent.

    .. math:: P(c, x) \propto P(c) \prod_i P(x_i \mid x_{\pi(i)}, c),
              \quad \pi(i) = \arg\max_j I(X_i;X_j|Y)

    The parents need not form a tree: two features may be parents of each other. The product is
    then not a distribution over samples, only a score for classes, as published. A child whose
    parent is missing uses P(x_i | c). Use it to reproduce the paper; otherwise prefer
    :class:`TAN`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    TAN : The best parents that form a tree.
    HNB : All features as parents, weighted.

    Notes
    -----
    Assumption: within a class, every feature depends on the one other feature of largest
    conditional mutual information, even if the two are parents of each other.

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

    def recipe(self) -> Recipe:
        """Take the best parent of every feature."""
        return Recipe(learn=self._best_parents, tables=TreeFactors(marginalize=False))

    def _best_parents(self, source: Source, rows: CodedRows | None) -> Learned:
        information, schema = conditional_mutual_information(source, self.n_jobs), source.schema
        parents = best_parents(information)
        return Learned(with_parents(schema.names, schema.target, parents, information))


def column_position(column: object, schema: Schema, name: str) -> int:
    """Return the position of a column that is given by name or position."""
    if isinstance(column, str) and column in schema.names:
        return schema.names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(schema.columns):
        return int(column)
    raise UnnaiveError(
        f"{name}: {column!r} is not a column; give a name or a position from 0 to "
        f"{len(schema.columns) - 1}"
    )
