"""``unnaive compare`` and the diagram of critical differences."""

import csv
import json
import random

import numpy as np
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

import unnaive
from unnaive.cli import terminal
from unnaive.cli.app import app
from unnaive.evaluate import compare
from unnaive.explain.critical_difference import plot_critical_difference, undecided
from unnaive.io.files import read


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two columns that tell the class together only, one number, an id."""
    chance, path = random.Random(4), tmp_path_factory.mktemp("compare") / "patients.csv"
    lines = [["id", "age", "left", "right", "diagnosis"]]
    for number in range(90):
        ill, left = chance.random() < 0.5, chance.choice("ab")
        other = (left == "a") ^ ill ^ (chance.random() < 0.1)
        age = round(chance.gauss(50 if ill else 45, 9), 1)
        lines.append([number, age, left, "uv"[other], "ill" if ill else "well"])
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(lines)
    return path


@pytest.fixture
def given(data):
    return [data, "-t", "diagnosis", "--ignore", "id", "--folds", 3]


def test_the_command_is_the_function(given, data):
    options = ["--models", "nb, tan", "--repeats", 2, "--seed", 7, "--metrics", "auc,f1"]
    told = json.loads(run(*given, *options, "--json", "--jobs", 2).stdout)
    X, y = read(data).split("diagnosis")
    X = type(X)(X.names[1:], X.n_rows, X.columns[1:])
    found = compare(["nb", "tan"], X, y, folds=3, repeats=2, seed=7, metrics=["auc", "f1"])
    assert told["scores"]["tan"]["auc"] == found.scores["tan"]["auc"].tolist()
    assert told["best"] == {"auc": found.best("auc"), "f1": found.best("f1")}
    assert told["protocol"] == {"folds": 3, "seed": 7, "repeats": 2}
    assert (told["target"], told["rows"]) == ("diagnosis", 90)


def test_several_files(given, data, tmp_path):
    half = tmp_path / "half.csv"
    half.write_text("\n".join(data.read_text().splitlines()[:60]) + "\n")
    files = [data, half, *given[1:], "-m", "nb", "--models", "tan"]
    page, folder = tmp_path / "x.html", tmp_path / "runs"
    result = run(*files, "--html", page, "--resume", folder)
    assert "2 data sets, mean accuracy over folds" in result.stdout
    assert "mean rank" in result.stdout
    assert "Friedman test: p = " in result.stderr
    assert "half.csv" in page.read_text()
    assert sorted(path.name for path in folder.iterdir()) == ["half.jsonl", "patients.jsonl"]
    told = json.loads(run(*files, "--resume", folder, "--json").stdout)
    assert list(told["data"]) == [str(data), str(half)]
    assert list(told["friedman"]["accuracy"]["ranks"]) == ["nb", "tan"]
    assert "have the same name" in run(data, data, *given[1:], code=1).stderr


def test_a_table_with_ranks_and_marks(given):
    result = run(*given)
    lines = result.stdout.splitlines()
    assert "90 rows, 3-fold cross-validation; sorted by accuracy" in lines[0]
    assert " ".join(lines[2].split()) == "model accuracy # log loss # AUC # Brier # fit ms"
    keys = [line.split()[0] for line in lines if " ± " in line]
    assert keys[-1] == "nb"
    (naive,) = [line for line in lines if line.startswith(" nb")]
    assert "*" in naive
    assert "*: worse than the best, p < 0.05" in result.stderr


def test_a_narrow_terminal(given, monkeypatch):
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", 80)
    result = run(*given)
    assert max(map(len, result.stdout.splitlines()[1:])) <= 80
    assert "\n" in result.stdout
    assert " ± " not in result.stdout


@pytest.mark.long
def test_all_models(given):
    result = run(*given, "--models", "all", "--metrics", "accuracy")
    assert "note: k-naive failed in 3 of 3 folds; repeat 1, fold 1: " in result.stderr
    (failed,) = [line for line in result.stdout.splitlines() if line.startswith(" k-naive")]
    assert failed.split() == ["k-naive", "-", "-", "-"]


def test_a_page(given, tmp_path):
    page = tmp_path / "page.html"
    result = run(*given, "--html", page)
    assert f"page written to {page}" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "Models for diagnosis in patients.csv" in text
    assert ">nb</th>" in text
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_resume(given, tmp_path):
    runs = tmp_path / "runs.jsonl"
    first = run(*given, "--models", "nb", "--resume", runs)
    assert "note" not in first.stderr
    second = run(*given, "--models", "nb,tan", "--resume", runs)
    assert f"note: 3 of 6 folds were already in {runs}" in second.stderr
    refused = run(*given, "--seed", 1, "--resume", runs, code=1)
    assert "was started with seed=0, now 1" in refused.stderr
    assert refused.stdout == ""


def test_interrupted_work_is_kept(given, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("unnaive.cli.compare.progress", lambda *_: unnaive.progress(stop))
    result = run(*given, "--jobs", 1, "--resume", tmp_path / "r", code=130)
    assert "run the same command to continue" in result.stderr
    assert len((tmp_path / "r").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--models", "nb,tann"], "there is no model 'tann'", 1),
        (["--models", " , "], "name at least one model, or all", 2),
        (["--metrics", "acc"], "there is no metric 'acc'", 1),
        (["--models", "k-naive"], "every model failed: k-naive failed in 3 of 3 folds", 1),
        (["--html", "missing/x.html"], "does not exist; create it", 1),
        (["--resume", "./x", "--html", "x"], "--html and --resume both name x", 1),
        (["--resume", "DATA"], "is an input and would be overwritten", 1),
        (["--models", "gaussian-nb", "--bins", "3"], "has no parameter 'bins'", 1),
        (["--folds", "1"], "Usage", 2),
    ],
)
def test_errors(given, data, arguments, message, code):
    before = data.read_bytes()
    words = [data if word == "DATA" else word for word in arguments]
    result = run(*given, *words, code=code)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert data.read_bytes() == before


def test_help_has_examples():
    assert "  unnaive compare patients.csv" in run("--help").stdout


# The diagram

RANKS = {"nb": 6.1, "tan": 3.2, "aode": 2.1, "hnb": 2.6, "kdb": 3.9, "$a_b$": 1.9, "gnb-o": 5.2}


def test_groups_that_may_be_equal():
    assert undecided(sorted(RANKS.values()), 1.9) == [(0, 3), (1, 4), (4, 5), (5, 6)]
    assert undecided([1, 2, 3], 1.0) == []
    assert undecided([2, 2, 2], 0.5) == [(0, 2)]
    assert undecided([1.5], 0.0) == []


def test_the_diagram(tmp_path):
    ax = Figure().subplots()
    assert plot_critical_difference(RANKS, 1.9, ax) is ax
    texts = [text.get_text().replace("\\$", "$") for text in ax.texts]
    assert set(RANKS) <= set(texts)
    assert "CD = 1.90" in texts
    bars = [line for line in ax.get_lines() if line.get_label() == "undecided"]
    assert len(bars) == 4
    tops = [line.get_xdata()[0] for line in ax.get_lines() if len(line.get_xdata()) == 3]
    assert sorted(tops) == sorted(RANKS.values())
    plot_critical_difference(RANKS, 1.9).figure.savefig(tmp_path / "cd.png")


@pytest.mark.parametrize(
    ("ranks", "critical"),
    [({"a": 1.0}, 0.0), ({"a": 1.5, "b": 1.5}, 9.0), ({"a": 1, "b": 2}, np.inf)],
)
def test_small_diagrams(ranks, critical, tmp_path):
    plot_critical_difference(ranks, critical).figure.savefig(tmp_path / "cd.png")


@pytest.mark.parametrize(("ranks", "critical"), [({}, 1.0), ({"a": 1.0}, -1), ({"a": 1.0}, np.nan)])
def test_diagrams_that_cannot_be(ranks, critical):
    with pytest.raises(ValueError, match="pass at least one model, and a critical difference"):
        plot_critical_difference(ranks, critical)
