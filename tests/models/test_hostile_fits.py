"""Fits to hostile data: a clear answer or a clear refusal, and never a bare exception."""

from __future__ import annotations

import numpy as np
import pytest

import unnaive
from unnaive.exceptions import UnnaiveError

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def proper(chances):
    """Whether probabilities are finite and sum to 1."""
    return np.isfinite(chances).all() and np.allclose(chances.sum(axis=1), 1.0)


@pytest.mark.parametrize("key", ["gnb-a", "gnb-o"])
@pytest.mark.parametrize("cells", [["a", "a", "a"], [None, None, None], ["a", "b", "a"]])
def test_generalized_naive_bayes_on_one_column(key, cells):
    X = np.array(cells, dtype=object)[:, None]
    assert proper(unnaive.make(key).fit(X, [0, 1, 0]).predict_proba(X))


@pytest.mark.parametrize("key", ["a2de", "aode", "tan", "kdb"])
def test_bdeu_without_any_context(key):
    X = np.array([["a", "b", None], ["b", "c", None]], dtype=object)
    model = unnaive.make(key, smoothing="bdeu").fit(X, [0, 1])
    assert proper(model.predict_proba(X))


@pytest.mark.parametrize("policy", [unnaive.Laplace, unnaive.MEstimate, unnaive.BDeu])
def test_strengths_that_overflow_are_refused(policy):
    with pytest.raises(ValueError, match="must be a number from 0 to 1e100"):
        policy(1e308)
    X = [["a"], ["b"], ["a"]]
    model = unnaive.NaiveBayes(smoothing=policy(1e100)).fit(X, [0, 1, 0])
    assert proper(model.predict_proba(X))


@pytest.mark.parametrize("key", ["gaussian-nb", "full-bayes", "k-naive", "gaussian-tan"])
def test_numbers_too_large_for_variances_are_refused(key):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), [0, 1] * 20
    X[:, 0] *= 1e305
    X[1, 0] = 1e308
    message = "column 'x0' has value 1e\\+308 in row 1, which is too large .* divide the column by"
    with pytest.raises(UnnaiveError, match=message):
        unnaive.make(key).fit(X, y)
    model = unnaive.make(key).fit(X / 1e160, y)
    assert proper(model.predict_proba(X / 1e160))
    with pytest.raises(UnnaiveError, match=message):
        model.predict(X)


def test_full_bayes_on_fewer_rows_than_columns():
    for seed in range(20):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(5, 6)), [0, 0, 1, 1, 1]
        try:
            model = unnaive.FullBayes().fit(X, y)
        except UnnaiveError as error:
            assert "var_smoothing" in str(error)  # noqa: PT017 - either is fine
        else:
            assert proper(model.predict_proba(random.normal(size=(3, 6)) * 1e6))
