"""SchemaSketch: learns a schema from batches of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unnaive import _parallel
from unnaive.discretize import discretizer
from unnaive.discretize.base import BinnedDiscretizer
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema.categories import labels_of
from unnaive.schema.columns import CategoricalColumn, ColumnSchema, sorted_labels
from unnaive.schema.learn import (
    ColumnRules,
    declared_classes,
    encode_declared,
    label_array,
    warn_of_columns,
)
from unnaive.schema.schema import Schema, refuse_unusable_target
from unnaive.schema.sketch.buckets import ACCURACY
from unnaive.schema.sketch.columns import ColumnSketch, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import BoolArray, FloatArray, IntArray, State
    from unnaive.discretize import Discretizer
    from unnaive.io.frames import Column, Frame
    from unnaive.schema.columns import Label
    from unnaive.schema.settings import Categories, Features, Missing

MANY_CLASSES = 10_000
_CLASSES_CURE = "a classifier needs few: cut it into classes, or name another target column"


class SchemaSketch:
    """Learn a schema from batches of rows, in any order, on any number of machines.

    Call ``add`` for each batch, ``merge`` for sketches of other batches, and then ``schema``. The
    result depends only on the rows, bit for bit, and not on batches, order or threads.

    While a numeric column has at most 4096 distinct values, all of them are kept, and the
    schema is the one that :func:`~unnaive.schema.learn_schema` learns from all rows together.
    Beyond that, its edges come from a histogram by class of about ``accuracy`` buckets (see
    :class:`~unnaive.schema.sketch.buckets.Buckets`). Every edge still lies between two neighboring
    values of the data. The error of its rank is at most the share of rows in the largest bucket of
    several values, which :meth:`rank_errors` returns: below 0.4 % for uniform, normal and
    log-normal numbers. It is larger only if many values lie in a very narrow range and others
    far outside. Bins of equal width need no histogram and are exact.

    Parameters
    ----------
    target : str
        Name of the target.
    discretize, bins, categorical_features, categories, missing_as_category
        As in the models.
    classes : list, default=None
        All class labels. None: those that occur.
    accuracy : int, default=16384
        Number of buckets of a column with many values; a bucket takes 24 + 8 · classes bytes.
    n_jobs : int, default=None
        Number of threads; columns are processed in parallel.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.io.frames import to_column, to_frame
    >>> X, y = np.arange(1.0, 9.0).reshape(-1, 1), list("AAAABBBB")
    >>> left, right = SchemaSketch(target="y"), SchemaSketch(target="y")
    >>> left.add(to_frame(X[:3]), to_column(y[:3]))
    >>> right.add(to_frame(X[3:]), to_column(y[3:]))
    >>> left.merge(right)
    >>> left.schema().columns
    (NumericColumn(name='x0', edges=(4.5,)),)
    """

    def __init__(
        self,
        *,
        target: str,
        discretize: str | Discretizer | None = "mdlp",
        bins: int = 5,
        categorical_features: Features = "auto",
        categories: Categories = None,
        missing_as_category: Missing = False,
        classes: Sequence[Label] | None = None,
        accuracy: int = ACCURACY,
        n_jobs: int | None = None,
    ) -> None:
        self.target, self.n_jobs, self.accuracy = target, n_jobs, accuracy
        self.categorical_features, self.categories = categorical_features, categories
        self.missing_as_category = missing_as_category
        self.discretizer = None if discretize is None else discretizer(discretize, bins)
        self.names: tuple[str, ...] = ()
        self.n_rows = 0
        self._labels = Values(target, MANY_CLASSES, _CLASSES_CURE)
        self._places: dict[Label, int] = {}
        self._fixed: Schema | None = None
        if classes is not None:
            labels = declared_classes(classes)
            self._fixed = Schema((), labels, target)
            self._places = {label: place for place, label in enumerate(labels)}
        self._declared: dict[str, CategoricalColumn] = {}
        self._columns: list[ColumnSketch | None] = []
        self._gaps: BoolArray = np.zeros(0, dtype=bool)  # which columns have a missing value

    @property
    def _uses_classes(self) -> bool:
        return not (self.discretizer is None or isinstance(self.discretizer, BinnedDiscretizer))

    def add(self, frame: Frame, target: Column, weights: FloatArray | None = None) -> None:
        """Add a batch of rows; after an error the sketch can no longer be used."""
        if not self.names:
            self._begin(frame.names)
        elif frame.names != self.names:
            raise SchemaMismatch(
                f"columns {list(self.names)} before, {list(frame.names)} now; give every batch the "
                "same columns in the same order"
            )
        classes = self._code_classes(target)
        weights = np.ones(frame.n_rows) if weights is None else weights

        def add_one(index: int) -> None:
            column, sketch = frame.column(index), self._columns[index]
            self._gaps[index] |= self._rules.missing[index] and column.missing.any()
            if sketch is None:
                encode_declared(self._declared[column.name], column)
                return
            if sketch.buckets is not None:
                sketch.buckets.widen(self._width)
            sketch.add(column, classes, weights)

        _parallel.run(add_one, range(len(self.names)), self.n_jobs)
        self.n_rows += frame.n_rows

    def _begin(self, names: tuple[str, ...]) -> None:
        """Read the parameters that concern columns, once the names are known."""
        self.names = names
        rules = self._rules = ColumnRules.read(
            names,
            self.discretizer,
            self.categorical_features,
            self.categories,
            self.missing_as_category,
        )
        self._gaps = np.zeros(len(names), dtype=bool)
        self._declared = {n: CategoricalColumn(n, labels) for n, labels in rules.declared.items()}
        self._columns = [
            None
            if name in rules.declared
            else ColumnSketch(name, rules.is_category(index, name), self._width, self.accuracy)
            for index, name in enumerate(names)
        ]

    @property
    def _width(self) -> int:
        return len(self._places) if self._uses_classes else 1

    def _code_classes(self, column: Column) -> IntArray:
        """Assign numbers to the classes, in the order in which they occur."""
        if self._fixed is not None:
            codes = self._fixed.encode_target(column)
        else:
            refuse_unusable_target(column)
            self._labels.add(column)
            values, labels = column.values, labels_of(column)
            if not column.is_text:
                distinct, values = np.unique(values, return_inverse=True)
                labels = tuple(distinct.tolist())
            table = [self._places.setdefault(label, len(self._places)) for label in labels]
            codes = np.array(table, dtype=np.int64)[values]
        return codes if self._uses_classes else np.zeros(len(codes), dtype=np.int64)

    def merge(self, other: SchemaSketch) -> None:
        """Add another sketch, which was made with the same settings."""
        if not other.names:
            return
        if not self.names:
            self._begin(other.names)
        if self.names != other.names or self.target != other.target:
            raise SchemaMismatch(
                f"columns {list(self.names)} and target {self.target!r} here, "
                f"{list(other.names)} and {other.target!r} there; give all the same columns"
            )
        self._labels.merge(other._labels)
        places = [self._places.setdefault(label, len(self._places)) for label in other._places]
        table = np.array(places if self._uses_classes else [0], dtype=np.int64)
        for mine, theirs in zip(self._columns, other._columns, strict=True):
            if mine is not None and theirs is not None:
                if mine.buckets is not None:
                    mine.buckets.widen(self._width)
                mine.merge(theirs, table)
        self._gaps |= other._gaps
        self.n_rows += other.n_rows

    def schema(self) -> Schema:
        """Learn the schema from all rows that were added."""
        if not self.n_rows:
            raise UnnaiveError("there are no rows to learn a schema from; add at least one")
        labels = self._class_labels()
        places = [self._places[label] for label in labels] if self._uses_classes else [0]
        order = np.array(places, dtype=np.int64)

        def learn_one(index: int) -> ColumnSchema:
            sketch = self._columns[index]
            if sketch is None:
                learned: ColumnSchema = self._declared[self.names[index]]
            else:
                learned = sketch.learn(self._rules.discretizer_of(sketch.name), order)
            gaps = bool(self._gaps[index] and learned.size)
            return replace(learned, missing_category=True) if gaps else learned

        columns = _parallel.run(learn_one, range(len(self.names)), self.n_jobs)
        schema = Schema(tuple(columns), labels, self.target)
        warn_of_columns(schema, self.n_rows)
        return schema

    def _class_labels(self) -> tuple[Label, ...]:
        if self._fixed is not None:
            return self._fixed.classes
        return tuple(label_array(sorted_labels(self._labels.categories())).tolist())

    def rank_errors(self) -> dict[str, float]:
        """Bounds on the error of an edge's rank, by column, as a share of the rows."""
        return {sketch.name: sketch.rank_error() for sketch in self._columns if sketch is not None}

    def state(self) -> State:
        """Return plain values and arrays for files, without the settings."""
        return {
            "names": list(self.names),
            "n_rows": self.n_rows,
            "labels": self._labels.state(),
            "places": list(self._places),
            "columns": [None if sketch is None else sketch.state() for sketch in self._columns],
            "gaps": self._gaps,
        }

    @classmethod
    def from_state(cls, state: State, **settings: Any) -> Self:
        """Return the sketch of a :meth:`state`, given the settings that it had."""
        sketch = cls(**settings)
        sketch._places = {label: place for place, label in enumerate(state["places"])}
        sketch._labels.restore(state["labels"])
        if state["names"]:
            sketch._begin(tuple(state["names"]))
        for column, saved in zip(sketch._columns, state["columns"], strict=True):
            if column is not None:
                column.restore(saved)
        sketch.n_rows, sketch._gaps = state["n_rows"], state["gaps"]
        return sketch
