r"""Log-odds of a class against all others, split into what each column contributes.

.. math:: \log \frac{P(c \mid x)}{1 - P(c \mid x)} = J_c - \log \sum_{c' \ne c} e^{J_{c'}}

The first part is a sum of terms, the second the logarithm of a sum; see
:mod:`unnaive.tables.terms.divisia` for how it is split without a residual. With two classes it is
a difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from unnaive.tables.terms.divisia import log_sum, shares_of_sum

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray, Label


@dataclass(frozen=True, eq=False)
class LogOdds:
    """Log-odds of one class a row, and what they are the sum of.

    Attributes
    ----------
    positive : list
        Whose odds they are, one label a row.
    base : ndarray of shape (n,)
        Log-odds before any attribute is known.
    contributions : ndarray of shape (n, m)
        What each attribute, or term, adds; 0 where it is missing.
    labels : tuple of str
        Names of the attributes or terms.
    """

    positive: list[Label]
    base: FloatArray
    contributions: FloatArray
    labels: tuple[str, ...]

    @property
    def total(self) -> FloatArray:
        """Log-odds that the model predicts; shape (n,)."""
        return np.asarray(self.base + self.contributions.sum(axis=1))

    @property
    def probability(self) -> FloatArray:
        """P(c | x) of the positive class; shape (n,)."""
        return np.asarray(expit(self.total))


def split_odds(
    base: FloatArray, parts: FloatArray, chosen: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Split log-odds of a class a row, by what all classes are the sum of; (n,) and (n, t)."""
    rows = np.arange(len(base))
    if base.shape[1] == 1:
        return np.full(len(base), np.inf), np.zeros((len(base), parts.shape[2]))
    others = base.copy()
    others[rows, chosen] = -np.inf
    after = others + parts.sum(axis=2)
    shares = shares_of_sum(after, others, parts).sum(axis=1)
    return base[rows, chosen] - log_sum(others), parts[rows, chosen] - shares
