"""Chordal graphs of features below the class: decomposable models and cherry trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._core.selective import measure
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import require_memory
from unnaive.information import (
    conditional_mutual_information,
    group_information,
    information_of_pairs,
    mutual_information,
)
from unnaive.models.choice import counted, left_out_candidates, select
from unnaive.models.makers import FamilyFactors, families_counted
from unnaive.models.ordered import OrderedClassifier
from unnaive.models.recipe import Learned, Maker, Recipe, Source, Task
from unnaive.parameters import one_of, whole
from unnaive.structure.decomposable import cherry_tree, chordal_graph, families_of
from unnaive.structure.graph import FamilyGraph
from unnaive.structure.tree import maximum_spanning_tree
from unnaive.tables.smoothing import BDeu, Smoothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows

_LARGEST = 6  # size of the largest clusters that "loo" tries

Families = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Learns clusters of a largest size, which leave-one-out may choose.

    Attributes
    ----------
    size : int or "loo"
        Largest number of members of a cluster, including the class.
    families : callable (source, rows, size) -> families
        Every column with its parents in the model of that size.
    model : str
        Name of the model, for messages.
    """

    size: int | str
    families: Callable[[Source, CodedRows, int], Families]
    model: str

    def recipe(self, marginalizes: bool) -> Recipe:
        """Return the recipe of a model of clusters."""
        by_rows = self.size == "loo"
        parts = (self.learn, FamilyFactors(marginalizes), self.choose if by_rows else None)
        return Recipe(*parts, structure=FamilyGraph, keeps=by_rows, rows=True)

    def learn(self, source: Source, rows: CodedRows | None) -> Learned:
        """Learn the clusters from rows; counts of families have their own."""
        if rows is None:
            return Learned(families_counted(source, self.model))  # type: ignore[arg-type]
        size = 2 if self.size == "loo" else int(self.size)
        return self._learned(self.families(source, rows, size), rows)

    def choose(self, learned: Learned, task: Task) -> Learned:
        """Try all sizes, and take the one of smallest leave-one-out log loss."""
        source, rows, maker = task.source, task.rows, task.maker
        sizes = np.arange(2, max(3, min(_LARGEST, len(rows.schema.names) + 1) + 1))
        tried = [self._learned(self.families(source, rows, int(size)), rows) for size in sizes]
        training = np.array([training_accuracy(rows, maker, one) for one in tried])
        scores = left_out_candidates(rows, maker, tried)
        path = select(scores, "log_loss", size=sizes, training_accuracy=training)
        return replace(tried[path.best], trace={"path_": path.table})

    @staticmethod
    def _learned(families: Families, rows: CodedRows) -> Learned:
        return Learned(FamilyGraph(rows.schema.names, rows.schema.target, families))


def training_accuracy(rows: CodedRows, maker: Maker, learned: Learned) -> float:
    """Accuracy of a model on the rows that it was fitted to."""
    counts = counted(rows, learned)
    joint = maker.tables(counts, learned).joint(rows.codes, None, rows.n_jobs)
    weights = np.ones(len(joint)) if rows.weights is None else rows.weights
    prior = np.repeat(maker.prior(counts, learned)[None], len(joint), axis=0)
    scores = np.zeros(3)
    measure(joint, prior, rows.classes, weights, scores)
    return float(scores[0] / weights.sum())


def grouped(
    rows: CodedRows, columns: tuple[int, ...], cells: int, model: OrderedClassifier
) -> CodedRows:
    """Group rows by columns; raises if tables of so many cells per group do not fit."""
    groups, name = rows.given(columns), type(model).__name__
    needed = 8 * groups.n_classes * cells
    require_memory(rows.schema, needed, int(model.max_memory), f"a table of {name}")
    return groups


