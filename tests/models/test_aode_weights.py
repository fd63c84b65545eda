"""Weights of AODE's super-parents: the loss against a slow twin, and what weights are good for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_members as slow
import unnaive
from fits import coded_rows, without_row
from naive_weighted import slopes
from problems import HOSTILE, Problem, made, problems
from tests.explain.test_explanation import add_up
from tests.models.test_nb_tan_aode import assert_close
from unnaive import AODE
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.explain.structure import plot_structure
from unnaive.export import model_document
from unnaive.models import aode as aode_models
from unnaive.models.aode import weighing
from unnaive.models.persistence import model_of, state_of
from unnaive.report.graph import describe_structure
from unnaive.tables.member_weights import member_weighing, softmax
from unnaive.tables.smoothing import Laplace
from unnaive.tables.super_parents import all_super_parents, table_bytes

SMALL = problems(max_rows=14, max_columns=4, sizes=(1, 2, 3))
POLICIES = {
    "laplace": ("laplace", 1.0),
    "m-estimate": ("m-estimate", 1.0),
    "backoff": ("backoff", 5.0),
    "ml": ("ml",),
    "hierarchical:5": ("hierarchical", 5.0),
}
OPTIONS = [{}, {"min_count": 3}, {"critical": 2}]


def weighted(**parameters):
    if "critical" in parameters:
        parameters["subsumption"] = True
    return AODE(weights="discriminative", **parameters)


def fitted(model, problem):
    """Fit a model to coded rows, with declared values and classes."""
    return model._fit_rows(problem.coded())


def weighing_of(model, rows):
    """What the weights of a fitted model are found by."""
    made_by = model.fitted_.made_by
    return weighing(rows, made_by.maker, made_by.how)


def mixed(n=600, seed=0, wide=200):
    """Rows in which x1 says of x0 what the class is, x2 tells a little, and x3 is chance."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = np.column_stack([random.integers(0, v, n) for v in (3, 3, 3, wide)])
    X[:, 1] = np.where(random.random(n) < 0.7, (X[:, 0] + y) % 3, X[:, 1])
    X[:, 2] = np.where(random.random(n) < 0.3, y, X[:, 2])
    return X, y


CATEGORIES = [range(3), range(3), range(3), range(5)]


def narrow(n=300, seed=0):
    return mixed(n, seed, wide=5)


# Against the twin


