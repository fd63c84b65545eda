"""Gaussian naive Bayes, the full Gaussian, and Gaussian trees and k-dependence networks."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import gaussian_information, gaussian_relevance
from unnaive.io.frames import Frame
from unnaive.models.fitted import Names
from unnaive.models.gaussian import GaussianClassifier, ShrinkingClassifier
from unnaive.models.gaussian_parts import GaussianRecipe, Shape, both_ways, shares_of
from unnaive.models.nb import NaiveBayes
from unnaive.parameters import frequency, one_of, whole
from unnaive.schema.settings import categorical_mask, declared_categories, missing_mask
from unnaive.structure import maximum_spanning_tree, orient
from unnaive.structure.graph import FamilyGraph, ParentGraph, independent
from unnaive.structure.parents import ordered_parents
from unnaive.tables.gaussian import (
    GaussianTables,
    complete_forms,
    independent_forms,
    network_covariances,
    network_forms,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from unnaive._typing import AnyArray, FloatArray, IntArray, State
    from unnaive.io.frames import Column
    from unnaive.models.gaussian_parts import GaussianFitted, NumberRows, Spread
    from unnaive.models.inputs import Given
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms

    Families = Sequence[tuple[int, ...]]


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNaiveBayes(GaussianClassifier):
    r"""Gaussian naive Bayes for numeric features, and for mixed numeric and categorical ones.

    .. math:: \log P(c, x) = \log P(c) + \sum_i \log N(x_i; \mu_{ci}, \sigma_{ci}^2)
              + \sum_j \log P(x_j \mid c)

    over numeric features i and categorical features j. A missing value has no factor. With
    numeric features only it is scikit-learn's ``GaussianNB``. Use it where numeric features are
    roughly normal within classes, and samples are too few for bins.

    Parameters
    ----------
    categorical_features : list of names or positions, or mask, default=None
        Numeric features that are categorical; strings and booleans are always categorical.
    categories : dict or list, default=None
        Declared categories of some features, ``{"smoker": ["no", "ex", "yes"]}``, or a list with
        one entry (or None) per feature. These features are categorical.
    min_frequency : int or float, default=None
        Categories of labels with fewer samples, or with a smaller share of the samples (a number
        below 1), are grouped into one category "other values".
    max_categories : int, default=None
        Largest number of categories of a feature of labels; the rarest are grouped as above.
    missing_as_category : bool, list of names or positions, or mask, default=False
        Categorical features in which missing values are a category of their own; True: all of
        them. Numeric features have no categories, and their missing values no influence.
    smoothing : policy, str or None, default=None
        Smoothing of the categorical features; None: ``Laplace(a=1.0)``.
    handle_unknown : {"missing", "error"}, default="missing"
        Whether an unseen category counts as a missing value at prediction, or is an error.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all features that is added to every variance, as in
        scikit-learn; use 0 if the units of features are very different.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    NaiveBayes : Numeric features in bins.
    GaussianTAN : Adds a tree of linear dependences.

    Notes
    -----
    Assumption: within a class, every numeric feature has a normal distribution, and all features
    are independent of each other.

    References
    ----------
    John & Langley, "Estimating continuous distributions in Bayesian classifiers", UAI 1995.

    Examples
    --------
    >>> from unnaive import GaussianNaiveBayes
    >>> X = [[1.2, "red"], [0.8, "red"], [3.1, "blue"], [2.9, None]]
    >>> GaussianNaiveBayes().fit(X, ["no", "no", "yes", "yes"]).predict([[3.0, "red"]])
    array(['yes'], dtype='<U3')
    """

    categorical_features: Any = None
    categories: Any = None
    min_frequency: float | None = frequency(None)
    max_categories: int | None = whole(None, 2, also=(None,))
    missing_as_category: Any = False
    smoothing: Any = None
    handle_unknown: str = one_of("missing", "error")

    counts_twice: ClassVar[bool] = True

    def recipe(self) -> GaussianRecipe:
        """Estimate one mean and one variance per class and feature."""
        return GaussianRecipe(self._independent)

    @staticmethod
    def _independent(spread: Spread, schema: Schema, places: IntArray) -> Shape:
        graph = independent(schema.names, schema.target)
        tables = spread.densities(spread.covariances, independent_forms)
        return Shape.of_graph(graph, tables, places)

    @property
    def learns_from_moments(self) -> bool:
        """Whether all features are numeric: here some may be categorical."""
        return False

    @property
    def _adds_largest(self) -> bool:
        return True

    def _number_columns(self, frame: Frame) -> IntArray:
        chosen = categorical_mask(self.categorical_features, frame.names)
        if chosen is None:
            raise ValueError(
                'categorical_features="auto" is for models of counts; here numeric columns stay '
                "numeric unless they are named"
            )
        text = np.array([frame.column(index).is_text for index in range(len(frame.names))])
        declared = np.isin(frame.names, list(declared_categories(self.categories, frame.names)))
        numeric = ~(text | chosen | declared)
        every = isinstance(self.missing_as_category, bool)
        wrong = numeric & missing_mask(self.missing_as_category, frame.names)
        if wrong.any() and not every:
            raise ValueError(
                f"missing_as_category= names column {frame.names[int(np.argmax(wrong))]!r}, which "
                "is numeric and has no categories here; take it out, or use a model that cuts "
                "numbers into bins"
            )
        return np.flatnonzero(numeric)

    def _fit_categories(
        self, batch: Given, columns: IntArray, labels: AnyArray
    ) -> NaiveBayes | None:
        others = without(batch.frame, columns)
        if not others.names:
            return None
        model, names = self._category_model(len(labels)), np.array(batch.frame.names)
        model.set_params(
            categories=declared_categories(self.categories, batch.frame.names),
            min_frequency=self.min_frequency,
            max_categories=self.max_categories,
            missing_as_category=np.isin(
                others.names, names[missing_mask(self.missing_as_category, batch.frame.names)]
            ),
        )
        return model.partial_fit(others, batch.target, labels.tolist(), batch.weights)

    def _changed_categories(self, action: str, batch: Given) -> NaiveBayes | None:
        fitted = self.fitted_
        if fitted.categories is None:
            return None
        model, others = copy(fitted.categories), without(batch.frame, fitted.columns)
        getattr(model, action)(others, batch.target, sample_weight=batch.weights)
        return model

    def _category_model(self, n_classes: int) -> NaiveBayes:
        """Naive Bayes of the categories with a uniform prior: the prior is counted once."""
        return NaiveBayes(
            discretize=None,
            smoothing=self.smoothing,
            handle_unknown=self.handle_unknown,
            class_prior=np.full(n_classes, 1.0 / n_classes),
        )

    def _restored_categories(self, state: State | None, labels: AnyArray) -> NaiveBayes | None:
        if state is None:
            return None
        model = self._category_model(len(labels))
        fitted = model._restored(state, labels, Names(0, None))
        names = Names.of(fitted.schema.names, named=True)
        model._fitted = replace(fitted, names=names)
        return model

    def _number_column(self, column: Column) -> FloatArray:
        if column.is_text and not column.missing.all():
            label = (column.categories or ())[column.values[~column.missing][0]]
            raise UnnaiveError(
                f"column {column.name!r} held numbers in fit and has the label {label!r} now; "
                "convert it to numbers"
            )
        return super()._number_column(column)

    def _joint_of_frame(self, frame: Frame, fitted: GaussianFitted) -> FloatArray:
        joint = super()._joint_of_frame(frame, fitted)
        if fitted.categories is None:
            return joint
        labels = fitted.categories.predict_joint_log_proba(without(frame, fitted.columns))
        return np.asarray(joint + labels + np.log(len(fitted.labels)))

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint probability of samples into additive terms of features."""
        from unnaive.tables.terms import Terms  # noqa: PLC0415 - loads when asked

        fitted = self.fitted_
        if fitted.categories is None:
            return super().terms_of(frame)
        numbers = fitted.terms(self.numbers(frame, fitted.columns)).answered(fitted.prior)
        codes = fitted.categories.codes_of(without(frame, fitted.columns), self.n_jobs)
        labels = fitted.categories.fitted_.tables.terms(codes)
        kept = np.setdiff1d(np.arange(len(frame.names)), fitted.columns)
        keys = tuple(((int(kept[column]),), ()) for (column,), _ in labels.keys)
        parts = np.concatenate([numbers.parts, labels.parts], axis=2)
        return Terms((*numbers.keys, *keys), numbers.base, parts).answered(fitted.prior)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that strings and categories are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def without(frame: Frame, columns: IntArray) -> Frame:
    """Return the other columns of a frame."""
    kept = np.setdiff1d(np.arange(len(frame.names)), columns)
    names = tuple(frame.names[i] for i in kept)
    return Frame(names, frame.n_rows, tuple(frame.column(i) for i in kept))


