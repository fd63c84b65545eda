"""Naive Bayes, the baseline: every feature depends on the class only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unnaive.models.base import CountsClassifier
from unnaive.models.choice import Prefixes, criterion_of, features_of, order_of_features
from unnaive.models.makers import TreeFactors
from unnaive.models.recipe import Learned, Recipe, Source
from unnaive.structure import independent

if TYPE_CHECKING:
    from unnaive._typing import IntArray
    from unnaive.counts import CodedRows


def no_parents(source: Source, rows: CodedRows | None) -> Learned:
    """Return the graph of naive Bayes, in which only the class is a parent."""
    return Learned(independent(source.schema.names, source.schema.target))


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(CountsClassifier):
    r"""Naive Bayes: every feature depends only on the class; numbers are divided into bins.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c)

    The baseline of all models here: fast, and hard to beat with few samples or many features that
    are nearly independent. Where features depend on each other its probabilities are too extreme,
    since evidence is counted twice; compare it with :class:`TAN` or :class:`AODE`. Missing values
    have no factor. Only single features are counted, no pairs.

    Parameters
    ----------
    n_features : int, float, "loo" or None, default=None
        Keep the features of largest mutual information I(X_i;Y) with the class: a number, or a
        share of all. "loo": the number with the best exact leave-one-out score; all numbers are
        tried in one sweep (selective naive Bayes). None: all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        Score that ``n_features="loo"`` optimizes; fewer features on ties.
    {parameters}

    Attributes
    ----------
    feature_order_ : ndarray of shape (m,)
        Features in the model by decreasing I(X_i;Y).
    path_ : dict of arrays
        With ``n_features="loo"``: ``n_features``, ``accuracy``, ``log_loss`` and ``brier``.
    {attributes}

    See Also
    --------
    GaussianNaiveBayes : For numeric features without bins, and for mixed features.
    TAN : Adds a tree of dependences.
    WeightedBayes : Weights the factors, so that dependent features share their weight.

    Notes
    -----
    Assumption: within a class, every feature is independent of all others. Each feature
    contributes as if the others were not there.

    References
    ----------
    Domingos & Pazzani, "Beyond independence: conditions for the optimality of the simple
    Bayesian classifier", ICML 1996.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "mild"], ["rainy", None]]
    >>> model = NaiveBayes().fit(X, ["no", "yes", "no", "yes"])
    >>> model.predict([["sunny", "unheard of"]])
    array(['no'], dtype='<U3')
    """

    n_features: int | float | str | None = features_of()
    criterion: str = criterion_of("brier")

    family: ClassVar[str] = "naive"
    counts_twice: ClassVar[bool] = True

    def recipe(self) -> Recipe:
        """Make one table per feature, and keep the most informative features."""
        first = Prefixes(self.n_features, self.criterion)
        return Recipe(no_parents, TreeFactors(), first, counts="values", keeps=first.by_rows)

    @property
    def feature_order_(self) -> IntArray:
        """Features in the model by decreasing I(X_i;Y); shape (m,)."""
        return order_of_features(self)
