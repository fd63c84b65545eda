"""Hostile names and values, and labels of every type, through every target.

What an exported model returns is what Python returns, or the export is refused by one sentence
that names the column, and no file is written. Other tables of a database stay as they were.
"""

from __future__ import annotations

import pandas as pd
import pytest

import unnaive
from benchmarks.engines import KEY
from exports import assert_scored, started
from hostile import assert_survives
from unnaive import export
from unnaive.exceptions import UnnaiveError

pytest.importorskip("sqlglot")
pytest.importorskip("onnx")


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("node", 25),
        ("SQLite", 15),
        ("onnxruntime", 25),
        pytest.param("DuckDB", 40, marks=pytest.mark.long),
    ],
)
def test_one_engine_for_many_models(name, examples):
    with started(name) as engine:
        assert_survives(engine, examples)


@pytest.mark.parametrize(
    ("names", "value", "told"),
    [
        (["Age", "age"], "a", "columns 'Age' and 'age' differ only in case"),
        (["", "b"], "a", "a column has no name"),
        (["a", "b"], "x\0", r"column 'a' has the text 'x\\x00'"),
        (["a\0", "b"], "x", r"the name of a column has the text 'a\\x00'"),
        (["a", "b"], "\ud800", r"column 'a' has the text '\\ud800'"),
    ],
)
def test_what_sql_cannot_hold_is_refused(tmp_path, names, value, told):
    X = pd.DataFrame({name: [value, "b"] * 5 for name in names}, dtype=object)
    model = unnaive.NaiveBayes().fit(X, [0, 1] * 5)
    with pytest.raises(UnnaiveError, match=told):
        export.write(model, tmp_path / "model.sql")
    if value == "\ud800":
        with pytest.raises(UnnaiveError, match=f"{told}, which ONNX cannot hold"):
            export.write(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_names_that_differ_in_case_where_that_is_allowed():
    X = pd.DataFrame({"Age": ["a", "b"] * 5, "age": ["a", "b"] * 5})
    model = unnaive.NaiveBayes().fit(X, [0, 1] * 5)
    assert '"Age"' in model.to_sql("rows", dialect="postgres")
    with started("onnxruntime") as engine:
        assert_scored(engine, model, X)


@pytest.mark.parametrize("key", ["label", "P_0", "column_1"])
def test_a_key_that_is_a_name_of_the_result_is_refused(key):
    model = unnaive.NaiveBayes().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(UnnaiveError, match=f"key='{key}' is also a column of the result"):
        model.to_sql("rows", key=key, explain=1)


@pytest.mark.parametrize("engine", ["SQLite", "DuckDB"])
@pytest.mark.parametrize("name", ["s0", "S1", "values_0", "source", "x0"])
def test_a_table_with_the_name_of_a_step_of_the_query(engine, name):
    """SQLite took a step for the table; all databases took the values of a column for it."""
    X = pd.DataFrame({"a": [f"value {place}" for place in range(50)] * 2})
    model = unnaive.NaiveBayes().fit(X, [0, 1] * 50)
    with started(engine) as database:
        database.load(X, name)
        rows = sorted(database.run(model.to_sql(name, key=KEY, dialect=database.dialect)))
    assert [row[1] for row in rows] == model.predict(X).tolist()


@pytest.mark.parametrize("table", ["", "a..b", "a.", "a.b.c.d"])
def test_a_table_without_a_name_or_with_too_many_is_refused(tmp_path, table):
    model = unnaive.NaiveBayes().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match=f"table='{table}'; it must be the name of a table"):
        export.write(model, tmp_path / "model.sql", table=table)
    with pytest.raises(ValueError, match="key=''; it must be the name of a column"):
        export.write(model, tmp_path / "model.sql", key="")
    assert not list(tmp_path.iterdir())


def test_classes_that_a_database_does_not_tell_apart_have_numbers():
    model = unnaive.NaiveBayes().fit([["a"], ["b"]], ["\u0131", "i"])  # both are I in upper case
    assert '"p_1"' in model.to_sql("rows")
