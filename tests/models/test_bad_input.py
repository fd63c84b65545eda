"""Bad input gets an error that names the column, the value and the cure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

import unnaive
from problems import COUNTING
from unnaive import AODE, TAN, NaiveBayes

X = pd.DataFrame({"a": ["u", "v", "u"], "b": [1.5, 2.5, 3.5]})
Y = ["no", "yes", "no"]


@pytest.fixture(params=COUNTING)
def model(request):
    return unnaive.make(request.param)


@pytest.fixture(params=[*COUNTING, "gaussian-nb"])
def reader(request):
    """Any model that reads both labels and numbers."""
    return unnaive.make(request.param)


@pytest.mark.parametrize(
    ("frame", "labels", "error", "message"),
    [
        (X[:0], [], ValueError, "0 sample"),
        (X[[]], Y, ValueError, r"0 feature\(s\)"),
        (X, Y[:2], ValueError, "inconsistent numbers of samples"),
        (X, None, ValueError, "y to be passed, but the target y is None"),
        (X, ["no", None, "yes"], ValueError, "'y' is missing in 1 of 3 rows .*row 1.*drop these"),
        (X, [0.0, np.nan, 1.0], ValueError, "Input y contains NaN"),
        (X, [0.5, 1.5, 2.25], ValueError, "Unknown label type"),
        (X.assign(b=[1.0, np.inf, 2.0]), Y, ValueError, "column 'b' has the infinite value inf"),
        (X.set_axis(["a", "a"], axis=1), Y, ValueError, "column name 'a' occurs more than once"),
        (X.assign(b=pd.to_datetime(["2020", "2021", "2022"])), Y, TypeError, "'b' has dates or"),
        (csr_array(np.eye(3)), Y, TypeError, "sparse data.*toarray"),
        (pl.LazyFrame({"a": [1, 2, 3]}), Y, TypeError, "a stream"),
        (np.array([[{}], [1], [2]], dtype=object), Y, TypeError, "column 'x0' has value {}"),
        (np.zeros(3), Y, ValueError, "Expected 2D array"),
    ],
)
def test_bad_rows(reader, frame, labels, error, message):
    with pytest.raises(error, match=message):
        reader.fit(frame, labels)


def test_infinity_where_a_category_is_expected():
    with pytest.raises(ValueError, match="column 'x0' has the infinite value -inf in row 1"):
        NaiveBayes(discretize=None).fit([[1.0], [-np.inf]], [0, 1])
    model = NaiveBayes(discretize=None).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="infinite value inf in row 0"):
        model.predict([[np.inf]])


def test_bad_weights(reader):
    with pytest.raises(ValueError, match=r"sample_weight is -1.0 in row 1"):
        reader.fit(X, Y, sample_weight=[1, -1, 1])
    with pytest.raises(ValueError, match="zero"):
        reader.fit(X, Y, sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="NaN"):
        reader.fit(X, Y, sample_weight=[1, np.nan, 1])


def test_one_class_is_a_constant_classifier(reader):
    assert reader.fit(X, ["no"] * 3).predict_proba(X).tolist() == [[1.0]] * 3


def test_a_class_without_rows_is_allowed(model):
    target = pd.Series(pd.Categorical(Y, categories=["no", "yes", "maybe"]))
    chances = model.fit(X, target).predict_proba(X)
    assert chances.shape == (3, 3)
    assert (chances > 0).all()


def test_a_column_without_values_is_ignored_with_a_warning(model):
    empty = X.assign(c=[None] * 3, d=[np.nan] * 3)
    with pytest.warns(UserWarning, match="column 'c', 'd' has no value"):
        model.fit(empty, Y)
    expected = unnaive.make("nb").fit(X, Y)
    if isinstance(model, NaiveBayes):
        assert np.array_equal(model.predict_proba(empty), expected.predict_proba(X))
    assert np.isfinite(model.predict_log_proba(empty)).all()


def test_labels_and_numbers_do_not_mix(model):
    model.fit(X, Y)
    with pytest.raises(ValueError, match="column 'a' held labels such as 'u' in fit and has the"):
        model.predict(X.assign(a=[1, 2, 3]))
    with pytest.raises(ValueError, match="column 'b' held numbers in fit and has the label 'x'"):
        model.predict(X.assign(b=["x", "y", "z"]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"discretize": "magic"}, "discretize='magic' is not known; use one of 'mdlp'"),
        ({"smoothing": "magic"}, "smoothing='magic'; it must be a policy such as Laplace"),
        ({"smoothing": "laplace:-1"}, "is not a strength for 'laplace'"),
        ({"smoothing": 3}, "smoothing=3; it must be"),
        ({"categories": [["u"]]}, "a list of 2 entries, one per column"),
        ({"categories": {"z": ["u"]}}, "names 'z', which is not a column"),
        ({"categories": {"a": ["u", "u"]}}, "column 'a' has a value twice"),
        ({"categorical_features": ["z"]}, "names 'z', which is not a column"),
        ({"categorical_features": [7]}, "has 7; positions run from 0 to 1"),
        ({"categorical_features": [True]}, "a mask of 2 booleans"),
        ({"class_prior": [0.2, 0.2]}, "probabilities that sum to 1"),
        ({"bins": 0, "discretize": "width"}, "bins"),
        ({"max_memory": "2GB"}, "max_memory='2GB'; it must be a number of bytes"),
    ],
)
def test_bad_parameters(model, settings, message):
    with pytest.raises(ValueError, match=message):
        model.set_params(**settings).fit(X, Y)


def test_bad_unknown_handling():
    with pytest.raises(ValueError, match="handle_unknown='panic'; it must be"):
        NaiveBayes(handle_unknown="panic").fit(X, Y)
    model = NaiveBayes().fit(X, Y).set_params(handle_unknown="panic")
    with pytest.raises(ValueError, match="handle_unknown='panic'; it must be"):
        model.predict(X)


def test_labels_that_no_file_could_hold():
    cut = pd.cut([1.0, 2.0, 3.0], 2)
    with pytest.raises(TypeError, match=r"column 'a' has value Interval.*column to strings"):
        NaiveBayes().fit(pd.DataFrame({"a": cut}), Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"root": "z"}, "root: 'z' is not a column"),
        ({"root": 2}, "root: 2 is not a column"),
        ({"parents": ["b"]}, "parents has 1 entries"),
        ({"parents": ["b", "a"]}, "cycle"),
        ({"parents": ["a", None]}, "cycle"),
        ({"parents": ["z", None]}, "parents: 'z' is not a column"),
        ({"missing": "panic"}, "missing='panic'"),
        ({"forest": "magic"}, "forest='magic'"),
    ],
)
def test_bad_trees(settings, message):
    with pytest.raises(ValueError, match=message):
        TAN(**settings).fit(X, Y)


def test_bad_aode():
    with pytest.raises(ValueError, match="min_count=-1"):
        AODE(min_count=-1).fit(X, Y)
    with pytest.raises(ValueError, match="critical='often'"):
        AODE(subsumption=True, critical="often").fit(X, Y)


def test_forget_what_was_never_there(model):
    model.fit(X, Y)
    with pytest.raises(ValueError, match="never counted"):
        model.forget(X, ["yes", "no", "yes"])
    assert model.counts_.total == 3


def test_partial_fit_and_strange_classes(model):
    model.partial_fit(X, Y, classes=["no", "yes"])
    with pytest.raises(ValueError, match=r"label 'maybe' in row 0.*not one of the classes"):
        model.partial_fit(X, ["maybe", "no", "no"])
    with pytest.raises(ValueError, match="not the same as on the first call"):
        model.partial_fit(X, Y, classes=["no", "perhaps"])
    with pytest.raises(ValueError, match="not one of the classes"):
        unnaive.make("nb").partial_fit(X, Y, classes=["no"])


def test_unknown_model():
    with pytest.raises(ValueError, match="there is no model 'magic'; the models are a2de"):
        unnaive.make("magic")
    with pytest.raises(ValueError, match="there is no model 'tann'; did you mean 'tan'"):
        unnaive.make("tann")
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        unnaive.magic  # noqa: B018


@pytest.mark.parametrize(
    ("other", "cure"),
    [
        (X.assign(c=1), r"X\[list\(model.feature_names_in_\)\]"),
        (X[["b", "a"]], r"X\[list\(model.feature_names_in_\)\]"),
        (X[["a"]], r"X.reindex\(columns=model.feature_names_in_\)"),
    ],
)
def test_other_columns_at_predict(other, cure):
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(ValueError, match=cure):
        model.predict(other)
    assert len(model.predict(other.reindex(columns=model.feature_names_in_))) == 3
