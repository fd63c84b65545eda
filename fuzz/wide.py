"""Fit every model to columns of very many values, and check time, memory and file size.

    python -m fuzz.wide --shape identifier --models tan,aode --seconds 60
    python -m fuzz.wide --scaling --rows 200000

Every model either fits within ``max_memory`` and within the limit of time, or refuses the data
within a second, after they were coded, in one sentence that names the column. Every model has a
process of its own, so that its peak of memory is its own. Seconds are those of the processor, less
those that coding the rows takes; they do not depend on what else the machine does. A fitted model
predicts, is saved, and predicts the same after it was loaded.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import unnaive
from unnaive.exceptions import UnnaiveError

SHAPES = {  # values of the wide columns; others have 5 values, so that there are 21 columns
    "identifier": [0],  # a value of its own for every row
    "thousand": [1_000] * 10,
    "ten-thousand": [10_000] * 5,
}
COLUMNS = 21
MOST_MEMORY = 2**31
REFUSAL_SECONDS = 1.0
FILE_TIMES = 3.0
SETTINGS = {"random_state": 0, "max_memory": MOST_MEMORY}


def table(shape: str, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return columns of few values that depend on the class, the wide ones, and the class."""
    random = np.random.default_rng(0)
    y, wide, cells = random.integers(2, size=rows), SHAPES[shape], {}
    for place, size in enumerate(wide):
        codes = random.permutation(rows) if size == 0 else random.integers(size, size=rows)
        cells[f"wide{place}"] = [f"id{code}" for code in codes]
    for place in range(COLUMNS - len(wide)):
        codes = (random.integers(5, size=rows) + y * (random.random(rows) < place / 40)) % 5
        cells[f"x{place}"] = np.array(list("abcde"))[codes]
    return pd.DataFrame(cells), y


def forget_peak() -> None:
    """Begin to measure the largest memory of this process anew, where the system is Linux."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Return the largest number of bytes that this process had in memory."""
    if not Path("/proc/self/status").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def settings(key: str) -> dict[str, object]:
    """Return the settings that a model has."""
    known = unnaive.make(key).get_params()
    return {name: value for name, value in SETTINGS.items() if name in known}


