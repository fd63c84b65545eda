"""Adjusted naive Bayes: Mathematics 9.6 and 9.7, the slow twins, what weights mean for the rest."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine

import naive
import naive_models
import naive_search as slow
import unnaive
import weather
from problems import HOSTILE, Problem, problems
from tests.models.test_nb_tan_aode import POLICIES, assert_close, policies
from unnaive import ML, NaiveBayes
from unnaive.datasets import load_wdbc
from unnaive.exceptions import ModelFileError, SchemaMismatch, UnnaiveError
from unnaive.explain import dependence_derivatives
from unnaive.models.adjusted import LEAST_WEIGHT, AdjustedNB, JudgedRows
from unnaive.search import UMDA, MIMICc, UMDAc

BRIEF = UMDAc(population=20, selected=10, offspring=20, max_generations=5)
LOPSIDED_X = [["a"] * 3] * 5 + [["b"] * 3] * 3 + [["a", "b", "b"]] * 3
LOPSIDED_Y = [0] * 5 + [1] * 3 + [0, 0, 1]


def learned(model, problem):
    """Fit a model to a problem's rows, with declared values and classes."""
    return model._fit_rows(problem.coded())


def joints(problem, policy, criterion):
    """Log joints of naive Bayes by the twin, the prior where no class has a chance."""

    def predict(rows, classes, weights, row):
        joint = naive.naive_bayes(rows, classes, problem.k, problem.values, policy, row, weights)
        prior = naive_models.log_prior(classes, problem.k, policy, weights)
        return prior if max(joint) == -np.inf else joint

    data = problem.rows, problem.classes, problem.weights
    if criterion == "loo":
        return naive.leave_one_out(predict, *data)
    return [predict(*data, row) for row in problem.rows]


def expected(problem, policy, criterion):
    """Log weights and accuracy by the twin."""
    found = joints(problem, policy, criterion)
    climb = slow.adjusted_weights_two_classes if problem.k == 2 else slow.adjusted_hill_climbing
    log_weights, correct, *_ = climb(found, problem.classes, problem.weights)
    return log_weights, correct / sum(problem.weights or [1] * len(problem.rows))


@given(problems(max_rows=14), policies, st.sampled_from(["training", "loo"]))
@settings(max_examples=60)
def test_weights_equal_the_twin(problem, policy, criterion):
    assume(criterion == "training" or len(problem.rows) > 1)
    model = learned(AdjustedNB(smoothing=policy, criterion=criterion), problem)
    log_weights, accuracy = expected(problem, POLICIES[policy], criterion)
    assert_close(model.class_log_weights_, log_weights)
    assert model.adjusted_accuracy_ == pytest.approx(accuracy, abs=1e-12)


@given(problems(max_rows=14, weighted=True), policies, st.sampled_from(["training", "loo"]))
@settings(max_examples=40)
def test_weights_of_weighted_rows_equal_the_twin(problem, policy, criterion):
    assume(criterion == "training" or len(problem.rows) > 1)
    model = learned(AdjustedNB(smoothing=policy, criterion=criterion), problem)
    log_weights, accuracy = expected(problem, POLICIES[policy], criterion)
    assert_close(model.class_log_weights_, log_weights)
    assert model.adjusted_accuracy_ == pytest.approx(accuracy, abs=1e-12)


