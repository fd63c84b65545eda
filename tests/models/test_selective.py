"""Selective models: the sweep against its twin and against fitted models; what is chosen."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import naive_selective as slow
import unnaive
from problems import made, problems
from unnaive import KDB, ML, TAN, Backoff, BDeu, Hierarchical, Laplace, NaiveBayes
from unnaive._core.selective import measure as core_measure
from unnaive._core.selective import number_rows
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.metrics import measure
from unnaive.tables import selective

POLICIES = {
    Laplace(1.0): ("laplace", 1.0),
    BDeu(1.0): ("bdeu", 1.0),
    Backoff(5.0): ("backoff", 5.0),
    ML(): ("ml",),
    Hierarchical(): ("hierarchical",),
}
SCORES = ("accuracy", "log_loss", "brier")
SMOOTHINGS = [None, "backoff", "bdeu", "hierarchical", "hierarchical:3"]


def settled(problem, **parameters):
    return {"discretize": None, "categories": [range(v) for v in problem.values], **parameters}


def swept(problem, **parameters):
    """Fit selective KDB to a problem, with declared values and classes."""
    model = KDB(**{"k": "loo", "n_features": "loo", **parameters})
    return model._fit_rows(problem.coded())


def dependent(n=400, gaps=0.0, seed=0):
    """Rows of five columns: x0 and x1 tell the class together, x2 tells little, others nothing."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (n, 5)).astype(float)
    y = ((X[:, 0] + X[:, 1]) % 3 + (random.random(n) < 0.1)).astype(int) % 3
    X[:, 2] = np.where(random.random(n) < 0.3, y, X[:, 2])
    X[random.random(X.shape) < gaps] = np.nan
    return X, y


def assert_path(path, expected, columns):
    tried = list(zip(path["k"].tolist(), path["n_features"].tolist(), strict=True))
    k_values = range(max(path["k"]) + 1)
    assert tried == [(k, s) for k in k_values for s in range(columns + 1)]
    found = np.stack([path[name] for name in SCORES], axis=1)
    wanted = np.array([expected[model] for model in tried])
    assert np.array_equal(np.isfinite(found), np.isfinite(wanted))
    finite = np.isfinite(wanted)
    np.testing.assert_allclose(found[finite], wanted[finite], rtol=0, atol=1e-10)


@given(
    problems(max_rows=9, max_columns=4, sizes=(1, 2, 3), weighted=True),
    st.sampled_from(list(POLICIES)[:-1]),
    st.integers(0, 3),
)
@settings(max_examples=50)
def test_the_sweep_equals_the_twin(problem, policy, max_k):
    model = swept(problem, max_k=max_k, smoothing=policy)
    expected = slow.path(*problem.data, POLICIES[policy], max_k, problem.weights)
    assert model.path_["k"].max() == min(max_k, len(problem.values) - 1)
    assert_path(model.path_, expected, len(problem.values))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 2.0]])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_sweep_equals_the_twin_of_hierarchical_smoothing(gaps, weights, seed):
    problem = made(13, [2, 3, 2, 2], 2, gaps=gaps, seed=seed)
    if weights is not None:
        problem = replace(problem, weights=np.resize(weights, 13).tolist())
    model = swept(problem, max_k=2, smoothing="hierarchical")
    expected = slow.path(*problem.data, ("hierarchical",), 2, problem.weights)
    assert_path(model.path_, expected, 4)


@pytest.mark.long
def test_products_of_many_columns_lose_nothing():
    y = np.array([0] * 40 + [1] * 40 + [2])
    X = np.repeat(y[:, None], 300, axis=1)
    X[0] = 1  # one row of class 0 says in every column that it is of class 1
    path = KDB(k="loo", max_k=0, n_features="loo", discretize=None).fit(X, y).path_
    for number in range(301):
        losses = []
        for row, label in enumerate(y):
            rest = np.arange(81) != row
            sizes = np.bincount(y[rest], minlength=3)
            hits = np.bincount(y[rest], X[rest, 0] == X[row, 0], minlength=3)
            joint = np.log((sizes + 1) / 83) + number * np.log((hits + 1) / (sizes + 3))
            losses.append(np.logaddexp.reduce(joint) - joint[label])
        assert path["log_loss"][number] == pytest.approx(np.mean(losses), rel=1e-12)
    assert losses[0] > 1000  # the chance of its class is no number of 64 bits


