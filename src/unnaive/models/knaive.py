"""k-naive Bayes: some columns are held apart, so chosen that what they ignore cancels out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._scikit import clone
from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import mean_log_derivatives
from unnaive.models.gaussian import NumberRows, ShrinkingClassifier, both_ways, whole_number
from unnaive.models.gaussian_networks import BarrowClassifier
from unnaive.structure.balanced import balanced_sets, best_set
from unnaive.structure.graph import FamilyGraph
from unnaive.tables.gaussian import log_conditionals, naive_covariance, naive_forms

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts.moments import Moments
    from unnaive.structure.balanced import BalancedSet

_FOLDS = 5
_CHOICES = {
    "naivete": ("weak", "strong"),
    "weighting": ("log-mean", "mean"),
    "objective": ("balanced", "smallest"),
    "norm": ("max", "weighted"),
    "joint": ("exact", "pseudo"),
}


@dataclass(eq=False, repr=False, kw_only=True)
class KNaiveBayes(BarrowClassifier, ShrinkingClassifier):
    r"""k-naive Bayes, between naive Bayes and the full Gaussian.

    k columns S are taken as independent of each other given the class. They are those whose
    neglected dependences cancel best: with the dependence derivative
    :math:`dd_c(x_i) = p(x_i \mid x_{-i}, c) / p(x_i \mid c)` and its ratio
    :math:`ddr = dd_+ / dd_-`, S minimises :math:`|\sum_{i \in S} u_i|`,
    :math:`u_i = \operatorname{mean} \log ddr(x_i)`. The best S is found exactly, for more than 44
    columns within a gap that is told.

    Parameters
    ----------
    k : int, "auto" or "cv", default="auto"
        Number of naive columns: 0 is the full Gaussian, d naive Bayes. "auto": the best
        balanced set of any size; "cv": the size of best cross-validated accuracy.
    naivete : {"weak", "strong"}, default="weak"
        Whether the other columns still depend on the naive ones, or ignore them.
    exact_k : bool, default=True
        False: sets of up to k columns.
    weighting : {"log-mean", "mean"}, default="log-mean"
        u_i as above, or log mean ddr (the thesis' definition 2.2.3).
    objective : {"balanced", "smallest"}, default="balanced"
        Sum closest to 0, or smallest sum (the letter of definition 2.2.4).
    norm : {"max", "weighted"}, default="max"
        Of more than two classes: the largest sum of all pairs of classes, or their mean
        weighted by P(c)·P(c').
    joint : {"exact", "pseudo"}, default="exact"
        The density of the network, or the thesis' product of full conditionals.
    shrinkage : float, "ledoit-wolf" or None, default=None
        Share of the mean variance, on the diagonal, in each class's covariance.
    pooling : float, default=0.0
        Share of the covariance that all classes have in common (Friedman's λ): between a
        quadratic discriminant, at 0, and a linear one, at 1. Before shrinkage.
    random_state : int, default=0
        Seed of the folds of ``k="cv"``.
    paper : bool or Quirks, default=False
        As Barrow's programs have it, or with some of their quirks
        (:class:`unnaive.tables.barrow.Quirks`).
    {parameters}

    Attributes
    ----------
    naive_columns_ : list of str
        The columns S.
    attribute_weights_ : ndarray of shape (pairs of classes, d)
        u_i of every pair of classes.
    optimality_gap_ : float
        No set of that size is better by more than this.

    References
    ----------
    Barrow, "Between naive and full Bayes", thesis, 2011; Zhang, "The optimality of naive Bayes",
    FLAIRS 2004.

    Examples
    --------
    >>> from unnaive import KNaiveBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = KNaiveBayes(k=2, var_smoothing=0).fit(data.X[:, :10], data.y)
    >>> len(model.naive_columns_)
    2
    """

    k: Any = "auto"
    naivete: str = "weak"
    exact_k: bool = True
    weighting: str = "log-mean"
    objective: str = "balanced"
    norm: str = "max"
    joint: str = "exact"
    random_state: int = 0

    @property
    def naive_columns_(self) -> list[str]:
        """Names of the columns that are taken as independent."""
        names = self.moments_.schema.names
        return [names[column] for column in self.moments_.used[self._learned["naive"]]]

    @property
    def attribute_weights_(self) -> FloatArray:
        """Weight u_i of every pair of classes and column; shape (m, d)."""
        return np.asarray(self._learned["weights"])

    @property
    def optimality_gap_(self) -> float:
        """How much better another set could be."""
        return float(self._learned["gap"])

    def _choose(self, moments: Moments, rows: NumberRows | None) -> dict[str, Any]:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name}={getattr(self, name)!r}; it must be one of {known}")
        if not isinstance(self.exact_k, bool | np.bool_):
            raise ValueError(f"exact_k={self.exact_k!r}; it must be True or False")
        if self.objective == "smallest" and (moments.class_weights > 0).sum() > 2:
            raise ValueError(
                'objective="smallest" is for two classes: of more, no order of a pair is the right '
                'one; use objective="balanced"'
            )
        self._learned = learned = super()._choose(moments, rows)
        weights = self._weights(moments, rows)
        chosen = self._chosen(weights, rows)
        naive = list(chosen.columns) if chosen else []
        gap = chosen.gap if chosen else 0.0
        return {**learned, "naive": naive, "gap": gap, "weights": weights}

    def _weights(self, moments: Moments, rows: NumberRows | None) -> FloatArray:
        """Weigh every column, for every pair of classes that have rows; shape (m, d)."""
        present = np.flatnonzero(moments.class_weights)
        pairs = list(combinations(present.tolist(), 2))
        if self._quirks is not None or self.weighting == "mean":
            return self._weights_of_rows(rows, pairs)
        used, counts = moments.used, moments.class_weights
        found = mean_log_derivatives(self._means, self._covariances, self._scatter)
        weights = [
            (counts[a] * (found[a, a] - found[a, b]) + counts[b] * (found[b, a] - found[b, b]))
            / (counts[a] + counts[b])
            for a, b in pairs
        ]
        return np.array(weights).reshape(len(pairs), len(used))

    def _weights_of_rows(self, rows: NumberRows | None, pairs: list[Any]) -> FloatArray:
        if rows is None:
            raise UnnaiveError(
                'weighting="mean" and paper=True look at rows; call fit with all of them'
            )
        X, used = rows.X[:, self.moments_.used], len(self.moments_.used)
        if np.isnan(X).any():
            raise UnnaiveError(
                'weighting="mean" and paper=True need rows without gaps; fill or drop them'
            )
        if self._quirks is not None:
            X = self._prepared(rows).X[:, self.moments_.used]
            each = self._barrow([], "k-naive").weights(X)
            return np.array([each[a] - each[b] for a, b in pairs]).reshape(len(pairs), used)
        from scipy.special import logsumexp  # noqa: PLC0415 - slow to import

        given, alone = log_conditionals(X, self._gaussian(self._covariances))
        logs = given - alone
        found = []
        for a, b in pairs:
            mine = (rows.classes == a) | (rows.classes == b)
            ratio = logs[mine, a] - logs[mine, b]
            scale = np.ones(len(ratio)) if rows.weights is None else rows.weights[mine]
            found.append(logsumexp(ratio, axis=0, b=scale[:, None]) - np.log(scale.sum()))
        return np.array(found).reshape(len(pairs), used)

    def _chosen(self, weights: FloatArray, rows: NumberRows | None) -> BalancedSet | None:
        """Find the set of naive columns; None is the empty one."""
        n_columns, k = weights.shape[1], self.k
        if not n_columns:
            return None
        if isinstance(k, str) and k == "cv":
            k = self._cross_validated(rows, n_columns)
        if isinstance(k, str) and k == "auto":
            sizes = list(range(1, n_columns + 1))
        else:
            k = whole_number(k, "k", 0, n_columns) if not isinstance(k, str) else -1
            if k < 0:
                raise ValueError(f"k={self.k!r}; it must be 'auto', 'cv' or a whole number")
            sizes = [k] if self.exact_k else list(range(1, k + 1))
        if not sizes or sizes == [0]:
            return None
        if not len(weights):  # a single class
            weights = np.zeros((1, n_columns))
        shares = self.moments_.class_weights[self.moments_.class_weights > 0]
        pairs = np.array([a * b for a, b in combinations(shares / shares.sum(), 2)])
        mean = self.norm == "weighted" and len(pairs) > 1
        found = balanced_sets(
            weights, sizes, objective=self.objective, weights=pairs if mean else None
        )
        return best_set(found)

    def _cross_validated(self, rows: NumberRows | None, n_columns: int) -> int:
        """Size of best accuracy over folds, the smallest on ties."""
        if rows is None:
            raise UnnaiveError('k="cv" looks at rows; call fit with all of them')
        from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - slow to import

        folds = min(_FOLDS, int(np.bincount(rows.classes).max()))
        if folds < 2 or len(np.unique(rows.classes)) < 2:
            return 0
        splits = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
        model = clone(self).set_params(class_prior=None, threshold_bias=None)
        right = np.zeros(n_columns + 1)
        with warnings.catch_warnings():  # said once, of all rows, is enough
            warnings.simplefilter("ignore", UserWarning)
            for train, test in splits.split(rows.X, rows.classes):
                weights = None if rows.weights is None else rows.weights[train]
                for size in range(n_columns + 1):
                    model.set_params(k=size).fit(rows.X[train], rows.classes[train], weights)
                    right[size] += (model.predict(rows.X[test]) == rows.classes[test]).sum()
        return first_best(right)

    def _build(self) -> Any:
        naive = np.array(self._learned["naive"], dtype=np.int64)
        strong = self.naivete == "strong"
        self.structure_ = self._graph(naive, strong=strong)
        if self._quirks is not None:
            return self._barrow(naive, "k-naive", strong=strong)
        if self.joint == "pseudo":
            forms = partial(naive_forms, naive=naive, strong=strong)
            return self._gaussian(self._covariances, forms)
        return self._gaussian(
            np.stack([naive_covariance(own, naive, strong=strong) for own in self._covariances])
        )

    def _acts_through(self) -> list[tuple[int, ...]]:
        every, naive = range(len(self.moments_.used)), set(self._learned["naive"])
        apart = naive if self.naivete == "strong" or len(naive) == len(every) else set()
        together = [column for column in every if column not in apart]
        return [
            tuple(c for c in together if c != column and column not in apart) for column in every
        ]

    def _orders(self) -> list[IntArray]:
        return both_ways(len(self.moments_.used))

    def _graph(self, naive: Any, *, strong: bool) -> FamilyGraph:
        """Naive columns without parents, then the rest, each with all before it."""
        used = self.moments_.used
        rest = np.setdiff1d(np.arange(len(used)), naive)
        before = [] if strong else list(naive)
        families: list[tuple[int, ...]] = [(int(used[column]),) for column in naive]
        for column in rest:
            families.append((int(used[column]), *(int(used[other]) for other in before)))
            before.append(column)
        return FamilyGraph(self.schema_.names, self.schema_.target, tuple(families))