@st.composite
def judged_rows(draw, classes=st.integers(1, 4)):  # noqa: B008
    """Log joints with exact ties, ties within the tolerance, near misses, and no chance."""
    k, n = draw(classes), draw(st.integers(1, 12))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    joint = random.integers(-3, 1, (n, k)) + random.integers(0, 8, (n, k)) * 0.3e-10
    joint[random.random((n, k)) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    joint[np.isneginf(joint).all(axis=1)] = -1.0
    weights = random.choice([0.5, 1.0, 2.25], n)
    log_weights = random.integers(-1, 2, k) + random.integers(0, 3, k) * 0.3e-10
    return JudgedRows(joint, random.integers(0, k, n), weights), log_weights


@given(judged_rows())
@settings(max_examples=200)
def test_sweep_equals_the_twin(drawn):
    judged, log_weights = drawn
    data = judged.joint.tolist(), judged.classes.tolist()
    weights, total = judged.weights.tolist(), judged.weights.sum()
    right = slow.adjusted_correct(*data, log_weights.tolist(), weights)
    assert judged.accuracies(log_weights[None])[0] == pytest.approx(right / total, abs=1e-14)
    for label in range(len(log_weights)):
        accuracy, value = judged.best_step(log_weights, label)
        right, expected = slow.adjusted_step(*data, log_weights.tolist(), label, weights)
        assert accuracy == pytest.approx(right / total, abs=1e-14)
        assert value == pytest.approx(expected, abs=1e-14)


@given(judged_rows(classes=st.just(2)), st.data())
@settings(max_examples=60)
def test_cleared_weights_tie_nowhere(drawn, data):
    judged, _ = drawn
    judged = replace(judged, joint=judged.joint.round(3))
    levels = judged.joint[:, 1] - judged.joint[:, 0]
    level = levels[data.draw(st.integers(0, len(levels) - 1))]
    log_weights = np.array([level if np.isfinite(level) else 0.5, 0.0])
    moved = judged.cleared(log_weights)
    assert moved[1] == 0.0
    scores = judged.joint + moved
    if level == 0.0:  # weights of 1 stay, whatever ties
        assert not moved.any()
    else:
        assert (np.abs(scores[:, 0] - scores[:, 1]) > 1e-7).all()
    plain = judged.weights[scores.argmax(axis=1) == judged.classes].sum() / judged.weights.sum()
    told = judged.accuracies(moved[None])[0]
    assert level == 0.0 or told == pytest.approx(plain, abs=1e-12)
    clear = np.unique(levels[np.isfinite(levels)])
    tried = np.concatenate([clear - 0.5, clear + 0.5, (clear[1:] + clear[:-1]) / 2, [0.0]])
    best = judged.accuracies(np.stack([tried, np.zeros(len(tried))], axis=1)).max()
    assert told >= min(best, judged.accuracies(log_weights[None])[0]) - 1e-12 or level == 0.0


@pytest.mark.long
@pytest.mark.parametrize("polish", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_the_most_probable_class_has_the_accuracy_that_is_told(seed, polish):
    data = load_wdbc()
    X, y = data.X[:150, :4], data.y[:150]
    search = UMDAc.paper(max_generations=60)
    model = AdjustedNB(search="eda", algorithm=search, polish=polish, random_state=seed).fit(X, y)
    likely = model.classes_[model.loo_predict_proba(X, y).argmax(axis=1)]
    assert model.adjusted_accuracy_ == pytest.approx((likely == y).mean(), abs=1e-12)


@given(judged_rows(classes=st.just(2)))
@settings(max_examples=60)
def test_two_classes_reach_the_optimum_of_all_weights(drawn):
    judged, log_weights = drawn
    judged = replace(judged, joint=judged.joint.round(3))  # what differs by less is a tie
    level = judged.joint[:, 1] - judged.joint[:, 0]
    level = np.unique(level[np.isfinite(level)])
    around = [level + shift for shift in (-1e-6, 0.0, 1e-6)]
    tried = np.concatenate([*around, (level[1:] + level[:-1]) / 2, [-50.0, 50.0]])
    best = judged.accuracies(np.stack([tried, np.zeros(len(tried))], axis=1)).max()
    reached = judged.climb(log_weights - log_weights[-1])
    assert judged.accuracies(reached[None])[0] >= best - 1e-12


@given(problems(weighted=True), policies, st.sampled_from(["hill", "eda"]))
@settings(max_examples=40)
def test_no_worse_than_naive_bayes_where_it_was_trained(problem, policy, search):
    settings = {"criterion": "training", "algorithm": BRIEF, "random_state": 0}
    model = learned(AdjustedNB(smoothing=policy, search=search, **settings), problem)
    plain = NaiveBayes(smoothing=policy).fit_counts(model.counts_)
    y, weights = np.array(problem.classes), np.array(problem.weights)
    assert model.score(problem.X, y, weights) == pytest.approx(model.adjusted_accuracy_)
    assert plain.score(problem.X, y, weights) == pytest.approx(model.naive_accuracy_)
    assert model.adjusted_accuracy_ >= model.naive_accuracy_


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"more rows than a block"}))
@pytest.mark.parametrize("search", ["hill", "eda"])
def test_hostile_shapes(name, search):
    problem = HOSTILE[name]
    model = learned(AdjustedNB(search=search, algorithm=BRIEF, random_state=0), problem)
    assert np.isfinite(model.class_log_weights_).all()
    assert model.class_log_weights_[-1] == 0.0
    assert model.adjusted_accuracy_ >= model.naive_accuracy_
    assert model.predict_proba(problem.X).sum(axis=1) == pytest.approx(1.0)


def test_the_weather_needs_no_weights():
    model = AdjustedNB(categories=weather.CATEGORIES).fit(weather.LABELLED, weather.LABELS)
    assert model.naive_accuracy_ == model.adjusted_accuracy_ == pytest.approx(13 / 14)
    assert model.class_weights_.tolist() == [1.0, 1.0]


def test_weights_mean_what_they_say():
    model = AdjustedNB().fit(LOPSIDED_X, LOPSIDED_Y)
    plain = NaiveBayes().fit(LOPSIDED_X, LOPSIDED_Y)
    assert model.class_weights_[0] > 1
    assert model.class_weights_[1] == 1
    product = plain.predict_proba(LOPSIDED_X) * model.class_weights_
    assert_close(model.predict_proba(LOPSIDED_X), product / product.sum(axis=1, keepdims=True))
    joint = plain.predict_joint_log_proba(LOPSIDED_X) + model.class_log_weights_
    assert_close(model.predict_joint_log_proba(LOPSIDED_X), joint)


