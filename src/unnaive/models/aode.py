"""Averaged one-dependence estimators, plain and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.counts.sizes import pair_bytes
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.recipe import Learned, Recipe, TableMaker
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
    from unnaive._typing import FloatArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Source, Task
    from unnaive.schema import Schema
    from unnaive.tables.super_parents import SuperParentTables

_MOST_ENTRIES = 20_000_000  # that weights are fitted to; of more rows, a share of each class
_ALIKE = (
    "There is no single graph to draw: every column in turn is the parent of all others, and the "
    "model averages over all of these"
)


@dataclass(frozen=True, eq=False)
class SuperParentMean(TableMaker):
    """Averages over super-parents; naive Bayes answers where no column can be one.

    Attributes
    ----------
    min_count : float
        How often a value must occur to be a super-parent.
    critical : float or None
        How often a value must occur to imply another; None: nothing is implied.
    weighted : bool
        Whether super-parents weigh what the structure says.
    pairs : bool
        Whether pairs of columns are super-parents, too, and answer first.
    pair_weights : bool
        Whether these pairs weigh what they tell about the class together.
    """

    min_count: float = 1
    critical: float | None = None
    weighted: bool = False
    pairs: bool = False
    pair_weights: bool = False

    def require(self, schema: Schema, how: Estimate, sets: int = 1) -> None:
        """Raise an error if tables, or counts, would be too large."""
        needed = sets * table_bytes(schema.sizes, len(schema.classes))
        if sets > 1:
            how.require(schema, needed, f"leave-one-out with {how.model}")
        how.require(schema, max(needed, pair_bytes(schema)))
        if self.pairs:
            needed = triple_bytes(schema.sizes, len(schema.classes))
            how.require(schema, needed, f"the triples of {how.model}")

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> FirstAnswer:
        """Estimate the tables of single super-parents, and of pairs if they are asked for."""
        schema, graph = counts.schema, learned.graph(SuperParents)
        self.require(schema, how, 1 if held_out is None else 2)
        average = self.average(counts, how, held_out, graph.weights if self.weighted else None)
        simplest = tree_tables(
            counts,
            independent(schema.names, schema.target),
            how.smoothing,
            class_prior=how.class_prior,
            held_out=held_out,
        )
        if not self.pairs or len(schema.names) < 2:
            return FirstAnswer((average,), simplest)
        pairs = all_pairs_of_parents(
            counts,
            how.smoothing,
            class_prior=how.class_prior,
            pair_weights=pair_information(counts, how.n_jobs) if self.pair_weights else None,
            min_count=self.min_count,
            held_out=held_out,
        )
        return FirstAnswer((pairs, average), simplest)

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
        )


def all_alike(source: Source, rows: CodedRows | None) -> Learned:
    """Let every column be everyone's parent, all of the same weight."""
    return Learned(SuperParents.alike(source.schema.names, source.schema.target))


@dataclass(eq=False, repr=False, kw_only=True)
class AODE(CountsClassifier):
    r"""Averaged one-dependence estimators: every column in turn is the parent of all others.

    .. math:: P(c, x) = \frac{1}{|A|} \sum_{p \in A} P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p)

    A holds the columns whose value is observed and occurs at least ``min_count`` times; where
    it is empty, naive Bayes answers. Nothing is searched for, so the variance is low.

    With ``weights="discriminative"`` super-parents weigh what serves prediction:

    .. math:: P(c, x) \propto \sum_{p \in A} w_p\, P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p),
              \qquad w_p \ge 0, \quad \sum_p w_p = 1

    The weights maximise the conditional likelihood of the classes, each row left out, less half
    the sum of squares of :math:`\log w_p` around their mean; so members that say the same of the
    classes weigh the same, and one that misleads is not heard. Leave-one-out, ``partial_fit``,
    ``forget`` and ``fit_counts`` hold the weights at those of the rows of the last ``fit``.

    Parameters
    ----------
    min_count : int, default=1
        How often a value must occur to be a super-parent (30 in the paper).
    subsumption : bool, default=False
        Leave out a value that another one of the row implies ("pregnant" makes "female"
        superfluous): AODE with subsumption resolution, AODEsr.
    critical : int, default=50
        A value implies another if it occurs more often than this, and always with the other.
    weights : {"discriminative", None}, default=None
        "discriminative": weights of super-parents are fitted to rows, before any calibration;
        None: super-parents weigh the same.
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (d,)
        The weights, which sum to 1; only with ``weights="discriminative"``.

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

    The third column tells nothing, and what the first two tell is not seen from it:

    >>> weighted = AODE(weights="discriminative").fit(X, X[:, 0] ^ X[:, 1])
    >>> float(weighted.feature_importances_[2]) < 0.05
    True
    """

    min_count: float = number(1, infinite=True)
    subsumption: bool = flag(False)
    critical: float = number(50, infinite=True)
    weights: str | None = one_of(None, "discriminative")

    family: ClassVar[str] = "super-parents"
    assumption: ClassVar[str] = (
        "Every column in turn is taken as the one parent of all others, and the answers are "
        "averaged. So each column speaks in the light of every other one, but of one at a time."
    )
    without_graph: ClassVar[str] = f"{_ALIKE}."

    @property
    def feature_importances_(self) -> FloatArray:
        """Weights of the columns as super-parents; shape (d,)."""
        learned, maker = self.fitted_.learned, self.fitted_.made_by.maker
        if not (isinstance(maker, SuperParentMean) and maker.weighted):
            raise AttributeError(
                "columns have no weights where all super-parents weigh the same; fit with "
                'weights="discriminative"'
            )
        return learned.graph(SuperParents).weights

    def recipe(self) -> Recipe:
        """Average over all columns as super-parents, weighted if that is asked for."""
        weighted = self.weights is not None
        return Recipe(
            learn=all_alike,
            tables=self._means(),
            choose=self._weigh if weighted else None,
            structure=SuperParents,
            keeps=weighted,
        )

    def _means(self) -> SuperParentMean:
        critical = self.critical if self.subsumption else None
        return SuperParentMean(self.min_count, critical, self.weights is not None)

    def _weigh(self, learned: Learned, task: Task) -> Learned:
        """Find the weights that predict the rows best, each left out."""
        graph = learned.structure
        weights = weighing(task.rows, self._means(), task.maker.how).fit()
        return Learned(SuperParents(graph.names, graph.target, weights))


