"""Gaussian TAN and KDB of numbers beside labels: slow twins, identities, gaps, files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_gaussian as slow
import naive_mixed
import unnaive
from unnaive import KDB, TAN, GaussianKDB, GaussianNaiveBayes, GaussianTAN
from unnaive.counts.label_cells import LabelRows, cells_of
from unnaive.exceptions import UnnaiveError
from unnaive.explain import ask_next, dependence_derivatives

MODELS = [GaussianTAN(), GaussianKDB(k=1), GaussianKDB(k=3)]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def made(n=80, m=3, sizes=(3, 2), k=2, gaps=0.0, seed=0):
    """Draw numbers (n, m), codes of labels (n, l) with -1 for missing, and classes."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % k)
    labels = np.stack([(random.integers(v, size=n) + y) % v for v in sizes], axis=1)
    turn = random.normal(size=(m, m))
    numbers = random.normal(size=(n, m)) @ turn + y[:, None] * random.normal(size=m)
    for j, v in enumerate(sizes):
        numbers[:, j % m] += random.normal(size=v)[labels[:, j]] * 2
        numbers[:, -1] *= random.uniform(0.5, 2, size=v)[labels[:, j]]
    labels[random.random(labels.shape) < gaps] = -1
    return numbers, labels, y


def framed(numbers, labels):
    """Numbers and labels in turns, as a data frame."""
    columns = {f"number {i}": numbers[:, i] for i in range(numbers.shape[1])}
    for j in range(labels.shape[1]):
        words = [None if code < 0 else "abcdefgh"[code] for code in labels[:, j]]
        columns[f"label {j}"] = pd.Series(words, dtype=object)
    ordered = sorted(columns, key=lambda name: name[-1])
    return pd.DataFrame({name: columns[name] for name in ordered})


def places_of(X, kind):
    return [place for place, name in enumerate(X.columns) if name.startswith(kind)]


def gapped(numbers, labels, share, seed):
    random = np.random.default_rng(seed)
    return (
        np.where(random.random(numbers.shape) < share, np.nan, numbers),
        np.where(random.random(labels.shape) < share, -1, labels),
    )


def plain(table, missing):
    return [[None if cell == missing or cell != cell else cell for cell in row] for row in table]


@st.composite
def mixed_problems(draw):
    """Draw numbers, labels, classes, and the same with gaps."""
    m, k = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    n = k * draw(st.integers(2 * m + 4, 25))
    seed = draw(st.integers(0, 2**32 - 1))
    numbers, labels, y = made(n, m, sizes, k, draw(st.sampled_from([0.0, 0.3])), seed)
    return numbers, labels, y, gapped(numbers, labels, draw(st.sampled_from([0.0, 0.3, 0.8])), seed)


@given(
    mixed_problems(),
    st.sampled_from([("tan", {}), ("kdb", {"k": 1}), ("kdb", {"k": 3})]),
    st.sampled_from([0.5, 5.0, 40.0]),
)
@settings(max_examples=50)
def test_joint_and_information_are_the_twins(problem, kind, weight):
    numbers, labels, y, (some_numbers, some_labels) = problem
    X, asked = framed(numbers, labels), framed(some_numbers, some_labels)
    name, options = kind
    model = unnaive.make(f"gaussian-{name}", var_smoothing=0, cell_weight=weight, **options)
    model.fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slow, "FLOOR", 0.0)
        twin = slow.fit(plain(numbers, np.nan), y.tolist(), int(y.max()) + 1)
    rows = (plain(numbers, np.nan), plain(labels, -1), y.tolist())
    m, n_labels = numbers.shape[1], labels.shape[1]
    information = [
        [naive_mixed.label_information(twin, *rows, i, j, weight) for j in range(n_labels)]
        for i in range(m)
    ]
    found = model.fitted_.spread.learned["by_label"]
    np.testing.assert_allclose(found, information, rtol=1e-8, atol=1e-9)
    number_at, label_at = places_of(X, "number"), places_of(X, "label")
    parents, by_label = [], []
    for place in number_at:
        above = model.structure_.parents_of(place)
        parents.append([number_at.index(p) for p in above if p in number_at])
        by_label.append([label_at.index(p) for p in above if p in label_at])
    for place in label_at:
        assert set(model.structure_.parents_of(place)) <= set(label_at)
    expected = [
        naive_mixed.mixed_joint(twin, *rows, parents, by_label, weight, row, own)
        for row, own in zip(plain(some_numbers, np.nan), plain(some_labels, -1), strict=True)
    ]
    prior = np.full(int(y.max()) + 1, 1 / (int(y.max()) + 1))
    alone = TAN() if name == "tan" else KDB(k=options["k"])
    alone.set_params(discretize=None, class_prior=prior).fit(X.iloc[:, label_at], y)
    joint = alone.predict_joint_log_proba(asked.iloc[:, label_at]) - np.log(prior)
    got = model.predict_joint_log_proba(asked)
    np.testing.assert_allclose(got, np.array(expected) + joint, rtol=1e-7, atol=1e-7)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 10_000))
