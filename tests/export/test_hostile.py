"""Hostile names and values, and labels of every type, through every target.

What an exported model returns is what Python returns, or the export is refused by one sentence
that names the column, and no file is written. Other tables of a database stay as they were.
"""

from __future__ import annotations

import pandas as pd
import pytest

import unnaive
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
