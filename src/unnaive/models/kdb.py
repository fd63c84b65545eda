"""k-dependence Bayesian classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.counts import JointCounts
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.models.choice import asked, criterion_of, features_of, select
from unnaive.models.makers import FamilyFactors, families_counted
from unnaive.models.ordered import OrderedClassifier
from unnaive.models.recipe import Learned, Recipe
from unnaive.parameters import number, one_of, whole
from unnaive.structure.graph import FamilyGraph
from unnaive.structure.parents import ordered_parents
from unnaive.tables.selective import Sweep, nested_scores, sweep_bytes, table_bytes

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows
    from unnaive.models.recipe import Estimate, Source, Task

    Families = list[tuple[int, ...]]


@dataclass(eq=False, repr=False, kw_only=True)
class KDB(OrderedClassifier):
    r"""The k-dependence Bayesian classifier: up to k parents per feature besides the class.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c, x_{\pi_1(i)}, \dots, x_{\pi_k(i)})

    Features enter by decreasing I(X_i;Y); each takes as parents the k features before it of
    largest I(X_i;X_j|Y). k = 0 is naive Bayes, k = d − 1 the complete network. Larger k needs more
    samples; ``k="loo", n_features="loo"`` chooses both, and ``smoothing="hierarchical"`` helps
    where contexts are rare. Only contexts that occurred are stored.

    ``k="loo"`` and ``n_features="loo"`` are selective KDB: of all models of up to ``max_k``
    parents and of the first features to enter, the one with the best exact leave-one-out score,
    found in one sweep of O(n·k·d·max_k). Naive Bayes, and the prior without features, are among
    them. In the sweep a sample with a missing parent has the factor of the parents before it.

    ``partial_fit`` keeps the features and parents of the first batch.

    Parameters
    ----------
    k : int or "loo", default=2
        Number of parents besides the class; "loo": the number with the best score.
    max_k : int, default=5
        Largest number of parents that ``k="loo"`` tries; fewer if tables exceed ``max_memory``.
    n_features : int, float, "loo" or None, default=None
        Keep the first features: a number, or a share of all. "loo": the number with the best
        score; None: all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        Score that "loo" optimizes; fewer parents, then fewer features on ties.
    min_cmi : float, default=0.0
        Least conditional mutual information of a parent, in nats.
    missing : {"marginalize", "drop"}, default="marginalize"
        A missing parent is summed out exactly; "drop" uses the counts without that parent.
    {parameters}

    Attributes
    ----------
    k_ : int
        Largest number of parents of a feature.
    feature_order_ : ndarray of shape (m,)
        Features in the model by decreasing I(X_i;Y).
    feature_importances_ : ndarray of shape (d,)
        Mutual information I(X_i;Y) of every feature in nats, 0 for features not in the model.
    path_ : dict of arrays
        With "loo": ``k``, ``n_features``, ``accuracy``, ``log_loss`` and ``brier`` of all
        candidates.
    {attributes}

    See Also
    --------
    TAN : One parent per feature, the best tree.
    DecomposableNB : Small cliques of features.
    GaussianKDB : The same for numeric features.

    Notes
    -----
    Assumption: within a class, every feature depends on up to k features that are more informative
    about the class. Given these and the class, it is independent of the rest.

    References
    ----------
    Sahami, "Learning limited dependence Bayesian classifiers", KDD 1996. Martínez, Webb, Chen &
    Zaidi, "Scalable learning of Bayesian network classifiers", JMLR 17, 2016.

    Examples
    --------
    >>> from unnaive import KDB
    >>> X = [["a", "u", 1], ["a", "v", 1], ["b", "u", 1], ["b", "v", 1]] * 3
    >>> model = KDB(k=1).fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.edges
    [('x0', 'x1'), ('x0', 'x2')]
    >>> model = KDB(k="loo", n_features="loo").fit(X, [0, 1, 1, 0] * 3)
    >>> model.structure_.edges, model.k_, model.feature_order_
    ([('x0', 'x1')], 1, array([0, 1]))
    """

    k: int | str = whole(2, also=("loo",))
    max_k: int = whole(5)
    n_features: int | float | str | None = features_of()
    criterion: str = criterion_of("brier")
    min_cmi: float = number(0.0)
    missing: str = one_of("marginalize", "drop")

    family: ClassVar[str] = "k-dependence"

    @property
    def k_(self) -> int:
        """Largest number of parents of a feature, besides the class."""
        return max((len(family) - 1 for family in self.structure_.families), default=0)

    @property
    def feature_order_(self) -> IntArray:
        """Features in the model by decreasing I(X_i;Y); shape (m,)."""
        none = np.zeros((len(self.schema_.names),) * 2)
        order, _ = ordered_parents(mutual_information(self.counts_), none, 0, 0.0)
        return order[np.isin(order, self.structure_.used)]

    @property
    def feature_importances_(self) -> FloatArray:
        """Mutual information I(X_i;Y), 0 for features not in the model; shape (d,)."""
        return self._of_used(mutual_information(self.counts_))

    def recipe(self) -> Recipe:
        """Take the features by mutual information, each with its best parents before it."""
        by_rows = "loo" in (self.k, self.n_features)
        parts = (self._order, FamilyFactors(self.marginalizes), self._best if by_rows else None)
        return Recipe(*parts, structure=FamilyGraph, keeps=by_rows)

    def _order(self, source: Source, rows: CodedRows | None) -> Learned:
        """Learn the families by information; counts of families have their own."""
        if rows is None and isinstance(source, JointCounts) and source.families:
            return Learned(families_counted(source, type(self).__name__))
        if "loo" in (self.k, self.n_features):  # _best chooses the families
            return Learned(graph_of([], source))
        families = self._families(source, int(self.k))
        return Learned(graph_of(families[: asked(self.n_features, len(families))], source))

    def _best(self, learned: Learned, task: Task) -> Learned:
        """Choose the numbers of columns and of parents: selective KDB."""
        source, rows = task.source, task.rows
        if self.k == "loo":
            families = self._affordable(source, rows)
            depths = np.arange(max(map(len, families), default=1))
        else:
            families, depths = self._families(source, int(self.k)), np.array([int(self.k)])
        numbers = np.arange(len(families) + 1)
        if self.n_features != "loo":
            numbers = np.array([asked(self.n_features, len(families))])
        scores = self._sweep(rows, families[: numbers[-1]], depths, task.maker.how)[:, numbers]
        k, columns = (each.reshape(-1) for each in np.meshgrid(depths, numbers, indexing="ij"))
        path = select(scores, self.criterion, k=k, n_features=columns)
        chosen = [family[: k[path.best] + 1] for family in families[: columns[path.best]]]
        return Learned(graph_of(chosen, source), trace={"path_": path.table})

    def _sweep(
        self, rows: CodedRows, families: Families, depths: IntArray, how: Estimate
    ) -> FloatArray:
        """Score the first columns with each number of parents; shape (depths, columns + 1, 3)."""
        needed = sweep_bytes(rows.schema.sizes, families, len(rows.classes), rows.n_classes)
        how.require(rows.schema, needed, "the sweep over the models of KDB")
        counts = rows.select(np.empty((0, 2), dtype=np.int64))
        sweep = Sweep(rows, counts, how.smoothing, how.class_prior)
        return nested_scores(sweep, families, depths, how.max_memory)

    def _families(self, source: Source, most: int) -> Families:
        """Return every column with its parents, in the order of entry."""
        sizes = source.schema.sizes
        information = conditional_mutual_information(source, self.n_jobs)
        information[:, sizes == 0] = -np.inf
        order, parents = ordered_parents(
            mutual_information(source), information, most, self.min_cmi
        )
        return [(int(i), *parents[i]) for i in order if sizes[i] > 0]

    def _affordable(self, source: Source, rows: CodedRows) -> Families:
        """Return families with as many parents as memory allows, up to ``max_k``."""
        size = (len(rows.classes), rows.n_classes)
        families = self._families(source, self.max_k)
        while (longest := max(map(len, families), default=1)) > 1:
            sizes = source.schema.sizes
            needed = [need(sizes, families, *size) for need in (table_bytes, sweep_bytes)]
            if max(needed) <= self.max_memory:
                break
            families = [family[: longest - 1] for family in families]
        return families


def graph_of(families: Families, source: Source) -> FamilyGraph:
    """Return the graph of families, in the order of their columns."""
    return FamilyGraph(source.schema.names, source.schema.target, tuple(sorted(families)))
