"""``unnaive fit --query``: rows of a database are streamed; mistakes are one line."""

import duckdb
import numpy as np
import pytest
from typer.testing import CliRunner

import unnaive
from unnaive.cli.app import app

SQL = "select age, smoker, diagnosis from visits"


def fit(*arguments, code=0):
    result = CliRunner().invoke(app, ["fit", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query", "select age from nowhere", "-t", "diagnosis"], "refused the query"),
        (["--query", SQL, "-t", "diagnosis", "-m", "auto"], "'auto' needs rows"),
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