@dataclass(eq=False, repr=False, kw_only=True)
class DecomposableNB(OrderedClassifier):
    r"""Decomposable naive Bayes: a chordal graph of features, with the class in every clique.

    .. math:: P(c, x) = \prod_C P(c, x_C) \Big/ \prod_S P(c, x_S)

    over cliques C and their separators S. The graph grows from naive Bayes by the edge {a, b} of
    largest :math:`N\,I(X_a;X_b|Y,X_S)` minus its penalty, as long as that is positive, the graph
    stays chordal and no clique gets too large. The tables are estimated feature by feature along
    a perfect order, P(x_i | c, x_parents); under BDeu, and without smoothing, that equals the
    formula above. Use it where small groups of features interact; the penalty keeps the graph
    sparse with few samples.

    ``partial_fit`` keeps the graph of the first batch.

    Parameters
    ----------
    max_clique : int or "loo", default=4
        Largest number of members of a clique, including the class: 2 is naive Bayes, 3 a forest,
        and without a penalty the tree of TAN. "loo": of 2 to 6 the one of smallest exact
        leave-one-out log loss.
    penalty : {"bic", "aic", None}, default="bic"
        Penalty of an edge: log(N)/2, 1 or 0 for each of its parameters.
    start : {"star", "tan"}, default="star"
        Start with naive Bayes, or with the tree of TAN (for cliques of 3 or more).
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    path_ : dict of arrays
        With ``max_clique="loo"``: ``size``, ``accuracy`` and ``log_loss`` by leave-one-out, and
        ``training_accuracy``, which shows overfitting.
    {attributes}

    See Also
    --------
    CherryTreeNB : Clusters of one size.
    TAN : Cliques of at most three variables.
    BayesNet : Any directed graph.

    Notes
    -----
    Assumption: features that depend on each other within a class form small cliques. Given the
    class and the features that two cliques share, the rest of the two is independent.

    References
    ----------
    Deshpande, Garofalakis & Jordan, "Efficient stepwise selection in decomposable models",
    UAI 2001.

    Examples
    --------
    >>> from unnaive import DecomposableNB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 9
    >>> model = DecomposableNB().fit(X, [0, 1, 1, 0] * 9)
    >>> model.structure_.cliques
    [('x0', 'x1')]
    """

    max_clique: int | str = whole(4, 2, also=("loo",))
    penalty: str | None = one_of("bic", "aic", None)
    start: str = one_of("star", "tan")
    missing: str = one_of("marginalize", "drop")

    default_smoothing: ClassVar[Smoothing] = BDeu(1.0)
    family: ClassVar[str] = "clusters"

    def recipe(self) -> Recipe:
        """Grow a chordal graph, and make a table for every feature and its parents in it."""
        name = type(self).__name__
        return Clusters(self.max_clique, self._families, name).recipe(self.marginalizes)

    def _families(self, source: Source, rows: CodedRows, size: int) -> Families:
        information = conditional_mutual_information(source, self.n_jobs)
        sizes, active = rows.schema.sizes, rows.schema.sizes > 0
        total = float(rows.class_counts.sum())
        price = {"bic": np.log(max(total, 1.0)) / 2, "aic": 1.0, None: 0.0}[self.penalty]

        def gains_of(separator: tuple[int, ...], pairs: IntArray) -> FloatArray:
            gains = information[pairs[:, 0], pairs[:, 1]]
            if separator:
                cells = int(np.prod(sizes[pairs].astype(object), axis=1).max())
                groups = grouped(rows, separator, cells, self)
                gains = information_of_pairs(groups, pairs, self.n_jobs)
            contexts = float(np.prod(sizes[list(separator)].astype(float))) * rows.n_classes
            freedom = np.prod(np.maximum(sizes[pairs] - 1, 0).astype(float), axis=1)
            return np.asarray(total * gains - price * contexts * freedom)

        tree = self.start == "tan" and size > 2
        start = maximum_spanning_tree(information, active).tolist() if tree else []
        neighbours = chordal_graph(start, active, size - 1, gains_of)
        return families_of(neighbours, active, mutual_information(source))


@dataclass(eq=False, repr=False, kw_only=True)
class CherryTreeNB(OrderedClassifier):
    r"""Cherry-tree naive Bayes: overlapping clusters of one size, each with the class.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c, x_{M(i)})

    Like GNB-A it starts with the most informative pair of features, and always adds the feature w,
    below features M of one cluster, of largest :math:`I(X_w;(Y,X_M))`. Order 2 is naive Bayes,
    order 3 is GNB-A. Higher orders fit the training data better and overfit soon:
    use ``order="loo"``.

    ``partial_fit`` keeps the clusters of the first batch.

    Parameters
    ----------
    order : int or "loo", default=3
        Number of members of a cluster, including the class. "loo": of 2 to 6 the one of smallest
        exact leave-one-out log loss.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    path_ : dict of arrays
        With ``order="loo"``, as in :class:`DecomposableNB`.
    {attributes}

    See Also
    --------
    GeneralizedNB : Order 3, with several methods of growing.
    DecomposableNB : Cliques of different sizes, with a penalty.

    Notes
    -----
    Assumption: features form overlapping clusters of one size. Given the class and the features
    that two clusters share, the rest of the two is independent.

    References
    ----------
    Kovács & Szántai, "On the approximation of a discrete multivariate probability distribution
    using the new concept of t-cherry junction tree", Coping with Uncertainty, 2010.

    Examples
    --------
    >>> from unnaive import CherryTreeNB
    >>> X = [["a", "u", 1], ["a", "v", 1], ["b", "u", 2], ["b", "v", 2]] * 3
    >>> model = CherryTreeNB(order=4).fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.cliques
    [('x0', 'x1', 'x2')]
    """

    order: int | str = whole(3, 2, also=("loo",))
    missing: str = one_of("marginalize", "drop")

    family: ClassVar[str] = "clusters"

    def recipe(self) -> Recipe:
        """Grow a cherry tree, and make a table for every feature and its parents in it."""
        return Clusters(self.order, self._families, type(self).__name__).recipe(self.marginalizes)

    def _families(self, source: Source, rows: CodedRows, size: int) -> Families:
        information = conditional_mutual_information(source, self.n_jobs)
        cells = int(rows.schema.sizes.sum())

        def beyond(columns: tuple[int, ...]) -> FloatArray:
            return group_information(grouped(rows, columns, cells, self), rows.seen(columns))

        active = rows.schema.sizes > 0
        return cherry_tree(mutual_information(source), information, size, active, beyond)
