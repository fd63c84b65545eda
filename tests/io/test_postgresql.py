"""A real server of PostgreSQL: its rows, and what is said when it refuses or is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import unnaive
from benchmarks.engines import KEY
from partitions import features, in_memory, patients
from servers import postgresql
from unnaive.cli.app import app
from unnaive.exceptions import DataFileError, UnnaiveError

pytestmark = pytest.mark.long
ALL = (
    "select smoker, visits::int, children::bigint, pressure, treated, ill from patients"
    " order by place"
)
MANY = (  # rows in several batches, of which some are sent before the server sleeps
    "select i % 5 as visits, i % 3 as children, repeat('x', 100) as note,"
    " case when i % 7 < 3 then 'yes' else 'no' end as ill"
    " from generate_series(1, 500000) i where i <> 400000 or pg_sleep(2) is not null"
)


@pytest.fixture(scope="module")
def server():
    with postgresql() as running:
        running.load(patients(), "patients")
        running.execute(f'alter table patients rename column "{KEY}" to place')
        running.execute("create user guest password 'guest'; grant all on patients to guest")
        rules = Path(running.folder, "data", "pg_hba.conf")
        rules.write_text("local all guest scram-sha-256\nlocal all all trust\n")
        running.execute("select pg_reload_conf()")
        yield running


@pytest.fixture
def address(server):
    return f"postgresql://postgres@/postgres?host={server.folder}"


def sleeping(server):
    """Processes of the server that sleep in the middle of a query."""
    asleep = "select pid from pg_stat_activity where wait_event = 'PgSleep'"
    return [int(pid) for (pid,) in server.run(asleep)]


def lose(server, in_pass=1):
    """Terminate the backend that sleeps in the middle of a pass; returns the thread."""

    def end():
        for number in range(in_pass):
            while number and sleeping(server):  # still in the pass before
                time.sleep(0.05)
            while not (found := sleeping(server)):
                time.sleep(0.05)
        server.execute(f"select pg_terminate_backend({found[0]})")

    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    return thread


def test_rows_are_those_of_memory(server, address):
    rows = unnaive.query(address, ALL)
    assert unnaive.count(rows, "ill") == in_memory()
    assert unnaive.TAN().fit(rows, "ill").counts_ == in_memory()
    exact = ALL.replace("pressure,", "pressure::numeric as pressure,")
    assert unnaive.count(unnaive.query(address, exact), "ill") == in_memory()


def test_a_password_is_shown_nowhere(server):
    address = f"postgresql://postgres:s3cret@/postgres?host={server.folder}&password=s3cret2"
    rows = unnaive.query(address, ALL)
    assert "s3cret" not in repr(rows)
    assert unnaive.count(rows, "ill") == in_memory()
    with pytest.raises(DataFileError, match=r"refused the query.*nowhere") as refused:
        unnaive.count(unnaive.query(address, "select * from nowhere"), "ill")
    assert "s3cret" not in str(refused.value)
    wrong = address.replace("/postgres?", "/absent?")
    with pytest.raises(DataFileError, match="absent") as refused:
        unnaive.count(unnaive.query(wrong, ALL), "ill")
    assert "s3cret" not in str(refused.value)


def test_a_wrong_password_is_one_sentence(server, tmp_path):
    address = f"postgresql://guest:guest@/postgres?host={server.folder}"
    assert unnaive.count(unnaive.query(address, ALL), "ill") == in_memory()
    wrong = address.replace("guest:guest", "guest:swordfish")
    with pytest.raises(DataFileError, match="password authentication failed") as refused:
        unnaive.count(unnaive.query(wrong, ALL), "ill")
    assert_one_sentence(refused.value)
    for command in ("fit", "count"):
        out = ["-t", "ill", "-o", str(tmp_path / "out")]
        result = CliRunner().invoke(app, [command, wrong, "--query", ALL, *out])
        assert result.exit_code == 1
        assert "password authentication failed" in result.stderr
        assert "swordfish" not in result.output
    assert not list(tmp_path.iterdir())


def assert_one_sentence(error):
    assert "\n" not in str(error)
    assert "swordfish" not in str(error)
    assert "Traceback" not in str(error)


@pytest.mark.parametrize("in_pass", [1, 2])
def test_a_connection_lost_in_mid_stream(server, address, in_pass):
    """The rows that came before are nowhere: not in counts, and not in a model of before."""
    model = unnaive.TAN().fit(unnaive.query(address, ALL), "ill")
    before = model.fitted_
    rows = unnaive.query(address, MANY)
    killer = lose(server, in_pass)
    with pytest.raises(DataFileError, match=r"broke off after [\d,]+ rows: ") as lost:
        model.fit(rows, "ill")
    killer.join(timeout=10)
    assert_one_sentence(lost.value)
    assert model.fitted_ is before


def test_a_lost_connection_leaves_no_file(server, address, tmp_path):
    killer = lose(server)
    out = ["-t", "ill", "-o", str(tmp_path / "a.counts")]
    result = CliRunner().invoke(app, ["count", address, "--query", MANY, *out])
    killer.join(timeout=10)
    assert result.exit_code == 1
    assert "broke off after" in result.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_a_query_runs_once_for_each_pass(server, address):
    """PostgreSQL runs a query to its end even if nobody reads it, so that each run counts."""
    server.execute("create sequence runs")
    counted = ALL.replace("patients order", "patients, nextval('runs') order")
    unnaive.TAN().fit(unnaive.query(address, counted), "ill")
    assert server.run("select last_value from runs") == [("2",)]


def test_an_empty_result_is_one_sentence(address):
    model = unnaive.TAN().fit(unnaive.query(address, ALL), "ill")
    before = model.fitted_
    none = unnaive.query(address, ALL.replace("order by", "where visits > 99 order by"))
    with pytest.raises(UnnaiveError, match="there is nothing to learn from") as empty:
        model.fit(none, "ill")
    assert_one_sentence(empty.value)
    with pytest.raises(UnnaiveError, match="no rows"):
        unnaive.count(none, "ill")
    assert model.fitted_ is before
    assert model.predict(none).read_all().num_rows == 0


def test_rows_of_other_types_are_one_sentence(address):
    """A model of numbers is asked about a query whose column has become text, and dates."""
    model = unnaive.TAN().fit(unnaive.query(address, ALL), "ill")
    dates = ALL.replace("pressure,", "now() as pressure,")
    with pytest.raises(UnnaiveError, match="'pressure'") as other:
        unnaive.count(unnaive.query(address, dates), "ill", schema=model.schema_)
    assert_one_sentence(other.value)
    text = ALL.replace("pressure,", "'high ' || pressure as pressure,")
    with pytest.raises(UnnaiveError, match="'pressure'") as other:
        unnaive.count(unnaive.query(address, text), "ill", schema=model.schema_)
    assert_one_sentence(other.value)


def test_predictions_are_lazy(address):
    model = unnaive.TAN().fit(unnaive.query(address, ALL), "ill")
    answers = model.predict_proba(unnaive.query(address, ALL))
    assert isinstance(answers, pa.RecordBatchReader)
    expected = model.predict_proba(features(patients()))
    assert np.array_equal(answers.read_all()["probability_yes"].to_numpy(), expected[:, 1])