@settings(max_examples=40)
def test_the_tree_is_the_best_of_all(m, n_labels, seed):
    random = np.random.default_rng(seed)
    information = random.random((m, m))
    information = information + information.T
    by_label = random.random((m, n_labels)) * random.choice([0.5, 2.0])
    chosen = GaussianTAN().dependences(random.random(m), information, by_label)
    assert sorted(family[0] for family, _ in chosen) == list(range(m))
    before: set[int] = set()
    total = 0.0
    for (child, *parents), labels in chosen:
        assert len(parents) + len(labels) == 1
        assert set(parents) <= before
        before.add(child)
        total += sum(information[child, parents]) + sum(by_label[child, list(labels)])
    assert total == pytest.approx(naive_mixed.mixed_tan(information, by_label)[0])


@given(st.integers(1, 5), st.integers(0, 3), st.integers(0, 6), st.integers(0, 10_000))
@settings(max_examples=40)
def test_k_parents_before_each_number(m, n_labels, k, seed):
    random = np.random.default_rng(seed)
    relevance, information = random.random(m), random.random((m, m))
    by_label = random.random((m, n_labels))
    chosen = GaussianKDB(k=k).dependences(relevance, information, by_label)
    entered: list[int] = []
    for (child, *parents), labels in chosen:
        scores = [(by_label[child, j], "label", j) for j in range(n_labels)]
        scores += [(information[child, p], "number", p) for p in entered]
        best = {score[1:] for score in sorted(scores, reverse=True)[:k]}
        assert best == {("number", p) for p in parents} | {("label", j) for j in labels}
        entered.append(child)
    assert entered == np.argsort(-relevance).tolist()


def test_without_parents_it_is_naive_bayes():
    numbers, labels, y = made(gaps=0.2, seed=3)
    X, asked = framed(numbers, labels), framed(*gapped(numbers, labels, 0.4, 1))
    naive = GaussianNaiveBayes(var_smoothing=0).fit(X, y)
    model = GaussianKDB(k=0, var_smoothing=0).fit(X, y)
    expected = naive.predict_joint_log_proba(asked)
    np.testing.assert_allclose(model.predict_joint_log_proba(asked), expected, atol=1e-10)


@every_model
def test_a_large_cell_weight_forgets_the_labels(model):
    numbers, labels, y = made(200, seed=4)
    X = framed(numbers, labels)
    mixed = unnaive.make("gaussian-kdb", k=2, cell_weight=1e12).fit(X, y)
    alone = GaussianNaiveBayes(var_smoothing=0).fit(X, y)
    assert not np.allclose(mixed.predict_proba(X), alone.predict_proba(X))
    other = type(model)(**{**model.get_params(), "cell_weight": 1e12}).fit(X, y)
    shape = other.fitted_.shape
    moments = other.moments_
    for family in shape.tables.families:
        if not family.parents:
            spread = moments.covariances()[:, family.child, family.child]
            means = moments.means[:, family.child]
            axes = (slice(None), *(None for _ in family.labels))
            np.testing.assert_allclose(family.noise, spread[axes] + 0 * family.noise, rtol=1e-6)
            np.testing.assert_allclose(family.intercept, means[axes] + 0 * family.noise, rtol=1e-6)


@every_model
def test_batches_keep_the_parents_and_add_up(model):
    numbers, labels, y = made(240, 3, (3, 2, 2), 2, 0.1, seed=5)
    X = framed(numbers, labels)
    whole = type(model)(**model.get_params()).fit(X, y)
    first = type(model)(**model.get_params()).fit(X, y)
    first.partial_fit(X[:100], y[:100]).forget(X[:100], y[:100])
    assert first.structure_.edges == whole.structure_.edges
    expected = whole.predict_joint_log_proba(X)
    np.testing.assert_allclose(first.predict_joint_log_proba(X), expected, atol=1e-7)
    twice = type(model)(**model.get_params()).fit(X, y, sample_weight=np.full(len(y), 2.0))
    again = type(model)(**model.get_params()).fit(pd.concat([X, X]), np.append(y, y))
    np.testing.assert_allclose(twice.predict_proba(X), again.predict_proba(X), atol=1e-9)
    with pytest.raises(UnnaiveError, match="were never counted here"):
        whole.forget(pd.concat([X, X]), np.append(y, y))


@every_model
def test_files_explanations_and_reports(model, tmp_path):
    numbers, labels, y = made(120, seed=6)
    X, asked = framed(numbers, labels), framed(*gapped(numbers, labels, 0.3, 2))
    fitted = type(model)(**model.get_params()).fit(X, y)
    fitted.save(tmp_path / "model.unb")
    restored = unnaive.load(tmp_path / "model.unb")
    probabilities = fitted.predict_proba(asked)
    np.testing.assert_array_equal(restored.predict_proba(asked), probabilities)
    assert restored.structure_.edges == fitted.structure_.edges
    explained = fitted.explain(asked)
    np.testing.assert_allclose(explained.posterior, probabilities, atol=1e-9)
    parents = {term.columns: set(term.through) for term in fitted.explain(X).terms}
    graph = fitted.structure_
    for place in range(X.shape[1]):
        assert parents[place,] == set(graph.parents_of(place))
    fitted.n_jobs = 2
    np.testing.assert_array_equal(fitted.predict_proba(asked), probabilities)
    questions = ask_next(fitted, {"number 0": 0.5, "label 0": "a"})
    assert {question.column for question in questions} == set(X.columns[2:])
    assert all(question.information >= 0 for question in questions)
    with pytest.raises(UnnaiveError, match="no dependence derivatives"):
        dependence_derivatives(fitted, X)
    with pytest.raises(UnnaiveError, match="no credible intervals"):
        fitted.predict_interval(X)


