"""Pages are run where ``patients.csv`` lies and what they write is thrown away."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

collect_ignore_glob = ["*.py", "_ext/*", "api/*", "gallery/*"]


@pytest.fixture(autouse=True)
def _folder_of_the_reader(tmp_path, monkeypatch):
    shutil.copy(Path(__file__).parents[1] / "examples" / "patients.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
