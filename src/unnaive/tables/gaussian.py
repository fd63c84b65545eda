r"""Gaussian densities of every class, as squares of linear forms.

.. math:: \log P(c, x) = a_c - \tfrac12 \sum_i \big(w_{ci} \cdot (x - \mu_c)\big)^2

A network in which every column is a linear function of its parents with Gaussian noise has
one form a column, :math:`w_i = (e_i - \beta_i) / \sigma_i`. Naive Bayes has the columns
themselves, the full Gaussian the inverse of a Cholesky factor. A product of full conditionals,
which is no density, has :math:`w_i = \Lambda_{i\cdot} / \sqrt{\Lambda_{ii}}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import subtract_squares
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import SINGULAR, solved
from unnaive.tables.base import rows_alike

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.tables.base import Arrays

    Forms = Callable[[FloatArray, IntArray], FloatArray]

ROWS_A_TASK = 1 << 13
_LOG_TWO_PI = float(np.log(2 * np.pi))
_SMALL = 20  # half of a triangle that is worth no halving


@dataclass(frozen=True, eq=False)
class GaussianTables:
    """Linear forms of every class; ``forms_of`` makes them anew for fewer columns.

    Attributes
    ----------
    log_prior : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    spread : ndarray of shape (k, d, d), or what makes it
        Covariances; complete rows do not need them if the forms are known.
    forms_of : callable
        Forms (k, m, m) from the covariances (k, m, m) of some columns, and these columns.
    known_forms : ndarray of shape (k, d, d), default=None
        Forms of all columns.
    """

    log_prior: FloatArray
    means: FloatArray
    spread: FloatArray | Callable[[], FloatArray]
    forms_of: Forms
    known_forms: FloatArray | None = None
    _parts: dict[bytes, GaussianTables] = field(default_factory=dict, repr=False)

    @cached_property
    def covariances(self) -> FloatArray:
        """Covariances of every class; shape (k, d, d)."""
        return self.spread() if callable(self.spread) else self.spread

    @cached_property
    def forms(self) -> FloatArray:
        """Linear forms w, one a line; shape (k, d, d)."""
        if self.known_forms is not None:
            return self.known_forms
        return self.forms_of(self.covariances, np.arange(self.means.shape[1]))

    @cached_property
    def _constants(self) -> FloatArray:
        """Log prior, and log of the densities at the means; shape (k,)."""
        scale = np.log(np.abs(np.einsum("kii->ki", self.forms))).sum(axis=1)
        return np.asarray(self.log_prior + scale - self.means.shape[1] * _LOG_TWO_PI / 2)

    def joint(self, X: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint of every row and class; missing cells (NaN) are summed out; shape (n, k)."""
        out = np.empty((len(X), len(self.log_prior)))
        if not np.isnan(X.sum(axis=0)).any():  # far quicker than asking every cell
            self._add(X, out, n_jobs)
            return out
        for rows, missing in rows_alike(np.isnan(X).T):
            columns = np.flatnonzero(~missing)
            out[rows] = self._of_columns(columns).joint(X[np.ix_(rows, columns)], n_jobs)
        return out

    def require_forms(self) -> GaussianTables:
        """Return the tables themselves; raises if a covariance is singular."""
        return self if len(self.forms) == len(self.means) else replace(self, known_forms=None)

    def parts(self, X: FloatArray, orders: Sequence[IntArray]) -> tuple[FloatArray, FloatArray]:
        """Split the log joint of rows: base (n, k), and what cells add (n, k, d)."""
        from unnaive.tables.terms.numbers import number_parts  # noqa: PLC0415 - loads when asked

        return number_parts(self, X, orders)

    def describe(self, arrays: Arrays) -> State:
        """Describe the densities for a page that computes with them."""
        from unnaive.tables.describe import describe_gaussian  # noqa: PLC0415 - loads when asked

        return describe_gaussian(self, arrays)

    def _of_columns(self, columns: IntArray) -> GaussianTables:
        """Return the tables of some columns alone."""
        key = columns.tobytes()
        if key not in self._parts:
            self._parts[key] = GaussianTables(
                self.log_prior,
                self.means[:, columns],
                self.covariances[:, columns[:, None], columns],
                partial(forms_of_some, self.forms_of, columns),
            )
        return self._parts[key]

    def _add(self, X: FloatArray, out: FloatArray, n_jobs: int | None) -> None:
        """Fill in the log joint of complete rows, block by block; cost n·k·d²."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        means, forms = np.ascontiguousarray(self.means), np.ascontiguousarray(self.forms)
        constants = self._constants

        def fill(part: tuple[int, int]) -> None:
            subtract_squares(rows, means, forms, constants, *part, out)

        _parallel.run(fill, _parallel.row_blocks(len(X), ROWS_A_TASK), n_jobs)


def forms_of_some(
    forms_of: Forms, columns: IntArray, covariances: FloatArray, inner: IntArray
) -> FloatArray:
    """Forms of ``inner`` ones of some columns, by the places that ``forms_of`` knows them by."""
    return forms_of(covariances, columns[inner])


def log_conditionals(
    X: FloatArray,
    tables: GaussianTables,
    parents_of: Callable[[int], tuple[int, ...]] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Log p(x_i | others, c) and log p(x_i | c), both 0 for missing cells; shapes (n, k, d).

    Others are the observed ones of a column's parents, or of all columns.
    """
    n_columns = X.shape[1]
    given, alone = (np.zeros((len(X), *tables.means.shape)) for _ in range(2))
    for rows, missing in rows_alike(np.isnan(X).T):
        for column in np.flatnonzero(~missing):
            others = range(n_columns) if parents_of is None else parents_of(int(column))
            seen = np.array([o for o in others if o != column and not missing[o]], dtype=np.int64)
            for label, (mean, own) in enumerate(zip(tables.means, tables.covariances, strict=True)):
                slopes = solved(own[np.ix_(seen, seen)], own[seen, column])
                away = X[rows, column] - mean[column]
                left = away - (X[np.ix_(rows, seen)] - mean[seen]) @ slopes
                noise = own[column, column] - slopes @ own[seen, column]
                alone[rows, label, column] = _log_normal(away, own[column, column])
                given[rows, label, column] = _log_normal(left, noise)
    return given, alone


