"""Gaussian models: scikit-learn's own, slow twins, gaps, and what every such model promises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf, shrunk_covariance
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import naive_gaussian as slow
from unnaive import (
    FullBayes,
    GaussianKDB,
    GaussianNaiveBayes,
    GaussianTAN,
    KNaiveBayes,
    NaiveBayes,
    load,
)
from unnaive.counts import expectation
from unnaive.counts.expectation import maximum_likelihood
from unnaive.exceptions import UnnaiveError

MODELS = [GaussianNaiveBayes(), FullBayes(), GaussianTAN(), GaussianKDB(k=1), KNaiveBayes(k=2)]
WHOLE = MODELS[1:]  # those with covariances
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
whole_model = pytest.mark.parametrize("model", WHOLE, ids=lambda model: type(model).__name__)


def made(n=60, d=3, k=2, gaps=0.0, seed=0):
    """Rows (n, d) whose columns depend on each other in each class's own way, and classes."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % k)
    X = random.normal(size=(n, d))
    for c in range(k):
        turn, spread = np.linalg.qr(random.normal(size=(d, d)))[0], random.uniform(0.4, 2, (d, 1))
        X[y == c] = X[y == c] @ (spread * turn) + random.normal(size=d)
    X[random.random(X.shape) < gaps] = np.nan
    return X, y


@st.composite
def number_problems(draw, most_columns=5, most_classes=3):
    """(X, y, the same X with gaps), with more rows than columns in every class."""
    d, k = draw(st.integers(1, most_columns)), draw(st.integers(1, most_classes))
    n = k * draw(st.integers(2 * d + 4, 25))
    seed = draw(st.integers(0, 2**32 - 1))
    X, y = made(n, d, k, seed=seed)
    X = (X + draw(st.sampled_from([0.0, 50.0]))) * 10.0 ** draw(st.integers(-3, 3))
    return X, y, with_gaps(X, draw(st.sampled_from([0.0, 0.2, 0.7])), seed)


def with_gaps(X, share, seed=0):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def rows_of(X):
    """Rows as the twins have them."""
    return [[None if np.isnan(cell) else float(cell) for cell in row] for row in X]


def twin_of(X, y):
    """Give the twin's moments, nothing added to variances."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slow, "FLOOR", 0.0)
        return slow.fit(rows_of(X), y.tolist(), int(y.max()) + 1)


def assert_close(got, expected, tolerance=1e-8):
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


def joint(model, X, y, rows=None, **options):
    return model.fit(X, y, **options).predict_joint_log_proba(X if rows is None else rows)


# Gaussian naive Bayes


@given(number_problems())
@settings(max_examples=60)
def test_naive_bayes_is_scikit_learns(problem):
    X, y, _ = problem
    assert_close(joint(GaussianNaiveBayes(), X, y), joint(GaussianNB(), X, y), 1e-10)
    prior = np.arange(1, y.max() + 2) / np.arange(1, y.max() + 2).sum()
    expected = joint(GaussianNB(priors=prior), X, y)
    assert_close(joint(GaussianNaiveBayes(class_prior=prior), X, y), expected, 1e-10)
    weights = np.resize([1.0, 0.25, 3.0], len(y))  # theirs do not enter what smoothing adds
    expected = joint(GaussianNB(var_smoothing=0), X, y, sample_weight=weights)
    got = joint(GaussianNaiveBayes(var_smoothing=0), X, y, sample_weight=weights)
    assert_close(got, expected, 1e-10)


def test_batches_are_scikit_learns_batches():
    X, y = made(90, 4, 3)
    ours, theirs = GaussianNaiveBayes(var_smoothing=0), GaussianNB(var_smoothing=0)
    for part in np.array_split(np.arange(90), 4):
        ours.partial_fit(X[part], y[part], classes=[0, 1, 2])
        theirs.partial_fit(X[part], y[part], classes=[0, 1, 2])
        assert_close(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), 1e-10)


@given(number_problems(), st.integers(0, 9))
@settings(max_examples=40)
def test_gaps_skip_factors_as_in_the_twin(problem, seed):
    X, y, gapped = problem
    first = np.array([y[:row].tolist().count(c) < 3 for row, c in enumerate(y)])
    learned = np.where(first[:, None], X, with_gaps(X, 0.4, seed))
    twin = slow.fit(rows_of(learned), y.tolist(), int(y.max()) + 1)
    expected = [slow.gaussian_nb(twin, row) for row in rows_of(gapped)]
    assert_close(joint(GaussianNaiveBayes(), learned, y, gapped), expected, 1e-9)


def mixed(n=80, seed=1):
    """Numbers a and b, labels s, and t, numbers that may be categories; some gaps."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=n) + y,
            "s": random.choice(["u", "v", "w"], n),
            "b": 3 * random.normal(size=n) - y,
            "t": random.integers(0, 3, n),
        }
    )
    return frame.mask(random.random(frame.shape) < 0.1), y


