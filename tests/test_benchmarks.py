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
