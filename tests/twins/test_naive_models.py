"""The slow twins of the other models against the worked numbers (Mathematics 13) and identities."""

import functools
import itertools
import math
import random

import pytest

import naive
import naive_models as twins
from weather import CLASSES, ROWS, VALUES

DATA = (ROWS, CLASSES, 2, VALUES)
LAPLACE = ("laplace", 1)
M_ESTIMATE = ("m-estimate", 1)
POLICIES = [LAPLACE, ("laplace", 0.5), M_ESTIMATE, ("bdeu", 2), ("backoff", 5), ("ml",)]
SMOOTH = POLICIES[:-1]
GAPS = [[None, 0, 1, None], [2, None, 0, 1], [None] * 4, [None, None, None, 0], [0, None, None, 1]]
WEIGHTS = [1 + t % 3 for t in range(14)]


def yes(log_joint):
    return naive.posterior(log_joint)[0]


def three(model, *arguments, **options):
    """P(yes) of rows 0, 5 and 10, as in Mathematics 13.3."""
    return [yes(model(*DATA, *arguments, ROWS[t], **options)) for t in (0, 5, 10)]


def exactly(*numbers):
    """The numbers of Mathematics 13, printed to 12 decimals."""
    return pytest.approx(list(numbers), rel=0, abs=1e-12)


def near(log_joint):
    return pytest.approx(log_joint, rel=0, abs=1e-12)


def holes(n, values, k, seed, share=0.25):
    """A random problem with missing cells."""
    source = random.Random(seed)
    rows = [
        [None if source.random() < share else source.randrange(v) for v in values] for _ in range(n)
    ]
    return rows, [source.randrange(k) for _ in range(n)], k, values


PROBLEMS = [DATA, holes(20, [2, 3, 2, 4], 3, 1), holes(12, [3, 1, 2], 2, 2), holes(9, [3], 2, 3)]
IDS = ["weather", "three classes", "a constant", "one column"]
on_every_problem = pytest.mark.parametrize("data", PROBLEMS, ids=IDS)


# 13.1, 13.2


def test_superparent_criteria():
    expected = [0.918846809, 0.803222321, 0.632161193, 0.924382141]
    found = [
        sum(twins.information_given_parent(*DATA, j, p) for j in range(4) if j != p)
        for p in range(4)
    ]
    assert [f / math.log(2) for f in found] == pytest.approx(expected, rel=0, abs=6e-10)
    assert twins.spode_parent(*DATA, "mi") == 0
    assert twins.spode_parent(*DATA, "cmi") == 3


def test_average_threshold_and_bags():
    average = twins.phnb_average_threshold(*DATA)
    assert average == pytest.approx(0.2672836948, rel=0, abs=6e-11)
    assert twins.phnb_bags(*DATA, average) == [[1, 3], [0, 2], [1], [0]]


def test_odanb_parents():
    assert twins.odanb_parents(*DATA) == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("k_dep", "parents"),
    [
        (0, [[], [], [], []]),
        (1, [[], [0], [0], [0]]),
        (2, [[], [0, 2], [0], [0, 2]]),
        (3, [[], [0, 2, 3], [0], [0, 2]]),
        (9, [[], [0, 2, 3], [0], [0, 2]]),
    ],
)
def test_kdb_structure(k_dep, parents):
    assert twins.kdb_structure(*DATA, k_dep) == ([0, 2, 3, 1], parents)


def test_kdb_threshold():
    least = 0.3 * math.log(2)
    assert twins.kdb_structure(*DATA, 3, least)[1] == [[], [0, 2], [], [0]]
    exact = naive.conditional_mutual_information(*DATA, 0, 3)
    assert twins.kdb_structure(*DATA, 3, exact)[1][3] == [0]
    assert twins.kdb_structure(*DATA, 3, 1)[1] == [[]] * 4


# 13.3


def test_spode():
    expected = exactly(0.079872204473, 0.283185840708, 0.824175824176)
    assert three(twins.spode, LAPLACE, 0, joint_prior=False) == expected


def test_waode():
    expected = exactly(0.054799287027, 0.318100507864, 0.867460358564)
    assert three(twins.waode, M_ESTIMATE) == expected


def test_hnb():
    expected = exactly(0.064429351162, 0.152102512173, 0.902995212591)
    assert three(twins.hnb, M_ESTIMATE) == expected
    everything = twins.phnb_bags(*DATA, -math.inf)
    assert three(twins.hnb, M_ESTIMATE, bags=everything) == expected