@dataclass(eq=False, repr=False, kw_only=True)
class FullBayes(ShrinkingClassifier):
    r"""The full Gaussian: no independence assumption, as in quadratic discriminant analysis.

    .. math:: P(c, x) = P(c)\, N(x; \mu_c, \Sigma_c)

    Missing values are marginalized out. Use it with many more samples than features, or with
    ``shrinkage`` or ``pooling``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    GaussianTAN : Only the dependences of a tree.
    KNaiveBayes : Treats k features as independent.

    Notes
    -----
    Assumption: within a class, all features together have a multivariate normal distribution. Every
    dependence between two features is in it, as a correlation.

    References
    ----------
    Friedman, "Regularized discriminant analysis", Journal of the American Statistical
    Association 84, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import FullBayes
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)  # nothing that naive Bayes could see
    >>> FullBayes().fit(X, y).score(X, y) > 0.9
    True
    """

    def recipe(self) -> GaussianRecipe:
        """Use the whole covariance of every class."""
        return GaussianRecipe(self._complete, self.learn_spread)

    @staticmethod
    def _complete(spread: Spread, schema: Schema, places: IntArray) -> Shape:
        order = places.tolist()
        families = tuple((place, *order[:index]) for index, place in enumerate(order))
        graph, every = FamilyGraph(schema.names, schema.target, families), range(len(places))
        through = [tuple(other for other in every if other != column) for column in every]
        tables = spread.densities(spread.covariances)
        return Shape(graph, tables, through, both_ways(len(places)))


