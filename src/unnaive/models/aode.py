"""Averaged one-dependence estimators, plain and weighted."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive.counts.joint import all_pairs
from unnaive.counts.sizes import pair_bytes, require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.models.left_out import some_rows
from unnaive.structure import independent
from unnaive.structure.graph import Graph
from unnaive.tables.member_weights import MemberWeighing, member_weighing
from unnaive.tables.pairs import all_pairs_of_parents, triple_bytes
from unnaive.tables.smoothing import MEstimate, Smoothing
from unnaive.tables.super_parents import all_super_parents, table_bytes
from unnaive.tables.trees import tree_tables

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema

_MOST_ENTRIES = 20_000_000  # that weights are fitted to; of more rows, a share of each class


@dataclass(frozen=True, eq=False)
class SuperParents(Graph):
    """Every column as the parent of all others, and what it weighs as such.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    weights : ndarray of shape (d,)
        Weights of the columns as super-parents, which sum to 1.
    """

    names: tuple[str, ...]
    target: str
    weights: FloatArray

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges as (parent, child, weight of the parent): every column to every other."""
        return [
            (parent, child, weight)
            for parent, weight in zip(self.names, self.weights.tolist(), strict=True)
            for child in self.names
            if child != parent
        ]

    def state(self) -> dict[str, Any]:
        """Arrays for the store."""
        return {"weights": self.weights}


@dataclass(eq=False, repr=False, kw_only=True)
class SuperParentClassifier(CountsClassifier):
    """Base of the models that average over super-parents; naive Bayes answers where none may."""

    def _learn_structure(self, source: JointCounts | CodedRows) -> Any:
        schema = source.schema
        needed = max(table_bytes(schema.sizes, len(schema.classes)), pair_bytes(schema))
        require_memory(schema, needed, self.max_memory, f"the tables of {type(self).__name__}")

    def _restore_structure(self, state: Any, schema: Schema) -> Any:
        """Nothing to restore: every column is everyone's parent."""

    def _pairs_of(self, structure: Any) -> IntArray:
        return all_pairs(self.n_features_in_)

    @abstractmethod
    def _options(self) -> dict[str, Any]:
        """Tell what the model asks of its super-parents."""

    def _require_tables(self, schema: Schema, sets: int) -> None:
        """Raise if tables are too large; leave-one-out takes two sets."""
        needed = sets * table_bytes(schema.sizes, len(schema.classes))
        what = f"leave-one-out with {type(self).__name__}"
        require_memory(schema, needed, self.max_memory, what)

    def _make_tables(self, held_out: float | None = None) -> tuple[Any, ...]:
        self._require_tables(self.schema_, 1 if held_out is None else 2)
        common: dict[str, Any] = {"class_prior": self._class_prior, "held_out": held_out}
        averaged = all_super_parents(self.counts_, self._smoothing, **common, **self._options())
        alone = independent(self.schema_.names, self.schema_.target)
        return averaged, tree_tables(self.counts_, alone, self._smoothing, **common)

    def _joint(
        self, tables: Any, codes: CodeArray, held: IntArray, n_jobs: int | None
    ) -> FloatArray:
        joint: FloatArray = tables[0].joint(codes, held, n_jobs)
        for simpler in tables[1:]:
            rest = np.flatnonzero(np.isnan(joint).any(axis=1))
            if len(rest):
                part = np.ascontiguousarray(codes[:, rest])
                joint[rest] = simpler.joint(part, held[rest], n_jobs)
        return joint


