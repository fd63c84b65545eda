"""``unnaive reproduce``: tables beside the paper's, progress, errors, and what is kept."""

import json
import re
from dataclasses import dataclass
from typing import ClassVar

import pytest
from rich.console import Console
from typer.testing import CliRunner

from datafiles import needs_data
from unnaive.cli import reproduce as command
from unnaive.cli import terminal
from unnaive.cli.app import app
from unnaive.papers import Experiment, Line, Step, Unit
from unnaive.papers import phnb as phnb_module
from unnaive.papers.curves import SCORES


@dataclass(kw_only=True)
class Toy(Experiment):
    """Figures that need no data."""

    key: ClassVar[str] = "phnb"
    title: ClassVar[str] = "Toy"
    names: ClassVar[dict] = {"Big_Set": "big-set-2", "other": "other"}
    stop: ClassVar[str] = ""

    def units(self):
        return [Unit(f"{name}, run 1", lambda name=name: self.work(name)) for name in self.chosen]

    def work(self, name):
        if name == self.stop:
            raise KeyboardInterrupt
        return 90.0 + len(name) + self.seed

    def lines(self, results):
        return [
            Line("2", name, "HNB", "accuracy %", 97.0, value, 0.25, 2, 0.5, 80.0, "a note")
            for name, value in zip(self.chosen, results.values(), strict=True)
        ]

    def remarks(self, lines):
        return [f"{len(lines)} lines"]


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(phnb_module, "PHNBExperiment", Toy)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_a_table_and_remarks():
    result = run("phnb", "--jobs", 1)
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0].startswith("Toy: 5 runs, seed 0, without honest figures")
    assert "Table 2" in lines
    assert "data model metric paper ours difference near honest note" in lines
    assert "Big_Set HNB accuracy % 97.00 97.00 ± 0.25 +0.00 yes 80.00 a note" in lines
    assert "other HNB accuracy % 97.00 95.00 ± 0.25 -2.00 no 80.00 a note" in lines
    assert lines[-1] == "- 2 lines"


def test_a_narrow_terminal(monkeypatch):
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", 90)
    result = run("phnb")
    assert "a note" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 90


@pytest.mark.parametrize("name", ["Big_Set", "big-set", "bigset2", "BIG SET", "big-set,other"])
def test_names_are_the_papers_or_ours(name):
    told = json.loads(run("phnb", "--only", name, "--json").stdout)
    assert told["lines"][0]["data"] == "Big_Set"
    assert len(told["lines"]) == 1 + ("other" in name)


def test_options_reach_the_experiment():
    told = json.loads(run("phnb", "--quick", "--honest", "--seed", 2, "--runs", 4, "--json").stdout)
    assert told["settings"] == {
        "paper": "phnb",
        "seed": 2,
        "quick": True,
        "runs": 4,
        "honest": True,
    }
    assert told["lines"][1]["ours"] == 97


def test_a_file(tmp_path):
    path = tmp_path / "toy.json"
    result = run("phnb", "-o", path)
    assert f"results written to {path}" in result.stderr
    assert json.loads(path.read_text(encoding="utf-8"))["remarks"] == ["2 lines"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["toy.json"]


@pytest.mark.long
def test_figures_are_drawn(tmp_path, monkeypatch):
    path = {"triplets": [1, 2], **{key: [0.5, 0.6] for key in SCORES}}
    panels = {key: {"text": path, "inferred": path} for key in ["GNB-A", "GNB-O"]}
    curve = {"data": "Big_Set", "panels": panels}
    assert "has no curves" in run("phnb", "--figures", tmp_path).stderr
    monkeypatch.setattr(Toy, "curves", lambda *_: {"7": curve})
    result = run("phnb", "--figures", tmp_path)
    picture = tmp_path / "figure-7.png"
    assert f"figure 7 written to {picture}" in result.stderr
    assert picture.read_bytes()[1:4] == b"PNG"
    assert "does not exist" in run("phnb", "--figures", tmp_path / "no", code=1).stderr


def test_resume(tmp_path):
    store = tmp_path / "runs.jsonl"
    run("phnb", "--only", "other", "--resume", store)
    again = run("phnb", "--resume", store)
    assert f"note: 1 of 2 units were already in {store}" in again.stderr
    refused = run("phnb", "--resume", store, "--seed", 1, code=1)
    assert "was started with seed=0, now 1" in refused.stderr


def test_interrupted_work_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(Toy, "stop", "other")
    store = tmp_path / "runs.jsonl"
    result = run("phnb", "--jobs", 1, "--resume", store, code=130)
    assert f"finished units are saved in {store}; run the same command" in result.stderr
    assert len(store.read_text().splitlines()) == 2
    lost = run("phnb", "--jobs", 1, code=130)
    assert "--resume FILE saves them" in lost.stderr


def test_progress_names_units_and_the_time_left(monkeypatch, capsys):
    shown_to_people = Console(stderr=True, markup=False, emoji=False, force_terminal=True)
    monkeypatch.setattr(command, "error_console", lambda: shown_to_people)
    with command._progress("phnb", {"a, run 1": 3.0, "b, run 1": 1.0}) as watch:
        watch(Step(1, 2, "a, run 1"))
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert "phnb: a, run 1 (1 of 2)" in shown
    assert "75%" in shown
    assert "remaining" in shown


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["other"], "'other' is not one of", 2),
        (["phnb", "--only", "iris"], "the paper has no data set 'iris'; it has Big_Set, other", 1),
        (["phnb", "--runs", "0"], "Usage", 2),
        (["phnb", "-o", "missing/x.json"], "does not exist; create it", 1),
        (["phnb", "-o", "x", "--resume", "./x"], "--output and --resume both name x", 1),
    ],
)
def test_errors(arguments, message, code):
    result = run(*arguments, code=code)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_data_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("UNNAIVE_DATA", str(tmp_path))
    monkeypatch.setenv("UNNAIVE_CACHE", str(tmp_path))
    monkeypatch.setattr("unnaive.datasets.sources.fetch", _unreachable)
    result = run("phnb", "--only", "nursery", code=1)
    assert "error: data set 'nursery' was not found: not in" in result.stderr
    assert "set UNNAIVE_DATA to a folder that has nursery.csv.gz" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def _unreachable(entry):
    from unnaive.datasets import sources  # noqa: PLC0415

    raise sources.Unreachable("no network")


@pytest.mark.long
@needs_data
def test_the_real_thing(monkeypatch):
    monkeypatch.undo()
    told = json.loads(run("phnb", "--quick", "--only", "kr-vs-kp", "--json").stdout)
    assert told["title"] == "Packaged hidden naive Bayes"
    assert {line["data"] for line in told["lines"]} == {"Kr_vs_kp"}
    accuracies = [line for line in told["lines"] if line["metric"] == "accuracy %"]
    assert all(abs(line["difference"]) <= 0.5 for line in accuracies)


def test_help_has_examples():
    assert "  unnaive reproduce phnb --quick" in run("--help").stdout