@pytest.mark.parametrize("n_numbers", [0, 1, 2])
@pytest.mark.parametrize("n_labels", [0, 1, 2])
@every_model
def test_few_columns_rows_and_classes(model, n_numbers, n_labels):
    if n_numbers + n_labels == 0:
        return
    numbers, labels, y = made(12, max(n_numbers, 1), (2,) * max(n_labels, 1), 2, 0.3, seed=7)
    X = framed(numbers[:, :n_numbers], labels[:, :n_labels])
    for rows, classes in ((X, y), (X, np.zeros(12, dtype=int)), (X[:4], y[:4])):
        fitted = type(model)(**{**model.get_params(), "pooling": 0.5, "shrinkage": 0.1})
        with np.errstate(all="raise"):
            found = fitted.fit(rows, classes).predict_proba(X)
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
    empty = X.copy()
    if n_numbers:
        empty["number 0"] = np.nan
        with pytest.warns(UserWarning, match="has no value in any row"):
            fitted.fit(empty, y)
        assert np.isfinite(fitted.partial_fit(X, y).predict_proba(X)).all()


def test_constant_numbers_in_a_category_have_a_density():
    y = np.arange(40) % 2
    X = pd.DataFrame({"a": ["u", "v"] * 20, "x": np.where(y, 3.0, np.arange(40.0))})
    model = GaussianTAN().fit(X, y)
    assert model.structure_.edges == [("a", "x")]
    assert np.isfinite(model.predict_joint_log_proba(X)).all()


def test_combinations_of_too_many_categories_have_no_cells():
    random = np.random.default_rng(0)
    codes = random.integers(700, size=(3000, 2))
    X = pd.DataFrame(
        {"a": [f"a{c}" for c in codes[:, 0]], "b": [f"b{c}" for c in codes[:, 1]]}
    ).assign(x=codes.sum(axis=1) + random.normal(size=3000))
    model = GaussianKDB(k=2).fit(X, codes.sum(axis=1) > 700)
    assert len(model.structure_.parents_of(2)) == 1


def test_cells_add_and_subtract():
    numbers, labels, y = made(60, 2, (3, 2), 2, seed=8)
    numbers[::7, 1] = np.nan
    sizes, weights = np.array([3, 2]), np.linspace(0.5, 2, 60)

    def cells(rows):
        coded = LabelRows(labels[rows].T, sizes)
        return cells_of((1, 0), (1, 0), numbers[rows], y[rows], coded, weights[rows], 2)

    whole, first, rest = cells(slice(None)), cells(slice(25)), cells(slice(25, None))
    for one, other in ((first + rest, whole), (whole - rest, first)):
        for name in ("weights", "sums", "products"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)
    known = ~np.isnan(numbers[:, 1])
    assert whole.with_totals().weights[:, -1, -1].sum() == pytest.approx(weights[known].sum())


@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_cells_whose_rows_are_all_forgotten_are_empty(scale):
    numbers, labels, y = made(80, 2, (3, 2), 2, seed=8)
    sizes, weights = np.array([3, 2]), scale * np.random.default_rng(8).random(80)

    def cells(rows):
        coded = LabelRows(labels[rows].T, sizes)
        return cells_of((1, 0), (0, 1), numbers[rows], y[rows], coded, weights[rows], 2)

    gone = (labels[:, 0] == 1) | (y == 1)
    left, order = cells(slice(None)), np.random.default_rng(0).permutation(np.flatnonzero(gone))
    for rows in np.array_split(order, 7):
        left -= cells(rows)
    for name in ("weights", "sums", "products"):
        found, expected = getattr(left, name), getattr(cells(~gone), name)
        assert not found[expected == 0].any()
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)
    with pytest.raises(UnnaiveError, match="more rows would be removed than were learned"):
        left - cells(gone)


@pytest.mark.parametrize("spoil", ["sums", "weights", "labels"])
def test_spoiled_cells_are_refused(spoil):
    numbers, labels, y = made(seed=9)
    model = GaussianTAN().fit(framed(numbers, labels), y)
    state = model.fitted_.spread.learned["cells"]["0"]
    changed = {"sums": state["sums"][:1], "weights": -state["weights"], "labels": [0, 1]}
    learned = {**model.fitted_.spread.learned, "cells": {"0": {**state, spoil: changed[spoil]}}}
    fitted = model.fitted_
    known = (fitted.labels, fitted.names, fitted.columns, fitted.categories)
    with pytest.raises(UnnaiveError, match="the cells do not fit the columns"):
        model.of_moments(fitted.moments, None, *known, learned)