@pytest.mark.parametrize("chosen", [["t"], [3], [-1], [False, False, False, True]], ids=str)
def test_mixed_columns_add_up(chosen):
    X, y = mixed()
    numbers, labels = X[["a", "b"]], X[["s", "t"]]
    model = GaussianNaiveBayes(categorical_features=chosen, smoothing="m-estimate")
    apart = NaiveBayes(discretize=None, smoothing="m-estimate", class_prior=[0.5, 0.5])
    expected = joint(GaussianNaiveBayes(), numbers, y) + joint(apart, labels, y) - np.log(0.5)
    assert_close(joint(model, X, y), expected, 1e-12)
    whole = joint(GaussianNaiveBayes(), X[["a", "s", "b"]], y)
    assert np.abs(joint(GaussianNaiveBayes(), X, y) - whole).max() > 0.1  # t is a number there
    prior = joint(model, X, y, pd.DataFrame({c: [None] for c in X}, dtype=object))
    assert_close(prior[0], np.log(np.bincount(y) / len(y)), 1e-12)


def test_labels_alone_are_naive_bayes():
    X, y = mixed()
    shares = np.bincount(y) / len(y)
    expected = joint(NaiveBayes(discretize=None, class_prior=shares), X[["s"]], y)
    assert_close(joint(GaussianNaiveBayes(), X[["s"]], y), expected, 1e-12)


def test_mixed_models_are_saved_added_to_and_forget(tmp_path):
    X, y = mixed()
    model = GaussianNaiveBayes(categorical_features=["t"]).fit(X, y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.schema_.names == ("a", "s", "b", "t")
    more, labels = mixed(30, seed=2)
    changed = model.partial_fit(more, labels).predict_joint_log_proba(X)
    np.testing.assert_array_equal(
        again.partial_fit(more, labels).predict_joint_log_proba(X), changed
    )
    both, classes = pd.concat([X, more]), np.append(y, labels)
    expected = joint(GaussianNaiveBayes(categorical_features=["t"]), both, classes, X)
    assert_close(changed, expected)
    expected = joint(GaussianNaiveBayes(categorical_features=["t"]), X, y)
    assert_close(model.forget(more, labels).predict_joint_log_proba(X), expected)


def test_loaded_models_read_the_same(tmp_path):
    model = GaussianNaiveBayes().fit(*made())
    model.save(tmp_path / "model")
    assert repr(load(tmp_path / "model")) == repr(model)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("auto", 'categorical_features="auto" is for models of counts'),
        (["z"], "categorical_features names 'z', which is not a column of X"),
        ([4], "categorical_features has 4; positions run from 0 to 3"),
        ([True, False], "a mask of 4 booleans"),
    ],
)
def test_bad_categorical_features(chosen, message):
    with pytest.raises(ValueError, match=message):
        GaussianNaiveBayes(categorical_features=chosen).fit(*mixed())


def test_mixed_columns_keep_their_kind():
    X, y = mixed()
    model = GaussianNaiveBayes().fit(X, y)
    with pytest.raises(UnnaiveError, match="column 'a' held numbers in fit and has the label 'z'"):
        model.predict(X.assign(a="z"))
    with pytest.raises(UnnaiveError, match="column 's' held labels such as 'u'"):
        model.predict(X.assign(s=1.5))
    missing = model.predict_proba(X.assign(s=pd.Series([None] * 80, dtype=object)))
    np.testing.assert_array_equal(model.predict_proba(X.assign(s="unheard of")), missing)


# The full Gaussian


@pytest.mark.parametrize("k", [2, 3])
def test_full_bayes_is_quadratic_discriminant_analysis(k):
    X, y = made(90, 4, k)
    theirs = QuadraticDiscriminantAnalysis(tol=0, store_covariance=True).fit(X, y)
    unbiased = np.allclose(theirs.covariance_[0], np.cov(X[y == 0].T, ddof=1), rtol=1e-6)
    got = joint(FullBayes(var_smoothing=0, ddof=int(unbiased)), X, y)
    scores = theirs.decision_function(X)
    expected = scores if k == 2 else (scores - scores[:, :1])[:, 1:].T
    assert_close((got - got[:, :1])[:, 1:].T.reshape(expected.shape), expected)


