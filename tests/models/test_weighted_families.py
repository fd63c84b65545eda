"""Weighted factors of three and four columns: tables and gains against twins, and what is found."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_weighted as slow
import unnaive
from problems import problems
from tests.explain.test_explanation import add_up
from unnaive import WeightedBayes
from unnaive.exceptions import UnnaiveError
from unnaive.structure.parents import WeightedGraph
from unnaive.tables.screening import families_to_try, family_gains
from unnaive.tables.smoothing import Hierarchical
from unnaive.tables.weighted import weighted_tables

SMALL = problems(max_rows=14, max_columns=4, sizes=(1, 2, 3))


def parity(n=800, d=8, order=3, noise=0.05, seed=0):
    """Rows whose class is the parity of the first columns, which no fewer columns tell."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (n, d))
    return X, np.where(random.random(n) < noise, 1, 0) ^ (X[:, :order].sum(axis=1) % 2)


@given(SMALL, st.sampled_from([0.0, 0.25]), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_tables_equal_the_twin(problem, pseudo, random):
    rows, _, k, values = problem.data
    columns = tuple(random.sample(range(len(values)), random.randint(1, len(values))))
    coded, terms = problem.coded(), np.full((1, 4), -1, dtype=np.int64)
    terms[0, : len(columns)] = columns
    if len(columns) < 3 or any(values[j] < 1 for j in columns):
        return
    counts = coded.select(np.empty((0, 2), dtype=np.int64))
    counts = type(counts)(**{**counts.__dict__, "families": coded.count_families([columns])})
    twin = slow.Hierarchy(*problem.data, problem.weights)
    tables = weighted_tables(counts, terms, Hierarchical(), pseudo_count=pseudo)
    none = np.full(len(rows), -1)
    entries = tables.entries(coded.codes, none)
    expected = [[slow.family_term(twin, columns, row, c, pseudo) for row in rows] for c in range(k)]
    np.testing.assert_allclose(entries[0], expected, rtol=1e-5, atol=1e-6)  # single precision


@given(SMALL, st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_gains_equal_the_twin(problem, seed):
    rows, classes, k, values = problem.data
    random = np.random.default_rng(seed)
    chances = random.dirichlet(np.ones(k), len(rows))
    drawn = [[*random.permutation(len(values))[:3], -1, -1, -1][:4] for _ in range(4)]
    families = np.array(sorted(drawn), dtype=np.int64)  # neighbours share columns
    coded = problem.coded()
    coded = type(coded)(**{**coded.__dict__, "weights": None})
    found = family_gains(coded, chances, families)
    known = [[column for column in family if column >= 0] for family in families.tolist()]
    expected = [slow.family_gain(rows, classes, chances.tolist(), one, values) for one in known]
    np.testing.assert_allclose(np.transpose(found), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", [3, 4])
def test_what_only_several_columns_tell_is_found(order):
    X, y = parity(order=order)
    pairs = WeightedBayes(discretize=None).fit(X[:600], y[:600])
    model = WeightedBayes(discretize=None, max_order=4).fit(X[:600], y[:600])
    assert tuple(range(order)) in model.structure_.families
    assert pairs.score(X[600:], y[600:]) < 0.65
    assert model.score(X[600:], y[600:]) > 0.9


def test_pairs_stay_as_they_are_where_nothing_is_lacking():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (400, 6)), random.integers(0, 2, 400)
    pairs, model = (WeightedBayes(discretize=None, max_order=m).fit(X, y) for m in (2, 4))
    assert model.structure_.families == ()
    assert np.array_equal(pairs.predict_proba(X), model.predict_proba(X))


@pytest.fixture(scope="module")
def with_gaps():
    """A model with a factor of three columns, and rows with missing cells."""
    X, y = parity(500, 5)
    X = X.astype(float)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = WeightedBayes(discretize=None, max_order=3, pseudo_count=0.25).fit(X, y)
    assert model.structure_.families
    return model, X, y


def test_explanations_add_up(with_gaps):
    model, X, _ = with_gaps
    add_up(model, X[:20])


@pytest.mark.parametrize("pseudo", [0.0, 0.25])
def test_leave_one_out_equals_forgetting(pseudo):
    X, y = parity(150, 4)
    X[::7, 0] += 2  # some contexts have one row
    X[::11, 1] += 4
    asked = {"discretize": None, "max_order": 3, "pseudo_count": pseudo, "smoothing": "laplace"}
    model = WeightedBayes(**asked).fit(X, y)
    assert model.structure_.families
    left_out = model.loo_predict_proba(X, y)
    for row in range(len(X)):
        other, one = copy(model), slice(row, row + 1)
        other.forget(X[one], y[one])
        np.testing.assert_allclose(other.predict_proba(X[one])[0], left_out[row], rtol=1e-10)


def test_rows_come_and_go_and_files_keep_the_model(with_gaps, tmp_path):
    model, X, y = with_gaps
    model.save(tmp_path / "model.unb")
    other = unnaive.load(tmp_path / "model.unb")
    before = model.predict_proba(X)
    assert np.array_equal(other.predict_proba(X), before)
    other.partial_fit(X[:50], y[:50])
    assert not np.array_equal(other.predict_proba(X), before)
    other.forget(X[:50], y[:50])
    np.testing.assert_allclose(other.predict_proba(X), before, rtol=1e-12)


def test_threads_give_the_same_bits():
    X, y = parity()
    one, two = (
        WeightedBayes(discretize=None, max_order=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    )
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_families_are_bounded_and_grow():
    sizes, none = np.array([2, 2, 1, 2, 2]), np.empty((0, 2), dtype=np.int64)
    assert len(families_to_try(3, none, sizes, np.ones(5), n_rows=1, n_classes=1)) == 4
    few = families_to_try(3, none, sizes, np.array([0, 3, 9, 2, 1.0]), n_rows=9, n_classes=10**9)
    assert few.tolist() == [[1, 3, 4]]
    last = np.array([[0, 1, 3]])
    grown = families_to_try(4, last, sizes, np.ones(5), n_rows=9, n_classes=10**9)
    assert grown.tolist() == [[0, 1, 3, 4]]


def test_of_many_rows_a_share_is_looked_at_rather_than_fewer_columns(monkeypatch):
    X, y = parity(n=6000, d=9)
    monkeypatch.setattr("unnaive.tables.screening._WORK", 500_000)  # 42 % of all rows
    model = WeightedBayes(discretize=None, max_order=3).fit(X, y)
    assert (0, 1, 2) in model.structure_.families


@pytest.mark.parametrize("terms", [[[0, 1, 1]], [[0, -1, 1]], [[-1, 0, 1]], [[0, 1, 3]], [[0]]])
def test_saved_terms_that_are_no_families_are_refused(terms):
    state = {"terms": np.array(terms), "weights": np.ones(1)}
    with pytest.raises(UnnaiveError, match="do not fit the columns"):
        WeightedGraph.of_state(state, ("a", "b", "c"), "y")


def test_counts_alone_are_refused(with_gaps):
    model, _, _ = with_gaps
    with pytest.raises(UnnaiveError, match="learns from rows"):
        WeightedBayes(max_order=3).fit_counts(model.counts_)


def test_families_are_added_to_the_terms_that_are_there(monkeypatch):
    X, y = parity(order=4)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
    first = WeightedBayes(discretize=None, max_order=4).fit(X, y)
    monkeypatch.setattr(WeightedBayes, "_has_order_of", staticmethod(lambda *_: False))
    other = WeightedBayes(discretize=None, max_order=4).fit(X, y)
    assert max(map(len, first.structure_.families)) > 2
    assert np.array_equal(first.predict_proba(X), other.predict_proba(X))
