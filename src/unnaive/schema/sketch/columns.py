"""Sketch of one column: its labels, its distinct numbers, or its buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from unnaive.discretize import EqualFrequency, EqualWidth, Quantile
from unnaive.discretize.base import SupervisedDiscretizer, midpoints
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema.categories import distinct_integers, labels_of
from unnaive.schema.columns import (
    CategoricalColumn,
    ColumnSchema,
    NumericColumn,
    natural_order,
    refuse_infinite,
    sorted_labels,
)
from unnaive.schema.learn import FEW_VALUES, OFTEN
from unnaive.schema.sketch.buckets import Buckets

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, IntArray, State
    from unnaive.discretize import Discretizer
    from unnaive.io.frames import Column
    from unnaive.schema.columns import Label

MANY = 1_000_000  # largest number of categories; a column of more is an identifier or numeric
CURE = (
    "too many for categories: leave it out if it is an identifier, group its rare values, or have "
    "numbers cut into bins (discretize=, categorical_features=)"
)
_ROWS = 1 << 20  # up to this many rows, a discretizer gets them one by one, as in learn_schema


class MixedColumn(SchemaMismatch):
    """A column holds numbers in some rows and labels in others."""

    def __init__(self, name: str, label: object) -> None:
        self.name, self.label = name, label
        super().__init__(
            f"column {name!r}: numbers in some rows, labels such as {label!r} in others; convert "
            "it to strings, or make these cells missing"
        )

    def __reduce__(self) -> tuple[type[Self], tuple[str, object]]:
        return type(self), (self.name, self.label)


def distinct_numbers(column: Column) -> AnyArray:
    """Distinct values of a numeric column, in increasing order."""
    values = column.values
    if values.dtype.kind in "iub" and len(values):
        distinct = distinct_integers(values)
        if distinct is not None:
            return distinct
    return np.unique(values if values.dtype.kind != "f" else values[~np.isnan(values)])


class Values:
    """Distinct values of a column: labels with their declared order, or numbers.

    Parameters
    ----------
    name : str
        Name of the column, for error messages.
    most : int
        Largest number of distinct values.
    cure : str
        Advice in the error message if there are more. Empty: there is no error, and ``numbers``
        becomes None.
    """

    def __init__(self, name: str, most: int = MANY, cure: str = CURE) -> None:
        self.name, self.most, self.cure = name, most, cure
        self.labels: set[Label] = set()
        self.domains: set[tuple[Label, ...]] = set()  # (): a batch declared no categories
        self.numbers: AnyArray | None = np.empty(0, dtype=np.bool_)

    def add(self, column: Column) -> None:
        """Add the values of a batch."""
        if column.is_text:
            labels = [x.item() if isinstance(x, np.generic) else x for x in labels_of(column)]
            self.labels.update(labels)
            if len(self.domains) < 2:
                self.domains.add(tuple(labels) if column.declared else ())
        else:
            self._unite(distinct_numbers(column))
        self._check()

    def merge(self, other: Values) -> None:
        """Add the values of another sketch."""
        self.labels |= other.labels
        self.domains |= other.domains
        self._unite(other.numbers)
        self._check()

    def _unite(self, numbers: AnyArray | None) -> None:
        if numbers is None or self.numbers is None:
            self.numbers = None
            return
        united = np.union1d(self.numbers, numbers)
        self.numbers = united if len(united) <= self.most or self.cure else None

    def _check(self) -> None:
        count = len(self.labels) + (0 if self.numbers is None else len(self.numbers))
        if self.labels and (self.numbers is None or len(self.numbers)):
            raise MixedColumn(self.name, sorted_labels(self.labels)[0])
        if count > self.most:
            raise UnnaiveError(
                f"column {self.name!r} has more than {self.most:,} different values; {self.cure}"
            )

    def categories(self) -> tuple[Label, ...]:
        """Return the distinct values in declared or sorted order."""
        if not self.labels and self.numbers is not None and len(self.numbers):
            return tuple(self.numbers.tolist())
        if len(self.domains) == 1 and (declared := next(iter(self.domains))):
            return declared
        return natural_order(self.labels)

    def state(self) -> State:
        """Plain values and arrays."""
        return {
            "labels": list(sorted_labels(self.labels)),
            "domains": [list(domain) for domain in sorted(self.domains, key=repr)],
            "numbers": self.numbers,
        }

    def restore(self, state: State) -> None:
        """Become what :meth:`state` described."""
        self.labels = set(state["labels"])
        self.domains = {tuple(domain) for domain in state["domains"]}
        self.numbers = state["numbers"]


class ColumnSketch:
    """Sketch of a column without declared categories.

    ``chosen`` says whether numbers are categories: True, False, or None if that depends on
    their values, as in :func:`~unnaive.schema.learn_schema`.
    """

    def __init__(self, name: str, chosen: bool | None, n_classes: int, accuracy: int) -> None:
        self.name, self.chosen = name, chosen
        self.values = Values(name) if chosen else Values(name, FEW_VALUES, cure="")
        self.labels = Values(name)
        self.buckets = None if chosen else Buckets(n_classes, accuracy)
        self.only_integers = True
        self.weight = self.n_observed = 0.0

    def add(self, column: Column, classes: IntArray, weights: FloatArray) -> None:
        """Add the cells of a batch."""
        if column.is_text:
            self.labels.add(column)
        else:
            refuse_infinite(column.name, column.values)
            integers = column.values.dtype.kind in "iub"
            self.only_integers &= integers
            if self.chosen or (
                self.chosen is None and integers and self.values.numbers is not None
            ):
                self.values.add(column)
            if self.buckets is not None:
                numbers = np.ascontiguousarray(column.values, dtype=np.float64)
                self.buckets.add(numbers, classes, weights)
            missing = column.missing if not integers else np.zeros(0, dtype=np.bool_)
            self.n_observed += len(column.values) - np.count_nonzero(missing)
            self.weight += float(weights.sum() - weights[: len(missing)][missing].sum())
        self._check()

    def merge(self, other: ColumnSketch, places: IntArray) -> None:
        """Add another sketch of the column; its class c is class ``places[c]`` here."""
        self.labels.merge(other.labels)
        self.values.merge(other.values)
        if self.buckets is not None and other.buckets is not None:
            self.buckets.merge(other.buckets, places)
        self.only_integers &= other.only_integers
        self.n_observed += other.n_observed
        self.weight += other.weight
        self._check()

    def _check(self) -> None:
        if self.labels.labels and self.n_observed:
            raise MixedColumn(self.name, sorted_labels(self.labels.labels)[0])

    def learn(self, discretizer: Discretizer | None, order: IntArray) -> ColumnSchema:
        """Return the column's schema; class c of the schema is class ``order[c]`` here."""
        if self.labels.labels or not self.n_observed:
            return CategoricalColumn(self.name, self.labels.categories())
        if self.buckets is None:
            return CategoricalColumn(self.name, self.values.categories())
        ends, counts = self.buckets.ordered()
        if self.chosen is None and self._few(ends):
            floats = tuple(ends[:, 0].tolist())
            categories = self.values.categories() if self.only_integers else floats
            return CategoricalColumn(self.name, categories)
        if discretizer is None:
            raise UnnaiveError(
                f"column {self.name!r} needs bins, but there is no discretizer; set discretize="
            )
        counts = _by_class(counts, order)
        edges = cut(discretizer, ends, counts, integers=self.weight == self.n_observed)
        return NumericColumn(self.name, tuple(edges.tolist()))

    def _few(self, ends: FloatArray) -> bool:
        # Integers beyond 2⁵³ may be equal as floats, so they are compared as integers.
        values = self.values.numbers if self.only_integers else ends[:, 0]
        if values is None or len(values) > FEW_VALUES or not np.all(np.trunc(ends) == ends):
            return False
        return len(values) * OFTEN <= max(self.n_observed, self.weight)

    def rank_error(self) -> float:
        """Largest share of rows in a bucket of several values, which bounds the error of a cut."""
        if self.buckets is None or not self.buckets.size:
            return 0.0
        ends, counts = self.buckets.ordered()
        several = ends[:, 0] < ends[:, 1]
        return float(counts[several].sum(axis=1).max(initial=0.0) / counts.sum())

    def state(self) -> State:
        """Plain values and arrays."""
        return {
            "values": self.values.state(),
            "labels": self.labels.state(),
            "buckets": None if self.buckets is None else self.buckets.state(),
            "only_integers": self.only_integers,
            "n_observed": self.n_observed,
            "weight": self.weight,
        }

    def restore(self, state: State) -> None:
        """Become what :meth:`state` described."""
        self.values.restore(state["values"])
        self.labels.restore(state["labels"])
        self.buckets = None if state["buckets"] is None else Buckets.from_state(state["buckets"])
        self.only_integers = state["only_integers"]
        self.n_observed, self.weight = state["n_observed"], state["weight"]