@given(number_problems())
@settings(max_examples=60)
def test_full_bayes_equals_the_twin(problem):
    X, y, gapped = problem
    twin = twin_of(X, y)
    expected = [slow.full_joint(twin, row) for row in rows_of(gapped)]
    assert_close(joint(FullBayes(var_smoothing=0), X, y, gapped), expected)


def log_joint(X, y, covariance_of):
    """Log joint of Gaussians with the covariances of a function of a class's rows."""
    parts = [X[y == c] for c in np.unique(y)]
    return np.stack(
        [
            np.log(len(part) / len(X))
            + multivariate_normal(part.mean(axis=0), covariance_of(part)).logpdf(X)
            for part in parts
        ],
        axis=1,
    )


def test_shrinkage():
    X, y = made(40, 6, 3)
    model = FullBayes(var_smoothing=0, shrinkage=0.3)
    expected = log_joint(X, y, lambda part: shrunk_covariance(np.cov(part.T, ddof=0), 0.3))
    assert_close(joint(model, X, y), expected)
    model.set_params(shrinkage="ledoit-wolf")
    assert_close(joint(model, X, y), log_joint(X, y, lambda part: ledoit_wolf(part)[0]))
    model.set_params(shrinkage=1)
    same = log_joint(X, y, lambda part: np.diag(np.full(6, part.var(axis=0).mean())))
    assert_close(joint(model, X, y), same)
    with pytest.raises(UnnaiveError, match="needs whole rows without weights"):
        FullBayes(shrinkage="ledoit-wolf").fit(X, y, np.ones(40))
    with pytest.raises(UnnaiveError, match="call fit, or give the number"):
        FullBayes(shrinkage="ledoit-wolf").fit(X, y).partial_fit(X, y)


@whole_model
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shrinkage": 1.5}, "shrinkage=1.5; it must be 'ledoit-wolf', a number from 0"),
        ({"shrinkage": "lw"}, "shrinkage='lw'"),
        ({"pooling": -0.1}, "pooling=-0.1; it must be a number from 0 to 1"),
        ({"pooling": "all"}, "pooling='all'"),
        ({"var_smoothing": -1}, "var_smoothing=-1; it must be a number of at least 0"),
        ({"var_smoothing": "no"}, "var_smoothing='no'"),
        ({"ddof": np.inf}, "ddof=inf"),
    ],
)
def test_bad_parameters(model, parameters, message):
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**parameters).fit(*made())


@whole_model
def test_singular_covariances_are_refused(model):
    X = np.array([[2.0, 2.0, 1.0], [2.0, 2.0, -1.0], [-2.0, -2.0, 1.0], [-2.0, -2.0, -1.0]])
    model = clone(model).set_params(var_smoothing=0)
    if isinstance(model, GaussianKDB):
        model.set_params(k=2)
    with pytest.raises(UnnaiveError, match=r'singular: .* or set shrinkage="ledoit-wolf"'):
        model.fit(np.tile(X, (2, 1)), [0] * 4 + [1] * 4)
    model.set_params(var_smoothing=1e-9).fit(np.tile(X, (2, 1)), [0] * 4 + [1] * 4)
    assert_close(model.predict_proba(X), 0.5)


@whole_model
def test_few_rows_are_warned_of(model):
    X, y = made()[0][:7], [0] * 3 + [1] * 4
    with pytest.warns(UserWarning, match="class .*0.* has 3 rows for 3 columns; .*ledoit-wolf"):
        clone(model).fit(X, y)
    clone(model).set_params(shrinkage="ledoit-wolf").fit(X, y)
    GaussianNaiveBayes().fit(X, y)


def test_warnings_name_classes_as_users_do():
    with pytest.warns(UserWarning, match="class 'no' has 3 rows"):
        FullBayes().fit(made()[0][:7], ["no"] * 3 + ["yes"] * 4)


# Rows with gaps


def observed_likelihood(X, mean, covariance):
    """Log-likelihood of the cells that are there."""
    total = 0.0
    for row in X:
        at = np.flatnonzero(~np.isnan(row))
        if len(at):
            part = multivariate_normal(mean[at], covariance[np.ix_(at, at)])
            total += part.logpdf(row[at])
    return total


