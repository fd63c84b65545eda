r"""Smoothing policies: what is added to counts before they become probabilities.

Every policy is of the form

.. math:: P(x \mid \mathrm{ctx}) = \frac{N(x,\mathrm{ctx}) + \alpha_x}{N_\mathrm{ctx} + A},
          \qquad A = \sum_x \alpha_x,

and only says what :math:`\alpha` is (Mathematics 0.5); the division is in one place,
:func:`unnaive.tables.kernels.log_estimate`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State


@dataclass(frozen=True)
class Smoothing(ABC):
    """Base of the policies."""

    key: ClassVar[str]
    splits_contexts: ClassVar[bool] = False
    uses_frequencies: ClassVar[bool] = False
    is_hierarchical: ClassVar[bool] = False
    guard: ClassVar[float] = 0.0

    @property
    def strength(self) -> float:
        """The policy's one number."""
        return float(next(iter(asdict(self).values()), 0.0) or 0.0)

    @property
    def concentration(self) -> float | None:
        """What every level of a hierarchy leans with; None: as leave-one-out chooses."""
        return None

    @abstractmethod
    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return what every value gets, and what all values of a context share."""

    def pseudo_counts(
        self, n_values: int, n_contexts: int, frequencies: FloatArray
    ) -> tuple[FloatArray, float]:
        """Return α of every value, and their sum A.

        ``frequencies`` are the values' own relative frequencies, whatever the context.
        """
        each, shared = self.shares(n_contexts)
        parts = frequencies if self.uses_frequencies else np.full(n_values, 1 / max(n_values, 1))
        return each + shared * parts, each * n_values + shared

    def __post_init__(self) -> None:
        if not np.isfinite(self.strength) or self.strength < 0:
            raise ValueError(f"{self}: the strength of smoothing must be a number of at least 0")

    def state(self) -> State:
        """Plain values for the store."""
        return {"policy": self.key, **asdict(self)}


@dataclass(frozen=True)
class Laplace(Smoothing):
    """``a`` imaginary rows in every cell: (N(x,ctx) + a) / (N_ctx + a·v)."""

    a: float = 1.0
    key: ClassVar[str] = "laplace"

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return ``a`` a value."""
        return self.a, 0.0


@dataclass(frozen=True)
class MEstimate(Smoothing):
    """``m`` imaginary rows a context, spread evenly: (N(x,ctx) + m/v) / (N_ctx + m)."""

    m: float = 1.0
    key: ClassVar[str] = "m-estimate"

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return m a context."""
        return 0.0, self.m


@dataclass(frozen=True)
class Weka(MEstimate):
    """WEKA's hidden naive Bayes to the letter: m-estimate, and information with a guard.

    A term of the information whose numerator or denominator is below 1e-6 counts as 0.
    """

    key: ClassVar[str] = "weka"
    guard: ClassVar[float] = 1e-6


@dataclass(frozen=True)
class BDeu(Smoothing):
    """``s`` imaginary rows in all, spread over contexts and values; its marginals agree.

    (N(x,ctx) + s/(v·q)) / (N_ctx + s/q), q the number of contexts.
    """

    s: float = 1.0
    key: ClassVar[str] = "bdeu"
    splits_contexts: ClassVar[bool] = True

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return s/q a context."""
        return 0.0, self.s / n_contexts


@dataclass(frozen=True)
class Backoff(Smoothing):
    """``s`` imaginary rows a context, spread like the value's own frequencies.

    (N(x,ctx) + s·P(x)) / (N_ctx + s); Friedman, Geiger & Goldszmidt (1997) use s = 5.
    """

    s: float = 5.0
    key: ClassVar[str] = "backoff"
    uses_frequencies: ClassVar[bool] = True

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return s a context."""
        return 0.0, self.s


@dataclass(frozen=True)
class Hierarchical(Smoothing):
    """``s`` imaginary rows a context, spread like the values in the context with a parent less.

    P(x | c, p, …) leans on P(x | c, p), that on P(x | c), that on P(x). None: the s of every
    column and depth under which the rows, each left out, are likeliest, so that a column which
    does not depend on the class comes to say nothing. See :mod:`unnaive.tables.hierarchy`. P(c)
    has one imaginary row, spread evenly; searches for groups judge them so, too.
    """

    s: float | None = None
    key: ClassVar[str] = "hierarchical"
    is_hierarchical: ClassVar[bool] = True

    @property
    def concentration(self) -> float | None:
        """Return s."""
        return self.s

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.s == 0:
            raise ValueError(f"{self}: without a row a context has nothing to lean on; use 'ml'")

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return one row a context, for what has no levels."""
        return 0.0, 1.0


@dataclass(frozen=True)
class ML(Smoothing):
    """Nothing added: N(x,ctx) / N_ctx, and 1/v for a context that never occurred."""

    key: ClassVar[str] = "ml"

    def shares(self, n_contexts: int) -> tuple[float, float]:
        """Return nothing."""
        return 0.0, 0.0


POLICIES: dict[str, type[Smoothing]] = {
    policy.key: policy for policy in (Laplace, MEstimate, Weka, BDeu, Backoff, Hierarchical, ML)
}


def smoothing_policy(smoothing: Smoothing | str | None, default: Smoothing) -> Smoothing:
    """Read ``smoothing=``: a policy, its name, a name with its strength, or None.

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
            "with a strength if you like: 'laplace:0.5'"
        )
    if not strength:
        return POLICIES[name]()
    try:
        return POLICIES[name](float(strength))  # type: ignore[call-arg]
    except (TypeError, ValueError):
        raise ValueError(
            f"smoothing={smoothing!r}: {strength!r} is no strength for {name!r}; give a number "
            "above 0, as in 'laplace:0.5'"
        ) from None
