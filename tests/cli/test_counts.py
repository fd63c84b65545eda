"""``unnaive schema``, ``count``, ``merge``, and ``fit`` from counts: no row leaves its site."""

import csv
import json
import random
import re
import sys
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

import unnaive
from unnaive.cli.app import app
from unnaive.counts import JointCounts, privacy
from unnaive.io import store
from unnaive.io.files import read
from unnaive.schema.document import load_schema

HEADER = ["id", "age", "smoker", "stage", "town", "diagnosis"]
OF_COUNTS = ["nb", "tan", "aode", "aode-sr", "waode", "hnb", "gnb-o", "spode"]


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def fails(*arguments):
    """The one line that a user reads when something is wrong."""
    result = run(*arguments, code=1)
    assert result.stdout == ""
    line = result.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    return line


def patients(n, seed):
    """An id, a number with gaps, labels with gaps, labels that may look like numbers, a town."""
    chance = random.Random(seed)
    for number in range(n):
        ill = chance.random() < 0.4
        yield [
            number,
            "" if chance.random() < 0.1 else round(chance.gauss(65 if ill else 45, 10), 1),
            "?" if chance.random() < 0.1 else chance.choice(["yes", "no"] if ill else ["no", "ex"]),
            chance.choice(["2", "3", "x"] if ill else ["1", "2"]),
            chance.choice(["Oslo", "Bern"]),
            "ill" if ill else "well",
        ]


