"""Balanced sets: every method against enumeration, ties, gaps, scales, bad input."""

from __future__ import annotations

from itertools import combinations
from math import fsum
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive.structure import balanced
from unnaive.structure.balanced import BalancedSet, balanced_sets, best_set

SCALES = [1e-12, 1e-6, 1.0, 1e6]
METHODS = {  # by name: from lines of one norm to sets, whatever the number of columns
    "enumerated": balanced._enumerated,
    "branched": balanced._branched,
    "met": lambda lines, sizes, added: balanced._met_in_the_middle(lines[0], sizes),
    "stepped": lambda lines, sizes, added: balanced._stepped(lines[0], sizes),
}
SEVERAL, ALONE = ["enumerated", "branched"], list(METHODS)


def weight_of(lines, columns, added):
    sums = [abs(fsum(line[i] for i in columns)) for line in lines]
    return fsum(sums) if added else max(sums)


def first_and_least(lines, size, added):
    """Find the first of the best sets of a size, and its weight, by trying all sets."""
    weights = {
        columns: weight_of(lines, columns, added)
        for columns in combinations(range(len(lines[0])), size)
    }
    least = min(weights.values())
    return next(columns for columns, w in weights.items() if w <= least + 1e-10), least


@pytest.fixture
def coarse(monkeypatch):
    """Make dynamic programming miss the optimum of few columns."""
    monkeypatch.setattr(balanced, "TABLE_CELLS", 2**9)
    monkeypatch.setattr(balanced, "REFINED_COLUMNS", 4)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(balanced, "TABLE_CELLS", 2**18)


@st.composite
def hostile(draw, most=8):
    """Make rows with zeros, duplicates and sums that cancel out, at one scale."""
    n_columns = draw(st.integers(1, most))
    n_lines = draw(st.integers(1, 3))
    values = st.one_of(st.just(0), st.sampled_from([-8, 8, 3]), st.integers(-40, 40))
    line = st.lists(values, min_size=n_columns, max_size=n_columns)
    lines = draw(st.lists(line, min_size=n_lines, max_size=n_lines))
    return np.array(lines) / 8 * draw(st.sampled_from(SCALES))


def check(found, lines, added, *, exact=True):
    """Check that weights are right and that no set is better by more than the gap."""
    slack = 1e-12 * np.abs(lines).sum() + (1e-10 if exact else 0.0)
    for size, one in found.items():
        assert list(one.columns) == sorted(set(one.columns))
        assert len(one.columns) == size
        assert all(isinstance(column, int) for column in one.columns)
        assert one.weight == pytest.approx(weight_of(lines, one.columns, added), abs=slack)
        least = first_and_least(lines, size, added)[1]
        assert one.weight - one.gap <= least + slack
        assert least <= one.weight + slack
        assert one.gap == 0.0 or not exact


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("method", SEVERAL)
@given(lines=hostile())
@settings(max_examples=60)
def test_several_lines_equal_all_sets(method, added, lines):
    sizes = list(range(1, lines.shape[1] + 1))
    check(METHODS[method](lines, sizes, added), lines, added)


@pytest.mark.parametrize("method", ALONE)
@given(lines=hostile())
@settings(max_examples=60)
def test_one_line_equals_all_sets(method, lines):
    sizes = list(range(1, lines.shape[1] + 1))
    check(METHODS[method](lines[:1], sizes, False), lines[:1], False, exact=method != "stepped")


@pytest.mark.parametrize("method", ALONE)
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8))
@settings(max_examples=60)
def test_any_numbers(method, values):
    line = np.array([values])
    sizes = list(range(1, len(values) + 1))
    check(METHODS[method](line, sizes, False), line, False, exact=method != "stepped")


