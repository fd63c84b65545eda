"""Gaussian models without folds of rows, from merged moments; and the forms that networks have."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.models.test_gaussian import assert_close, joint, made, with_gaps
from unnaive import FullBayes, GaussianKDB, GaussianNaiveBayes, GaussianTAN, KNaiveBayes
from unnaive.counts.moments import all_and_without_each, moments_of
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import to_column, to_frame
from unnaive.models.fitted import Names
from unnaive.models.gaussian_folds import NumberFolds, fit_and_leave_out
from unnaive.papers.barrow import BarrowFullBayes
from unnaive.schema import Schema
from unnaive.tables.gaussian import complete_forms, network_covariances, network_forms

MODELS = [
    FullBayes(),
    FullBayes(shrinkage="ledoit-wolf"),
    GaussianTAN(),
    GaussianTAN(shrinkage=0.2, ddof=1, class_prior=[0.2, 0.3, 0.5]),
    GaussianKDB(k=2),
    KNaiveBayes(k=2),
]
many_models = pytest.mark.parametrize("model", MODELS, ids=str)


def left_out(model, X, y, weights=None, folds=5):
    """Log posteriors of rows in turns 0, 1, 2, … without their fold; the model is fitted."""
    frame = to_frame(X)
    fold = np.arange(len(y)) % folds
    counted = NumberFolds.of(model, frame, to_column(y), weights, fold)
    model._fitted, joint = fit_and_leave_out(model, counted, Names.of(frame.names, named=False))
    return joint


def left_out_one_by_one(model, X, y, weights=None, folds=5):
    """Do the same by fits to the rows themselves."""
    found = np.empty((len(y), len(set(y))))
    for number in range(folds):
        inside = np.arange(len(y)) % folds == number
        part = None if weights is None else weights[~inside]
        other = clone(model).partial_fit(X[~inside], y[~inside], sorted(set(y)), part)
        found[inside] = other.predict_log_proba(X[inside])
    return found


# Folds


@many_models
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_folds_equal_fits_without_their_rows(model, gaps):
    X, y = made(120, 4, 3, gaps=gaps)
    fitted, whole = clone(model), clone(model)
    one_by_one = left_out_one_by_one(model, X, y)
    assert_close(left_out(fitted, X, y), one_by_one, 1e-7)
    assert_close(fitted.predict_joint_log_proba(X), joint(whole, X, y), 1e-7)
    assert fitted.structure_.edges == whole.structure_.edges
    assert not (one_by_one == fitted.predict_log_proba(X)).all()


def test_folds_of_weighted_rows():
    X, y = made(90, 3, 2)
    weights = np.random.default_rng(0).uniform(0.1, 3, 90)
    for model in (FullBayes(), GaussianTAN()):
        expected = left_out_one_by_one(model, X, y, weights)
        assert_close(left_out(clone(model), X, y, weights), expected)
        with pytest.warns(UserWarning, match="rows for 3 columns"):
            found = left_out(clone(model), X, y, 1e-12 * weights)
        assert_close(found, expected)


@many_models
def test_threads_do_not_matter_to_folds(model):
    X, y = made(300, 5, 3)
    found = [left_out(clone(model).set_params(n_jobs=n_jobs), X, y) for n_jobs in (None, 2, 3)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("model", [FullBayes(), GaussianTAN()], ids=str)
def test_columns_that_are_constant_without_a_fold(model):
    X, y = made(100, 4, 2)
    X[:, 1], X[:, 2] = 0.1, np.where(y == 0, 0.3, X[:, 2])
    X[5, 1] = 1e6  # of the first fold, without which the column is constant
    expected = left_out_one_by_one(model, X, y)
    found = left_out(clone(model), X, y)
    assert np.isfinite(found).all()
    others = np.arange(100) != 5
    assert_close(found[others], expected[others], 1e-6)


def test_a_class_may_be_missing_without_a_fold():
    X, y = made(60, 3, 2)
    y[7] = 2
    with pytest.warns(UserWarning, match="rows for 3 columns"):
        found = left_out(GaussianTAN(), X, y)
    assert np.isneginf(found[7, 2])
    assert np.isfinite(found[:, :2]).all()


def test_rows_that_have_no_folds():
    X, y = made(20)
    with pytest.raises(UnnaiveError, match="only fold there are none; give more rows"):
        left_out(FullBayes(), X, y, folds=1)
    text = np.array([["a"], ["b"]] * 10, dtype=object)
    with pytest.raises(UnnaiveError, match="column 'x0' holds labels such as 'a', and FullBayes"):
        left_out(FullBayes(), text, y)


def test_models_that_learn_from_more_than_moments():
    alone = [model for model in MODELS if model.learns_from_moments]
    assert alone == MODELS
    assert not GaussianNaiveBayes().learns_from_moments
    assert not BarrowFullBayes().learns_from_moments


# Moments


@given(st.integers(2, 6), st.sampled_from([0.0, 0.3]), st.booleans())
@settings(max_examples=30)
def test_moments_without_each_part(folds, gaps, weighted):
    X, y = made(40, 3, 2, gaps=gaps, seed=folds)
    weights = np.random.default_rng(1).uniform(0.5, 2, 40) if weighted else None
    schema, fold = Schema.of_numbers("abc", (0, 1)), np.arange(40) % folds

    def moments(chosen):
        own = None if weights is None else weights[chosen]
        return moments_of(X[chosen], y[chosen], schema, own, np.full(3, 0.5))

    whole, without = all_and_without_each([moments(fold == number) for number in range(folds)])
    expected = [moments(fold >= 0), *(moments(fold != number) for number in range(folds))]
    assert len(without) == folds
    for found, twin in zip([whole, *without], expected, strict=True):
        assert found.complete == twin.complete == (gaps == 0)
        for name in ("class_weights", "weights", "sums", "products"):
            assert_close(getattr(found, name), getattr(twin, name), 1e-12)
        assert_close(found.means, twin.means, 1e-12)
        assert_close(found.covariances(1), twin.covariances(1), 1e-10)


def test_a_constant_has_no_covariance():
    X = np.column_stack([np.full(30, 0.1), np.linspace(0, 1, 30), np.full(30, 1e5 / 3)])
    found = moments_of(X, np.zeros(30, int), Schema.of_numbers("abc", (0,)), origin=np.ones(3))
    assert (found.variances == 0).tolist() == [True, False, True]
    assert (found.covariances()[0] != 0).sum() == 1


def test_a_class_without_rows_has_the_variances_of_all():
    X = made(30, 3, 1)[0]
    found = moments_of(X, np.zeros(30, int), Schema.of_numbers("abc", (0, 1)))
    assert_close(found.covariances()[1], np.diag(X.var(axis=0)))
    assert_close(found.means[1], X.mean(axis=0))


def test_fractions_of_weights_do_not_matter():
    X, y = made(60, 3, 2)
    X = X * [1e6, 1.0, 1e-3]
    for model in (FullBayes(), GaussianTAN()):
        expected = joint(clone(model), X, y)
        assert_close(joint(clone(model), X, y, sample_weight=np.full(60, 0.1)), expected)


# Forms


@pytest.mark.parametrize("n_columns", [1, 2, 39, 40, 41, 83, 160])
def test_complete_forms_make_columns_independent(n_columns):
    random = np.random.default_rng(n_columns)
    rows = random.normal(size=(3, 2 * n_columns + 5, n_columns))
    covariances = rows.transpose(0, 2, 1) @ rows
    forms = complete_forms(covariances)
    assert (forms == np.tril(forms)).all()
    found = forms @ covariances @ forms.transpose(0, 2, 1)
    assert_close(found, np.broadcast_to(np.eye(n_columns), found.shape))
    assert_close(forms[1], complete_forms(covariances[1]), 1e-12)


def slow_covariance(covariance, families):
    """Covariance of a network by tracing every path from a column to its ancestors."""
    weight, noise = np.zeros_like(covariance), np.zeros(len(covariance))
    for child, *parents in families:
        own = covariance[np.ix_([child, *parents], [child, *parents])]
        precision = np.linalg.inv(own)
        noise[child] = 1 / precision[0, 0]
        weight[child, parents] = -precision[0, 1:] * noise[child]
    paths = sum(np.linalg.matrix_power(weight, length) for length in range(len(covariance)))
    return paths @ np.diag(noise) @ paths.T


@given(st.integers(1, 7), st.integers(1, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_forms_and_covariances_of_networks(d, k, seed):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(k, 3 * d + 5, d))
    covariances = rows.transpose(0, 2, 1) @ rows
    order = random.permutation(d).tolist()
    families = []
    for place, column in enumerate(order):
        parents = random.permutation(order[:place])[: random.integers(0, 4)]
        families.append((column, *parents.tolist()))
    implied = network_covariances(covariances, families)
    expected = np.stack([slow_covariance(own, families) for own in covariances])
    assert_close(implied, expected)
    forms = network_forms(covariances, families)
    assert_close(forms.transpose(0, 2, 1) @ forms @ implied, np.stack([np.eye(d)] * k))
    sizes = np.zeros(d, dtype=int)
    for child, *parents in families:
        sizes[child] = 1 + len(parents)
    assert ((forms != 0).sum(axis=2) == sizes).all()


def test_columns_without_noise_are_refused():
    covariances = np.array([[[1.0, 2.0], [2.0, 4.0]]])
    with pytest.raises(UnnaiveError, match="singular"):
        network_forms(covariances, [(0,), (1, 0)])
    with pytest.raises(UnnaiveError, match="singular"):
        network_forms(np.zeros((1, 2, 2)), [(0,), (1, 0)])


@pytest.mark.parametrize(
    "model", [FullBayes(), GaussianTAN(), KNaiveBayes(joint="pseudo")], ids=str
)
def test_models_that_met_gaps_are_pickled(model):
    X, y = made(60, 3, 2)
    model = clone(model).fit(X, y)
    gapped = with_gaps(X, 0.3)
    expected = model.predict_proba(gapped)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(gapped), expected)