def write(path, rows, leave_out=()):
    kept = [place for place, name in enumerate(HEADER) if name not in leave_out]
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([[row[i] for i in kept] for row in [HEADER, *rows]])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two sites, one of which never saw a stage that is no number; all of their rows; a schema."""
    path = tmp_path_factory.mktemp("federated")
    rows = list(patients(400, 1))
    bern = [row for row in rows if row[4] == "Bern" and row[3] != "x"]
    oslo = [row for row in rows if row not in bern]
    write(path / "oslo.csv", oslo)
    write(path / "bern.csv", bern)
    write(path / "plain.csv", bern, leave_out=["id"])
    write(path / "all.csv", oslo + bern)
    run("schema", path / "all.csv", "-t", "diagnosis", "--ignore", "id", "-o", path / "s.json")
    for site in ("oslo", "bern"):
        run(
            "count",
            path / f"{site}.csv",
            "--schema",
            path / "s.json",
            "-o",
            path / f"{site}.counts",
        )
    run("merge", path / "oslo.counts", path / "bern.counts", "-o", path / "all.counts")
    run("fit", path / "all.counts", "-m", "tan", "-o", path / "m.unb")
    return path


# From sites to a model


@pytest.mark.parametrize("key", OF_COUNTS)
def test_two_sites_are_the_pooled_rows_to_the_bit(folder, tmp_path, key):
    federated, pooled = tmp_path / "federated.unb", tmp_path / "pooled.unb"
    run("fit", folder / "all.counts", "--model", key, "-o", federated)
    run("fit", folder / "all.csv", "-t", "diagnosis", "--ignore", "id", "-m", key, "-o", pooled)
    one, other = unnaive.load(federated), unnaive.load(pooled)
    assert type(one) is type(other)
    assert np.array_equal(one.counts_.values, other.counts_.values)
    assert one.schema_ == other.schema_
    rows, _ = read(folder / "all.csv").split("diagnosis")
    rows = type(rows)(rows.names[1:], rows.n_rows, rows.columns[1:])
    assert np.array_equal(one.predict_proba(rows), other.predict_proba(rows))
    found = run("predict", federated, folder / "all.csv", "--proba").stdout
    assert found == run("predict", pooled, folder / "all.csv", "--proba").stdout


def test_what_the_commands_say(folder, tmp_path):
    result = run("schema", folder / "all.csv", "-t", "diagnosis", "-o", tmp_path / "s.json")
    assert "all.csv: 400 rows" in result.stdout
    assert "5 (3 categorical, 2 numeric)" in result.stdout
    assert f"unnaive count SITE.csv --schema {tmp_path / 's.json'}" in result.stdout
    counts = unnaive.JointCounts.load(folder / "bern.counts")
    arguments = ["--schema", folder / "s.json", "-o", tmp_path / "a.counts"]
    result = run("count", folder / "bern.csv", *arguments)
    assert (
        result.stderr == "note: columns not counted, because the schema does not have them: 'id'\n"
    )
    assert f"bern.csv: {counts.total:g} rows" in result.stdout
    assert "4 (3 categorical, 1 numeric), 6 pairs" in result.stdout
    assert "unnaive merge" in result.stdout
    assert unnaive.JointCounts.load(tmp_path / "a.counts") == counts
    result = run("merge", tmp_path / "a.counts", "-o", tmp_path / "b.counts")
    assert "unnaive fit" in result.stdout
    result = run("fit", tmp_path / "b.counts", "-o", tmp_path / "m.unb")
    assert "diagnosis: ill " in result.stdout
    assert "tan: TAN()" in result.stdout


def test_json(folder, tmp_path):
    found = json.loads(
        run("schema", folder / "all.csv", "-t", "diagnosis", "-o", tmp_path / "s", "--json").stdout
    )
    assert (found["rows"], found["columns"], found["target"]) == (400, 5, "diagnosis")
    arguments = ["--schema", folder / "s.json", "-o", tmp_path / "a.counts", "--json"]
    found = json.loads(run("count", folder / "plain.csv", *arguments).stdout)
    assert found["pairs"] == 6
    assert found["rows"] == sum(entry["rows"] for entry in found["classes"])
    found = json.loads(
        run(
            "merge", folder / "oslo.counts", folder / "bern.counts", "-o", tmp_path / "c", "--json"
        ).stdout
    )
    assert found["rows"] == 400
    found = json.loads(run("fit", tmp_path / "c", "-o", tmp_path / "m.unb", "--json").stdout)
    assert (found["rows"], found["categorical"], found["numeric"]) == (400, 3, 1)
    assert found["class_name"] == "TAN"
    gaps = sum(int(column.missing.sum()) for column in read(folder / "all.csv").columns)
    assert found["missing_cells"] == gaps


@pytest.mark.parametrize("command", ["schema", "count", "merge", "fit"])
def test_help_has_an_example(command):
    assert f"  unnaive {command}" in run(command, "--help").stdout


def test_several_files_and_a_pattern(folder, tmp_path):
    sites = [folder / "oslo.csv", folder / "bern.csv"]
    run("schema", *sites, "-t", "diagnosis", "--ignore", "id", "-o", tmp_path / "s.json")
    assert load_schema(tmp_path / "s.json") == load_schema(folder / "s.json")
    run("count", *sites, "--schema", folder / "s.json", "-o", tmp_path / "a.counts")
    both = unnaive.JointCounts.load(tmp_path / "a.counts")
    assert both == unnaive.JointCounts.load(folder / "all.counts")
    for number, rows in enumerate([list(patients(30, 2)), list(patients(20, 3))]):
        write(tmp_path / f"ward-{number}.csv", rows, leave_out=["id"])
    pattern = tmp_path / "ward-*.csv"
    run("count", pattern, "--schema", folder / "s.json", "-o", tmp_path / "b.counts")
    assert unnaive.JointCounts.load(tmp_path / "b.counts").total == 50


def test_resume_goes_on(folder, tmp_path):
    rows = list(patients(60, 4))
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for part, some in zip(parts, (rows[:30], rows[30:]), strict=True):
        write(part, some, leave_out=["id"])
    arguments = ["--schema", folder / "s.json", "--resume", tmp_path / "kept"]
    run("count", *parts, *arguments, "-o", tmp_path / "1.counts")
    assert (tmp_path / "kept").exists()
    run("count", *parts, *arguments, "-o", tmp_path / "2.counts")
    one, two = (unnaive.JointCounts.load(tmp_path / f"{n}.counts") for n in (1, 2))
    assert one == two
    assert one.total == 60
    assert "is the checkpoint of another count" in fails(
        "count", parts[0], *arguments, "-o", tmp_path / "3.counts"
    )


@pytest.mark.parametrize("leave_out", [[], ["id"]])
def test_bad_files_are_skipped_if_so_wished(folder, tmp_path, leave_out):
    good = write(tmp_path / "a.csv", patients(30, 5), leave_out=leave_out)
    other = write(tmp_path / "b.csv", patients(30, 5), leave_out=["town"])
    (tmp_path / "c.parquet").write_bytes(b"PAR1 and no more")
    arguments = ["--schema", folder / "s.json", "-o", tmp_path / "x.counts"]
    bad = [other, tmp_path / "c.parquet"]
    for one in bad:
        assert str(one) in fails("count", good, one, *arguments)
    assert not (tmp_path / "x.counts").exists()
    result = run("count", good, *bad, *arguments, "--skip-bad-files")
    assert all(str(one) in result.stderr for one in bad)
    assert unnaive.JointCounts.load(tmp_path / "x.counts").total == 30


def test_columns_are_left_out_as_by_a_schema(folder, tmp_path):
    arguments = ["-o", tmp_path / "a.counts", "--ignore", "id"]
    run("count", folder / "all.csv", "-t", "diagnosis", *arguments)
    run("count", folder / "all.csv", "--schema", folder / "s.json", "-o", tmp_path / "b.counts")
    assert JointCounts.load(tmp_path / "a.counts") == JointCounts.load(tmp_path / "b.counts")
    message = fails("count", folder / "all.csv", "--schema", folder / "s.json", *arguments)
    assert "--ignore cannot be used with --schema" in message
    query = ["--query", "select 1", "-t", "diagnosis", *arguments]
    assert "--ignore is for files; with --query" in fails("count", folder / "x.duckdb", *query)


def test_without_a_schema_it_says_so(folder, tmp_path):
    arguments = [
        "-t",
        "diagnosis",
        "-o",
        tmp_path / "a.counts",
        "--discretize",
        "width",
        "--bins",
        3,
    ]
    result = run("count", folder / "plain.csv", *arguments)
    assert (
        "note: without --schema, categories and bins are learned from these rows" in result.stderr
    )
    found = unnaive.JointCounts.load(tmp_path / "a.counts")
    assert found.schema.columns[0].size == 3


def test_without_pairs(folder, tmp_path):
    path = tmp_path / "a.counts"
    run("count", folder / "plain.csv", "--schema", folder / "s.json", "--no-pairs", "-o", path)
    assert len(unnaive.JointCounts.load(path).pair_columns) == 0
    run("fit", path, "-m", "nb", "-o", tmp_path / "m.unb")
    assert "hold 0 of 6 pairs" in fails("fit", path, "-m", "tan", "-o", tmp_path / "t.unb")


# Privacy


def test_small_cells_are_suppressed(folder, tmp_path):
    arguments = ["--schema", folder / "s.json", "--min-cell", 10, "-o", tmp_path / "a.counts"]
    result = run("count", folder / "plain.csv", *arguments)
    assert "counts of 1 to 9 are set to 0" in result.stdout
    exact = unnaive.JointCounts.load(folder / "bern.counts")
    assert unnaive.JointCounts.load(tmp_path / "a.counts") == privacy.suppress(exact, 10)


def test_noise_is_stated(folder, tmp_path):
    path = tmp_path / "a.counts"
    arguments = ["--schema", folder / "s.json", "--epsilon", 2, "-o", path]
    result = run("count", folder / "plain.csv", *arguments)
    assert (
        "ε = 2 for each row; scale 8 on class counts, 6.4 on values, 4.8 on pairs" in result.stdout
    )
    found = json.loads(run("count", folder / "plain.csv", *arguments, "--json").stdout)
    assert found["epsilon"] == 2
    assert sum(share["epsilon"] for share in found["noise"]) == 2
    counts = unnaive.JointCounts.load(path)
    assert found["rows"] == counts.total  # what is written, not what was counted
    run("merge", path, folder / "oslo.counts", "-o", tmp_path / "b.counts")
    run("fit", tmp_path / "b.counts", "-o", tmp_path / "m.unb")
    assert run("predict", tmp_path / "m.unb", folder / "all.csv").stdout.count("\n") == 401


def test_noise_is_refused_before_the_work(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["unnaive.counts.count"], "count", None)
    start = ["count", folder / "plain.csv", "-o", tmp_path / "a.counts"]
    agreed = ["--schema", folder / "s.json"]
    assert "--epsilon needs --schema" in fails(*start, "-t", "diagnosis", "--epsilon", 1)
    assert "cannot be combined" in fails(*start, *agreed, "--epsilon", 1, "--min-cell", 5)
    assert "above 0, such as 1.0" in fails(*start, *agreed, "--epsilon", 0)
    assert "use a larger epsilon" in fails(*start, *agreed, "--epsilon", 1e-30)
    privacy._opendp.cache_clear()
    monkeypatch.setattr(privacy, "import_module", lambda name: __import__("no_such_" + name))
    assert 'pip install -U "unnaive[privacy]"' in fails(*start, *agreed, "--epsilon", 1)
    privacy._opendp.cache_clear()
    assert not list(tmp_path.iterdir())


# The schema file


def test_a_schema_may_be_edited(folder, tmp_path):
    text = (folder / "s.json").read_text()
    edited = tmp_path / "s.json"
    edited.write_text(text.replace('["Bern", "Oslo"]', '["Bern", "Oslo", "Wien"]'))
    arguments = ["count", folder / "plain.csv", "--schema", edited, "-o", tmp_path / "a.counts"]
    assert "altered after it was written; copy it again or, if you changed it on purpose" in fails(
        *arguments
    )
    edited.write_text(re.sub(r',\s*"sha256": "\w+"', "", edited.read_text()))
    run(*arguments)
    assert unnaive.JointCounts.load(tmp_path / "a.counts").schema.columns[3].size == 3
    message = fails("merge", folder / "oslo.counts", tmp_path / "a.counts", "-o", tmp_path / "b")
    assert "oslo.counts (here) and " in message
    assert "column 'town': 2 categories ('Bern', 'Oslo') here, 3 categories" in message
    assert "unnaive count --schema, with the same file at every site" in message
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "{" + text, "is not a schema file: it is not JSON"),
        (lambda text: "[1]", "is JSON, but not a schema of unnaive; write it again"),
        (lambda text: text.replace('"kind": "schema"', '"kind": "x"'), "not a schema of unnaive"),
        (lambda text: text.replace('"version": 1', '"version": 2'), "as version 2; upgrade with"),
        (
            lambda text: re.sub(r'"columns": \[.*\]', '"columns": []', text, flags=re.DOTALL),
            "not a complete schema: it has no columns; correct it, or write it again",
        ),
        (
            lambda text: text.replace('"classes"', '"klasses"'),
            "not a complete schema: it lacks 'classes'",
        ),
        (
            lambda text: text.replace('"ill", "well"', '"ill", "ill"'),
            "contain a value twice",
        ),
        (lambda text: text.replace('["ill", "well"]', "[]"), "the classes are empty; correct it"),
        (lambda text: text.replace('"name": "town"', '"name": "stage"'), "'stage' occurs twice"),
        (lambda text: text.replace('"name": "town"', '"name": 3'), "has the name 3, which is not"),
        (
            lambda text: re.sub(r'"edges": \[', '"edges": ["a", ', text),
            "edge of column 'age' is not",
        ),
        (lambda text: re.sub(r'"edges": \[', '"edges": [1e9, ', text), "column 'age' has a value"),
        (
            lambda text: text.replace('["Bern", "Oslo"]', "[[]]"),
            "are not a list of text and",
        ),
        (
            lambda text: text.replace('["Bern", "Oslo"]', "[1, NaN]"),
            "'town' contain a number",
        ),
        (
            lambda text: text.replace('["ill", "well"]', "[0, 1e999]"),
            "classes contain a number",
        ),
    ],
)
def test_a_file_that_is_no_schema(folder, tmp_path, change, message):
    path = tmp_path / "s.json"
    path.write_text(change((folder / "s.json").read_text()))
    arguments = ["count", folder / "plain.csv", "--schema", path, "-o", tmp_path / "a.counts"]
    assert message in fails(*arguments)
    assert not (tmp_path / "a.counts").exists()


# What goes wrong


def tampered(source, to, **changes):
    """Counts whose file is sound and whose content is not."""
    state = store.load(source, kind="counts")
    store.save(to, {**state, **changes}, kind="counts")
    return to


def test_counts_that_are_no_counts(folder, tmp_path):
    good, bad, to = folder / "oslo.counts", tmp_path / "bad.counts", tmp_path / "new"
    with zipfile.ZipFile(good) as before, zipfile.ZipFile(bad, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            after.writestr(name, content.replace(b"\x01", b"\x02") if "/" in name else content)
    messages = {"altered after it was saved, in 'arrays/": bad}
    messages["damaged or cut off; save it or copy it again"] = tmp_path / "cut.counts"
    (tmp_path / "cut.counts").write_bytes(good.read_bytes()[:500])
    messages["is not a zip file; this is not a file that unnaive saved"] = tmp_path / "text.counts"
    (tmp_path / "text.counts").write_text("a,b\n1,2\n")
    messages["holds a model, not counts; write a counts file with unnaive"] = folder / "m.unb"
    messages["No such file"] = tmp_path / "none.counts"
    values = store.load(good, kind="counts")["values"].astype(int)
    values[0, 0] = -1
    messages["count again with this version"] = tampered(good, tmp_path / "minus", values=values)
    for message, path in messages.items():
        for command in (["merge", good, path], ["merge", path, good], ["fit", path]):
            found = fails(*command, "-o", to)
            assert message in found
            assert path.name in found
            assert not to.exists()


def test_counts_of_a_newer_version(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(store, "VERSION", store.VERSION + 1)
    state = store.load(folder / "oslo.counts", kind="counts")
    store.save(tmp_path / "new.counts", state, kind="counts", written_by="9.0")
    monkeypatch.undo()
    message = fails("merge", folder / "oslo.counts", tmp_path / "new.counts", "-o", tmp_path / "x")
    assert "was written by unnaive 9.0, in format 2; upgrade with pip" in message
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["fit", "COUNTS", "-m", "gaussian-nb"],
            "needs rows, and .*fit it to a file of rows",
        ),
        (["fit", "COUNTS", "-m", "kdb"], "'kdb' cannot be fitted to .*fit it on rows"),
        (["fit", "COUNTS", "-m", "fssj"], "'fssj' cannot be fitted to .*fit it on rows"),
        (["fit", "COUNTS", "-m", "a2de"], "'a2de' cannot be fitted to .*fit on rows"),
        (["fit", "COUNTS", "-m", "bayesnet"], "'bayesnet' cannot be fitted to .*fit it on rows"),
        (["fit", "COUNTS", "-t", "town"], "is 'diagnosis', not 'town'; leave --target"),
        (["fit", "COUNTS", "--bins", "3"], "--bins applies to rows, and .* holds counts; leave"),
        (["fit", "COUNTS", "--ignore", "age"], "--ignore applies to rows"),
        (["fit", "COUNTS", "--categorical", "age"], "--categorical applies to rows"),
        (["fit", "COUNTS", "--weight", "age"], "--weight applies to rows"),
        (["merge", "COUNTS", "COUNTS"], "is named twice and would be counted twice"),
        (["count", "DATA", "DATA", "--schema", "SCHEMA"], "is named twice"),
        (["count", "DATA", "--schema", "SCHEMA", "-t", "town"], "s.json is 'diagnosis', not"),
        (
            ["count", "DATA", "--schema", "SCHEMA", "--bins", "3"],
            "--bins cannot be used with --schema",
        ),
        (
            ["count", "DATA", "--schema", "SCHEMA", "--resume", "NEW"],
            "both name .*; name two different files",
        ),
        (["count", "DATA", "--schema", "none.json"], "none.json: No such file"),
        (["count", "none.csv", "--schema", "SCHEMA"], "none.csv.*no such file"),
        (["count", "MORE", "--schema", "SCHEMA", "--resume", "kept"], "drop the columns"),
        (["count", "COUNTS", "--schema", "SCHEMA"], "oslo.counts has no known ending"),
        (["schema", "DATA", "-t", "diagnos"], "no column 'diagnos'; did you mean 'diagnosis'?"),
        (["schema", "DATA", "-t", "diagnosis", "--ignore", "ag"], "'ag'; did you mean 'age'?"),
        (["schema", "DATA", "-t", "diagnosis", "--discretize", "mdl"], "discretize='mdl'"),
        (
            ["schema", "DATA", "MORE", "-t", "diagnosis"],
            "MORE: columns .* give every batch the same",
        ),
    ],
)
def test_errors_name_the_cure(folder, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    places = {"COUNTS": folder / "oslo.counts", "DATA": folder / "plain.csv"}
    places |= {"SCHEMA": folder / "s.json", "MORE": folder / "oslo.csv", "NEW": "new"}
    found = fails(*[places.get(word, word) for word in arguments], "-o", "new")
    assert re.search(message.replace("MORE", "oslo.csv"), found), found
    assert not list(tmp_path.iterdir())


def test_an_unknown_class_and_a_missing_column(folder, tmp_path):
    rows = list(patients(20, 6))
    rows[7][5] = "dead"
    arguments = ["--schema", folder / "s.json", "-o", tmp_path / "a.counts"]
    for leave_out in ([], ["id"]):
        path = write(tmp_path / "d.csv", rows, leave_out)
        message = fails("count", path, *arguments)
        assert "d.csv" in message
        assert "'dead' in row 7, which is not one of the classes ['ill', 'well']" in message
        path = write(tmp_path / "e.csv", patients(20, 6), [*leave_out, "town"])
        message = fails("count", path, *arguments)
        assert "e.csv" in message
        assert "no column 'town'" in message
    assert not (tmp_path / "a.counts").exists()


def test_a_copy_is_noticed(folder, tmp_path):
    copy = tmp_path / "copy.counts"
    copy.write_bytes((folder / "oslo.counts").read_bytes())
    result = run("merge", folder / "oslo.counts", copy, "-o", tmp_path / "x.counts")
    assert "copy.counts has the same content as" in result.stderr


def test_inputs_are_not_overwritten(folder):
    before = (folder / "oslo.counts").read_bytes()
    for command in (["merge", folder / "oslo.counts"], ["fit", folder / "oslo.counts"]):
        assert "would be overwritten" in fails(*command, "-o", folder / "oslo.counts")
    arguments = ["count", folder / "plain.csv", "--schema", folder / "s.json"]
    assert "would be overwritten" in fails(*arguments, "-o", folder / "s.json")
    assert "would be overwritten" in fails(
        *arguments, "-o", folder / "x", "--resume", folder / "s.json"
    )
    assert (folder / "oslo.counts").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "d.csv", "-o", "m.unb"],
        ["count", "d.csv", "-o", "a.counts"],
        ["count", "d.csv", "--schema", "s.json", "--min-cell", "1", "-o", "a.counts"],
        ["merge", "-o", "a.counts"],
        ["schema", "d.csv", "-o", "s.json"],
    ],
)
def test_wrong_usage(arguments):
    assert "Usage: " in run(*arguments, code=2).stderr