@pytest.mark.long
@given(hostile(), st.booleans())
@settings(max_examples=150)
def test_ties_go_to_the_first_set(lines, added):
    if len(lines) == 1:
        lines, added = np.vstack([lines, lines]), False
    weights = np.ones(len(lines)) if added else None
    for size, one in balanced_sets(lines, range(1, lines.shape[1] + 1), weights=weights).items():
        scaled = lines / len(lines) if added else lines
        assert one.columns == first_and_least(scaled, size, added)[0]
    for size, one in balanced_sets(lines[0], range(1, lines.shape[1] + 1)).items():
        assert one.columns == first_and_least(lines[:1], size, False)[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_columns", [9, 14, 17])
def test_methods_agree_on_one_line(seed, n_columns):
    line = np.random.default_rng(seed).normal(size=n_columns)
    sizes = list(range(1, n_columns + 1))
    expected = balanced._enumerated(line[None], sizes, False)
    assert balanced._met_in_the_middle(line, sizes) == expected
    branched = balanced._branched(line[None], sizes, False)
    assert {size: one.columns for size, one in branched.items()} == {
        size: one.columns for size, one in expected.items()
    }


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("n_lines", [2, 3, 10])
def test_branch_and_bound_agrees_with_enumeration(n_lines, added):
    for seed, n_columns in enumerate((11, 15, 18)):
        lines = np.random.default_rng(seed).normal(size=(n_lines, n_columns))
        sizes = list(range(1, n_columns + 1))
        assert balanced._branched(lines, sizes, added) == balanced._enumerated(lines, sizes, added)


@pytest.mark.parametrize("n_columns", [10, 13, 16])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.usefixtures("coarse")
def test_rounding_honours_its_gap(n_columns, scale):
    missed = 0
    for seed in range(5):
        random = np.random.default_rng(seed)
        line = random.normal(random.choice([0.0, 1.0]), 1.0, size=n_columns) * scale
        sizes = list(range(1, n_columns + 1))
        optimum = balanced._enumerated(line[None] / scale, sizes, False)
        for size, one in balanced._stepped(line, sizes).items():
            assert one.weight - one.gap <= (optimum[size].weight + 1e-9) * scale
            assert optimum[size].weight * scale <= one.weight + 1e-9 * scale
            missed += one.weight > (optimum[size].weight + 1e-9) * scale
    assert missed > 0


def test_long_lines_are_scale_free():
    line = np.random.default_rng(0).normal(size=60)
    sizes = [1, 2, 7, 30, 53, 59, 60]
    found = balanced_sets(line, sizes)
    assert max(one.gap for one in found.values()) < 1e-2 * np.abs(line).max()
    assert found[30].weight < 1e-6
    assert found[60] == BalancedSet(tuple(range(60)), abs(line.sum()), 0.0)
    for exponent in (-1000, -40, 20, 900):
        scaled = balanced_sets(np.ldexp(line, exponent), sizes)
        for size, one in found.items():
            assert scaled[size].columns == one.columns
            assert scaled[size].weight == np.ldexp(one.weight, exponent)
            assert scaled[size].gap == pytest.approx(np.ldexp(one.gap, exponent), rel=1e-9)


def test_long_lines_of_one_sign_or_of_few_values():
    line = np.arange(1.0, 81.0)[::-1]
    assert balanced_sets(line, [5])[5] == BalancedSet((75, 76, 77, 78, 79), 15.0, 0.0)
    assert balanced_sets(-line, [5])[5] == BalancedSet((75, 76, 77, 78, 79), 15.0, 0.0)
    for size, one in balanced_sets(np.zeros(300), [1, 150, 300]).items():
        assert one == BalancedSet(tuple(range(size)), 0.0, 0.0)
    found = balanced_sets(np.resize([1.0, -1.0, 1.0], 301), [7, 8, 290])
    assert [one.weight for one in found.values()] == [1.0, 0.0, 90.0]  # parity, 201 against 100
    assert all(one.gap == 0.0 for one in found.values())
    half = np.random.default_rng(9).normal(size=30)
    whole = balanced_sets([*half, *-half], [60])[60]  # the sign of its sum depends on the order
    assert whole.columns == tuple(range(60))
    assert whole.weight < 1e-12
    assert whole.gap == 0.0


@pytest.mark.parametrize("n_columns", [21, 33, 41])
def test_zeros_and_duplicates_are_no_trouble(n_columns):
    line = np.zeros(n_columns)
    line[::7] = 1.0
    sizes = [1, n_columns // 2, n_columns - 1]
    ones = set(range(0, n_columns, 7))
    for size, one in balanced_sets(line, sizes).items():
        needed = max(0, size - (n_columns - len(ones)))
        assert one.weight == needed
        assert set(one.columns) & ones == set(sorted(ones)[:needed])
    assert balanced_sets(line, [1])[1].columns == (1,)
    same = balanced_sets(np.full(n_columns, 0.1), sizes)
    assert all(one.columns == tuple(range(size)) for size, one in same.items())
    both = balanced_sets(np.full((2, n_columns), 0.1), sizes)
    assert all(one.weight == pytest.approx(size / 10) for size, one in both.items())
    assert all(one.gap == 0.0 for one in both.values())


def test_more_than_twenty_columns_equal_all_sets():
    lines = np.random.default_rng(1).normal(size=(3, 22))
    for size in (1, 2, 3, 20, 21):
        columns, least = first_and_least(lines, size, False)
        assert balanced_sets(lines, [size])[size].columns == columns
        assert balanced_sets(lines, [size])[size].weight == pytest.approx(least, abs=1e-12)
        assert (
            balanced_sets(lines[0], [size])[size].columns
            == (first_and_least(lines[:1], size, False)[0])
        )


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("budget", [0, 10, 60, 10**6])
def test_gap_of_a_search_that_was_cut_short(budget, added, monkeypatch):
    monkeypatch.setattr(balanced, "NODE_BUDGET", budget)
    monkeypatch.setattr(balanced, "TAIL_CELLS", 2**4)
    lines = np.random.default_rng(2).normal(0.3, 1.0, size=(3, 14))
    sizes = list(range(1, 15))
    optimum = balanced._enumerated(lines, sizes, added)
    found = balanced._branched(lines, sizes, added)
    for size, one in found.items():
        assert one.weight - one.gap <= optimum[size].weight + 1e-9 <= one.weight + 2e-9
    assert any(one.gap > 0 for one in found.values()) == (budget < 10**6)


@pytest.mark.parametrize("n_columns", [1, 2, 9, 21, 50])
def test_lines_that_add_nothing_reduce_to_one(n_columns):
    line = np.random.default_rng(3).normal(size=n_columns)
    other = np.random.default_rng(4).normal(size=n_columns)
    sizes = [1, (n_columns + 1) // 2, n_columns]
    alone = balanced_sets(line, sizes)
    assert balanced_sets([line], sizes) == alone
    assert balanced_sets([line], sizes, weights=[0.3]) == alone
    assert balanced_sets([line, np.zeros(n_columns)], sizes) == alone
    assert balanced_sets([line, other], sizes, weights=[2.0, 0.0]) == alone
    if n_columns < 50:
        twice = balanced_sets([line, -line], sizes)
        assert {size: one.columns for size, one in twice.items()} == {
            size: one.columns for size, one in alone.items()
        }


@given(hostile(7))
@settings(max_examples=100)
def test_smallest(lines):
    line = lines[0]
    for size, one in balanced_sets(line, range(1, len(line) + 1), objective="smallest").items():
        sums = {s: fsum(line[list(s)]) for s in combinations(range(len(line)), size)}
        least = min(sums.values())
        assert one.weight == pytest.approx(sums[one.columns], abs=1e-9)
        assert sums[one.columns] <= least + 1e-9
        assert one.columns == next(s for s, total in sums.items() if total <= least + 1e-10)
        assert one.gap == 0.0


@pytest.mark.parametrize("shape", [(8,), (3, 8), (30,), (3, 24), (60,)])
def test_the_same_whatever_else_is_asked_for(shape):
    u = np.random.default_rng(5).normal(size=shape)
    together = balanced_sets(u, range(1, shape[-1] + 1))
    assert list(together) == list(range(1, shape[-1] + 1))
    assert balanced_sets(u, np.array([5, 2, 5])) == {2: together[2], 5: together[5]}
    assert balanced_sets(u.tolist(), iter(together)) == together


@pytest.mark.long
def test_forty_columns_take_seconds():
    line = np.random.default_rng(6).normal(size=40)
    begin = process_time()
    found = balanced_sets(line, range(1, 41))
    assert process_time() - begin < 15
    assert best_set(found).weight < 1e-9
    assert all(one.gap == 0.0 for one in found.values())


@pytest.mark.long
def test_two_hundred_columns_take_seconds(monkeypatch):
    monkeypatch.undo()
    line = np.random.default_rng(7).normal(size=200)
    begin = process_time()
    found = balanced_sets(line, [1, 3, 100])
    assert process_time() - begin < 15
    assert max(one.gap for one in found.values()) < 1e-3 * np.abs(line).max()
    assert found[1].weight == pytest.approx(np.abs(line).min(), abs=found[1].gap)


def test_best_set():
    found = balanced_sets([0.25, -0.25, 0.5, -0.5], range(1, 5))
    assert best_set(found) == BalancedSet((0, 1), 0.0, 0.0)
    tied = {3: BalancedSet((0, 1, 2), 0.5, 0.0), 1: BalancedSet((4,), 0.5 + 9e-11, 0.0)}
    assert best_set(tied).columns == (4,)
    clear = {3: BalancedSet((0, 1, 2), 0.5, 0.0), 1: BalancedSet((4,), 0.5 + 2e-10, 0.0)}
    assert best_set(clear).columns == (0, 1, 2)
    with pytest.raises(ValueError, match="no set to choose from"):
        best_set({})


@pytest.mark.parametrize(
    ("u", "sizes", "options", "message"),
    [
        ([1.0, np.nan], [1], {}, "nan, an infinity"),
        ([1.0, -np.inf], [1], {}, "nan, an infinity"),
        ([1e308, 1e308], [1], {}, "too large to be summed"),
        ([], [1], {}, r"shape \(0,\)"),
        (np.zeros((2, 2, 2)), [1], {}, r"shape \(2, 2, 2\)"),
        ([1.0, 2.0], [0], {}, r"sizes=\[0\].*each from 1 to 2"),
        ([1.0, 2.0], [1, 3], {}, r"sizes=\[1, 3\].*each from 1 to 2"),
        ([1.0, 2.0], [], {}, r"sizes=\[\]; there must be at least one"),
        ([1.0, 2.0], [1], {"objective": "largest"}, "objective='largest'"),
        ([[1.0, 2.0]] * 2, [1], {"objective": "smallest"}, "'smallest' with one line"),
        ([[1.0, 2.0]] * 2, [1], {"weights": [1.0]}, r"weights have shape \(1,\); u has 2 lines"),
        ([[1.0, 2.0]] * 2, [1], {"weights": [1.0, -1.0]}, "not negative"),
        ([[1.0, 2.0]] * 2, [1], {"weights": [0.0, 0.0]}, "not all 0"),
        ([[1.0, 2.0]] * 2, [1], {"weights": [1.0, np.nan]}, "must be finite"),
    ],
)
def test_bad_input(u, sizes, options, message):
    with pytest.raises(ValueError, match=message):
        balanced_sets(u, sizes, **options)
