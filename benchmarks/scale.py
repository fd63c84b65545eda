"""Data larger than memory: Parquet files counted in batches; rate, peak memory, linearity.

Every measurement is a process of its own, so that its peak memory is its own, too. One file is
read or counted before the clock starts: code is compiled, threads run, buffers are there.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import report

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
COLUMNS, VALUES, CLASSES = 30, 5, 2
FILE_ROWS = 1_000_000
FIRST = 1_000_000
WORKS = ("read", "count", "sketch", "memory")
MEMORY_ROWS = 4_000_000  # that the in-memory kernel is measured on, at most
PEAK, HALF, LINEAR = 1.5e9, 0.5, 1.15


def run(rows: int, *, jobs: int, repeats: int, folder: str | None, json_file: str | None) -> None:
    """Write the files, measure, check the targets, and delete the files."""
    report.show_machine()
    with tempfile.TemporaryDirectory(dir=folder, prefix="unnaive-scale-") as name:
        started = time.perf_counter()
        written = generate(Path(name), rows)
        print(
            f"{rows:,} rows of {COLUMNS} columns, {VALUES} values, {CLASSES} classes: "
            f"{written / 1e6:,.0f} MB of Parquet, made in {time.perf_counter() - started:.0f} s; "
            f"{jobs} threads."
        )
        findings = [measure(Path(name), size, jobs, repeats) for size in sizes(rows)]
    show(findings)
    if json_file:
        Path(json_file).write_text(json.dumps({"findings": findings}, indent=1))


def sizes(rows: int) -> list[int]:
    """Return the numbers of rows to measure: the first, ten times that, …, all.

    >>> sizes(3_000_000), sizes(100_000_000)
    ([1000000, 3000000], [1000000, 10000000, 100000000])
    """
    grid = [FIRST * 10**power for power in range(10) if FIRST * 10**power < rows]
    return [*grid, rows]


def generate(folder: Path, rows: int) -> int:
    """Write files of a million rows each; return their bytes."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        rng = np.random.default_rng(number)
        size = min(FILE_ROWS, rows - start)
        y = rng.integers(0, CLASSES, size, dtype=np.int8)
        table = {
            f"x{i}": (rng.integers(0, VALUES, size, dtype=np.int8) + y * (i % 3 == 0)) % VALUES
            for i in range(COLUMNS)
        }
        pq.write_table(pa.table({**table, "y": y}), folder / f"{number:06d}.parquet")
    return sum(file.stat().st_size for file in folder.iterdir())


def measure(folder: Path, rows: int, jobs: int, repeats: int) -> dict[str, Any]:
    """Measure everything for some rows, each in a fresh process."""
    found: dict[str, Any] = {"rows": rows}
    for work in WORKS:
        times = [in_process(work, folder, rows, jobs) for _ in range(repeats)]
        found[work] = min(times, key=lambda answer: answer["seconds"])
    return found


def in_process(work: str, folder: Path, rows: int, jobs: int) -> dict[str, float]:
    """Do one task in a fresh process; returns its figures."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    options = [work, str(folder), "--rows", str(rows), "--jobs", str(jobs)]
    command = [sys.executable, "-m", "benchmarks", "scale-part", *options]
    output = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    answer: dict[str, float] = json.loads(output)
    return answer


def main(work: str, folder: Path, rows: int, jobs: int) -> None:
    """Do one task in this process, and print its seconds, rows and peak memory."""
    import unnaive  # noqa: PLC0415

    if work not in WORKS:
        import_module("benchmarks.scale_models").main(work, folder, rows, jobs)
        return
    files = sorted(folder.iterdir())[: -(-rows // FILE_ROWS)]
    small = _table(files[:1], 5000)
    schema = unnaive.count(small, "y", discretize=None, n_jobs=jobs).schema
    figures = {
        "read": lambda: _read(files, jobs),
        "count": lambda: _count(files, jobs, schema=schema),
        "sketch": lambda: _count(files, jobs, discretize="mdlp", pairs=None),
        "memory": lambda: _memory(files, jobs, schema),
    }[work]()
    figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(figures))


def _timed(function: Callable[[], int]) -> dict[str, float]:
    """Call a function that returns a number of rows; also return wall and CPU time."""
    start, before = time.perf_counter(), time.process_time()
    rows = function()
    spent = time.process_time() - before
    return {"rows": rows, "seconds": time.perf_counter() - start, "cpu": spent}


def _table(files: list[Path], rows: int) -> Any:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    needed = files[: -(-rows // FILE_ROWS)]
    return pa.concat_tables([pq.read_table(file) for file in needed]).slice(0, rows)


def _read(files: list[Path], jobs: int) -> dict[str, float]:
    """Read all batches as ``count`` does, without counting."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    from unnaive.counts.engines.files import BATCH_ROWS  # noqa: PLC0415

    def read(files: list[Path]) -> int:
        rows = 0
        for file in files:
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(batch_size=BATCH_ROWS, use_threads=jobs > 1):
                    rows += batch.num_rows
        return rows

    read(files[:1])
    return _timed(lambda: read(files))


