"""Feature selection by the information that each feature adds."""

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
    """Feature selection by added information: a step of a scikit-learn pipeline.

    Features enter as in :class:`~unnaive.GeneralizedNB`, with the score

    .. math:: I(X_i;Y) + I(X_i;X_{mother}|Y)

    The second term measures the fit of a model of the features, not new information about the
    class, so a copy of a feature has a high score; ``n_features="loo"`` chooses by held-out
    predictions instead. Numeric features, strings and missing values are accepted, and come out
    unchanged.

    Parameters
    ----------
    n_features : int, float or "loo", default=0.5
        Number of features to keep, at least 2, or their share; "loo": the number with the best
        leave-one-out score, by the ``criterion`` of ``estimator``.
    estimator : GeneralizedNB, default=None
        Model whose settings are used; None: ``GeneralizedNB(method="greedy")``.

    Attributes
    ----------
    estimator_ : GeneralizedNB
        Model fitted to all features, with ``feature_order_``, ``feature_importances_`` and
        ``triplets_``.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features; only if ``fit`` was given names.

    See Also
    --------
    GeneralizedNB : The classifier that ranks the features.

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
        """Learn which features to keep.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features.
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        Self
            The fitted selector.
        """
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
        """Tell scikit-learn which input is accepted, and that classes are needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags
