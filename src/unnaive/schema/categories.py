"""Find the categories of a column, and group the rare ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from unnaive.schema.columns import (
    WIDEST_TABLE,
    CategoricalColumn,
    code_type,
    natural_order,
    refuse_infinite,
)

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray, CodeArray, FloatArray
    from unnaive.io.frames import Column
    from unnaive.schema.columns import ColumnSchema, Label

    Limits = tuple[float | None, int | None]

_BLOCK = 1 << 15  # rows that stay in the cache
OTHER_VALUES = "other values"  # the category of rare values


def labels_of(column: Column) -> tuple[Label, ...]:
    """Return the labels of a column; raise an error for one that is not a string or number."""
    labels = column.categories or ()
    for label in labels:
        if not isinstance(label, str | int | float | bool | np.generic):
            raise TypeError(
                f"column {column.name!r} has value {label!r} of type {type(label).__name__}, "
                "which is neither a string nor a number; convert the column to strings"
            )
    return cast("tuple[Label, ...]", labels)  # numpy's scalars equal those of Python


def learn_categories(column: Column) -> tuple[CategoricalColumn, CodeArray]:
    """Find the distinct values of a column, in declared or sorted order, and its codes."""
    if column.is_text:
        labels = labels_of(column)
        known = CategoricalColumn(column.name, labels if column.declared else natural_order(labels))
        return known, known.encode(column)
    refuse_infinite(column.name, column.values)
    integers = column.values.dtype.kind in "iub"
    distinct = distinct_integers(column.values) if integers else None
    if distinct is not None:
        known = CategoricalColumn(column.name, tuple(distinct.tolist()))
        return known, known.encode(column)
    observed = ~column.missing
    distinct, inverse = np.unique(column.values[observed], return_inverse=True)
    known = CategoricalColumn(column.name, tuple(distinct.tolist()))
    codes = np.full(len(column.values), known.size, dtype=code_type(known.size))
    codes[observed] = inverse
    return known, codes


def group_rare(
    known: CategoricalColumn, codes: CodeArray, weights: FloatArray | None, limits: Limits
) -> tuple[CategoricalColumn, CodeArray]:
    """Group the rare categories of a text column into a last one, "other values".

    ``limits`` are the least number (or share) of rows of a category, and the largest number of
    categories with the last one; None: no limit. A single rare category keeps its name.
    """
    least, most = limits
    if not known.is_text or not known.size:
        return known, codes
    counts = np.bincount(codes, weights, known.size + 1)[: known.size]
    kept = np.ones(known.size, dtype=bool)
    if least is not None:
        kept = counts >= (least if least >= 1 else least * counts.sum())
    if most is not None and kept.sum() + (not kept.all()) > most:
        frequent = np.argsort(-counts, kind="stable")[: most - 1]
        kept[np.setdiff1d(np.arange(known.size), frequent)] = False
    if known.size - np.count_nonzero(kept) < 2:
        return known, codes
    labels = list(zip(known.categories, kept, strict=True))
    others = tuple(label for label, keep in labels if not keep)
    named = tuple(label for label, keep in labels if keep)
    name = OTHER_VALUES if OTHER_VALUES not in named else f"{OTHER_VALUES} (grouped)"
    grouped = CategoricalColumn(known.name, (*named, name), others)
    place = np.where(kept, np.cumsum(kept) - 1, grouped.size - 1)
    return grouped, np.append(place, grouped.size).astype(code_type(grouped.size))[codes]


def with_missing_category(
    known: ColumnSchema, codes: CodeArray, missing: BoolArray
) -> tuple[ColumnSchema, CodeArray]:
    """Make missing values a category of their own, if some are missing and others are not."""
    if not known.size or not missing.any():
        return known, codes
    known = replace(known, missing_category=True)
    return known, codes.astype(code_type(known.size), copy=False)  # the code v is now a category


def distinct_integers(values: AnyArray) -> AnyArray | None:
    """Distinct integers in increasing order, without sorting; None if their range is wide."""
    lowest = int(values.min(initial=values[0])) if len(values) else 0
    spread = int(values.max(initial=values[0])) - lowest if len(values) else 0
    if spread >= WIDEST_TABLE or lowest + spread > np.iinfo(np.int64).max:
        return None
    seen = np.zeros(spread + 1, dtype=bool)
    for start in range(0, len(values), _BLOCK):
        seen[values[start : start + _BLOCK].astype(np.int64) - lowest] = True
    return (np.flatnonzero(seen) + lowest).astype(values.dtype)
