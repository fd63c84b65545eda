"""Averages over all networks against the sum over all orders, and over all graphs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_orders
from interrupts import interrupted
from unnaive._core import orders
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.information.scores import FamilyScores
from unnaive.structure.orders import (
    Families,
    arc_matrix,
    family_probabilities,
    require_memory,
    score_families,
)


def members(mask):
    """Return the variables of a set of bits."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


@st.composite
def weighted_families(draw):
    """Draw some families of up to five variables, the empty one among them, and log weights."""
    d, sets, weights = draw(st.integers(1, 5)), [], []
    weight = st.one_of(st.floats(-30, 30), st.just(-math.inf))
    for node in range(d):
        possible = [mask for mask in range(1, 1 << d) if not mask >> node & 1]
        some = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
        sets.append(np.array([0, *some], dtype=np.int64))
        others = draw(st.lists(weight, min_size=len(some), max_size=len(some)))
        weights.append(np.array([draw(st.floats(-30, 30)), *others]))
    return sets, weights


@given(weighted_families(), st.sampled_from([None, 2]))
@settings(max_examples=60)
def test_families_are_those_of_all_orders(families, n_jobs):
    sets, weights = families
    named = [
        dict(zip(map(members, masks.tolist()), line.tolist(), strict=True))
        for masks, line in zip(sets, weights, strict=True)
    ]
    found = family_probabilities(sets, weights, n_jobs)
    for line, expected in zip(found, naive_orders.family_probabilities(named), strict=True):
        np.testing.assert_allclose(line, list(expected.values()), rtol=1e-9, atol=1e-300)
        assert line.sum() == pytest.approx(1.0)


@given(weighted_families(), st.floats(-1e5, 1e5))
@settings(max_examples=20)
def test_a_factor_of_all_weights_of_a_variable_changes_nothing(families, factor):
    sets, weights = families
    moved = [weights[0] + factor, *weights[1:]]
    for line, same in zip(
        family_probabilities(sets, weights), family_probabilities(sets, moved), strict=True
    ):
        np.testing.assert_allclose(line, same, rtol=1e-9)


@st.composite
def knowledge(draw):
    """Draw codes, required and forbidden arcs [child, parent], and a largest number of parents."""
    d = draw(st.integers(1, 4))
    pair = st.tuples(st.integers(0, d - 1), st.integers(0, d - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, max_size=4, unique=True)) if d > 1 else []
    known = np.zeros((2, d, d), dtype=bool)
    for child, parent in pairs:
        known[draw(st.integers(0, 1)), child, parent] = True
    rows = draw(st.lists(st.lists(st.integers(0, 2), min_size=d, max_size=d), max_size=12))
    codes = np.array(rows, dtype=np.uint8).reshape(-1, d).T
    return np.ascontiguousarray(codes), known, draw(st.integers(0, 3))


def all_graphs(knowledge, most):
    """Yield the parents of all permitted graphs, also of those with cycles."""
    d, (required, forbidden) = len(knowledge[0]), knowledge
    choices = []
    for i in range(d):
        needed = set(np.flatnonzero(required[i]).tolist())
        others = [j for j in range(d) if j != i]
        subsets = itertools.chain.from_iterable(
            itertools.combinations(others, size) for size in range(d)
        )
        limit = max(most, len(needed))
        known = [set(a) for a in subsets if not forbidden[i, [*a]].any()]
        choices.append([sorted(a) for a in known if needed <= a and len(a) <= limit])
    return itertools.product(*choices)


@given(knowledge(), st.sampled_from(["bdeu", "k2", "bic"]))
@settings(max_examples=40)
def test_arcs_are_those_of_all_graphs_weighted_by_their_orders(drawn, kind):
    codes, known, most = drawn
    scores = FamilyScores(codes, np.full(len(codes), 2), kind)
    families = Families(*known, most)
    total, arcs = 0.0, np.zeros((len(codes), len(codes)))
    best = sum(max(0.0, -scores.local(i, ())) for i in range(len(codes)))  # keeps exp in range
    for parents in all_graphs(known, most):
        weight = naive_orders.n_orders(parents) * math.exp(scores.total(parents) + best)
        total += weight
        for child, above in enumerate(parents):
            arcs[list(above), child] += weight
    sets, weights = score_families(families, scores, by_sizes=False)
    assert families.number == sum(map(len, sets))
    if total == 0.0:
        with pytest.raises(UnnaiveError, match="no network agrees"):
            family_probabilities(sets, weights)
        return
    found = arc_matrix(sets, family_probabilities(sets, weights))
    np.testing.assert_allclose(found, arcs / total, rtol=1e-9, atol=1e-12)


def test_sizes_are_equally_probable_under_the_other_prior():
    scores = FamilyScores(np.empty((5, 0), dtype=np.uint8), np.full(5, 2), "bdeu")
    nothing = np.zeros((5, 5), dtype=bool)
    _, weights = score_families(Families(nothing, nothing, 3), scores, by_sizes=True)
    shares = np.exp(weights[2])
    assert shares.round(12).tolist() == [1.0] + [0.25] * 4 + [round(1 / 6, 12)] * 6 + [0.25] * 4


def test_fifteen_variables_agree_with_a_chain_of_strong_arcs():
    """Arcs to the next variable with a weight of e^200 leave nothing else, at any magnitude."""
    d, low = 15, -1e6
    sets = [np.array([0, 1 << (i - 1)] if i else [0], dtype=np.int64) for i in range(d)]
    weights = [np.array([low, low + 200.0] if i else [low]) for i in range(d)]
    arcs = arc_matrix(sets, family_probabilities(sets, weights))
    np.testing.assert_allclose(arcs, np.eye(d, k=1), atol=1e-12)


def test_memory_is_sized_before():
    with pytest.raises(TableTooLarge, match=r"40 variables and 7 families.*arc_strengths"):
        require_memory(40, 7, 2**31)
    require_memory(20, 23_200, 2**31)
    with pytest.raises(TableTooLarge, match="GiB"):
        require_memory(3, 10**9, 2**31)


@pytest.mark.long
def test_an_interrupt_does_not_wait_for_the_last_subset():
    d = 23  # some seconds; zeros that are only read take no memory
    above, first, last = np.zeros((d, 1 << (d - 1))), np.empty(1 << d), np.empty(1 << d)
    with interrupted(within=1.0):
        orders.sum_orders(above, first, last)


def test_kernels_refuse_other_shapes():
    sums = np.zeros(8)
    orders.sum_orders(np.zeros((3, 4)), sums, sums.copy())
    for above, first in ((np.zeros((3, 8)), sums), (np.zeros((3, 4)), sums[:4])):
        with pytest.raises(IndexError, match="sum_orders"):
            orders.sum_orders(above, first, sums)
    for number, variable, out in ((3, 3, 4), (3, -1, 4), (3, 0, 8), (62, 0, 4), (-1, 0, 4)):
        with pytest.raises(IndexError, match="sum_supersets"):
            orders.sum_supersets(sums, sums, number, variable, np.zeros(out))
    for number in (2, 4, 64, -1):
        with pytest.raises(IndexError, match="sum_subsets"):
            orders.sum_subsets(number, sums)
