"""One-dependence and hidden-parent models: worked numbers, slow twins, identities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
import naive_models as slow
import weather
from problems import made, problems
from tests.models.test_nb_tan_aode import POLICIES, assert_close, fitted, policies
from unnaive import (
    A2DE,
    AODE,
    ATAN,
    HNB,
    KDB,
    ODANB,
    PHNB,
    SPODE,
    TAN,
    WAODE,
    BDeu,
    Laplace,
    MEstimate,
    NaiveBayes,
)

WORKED = [  # Mathematics 13.3
    (HNB(), [0.064429351162, 0.152102512173, 0.902995212591]),
    (HNB(smoothing="weka"), [0.064429351162, 0.152102512173, 0.902995212591]),
    (PHNB(), [0.061384333349, 0.073324161100, 0.888726028129]),
    (PHNB(threshold=math.inf), [0.240628527626, 0.776006516174, 0.557727070963]),
    (WAODE(), [0.054799287027, 0.318100507864, 0.867460358564]),
    (SPODE(joint_prior=False), [0.079872204473, 0.283185840708, 0.824175824176]),
    (ATAN(), [0.169556787281, 0.308928008107, 0.753879585776]),
    (A2DE(), [0.211098625566, 0.335768050340, 0.790585934178]),
    (KDB(k=1), [0.079872204473, 0.283185840708, 0.824175824176]),
    (KDB(k=2), [0.126390293225, 0.347826086957, 0.789473684211]),
    (KDB(k=3), [0.153148738054, 0.307692307692, 0.824175824176]),
]


@pytest.mark.parametrize(("model", "expected"), WORKED, ids=lambda value: str(value)[:50])
def test_worked_numbers(model, expected):
    model.set_params(categories=weather.CATEGORIES).fit(weather.LABELLED, weather.LABELS)
    yes = list(model.classes_).index("yes")
    got = model.predict_proba(weather.LABELLED)[[0, 5, 10], yes]
    assert got == pytest.approx(expected, abs=1e-12)


def test_worked_structures():
    fit = {"categories": weather.CATEGORIES}
    bags = PHNB(**fit).fit(weather.LABELLED, weather.LABELS).structure_.bags
    assert bags == {"x0": ["x1", "x3"], "x1": ["x0", "x2"], "x2": ["x1"], "x3": ["x0"]}
    odanb = ODANB(**fit).fit(weather.LABELLED, weather.LABELS).structure_
    assert odanb.parents.tolist() == [1, 0, 1, 0]
    chosen = {
        criterion: SPODE(criterion=criterion, **fit).fit(weather.LABELLED, weather.LABELS)
        for criterion in ("mi", "cmi", "loo", "bic", "aic")
    }
    roots = {key: model.structure_.parents.tolist().index(-1) for key, model in chosen.items()}
    assert roots == {"mi": 0, "cmi": 3, "loo": 0, "bic": 2, "aic": 2}


@given(problems(), policies)
@settings(max_examples=80)
def test_hnb_equals_the_twin(problem, policy):
    model = fitted(HNB(smoothing=policy), problem)
    expected = [slow.hnb(*problem.data, POLICIES[policy], row) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(
    problems(), policies, st.sampled_from([0.0, 0.05, 0.3, math.inf]), st.sampled_from(["ge", "gt"])
)
@settings(max_examples=80)
def test_phnb_equals_the_twin(problem, policy, threshold, rule):
    model = fitted(PHNB(threshold=threshold, rule=rule, smoothing=policy), problem)
    bags = slow.phnb_bags(*problem.data, threshold, rule)
    expected = [slow.hnb(*problem.data, POLICIES[policy], row, bags) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(problems(max_rows=12, max_columns=4), st.sampled_from([MEstimate(1.0), Laplace(1.0)]))
@settings(max_examples=40)
def test_the_path_of_thresholds_equals_the_twin(problem, policy):
    path = PHNB(threshold="loo", smoothing=policy)._fit_rows(problem.coded()).path_
    expected = slow.phnb_path(*problem.data, POLICIES[policy])[: len(path["threshold"])]
    assert_close(path["threshold"], [threshold for threshold, *_ in expected])
    assert_close(path["accuracy"], [accuracy for _, accuracy, _ in expected])
    assert_close(path["log_loss"], [loss for *_, loss in expected])


def test_the_path_at_any_threshold_is_a_model_fitted_there():
    problem = made(60, [3, 2, 4, 3, 2], 3, gaps=0.1)
    y = np.array(problem.classes)
    path = PHNB(threshold="loo", criterion="accuracy").fit(problem.X, y)
    for threshold, members, accuracy, loss in zip(*path.path_.values(), strict=True):
        model = PHNB(threshold=threshold).fit(problem.X, y)
        chances = model.loo_predict_proba(problem.X, y)
        assert model.structure_.members.sum() == members
        assert (chances.argmax(axis=1) == y).mean() == pytest.approx(accuracy, abs=1e-12)
        assert -np.log(chances[np.arange(60), y]).mean() == pytest.approx(loss, abs=1e-10)
    chances = path.loo_predict_proba(problem.X, y)
    best = path.path_["accuracy"].max()
    assert (chances.argmax(axis=1) == y).mean() == pytest.approx(best, abs=1e-12)
    path.set_params(criterion="log_loss").fit(problem.X, y)
    chances = path.loo_predict_proba(problem.X, y)
    best = path.path_["log_loss"].min()
    assert -np.log(chances[np.arange(60), y]).mean() == pytest.approx(best, abs=1e-10)


@given(problems(), policies)
@settings(max_examples=60)
def test_waode_equals_the_twin(problem, policy):
    model = fitted(WAODE(smoothing=policy), problem)
    expected = [slow.waode(*problem.data, POLICIES[policy], row) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(problems(max_columns=4, sizes=(1, 2, 5)), policies, st.booleans(), st.integers(0, 3))
@settings(max_examples=80)
def test_spode_equals_the_twin(problem, policy, joint_prior, parent):
    parent %= len(problem.values)
    assume(any(row[parent] is not None for row in problem.rows))
    model = fitted(SPODE(parent=parent, joint_prior=joint_prior, smoothing=policy), problem)
    expected = [
        slow.spode(*problem.data, POLICIES[policy], parent, row, joint_prior)
        for row in problem.rows
    ]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(problems(max_columns=4, sizes=(2, 3)))
@settings(max_examples=40)
def test_spode_chooses_like_the_twin(problem):
    complete = type(problem)(
        [[cell or 0 for cell in row] for row in problem.rows],
        problem.classes,
        problem.k,
        problem.values,
    )
    for criterion in ("mi", "cmi", "bic", "aic"):
        model = fitted(SPODE(criterion=criterion), complete)
        parent = model.structure_.parents.tolist().index(-1)
        assert parent == slow.spode_parent(*complete.data, criterion), criterion


@given(problems(max_rows=12, max_columns=4, sizes=(1, 2, 3)), policies)
@settings(max_examples=40)
def test_atan_equals_the_twin(problem, policy):
    model = fitted(ATAN(smoothing=policy), problem)
    expected = [slow.atan(*problem.data, POLICIES[policy], row) for row in problem.rows]
    assert_close(model.predict_log_proba(problem.X), normalised(expected))


@given(problems(max_rows=14, max_columns=4, sizes=(1, 2, 3)), policies)
@settings(max_examples=40)
def test_multinet_equals_the_twin(problem, policy):
    model = fitted(TAN(per_class=True, smoothing=policy), problem)
    expected = [slow.multinet(*problem.data, POLICIES[policy], row) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(problems(), policies)
@settings(max_examples=60)
def test_odanb_equals_the_twin(problem, policy):
    model = fitted(ODANB(smoothing=policy), problem)
    assert model.structure_.parents.tolist() == slow.odanb_parents(*problem.data)
    expected = [slow.odanb(*problem.data, POLICIES[policy], row) for row in problem.rows]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


def normalised(joints):
    return [[value - naive.log_sum(joint) for value in joint] for joint in joints]


@given(problems(max_rows=12, max_columns=4), st.sampled_from([MEstimate(1.0), Laplace(0.5)]))
@settings(max_examples=40)
def test_leave_one_out_with_fixed_weights(problem, policy):
    cmi = [
        [
            naive.conditional_mutual_information(*problem.data, *sorted((i, j))) if i != j else 0.0
            for j in range(len(problem.values))
        ]
        for i in range(len(problem.values))
    ]
    mi = [naive.mutual_information(*problem.data, i) for i in range(len(problem.values))]
    weights = mi if sum(mi) > 0 else [1.0] * len(mi)
    for model, twin, fixed in (
        (HNB(smoothing=policy), slow.hnb, {"cmi": cmi}),
        (WAODE(smoothing=policy), slow.waode, {"member_weights": weights}),
    ):
        fitted(model, problem)
        got = model.loo_predict_proba(problem.X, problem.classes)
        joints = slow.leave_one_out_fixed(twin, *problem.data, POLICIES[policy], **fixed)
        assert_close(got, [naive.posterior(joint) for joint in joints], atol=1e-10)


def test_identities():
    problem = made(80, [3, 2, 4, 5], 3, gaps=0.1)
    X = problem.X
    hnb, phnb = fitted(HNB(), problem), fitted(PHNB(threshold=-math.inf), problem)
    assert np.array_equal(hnb.predict_joint_log_proba(X), phnb.predict_joint_log_proba(X))
    none = fitted(PHNB(threshold=math.inf), problem)
    nb = fitted(NaiveBayes(smoothing=MEstimate(1)), problem)
    assert np.array_equal(none.predict_joint_log_proba(X), nb.predict_joint_log_proba(X))
    complete = made(50, [3, 2, 4, 5], 3, seed=3)
    atan, tan = (fitted(m, complete) for m in (ATAN(smoothing=BDeu(1)), TAN(smoothing=BDeu(1))))
    assert_close(atan.predict_proba(complete.X), tan.predict_proba(complete.X), atol=1e-12)
    spodes = [
        fitted(SPODE(parent=p), complete).predict_joint_log_proba(complete.X) for p in range(4)
    ]
    aode = fitted(AODE(), complete).predict_joint_log_proba(complete.X)
    assert_close(np.logaddexp.reduce(spodes, axis=0) - math.log(4), aode)


def test_bad_parameters():
    X, y = [["a", "u"], ["b", "v"]] * 3, [0, 1] * 3
    for model, message in (
        (PHNB(threshold="often"), "threshold='often'; it must be"),
        (PHNB(threshold=math.nan), "threshold=nan"),
        (PHNB(rule="eq"), "rule='eq'"),
        (PHNB(threshold="loo", criterion="auc"), "criterion='auc'"),
        (SPODE(criterion="auc"), "criterion='auc'"),
        (SPODE(parent="z"), "parent: 'z' is not a column"),
        (ATAN(average="median"), "average='median'"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    for model in (PHNB(threshold="loo"), SPODE(criterion="loo")):
        counts = NaiveBayes().fit(X, y).counts_
        with pytest.raises(ValueError, match="fit it on rows"):
            model.fit_counts(counts)
        kept = model.fit(X, y).structure_
        assert model.fit_counts(model.counts_).structure_ is kept


def test_hidden_models_are_the_same_for_any_number_of_threads():
    problem = made(3000, [3, 2, 4, 5, 17, 3], 3, gaps=0.05)
    y = np.array(problem.classes)
    one, two = (PHNB(threshold="loo", n_jobs=jobs).fit(problem.X, y) for jobs in (1, 2))
    assert np.array_equal(one.path_["log_loss"], two.path_["log_loss"])
    assert np.array_equal(one.predict_proba(problem.X), two.predict_proba(problem.X))


@given(
    problems(max_rows=14, max_columns=4, sizes=(1, 2, 3)),
    policies,
    st.integers(0, 3),
    st.sampled_from(["marginalize", "drop"]),
)
@settings(max_examples=80)
def test_kdb_equals_the_twin(problem, policy, k, missing):
    model = fitted(KDB(k=k, smoothing=policy, missing=missing), problem)
    _, parents = slow.kdb_structure(*problem.data, k)
    assert [list(family[1:]) for family in model.structure_.families] == parents
    test = made(4, problem.values, 1, gaps=0.5, seed=len(problem.rows))
    expected = [
        slow.kdb(*problem.data, POLICIES[policy], parents, row, missing) for row in test.rows
    ]
    assert_close(model.predict_joint_log_proba(test.X), expected)


def test_kdb_without_parents_is_naive_bayes():
    problem = made(70, [3, 2, 4], 3, gaps=0.1)
    kdb, nb = fitted(KDB(k=0), problem), fitted(NaiveBayes(), problem)
    assert_close(kdb.predict_joint_log_proba(problem.X), nb.predict_joint_log_proba(problem.X))


@given(problems(max_rows=10, max_columns=4, sizes=(2, 3)), policies)
@settings(max_examples=30)
def test_kdb_leave_one_out_equals_refits(problem, policy):
    model = fitted(KDB(smoothing=policy), problem)
    got = model.loo_predict_proba(problem.X, problem.classes)
    families = [list(family[1:]) for family in model.structure_.families]

    def without(rows, classes, weights, row):
        return slow.kdb(rows, classes, problem.k, problem.values, POLICIES[policy], families, row)

    joints = naive.leave_one_out(without, problem.rows, problem.classes)
    finite = [i for i, joint in enumerate(joints) if max(joint) > -math.inf]
    assert_close(got[finite], [naive.posterior(joints[i]) for i in finite], atol=1e-10)


def test_kdb_batches_keep_the_first_structure():
    problem = made(300, [2, 3, 4, 3], 2, gaps=0.1)
    X, y = problem.X, np.array(problem.classes)
    values = {"categories": [list(range(v)) for v in problem.values]}
    model = KDB(**values).partial_fit(X[:200], y[:200])
    families = model.structure_.families
    before = model.predict_proba(X)
    model.partial_fit(X[200:], y[200:])
    assert model.structure_.families == families
    assert model.counts_.total == 300
    model.forget(X[200:], y[200:])
    assert np.array_equal(model.predict_proba(X), before)
    again = KDB(**values).fit_counts(model.counts_)
    assert np.array_equal(again.predict_proba(X), before)
    with pytest.raises(ValueError, match="fit it on rows"):
        KDB().fit_counts(problem.coded().count())
    for k in (-1, 1.5, True):
        with pytest.raises(ValueError, match="k="):
            KDB(k=k).fit(X, y)


@given(
    problems(max_rows=16, max_columns=4, sizes=(1, 2, 3)),
    policies,
    st.integers(0, 3),
    st.booleans(),
)
@settings(max_examples=60)
def test_a2de_equals_the_twin(problem, policy, min_count, weighted):
    complete = not any(None in row for row in problem.rows)
    weighted = weighted and complete  # with gaps, the three measures have rows of their own
    model = fitted(A2DE(min_count=min_count, weighted=weighted, smoothing=policy), problem)
    expected = [
        slow.a2de(*problem.data, POLICIES[policy], row, min_count, weighted) for row in problem.rows
    ]
    assert_close(model.predict_joint_log_proba(problem.X), expected)


@given(problems(max_rows=9, max_columns=4, sizes=(2, 3)), policies)
@settings(max_examples=25)
def test_a2de_leave_one_out_equals_refits(problem, policy):
    model = fitted(A2DE(smoothing=policy), problem)
    got = model.loo_predict_proba(problem.X, problem.classes)

    def without(rows, classes, weights, row):
        return slow.a2de(rows, classes, problem.k, problem.values, POLICIES[policy], row)

    joints = naive.leave_one_out(without, problem.rows, problem.classes)
    finite = [i for i, joint in enumerate(joints) if max(joint) > -math.inf]
    assert_close(got[finite], [naive.posterior(joints[i]) for i in finite], atol=1e-10)


def test_a2de_is_sized_before_its_triples_are_counted():
    X = np.random.default_rng(0).integers(0, 30, (50, 40))
    with pytest.raises(ValueError, match=r"triples of A2DE would take .* GiB, more than"):
        A2DE(discretize=None).fit(X, np.arange(50) % 2)


def test_a_guard_that_leaves_terms_out_gives_no_negative_information():
    X = np.zeros((5000, 2), dtype=int)
    X[-1, 0] = X[-2, 1] = 1  # in a class of ten rows; their terms are left out, the others' not
    y = np.repeat([0, 1], [4990, 10])
    model = HNB(smoothing="weka", discretize=None).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize(
    ("place", "value"),
    [((0, 0), 99), ((0, 1), -1), ((1, 2), 1 << 40), ((0, 4), 99), ((0, 5), 1 << 62), ((0, 7), -1)],
)
def test_hidden_parents_refuse_places_beyond_their_tables(place, value):
    X, y = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 2], [1, 1, 0]] * 3), np.array([0, 1, 1, 0] * 3)
    tables = HNB(discretize=None).fit(X, y).fitted_.tables
    codes, nobody = np.zeros((3, 4), dtype=np.uint8), np.full(4, -1)
    assert np.isfinite(tables.joint(codes, nobody)).all()
    with pytest.raises(IndexError, match="beyond the column's values"):
        tables.joint(codes + np.uint8(9), nobody)
    with pytest.raises(IndexError, match="without its own row"):
        tables.joint(codes, nobody + 1)
    tables.columns[place] = value
    with pytest.raises(IndexError):
        tables.joint(codes, nobody)
