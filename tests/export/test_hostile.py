"""Hostile names and values, and labels of every type, through every target.

What an exported model returns is what Python returns, or the export is refused by one sentence
that names the column, and no file is written. Other tables of a database stay as they were.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unnaive
from benchmarks.engines import Database
from exports import assert_scored, started
from unnaive import export
from unnaive.exceptions import UnnaiveError

pytest.importorskip("sqlglot")
pytest.importorskip("onnx")
ATTACKS = [
    '\'; DROP TABLE "witness"; --',
    '"; DROP TABLE witness; --',
    "`; DROP TABLE witness; --",
    "') OR 1=1 --",
    "\\'; DROP TABLE witness; --",
    "\\",
    "\\\\'",
    "'",
    '"',
    "``",
    "a\nb",
    "a\r\nb\t",
    "$1",
    "$$",
    "{}",
    "{0}",
    "%s",
    "?",
    ":name",
    "/* */",
    "--",
    "<!--</script>",
    "\u2028",
    "${process.exit()}",
    "select",
    "label",
    "probabilities",
    "p_0",
    "place",
    "value",
    "code",
    "source",
    "s0",
    "v0",
    "x0",
    "the_key",
    "__proto__",
    "constructor",
    "é",
    "e\u0301",
    "ﬀ",
    "ẞ",
    "İ",
    "漢字",
    "🙂",
    "NULL",
    "nan",
    "true",
    "1",
    " ",
    " a",
    "a ",
    "x" * 100,
    "é" * 100,
]
TEXTS = st.sampled_from(ATTACKS) | st.text(max_size=8)
NAMES = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
VALUES = st.lists(TEXTS | st.just(""), min_size=2, max_size=5, unique=True)
LABELS = st.sampled_from([[True, False], [3, -1], [2.0, -1.0], ["None", "nan"], ["", " "]])
CASES = {"suppress_health_check": list(HealthCheck), "deadline": None, "derandomize": True}


def made(names, values, labels, seed):
    """A model of text columns with hostile names and values, and rows with gaps to score."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({name: random.choice(values, size=40).astype(object) for name in names})
    X[names[0]] = values * (40 // len(values)) + values[: 40 % len(values)]
    y = np.array(labels, dtype=object)[random.integers(len(labels), size=40)]
    y[: len(labels)] = labels
    kinds = [unnaive.NaiveBayes, unnaive.TAN, unnaive.AODE]
    model = kinds[seed % 3]().fit(X, np.array(y.tolist()))
    rows = X.copy()
    rows[random.random(rows.shape) < 0.2] = None
    rows.iloc[-1] = "never seen"
    return model, rows


def assert_scored_or_refused(engine, model, X):
    """The engine agrees with Python, or the export names what it cannot do."""
    try:
        assert_scored(engine, model, X)
    except UnnaiveError as error:
        told = str(error)
        assert "\n" not in told
        assert "column" in told or "the class" in told
        return False
    return True


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("node", 25),
        ("SQLite", 15),
        ("onnxruntime", 25),
        *(pytest.param(name, 40, marks=pytest.mark.long) for name in ("DuckDB", "PostgreSQL")),
        pytest.param("Spark SQL", 5, marks=pytest.mark.long),
    ],
)
def test_one_engine_for_many_models(name, examples):
    with started(name) as engine:
        witness = pd.DataFrame({"a": ["kept"]})
        if isinstance(engine, Database):
            engine.load(witness, "witness")

        @given(NAMES, VALUES, VALUES | LABELS, st.integers(0, 2))
        @settings(max_examples=examples, **CASES)
        def check(names, values, labels, seed):
            assert_scored_or_refused(engine, *made(names, values, labels, seed))

        check()
        if isinstance(engine, Database):
            assert [row[0] for row in engine.run("SELECT a FROM witness")] == ["kept"]


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
