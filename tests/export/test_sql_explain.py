"""Explanations in SQL: the largest contributions of every row, as Python's explain has them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from benchmarks.engines import unseen
from exports import assert_explained, clinic, fitted, started
from unnaive.exceptions import UnnaiveError

pytest.importorskip("sqlglot")
EVERY_KIND = ["spode", "kdb", "waode", "hnb", "tan-multinet", "odanb", "bsej", "bayesnet", "auto"]


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
@pytest.mark.parametrize("key", EVERY_KIND)
def test_every_kind_of_tables(databases, key):
    assert_explained(databases[1], *fitted(key, seed=1, k=2))


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
