"""Copies of models by pickle, copy, clone, joblib and skops predict the same."""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import unnaive
from unnaive.models.gaussian import GaussianClassifier

sio = pytest.importorskip("skops.io")


def frame(model):
    """Booleans, strings, whole numbers and missing values; numbers for Gaussian models."""
    random = np.random.default_rng(2)
    y = random.random(80) < 0.5
    if isinstance(model, GaussianClassifier):
        return pd.DataFrame(random.normal(size=(80, 3)) + y[:, None], columns=list("uvw")), y
    texts = random.choice(["a", "b", None], 80, p=[0.4, 0.4, 0.2])
    flags = np.where(random.random(80) < 0.8, y, ~y)
    return pd.DataFrame({"flag": flags, "text": texts, "level": random.integers(0, 3, 80) + y}), y


def by_joblib(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


def by_skops(model):
    content = sio.dumps(model)
    untrusted = sio.get_untrusted_types(data=content)
    assert untrusted == [f"{type(model).__module__}.{type(model).__qualname__}"]
    return sio.loads(content, trusted=untrusted)


WAYS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "joblib": by_joblib,
    "skops": by_skops,
}


@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_copies_predict_the_same(key):
    model = unnaive.make(key)
    X, y = frame(model)
    model.fit(X, y)
    expected = model.predict_proba(X)
    for name, way in WAYS.items():
        again = way(model)
        assert np.array_equal(again.predict_proba(X), expected), name
        assert np.array_equal(again.predict(X), model.predict(X)), name
        assert again.classes_.dtype == bool
        assert repr(again) == repr(model), name
        assert again.feature_names_in_.tolist() == X.columns.tolist()
        assert clone(again).get_params(deep=False).keys() == model.get_params(deep=False).keys()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_models_that_are_not_fitted(way):
    model = way(unnaive.TAN(smoothing=unnaive.tables.BDeu(2.0), n_features=3))
    assert repr(model) == "TAN(n_features=3, smoothing=BDeu(ess=2.0))" or "BDeu" in repr(model)
    assert not hasattr(model, "fitted_")


def test_pickle_keeps_the_path():
    model = unnaive.TAN(n_features="loo")
    X, y = frame(model)
    model.fit(X, y)
    assert WAYS["pickle"](model).path_.keys() == model.path_.keys()


def test_parameters_that_changed_after_the_fit_stay():
    model = unnaive.NaiveBayes()
    X, y = frame(model)
    expected = model.fit(X, y).predict_proba(X)
    model.set_params(smoothing="bdeu", threshold_bias={True: 0.3})
    again = by_skops(model)
    assert again.smoothing == "bdeu"
    assert again.threshold_bias == {True: 0.3}
    assert np.array_equal(again.predict_proba(X), expected)


def test_skops_of_a_pipeline_and_of_more_samples():
    model = unnaive.TAN()
    X, y = frame(model)
    pipeline = make_pipeline("passthrough", model).fit(X, y)
    content = sio.dumps(pipeline)
    again = sio.loads(content, trusted=["unnaive.models.tree.TAN"])
    assert np.array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    more = again[-1].partial_fit(X, y)
    assert np.array_equal(more.predict_proba(X), model.partial_fit(X, y).predict_proba(X))
