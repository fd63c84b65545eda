"""ONNX: graphs that onnxruntime runs, with doubles throughout."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from benchmarks.engines import ONNXRuntime
from exports import assert_scored, clinic, fitted
from unnaive.exceptions import UnnaiveError

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
ENGINE = ONNXRuntime()


@pytest.mark.parametrize("key", ["nb", "tan", "kdb", "aode", "hnb", "gaussian-nb", "auto"])
def test_predictions_are_those_of_python(key):
    assert_scored(ENGINE, *fitted(key))


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_model(key):
    for seed, k in ((1, 3), (2, 2)):
        assert_scored(ENGINE, *fitted(key, seed=seed, k=k))


VARIANTS = [
    unnaive.TAN(missing="drop", smoothing="ml"),
    unnaive.KDB(k=3, smoothing="backoff"),
    unnaive.AODE(subsumption=True, critical=20),
    unnaive.NaiveBayes(smoothing="ml", calibrate="loo"),
    unnaive.KNaiveBayes(k=2, naivete="strong", joint="pseudo"),
    unnaive.KNaiveBayes(k=2, naivete="weak", joint="pseudo"),
]


@pytest.mark.parametrize("model", VARIANTS, ids=repr)
def test_settings_that_change_the_kind_of_tables(model):
    X, y = clinic(3, 3, numbers_only=isinstance(model, unnaive.KNaiveBayes))
    model.fit(X, y)
    assert_scored(ENGINE, model, X)


@pytest.mark.parametrize("key", ["tan", "kdb"])
def test_rows_with_and_without_missing_values(key):
    """Sums over missing columns are computed for rows that have them; others point to one line."""
    model, X = fitted(key, k=2)
    gaps = X.isna().any(axis=1).to_numpy()
    assert gaps.any()
    assert not gaps.all()
    for some in (X[~gaps], X[gaps], X[~gaps].head(1), X[gaps].head(1)):
        assert_scored(ENGINE, model, some.reset_index(drop=True))


def test_ties_go_to_the_first_class():
    """onnxruntime drops a multiplication by a number that is 1 as a float."""
    X = pd.DataFrame({"x": ["a", "b", "c"] * 4})
    model = unnaive.NaiveBayes().fit(X, ["v", "u", "u", "w", "v", "w"] * 2)
    chances = model.predict_proba(X)
    assert (np.isclose(chances, chances.max(axis=1, keepdims=True), rtol=1e-14).sum(1) > 1).all()
    tilted = model.set_params(calibrate=None)
    assert_scored(ENGINE, tilted, X)


@pytest.mark.parametrize("labels", [[True, False], [3, 1], [2.0, -1.0], ["a'b", 'A"B']])
def test_labels_of_every_type(labels):
    X, y = clinic(2, 2)
    y = np.array(labels)[(y == "class 1").astype(int)]
    model = unnaive.NaiveBayes(threshold_bias=[0.3, 0.0]).fit(X, y)
    assert_scored(ENGINE, model, X)


def test_missing_values_as_a_category_and_rare_values():
    random = np.random.default_rng(0)
    data = random.choice(["a", "b", "c", "rare", "rarer"], 300, p=[0.4, 0.3, 0.28, 0.01, 0.01])
    X = pd.DataFrame({"x": np.where(random.random(300) < 0.2, None, data), "z": random.random(300)})
    X.loc[random.random(300) < 0.2, "z"] = np.nan
    y = np.where(random.random(300) < 0.2, "p", np.where(data == "a", "q", "p"))
    model = unnaive.NaiveBayes(min_frequency=10, missing_as_category=True).fit(X, y)
    assert_scored(ENGINE, model, X)
    X["x"] = X["x"].replace("rare", "")
    model = unnaive.NaiveBayes(missing_as_category=True).fit(X, y)
    with pytest.raises(UnnaiveError, match="column 'x' has an empty text as a value"):
        model.to_onnx()


TEXTS = st.lists(
    st.text(min_size=1).filter(lambda text: text.isprintable()), min_size=2, unique=True
)


@given(TEXTS, TEXTS)
@settings(max_examples=15)
def test_hostile_names_and_values(names, values):
    random = np.random.default_rng(0)
    names = [name for name in names[:3] if name not in {"label", "probabilities"}]
    X = pd.DataFrame({name: random.choice(values, size=40).astype(object) for name in names})
    model = unnaive.NaiveBayes().fit(X, random.choice(values, size=40).astype(object))
    assert_scored(ENGINE, model, X)


def test_what_cannot_be_exact_is_refused():
    random = np.random.default_rng(0)
    wide = pd.DataFrame({f"x{i}": random.integers(60, size=90).astype(str) for i in range(5)})
    model = unnaive.KDB(k=4).fit(wide, random.integers(2, size=90))
    with pytest.raises(UnnaiveError, match=r"table of the columns 'x|sums over all joint values"):
        model.to_onnx()
    X = pd.DataFrame({"label": ["a", "b"] * 5})
    with pytest.raises(UnnaiveError, match="the name of an output"):
        unnaive.NaiveBayes().fit(X, [0, 1] * 5).to_onnx()
