"""The slow twins against the worked numbers (mainly Mathematics 13): a test of the tests."""

import itertools
import math

import pytest

import naive
from weather import CLASSES, ROWS, VALUES

DATA = (ROWS, CLASSES, 2, VALUES)
LAPLACE = ("laplace", 1)
M_ESTIMATE = ("m-estimate", 1)
POLICIES = [LAPLACE, ("laplace", 0.5), M_ESTIMATE, ("bdeu", 2), ("backoff", 5), ("ml",)]
PAIRS = list(itertools.combinations(range(4), 2))
TAN_PARENTS = [-1, 0, 1, 0]


def bits(nats):
    return nats / math.log(2)


def yes(log_joint):
    return naive.posterior(log_joint)[0]


def exactly(*numbers):
    """The numbers of Mathematics 13, printed to 12 decimals."""
    return pytest.approx(list(numbers), rel=0, abs=1e-12)


# 13.1, 13.2


def test_mutual_information():
    found = [bits(naive.mutual_information(*DATA, i)) for i in range(4)]
    expected = [0.246749820, 0.029222566, 0.151835501, 0.048127030]
    assert found == pytest.approx(expected, rel=0, abs=6e-10)


def test_conditional_mutual_information():
    found = [bits(naive.conditional_mutual_information(*DATA, i, j)) for i, j in PAIRS]
    expected = [0.41959307, 0.22281539, 0.31175200, 0.41959307, 0.16889486, 0.06105378]
    assert found == pytest.approx(expected, rel=0, abs=6e-9)
    assert sum(found) / 6 == pytest.approx(0.2672836948, rel=0, abs=6e-11)


def test_total_correlation():
    mi = [naive.mutual_information(*DATA, i) for i in range(4)]
    found = [
        bits(mi[i] + mi[j] + naive.conditional_mutual_information(*DATA, i, j)) for i, j in PAIRS
    ]
    expected = [0.695565, 0.621401, 0.606629, 0.600651, 0.246244, 0.261016]
    assert found == pytest.approx(expected, rel=0, abs=6e-7)


def superparent_criterion(p):
    """Σ_j I(X_j; Y | X_p), with column p in the class's place for I(X_j; X_p)."""
    column = [row[p] for row in ROWS]
    return sum(
        naive.mutual_information(*DATA, j)
        + naive.conditional_mutual_information(*DATA, j, p)
        - naive.mutual_information(ROWS, column, VALUES[p], VALUES, j)
        for j in range(4)
        if j != p
    )


def test_superparent_criterion():
    expected = [0.918846809, 0.803222321, 0.632161193, 0.924382141]
    found = [bits(superparent_criterion(p)) for p in range(4)]
    assert found == pytest.approx(expected, rel=0, abs=6e-10)


def test_tan_structure():
    assert sorted(naive.forest_edges(*DATA)) == [(0, 1), (0, 3), (1, 2)]
    assert naive.tan_parents(*DATA) == TAN_PARENTS
    assert naive.tan_parents(*DATA, root=2) == [1, 2, -1, 0]


def test_forest():
    """Per edge n·I against cost in nats: o-t 4.07, o-w 3.02, t-h 4.07 against 8, 4, 4 (AIC)."""
    assert naive.tan_parents(*DATA, penalty="aic") == [-1, 2, -1, -1]
    assert naive.tan_parents(*DATA, penalty="bic") == [-1, -1, -1, -1]
    assert naive.tan_parents(*DATA, penalty="aic", root=1) == [-1, -1, 1, -1]


def test_spanning_tree_ties_are_lexicographic():
    equal = [[1.0] * 4 for _ in range(4)]
    assert naive.maximum_spanning_tree(equal, 0) == [-1, 0, 0, 0]
    assert naive.maximum_spanning_tree(equal, 2) == [2, 0, -1, 0]
    equal[1][2] = equal[2][1] = 1 + 1e-11
    assert naive.maximum_spanning_tree(equal, 0) == [-1, 0, 0, 0]
    equal[1][2] = equal[2][1] = 1 + 1e-9
    assert naive.maximum_spanning_tree(equal, 0) == [-1, 0, 1, 0]
    assert naive.maximum_spanning_tree([[0.0]], 0) == [-1]


