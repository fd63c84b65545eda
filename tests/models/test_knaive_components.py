"""k-naive Bayes of components and factors: as after scikit-learn's PCA and FactorAnalysis."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA, FactorAnalysis
from sklearn.preprocessing import StandardScaler

from unnaive import FullBayes, KNaiveBayes, load
from unnaive.exceptions import UnnaiveError
from unnaive.models.components import factor_analysis, factor_scores
from unnaive.tables.gaussian import naive_covariance


def made(n=120, d=4, k=2, seed=0):
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % k)
    X = np.empty((n, d))
    for c in range(k):
        X[y == c] = random.normal(size=((y == c).sum(), d)) @ random.normal(size=(d, d)) + c
    return X * 10.0 ** np.arange(d), y


@pytest.mark.parametrize("naivete", ["weak", "strong"])
@pytest.mark.parametrize(("size", "n_classes"), [(0, 2), (2, 2), (3, 3), (4, 2), ("auto", 2)])
def test_it_is_k_naive_after_pca(naivete, size, n_classes):
    X, y = made(k=n_classes, seed=n_classes)
    turned = PCA().fit_transform(StandardScaler().fit_transform(X))
    options = {"k": size, "naivete": naivete, "var_smoothing": 0}
    model = KNaiveBayes(components="pca", **options).fit(X, y)
    other = KNaiveBayes(**options).fit(turned, y)
    expected = [f"component {int(name[1:]) + 1}" for name in other.naive_columns_]
    assert model.naive_columns_ == expected
    np.testing.assert_allclose(model.attribute_weights_, other.attribute_weights_, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(turned), atol=1e-7)


def test_without_a_set_it_is_the_full_gaussian_and_files_and_explanations_agree(tmp_path):
    X, y = made(seed=3)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    full = FullBayes(var_smoothing=0).fit(X, y)
    model = KNaiveBayes(k=0, components="pca", var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(gaps), full.predict_proba(gaps), atol=1e-7)
    model = KNaiveBayes(k=2, components="pca").fit(X, y)
    model.save(tmp_path / "model.unb")
    restored = load(tmp_path / "model.unb")
    np.testing.assert_array_equal(restored.predict_proba(gaps), model.predict_proba(gaps))
    assert restored.naive_columns_ == model.naive_columns_
    np.testing.assert_allclose(model.explain(gaps).posterior, model.predict_proba(gaps), atol=1e-9)
    assert len(model.structure_.edges) == 6
    again = KNaiveBayes(k=2, components="pca")
    for batch in np.array_split(np.arange(len(y)), 3):
        again.partial_fit(X[batch], y[batch], classes=[0, 1])
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-7)


def made_of_factors(n=300, d=8, m=2, seed=0):
    """Samples of common factors, whose covariance differs between two classes, and noise."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % 2)
    factors = random.normal(size=(n, m))
    factors[y == 1] = factors[y == 1] @ random.normal(size=(m, m)) + 0.7
    X = factors @ random.normal(size=(m, d)) + random.normal(size=(n, d)) * 0.8
    return X * 10.0 ** (np.arange(d) % 3), y


def likely_factors(correlations, size, steps=20_000):
    """Twin of factor_analysis: loadings and noise in turns, until nothing changes."""
    noise = np.ones(len(correlations))
    for _ in range(steps):
        scaled = correlations / np.sqrt(np.outer(noise, noise))
        values, vectors = np.linalg.eigh(scaled)
        lengths = np.sqrt(np.maximum(values[-size:] - 1, 0))
        loadings = np.sqrt(noise)[:, None] * vectors[:, -size:] * lengths
        before, noise = noise, np.diag(correlations) - (loadings**2).sum(axis=1)
        if np.abs(noise - before).max() < 1e-13:
            break
    return loadings[:, ::-1], noise


@pytest.mark.parametrize(("size", "seed"), [(1, 0), (2, 1), (3, 2)])
def test_factors_are_the_most_likely_ones(size, seed):
    X, _ = made_of_factors(m=size, seed=seed)
    correlations = np.corrcoef(X, rowvar=False)
    loadings, noise = factor_analysis(correlations, size)
    expected, expected_noise = likely_factors(correlations, size)
    np.testing.assert_allclose(noise, expected_noise, atol=1e-5)
    np.testing.assert_allclose(loadings @ loadings.T, expected @ expected.T, atol=1e-5)