def test_phnb():
    bags = twins.phnb_bags(*DATA, twins.phnb_average_threshold(*DATA))
    expected = exactly(0.061384333349, 0.073324161100, 0.888726028129)
    assert three(twins.hnb, M_ESTIMATE, bags=bags) == expected
    nothing = twins.phnb_bags(*DATA, math.inf)
    expected = exactly(0.240628527626, 0.776006516174, 0.557727070963)
    assert three(twins.hnb, M_ESTIMATE, bags=nothing) == expected


def test_atan():
    expected = exactly(0.169556787281, 0.308928008107, 0.753879585776)
    assert three(twins.atan, LAPLACE) == expected


@pytest.mark.parametrize(
    ("k_dep", "expected"),
    [
        (0, exactly(0.295753395128, 0.736822319487, 0.567542524323)),
        (1, exactly(0.079872204473, 0.283185840708, 0.824175824176)),
        (2, exactly(0.126390293225, 0.347826086957, 0.789473684211)),
        (3, exactly(0.153148738054, 0.307692307692, 0.824175824176)),
    ],
)
def test_kdb(k_dep, expected):
    parents = twins.kdb_structure(*DATA, k_dep)[1]
    assert three(twins.kdb, LAPLACE, parents) == expected


def test_a2de():
    expected = exactly(0.211098625566, 0.335768050340, 0.790585934178)
    assert three(twins.a2de, LAPLACE) == expected


# 5.1: SPODE


@on_every_problem
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_mean_of_spodes_is_aode(data, policy):
    rows, _, k, values = data
    d = len(values)
    for row in [row for row in rows if None not in row]:
        members = [twins.spode(*data, policy, p, row) for p in range(d)]
        mean = [naive.log_sum([m[c] for m in members]) - math.log(d) for c in range(k)]
        assert mean == near(naive.aode(*data, policy, row))


@pytest.mark.parametrize("joint_prior", [True, False])
def test_spode_with_missing_cells(joint_prior):
    """Row (?, ?, high, ?) under outlook, by hand: Σ_o P(yes, o) P(high | yes, o)."""
    row = [None, None, 0, None]
    summed = twins.spode(*DATA, LAPLACE, 0, row, joint_prior)
    high = [1 / 4, 3 / 6, 2 / 5]
    first = [3 / 20, 5 / 20, 4 / 20] if joint_prior else [10 / 16 * n / 12 for n in (3, 5, 4)]
    by_hand = math.fsum(f * h for f, h in zip(first, high, strict=True))
    assert math.exp(summed[0]) == pytest.approx(by_hand)
    dropped = twins.spode(*DATA, LAPLACE, 0, row, joint_prior, "drop")
    assert dropped == naive.naive_bayes(*DATA, LAPLACE, row)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("missing", ["marginalize", "drop"])
def test_spode_without_joint_prior_is_a_star(policy, missing):
    for row in [*ROWS, *GAPS]:
        found = twins.spode(*DATA, policy, 0, row, False, missing)
        assert found == near(naive.tree_joint(*DATA, policy, [-1, 0, 0, 0], row, missing))


def test_spode_priors_agree_under_bdeu_and_ml():
    for policy, p, row in itertools.product([("bdeu", 3), ("ml",)], range(4), [*ROWS, *GAPS]):
        both = [twins.spode(*DATA, policy, p, row, joint_prior) for joint_prior in (True, False)]
        assert both[0] == near(both[1])


@pytest.mark.parametrize(("criterion", "price"), [("bic", math.log(14) / 2), ("aic", 1)])
def test_spode_penalised(criterion, price):
    """Log-likelihood is that of naive Bayes plus N Σ_i I(X_i; X_p | Y)."""
    base = math.fsum(
        naive.naive_bayes(*DATA, ("ml",), row)[c] for row, c in zip(ROWS, CLASSES, strict=True)
    )
    parameters = [5 + 6 * 4, 5 + 6 * 4, 3 + 4 * 5, 3 + 4 * 5]
    cmi = twins.cmi_matrix(*DATA)
    expected = [base + 14 * math.fsum(cmi[p]) - price * parameters[p] for p in range(4)]
    found = [twins.spode_penalised(*DATA, p, criterion) for p in range(4)]
    assert found == pytest.approx(expected)
    assert twins.spode_parent(*DATA, criterion) == naive.first_best(expected)


