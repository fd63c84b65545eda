"""Tests of conditional independence, of discrete and of Gaussian variables."""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.families import context_of
from unnaive.information.scores import whole_logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from unnaive._typing import CodeArray, CountArray, FloatArray, IntArray

    Given = tuple[int, ...]

MOST_CELLS = 2**62  # beyond this a context has no number
_MOST_VALUES = 1 << 30  # of a variable in the core
SINGULAR = 1e-10  # remaining variance of a standardized variable that others determine
NEARLY_ONE = 1 - 2.0**-53


class Outcome(NamedTuple):
    """Statistic, degrees of freedom and p-value of a test; NaN if there are too few rows."""

    statistic: float
    freedom: float
    p_value: float


class PlainRows(NamedTuple):
    """Coded rows without weights, as the core takes them."""

    codes: CodeArray
    sizes: IntArray
    logs: FloatArray
    min_rows_per_cell: float


@dataclass(frozen=True, eq=False)
class IndependenceTest:
    """Test of conditional independence: variables are independent if the p-value exceeds alpha.

    Every outcome is computed once and cached. If there are too few rows, variables count as
    dependent.

    Attributes
    ----------
    measure : callable
        Computes an outcome.
    alpha : float
        Significance level.
    outcomes : dict
        The outcomes so far.
    rows : PlainRows, optional
        Rows from which the core computes the same likelihood ratios.
    """

    measure: Callable[[int, int, Given], Outcome]
    alpha: float
    outcomes: dict[tuple[int, int, Given], Outcome] = field(default_factory=dict, repr=False)
    rows: PlainRows | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha}; it must lie between 0 and 1")

    def outcome(self, first: int, second: int, given: Given = ()) -> Outcome:
        """Outcome of a test; the order of the pair and of the given variables does not matter."""
        key = (min(first, second), max(first, second), tuple(sorted(given)))
        if key not in self.outcomes:
            self.outcomes[key] = self.measure(*key)
        return self.outcomes[key]

    def __call__(self, first: int, second: int, given: Given = ()) -> bool:
        """Whether two variables are independent given others."""
        return self.outcome(first, second, given).p_value > self.alpha

    def critical(self, freedom: float) -> float:
        """Statistic whose p-value is alpha."""
        from scipy.special import chdtri  # noqa: PLC0415 - slow to import

        return float(chdtri(freedom, self.alpha))


