"""Warnings of the library: where they point, and how often they are shown."""

import warnings

import numpy as np
import pandas as pd
import pytest

import unnaive
from unnaive.evaluate import compare, cross_validate

ROWS = 130  # not a multiple of the folds, so that the figures of the folds differ


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"P{i}" for i in range(ROWS)], "a": random.choice(list("uv"), ROWS)})
    return X, random.choice(["x", "y"], ROWS)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: unnaive.TAN().fit(X, y),
        lambda X, y: cross_validate(unnaive.NaiveBayes(), X, y, folds=3),
        lambda X, y: compare(["nb", "tan"], X, y, folds=3, n_jobs=2),
        lambda X, y: unnaive.AutoBayes(candidates=["nb", "tan"]).fit(X, y),
    ],
    ids=["fit", "cross-validation", "comparison", "auto"],
)
def test_a_warning_points_at_the_user_and_is_shown_once(call, rows):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("default")
        call(*rows)
    (warning,) = shown
    assert warning.filename == __file__
    assert warning.message.names == ("id",)
