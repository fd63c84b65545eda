"""Discretisers: Mathematics 1.1 to 1.4, WEKA's cuts, the slow twins, and numbers at the brink."""

import csv
import gzip
import json
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
from datafiles import MADE, folder_of
from unnaive.discretize import MDLP, EqualFrequency, EqualWidth, Quantile, discretizer

GOLDEN = {
    name: columns
    for folder in (MADE.parent, MADE)
    for name, columns in json.loads((folder / "cuts.json").read_text())["data"].items()
}
ALL = [EqualWidth(), EqualFrequency(), Quantile(), MDLP(), MDLP(better_encoding=True)]
each = pytest.mark.parametrize("method", ALL, ids=repr)
quick = settings(database=None, max_examples=150)

small = st.integers(-6, 6).map(float)
tame = st.one_of(small, st.floats(-100, 100, width=32))
wild = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(st.tuples(tame, st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=60)


def arrays(table):
    """Values, classes and weights, as column_edges takes them."""
    values, classes, weights = zip(*table, strict=True)
    return np.array(values), np.array(classes, dtype=np.int64), np.array(weights, dtype=float)


def edges(method, values, classes=None, weights=None):
    values = np.asarray(values, dtype=float)
    classes = np.zeros(values.size, dtype=int) if classes is None else np.asarray(classes)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    return method.column_edges(
        values, classes.astype(np.int64), int(classes.max(initial=0)) + 1, weights
    )


def cuts(method, *table):
    return edges(method, *table).tolist()


def noisy(seed, n, n_classes, decimals):
    """A column that knows something of the class."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, n)
    return np.round(rng.normal(classes * rng.uniform(0, 3), 1), decimals), classes


@parametrize_with_checks(ALL)
def test_scikit_learn(estimator, check):
    check(estimator)


# Worked cases


def test_mdlp_worked():
    assert cuts(MDLP(), range(1, 9), [0, 0, 0, 0, 1, 1, 1, 1]) == [4.5]
    assert cuts(MDLP(), range(1, 9), [0, 1, 0, 1, 0, 1, 0, 1]) == []


def test_quantile_worked():
    found = edges(Quantile(), range(1, 11))
    assert np.nextafter(found, np.inf).tolist() == [3, 5, 7, 9]
    bins = Quantile().fit_transform(np.arange(1.0, 11).reshape(-1, 1))
    assert np.bincount(bins[:, 0].astype(int)).tolist() == [2] * 5


def test_quantile_keeps_few_values():
    column = np.array([7.0, 0, 7, 3, 3, 3, 0, 0, 0]).reshape(-1, 1)
    assert Quantile(bins=3).fit_transform(column)[:, 0].tolist() == [2, 0, 2, 1, 1, 1, 0, 0, 0]


def test_equal_width_worked():
    method = EqualWidth(bins=4).fit([[0.0], [8.0], [1.0]])
    assert method.edges_[0].tolist() == [2, 4, 6]
    assert method.transform([[2.0], [2.1], [-9], [99]])[:, 0].tolist() == [0, 1, 0, 3]


def test_equal_frequency_worked():
    assert cuts(EqualFrequency(bins=2), [1, 2, 3, 4]) == [2.5]
    assert cuts(EqualFrequency(bins=2), [1, 2, 2, 3]) == [1.5]
    assert cuts(EqualFrequency(bins=4), [1, 1, 1, 1, 1, 1, 1, 2]) == [1.5]


@pytest.mark.parametrize("name", list(GOLDEN))
def test_cuts_equal_weka(name):
    with gzip.open(folder_of(name) / f"{name}.csv.gz", "rt") as file:
        table = list(csv.DictReader(file))
    names = list(GOLDEN[name])
    X = np.array([[float(row[column]) for column in names] for row in table])
    y = [row["class"] for row in table]
    for key, method in {"mdlp": MDLP(n_jobs=2), "width": EqualWidth(bins=10)}.items():
        found = [column.tolist() for column in method.fit(X, y).edges_]
        assert found == [GOLDEN[name][column][key] for column in names]


# Slow twins


@quick
@given(rows, st.booleans())
def test_mdlp_equals_naive(table, better_encoding):
    values, classes, weights = arrays(table)
    expected = naive.mdlp_cuts(values.tolist(), classes.tolist(), better_encoding, weights.tolist())
    assert cuts(MDLP(better_encoding), values, classes, weights) == expected


@pytest.mark.parametrize("better_encoding", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_mdlp_equals_naive_where_there_is_much_to_cut(n_classes, decimals, better_encoding):
    found = 0
    for seed in range(6):
        values, classes = noisy(seed, 250, n_classes, decimals)
        expected = naive.mdlp_cuts(values.tolist(), classes.tolist(), better_encoding)
        assert cuts(MDLP(better_encoding), values, classes) == expected
        found += len(expected)
    assert found > 0


def test_mdlp_equals_naive_with_fractions_as_weights():
    for seed in range(10):
        values, classes = noisy(seed, 150, 3, 1)
        weights = np.random.default_rng(seed).uniform(0.1, 3, 150)
        expected = naive.mdlp_cuts(values.tolist(), classes.tolist(), weights=weights.tolist())
        assert cuts(MDLP(), values, classes, weights) == expected


@quick
@given(st.lists(tame, min_size=1, max_size=60), st.integers(1, 12))
def test_unsupervised_equal_naive(values, bins):
    width = cuts(EqualWidth(bins), values)
    assert width == pytest.approx(naive.equal_width_cuts(values, bins), rel=1e-12, abs=1e-12)
    assert cuts(EqualFrequency(bins), values) == naive.equal_frequency_cuts(values, bins)
    expected = naive.quantile_cuts(values, bins)
    if expected is None:
        expected = sorted(set(values))[1:]
    assert np.nextafter(edges(Quantile(bins), values), np.inf).tolist() == expected


# Properties


@each
@quick
@given(st.data())
def test_edges_increase_and_part_values_that_were_there(method, data):
    values = data.draw(st.lists(wild, min_size=1, max_size=40))
    classes = data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))
    found = edges(method, values, classes)
    assert found.dtype == np.float64
    assert all(a < b for a, b in pairwise(found))
    assert all(min(values) <= edge < max(values) for edge in found)


@each
@quick
@given(rows)
def test_weights_are_repetitions(method, table):
    values, classes, weights = arrays(table)
    times = weights.astype(int)
    repeated = cuts(method, values.repeat(times), classes.repeat(times))
    assert cuts(method, values, classes, weights) == repeated
    assert cuts(method, values, classes, np.ones(values.size)) == cuts(method, values, classes)


@each
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2)),
        (np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)),
        (-np.nextafter(1.0, 2), -1.0),
        (0.0, 5e-324),
        (5e-324, 1e-323),
        (-5e-324, 0.0),
        (1.7e308, np.nextafter(1.7e308, np.inf)),
        (-np.finfo(float).max, np.finfo(float).max),
        (1.6e308, 1.7e308),
    ],
)
def test_a_cut_parts_neighbours(method, low, high):
    values = [low] * 9 + [high] * 9
    found = edges(method, values, [0] * 9 + [1] * 9)
    assert np.searchsorted(found, low) < np.searchsorted(found, high)
    assert (np.diff(found) > 0).all()


@each
def test_nothing_to_cut(method):
    assert cuts(method, []) == []
    assert cuts(method, [3.0]) == []
    assert cuts(method, [3.0] * 9, [0, 1, 2] * 3) == []
    assert cuts(method, [1.0, 2, 3, 4], [0, 0, 1, 1], [0, 5, 0, 0]) == []


@each
def test_missing_stays_missing(method):
    X = np.array([[np.nan, 1.0, 5], [np.nan, np.nan, 5], [np.nan, 2, 5], [np.nan, 2, 5]] * 5)
    y = [0, 1, 1, 1] * 5
    fitted = clone(method).fit(X, y)
    assert [column.size for column in fitted.edges_][::2] == [0, 0]
    assert fitted.edges_[1].tolist() == cuts(method, X[X[:, 1] > 0, 1], [0, 1, 1] * 5)
    bins = fitted.transform(X)
    assert (np.isnan(bins) == np.isnan(X)).all()
    assert set(bins[:, 2]) == {0}


@each
def test_every_number_has_a_bin(method):
    values, classes = noisy(0, 200, 2, 8)
    fitted = clone(method).fit(values.reshape(-1, 1), classes)
    n_edges = fitted.edges_[0].size
    extremes = np.array([[-1e308], [-1e3], [1e3], [1e308]])
    assert fitted.transform(extremes)[:, 0].tolist() == [0, 0, n_edges, n_edges]
    assert fitted.transform(fitted.edges_[0].reshape(-1, 1))[:, 0].tolist() == list(range(n_edges))


@each
def test_threads_change_nothing(method):
    X, y = np.random.default_rng(0).normal(size=(300, 7)), np.arange(300) % 2
    X[:, 3] += y
    one = clone(method).fit(X, y)
    four = clone(method).set_params(n_jobs=4).fit(X, y)
    assert all(map(np.array_equal, one.edges_, four.edges_))
    assert np.array_equal(one.transform(X), four.transform(X))


@each
@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames(method, output, frame):
    X = frame({"age": [1.0, 2, 3, 4] * 3, "dose": [0.5, 0.25, np.nan, 1.0] * 3})
    fitted = clone(method).set_output(transform=output).fit(X, ["no", "no", "yes", "yes"] * 3)
    assert fitted.feature_names_in_.tolist() == ["age", "dose"]
    bins = fitted.transform(X)
    assert isinstance(bins, frame)
    assert list(bins.columns) == fitted.get_feature_names_out().tolist() == ["age", "dose"]


def test_mdlp_takes_any_number_of_classes():
    values = np.arange(1400.0)
    # 3^700 overflows; here the gain is 1400 bits, and the cost log2 1399 + 700 log2 3 - 700.
    assert edges(MDLP(), values, values // 2).size == 699
    assert edges(MDLP(), values, np.arange(1400) // 700 * 899).tolist() == [699.5]


def test_mdlp_looks_beyond_the_table(monkeypatch):
    values, classes = noisy(1, 400, 3, 8)
    expected = cuts(MDLP(), values, classes)
    monkeypatch.setattr("unnaive.discretize.mdlp.TABLE_SIZE", 16)
    assert cuts(MDLP(), values, classes) == expected != []


@pytest.mark.parametrize("few", [3, 60, 1 << 14])
@pytest.mark.parametrize("method", [MDLP(), MDLP(better_encoding=True), discretizer("auto", 5)])
def test_equal_samples_may_be_counted(monkeypatch, method, few):
    values, classes = noisy(2, 600, 3, 1)
    values[:4] = 0.0, -0.0, -1e300, 5e-324
    expected = cuts(method, values, classes)
    monkeypatch.setattr("unnaive.discretize.base._MANY", 1)
    monkeypatch.setattr("unnaive.discretize.base._FEW", 1 << (few - 1).bit_length())
    assert cuts(method, values, classes) == expected != []


# Errors and names


@each
def test_infinity_is_an_error(method):
    with pytest.raises(ValueError, match="infinity"):
        clone(method).fit([[1.0], [np.inf]] * 4, [0, 1] * 4)


def test_mdlp_needs_classes():
    with pytest.raises(ValueError, match="requires y"):
        MDLP().fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="class of every row"):
        MDLP().column_edges(np.arange(3.0))
    with pytest.raises(ValueError, match="Unknown label type"):
        MDLP().fit([[1.0], [2.0], [3.0]], [0.1, 0.2, 0.35])


@pytest.mark.parametrize("bins", [0, -1, 2.5, "five", None])
@pytest.mark.parametrize("kind", [EqualWidth, EqualFrequency, Quantile])
def test_bins_must_be_a_number_of_bins(kind, bins):
    with pytest.raises(ValueError, match=r"bins=.* integer of at least 1"):
        kind(bins).fit([[1.0], [1.0]])


@pytest.mark.parametrize("value", ["x", 5, None])
def test_mdlp_takes_no_number_of_bins(value):
    with pytest.raises(ValueError, match=f"better_encoding={value!r}; it must be True or False"):
        MDLP(value).fit([[1.0], [1.0]], [0, 1])


@each
def test_weights_must_not_be_negative(method):
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clone(method).fit([[1.0], [2.0]] * 4, [0, 1] * 4, sample_weight=[1, -1] * 4)


def test_discretizer_by_name():
    assert isinstance(discretizer("mdlp", 3), MDLP)
    found = {name: discretizer(name, 3) for name in ("quantile", "width", "frequency")}
    assert [type(one) for one in found.values()] == [Quantile, EqualWidth, EqualFrequency]
    assert {one.bins for one in found.values()} == {3}
    own = EqualWidth(bins=7)
    assert discretizer(own, 3) is own


@pytest.mark.parametrize("wrong", ["MDL", None, 5, MDLP])
def test_discretizer_names_what_it_knows(wrong):
    with pytest.raises(ValueError, match="'mdlp', 'quantile', 'width', 'frequency'"):
        discretizer(wrong, 5)