def test_spode_penalised_uses_complete_rows():
    gaps = [[None, 0, 0, 0], [1, None, 0, 1]]
    data = ([*ROWS, *gaps], [*CLASSES, 0, 1], 2, VALUES)
    for p in range(4):
        assert twins.spode_penalised(*data, p, "bic") == twins.spode_penalised(*DATA, p, "bic")
    empty = (gaps, [0, 1], 2, VALUES)
    assert [twins.spode_parent(*empty, criterion) for criterion in ("bic", "aic")] == [0, 0]


def test_spode_parent_by_leave_one_out():
    """Accuracy first, then the log loss, then the index."""
    scores = []
    for p in range(4):
        joints = twins.leave_one_out_fixed(twins.spode_of, *DATA, LAPLACE, p=p)
        scores.append(twins.leave_one_out_score(joints, CLASSES, 2, LAPLACE))
    assert twins.spode_parent(*DATA, "loo") == min(
        range(4), key=lambda p: (-scores[p][0], scores[p][1])
    )
    twice = [[row[2], row[0], row[0]] for row in ROWS]
    assert twins.spode_parent(twice, CLASSES, 2, [2, 3, 3], "loo") in (0, 1)


@on_every_problem
def test_spode_parent_of_any_problem(data):
    for criterion in ("mi", "cmi", "bic", "aic", "loo"):
        assert twins.spode_parent(*data, criterion) in range(len(data[3]))


# 5.3: WAODE


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_waode_with_equal_weights_is_aode(policy):
    for row in [*ROWS, *GAPS]:
        found = twins.waode(*DATA, policy, row, member_weights=[0.3] * 4)
        assert found == near(naive.aode(*DATA, policy, row))


def test_waode_without_information():
    rows = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
    data = (rows, [0] * 4 + [1] * 4, 2, [2, 2])
    for row in [[0, 1], [None, 1], [None, None]]:
        assert twins.waode(*data, M_ESTIMATE, row) == near(naive.aode(*data, M_ESTIMATE, row))


def test_waode_falls_back_on_naive_bayes():
    """Column 1 is not informative, column 0 is missing: nothing has a weight."""
    rows = [[c, x] for c in (0, 1) for x in (0, 1)] * 2
    data = (rows, [row[0] for row in rows], 2, [2, 2])
    row = [None, 1]
    assert twins.waode(*data, M_ESTIMATE, row) == naive.naive_bayes(*data, M_ESTIMATE, row)
    assert twins.waode(*data, M_ESTIMATE, [1, 1]) == near(naive.spode(*data, M_ESTIMATE, 0, [1, 1]))


# 15.5: A2DE


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a2de_falls_back(policy):
    for row in ROWS:
        assert twins.a2de(*DATA, policy, row, 6) == naive.aode(*DATA, policy, row, 6)
        assert twins.a2de(*DATA, policy, row, 15) == naive.naive_bayes(*DATA, policy, row)
    one = ([row[:1] for row in ROWS], CLASSES, 2, [3])
    assert twins.a2de(*one, policy, [2]) == naive.aode(*one, policy, [2])
    single = [None, 1, None, None]
    assert twins.a2de(*DATA, policy, single) == naive.aode(*DATA, policy, single)
    assert twins.a2de(*DATA, policy, [None] * 4) == near(twins.log_prior(CLASSES, 2, policy))


def test_a2de_of_two_columns_is_their_joint():
    data = ([row[:2] for row in ROWS], CLASSES, 2, [3, 3])
    found = twins.a2de(*data, LAPLACE, [0, 0])
    assert [math.exp(p) for p in found] == pytest.approx([1 / 32, 3 / 32])
    assert twins.a2de(*data, LAPLACE, [0, 0], weighted=True) == near(found)


def test_a2de_of_three_columns_by_hand():
    """Of (sunny, hot, high) all pairs but (sunny, hot) occur 3 times."""
    data = ([row[:3] for row in ROWS], CLASSES, 2, [3, 3, 2])
    found = twins.a2de(*data, LAPLACE, [0, 0, 0], 3)
    members = [
        [1 / 26 * 1 / 3, 4 / 26 * 3 / 6],  # o, h: (sunny, high) is no, no, no
        [2 / 26 * 1 / 4, 3 / 26 * 3 / 5],  # t, h: (hot, high) is no, no, yes
    ]
    means = [(a + b) / 2 for a, b in zip(*members, strict=True)]
    assert [math.exp(p) for p in found] == pytest.approx(means)


