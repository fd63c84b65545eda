"""How long the first things take: importing, and the first fit of a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import data, report

ROOT = Path(__file__).parents[1]
KEPT_OUT = ("pandas", "pyarrow", "matplotlib", "numba")
IMPORT = """
import json, sys, time
start = time.perf_counter()
import unnaive
spent = time.perf_counter() - start
print(json.dumps({"seconds": spent, "modules": list(sys.modules)}))
"""
FIRST_FIT = """
import json, sys, time
import numpy as np
import sklearn.base, numba
X, y = np.load(sys.argv[1] + "/X.npy"), np.load(sys.argv[1] + "/y.npy")
start = time.perf_counter()
from unnaive import TAN
imported = time.perf_counter()
model = TAN().fit(X, y)
fitted = time.perf_counter()
model.predict(X)
end = time.perf_counter()
print(json.dumps({"import": imported - start, "fit": fitted - imported,
                  "predict": end - fitted, "seconds": end - start}))
"""


def run(repeats: int) -> None:
    """Print import times, first fits and the targets."""
    report.show_machine()
    targets = [_measure_import(repeats)]
    with tempfile.TemporaryDirectory() as folder:
        data.save(Path(folder), *data.wdbc())
        targets += _measure_first_fit(Path(folder), repeats)
    report.section("Targets")
    report.show(["target", "wanted", "measured", ""], targets)


def _measure_import(repeats: int) -> list[str]:
    report.section("import unnaive")
    answers = [_run(IMPORT) for _ in range(repeats)]
    spent = min(answer["seconds"] for answer in answers)
    loaded = [name for name in KEPT_OUT if name in answers[0]["modules"]]
    print(f"{report.duration(spent)}, best of {repeats} processes")
    print(f"in sys.modules of {', '.join(KEPT_OUT)}: {', '.join(loaded) or 'none'}")
    row = report.target("import unnaive", spent, 0.3, " s", at_least=False)
    return [*row[:3], "NOT MET: " + ", ".join(loaded)] if loaded else row


def _measure_first_fit(folder: Path, repeats: int) -> list[list[str]]:
    report.section("TAN().fit + predict on WDBC (569 x 30) in a fresh process")
    print(
        "beyond importing scikit-learn (sklearn.base) and numba; the best of "
        f"{repeats} processes (cold: of {_few(repeats)})"
    )
    warm = folder / "warm"
    cold = [_first_fit(folder, folder / f"cold{i}") for i in range(_few(repeats))]
    _first_fit(folder, warm)
    answers = {
        "warm cache": [_first_fit(folder, warm) for _ in range(repeats)],
        "cold cache": cold,
    }
    best = {name: min(runs, key=lambda run: run["seconds"]) for name, runs in answers.items()}
    headers = ["import", "fit", "predict", "seconds"]
    report.show(
        ["", *headers[:3], "all"],
        [[name, *(report.duration(run[h]) for h in headers)] for name, run in best.items()],
    )
    return [
        report.target(
            "first fit, warm cache", best["warm cache"]["seconds"], 0.7, " s", at_least=False
        ),
        report.target(
            "first fit, cold cache", best["cold cache"]["seconds"], 6.0, " s", at_least=False
        ),
    ]


def _few(repeats: int) -> int:
    return min(2, repeats)


def _first_fit(folder: Path, cache: Path) -> dict[str, float]:
    """Seconds of each step with numba's cache in the given folder."""
    answer: dict[str, float] = _run(FIRST_FIT, str(folder), NUMBA_CACHE_DIR=str(cache))
    return answer


def _run(script: str, *arguments: str, **environment: str):
    """Run a script in a fresh process; the JSON it prints."""
    output = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return json.loads(output)