# 13.3


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (LAPLACE, exactly(0.295753395128, 0.736822319487, 0.567542524323)),
        (M_ESTIMATE, exactly(0.240628527626, 0.776006516174, 0.557727070963)),
    ],
)
def test_naive_bayes(policy, expected):
    assert [yes(naive.naive_bayes(*DATA, policy, ROWS[t])) for t in (0, 5, 10)] == expected


@pytest.mark.parametrize(
    ("policy", "min_count", "expected"),
    [
        (LAPLACE, 1, exactly(0.185557526036, 0.427750373354, 0.742378036113)),
        (M_ESTIMATE, 1, exactly(0.095360568134, 0.360024006159, 0.819496404107)),
        (LAPLACE, 5, exactly(0.163912113187, 0.398643707200, 0.742378036113)),
    ],
)
def test_aode(policy, min_count, expected):
    assert [yes(naive.aode(*DATA, policy, ROWS[t], min_count)) for t in (0, 5, 10)] == expected


@pytest.mark.parametrize(
    ("policy", "parents", "expected"),
    [
        (LAPLACE, TAN_PARENTS, exactly(0.156250000000, 0.283185840708, 0.714285714286)),
        (LAPLACE, [1, 2, -1, 0], exactly(0.154916218780, 0.369724121669, 0.815470643057)),
        (("laplace", 0.5), [1, -1, 1, 0], exactly(0.093093376048, 0.195212826013, 0.830484729616)),
        (LAPLACE, [-1, 0, 0, 0], exactly(0.079872204473, 0.283185840708, 0.824175824176)),
    ],
    ids=["root outlook", "WEKA entropy", "WEKA Bayes", "KDB 1"],
)
def test_tree(policy, parents, expected):
    found = [yes(naive.tree_joint(*DATA, policy, parents, ROWS[t])) for t in (0, 5, 10)]
    assert found == expected


# 13.5, 0.5


def test_exercise_laplace():
    assert naive.smooth(LAPLACE, 18, 30, 3, 1, None) == 19 / 33


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (("laplace", 2), 5 / 14),
        (("m-estimate", 2), 3.5 / 8),
        (("bdeu", 2), 3.25 / 7),
        (("backoff", 2), 3.2 / 8),
        (("ml",), 3 / 6),
    ],
)
def test_smooth(policy, expected):
    assert naive.smooth(policy, 3, 6, 4, 2, 0.1) == pytest.approx(expected, rel=1e-15)


def test_smooth_without_rows():
    for policy in [("ml",), ("laplace", 0), ("bdeu", 0), ("backoff", 0), ("m-estimate", 0)]:
        assert naive.smooth(policy, 0, 0, 4, 3, 0.2) == 1 / 4


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_probabilities_sum_to_one(policy):
    assert sum(naive.class_prior(CLASSES, 2, policy)) == pytest.approx(1)
    for c, i in itertools.product(range(2), range(4)):
        assert sum(naive.factor(*DATA, policy, i, x, c) for x in range(VALUES[i])) == pytest.approx(
            1
        )
        for j in set(range(4)) - {i}:
            given = [naive.factor_given(*DATA, policy, i, x, j, 0, c) for x in range(VALUES[i])]
            assert sum(given) == pytest.approx(1)


# 0.8: missing cells


def test_available_cases():
    rows = [[0, 0], [0, None], [None, 0], [1, 0], [0, 1]]
    data = (rows, [0] * 5, 1, [2, 2])
    assert naive.marginal(*data, 0) == [[3, 1]]
    assert naive.pair(*data, 0, 1) == [[[1, 1], [1, 0]]]
    assert naive.factor(*data, ("ml",), 1, 0, 0) == 3 / 4
    assert naive.factor_given(*data, ("ml",), 0, 0, 1, 0, 0) == 1 / 2


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_missing_leaf_needs_no_sum(policy):
    row = [0, 1, None, None]
    summed = naive.tree_joint(*DATA, policy, TAN_PARENTS, row)
    assert summed == pytest.approx(naive.tree_joint(*DATA, policy, TAN_PARENTS, row, "drop"))


