"""The command line: what it answers, what it writes, and how it fails."""

import errno
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import unnaive
from commands import HEADER, fails, patients, run, write
from unnaive.cli import terminal
from unnaive.evaluate import cross_validate
from unnaive.io.files import read

KEYS = list(unnaive.all_models())
PROGRAM = "from unnaive.cli.app import main; main()"


# Learning and predicting


def test_fit_tells_what_it_learned_from(data, tmp_path):
    path = tmp_path / "m.unb"
    result = run("fit", data, "--target", "diagnosis", "-m", "tan", "--ignore", "id", "-o", path)
    frame = read(data)
    gaps = sum(int(frame.column(i).missing.sum()) for i in range(1, 5))
    assert "200 rows" in result.stdout
    assert f"4 (3 categorical, 1 numeric), {gaps} missing values" in result.stdout
    assert "diagnosis: ill " in result.stdout
    assert "tan: TAN()" in result.stdout
    assert f"unnaive predict {path}" in result.stdout
    assert result.stderr == ""
    assert type(unnaive.load(path)) is unnaive.TAN


def test_every_option_reaches_the_model(data, tmp_path):
    path = tmp_path / "m.unb"
    options = ["--discretize", "width", "--bins", 3, "--smoothing", "laplace:0.5"]
    options += ["--categorical", "id", "--set", "min_count=30", "--set", "handle_unknown=error"]
    result = run("fit", data, "-t", "diagnosis", "-m", "aode-sr", "-o", path, *options, "--json")
    found = json.loads(result.stdout)
    assert found["rows"] == 200
    assert found["classes"][0]["class"] == "ill"
    assert found["categorical"] == 4
    assert found["numeric"] == 1
    assert found["parameters"]["min_count"] == 30
    loaded = unnaive.load(path)
    assert loaded.get_params() == {
        **unnaive.AODE(subsumption=True).get_params(),
        "discretize": "width",
        "bins": 3,
        "smoothing": "laplace:0.5",
        "categorical_features": ["id"],
        "min_count": 30,
        "handle_unknown": "error",
    }


def test_without_a_model_several_are_tried(data, tmp_path):
    path = tmp_path / "m.unb"
    result = run("fit", data, "--target", "diagnosis", "--ignore", "id", "-o", path)
    assert "auto: AutoBayes()" in result.stdout
    assert re.search(r"^blend +[a-z-]+ \d+%", result.stdout, re.MULTILINE)
    loaded = unnaive.load(path)
    assert type(loaded) is unnaive.AutoBayes
    assert sum(member.weight for member in loaded.members_) == pytest.approx(1)
    assert run("predict", path, data).stdout.splitlines()[0] == "diagnosis"


def test_the_price_of_few_terms_is_told(data, tmp_path):
    path = tmp_path / "m.unb"
    limits = ("--set", "choose=best", "--set", "max_terms=2")
    told = run("fit", data, "-t", "diagnosis", "--ignore", "id", *limits, "-o", path).stdout
    board = {line["name"]: line["log_loss"] for line in unnaive.load(path).leaderboard_}
    (member,) = unnaive.load(path).members_
    assert f"held-out log loss {board[member.name]:.3f} with at most 2 terms" in " ".join(
        told.split()
    )


def test_no_discretisation(data, tmp_path):
    run(
        "fit",
        data,
        "-t",
        "diagnosis",
        "-m",
        "tan",
        "-o",
        tmp_path / "m.unb",
        "--discretize",
        "none",
    )
    assert unnaive.load(tmp_path / "m.unb").discretize is None


def test_weights(data, tmp_path):
    heavy = [[*row, 3 if row[-1] == "ill" else 1] for row in patients(200, 1)]
    path = write(tmp_path / "heavy.csv", [*HEADER, "weight"], heavy)
    run("fit", path, "-t", "diagnosis", "-m", "tan", "--weight", "weight", "-o", tmp_path / "m.unb")
    loaded = unnaive.load(tmp_path / "m.unb")
    assert "weight" not in loaded.schema_.names
    ill = sum(row[-2] == "ill" for row in heavy)
    assert loaded.counts_.class_counts.tolist() == [3 * ill, 200 - ill]


