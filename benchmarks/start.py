"""Start-up times: import, the first fit of a fresh process, a command."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import data, report

KEPT_OUT = ("pandas", "pyarrow", "matplotlib", "sklearn", "scipy")
IMPORT = """
import json, sys, time
start = time.perf_counter()
import unnaive
spent = time.perf_counter() - start
print(json.dumps({"seconds": spent, "modules": list(sys.modules)}))
"""
FIRST_FIT = """
import json, resource, sys, time
import numpy as np
import sklearn.base
X, y = np.load(sys.argv[1] + "/X.npy"), np.load(sys.argv[1] + "/y.npy")
start = time.perf_counter()
import unnaive
make = unnaive.make
model = make(sys.argv[2])
imported = time.perf_counter()
model.fit(X, y)
fitted = time.perf_counter()
model.predict(X)
end = time.perf_counter()
make(sys.argv[2]).fit(X, y).predict(X)
again = time.perf_counter()
print(json.dumps({"import": imported - start, "fit": fitted - imported, "predict": end - fitted,
                  "seconds": end - start, "again": again - end,
                  "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""
EXTRAS = ("pyarrow", "pandas", "matplotlib", "polars", "dask", "pyspark")
WITHIN = {"tan": 0.10, "auto": 0.5}
COMMANDS = {
    "predict model.unb rows.csv": 0.7,
    "fit rows.csv --model tan": 1.3,
    "fit rows.csv": None,
    "models": None,
    "--help": None,
}


def run(repeats: int, python: str | None = None) -> None:
    """Print import times, first fits, commands and the targets, of this or another Python."""
    report.show_machine()
    interpreter = python or sys.executable
    targets = [_measure_import(interpreter, repeats)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data.save(folder, *data.wdbc())
        targets += _measure_first_fits(interpreter, folder, repeats)
        targets += _measure_commands(interpreter, folder, repeats)
    targets.append(_measure_environment(interpreter))
    report.section("Targets")
    report.show(["target", "wanted", "measured", ""], targets)


def _measure_import(python: str, repeats: int) -> list[str]:
    report.section("import unnaive")
    answers = [_run(python, IMPORT) for _ in range(repeats)]
    spent = min(answer["seconds"] for answer in answers)
    loaded = [name for name in KEPT_OUT if name in answers[0]["modules"]]
    print(f"{report.duration(spent)}, best of {repeats} processes")
    print(f"in sys.modules of {', '.join(KEPT_OUT)}: {', '.join(loaded) or 'none'}")
    row = report.target("import unnaive", spent, 0.3, " s", at_least=False)
    return [*row[:3], "NOT MET: " + ", ".join(loaded)] if loaded else row


def _measure_first_fits(python: str, folder: Path, repeats: int) -> list[list[str]]:
    """Fit and predict WDBC in fresh processes."""
    report.section("fit + predict on WDBC (569 x 30) in a fresh process")
    print(f"without importing scikit-learn (sklearn.base); the best of {repeats} processes")
    rows, targets = [], []
    for key, wanted in WITHIN.items():
        runs = [_run(python, FIRST_FIT, str(folder), key) for _ in range(repeats)]
        best = min(runs, key=lambda run: run["seconds"])
        steps = [report.duration(best[step]) for step in ("import", "fit", "predict", "seconds")]
        memory = min(run["memory"] for run in runs)
        rows.append([key, *steps, report.duration(best["again"]), f"{memory:.0f} MB"])
        targets.append(
            report.target(f"first {key}, all", best["seconds"], wanted, " s", at_least=False)
        )
        if key == "tan":
            targets.append(report.target("memory", memory, 190, " MB", at_least=False))
    report.show(["", "import", "fit", "predict", "all", "again", "memory"], rows)
    return targets


def _measure_commands(python: str, folder: Path, repeats: int) -> list[list[str]]:
    """Time whole commands, including the start of Python."""
    report.section("commands on WDBC (569 rows of CSV), from start to end")
    table, classes = data.wdbc()
    names = [f"x{i}" for i in range(table.shape[1])]
    lines = [",".join([*names, "y"])]
    lines += [
        ",".join([*map(repr, row), str(label)])
        for row, label in zip(table.tolist(), classes.tolist(), strict=True)
    ]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    call = [python, "-c", "from unnaive.cli.app import main; main()"]
    fit = [*call, "fit", "rows.csv", "--target", "y", "-o", "model.unb", "--model", "tan"]
    _time(fit, folder)
    rows, targets = [], []
    for command, wanted in COMMANDS.items():
        words = command.split()
        if words[0] == "fit":
            words += ["--target", "y", "-o", "other.unb"]
        times = [_time([*call, *words], folder) for _ in range(repeats)]
        rows.append(
            [f"unnaive {command}", *map(report.duration, (min(times), statistics.median(times)))]
        )
        if wanted is not None:
            name = f"unnaive {command}"
            targets.append(report.target(name, min(times), wanted, " s", at_least=False))
    report.show(["", "best", "median"], rows)
    return targets


def _measure_environment(python: str) -> list[str]:
    """Return the size of what ``pip install .`` installs, without extras."""
    script = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = Path(_output(python, script).strip())
    packages = [package for package in folder.iterdir() if not package.name.startswith(EXTRAS)]
    files = (file for package in packages for file in [package, *package.rglob("*")])
    size = sum(file.stat().st_size for file in files if file.is_file()) / 2**20
    return report.target("packages, extras aside", size, 340, " MB", at_least=False)


def _time(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    environment = _environment(command[0])
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def _run(python: str, script: str, *arguments: str):
    """Run a script in a fresh process, and return the JSON that it prints."""
    return json.loads(_output(python, script, *arguments))


def _output(python: str, script: str, *arguments: str) -> str:
    command = [python, "-c", script, *arguments]
    run_alone = {"check": True, "capture_output": True, "env": _environment(python)}
    return subprocess.run(command, text=True, **run_alone).stdout  # noqa: PLW1510


def _environment(python: str) -> dict[str, str]:
    """Return the environment without paths of this interpreter."""
    own = python == sys.executable
    return {name: value for name, value in os.environ.items() if own or name != "PYTHONPATH"}
