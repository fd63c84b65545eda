"""What must hold whatever goes wrong: failed fits, foreign files, strange targets and weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer

import unnaive
from problems import COUNTING
from unnaive import AODE, TAN, JointCounts, NaiveBayes
from unnaive.exceptions import DataWarning, ModelFileError, TableTooLarge
from unnaive.io import store

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 3, (300, 4))
Y = X[:, 0] % 2 ^ (RANDOM.random(300) < 0.1)


@pytest.mark.long
@pytest.mark.parametrize("key", COUNTING)
def test_a_failed_fit_leaves_the_model_as_it_was(key):
    model = unnaive.make(key, discretize=None).fit(X, np.arange(300) % 50)
    before = model.predict_proba(X)
    model.set_params(class_prior=[0.1, 0.2])
    for learn in (model.fit, model.partial_fit, model.forget):
        with pytest.raises(ValueError, match=r"class_prior|not one of the classes|never counted"):
            learn(X[:, :3] if learn == model.fit else X, Y)
        assert model.n_features_in_ == 4
        assert np.array_equal(model.predict_proba(X), before)
    model.set_params(class_prior=None).partial_fit(X, np.arange(300) % 50)
    assert model.counts_.total == 600


@pytest.mark.parametrize("key", COUNTING)
def test_parameters_set_after_the_fit_wait_for_the_next(key):
    model = unnaive.make(key, discretize=None).fit(X, Y)
    before = model.predict_proba(X)
    left_out = None if key == "iterative" else model.loo_predict_proba(X, Y)
    model.set_params(smoothing="laplace:1000")
    if key != "ienb":
        model.set_params(class_prior=[0.5, 0.5])
    assert np.array_equal(model.predict_proba(X), before)
    if left_out is not None:
        assert np.array_equal(model.loo_predict_proba(X, Y), left_out)
    assert not np.array_equal(model.fit(X, Y).predict_proba(X), before)


@pytest.mark.parametrize("key", sorted(set(COUNTING) - {"nb"}))
def test_counts_without_pairs_are_refused(key):
    counts = unnaive.count(X, Y, discretize=None, pairs=None)
    with pytest.raises(ValueError, match=r"pairs|fit it on rows|rows"):
        unnaive.make(key).fit_counts(counts)


CRAFTED = {
    "fewer classes": lambda counts: counts["schema"].update(classes=[0]),
    "no pairs": lambda counts: counts.update(pairs=counts["pairs"][:, :0]),
    "pairs of no columns": lambda counts: counts.update(pair_columns=counts["pair_columns"] + 9),
    "negative counts": lambda counts: counts.update(values=-counts["values"].astype(int)),
    "a category twice": lambda counts: counts["schema"]["columns"][0].update(categories=[1, 1, 2]),
    "a part missing": lambda counts: counts.pop("values"),
}


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED)
def test_files_with_right_checksums_and_wrong_contents(craft, tmp_path):
    model = AODE(discretize=None).fit(X, Y)
    model.save(tmp_path / "model.unb")
    state = store.load(tmp_path / "model.unb")
    craft(state["counts"])
    store.save(tmp_path / "model.unb", state)
    with pytest.raises(ModelFileError, match="not one that this version understands"):
        unnaive.load(tmp_path / "model.unb")
    store.save(tmp_path / "site.counts", state["counts"], kind="counts")
    with pytest.raises(ModelFileError, match="not one that this version understands"):
        JointCounts.load(tmp_path / "site.counts")


def test_crafted_parents(tmp_path):
    TAN(discretize=None).fit(X, Y).save(tmp_path / "model.unb")
    state = store.load(tmp_path / "model.unb")
    for parents in ([-1, 9, 0, 0], [1, 0, 0, 0], [-1, 0]):
        state["structure"]["parents"] = np.array(parents)
        store.save(tmp_path / "model.unb", state)
        with pytest.raises(ModelFileError):
            unnaive.load(tmp_path / "model.unb")


def test_scikit_learns_scorers_see_sorted_classes():
    labels = np.where(Y, "low", "high")
    declared = pd.Series(pd.Categorical(labels, categories=["low", "high"], ordered=True))
    for scorer in ("roc_auc", "neg_log_loss"):
        score = get_scorer(scorer)
        plain = score(NaiveBayes().fit(X, labels), X, labels)
        assert score(NaiveBayes().fit(X, declared), X, labels) == plain
    batches = NaiveBayes().partial_fit(X, Y, classes=[True, False, True])
    assert batches.classes_.tolist() == [False, True]


def test_labels_come_back_as_they_went_in():
    mixed = np.array([1, "a", 2.5] * 100, dtype=object)
    assert set(NaiveBayes().fit(X, mixed).predict(X)) <= {1, "a", 2.5}
    assert NaiveBayes().partial_fit(X[:2], [1, 1], classes=[0, 1, 300]).classes_.tolist() == [
        0,
        1,
        300,
    ]


def test_lists_of_mixed_cells():
    rows = [["a", 1.5], ["b", float("nan")], ["a", 2.5]] * 4
    model = NaiveBayes(discretize="width", bins=2).fit(rows, [0, 1, 0] * 4)
    assert model.schema_.columns[1].edges == (2.0,)
    model.predict([["a", 1.5]])


def test_values_that_the_declared_categories_lack():
    frame = pd.DataFrame({"s": ["no", "yes", "yes"]})
    with pytest.raises(
        ValueError, match=r"'s' has value .yes., which categories= does not list \(2 rows"
    ):
        NaiveBayes(categories={"s": ["no", "yess"]}).fit(frame, [0, 1, 1])
    for wrong, message in (("yes", "must be a list"), (["no", None], "has None"), (7, "a list")):
        with pytest.raises(ValueError, match=message):
            NaiveBayes(categories={"s": wrong}).fit(frame, [0, 1, 1])


def test_forgetting_light_rows_takes_their_weight_alone():
    weights = np.full(300, 1e-3)
    weights[0] = 1e9
    model = NaiveBayes(discretize=None).fit(X, Y, weights)
    total = model.counts_.values.sum(axis=1)
    model.forget(X[1:2], Y[1:2], weights[1:2])
    taken = total - model.counts_.values.sum(axis=1)
    assert taken.sum() == pytest.approx(4e-3, rel=1e-3)


def test_weights_that_sum_to_one():
    with pytest.warns(UserWarning, match="scale the weights to a mean of 1"):
        NaiveBayes().fit(X, Y, np.full(300, 1 / 300))


def test_a_parent_without_values():
    both = np.column_stack([np.full(300, np.nan), Y])
    with pytest.warns(UserWarning, match="has no value in any row"):
        model = TAN(parents=[None, 0]).fit(both, Y)
    assert model.score(both, Y) == 1.0


@pytest.mark.long
def test_two_identifiers_are_sized_before_they_are_counted():
    names = [f"a{i}" for i in range(20_000)]
    frame = pd.DataFrame({"a": names, "b": names[::-1]})
    with (
        pytest.warns(DataWarning, match="leave it out") as told,
        pytest.raises(TableTooLarge, match="'a' with 20,000 values: drop it, group"),
    ):
        AODE().fit(frame, np.arange(20_000) % 2)
    assert [(one.message.kind, one.message.names) for one in told] == [
        ("identifier", ("a",)),
        ("identifier", ("b",)),
    ]
    with pytest.warns(DataWarning, match="leave it out"):
        model = TAN().fit(frame, np.arange(20_000) % 2)  # holds the cells that occurred
    np.testing.assert_allclose(model.predict_proba(frame[:2]).sum(axis=1), 1.0)


def test_large_integers():
    big = np.array([2**63 + 1, 2**63 + 2] * 5, dtype=np.uint64).reshape(-1, 1)
    y = np.arange(10) % 2
    assert NaiveBayes(discretize=None).fit(big, y).score(big, y) == 1.0
    NaiveBayes().fit([[2**70], [1]] * 5, y).predict([[2**70]])


def test_sum_of_counts():
    counts = [
        unnaive.count(X[part], Y[part], schema=unnaive.count(X, Y).schema)
        for part in (slice(0, 100), slice(100, 300))
    ]
    assert sum(counts) == unnaive.count(X, Y)


def test_a_column_of_text_and_numbers_is_looked_up_by_value():
    cells = np.array([["a"], [1], ["b"], [2]] * 3, dtype=object)
    model = unnaive.NaiveBayes().fit(cells, [0, 1, 0, 1] * 3)
    alone = model.predict_proba(np.array([[1], [2]], dtype=object))
    assert np.array_equal(alone, model.predict_proba(cells)[[1, 3]])
    assert np.array_equal(model.predict_proba(np.array([[7.0]])), model.predict_proba([[None]]))
