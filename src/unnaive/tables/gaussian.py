r"""Gaussian densities of every class, written as sums of squares of linear forms.

.. math:: \log P(c, x) = a_c - \tfrac12 \sum_i \big(w_{ci} \cdot (x - \mu_c)\big)^2

A network in which every column is a linear function of its parents plus Gaussian noise has one
form per column, :math:`w_i = (e_i - \beta_i) / \sigma_i`. For naive Bayes the forms are the scaled
columns, for the full Gaussian the rows of the inverse of a Cholesky factor. A product of full
conditionals, which is not a density, has :math:`w_i = \Lambda_{i\cdot} / \sqrt{\Lambda_{ii}}`.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import subtract_squares
from unnaive._dataclasses import dataclass
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
_SMALL = 20  # smaller halves of a triangle are inverted directly


@dataclass(frozen=True, eq=False)
class GaussianTables:
    """Linear forms of every class; rows with missing values use the forms of fewer columns.

    Attributes
    ----------
    log_prior : ndarray of shape (k,)
        log P(c).
    means : ndarray of shape (k, d)
        Mean of every class and column.
    spread : ndarray of shape (k, d, d), or callable
        Covariances, or a function without parameters that returns them. Complete rows do not
        need them if ``known_forms`` is given.
    forms_of : callable
        Computes forms (k, m, m) from covariances (k, m, m) of some columns, and these columns.
    known_forms : ndarray of shape (k, d, d), default=None
        Forms of all columns, if they are known already.
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
        """Linear forms w, one per line; shape (k, d, d)."""
        if self.known_forms is not None:
            return self.known_forms
        return self.forms_of(self.covariances, np.arange(self.means.shape[1]))

    @cached_property
    def _constants(self) -> FloatArray:
        """Log prior plus the log density at the mean; shape (k,)."""
        scale = np.log(np.abs(np.einsum("kii->ki", self.forms))).sum(axis=1)
        return np.asarray(self.log_prior + scale - self.means.shape[1] * _LOG_TWO_PI / 2)

    def joint(self, X: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint of every row and class; missing values (NaN) are integrated out; (n, k)."""
        out = np.empty((len(X), len(self.log_prior)))
        if not np.isnan(X.sum()):  # much faster than testing every cell
            self._add(X, out, n_jobs)
            return out
        for rows, missing in rows_alike(np.isnan(X).T):
            columns = np.flatnonzero(~missing)
            out[rows] = self._of_columns(columns).joint(X[np.ix_(rows, columns)], n_jobs)
        return out

    def require_forms(self) -> GaussianTables:
        """Return the tables themselves; raise an error if a covariance is singular."""
        return self if len(self.forms) == len(self.means) else replace(self, known_forms=None)

    def parts(self, X: FloatArray, orders: Sequence[IntArray]) -> tuple[FloatArray, FloatArray]:
        """Split the log joint of rows: base (n, k), and the contribution of each cell (n, k, d).

        By the chain rule, a cell contributes the log joint of the observed cells up to it, in
        an order of the columns, less that without it. Several orders are averaged.
        """
        base = np.repeat(self.log_prior[None], len(X), axis=0)
        parts = np.zeros((*base.shape, X.shape[1]))
        for rows, missing in rows_alike(np.isnan(X).T):
            for order in orders:
                columns = np.asarray(order)[~missing[order]]
                if len(columns):
                    added = self._chain(X[rows], columns).transpose(0, 2, 1)
                    parts[rows[:, None], :, columns] += added / len(orders)
        return base, parts

    def _chain(self, X: FloatArray, columns: IntArray) -> FloatArray:
        """Log density of each of some observed columns given those before it; shape (n, k, m)."""
        if self.forms_of in (complete_forms, independent_forms):
            covariances = self.covariances[:, columns[:, None], columns]
            forms = np.stack([self.forms_of(own, columns) for own in covariances])
            squares = np.einsum("kij,nkj->nki", forms, X[:, None, columns] - self.means[:, columns])
            height = np.log(np.abs(np.einsum("kii->ki", forms))) - _LOG_TWO_PI / 2
            parts = height - squares**2 / 2
            if self.forms_of is complete_forms:
                # Cholesky factors of other orders differ if columns are nearly copies; the last
                # step leads to the log joint as the model computes it.
                parts[:, :, -1] += self._density(X, columns) - parts.sum(axis=2)
            return np.asarray(parts)
        densities = [self._density(X, columns[: size + 1]) for size in range(len(columns))]
        return np.diff(np.stack(densities, axis=2), axis=2, prepend=0.0)

    def _density(self, X: FloatArray, columns: IntArray) -> FloatArray:
        """Log density of some columns in every class, without the prior; shape (n, k)."""
        columns = np.sort(columns)
        of_columns = replace(self._of_columns(columns), log_prior=np.zeros_like(self.log_prior))
        return of_columns.joint(X[:, columns])

    def describe(self, arrays: Arrays) -> State:
        """Describe the densities for a page that computes with them."""
        forms_of, spread = self.forms_of, self.covariances
        description: State = {"kind": "gaussian", "base": arrays.add(self.log_prior)}
        if forms_of is independent_forms:
            spread, description["forms"] = np.einsum("kii->ki", spread), "independent"
        elif forms_of is complete_forms:
            description["forms"] = "complete"
        elif isinstance(forms_of, partial) and forms_of.func is naive_forms:
            strong, naive = bool(forms_of.keywords["strong"]), forms_of.keywords["naive"].tolist()
            description |= {"forms": "naive", "strong": strong, "naive": naive}
        else:
            raise UnnaiveError("a page cannot compute with these Gaussian forms")
        description["columns"] = list(range(self.means.shape[1]))
        numbers = {"means": arrays.add(self.means), "covariances": arrays.add(spread)}
        return {**description, **numbers}

    def _of_columns(self, columns: IntArray) -> GaussianTables:
        """Return the tables of some columns."""
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
        constants, blocks = self._constants, _parallel.row_blocks(len(X), ROWS_A_TASK)
        _parallel.run(
            lambda block: subtract_squares(rows, means, forms, constants, *block, out),
            blocks,
            n_jobs,
        )


def forms_of_some(
    forms_of: Forms, columns: IntArray, covariances: FloatArray, inner: IntArray
) -> FloatArray:
    """Forms of ``inner``, which are positions in ``columns``; ``forms_of`` takes all columns."""
    return forms_of(covariances, columns[inner])


def log_conditionals(
    X: FloatArray,
    tables: GaussianTables,
    parents_of: Callable[[int], tuple[int, ...]] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Log p(x_i | others, c) and log p(x_i | c), both 0 for missing values; shapes (n, k, d).

    Others are a column's parents as far as they are observed, or all other observed columns.
    """
    n_columns = X.shape[1]
    given, alone = np.zeros((2, len(X), *tables.means.shape))
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
    """Forms of columns that depend only on the class; shape (..., m, m)."""
    forms = np.zeros_like(covariances)
    np.einsum("...ii->...i", forms)[...] = np.einsum("...ii->...i", covariances)
    np.einsum("...ii->...i", forms)[...] **= -0.5
    return forms


def complete_forms(covariances: FloatArray, columns: IntArray | None = None) -> FloatArray:  # noqa: ARG001
    """Forms of a full Gaussian: each column given the columns before it; shape (..., m, m)."""
    try:
        factors = np.asarray(np.linalg.cholesky(covariances), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise UnnaiveError(SINGULAR) from None
    return np.tril(_inverse_of_triangles(factors))


def _inverse_of_triangles(lower: FloatArray) -> FloatArray:
    """Inverse of lower triangles by halves, mostly as matrix products; shape (..., m, m).

    SciPy has a routine for this, but it loads a second BLAS whose threads compete with NumPy's.
    """
    half = lower.shape[-1] // 2
    if half < _SMALL:
        return np.asarray(np.linalg.inv(lower))
    inverse = np.zeros_like(lower)
    first = _inverse_of_triangles(lower[..., :half, :half])
    second = _inverse_of_triangles(lower[..., half:, half:])
    inverse[..., :half, :half], inverse[..., half:, half:] = first, second
    inverse[..., half:, :half] = -second @ (lower[..., half:, :half] @ first)
    return inverse


def conditional_forms(covariances: FloatArray) -> FloatArray:
    """Forms of p(x_i | all other columns), one per column; shape (..., m, m)."""
    whole = complete_forms(covariances)
    precision = np.swapaxes(whole, -1, -2) @ whole
    return np.asarray(precision / np.sqrt(np.einsum("...ii->...i", precision))[..., None])


def network_forms(covariances: FloatArray, families: Sequence[tuple[int, ...]]) -> FloatArray:
    """Forms of a network, in which a column depends only on its parents; shape (k, d, d).

    ``families`` are columns, each followed by its parents; parents come before children.
    """
    forms, noise = _regressions(covariances, families)
    if not (noise > 0).all():
        raise UnnaiveError(SINGULAR)
    np.negative(forms, out=forms)
    np.einsum("kii->ki", forms)[...] = 1.0
    forms /= np.sqrt(noise)[:, :, None]
    return forms


def network_covariances(covariances: FloatArray, families: Sequence[tuple[int, ...]]) -> FloatArray:
    """Covariances implied by a network that has the regressions of ``covariances``; (k, d, d).

    ``families`` as in :func:`network_forms`. The result has the independences of the network.
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
    """Slopes of columns on their parents (k, d, d), 0 elsewhere, and noise variances (k, d).

    Families of the same size, of all classes, are solved in one call.
    """
    slopes, noise = np.zeros_like(covariances), np.einsum("kii->ki", covariances).copy()
    for size in sorted({len(family) for family in families} - {1}):
        group = np.array([family for family in families if len(family) == size])
        child, parents = group[:, 0], group[:, 1:]
        across = covariances[:, parents, child[:, None]]
        inner = covariances[:, parents[:, :, None], parents[:, None, :]]
        regression = solved(inner, across[..., None])[..., 0]
        slopes[:, child[:, None], parents] = regression
        noise[:, child] -= np.einsum("kmp,kmp->km", regression, across)
    return slopes, noise


def naive_covariance(covariance: FloatArray, naive: IntArray, *, strong: bool) -> FloatArray:
    r"""Covariance of a k-naive model, whose naive columns S are independent; shape (d, d).

    Strong: S and the rest D are independent of each other. Weak: D depends on S as in the data,
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

    Others are all columns, or, if ``strong``, all columns except the naive ones.
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