def weighing(rows: CodedRows, means: SuperParentMean, how: Estimate) -> MemberWeighing:
    """Look rows up in the tables of super-parents without them, to find weights.

    Rows of other weights are left out as if of weight 1.
    """
    means.require(rows.schema, how, 2)
    tables = means.average(rows.count(), how, held_out=1.0)
    chosen = some_rows(rows.classes, _MOST_ENTRIES, len(rows.codes))
    codes, classes = np.ascontiguousarray(rows.codes[:, chosen]), rows.classes[chosen]
    importance = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen]
    return member_weighing(tables, codes, classes, importance, how.n_jobs)


@dataclass(eq=False, repr=False, kw_only=True)
class WAODE(CountsClassifier):
    r"""Weighted AODE: super-parents weigh what they tell about the class.

    .. math:: P(c, x) = \frac{\sum_p W_p\, P(c, x_p) \prod_{i \ne p} P(x_i \mid c, x_p)}
              {\sum_p W_p}, \qquad W_p = I(X_p;Y)

    Where all weights are 0, all columns weigh the same. Leave-one-out holds the weights at
    those of all rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    feature_importances_ : ndarray of shape (d,)
        The weights, which sum to 1.

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
    assumption: ClassVar[str] = (
        "Every column in turn is taken as the one parent of all others, and the answers are "
        "averaged, weighted by what that column tells of the class."
    )
    without_graph: ClassVar[str] = f"{_ALIKE}, by weight."

    @property
    def feature_importances_(self) -> FloatArray:
        """Weights of the columns; shape (d,)."""
        return self.fitted_.learned.graph(SuperParents).weights

    def recipe(self) -> Recipe:
        """Average over all columns as super-parents, weighted by their information."""
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
    r"""Averaged two-dependence estimators: every pair of columns in turn is all others' parents.

    .. math:: P(c, x) = \frac{1}{|A|} \sum_{(p,q) \in A} P(c, x_p, x_q)
              \prod_{i \notin \{p,q\}} P(x_i \mid c, x_p, x_q)

    A holds the pairs whose values occur together at least ``min_count`` times; where it is
    empty AODE answers, then naive Bayes. Counts all triples of columns: n·d³ time, k·V³ memory.

    Parameters
    ----------
    min_count : int, default=1
        How often a pair of values must occur to be super-parents.
    weighted : bool, default=False
        Weigh the pairs by I(X_p, X_q; Y), what they tell about the class together.
    {parameters}

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
    assumption: ClassVar[str] = (
        "Every pair of columns in turn is taken as the parents of all others, and the answers are "
        "averaged. So each column speaks in the light of any two others."
    )
    without_graph: ClassVar[str] = (
        "There is no single graph to draw: every pair of columns in turn are the parents of all "
        "others, and the model averages over all of these."
    )

    def recipe(self) -> Recipe:
        """Average over all pairs of columns, then over single ones."""
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
