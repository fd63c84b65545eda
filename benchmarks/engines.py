"""Engines that run exported models: onnxruntime, DuckDB, SQLite, PostgreSQL, Spark SQL, node.

``with ENGINES[name]() as engine`` starts one, ``engine.score(model, X)`` returns labels and
probabilities of a pandas frame. What is not installed raises :class:`NotHere`. The tests use them,
too.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from abc import abstractmethod
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.timing import seconds

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = "my rows"
KEY = "the id"


class NotHere(Exception):
    """An engine is not installed."""


class Answer(NamedTuple):
    """Labels, probabilities (n, k), and the seconds that scoring took, without loading rows."""

    labels: list[Any]
    probabilities: np.ndarray
    seconds: float


class Engine(AbstractContextManager["Engine"]):
    """Something that scores rows by an exported model."""

    @abstractmethod
    def score(self, model: Any, X: pd.DataFrame) -> Answer:
        """Export a model, load rows, and score them."""

    def timed(self, model: Any, X: pd.DataFrame) -> Callable[[], float]:
        """Return a function that scores the rows and returns the seconds that it took."""
        return lambda: self.score(model, X).seconds

    def __exit__(self, *error: object) -> None:
        """Stop the engine."""


def package(name: str) -> Any:
    """Import a package, or say that it is not here."""
    try:
        return import_module(name)
    except ImportError as error:
        raise NotHere(f"{name} is not installed") from error


def plain_rows(X: pd.DataFrame) -> list[list[Any]]:
    """Return rows as lists of values that JSON has; None is missing."""
    return [
        [None if pd.isna(cell) else cell for cell in row]
        for row in X.astype(object).to_numpy().tolist()
    ]


def kinds(X: pd.DataFrame) -> list[str]:
    """Type of every column: boolean, double or text."""
    found = []
    for kind in X.dtypes:
        number = pd.api.types.is_numeric_dtype(kind)
        is_bool = pd.api.types.is_bool_dtype(kind)
        found.append("boolean" if is_bool else "double" if number else "text")
    return found


def unseen(X: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the rows in another order, with gaps, far numbers and unseen categories."""
    random = np.random.default_rng(seed)
    X = X.iloc[random.permutation(len(X))].reset_index(drop=True)
    for name, kind in zip(X.columns, kinds(X), strict=True):
        gaps, strange = random.random((2, len(X))) < 0.15
        if kind == "text":
            X[name] = X[name].astype(object)
            X.loc[strange, name] = "never seen"
            X.loc[gaps | X[name].isna(), name] = None
        elif kind == "double":
            X[name] = X[name].astype(float)
            X.loc[strange, name] = X[name] * 3
            X.loc[gaps, name] = np.nan
        else:
            X[name] = X[name].astype("boolean")
            X.loc[gaps, name] = pd.NA
    return X


# ---- databases --------------------------------------------------------------------------------


