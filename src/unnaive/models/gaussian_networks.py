"""Gaussian naive Bayes, the full Gaussian, and Gaussian trees and k-dependence networks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._docstrings import described_like
from unnaive._ties import first_best
from unnaive.models import shrinkage as shrinking
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_cells import MixedNetwork, cell_weight_of
from unnaive.models.gaussian_mixed import MixedClassifier
from unnaive.models.gaussian_parts import GaussianRecipe, Shape, both_ways
from unnaive.models.kdb import KDB
from unnaive.models.tree import TAN
from unnaive.parameters import whole
from unnaive.structure import maximum_spanning_tree, orient
from unnaive.structure.graph import FamilyGraph, ParentGraph, independent
from unnaive.structure.parents import ordered_parents
from unnaive.tables.gaussian import independent_forms

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.models.gaussian_cells import Dependences
    from unnaive.models.gaussian_parts import Spread
    from unnaive.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianNaiveBayes(MixedClassifier):
    r"""Gaussian naive Bayes for numeric features, and for mixed numeric and categorical ones.

    .. math:: \log P(c, x) = \log P(c) + \sum_i \log N(x_i; \mu_{ci}, \sigma_{ci}^2)
              + \sum_j \log P(x_j \mid c)

    over numeric features i and categorical features j. A missing value has no factor. With
    numeric features only it is scikit-learn's ``GaussianNB``. Use it where numeric features are
    roughly normal within classes, and samples are too few for bins.

    Parameters
    ----------
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


@dataclass(eq=False, repr=False, kw_only=True)
class FullBayes(GaussianClassifier):
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

    shrinkage: float | str | None = shrinking.shrinkage_of()
    pooling: float = shrinking.pooling_of()

    learn_spread = shrinking.learn_spread

    def recipe(self) -> GaussianRecipe:
        """Use the whole covariance of every class."""
        return GaussianRecipe(self._complete, self.learn_spread)

    @staticmethod
    def _complete(spread: Spread, schema: Schema, places: IntArray) -> Shape:
        families, through = _everything(tuple(places.tolist()))
        graph = FamilyGraph(schema.names, schema.target, families)
        tables = spread.densities(spread.covariances)
        return Shape(graph, tables, list(through), both_ways(len(places)))


@lru_cache(maxsize=1)
def _everything(places: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Families in which every column depends on all before it; and all others of each column."""
    every = tuple(range(len(places)))
    families = tuple((place, *places[:index]) for index, place in enumerate(places))
    return families, tuple((*every[:index], *every[index + 1 :]) for index in every)


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianTAN(MixedClassifier):
    r"""Gaussian TAN: every numeric feature depends on one other feature, along a tree.

    .. math:: x_i \mid x_{\pi(i)}, c \sim N(\beta_{0c} + \beta_{1c}\, x_{\pi(i)}, \sigma_{ic}^2)

    The tree is the maximum spanning tree of the Gaussian I(X_i;X_j|Y). Use it for numeric features
    that are correlated within classes, where the full covariance has too many parameters.

    Categorical features are a :class:`TAN` of their own. A numeric feature may depend on one of
    them instead of another number, and then has a mean and a variance for every category; no
    categorical feature depends on a number. Of all such trees, this is the one of largest
    information.

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
    linear function of one other number, or which depends on one categorical feature. Every
    categorical feature depends on one other. These dependences form a tree.

    Up to rounding, the order of the samples does not matter, and a sample of weight 2 counts like
    the same sample twice, also with missing values. If two trees are equally informative, rounding
    may decide between them.

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

    shrinkage: float | str | None = shrinking.shrinkage_of()
    pooling: float = shrinking.pooling_of()
    cell_weight: float = cell_weight_of()

    learn_spread = shrinking.learn_spread

    def recipe(self) -> GaussianRecipe:
        """Learn the network from information, and make its densities."""
        network = MixedNetwork(self.learn_spread, self.dependences, float(self.cell_weight))
        return GaussianRecipe(network.shape, network.learn, TAN, in_cells=True)

    def dependences(
        self, relevance: FloatArray, information: FloatArray, by_label: FloatArray
    ) -> list[Dependences]:
        """Learn the maximum spanning tree of Gaussian information.

        Parameters
        ----------
        relevance : ndarray of shape (m,)
            I(X_i;Y) of the numeric features.
        information : ndarray of shape (m, m)
            I(X_i;X_j|Y) of pairs of them.
        by_label : ndarray of shape (m, l)
            I(X_i;X_j|Y) of numeric features and categorical ones.

        Returns
        -------
        list of (tuple, tuple)
            Every numeric feature followed by its numeric parents, parents before children; its
            categorical parents.
        """
        labels = by_label.shape[1]
        if labels:  # all categorical features together are the root
            root = by_label.max(axis=1, initial=0.0)
            information = np.block([[np.zeros((1, 1)), root[None]], [root[:, None], information]])
            relevance = np.append(np.inf, relevance)
        parents = orient(maximum_spanning_tree(information), len(relevance), relevance)
        parents = parents[1:] - 1 if labels else parents
        graph = ParentGraph((), "", parents, np.zeros(len(parents)))
        return [
            (
                (column, *graph.parents_of(column)),
                (first_best(by_label[column]),) if labels and parents[column] < 0 else (),
            )
            for column in graph.order.tolist()
        ]


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianKDB(MixedClassifier):
    r"""Gaussian KDB: every numeric feature depends on up to k other features.

    .. math:: x_i \mid x_{\pi(i)}, c \sim N(\beta_{0c} + \beta_c^T x_{\pi(i)}, \sigma_{ic}^2)

    Features enter by decreasing Gaussian I(X_i;Y), and each takes the k features before it of
    largest I(X_i;X_j|Y). k = 0 is Gaussian naive Bayes, k = d − 1 the full Gaussian; choose k
    between them by cross-validation.

    Categorical features are a :class:`KDB` of their own and enter first, so a numeric feature may
    have categorical parents as well. It then has a regression for every combination of their
    categories. No categorical feature depends on a number.

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
    linear function of up to k other numbers. It may also depend on categorical features, and these
    on each other; all have up to k parents.

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

    shrinkage: float | str | None = shrinking.shrinkage_of()
    pooling: float = shrinking.pooling_of()
    cell_weight: float = cell_weight_of()
    k: int = whole(2)

    learn_spread = shrinking.learn_spread

    def recipe(self) -> GaussianRecipe:
        """Learn the network from information, and make its densities."""
        network = MixedNetwork(self.learn_spread, self.dependences, float(self.cell_weight))
        return GaussianRecipe(network.shape, network.learn, partial(KDB, k=self.k), in_cells=True)

    @described_like(GaussianTAN.dependences)
    def dependences(
        self, relevance: FloatArray, information: FloatArray, by_label: FloatArray
    ) -> list[Dependences]:
        """Take the features by mutual information, each with its best parents before it."""
        labels = by_label.shape[1]
        first = np.full((labels, labels + len(relevance)), -np.inf)
        scores = np.block([[first], [by_label, information]]) if labels else information
        entry = np.append(np.full(labels, np.inf), relevance)
        order, parents = ordered_parents(entry, scores, self.k, 0.0)
        return [
            (
                (column - labels, *(p - labels for p in parents[column] if p >= labels)),
                tuple(p for p in parents[column] if p < labels),
            )
            for column in order.tolist()
            if column >= labels
        ]