@pytest.mark.parametrize("naivete", ["weak", "strong"])
@pytest.mark.parametrize(("k", "m"), [(0, 2), (2, 2), (2, 3), ("auto", 3)])
def test_it_is_k_naive_after_factor_analysis(naivete, k, m):
    X, y = made_of_factors(m=m, seed=m)
    analysis = FactorAnalysis(m, svd_method="lapack", tol=1e-12, max_iter=20_000)
    turned = analysis.fit_transform(StandardScaler().fit_transform(X))
    options = {"k": k, "naivete": naivete, "var_smoothing": 0}
    model = KNaiveBayes(components="factors", n_factors=m, **options).fit(X, y)
    other = KNaiveBayes(**options).fit(turned, y)
    expected = [f"factor {int(name[1:]) + 1}" for name in other.naive_columns_]
    assert model.naive_columns_ == expected
    np.testing.assert_allclose(model.attribute_weights_, other.attribute_weights_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(turned), atol=1e-4)


def test_what_factors_leave_is_the_same_in_all_classes():
    """The density in the features, also with missing values, from scores and what is left."""
    X, y = made_of_factors(seed=5)
    model = KNaiveBayes(k=2, components="factors", var_smoothing=0).fit(X, y)
    scores = factor_scores(model.fitted_.spread)
    assert scores.shape == (2, 8)
    total = np.cov(X, rowvar=False, bias=True)
    rest = null_space(scores @ total).T  # uncorrelated with the scores
    back = np.linalg.inv(np.vstack([scores, rest]))
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.4, np.nan, X)[:40]
    expected = np.empty((len(gaps), 2))
    for c in (0, 1):
        mean = np.concatenate([scores @ X[y == c].mean(axis=0), rest @ X.mean(axis=0)])
        covariance = np.zeros((8, 8))
        inner = scores @ np.cov(X[y == c], rowvar=False, bias=True) @ scores.T
        covariance[:2, :2] = naive_covariance(inner, np.array([0, 1]), strong=False)
        covariance[2:, 2:] = rest @ total @ rest.T
        for row, sample in enumerate(gaps):
            seen = np.flatnonzero(~np.isnan(sample))
            density = multivariate_normal(
                (back @ mean)[seen], (back @ covariance @ back.T)[np.ix_(seen, seen)]
            )
            expected[row, c] = density.logpdf(sample[seen]) if len(seen) else 0.0
    expected += np.log(np.bincount(y) / len(y))
    expected -= logsumexp(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(gaps), expected, atol=1e-7)
    np.testing.assert_allclose(model.explain(gaps).posterior, model.predict_proba(gaps), atol=1e-9)


def test_factors_in_files_in_batches_and_by_cross_validation(tmp_path):
    X, y = made_of_factors(n=120, seed=6)
    model = KNaiveBayes(k="cv", components="factors").fit(X, y)
    model.save(tmp_path / "model.unb")
    restored = load(tmp_path / "model.unb")
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
    assert restored.naive_columns_ == model.naive_columns_
    model = KNaiveBayes(k=1, components="factors").fit(X, y)
    again = KNaiveBayes(k=1, components="factors")
    for batch in np.array_split(np.arange(len(y)), 3):
        again.partial_fit(X[batch], y[batch], classes=[0, 1])
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-7)
    X[::3, 1] = np.nan
    X[:, 2] = 4.0  # constant
    X[:, 3] = X[:, 4]  # a copy
    chances = KNaiveBayes(k=1, components="factors").fit(X, y).predict_proba(X)
    assert np.isfinite(chances).all()


@pytest.mark.parametrize(
    ("columns", "n_factors", "message"),
    [
        (2, None, 'components="factors" needs at least 3 features with values, not 2'),
        (8, 5, "n_factors=5; correlations of 8 features determine at most 4"),
        (8, 0, "n_factors=0; it must be a whole number of at least 1"),
    ],
)
def test_factors_that_are_not_determined(columns, n_factors, message):
    X, y = made_of_factors(seed=7)
    with pytest.raises(ValueError, match=message):
        KNaiveBayes(k=1, components="factors", n_factors=n_factors).fit(X[:, :columns], y)


def test_what_components_cannot_do():
    X, y = made(seed=4)
    for options in ({"joint": "pseudo"}, {"weighting": "mean"}):
        for kind in ("pca", "factors"):
            with pytest.raises(ValueError, match=f'components="{kind}" has no full conditionals'):
                KNaiveBayes(k=2, components=kind, **options).fit(X, y)
    with pytest.raises(UnnaiveError, match="the set is one of components"):
        KNaiveBayes(k=2, components="pca").fit(X, y).predict_by_row(X)