def test_warnings_are_notes(tmp_path):
    rows = [[*row[:5], "", row[5]] for row in patients(50, 3)]
    path = write(tmp_path / "d.csv", [*HEADER[:5], "empty", "diagnosis"], rows)
    options = ["-t", "diagnosis", "-m", "nb", "--folds", 3, "--ignore", "id"]
    result = run("evaluate", path, *options)
    assert result.stderr == "note: column 'empty' has no value in any row and is ignored\n"


# Evaluating


def test_evaluate_is_cross_validate(data):
    options = ["-t", "diagnosis", "--ignore", "id", "--folds", 4, "--repeats", 2, "--seed", 5]
    result = run("evaluate", data, *options, "-m", "nb", "-m", "tan", "--json")
    found = json.loads(result.stdout)
    X, y = read(data).split("diagnosis")
    X = type(X)(X.names[1:], X.n_rows, X.columns[1:])
    expected = cross_validate(unnaive.TAN(), X, y, folds=4, repeats=2, random_state=5)
    assert list(found["models"]) == ["nb", "tan"]
    assert found["models"]["tan"]["mean"] == expected.mean
    assert found["models"]["tan"]["std"] == expected.std
    assert found["models"]["tan"]["confusion"] == expected.pooled.confusion.tolist()
    assert len(found["models"]["tan"]["folds"]) == 8
    assert found["protocol"]["folds"] == 4


def test_evaluate_shows_a_table(data):
    result = run("evaluate", data, "-t", "diagnosis", "--ignore", "id", "--folds", 3)
    for word in ["accuracy", "balanced", "F1", "AUC", "log loss", "Brier", "fit ms", " ± "]:
        assert word in result.stdout
    assert [line.split()[0] for line in result.stdout.splitlines()[4:7]] == ["nb", "tan", "aode"]
    assert "Confusion" not in result.stdout


def test_one_model_shows_its_confusion(data):
    result = run("evaluate", data, "-t", "diagnosis", "-m", "nb", "--folds", 3)
    assert "Confusion matrix: rows actual, columns predicted" in result.stdout
    assert "specificity" in result.stdout


def test_a_narrow_terminal_is_wide_enough(data, monkeypatch):
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", 80)
    result = run("evaluate", data, "-t", "stage", "-m", "nb", "--folds", 3)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "…" not in result.stdout
    assert "accuracy balanced F1 AUC AUC H-T log loss" in " ".join(result.stdout.split())


def test_fewer_folds_for_a_small_class(data, tmp_path):
    few = [row for row in patients(200, 1) if row[-1] == "ill"][:4]
    rows = few + [row for row in patients(200, 1) if row[-1] == "well"][:20]
    path = write(tmp_path / "few.csv", HEADER, rows)
    result = run("evaluate", path, "-t", "diagnosis", "-m", "nb", "--ignore", "id")
    assert "note: 4 folds, not 10: the smallest class has 4 rows\n" in result.stderr
    assert "24 rows, 4-fold cross-validation" in result.stdout


@pytest.mark.parametrize("option", ["--model", "--models", "-m"])
def test_models_by_commas_or_one_by_one(data, option):
    options = ["evaluate", data, "-t", "diagnosis", "--folds", 2, "--json"]
    found = json.loads(run(*options, option, "tan", option, "nb,aode").stdout)
    assert list(found["models"]) == ["tan", "nb", "aode"]


def test_leave_one_out_says_what_it_is(data):
    options = ["evaluate", data, "-t", "diagnosis", "-m", "tan", "--leave-one-out"]
    assert "structure and bins from all rows" in " ".join(run(*options).stdout.split())
    found = json.loads(run(*options, "--json").stdout)
    assert found["models"]["tan"]["std"]["accuracy"] is None
    assert np.sum(found["models"]["tan"]["confusion"]) == 200


# Help


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "models", "demo"])
def test_help_has_an_example(command):
    assert f"  unnaive {command}" in run(command, "--help").stdout


