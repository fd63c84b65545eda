r"""Log-odds of a class against all others, as a sum over features.

.. math:: \log \frac{P(c \mid x)}{1 - P(c \mid x)} = J_c - \log \sum_{c' \ne c} e^{J_{c'}}

where :math:`J_c = \log P(c, x)` is a sum of terms. The second part is the logarithm of a sum, which
:mod:`unnaive.tables.terms.divisia` splits without a residual; with two classes it is
:math:`J_{c'}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from unnaive._dataclasses import dataclass
from unnaive.tables.terms.divisia import log_sum, shares_of_sum

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False, repr=False)
class LogOdds:
    r"""Log-odds of one class for every sample, and the contributions that add up to them.

    .. math:: \log \frac{P(c \mid x)}{1 - P(c \mid x)} = b + \sum_j a_j

    Parameters
    ----------
    positive : list
        The class whose odds these are, one label for each sample.
    base : ndarray of shape (n,)
        Log-odds of the prior, before any feature is used.
    contributions : ndarray of shape (n, m)
        What each feature, group of features or term adds; 0 where it is missing.
    labels : tuple of str
        Names of the features, groups or terms.

    See Also
    --------
    Explanation.log_odds : Computes them.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["yes", "old"], ["yes", "young"], ["no", "old"], ["no", "young"]] * 5
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"] * 5)
    >>> odds = model.explain(X[:1]).log_odds(positive="ill")
    >>> odds.labels, odds.contributions.round(2)
    (('x0', 'x1'), array([[2.4, 0. ]]))
    >>> odds.probability.round(2)
    array([0.92])
    """

    positive: list[Label]
    base: FloatArray
    contributions: FloatArray
    labels: tuple[str, ...]

    def __repr__(self) -> str:
        n, m = self.contributions.shape
        rows, labels = f"{n} row{'s' * (n != 1)}", sorted(set(map(str, self.positive)))
        return f"LogOdds({rows}, {m} contributions, of {labels})"

    @property
    def total(self) -> FloatArray:
        """Log-odds that the model predicts; shape (n,)."""
        return np.asarray(self.base + self.contributions.sum(axis=1))

    @property
    def probability(self) -> FloatArray:
        """Posterior probability P(c | x) of the positive class; shape (n,)."""
        return np.asarray(expit(self.total))


def split_odds(
    base: FloatArray, parts: FloatArray, chosen: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Split the log-odds of one class of every row into base and terms; (n,) and (n, t)."""
    rows = np.arange(len(base))
    if base.shape[1] == 1:
        return np.full(len(base), np.inf), np.zeros((len(base), parts.shape[2]))
    others = base.copy()
    others[rows, chosen] = -np.inf
    after = others + parts.sum(axis=2)
    shares = shares_of_sum(after, others, parts).sum(axis=1)
    return base[rows, chosen] - log_sum(others), parts[rows, chosen] - shares
