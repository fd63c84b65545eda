"""Averaged one-dependence estimators, plain and weighted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import pair_bytes
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.recipe import Estimate, Learned, Recipe, Source, TableMaker, Task
from unnaive.parameters import flag, number, one_of
from unnaive.structure import independent
from unnaive.structure.parents import SuperParents
from unnaive.tables.left_out import some_rows
from unnaive.tables.member_weights import MemberWeighing, member_weighing
from unnaive.tables.pairs import all_pairs_of_parents, triple_bytes
from unnaive.tables.smoothing import MEstimate, Smoothing
from unnaive.tables.super_parents import FirstAnswer, all_super_parents, table_bytes
from unnaive.tables.trees import tree_tables

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema
    from unnaive.tables.super_parents import SuperParentTables

_MOST_ENTRIES = 20_000_000  # that weights are fitted to; of more rows, a share of each class
_ALL = "There is no single graph to draw: every {} in turn is the parent of all others."


@dataclass(frozen=True, eq=False)
class SuperParentMean(TableMaker):
    """Makes tables that average over super-parents, with naive Bayes where there is none.

    Attributes
    ----------
    min_count : float
        How often a value must occur to be a super-parent.
    critical : float or None
        How often a value must occur to imply another one; None: no subsumption resolution.
    weighted : bool
        Whether super-parents have the weights of the structure.
    pairs : bool
        Whether pairs of columns are super-parents; single columns are then the fallback.
    pair_weights : bool
        Whether pairs are weighted by their joint mutual information with the class.
    joint_prior : bool
        Whether P(c, x_p) is estimated as one variable, rather than as P(c)·P(x_p | c).
    """

    min_count: float = 1
    critical: float | None = None
    weighted: bool = False
    pairs: bool = False
    pair_weights: bool = False
    joint_prior: bool = True

    def require(self, schema: Schema, how: Estimate, sets: int = 1) -> None:
        """Raise an error if tables, or counts, would be too large."""
        needed = sets * table_bytes(schema.sizes, len(schema.classes))
        if sets > 1:
            how.require(schema, needed, f"leave-one-out with {how.model}")
        how.require(schema, max(needed, pair_bytes(schema)))
        if self.pairs:
            needed = triple_bytes(schema.sizes, len(schema.classes))
            how.require(schema, needed, f"the triples of {how.model}")

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: average."""
        return "average"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> FirstAnswer:
        """Estimate the tables of single super-parents and, with ``pairs``, of pairs."""
        schema, graph = counts.schema, learned.graph(SuperParents)
        self.require(schema, how, 1 if held_out is None else 2)
        average = self.average(counts, how, held_out, graph.weights if self.weighted else None)
        fixed: State = {"class_prior": how.class_prior, "held_out": held_out}
        star = independent(schema.names, schema.target)
        simplest = tree_tables(counts, star, how.smoothing, **fixed)
        if not self.pairs or len(schema.names) < 2:
            return FirstAnswer((average,), simplest)
        weights = pair_information(counts, how.n_jobs) if self.pair_weights else None
        fixed |= {"pair_weights": weights, "min_count": self.min_count}
        return FirstAnswer(
            (all_pairs_of_parents(counts, how.smoothing, **fixed), average), simplest
        )

    def average(
        self,
        counts: JointCounts,
        how: Estimate,
        held_out: float | None,
        weights: FloatArray | None = None,
    ) -> SuperParentTables:
        """Estimate the tables of single super-parents."""
        return all_super_parents(
            counts,
            how.smoothing,
            class_prior=how.class_prior,
            column_weights=weights,
            min_count=self.min_count,
            critical=self.critical,
            held_out=held_out,
            jointly=self.joint_prior,
        )


def all_alike(source: Source, rows: CodedRows | None) -> Learned:
    """Return the structure in which every column is a super-parent of equal weight."""
    return Learned(SuperParents.alike(source.schema.names, source.schema.target))