def test_a_missing_parent():
    """o missing above t: Σ_o P(o|c) P(t|o,c) by hand, or P(t|c) when dropped."""
    row = [None, 0, None, None]
    summed = naive.tree_joint(*DATA, ("ml",), TAN_PARENTS, row)
    assert [math.exp(p) for p in summed] == pytest.approx([2 / 14, 2 / 14])
    laplace = naive.tree_joint(*DATA, LAPLACE, TAN_PARENTS, row)
    yes_by_hand = 10 / 16 * (3 / 12 * 1 / 5 + 5 / 12 * 3 / 7 + 4 / 12 * 1 / 6)
    assert math.exp(laplace[0]) == pytest.approx(yes_by_hand)
    dropped = naive.tree_joint(*DATA, LAPLACE, TAN_PARENTS, row, "drop")
    assert [math.exp(p) for p in dropped] == pytest.approx([10 / 16 * 3 / 12, 6 / 16 * 3 / 8])


def test_everything_missing_is_the_prior():
    prior = [10 / 16, 6 / 16]
    nothing = [None] * 4
    for joint in (
        naive.naive_bayes(*DATA, LAPLACE, nothing),
        naive.aode(*DATA, LAPLACE, nothing),
        naive.tree_joint(*DATA, LAPLACE, TAN_PARENTS, nothing),
        naive.tree_joint(*DATA, LAPLACE, TAN_PARENTS, nothing, "drop"),
    ):
        assert naive.posterior(joint) == pytest.approx(prior)


# Weights


def test_integer_weights_are_copies():
    weights = [1 + t % 3 for t in range(14)]
    rows = [row for row, w in zip(ROWS, weights, strict=True) for _ in range(w)]
    classes = [c for c, w in zip(CLASSES, weights, strict=True) for _ in range(w)]
    data, row = (rows, classes, 2, VALUES), [0, None, 1, 0]
    for policy in POLICIES:
        assert naive.naive_bayes(*DATA, policy, row, weights) == naive.naive_bayes(
            *data, policy, row
        )
        assert naive.aode(*DATA, policy, row, 2, weights) == naive.aode(*data, policy, row, 2)
        assert naive.tree_joint(*DATA, policy, TAN_PARENTS, row, weights=weights) == (
            naive.tree_joint(*data, policy, TAN_PARENTS, row)
        )
    assert naive.tan_parents(*DATA, weights) == naive.tan_parents(*data)


# 5.5, 5.2


def test_aode_without_superparents_is_naive_bayes():
    for row in ROWS:
        assert naive.aode(*DATA, LAPLACE, row, 15) == naive.naive_bayes(*DATA, LAPLACE, row)


def test_aode_of_one_column_is_naive_bayes_under_bdeu_and_ml():
    rows = [row[:1] for row in ROWS]
    for policy in [("ml",), ("bdeu", 3)]:
        data = (rows, CLASSES, 2, [3], policy, [0])
        assert naive.aode(*data) == pytest.approx(naive.naive_bayes(*data))


def test_subsumption():
    rows = [[0, 0, 0]] * 3 + [[0, 1, 1]] * 2 + [[1, 1, 2]]
    values = [2, 2, 3]
    assert naive.subsumed(rows, values, [0, 0, 0], 2) == [None, 0, None]
    assert naive.subsumed(rows, values, [0, 1, 1], 1) == [None, None, 1]
    assert naive.subsumed(rows, values, [0, 0, 0], 3) == [0, 0, 0]
    assert naive.subsumed(rows, values, [None, 0, 0], 2) == [None, 0, None]
    assert naive.subsumed(rows, values, [0, 0, 0]) == [0, 0, 0]


# 9.1, 0.6


def join(rows, i, j):
    """Rows with columns i and j made one, in front."""
    rest = [t for t in range(4) if t not in (i, j)]
    return [[row[i] * VALUES[j] + row[j], *(row[t] for t in rest)] for row in rows]


@pytest.mark.parametrize(
    ("rows", "values", "correct"),
    [
        (ROWS, VALUES, 7),
        (join(ROWS, 0, 1), [9, 2, 2], 8),
        ([[cells[0], cells[2]] for cells in join(ROWS, 0, 2)], [6, 2], 11),
        ([[] for _ in ROWS], [], 9),
    ],
    ids=["naive Bayes", "ot, h, w", "oh, w", "empty"],
)
def test_leave_one_out(rows, values, correct):
    def predict(others, classes, weights, row):
        return naive.naive_bayes(others, classes, 2, values, LAPLACE, row, weights)

    joints = naive.leave_one_out(predict, rows, CLASSES)
    predicted = [naive.first_best(naive.posterior(joint)) for joint in joints]
    assert sum(p == c for p, c in zip(predicted, CLASSES, strict=True)) == correct


