r"""Scores of a numeric variable given its parents, in linear Gaussian networks.

BIC is the log-likelihood of the regression less :math:`\tfrac{\log N}{2} (|pa| + 2)`. BGe is the
marginal likelihood under a normal–Wishart prior, and gives Markov equivalent networks the same
score:

.. math:: \log p(Q) = -\tfrac{lN}{2} \log\pi + \tfrac{l}{2} \log\tfrac{\alpha_\mu}{N+\alpha_\mu}
          + \log\frac{\Gamma_l((N+a)/2)}{\Gamma_l(a/2)} + \tfrac{a}{2} \log|T_Q|
          - \tfrac{N+a}{2} \log|R_Q|

of a set Q of l variables, :math:`a = \alpha_w - n + l`; a family scores
:math:`\log p(pa \cup \{i\}) - \log p(pa)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray

_LEAST = 1e-12  # smallest share of a variance that is left after regression on the parents


@dataclass(eq=False)
class GaussianScores:
    """Scores of families of numeric variables; every search accepts them like discrete scores.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Rows without missing values.
    kind : {"bic", "bge"}, default="bic"
        The score.

    References
    ----------
    Kuipers, Moffa & Heckerman, "Addendum on the scoring of Gaussian directed acyclic graphical
    models", Annals of Statistics 42, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(20.0)
    >>> X = np.column_stack([x, x + np.tile([1.0, -1.0], 10)])
    >>> scores = GaussianScores(X, "bge")
    >>> bool(np.isclose(scores.total([(), (0,)]), scores.total([(1,), ()])))
    True
    """

    X: FloatArray
    kind: str = "bic"
    _known: dict[tuple[int, ...], float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in {"bic", "bge"}:
            raise UnnaiveError(f"criterion={self.kind!r}; it must be 'bic' or 'bge'")
        if self.X.ndim != 2 or not len(self.X) or not np.isfinite(self.X).all():
            raise UnnaiveError("Gaussian scores need rows of numbers without missing values")
        self._rows, n_columns = self.X.shape
        self._mean = self.X.mean(axis=0)
        centred = self.X - self._mean
        self._scatter = centred.T @ centred
        mu, weight = 1.0, n_columns + 2.0
        self._weight = weight
        self._scale = mu * (weight - n_columns - 1) / (mu + 1)
        shift = self._rows * mu / (self._rows + mu)
        self._posterior = self._scatter + self._scale * np.eye(n_columns)
        self._posterior += shift * np.outer(self._mean, self._mean)

    @property
    def sizes(self) -> IntArray:
        """Sizes of the variables, 1 for each; shape (d,)."""
        return np.ones(self.X.shape[1], dtype=np.int64)

    def score_pairs(self) -> None:
        """Do nothing; scores do not need another pass over the rows."""

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """Score of one variable given its parents."""
        above = tuple(sorted(parents))
        if self.kind == "bic":
            return self._bic(node, above)
        return self._marginal(tuple(sorted((*above, node)))) - self._marginal(above)

    def additions(self, node: int, parents: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Scores of a variable with each candidate as a further parent; shape (m,)."""
        return np.array([self.local(node, (*parents, int(other))) for other in candidates])

    def total(self, parents: Sequence[tuple[int, ...]]) -> float:
        """Score of a network: the sum over its variables."""
        return sum(self.local(node, tuple(above)) for node, above in enumerate(parents))

    def _bic(self, node: int, parents: tuple[int, ...]) -> float:
        n, own = self._rows, float(self._scatter[node, node])
        with_parents = self._scatter[list(parents), node]
        inner = self._scatter[np.ix_(parents, parents)]
        slopes = np.linalg.lstsq(inner, with_parents, rcond=None)[0]
        left = max(own - float(with_parents @ slopes), _LEAST * own, np.finfo(float).tiny) / n
        likelihood = -n / 2 * (math.log(2 * math.pi * left) + 1)
        return float(likelihood - math.log(n) / 2 * (len(parents) + 2))

    def _marginal(self, members: tuple[int, ...]) -> float:
        """Log marginal likelihood of some variables."""
        if members not in self._known:
            size, rows = len(members), self._rows
            a = self._weight - self.X.shape[1] + size
            score = -size * rows / 2 * math.log(math.pi) - size / 2 * math.log(rows + 1)
            if size:
                from scipy.special import multigammaln  # noqa: PLC0415 - slow to import

                score += float(multigammaln((rows + a) / 2, size) - multigammaln(a / 2, size))
                score += a / 2 * size * math.log(self._scale)
                chosen = np.ix_(members, members)
                score -= (rows + a) / 2 * float(np.linalg.slogdet(self._posterior[chosen])[1])
            self._known[members] = score
        return float(self._known[members])