@dataclass(eq=False, repr=False, kw_only=True)
class AODE(CountsClassifier):
    r"""Averaged one-dependence estimators: every feature in turn is the parent of all others.

    .. math:: P(c, x) = \frac{1}{|A|} \sum_{p \in A} P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p)

    A holds the features whose value is observed and occurs at least ``min_count`` times; where
    A is empty, naive Bayes is used. No structure is searched, so the variance is low. AODE is a
    good first choice for up to some hundred features; time and memory grow with the square of the
    number of values.

    With ``weights="discriminative"`` super-parents have weights that are learned for prediction:

    .. math:: P(c, x) \propto \sum_{p \in A} w_p\, P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p),
              \qquad w_p \ge 0, \quad \sum_p w_p = 1

    They maximize the leave-one-out conditional likelihood of the classes, minus half the sum of
    squares of :math:`\log w_p` around their mean. Super-parents with the same predictions get the
    same weight, and a misleading one gets nearly none. Leave-one-out, ``partial_fit``, ``forget``
    and ``fit_counts`` keep the weights of the last ``fit``.

    Parameters
    ----------
    min_count : int, default=1
        How often a value must occur to be a super-parent (30 in the paper).
    subsumption : bool, default=False
        Leave out a value that another value of the sample implies ("pregnant" implies "female"):
        AODE with subsumption resolution, AODEsr.
    critical : int, default=50
        A value implies another one if it occurs more often than this, and always with the other.
    weights : {"discriminative", None}, default=None
        "discriminative": fit the weights of super-parents to the samples, before any calibration;
        None: equal weights.
    joint_prior : bool, default=True
        Estimate P(c, x_p) as one variable, as the paper does, rather than as P(c)·P(x_p | c),
        which is smoothed differently.
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (d,)
        With ``weights="discriminative"`` the weights, which sum to 1; otherwise the information
        about the class that the model uses, as in other models.
    {attributes}

    See Also
    --------
    WAODE : Weights by mutual information.
    A2DE : Pairs of features as super-parents.
    SPODE : One super-parent, chosen by a criterion.

    Notes
    -----
    Assumption: every feature in turn is the only parent of all others, and the predictions are
    averaged. Each feature is seen together with every other one, but with one at a time.

    References
    ----------
    Webb, Boughton & Wang, "Not so naive Bayes", Machine Learning 58, 2005.
    Zheng & Webb, "Efficient lazy elimination for averaged one-dependence estimators", ICML 2006.
    Yang, Webb, Cerquides, Korb, Boughton & Ting, "To select or to weigh: a comparative study of
    linear combination schemes for superparent-one-dependence estimators", IEEE TKDE 19, 2007.
    Zaidi, Cerquides, Carman & Webb, "Alleviating naive Bayes attribute independence assumption by
    attribute weighting", JMLR 14, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import AODE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(400, 3))
    >>> model = AODE().fit(X, X[:, 0] ^ X[:, 1])
    >>> float(model.score(X, X[:, 0] ^ X[:, 1]))
    1.0

    The third feature is irrelevant, and as a super-parent it gets nearly no weight:

    >>> weighted = AODE(weights="discriminative").fit(X, X[:, 0] ^ X[:, 1])
    >>> float(weighted.feature_importances_[2]) < 0.05
    True
    """

    min_count: float = number(1, infinite=True)
    subsumption: bool = flag(False)
    critical: float = number(50, infinite=True)
    weights: str | None = one_of(None, "discriminative")
    joint_prior: bool = flag(True)

    family: ClassVar[str] = "super-parents"
    without_graph: ClassVar[str] = _ALL.format("column")

    @property
    def feature_importances_(self) -> FloatArray:
        """Learned weights of the features as super-parents, or information; shape (d,)."""
        learned, maker = self.fitted_.learned, self.fitted_.made_by.maker
        if isinstance(maker, SuperParentMean) and maker.weighted:
            return learned.graph(SuperParents).weights
        return super().feature_importances_

    def recipe(self) -> Recipe:
        """Average over all features as super-parents, with equal or learned weights."""
        weighted, critical = self.weights is not None, self.critical if self.subsumption else None
        means = SuperParentMean(self.min_count, critical, weighted, joint_prior=self.joint_prior)

        def weigh(learned: Learned, task: Task) -> Learned:
            weights = weighing(task.rows, means, task.maker.how).fit()
            return Learned(replace(learned.graph(SuperParents), weights=weights))

        choose = weigh if weighted else None
        return Recipe(all_alike, means, choose, structure=SuperParents, keeps=weighted)


def weighing(rows: CodedRows, means: SuperParentMean, how: Estimate) -> MemberWeighing:
    """Look rows up in tables of super-parents that leave them out, in order to fit weights.

    Rows of other weights are left out as if of weight 1.
    """
    means.require(rows.schema, how, 2)
    tables = means.average(rows.count().filled(), how, held_out=1.0)
    chosen = some_rows(rows.classes, _MOST_ENTRIES, len(rows.codes))
    codes, classes = np.ascontiguousarray(rows.codes[:, chosen]), rows.classes[chosen]
    importance = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen]
    return member_weighing(tables, codes, classes, importance, how.n_jobs)


