"""Naive Bayes, the baseline: every column depends on the class alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unnaive.models.tree import SelectiveTree
from unnaive.structure import ParentGraph, independent

if TYPE_CHECKING:
    from unnaive.counts import CodedRows, JointCounts


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(SelectiveTree):
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
    feature_path_ : dict of arrays
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

    needs_pairs: ClassVar[bool] = False

    def _whole_graph(self, source: JointCounts | CodedRows) -> ParentGraph:
        return independent(source.schema.names, source.schema.target)
