"""Feature selection by what each column adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin

from unnaive._scikit import BaseEstimator, check_is_fitted, clone
from unnaive.models.gnb import GeneralizedNB

if TYPE_CHECKING:
    from unnaive._typing import BoolArray


@dataclass(eq=False, repr=False, kw_only=True)
class SelectByInformation(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the columns that add most information: a step of a scikit-learn pipeline.

    Columns enter as in :class:`~unnaive.GeneralizedNB`, scored by I(X_i;Y) + I(X_i;X_mother|Y).
    The second term is what makes a model of the columns fit the data; it does not say anything
    new about the class, so that a copy of a column scores high. ``n_features="loo"`` asks the
    rows. Columns of numbers, labels and gaps are all welcome; they come out as they went in.

    Parameters
    ----------
    n_features : int, float or "loo", default=0.5
        How many columns to keep, at least 2, or which share of them; "loo": as many as score
        best when rows are left out, by ``estimator``'s own ``criterion``.
    estimator : GeneralizedNB, default=None
        Whose settings are used; None: ``GeneralizedNB(method="greedy")``.

    Attributes
    ----------
    estimator_ : GeneralizedNB
        Fitted on all columns, with ``feature_order_``, ``feature_importances_``, ``triplets_``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from unnaive import SelectByInformation
    >>> from unnaive.datasets import load_wdbc
    >>> X, y = load_wdbc().X, load_wdbc().y
    >>> select, classify = SelectByInformation(n_features=5), LogisticRegression(max_iter=5000)
    >>> make_pipeline(select, classify).fit(X, y)[0].get_support(indices=True)
    array([ 0,  2,  3, 20, 23])
    """

    n_features: Any = 0.5
    estimator: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which columns to keep; rows as in ``GeneralizedNB.fit``."""
        model = GeneralizedNB(method="greedy") if self.estimator is None else clone(self.estimator)
        self.estimator_ = model.set_params(n_features=self.n_features).fit(X, y, sample_weight)
        self.n_features_in_ = self.estimator_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return np.isin(np.arange(self.n_features_in_), self.estimator_.feature_order_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what is welcome, and that classes are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