class Database(Engine):
    """A database: rows are loaded into the table ``TABLE`` with the key ``KEY``, 0, 1, …."""

    dialect: str

    @abstractmethod
    def load(self, X: pd.DataFrame, name: str = TABLE) -> None:
        """Replace a table."""

    @abstractmethod
    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""

    def quoted(self, name: str) -> str:
        """Write a name as standard SQL does."""
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Run a statement that returns nothing."""

    def score(self, model: Any, X: pd.DataFrame, **options: Any) -> Answer:
        """Score rows by a query; options are those of ``to_sql``."""
        query = model.to_sql(self.table, key=KEY, dialect=self.dialect, **options)
        return self.answer(model, query, X)

    def answer(self, model: Any, query: Any, X: pd.DataFrame) -> Answer:
        """Score rows by the query of a model."""
        self.load(X)
        for statement in query.tables:
            self.execute(statement)
        start = time.perf_counter()
        rows = self.run(query.select)
        spent = time.perf_counter() - start
        rows = sorted(rows, key=lambda row: int(row[0]))
        if [int(row[0]) for row in rows] != list(range(len(X))):
            raise AssertionError("the query lost or repeated rows")
        kind = type(model.classes_.tolist()[0])
        labels = [typed(row[1], kind) for row in rows]
        return Answer(labels, np.array([row[2:] for row in rows], dtype=float), spent)

    def timed(self, model: Any, X: pd.DataFrame) -> Callable[[], float]:
        """Return a function that scores the rows into another table; they are loaded once."""
        query = model.to_sql(self.table, key=KEY, dialect=self.dialect)
        self.load(X)
        for statement in query.tables:
            self.execute(statement)
        return lambda: seconds(lambda: self.compute(query.select))

    def compute(self, query: str) -> None:
        """Run a query and keep what it returns in the database."""
        self.execute("DROP TABLE IF EXISTS answers")
        self.execute(f"CREATE TABLE answers AS {query}")

    @property
    def table(self) -> str:
        """Name of the table of rows."""
        return TABLE


def typed(label: Any, kind: type) -> Any:
    """Return a label as the class has it; psql prints text, SQLite has no booleans."""
    if kind is bool and isinstance(label, str):
        return label == "t"
    return kind(label) if kind in {bool, int, float} else label


class DuckDB(Database):
    """DuckDB in memory."""

    dialect = "duckdb"

    def __init__(self) -> None:
        self.connection = package("duckdb").connect()

    def load(self, X: pd.DataFrame, name: str = TABLE) -> None:
        """Load rows from the frame."""
        plain = X.set_axis([f"c{place}" for place in range(X.shape[1])], axis=1)
        names = [self.quoted(str(column)) for column in X.columns]
        chosen = [
            f"CAST(c{place} AS {kind}) AS {own}"
            for place, (kind, own) in enumerate(zip(kinds(X), names, strict=True))
        ]
        self.connection.register("given", plain.assign(id=np.arange(len(X))))
        columns = ", ".join([*chosen, f"id AS {self.quoted(KEY)}"])
        self.connection.execute(
            f"CREATE OR REPLACE TABLE {self.quoted(name)} AS SELECT {columns} FROM given"
        )

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.connection.execute(statement)

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        rows: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return rows

    def __exit__(self, *error: object) -> None:
        """Close the database."""
        self.connection.close()


class SQLite(Database):
    """SQLite in memory."""

    dialect = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def load(self, X: pd.DataFrame, name: str = TABLE) -> None:
        """Insert rows."""
        names = [self.quoted(str(column)) for column in (*X.columns, KEY)]
        self.connection.execute(f"DROP TABLE IF EXISTS {self.quoted(name)}")
        self.connection.execute(f"CREATE TABLE {self.quoted(name)} ({', '.join(names)})")
        marks = ", ".join("?" * len(names))
        rows = [[*row, place] for place, row in enumerate(plain_rows(X))]
        self.connection.executemany(f"INSERT INTO {self.quoted(name)} VALUES ({marks})", rows)

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.connection.execute(statement)

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self.connection.execute(query).fetchall()

    def __exit__(self, *error: object) -> None:
        """Close the database."""
        self.connection.close()


class PostgreSQL(Database):
    """A PostgreSQL server of our own, which listens on a socket only.

    It is started by this user or, since the server refuses root, by the user postgres. Statements
    run in one psql process; its answers are COPY text, in which tabs end cells.
    """

    dialect = "postgres"
    types: ClassVar = {"boolean": "boolean", "double": "double precision", "text": "text"}
    escapes: ClassVar = str.maketrans({"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
    unescapes: ClassVar = {r"\n": "\n", r"\r": "\r", r"\t": "\t", r"\b": "\b", r"\v": "\v"}

    def __init__(self) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        if not programs or (root and shutil.which("runuser") is None):
            raise NotHere("there is no PostgreSQL server that could be started")
        self.programs = programs[-1].parent
        self.user = ["runuser", "-u", "postgres", "--"] if root else []
        self.folder = tempfile.mkdtemp()
        if root:
            shutil.chown(self.folder, "postgres")
        self.data = ["-D", f"{self.folder}/data"]
        how = ["-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"]
        self.call("initdb", *self.data, *how)
        settings = f"-k {self.folder} -h '' -c fsync=off -c jit=off"
        log = ["-l", f"{self.folder}/log"]
        self.call("pg_ctl", *self.data, "-w", *log, "-o", settings, "start")

    def call(self, program: str, *options: str, given: str | None = None) -> str:
        """Run a program of the server as its user; returns what it prints."""
        command = [*self.user, str(self.programs / program), *options]
        done = subprocess.run(
            command, input=given and given.encode(), capture_output=True, check=False, cwd="/"
        )
        if done.returncode:
            raise RuntimeError(done.stderr.decode()[-2000:])
        return done.stdout.decode()

    def psql(self, statements: str) -> str:
        """Run statements; returns what they print."""
        own = ["-h", self.folder, "-U", "postgres", "-q", "-X"]
        options = [*own, "-v", "ON_ERROR_STOP=1", "postgres"]
        return self.call("psql", *options, given=statements)

    def cell(self, value: object) -> str:
        """Write a cell for COPY."""
        return r"\N" if value is None else str(value).translate(self.escapes)

    def load(self, X: pd.DataFrame, name: str = TABLE) -> None:
        """Copy rows."""
        names = map(self.quoted, map(str, X.columns))
        columns = [f"{own} {self.types[kind]}" for own, kind in zip(names, kinds(X), strict=True)]
        lines = [
            "\t".join([*map(self.cell, row), str(place)]) for place, row in enumerate(plain_rows(X))
        ]
        table, keyed = self.quoted(name), f"{self.quoted(KEY)} int"
        self.psql(
            f"SET client_min_messages = error; DROP TABLE IF EXISTS {table};\n"
            f"CREATE TABLE {table} ({', '.join([*columns, keyed])});\n"
            f"COPY {table} FROM STDIN;\n" + "".join(f"{line}\n" for line in lines) + "\\.\n"
        )

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.psql(f"SET client_min_messages = error;\n{statement};\n")

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        answer = self.psql(f"SET client_min_messages = error;\nCOPY ({query}) TO STDOUT;\n")
        lines = answer.split("\n")[:-1]
        return [tuple(map(self.value, line.split("\t"))) for line in lines]

    def value(self, cell: str) -> str | None:
        """Read a cell of COPY."""
        if cell == r"\N":
            return None
        parts = cell.split("\\\\")
        for escaped, text in self.unescapes.items():
            parts = [part.replace(escaped, text) for part in parts]
        return "\\".join(parts)

    def __exit__(self, *error: object) -> None:
        """Stop the server and remove its files."""
        self.call("pg_ctl", *self.data, "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


class Spark(Database):
    """Spark SQL, local, one thread."""

    dialect = "spark"

    def __init__(self) -> None:
        sql = package("pyspark.sql")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        options = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.execution.arrow.pyspark.enabled": "true",
        }
        builder = sql.SparkSession.builder.master("local[1]").config(map=options)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    @property
    def table(self) -> str:
        """Name of the view of rows; Spark refuses views with blanks in their names."""
        return TABLE.replace(" ", "_")

    def load(self, X: pd.DataFrame, name: str = TABLE) -> None:
        """Make a view of the rows."""
        types = import_module("pyspark.sql.types")
        made = {
            "boolean": types.BooleanType(),
            "double": types.DoubleType(),
            "text": types.StringType(),
        }
        fields = [
            types.StructField(str(own), made[kind]) for own, kind in zip(X, kinds(X), strict=True)
        ]
        schema = types.StructType([*fields, types.StructField(KEY, types.IntegerType())])
        rows = [(*row, place) for place, row in enumerate(plain_rows(X))]
        view = self.session.createDataFrame(rows, schema)
        view.createOrReplaceTempView(name.replace(" ", "_"))

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self.session.sql(statement)

    def compute(self, query: str) -> None:
        """Run a query and throw away what it returns."""
        self.session.sql(query).write.format("noop").mode("overwrite").save()

    def run(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query."""
        return [tuple(row) for row in self.session.sql(query).collect()]

    def __exit__(self, *error: object) -> None:
        """Stop Spark."""
        self.session.stop()


