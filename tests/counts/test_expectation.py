"""Covariances of rows with missing values: the slow twin, constant columns, hostile patterns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interrupts import interrupted
from unnaive import KNaiveBayes, _core
from unnaive._core.expectation import estimate_moments
from unnaive.counts import expectation
from unnaive.counts.expectation import maximum_likelihood


def twin(X, weights, mean, variances, least, rounds=300):
    """EM row by row, as in the paper."""
    covariance, fixed = np.diag(variances), np.isnan(X).all(axis=0) | (variances == 0)
    for _ in range(rounds):
        filled, spread = X.copy(), np.zeros_like(covariance)
        for row, weight in zip(filled, weights, strict=True):
            gone = np.isnan(row)
            inner = covariance[np.ix_(~gone, ~gone)] + np.diag(least[~gone])
            slopes = np.linalg.solve(inner, covariance[np.ix_(~gone, gone)]).T
            row[gone] = mean[gone] + slopes @ (row[~gone] - mean[~gone])
            left = covariance[np.ix_(gone, gone)] - slopes @ covariance[np.ix_(~gone, gone)]
            spread[np.ix_(gone, gone)] += weight * left
        mean = np.where(fixed, mean, weights @ filled / weights.sum())
        new = ((weights[:, None] * (filled - mean)).T @ (filled - mean) + spread) / weights.sum()
        new[variances == 0] = new[:, variances == 0] = 0.0
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
        found = maximum_likelihood(X, weights, *start)
    for one, other in zip(found, twin(X, weights, *start, rounds), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def hostile(n, d, n_patterns, seed):
    """Rows of few patterns, with columns that are constant, copies, or never observed."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) @ random.normal(size=(d, d)) + random.normal(size=d) * 9
    X[:, random.random(d) < 0.15] = 7.0
    X[:, random.random(d) < 0.15] = X[:, :1]
    patterns = random.random((n_patterns, d)) < random.choice([0.0, 0.1, 0.5, 0.95], size=d)
    X[patterns[random.integers(n_patterns, size=n)]] = np.nan
    there = ~np.isnan(X)
    mean = np.where(there, X, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    variances = np.where(there, (X - mean) ** 2, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    variances[~there.any(axis=0)] = random.integers(2)
    weights = random.choice([0.0, 0.5, 1.0, 3.0], size=n)
    weights[0] = 1.0
    return X, weights, mean, variances, np.where(variances > 0, 1e-3 * variances, 1.0)


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 12), st.integers(0, 10**6))
def test_hostile_shapes_as_row_by_row(n, d, n_patterns, seed):
    problem = hostile(n, d, n_patterns, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "_ROUNDS", 5)
        patch.setattr(expectation, "_CHANGE", 0.0)
        mean, covariance = maximum_likelihood(*problem)
    expected_mean, expected = twin(*problem, 5)
    scale = np.sqrt(np.where(problem[3] > 0, problem[3], 1.0))
    np.testing.assert_allclose(mean / scale, expected_mean / scale, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        covariance / np.outer(scale, scale), expected / np.outer(scale, scale), atol=1e-9
    )
    assert np.array_equal(covariance, covariance.T)


@settings(max_examples=15)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 12), st.integers(0, 10**6))
def test_bits_do_not_depend_on_order_copies_or_instructions(n, d, n_patterns, seed):
    X, weights, *start = hostile(n, d, n_patterns, seed)
    mean, covariance = maximum_likelihood(X, 2 * weights, *start)
    order = np.random.default_rng(seed).permutation(2 * n) % n
    try:
        for level in range(_core.level() + 1):
            _core.set_level(level)
            again = maximum_likelihood(X[order], weights[order], *start)
            assert np.array_equal(again[0], mean)
            assert np.array_equal(again[1], covariance)
    finally:
        _core.set_level(-1)


def test_a_column_that_others_explain_adds_nothing():
    values = np.random.default_rng(0).normal(size=20)
    X = np.stack([values, values, values], axis=1)
    X[:6, 2] = np.nan
    start = (np.nanmean(X, axis=0), np.nanvar(X, axis=0), np.zeros(3))
    mean, covariance = maximum_likelihood(X, np.ones(20), *start)
    np.testing.assert_allclose(mean, values.mean())
    np.testing.assert_allclose(covariance, values.var())


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_copies_of_tiny_and_huge_columns_leave_finite_numbers(scale):
    values = scale * np.random.default_rng(0).normal(size=60)
    X = np.stack([values, values, np.random.default_rng(1).normal(size=60)], axis=1)
    X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    variances = np.nanvar(X, axis=0)
    mean, covariance = maximum_likelihood(
        X, np.ones(60), np.nanmean(X, axis=0), variances, 1e-12 * variances
    )
    unit = np.array([scale, scale, 1.0])
    X /= unit
    start = (np.nanmean(X, axis=0), np.nanvar(X, axis=0), 1e-12 * np.nanvar(X, axis=0))
    expected_mean, expected = maximum_likelihood(X, np.ones(60), *start)
    np.testing.assert_allclose(mean / unit, expected_mean, atol=1e-3)
    np.testing.assert_allclose(covariance / unit / unit[:, None], expected, atol=1e-3)


@pytest.mark.parametrize(
    ("place", "wrong", "message"),
    [
        (1, np.ones(3), "not a weight for every row"),
        (2, np.ones(2), "not a mean and a covariance for every column"),
        (5, np.zeros(2), "not a mean and a covariance for every column"),
        (6, np.zeros((3, 2)), "not a mean and a covariance for every column"),
        (3, -1, "rounds lie beyond their limit"),
        (3, 1 << 62, "rounds lie beyond their limit"),
    ],
)
def test_the_kernel_refuses_other_shapes(place, wrong, message):
    arguments = [np.ones((4, 3)), np.ones(4), np.ones(3), 5, 1e-8, np.zeros(3), np.eye(3)]
    assert estimate_moments(*arguments) == 2
    arguments[place] = wrong
    with pytest.raises(IndexError, match=message):
        estimate_moments(*arguments)


@pytest.mark.long
def test_an_interrupt_does_not_wait_for_the_last_round():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 60)) @ random.normal(size=(60, 60))
    X[random.random(X.shape) < 0.5] = np.nan  # every row has a pattern of its own
    start = (np.nanmean(X, axis=0), np.nanvar(X, axis=0), np.full(60, 1e-9))
    with interrupted():
        maximum_likelihood(X, np.ones(len(X)), *start)


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
