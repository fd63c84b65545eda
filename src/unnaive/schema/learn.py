"""Learn a schema from rows: which columns are categories, where numbers are cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from unnaive import _parallel
from unnaive._core.coding import OUTSIDE, offset_integers
from unnaive.exceptions import DataWarning, UnnaiveError
from unnaive.schema.columns import (
    CategoricalColumn,
    ColumnSchema,
    NumericColumn,
    learn_categories,
    refuse_infinite,
    sorted_labels,
)
from unnaive.schema.schema import Schema, cell_of, refuse_unusable_target

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
    from unnaive.io.frames import Column, Frame
    from unnaive.schema.columns import Label

    Features = str | Sequence[str | int] | AnyArray | None  # "auto", names, positions, a mask
    Categories = str | Mapping[str, Iterable[Label]] | Sequence[Iterable[Label] | None] | None

FEW_VALUES = 10  # whole numbers with no more distinct values than this are categories,
OFTEN = 2  # if each of them occurs that often on average
LITTLE = 0.1  # a mean weight below this is a matter of scale, not of importance
MANY_ROWS, IDENTIFIES = 30, 0.9  # a label a row, or nearly, is an identifier
_BLOCK_ROWS = 1 << 13
_SAMPLE_ROWS = 1000


class Discretizer(Protocol):
    """What the schema asks of a discretiser: the edges of one column."""

    def column_edges(
        self,
        values: FloatArray,
        classes: IntArray | None,
        n_classes: int,
        weights: FloatArray | None,
    ) -> FloatArray:
        """Edges of bins for values without gaps."""


def learn_target(
    column: Column, classes: Sequence[Label] | None = None
) -> tuple[AnyArray, IntArray]:
    """Return the class labels in sorted order, as scikit-learn has them, and the codes.

    A declared domain (a pandas category) or ``classes`` may hold labels that no row has.
    """
    refuse_unusable_target(column)
    if classes is None:
        found, _ = learn_categories(column)
        labels = sorted_labels(found.categories)
    else:
        labels = sorted_labels(set(label_array(tuple(classes)).tolist()))
    schema = Schema((), labels, column.name)
    return label_array(labels, column if classes is None else None), schema.encode_target(column)


def label_array(labels: Sequence[Label], column: Column | None = None) -> AnyArray:
    """Make an array of labels, of the column's own type if it has numbers."""
    if column is not None and not column.is_text:
        return np.array(labels, dtype=column.values.dtype)
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 and str in kinds:
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        return array
    return np.array(labels)


def learn_schema(
    frame: Frame,
    target: Column,
    *,
    discretizer: Discretizer | None = None,
    categorical_features: Features = "auto",
    categories: Categories = None,
    classes: Sequence[Label] | None = None,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
) -> tuple[Schema, CodeArray, IntArray]:
    """Learn what the columns are and code the rows; a whole-number cell is read once.

    Returns the schema, the codes (d, n) and the class codes (n,). ``discretizer=None``
    makes every column's distinct values its categories.
    """
    labels, class_codes = learn_target(target, classes)
    declared = declared_categories(categories, frame.names)
    chosen = categorical_mask(categorical_features, frame.names)
    columns: list[ColumnSchema | None] = [None] * len(frame.names)
    codes: list[CodeArray | None] = [None] * len(frame.names)
    if discretizer is None and not declared:
        _scan_matrix(frame, columns, codes, n_jobs)

    def learn_one(index: int) -> None:
        column = frame.column(index)
        if columns[index] is not None:
            return
        if column.name in declared:
            found: ColumnSchema = CategoricalColumn(column.name, declared[column.name])
            columns[index], codes[index] = found, encode_declared(found, column)
        elif discretizer is None or is_categorical(
            column, None if chosen is None else bool(chosen[index]), weights
        ):
            columns[index], codes[index] = learn_categories(column)
        else:
            found = _cut(column, discretizer, class_codes, len(labels), weights)
            columns[index], codes[index] = found, found.encode(column)

    _parallel.run(learn_one, range(len(columns)), n_jobs)
    schema = Schema(
        tuple(column for column in columns if column is not None),
        tuple(labels.tolist()),
        target.name,
    )
    warn_of_columns(schema, frame.n_rows)
    _warn_of_light_weights(weights)
    return schema, _stack([one for one in codes if one is not None], schema), class_codes


