"""Peak memory of one TAN.fit in a fresh process, minus the memory before it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks import data

ROOT = Path(__file__).parents[1]
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def of_fit(folder: Path, jobs: int) -> dict[str, int] | None:
    """Return bytes in a fresh process, or None if the system cannot measure it."""
    if not STATUS.exists():
        return None
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "benchmarks", "memory", str(folder), "--jobs", str(jobs)]
    output = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
    ).stdout
    answer: dict[str, int] = json.loads(output)
    return answer


def main(folder: Path, jobs: int) -> None:
    """Fit some rows (to load code), reset the peak, fit all rows, print bytes."""
    from unnaive import TAN  # noqa: PLC0415

    X, y = data.load(folder)
    TAN(discretize=None, n_jobs=jobs).fit(X[:2000].copy(), y[:2000])
    before = _status("VmRSS")
    RESET.write_text("5")
    model = TAN(discretize=None, n_jobs=jobs).fit(X, y)
    figures = {
        "before": before,
        "peak": _status("VmHWM") - before,
        "kept": _status("VmRSS") - before,
        "codes": X.size * model.schema_.code_type().itemsize,
        "input": X.nbytes,
    }
    print(json.dumps(figures))


def _status(key: str) -> int:
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)
