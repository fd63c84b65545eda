"""Averaged one-dependence estimators, plain and weighted."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive.counts.engines.memory import pair_bytes, require_memory
from unnaive.counts.joint import all_pairs
from unnaive.information import (
    conditional_mutual_information,
    mutual_information,
    pairwise_mutual_information,
)
from unnaive.models.base import CountsClassifier
from unnaive.structure import independent
from unnaive.tables.pairs import all_pairs_of_parents, triple_bytes
from unnaive.tables.smoothing import MEstimate, Smoothing
from unnaive.tables.super_parents import all_super_parents, table_bytes
from unnaive.tables.trees import tree_tables

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema


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

    def _make_tables(self, held_out: float | None = None) -> tuple[Any, ...]:
        sizes, k = self.schema_.sizes, len(self.schema_.classes)
        needed = table_bytes(sizes, k) * (1 if held_out is None else 2)
        what = f"leave-one-out with {type(self).__name__}"
        require_memory(self.schema_, needed, self.max_memory, what)
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

    Parameters
    ----------
    min_count : int, default=1
        How often a value must occur to be a super-parent (30 in the paper).
    subsumption : bool, default=False
        Leave out a value that another one of the row implies ("pregnant" makes "female"
        superfluous): AODE with subsumption resolution, AODEsr.
    critical : int, default=50
        A value implies another if it occurs more often than this, and always with the other.
    {parameters}

    References
    ----------
    Webb, Boughton & Wang, "Not so naive Bayes", Machine Learning 58, 2005.
    Zheng & Webb, "Efficient lazy elimination for averaged one-dependence estimators", ICML 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import AODE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(400, 3))
    >>> model = AODE().fit(X, X[:, 0] ^ X[:, 1])
    >>> float(model.score(X, X[:, 0] ^ X[:, 1]))
    1.0
    """

    min_count: int = 1
    subsumption: bool = False
    critical: int = 50

    def _options(self) -> dict[str, Any]:
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
