"""Log likelihood, AIC and BIC of the models that are one Bayesian network."""

from __future__ import annotations

import numpy as np
import pytest

import unnaive
from problems import made
from unnaive.exceptions import UnnaiveError

NETWORKS = {
    "nb": unnaive.NaiveBayes,
    "nb-selective": lambda: unnaive.NaiveBayes(n_features=2),
    "tan": unnaive.TAN,
    "tan-bdeu": lambda: unnaive.TAN(smoothing="bdeu", forest=True),
    "spode": lambda: unnaive.SPODE(joint_prior=False),
    "kdb": unnaive.KDB,
    "kdb-hierarchical": lambda: unnaive.KDB(k=3, smoothing="hierarchical"),
    "gnb": unnaive.GeneralizedNB,
    "decomposable": unnaive.DecomposableNB,
    "cherry": lambda: unnaive.CherryTreeNB(order=4),
    "bayesnet": unnaive.BayesNet,
    "bayesnet-free": lambda: unnaive.BayesNet(augmented=False, criterion="aic"),
    "iterative": unnaive.IterativeBayes,
}


def rows(n=120):
    random = np.random.default_rng(3)
    y = random.integers(0, 3, n)
    X = (random.integers(0, 3, (n, 4)) + y[:, None]) // 2
    X[:, 3] = X[:, 0] ^ 1
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("name", NETWORKS)
def test_from_counts_it_is_that_of_the_training_samples(name):
    X, y = rows()
    model = NETWORKS[name]().fit(X, y)
    total = model.log_likelihood(X, y)
    classes = model.schema_.classes
    joint = model.predict_joint_log_proba(X)
    by_hand = sum(joint[row, classes.index(label)] for row, label in enumerate(y.tolist()))
    assert total == pytest.approx(by_hand, abs=1e-9)
    p = model.n_parameters_
    assert model.aic_ == pytest.approx(2 * p - 2 * total, abs=1e-8)
    assert model.bic_ == pytest.approx(p * np.log(len(y)) - 2 * total, abs=1e-8)


@pytest.mark.parametrize("name", ["nb", "tan", "bayesnet-free"])
def test_over_all_samples_probabilities_sum_to_one(name):
    X, y = rows()
    model = NETWORKS[name]().fit(X, y)
    sizes = model.schema_.sizes
    every = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, 4)
    joint = model.fitted_.tables.joint(np.ascontiguousarray(every.T, dtype=np.uint8), None, 1)
    assert np.exp(joint).sum() == pytest.approx(1)


def test_parameters_of_naive_bayes_and_tan():
    X = [[a, b] for a in range(3) for b in range(2)] * 4
    y = [0, 1] * 12
    assert unnaive.NaiveBayes().fit(X, y).n_parameters_ == 1 + 2 * (2 + 1)
    assert unnaive.TAN(parents=[None, 0]).fit(X, y).n_parameters_ == 1 + 2 * (2 + 3 * 1)


def test_weights_count():
    X, y = rows(40)
    model = unnaive.TAN().fit(X, y)
    twice = model.log_likelihood(X, y, np.full(len(y), 2.0))
    assert twice == pytest.approx(2 * model.log_likelihood(X, y))


UNDEFINED = {
    "hnb": (unnaive.HNB, "averages over models or parents"),
    "wanbia": (lambda: unnaive.make("wanbia"), "not a single network"),
    "aode": (unnaive.AODE, "averages over models"),
    "spode": (unnaive.SPODE, "joint_prior=False"),
    "multinet": (lambda: unnaive.TAN(per_class=True), "per_class=False"),
    "calibrated": (lambda: unnaive.TAN(calibrate="loo"), "calibrated"),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_other_models_give_the_reason(name):
    make, reason = UNDEFINED[name]
    X, y = rows()
    model = make().fit(X, y)
    with pytest.raises(UnnaiveError, match=reason):
        model.log_likelihood(X, y)
    for attribute in ("aic_", "bic_", "n_parameters_"):
        assert not hasattr(model, attribute)
    with pytest.raises(AttributeError, match=reason):
        _ = model.aic_


def test_class_weights_are_no_distribution():
    X = [["a", "a", "a"]] * 5 + [["b", "b", "b"]] * 3 + [["a", "b", "b"]] * 3
    model = unnaive.AdjustedNB().fit(X, [0] * 5 + [1] * 3 + [0] * 2 + [1])
    with pytest.raises(UnnaiveError, match="learned weights"):
        model.log_likelihood(X, model.predict(X))


def test_missing_values_leave_families_out():
    problem = made(60, [2, 3, 2], 2, gaps=0.2)
    model = unnaive.NaiveBayes().fit_counts(problem.coded().count())
    by_hand = float(model.counts_.class_counts @ model.fitted_.prior)
    for column in range(3):
        table = model.counts_.marginal(column)
        shares = (table + 1) / (table.sum(axis=1, keepdims=True) + table.shape[1])
        by_hand += float((table * np.log(shares)).sum())
    assert model.aic_ == pytest.approx(2 * model.n_parameters_ - 2 * by_hand)
