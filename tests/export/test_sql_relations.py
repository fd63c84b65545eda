"""SQL for missing columns with many joint values: the relations say what the columns say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import unnaive
from benchmarks.engines import KEY, unseen
from exports import assert_predictions, assert_scored, fitted, started
from unnaive.exceptions import UnnaiveError

sqlglot = pytest.importorskip("sqlglot")
from unnaive.export import sql_kinds, sql_relations  # noqa: E402 - needs sqlglot

KEYS = ["tan", "kdb", "bayesnet"]
EVERY = [(key, name) for name in ("DuckDB", "SQLite", "PostgreSQL") for key in KEYS]
QUICK = {("tan", "DuckDB"), *((key, "SQLite") for key in KEYS)}
LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("SQLite", "PostgreSQL")]


def dependent(k, values, columns=6, rows=300):
    """Columns that depend on each other and on one of k classes."""
    random = np.random.default_rng(0)
    hidden = random.integers(values, size=rows)
    noise = random.integers(2, size=(columns, rows)) * random.integers(values, size=(columns, rows))
    cells = {f"x{i}": (hidden + own).astype(str) for i, own in enumerate(noise)}
    classes = (hidden + random.integers(2, size=rows)) % k
    return pd.DataFrame(cells), np.append(np.arange(k), classes[k:])


@pytest.mark.parametrize(
    ("key", "name"),
    [pytest.param(*one, marks=[pytest.mark.long] * (one not in QUICK)) for one in EVERY],
)
def test_every_sum_by_relations(monkeypatch, key, name):
    monkeypatch.setattr(sql_kinds, "_FEW_CELLS", 0)
    model, X = fitted(key, seed=1)
    with started(name) as engine:
        assert_scored(engine, model, X)
        assert_scored(engine, model, X.head(1))
        assert_scored(engine, model, X.mask(np.ones(X.shape, dtype=bool)).head(3))
        answer = engine.score(model, X, inline=3)  # large factors are joined
        assert_predictions(model, X, answer.labels, answer.probabilities)


def test_tables_of_the_query_in_sqlite(monkeypatch):
    monkeypatch.setattr(sql_kinds, "_FEW_CELLS", 0)
    monkeypatch.setattr(sql_relations, "_FEW_ENTRIES", 0)
    model, X = fitted("tan", seed=1)
    with started("SQLite") as engine:
        assert "_table0" in model.to_sql("rows", dialect="sqlite")
        assert_scored(engine, model, X)


@pytest.mark.parametrize("name", ["DuckDB", *LONG])
def test_four_columns_of_many_values_and_six_classes(name):
    X, y = dependent(4, 3)
    model = unnaive.KDB(k=3, missing="marginalize").fit(X, y)
    assert "_sums0 AS" in model.to_sql("rows")
    with started(name) as engine:
        assert_scored(engine, model, unseen(X, 1).head(100))


@pytest.mark.parametrize("name", ["DuckDB", "SQLite"])
def test_tables_with_the_names_of_relations_and_steps(monkeypatch, name):
    monkeypatch.setattr(sql_kinds, "_FEW_CELLS", 0)
    model, X = fitted("tan", seed=1)
    with started(name) as engine:
        query = model.to_sql("rows", dialect=engine.dialect)
        tree = sqlglot.parse_one(query, dialect=engine.dialect)
        steps = [step.alias for step in tree.find_all(sqlglot.exp.CTE)]
        assert any("_sums" in step for step in steps)
        for step in (steps[0], steps[-1], next(step for step in steps if "_sums" in step)):
            engine.load(X.head(20), step)
            rows = sorted(engine.run(model.to_sql(step, key=KEY, dialect=engine.dialect)))
            assert [row[1] for row in rows] == model.predict(X.head(20)).tolist()


def test_too_many_joint_values_are_refused_before_a_file_is_written(tmp_path):
    X, y = dependent(3, 30, rows=600)
    model = unnaive.KDB(k=4).fit(X, y)
    told = r"table of the columns 'x|KDB sums over all joint values of the columns 'x"
    with pytest.raises(UnnaiveError, match=told):
        unnaive.export.write(model, tmp_path / "model.sql")
    assert not list(tmp_path.iterdir())
