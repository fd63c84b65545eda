"""What the checks need to know about a column, computed once and without a loop over rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.schema.categories import distinct_integers

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray
    from unnaive.io.frames import Column

FEW_VALUES = 50  # a numeric column with more distinct values is not tabulated
_SAMPLE = 1000  # rows that decide whether a numeric column has few values
_WHOLE = 2.0**62


@dataclass(frozen=True)
class Facts:
    """Facts about one column; the sample is every m-th row."""

    column: Column
    step: int

    @classmethod
    def of(cls, column: Column) -> Facts:
        """Return the facts about a column."""
        column = replace(column, values=np.ascontiguousarray(column.values))
        return cls(column, max(1, len(column.values) // _SAMPLE))

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.column.name

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.column.values)

    @cached_property
    def missing(self) -> BoolArray:
        """Where the column is missing; infinite numbers are not."""
        return self.column.missing

    @cached_property
    def n_missing(self) -> int:
        """Number of missing values."""
        return int(np.count_nonzero(self.missing))

    @property
    def n_observed(self) -> int:
        """Number of values that are not missing."""
        return self.n_rows - self.n_missing

    @cached_property
    def numbers(self) -> FloatArray | AnyArray:
        """Values of a numeric column that are not missing."""
        return self.column.values[~self.missing] if self.n_missing else self.column.values

    @cached_property
    def sample(self) -> AnyArray:
        """A sample of the values that are not missing: numbers, or indices of labels."""
        every = self.column.values[:: self.step]
        return every[~self.missing[:: self.step]]

    @cached_property
    def is_whole(self) -> bool:
        """Whether the column has numbers only, and all of them are whole."""
        if self.column.is_text or not self.n_observed:
            return False
        if self.column.values.dtype.kind in "iub":
            return True
        sample_is_whole = np.array_equal(np.trunc(self.sample), self.sample)
        values = self.numbers
        return bool(
            sample_is_whole and np.array_equal(np.trunc(values), values) and _finite(values)
        )

    @cached_property
    def table(self) -> tuple[AnyArray, IntArray, IntArray] | None:
        """Distinct values, how often each occurs, and the code of every row (−1: missing).

        None for a numeric column with more than ``FEW_VALUES`` distinct values. The distinct
        values of a text column are positions in ``column.categories``.
        """
        values = self.column.values
        if self.column.is_text:
            counts = np.bincount(self.numbers, minlength=len(self.column.categories or ()))
            present = np.flatnonzero(counts)
            if len(present) == len(counts):
                return present, counts, values
            place = np.append(np.cumsum(counts > 0) - 1, -1)
            return present, counts[present], place[values]
        distinct = np.unique(self.sample)
        if len(distinct) > FEW_VALUES or not self.n_observed:
            return None
        codes = _codes(distinct, values)
        rest = self.numbers[codes[~self.missing] < 0] if self.n_missing else values[codes < 0]
        if len(rest):
            distinct = np.union1d(distinct, rest)
            if len(distinct) > FEW_VALUES:
                return None
            codes = _codes(distinct, values)
        return distinct, np.bincount(codes[codes >= 0], minlength=len(distinct)), codes

    @cached_property
    def size(self) -> int:
        """Number of distinct values; counting those of a numeric column of many takes a sort."""
        if self.table is not None:
            return len(self.table[0])
        distinct = distinct_integers(self.numbers) if self.numbers.dtype.kind in "iu" else None
        return len(np.unique(self.numbers)) if distinct is None else len(distinct)

    @cached_property
    def sampled_distinct(self) -> float:
        """Share of distinct values in the sample; 0 for a column without values."""
        return len(np.unique(self.sample)) / max(1, len(self.sample))

    @cached_property
    def collision(self) -> float:
        """Probability that two rows of the sample have the same value."""
        _, counts = np.unique(self.column.values[:: self.step], return_counts=True, equal_nan=True)
        n = counts.sum()
        pairs = float((counts * (counts - 1.0)).sum() / max(1.0, n * (n - 1.0)))
        return max(pairs, 1.0 / max(1.0, float(n)) ** 2)

    @cached_property
    def labels(self) -> list[object]:
        """The distinct values as Python objects, in the order of ``table``."""
        if self.table is None:
            return []
        if self.column.categories is None:
            return list(self.table[0].tolist())
        if len(self.table[0]) == len(self.column.categories):
            return list(self.column.categories)
        return [self.column.categories[place] for place in self.table[0].tolist()]


def _codes(distinct: AnyArray, values: AnyArray) -> IntArray:
    """Position of every value in sorted distinct values, −1 for a value that is not there."""
    place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return np.where(distinct[place] == values, place, -1)


def _finite(values: AnyArray) -> bool:
    return bool(np.abs(values).max(initial=0.0) < _WHOLE)