def test_weighted_a2de():
    """A column that copies the class gives weight to its pairs; noise gives equal weights."""
    rows = [[c, a, b] for c in (0, 1) for a in (0, 1) for b in (0, 1)]
    data = (rows, [row[0] for row in rows], 2, [2, 2, 2])
    members = [twins.two_parents(*data, LAPLACE, *pair, [1, 0, 0]) for pair in ((0, 1), (0, 2))]
    expected = [naive.log_sum([m[c] for m in members]) - math.log(2) for c in range(2)]
    assert twins.a2de(*data, LAPLACE, [1, 0, 0], weighted=True) == near(expected)
    gap = [None, 0, 1]
    assert twins.a2de(*data, LAPLACE, gap, weighted=True) == naive.aode(*data, LAPLACE, gap)
    noise = ([row[1:] for row in rows], data[1], 2, [2, 2])
    assert twins.a2de(*noise, LAPLACE, [0, 0], weighted=True) == near(
        twins.a2de(*noise, LAPLACE, [0, 0])
    )


# 6.2: ATAN


@on_every_problem
@pytest.mark.parametrize("policy", [("bdeu", 2), ("ml",)], ids=str)
def test_atan_is_tan_where_marginals_agree(data, policy):
    complete = [(row, c) for row, c in zip(data[0], data[1], strict=True) if None not in row]
    rows, classes = (list(part) for part in zip(*complete, strict=True))
    data, prior = (rows, classes, *data[2:]), twins.log_prior(classes, data[2], policy)
    parents = naive.tan_parents(*data)
    for row in [*rows, *([None, *row[1:]] for row in rows[:2])]:
        tan = naive.tree_joint(*data, policy, parents, row)
        found = [math.exp(p) for p in twins.atan(*data, policy, row)]
        assert found == near(naive.posterior(tan, prior))
        assert twins.atan(*data, policy, row, average="joint") == near(tan)


def test_atan_of_given_edges():
    edges = naive.forest_edges(*DATA)
    assert twins.atan(*DATA, LAPLACE, ROWS[0], edges) == twins.atan(*DATA, LAPLACE, ROWS[0])
    assert sum(map(math.exp, twins.atan(*DATA, LAPLACE, GAPS[0]))) == pytest.approx(1)


# 6.3: multinet


def test_multinet_of_one_class_is_a_chow_liu_tree():
    data = (ROWS, [0] * 14, 1, VALUES)
    assert twins.multinet_parents(*data) == [naive.tan_parents(*data)]
    for row in [*ROWS, *GAPS]:
        tree = naive.tree_joint(*data, LAPLACE, naive.tan_parents(*data), row)
        assert twins.multinet(*data, LAPLACE, row) == tree


def test_multinet_parents_of_weather():
    """I_c only from the rows of each class; both trees rooted at outlook."""
    expected = []
    for c in range(2):
        part = [row for row, label in zip(ROWS, CLASSES, strict=True) if label == c]
        expected.append(naive.tan_parents(part, [0] * len(part), 1, VALUES, root=0))
    assert twins.multinet_parents(*DATA) == expected
    assert [tree[0] for tree in expected] == [-1, -1]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("missing", ["marginalize", "drop"])
def test_multinet_of_equal_trees_is_tan(policy, missing):
    """The rows of one class copied into two, so that both have the same tree."""
    half = [row for row, c in zip(ROWS, CLASSES, strict=True) if c == 0]
    data = (half * 2, [0] * 9 + [1] * 9, 2, VALUES)
    parents = naive.tan_parents(*data)
    assert twins.multinet_parents(*data) == [parents, parents]
    for row in [*ROWS[:3], *GAPS]:
        tan = naive.tree_joint(*data, policy, parents, row, missing)
        assert twins.multinet(*data, policy, row, missing) == tan


def test_multinet_of_a_class_with_one_row():
    data = ([*ROWS, [0, 0, 0, 0]], [*CLASSES, 2], 4, VALUES)
    trees = twins.multinet_parents(*data)
    assert trees[2:] == [[-1] * 4] * 2
    found = twins.multinet(*data, LAPLACE, ROWS[3])
    assert found[2:] == near(naive.naive_bayes(*data, LAPLACE, ROWS[3])[2:])


