"""The search in the core makes the moves of the search in Python, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import HOSTILE, problems
from tests.structure.test_climb import KINDS, free, made
from unnaive import _core
from unnaive._core import climbing
from unnaive.information.scores import FamilyScores
from unnaive.structure.climb import Climber, _compiled, _step_by_step

UNLIMITED = float("inf")


@pytest.fixture
def levels():
    """Use each instruction set of the processor, the best last, then restore it."""
    yield range(_core.level() + 1)
    _core.set_level(-1)


def both(codes, sizes, kind, tabu=(0, 0), most=3, arcs=None, bounds=None):
    """Search in the core and in Python; return what each found and its climber."""
    results = []
    start = [np.flatnonzero(line).tolist() for line in arcs] if arcs is not None else []
    for search in (_compiled, _step_by_step):
        scores = FamilyScores(codes, np.asarray(sizes), kind)
        climber = Climber(scores, most, *(bounds or free(len(codes))), [set(a) for a in start])
        seen = []
        watched = (tabu, UNLIMITED, lambda *move, seen=seen: seen.append(move))
        found = (
            search(climber, scores, *watched) if search is _compiled else search(climber, *watched)
        )
        results.append((found, seen, climber))
    return results


def assert_same(results):
    (found, seen, climber), (twin, moves, slow) = results
    assert found == twin
    assert seen == moves
    np.testing.assert_array_equal(climber.arcs, slow.arcs)
    assert climber.parents == slow.parents
    return found


def coded(problem):
    return problem.coded().codes, np.array(problem.values)


@given(
    problems(max_rows=60, max_columns=6, sizes=(1, 2, 3, 5, 40)),
    st.sampled_from(KINDS),
    st.booleans(),
    st.integers(0, 4),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=150, deadline=None)
def test_random_problems(problem, kind, tabu, most, seed):
    codes, sizes = coded(problem)
    d, random = len(sizes), np.random.default_rng(seed)
    order = random.permutation(d)
    earlier = order[:, None] > order[None]
    arcs = earlier & (random.random((d, d)) < random.choice([0.0, 0.3]))
    required = arcs & (random.random((d, d)) < 0.3)
    forbidden = ~required & (random.random((d, d)) < random.choice([0.0, 0.3]))
    plan = (5, 4) if tabu else (0, 0)
    assert_same(both(codes, sizes, kind, plan, most, arcs, (required, forbidden)))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_shapes(name):
    codes, sizes = coded(HOSTILE[name])
    for kind in ("bic", "bdeu"):
        assert_same(both(codes, sizes, kind))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("rows", [63, 64, 500, 20_000])
def test_bits_and_rows_at_all_levels(dtype, rows, levels):
    random = np.random.default_rng(rows)
    codes, sizes = made(rows, 8, seed=rows)
    codes = np.concatenate([codes, random.integers(0, 33, (2, rows)), codes[:1]]).astype(dtype)
    codes[3, random.random(rows) < 0.1] = sizes[3]
    for level in levels:
        _core.set_level(level)
        found = assert_same(both(codes, [*sizes, 32 + 1, 33, 3], "bic", (10, 5)))
        assert sum(map(len, found.parents)) > 5


def test_parents_of_too_many_joint_values():
    random, arcs = np.random.default_rng(0), np.zeros((4, 4), dtype=bool)
    sizes = np.array([60_000, 60_000, 2, 2])
    codes = np.stack([random.integers(size, size=100_000) for size in sizes]).astype(np.uint32)
    arcs[2, [0, 1, 3]] = True
    scores = FamilyScores(codes, sizes)
    climber = Climber(scores, 3, arcs, ~arcs, [set(), set(), {0, 1, 3}, set()])
    found = _compiled(climber, scores, (0, 0), UNLIMITED, None)
    assert found.parents == ((), (), (0, 1, 3), ())
    assert found.score == scores.local(2, (0, 1, 3)) == -np.inf


def test_many_contexts():
    random = np.random.default_rng(0)
    codes = random.integers(0, 90, (4, 300)).astype(np.uint8)
    codes[0] = (codes[1] + codes[2]) % 90
    found = assert_same(both(codes, [90] * 4, "log-likelihood", most=4))
    assert max(map(len, found.parents)) == 2  # and a third was scored


def arguments():
    codes, sizes = made(50, 4)
    logs, rule = FamilyScores(codes, sizes).logs, FamilyScores(codes, sizes).rule
    bounds, networks = np.zeros((2, 4, 4), dtype=bool), np.zeros((2, 4, 4), dtype=bool)
    plan = np.array([3, 0, 0])
    return [codes, sizes, logs, rule, plan, UNLIMITED, None, bounds, networks, np.empty(4)]


CYCLE = np.zeros((2, 4, 4), dtype=bool)
CYCLE[0, 0, 1] = CYCLE[0, 1, 0] = True


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (0, np.full((4, 50), 4, dtype=np.uint8)),
        (1, np.array([3, 3, 3])),
        (1, np.array([3, 3, 3, -1])),
        (2, np.zeros(50)),
        (3, np.zeros(3)),
        (4, np.array([3, -1, 0])),
        (4, np.array([3, 0, 2**40])),
        (7, np.zeros((2, 3, 4), dtype=bool)),
        (8, CYCLE),
        (9, np.empty(3)),
    ],
)
def test_wrong_arguments_are_refused(place, wrong):
    climbing.climb(*arguments())
    given_ = arguments()
    given_[place] = wrong
    with pytest.raises(IndexError, match="climb"):
        climbing.climb(*given_)


def test_an_error_of_the_callback_is_raised():
    given_ = arguments()

    def fail(*_):
        raise ValueError("enough")

    given_[6] = fail
    with pytest.raises(ValueError, match="enough"):
        climbing.climb(*given_)
