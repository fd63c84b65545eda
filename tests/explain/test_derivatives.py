"""Dependence derivatives of any model, Zhang's identity, and the thesis' claims."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import naive_gaussian as slow
import unnaive
from problems import GAUSSIAN, made
from unnaive import TAN, FullBayes, GaussianNaiveBayes, GaussianTAN, GeneralizedNB, KNaiveBayes
from unnaive.datasets import make_balanced
from unnaive.exceptions import UnnaiveError
from unnaive.explain import dependence_derivatives, plot_dependence_derivatives
from unnaive.papers.barrow import BarrowFullBayes

WITH_PARENTS = ["nb", "tan", "odanb", "spode", "kdb", "gnb-a", "gnb-o", "decomposable", "cherry"]


def rows(seed=0, gaps=0.0):
    problem = made(120, [3, 2, 4, 3], 3, gaps=gaps, seed=seed)
    return problem.X, np.array(problem.classes)


@pytest.mark.parametrize("key", WITH_PARENTS)
def test_naive_bayes_and_the_derivatives_make_the_model(key):
    X, y = rows()
    settings = {"joint_prior": False} if key == "spode" else {}  # else P(c, x_p) is one variable
    model = unnaive.make(key, **settings).fit(X, y)
    found = dependence_derivatives(model, X, mode="parents")
    joint = found.naive_joint + found.log_dd.sum(axis=2)
    expected = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(joint, expected, atol=1e-10)
    odds = expected[:, 2] - expected[:, 0]
    naive_odds = found.naive_joint[:, 2] - found.naive_joint[:, 0]
    np.testing.assert_allclose(naive_odds + found.log_gdf(), odds, atol=1e-10)


@pytest.mark.parametrize("key", sorted({*GAUSSIAN} - {"auto"}))
def test_likewise_for_numbers(key):
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 150)
    X = random.normal(size=(150, 4)) @ random.normal(size=(4, 4)) + y[:, None]
    model = unnaive.make(key).fit(X, y)
    found = dependence_derivatives(model, X, mode="parents")
    joint = found.naive_joint + found.log_dd.sum(axis=2)
    np.testing.assert_allclose(joint, model.predict_joint_log_proba(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("key", sorted({*unnaive.all_models()} - {"auto"}))
def test_full_conditionals_sum_to_one_over_values(key):
    X, y = rows()
    model = unnaive.make(key, **({} if key in GAUSSIAN else {"discretize": None})).fit(X, y)
    given, alone, prior = model.predict_log_conditionals(X)
    assert given.shape == alone.shape == (120, 3, 4)
    assert np.isfinite(given).all()
    if key in GAUSSIAN:
        return
    used = getattr(model.structure_, "used", range(4))
    for column, values in enumerate((3, 2, 4, 3)):
        if column not in used:
            assert not given[:, :, column].any()
            continue
        total = np.zeros((120, 3))
        for value in range(values):
            changed = X.copy()
            changed[:, column] = value
            total += np.exp(model.predict_log_conditionals(changed)[0][:, :, column])
        np.testing.assert_allclose(total, 1.0, atol=1e-10)
    assert prior.shape == (3,)


def test_full_conditionals_of_a_gaussian_equal_the_twin():
    random = np.random.default_rng(2)
    y = random.integers(0, 2, 60)
    X = random.normal(size=(60, 3)) @ random.normal(size=(3, 3)) + y[:, None]
    model = FullBayes(var_smoothing=0).fit(X, y)
    twin = slow.fit(X.tolist(), y.tolist(), 2)
    found = dependence_derivatives(model, X)
    for row in range(0, 60, 7):
        for i in range(3):
            expected = slow.log_ddr(twin, X[row].tolist(), i)
            assert -found.log_ddr()[row, i] == pytest.approx(expected, abs=1e-6)
    weights = found.weights()
    expected = [slow.attribute_weight(twin, X.tolist(), y.tolist(), i) for i in range(3)]
    np.testing.assert_allclose(-weights, expected, atol=1e-6)
    fitted = KNaiveBayes(var_smoothing=0).fit(X, y).attribute_weights_[0]
    np.testing.assert_allclose(fitted, weights, atol=1e-8)
    means = KNaiveBayes(var_smoothing=0, weighting="mean").fit(X, y).attribute_weights_[0]
    np.testing.assert_allclose(means, found.weights(weighting="mean"), atol=1e-8)


def test_gaps_and_columns_left_out_push_nothing():
    X, y = rows(gaps=0.3)
    for mode in ("parents", "full-conditional"):
        found = dependence_derivatives(TAN().fit(X, y), X, mode)
        assert (found.log_dd.transpose(0, 2, 1)[np.isnan(X)] == 0).all()
        model = GeneralizedNB(n_features=2).fit(X, y)
        others = np.setdiff1d(np.arange(4), model.feature_order_)
        found = dependence_derivatives(model, X, mode)
        assert (found.log_dd[:, :, others] == 0).all()
    numbers = GaussianTAN().fit(X, y)
    found = dependence_derivatives(numbers, X)
    assert (found.log_dd.transpose(0, 2, 1)[np.isnan(X)] == 0).all()


def test_naive_bayes_has_nothing_to_neglect():
    X, y = rows(gaps=0.1)
    for mode in ("parents", "full-conditional"):
        found = dependence_derivatives(unnaive.NaiveBayes().fit(X, y), X, mode)
        np.testing.assert_allclose(found.log_dd, 0.0, atol=1e-10)


def test_what_cannot_be():
    X, y = rows()
    with pytest.raises(UnnaiveError, match=r'AODE has no parents: .*mode="full-conditional"'):
        dependence_derivatives(unnaive.AODE().fit(X, y), X, mode="parents")
    with pytest.raises(ValueError, match="mode='all'"):
        dependence_derivatives(TAN().fit(X, y), X, mode="all")
    found = dependence_derivatives(TAN().fit(X, y), X)
    with pytest.raises(ValueError, match="9 is not a class; the classes are"):
        found.log_ddr(positive=9)
    with pytest.raises(ValueError, match="weighting='median'"):
        found.weights(weighting="median")
    with pytest.raises(UnnaiveError, match=r"models of unnaive\.papers\.barrow have no densities"):
        dependence_derivatives(BarrowFullBayes().fit(X, y), X)


def test_the_picture():
    X, y = rows()
    found = dependence_derivatives(TAN().fit(X, y), X)
    ax = Figure().subplots()
    assert plot_dependence_derivatives(found, ax=ax) is ax
    widths = sorted(bar.get_width() for bar in ax.patches)
    assert widths == pytest.approx(sorted(found.weights()))
    one = plot_dependence_derivatives(found, row=3, positive=1, negative=2)
    widths = sorted(bar.get_width() for bar in one.patches)
    assert widths == pytest.approx(sorted(found.log_ddr(1, 2)[3]))
    with pytest.raises(ValueError, match="row=500; there are 120 rows"):
        plot_dependence_derivatives(found, row=500)


@pytest.mark.long
def test_the_claims_of_the_thesis_over_thirty_seeds():
    models = {
        "naive": GaussianNaiveBayes(),
        "full": FullBayes(),
        **{f"{k}-naive": KNaiveBayes(k=k) for k in (2, 3)},
    }
    scores = {name: [] for name in models}
    balances = (-1.0, -0.5, 0.0, 0.5, 1.0)
    for balance in balances:
        found = {name: [] for name in models}
        for seed in range(30):
            X, y = make_balanced(200, balance=balance, random_state=seed)
            folds = StratifiedKFold(5, shuffle=True, random_state=seed)
            for name, model in models.items():
                predicted = cross_val_predict(model, X, y, cv=folds)
                found[name].append(f1_score(y, predicted, average="macro"))
        for name, values in found.items():
            scores[name].append(np.mean(values))
    naive, full = np.array(scores["naive"]), np.array(scores["full"])
    assert naive[2] > full[2] - 0.002  # best near balance 0,
    assert (np.diff(naive[:3]) > 0).all()  # and falling with |balance|
    assert (np.diff(naive[2:]) < 0).all()
    assert np.ptp(full) < 0.7 * np.ptp(naive)  # the full Gaussian is rather flat
    for edge in (0, -1):  # and k-naive is between
        assert naive[edge] < scores["3-naive"][edge] < scores["2-naive"][edge] < full[edge]


def test_bad_requests_for_rows():
    for wrong in ({"balance": 2}, {"correlation": 1.0}, {"n_rows": 0}, {"n_columns": 2.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            make_balanced(**wrong)
