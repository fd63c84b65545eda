"""k-naive Bayes of principal components: the same as after scikit-learn's PCA, in the features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from unnaive import FullBayes, KNaiveBayes, load
from unnaive.exceptions import UnnaiveError


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


def test_what_components_cannot_do():
    X, y = made(seed=4)
    for options in ({"joint": "pseudo"}, {"weighting": "mean"}):
        with pytest.raises(ValueError, match='components="pca" has no full conditionals'):
            KNaiveBayes(k=2, components="pca", **options).fit(X, y)
    with pytest.raises(UnnaiveError, match="the set is one of components"):
        KNaiveBayes(k=2, components="pca").fit(X, y).predict_by_row(X)
