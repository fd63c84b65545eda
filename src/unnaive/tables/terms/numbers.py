"""Gaussian densities: a term a column, given the class, its parents, or the columns before it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.base import rows_alike
from unnaive.tables.gaussian import GaussianTables, complete_forms, independent_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray

_HALF_LOG_TWO_PI = float(np.log(2 * np.pi)) / 2


def number_parts(
    tables: GaussianTables, X: FloatArray, orders: Sequence[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Split the log joint of rows, NaN is missing: base (n, k), and what cells add (n, k, d).

    A cell adds what the chain rule says: the log joint of the observed cells up to it, in an
    order of the columns, less that without it; the mean over several orders.
    """
    base = np.repeat(tables.log_prior[None], len(X), axis=0)
    parts = np.zeros((*base.shape, X.shape[1]))
    for rows, missing in rows_alike(np.isnan(X).T):
        for order in orders:
            columns = np.asarray(order)[~missing[order]]
            if len(columns):
                found = _chain(tables, X[rows], columns)
                parts[rows[:, None], :, columns] += found.transpose(0, 2, 1) / len(orders)
    return base, parts


def _chain(tables: GaussianTables, X: FloatArray, columns: IntArray) -> FloatArray:
    """Tell what each of some observed columns adds to those before it; shape (n, k, m)."""
    if tables.forms_of not in (complete_forms, independent_forms):
        return _steps(tables, X, columns)
    means = tables.means[:, columns]
    covariances = tables.covariances[:, columns[:, None], columns]
    forms = np.stack([tables.forms_of(own, columns) for own in covariances])
    away = X[:, None, columns] - means
    found = np.einsum("kij,nkj->nki", forms, away)
    height = np.log(np.abs(np.einsum("kii->ki", forms))) - _HALF_LOG_TWO_PI
    parts = height - found**2 / 2
    if tables.forms_of is complete_forms:
        # Cholesky factors of other orders differ where columns are all but copies; the last
        # step leads to the log joint as the model has it.
        whole = _density(tables, X, np.sort(columns))
        parts[:, :, -1] += whole - parts.sum(axis=2)
    return np.asarray(parts)


def _steps(tables: GaussianTables, X: FloatArray, columns: IntArray) -> FloatArray:
    """Likewise for forms of which fewer columns are not simply the first ones."""
    before = np.zeros((len(X), len(tables.log_prior)))
    parts = np.empty((*before.shape, len(columns)))
    for place in range(len(columns)):
        after = _density(tables, X, np.sort(columns[: place + 1]))
        parts[:, :, place] = after - before
        before = after
    return parts


def _density(tables: GaussianTables, X: FloatArray, columns: IntArray) -> FloatArray:
    """Log density of some columns in every class, without the prior; shape (n, k)."""
    alone = GaussianTables(
        np.zeros_like(tables.log_prior),
        tables.means[:, columns],
        tables.covariances[:, columns[:, None], columns],
        partial(_forms, tables, columns),
    )
    return alone.joint(X[:, columns])


def _forms(
    tables: GaussianTables, columns: IntArray, covariance: FloatArray, inner: IntArray
) -> FloatArray:
    return tables.forms_of(covariance, columns[inner])
