"""Explanations in SQL: the largest contributions of every row, as Python's explain has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from benchmarks.engines import KEY, unseen
from exports import clinic, fitted, started
from unnaive.exceptions import UnnaiveError

pytest.importorskip("sqlglot")
REFUSED = {"a2de", "full-bayes", "gaussian-kdb", "gaussian-tan", "k-naive"}
SLOW = {"atan", "pazzani-eda", "apnbc-eda"}  # a megabyte of SQL; long searches


def assert_explained(database, model, X, most=3):
    """The strongest contributions to the log-odds of the label, strongest first."""
    query = model.to_sql(database.table, key=KEY, dialect=database.dialect, explain=most)
    database.load(X)
    rows = sorted(database.run(query), key=lambda row: int(row[0]))
    odds = model.explain(X).log_odds(positive=model.predict(X).tolist())
    for row, own in zip(rows, odds.contributions, strict=True):
        found = row[-2 * most :]
        sizes = -np.sort(-np.abs(own))
        for rank in range(most):
            name, value = found[2 * rank : 2 * rank + 2]
            if name is None:
                assert value is None
                assert sizes[rank] == 0
                continue
            assert float(value) == pytest.approx(own[odds.labels.index(name)], abs=1e-9)
            assert abs(float(value)) == pytest.approx(sizes[rank], abs=1e-9)


@pytest.fixture(scope="module")
def databases():
    with started("DuckDB") as duckdb, started("SQLite") as sqlite:
        yield [duckdb, sqlite]


@pytest.mark.parametrize(("key", "k"), [("nb", 3), ("tan", 2), ("aode", 2), ("gaussian-nb", 3)])
def test_contributions_are_those_of_python(databases, key, k):
    model, X = fitted(key, k=k)
    for database in databases:
        assert_explained(database, model, X)


@pytest.mark.long
@pytest.mark.parametrize("key", sorted({*unnaive.all_models()} - REFUSED - SLOW))
def test_every_model(databases, key):
    model, X = fitted(key, seed=1, k=3 if key == "auto" else 2)
    assert_explained(databases[1], model, X)


@pytest.mark.long
@pytest.mark.parametrize("name", ["PostgreSQL", "Spark SQL"])
def test_servers(name):
    with started(name) as database:
        assert_explained(database, *fitted("tan", k=2))


def test_groups_share_what_they_add(databases):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.integers(2, size=(200, 3)).astype(str), columns=["a", "b", "c"])
    model = unnaive.PazzaniNB(search="backward").fit(X, X["a"] == X["b"])
    assert model.explain(X[:1]).groups[0] == (0, 1)
    for database in databases:
        assert_explained(database, model, unseen(X), most=3)


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(UnnaiveError, match="SQL cannot explain numbers that depend on each other"):
        fitted("full-bayes")[0].to_sql("rows", explain=1)
    X, y = clinic(0, 2)
    model = unnaive.NaiveBayes(smoothing="ml").fit(X, y)
    with pytest.raises(UnnaiveError, match="NaiveBayes has probabilities of 0"):
        model.to_sql("rows", explain=1)
    with pytest.raises(ValueError, match="explain=-1; it must be 0 or more"):
        model.to_sql("rows", explain=-1)
