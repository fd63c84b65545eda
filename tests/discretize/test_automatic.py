"""``discretize="auto"``: the slow twin, what users rely on, and numbers at the brink."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_discretize
import unnaive
from unnaive.discretize import MDLP, Automatic, EqualFrequency, discretizer
from unnaive.discretize.automatic import FEW_BINS
from unnaive.io.frames import to_column, to_frame
from unnaive.schema import learn_schema
from unnaive.schema.sketch import SchemaSketch

quick = settings(database=None, max_examples=150, deadline=None)
numbers = st.one_of(st.integers(-6, 6).map(float), st.floats(-100, 100, width=32))
rows = st.lists(st.tuples(numbers, st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=80)


def cuts(values, classes, weights=None):
    values, classes = np.asarray(values, dtype=float), np.asarray(classes, dtype=np.int64)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    n_classes = int(classes.max(initial=0)) + 1
    return Automatic().column_edges(values, classes, n_classes, weights).tolist()


def bins_of(values, classes, weights=None):
    return np.searchsorted(cuts(values, classes, weights), values)


@parametrize_with_checks([Automatic()])
def test_scikit_learn(estimator, check):
    check(estimator)


# The slow twin


@quick
@given(rows)
def test_equals_naive(table):
    values, classes, _ = zip(*table, strict=True)
    expected = naive_discretize.automatic_cuts(list(values), list(classes), FEW_BINS)
    assert cuts(values, classes) == pytest.approx(expected)


@pytest.mark.long
@pytest.mark.parametrize("decimals", [0, 1, 8])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_equals_naive_where_there_is_much_to_choose(n_classes, decimals):
    winners = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        places = rng.uniform(0, 2 * seed + 1, 400)
        noise = rng.integers(0, n_classes, 400) * (rng.random(400) < 0.1)
        classes = (places.astype(int) + noise) % n_classes
        values = np.round(places, decimals).tolist()
        expected = naive_discretize.automatic_cuts(values, classes.tolist(), FEW_BINS)
        assert cuts(values, classes) == pytest.approx(expected)
        winners.add(len(expected))
    assert len(winners) > 1


# What it chooses


def test_a_jump_is_found():
    values = np.arange(3000.0)
    assert 1234.5 in cuts(values, values > 1234)


def test_smooth_columns_get_more_bins_with_more_rows():
    def chosen(n):
        rng = np.random.default_rng(0)
        values = rng.random(n)
        return len(cuts(values, rng.random(n) < 0.5 + 0.45 * np.sin(20 * values)))

    assert FEW_BINS - 1 <= chosen(300) < chosen(20_000)


def test_a_column_without_news_keeps_a_few_bins():
    values = np.random.default_rng(0).permutation(800).astype(float)
    sizes = np.bincount(bins_of(values, np.arange(800) % 2))
    assert sizes.size == FEW_BINS
    assert sizes.min() >= 800 / 8


def test_two_columns_that_matter_together():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (3000, 2))
    y = X[:, 0] * X[:, 1] > 0
    scores = {
        how: unnaive.TAN(discretize=how, smoothing="hierarchical").fit(X[:2000], y[:2000])
        for how in ("mdlp", "auto")
    }
    assert scores["mdlp"].score(X[2000:], y[2000:]) < 0.6
    assert scores["auto"].score(X[2000:], y[2000:]) > 0.85


def test_one_class():
    assert len(cuts(np.arange(100.0), np.zeros(100))) == FEW_BINS - 1
    assert len(cuts(np.arange(100.0), np.full(100, 3))) == FEW_BINS - 1


@pytest.mark.parametrize("values", [[], [3.0], [3.0] * 50, [0.0] * 4 + [1.0] * 3])
def test_nothing_to_choose_from(values):
    assert cuts(values, np.arange(len(values)) % 2) == []


def test_two_rows():
    assert cuts([1.0, 2.0], [0, 0]) == []
    assert cuts([1.0, 2.0], [0, 1]) == [1.5]


def test_few_values_stay_apart():
    values = np.tile([0.0, 1.0, 5.0], 40)
    assert cuts(values, values > 3) == [0.5, 3.0]
    assert cuts(np.tile([0.0, 1.0], 30), np.arange(60) % 3 == 0) == [0.5]


def test_one_value_in_most_rows():
    values = np.append(np.zeros(950), np.arange(1.0, 51.0))
    found = cuts(values, np.arange(1000) % 2)
    assert found[0] == 0.5
    assert len(found) == FEW_BINS - 1


# Numbers at the brink


@quick
@given(st.data())
def test_edges_increase_and_part_values_that_were_there(data):
    wild = st.floats(allow_nan=False, allow_infinity=False)
    values = data.draw(st.lists(wild, min_size=1, max_size=60))
    classes = data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))
    found = cuts(values, classes)
    assert all(a < b for a, b in pairwise(found))
    assert all(min(values) <= edge < max(values) for edge in found)


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, np.nextafter(1.0, 2)), (0.0, 5e-324), (-1.7e308, 1.7e308), (1.6e308, 1.7e308)],
)
def test_a_cut_parts_neighbours(low, high):
    (found,) = cuts([low] * 20 + [high] * 20, [0] * 20 + [1] * 20)
    assert low <= found < high


@quick
@given(rows)
def test_weights_are_repetitions(table):
    values, classes, weights = map(np.array, zip(*table, strict=True))
    repeated = cuts(values.repeat(weights), classes.repeat(weights))
    assert cuts(values, classes, weights) == repeated


def test_fractions_as_weights():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 2000)
    values = rng.normal(classes, 1)
    halves = cuts(np.repeat(values, 2), np.repeat(classes, 2), np.full(4000, 0.5))
    assert halves == cuts(values, classes)
    assert len(cuts(values, classes, np.full(2000, 0.004))) == 0


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 7)), np.arange(500) % 3
    X[:, 3] += y
    one, four = (Automatic(n_jobs=jobs).fit(X, y).edges_ for jobs in (1, 4))
    assert all(map(np.array_equal, one, four))


# Everywhere a discretiser has a name


def test_by_name():
    assert isinstance(discretizer("auto", 3), Automatic)
    with pytest.raises(ValueError, match="'auto'"):
        discretizer("automatic")


def test_needs_classes():
    with pytest.raises(ValueError, match="Automatic uses the classes"):
        Automatic().column_edges(np.arange(30.0))
    with pytest.raises(ValueError, match="requires y"):
        Automatic().fit([[1.0], [2.0]])


def table(n_rows):
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b", "c"], n_rows)
    shift = np.where(y == "a", 0.0, 1.0)
    frame = pd.DataFrame(
        {
            "rounded": np.round(rng.normal(shift), 1),
            "year": rng.integers(1900, 2020, n_rows) + 5 * shift.astype(int),
            "noise": np.round(rng.random(n_rows), 2),
            "fine": rng.normal(shift),
        }
    )
    frame.loc[::9, "rounded"] = np.nan
    return frame, pd.Series(y, name="y")


def sketched(frame, y):
    total = SchemaSketch(target="y", discretize="auto")
    for part in np.array_split(np.arange(len(frame)), 3):
        other = SchemaSketch(target="y", discretize="auto")
        other.add(to_frame(frame.iloc[part]), to_column(y.iloc[part]))
        total.merge(other)
    return total


def test_sketches_find_the_same_cuts():
    frame, y = table(1500)
    learned = learn_schema(to_frame(frame), to_column(y), discretizer=Automatic())[0]
    assert sketched(frame, y).schema() == learned


def test_sketches_of_many_values_are_close():
    frame, y = table(60_000)
    exact = learn_schema(to_frame(frame), to_column(y), discretizer=Automatic())[0]
    sketch = sketched(frame, y)
    error = sketch.rank_errors()["fine"]
    assert 0 < error < 0.01
    close, true = (np.array(one.columns[3].edges) for one in (sketch.schema(), exact))
    ranks = np.sort(frame["fine"])
    assert close.size == true.size
    gaps = np.searchsorted(ranks, close) - np.searchsorted(ranks, true)
    assert np.abs(gaps).max() <= 2 * error * len(ranks)


def test_models_save_it(tmp_path):
    frame, y = table(600)
    for how in ("auto", Automatic()):
        model = unnaive.NaiveBayes(discretize=how).fit(frame, y)
        assert model.schema_.columns[3].edges == tuple(
            Automatic().fit(frame[["fine"]], y).edges_[0].tolist()
        )
        model.save(tmp_path / "model.unnaive")
        again = unnaive.load(tmp_path / "model.unnaive")
        assert str(again.discretize) == str(how)
        assert (again.predict(frame) == model.predict(frame)).all()


def test_supervised_or_not_as_the_column_asks():
    values = np.arange(4000.0)
    jumps = (np.digitize(values, [100, 900, 3950]) % 2).astype(np.int64)
    smooth = (np.random.default_rng(0).random(4000) < values / 4000).astype(np.int64)
    assert set(MDLP().column_edges(values, jumps, 2)) <= set(cuts(values, jumps))
    found = np.array(cuts(values, smooth))
    assert found.tolist() == EqualFrequency(found.size + 1).column_edges(values).tolist()