def _log_normal(away: FloatArray, variance: float) -> FloatArray:
    return np.asarray(-(np.log(variance) + _LOG_TWO_PI + away**2 / variance) / 2)


def independent_forms(covariances: FloatArray, columns: IntArray) -> FloatArray:  # noqa: ARG001
    """Forms of columns that depend on the class alone; shape (..., m, m)."""
    forms = np.zeros_like(covariances)
    np.einsum("...ii->...i", forms)[...] = np.einsum("...ii->...i", covariances)
    np.einsum("...ii->...i", forms)[...] **= -0.5
    return forms


def complete_forms(covariances: FloatArray, columns: IntArray | None = None) -> FloatArray:  # noqa: ARG001
    """Forms of a Gaussian without any independence: each column given those before; (..., m, m)."""
    try:
        factors = np.asarray(np.linalg.cholesky(covariances), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise UnnaiveError(SINGULAR) from None
    return np.tril(_inverse_of_triangles(factors))


def _inverse_of_triangles(lower: FloatArray) -> FloatArray:
    """Inverse of lower triangles by halves, so that most of it is matrix products; (..., m, m).

    SciPy has a routine for it, but brings a second BLAS, whose threads get into NumPy's way.
    """
    half = lower.shape[-1] // 2
    if half < _SMALL:
        return np.asarray(np.linalg.inv(lower))
    found = np.zeros_like(lower)
    first = _inverse_of_triangles(lower[..., :half, :half])
    second = _inverse_of_triangles(lower[..., half:, half:])
    found[..., :half, :half], found[..., half:, half:] = first, second
    found[..., half:, :half] = -second @ (lower[..., half:, :half] @ first)
    return found


def conditional_forms(covariances: FloatArray) -> FloatArray:
    """Forms of p(x_i | all others), column by column; shape (..., m, m)."""
    whole = complete_forms(covariances)
    precision = np.swapaxes(whole, -1, -2) @ whole
    return np.asarray(precision / np.sqrt(np.einsum("...ii->...i", precision))[..., None])


def network_forms(covariances: FloatArray, families: Sequence[tuple[int, ...]]) -> FloatArray:
    """Forms of a network, in which columns depend on their parents alone; shape (k, d, d).

    ``families`` are columns with their parents, parents before children.
    """
    forms, noise = _regressions(covariances, families)
    if not (noise > 0).all():
        raise UnnaiveError(SINGULAR)
    np.negative(forms, out=forms)
    np.einsum("kii->ki", forms)[...] = 1.0
    forms /= np.sqrt(noise)[:, :, None]
    return forms


def network_covariances(covariances: FloatArray, families: Sequence[tuple[int, ...]]) -> FloatArray:
    """Covariances of a network whose regressions are those of ``covariances``; (k, d, d).

    ``families`` as in :func:`network_forms`. Columns that the network does not join are as
    independent as it says.
    """
    slopes, noise = _regressions(covariances, families)
    implied = np.zeros_like(covariances)
    for child, *parents in families:
        own = slopes[:, child, parents]
        line = np.einsum("kp,kpj->kj", own, implied[:, parents])
        line[:, child] = np.maximum(noise[:, child], 0.0)
        line[:, child] += np.einsum("kp,kp->k", own, line[:, parents])
        implied[:, child] = implied[:, :, child] = line
    return implied


def _regressions(
    covariances: FloatArray, families: Sequence[tuple[int, ...]]
) -> tuple[FloatArray, FloatArray]:
    """Slopes of columns by their parents (k, d, d), 0 for others, and what is left (k, d).

    Families of one size are solved at once, those of all classes together.
    """
    slopes, noise = np.zeros_like(covariances), np.einsum("kii->ki", covariances).copy()
    for size in sorted({len(family) for family in families} - {1}):
        group = np.array([family for family in families if len(family) == size])
        child, parents = group[:, 0], group[:, 1:]
        across = covariances[:, parents, child[:, None]]
        inner = covariances[:, parents[:, :, None], parents[:, None, :]]
        found = solved(inner, across[..., None])[..., 0]
        slopes[:, child[:, None], parents] = found
        noise[:, child] -= np.einsum("kmp,kmp->km", found, across)
    return slopes, noise


def naive_covariance(covariance: FloatArray, naive: IntArray, *, strong: bool) -> FloatArray:
    r"""Covariance of a k-naive model, whose naive columns S are independent; shape (d, d).

    Strong: S and the rest D are independent, too. Weak: D depends on S as in the data,
    :math:`x_D = \mu_D + B (x_S - \mu_S) + \varepsilon`, :math:`B = \Sigma_{DS} \Sigma_{SS}^{-1}`.
    """
    rest = np.setdiff1d(np.arange(len(covariance)), naive)
    inside, across = np.ix_(naive, naive), np.ix_(rest, naive)
    implied = np.zeros_like(covariance)
    implied[inside] = apart = np.diag(np.diag(covariance)[naive])
    implied[np.ix_(rest, rest)] = covariance[np.ix_(rest, rest)]
    if not strong and len(naive):
        slopes = solved(covariance[inside], covariance[across].T).T
        implied[np.ix_(rest, rest)] += slopes @ (apart - covariance[inside]) @ slopes.T
        implied[across] = slopes @ apart
        implied[np.ix_(naive, rest)] = implied[across].T
    return implied


def naive_forms(
    covariances: FloatArray, columns: IntArray, naive: IntArray, *, strong: bool
) -> FloatArray:
    """Forms of p(x_i | c) for naive columns and of p(x_i | others, c) for the rest; (..., m, m).

    Others are all columns, or, if ``strong``, all but the naive ones.
    """
    apart = np.isin(columns, naive)
    forms = independent_forms(covariances, columns)
    rest = np.flatnonzero(~apart)
    others = rest if strong else np.arange(len(columns))
    if len(rest):
        given = conditional_forms(covariances[..., others[:, None], others])
        forms[..., rest, :] = 0.0
        forms[..., rest[:, None], others] = given[..., np.isin(others, rest), :]
    return forms
