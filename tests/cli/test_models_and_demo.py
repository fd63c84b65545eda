"""``unnaive models`` and ``unnaive demo``."""

import json
import re

import pytest

import unnaive
from commands import fails, run
from unnaive.cli import demo

KEYS = list(unnaive.all_models())


def test_models_are_listed():
    listed = run("models").stdout
    found = json.loads(run("models", "--json").stdout)
    assert [one["key"] for one in found] == KEYS
    assert all(one["key"] in listed and one["summary"] and one["references"] for one in found)
    assert "Friedman, Geiger & Goldszmidt (1997)" in listed
    assert len({one["summary"] for one in found}) == len(KEYS)


def test_models_are_cited():
    entries = run("models", "-m", "tan,bsej", "-m", "k-naive", "--cite").stdout.split("\n\n")
    assert entries[0].startswith("@article{friedman1997bayesian,\n  author = {Friedman and Geiger")
    assert "author = {Robles and Larrañaga and Peña and Pérez and Menasalvas and Herves}" in (
        "\n".join(entries)
    )
    title = "A Method for Automatically Generating Network Structure in Bayesian Classifiers"
    assert f"title = {{{title}}}" in "\n".join(entries)
    every = run("models", "--cite").stdout
    keys = re.findall(r"^@\w+\{(\w+),$", every, re.MULTILINE)
    assert len(keys) == len(set(keys)) == every.count("@")
    assert "no model 'tann'; did you mean 'tan'?" in fails("models", "-m", "tann")


def test_demo_shows_six_models_a_patient_and_a_report(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(demo, "_FOLDS", 3)
    result = run("demo")
    rows = [line.split() for line in result.stdout.splitlines() if " ± " in line]
    assert {row[0] for row in rows} == set(demo._SIX)
    assert rows[0][1] == "(best)"
    accuracy = [float(re.search(r"0\.\d{3}", " ".join(row))[0]) for row in rows]
    assert accuracy == sorted(accuracy, reverse=True)
    assert min(accuracy) > 0.9
    assert re.search(r"^Patient \d+: why malignant\?$", result.stdout, re.MULTILINE)
    assert "for malignant" in result.stdout
    assert (tmp_path / "unnaive-demo.html").exists()
    assert str(tmp_path / "unnaive-demo.html") in result.stdout
    assert "unnaive demo --all" in result.stdout
    assert "generation" not in result.stderr


def test_demo_without_jinja_writes_no_report(monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    monkeypatch.setattr(demo, "_FOLDS", 2)
    assert "Report" not in run("demo").stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_demo_has_a_row_for_every_model(monkeypatch):
    monkeypatch.setattr(demo, "_FOLDS", 2)
    found = json.loads(run("demo", "--all", "--json").stdout)
    assert list(found["models"]) == KEYS
    assert all(one["mean"]["accuracy"] > 0.85 for one in found["models"].values())
