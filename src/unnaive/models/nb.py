"""Naive Bayes, the baseline: every column depends on the class alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unnaive.models.tree import TreeClassifier
from unnaive.structure import ParentGraph, independent

if TYPE_CHECKING:
    from unnaive.counts import CodedRows, JointCounts


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(TreeClassifier):
    r"""Naive Bayes for categories.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c)

    Missing cells have no factor. Counts one number a class and value, not a pair.

    Parameters
    ----------
    {parameters}

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

    def _learn_structure(self, source: JointCounts | CodedRows) -> ParentGraph:
        return independent(source.schema.names, source.schema.target)
