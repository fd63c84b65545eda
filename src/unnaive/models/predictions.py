"""Predictions that every model gives: probabilities, single samples, explanations.

The functions are methods of :class:`~unnaive.models.Classifier`; all use the log joint probability.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from unnaive._core.tables import log_posterior, posterior
from unnaive._docstrings import described_like
from unnaive.models.partitioned import on_partitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unnaive._typing import FloatArray, Label
    from unnaive.explain import Explanation
    from unnaive.models.classifier import Classifier


@on_partitions
def predict_joint_log_proba(self: Classifier, X: object) -> FloatArray:
    """Compute the log joint probability log P(c, x) of samples.

    Parameters
    ----------
    X : array or table of shape (n, d), list of mappings, Dask or Spark frame, stream
        Samples. The predictions of a stream are a stream, with new columns beside its own.

    Returns
    -------
    ndarray of shape (n, k)
        Logarithms, not normalized over the classes.
    """
    return self._answer(X)


@on_partitions
@described_like(predict_joint_log_proba)
def predict_log_proba(self: Classifier, X: object) -> FloatArray:
    """Compute the log posterior probability log P(c | x) of samples.

    Returns
    -------
    ndarray of shape (n, k)
        Logarithms of the posterior probabilities, classes in the order of ``classes_``.
    """
    return self._answer(X, log_posterior)


@on_partitions
@described_like(predict_joint_log_proba)
def predict_proba(self: Classifier, X: object) -> FloatArray:
    """Compute the posterior probability P(c | x) of samples.

    Missing values and unseen categories are marginalized out, unless
    ``handle_unknown="error"``.

    Returns
    -------
    ndarray of shape (n, k)
        Posterior probabilities, classes in the order of ``classes_``.
    """
    return self._answer(X, posterior)


def predict_one(self: Classifier, row: Mapping[str, object]) -> Label:
    """Predict the class of one sample.

    Parameters
    ----------
    row : mapping
        Values by name of the feature; names that are absent are missing values.

    Returns
    -------
    label
        Most probable class.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> rows = [{"wind": "calm"}, {"wind": "gale"}, {"wind": "gale"}, {"wind": "calm"}]
    >>> model = NaiveBayes().fit(rows, ["sail", "stay", "stay", "sail"])
    >>> model.predict_one({"wind": "gale"}), model.predict_proba_one({})
    ('stay', {'sail': 0.5, 'stay': 0.5})
    """
    label: Label = self.predict([row]).tolist()[0]
    return label


@described_like(predict_one)
def predict_proba_one(self: Classifier, row: Mapping[str, object]) -> dict[Label, float]:
    """Compute the posterior probability P(c | x) of one sample.

    Returns
    -------
    dict
        Probability by class label.
    """
    chances = self.predict_proba([row]).tolist()[0]
    return dict(zip(self.classes_.tolist(), chances, strict=True))


def predict_log_conditionals(
    self: Classifier, X: object, mode: str = "full-conditional"
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute the log conditional probability of every value of samples.

    Parameters
    ----------
    X : array or table of shape (n, d)
        Samples.
    mode : {"full-conditional", "parents"}, default="full-conditional"
        Condition on all other values of the sample, or on those of the feature's parents.

    Returns
    -------
    given : ndarray of shape (n, k, d)
        Log p(x_i | …, c), 0 for missing values and for features that are not in the model.
    alone : ndarray of shape (n, k, d)
        Log p(x_i | c), the factors of naive Bayes, with the same zeros.
    log_prior : ndarray of shape (k,)
        Log P(c).
    """
    if mode not in {"parents", "full-conditional"}:
        raise ValueError(f"mode={mode!r}; it must be 'full-conditional' or 'parents'")
    return self._log_conditionals(self.known_frame(X), mode)


def explain(self: Classifier, X: object) -> Explanation:
    """Explain predictions by the contribution of every feature.

    Together with the prior, the contributions add up to the log joint and to the log odds that
    the model predicts; see :class:`unnaive.explain.Explanation`.

    Parameters
    ----------
    X : array or table of shape (n, d), list of mappings
        Samples.

    Returns
    -------
    Explanation
        Contributions of all samples, as arrays, as text and as plots.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "mild"], ["rainy", None]]
    >>> model = NaiveBayes().fit(X, ["no", "yes", "no", "yes"])
    >>> print(model.explain([["sunny", None]]).text())
    y = yes: 25 % (starting probability 50 %)
      against yes
        x0 = sunny    -1.10  odds ÷ 3
      missing: x1
    """
    from unnaive.explain.explanation import explanation_of  # noqa: PLC0415 - loads when asked

    same = copy(self)  # as it is fitted now, whatever another thread does meanwhile
    return explanation_of(same, same.known_frame(X))