# ---- others -----------------------------------------------------------------------------------


class ONNXRuntime(Engine):
    """onnxruntime, one thread."""

    def __init__(self) -> None:
        self.runtime = package("onnxruntime")

    def score(self, model: Any, X: pd.DataFrame) -> Answer:
        """Score rows by a graph."""
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        graph = model.to_onnx().SerializeToString()
        session = self.runtime.InferenceSession(graph, options)
        given = {}
        for entry in session.get_inputs():
            cells = X[entry.name]
            if entry.type == "tensor(string)":
                # Any text that is no category is missing; the empty one where that is a category.
                known = model.schema_.columns[model.schema_.names.index(entry.name)]
                gap = "never seen" if "" in getattr(known, "categories", ()) else ""
                texts = [gap if pd.isna(cell) else cell for cell in cells]
                given[entry.name] = np.array(texts, dtype=object)[:, None]
            else:
                numbers = cells.astype("Float64").to_numpy(float, na_value=np.nan)
                given[entry.name] = numbers[:, None]
        start = time.perf_counter()
        labels, chances = session.run(["label", "probabilities"], given)
        return Answer(labels.tolist(), chances, time.perf_counter() - start)


class Node(Engine):
    """One node process, which imports a module for each model."""

    script = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { module, rows, explained, level } = JSON.parse(line);
  try {
    const { classes, columns, predict, explain, interval } = await import(module);
    const start = process.hrtime.bigint();
    const predicted = rows.map(predict);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    const told = rows.slice(0, explained).map((row) => explain(row));
    const intervals = level === null ? null : rows.map((row) => interval(row, level));
    const answer = { classes, columns, predicted, seconds, explained: told, intervals };
    console.log(JSON.stringify(answer));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
"""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise NotHere("node is not installed")
        self.folder, self.models = tempfile.mkdtemp(), 0
        command = [node, "--input-type=module", "--eval", self.script]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(
        self, module: str, rows: list[Any], explained: int = 0, level: float | None = None
    ) -> dict[str, Any]:
        """Run a module on rows; returns what it exports, predicts and explains."""
        path = Path(self.folder) / f"model{self.models}.mjs"
        self.models += 1
        path.write_text(module, encoding="utf-8")
        task = {"module": path.as_uri(), "rows": rows, "explained": explained, "level": level}
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the process has no pipes")
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        path.unlink()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def score(self, model: Any, X: pd.DataFrame) -> Answer:
        """Score rows by a module."""
        found = self.ask(model.to_javascript(), plain_rows(X))
        labels = [one["label"] for one in found["predicted"]]
        chances = np.array([one["probabilities"] for one in found["predicted"]], dtype=float)
        return Answer(labels, chances, found["seconds"])

    def __exit__(self, *error: object) -> None:
        """End the process."""
        self.process.communicate()
        shutil.rmtree(self.folder)


ENGINES: dict[str, type[Engine]] = {
    "onnxruntime": ONNXRuntime,
    "DuckDB": DuckDB,
    "SQLite": SQLite,
    "PostgreSQL": PostgreSQL,
    "Spark SQL": Spark,
    "node": Node,
}
