"""The slow twins of hidden naive Bayes and of leave-one-out against Mathematics 4, 9.1 and 15.2."""

import functools
import itertools
import math

import pytest

import naive
import naive_models as twins
from test_naive_models import (
    DATA,
    LAPLACE,
    M_ESTIMATE,
    POLICIES,
    WEIGHTS,
    near,
    on_every_problem,
)
from weather import CLASSES, ROWS, VALUES

# 4: HNB and PHNB


@on_every_problem
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_phnb_at_the_ends(data, policy):
    full, empty = (twins.phnb_bags(*data, threshold) for threshold in (-math.inf, math.inf))
    for row in data[0]:
        assert twins.hnb(*data, policy, row, full) == twins.hnb(*data, policy, row)
        assert twins.hnb(*data, policy, row, empty) == naive.naive_bayes(*data, policy, row)


@on_every_problem
def test_bags_are_symmetric_and_nested(data):
    before = [set() for _ in data[3]]
    for threshold in twins.phnb_thresholds(*data):
        bags = [set(bag) for bag in twins.phnb_bags(*data, threshold)]
        assert all(i in bags[j] for i, bag in enumerate(bags) for j in bag)
        assert all(old <= new for old, new in zip(before, bags, strict=True))
        before = bags


def test_thresholds_at_a_cmi():
    """Two columns: the average is the only CMI; "ge" takes it, "gt" does not."""
    data = ([row[:2] for row in ROWS], CLASSES, 2, [3, 3])
    average = twins.phnb_average_threshold(*data)
    assert twins.phnb_bags(*data, average) == [[1], [0]]
    assert twins.phnb_bags(*data, average, "gt") == [[], []]
    one = ([row[:1] for row in ROWS], CLASSES, 2, [3])
    assert twins.phnb_average_threshold(*one) == 0
    assert twins.phnb_bags(*one, 0) == [[]]


def test_hnb_of_two_columns():
    data = ([row[:2] for row in ROWS], CLASSES, 2, [3, 3])
    found = twins.hnb(*data, M_ESTIMATE, [0, 0])
    yes_by_hand = 9.5 / 15 * (1 / 3) / 3 * (1 / 3) / 3
    no_by_hand = 5.5 / 15 * (2 + 1 / 3) / 3 * (2 + 1 / 3) / 4
    assert [math.exp(p) for p in found] == pytest.approx([yes_by_hand, no_by_hand])


def test_hnb_without_information_is_naive_bayes():
    rows = [[a, b, 0] for a in (0, 1) for b in (0, 1)] * 2
    data = (rows, [0] * 4 + [1] * 4, 2, [2, 2, 1])
    for bags, row in itertools.product([None, twins.phnb_bags(*data, 0)], rows):
        expected = naive.naive_bayes(*data, M_ESTIMATE, row)
        assert twins.hnb(*data, M_ESTIMATE, row, bags) == expected


def test_hnb_with_missing_cells():
    """Two observed cells: each is the other's only parent. One: no parent is left."""
    row = [0, None, None, 1]
    pair = ([[r[0], r[3]] for r in ROWS], CLASSES, 2, [3, 2])
    assert twins.hnb(*DATA, M_ESTIMATE, row) == near(twins.hnb(*pair, M_ESTIMATE, [0, 1]))
    bags = twins.phnb_bags(*DATA, twins.phnb_average_threshold(*DATA))
    for gap in ([None, None, None, 0], [None, 0, None, 1], [None] * 4):
        expected = naive.naive_bayes(*DATA, M_ESTIMATE, gap)
        assert twins.hnb(*DATA, M_ESTIMATE, gap, bags) == expected


# 15.2: the path of thresholds


def test_phnb_path():
    """Six pairs, two of them tied: five distinct CMIs, six models."""
    path = twins.phnb_path(*DATA, M_ESTIMATE)
    thresholds = [threshold for threshold, _, _ in path]
    assert thresholds[0] == math.inf
    assert thresholds[-1] == -math.inf
    middle = [(0.41959307 + 0.31175200) / 2, (0.31175200 + 0.22281539) / 2]
    middle += [(0.22281539 + 0.16889486) / 2, (0.16889486 + 0.06105378) / 2]
    assert thresholds[1:-1] == pytest.approx(middle, rel=0, abs=1e-8)


