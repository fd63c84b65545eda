"""``unnaive drift``: two counts files, a table or JSON, and errors in one line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import unnaive
from unnaive.cli.app import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["drift", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Counts of two months; in the second one, more values of ``crp`` are missing."""
    folder, rng = tmp_path_factory.mktemp("drift"), np.random.default_rng(1)
    smoker = rng.choice(["no", "ex", "yes"], 1200).astype(object)
    crp = rng.choice(["low", "high"], 1200).astype(object)
    crp[:100], crp[800:1100] = None, None
    X, y = np.stack([smoker, crp], axis=1), rng.choice(["ill", "well"], 1200)
    old = unnaive.count(X[:800], y[:800])
    old.save(folder / "january.counts")
    unnaive.count(X[800:], y[800:], schema=old.schema).save(folder / "february.counts")
    return folder / "january.counts", folder / "february.counts"


def test_changes_beyond_chance_are_shown(months):
    shown = run(*months).stdout
    assert "800 old and 400 new rows: 2 of 6 comparisons differ beyond chance" in shown
    assert "x1" in shown
    assert "missing: 12.5% → 75.0%" in shown
    assert "x0" not in shown
    assert "x0" in run(*months, "--all").stdout


def test_json_has_all_comparisons_and_the_cost(months):
    result = json.loads(run(*months, "--model", "tan", "--json").stdout)
    assert len(result["changes"]) == 6
    assert sum(change["alarm"] for change in result["changes"]) == 2
    assert set(result["cost"]) == {"old", "chance"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["OLD", "OLD"], "is named twice"),
        (["OLD", "none.counts"], "none.counts"),
        (["OLD", "NEW", "--model", "gaussian-nb"], "does not learn from counts"),
        (["OLD", "NEW", "--model", "tann"], "did you mean 'tan'?"),
    ],
)
def test_mistakes_are_one_line(months, arguments, message):
    files = dict(zip(("OLD", "NEW"), months, strict=True))
    result = run(*(files.get(argument, argument) for argument in arguments), code=1)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert message in line


def test_a_data_file_is_no_counts_file(tmp_path):
    for name in ("old.csv", "new.csv"):
        (tmp_path / name).write_text("a,y\n1,x\n")
    told = " ".join(run(tmp_path / "old.csv", tmp_path / "new.csv", code=1).output.split())
    assert "unnaive count makes counts of a data file" in told
    assert "the model comes before" not in told
