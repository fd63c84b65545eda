"""Fitted models with other prior probabilities of the classes, and the hint for class_weight."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

import unnaive
from unnaive.models.gaussian import GaussianClassifier

PRIOR = {"no": 0.9, "yes": 0.1}


def fitted(key, **settings):
    random = np.random.default_rng(5)
    y = np.where(random.random(90) < 0.4, "yes", "no")
    X = random.integers(0, 3, (90, 4)) + (y == "yes")[:, None]
    model = unnaive.make(key, **settings)
    X = X + random.normal(size=X.shape) if isinstance(model, GaussianClassifier) else X
    return model.fit(X, y), X, y


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_posteriors_are_reweighted(key, tmp_path):
    model, X, _ = fitted(key)
    before = model.predict_proba(X)
    other = model.with_prior(PRIOR)
    blend = model.fitted_.heaviest.model.fitted_ if key == "auto" else model.fitted_
    expected = before * [0.9, 0.1] / np.exp(blend.prevalence)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(other.predict_proba(X), expected, atol=1e-12)
    assert np.array_equal(model.predict_proba(X), before)
    assert np.array_equal(model.with_prior([0.9, 0.1]).predict_proba(X), other.predict_proba(X))
    other.save(tmp_path / "model.unb")
    loaded = unnaive.load(tmp_path / "model.unb")
    np.testing.assert_allclose(loaded.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize("key", ["nb", "tan", "hnb"])
def test_where_the_prior_is_a_factor_it_is_class_prior(key):
    model, X, y = fitted(key)
    refitted = unnaive.make(key, class_prior=[0.9, 0.1]).fit(X, y)
    other = model.with_prior(PRIOR)
    np.testing.assert_allclose(other.predict_proba(X), refitted.predict_proba(X), atol=1e-12)
    left_out = refitted.loo_predict_proba(X, y)
    np.testing.assert_allclose(other.loo_predict_proba(X, y), left_out, atol=0.02)


@pytest.mark.parametrize("key", ["tan", "gaussian-tan", "auto"])
def test_explanations_follow(key):
    model, X, _ = fitted(key)
    other = model.with_prior(PRIOR)
    odds = np.diff(other.predict_log_proba(X[:5]), axis=1)[:, 0]
    joint = other.explain(X[:5]).joint
    np.testing.assert_allclose(np.diff(joint, axis=1)[:, 0], odds, atol=1e-8)


def test_more_samples_keep_the_ratio():
    model, X, y = fitted("tan")
    other = model.with_prior(PRIOR).partial_fit(X[:20], y[:20]).forget(X[:20], y[:20])
    expected = model.with_prior(PRIOR).predict_proba(X)
    np.testing.assert_allclose(other.predict_proba(X), expected, atol=1e-12)


def test_calibration_stays():
    model, X, y = fitted("nb", calibrate="loo")
    before = model.predict_proba(X) * [0.9, 0.1] / np.exp(model.fitted_.prevalence)
    expected = before / before.sum(axis=1, keepdims=True)
    other = model.with_prior(PRIOR)
    np.testing.assert_allclose(other.predict_proba(X), expected, atol=1e-12)
    other.partial_fit(X, y).forget(X, y)
    np.testing.assert_allclose(other.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize(
    "prior", [{"no": 0.9}, {"no": 0.5, "maybe": 0.5}, [0.5, 0.6], [1.0, 0.0], [1.0], "often"]
)
def test_bad_priors(prior):
    model, _, _ = fitted("nb")
    with pytest.raises(ValueError, match="prior"):
        model.with_prior(prior)


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_class_weight_has_cures(key):
    cures = "class_prior.*sample_weight.*threshold_bias"
    with pytest.raises(TypeError, match=f"no parameter 'class_weight'.*{cures}"):
        unnaive.make(key, class_weight="balanced")
    model = unnaive.make(key)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights_of_classes'"):
        type(model)(weights_of_classes=1)
    parameters = list(inspect.signature(type(model)).parameters)
    assert sorted(parameters) == sorted(model.get_params(deep=False))
    assert clone(model).get_params(deep=False) == model.get_params(deep=False)