@pytest.mark.parametrize("sizes", [(1, 2), (5, 300), (4000, 60_000)])
def test_pairs_are_numbered_as_they_come(sizes):
    random = np.random.default_rng(0)
    before = random.integers(-1, sizes[0], 500).astype(np.int32)
    codes = random.integers(0, sizes[1] + 1, 500).astype(np.uint16)
    taking_part = -random.integers(0, 2, 500).astype(np.int32)
    slots, keys = np.empty(1024, dtype=np.int32), np.empty(500, dtype=np.int64)
    out = np.empty(500, dtype=np.int32)
    found = number_rows(taking_part, before, codes, sizes[1], 1, slots, keys, out)
    seen = {}
    for row, number in enumerate(out):
        pair = before[row], codes[row]
        there = taking_part[row] == 0 and before[row] >= 0 and codes[row] < sizes[1]
        assert number == (seen.setdefault(pair, len(seen)) if there else -1)
    assert found == len(seen)


def test_loops_refuse_what_lies_beyond_their_arrays():
    few, rows, codes = np.zeros(4, np.int32), np.zeros(5, np.int32), np.zeros(5, np.uint8)
    keys = np.empty(5, dtype=np.int64)
    with pytest.raises(IndexError, match="power of two"):
        number_rows(rows, rows, codes, 2, 1, few, keys, rows.copy())
    with pytest.raises(IndexError, match="differ in length"):
        number_rows(rows, few, codes, 2, 1, np.zeros(16, np.int32), keys, rows.copy())
    joint, ones = np.zeros((5, 2)), np.ones(5)
    with pytest.raises(IndexError, match="class"):
        core_measure(joint, joint, np.full(5, 2), ones, np.zeros(3))


@pytest.mark.long
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_path_equals_models_fitted_there(smoothing, gaps):
    X, y = dependent(120)
    weights = np.resize([1.0, 0.5, 2.0], 120)
    X[:, :4] = np.where(np.random.default_rng(5).random((120, 4)) < 0.3, y[:, None], X[:, :4])
    X[:, 4] = np.resize([0, 0, 0, 1, 1, 1], 120)  # tells next to nothing
    if gaps:  # where nobody's parent is: nothing is summed out
        X[::5, 4] = np.nan
    settings_ = {"discretize": None, "smoothing": smoothing}
    whole = KDB(k="loo", n_features="loo", max_k=3, **settings_).fit(X, y, weights)
    assert KDB(**settings_).fit(X, y, weights).feature_order_[-1] == 4
    path = whole.path_
    assert len(path["k"]) == 4 * 6
    for place, (k, s) in enumerate(zip(path["k"], path["n_features"], strict=True)):
        model = KDB(k=int(k), n_features=int(s), **settings_).fit(X, y, weights)
        assert len(model.feature_order_) == s
        left_out = measure(model.loo_predict_proba(X, y, weights), y, range(3), weights)
        for name in SCORES:
            assert path[name][place] == pytest.approx(getattr(left_out, name), abs=1e-10)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("kind", [NaiveBayes, TAN])
def test_the_sweep_of_trees_equals_models_of_each_length(kind, smoothing, gaps):
    problem = made(50, [3, 2, 4, 2, 3, 1], 3, gaps=gaps, seed=2)
    X, y = problem.X, np.array(problem.classes)
    weights = np.resize([1.0, 0.5, 2.0], 50)
    settings_ = settled(problem, smoothing=smoothing)
    chosen = kind(n_features="loo", **settings_).fit(X, y, weights)
    path = chosen.path_
    assert path["n_features"].tolist() == list(range(7))
    for number in range(7):
        model = kind(n_features=number, **settings_).fit(X, y, weights)
        left_out = measure(model.loo_predict_proba(X, y, weights), y, range(3), weights)
        for name in SCORES:
            assert path[name][number] == pytest.approx(getattr(left_out, name), abs=1e-10)
    assert len(chosen.feature_order_) == int(np.argmin(path["log_loss"]))


def test_trees_enter_by_information_parents_first():
    X, y = dependent()
    model = TAN(parents=[4, 0, None, 2, None], discretize=None)
    order = model.fit(X, y).feature_order_.tolist()
    relevance = NaiveBayes(discretize=None).fit(X, y).feature_order_.tolist()
    assert relevance[0] == 2
    assert order[0] == 2
    assert order.index(4) < order.index(0) < order.index(1)
    for number in range(6):
        few = model.set_params(n_features=number).fit(X, y)
        assert sorted(few.structure_.used) == sorted(order[:number])


