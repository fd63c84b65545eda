"""``unnaive fit`` and ``count --query``: rows of a database are streamed; mistakes are one line."""

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

import unnaive
from unnaive.cli.app import app
from unnaive.counts.engines import sampling
from unnaive.schema.document import save_schema

SQL = "select age, smoker, diagnosis from visits"


def command(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def fit(*arguments, code=0):
    return command("fit", *arguments, code=code)


@pytest.fixture(scope="module")
def wards(tmp_path_factory):
    path = tmp_path_factory.mktemp("query") / "wards.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table visits as select (i * 7) % 90 as age,"
            " if(i % 3 = 0, 'yes', 'no') as smoker,"
            " if((i * 7) % 90 > 50, 'ill', 'well') as diagnosis from range(600) t(i)"
        )
    return path


def test_the_model_is_that_of_the_rows_in_memory(wards, tmp_path):
    shown = fit(wards, "--query", SQL, "-t", "diagnosis", "-o", tmp_path / "a.unb").stdout
    assert "wards.duckdb: 600 rows" in shown
    with duckdb.connect(str(wards), read_only=True) as connection:
        rows = connection.sql(SQL).df()
    target = rows.pop("diagnosis")
    expected = unnaive.TAN().fit(rows, target)
    model = unnaive.load(tmp_path / "a.unb")
    assert model.counts_ == expected.counts_
    np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(rows))


@pytest.mark.parametrize("size", [600, 200])
def test_a_model_that_needs_rows_has_those_of_the_query_or_a_sample(
    wards, tmp_path, monkeypatch, size
):
    monkeypatch.setattr(sampling.sample_rows, "__defaults__", (None, size))
    arguments = ["--query", SQL, "-t", "diagnosis", "-m", "gaussian-tan"]
    shown = fit(wards, *arguments, "-o", tmp_path / "a.unb").stdout
    said = "wards.duckdb: 600 rows\n" if size == 600 else "200 rows, a sample of 600\n"
    assert said in shown
    model = unnaive.load(tmp_path / "a.unb")
    assert model.sample_ == (None if size == 600 else (200, 600))
    with duckdb.connect(str(wards), read_only=True) as connection:
        expected = unnaive.make("gaussian-tan").fit(connection.sql(SQL), "diagnosis")
        rows = connection.sql(SQL).df().drop(columns="diagnosis")
    np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(rows))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query", "select age from nowhere", "-t", "diagnosis"], "refused the query"),
        (["--query", SQL, "-t", "diagnosis", "--ignore", "age"], "--ignore is for files"),
        (["--query", SQL, "-t", "diagnosis", "--prediction-sets"], "needs rows in memory"),
        (["--query", SQL, "-t", "diagnose"], "diagnose"),
        (["-t", "diagnosis"], "add which rows to learn from, --query"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_file(wards, tmp_path, arguments, message):
    result = fit(wards, *arguments, "-o", tmp_path / "a.unb", code=1)
    (line,) = result.stderr.splitlines()
    assert message in line
    assert not list(tmp_path.iterdir())


def test_the_password_is_in_no_message(tmp_path):
    address = "postgresql://me:swordfish@127.0.0.1:1/x"
    for query in (["--query", "select 1"], []):
        result = fit(address, *query, "-t", "y", "-o", tmp_path / "a.unb", code=1)
        assert "swordfish" not in result.output
        result = command("count", address, *query, "-t", "y", "-o", tmp_path / "a.counts", code=1)
        assert "swordfish" not in result.output
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("agreed", [False, True])
def test_counts_are_those_of_the_rows_in_memory(wards, tmp_path, agreed):
    """With and without a schema; the query must have the columns of the schema, and no others."""
    with duckdb.connect(str(wards), read_only=True) as connection:
        rows = connection.sql(SQL).df()
    expected = unnaive.count(rows, "diagnosis")
    named = ["-t", "diagnosis"]
    if agreed:
        save_schema(expected.schema, tmp_path / "schema.json")
        named = ["--schema", tmp_path / "schema.json"]
    output = tmp_path / "a.counts"
    result = command("count", wards, "--query", SQL, *named, "-o", output)
    assert "wards.duckdb: 600 rows" in result.stdout
    assert unnaive.JointCounts.load(output) == expected
    assert ("without --schema" in result.stderr) is not agreed
    if agreed:
        text = "select 1 as ward, * from visits"
        result = command("count", wards, "--query", text, *named, "-o", tmp_path / "b", code=1)
        assert "column 'ward' is not one of ['age', 'smoker']; drop it" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query", "select age from nowhere", "-t", "diagnosis"], "refused the query"),
        (["--query", SQL, "-t", "diagnosis", "--decimal", ","], "--decimal is for files"),
        (["--query", SQL, "-t", "diagnosis", "--resume", "x.part"], "--resume is for files"),
        (["--query", SQL, "-t", "diagnosis", "--skip-bad-files"], "--skip-bad-files is for files"),
        (["--query", SQL, "-t", "diagnose"], "diagnose"),
        (["-t", "diagnosis"], "add which rows to learn from, --query"),
        (["other.duckdb", "--query", SQL, "-t", "diagnosis"], "--query needs one database, not 2"),
    ],
)
def test_mistakes_in_counting_are_one_line_and_leave_no_file(wards, tmp_path, arguments, message):
    result = command("count", wards, *arguments, "-o", tmp_path / "a.counts", code=1)
    assert message in result.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
