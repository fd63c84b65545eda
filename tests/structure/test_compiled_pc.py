"""The levels of PC in the core make the tests of those in Python, and find the same."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interrupts import interrupted
from problems import HOSTILE, problems
from tests.structure.test_climb import made
from unnaive import _core
from unnaive._core import independence
from unnaive.structure.constraint import _conditions, _n_conditions, pc_stable
from unnaive.structure.independence import chi_square_test


@pytest.fixture
def levels():
    """Use each instruction set of the processor, the best last, then restore it."""
    yield range(_core.level() + 1)
    _core.set_level(-1)


def assert_same(codes, sizes, alpha=0.05, least=5.0, **known):
    names = [f"v{i}" for i in range(len(sizes))]
    test = chi_square_test(codes, sizes, alpha, min_rows_per_cell=least)
    assert test.rows is not None
    slow = replace(test, rows=None, outcomes={})
    found, twin = (pc_stable(names, one, **known) for one in (test, slow))
    assert found == twin
    assert len(test.outcomes) <= len(slow.outcomes) // 10
    return found


@given(
    problems(max_rows=80, max_columns=6, sizes=(1, 2, 3, 40)),
    st.sampled_from([0.001, 0.05, 0.5, 0.9]),
    st.sampled_from([0.0, 0.5, 5.0]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=100, deadline=None)
def test_random_problems(problem, alpha, least, seed):
    random, d = np.random.default_rng(seed), len(problem.values)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    required = [pair for pair in pairs if random.random() < 0.1]
    forbidden = [p for pair in pairs for p in (pair, pair[::-1]) if random.random() < 0.1]
    forbidden = [pair for pair in forbidden if pair not in required]
    codes, sizes = problem.coded().codes, problem.values
    assert_same(codes, sizes, alpha, least, required=required, forbidden=forbidden)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes(name):
    assert_same(HOSTILE[name].coded().codes, HOSTILE[name].values)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
@pytest.mark.parametrize("rows", [63, 64, 500, 20_000])
def test_bits_and_rows_at_all_levels(dtype, rows, levels):
    random = np.random.default_rng(rows)
    codes, sizes = made(rows, 7, seed=rows)
    codes = np.concatenate([codes, random.integers(0, 33, (2, rows)), codes[:1]]).astype(dtype)
    codes[3, random.random(rows) < 0.1] = sizes[3]
    for level in levels:
        _core.set_level(level)
        found = assert_same(codes, [*sizes, 33, 33, 3])
        assert found.tests_done > 40


def test_statistics_near_the_level_are_computed_again():
    codes, sizes = made(500, 4)
    p_value = chi_square_test(codes, sizes).outcome(0, 1).p_value
    test = chi_square_test(codes, sizes, p_value)
    twin = replace(test, rows=None, outcomes={})
    assert pc_stable(list("abcd"), test) == pc_stable(list("abcd"), twin)
    assert (0, 1, ()) in test.outcomes


def test_time_and_interrupts():
    codes, sizes = made(500, 6)
    stopped = pc_stable(list("abcdef"), chi_square_test(codes, sizes), limit=0.0)
    assert not stopped.complete
    assert stopped.tests_done == 0


def test_sizes_of_every_kind():
    codes, sizes = made(500, 4)
    expected = pc_stable(list("abcd"), chi_square_test(codes, sizes))
    strided = np.repeat(sizes, 2)[::2]
    assert pc_stable(list("abcd"), chi_square_test(codes, strided)) == expected
    some = pc_stable(list("abc"), chi_square_test(codes, sizes))
    assert some == pc_stable(list("abc"), chi_square_test(codes[:3], sizes[:3]))
    huge = chi_square_test(codes, [*sizes[:3], 2**30])
    assert huge.rows is None
    assert all(3 not in pair for pair in pc_stable(list("abcd"), huge).separators)


def test_sets_are_counted_without_a_table_of_pairs_and_variables():
    d = 120
    joined = np.random.default_rng(0).random((d, d)) < 0.2
    joined = joined | joined.T
    np.fill_diagonal(joined, False)
    pairs = np.argwhere(~np.tri(d, dtype=bool))
    near = [sorted(np.flatnonzero(line).tolist()) for line in joined]
    some = pairs[::700]
    expected = sum(len(list(_conditions(near, *pair, 2))) for pair in some.tolist())
    assert _n_conditions(joined, some, range(2, 3)) == expected
    tracemalloc.start()
    _n_conditions(joined, pairs, range(2, 5))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * len(pairs) * d / 2


@pytest.mark.long
def test_an_interrupt_does_not_wait_for_the_end_of_a_level():
    random = np.random.default_rng(0)
    same = random.integers(2, size=4000)
    codes = ((random.random((70, 4000)) < 0.35) ^ same).astype(np.uint8)  # all are dependent
    test, names = chi_square_test(codes, np.full(70, 2)), [str(place) for place in range(70)]
    with interrupted(after=0.5):
        pc_stable(names, test, max_given=4, limit=8)


def arguments():
    codes, sizes = made(50, 3)
    rows = chi_square_test(codes, sizes).rows
    joined, pairs = ~np.eye(3, dtype=bool), np.array([[0, 1], [1, 2]])
    asked = (lambda _: 3.84, lambda *_: True)
    separators = np.zeros((2, 2), dtype=np.int64)
    return [codes, sizes, rows.logs, joined, pairs, (5.0, 9.0), *asked, separators]


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (1, np.array([3, 3])),
        (1, np.array([3, 3, -1])),
        (2, np.zeros(50)),
        (3, np.zeros((3, 2), dtype=bool)),
        (4, np.array([[0, 3], [1, 2]])),
        (8, np.zeros((1, 2), dtype=np.int64)),
        (8, np.zeros((2, 0), dtype=np.int64)),
    ],
)
def test_wrong_arguments_are_refused(place, wrong):
    independence.thin(*arguments())
    given_ = arguments()
    given_[place] = wrong
    with pytest.raises(IndexError, match="thin"):
        independence.thin(*given_)