def _by_class(counts: FloatArray, order: IntArray) -> FloatArray:
    """Order classes as in the schema; −1 is a class without rows and gets zeros."""
    padded = np.pad(counts, ((0, 0), (0, 1)))
    return np.ascontiguousarray(padded[:, order])


def cut(
    discretizer: Discretizer, ends: FloatArray, counts: FloatArray, *, integers: bool
) -> FloatArray:
    """Edges of a discretizer for buckets with ``counts`` (m, k) rows.

    If every bucket is one value, these are the edges that it finds for the rows themselves.
    Otherwise it gets the indices of the buckets instead of their values, and a cut between two
    buckets becomes a cut between the highest value below and the lowest value above.
    """
    low, high = ends[:, 0], ends[:, 1]
    exact = bool((low == high).all())
    if isinstance(discretizer, EqualWidth):
        return discretizer.column_edges(np.array([low[0], high[-1]]))
    known = isinstance(discretizer, SupervisedDiscretizer | Quantile | EqualFrequency)
    bucket, classes = np.nonzero(counts)
    weights: FloatArray | None = counts[bucket, classes]
    values = low[bucket] if exact or not known else bucket.astype(np.float64)
    if integers and counts.sum() <= _ROWS:
        times = counts[bucket, classes].astype(np.int64)
        values, classes, weights = np.repeat(values, times), np.repeat(classes, times), None
    edges = discretizer.column_edges(values, classes, counts.shape[1], weights)
    if exact or not known:
        return edges
    above = np.ceil(edges).astype(np.int64)
    if isinstance(discretizer, Quantile):
        return np.nextafter(low[above], -np.inf)
    return midpoints(high[above - 1], low[above])
