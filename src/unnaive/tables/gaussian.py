r"""Gaussian densities of every class, as squares of linear forms.

.. math:: \log P(c, x) = a_c - \tfrac12 \sum_i \big(w_{ci} \cdot (x - \mu_c)\big)^2

A network in which every column is a linear function of its parents with Gaussian noise has
one form a column, :math:`w_i = (e_i - \beta_i) / \sigma_i`. Naive Bayes has the columns
themselves, the full Gaussian the inverse of a Cholesky factor. A product of full conditionals,
which is no density, has :math:`w_i = \Lambda_{i\cdot} / \sqrt{\Lambda_{ii}}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import SINGULAR, solved
from unnaive.tables.kernels import subtract_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import FloatArray, IntArray

    Forms = Callable[[FloatArray, IntArray], FloatArray]

ROWS_A_TASK = 1 << 13
_LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class GaussianTables:
    """Linear forms of every class; ``forms_of`` makes them anew for fewer columns.

    Attributes
    ----------
    log_prior : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    covariances : ndarray of shape (k, d, d)
    forms_of : callable
        Forms (m, m) of one class from the covariance (m, m) of some columns, and these columns.
    """

    log_prior: FloatArray
    means: FloatArray
    covariances: FloatArray
    forms_of: Forms
    _parts: dict[bytes, GaussianTables] = field(default_factory=dict, repr=False)

    @cached_property
    def forms(self) -> FloatArray:
        """Linear forms w, one a line; shape (k, d, d)."""
        columns = np.arange(self.means.shape[1])
        found = [self.forms_of(covariance, columns) for covariance in self.covariances]
        return np.stack(found) if found else np.empty((0, len(columns), len(columns)))

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
        gaps = np.isnan(X)
        patterns, pattern = np.unique(gaps, axis=0, return_inverse=True)
        for index, missing in enumerate(patterns):
            rows = np.flatnonzero(pattern.reshape(-1) == index)
            columns = np.flatnonzero(~missing)
            out[rows] = self._of_columns(columns).joint(X[np.ix_(rows, columns)], n_jobs)
        return out

    def _of_columns(self, columns: IntArray) -> GaussianTables:
        """Return the tables of some columns alone."""
        key = columns.tobytes()
        if key not in self._parts:
            self._parts[key] = GaussianTables(
                self.log_prior,
                self.means[:, columns],
                self.covariances[:, columns[:, None], columns],
                lambda covariance, inner: self.forms_of(covariance, columns[inner]),
            )
        return self._parts[key]

    def _add(self, X: FloatArray, out: FloatArray, n_jobs: int | None) -> None:
        """Fill in the log joint of complete rows, block by block; cost n·k·d²."""
        rows = np.ascontiguousarray(X, dtype=np.float64)
        forms, constants = self.forms, self._constants

        def fill(part: tuple[int, int]) -> None:
            subtract_squares(rows, self.means, forms, constants, *part, out)

        _parallel.run(fill, _parallel.row_blocks(len(X), ROWS_A_TASK), n_jobs)


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
    patterns, pattern = np.unique(np.isnan(X), axis=0, return_inverse=True)
    for index, missing in enumerate(patterns):
        rows = np.flatnonzero(pattern.reshape(-1) == index)
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


def independent_forms(covariance: FloatArray, columns: IntArray) -> FloatArray:  # noqa: ARG001
    """Forms of columns that depend on the class alone; shape (m, m)."""
    return np.diag(1.0 / np.sqrt(np.diag(covariance)))


def complete_forms(covariance: FloatArray, columns: IntArray | None = None) -> FloatArray:  # noqa: ARG001
    """Forms of a Gaussian without any independence: each column given those before; (m, m)."""
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise UnnaiveError(SINGULAR) from None
    return np.tril(np.linalg.inv(factor))


def conditional_forms(covariance: FloatArray, columns: IntArray | None = None) -> FloatArray:  # noqa: ARG001
    """Forms of p(x_i | all others), column by column; shape (m, m)."""
    whole = complete_forms(covariance)
    precision = whole.T @ whole
    return np.asarray(precision / np.sqrt(np.diag(precision))[:, None])


def network_covariance(covariance: FloatArray, families: Sequence[tuple[int, ...]]) -> FloatArray:
    """Covariance of a network whose regressions are those of ``covariance``; shape (d, d).

    ``families`` are columns with their parents, parents before children. Under it, columns
    that the network does not join are as independent as it says.
    """
    implied = np.zeros_like(covariance)
    before: list[int] = []
    for child, *parents in families:
        inner = covariance[np.ix_(parents, parents)]
        slopes = solved(inner, covariance[parents, child]) if parents else np.empty(0)
        noise = covariance[child, child] - slopes @ covariance[parents, child]
        with_before = implied[np.ix_(before, parents)] @ slopes
        implied[child, before] = implied[before, child] = with_before
        implied[child, child] = (
            max(noise, 0.0) + slopes @ implied[np.ix_(parents, parents)] @ slopes
        )
        before.append(child)
    return implied


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
    covariance: FloatArray, columns: IntArray, naive: IntArray, *, strong: bool
) -> FloatArray:
    """Forms of p(x_i | c) for naive columns and of p(x_i | others, c) for the rest; (m, m).

    Others are all columns, or, if ``strong``, all but the naive ones.
    """
    apart = np.isin(columns, naive)
    forms = independent_forms(covariance, columns)
    rest = np.flatnonzero(~apart)
    others = rest if strong else np.arange(len(columns))
    if len(rest):
        given = conditional_forms(covariance[np.ix_(others, others)])
        forms[rest] = 0.0
        forms[np.ix_(rest, others)] = given[np.isin(others, rest)]
    return forms
