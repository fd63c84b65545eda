r"""Smoothing policies: the pseudo-counts that are added before counts become probabilities.

Every policy has the form

.. math:: P(x \mid \mathrm{ctx}) = \frac{N(x,\mathrm{ctx}) + \alpha_x}{N_\mathrm{ctx} + A},
          \qquad A = \sum_x \alpha_x,

and only defines :math:`\alpha` (Mathematics 0.5). The division is done in one place,
:func:`unnaive.tables.trees.estimate`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import Inherits

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import FloatArray, State
    from unnaive.tables.posterior import View

_LARGEST = 1e100  # sums of larger pseudo-counts overflow; such estimates are uniform long before


@dataclass(frozen=True)
class Smoothing(Inherits):
    """Base class of the smoothing policies.

    A policy is passed to a model as ``smoothing=Laplace(0.5)``, or by its name with an optional
    strength, as in ``smoothing="laplace:0.5"``.

    See Also
    --------
    Laplace : The same pseudo-count for every value.
    MEstimate : The same pseudo-count for every context.
    BDeu : One pseudo-count for the whole table.
    Backoff : Pseudo-counts in proportion to the frequencies of the values.
    Hierarchical : Pseudo-counts in proportion to the estimate with one parent less.
    ML : No pseudo-counts.

    Examples
    --------
    >>> from unnaive import Laplace
    >>> alpha, total = Laplace(0.5).pseudo_counts(n_values=3, n_contexts=2, frequencies=None)
    >>> alpha.tolist(), total
    ([0.5, 0.5, 0.5], 1.5)
    """

    key: ClassVar[str]
    splits_contexts: ClassVar[bool] = False
    uses_frequencies: ClassVar[bool] = False
    is_hierarchical: ClassVar[bool] = False
    guard: ClassVar[float] = 0.0
    view: ClassVar[View | None] = None

    def viewed(self, view: View | None) -> Self:
        """Return the policy with another view of the tables than their log-probabilities.

        Parameters
        ----------
        view : View or None
            Means, variances or draws, see :mod:`unnaive.tables.posterior`; None: none of these.

        Returns
        -------
        Self
            A copy.
        """
        same = copy(self)
        same.__dict__["view"] = view
        return same

    @property
    def strength(self) -> float:
        """The number that the policy was created with."""
        return float(next(iter(asdict(self).values()), 0.0) or 0.0)

    @property
    def concentration(self) -> float | None:
        """Pseudo-count of every level of a hierarchy; None lets leave-one-out choose it."""
        return None

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return the pseudo-counts of one context.

        Parameters
        ----------
        n_contexts : int
            Number of contexts that are possible.

        Returns
        -------
        each : float
            Pseudo-count of every value.
        shared : float
            Pseudo-count that all values of a context share.
        """
        return 0.0, self.strength / (max(n_contexts, 1) if self.splits_contexts else 1)

    def pseudo_counts(
        self, n_values: int, n_contexts: int, frequencies: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return α of every value, and their sum A.

        Parameters
        ----------
        n_values : int
            Number of values v.
        n_contexts : int
            Number of contexts that are possible.
        frequencies : ndarray of shape (v,)
            Relative frequencies of the values in all contexts together.

        Returns
        -------
        alpha : ndarray of shape (v,)
            Pseudo-counts.
        total : float
            Their sum.
        """
        each, shared = self.shares(n_contexts)
        parts = frequencies if self.uses_frequencies else np.full(n_values, 1 / max(n_values, 1))
        return each + shared * parts, each * n_values + shared

    def __post_init__(self) -> None:
        if not 0 <= self.strength <= _LARGEST:
            raise ValueError(f"{self}: the strength of smoothing must be a number from 0 to 1e100")

    def state(self) -> State:
        """Return plain values for saved files.

        Returns
        -------
        dict
            The name of the policy and its strength.
        """
        return {"policy": self.key, **asdict(self)}


@dataclass(frozen=True)
class Laplace(Smoothing):
    r"""Laplace smoothing: the same pseudo-count for every value.

    .. math:: P(x \mid \mathrm{ctx}) = \frac{N(x,\mathrm{ctx}) + a}{N_\mathrm{ctx} + a v}

    The more values v a feature has, the more it is smoothed. ``a=1`` is the rule of succession,
    ``a=0.5`` the estimate of Krichevsky and Trofimov.

    Parameters
    ----------
    a : float, default=1.0
        Pseudo-count of every value; at least 0.

    See Also
    --------
    MEstimate : A pseudo-count that does not grow with the number of values.

    Examples
    --------
    >>> from unnaive import Laplace, NaiveBayes
    >>> model = NaiveBayes(smoothing=Laplace(0.5)).fit([["a"], ["a"], ["b"]], [0, 0, 1])
    >>> model.predict_proba([["a"]]).round(3).tolist()
    [[0.847, 0.153]]
    """

    a: float = 1.0
    key: ClassVar[str] = "laplace"

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return ``a`` for every value; nothing is shared."""
        return self.a, 0.0


@dataclass(frozen=True)
class MEstimate(Smoothing):
    r"""M-estimate: the same pseudo-count for every context, spread evenly over the values.

    .. math:: P(x \mid \mathrm{ctx}) = \frac{N(x,\mathrm{ctx}) + m/v}{N_\mathrm{ctx} + m}

    Parameters
    ----------
    m : float, default=1.0
        Pseudo-count of every context; at least 0.

    See Also
    --------
    Laplace : A pseudo-count for every value.
    Backoff : Spread in proportion to the frequencies of the values.

    Examples
    --------
    >>> from unnaive import MEstimate
    >>> MEstimate(1).shares(n_contexts=4)
    (0.0, 1.0)
    """

    m: float = 1.0
    key: ClassVar[str] = "m-estimate"


@dataclass(frozen=True)
class Weka(MEstimate):
    """The smoothing of WEKA's hidden naive Bayes: m-estimate, and information with a guard.

    A term of the information whose numerator or denominator is below 1e-6 counts as 0.
    """

    key: ClassVar[str] = "weka"
    guard: ClassVar[float] = 1e-6


@dataclass(frozen=True)
class BDeu(Smoothing):
    r"""BDeu: one pseudo-count for the whole table, spread over its q contexts and v values.

    .. math:: P(x \mid \mathrm{ctx}) = \frac{N(x,\mathrm{ctx}) + s/(v q)}{N_\mathrm{ctx} + s/q}

    The pseudo-counts of a table and of its marginal tables agree. Tables with many contexts are
    smoothed very little.

    Parameters
    ----------
    s : float, default=1.0
        Equivalent sample size; at least 0.

    See Also
    --------
    MEstimate : The pseudo-count does not depend on the number of contexts.

    Examples
    --------
    >>> from unnaive import BDeu
    >>> BDeu(1).shares(n_contexts=4)
    (0.0, 0.25)
    """

    s: float = 1.0
    key: ClassVar[str] = "bdeu"
    splits_contexts: ClassVar[bool] = True


@dataclass(frozen=True)
class Backoff(Smoothing):
    r"""Back-off: a pseudo-count for every context, in proportion to the values' frequencies.

    .. math:: P(x \mid \mathrm{ctx}) = \frac{N(x,\mathrm{ctx}) + s P(x)}{N_\mathrm{ctx} + s}

    Parameters
    ----------
    s : float, default=5.0
        Pseudo-count of every context; at least 0.

    See Also
    --------
    Hierarchical : Backs off one parent at a time, with strengths learned from the data.

    References
    ----------
    Friedman, Geiger & Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997; they
    use s = 5.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import Backoff
    >>> Backoff(5).pseudo_counts(2, 1, np.array([0.8, 0.2]))[0].tolist()
    [4.0, 1.0]
    """

    s: float = 5.0
    key: ClassVar[str] = "backoff"
    uses_frequencies: ClassVar[bool] = True


@dataclass(frozen=True)
class Hierarchical(Smoothing):
    """Hierarchical smoothing: each table backs off to the table with one parent less.

    P(x | c, p, …) backs off to P(x | c, p), this to P(x | c), and this to P(x). By default, the
    strength of every feature and depth is the one that maximizes the leave-one-out likelihood. So
    a feature that does not depend on the class gets the same probabilities in all classes. See
    :mod:`unnaive.tables.hierarchy`. The prior P(c) has one pseudo-count, spread evenly; searches
    for groups of features also use that one.

    Parameters
    ----------
    s : float or None, default=None
        Pseudo-count of every context, above 0. None chooses it by leave-one-out.

    See Also
    --------
    Backoff : Backs off directly to P(x), with a fixed strength.

    Examples
    --------
    >>> from unnaive import TAN, Hierarchical
    >>> X, y = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5, [0, 0, 1, 1] * 5
    >>> TAN(smoothing=Hierarchical()).fit(X, y).predict([["a", "u"], ["b", "u"]]).tolist()
    [0, 1]
    """

    s: float | None = None
    key: ClassVar[str] = "hierarchical"
    is_hierarchical: ClassVar[bool] = True

    @property
    def concentration(self) -> float | None:
        """The parameter ``s``."""
        return self.s

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.s == 0:
            raise ValueError(f"{self}: s must be above 0; for no smoothing use 'ml'")

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return one pseudo-count per context, for tables without a hierarchy."""
        return 0.0, 1.0


@dataclass(frozen=True)
class ML(Smoothing):
    r"""Maximum likelihood: no smoothing.

    .. math:: P(x \mid \mathrm{ctx}) = N(x,\mathrm{ctx}) / N_\mathrm{ctx}

    A context without any samples has 1/v for every value. Values that do not occur in a class have
    probability 0 there.

    See Also
    --------
    Laplace : Avoids probabilities of 0.

    Examples
    --------
    >>> from unnaive import ML, NaiveBayes
    >>> model = NaiveBayes(smoothing=ML()).fit([["a"], ["a"], ["b"]], [0, 0, 1])
    >>> model.predict_proba([["a"]]).tolist()
    [[1.0, 0.0]]
    """

    key: ClassVar[str] = "ml"


POLICIES: dict[str, type[Smoothing]] = {
    policy.key: policy for policy in (Laplace, MEstimate, Weka, BDeu, Backoff, Hierarchical, ML)
}


def smoothing_policy(smoothing: Smoothing | str | None, default: Smoothing) -> Smoothing:
    """Read the parameter ``smoothing``: a policy, its name, a name with a strength, or None.

    Parameters
    ----------
    smoothing : Smoothing, str or None
        What the user gave.
    default : Smoothing
        The policy for None.

    Returns
    -------
    Smoothing
        The policy.

    Examples
    --------
    >>> smoothing_policy("laplace:0.5", ML())
    Laplace(a=0.5)
    >>> smoothing_policy(None, MEstimate(1))
    MEstimate(m=1)
    """
    if smoothing is None:
        return default
    if isinstance(smoothing, Smoothing):
        return smoothing
    names = ", ".join(repr(name) for name in POLICIES)
    name, _, strength = smoothing.partition(":") if isinstance(smoothing, str) else ("", "", "")
    if name not in POLICIES:
        raise ValueError(
            f"smoothing={smoothing!r}; it must be a policy such as Laplace(1), or one of {names}, "
            "optionally with a strength: 'laplace:0.5'"
        )
    try:
        return POLICIES[name](*([float(strength)] if strength else []))
    except (TypeError, ValueError):
        raise ValueError(
            f"smoothing={smoothing!r}: {strength!r} is not a strength for {name!r}; give a number "
            "above 0, as in 'laplace:0.5'"
        ) from None
