"""Weighted models of few terms: which terms are dropped, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import log_softmax, softmax

import unnaive
from problems import problems
from tests.models.test_nb_tan_aode import fitted
from tests.models.test_weighted import told
from unnaive import WeightedBayes
from unnaive.tables.shortening import cheapest, held_out_loss, shortened
from unnaive.tables.weighing import BIAS_PENALTY, FOLDS, Weighing, dealt

SMALL = problems(max_rows=14, max_columns=4, sizes=(1, 2, 3))


def made(n=240, m=7, k=3, seed=0, copies=()):
    """Log factors of terms that tell less and less about the class, in the order of blocks."""
    random = np.random.default_rng(seed)
    classes = random.integers(0, k, n)
    classes = classes[dealt(classes, m + len(copies), k)]
    truth = np.eye(k)[classes].T
    entries = random.normal(0, 1, (m, k, n)) + truth * np.linspace(1.5, 0.05, m)[:, None, None]
    entries = np.concatenate([entries, entries[list(copies)]]).astype(np.float32)
    prior = np.log(np.bincount(classes, minlength=k) / n)
    return Weighing(entries, prior, classes, np.ones(n), np.ones(len(entries)))


def fit(weighing):
    """Fit the weights from equal ones."""
    m, k = len(weighing.penalty), len(weighing.prior)
    return weighing.fit(np.concatenate([np.full(m, 0.5), np.zeros(k)]))


def slow_curvature(weighing, point):
    """Second derivatives of the penalized loss, row by row."""
    k = len(weighing.prior)
    total = np.diag([*weighing.penalty, *[BIAS_PENALTY] * k]).astype(float)
    for row, weight in enumerate(weighing.importance):
        factors = np.concatenate([weighing.entries[:, :, row].astype(float), np.eye(k)])
        chances = softmax(weighing.prior + point @ factors)
        centred = factors - (factors @ chances)[:, None]
        total += weight * (centred * chances) @ centred.T
    return total


def slow_cheapest(weighing, point, number):
    """Drop term after term; the rest goes to the minimum of the second-order expansion."""
    curvature, m = slow_curvature(weighing, point), len(weighing.penalty)
    left, chosen = list(range(len(point))), []

    def growth(gone):
        rest = [place for place in range(len(point)) if place not in gone]
        away = -point[gone]
        step = -np.linalg.solve(curvature[np.ix_(rest, rest)], curvature[np.ix_(rest, gone)] @ away)
        whole = np.zeros(len(point))
        whole[gone], whole[rest] = away, step
        return whole @ curvature @ whole / 2

    for _ in range(number):
        terms = [term for term in left if term < m]
        best = min(terms, key=lambda term: growth([*chosen, term]))
        chosen.append(best)
        left.remove(best)
    return chosen


@pytest.mark.parametrize("k", [2, 3])
def test_terms_are_dropped_as_by_the_second_order_expansion(k):
    weighing = made(k=k)
    point = fit(weighing)
    kept = point[: len(weighing.penalty)] > 0
    weighing, point = weighing.some(kept), point[np.append(kept, np.ones(k, dtype=bool))]
    number = int(kept.sum()) - 1
    assert cheapest(weighing, point, number).tolist() == slow_cheapest(weighing, point, number)


def test_the_held_out_loss_is_that_of_weights_without_the_fold():
    weighing = made()
    point = fit(weighing)
    logs = log_softmax(weighing.cross_validated(point), axis=1)
    expected = -logs[np.arange(len(logs)), weighing.classes].mean()
    assert held_out_loss(weighing, point) == pytest.approx(expected, rel=1e-12)


def test_three_of_seven_terms_are_the_best_three():
    weighing = made()
    short = shortened(weighing, fit(weighing), 3)
    every = {kept: weighing.some(np.isin(range(7), kept)) for kept in combinations(range(7), 3)}
    losses = {kept: one.loss(fit(one)) for kept, one in every.items()}
    assert tuple(np.flatnonzero(short.kept)) == min(losses, key=losses.get)
    assert short.weighing.loss(short.point) == pytest.approx(min(losses.values()), rel=1e-7)
    assert short.path["terms"].tolist() == sorted(set(short.path["terms"]), reverse=True)
    assert short.path["terms"][-1] == 3


def test_of_copies_the_first_stays():
    weighing = made(copies=(0, 1))
    short = shortened(weighing, fit(weighing), 4)
    assert not short.kept[7:].any()
    assert short.kept[:2].all()


@pytest.mark.parametrize(("seed", "penalty"), [(82, 0.0), (96, 0.0), (128, 1e-9), (192, 1e-9)])
def test_copies_without_penalties_are_dropped(seed, penalty):
    """Second derivatives are singular, and rounding leaves variances below 0."""
    weighing = made(n=30, m=4, k=2, seed=seed, copies=(0, 0, 1, 1, 2))
    weighing = replace(weighing, penalty=np.full(9, penalty))
    short = shortened(weighing, fit(weighing), 1)
    assert short.kept.sum() <= 1
    assert np.isfinite(short.point).all()


def test_rows_stay_in_their_blocks():
    weighing = made()
    assert weighing.some(np.arange(7) < 2).n_blocks == len(np.unique(weighing.folds)) == FOLDS


def test_a_limit_beyond_the_terms_changes_nothing():
    X, y = told()
    plain, limited = (WeightedBayes(max_terms=most).fit(X, y) for most in (None, 10_000))
    np.testing.assert_array_equal(limited.predict_proba(X), plain.predict_proba(X))
    assert limited.path_["terms"].tolist() == [(plain.structure_.weights > 0).sum()]


@pytest.mark.parametrize("dependences", ["none", "tree", "pairs"])
def test_a_model_has_no_more_terms_than_it_may(dependences):
    X, y = told()
    model = WeightedBayes(dependences=dependences, max_terms=2).fit(X, y)
    weights, terms = model.structure_.weights, model.structure_.terms
    assert (weights > 0).sum() == model.path_["terms"][-1] <= 2
    assert (terms[weights == 0][:, 1] < 0).all()  # of dependences, only those that count are kept


def test_limited_models_save_update_and_explain(tmp_path):
    X, y = told()
    model = WeightedBayes(max_terms=3, max_order=3).fit(X, y)
    model.save(tmp_path / "model.unb")
    again = unnaive.load(tmp_path / "model.unb")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    before = model.predict_proba(X)
    model.partial_fit(X[:50], y[:50]).forget(X[:50], y[:50])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    left_out = model.loo_predict_proba(X, y)
    np.testing.assert_allclose(left_out.sum(axis=1), 1.0)


def test_corrections_are_refused():
    with pytest.raises(ValueError, match="corrections are further tables to read: use"):
        WeightedBayes(max_terms=3, corrections=5).fit(*told(60))


@settings(max_examples=60, deadline=None)
@given(SMALL)
def test_hostile_shapes(problem):
    model = fitted(WeightedBayes(max_terms=2, max_order=3), problem)
    chances = model.predict_proba(problem.X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (model.structure_.weights > 0).sum() <= 2
    assert np.isfinite(model.path_["log_loss"]).all()


def test_the_bits_do_not_depend_on_threads():
    X, y = told(2_000)
    one, two = (WeightedBayes(max_terms=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