def test_progress_waits_then_shows(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    with terminal.progress("counting", 3) as advance:
        threading.Event().wait(0.1)
        advance(2)
    assert "counting" in capsys.readouterr().err
    monkeypatch.setattr(terminal, "PATIENCE", 60.0)
    with terminal.progress("counting", 3) as advance:
        advance(2)
    assert "counting" not in capsys.readouterr().err


# What goes wrong


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv", "-t", "y"], "none.csv: no such file"),
        (["fit", "DATA", "-t", "diagnos"], "no column 'diagnos'; did you mean 'diagnosis'?"),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tann"],
            "there is no model 'tann'; did you mean 'tan'?",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--set", "rot=1"],
            "'tan' has no parameter 'rot'; it has",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--set", "root=zip"],
            "root: 'zip' is not a column",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--set", "max_memory=x"],
            "max_memory='x'",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--discretize", "mdl"],
            "discretize='mdl'",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--smoothing", "much"],
            "smoothing='much'",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--categorical", "zip"],
            "has no column 'zip'; its",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--ignore", "ag"],
            "'ag'; did you mean 'age'?",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--weight", "town"],
            "column 'town' has text",
        ),
        (
            ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "--weight", "age"],
            "'age' has missing values",
        ),
        (["fit", "DATA", "-t", "smoker"], "the target 'smoker' is missing in"),
        (["evaluate", "DATA", "-t", "id"], "every class has only one row"),
        (["predict", "none.unb", "DATA"], "none.unb: No such file"),
        (["predict", "DATA", "DATA"], "is not a zip file"),
        (["predict", "MODEL", "none.csv"], "none.csv: no such file"),
    ],
)
def test_errors_name_the_cure(arguments, message, data, model, tmp_path):
    places = {"DATA": str(data), "MODEL": str(model)}
    output = ["-o", str(tmp_path / "new.unb")] if arguments[0] == "fit" else []
    assert message in fails(*[places.get(word, word) for word in arguments], *output)
    assert not list(tmp_path.iterdir())


def test_nothing_to_learn_from(tmp_path):
    path = write(tmp_path / "d.csv", ["y"], [["a"], ["b"]])
    assert "no column to learn from besides 'y'" in fails(
        "fit", path, "-t", "y", "-o", tmp_path / "m.unb"
    )


@pytest.mark.parametrize("place", ["missing/m.unb", "."])
def test_output_is_checked_before_the_work(data, tmp_path, place, monkeypatch):
    monkeypatch.setattr("unnaive.io.files.read", None)
    message = fails("fit", data, "-t", "diagnosis", "-o", tmp_path / place)
    assert "does not exist; create it" in message or "is a folder" in message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write anywhere")
def test_a_protected_folder(data, tmp_path):
    tmp_path.chmod(0o500)
    message = fails("fit", data, "-t", "diagnosis", "-o", tmp_path / "m.unb")
    tmp_path.chmod(0o700)
    assert "no permission" in message


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_full_disk_leaves_the_old_file(command, data, model, tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "old"
    path.write_text("old")
    monkeypatch.setattr("unnaive.io.store.os.fsync", full)
    arguments = ["fit", data, "-t", "diagnosis"] if command == "fit" else ["predict", model, data]
    assert "old: No space left on device" in fails(*arguments, "-o", path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["old"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (MemoryError(), 1, "error: not enough memory (MemoryError)\n"),
        (
            PermissionError(13, "Permission denied", "d.csv"),
            1,
            "error: d.csv: Permission denied; ask its owner for permission, or use a copy\n",
        ),
        (ValueError("two\n  lines"), 1, "error: two lines\n"),
        (BrokenPipeError(), 1, ""),
    ],
)
def test_whatever_happens_is_one_line(data, monkeypatch, error, code, line):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("unnaive.io.files.read", fail)
    result = run("evaluate", data, "-t", "diagnosis", code=code)
    assert result.stderr == line
    assert result.stdout == ""


def test_a_traceback_for_who_asks(data, monkeypatch):
    monkeypatch.setenv("UNNAIVE_TRACEBACK", "1")
    result = run("evaluate", data, "-t", "nothing", code=1)
    assert isinstance(result.exception, ValueError)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "DATA", "-t", "diagnosis", "-m", "tan"],
        ["fit", "DATA", "-t", "diagnosis", "-m", "tan", "-o", "m.unb", "--set", "root"],
        ["evaluate", "DATA", "-t", "diagnosis", "--folds", "1"],
        ["fitt"],
    ],
)
def test_wrong_usage(arguments):
    assert "Usage: " in run(*arguments, code=2).stderr


