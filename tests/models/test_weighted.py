"""Weighted Bayes and calibration: losses against slow twins, and what weights are good for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.metrics import log_loss

import naive_weighted as slow
import unnaive
from fits import coded_rows
from problems import COUNTING, made, problems
from tests.explain.test_explanation import add_up
from tests.models.test_nb_tan_aode import assert_close, fitted
from unnaive import IterativeBayes, NaiveBayes, WeightedBayes
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import to_frame
from unnaive.models import weighted as weighted_models
from unnaive.tables.calibration import Calibration, calibrated
from unnaive.tables.weighing import FOLDS

KINDS = ["none", "tree", "pairs"]
PSEUDO = [0.0, 0.25, 2.0]
SMALL = problems(max_rows=14, max_columns=4, sizes=(1, 2, 3))


def weighing_of(problem, dependences="pairs", **parameters):
    """Fit a model; return it, what its weights are fitted to, the order of rows, and the twin."""
    model = fitted(WeightedBayes(dependences=dependences, **parameters), problem)
    terms = model.structure_.terms
    weighing, order = model.weighing(
        model.counts_, terms, problem.coded(), model.fitted_.made_by.how
    )
    return model, weighing, order, slow.Hierarchy(*problem.data, problem.weights)


def twin_loss(model, twin, problem):
    """The twin's loss as a function of weights and biases."""
    terms = model.structure_.terms.tolist()
    entries = slow.left_out_terms(twin, terms, model.pseudo_count)
    penalties = [model.penalty if j < 0 else model.pair_penalty for _, j in terms]
    return lambda point: slow.weighted_loss(
        entries, twin.prior(), problem.classes, penalties, list(point)
    )


