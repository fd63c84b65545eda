"""Selection of columns: in pipelines, on tables of numbers, labels and gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from unnaive import AODE, GeneralizedNB, SelectByInformation
from unnaive.datasets import load_wdbc


@pytest.fixture
def table():
    """Two columns that matter, one of labels, and three that are noise."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 300)
    size = np.where(random.random(300) < 0.8, y, random.integers(0, 3, 300))
    return pd.DataFrame(
        {
            "noise": random.normal(size=300),
            "size": np.where(random.random(300) < 0.1, np.nan, size + random.normal(0, 0.1, 300)),
            "colour": np.array(["red", "green", "blue"])[(y + (random.random(300) < 0.2)) % 3],
            "week": random.integers(1, 53, 300),
            "name": random.choice(list("abcdefgh"), 300),
        }
    ).replace({"colour": {"blue": None}}), np.array(["low", "middle", "high"])[y]


def test_columns_that_matter_are_kept(table):
    X, y = table
    select = SelectByInformation(n_features=2).fit(X, y)
    assert select.get_support().tolist() == [False, True, True, False, False]
    assert select.get_feature_names_out().tolist() == ["size", "colour"]
    assert select.get_support(indices=True).tolist() == sorted(select.estimator_.feature_order_)
    kept = select.set_output(transform="pandas").transform(X)
    pd.testing.assert_frame_equal(kept, X[["size", "colour"]])


def test_a_share_of_them(table):
    assert SelectByInformation().fit(*table).get_support().sum() == 3  # half of five
    assert SelectByInformation(n_features=0.1).fit(*table).get_support().sum() == 2


def test_as_many_as_score_best(table):
    X, y = table
    model = GeneralizedNB(criterion="log_loss")
    select = SelectByInformation(n_features="loo", estimator=model).fit(X, y)
    path = select.estimator_.path_
    best = path["n_features"][np.argmin(path["log_loss"])]
    assert select.transform(X).shape == (300, best)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_before_another_model(table, kind):
    X, y = table
    pipeline = make_pipeline(SelectByInformation(n_features=2), AODE())
    assert pipeline.fit(kind(X), y).score(kind(X), y) > 0.7


@pytest.mark.long
def test_in_a_search():
    data = load_wdbc()
    pipeline = make_pipeline(SelectByInformation(), DecisionTreeClassifier(random_state=0))
    grid = {
        "selectbyinformation__n_features": [2, 5, "loo"],
        "selectbyinformation__estimator": [None, GeneralizedNB(method="free")],
    }
    assert GridSearchCV(pipeline, grid, cv=3).fit(data.X, data.y).best_score_ > 0.9


def test_numbers_of_columns_that_cannot_be(table):
    with pytest.raises(ValueError, match="n_features=9; it must be 'loo', None, a share"):
        SelectByInformation(n_features=9).fit(*table)