# The program itself


def program(arguments, **options):
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_help_needs_no_heavy_imports():
    check = (
        "import sys; from unnaive.cli import app; "
        "print(*{'sklearn', 'numpy', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""


def test_version():
    result = program(["--version"])
    assert result.stdout == f"unnaive {unnaive.__version__}\n"
    assert result.returncode == 0


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_standard_output_on_a_full_disk():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-c", PROGRAM, "models"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    cure = b"free some space, or write to another disk"
    assert result.stderr == b"error: No space left on device; " + cure + b"\n"
    assert result.returncode == 1


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_broken_pipe_is_silent(data, model):
    command = [sys.executable, "-c", PROGRAM, "predict", model, data]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors
    assert b"error" not in errors


def test_what_is_read_is_not_overwritten(data, model, tmp_path):
    before = data.read_bytes()
    result = run("fit", data, "-t", "diagnosis", "-o", data, code=1)
    assert "is an input and would be overwritten" in result.stderr
    result = run("predict", model, data, "-o", model, code=1)
    assert "would be overwritten" in result.stderr
    assert data.read_bytes() == before


def test_numbers_that_stay_numbers(data, tmp_path):
    to = tmp_path / "gauss.unb"
    run("fit", data, "-t", "diagnosis", "-m", "gaussian-nb", "-o", to)
    assert run("predict", to, data).stdout.splitlines()[0] == "diagnosis"
    assert "gaussian-nb" in run("evaluate", data, "-t", "diagnosis", "-m", "gaussian-nb").stdout
    refused = run("fit", data, "-t", "diagnosis", "-m", "k-naive", "-o", to, code=1).stderr
    assert "holds labels such as" in refused
    assert "or use GaussianNaiveBayes, GaussianTAN or GaussianKDB" in refused
    refused = run(
        *("evaluate", data, "-t", "diagnosis", "-m", "gaussian-nb", "--leave-one-out"), code=1
    )
    assert "has no leave-one-out in closed form; use cross-validation" in refused.stderr


# Missing values as a category


def test_missing_as_category(data, tmp_path):
    out = tmp_path / "m.unb"
    rows = (data, "-t", "diagnosis")
    run("fit", *rows, "-m", "nb", "--missing-as-category", "all", "-o", out)
    model = unnaive.load(out)
    assert model.missing_as_category is True
    gaps = [column.missing_category for column in model.schema_.columns]
    assert any(gaps)
    named = model.schema_.names[gaps.index(True)]
    run("fit", *rows, "-m", "nb", "--missing-as-category", named, "-o", out)
    chosen = [column.missing_category for column in unnaive.load(out).schema_.columns]
    assert (sum(chosen), chosen.index(True)) == (1, gaps.index(True))
    for command in ("evaluate", "compare"):
        plain = run(command, *rows, "-m", "nb", "--folds", 2, "--json").stdout
        option = ("--missing-as-category", "all")
        found = run(command, *rows, "-m", "nb", "--folds", 2, *option, "--json").stdout
        assert found != plain
    run("count", *rows, "--missing-as-category", named, "-o", tmp_path / "a.counts")
    counts = unnaive.counts.JointCounts.load(tmp_path / "a.counts")
    assert sum(column.missing_category for column in counts.schema.columns) == 1
    run("schema", *rows, "--missing-as-category", named, "-o", tmp_path / "s.json")
    line = fails(
        *("count", data, "--schema", tmp_path / "s.json", "--missing-as-category", "all"),
        *("-o", tmp_path / "b.counts"),
    )
    assert "--missing-as-category cannot be used with --schema" in line
    page = tmp_path / "report.html"
    run("report", out, data, "-o", page, "--folds", 2)
    assert '"missing":' in page.read_text(encoding="utf-8")