def test_a_common_factor_changes_nothing():
    X, y = load_wine(return_X_y=True)
    joint = NaiveBayes().fit(X, y).predict_joint_log_proba(X)
    judged = JudgedRows(joint, y, np.ones(len(y)))
    log_weights = np.array([0.3, -1.0, 0.0])
    one, other = judged.accuracies(np.stack([log_weights, log_weights + 7.0]))
    assert one == other


def test_leave_one_out_keeps_the_weights():
    model = AdjustedNB(search="eda", random_state=0).fit(weather.LABELLED, weather.LABELS)
    plain = NaiveBayes().fit(weather.LABELLED, weather.LABELS)
    product = plain.loo_predict_proba(weather.LABELLED, weather.LABELS) * model.class_weights_
    found = model.loo_predict_proba(weather.LABELLED, weather.LABELS)
    assert_close(found, product / product.sum(axis=1, keepdims=True))
    right = model.classes_[found.argmax(axis=1)] == weather.LABELS
    assert right.mean() == pytest.approx(model.adjusted_accuracy_)
    assert model.naive_accuracy_ == pytest.approx(7 / 14)


@given(problems(max_rows=14), st.integers(0, 5))
@settings(max_examples=40)
def test_search_begins_with_naive_bayes(problem, seed):
    settings = {"algorithm": BRIEF, "random_state": seed, "max_weight": 2.0}
    model = learned(AdjustedNB(search="eda", polish=False, **settings), problem)
    assert model.adjusted_accuracy_ >= model.naive_accuracy_
    assert (model.class_weights_ >= LEAST_WEIGHT * (1 - 1e-12)).all()
    assert (model.class_weights_ <= 2.0 * (1 + 1e-12)).all()
    if model.adjusted_accuracy_ == model.naive_accuracy_:
        assert (model.class_weights_ == 1.0).all()
    polished = learned(AdjustedNB(search="eda", **settings), problem)
    assert polished.adjusted_accuracy_ >= model.adjusted_accuracy_
    if polished.adjusted_accuracy_ == model.adjusted_accuracy_:
        assert np.array_equal(polished.class_weights_, model.class_weights_)


@given(problems(), st.integers(0, 5))
@settings(max_examples=30)
def test_search_of_two_classes_reaches_the_optimum(problem, seed):
    problem = replace(problem, k=2, classes=[label % 2 for label in problem.classes])
    found = learned(AdjustedNB(search="eda", algorithm=BRIEF, random_state=seed), problem)
    exact = learned(AdjustedNB(criterion="loo"), problem)
    assert found.adjusted_accuracy_ == pytest.approx(exact.adjusted_accuracy_, abs=1e-12)


@pytest.mark.long
def test_papers_setting_of_the_search():
    model = AdjustedNB(search="eda", algorithm=UMDAc.paper(), polish=False, random_state=0)
    model.fit(weather.LABELLED, weather.LABELS)
    result = model.search_result_
    assert result.evaluations == 500 + 1000 * result.generations
    assert result.fitness == model.adjusted_accuracy_ == pytest.approx(10 / 14)


def test_the_same_seed_gives_the_same_bits_at_any_number_of_threads():
    X, y = load_wine(return_X_y=True)
    for search, algorithm in itertools.product(["hill", "eda"], [None, MIMICc(max_generations=4)]):
        settings = {"search": search, "algorithm": algorithm, "random_state": 3, "bins": 3}
        one, again, two = (
            AdjustedNB(discretize="quantile", n_jobs=n_jobs, **settings).fit(X[:, :3], y)
            for n_jobs in (None, 1, 2)
        )
        for other in (again, two):
            assert np.array_equal(one.class_weights_, other.class_weights_)
            assert np.array_equal(one.predict_proba(X[:, :3]), other.predict_proba(X[:, :3]))


def test_rows_without_a_chance_have_the_adjusted_prior():
    X, y = [["a", "u"], ["b", "v"], ["b", "v"], ["a", "u"], ["c", "w"]], [0, 1, 1, 0, 0]
    model = AdjustedNB(smoothing=ML()).fit(X, y)
    model.class_log_weights_[0] = np.log(3.0)
    model = model.fit_counts(model.counts_)
    assert model.predict_proba([["a", "v"]])[0] == pytest.approx([9 / 11, 2 / 11])
    prior = model.predict_log_conditionals([["a", "v"]])[2]
    assert np.exp(prior) == pytest.approx([9 / 11, 2 / 11])