@on_every_problem
def test_ends_of_the_path(data):
    """At +inf there are no bags, so it is the leave-one-out of naive Bayes."""
    _, classes, k, _ = data
    joints = twins.leave_one_out_fixed(naive.naive_bayes, *data, M_ESTIMATE)
    path = twins.phnb_path(*data, M_ESTIMATE)
    assert path[0][1:] == near(twins.leave_one_out_score(joints, classes, k, M_ESTIMATE))
    cmi = twins.cmi_matrix(*data)
    joints = twins.leave_one_out_fixed(twins.hnb, *data, M_ESTIMATE, cmi=cmi)
    assert path[-1][1:] == near(twins.leave_one_out_score(joints, classes, k, M_ESTIMATE))


def test_leave_one_out_score():
    """Naive Bayes is right in 7 of 14 (Mathematics 9.1); impossible rows fall back on the prior."""
    joints = twins.leave_one_out_fixed(naive.naive_bayes, *DATA, LAPLACE)
    assert twins.leave_one_out_score(joints, CLASSES, 2, LAPLACE)[0] == 7 / 14
    impossible = [[-math.inf] * 2] * 3
    found = twins.leave_one_out_score(impossible, [0, 0, 1], 2, ("ml",))
    assert found == (2 / 3, math.inf)


# Weights


def test_integer_weights_are_copies():
    rows = [row for row, w in zip(ROWS, WEIGHTS, strict=True) for _ in range(w)]
    classes = [c for c, w in zip(CLASSES, WEIGHTS, strict=True) for _ in range(w)]
    copies = (rows, classes, 2, VALUES)
    models = [
        twins.waode,
        twins.a2de,
        functools.partial(twins.a2de, weighted=True, min_count=3),
        twins.atan,
        twins.multinet,
        twins.odanb,
        twins.hnb,
    ]
    row = [0, None, 1, 0]
    for policy, model in itertools.product(POLICIES, models):
        assert model(*DATA, policy, row, weights=WEIGHTS) == near(model(*copies, policy, row))
    for missing in ("marginalize", "drop"):
        found = twins.kdb(*DATA, LAPLACE, [[], [0, 2], [0], []], row, missing, WEIGHTS)
        assert found == near(twins.kdb(*copies, LAPLACE, [[], [0, 2], [0], []], row, missing))
    found = twins.spode(*DATA, LAPLACE, 1, row, weights=WEIGHTS)
    assert found == near(twins.spode(*copies, LAPLACE, 1, row))


def test_integer_weights_are_copies_in_structures():
    rows = [row for row, w in zip(ROWS, WEIGHTS, strict=True) for _ in range(w)]
    classes = [c for c, w in zip(CLASSES, WEIGHTS, strict=True) for _ in range(w)]
    copies = (rows, classes, 2, VALUES)
    for build in (twins.odanb_parents, twins.multinet_parents, twins.phnb_average_threshold):
        assert build(*DATA, weights=WEIGHTS) == build(*copies)
    assert twins.kdb_structure(*DATA, 2, weights=WEIGHTS) == twins.kdb_structure(*copies, 2)
    for criterion in ("mi", "cmi", "bic", "aic"):
        found = twins.spode_parent(*DATA, criterion, weights=WEIGHTS)
        assert found == twins.spode_parent(*copies, criterion)
    for p in range(4):
        found = twins.spode_penalised(*DATA, p, "bic", WEIGHTS)
        assert found == pytest.approx(twins.spode_penalised(*copies, p, "bic"))


# 0.8: nothing observed


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_everything_missing_is_the_prior(policy):
    nothing, prior = [None] * 4, naive.class_prior(CLASSES, 2, policy)
    parents = twins.kdb_structure(*DATA, 2)[1]
    joints = [model(*DATA, policy, nothing) for model in (twins.waode, twins.a2de, twins.hnb)]
    joints += [model(*DATA, policy, nothing) for model in (twins.odanb, twins.multinet, twins.atan)]
    joints += [twins.kdb(*DATA, policy, parents, nothing, how) for how in ("marginalize", "drop")]
    joints += [twins.spode(*DATA, policy, 0, nothing, *how) for how in ((True,), (False,))]
    for joint in joints:
        assert [math.exp(p) for p in joint] == pytest.approx(prior)
