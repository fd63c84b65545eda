"""``partial_fit(grow=True)``: categories and classes never seen before, exactly."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unnaive
from fits import with_counts
from problems import COUNTING
from unnaive.exceptions import DataWarning, TableTooLarge, UnnaiveError
from unnaive.models.blocks import coded_batch, counted

REFUSED = {
    "apnbc",
    "apnbc-eda",
    "ienb",
    "iterative",
    "wanbia",
    "weighted-pairs",
    "weighted-tan",
}


def batches(seed, number=3, d=4):
    """Batches of letters with gaps; each draws from other letters and other classes."""
    chance = np.random.default_rng(seed)
    result = []
    for place in range(number):
        n = int(chance.integers(8, 20))
        y = np.array(["p", "q", "r"])[chance.integers(0, 2 + (place > 0), n)]
        y[:2] = ["p", "q"]
        X = chance.choice(list("abcdefgh"[: 2 + 2 * place]), (n, d)).astype(object)
        X[chance.random((n, d)) < 0.1] = None
        X[:2, :] = [["a"] * d, ["b"] * d]  # every column has categories from the start
        result.append((pd.DataFrame(X, columns=list("stuv")[:d]), y))
    return result


def pooled(some):
    return pd.concat([X for X, _ in some], ignore_index=True), np.concatenate([y for _, y in some])


def grown_model(key, some, **parameters):
    model = unnaive.make(key, discretize=None, **parameters)
    for X, y in some:
        model.partial_fit(X, y, classes=sorted({*y, *getattr(model, "classes_", ())}), grow=True)
    return model


@pytest.mark.parametrize("key", [key for key in COUNTING if key not in REFUSED])
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6))
def test_a_grown_model_is_that_of_one_fit_that_knew_everything(key, seed):
    some = batches(seed)
    X, y = pooled(some)
    model = grown_model(key, some)
    whole = unnaive.make(key, discretize=None).partial_fit(X, y)
    assert model.schema_ == whole.schema_
    assert model.classes_.tolist() == whole.classes_.tolist() == ["p", "q", "r"]
    rows = coded_batch(whole, whole._given(X, y, None, first=False), whole.schema_)
    expected = counted(model.counts_, rows)
    assert model.counts_ == expected
    if model.recipe().keeps:  # the structure is that of the first samples, with all counts
        reference = with_counts(model, expected)
    else:
        reference = unnaive.make(key, discretize=None).fit_counts(expected)
        if model.recipe().learns_again:
            assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))
    assert np.array_equal(model.predict_proba(X), reference.predict_proba(X))


@pytest.mark.parametrize("key", ["nb", "tan", "aode", "hnb", "a2de", "gnb-o", "tan-multinet"])
def test_a_grown_model_is_that_of_fit(key):
    some = batches(1)
    X, y = pooled(some)
    model, whole = grown_model(key, some), unnaive.make(key, discretize=None).fit(X, y)
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))
    model.forget(*some[1])
    again = unnaive.make(key, discretize=None, categories=dict(categories_of(whole)))
    again.partial_fit(*pooled([some[0], some[2]]), classes=["p", "q", "r"])
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))


def categories_of(model):
    return ((column.name, column.categories) for column in model.schema_.columns)


@pytest.mark.parametrize("key", sorted(REFUSED))
def test_models_that_learned_numbers_from_samples_refuse_to_grow(key):
    first, second, _ = batches(2)
    model = unnaive.make(key, discretize=None).partial_fit(*first, classes=["p", "q", "r"])
    before = model.predict_proba(first[0])
    with pytest.raises(UnnaiveError, match=r"lacked category '.' of column 's', and it learns"):
        model.partial_fit(*second, grow=True)
    assert np.array_equal(model.predict_proba(first[0]), before)
    assert model.partial_fit(*first, grow=True).counts_.total == 2 * len(first[1])


def test_growth_must_be_asked_for():
    """Without it unseen categories are missing; an undeclared class is always an error."""
    first, second, _ = batches(3)
    known = ["p", "q", "r"]
    model = unnaive.TAN(discretize=None).partial_fit(*first, classes=known)
    assert model.partial_fit(*second).schema_.columns[0].categories == ("a", "b")
    model = unnaive.TAN(discretize=None).partial_fit(*first)
    assert model.classes_.tolist() == ["p", "q"]
    with pytest.raises(UnnaiveError, match=r"label 'r' in row .*grow=True"):
        model.partial_fit(*second, grow=True)
    assert model.schema_.columns[0].categories == ("a", "b")
    with pytest.raises(ValueError, match="is not the same as on the first call"):
        model.partial_fit(*second, classes=known)
    model.partial_fit(*second, classes=np.array(["q", "r"]), grow=True)
    assert model.classes_.tolist() == known


def test_numbers_stay_in_their_bins_and_numbered_categories_grow():
    chance = np.random.default_rng(0)
    y = np.repeat([1, 2], 20)
    X = pd.DataFrame({"age": chance.normal(50 + 20 * y, 5), "children": chance.integers(0, 2, 40)})
    model = unnaive.NaiveBayes().partial_fit(X, y)
    edges = model.schema_.columns[0].edges
    later = pd.DataFrame({"age": [500.0, -3.0], "children": [7, 5]})
    model.partial_fit(later, [1, 3], classes=[1, 2, 3], grow=True)
    assert model.schema_.columns[0].edges == edges
    assert model.schema_.columns[1].categories == (0, 1, 5, 7)
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.classes_.dtype == np.int64


def test_what_cannot_grow_says_so():
    first, second, third = batches(4)
    calibrated = unnaive.NaiveBayes(calibrate="loo", discretize=None).fit(*first)
    with pytest.raises(UnnaiveError, match="calibrated without class 'r'"):
        calibrated.partial_fit(*second, classes=["p", "q", "r"], grow=True)
    two = [label in "pq" for label in second[1]]
    calibrated.partial_fit(second[0][two], second[1][two], grow=True)  # categories are welcome
    small = unnaive.TAN(discretize=None, max_memory=600).partial_fit(*first)
    with pytest.raises(TableTooLarge, match="counting all pairs would take"):
        small.partial_fit(*third, classes=["p", "q", "r"], grow=True)
    nothing = pd.DataFrame({"a": ["x", "y"], "b": [None, None]}, dtype=object)
    with pytest.warns(DataWarning, match="column 'b' has no value"):
        model = unnaive.NaiveBayes().partial_fit(nothing, [0, 1])
    with pytest.raises(
        UnnaiveError, match=r"column 'b' had no value so far and has the number 1\.5"
    ):
        model.partial_fit(pd.DataFrame({"a": ["x"], "b": [1.5]}), [0], grow=True)
    model.partial_fit(pd.DataFrame({"a": ["x"], "b": ["new"]}), [0], grow=True)
    assert model.schema_.columns[1].categories == ("new",)


@pytest.mark.parametrize("key", ["nb", "gaussian-nb"])
def test_classes_are_a_list_of_labels(key):
    X = [[1.0], [2.0], [4.0]]
    for classes in ("abc", 5):
        with pytest.raises(ValueError, match=f"classes= is {classes!r}; it must be a list of val"):
            unnaive.make(key).partial_fit(X, ["a", "b", "c"], classes=classes)
    with pytest.raises(ValueError, match="classes= has nan; values are strings or finite numbers"):
        unnaive.make(key).partial_fit(X, [0, 1, 2], classes=[0, 1, 2, float("nan")])
    model = unnaive.make(key).partial_fit(X, ["a", "b", "c"])
    grow = {} if key == "gaussian-nb" else {"grow": True}
    for classes in ("abc", ["a", "b", "c", None]):
        with pytest.raises(ValueError, match=r"classes= (is 'abc'|has None)"):
            model.partial_fit(X, ["a", "b", "c"], classes=classes, **grow)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1], [0, 1, 1.5]),
        ([True, False], [0, 1, 2]),
        (np.array([0, 1], dtype=np.int8), [0, 1, 300]),
        (np.array([0, 1], dtype=np.uint8), [-1, 0, 1]),
        (np.array([0, 1], dtype=np.float32), [0, 1, 2**24 + 1]),
        ([0, 1], [0, 1, "unknown"]),
    ],
)
def test_classes_that_the_type_of_the_labels_cannot_hold_stay_as_they_are(y, classes):
    model = unnaive.NaiveBayes().partial_fit([["a"], ["b"]], y, classes=classes)
    assert model.classes_.tolist() == classes
    assert model.schema_.classes == tuple(classes)
    assert model.predict([["a"], ["b"]]).tolist() == list(y)


def test_a_choice_by_leave_one_out_keeps_its_structure():
    """The trees of the first samples stay; a tree of each class cannot be kept for a new class."""
    first, second, _ = batches(5)
    model = unnaive.TAN(discretize=None, n_features="loo").partial_fit(*first)
    parents = model.structure_.parents.tolist()
    model.partial_fit(*second, classes=["r"], grow=True)
    assert model.structure_.parents.tolist() == parents
    assert model.predict_proba(second[0]).shape == (len(second[1]), 3)


def test_a_grown_model_is_saved_and_loaded(tmp_path):
    some = batches(6)
    model = grown_model("kdb", some)
    model.save(tmp_path / "model.unb")
    X = some[2][0]
    assert np.array_equal(
        unnaive.load(tmp_path / "model.unb").predict_proba(X), model.predict_proba(X)
    )