def test_weights_beyond_floats():
    rows = [[0] * 400] * 30 + [[1] * 400] * 30 + [[1] * 200 + [0] * 200] * 9
    classes = [0] * 30 + [1] * 30 + [0] * 4 + [1] * 5
    problem = Problem(rows, classes, 2, [2] * 400)
    model = learned(AdjustedNB(criterion="loo"), problem)
    assert np.isfinite(model.predict_log_proba(problem.X)).all()
    model.class_log_weights_[0] = 1e3
    assert np.isinf(model.class_weights_[0])


def test_counts_alone_have_no_rows_to_judge_by():
    problem = HOSTILE["40 classes"]
    counts = problem.coded().select(np.empty((0, 2), dtype=np.int64))
    with pytest.raises(UnnaiveError, match="fit it on rows"):
        AdjustedNB().fit_counts(counts)
    model = AdjustedNB().fit(LOPSIDED_X, LOPSIDED_Y)
    with pytest.raises(SchemaMismatch):
        model.fit_counts(counts)
    assert model.predict(LOPSIDED_X[:1]).tolist() == [0]


def test_later_rows_keep_the_weights():
    model = AdjustedNB().partial_fit(LOPSIDED_X, LOPSIDED_Y)
    weights, chances = model.class_weights_, model.predict_proba(LOPSIDED_X)
    model.partial_fit(LOPSIDED_X[:4], [1] * 4)
    assert np.array_equal(model.class_weights_, weights)
    assert not np.array_equal(model.predict_proba(LOPSIDED_X), chances)
    model.forget(LOPSIDED_X[:4], [1] * 4)
    assert np.array_equal(model.predict_proba(LOPSIDED_X), chances)


def test_network_and_derivatives_know_the_weights():
    model = AdjustedNB().fit(LOPSIDED_X, LOPSIDED_Y)
    network = model.to_network()
    evidence = dict(zip(model.schema_.names, LOPSIDED_X[-1], strict=True))
    assert network.query("y", evidence) == pytest.approx(model.predict_proba(LOPSIDED_X)[-1])
    found = dependence_derivatives(model, LOPSIDED_X, mode="parents")
    joint = model.predict_joint_log_proba(LOPSIDED_X)
    odds = found.naive_joint[:, 1] - found.naive_joint[:, 0] + found.log_gdf()
    assert_close(odds, joint[:, 1] - joint[:, 0])
    plain = NaiveBayes().fit(LOPSIDED_X, LOPSIDED_Y)
    assert model.structure_.to_dot() == plain.structure_.to_dot()


def test_there_and_back(tmp_path):
    model = AdjustedNB(search="eda", random_state=0).fit(weather.LABELLED, weather.LABELS)
    model.save(tmp_path / "model.unb")
    back = unnaive.load(tmp_path / "model.unb")
    assert back.get_params() == model.get_params()
    assert np.array_equal(back.class_weights_, model.class_weights_)
    assert back.adjusted_accuracy_ == model.adjusted_accuracy_
    assert back.naive_accuracy_ == model.naive_accuracy_
    chances = model.predict_proba(weather.LABELLED)
    assert np.array_equal(back.predict_proba(weather.LABELLED), chances)
    for name, wrong in [("class_log_weights", np.zeros(3)), ("accuracies", np.zeros(1))]:
        parameters = {**model.fitted_.learned.parameters, name: wrong}
        learned = replace(model.fitted_.learned, parameters=parameters)
        model._fitted = replace(model.fitted_, learned=learned)
        model.save(tmp_path / "wrong.unb")
        with pytest.raises(ModelFileError):
            unnaive.load(tmp_path / "wrong.unb")


def test_another_search_forgets_the_result_of_the_first():
    model = AdjustedNB(search="eda", algorithm=BRIEF).fit(LOPSIDED_X, LOPSIDED_Y)
    assert model.search_result_.evaluations >= 20
    assert not hasattr(
        model.set_params(search="hill").fit(LOPSIDED_X, LOPSIDED_Y), "search_result_"
    )
    assert clone(AdjustedNB(algorithm=BRIEF)).algorithm == BRIEF


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": "luck"}, "search='luck'; it must be 'hill' or 'eda'"),
        ({"criterion": "auc"}, "criterion='auc'; it must be 'training', 'loo' or None"),
        ({"max_weight": 0.5}, "max_weight=0.5; it must be a number from 1 to"),
        ({"polish": "yes"}, "polish='yes'; it must be True or False"),
        ({"algorithm": UMDA()}, "it must be a UMDAc, MIMICc"),
        ({"algorithm": "umda"}, "algorithm='umda'; it must be a UMDAc"),
        ({"search": "eda", "random_state": "dice"}, "random_state='dice'"),
    ],
)
def test_wrong_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        AdjustedNB(**settings).fit(LOPSIDED_X, LOPSIDED_Y)
