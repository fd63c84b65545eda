"""Factors of up to four columns, alone and in a blend, in every engine; and sums of both ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from benchmarks.engines import unseen
from exports import assert_scored, fitted, started
from unnaive.export import sql_summing
from unnaive.export.document import model_document

SERVERS = ["PostgreSQL", "Spark SQL"]
QUICK = ["onnxruntime", "DuckDB", "SQLite", "node"]
ENGINES = [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in SERVERS)]


def odd_rows(rows=600):
    """The class says whether an odd number of four columns is high; each alone says nothing."""
    random = np.random.default_rng(4)
    codes = random.integers(2, size=(rows, 5))
    words = np.array(["low", "high"])[codes]
    X = pd.DataFrame(words, columns=["a", "b", "c", "d", "noise"])
    y = (codes[:, :4].sum(axis=1) + (random.random(rows) < 0.05)) % 2
    return X, np.where(y == 1, "odd", "even")


def widths(model):
    """Number of columns of every factor, those of a blend's members included."""
    document = model_document(model, 10**8)
    tables = [member["tables"] for member in document.get("members", [document])]
    products = [own for own in tables if own["kind"] == "product"]
    return {
        len(factor["children"]) + len(factor["parents"])
        for own in products
        for factor in own["factors"]
    }


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.parametrize("name", ENGINES)
def test_factors_of_four_columns_are_exported(name):
    pytest.importorskip("sqlglot")
    X, y = odd_rows()
    alone = unnaive.WeightedBayes(max_order=4).fit(X, y)
    blend = unnaive.AutoBayes().fit(X, y)
    assert alone.score(X, y) > 0.9
    with started(name) as engine:
        for model in (alone, blend):
            assert 4 in widths(model)
            assert_scored(engine, model, unseen(X).head(150))


@pytest.mark.parametrize("name", [pytest.param("DuckDB", marks=pytest.mark.long), "SQLite"])
@pytest.mark.parametrize("limit", [0.0, 20.0])
def test_terms_of_any_size_are_summed_alike(monkeypatch, name, limit):
    """Where terms can differ too much for powers, the largest is taken out; the result is equal."""
    pytest.importorskip("sqlglot")
    monkeypatch.setattr(sql_summing, "_NARROW", limit)
    with started(name) as engine:
        for key in ("tan", "kdb"):
            assert_scored(engine, *fitted(key, seed=1))


@pytest.mark.long
def test_hundreds_of_dependent_columns_neither_overflow_nor_underflow():
    """The parent of 300 columns is missing: the terms of its values are as small as 1e-300."""
    pytest.importorskip("sqlglot")
    random = np.random.default_rng(0)
    y = random.integers(2, size=200)
    parent = random.integers(3, size=200)
    columns = {f"x{place}": (parent + (random.random(200) < 0.05)) % 3 for place in range(300)}
    X = pd.DataFrame({"parent": parent + 3 * y * (random.random(200) < 0.1), **columns})
    model = unnaive.SPODE(parent="parent", discretize=None).fit(X, y)
    rows = X.head(20).astype(float)
    rows["parent"] = np.nan
    rows.iloc[:, 1:] = random.permutation(rows.iloc[:, 1:].to_numpy(), axis=1)
    with started("DuckDB") as engine:
        assert_scored(engine, model, rows)