def one_class(X, monkeypatch=None, rounds=None):
    """Log-likelihood under the full Gaussian, perhaps after some rounds only."""
    if rounds is not None:
        monkeypatch.setattr(expectation, "_ROUNDS", rounds)
    return joint(FullBayes(var_smoothing=0), X, np.zeros(len(X))).sum()


def test_every_round_makes_rows_more_likely(monkeypatch):
    X = made(50, 3, 1, gaps=0.35, seed=3)[0]
    found = [one_class(X, monkeypatch, rounds) for rounds in range(20)]
    assert (np.diff(found) > -1e-9).all()
    assert found[5] > found[0] + 0.1
    last = one_class(X, monkeypatch, 300)
    monkeypatch.setattr(expectation, "_CHANGE", 0.0)
    assert last == pytest.approx(one_class(X, monkeypatch, 500), abs=1e-8)


@pytest.mark.long
def test_rows_with_gaps_are_as_likely_as_they_can_be():
    X = made(30, 2, 1, gaps=0.3, seed=5)[0]

    def loss(parameters):
        factor = np.array([[np.exp(parameters[2]), 0.0], [parameters[3], np.exp(parameters[4])]])
        return -observed_likelihood(X, parameters[:2], factor @ factor.T)

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-4})
    assert one_class(X) == pytest.approx(-best.fun, abs=1e-6)
    start, variances = np.nanmean(X, axis=0), np.nanvar(X, axis=0)
    mean, covariance = maximum_likelihood(X, np.ones(30), start, variances, 1e-12 * variances)
    assert observed_likelihood(X, mean, covariance) == pytest.approx(one_class(X), abs=1e-8)
    np.testing.assert_allclose(mean, best.x[:2], atol=1e-4)


