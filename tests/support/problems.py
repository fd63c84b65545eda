"""Random and hostile problems: rows of codes with gaps, for the slow twins and the library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

import unnaive
from unnaive.counts import CodedRows
from unnaive.models import CountsClassifier
from unnaive.schema import CategoricalColumn, Schema

COUNTING = sorted(
    key for key, make in unnaive.all_models().items() if isinstance(make(), CountsClassifier)
)
GAUSSIAN = sorted(set(unnaive.all_models()) - set(COUNTING))
FIRST = {type(make()): key for key, make in reversed(unnaive.all_models().items())}
SISTERS = set(unnaive.all_models()) - set(FIRST.values())  # other settings of a class


@dataclass(frozen=True)
class Problem:
    """Rows as lists (None: missing) for the twins; ``coded()`` for the library."""

    rows: list
    classes: list
    k: int
    values: list
    weights: list | None = None

    @property
    def data(self):
        return self.rows, self.classes, self.k, self.values

    @cached_property
    def schema(self):
        columns = [CategoricalColumn(f"x{i}", tuple(range(v))) for i, v in enumerate(self.values)]
        return Schema(tuple(columns), tuple(range(self.k)))

    @cached_property
    def cells(self):
        """Rows as numbers, NaN: missing; converted once, since large problems serve many tests."""
        cells = np.array(self.rows, dtype=float)  # None becomes NaN
        return cells.reshape(len(self.rows), len(self.values))

    @property
    def X(self):  # noqa: N802
        return self.cells.copy()

    def coded(self, n_jobs=None):
        schema = self.schema
        slots = np.where(np.isnan(self.cells), self.values, self.cells)
        codes = np.ascontiguousarray(slots.T, dtype=schema.code_type)
        weights = None if self.weights is None else np.array(self.weights, dtype=float)
        return CodedRows(schema, codes, np.array(self.classes, dtype=np.int64), weights, n_jobs)


@st.composite
def problems(draw, max_rows=25, max_columns=5, sizes=(1, 2, 3, 5, 18), weighted=False):
    """Small problems of every shape: one row, one class, one value, d = 1, n < d, gaps."""
    values = draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=max_columns))
    k = draw(st.integers(1, 4))
    n = draw(st.integers(1, max_rows))
    gaps = draw(st.sampled_from([0.0, 0.2, 0.9]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = [
        [None if random.random() < gaps else int(random.integers(v)) for v in values]
        for _ in range(n)
    ]
    if draw(st.booleans()) and len(values) > 1:  # a duplicate column, with its gaps
        values[1] = values[0]
        rows = [[row[0], row[0], *row[2:]] for row in rows]
    classes = [int(random.integers(k)) for _ in range(n)]
    weights = [float(random.choice([0.5, 1.0, 2.25])) for _ in range(n)] if weighted else None
    return Problem(rows, classes, k, values, weights)


def made(n, values, k, gaps=0.0, seed=0):
    """One problem of a given shape."""
    random = np.random.default_rng(seed)
    rows = [
        [None if random.random() < gaps else int(random.integers(v)) for v in values]
        for _ in range(n)
    ]
    return Problem(rows, [int(random.integers(k)) for _ in range(n)], k, list(values))


def repeated(times, problem):
    """A problem with its rows many times over."""
    return Problem(times * problem.rows, times * problem.classes, problem.k, problem.values)


HOSTILE = {
    "one row": made(1, [2, 3], 2),
    "one class": made(12, [2, 3], 1),
    "one value": made(12, [1, 1, 1], 2),
    "all missing": made(12, [2, 3], 2, gaps=1.0),
    "300 categories": made(700, [300, 3], 2),
    "70,000 categories": made(50, [70_000, 3], 2),
    "40 classes": made(90, [3, 2, 4], 40),
    "d = 1": made(9, [3], 2),
    "n < d": made(3, [2] * 6, 2),
    "fewer rows than a word, a class absent": made(5, [2, 2], 9),
    "more rows than a block": repeated(140, made(1000, [3, 2], 1)),
}
