"""Prediction sets, abstention and risk-coverage: against definitions, and what must hold."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from unnaive import TAN, AutoBayes, ConformalClassifier, FullBayes, NaiveBayes, load
from unnaive.evaluate import risk_coverage
from unnaive.exceptions import ModelFileError, UnnaiveError
from unnaive.models.sets import scores_of
from unnaive.models.trial import folds_of, left_out_afresh


def rows(n=400, d=4, k=3, seed=0):
    """Samples with features that depend on the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, k, n)
    X = (random.random((n, d)) < 0.2 + 0.2 * y[:, None]) * 1 + random.integers(0, 2, (n, d))
    return X, np.array(["a", "b", "c", "d"])[y]


def naive_scores(chances, kind, penalty=0.1):
    """Scores from their definitions."""
    out = np.empty_like(chances)
    for row, line in enumerate(chances):
        ranked = sorted(range(len(line)), key=lambda c: (-line[c], c))
        for rank, c in enumerate(ranked):
            out[row, c] = 1 - line[c] if kind == "lac" else sum(line[j] for j in ranked[: rank + 1])
            out[row, c] += penalty * max(0, rank - 1) if kind == "raps" else 0
    return out


@pytest.mark.parametrize("kind", ["lac", "aps", "raps"])
def test_sets_are_those_of_the_textbook(kind):
    X, y = rows()
    model = NaiveBayes(discretize=None).fit(X, y)
    held, classes = model.loo_predict_proba(X, y), np.searchsorted(model.classes_, y)
    scores = naive_scores(held, kind)[np.arange(len(y)), classes]
    np.testing.assert_allclose(scores_of(held, kind), naive_scores(held, kind), atol=1e-12)
    limit = np.sort(scores)[ceil((len(y) + 1) * 0.8) - 1]
    expected = naive_scores(model.predict_proba(X), kind) <= limit + 1e-9
    found = model.predict_set(X, 0.8, training=(X, y), conformity=kind)
    np.testing.assert_array_equal(found.included, expected)
    wrapped = ConformalClassifier(model, conformity=kind).fit(X, y).predict_set(X, 0.8)
    np.testing.assert_array_equal(wrapped.included, expected)


def test_left_out_scores_have_no_say_in_bins_and_structure():
    random = np.random.default_rng(2)
    y = random.integers(0, 2, 60)
    X = np.column_stack([random.normal(size=(60, 3)) + y[:, None], random.integers(0, 3, 60)])
    model = TAN().fit(X, y)
    given = model._given(X, y, None, first=False)
    found, fold = left_out_afresh(model, given, 3), folds_of(y, 3)
    for number in range(3):
        rest = TAN().fit(X[fold != number], y[fold != number])
        codes = rest.codes_of(rest.known_frame(X), 1)
        parents = [int(p) if p >= 0 else None for p in rest.structure_.parents]
        names = [list(range(size)) for size in rest.schema_.sizes]
        for row in np.flatnonzero(fold == number)[:6]:
            others = np.arange(60) != row
            coded = TAN(parents=parents, discretize=None, categories=names)
            coded.fit(codes.T[others].astype(int), y[others])
            expected = coded.predict_proba(codes.T[[row]].astype(int))
            np.testing.assert_allclose(found[row], expected[0], rtol=1e-9)


@pytest.mark.parametrize("method", ["loo", "cross", "split"])
def test_coverage_is_reached_and_survives_a_file(method, tmp_path):
    (X, y), (other, truth) = rows(2400), rows(2000, seed=1)
    model = ConformalClassifier(NaiveBayes(discretize=None), method=method).fit(X, y)
    sets = model.predict_set(other)
    assert 0.86 < sets.covers(truth).mean() < 0.95
    wider = model.predict_set(other, 0.97)
    assert (sets.included <= wider.included).all()
    path = tmp_path / "sets.unb"
    model.save(path)
    again = load(path)
    np.testing.assert_array_equal(again.predict_set(other).included, sets.included)
    np.testing.assert_array_equal(again.predict(other), model.predict(other))


def test_every_class_and_group_is_covered():
    (X, y), (other, truth) = rows(3000, k=4), rows(4000, k=4, seed=1)
    rare = np.flatnonzero((y != "d") | (np.arange(len(y)) % 5 == 0))
    by_class = ConformalClassifier(NaiveBayes(discretize=None), by_class=True).fit(X[rare], y[rare])
    covered = by_class.predict_set(other).covers(truth)
    assert all(0.84 < covered[truth == label].mean() < 0.97 for label in by_class.classes_)
    grouped = ConformalClassifier(NaiveBayes(discretize=None), groups=0).fit(X, y)
    covered = grouped.predict_set(other).covers(truth)
    assert all(0.84 < covered[other[:, 0] == value].mean() < 0.96 for value in (0, 1, 2))