def test_the_best_is_chosen_and_never_worse_than_naive_bayes_and_the_prior():
    X, y = dependent()
    for criterion in SCORES:
        model = KDB(k="loo", n_features="loo", criterion=criterion, discretize=None).fit(X, y)
        path, sign = model.path_, -1 if criterion == "accuracy" else 1
        best = (sign * path[criterion]).min()
        naive = (path["k"] == 0) & (path["n_features"] == 5)
        prior = path["n_features"] == 0
        assert best <= (sign * path[criterion])[naive | prior].min()
        place = int(np.flatnonzero(sign * path[criterion] <= best + 1e-10)[0])
        assert (model.k_, len(model.feature_order_)) == (
            path["k"][place],
            path["n_features"][place],
        )
        left_out = measure(model.loo_predict_proba(X, y), y, range(3))
        assert getattr(left_out, criterion) == pytest.approx(sign * best, abs=1e-10)
    assert model.k_ == 1
    assert {0, 1} <= set(model.feature_order_.tolist())


def test_ties_go_to_fewer_parents_then_to_fewer_columns():
    X = np.tile([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], (5, 1))
    model = KDB(k="loo", n_features="loo", smoothing="ml", discretize=None)
    model.fit(X, np.tile([0, 1, 1, 0], 5))  # two columns and one parent answer all
    ties = model.path_["log_loss"] == 0
    assert set(zip(model.path_["k"][ties], model.path_["n_features"][ties], strict=True)) == {
        (1, 2),
        (1, 3),
        (2, 2),
        (2, 3),
    }
    assert model.structure_.families == ((0,), (1, 0))


@pytest.mark.parametrize("smoothing", [None, "hierarchical"])
def test_it_is_the_ordinary_model_of_the_chosen_columns(smoothing, tmp_path):
    X, y = dependent(gaps=0.1)
    model = KDB(k="loo", n_features="loo", smoothing=smoothing, discretize=None).fit(X, y)
    number = len(model.feature_order_)
    assert 0 < number < (5 if smoothing is None else 6)  # what tells nothing does no harm there
    plain = KDB(k=model.k_, n_features=number, smoothing=smoothing, discretize=None).fit(X, y)
    expected = plain.predict_proba(X)
    assert model.structure_.families == plain.structure_.families
    assert np.array_equal(model.predict_proba(X), expected)
    left_out = np.setdiff1d(np.arange(5), model.feature_order_)
    assert (model.feature_importances_[left_out] == 0).all()
    assert (plain._gains()[left_out] == 0).all()
    gapped = X.copy()
    gapped[:, left_out] = np.nan
    np.testing.assert_allclose(model.predict_proba(gapped), expected, atol=1e-14)
    model.save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    assert np.array_equal(loaded.predict_proba(X), expected)
    assert (loaded.k_, loaded.feature_order_.tolist()) == (model.k_, model.feature_order_.tolist())


def test_the_chosen_columns_are_a_network():
    X, y = dependent(gaps=0.1)
    model = KDB(k="loo", n_features="loo", discretize=None).fit(X, y)
    network = model.to_network()
    row = {f"x{i}": str(X[0, i]) for i in model.feature_order_ if not np.isnan(X[0, i])}
    answer = network.query(network.dag.names[-1], row)
    assert list(answer) == pytest.approx(model.predict_proba(X[:1])[0], abs=1e-12)


