"""Models fitted to Parquet files larger than memory: time against a bare read, and peak memory.

Every fit is a process of its own. The bare read of the same columns is measured beside it, in
the same run. Times contain the first call of everything; the libraries are imported before.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import report
from benchmarks.scale import FILE_ROWS, in_process

if TYPE_CHECKING:
    from unnaive.models.classifier import Classifier

CODES, NUMBERS, VALUES, CLASSES = 20, 10, 5, 2  # columns of codes, columns of numbers
FEW = 10  # columns of codes that A2DE is fitted to
PEAK = 2e9
MODELS: dict[str, dict[str, Any]] = {
    "tan": {},
    "kdb": {"k": 2},
    "a2de": {},
    "gaussian-tan": {},
    "auto": {},
}


def run(
    rows: int,
    *,
    jobs: int,
    folder: str | None,
    only: list[str] | None,
    keep: bool,
    json_file: str | None,
) -> None:
    """Write the files, fit every model in a process of its own, and delete the files.

    With ``keep`` the files are made in ``folder`` itself, taken as they are if they are there,
    and not deleted.
    """
    report.show_machine()
    with tempfile.TemporaryDirectory(dir=folder, prefix="unnaive-scale-") as made:
        home = Path(folder) if keep and folder else Path(made)
        written = generate(home, rows)
        print(
            f"{rows:,} rows of {CODES} columns of {VALUES} codes and {NUMBERS} of numbers, "
            f"{CLASSES} classes: {written / 1e6:,.0f} MB of Parquet; {jobs} threads.",
            flush=True,
        )
        findings = []
        for key in only or MODELS:
            read = in_process(f"read-{key}", home, rows, jobs)
            findings.append({"key": key, "read": read, "fit": in_process(key, home, rows, jobs)})
            show_one(findings[-1])
            if json_file:
                Path(json_file).write_text(json.dumps({"findings": findings}, indent=1))
    show(findings)


def generate(folder: Path, rows: int) -> int:
    """Write files of a million rows each that are not there yet; return their bytes."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    files = [folder / f"{number:06d}.parquet" for number in range(-(-rows // FILE_ROWS))]
    for number, file in enumerate(files):
        if not file.exists():
            size = min(FILE_ROWS, rows - number * FILE_ROWS)
            pq.write_table(pa.table(columns(np.random.default_rng(number), size)), file)
    return sum(file.stat().st_size for file in files)


def columns(rng: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    """Draw columns: each is in part a copy of the one before it, every third knows the class.

    Numbers are rounded to hundredths, so that a column has about a thousand distinct ones.
    """
    y = rng.integers(0, CLASSES, size, dtype=np.int8)
    made: dict[str, np.ndarray] = {}
    before = np.zeros(size, dtype=np.int8)
    for i in range(CODES):
        code = rng.integers(0, VALUES, size, dtype=np.int8)
        code = (np.where(rng.random(size, np.float32) < 0.4, before, code) + y * (i % 3 == 0)) % 5
        made[f"x{i}"] = before = code.astype(np.int8)
    above = before.astype(np.float32)
    for i in range(NUMBERS):
        noise = rng.standard_normal(size, np.float32)
        above = np.float32(0.5) * above + noise + np.float32(0.4 * (i % 3 == 0)) * y
        made[f"z{i}"] = np.round(above, 2)
    return {**made, "y": y}


def main(work: str, folder: Path, rows: int, jobs: int) -> None:
    """Read or fit in this process, and print seconds, rows and peak memory."""
    from pyarrow import dataset  # noqa: PLC0415

    key = work.removeprefix("read-")
    files = sorted(folder.glob("*.parquet"))[: -(-rows // FILE_ROWS)]
    some = dataset.dataset([str(file) for file in files])
    names = some.schema.names
    if key == "a2de":
        names = [*names[:FEW], "y"]
    figures = read(files, names, jobs) if key != work else fit(key, some, names, jobs)
    figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(figures))


def read(files: list[Path], names: list[str], jobs: int) -> dict[str, Any]:
    """Read all batches of some columns, and do nothing with them."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    clock, before, rows = time.perf_counter(), time.process_time(), 0
    for file in files:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(1 << 17, columns=names, use_threads=jobs > 1):
                rows += batch.num_rows
    return {"rows": rows, **spent(clock, before)}


def fit(key: str, some: Any, names: list[str], jobs: int) -> dict[str, Any]:
    """Fit a model to a dataset; also its log loss on rows that it has not seen."""
    import unnaive  # noqa: PLC0415

    model = unnaive.make(key, n_jobs=jobs, **MODELS[key])
    source = some if len(names) == len(some.schema) else some.scanner(columns=names)
    clock, before = time.perf_counter(), time.process_time()
    model.fit(source, "y")
    figures: dict[str, Any] = spent(clock, before)
    figures["rows"] = some.count_rows()
    figures["sample"] = model.sample_
    return {**figures, "log_loss": log_loss(model, names[:-1])}


def log_loss(model: Classifier, names: list[str]) -> float:
    """Log loss on 20,000 other rows."""
    import pandas as pd  # noqa: PLC0415

    made = columns(np.random.default_rng(2**32), 20_000)
    X = pd.DataFrame({name: made[name] for name in names})
    chosen = model.predict_log_proba(X)[np.arange(len(X)), made["y"]]
    return float(-np.mean(chosen))


def spent(clock: float, before: float) -> dict[str, Any]:
    """Return the seconds since then, by the clock and of the processor."""
    return {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - before}


def show_one(found: dict[str, Any]) -> None:
    """Print a line as soon as it is known."""
    print(f"  {found['key']}: {found['fit']['seconds']:,.0f} s", flush=True)


def show(findings: list[dict[str, Any]]) -> None:
    """Print times and peaks, and whether the peaks are small enough."""
    report.section("Fits from files, and the bare read of their columns")
    headers = ["model", "fit", "of processor", "bare read", "of processor", "fit / read"]
    lines = []
    for found in findings:
        fitted, bare = found["fit"], found["read"]
        times = [fitted["seconds"], fitted["cpu"], bare["seconds"], bare["cpu"]]
        ratio = f"{fitted['cpu'] / bare['cpu']:.1f}"
        learned = f"{fitted['sample'][0]:,} rows" if fitted["sample"] else "all rows"
        others = [ratio, learned, f"{fitted['peak'] / 1e6:,.0f} MB", f"{fitted['log_loss']:.4f}"]
        lines.append([found["key"], *(f"{one:,.0f} s" for one in times), *others])
    report.show([*headers, "learned from", "peak memory", "log loss"], lines)
    report.section("Targets")
    report.show(
        ["what", "wanted", "measured", ""],
        [
            report.target(
                f"peak memory of {found['key']}",
                found["fit"]["peak"] / 1e9,
                PEAK / 1e9,
                " GB",
                at_least=False,
            )
            for found in findings
        ],
    )
