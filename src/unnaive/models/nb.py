"""Naive Bayes, the baseline: every column depends on the class alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unnaive.models.base import CountsClassifier
from unnaive.models.choice import Prefixes, criterion_of, features_of
from unnaive.models.makers import TreeFactors
from unnaive.models.recipe import Learned, Recipe
from unnaive.models.tree import order_of_columns
from unnaive.structure import independent

if TYPE_CHECKING:
    from unnaive._typing import IntArray
    from unnaive.counts import CodedRows
    from unnaive.models.recipe import Source


def no_parents(source: Source, rows: CodedRows | None) -> Learned:
    """Learn naive Bayes' graph, in which no column has a parent but the class."""
    return Learned(independent(source.schema.names, source.schema.target))


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(CountsClassifier):
    r"""Naive Bayes for categories.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c)

    Missing cells have no factor. Counts one number a class and value, not a pair.

    Parameters
    ----------
    n_features : int, float, "loo" or None, default=None
        Keep the columns of largest I(X_i;Y), so many or a share of all; "loo": the number of
        best exact leave-one-out score, all tried in one sweep (selective naive Bayes); None:
        all.
    criterion : {"log_loss", "accuracy", "brier"}, default="log_loss"
        What ``n_features="loo"`` looks at; fewer columns on ties.
    {parameters}

    Attributes
    ----------
    feature_order_ : ndarray of shape (m,)
        Columns in the model by falling I(X_i;Y).
    path_ : dict of arrays
        With ``n_features="loo"``: ``n_features``, ``accuracy``, ``log_loss`` and ``brier``.

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
    assumption: ClassVar[str] = (
        "Within a class, every column is taken to be independent of all others. Each column speaks "
        "once, as if it knew nothing of the rest."
    )

    def recipe(self) -> Recipe:
        """Make a table a column, and keep the columns that tell most."""
        first = Prefixes(self.n_features, self.criterion)
        return Recipe(no_parents, TreeFactors(), first, counts="values", keeps=first.by_rows)

    @property
    def feature_order_(self) -> IntArray:
        """Columns in the model by falling I(X_i;Y); shape (m,)."""
        return order_of_columns(self)