@dataclass(eq=False, repr=False, kw_only=True)
class WAODE(CountsClassifier):
    r"""Weighted AODE: super-parents are weighted by their mutual information with the class.

    .. math:: P(c, x) = \frac{\sum_p W_p\, P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p)}
              {\sum_p W_p}, \qquad W_p = I(X_p;Y)

    Where all weights are 0, all features have equal weights. Leave-one-out keeps the weights of
    all samples. Use it instead of :class:`AODE` if many features are irrelevant.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (d,)
        The weights, which sum to 1.
    {attributes}

    See Also
    --------
    AODE : Equal weights, or weights that are learned for prediction.

    Notes
    -----
    Assumption: every feature in turn is the only parent of all others, and the predictions are
    averaged, weighted by the mutual information of that feature with the class.

    References
    ----------
    Jiang & Zhang, "Weightily averaged one-dependence estimators", PRICAI 2006.

    Examples
    --------
    >>> from unnaive import WAODE
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> WAODE().fit(X, [0, 0, 1, 1] * 3).feature_importances_
    array([1., 0.])
    """

    default_smoothing: ClassVar[Smoothing] = MEstimate(1.0)
    family: ClassVar[str] = "super-parents"
    without_graph: ClassVar[str] = _ALL.format("column")

    @property
    def feature_importances_(self) -> FloatArray:
        """Weights of the features as super-parents; shape (d,)."""
        return self.fitted_.learned.graph(SuperParents).weights

    def recipe(self) -> Recipe:
        """Average over all features as super-parents, weighted by mutual information."""
        tables = SuperParentMean(min_count=0, weighted=True)
        return Recipe(self._weigh, tables, structure=SuperParents)

    @staticmethod
    def _weigh(source: Source, rows: CodedRows | None) -> Learned:
        weights = mutual_information(source)
        if weights.sum() <= 0:
            weights = np.ones(len(weights))
        names, target = source.schema.names, source.schema.target
        return Learned(SuperParents(names, target, np.asarray(weights / weights.sum())))


@dataclass(eq=False, repr=False, kw_only=True)
class A2DE(CountsClassifier):
    r"""Averaged two-dependence estimators: every pair of features is the parents of all others.

    .. math:: P(c, x) = \frac{1}{|A|} \sum_{(p,q) \in A} P(c, x_p, x_q)
              \prod_{i \notin \{p,q\}} P(x_i \mid c, x_p, x_q)

    A holds the pairs whose values occur together at least ``min_count`` times; where A is empty,
    AODE is used, then naive Bayes. It counts all triples of features: n·d³ time, k·V³ memory for V
    values in all. Use it with many samples and few features, where AODE leaves a bias.

    Parameters
    ----------
    min_count : int, default=1
        How often a pair of values must occur to be super-parents.
    weighted : bool, default=False
        Weight the pairs by I(X_p, X_q; Y), their joint mutual information with the class.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    AODE : Single features as super-parents.
    KDB : A few parents per feature, chosen by information.

    Notes
    -----
    Assumption: every pair of features in turn is the parents of all others, and the predictions
    are averaged. Each feature is seen together with any two others.

    The order of the samples does not matter, and a sample of weight 2 counts exactly like the same
    sample twice. That is also true for hierarchical smoothing, which chooses its strengths by
    leaving out one sample, whatever its weight.

    References
    ----------
    Webb, Boughton, Zheng, Ting & Salem, "Learning by extrapolation from marginal to
    full-multivariate probability distributions", Machine Learning 86, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import A2DE
    >>> X = np.random.default_rng(0).integers(2, size=(400, 4))
    >>> y = X[:, 0] ^ X[:, 1] ^ X[:, 2]
    >>> float(A2DE().fit(X, y).score(X, y))
    1.0
    """

    min_count: float = number(1, infinite=True)
    weighted: bool = flag(False)

    family: ClassVar[str] = "super-parents"
    without_graph: ClassVar[str] = _ALL.format("pair of columns")

    def recipe(self) -> Recipe:
        """Average over all pairs of features; single features are the fallback."""
        tables = SuperParentMean(self.min_count, pairs=True, pair_weights=self.weighted)
        return Recipe(all_alike, tables, structure=SuperParents, counts="triples")


def pair_information(counts: JointCounts, n_jobs: int | None) -> FloatArray:
    """I(X_p, X_q; Y) = I(X_p;Y) + I(X_q;Y) + I(X_p;X_q|Y) − I(X_p;X_q); shape (d, d)."""
    alone = mutual_information(counts)
    together = conditional_mutual_information(counts, n_jobs)
    weights = alone[:, None] + alone + together
    weights = np.maximum(weights - pairwise_mutual_information(counts, n_jobs), 0.0)
    np.fill_diagonal(weights, 0.0)
    return weights if weights.sum() > 1e-12 else np.ones_like(weights)