def encode_declared(found: ColumnSchema, column: Column) -> CodeArray:
    """Code a column by declared categories, which must hold all of its values."""
    codes = found.encode(column)
    strange = np.flatnonzero((codes == found.size) & ~column.missing)
    if len(strange):
        raise UnnaiveError(
            f"column {column.name!r} has value {cell_of(column, strange[0])!r} ({len(strange)} "
            "rows with such values), which categories= does not list; add it there, or make these "
            "cells missing"
        )
    return codes


def _stack(codes: Sequence[CodeArray], schema: Schema) -> CodeArray:
    """Put the columns' codes below each other; no copy where they are one array already."""
    base = codes[0].base
    whole = (len(codes), len(codes[0]))
    if (
        base is not None
        and base.shape == whole
        and base.dtype == schema.code_type
        and all(column.base is base for column in codes)
    ):
        return np.asarray(base)
    return np.stack(codes, dtype=schema.code_type, casting="unsafe")


def _scan_matrix(
    frame: Frame,
    columns: list[ColumnSchema | None],
    codes: list[CodeArray | None],
    n_jobs: int | None,
) -> None:
    """Learn the columns of an integer array in one pass; wide-ranging ones are left alone."""
    matrix = frame.matrix
    if matrix is None or matrix.dtype.kind not in "iub" or matrix.dtype == np.uint64:
        return
    base = matrix[:_SAMPLE_ROWS].min(axis=0).astype(np.int64)
    limit = np.full(len(base), OUTSIDE, dtype=np.uint64)
    raw = np.empty((len(base), len(matrix)), dtype=np.uint8)

    def scan(rows: tuple[int, int]) -> AnyArray:
        marks = np.zeros(len(base), dtype=np.uint64)
        block = np.ascontiguousarray(matrix[slice(*rows)], dtype=np.int64)
        offset_integers(block, base, limit, marks, raw, rows[0])
        return marks

    blocks = _parallel.row_blocks(len(matrix), _BLOCK_ROWS)
    marks = np.bitwise_or.reduce(_parallel.run(scan, blocks, n_jobs))
    for index, mark in enumerate(marks.tolist()):
        if mark >> OUTSIDE:
            continue
        present = np.array([value for value in range(OUTSIDE) if mark >> value & 1])
        labels = (present + base[index]).astype(matrix.dtype).tolist()
        columns[index], codes[index] = (
            CategoricalColumn(frame.names[index], tuple(labels)),
            raw[index],
        )
        if present[-1] != len(present) - 1:
            rank = np.zeros(OUTSIDE, dtype=np.uint8)
            rank[present] = np.arange(len(present))
            raw[index] = rank[raw[index]]


def is_categorical(
    column: Column, chosen: bool | None = None, weights: FloatArray | None = None
) -> bool:
    """Labels are categories; so are, unless told otherwise, whole numbers of few values."""
    if column.is_text:
        return True
    if chosen is not None:
        return chosen
    observed = ~column.missing
    values = column.values[observed]
    for sample in (values[:_SAMPLE_ROWS], values):
        whole = sample.dtype.kind in "iub" or bool(np.all(np.trunc(sample) == sample))
        if not whole or len(np.unique(sample)) > FEW_VALUES:
            return False
    size = len(values) if weights is None else max(len(values), weights[observed].sum())
    return bool(len(np.unique(values)) * OFTEN <= size)


def _cut(
    column: Column,
    discretizer: Discretizer,
    classes: IntArray,
    n_classes: int,
    weights: FloatArray | None,
) -> ColumnSchema:
    """Cut a numeric column where the discretiser says; one with no value has no bins."""
    values = column.values
    refuse_infinite(column.name, values)
    observed = ~column.missing
    if not observed.any():
        return CategoricalColumn(column.name, ())
    if not observed.all():
        values, classes = values[observed], classes[observed]
        weights = None if weights is None else weights[observed]
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    edges = discretizer.column_edges(numbers, classes, n_classes, weights)
    return NumericColumn(column.name, tuple(edges.tolist()))


