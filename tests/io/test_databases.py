"""Queries to databases: the rows of a query are those of the table in memory."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

import pyarrow as pa
import pytest

import unnaive
from partitions import in_memory, patients
from unnaive.exceptions import DataFileError, UnnaiveError

ROWS = patients().assign(treated=patients()["treated"].astype("string"))
TABLE = pa.Table.from_pandas(ROWS, preserve_index=False)
ALL = "select smoker, visits, children, pressure, treated, ill from patients"


@pytest.fixture(scope="module")
def expected():
    return unnaive.count(ROWS, "ill")


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory):
    path = tmp_path_factory.mktemp("sqlite") / "wards.sqlite"
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi", reason="adbc is not installed")
    with dbapi.connect(str(path)) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("patients", TABLE)
        connection.commit()
    return path


@pytest.fixture(scope="module")
def duck(tmp_path_factory):
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    path = tmp_path_factory.mktemp("duck") / "wards.duckdb"
    with duckdb.connect(str(path)) as connection:
        table = pa.Table.from_pandas(patients(), preserve_index=False)
        connection.register("given", table)
        connection.execute("create table patients as select * from given")
    return path


def test_a_file_of_sqlite(sqlite, expected):
    rows = unnaive.query(sqlite, ALL)
    assert unnaive.count(rows, "ill") == expected
    assert unnaive.TAN().fit(rows, "ill").counts_ == expected
    before = sqlite.read_bytes()
    with pytest.raises(DataFileError, match="readonly database"):
        unnaive.count(unnaive.query(sqlite, "delete from patients returning ill"), "ill")
    assert sqlite.read_bytes() == before


def test_a_file_of_duckdb(duck):
    rows = unnaive.query(str(duck), ALL)
    assert unnaive.count(rows, "ill") == in_memory()
    assert unnaive.KDB(k=1).fit(rows, "ill").predict(rows).read_all().num_rows == len(ROWS)
    with pytest.raises(DataFileError, match="read-only"):
        unnaive.count(unnaive.query(duck, "create table x as select 1"), "ill")


def test_open_connections(sqlite, duck, expected):
    import adbc_driver_sqlite.dbapi  # noqa: PLC0415 - the fixtures skip without it
    import duckdb  # noqa: PLC0415

    with adbc_driver_sqlite.dbapi.connect(str(sqlite)) as connection:
        rows = unnaive.query(connection, ALL)
        assert unnaive.count(rows, "ill") == expected
        del rows
    with duckdb.connect(str(duck), read_only=True) as connection:
        assert unnaive.count(unnaive.query(connection, ALL), "ill") == in_memory()


@pytest.mark.parametrize(
    ("source", "text", "message"),
    [
        ("mysql://user:s3cret@host/x", ALL, r"mysql://user@host/x is not known as a database"),
        ("wards.xlsx", ALL, r"wards\.xlsx is not known as a database"),
        ("absent.sqlite", ALL, r"absent\.sqlite: there is no such file"),
        ("absent.sqlite", " ", r"it must be a query in SQL"),
        (3, ALL, r"3 is not known as a database"),
        ("mysql://host/x?password=s3cret", ALL, r"mysql://host/x is not known as a database"),
    ],
)
def test_mistakes(source, text, message):
    with pytest.raises(UnnaiveError, match=message) as refused:
        unnaive.query(source, text)
    assert "s3cret" not in str(refused.value)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.db"
    path.write_text("dear diary")
    with pytest.raises(DataFileError, match=r"notes\.db refused the query.*not a database"):
        unnaive.count(unnaive.query(path, ALL), "ill")


def test_a_query_without_rows_or_with_a_mistake(sqlite):
    with pytest.raises(UnnaiveError, match="no rows"):
        unnaive.count(unnaive.query(sqlite, f"{ALL} where visits > 99"), "ill")
    with pytest.raises(DataFileError, match=r"wards\.sqlite refused the query: .*syntax"):
        unnaive.count(unnaive.query(sqlite, "select from where"), "ill")
    with pytest.raises(ValueError, match="there is no column 'age'"):
        unnaive.count(unnaive.query(sqlite, ALL), "age")


def test_the_standard_library_connection_is_refused(sqlite):
    with (
        closing(sqlite3.connect(sqlite)) as connection,
        pytest.raises(UnnaiveError, match="not known"),
    ):
        unnaive.query(connection, ALL)


def test_a_driver_that_is_not_installed(sqlite, monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(UnnaiveError, match=r"^adbc-driver-sqlite is not installed; pip install"):
        unnaive.count(unnaive.query(sqlite, ALL), "ill")