def test_another_prior_keeps_the_coverage():
    (X, y), (other, truth) = rows(3000), rows(9000, seed=1)
    shifted = np.flatnonzero((truth == "c") | (np.arange(len(truth)) % 8 == 0))
    model = ConformalClassifier(NaiveBayes(discretize=None)).fit(X, y)
    prior = {label: float((truth[shifted] == label).mean()) for label in model.classes_}
    sets = model.predict_set(other[shifted], prior=prior)
    assert abs(sets.covers(truth[shifted]).mean() - 0.9) < 0.025
    with pytest.raises(ValueError, match="prior"):
        model.predict_set(other, prior=[1.0, 0.0, 0.0])


def test_it_is_an_estimator():
    X, y = rows()
    model = ConformalClassifier(TAN(smoothing="bdeu"), method="split", random_state=3)
    assert clone(model).get_params()["estimator__smoothing"] == "bdeu"
    assert cross_val_score(model, X, y, cv=2).min() > 0.36
    assert ConformalClassifier().fit(X, y).n_features_in_ == 4
    assert len(ConformalClassifier(FullBayes()).fit(X, y).predict_set(X)) == len(y)


def test_wrong_arguments_and_files_are_named(tmp_path):
    X, y = rows(60)
    for name, value in {"method": "x", "conformity": "x", "coverage": 2.0, "groups": "x"}.items():
        with pytest.raises(ValueError, match=name):
            ConformalClassifier(NaiveBayes(), **{name: value}).fit(X, y)
    with pytest.raises(TypeError, match="estimator"):
        ConformalClassifier(3).fit(X, y)
    with pytest.raises(UnnaiveError, match="cross"):
        FullBayes().fit(X, y).predict_set(X, training=(X, y))
    path = tmp_path / "cut.unb"
    ConformalClassifier(NaiveBayes()).fit(X, y).save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ModelFileError):
        load(path)


def test_sets_without_training_have_the_posterior_probability():
    X, y = rows()
    model = NaiveBayes(discretize=None).fit(X, y)
    sets, chances = model.predict_set(X, 0.8), model.predict_proba(X)
    inside = (chances * sets.included).sum(axis=1)
    assert (inside >= 0.8 - 1e-9).all()
    least = np.where(sets.included, chances, 1.0).min(axis=1)
    assert (inside - least < 0.8).all()
    assert "PredictionSets(400 samples" in repr(sets)
    assert "<table>" in sets._repr_html_()


def test_abstaining_by_cost_interval_and_set():
    X, y = rows()
    model = NaiveBayes(discretize=None).fit(X, y)
    chances = model.predict_proba(X)
    chow = model.predict_or_abstain(X, cost=0.3)
    np.testing.assert_array_equal(chow.answered, chances.max(axis=1) >= 0.7)
    costs = np.array([[0, 1, 1], [1, 0, 1], [5, 5, 0]])
    dear = model.predict_or_abstain(X, cost=0.3, costs=costs)
    np.testing.assert_array_equal(dear.answered, (chances @ costs).min(axis=1) <= 0.3)
    bounds = model.predict_interval(X)
    sure = model.predict_or_abstain(X, by="interval")
    best = bounds.median.argmax(axis=1)[:, None]
    low, high = (np.take_along_axis(b, best, 1)[:, 0] for b in (bounds.lower, bounds.upper))
    np.testing.assert_array_equal(sure.answered, (low > 0.5) | (high < 0.5))
    single = model.predict_or_abstain(X, by="set", training=(X, y))
    sizes = model.predict_set(X, training=(X, y)).sizes
    np.testing.assert_array_equal(single.answered, sizes == 1)
    assert single.labels("?").count("?") == (sizes != 1).sum()
    assert "<table>" in single._repr_html_()
    with pytest.raises(ValueError, match="by="):
        model.predict_or_abstain(X, by="mood")
    with pytest.raises(ValueError, match="costs"):
        model.predict_or_abstain(X, costs=[[1]])


def test_the_risk_coverage_curve_is_its_definition():
    random = np.random.default_rng(0)
    chances = random.dirichlet(np.ones(3), 40).round(1)
    y = random.integers(0, 3, 40)
    curve = risk_coverage(y, chances, [0, 1, 2])
    wrong, sure = chances.argmax(axis=1) != y, chances.max(axis=1)
    for coverage, risk, limit in zip(curve.coverage, curve.risk, curve.confidence, strict=True):
        n, above, tied = round(coverage * 40), sure > limit, sure == limit
        errors = wrong[above].sum() + wrong[tied].mean() * (n - above.sum())
        assert risk == pytest.approx(errors / n)
    assert curve.area == pytest.approx(curve.risk.mean())
    assert curve.at(1.0) == pytest.approx(wrong.mean())
    assert len(curve.plot().lines) == 1
    assert "<table>" in curve._repr_html_()
    with pytest.raises(ValueError, match="chances"):
        risk_coverage(y, chances[:, :2], [0, 1, 2])


@pytest.mark.parametrize("method", ["loo", "cross", "split"])
def test_sets_of_a_blend(method):
    X, y = rows(150)
    sets = ConformalClassifier(AutoBayes(candidates={"nb": NaiveBayes()}), method=method).fit(X, y)
    included = sets.predict_set(X, 0.9).included
    assert 0.8 <= included[np.arange(len(y)), np.searchsorted(sets.classes_, y)].mean() <= 1.0
