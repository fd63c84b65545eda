"""Counting of files, compared with only reading them with pyarrow, in turns in one process."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import report

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("csv", "parquet")
WANTED = {"by a schema": 1.5, "without a schema": 3.0}


def run(rows: int, *, jobs: int, rounds: int, json_file: str | None = None) -> None:
    """Write mixed rows as CSV and Parquet, measure, and print times and targets."""
    machine = report.show_machine()
    lines: list[list[str]] = []
    targets: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="unnaive-files-") as name:
        for kind in KINDS:
            path = write(Path(name), kind, rows)
            times = measure(path, jobs, rounds)
            for what, (wall, spent) in times.items():
                ratios = [f"{wall / times['bare'][0]:.2f}", f"{spent / times['bare'][1]:.2f}"]
                cells = [report.duration(wall), report.duration(spent)]
                lines.append([kind, what, *cells, *ratios])
            for what, wanted in WANTED.items():
                ratio = times[what][0] / times["bare"][0]
                label = f"{kind} {what} / bare read"
                targets.append(report.target(label, ratio, wanted, " x", at_least=False))
    report.section(f"{rows:,} mixed rows, {jobs} threads, best of {rounds} in turns")
    report.show(["file", "what", "clock", "processor", "ratio", "ratio, processor"], lines)
    report.section("Targets")
    report.show(["target", "wanted", "measured", ""], targets)
    report.write_json(json_file, {"machine": machine, "lines": lines, "targets": targets})


def write(folder: Path, kind: str, rows: int) -> Path:
    """Write four floats, two integers, three texts and a target of three classes a row."""
    import pyarrow as pa  # noqa: PLC0415 - optional
    from pyarrow import csv, parquet  # noqa: PLC0415

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, rows)
    columns: dict[str, Any] = {}
    for place in range(4):
        columns[f"f{place}"] = np.round(rng.normal(size=rows) + y * (place + 1) / 3, 3)
    for place in range(2):
        columns[f"i{place}"] = rng.integers(0, 20 + 60 * place, rows) + y
    for place in range(3):
        labels = [f"level {label}" for label in range(4 + 6 * place)]
        columns[f"t{place}"] = np.array(labels)[rng.integers(0, len(labels), rows)]
    table = pa.table({**columns, "y": np.array(["ill", "well", "unsure"])[y]})
    path = folder / f"rows.{kind}"
    (csv.write_csv if kind == "csv" else parquet.write_table)(table, path)
    return path


def measure(path: Path, jobs: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the best clock and processor times of reading and counting, by what is done."""
    import pyarrow as pa  # noqa: PLC0415 - optional
    from pyarrow import csv, parquet  # noqa: PLC0415

    import unnaive  # noqa: PLC0415

    threads = pa.cpu_count()
    pa.set_cpu_count(jobs)
    read = csv.read_csv if path.suffix == ".csv" else parquet.read_table
    schema = unnaive.count(path, target="y", n_jobs=jobs).schema
    calls: dict[str, Callable[[], Any]] = {
        "bare": lambda: read(path),
        "by a schema": lambda: unnaive.count(path, target="y", schema=schema, n_jobs=jobs),
        "without a schema": lambda: unnaive.count(path, target="y", n_jobs=jobs),
    }
    best = dict.fromkeys(calls, (np.inf, np.inf))
    for _ in range(rounds):
        for what, call in calls.items():
            wall, spent = time.perf_counter(), time.process_time()
            call()
            now = time.perf_counter() - wall, time.process_time() - spent
            best[what] = min(best[what][0], now[0]), min(best[what][1], now[1])
    pa.set_cpu_count(threads)
    return best
