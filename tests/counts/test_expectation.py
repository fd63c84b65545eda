"""Covariances of rows with missing values: the slow twin, constant columns, hostile patterns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive import KNaiveBayes
from unnaive.counts import expectation
from unnaive.counts.expectation import maximum_likelihood


def twin(X, weights, mean, variances, least, rounds=300):
    """EM row by row, as in the paper."""
    covariance = np.diag(variances)
    for _ in range(rounds):
        filled, spread = X.copy(), np.zeros_like(covariance)
        for row, weight in zip(filled, weights, strict=True):
            gone = np.isnan(row)
            inner = covariance[np.ix_(~gone, ~gone)] + np.diag(least[~gone])
            slopes = np.linalg.solve(inner, covariance[np.ix_(~gone, gone)]).T
            row[gone] = mean[gone] + slopes @ (row[~gone] - mean[~gone])
            left = covariance[np.ix_(gone, gone)] - slopes @ covariance[np.ix_(~gone, gone)]
            spread[np.ix_(gone, gone)] += weight * left
        mean = weights @ filled / weights.sum()
        new = ((weights[:, None] * (filled - mean)).T @ (filled - mean) + spread) / weights.sum()
        done, covariance = np.abs(new - covariance).max() < 1e-13, new
        if done:
            break
    return mean, covariance


@settings(max_examples=15)
@given(st.integers(3, 20), st.integers(1, 4), st.floats(0.0, 0.8), st.integers(0, 10**6))
def test_as_row_by_row(n, d, share, seed):
    random = np.random.default_rng(seed)
    X, weights = random.normal(size=(n, d)), random.integers(1, 3, size=n).astype(float)
    X[random.random((n, d)) < share] = np.nan
    X[:3] = random.normal(size=(3, d))  # every column varies
    start = (np.zeros(d), np.ones(d), np.full(d, 1e-9))
    rounds = 12  # before both have converged, they agree to the last digits
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "_ROUNDS", rounds)
        patch.setattr(expectation, "_CHANGE", 0.0)
        patch.setattr(expectation, "_ENTRIES", 3 * d * d)  # several groups of patterns
        found = maximum_likelihood(X, weights, *start)
    for one, other in zip(found, twin(X, weights, *start, rounds), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def test_a_constant_column_has_no_variance():
    X = np.array([[0.1, 1.0], [0.1, np.nan], [np.nan, 2.0], [0.1, 4.0]])
    start = (np.array([0.1, 2.0]), np.array([0.0, 1.5]), np.array([1.0, 1e-9]))
    mean, covariance = maximum_likelihood(X, np.array([1.0, 2.0, 1.0, 3.0]), *start)
    assert mean[0] == 0.1
    assert (covariance[0] == 0).all()
    assert covariance[1, 1] > 0


def test_rounding_is_no_variance():
    X, y = np.full((5, 1), np.nan), np.array([1, 0, 1, 0, 0])
    X[1, 0] = 0.13702778059768625  # a fifth of five times this number is another number
    weights = np.array([1, 2, 1, 1, 2])
    repeated = np.repeat(np.arange(5), weights)
    expected = KNaiveBayes().fit(X[repeated], y[repeated]).predict_proba(X)
    found = KNaiveBayes().fit(X, y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