def _warn_of_light_weights(weights: FloatArray | None) -> None:
    if weights is not None and weights.sum() < LITTLE * len(weights):
        told = DataWarning(
            f"sample_weight sums to {weights.sum():.3g} over {len(weights)} rows; bins, min_count "
            "and smoothing take weights for numbers of rows, so there seems to be next to no data: "
            "scale the weights to a mean of 1",
            kind="weights",
        )
        warnings.warn(told, stacklevel=3)


def warn_of_columns(schema: Schema, n_rows: int) -> None:
    """Warn of columns without any value, and of those that name the rows."""
    empty = tuple(column.name for column in schema.columns if not column.size)
    if empty:
        what = f"column {', '.join(map(repr, empty))} has no value in any row and is ignored"
        warnings.warn(DataWarning(what, kind="empty", names=empty), stacklevel=3)
    for column in schema.columns:
        text = isinstance(column, CategoricalColumn) and column.is_text
        if text and column.size > IDENTIFIES * n_rows >= IDENTIFIES * MANY_ROWS:
            told = DataWarning(
                f"column {column.name!r} has {column.size:,} labels in {n_rows:,} rows, as names "
                "or numbers of rows have; it cannot help with new rows: leave it out",
                kind="identifier",
                names=(column.name,),
            )
            warnings.warn(told, stacklevel=3)


def declared_categories(
    categories: Categories, names: Sequence[str]
) -> dict[str, tuple[Label, ...]]:
    """Read ``categories=``: a mapping by name, or a list with one entry (or None) a column."""
    if categories is None or (isinstance(categories, str) and categories == "auto"):
        return {}
    if isinstance(categories, Mapping):
        unknown = [name for name in categories if name not in names]
        if unknown:
            raise ValueError(f"categories= names {unknown[0]!r}, which is no column of X")
        given = dict(categories)
    else:
        if isinstance(categories, str) or len(categories) != len(names):
            raise ValueError(
                f"categories= must be a mapping from column names or a list of {len(names)} "
                "entries, one a column (None: learn them)"
            )
        given = {n: c for n, c in zip(names, categories, strict=True) if c is not None}
    return {name: _declared(name, labels) for name, labels in given.items()}


def _declared(name: str, labels: object) -> tuple[Label, ...]:
    """Read the declared values of one column."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ValueError(
            f"categories= of column {name!r} is {labels!r}; it must be a list of values"
        )
    values = tuple(x.item() if isinstance(x, np.generic) else x for x in labels)
    for value in values:
        if not isinstance(value, str | int | float | bool) or value != value:  # noqa: PLR0124
            raise ValueError(
                f"categories= of column {name!r} has {value!r}; values are strings or numbers, and "
                "missing cells need no category"
            )
    if len(set(values)) != len(values):
        raise ValueError(f"categories= of column {name!r} has a value twice")
    return values


def categorical_mask(features: Features, names: Sequence[str]) -> BoolArray | None:
    """Read ``categorical_features=``: "auto" (None here), names, positions or a mask."""
    if isinstance(features, str) and features == "auto":
        return None
    mask = np.zeros(len(names), dtype=bool)
    if features is None or (not isinstance(features, str) and not len(features)):
        return mask
    chosen: AnyArray = np.asarray(features)
    if chosen.ndim != 1 or (chosen.dtype == bool and len(chosen) != len(names)):
        raise ValueError(
            "categorical_features must be 'auto', a list of column names or positions, or a "
            f"mask of {len(names)} booleans; it is {features!r}"
        )
    if chosen.dtype == bool:
        return chosen
    for feature in chosen.tolist():
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"categorical_features names {feature!r}, no column of X")
            mask[list(names).index(feature)] = True
        elif isinstance(feature, int) and -len(names) <= feature < len(names):
            mask[feature] = True
        else:
            raise ValueError(
                f"categorical_features has {feature!r}; positions run from 0 to {len(names) - 1}"
            )
    return mask
