"""Streams: rows that come in batches, go again, and fade."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import unnaive
from unnaive.counts import count_batch, merge
from unnaive.exceptions import ModelFileError, SchemaMismatch, UnnaiveError
from unnaive.io.frames import to_column, to_frame
from unnaive.models.base import CountsClassifier

VALUES = [["u", "v", "w"], ["a", "b"], [0, 1, 2, 3], ["x", "y", "z"], [1.5, 2.5]]
CLASSES = ["no", "perhaps", "yes"]
MODELS = {
    key: make for key, make in unnaive.all_models().items() if isinstance(make(), CountsClassifier)
}
# These choose their structure, groups or weights by classifying rows, or by more than pairs,
# and keep those of the first batch; what they count is the same as the others count.
OF_THE_FIRST_BATCH = {
    "apnbc",
    "apnbc-eda",
    "bayesnet",
    "bsej",
    "cherry",
    "decomposable",
    "fssj",
    "ienb",
    "iterative",
    "kdb",
    "pazzani-eda",
    "wanbia",
    "weighted-pairs",
    "weighted-tan",
}


def rows(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, n)
    X = np.empty((n, len(VALUES)), dtype=object)
    for index, values in enumerate(VALUES):
        X[:, index] = rng.choice(np.array(values, dtype=object), n)
        if index != 2:
            X[(y == "yes") & (rng.random(n) < 0.5), index] = values[0]
        X[rng.random(n) < 0.1, index] = None
    return X, y


X, Y = rows()
A, B, C = slice(0, 40), slice(40, 70), slice(70, 90)
AB = slice(0, 70)


def new(key):
    """Make a model that knows all values before it sees a row."""
    model = MODELS[key](categories=VALUES, discretize=None)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model


def begun(key, part=A):
    return new(key).partial_fit(X[part], Y[part], classes=CLASSES)


def assert_same(mine, other):
    assert mine.counts_ == other.counts_
    assert np.array_equal(mine.predict_joint_log_proba(X), other.predict_joint_log_proba(X))


@pytest.mark.parametrize("key", MODELS)
def test_batches_of_any_size_are_one(key):
    expected = begun(key).partial_fit(X[B], Y[B])
    for size in (1, 7) if key in OF_THE_FIRST_BATCH else (7,):  # the next test has rows of others
        model = begun(key)
        for start in range(B.start, B.stop, size):
            part = slice(start, min(start + size, B.stop))
            model.partial_fit(X[part], Y[part])
        assert_same(model, expected)


@pytest.mark.parametrize("key", sorted(set(MODELS) - OF_THE_FIRST_BATCH))
def test_batches_and_what_is_forgotten_equal_one_fit(key):
    whole = new(key).fit(X[AB], Y[AB])
    assert_same(begun(key).partial_fit(X[B], Y[B]), whole)
    assert_same(new(key).fit(X, Y).forget(X[C], Y[C]), whole)
    rowwise = new(key).partial_fit(X[:1], Y[:1], classes=CLASSES)
    for row in range(1, AB.stop):
        rowwise.partial_fit(X[row : row + 1], Y[row : row + 1])
    assert_same(rowwise, whole)


@pytest.mark.parametrize("key", sorted(OF_THE_FIRST_BATCH & set(MODELS)))
def test_a_structure_that_stays_gives_the_same_too(key):
    expected = begun(key).partial_fit(X[B], Y[B])
    longer = begun(key).partial_fit(X[B.start :], Y[B.start :]).forget(X[C], Y[C])
    assert_same(longer, expected)
    shrunk, whole = new(key).fit(X, Y).forget(X[C], Y[C]), new(key).fit(X[AB], Y[AB])
    for model in (shrunk, expected):
        assert np.array_equal(model.counts_.class_counts, whole.counts_.class_counts)
        assert np.array_equal(model.counts_.values, whole.counts_.values)
    assert_same(shrunk, new(key).fit(X, Y).forget(X[80:], Y[80:]).forget(X[70:80], Y[70:80]))


@pytest.mark.parametrize("key", MODELS)
def test_rows_never_seen_are_not_forgotten(key):
    model = begun(key)
    before, expected = model.counts_, model.predict_joint_log_proba(X)
    strange = X[:3].copy()
    strange[:, 0], strange[:, 1] = "w", "b"
    for part, labels in [(strange, ["perhaps"] * 3), (X, Y)]:
        many = np.concatenate([part] * 20), np.concatenate([labels] * 20)
        with pytest.raises(UnnaiveError, match="never counted"):
            model.forget(*many)
        assert model.counts_ == before
        assert np.array_equal(model.predict_joint_log_proba(X), expected)


@pytest.mark.parametrize("key", ["nb", "tan", "aode"])
def test_bins_of_the_first_batch(key):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(300, 4))
    y = (numbers[:, 0] + numbers[:, 1] > 0).astype(int)
    schema = unnaive.count(numbers, y, discretize="quantile").schema
    parts = [
        unnaive.count(numbers[start : start + 50], y[start : start + 50], schema=schema)
        for start in range(0, 300, 50)
    ]
    streamed = unnaive.make(key).fit_counts(merge(*parts))
    whole = unnaive.make(key, discretize="quantile").fit(numbers, y)
    assert np.array_equal(streamed.predict_proba(numbers), whole.predict_proba(numbers))


def test_old_rows_fade():
    schema = unnaive.count(X, Y, categories=VALUES, discretize=None).schema
    days = [unnaive.count(X[part], Y[part], schema=schema) for part in (A, B, C)]
    faded = days[0]
    for day in days[1:]:
        faded = faded.decay(0.5) + day
    weights = np.repeat([0.25, 0.5, 1.0], [40, 30, 20])
    assert faded == unnaive.count(X, Y, schema=schema, sample_weight=weights)
    model = unnaive.TAN().fit_counts(faded)
    weighted = unnaive.TAN(categories=VALUES, discretize=None).fit(X, Y, sample_weight=weights)
    assert np.array_equal(model.predict_proba(X), weighted.predict_proba(X))


def test_merge(tmp_path):
    expected = unnaive.count(X, Y, categories=VALUES, discretize=None)
    bounds = [0, 20, 50, 51, 90]
    parts = [
        unnaive.count(X[start:stop], Y[start:stop], schema=expected.schema)
        for start, stop in pairwise(bounds)
    ]
    for number, part in enumerate(parts):
        part.save(tmp_path / f"{number}.counts")
    paths = [tmp_path / f"{number}.counts" for number in range(4)]
    assert merge(*parts) == merge(*paths[::-1]) == merge(parts[0], *map(str, paths[1:])) == expected
    assert merge(expected) == expected
    with pytest.raises(ValueError, match="no counts to merge"):
        merge()
    other = unnaive.count(X[:, ::-1], Y)
    with pytest.raises(SchemaMismatch, match=r"counts 2 .*column 'x0': .*one Schema"):
        merge(expected, other)
    other.save(paths[1])
    with pytest.raises(SchemaMismatch, match=r"1\.counts .*column 'x0'"):
        merge(*paths)
    paths[1].write_bytes(paths[1].read_bytes()[:-50])
    with pytest.raises(ModelFileError, match=r"1\.counts is damaged"):
        merge(*paths)


@pytest.mark.long
def test_a_thousand_parts_in_random_order():
    many, labels = rows(1200)
    expected = unnaive.count(many, labels)
    rng = np.random.default_rng(0)
    bounds = [0, *np.sort(rng.choice(np.arange(1, 1200), 999, replace=False)).tolist(), 1200]
    frame, target = to_frame(many), to_column(labels)
    parts = []
    for start, stop in pairwise(bounds):
        part = np.arange(start, stop)
        parts.append(count_batch(frame.take(part), target.take(part), expected.schema))
    order = rng.permutation(len(parts))
    assert merge(*(parts[i] for i in order)) == expected


def test_decay():
    counts = unnaive.count(X, Y)
    half = counts.decay(0.5)
    assert half.total == counts.total / 2
    assert half.pairs.dtype == float
    assert half + half == counts
    model = unnaive.TAN().fit_counts(half)
    model = model.fit_counts(model.counts_.decay(0.9) + counts)
    assert model.counts_.total == pytest.approx(1.45 * len(X))
    deep = unnaive.KDB(k=2).fit(X, Y).counts_
    assert deep.decay(0.25).families[0].table.sum() == deep.families[0].table.sum() / 4
    for gamma in (0, -1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="gamma"):
            counts.decay(gamma)
