"""SQL in a PostgreSQL server and in Spark, both started here."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import pytest

from exports import assert_scored, fitted, plain_rows

pytest.importorskip("sqlglot")
pytestmark = pytest.mark.long  # servers
KEYS = ["tan", "aode", "hnb", "gaussian-nb", "auto"]


@pytest.fixture(scope="module")
def postgres():
    """Run statements in a server of our own, which listens on a socket only."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs or os.geteuid() or shutil.which("runuser") is None:
        pytest.skip("there is no PostgreSQL server that a test could start")
    folder = tempfile.mkdtemp()
    shutil.chown(folder, "postgres")

    def call(program, *options, given=None):
        command = ["runuser", "-u", "postgres", "--", programs[-1] / program, *options]
        done = subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, cwd="/"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    data = ["-D", f"{folder}/data"]
    call("initdb", *data, "-A", "trust", "--no-sync", "-E", "UTF8")
    call("pg_ctl", *data, "-w", "-l", f"{folder}/log", "-o", f"-k {folder} -h ''", "start")
    yield lambda given: call(
        "psql", "-h", folder, "-q", "-v", "ON_ERROR_STOP=1", "postgres", given=given
    )
    call("pg_ctl", *data, "-m", "immediate", "stop")
    shutil.rmtree(folder)


def literal(cell):
    if cell is None:
        return "NULL"
    return "'" + str(cell).replace("'", "''") + "'"


@pytest.mark.parametrize("key", [*KEYS, "full-bayes", "kdb"])
def test_postgres(postgres, key):
    model, X = fitted(key, seed=1)
    kinds = {"b": "boolean", "f": "double precision"}
    types = [kinds.get(getattr(kind, "kind", "O"), "text") for kind in X.dtypes]
    names = ['"' + name.replace('"', '""') + '"' for name in X.columns]
    columns = [f"{name} {kind}" for name, kind in zip(names, types, strict=True)]
    rows = [
        f"({', '.join([*map(literal, row), str(place)])})"
        for place, row in enumerate(plain_rows(X))
    ]
    query = model.to_sql("my rows", key="id", dialect="postgres")
    answer = postgres(
        f'DROP TABLE IF EXISTS "my rows"; CREATE TABLE "my rows" ({", ".join(columns)}, id int);'
        f'INSERT INTO "my rows" VALUES {", ".join(rows)};\nCOPY ({query}) TO STDOUT CSV;'
    )
    found = csv.reader(io.StringIO(answer))
    assert_scored(model, X, [(int(k), label, *map(float, p)) for k, label, *p in found])


def test_spark(monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    session = sql.SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    try:
        for key in ("tan", "aode"):
            model, X = fitted(key, seed=1)
            text = [not pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]
            kinds = ["string" if t else str(k) for t, k in zip(text, X.dtypes, strict=True)]
            kinds = [{"float64": "double"}.get(kind, kind) for kind in kinds]
            names = [f"`{name}`" for name in X.columns]
            schema = ", ".join(f"{n} {k}" for n, k in zip(names, kinds, strict=True)) + ", id int"
            rows = [(*row, place) for place, row in enumerate(plain_rows(X))]
            session.createDataFrame(rows, schema).createOrReplaceTempView("my_rows")
            query = model.to_sql("my_rows", key="id", dialect="spark")
            assert_scored(model, X, [tuple(row) for row in session.sql(query).collect()])
    finally:
        session.stop()
