"""Scikit-learn's own checks on every estimator, and its tools around them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import unnaive
from problems import SISTERS
from unnaive.models.gaussian import GaussianClassifier

MODELS = [make() for key, make in unnaive.all_models().items() if key not in SISTERS]
WEIGHTS = "AutoBayes deals rows to folds, so a row of weight 2 is not two rows"
FAILING = {"AutoBayes": {"check_sample_weight_equivalence_on_dense_data": WEIGHTS}}


CALIBRATED = [  # by scikit-learn, which takes the same from all
    pytest.param(
        key, marks=[pytest.mark.long] * (key not in {"nb", "tan", "gaussian-nb", "k-naive"})
    )
    for key in sorted(unnaive.all_models())
]


@pytest.mark.filterwarnings("ignore:class .* its covariances say little")
@parametrize_with_checks(
    [*MODELS, unnaive.SelectByInformation()],
    expected_failed_checks=lambda estimator: FAILING.get(type(estimator).__name__, {}),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks([unnaive.make(key) for key in sorted(SISTERS)])
def test_scikit_learn_check_of_other_settings(estimator, check):
    check(estimator)


@pytest.fixture(params=sorted(unnaive.all_models()))
def model(request):
    return unnaive.make(request.param)


def least(model):
    """Accuracy to expect of six WDBC columns; those that hear near-copies of a column do worse."""
    poor = unnaive.ODANB | unnaive.HNB | unnaive.GaussianNaiveBayes
    return 0.8 if isinstance(model, poor) else 0.9


def test_pipeline_and_grid_search(model):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    pipeline = make_pipeline(StandardScaler(), model)
    name = pipeline.steps[-1][0]
    choices = {"smoothing": ["laplace", "bdeu"]}
    if isinstance(model, GaussianClassifier):
        choices = {"var_smoothing": [1e-9, 1e-3]}
    if isinstance(model, unnaive.AutoBayes):
        choices = {"choose": ["best", "blend"]}
    tried = {f"{name}__{parameter}": values for parameter, values in choices.items()}
    grid = GridSearchCV(pipeline, tried, cv=3).fit(X, y)
    assert grid.best_score_ > least(model)


@pytest.mark.parametrize("key", CALIBRATED)
def test_calibrated(key):
    model, (X, y) = unnaive.make(key), load_breast_cancer(return_X_y=True)
    with threadpool_limits(1):  # scikit-learn's threads would wait for each other
        calibrated = CalibratedClassifierCV(model, cv=3).fit(X[:, :6], y)
    assert calibrated.score(X[:, :6], y) > least(model)


def test_clone_keeps_every_parameter(model):
    model.set_params(threshold_bias=[0.1, 0.0], n_jobs=2)
    assert clone(model).get_params() == model.get_params()


def test_threads_of_cross_validation_do_not_matter(model):
    X, y = load_breast_cancer(return_X_y=True)
    one = cross_val_score(model, X[:, :5], y, cv=3)
    two = cross_val_score(model.set_params(n_jobs=2), X[:, :5], y, cv=3)
    assert np.array_equal(one, two)