MODELS = [
    KDB(k="loo", n_features="loo"),
    KDB(n_features="loo"),
    NaiveBayes(n_features="loo"),
    TAN(n_features="loo"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_batches_keep_what_the_first_found_and_counts_alone_are_refused(model):
    X, y = dependent(600)
    model = clone(model).set_params(discretize=None).partial_fit(X[:400], y[:400])
    before, families = model.predict_proba(X), model.structure_.state()
    model.partial_fit(X[400:], y[400:])
    assert str(model.structure_.state()) == str(families)
    assert model.counts_.class_counts.sum() == 600
    model.forget(X[400:], y[400:])
    assert np.array_equal(model.predict_proba(X), before)
    counts = NaiveBayes(discretize=None).fit(X, y).counts_
    with pytest.raises(UnnaiveError, match="learns from rows"):
        clone(model).fit_counts(counts)


def test_counts_of_a_selective_model_are_enough_for_another():
    X, y = dependent()
    model = KDB(k="loo", n_features="loo", discretize=None).fit(X, y)
    other = KDB(k="loo", n_features="loo", discretize=None).fit_counts(model.counts_)
    assert np.array_equal(other.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_columns_that_tell_nothing_are_all_left_out(model, tmp_path):
    rows = list(itertools.product(range(2), range(2), range(3), [0, 0, 1]))
    X, y = np.array(rows)[:, :3], np.array(rows)[:, 3]
    model = clone(model).set_params(discretize=None).fit(X, y)
    assert model.feature_order_.tolist() == []
    prior = NaiveBayes(discretize=None).fit(X, y).predict_proba([[None] * 3])
    np.testing.assert_allclose(model.predict_proba(X), np.repeat(prior, 36, axis=0), atol=1e-14)
    assert model.explain(X[:2]).text()
    model.save(tmp_path / "model.unb")
    assert np.array_equal(unnaive.load(tmp_path / "model.unb").predict_proba(X)[:1], prior)
    model.partial_fit(X, y)
    assert model.counts_.class_counts.sum() == 72
    assert model.feature_order_.tolist() == []


def test_only_the_parents_or_only_the_columns():
    X, y = dependent()
    path = KDB(k="loo", max_k=3, discretize=None).fit(X, y).path_
    assert path["k"].tolist() == [0, 1, 2, 3]
    assert path["n_features"].tolist() == [5] * 4
    few = KDB(k="loo", n_features=2, discretize=None).fit(X, y)
    assert len(few.feature_order_) == 2
    assert few.path_["n_features"].tolist() == [2] * 5
    path = KDB(k=1, n_features="loo", discretize=None).fit(X, y).path_
    assert path["k"].tolist() == [1] * 6
    assert path["n_features"].tolist() == list(range(6))
    assert len(KDB(n_features=0.3, discretize=None).fit(X, y).feature_order_) == 2


@pytest.mark.parametrize("smoothing", [None, "backoff", "hierarchical"])
def test_blocks_and_threads_change_nothing(smoothing, monkeypatch):
    X, y = dependent(gaps=0.1)
    weights = np.resize([1.0, 0.25], len(y))
    settings_ = {"k": "loo", "n_features": "loo", "smoothing": smoothing, "discretize": None}
    whole = KDB(**settings_).fit(X, y, weights).path_
    monkeypatch.setattr(selective, "ROWS_A_BLOCK", 64)
    monkeypatch.setattr(selective, "LEAST_ROWS", 100)
    one = KDB(**settings_).fit(X, y, weights).path_
    two = KDB(n_jobs=2, **settings_).fit(X, y, weights).path_
    small = KDB(max_memory=60_000, max_k=2, **settings_).fit(X, y, weights).path_
    for name in SCORES:
        np.testing.assert_allclose(one[name], whole[name], rtol=1e-12)
        assert np.array_equal(one[name], two[name])
        assert np.array_equal(one[name][: len(small[name])], small[name])


def test_fewer_parents_where_memory_is_short():
    X, y = dependent(2000)
    ample = KDB(k="loo", discretize=None).fit(X, y).path_
    scarce = KDB(k="loo", discretize=None, max_memory=100_000).fit(X, y).path_
    assert ample["k"].tolist() == [0, 1, 2, 3, 4]
    assert 0 < scarce["k"].max() < 4
    with pytest.raises(TableTooLarge, match="the sweep over the models of KDB would take"):
        KDB(k=4, n_features="loo", discretize=None, max_memory=100_000).fit(X, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KDB(k="typo"), "k='typo'; it must be 'loo' or a whole number of at least 0"),
        (KDB(k="typo", n_features="loo"), "k='typo'; it must be 'loo' or a whole number"),
        (KDB(k="loo", max_k=-1), "max_k=-1; it must be a whole number of at least 0"),
        (KDB(k="loo", criterion="auc"), "criterion='auc'; it must be 'log_loss', 'accuracy' or"),
        (KDB(k="loo", n_features=6), "n_features=6; it must be 'loo', None, a share .* 0 to 5"),
        (KDB(n_features=True), "n_features=True; it must be 'loo', a share"),
        (NaiveBayes(n_features="all"), "n_features='all'; it must be 'loo', a share"),
        (TAN(n_features=-1), "n_features=-1; it must be 'loo', a share"),
        (TAN(n_features="loo", criterion="bic"), "criterion='bic'; it must be 'log_loss'"),
        (TAN(n_features=2, per_class=True), "every class has its own tree.* leave n_features out"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said(model, message):
    X, y = dependent(50)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