@given(SMALL, st.sampled_from(sorted(POLICIES)), st.sampled_from(OPTIONS), st.integers(0, 99))
@settings(max_examples=60)
def test_loss_and_slope_equal_the_twin(problem, policy, options, seed):
    model = fitted(weighted(smoothing=policy, **options), problem)
    said = slow.left_out_members(problem.data, POLICIES[policy], **options)
    weighs = weighing_of(model, problem.coded())
    theta = np.random.default_rng(seed).normal(size=len(problem.values)) * 2

    def expected(point):
        return slow.loss(said, problem.classes, list(point))

    loss, slope = weighs.loss(theta)
    assert loss == pytest.approx(expected(theta), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(slope, slopes(expected, theta), rtol=1e-5, atol=1e-5)


@given(SMALL, st.sampled_from(sorted(POLICIES)), st.sampled_from(OPTIONS))
@settings(max_examples=60)
def test_the_joint_equals_the_twin(problem, policy, options):
    model = fitted(weighted(smoothing=policy, **options), problem)
    plain = fitted(model.__class__(**{**model.get_params(), "weights": None}), problem)
    shares = model.feature_importances_.tolist()
    test = made(6, problem.values, 1, gaps=0.3, seed=len(problem.rows))
    expected = plain.predict_joint_log_proba(test.X)
    for place, row in enumerate(test.rows):
        joint = slow.weighted_aode(problem.data, POLICIES[policy], row, shares, **options)
        expected[place] = expected[place] if joint is None else joint
    assert_close(model.predict_joint_log_proba(test.X), expected, atol=1e-10)


@pytest.mark.long
@given(problems(max_rows=25), st.sampled_from(sorted(POLICIES)), st.integers(0, 99))
@settings(max_examples=60)
def test_no_other_weights_have_less_loss(problem, policy, seed):
    model = fitted(weighted(smoothing=policy), problem)
    weighs = weighing_of(model, problem.coded())
    shares = model.feature_importances_
    assert (shares > 0).all()
    assert shares.sum() == pytest.approx(1)
    least = weighs.loss(np.log(shares))[0]
    random = np.random.default_rng(seed)
    for _ in range(3):
        start = random.normal(size=len(shares)) * 3
        other = minimize(weighs.loss, start, jac=True, method="L-BFGS-B").fun
        assert least <= other + 1e-6 * max(1.0, abs(other))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_no_other_weights_have_less_loss_of_the_twin(gaps):
    X, y = narrow(60)
    holes = np.random.default_rng(1).random(X.shape) < gaps
    rows = [
        [None if hole else int(cell) for cell, hole in zip(*line, strict=True)]
        for line in zip(X, holes, strict=True)
    ]
    problem = Problem(rows, y.tolist(), 2, [3, 3, 3, 5])
    said = slow.left_out_members(problem.data, POLICIES["laplace"])
    shares = fitted(weighted(), problem).feature_importances_

    def loss(theta):
        return slow.loss(said, problem.classes, list(theta))

    least = loss(np.log(shares))
    assert least < loss([0.0] * 4) - 0.5
    for seed in range(3):
        start = np.random.default_rng(seed).normal(size=4) * 3
        assert least <= minimize(loss, start, method="BFGS").fun + 1e-5


def test_importance_weighs_rows_of_the_loss():
    problem = made(20, [3, 2, 2], 2, gaps=0.1, seed=1)
    said = slow.left_out_members(problem.data, POLICIES["laplace"])
    rows, importance = problem.coded(), np.resize([0.5, 2.0, 1.0], 20)
    tables = all_super_parents(rows.count(), Laplace(1.0), held_out=1.0)
    weighs = member_weighing(tables, rows.codes, rows.classes, importance)
    theta = [0.3, -1.0, 0.2]
    expected = slow.loss(said, problem.classes, theta, importance.tolist())
    assert weighs.loss(np.array(theta))[0] == pytest.approx(expected, rel=1e-10)


# What weights are good for


def test_a_member_that_misleads_gets_little_weight():
    X, y = mixed()
    new, labels = mixed(seed=1)
    plain, model = AODE(discretize=None).fit(X, y), weighted(discretize=None).fit(X, y)
    assert model.feature_importances_[2:].max() < 0.05
    before, after = (log_loss(labels, m.predict_proba(new)) for m in (plain, model))
    assert after < before - 0.04


def test_without_weights_nothing_changes():
    X, y = mixed()
    plain = AODE(discretize=None).fit(X, y)
    assert not plain.fitted_.made_by.maker.weighted
    model = weighted(discretize=None).fit(X, y).set_params(weights=None).fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_copies_weigh_the_same():
    X, y = narrow()
    model = weighted(discretize=None).fit(np.column_stack([X, X[:, 1]]), y)
    shares = model.feature_importances_
    assert shares[1] == pytest.approx(shares[4], rel=1e-6)
    assert abs(shares[1] - shares[3]) > 0.01


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"70,000 categories"}))
def test_hostile_rows(name):
    problem = HOSTILE[name]
    model = fitted(weighted(), problem)
    shares = model.feature_importances_
    assert shares.shape == (len(problem.values),)
    assert shares.sum() == pytest.approx(1)
    assert np.isfinite(model.predict_proba(problem.X)).all()
    if name in {"one row", "one class", "all missing", "one value"}:  # all say the same
        np.testing.assert_allclose(shares, 1 / len(shares), atol=1e-6)


def test_weights_of_rows_are_like_repeated_rows():
    X, y = narrow()
    times = np.random.default_rng(0).integers(0, 4, len(y))
    once = weighted(categories=CATEGORIES).fit(X, y, sample_weight=times)
    again = weighted(categories=CATEGORIES).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(once.feature_importances_, again.feature_importances_, atol=1e-4)
    np.testing.assert_allclose(once.predict_proba(X), again.predict_proba(X), atol=1e-4)