def _count(files: list[Path], jobs: int, **how: Any) -> dict[str, float]:
    import unnaive  # noqa: PLC0415

    unnaive.count(files[:1], "y", n_jobs=jobs, **how)
    return _timed(lambda: int(unnaive.count(files, "y", n_jobs=jobs, **how).total))


def _memory(files: list[Path], jobs: int, schema: Any) -> dict[str, float]:
    """Count the same columns in memory: encoding and kernel, without reading."""
    import unnaive  # noqa: PLC0415

    table = _table(files, MEMORY_ROWS)
    y = table.column("y").to_numpy()
    X = np.stack([table.column(f"x{i}").to_numpy() for i in range(COLUMNS)], axis=1)
    unnaive.count(X[:5000], y[:5000], schema=schema, n_jobs=jobs)
    return _timed(lambda: int(unnaive.count(X, y, schema=schema, n_jobs=jobs).total))


def show(findings: list[dict[str, Any]]) -> None:
    """Print rates, peaks and targets."""
    headers = ["rows", "bare read", "count", "schema and values", "in memory"]
    report.section("Rows per second, in millions, and peak memory of counting")
    lines = []
    for found in findings:
        cells = [f"{found[w]['rows'] / found[w]['seconds'] / 1e6:.2f}" for w in WORKS]
        lines.append([f"{found['rows']:,}", *cells, f"{found['count']['peak'] / 1e6:,.0f} MB"])
    report.show([*headers, "peak"], lines)
    report.section("Nanoseconds of CPU time for each row")
    report.show(
        headers,
        [[f"{f['rows']:,}", *(f"{_nanoseconds(f[w]):.0f}" for w in WORKS)] for f in findings],
    )
    report.section("Targets")
    report.show(["what", "wanted", "measured", ""], targets(findings))


def _nanoseconds(figures: dict[str, float]) -> float:
    return figures["cpu"] / figures["rows"] * 1e9


def targets(findings: list[dict[str, Any]]) -> list[list[str]]:
    """Compare the figures with the targets.

    One after the other, on the same cores, reading and counting would take the sum of their
    times: no count of files can be much faster than that where both use every core.
    """
    last = findings[-1]
    pace = [found["count"]["seconds"] / found["rows"] for found in findings]
    count, memory, bare = (
        last[w]["seconds"] / last[w]["rows"] for w in ("count", "memory", "read")
    )
    work = [_nanoseconds(found["count"]) for found in findings]
    gigabytes = last["count"]["peak"] / 1e9
    return [
        report.target("peak memory", gigabytes, PEAK / 1e9, " GB", at_least=False),
        report.target("rate / in-memory rate", memory / count, HALF, "", at_least=True),
        report.target(
            "rate / that of bare read, then in memory",
            (memory + bare) / count,
            HALF,
            "",
            at_least=True,
        ),
        report.target(
            "time a row, largest / smallest", max(pace) / min(pace), LINEAR, "", at_least=False
        ),
        report.target(
            "processor time a row, likewise", max(work) / min(work), LINEAR, "", at_least=False
        ),
    ]
