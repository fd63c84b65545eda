"""Learn a schema from rows: the categories of columns, and the bin edges of numbers."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._caution import caution
from unnaive._core.coding import OUTSIDE, offset_integers
from unnaive._dataclasses import dataclass
from unnaive.discretize.fixed import ByColumn
from unnaive.exceptions import DataWarning, UnnaiveError
from unnaive.schema.categories import (
    distinct_integers,
    group_rare,
    learn_categories,
    with_missing_category,
)
from unnaive.schema.columns import (
    CategoricalColumn,
    ColumnSchema,
    NumericColumn,
    first_cell,
    refuse_infinite,
    sorted_labels,
)
from unnaive.schema.schema import Schema, refuse_unusable_target
from unnaive.schema.settings import (
    categorical_mask,
    declared_categories,
    missing_mask,
    named_classes,
    require_features,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, BoolArray, CodeArray, FloatArray, IntArray
    from unnaive.discretize import Discretizer
    from unnaive.io.frames import Column, Frame
    from unnaive.schema.categories import Limits
    from unnaive.schema.columns import Label
    from unnaive.schema.settings import Categories, Features, Missing

FEW_VALUES = 10  # whole numbers with at most this many distinct values are categories,
OFTEN = 2  # if each value occurs at least this often on average
LITTLE = 0.1  # a mean weight below this indicates weights of the wrong scale
MANY_ROWS, IDENTIFIES = 30, 0.9  # distinct labels per row from which a column is an identifier
_BLOCK_ROWS = 1 << 13
_SAMPLE_ROWS = 1000


def learn_target(
    column: Column, classes: Sequence[Label] | None = None
) -> tuple[AnyArray, IntArray]:
    """Find the class labels of a target, sorted as in scikit-learn, and code it.

    Parameters
    ----------
    column : Column
        The target.
    classes : sequence of str, int, float or bool, or None, default=None
        All class labels. None: the labels that occur, or the declared categories of a pandas
        categorical. There may be labels that no row has.

    Returns
    -------
    labels : array of shape (k,)
        Class labels in sorted order, of the type of the column.
    codes : array of shape (n,), int64
        The index of each row's label.

    See Also
    --------
    learn_schema : Also learns the columns.

    Examples
    --------
    >>> from unnaive.io.frames import to_column
    >>> from unnaive.schema import learn_target
    >>> learn_target(to_column(["well", "ill", "well"]))
    (array(['ill', 'well'], dtype='<U4'), array([1, 0, 1]))
    """
    refuse_unusable_target(column)
    if classes is None:
        labels = sorted_labels(learn_categories(column)[0].categories)
    else:
        labels = declared_classes(classes)
    schema = Schema((), labels, column.name)
    return label_array(labels, column if classes is None else None), schema.encode_target(column)


def declared_classes(classes: object) -> tuple[Label, ...]:
    """Return the classes that somebody declares, sorted and once each.

    Parameters
    ----------
    classes : list of str, int, float or bool
        The classes.

    Returns
    -------
    tuple
        The classes; if one of several numbers has a fraction, all are floats.

    Examples
    --------
    >>> from unnaive.schema.learn import declared_classes
    >>> declared_classes(["well", "ill", "well"])
    ('ill', 'well')
    """
    return sorted_labels(set(label_array(named_classes(classes)).tolist()))


def label_array(labels: Sequence[Label], column: Column | None = None) -> AnyArray:
    """Return an array of labels.

    Parameters
    ----------
    labels : sequence of str, int, float or bool
        The labels.
    column : Column or None, default=None
        A column whose numeric type the array gets, if the column is numeric and its type can hold
        all labels.

    Returns
    -------
    array of shape (k,)
        The labels; of type object if strings and numbers are mixed.

    See Also
    --------
    sorted_labels : Sorts labels of any types.

    Examples
    --------
    >>> from unnaive.schema import label_array
    >>> label_array(["a", 1])
    array(['a', 1], dtype=object)
    """
    if column is not None and not column.is_text:
        with suppress(OverflowError, ValueError):
            array = np.array(labels, dtype=column.values.dtype)
            if array.tolist() == list(labels):
                return array
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
    discretizer: Discretizer | ByColumn | None = None,
    categorical_features: Features = "auto",
    categories: Categories = None,
    min_frequency: float | None = None,
    max_categories: int | None = None,
    missing_as_category: Missing = False,
    classes: Sequence[Label] | None = None,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
) -> tuple[Schema, CodeArray, IntArray]:
    """Learn the categories or bin edges of all columns and code the rows.

    Parameters
    ----------
    frame : Frame
        The rows, as :func:`unnaive.io.frames.to_frame` returns them.
    target : Column
        Class labels of the rows.
    discretizer : Discretizer or None, default=None
        Finds the bin edges. None: the distinct values of every column are its categories.
    categorical_features, categories, min_frequency, max_categories : object, default=None
        As in the models: what is categorical, declared categories, and which are grouped.
    missing_as_category : bool, list or mask, default=False
        As in the models: columns in which missing values are a category of their own.
    classes : sequence of str, int, float or bool, or None, default=None
        All class labels. None: those that occur.
    weights : array of shape (n,), float64, or None, default=None
        Weights of the rows.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    schema : Schema
        The columns and the classes.
    codes : array of shape (d, n), uint8, uint16 or uint32
        Codes of the rows.
    class_codes : array of shape (n,), int64
        The index of each row's class.

    See Also
    --------
    Schema.encode : Codes other rows with the same schema.

    Examples
    --------
    >>> from unnaive.io.frames import to_column, to_frame
    >>> frame = to_frame([{"age": 20.5, "sex": "f"}, {"age": 60.0, "sex": "m"}])
    >>> schema, codes, _ = learn_schema(frame, to_column([0, 1]))
    >>> schema.columns[1].categories, codes.tolist()
    (('f', 'm'), [[0, 1], [0, 1]])
    """
    require_features(frame.names, target.name)
    labels, class_codes = learn_target(target, classes)
    limits = (min_frequency, max_categories)
    named = (categorical_features, categories, missing_as_category)
    rules = ColumnRules.read(frame.names, discretizer, *named, limits=limits)
    columns, codes = _learn_columns(frame, rules, (class_codes, len(labels)), weights, n_jobs)
    schema = Schema(columns, tuple(labels.tolist()), target.name)
    warn_of_columns(schema, frame.n_rows)
    _warn_of_light_weights(weights)
    return schema, _stack(codes, schema), class_codes


@dataclass(frozen=True)
class ColumnRules:
    """How columns are learned: the parameters of :func:`learn_schema`, by column."""

    discretizer: Discretizer | ByColumn | None
    declared: dict[str, tuple[Label, ...]]
    chosen: BoolArray | None
    missing: BoolArray
    limits: Limits

    @classmethod
    def read(
        cls,
        names: Sequence[str],
        discretizer: Discretizer | ByColumn | None,
        features: Features,
        categories: Categories,
        missing: Missing = False,
        *,
        limits: Limits = (None, None),
    ) -> ColumnRules:
        """Check the parameters against the names of the columns."""
        for name in discretizer.named if isinstance(discretizer, ByColumn) else ():
            if name not in names:
                close = get_close_matches(str(name), names, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"they are {list(names)}"
                raise ValueError(f"discretize= names {name!r}, which is not a column of X; {hint}")
        declared = declared_categories(categories, names)
        chosen = categorical_mask(features, names)
        return cls(discretizer, declared, chosen, missing_mask(missing, names), limits)

    def discretizer_of(self, name: str) -> Discretizer | None:
        """Return the discretizer of a column; None if it is not cut."""
        found = self.discretizer
        return found.of(name) if isinstance(found, ByColumn) else found

    def is_category(self, index: int, name: str) -> bool | None:
        """Whether the numbers of a column are categories; None if that depends on the numbers."""
        if self.discretizer_of(name) is None:
            return True
        if isinstance(self.discretizer, ByColumn) and name in self.discretizer.named:
            return False
        return None if self.chosen is None else bool(self.chosen[index])

    def learn(
        self, column: Column, index: int, target: tuple[IntArray, int], weights: FloatArray | None
    ) -> tuple[ColumnSchema, CodeArray]:
        """Learn and code a column; ``target`` has the class codes and the number of classes."""
        learned = self._learn_values(column, index, target, weights)
        return with_missing_category(*learned, column.missing) if self.missing[index] else learned

    def _learn_values(
        self, column: Column, index: int, target: tuple[IntArray, int], weights: FloatArray | None
    ) -> tuple[ColumnSchema, CodeArray]:
        name = column.name
        if name in self.declared:
            declared = CategoricalColumn(name, self.declared[name])
            return declared, encode_declared(declared, column)
        discretizer, is_category = self.discretizer_of(name), self.is_category(index, name)
        if discretizer is None or is_categorical(column, is_category, weights):
            categories, codes = learn_categories(column)
            if is_category is False and self.chosen is None and categories.size:
                raise ValueError(
                    f"discretize= names column {name!r}, which holds labels such as "
                    f"{first_cell(column)!r}; convert it to numbers, or take it out of discretize="
                )
            return group_rare(categories, codes, weights, self.limits)
        bins = _cut(column, discretizer, *target, weights)
        return bins, bins.encode(column)


def _learn_columns(
    frame: Frame,
    rules: ColumnRules,
    target: tuple[IntArray, int],
    weights: FloatArray | None,
    n_jobs: int | None,
) -> tuple[tuple[ColumnSchema, ...], list[CodeArray]]:
    """Learn and code every column."""
    columns: list[ColumnSchema | None] = [None] * len(frame.names)
    codes: list[CodeArray | None] = [None] * len(frame.names)
    if rules.discretizer is None and not rules.declared:
        _scan_matrix(frame, columns, codes, n_jobs)

    def learn_one(index: int) -> None:
        if columns[index] is None:
            learned = rules.learn(frame.column(index), index, target, weights)
            columns[index], codes[index] = learned

    n_jobs = _parallel.jobs_for(frame.n_rows * len(columns), n_jobs)
    _parallel.run(learn_one, range(len(columns)), n_jobs)
    return tuple(filter(None, columns)), [code for code in codes if code is not None]


def encode_declared(declared: ColumnSchema, column: Column) -> CodeArray:
    """Code a column by declared categories; raise an error for a value that is not declared."""
    codes = declared.encode(column)
    unknown = np.flatnonzero((codes == declared.size) & ~column.missing)
    if len(unknown):
        raise UnnaiveError(
            f"column {column.name!r} has value {column.cell(unknown[0])!r}, which categories= "
            f"does not list ({len(unknown)} rows have values that are not listed); add it there, "
            "or make these cells missing"
        )
    return codes


def _stack(codes: Sequence[CodeArray], schema: Schema) -> CodeArray:
    """Stack the codes of the columns; without a copy if they are one array already."""
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
    """Learn the columns of an integer array in one pass; skip those with a wide range."""
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
    """Whether a column is categorical: labels, and by default whole numbers of few values."""
    if column.is_text:
        return True
    if chosen is not None:
        return chosen
    observed = ~column.missing
    integers = column.values.dtype.kind in "iub"
    values = column.values if integers else column.values[observed]
    for sample in (values[:_SAMPLE_ROWS], values):
        few = distinct_integers(sample) if integers else None
        distinct = np.unique(sample) if few is None else few
        if len(distinct) > FEW_VALUES or not np.all(np.trunc(distinct) == distinct):
            return False
    size = len(values) if weights is None else max(len(values), weights[observed].sum())
    return bool(len(distinct) * OFTEN <= size)


def _cut(
    column: Column,
    discretizer: Discretizer,
    classes: IntArray,
    n_classes: int,
    weights: FloatArray | None,
) -> ColumnSchema:
    """Cut a numeric column into bins; a column without any value has no bins."""
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
        warning = DataWarning(
            f"sample_weight sums to {weights.sum():.3g} over {len(weights)} rows; bins, min_count "
            "and smoothing treat weights as numbers of rows, so these weights stand for almost no "
            "data: scale the weights to a mean of 1",
            kind="weights",
        )
        caution(warning)


def warn_of_columns(schema: Schema, n_rows: int) -> None:
    """Warn of columns without any value, and of identifiers."""
    empty = tuple(column.name for column in schema.columns if not column.size)
    if empty:
        message = f"column {', '.join(map(repr, empty))} has no value in any row and is ignored"
        caution(DataWarning(message, kind="empty", names=empty))
    for column in schema.columns:
        text = isinstance(column, CategoricalColumn) and column.is_text
        if text and column.size > IDENTIFIES * n_rows >= IDENTIFIES * MANY_ROWS:
            warning = DataWarning(
                f"column {column.name!r} has {column.size:,} labels in {n_rows:,} rows and looks "
                "like an identifier: nearly every row has its own value; leave it out",
                kind="identifier",
                names=(column.name,),
            )
            caution(warning)
