"""What models promise about two fits, permuted samples, and a weight of 2 for a sample twice."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import unnaive
from problems import GAUSSIAN

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
KEYS = sorted(set(unnaive.all_models()) - {"auto"})
FITTED = {"wanbia", "weighted-pairs", "weighted-tan"}  # by a minimization


def data(key):
    """Samples, classes and weights of 1 and 2."""
    random = np.random.default_rng(5)
    y = random.integers(3, size=60)
    X = random.normal(size=(60, 4)) + y[:, None] * [1.0, 0.5, 0.2, 0.0]
    if key not in GAUSSIAN:
        X = np.round(X).clip(-1, 2)
    return X, y, random.integers(1, 3, size=60)


def close(key):
    """Largest difference of probabilities: 0 for models from counts."""
    return 1e-8 if key in FITTED else 1e-10 if key in GAUSSIAN else 0.0


@pytest.mark.parametrize("key", [*KEYS, "auto"])
def test_docstrings_say_what_holds(key):
    text = " ".join((type(unnaive.make(key)).__doc__ or "").split())
    assert "order of the samples" in text
    assert "weight 2" in text or key == "auto"


@pytest.mark.parametrize("key", KEYS)
def test_two_fits_of_a_clone_agree(key):
    X, y, _ = data(key)
    model = unnaive.make(key)
    first = model.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_proba(X), first)


@pytest.mark.parametrize("key", ["ienb", "pazzani-eda", "apnbc-eda", "iterative"])
def test_seeds_are_0_unless_another_is_given(key):
    X, y, _ = data(key)
    more = {"order": "shuffle"} if key == "iterative" else {}
    default = unnaive.make(key, **more).fit(X, y).predict_proba(X)
    zero = unnaive.make(key, random_state=0, **more).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(default, zero)
    assert unnaive.make(key).get_params()["random_state"] == 0
    unnaive.make(key, random_state=None, **more).fit(X, y)


@pytest.mark.parametrize("key", [key for key in KEYS if key != "iterative"])
def test_the_order_of_samples_does_not_matter(key):
    X, y, _ = data(key)
    order = np.random.default_rng(1).permutation(len(y))
    expected = unnaive.make(key).fit(X, y).predict_proba(X)
    permuted = unnaive.make(key).fit(X[order], y[order]).predict_proba(X)
    np.testing.assert_allclose(permuted, expected, rtol=0, atol=close(key))


@pytest.mark.parametrize("key", [key for key in KEYS if key not in {"iterative", "apnbc-eda"}])
def test_a_weight_of_2_is_a_sample_twice(key):
    X, y, weights = data(key)
    expected = unnaive.make(key).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    model = unnaive.make(key).fit(X, y, sample_weight=weights)
    found, twice = model.predict_proba(X), expected.predict_proba(X)
    np.testing.assert_allclose(found, twice, rtol=0, atol=close(key))


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("a2de", {"smoothing": "hierarchical"}),
        ("tan", {"smoothing": "hierarchical"}),
        ("apnbc-eda", {"criterion": "training"}),
        ("iterative", {"max_iter": 0}),
    ],
)
def test_settings_for_which_weights_and_order_are_exact(key, settings):
    X, y, weights = data(key)
    order = np.random.default_rng(1).permutation(len(y))
    fit = unnaive.make(key, **settings).fit
    plain = unnaive.make(key, **settings).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(fit(X[order], y[order]).predict_proba(X), plain)
    twice = fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict_proba(X)
    weighted = fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_array_equal(weighted, twice)


def test_iterative_bayes_depends_on_the_order_and_on_repeats():
    X, y, weights = data("iterative")
    plain = unnaive.IterativeBayes().fit(X, y).predict_proba(X)
    assert (unnaive.IterativeBayes().fit(X[::-1], y[::-1]).predict_proba(X) != plain).any()
    twice = unnaive.IterativeBayes().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = unnaive.IterativeBayes().fit(X, y, sample_weight=weights)
    assert (twice.predict_proba(X) != weighted.predict_proba(X)).any()