def network_recipe(
    model: ShrinkingClassifier, families_of: Callable[[FloatArray, FloatArray], Families]
) -> GaussianRecipe:
    """Return the recipe of a network of columns that is learned from Gaussian information."""

    def learn(spread: Spread, rows: NumberRows | None) -> State:
        learned = model.learn_spread(spread, rows)
        moments = spread.moments
        covariances = replace(spread, learned=learned).covariances
        shares, variances = shares_of(moments.class_weights), moments.variances[moments.used]
        families = families_of(
            gaussian_relevance(covariances, shares, variances),
            gaussian_information(covariances, shares),
        )
        return {**learned, "families": [list(family) for family in families]}

    return GaussianRecipe(network_shape, learn)


def network_shape(spread: Spread, schema: Schema, places: IntArray) -> Shape:
    """Make the densities of a network of columns."""
    families = [tuple(family) for family in spread.learned["families"]]
    named = tuple(tuple(int(places[column]) for column in family) for family in families)
    graph, covariances = FamilyGraph(schema.names, schema.target, named), spread.covariances
    implied = partial(network_covariances, covariances, families)
    forms = network_forms(covariances, families)
    tables = GaussianTables(spread.log_prior, spread.means, implied, complete_forms, forms)
    return Shape.of_graph(graph, tables, places)


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianTAN(ShrinkingClassifier):
    r"""Gaussian TAN: every numeric feature depends linearly on one other, along a tree.

    .. math:: x_i \mid x_{\pi(i)}, c \sim N(\beta_{0c} + \beta_{1c}\, x_{\pi(i)}, \sigma_{ic}^2)

    The tree is the maximum spanning tree of the Gaussian I(X_i;X_j|Y). Use it for numeric features
    that are correlated within classes, where the full covariance has too many parameters.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    TAN : The same for categorical features and bins.
    GaussianKDB : Several parents per feature.
    FullBayes : All dependences.

    Notes
    -----
    Assumption: within a class, every numeric feature has a normal distribution whose mean is a
    linear function of one other feature. These dependences form a tree.

    Up to rounding, the order of the samples does not matter, and a sample of weight 2 counts like
    the same sample twice; with missing values, up to the precision of the estimated covariances. If
    two trees are equally informative, rounding may decide between them.

    References
    ----------
    Pérez, Larrañaga & Inza, "Supervised classification with conditional Gaussian networks",
    International Journal of Approximate Reasoning 43, 2006.

    Examples
    --------
    >>> from unnaive import GaussianTAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> GaussianTAN().fit(data.X[:, :3], data.y).structure_.edges
    [('x2', 'x0'), ('x2', 'x1')]
    """

    def recipe(self) -> GaussianRecipe:
        """Learn the maximum spanning tree of Gaussian information."""
        return network_recipe(self, self._tree)

    @staticmethod
    def _tree(relevance: FloatArray, information: FloatArray) -> Families:
        parents = orient(maximum_spanning_tree(information), len(relevance), relevance)
        graph = ParentGraph((), "", parents, np.zeros(len(parents)))
        return [(column, *graph.parents_of(column)) for column in graph.order.tolist()]


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianKDB(ShrinkingClassifier):
    r"""Gaussian KDB: every numeric feature depends linearly on up to k others.

    .. math:: x_i \mid x_{\pi(i)}, c \sim N(\beta_{0c} + \beta_c^T x_{\pi(i)}, \sigma_{ic}^2)

    Features enter by decreasing Gaussian I(X_i;Y), and each takes the k features before it of
    largest I(X_i;X_j|Y). k = 0 is Gaussian naive Bayes, k = d − 1 the full Gaussian; choose k
    between them by cross-validation.

    Parameters
    ----------
    k : int, default=2
        Number of parents besides the class.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    KDB : The same for categorical features and bins.
    GaussianTAN : One parent per feature.

    Notes
    -----
    Assumption: within a class, every numeric feature has a normal distribution whose mean is a
    linear function of up to k other features.

    References
    ----------
    Pérez, Larrañaga & Inza, "Supervised classification with conditional Gaussian networks",
    International Journal of Approximate Reasoning 43, 2006.

    Examples
    --------
    >>> from unnaive import GaussianKDB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> len(GaussianKDB(k=1).fit(data.X[:, :4], data.y).structure_.edges)
    3
    """

    k: int = whole(2)

    def recipe(self) -> GaussianRecipe:
        """Take the features by mutual information, each with its best parents before it."""
        return network_recipe(self, self._ordered)

    def _ordered(self, relevance: FloatArray, information: FloatArray) -> Families:
        order, parents = ordered_parents(relevance, information, self.k, 0.0)
        return [(column, *parents[column]) for column in order.tolist()]