@pytest.mark.long
def test_rows_of_little_weight_are_borne():
    X, y = narrow()
    model = weighted(categories=CATEGORIES).fit(X, y, sample_weight=np.linspace(0.01, 0.9, len(y)))
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert np.isfinite(model.loo_predict_proba(X, y, np.linspace(0.01, 0.9, len(y)))).all()


def test_threads_give_the_same_bits():
    X, y = narrow(20_000)
    one, two = (weighted(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert np.array_equal(one.feature_importances_, two.feature_importances_)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_blocks_of_rows_add_up():
    X, y = narrow(20_000)
    model = weighted().fit(X, y)
    weighs = weighing_of(model, coded_rows(model, X, y))
    theta = np.array([0.5, -1.0, 0.2, 0.3])
    loss, slope = weighs.loss(theta)
    every, own = weighs.every * softmax(theta), weighs.own * softmax(theta)
    expected = np.log(every.sum(axis=1) / own.sum(axis=1)).sum() - weighs.shift
    assert loss == pytest.approx(expected + theta.var() * 2)
    shares = every / every.sum(axis=1, keepdims=True) - own / own.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(slope, shares.sum(axis=0) + theta - theta.mean(), atol=1e-8)


def test_of_many_rows_a_share_of_every_class_is_enough(monkeypatch):
    X, y = narrow(6000)
    whole = weighted().fit(X, y)
    monkeypatch.setattr(aode_models, "_MOST_ENTRIES", X.size // 3)
    some = weighted().fit(X, y)
    assert len(weighing_of(some, coded_rows(some, X, y)).own) == 2000
    assert not np.array_equal(some.feature_importances_, whole.feature_importances_)
    assert np.abs(some.predict_proba(X) - whole.predict_proba(X)).max() < 0.1


# Kept, saved, left out, shown


def test_rows_come_and_go_and_weights_stay():
    X, y = narrow()
    model = weighted(categories=CATEGORIES).fit(X[:200], y[:200])
    graph, before = model.structure_, model.predict_proba(X)
    model.partial_fit(X[200:], y[200:])
    assert model.structure_ is graph
    assert model.counts_ == AODE(categories=CATEGORIES).fit(X, y).counts_
    assert not np.array_equal(model.predict_proba(X), before)
    model.forget(X[200:], y[200:])
    assert np.array_equal(model.predict_proba(X), before)
    first = weighted(categories=CATEGORIES).partial_fit(X[:200], y[:200], classes=[0, 1])
    assert np.array_equal(first.predict_proba(X), before)
    assert np.array_equal(model.fit_counts(first.counts_).predict_proba(X), before)


def test_counts_alone_have_no_rows_to_leave_out():
    X, y = narrow()
    plain = AODE(categories=CATEGORIES).fit(X, y)
    with pytest.raises(UnnaiveError, match="fit it on rows"):
        weighted().fit_counts(plain.counts_)
    before = plain.predict_proba(X)
    with pytest.raises(UnnaiveError, match="fit it on rows"):
        plain.set_params(weights="discriminative").partial_fit(X[:9], y[:9])
    assert np.array_equal(plain.predict_proba(X), before)
    model = plain.fit(X, y).set_params(weights=None).partial_fit(X[:9], y[:9])
    assert not model.fitted_.made_by.maker.weighted


def test_partitions_give_the_rows_to_leave_out():
    frames = pytest.importorskip("dask.dataframe")
    X, y = narrow()
    table = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    features = table.drop(columns="y")
    in_memory = weighted().fit(features, y)
    in_parts = weighted().fit(frames.from_pandas(table, npartitions=2), "y")
    assert in_parts.sample_ is None
    assert np.array_equal(in_parts.predict_proba(features), in_memory.predict_proba(features))


@pytest.mark.parametrize("options", [{}, {"subsumption": True, "critical": 2}])
def test_saved_and_loaded(tmp_path, options):
    X, y = narrow()
    model = weighted(calibrate="loo", categories=CATEGORIES, **options).fit(X, y)
    model.save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    assert loaded.weights == "discriminative"
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    loaded.partial_fit(X[:20], y[:20])
    assert np.array_equal(loaded.feature_importances_, model.feature_importances_)
    model.set_params(weights=None).save(tmp_path / "model.unb")  # what was fitted answers
    again = unnaive.load(tmp_path / "model.unb")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_files_from_before_there_were_weights():
    X, y = narrow()
    plain = AODE().fit(X, y)
    state = state_of(plain)
    state["structure"] = None
    del state["parameters"]["weights"]
    old = model_of(state, lambda name: getattr(unnaive, name))
    assert np.array_equal(old.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    "wrong", [np.ones(3), np.zeros(4), np.array([1.0, -1, 1, 1]), [np.nan] * 4]
)
def test_damaged_weights(wrong):
    state = state_of(weighted().fit(*narrow()))
    state["structure"]["weights"] = np.array(wrong)
    with pytest.raises(UnnaiveError, match=r"weights (do not fit the columns|is not finite)"):
        model_of(state, lambda name: getattr(unnaive, name))


@pytest.mark.parametrize("smoothing", ["laplace", "hierarchical:5"])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_leave_one_out_equals_refits_with_the_same_weights(smoothing, gaps):
    problem = made(30, [3, 2, 4, 3], 3, gaps=gaps, seed=3)
    X, y = problem.X, np.array(problem.classes)
    chosen = [range(v) for v in problem.values]
    model = weighted(discretize=None, smoothing=smoothing, categories=chosen).fit(X, y)
    assert model.feature_importances_.std() > 0.01
    expected = [
        without_row(model, X, y, row).predict_proba(X[row : row + 1])[0] for row in range(len(y))
    ]
    assert_close(model.loo_predict_proba(X, y), expected, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"subsumption": True, "critical": 20}])
def test_explanations_add_up(options):
    X, y = narrow()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    for calibrate in (None, "loo"):
        model = weighted(calibrate=calibrate, **options).fit(X, y)
        found = add_up(model, np.vstack([X[:20], holes[:20]]))
        assert len(found.terms) == 16
        by_parent = dict.fromkeys(found.names, 0.0)
        for term, parts in zip(found.terms, np.moveaxis(found.contributions, 2, 0), strict=True):
            parent = (term.through or term.columns)[0]
            by_parent[found.names[parent]] += np.abs(parts).sum()
        assert max(by_parent, key=by_parent.get) == "x1"


def test_shown_in_plots_reports_and_the_explorer():
    X, y = narrow()
    model = weighted().fit(X, y)
    graph = model.structure_
    assert len(graph.edges) == 12
    heaviest = max(graph.edges, key=lambda edge: edge[2])
    assert heaviest[2] == model.feature_importances_.max()
    texts = {text.get_text() for text in plot_structure(model).texts}
    assert texts == {"x0", "x1", "x2", "x3", "y"}
    described = describe_structure(model, [0.1] * 4)
    (picture,) = described["pictures"]
    assert picture["unit"] == "weight"
    assert {edge["parent"] for edge in picture["edges"]} <= {0, 1}
    document = model_document(model)
    assert document["tables"]


@pytest.mark.long  # AODE itself is checked in every run
@parametrize_with_checks([weighted()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_clone_and_parameters():
    model = weighted(min_count=2)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["weights"] == "discriminative"
    assert AODE().get_params()["weights"] is None


# Errors


@pytest.mark.parametrize("value", ["typo", 1, True, [0.5, 0.5], np.ones(2)])
def test_bad_weights(value):
    with pytest.raises(ValueError, match=r"weights=.*it must be 'discriminative' or None"):
        AODE(weights=value).fit([[0, 1], [1, 0]], [0, 1])


def test_bad_settings_are_told_before_weights_are_fitted():
    with pytest.raises(ValueError, match="min_count=-1"):
        weighted(min_count=-1).fit([[0, 1], [1, 0]], [0, 1])


def test_memory_is_asked_for_before_it_is_taken():
    X, y = mixed()
    sizes = AODE(discretize=None).fit(X, y).schema_.sizes
    enough = 2 * table_bytes(sizes, 2)
    weighted(discretize=None, max_memory=enough).fit(X, y)
    AODE(discretize=None, max_memory=enough - 1).fit(X, y)
    with pytest.raises(TableTooLarge, match=r"leave-one-out with AODE .* max_memory"):
        weighted(discretize=None, max_memory=enough - 1).fit(X, y)