def scaling(keys: list[str], shape: str, most: int) -> None:
    """Fit models to an eighth, a quarter, a half and all of the rows; print how seconds grow.

    Seconds are with coding. The exponent is the slope of log seconds over log rows: 1 where time is
    linear in rows.
    """
    sizes = [most // 8, most // 4, most // 2, most]
    seconds: dict[str, list[float]] = {key: [] for key in keys}
    for rows in sizes:
        X, y = table(shape, rows)
        unnaive.make("nb").fit(X[:100], y[:100])  # imports what a fit imports
        for key in keys:
            began = time.process_time()
            try:
                unnaive.make(key, **settings(key)).fit(X, y)
            except (ValueError, UnnaiveError):
                seconds[key].append(np.nan)
            else:
                seconds[key].append(time.process_time() - began)
            known = len(seconds[key])
            slope = np.nan
            if known > 1 and np.isfinite(seconds[key]).all():
                slope = np.polyfit(np.log(sizes[:known]), np.log(seconds[key]), 1)[0]
            print(
                f"{key:<15}{rows:>10,} rows{seconds[key][-1]:10.2f} s  exponent {slope:.2f}",
                flush=True,
            )


def measure(key: str, shape: str, rows: int) -> dict[str, object]:
    """Fit, predict, save and load one model; return what it cost, or why it refused."""
    X, y = table(shape, rows)
    began = time.process_time()
    unnaive.make("nb").fit(X, y)  # codes the rows, and imports what a fit imports
    coding = time.process_time() - began
    forget_peak()
    before, began = peak(), time.process_time()
    try:
        model = unnaive.make(key, **settings(key)).fit(X, y)
    except (ValueError, UnnaiveError) as error:
        seconds = time.process_time() - began - coding
        return {"seconds": seconds, "bytes": peak() - before, "refused": str(error)}
    fitted = time.process_time()
    result: dict[str, object] = {"seconds": fitted - began - coding, "bytes": peak() - before}
    some = X.iloc[:1000]
    chances = model.predict_proba(some)
    result["predict"] = time.process_time() - fitted
    result["predict bytes"] = peak() - before
    with tempfile.TemporaryDirectory() as folder:
        X.assign(y=y).to_csv(Path(folder) / "rows.csv", index=False)
        model.save(Path(folder) / "model.unb")
        sizes = [(Path(folder) / name).stat().st_size for name in ("model.unb", "rows.csv")]
        result["file"] = sizes[0] / sizes[1]
        loaded = unnaive.load(Path(folder) / "model.unb")
        result["same"] = bool(np.isfinite(chances).all()) and np.array_equal(
            loaded.predict_proba(some), chances
        )
    return result


def run(key: str, shape: str, rows: int, seconds: float) -> dict[str, object]:
    """Measure one model in a process of its own."""
    command = [sys.executable, "-m", "fuzz.wide", "--only", key, "--shape", shape]
    command += ["--rows", str(rows)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        resource.setrlimit(resource.RLIMIT_AS, (5 * MOST_MEMORY, 5 * MOST_MEMORY))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    if done.returncode == -signal.SIGKILL:
        return {"wrong": f"took longer than {seconds:g} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"wrong": f"ended with {done.returncode}: {last}"}
    measured: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return measured


def wrong(result: dict[str, object], shape: str) -> str:
    """Say what a result falls short of, or return nothing."""
    if "wrong" in result:
        return str(result["wrong"])
    if "refused" in result:
        text, late = str(result["refused"]), float(str(result["seconds"]))
        named = "'wide" in text and " values" in text and "\n" not in text
        faults = {
            f"refused after {late:.1f} s": late > REFUSAL_SECONDS,
            "the refusal does not name the column and its values in one line": not named,
        }
    else:
        large = shape == "identifier" and float(str(result["file"])) > FILE_TIMES
        faults = {
            "more memory than max_memory": float(str(result["predict bytes"])) > MOST_MEMORY,
            "predicts otherwise after it was loaded": not result["same"],
            "the file is more than three times the CSV": large,
        }
    return "; ".join(text for text, holds in faults.items() if holds)


def line(key: str, result: dict[str, object], failure: str) -> str:
    """Return a line of the printed table."""
    if "wrong" in result:
        return f"{key:<15} {'':>41}  WRONG: {failure}"
    seconds, size = float(str(result["seconds"])), float(str(result["bytes"])) / 2**20
    if "refused" in result:
        figures = f"{seconds:8.2f} s {size:8.0f} MiB {'':>20}  refused: {result['refused']}"
    else:
        predict, file = float(str(result["predict"])), float(str(result["file"]))
        figures = f"{seconds:8.2f} s {size:8.0f} MiB {predict:8.2f} s {file:8.2f} x  fitted"
    return f"{key:<15} {figures}" + (f"  WRONG: {failure}" if failure else "")


def main() -> None:
    """Read the options, measure every model, and end with 1 if one falls short."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="identifier", choices=list(SHAPES))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--models", default=",".join(unnaive.all_models()))
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one model")
    parser.add_argument("--only", default=None, help="measure one model in this process")
    parser.add_argument(
        "--scaling", action="store_true", help="fit to more and more rows, up to --rows"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.scaling:
        scaling(options.models.split(","), options.shape, options.rows)
        return
    if options.only is not None:
        print(json.dumps(measure(options.only, options.shape, options.rows)))
        return
    print(f"{options.shape}: {options.rows:,} rows, {COLUMNS} columns")
    print(
        f"{'model':<15} {'fit':>10} {'memory':>12} {'1,000 rows':>10} {'file/CSV':>10}", flush=True
    )
    failures = 0
    for key in options.models.split(","):
        result = run(key, options.shape, options.rows, options.seconds)
        failure = wrong(result, options.shape)
        failures += bool(failure)
        print(line(key, result, failure), flush=True)
    sys.exit(f"{failures} models fall short" if failures else 0)


if __name__ == "__main__":
    main()
