"""Importances of features: one definition for every model, and scikit-learn's selectors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import RFE, SelectFromModel

import unnaive
from unnaive.information import mutual_information
from unnaive.models.gaussian import GaussianClassifier


def data(kind=object):
    """Two informative features and three of noise."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 150)
    noise = random.integers(0, 3, (150, 3))
    informative = [np.where(random.random(150) < share, y, 1 - y) for share in (0.9, 0.85)]
    X = np.column_stack([informative[0], noise, informative[1]])
    return (X + random.normal(0, 0.3, X.shape) if kind is float else X), y


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_model_ranks_informative_features_first(key):
    model = unnaive.make(key)
    X, y = data(float if isinstance(model, GaussianClassifier) else object)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = model.feature_importances_
    importances = model.fit(X, y).feature_importances_
    assert importances.shape == (5,)
    assert (importances >= 0).all()
    assert set(np.argsort(importances)[-2:]) == {0, 4}


@pytest.mark.parametrize("key", ["nb", "tan", "aode", "wanbia", "gaussian-nb", "hnb"])
def test_selectors_of_scikit_learn(key):
    model = unnaive.make(key)
    X, y = data(float if isinstance(model, GaussianClassifier) else object)
    assert RFE(model, n_features_to_select=2).fit(X, y).get_support(indices=True).tolist() == [0, 4]
    chosen = SelectFromModel(model).fit(X, y).get_support(indices=True)
    assert chosen.tolist() == [0, 4]


def test_without_pairs_it_is_mutual_information():
    X, y = data()
    model = unnaive.NaiveBayes().fit(X, y)
    assert np.array_equal(model.feature_importances_, mutual_information(model.counts_))


def test_a_pair_shares_what_it_knows_together():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 2))
    xor = unnaive.TAN().fit(X, X[:, 0] ^ X[:, 1]).feature_importances_
    np.testing.assert_allclose(xor, np.log(2) / 2, atol=0.01)
    twice = np.column_stack([X[:, 0], X[:, 0]])
    copies = unnaive.TAN().fit(twice, X[:, 0]).feature_importances_
    np.testing.assert_allclose(copies, np.log(2) / 2, atol=0.01)  # together they know one bit


def test_features_outside_of_the_model_have_no_importance():
    X, y = data()
    model = unnaive.TAN(n_features=2).fit(X, y)
    assert np.flatnonzero(model.feature_importances_).tolist() == sorted(model.feature_order_)


def test_numbers_and_categories():
    X, y = data(float)
    mixed = [[*row[:4], "xyz"[int(label)]] for row, label in zip(X.tolist(), y, strict=True)]
    importances = unnaive.GaussianNaiveBayes().fit(mixed, y).feature_importances_
    assert importances.argmax() == 4
    assert importances[4] == pytest.approx(np.log(2), abs=0.01)