@dataclass(eq=False, repr=False, kw_only=True)
class AODE(SuperParentClassifier):
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

    min_count: int = 1
    subsumption: bool = False
    critical: int = 50
    weights: str | None = None

    @property
    def feature_importances_(self) -> FloatArray:
        """Weights of the columns as super-parents; shape (d,)."""
        graph: SuperParents | None = self.structure_
        if graph is None:
            raise AttributeError(
                "columns have no weights where all super-parents weigh the same; fit with "
                'weights="discriminative"'
            )
        return graph.weights

    def _learn_structure(self, source: JointCounts | CodedRows) -> SuperParents | None:
        super()._learn_structure(source)
        if not self._weighs:
            return None
        if getattr(self, "structure_", None) is None:  # also that of a fit without weights
            self.__dict__.pop("structure_", None)
        graph: SuperParents = self._kept_structure(source)
        return graph

    def _learn_from_rows(
        self, source: JointCounts | CodedRows, rows: CodedRows
    ) -> SuperParents | None:
        super()._learn_structure(source)
        if not self._weighs:
            return None
        weights = self._weighing(rows).fit()
        return SuperParents(rows.schema.names, rows.schema.target, weights)

    def _weighing(self, rows: CodedRows) -> MemberWeighing:
        """Look rows up in the members' tables without them.

        Rows of other weights are left out as if of weight 1.
        """
        self._require_tables(rows.schema, 2)
        counts = rows.count()
        given: dict[str, Any] = {"class_prior": self._class_prior, **self._members()}
        tables = all_super_parents(counts, self._smoothing, held_out=1.0, **given)
        chosen = some_rows(rows.classes, _MOST_ENTRIES, len(rows.codes))
        codes, classes = np.ascontiguousarray(rows.codes[:, chosen]), rows.classes[chosen]
        importance = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen]
        return member_weighing(tables, codes, classes, importance, self.n_jobs)

    def _restore_structure(self, state: Any, schema: Schema) -> SuperParents | None:
        if state is None:
            return None
        graph = SuperParents(schema.names, schema.target, **state)
        fits = graph.weights.shape == (len(schema.names),) and np.isfinite(graph.weights).all()
        if not fits or graph.weights.min() < 0 or graph.weights.sum() <= 0:
            raise UnnaiveError("the weights do not fit the columns")
        return graph

    @property
    def _weighs(self) -> bool:
        """Whether super-parents have weights; raises where ``weights`` is neither."""
        if self.weights is None:
            return False
        if not isinstance(self.weights, str) or self.weights != "discriminative":
            raise ValueError(
                f"weights={self.weights!r}; it must be 'discriminative', or None where "
                "super-parents weigh the same; WAODE weighs them by information"
            )
        return True

    def _options(self) -> dict[str, Any]:
        weights = None if self.structure_ is None else self.structure_.weights
        return {"column_weights": weights, **self._members()}

    def _members(self) -> dict[str, Any]:
        """Tell which values can be super-parents, and which are left out."""
        for name in ("min_count", "critical"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not float(value) >= 0:
                raise ValueError(f"{name}={value!r}; it must be a number of at least 0")
        critical = self.critical if self.subsumption else None
        return {"min_count": self.min_count, "critical": critical}


@dataclass(eq=False, repr=False, kw_only=True)
class WAODE(SuperParentClassifier):
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

    @property
    def feature_importances_(self) -> FloatArray:
        """Weights of the columns; shape (d,)."""
        weights = mutual_information(self.counts_)
        if weights.sum() <= 0:
            weights = np.ones(len(weights))
        return np.asarray(weights / weights.sum())

    def _options(self) -> dict[str, Any]:
        return {"column_weights": self.feature_importances_, "min_count": 0}


@dataclass(eq=False, repr=False, kw_only=True)
class A2DE(SuperParentClassifier):
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

    min_count: int = 1
    weighted: bool = False

    needs_triples: ClassVar[bool] = True

    def _learn_structure(self, source: JointCounts | CodedRows) -> Any:
        super()._learn_structure(source)
        schema = source.schema
        needed = triple_bytes(schema.sizes, len(schema.classes))
        require_memory(schema, needed, self.max_memory, "the triples of A2DE")

    def _options(self) -> dict[str, Any]:
        if not isinstance(self.min_count, Real) or not float(self.min_count) >= 0:
            raise ValueError(f"min_count={self.min_count!r}; it must be a number of at least 0")
        return {"min_count": self.min_count}

    def _make_tables(self, held_out: float | None = None) -> tuple[Any, ...]:
        simpler = super()._make_tables(held_out)
        if self.n_features_in_ < 2:
            return simpler
        pairs = all_pairs_of_parents(
            self.counts_,
            self._smoothing,
            class_prior=self._class_prior,
            pair_weights=self._pair_weights() if self.weighted else None,
            held_out=held_out,
            **self._options(),
        )
        return (pairs, *simpler)

    def _pair_weights(self) -> FloatArray:
        """I(X_p, X_q; Y) = I(X_p;Y) + I(X_q;Y) + I(X_p;X_q|Y) − I(X_p;X_q); shape (d, d)."""
        alone = mutual_information(self.counts_)
        together = conditional_mutual_information(self.counts_, self.n_jobs)
        weights = alone[:, None] + alone + together
        weights = np.maximum(weights - pairwise_mutual_information(self.counts_, self.n_jobs), 0.0)
        np.fill_diagonal(weights, 0.0)
        return weights if weights.sum() > 1e-12 else np.ones_like(weights)
