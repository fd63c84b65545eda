"""The benchmarks run: small data, seconds."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _root_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_data_repeats_itself_and_has_every_value():
    data = importlib.import_module("benchmarks.data")
    shape = data.Shape(rows=200, columns=5, values=4, classes=3)
    X, y = data.tree_data(shape)
    again, _ = data.tree_data(shape)
    assert np.array_equal(X, again)
    assert X.dtype == np.int64
    assert X.flags.c_contiguous
    assert all(len(np.unique(column)) == 4 for column in X.T)
    assert len(np.unique(y)) == 3


@pytest.mark.parametrize("name", ["report", "weka"])
def test_doctests(name):
    module = importlib.import_module(f"benchmarks.{name}")
    assert doctest.testmod(module).failed == 0


def test_stages_do_not_count_twice():
    timing = importlib.import_module("benchmarks.timing")
    stages = timing.Stages()
    inner = stages.wrap("inner", lambda: sum(range(100_000)))
    outer = stages.wrap("outer", inner)
    total = timing.seconds(outer)
    assert sum(stages.times.values()) <= total
    assert stages.times["outer"] < stages.times["inner"]


def test_peers_reports_and_agrees(tmp_path):
    file = tmp_path / "peers.json"
    options = ["--rows", "400", "--columns", "4", "--repeats", "1", "--only", "sklearn", "--json"]
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", "peers", *options, str(file)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Targets" in ran.stdout
    findings = json.loads(file.read_text())["findings"]
    assert {"ours", "sklearn"} == set(findings)
    assert len(findings["ours"]["timings"]) == 12
    assert findings["sklearn"]["checks"][0]["difference"] < 1e-9


def test_gnb_runs_the_papers_protocol():
    gnb = importlib.import_module("benchmarks.gnb")
    assert list(gnb.PRINTED) == list(gnb.NAMES.values())
    assert gnb.PRINTED["wdbc"]["GNB-O"] == pytest.approx(94.42)
    right, same = gnb.split_accuracies(gnb.load_rows("wdbc"), gnb.Study(None, splits=2, jobs=1))
    assert set(right) == set(gnb.compared_models(1))
    assert all(len(series) == 2 and series.min() > 75 for series in right.values())
    assert same == 2


def test_knaive_runs_the_thesis_protocol():
    knaive = importlib.import_module("benchmarks.knaive")
    X, y, names = knaive.mean_columns()
    assert all(name in names for name in knaive.CHOSEN)
    model = knaive.right_models(names)["  the thesis' set"]
    assert knaive.matrix_of(model, X, y, 0).sum() == 560
    assert [one.f_score for one in knaive.PRINTED] == [0.878, 0.772, 0.919]
