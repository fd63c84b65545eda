"""Sums of numbers: exact, the same in any order, and nothing left of rows that were removed."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unnaive.counts.distinct import distinct_rows
from unnaive.counts.moments import moments_of
from unnaive.counts.precise import NumberColumns, Total
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.schema import Schema

NAMES = ("weights", "sums", "products", "origin", "class_weights")


def hostile(seed):
    """Return rows with copies of columns, constants, offsets, gaps and scales, and classes."""
    random = np.random.default_rng(seed)
    n, d = int(random.choice([1, 2, 5, 60, 700])), int(random.integers(1, 6))
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-6, 7, size=d)
    X += 10.0 ** random.integers(-3, 8, size=d)
    X[:, random.random(d) < 0.2] = 7.3
    X[:, -1] = X[:, 0]
    X[random.random(X.shape) < random.choice([0.0, 0.3])] = np.nan
    return X, random.integers(3, size=n), random


def moments(X, classes, weights=None, origin=None):
    schema = Schema.of_numbers([f"x{i}" for i in range(X.shape[1])], (0, 1, 2))
    return moments_of(X, classes, schema, weights, origin)


def assert_same(found, expected, names=NAMES):
    for name in names:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@given(st.integers(0, 10**9))
def test_order_and_repeated_rows_change_no_bit(seed):
    X, classes, random = hostile(seed)
    order, times = random.permutation(len(X)), random.integers(1, 4, size=len(X))
    assert_same(moments(X[order], classes[order]), moments(X, classes))
    repeated = np.repeat(np.arange(len(X)), times)
    weighted = moments(X, classes, times.astype(float))
    assert_same(moments(X[repeated], classes[repeated]), weighted)


@given(st.integers(0, 10**9))
def test_forgotten_rows_leave_nothing(seed):
    X, classes, random = hostile(seed)
    whole = moments(X, classes)
    rows = random.permutation(len(X))[: 1 + len(X) // 3]
    other = moments(X[rows], classes[rows], origin=whole.origin)
    assert_same(whole + other - other, whole)
    assert_same((whole + other) + other - other - other, whole)


def test_moments_that_do_not_belong_together():
    X, classes, _ = hostile(3)
    whole, moved = moments(X, classes), moments(X, classes, origin=np.full(X.shape[1], 7.5))
    with pytest.raises(SchemaMismatch, match="taken from different origins"):
        whole + moved
    with pytest.raises(UnnaiveError, match="more rows would be removed than were learned"):
        whole - (whole + whole)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_exact(weighted):
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 3)) * [1.0, 1e-5, 1e6]
    X[random.random(X.shape) < 0.2] = np.nan
    weights = random.integers(0, 4, size=90).astype(float) if weighted else None
    columns = NumberColumns.of(X, weights, np.array([0.5, 0.0, 3.0]))
    sums, away = columns.sums(np.arange(90)), X - columns.origin
    share = [1] * 90 if weights is None else [int(weight) for weight in weights]
    for i in range(3):
        for j in range(3):
            rows = [r for r in range(90) if not np.isnan(X[r, [i, j]]).any()]
            exact = sum(share[r] * Fraction(away[r, i]) * Fraction(away[r, j]) for r in rows)
            assert sums.products.value[i, j] == float(exact)
            lacks = exact - Fraction(sums.products.value[i, j])
            assert abs(sums.products.rest[i, j] - lacks) <= 1e-20 * abs(exact)
            assert sums.first.value[i, j] == float(
                sum(share[r] * Fraction(away[r, i]) for r in rows)
            )
            assert sums.both[i, j] == sum(share[r] for r in rows)


def test_totals_keep_what_rounding_takes():
    one, tiny = Total(np.array([1.0]), np.zeros(1)), Total(np.array([1e-20]), np.zeros(1))
    total = one + tiny
    assert total.value == 1.0
    assert (total - one).value == 1e-20


@given(st.integers(0, 10**9))
def test_distinct_rows(seed):
    random = np.random.default_rng(seed)
    X = random.integers(-1, 3, size=(int(random.integers(1, 40)), int(random.integers(1, 4))))
    X = np.where(X < 0, np.nan, X)
    weights = random.integers(1, 4, size=len(X)).astype(float) if seed % 2 else None
    expected = {}
    for row, weight in zip(X, np.ones(len(X)) if weights is None else weights, strict=True):
        expected[row.tobytes()] = expected.get(row.tobytes(), 0.0) + weight
    rows, shares = distinct_rows(X, weights)
    found = zip(map(np.ndarray.tobytes, rows), shares.tolist(), strict=True)
    assert dict(found) == expected
    assert len(rows) == len(expected)
    order = random.permutation(len(X))
    again = distinct_rows(X[order], None if weights is None else weights[order])
    np.testing.assert_array_equal(again[0], rows)
    np.testing.assert_array_equal(again[1], shares)
