"""k-naive Bayes: k features are treated as independent, chosen so that errors cancel out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._scikit import clone
from unnaive._ties import first_best
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import mean_log_derivatives
from unnaive.models import shrinkage as shrinking
from unnaive.models.components import density_of_features, factor_scores, principal_components
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_parts import GaussianRecipe, NumberRows, Shape, both_ways
from unnaive.models.knaive_rows import RowSets, row_sets
from unnaive.parameters import flag, is_whole, one_of, parameter, whole
from unnaive.structure.balanced import balanced_sets, best_set
from unnaive.structure.graph import FamilyGraph
from unnaive.tables.gaussian import log_conditionals, naive_covariance, naive_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.models.gaussian_parts import Spread
    from unnaive.schema import Schema
    from unnaive.search.loop import RandomState as Seed
    from unnaive.structure.balanced import BalancedSet
    from unnaive.tables.gaussian import GaussianTables

    Pairs = list[tuple[int, int]]

_FOLDS = 5


def is_seed(value: object) -> bool:
    """Whether a value is a random seed."""
    return is_whole(value, 0) or isinstance(value, np.random.Generator | np.random.RandomState)


@dataclass(eq=False, repr=False, kw_only=True)
class KNaiveBayes(GaussianClassifier):
    r"""Gaussian k-naive Bayes: treats k features as independent, so that errors cancel out.

    k features S are treated as independent of each other given the class, chosen so that the
    neglected dependences cancel out. With the dependence derivative
    :math:`dd_c(x_i) = p(x_i \mid x_{-i}, c) / p(x_i \mid c)` and its ratio
    :math:`ddr = dd_+ / dd_-`,

    .. math:: S = \arg\min_{|S| = k} \Big|\sum_{i \in S} u_i\Big|,
              \qquad u_i = \operatorname{mean} \log ddr(x_i)

    S is found exactly, and for more than 44 features within ``optimality_gap_``. It lies between
    naive Bayes (k = d) and the full Gaussian (k = 0); use it where the full covariance overfits.

    Parameters
    ----------
    k : int, "auto" or "cv", default="auto"
        Number of independent features: 0 is the full Gaussian, d naive Bayes. "auto": the best
        balanced set of any size; "cv": the size with the best cross-validated accuracy.
    naivete : {"weak", "strong"}, default="weak"
        Whether the other features depend on the independent ones, or ignore them.
    exact_k : bool, default=True
        Whether S has exactly k features; False: at most k.
    weighting : {"log-mean", "mean"}, default="log-mean"
        How u_i is computed: as above, or as log mean ddr (definition 2.2.3 of the thesis), which
        depends on which class is the positive one: the later.
    objective : {"balanced", "smallest"}, default="balanced"
        Sum closest to 0, or smallest sum (definition 2.2.4 of the thesis, literally).
    norm : {"max", "weighted"}, default="max"
        With more than two classes: the largest sum of all pairs of classes, or their mean
        weighted by P(c)·P(c').
    joint : {"exact", "pseudo"}, default="exact"
        The density of the network, or the product of full conditionals of the thesis.
    components : "pca", "factors" or None, default=None
        "pca": the set is one of principal components of all standardized samples, and not of
        features. "factors": of the scores of common factors (factor analysis by maximum
        likelihood); what the factors leave unexplained has the same distribution in all classes.
        The density is still one of the features, so explanations, reports, files and missing
        values are as usual. Not with ``joint="pseudo"``, ``weighting="mean"`` or
        :meth:`predict_by_row`.
    n_factors : int or None, default=None
        Number of factors of ``components="factors"``; None: the number of eigenvalues of the
        correlations that are above 1.
    random_state : int, default=0
        Random seed of the folds of ``k="cv"``.
    {parameters}

    Attributes
    ----------
    naive_columns_ : list of str
        Names of the independent features S; of components "component 1", by decreasing variance,
        of factors "factor 1".
    attribute_weights_ : ndarray of shape (pairs of classes, d)
        Weight u_i of every pair of classes and feature, component or factor. Of two classes the
        later one is the positive one, as in
        :meth:`~unnaive.explain.DependenceDerivatives.log_ddr`.
    optimality_gap_ : float
        Upper bound of how much better another set of the same size could be.
    {attributes}

    See Also
    --------
    GaussianNaiveBayes : All features independent.
    FullBayes : None independent.

    Notes
    -----
    Assumption: within a class, features have a multivariate normal distribution, except that k of
    them are treated as independent: those whose neglected dependences cancel out best.

    Up to rounding, the order of the samples does not matter, and a sample of weight 2 counts like
    the same sample twice, also with missing values.
    With ``k="cv"`` neither holds, since the folds depend on the positions of the samples and weigh
    each sample once when they are drawn.

    References
    ----------
    Lionel R. Barrow, "A Method for Automatically Generating Network Structure in Bayesian
    Classifiers", Bard College, 2011; Zhang, "The optimality of naive Bayes", FLAIRS 2004.

    Examples
    --------
    >>> from unnaive import KNaiveBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = KNaiveBayes(k=2, var_smoothing=0).fit(data.X[:, :10], data.y)
    >>> len(model.naive_columns_)
    2
    """

    shrinkage: float | str | None = shrinking.shrinkage_of()
    pooling: float = shrinking.pooling_of()
    k: int | str = whole("auto", also=("auto", "cv"))
    naivete: str = one_of("weak", "strong")
    exact_k: bool = flag(True)
    weighting: str = one_of("log-mean", "mean")
    objective: str = one_of("balanced", "smallest")
    norm: str = one_of("max", "weighted")
    joint: str = one_of("exact", "pseudo")
    components: str | None = one_of(None, "pca", "factors")
    n_factors: int | None = whole(None, least=1, also=(None,))
    random_state: Seed = parameter(
        0, "a whole number, a Generator or a RandomState", also=(None,), test=is_seed
    )

    learn_spread = shrinking.learn_spread

    @property
    def naive_columns_(self) -> list[str]:
        """Names of the features that are treated as independent."""
        moments, naive = self.moments_, self.fitted_.spread.learned["naive"]
        turn = self.fitted_.spread.learned.get("components")
        if turn is not None:
            kind = "component" if len(turn) == len(moments.used) else "factor"
            return [f"{kind} {number + 1}" for number in naive]
        return [moments.schema.names[column] for column in moments.used[naive]]

    @property
    def attribute_weights_(self) -> FloatArray:
        """Weight u_i of every pair of classes and feature; shape (m, d)."""
        return np.asarray(self.fitted_.spread.learned["weights"])

    @property
    def optimality_gap_(self) -> float:
        """Upper bound of how much better another set of the same size could be."""
        return float(self.fitted_.spread.learned["gap"])

    def predict_by_row(self, X: object) -> RowSets:
        """Predict every sample with independent features of its own (page 33 of the thesis).

        The set of a sample is that whose log ddr of this very sample sum to nearly 0; its size is
        k, or any with ``k="auto"``. The thesis rejects the idea, because it costs a search for
        every sample and trusts the covariances even more; here it is for study.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Samples. A missing value has a log ddr of 0.

        Returns
        -------
        RowSets
            Probabilities, and the names of the independent features of every sample.
        """
        if "components" in self.fitted_.spread.learned:
            raise UnnaiveError(
                "predict_by_row chooses features, and the set is one of components; fit with "
                "components=None"
            )
        return row_sets(self, self.known_frame(X))

    def forced(self, naive: Sequence[int]) -> GaussianTables:
        """Make the density that treats given features as independent, whatever their weights.

        Parameters
        ----------
        naive : sequence of int
            Positions of the features among those in the model.

        Returns
        -------
        GaussianTables
            The density; ``joint`` is log p(c, x).
        """
        return self._tables(self.fitted_.spread, np.array(naive, dtype=np.int64))

    def recipe(self) -> GaussianRecipe:
        """Choose the independent features, and make the density."""
        return GaussianRecipe(self._apart, self._choose)

    def _choose(self, spread: Spread, rows: NumberRows | None) -> State:
        moments = spread.moments
        if self.objective == "smallest" and (moments.class_weights > 0).sum() > 2:
            raise ValueError(
                'objective="smallest" is for two classes, since pairs of more classes have no '
                'order; use objective="balanced"'
            )
        learned = self.learn_spread(spread, rows)
        spread = replace(spread, learned=learned)
        if self.components is not None:
            if self.joint == "pseudo" or self.weighting == "mean":
                raise ValueError(
                    f'components="{self.components}" has no full conditionals of features; use '
                    'joint="exact" and weighting="log-mean"'
                )
            learned["components"] = (
                principal_components(spread)
                if self.components == "pca"
                else factor_scores(spread, self.n_factors)
            )
            spread = replace(spread, learned=learned)
        weights = self._weights(spread, rows)
        chosen = self._chosen(weights, spread, rows)
        naive = list(chosen.columns) if chosen else []
        gap = chosen.gap if chosen else 0.0
        return {**learned, "naive": naive, "gap": gap, "weights": weights}

    def _weights(self, spread: Spread, rows: NumberRows | None) -> FloatArray:
        """Weigh every column, for every pair of classes that have rows; shape (m, d)."""
        pairs = pairs_of_classes(spread)
        if self.weighting == "mean":
            return self._weights_of_rows(spread, rows, pairs)
        counts = spread.moments.class_weights
        turn = spread.learned.get("components", np.eye(len(spread.used)))
        spreads = (turn @ spread.covariances @ turn.T, turn @ spread.scatter @ turn.T)
        logs = mean_log_derivatives(spread.means @ turn.T, *spreads)
        weights = [
            (counts[a] * (logs[a, b] - logs[a, a]) + counts[b] * (logs[b, b] - logs[b, a]))
            / (counts[a] + counts[b])
            for a, b in pairs
        ]
        return np.array(weights).reshape(len(pairs), len(turn))

    def _weights_of_rows(self, spread: Spread, rows: NumberRows | None, pairs: Pairs) -> FloatArray:
        rows = whole_rows(rows, spread.used)
        X = rows.X[:, spread.used]
        from scipy.special import logsumexp  # noqa: PLC0415 - slow to import

        conditional, alone = log_conditionals(X, spread.densities(spread.covariances))
        logs = conditional - alone
        weights = []
        for a, b in pairs:
            either = (rows.classes == a) | (rows.classes == b)
            ratio = logs[either, b] - logs[either, a]
            scale = np.ones(len(ratio)) if rows.weights is None else rows.weights[either]
            weights.append(logsumexp(ratio, axis=0, b=scale[:, None]) - np.log(scale.sum()))
        return np.array(weights).reshape(len(pairs), len(spread.used))

    def _chosen(
        self, weights: FloatArray, spread: Spread, rows: NumberRows | None
    ) -> BalancedSet | None:
        """Find the set of independent columns; None is the empty set."""
        n_columns, k = weights.shape[1], self.k
        if not n_columns:
            return None
        if k == "cv":
            k = self._cross_validated(rows, n_columns)
        if k == "auto":
            sizes = list(range(1, n_columns + 1))
        elif int(k) > n_columns:
            raise ValueError(
                f"k={k!r}; it must be a whole number of at least 0 and at most {n_columns}, the "
                "number of columns"
            )
        else:
            sizes = [int(k)] if self.exact_k else list(range(1, int(k) + 1))
        if not sizes or sizes == [0]:
            return None
        if not len(weights):  # a single class
            weights = np.zeros((1, n_columns))
        counts = spread.moments.class_weights
        shares = counts[counts > 0]
        pairs = np.array([a * b for a, b in combinations(shares / shares.sum(), 2)])
        mean = self.norm == "weighted" and len(pairs) > 1
        sets = balanced_sets(
            weights, sizes, objective=self.objective, weights=pairs if mean else None
        )
        return best_set(sets)

    def _cross_validated(self, rows: NumberRows | None, n_columns: int) -> int:
        """Size with the best accuracy over folds, the smallest one on ties."""
        if rows is None:
            raise UnnaiveError('k="cv" needs rows; call fit with all of them')
        from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - slow to import

        folds = min(_FOLDS, int(np.bincount(rows.classes).max()))
        if folds < 2 or len(np.unique(rows.classes)) < 2:
            return 0
        splits = StratifiedKFold(folds, shuffle=True, random_state=self.random_state)
        model = clone(self).set_params(class_prior=None, threshold_bias=None)
        if self.components == "factors":
            model.set_params(n_factors=n_columns)
        right = np.zeros(n_columns + 1)
        with warnings.catch_warnings():  # the fit to all rows warns once
            warnings.simplefilter("ignore", UserWarning)
            for train, test in splits.split(rows.X, rows.classes):
                weights = None if rows.weights is None else rows.weights[train]
                for size in range(n_columns + 1):
                    model.set_params(k=size).fit(rows.X[train], rows.classes[train], weights)
                    right[size] += (model.predict(rows.X[test]) == rows.classes[test]).sum()
        return first_best(right)

    def _apart(self, spread: Spread, schema: Schema, places: IntArray) -> Shape:
        """Make the density in which the naive columns are independent."""
        naive = np.array(spread.learned["naive"], dtype=np.int64)
        strong, tables = self.naivete == "strong", self._tables(spread, naive)
        if "components" in spread.learned:  # each is a sum of all features
            naive = naive[:0]
        families = naive_families(naive, places, strong=strong)
        graph = FamilyGraph(schema.names, schema.target, families)
        every = range(len(places))
        apart = set(naive.tolist()) if strong or len(naive) == len(every) else set()
        together = [column for column in every if column not in apart]
        through = [
            tuple(c for c in together if c != column and column not in apart) for column in every
        ]
        return Shape(graph, tables, through, both_ways(len(places)))

    def _tables(self, spread: Spread, naive: IntArray) -> GaussianTables:
        """Make the density of the network, or the product of full conditionals."""
        strong, covariances = self.naivete == "strong", spread.covariances
        if self.joint == "pseudo":
            forms = partial(naive_forms, naive=naive, strong=strong)
            return spread.densities(covariances, forms)
        turn = spread.learned.get("components")
        if turn is None:
            naive_too = [naive_covariance(one, naive, strong=strong) for one in covariances]
            return spread.densities(np.stack(naive_too))
        turned = turn @ covariances @ turn.T
        naive_too = [naive_covariance(one, naive, strong=strong) for one in turned]
        return density_of_features(spread, np.asarray(turn), np.stack(naive_too))


def pairs_of_classes(spread: Spread) -> Pairs:
    """All pairs of classes that have rows."""
    return list(combinations(np.flatnonzero(spread.moments.class_weights).tolist(), 2))


def whole_rows(rows: NumberRows | None, used: IntArray) -> NumberRows:
    """Return the rows; raises if there are none, or if values are missing."""
    if rows is None:
        raise UnnaiveError('weighting="mean" needs rows; call fit with all of them')
    if np.isnan(rows.X[:, used]).any():
        raise UnnaiveError('weighting="mean" needs rows without missing values; fill or drop them')
    return rows


def naive_families(
    naive: IntArray, places: IntArray, *, strong: bool
) -> tuple[tuple[int, ...], ...]:
    """Naive columns without parents, then the rest, each with all columns before it."""
    rest = np.setdiff1d(np.arange(len(places)), naive)
    before = [] if strong else list(naive)
    families: list[tuple[int, ...]] = [(int(places[column]),) for column in naive]
    for column in rest:
        families.append((int(places[column]), *(int(places[other]) for other in before)))
        before.append(column)
    return tuple(families)