def test_posterior():
    assert naive.posterior([-1000.0, -1000.0 + math.log(3)]) == pytest.approx([0.25, 0.75])
    impossible = [-math.inf, -math.inf]
    assert naive.posterior(impossible, [math.log(0.2), math.log(0.8)]) == pytest.approx([0.2, 0.8])
    with pytest.raises(ValueError, match="no prior"):
        naive.posterior(impossible)


# 1: discretisation


def test_quantile_cuts():
    assert naive.quantile_cuts(range(1, 11)) == [3, 5, 7, 9]
    assert naive.quantile_cuts([1, 2, 3, 4, 5] * 3) is None
    assert naive.quantile_cuts([0] * 5 + [1, 2, 3, 4, 5]) == [2, 4]


def test_equal_width_cuts():
    assert naive.equal_width_cuts([0, 3, 10], 4) == [2.5, 5.0, 7.5]
    assert naive.equal_width_cuts([2, 2], 4) == []


def test_equal_frequency_cuts():
    assert naive.equal_frequency_cuts(range(1, 11), 5) == [2.5, 4.5, 6.5, 8.5]
    assert naive.equal_frequency_cuts([1, 1, 1, 1, 2, 3], 3) == [1.5]
    assert naive.equal_frequency_cuts([1, 2, 3], 2) == [1.5]
    assert naive.equal_frequency_cuts([7, 7], 3) == []


@pytest.mark.parametrize("better_encoding", [False, True])
def test_mdlp_cuts(better_encoding):
    assert naive.mdlp_cuts(range(1, 9), "AAAABBBB", better_encoding) == [4.5]
    assert naive.mdlp_cuts(range(1, 9), "ABABABAB", better_encoding) == []


def test_mdlp_threshold():
    part = [(x, y, 1) for x, y in zip(range(1, 9), "AAAABBBB", strict=True)]
    assert naive.entropy_bits(part) - naive.split_entropy(part, 4) == 1
    assert (2 * math.log2(7) - 2) / 8 == pytest.approx(0.4518, abs=5e-5)
    assert naive.mdlp_accepts(part, 4, 7)


def test_mdlp_edges():
    assert naive.mdlp_cuts([1], "A") == []
    assert naive.mdlp_cuts([1, 1, 1], "ABA") == []
    assert naive.mdlp_cuts(range(12), "AAAABBBBAAAA") == naive.mdlp_cuts(range(12), "BBBBAAAABBBB")
    assert naive.mdlp_cuts(range(12), "AAAABBBBCCCC") == [3.5, 7.5]
    xs, ys, weights = [1, 2, 3, 4], "ABBA", [5, 1, 7, 0]
    copies = [(x, y) for x, y, w in zip(xs, ys, weights, strict=True) for _ in range(w)]
    assert naive.mdlp_cuts(xs, ys, weights=weights) == [1.5]
    assert naive.mdlp_cuts(*zip(*copies, strict=True)) == [1.5]


# 11: metrics


def test_metrics_of_labels():
    table = naive.confusion([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 0, 1], 3)
    assert table == [[2, 1, 0], [1, 1, 0], [0, 1, 0]]
    assert naive.accuracy(table) == 3 / 6
    assert naive.balanced_accuracy(table) == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert [naive.f1(table, c) for c in range(3)] == pytest.approx([2 / 3, 2 / 5, 0])
    assert naive.f1([[1, 0], [0, 0]], 1) == 0


def test_metrics_of_probabilities():
    probabilities = [[0.5, 0.5], [0.75, 0.25]]
    assert naive.log_loss(probabilities, [0, 1]) == pytest.approx(math.log(8) / 2)
    assert naive.brier(probabilities, [0, 1]) == pytest.approx((0.5 + 1.125) / 2)
    assert naive.log_loss([[1.0, 0.0]], [1]) == math.inf


def test_auc():
    assert naive.auc_binary([0.1, 0.4, 0.4, 0.8], [False, True, False, True]) == 3.5 / 4
    assert math.isnan(naive.auc_binary([0.1, 0.2], [True, True]))
    hard, positives = [1, 0, 1, 0, 0], [True, True, False, False, False]
    table = naive.confusion([int(p) for p in positives], hard, 2)
    assert naive.auc_binary(hard, positives) == pytest.approx(naive.balanced_accuracy(table))
