"""Log likelihood, AIC and BIC of the models that are one Bayesian network.

The first functions are methods and properties of :class:`~unnaive.models.CountsClassifier`.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._scikit import check_is_fitted
from unnaive.exceptions import UnnaiveError
from unnaive.models.makers import TreeFactors

if TYPE_CHECKING:
    from unnaive.models.base import CountsClassifier
    from unnaive.models.fitted import Fitted


_ROUNDING = 1e-9


class Fit(NamedTuple):
    """Log likelihood of the training rows, number of free parameters, and weight of the rows."""

    log_likelihood: float
    n_parameters: int
    total: float


def log_likelihood(
    self: CountsClassifier, X: object, y: object, sample_weight: object = None
) -> float:
    r"""Compute the log likelihood of samples and their classes.

    .. math:: \sum_n w_n \log P(y_n, x_n)

    in nats, with missing values marginalized out. It is defined for models that are one
    Bayesian network, such as naive Bayes, TAN, KDB and BayesNet.

    Parameters
    ----------
    X : array or table of shape (n, d)
        Samples.
    y : array of shape (n,)
        Their class labels.
    sample_weight : array of shape (n,), default=None
        Their weights; None: 1.

    Returns
    -------
    float
        The log likelihood; larger is better.

    Raises
    ------
    UnnaiveError
        If the model is not a distribution over samples: it averages models or parents, weights
        factors, or is calibrated.
    """
    check_is_fitted(self)
    require_distribution(self.fitted_)
    batch = self._given(X, y, sample_weight, first=False, keep_all=True)
    classes = self.fitted_.schema.encode_target(batch.target)
    logs = self.predict_joint_log_proba(X)[np.arange(len(classes)), classes]
    return float(logs.sum() if batch.weights is None else logs @ batch.weights)


def n_parameters(self: CountsClassifier) -> int:
    """Count the free parameters: (values − 1) × contexts of every table, and the prior."""
    return training_fit(self.fitted_).n_parameters


def aic(self: CountsClassifier) -> float:
    """Akaike's criterion 2 p − 2 log L of the training samples; smaller is better."""
    fit = training_fit(self.fitted_)
    return 2.0 * fit.n_parameters - 2.0 * fit.log_likelihood


def bic(self: CountsClassifier) -> float:
    """Bayesian information criterion p log n − 2 log L of the training samples."""
    fit = training_fit(self.fitted_)
    return fit.n_parameters * log(max(fit.total, 1.0)) - 2.0 * fit.log_likelihood


def require_distribution(fitted: Fitted) -> None:
    """Raise an UnnaiveError with the reason if a model is not one distribution P(c, x)."""
    maker, model = fitted.made_by.maker, fitted.made_by.how.model
    if fitted.calibration is not None:
        raise UnnaiveError(f"this {model} is calibrated, so its joint is not a distribution")
    if isinstance(maker, TreeFactors) and (maker.root_of or maker.factor_of):
        raise UnnaiveError(
            f"the tables of this {model} are not those of a network: they estimate joint "
            'probabilities; use joint_prior=False or parametrization="directed"'
        )
    if type(maker).network is TreeFactors.network and hasattr(fitted.structure, "graphs"):
        raise UnnaiveError(f"this {model} has a network for every class; use per_class=False")
    if abs(np.logaddexp.reduce(fitted.prior)) > _ROUNDING:
        raise UnnaiveError(f"this {model} multiplies probabilities of classes by learned weights")
    fitted.network()


def training_fit(fitted: Fitted) -> Fit:
    r"""Log likelihood of the training rows from counts, and the number of parameters.

    .. math:: \sum_c N_c \log P(c) + \sum_i \sum_{c, \pi, v} N(c, \pi, v) \log P(v \mid \pi, c)

    Each family is counted in the rows in which it is observed. Without missing values this is the
    log likelihood of the rows. Raises an AttributeError with the reason where it is not defined.
    """
    from unnaive.tables.export import family_counts  # noqa: PLC0415 - loads when asked

    try:
        require_distribution(fitted)
        network = fitted.network()
    except UnnaiveError as error:
        raise AttributeError(f"there is no likelihood: {error}") from error
    counts, label = fitted.counts, len(fitted.schema.names)
    total, parameters = 0.0, 0
    for node in (*fitted.structure.used.tolist(), label):
        table, above = network.tables[node], network.dag.parents[node]
        columns = [parent for parent in above if parent != label]
        if node == label:
            observed = counts.class_counts
            if columns:
                family = (columns[-1], *columns[:-1])
                observed = family_counts(counts, family).reshape(counts.n_classes, -1).T
        elif not fitted.schema.sizes[node]:
            continue
        else:
            observed = family_counts(counts, (node, *columns))
            observed = np.moveaxis(observed, 0, 1) if label in above else observed.sum(axis=0)
        observed = np.asarray(observed, dtype=np.float64).reshape(table.shape)
        total += float((observed[observed > 0] * np.log(table[observed > 0])).sum())
        parameters += table.size - table.size // table.shape[-1]
    return Fit(total, parameters, float(counts.total))
