"""Rows and models for exported forms, and node to run modules in."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pandas as pd
import pytest

import unnaive

NUMBERS_ONLY = {"full-bayes", "k-naive"}
IN_CELLS = {
    "gaussian-tan",
    "gaussian-kdb",
}  # beside categories, only engines of their own have them
SCORE = """
import {{ classes, columns, predict, explain }} from {module};
import {{ readFileSync }} from "node:fs";
const {{ rows, explained }} = JSON.parse(readFileSync(0, "utf-8"));
console.log(JSON.stringify({{
  classes, columns,
  predicted: rows.map(predict),
  explained: rows.slice(0, explained).map((row) => explain(row)),
}}));
"""


def clinic(seed, k, *, numbers_only=False, rows=160):
    """Numbers, text, booleans and codes with gaps, and classes that depend on them."""
    random = np.random.default_rng(seed)
    classes = np.append(np.arange(k), random.integers(k, size=rows - k))
    hidden = random.normal(size=rows) + classes
    data = {}
    for place in range(3):
        noise = random.normal(size=rows)
        column = hidden * random.normal() + noise + classes * random.normal()
        data[f"number {place}"] = np.where(random.random(rows) < 0.1, np.nan, column)
    if not numbers_only:
        wards = np.array(["a", "b ", 'it\'s "c"', "line\nbreak", "é%_\\"])
        codes = (classes + (hidden > 1) * random.integers(2, size=rows)) % 5
        data['wa\'rd "x"; --'] = np.where(random.random(rows) < 0.1, None, wards[codes])
        data["flag"] = pd.array((hidden + random.normal(size=rows)) > 1, dtype="boolean")
        data["flag"][random.random(rows) < 0.1] = pd.NA
        data["grade"] = np.where(
            random.random(rows) < 0.1, np.nan, (classes + random.integers(3, size=rows)) % 4
        )
    labels = np.array([f"class {label}" for label in range(k)])[classes]
    return pd.DataFrame(data), labels


def unseen(X, seed=0):
    """The rows in another order, with more gaps, far numbers and unseen categories."""
    random = np.random.default_rng(seed)
    X = X.iloc[random.permutation(len(X))].reset_index(drop=True)
    for name in X.columns:
        gaps, strange = random.random((2, len(X))) < 0.15
        if X[name].dtype == object:
            X.loc[strange, name] = "never seen"
            X.loc[gaps, name] = None
        elif X[name].dtype == float:
            X.loc[strange, name] = 17.0 if name == "grade" else X[name] * 3
            X.loc[gaps, name] = np.nan
        else:
            X.loc[gaps, name] = pd.NA
    return X


def plain_rows(X):
    """Rows as lists of values that JSON has."""
    return [
        [None if pd.isna(cell) else cell for cell in row]
        for row in X.astype(object).to_numpy().tolist()
    ]


def fitted(key, seed=0, k=3, *, numbers_only=False, **options):
    """Fit a model of the register to rows of a clinic; also return rows to score."""
    X, y = clinic(seed, k, numbers_only=numbers_only or key in NUMBERS_ONLY)
    known = unnaive.make(key).get_params()
    options |= {"random_state": 0} if "random_state" in known else {}
    return unnaive.make(key, **options).fit(X, y), unseen(X, seed)


def in_node(module, rows, explained=0, folder=None):
    """Score rows by a module in node; skips the test where there is no node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    path = folder / "model.mjs"
    path.write_text(module, encoding="utf-8")
    script = SCORE.format(module=json.dumps(path.as_uri()))
    given = json.dumps({"rows": rows, "explained": explained})
    command = [node, "--input-type=module", "--eval", script]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_predictions(model, X, labels, probabilities, atol=1e-9):
    """Labels are equal on all rows, and probabilities to the tolerance."""
    expected = model.predict_proba(X)
    np.testing.assert_allclose(np.asarray(probabilities, dtype=float), expected, rtol=0, atol=atol)
    assert list(labels) == model.predict(X).tolist()


def assert_scored(model, X, rows):
    """Rows of a query, (key, label, probabilities …), are the model's predictions."""
    rows = sorted(rows)
    assert [row[0] for row in rows] == list(range(len(X)))
    assert_predictions(model, X, [row[1] for row in rows], [row[2:] for row in rows])


def in_duckdb(query, X):
    """Run a query of the table "my rows" in DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("given", X.assign(id=np.arange(len(X))))
        connection.execute('CREATE TABLE "my rows" AS SELECT * FROM given')
        return connection.execute(query).fetchall()


def in_sqlite(query, X):
    """Run a query of the table "my rows" in SQLite."""
    names = ['"' + name.replace('"', '""') + '"' for name in (*X.columns, "id")]
    rows = [[*row, place] for place, row in enumerate(plain_rows(X))]
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f'CREATE TABLE "my rows" ({", ".join(names)})')
        connection.executemany(
            f'INSERT INTO "my rows" VALUES ({", ".join("?" * len(names))})', rows
        )
        return connection.execute(query).fetchall()


def in_onnxruntime(proto, X):
    """Labels and probabilities of onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(proto.SerializeToString(), options)
    given = {}
    for entry in session.get_inputs():
        cells = X[entry.name]
        if entry.type == "tensor(string)":
            texts = ["" if pd.isna(cell) else cell for cell in cells]
            given[entry.name] = np.array(texts, dtype=object)[:, None]
        else:
            numbers = cells.astype("Float64").to_numpy(float, na_value=np.nan)
            given[entry.name] = numbers[:, None]
    return session.run(["label", "probabilities"], given)
