"""JavaScript: a model as one module, run by node."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from benchmarks.engines import plain_rows
from exports import assert_predictions, assert_scored, clinic, fitted, started
from unnaive.exceptions import UnnaiveError
from unnaive.export import javascript_types


@pytest.fixture(scope="module")
def node():
    with started("node") as engine:
        yield engine


@pytest.mark.parametrize("key", ["tan", "aode", "gaussian-nb", "auto"])
def test_predictions_are_those_of_python(node, key):
    model, X = fitted(key)
    found = node.ask(model.to_javascript(), plain_rows(X), explained=20)
    labels = [row["label"] for row in found["predicted"]]
    chances = [row["probabilities"] for row in found["predicted"]]
    assert_predictions(model, X, labels, chances)
    assert found["columns"] == list(X.columns)
    explanation = model.explain(X[:20])
    for row, told in enumerate(found["explained"]):
        assert told["label"] == labels[row]
        total = told["base"] + sum(c["contribution"] for c in told["contributions"])
        odds = explanation.log_odds(positive=told["label"])
        assert told["base"] == pytest.approx(odds.base[row], abs=1e-9)
        assert total == pytest.approx(odds.base[row] + odds.contributions[row].sum(), abs=1e-9)


def has_closed_form(model):
    return getattr(model.fitted_, "combines", str)() == "product"


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=() if key in {"nb", "tan", "kdb"} else pytest.mark.long)
        for key in sorted(unnaive.all_models())
    ],
)
def test_intervals_are_those_of_python(node, key):
    model, X = fitted(key, seed=2)
    if not has_closed_form(model):
        with pytest.raises(UnnaiveError, match="closed form"):
            model.to_javascript(intervals=True)
        return
    for level in (0.5, 0.9):
        found = node.ask(model.to_javascript(intervals=True), plain_rows(X), level=level)
        expected = model.predict_interval(X, level, method="delta")
        for bound in ("lower", "median", "upper"):
            told = [row[bound] for row in found["intervals"]]
            np.testing.assert_allclose(told, getattr(expected, bound), rtol=0, atol=1e-9)


def test_models_without_intervals_say_so(node):
    model, X = fitted("aode")
    with pytest.raises(UnnaiveError, match="closed form"):
        model.to_javascript(intervals=True)
    with pytest.raises(RuntimeError, match="without intervals"):
        node.ask(model.to_javascript(), plain_rows(X[:1]), level=0.9)


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(unnaive.all_models()))
def test_every_model(node, key):
    assert_scored(node, *fitted(key, seed=1))


@pytest.mark.parametrize("labels", [[True, False], [3, 1], [2.0, -1.0], ["1", "0"]])
def test_labels_keep_their_types_and_thresholds_their_bias(node, labels):
    X, y = clinic(2, 2)
    y = np.array(labels)[(y == "class 1").astype(int)]
    model = unnaive.NaiveBayes(threshold_bias=[0.3, 0.0]).fit(X, y)
    found = node.ask(model.to_javascript(), plain_rows(X))
    assert found["classes"] == model.classes_.tolist()
    assert [p["label"] for p in found["predicted"]] == model.predict(X).tolist()


def test_rare_values_and_missing_categories(node):
    random = np.random.default_rng(0)
    data = random.choice(["a", "b", "c", "rare", "rarer"], 300, p=[0.4, 0.3, 0.28, 0.01, 0.01])
    X = pd.DataFrame({"x": np.where(random.random(300) < 0.2, None, data), "z": data == "a"})
    y = np.where(random.random(300) < 0.2, "p", np.where(data == "a", "q", "p"))
    model = unnaive.NaiveBayes(min_frequency=10, missing_as_category=True).fit(X, y)
    assert model.schema_.columns[0].others
    rows = pd.DataFrame({"x": ["rare", "rarer", "missing", "other values", None], "z": True})
    found = node.ask(model.to_javascript(), plain_rows(rows))
    chances = [p["probabilities"] for p in found["predicted"]]
    np.testing.assert_allclose(chances, model.predict_proba(rows), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"number 0": "12"}, 'column "number 0" has the value "12"; it needs a number'),
        ({"grade": "1"}, 'column "grade" has the value "1"; it needs a number'),
        ({"ages": 1}, 'there is no column "ages"'),
        ([1], "a row has 1 values; it needs 6"),
        (None, "TypeError: a row is an object, value by column name, or an array"),
        ("a", "TypeError: a row is an object, value by column name, or an array"),
    ],
)
def test_bad_rows_are_refused(node, row, error):
    model, _ = fitted("nb")
    with pytest.raises(RuntimeError, match=error):
        node.ask(model.to_javascript(), [row])


def test_what_cannot_be_exact_is_refused():
    X = pd.DataFrame({"id": [2**53 + 1, 2**53 + 2] * 5}, dtype=np.int64)
    model = unnaive.NaiveBayes(discretize=None).fit(X, [0, 1] * 5)
    with pytest.raises(UnnaiveError, match="column 'id' has the value 9007199254740993, which"):
        model.to_javascript()
    model = unnaive.NaiveBayes(handle_unknown="error").fit([["a"], ["b"]], [0, 1])
    with pytest.raises(UnnaiveError, match="NaiveBayes has handle_unknown='error'"):
        model.to_javascript()


def test_types_name_what_the_module_exports():
    types = javascript_types()
    for name in ("classes", "columns", "predict", "explain"):
        assert f" {name}" in types.split("/** Labels of the classes. */")[1]
