"""Fits of models to what a test counted itself."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from unnaive.models.blocks import coded_batch, counted


def with_counts(model, counts, structure=None):
    """A copy of a fitted model with other counts, which keeps all else that was learned."""
    fitted, other = model.fitted_, copy(model)
    learned = fitted.learned if structure is None else replace(fitted.learned, structure=structure)
    other._fitted = model.fitting(counts.schema).of_counts(
        counts, learned, fitted.names, fitted.labels
    )
    return other


def without_row(model, X, y, row, weights=None):
    """A copy of a fitted model that forgot one row, and kept its structure and its weights."""
    one = slice(row, row + 1)
    some = None if weights is None else weights[one]
    given = model._given(X[one], y[one], some, first=False)
    counts = model.counts_
    return with_counts(model, counts - counted(counts, coded_batch(model, given, counts.schema)))


def tables_of(model, held_out=None):
    """Tables of a fitted model; with ``held_out`` those of leave-one-out."""
    fitted = model.fitted_
    return fitted.made_by.tables(fitted.counts, fitted.learned, held_out)


def coded_rows(model, X, y):
    """Rows as the model codes them."""
    return model.coded(model._given(X, y, None, first=True))[0]