# 6.4: ODANB


def test_odanb():
    """Row 0 by hand: P(c) P(sunny | hot) P(hot | sunny) P(high | hot) P(FALSE | sunny)."""
    found = twins.odanb(*DATA, LAPLACE, ROWS[0])
    yes_by_hand = 10 / 16 * 1 / 5 * 1 / 5 * 2 / 4 * 2 / 4
    no_by_hand = 6 / 16 * 3 / 5 * 3 / 6 * 3 / 4 * 3 / 5
    assert [math.exp(p) for p in found] == pytest.approx([yes_by_hand, no_by_hand])


def test_odanb_with_missing_cells():
    found = twins.odanb(*DATA, LAPLACE, [None, 0, None, None])
    assert [math.exp(p) for p in found] == pytest.approx([10 / 16 * 3 / 12, 6 / 16 * 3 / 8])


def test_odanb_without_information():
    rows = [[a, b, 0] for a in (0, 1) for b in (0, 1)] * 2
    data = (rows, [0] * 4 + [1] * 4, 2, [2, 2, 1])
    assert twins.odanb_parents(*data) == [-1, -1, -1]
    assert twins.odanb_parents([[0], [1]], [0, 1], 2, [2]) == [-1]
    assert twins.odanb(*data, LAPLACE, rows[1]) == naive.naive_bayes(*data, LAPLACE, rows[1])


# 6.5: KDB


@on_every_problem
@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("missing", ["marginalize", "drop"])
def test_kdb_of_no_parents_is_naive_bayes(data, policy, missing):
    parents = twins.kdb_structure(*data, 0)[1]
    for row in data[0]:
        found = twins.kdb(*data, policy, parents, row, missing)
        assert found == near(naive.naive_bayes(*data, policy, row))


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("missing", ["marginalize", "drop"])
def test_kdb_of_one_parent_is_a_tree(policy, missing):
    """Holds in dropped cells too, as long as the training rows are complete."""
    tree = [1, -1, 1, 0]
    for row in [*ROWS, *GAPS]:
        found = twins.kdb(*DATA, policy, [[1], [], [1], [0]], row, missing)
        assert found == near(naive.tree_joint(*DATA, policy, tree, row, missing))


def test_kdb_of_all_parents_is_the_joint_under_bdeu_and_ml():
    """A complete DAG: P(c, x) is one variable of 2·36 values."""
    parents = twins.kdb_structure(*DATA, 3)[1]
    for policy, (t, row) in itertools.product([("bdeu", 2), ("ml",)], enumerate(ROWS)):
        found = twins.kdb(*DATA, policy, parents, row)
        expected = naive.smooth(policy, 1, 14, 72, 1, None)
        assert math.exp(found[CLASSES[t]]) == pytest.approx(expected)


def test_kdb_drops_a_missing_parent():
    """Temperature given outlook and humidity, outlook missing: (high, yes) has 1, 2, 0."""
    found = twins.kdb(*DATA, LAPLACE, [[], [0, 2], [], []], [None, 1, 0, None], "drop")
    assert math.exp(found[0]) == pytest.approx(10 / 16 * 4 / 11 * 3 / 6)
    summed = twins.kdb(*DATA, ("bdeu", 1), [[], [0, 2], [], []], [None, 1, 0, None], "drop")
    by_hand = 9.5 / 15 * (3 + 1 / 4) / 9.5 * (2 + 1 / 12) / (3 + 1 / 4)
    assert math.exp(summed[0]) == pytest.approx(by_hand)


@on_every_problem
@pytest.mark.parametrize("policy", SMOOTH, ids=str)
def test_kdb_probabilities_sum_to_one(data, policy):
    parents = twins.kdb_structure(*data, 2)[1]
    nothing = [None] * len(data[3])
    assert math.fsum(map(math.exp, twins.kdb(*data, policy, parents, nothing))) == pytest.approx(1)


def test_available_cases_of_a_family():
    rows = [[0, 0, 0], [1, 0, 0], [0, 0, None], [None, 0, 0], [1, 1, 0], [0, None, 0]]
    data = (rows, [0] * 6, 1, [2, 2, 2])
    factor = functools.partial(twins.family_factor, *data, ("ml",), 0, [1, 2])
    assert factor([0, 0, 0], 0) == 1 / 2
    assert factor([0, None, 0], 0) == 1 / 3
    assert factor([0, None, None], 0) == 1 / 3