def test_gaps_that_other_cells_explain_do_no_harm():
    X = np.random.default_rng(0).normal(size=(4000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    gapped, away = X.copy(), np.random.default_rng(1).random(4000) < 0.8
    gapped[(X[:, 0] > 0) & away, 1] = np.nan
    start, variances = np.nanmean(gapped, axis=0), np.nanvar(gapped, axis=0)
    assert start[1] < -0.3  # the mean of what is left
    mean, covariance = maximum_likelihood(
        gapped, np.ones(4000), start, variances, 1e-12 * variances
    )
    np.testing.assert_allclose(mean, X.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(covariance, np.cov(X.T, ddof=0), atol=0.05)
    complete = maximum_likelihood(X, np.ones(4000), X.mean(axis=0), variances, 1e-12 * variances)
    assert_close(complete[1], np.cov(X.T, ddof=0))


@whole_model
def test_hostile_gaps(model):
    X, y = made(60, 3, 2, gaps=0.2)
    weights = np.resize([1, 2], 60)
    repeated = np.repeat(np.arange(60), weights)
    expected = joint(clone(model), X[repeated], y[repeated], X)
    assert_close(joint(clone(model), X, y, sample_weight=weights), expected, 1e-6)
    labels = pd.Categorical(y, categories=[0, 1, 2])
    chances = clone(model).fit(X, labels).predict_proba(X)
    assert_close(chances[:, :2], clone(model).fit(X, y).predict_proba(X), 1e-12)
    assert (chances[:, 2] == 0).all()
    X[y == 1, 0] = np.nan  # a class without a cell of a column
    assert np.isfinite(joint(clone(model), X, y)).all()


# Networks


def parents_of(model):
    return [list(model.structure_.parents_of(i)) for i in range(model.n_features_in_)]


@given(number_problems())
@settings(max_examples=60)
def test_trees_equal_the_twin(problem):
    X, y, gapped = problem
    model, twin = GaussianTAN(var_smoothing=0).fit(X, y), twin_of(X, y)
    parents = slow.tan_parents(rows_of(X), y.tolist(), int(y.max()) + 1)
    assert parents_of(model) == parents
    expected = [slow.network_joint(twin, parents, row) for row in rows_of(gapped)]
    assert_close(model.predict_joint_log_proba(gapped), expected)


@given(number_problems(), st.integers(0, 4))
@settings(max_examples=60)
def test_k_dependences_equal_the_twin(problem, k):
    X, y, gapped = problem
    model, twin = GaussianKDB(k=k, var_smoothing=0).fit(X, y), twin_of(X, y)
    order, parents = slow.kdb_parents(rows_of(X), y.tolist(), int(y.max()) + 1, k)
    assert model.structure_.feature_order.tolist() == order
    assert parents_of(model) == parents
    expected = [slow.network_joint(twin, parents, row) for row in rows_of(gapped)]
    assert_close(model.predict_joint_log_proba(gapped), expected)


@given(number_problems())
@settings(max_examples=30)
def test_networks_lie_between_naive_and_full(problem):
    X, y, gapped = problem
    d = X.shape[1]
    apart = joint(GaussianNaiveBayes(var_smoothing=0), X, y, gapped)
    full = joint(FullBayes(var_smoothing=0), X, y, gapped)
    assert_close(joint(GaussianKDB(k=0, var_smoothing=0), X, y, gapped), apart)
    assert_close(joint(GaussianKDB(k=d - 1, var_smoothing=0), X, y, gapped), full)
    first = joint(GaussianNaiveBayes(var_smoothing=0), X[:, :1], y)
    assert_close(joint(GaussianTAN(var_smoothing=0), X[:, :1], y), first)
    if d == 2:
        assert_close(joint(GaussianTAN(var_smoothing=0), X, y, gapped), full)


@pytest.mark.parametrize("k", [-1, 1.5, True, "auto"])
def test_bad_number_of_parents(k):
    with pytest.raises(ValueError, match=f"k={k!r}; it must be a whole number of at least 0"):
        GaussianKDB(k=k).fit(*made())


# What every model promises


@every_model
def test_batches_and_forgetting_equal_one_fit(model):
    X, y = made(150, 4, 3)
    batches = clone(model)
    for part in np.array_split(np.arange(150), 3):
        batches.partial_fit(X[part], y[part], classes=[2, 1, 0])
    assert_close(batches.predict_joint_log_proba(X), joint(clone(model), X, y))
    more, labels = made(60, 4, 3, seed=1)
    batches.partial_fit(more, labels).forget(X, y)
    expected = joint(clone(model), more, labels, X)
    assert_close(batches.predict_joint_log_proba(X), expected)
    with pytest.raises(UnnaiveError, match="more rows would be removed than were learned"):
        batches.forget(X, y)
    with pytest.raises(ValueError, match="not the same as on the first call to partial_fit"):
        batches.partial_fit(X, y, classes=[0, 1])
    assert_close(batches.predict_joint_log_proba(X), expected)


@every_model
def test_models_may_forget_everything(model):
    X, y = made()
    assert_close(clone(model).fit(X, y).forget(X, y).predict_proba(X).sum(axis=1), 1.0)


@every_model
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_saved_models_answer_the_same(model, gaps, tmp_path):
    X, y = made(60, 4, 3, gaps=gaps)
    labels = np.array(["a", "b", "c"])[y]
    model = clone(model).set_params(threshold_bias={"b": 0.3}, class_prior=[0.5, 0.3, 0.2])
    X = pd.DataFrame(X, columns=list("pqrs"))
    model.fit(X, labels).save(tmp_path / "model")
    again = load(tmp_path / "model")
    for method in ("predict_joint_log_proba", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    assert again.structure_.edges == model.structure_.edges
    expected = model.partial_fit(X, labels).predict_joint_log_proba(X)
    np.testing.assert_array_equal(again.partial_fit(X, labels).predict_joint_log_proba(X), expected)


@pytest.mark.long
@every_model
def test_threads_and_containers_do_not_matter(model):
    X, y = made(20_000, 3, 2, gaps=0.1)
    expected = clone(model).fit(X, y).predict_proba(X)
    threads = clone(model).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(threads.predict_proba(X), expected)
    X, y = X[:200], y[:200]
    expected = clone(model).fit(X, y).predict_proba(X)
    lists = rows_of(X)
    polars = pl.DataFrame(lists, schema=["a", "b", "c"], orient="row")
    for rows in (lists, pd.DataFrame(X), pd.DataFrame(X).convert_dtypes(), polars):
        np.testing.assert_array_equal(clone(model).fit(rows, y).predict_proba(rows), expected)


@every_model
def test_weights_are_repeated_rows_and_units_do_not_matter(model):
    X, y = made(90, 4, 3)
    model = clone(model).set_params(var_smoothing=0)
    assert clone(model).get_params() == model.get_params()
    weights = np.resize([1, 3, 0, 2], 90)
    expected = joint(model, np.repeat(X, weights, axis=0), np.repeat(y, weights), X)
    assert_close(joint(model, X, y, sample_weight=weights), expected)
    units, zeros = np.array([1e-6, 1.0, 1e6, 40.0]), np.array([0.0, 1e5, -1e9, 3.0])
    chances = model.fit(X, y).predict_proba(X)
    assert_close(model.fit(X * units + zeros, y).predict_proba(X * units + zeros), chances, 1e-6)