def chi_square_test(
    codes: ArrayLike,
    sizes: ArrayLike,
    alpha: float = 0.05,
    weights: ArrayLike | None = None,
    min_rows_per_cell: float = 5,
    *,
    adjust_zeros: bool = False,
) -> IndependenceTest:
    r"""Make the likelihood ratio test of conditional independence of discrete variables.

    .. math:: G^2 = 2 \sum_{x,y,s} N_{xys} \log \frac{N_{xys} N_s}{N_{xs} N_{ys}}

    is asymptotically χ² distributed with :math:`(v_x - 1)(v_y - 1) \prod v_s` degrees of freedom
    if X and Y are independent given S.

    Parameters
    ----------
    codes : array of shape (d, n)
        Codes of each variable; its size is the code of a missing value. A test uses the rows in
        which all its variables are observed.
    sizes : array of shape (d,)
        Number of values of every variable.
    alpha : float, default=0.05
        Significance level: how often independent variables are called dependent.
    weights : array of shape (n,), optional
        How many rows each row represents.
    min_rows_per_cell : float, default=5
        Variables are called dependent if there are fewer rows than this times the number of
        cells :math:`v_x v_y \prod v_s`.
    adjust_zeros : bool, default=False
        Subtract the degrees of freedom of values that do not occur for some s.

    Returns
    -------
    IndependenceTest
        The test, called with two variables and those that are given.

    References
    ----------
    Bishop, Fienberg & Holland, *Discrete Multivariate Analysis*, 1975. Spirtes, Glymour &
    Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000, section 5.5.

    Examples
    --------
    >>> coins = [[0, 0, 1, 1] * 10, [0, 1, 0, 1] * 10, [0, 1, 1, 0] * 10]  # two, and their sum
    >>> independent = chi_square_test(coins, [2, 2, 2])
    >>> independent(0, 1), independent(0, 1, (2,))
    (True, False)
    >>> independent.outcome(0, 1, (2,)).freedom
    2.0
    """
    rows = _Rows.checked(codes, sizes, weights)
    measure = partial(rows.outcome, min_rows_per_cell, adjust_zeros)
    plain = None if adjust_zeros else rows.plain(min_rows_per_cell)
    return IndependenceTest(measure, alpha, rows=plain)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Coded rows: ``codes`` (d, n), ``sizes`` (d,), ``weights`` (n,) or None."""

    codes: CodeArray
    sizes: IntArray
    weights: FloatArray | None

    @classmethod
    def checked(cls, codes: ArrayLike, sizes: ArrayLike, weights: ArrayLike | None) -> _Rows:
        coded, width = np.asarray(codes), np.asarray(sizes, dtype=np.int64)
        if coded.ndim != 2 or width.shape != coded.shape[:1]:
            raise ValueError(f"codes of shape {coded.shape} with sizes of shape {width.shape}")
        if coded.min(initial=0) < 0:
            raise ValueError("a code is negative; a missing cell is coded as its variable's size")
        if weights is None:
            return cls(coded, width, None)
        share = np.asarray(weights, dtype=np.float64)
        if share.shape != coded.shape[1:]:
            raise ValueError(f"{coded.shape[1]} rows with weights of shape {share.shape}")
        return cls(coded, width, share)

    def plain(self, min_rows_per_cell: float) -> PlainRows | None:
        """Return the rows as the core takes them, or None if it does not take them."""
        codes, sizes = np.ascontiguousarray(self.codes), np.ascontiguousarray(self.sizes)
        if self.weights is not None or codes.dtype.kind not in "iu":
            return None
        if sizes.min(initial=0) < 0 or sizes.max(initial=0) >= _MOST_VALUES:
            return None
        if codes.dtype not in (np.uint8, np.uint16, np.uint32):
            if codes.max(initial=0) > np.iinfo(np.uint32).max:
                return None
            codes = codes.astype(np.uint32)
        return PlainRows(codes, sizes, whole_logs(codes.shape[1]), float(min_rows_per_cell))

    @cached_property
    def domain(self) -> IntArray:
        """Numbers of values, 1 for variables that have none; shape (d,)."""
        return np.maximum(self.sizes, 1)

    @cached_property
    def total(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.codes.shape[1] if self.weights is None else float(self.weights.sum())

    def outcome(
        self, min_rows_per_cell: float, adjust_zeros: bool, first: int, second: int, given: Given
    ) -> Outcome:
        """Test two variables given others."""
        shape = self.domain[[first, second]]
        width = math.prod(self.domain[list(given)].tolist())
        freedom = float((shape - 1).prod()) * width
        if freedom == 0:
            return Outcome(0.0, 0.0, 1.0)
        cells = width * int(shape.prod())
        if self.total >= min_rows_per_cell * cells and cells <= MOST_CELLS:
            table = self.table(first, second, given)
            if table.sum() >= min_rows_per_cell * cells:
                return _likelihood_ratio(table, None if adjust_zeros else freedom)
        return Outcome(math.nan, freedom, math.nan)

    def table(self, first: int, second: int, given: Given) -> CountArray:
        """Count N(given, first, second) in rows where all are observed; shape (m, v, v).

        If there are many contexts, those that do not occur are left out.
        """
        number, observed = context_of(self.codes, self.sizes, (*given, first, second))
        weights = self.weights
        if not observed.all():
            number = number[observed]
            weights = None if weights is None else weights[observed]
        shape = self.domain[[first, second]]
        width, cells = math.prod(self.domain[list(given)].tolist()), int(shape.prod())
        if width > max(1024, len(number)):
            contexts, place = np.unique(number // cells, return_inverse=True)
            number, width = place * cells + number % cells, len(contexts)
        return np.bincount(number, weights, minlength=width * cells).reshape(width, *shape)


def _likelihood_ratio(table: CountArray, freedom: float | None) -> Outcome:
    """G² of a table N(s, x, y); None: count the degrees of freedom of values that occur."""
    across, along = table.sum(axis=2), table.sum(axis=1)
    total = across.sum(axis=1)
    expected = across[:, :, None] * (along / np.where(total > 0, total, 1)[:, None])[:, None, :]
    from scipy.special import chdtrc, rel_entr  # noqa: PLC0415 - slow to import

    statistic = max(2 * float(rel_entr(table, expected).sum()), 0.0)
    if freedom is None:
        spread = [np.maximum((sums > 0).sum(axis=1) - 1, 0) for sums in (across, along)]
        freedom = float((spread[0] * spread[1]).sum())
    return Outcome(statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0)


def fisher_z_test(covariance: ArrayLike, n_rows: int, alpha: float = 0.05) -> IndependenceTest:
    r"""Make Fisher's test of conditional independence of jointly Gaussian variables.

    .. math:: z = \sqrt{n - |S| - 3} \, \operatorname{artanh} \rho_{xy \cdot S}

    of the partial correlation given S is approximately standard normal if X and Y are
    independent given S. A variable that the given ones determine is constant given these, so it
    is independent of all others.

    Parameters
    ----------
    covariance : array of shape (d, d)
        Covariances, or correlations.
    n_rows : int
        Number of rows they were computed from; variables are called dependent if n ≤ \|S\| + 3.
    alpha : float, default=0.05
        Significance level: how often independent variables are called dependent.

    Returns
    -------
    IndependenceTest
        The test, called with two variables and those that are given.

    References
    ----------
    Fisher, "The distribution of the partial correlation coefficient", Metron 3, 1924.

    Examples
    --------
    >>> chain = [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]]  # 0 → 1 → 2
    >>> independent = fisher_z_test(chain, 100)
    >>> independent(0, 2), independent(0, 2, (1,))
    (False, True)
    """
    spread = np.asarray(covariance, dtype=np.float64)
    if spread.ndim != 2 or spread.shape[0] != spread.shape[1] or not np.isfinite(spread).all():
        raise ValueError(f"covariance of shape {spread.shape}; it must be (d, d) and finite")
    scale = np.sqrt(spread.diagonal())
    scale = np.where(scale > 0, scale, np.inf)  # a constant is uncorrelated with anything
    correlation = spread / np.outer(scale, scale)

    def measure(first: int, second: int, given: Given) -> Outcome:
        pair, rest = [first, second], list(given)
        inverse = np.linalg.pinv(correlation[np.ix_(rest, rest)], SINGULAR, hermitian=True)
        to_rest = correlation[np.ix_(pair, rest)]
        left = correlation[np.ix_(pair, pair)] - to_rest @ inverse @ to_rest.T
        freedom = float(n_rows - len(given) - 3)
        if left.diagonal().min() <= SINGULAR:
            return Outcome(0.0, freedom, 1.0)
        if freedom <= 0:
            return Outcome(math.nan, freedom, math.nan)
        rho = float(left[0, 1] / np.sqrt(left[0, 0] * left[1, 1]))
        z = math.sqrt(freedom) * math.atanh(max(-NEARLY_ONE, min(rho, NEARLY_ONE)))
        from scipy.special import erfc  # noqa: PLC0415 - slow to import

        return Outcome(z, freedom, float(erfc(abs(z) / math.sqrt(2))))

    return IndependenceTest(measure, alpha)