def told(n=600, seed=0):
    """Rows in which x0 and x1 tell the class, x2 does not, and x3 is an exclusive or with x4."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = random.integers(0, 3, (n, 5))
    X[:, 0] = np.where(random.random(n) < 0.4, y, X[:, 0])
    X[:, 1] = np.where(random.random(n) < 0.3, y, X[:, 1])
    X[:, 3:] %= 2
    X[:, 4] = np.where(random.random(n) < 0.5, X[:, 3] ^ y, X[:, 4])
    return X, y


def weight_of(model, column, parent=-1):
    terms = model.structure_.terms.tolist()
    return model.structure_.weights[terms.index([column, parent])]


# Against the twin


@given(SMALL, st.sampled_from(KINDS), st.sampled_from(PSEUDO))
@settings(max_examples=30)
def test_the_joint_equals_the_twin(problem, dependences, pseudo):
    model, _, _, twin = weighing_of(problem, dependences, pseudo_count=pseudo)
    graph, bias = model.structure_, model.fitted_.learned.array("bias")
    test = made(6, problem.values, 1, gaps=0.3, seed=len(problem.rows))
    expected = [
        slow.weighted(twin, graph.terms.tolist(), graph.weights, bias, row, pseudo)
        for row in test.rows
    ]
    assert_close(model.predict_joint_log_proba(test.X), expected, atol=1e-11)
    assert (graph.weights >= 0).all()


@given(SMALL, st.sampled_from(KINDS), st.sampled_from(PSEUDO), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_entries_loss_and_derivatives_equal_the_twin(problem, dependences, pseudo, seed):
    parameters = {"pair_penalty": 3.0, "pseudo_count": pseudo}
    model, weighing, order, twin = weighing_of(problem, dependences, **parameters)
    entries = slow.left_out_terms(twin, model.structure_.terms.tolist(), pseudo)
    expected = np.reshape(entries, (len(entries), len(order), problem.k))[:, order]
    np.testing.assert_allclose(weighing.entries, expected.transpose(0, 2, 1), rtol=1e-6, atol=1e-6)
    loss = twin_loss(model, twin, problem)
    random = np.random.default_rng(seed)
    point = np.concatenate([random.random(len(entries)) * 2, random.normal(size=problem.k)])
    curve = weighing.curve(point)
    assert weighing.loss(point) == pytest.approx(loss(point), rel=1e-6, abs=1e-6)
    assert curve.loss == pytest.approx(loss(point), rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(curve.gradient, slow.slopes(loss, point), rtol=1e-5, atol=1e-4)
    for place, step in enumerate(np.eye(len(point)) * 1e-3):
        ahead, behind = (weighing.curve(point + move).gradient for move in (step, -step))
        bend = (ahead - behind) / 2e-3
        np.testing.assert_allclose(curve.curvature[place], bend, rtol=1e-3, atol=1e-2)
    some = random.random(len(point)) < 0.5
    part = weighing.curve(point, some)
    np.testing.assert_allclose(part.gradient, curve.gradient, rtol=1e-12, atol=1e-12)
    expected = curve.curvature[np.ix_(some, some)]
    np.testing.assert_allclose(part.curvature, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dependences", KINDS)
def test_weights_without_a_fold_are_near_those_of_a_fit_without_it(dependences):
    X, y = told(200)
    model = WeightedBayes(dependences=dependences, discretize=None).fit(X, y)
    rows, graph = coded_rows(model, X, y), model.structure_
    weighing, order = model.weighing(model.counts_, graph.terms, rows, model.fitted_.made_by.how)
    point = np.concatenate([graph.weights, model.fitted_.learned.array("bias")])
    found = weighing.cross_validated(point)
    exact = np.empty_like(found)
    for fold in range(FOLDS):
        inside = np.zeros(len(order), dtype=bool)
        for block in weighing._blocks[fold::FOLDS]:
            inside[slice(*block)] = True
        assert abs(y[order][inside].mean() - y.mean()) < 0.05
        others = replace(weighing, importance=np.where(inside, 0.0, 1.0))
        exact[inside] = weighing.joint(others.fit(point))[inside]
    own, true, all_rows = (
        log_loss(weighing.classes, softmax(joint, axis=1))
        for joint in (found, exact, weighing.joint(point))
    )
    assert all_rows < true
    assert abs(own - true) < 0.2 * (true - all_rows)
    np.testing.assert_allclose(found, exact, atol=0.1 * np.abs(exact).max())


@pytest.mark.parametrize("dependences", KINDS)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_no_other_weights_have_less_loss(dependences, gaps):
    problem = made(40, [3, 2, 3], 2, gaps=gaps, seed=4)
    y = problem.classes
    rows = [
        [c if t % 2 else row[0], *row[1:]]
        for t, (row, c) in enumerate(zip(problem.rows, y, strict=True))
    ]
    problem = type(problem)(rows, y, 2, problem.values)
    model, _, _, twin = weighing_of(problem, dependences)
    loss, graph = twin_loss(model, twin, problem), model.structure_
    bias = model.fitted_.learned.array("bias")
    bounds = [(0, None)] * len(graph.terms) + [(None, None)] * 2
    best = minimize(loss, np.full(len(bounds), 0.3), bounds=bounds, options={"ftol": 1e-13})
    assert loss([*graph.weights, *bias]) <= best.fun + 1e-5 * max(1.0, best.fun)


def test_importance_weighs_rows_of_the_loss():
    problem = made(20, [3, 2], 2, seed=1)
    model, weighing, order, twin = weighing_of(problem, "none")
    entries = slow.left_out_terms(twin, model.structure_.terms.tolist())
    importance = np.resize([0.5, 2.0, 1.0], 20)
    point = [0.7, 0.2, 0.1, -0.3]
    expected = slow.weighted_loss(
        entries, twin.prior(), problem.classes, [1.0, 1.0], point, importance.tolist()
    )
    weighed = replace(weighing, importance=importance[order])
    assert weighed.loss(np.array(point)) == pytest.approx(expected, rel=1e-6)


# What weights are good for


def test_copies_share_their_weight():
    X, y = told()
    settings_ = {"dependences": "none", "discretize": None}
    once = WeightedBayes(**settings_).fit(X, y)
    twice = WeightedBayes(**settings_).fit(np.column_stack([X, X[:, 0]]), y)
    assert weight_of(twice, 0) == pytest.approx(weight_of(twice, 5), abs=1e-3)
    assert weight_of(twice, 0) * 2 == pytest.approx(weight_of(once, 0), rel=0.1)
    gap = twice.predict_proba(np.column_stack([X, X[:, 0]])) - once.predict_proba(X)
    assert np.abs(gap).max() < 0.02
    naive = NaiveBayes(discretize=None)
    plain = naive.fit(X, y).predict_proba(X)
    copied = np.column_stack([X, X[:, 0]])
    assert np.abs(naive.fit(copied, y).predict_proba(copied) - plain).max() > 0.1


def test_what_tells_nothing_weighs_nothing():
    X, y = told(2000)
    model = WeightedBayes(dependences="none", discretize=None).fit(X, y)
    assert weight_of(model, 0) > 0.5
    wide = WeightedBayes(dependences="none", discretize=None, smoothing="laplace")
    for seed in range(4):
        chance = np.random.default_rng(10 + seed).integers(0, 300, 2000)
        wide.fit(np.column_stack([X, chance]), y)
        assert weight_of(wide, 5) < 0.25 < 0.5 < weight_of(wide, 0)
    gap = model.predict_proba(X) - model.predict_proba(np.where(np.arange(5) == 2, -1, X))
    assert np.abs(gap).max() < 0.02


def census(n, seed):
    """Columns that tell of each other and of the class; a value has 14 rows, none of them rich."""
    random = np.random.default_rng(seed)
    rich = random.random(n) < 0.24
    work = random.choice(5, n, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    work = np.where(rich, 4 - work, work)
    occupation = (work + 2 * rich * (work % 2) + random.integers(0, 2, n)) % 8
    hours = (work + rich + random.integers(0, 2, n)) % 6
    noise = random.random((2, n)) < 0.35
    X = pd.DataFrame(
        {
            "work": work.astype(str).astype(object),
            "occupation": np.where(noise[0], random.integers(0, 8, n), occupation),
            "hours": np.where(noise[1], random.integers(0, 6, n), hours),
            "married": rich ^ (random.random(n) < 0.15),
        }
    )
    X.loc[random.choice(np.flatnonzero(~rich), 14, replace=False), "work"] = "without pay"
    return X, rich


def test_few_rows_are_reined_in():
    X, rich = census(8000, 0)
    later, true = census(4000, 1)
    few = X[X["work"] == "without pay"]
    effects, losses = [], []
    for pseudo in (0.0, 0.25):
        model = WeightedBayes(pseudo_count=pseudo, discretize=None).fit(X, rich)
        effects.append(model.explain(few).log_odds(positive=True).contributions[:, 0].min())
        losses.append(log_loss(true, model.predict_proba(later)))
        weights = model.structure_.weights[model.structure_.terms[:, 0] == 0]
        assert weights.max() < 1.5
    assert effects[0] < -10
    assert -np.log(4 * 14 + 1) - 1 < effects[1] < -1
    assert losses[1] == pytest.approx(losses[0], abs=2e-3)
    candidates = unnaive.models.auto.default_candidates(to_frame(X), 2**31)
    used = {n: m.pseudo_count for n, m in candidates.items() if isinstance(m, WeightedBayes)}
    assert used == {"wanbia": 0.25, "weighted-pairs": 0.25, "wanbia (corrected)": 0.25}


@given(SMALL, st.sampled_from(KINDS))
@settings(max_examples=20)
def test_no_cell_exceeds_what_its_rows_support(problem, dependences):
    model = fitted(WeightedBayes(dependences=dependences, pseudo_count=0.5), problem)
    tables, graph, counts = model.fitted_.tables, model.structure_, model.counts_
    starts = [*tables.layout[:, -1].tolist(), tables.tables.shape[1]]
    for place, ((i, j), w) in enumerate(zip(graph.terms.tolist(), graph.weights, strict=True)):
        cells = tables.tables[: problem.k, starts[place] : starts[place + 1]]
        cells = cells.reshape(problem.k, -1, problem.values[i] + 1)[..., :-1]
        total = counts.class_counts.max() if j < 0 else counts.pair(j, i).sum(axis=2).max()
        gaps = cells[:, None] - cells[None]
        assert (np.abs(gaps) <= 2 * w * np.log(2 * total + 1) + 1e-9).all()


def test_pairs_solve_an_exclusive_or_that_columns_cannot():
    X = np.random.default_rng(0).integers(0, 2, (400, 3))
    y = X[:, 0] ^ X[:, 2]
    assert WeightedBayes().fit(X, y).score(X, y) == 1
    assert WeightedBayes(dependences="tree").fit(X, y).score(X, y) == 1
    assert WeightedBayes(dependences="none").fit(X, y).score(X, y) < 0.7
    assert WeightedBayes(n_pairs=0).fit(X, y).structure_.edges == []
    one = WeightedBayes(n_pairs=np.int64(1)).fit(X, y).structure_
    assert [edge[:2] for edge in one.edges] == [("x2", "x0")]


def test_penalties_draw_weights_to_nothing():
    X, y = told()
    for name, of_pairs in (("penalty", False), ("pair_penalty", True)):
        weak, strong = (WeightedBayes(**{name: value}).fit(X, y) for value in (1.0, 1e6))
        chosen = (strong.structure_.terms[:, 1] >= 0) == of_pairs
        assert strong.structure_.weights[chosen].max() < 1e-3
        assert weak.structure_.weights[chosen].max() > 0.1


def test_weights_are_like_repeated_rows():
    X, y = told(200)
    times = np.random.default_rng(0).integers(0, 4, 200)
    settings_ = {"categories": [range(3)] * 3 + [range(2)] * 2}
    weighted = WeightedBayes(**settings_).fit(X, y, sample_weight=times)
    repeated = WeightedBayes(**settings_).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert np.array_equal(weighted.structure_.terms, repeated.structure_.terms)
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-3
    )


@pytest.mark.parametrize("dependences", KINDS)
def test_threads_give_the_same_bits(dependences):
    X, y = told(5000)
    one, two = (
        WeightedBayes(dependences=dependences, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2)
    )
    assert np.array_equal(one.structure_.weights, two.structure_.weights)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_gaps_say_nothing():
    X, y = told()
    model = WeightedBayes(discretize=None).fit(X, y)
    bias, nothing = model.fitted_.learned.array("bias"), np.full((1, 5), np.nan)
    prior = np.log((np.bincount(y) + 0.5) / (len(y) + 1))
    np.testing.assert_allclose(model.predict_joint_log_proba(nothing)[0], prior + bias)
    assert np.array_equal(model.predict_proba(nothing), model.predict_proba([[7] * 5]))


def test_tables_beyond_memory_are_those_of_the_chosen_pairs():
    random = np.random.default_rng(0)
    X = random.integers(0, 3, (300, 60))
    X[:, 1::2] = X[:, ::2]
    y = random.integers(0, 2, 300)
    whole = WeightedBayes(dependences="tree", discretize=None).fit(X, y)
    tiled = WeightedBayes(dependences="tree", discretize=None, max_memory=100_000).fit(X, y)
    assert len(tiled.counts_.pair_columns) < len(whole.counts_.pair_columns)
    assert np.array_equal(tiled.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(unnaive.exceptions.TableTooLarge, match="max_memory"):
        WeightedBayes(n_pairs=1700, discretize=None, max_memory=100_000).fit(X, y)


def test_of_many_rows_a_share_of_every_class_is_enough(monkeypatch):
    X, y = told(3000)
    whole = WeightedBayes().fit(X, y)
    monkeypatch.setattr(weighted_models, "_MOST_ENTRIES", 3000 * 2 * 5)
    some = WeightedBayes().fit(X, y)
    assert not np.array_equal(some.structure_.weights, whole.structure_.weights)
    assert np.abs(some.predict_proba(X) - whole.predict_proba(X)).max() < 0.15


def test_rows_come_and_go_and_weights_stay():
    X, y = told()
    settings_ = {"categories": [range(3)] * 3 + [range(2)] * 2}
    model = WeightedBayes(**settings_).fit(X[:400], y[:400])
    graph, before = model.structure_, model.predict_proba(X)
    model.partial_fit(X[400:], y[400:])
    assert model.structure_ is graph
    assert model.counts_ == WeightedBayes(**settings_).fit(X, y).counts_
    assert not np.array_equal(model.predict_proba(X), before)
    model.forget(X[400:], y[400:])
    assert np.array_equal(model.predict_proba(X), before)
    with pytest.raises(UnnaiveError, match="fit it on rows"):
        WeightedBayes().fit_counts(model.counts_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("dependences", value) for value in ("typo", None)],
        *[(name, value) for name in ("penalty", "pair_penalty") for value in (-1, math.nan, "1")],
        *[("n_pairs", value) for value in (-1, 1.5, "many", True)],
        ("calibrate", "cv"),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        WeightedBayes(**{name: value}).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("key", ["wanbia", "weighted-tan", "weighted-pairs"])
def test_explanations_add_up(key):
    X, y = told()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    found = add_up(unnaive.make(key, calibrate="loo").fit(X, y), np.vstack([X[:20], holes[:20]]))
    assert len(found.terms) >= 5


# Calibration


@pytest.mark.long
@given(problems(max_rows=20, max_columns=3, sizes=(2, 3)))
@settings(max_examples=30)
def test_no_other_calibration_has_less_loss(problem):
    random = np.random.default_rng(len(problem.rows))
    joint = random.normal(size=(len(problem.rows), problem.k)) * 3
    found = calibrated(joint, np.array(problem.classes))
    start = np.array([1.0, *[0.0] * problem.k])

    def loss(point):
        return slow.calibration_loss(joint.tolist(), problem.classes, point[0], list(point[1:]))

    bounds = [(1e-3, None)] + [(None, None)] * problem.k
    best = minimize(loss, start, bounds=bounds, options={"ftol": 1e-13})
    assert loss([found.temperature, *found.bias]) <= best.fun + 1e-5 * max(1.0, best.fun)


@given(st.floats(1e-3, 50), st.integers(0, 2**32 - 1))
def test_without_bias_the_order_of_classes_stays(temperature, seed):
    joint = np.random.default_rng(seed).normal(size=(30, 4)) * 20
    changed = joint.copy()
    Calibration(temperature, np.zeros(4)).apply(changed)
    assert np.array_equal(changed.argmax(axis=1), joint.argmax(axis=1))


CALIBRATED = sorted(set(COUNTING) - {"iterative"})


@pytest.mark.parametrize("key", CALIBRATED)
def test_left_out_rows_are_told_at_least_as_well(key):
    X, y = told(150)
    X = np.column_stack([X, X[:, :2]])
    chance = {"random_state": 0} if "random_state" in unnaive.make(key).get_params() else {}
    plain = unnaive.make(key, **chance).fit(X, y)
    model = unnaive.make(key, calibrate="loo", **chance).fit(X, y)
    before, after = (log_loss(y, m.loo_predict_proba(X, y)) for m in (plain, model))
    assert after <= before + 1e-5
    found = model.fitted_.calibration
    expected = plain.predict_joint_log_proba(X) * found.temperature + found.bias
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, atol=1e-10)


def test_evidence_that_is_counted_twice_is_cooled_down():
    X, y = told()
    model = NaiveBayes(calibrate="loo").fit(np.repeat(X[:, :2], 4, axis=1), y)
    assert model.fitted_.calibration.temperature < 0.5
    assert NaiveBayes(calibrate="loo").fit(X, y).fitted_.calibration.temperature > 0.7


@pytest.mark.parametrize("weights", [np.resize([1.0, 2.0], 300), np.linspace(0.5, 2, 300)])
def test_calibration_is_saved_kept_and_made_anew(weights, tmp_path):
    X, y = told(300)
    settings_ = {"categories": [range(3)] * 3 + [range(2)] * 2}
    model = NaiveBayes(calibrate="loo", **settings_).fit(X, y, weights)
    found = model.fitted_.calibration
    model.save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    loaded.partial_fit(X[:50], y[:50])
    assert loaded.fitted_.calibration.temperature == found.temperature
    assert model.fit_counts(loaded.counts_).fitted_.calibration is found
    assert np.array_equal(model.predict_proba(X), loaded.predict_proba(X))
    assert model.fit(X[:60], y[:60]).fitted_.calibration.temperature != found.temperature
    model.set_params(calibrate=None).fit(X, y, weights)
    plain = NaiveBayes(**settings_).fit(X, y, weights)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_what_cannot_be_calibrated_says_so():
    X, y = told(60)
    counts = NaiveBayes().fit(X, y).counts_
    with pytest.raises(UnnaiveError, match="counts have none; fit on rows"):
        NaiveBayes(calibrate="loo").fit_counts(counts)
    with pytest.raises(UnnaiveError, match="use scikit-learn's CalibratedClassifierCV"):
        IterativeBayes(calibrate="loo").fit(X, y)
    with pytest.raises(ValueError, match="calibrate='yes'; it must be 'loo' or None"):
        NaiveBayes(calibrate="yes").fit(X, y)


@pytest.mark.long
def test_partitions_are_calibrated_as_rows_are():
    frames = pytest.importorskip("dask.dataframe")
    X, y = told(60)
    table = pd.DataFrame(X, columns=list("abcde"))
    model = NaiveBayes(calibrate="loo").fit(table, y)
    calibrated = model.predict_proba(table)
    parts = frames.from_pandas(table.assign(y=y), npartitions=2)
    assert np.array_equal(model.fit(parts, "y").predict_proba(table), calibrated)
    plain = NaiveBayes().fit(table, y).predict_proba(table)
    again = model.set_params(calibrate=None).fit(parts, "y").predict_proba(table)
    np.testing.assert_allclose(again, plain)  # what was found before is forgotten
    assert not np.allclose(plain, calibrated)
