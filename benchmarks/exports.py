"""Exported models in the engines that run them: whether they agree with Python, and how fast.

``--check``: every model on five data sets, with gaps and unseen values made by a fixed seed;
labels must be equal on all rows, and probabilities to 1e-9. Finished comparisons are kept
(``--resume``). Without it: rows a second of each
engine and of ``predict_proba``, in turns in one run.
"""

from __future__ import annotations

import json
import signal
import sys
import warnings
from contextlib import ExitStack
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import unnaive
from benchmarks import paper, report, timing
from benchmarks.data import Shape, tree_data
from benchmarks.engines import ENGINES, NotHere, unseen
from unnaive.datasets import load
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from benchmarks.engines import Engine

__all__ = ["PARTS", "paper", "run"]
PARTS = tuple(ENGINES)
SETS = ("crx", "flare", "glass", "hepatitis", "lymphography")
SEED, TOLERANCE = 20_261_118, 1e-9
COLUMNS, VALUES = 20, 5  # of the rows that are scored for speed
# Rows that an engine scores in some seconds; all take turns with predict_proba on the same rows.
ROWS = {
    "onnxruntime": 100_000,
    "DuckDB": 1_000_000,
    "SQLite": 100_000,
    "PostgreSQL": 100_000,
    "Spark SQL": 100_000,
    "node": 100_000,
}


def prepared(name: str, most: int | None) -> tuple[pd.DataFrame, np.ndarray, Sequence[Any]]:
    """Return rows with gaps and their classes, and two lots of other rows to score."""
    X, y = load(name).to_pandas()
    others = [unseen(X, SEED + place).head(most or len(X)) for place in range(2)]
    random = np.random.default_rng(SEED)
    for column in X.columns:
        X.loc[random.random(len(X)) < 0.05, column] = np.nan
    return X, y.to_numpy(), others


def fitted(key: str, X: pd.DataFrame, y: np.ndarray, others: Sequence[Any]) -> tuple[Any, Any]:
    """Fit a model, to columns of numbers only if it needs that; also returns rows to score."""
    model = unnaive.make(key)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    try:
        return model.fit(X, y), others[0]
    except UnnaiveError:
        numbers = X.select_dtypes("number").columns
        if len(numbers) < 2:
            raise
        return model.fit(X[numbers], y), others[1][numbers]


class Finished:
    """Comparisons by data set, model and engine; those of an earlier run come from a file."""

    def __init__(self, path: str | None) -> None:
        self.path = Path(path) if path else None
        self.lines: dict[tuple[str, str, str], dict[str, Any]] = {}
        if self.path and self.path.exists():
            for line in map(json.loads, self.path.read_text().splitlines()):
                self.lines[line["data"], line["model"], line["engine"]] = line

    def add(self, data: str, key: str, engine: str, **found: Any) -> None:
        """Keep a comparison, and print it if it is not as it should be."""
        line = {"data": data, "model": key, "engine": engine, **found}
        self.lines[data, key, engine] = line
        if "refused" in found or wrong(line):
            print(*line.values(), sep=", ", flush=True)
        if self.path:
            with self.path.open("a") as stream:
                stream.write(json.dumps(line) + "\n")


def wrong(line: dict[str, Any]) -> bool:
    """Whether a label differs, a probability differs by more than 1e-9, or an engine failed."""
    if "refused" in line:
        return False
    return "failed" in line or line["differ"] > 0 or not line["gap"] <= TOLERANCE


def check(
    engines: Sequence[str],
    sets: Sequence[str],
    only: Sequence[str],
    most: int | None,
    resume: str | None,
) -> list[list[Any]]:
    """Compare every model on every set; a line for each engine and set."""
    done = Finished(resume)
    with ExitStack() as stack:
        opened = {}
        for name in engines:
            try:
                opened[name] = stack.enter_context(ENGINES[name]())
            except NotHere as error:
                print(f"{name}: {error}")
        for data in sets:
            rows = prepared(data, most)
            for key in only or unnaive.all_models():
                left = [name for name in opened if (data, key, name) not in done.lines]
                if left:
                    _check_model(data, key, rows, {name: opened[name] for name in left}, done)
    lines = []
    for name, data in product(opened, sets):
        some = [v for k, v in done.lines.items() if (k[0], k[2]) == (data, name)]
        compared_here = [line for line in some if "gap" in line]
        gap = max((line["gap"] for line in compared_here), default=0.0)
        most_rows = max((line["rows"] for line in compared_here), default=0)
        refused = " ".join(line["model"] for line in some if "refused" in line)
        lines.append([name, data, most_rows, len(compared_here), f"{gap:.1e}", refused])
    report.section("Probabilities and labels, compared with Python")
    report.show(["engine", "data", "rows", "models", "largest difference", "refused"], lines)
    faults = [line for line in done.lines.values() if wrong(line)]
    print(*(faults or ["all labels are equal, all probabilities to 1e-9"]), sep="\n")
    return lines


def _check_model(
    data: str, key: str, rows: tuple[Any, ...], engines: dict[str, Engine], done: Finished
) -> None:
    try:
        model, X = fitted(key, *rows)
    except UnnaiveError as error:  # of numbers only
        print(f"{data}, {key}: {error}")
        return
    for name, engine in engines.items():
        try:
            gap, differ = compared(engine, model, X)
        except UnnaiveError as error:
            done.add(data, key, name, refused=str(error))
        except Exception as error:
            done.add(data, key, name, failed=f"{type(error).__name__}: {error}"[:500])
        else:
            done.add(data, key, name, rows=len(X), gap=gap, differ=differ)


def compared(engine: Engine, model: Any, X: pd.DataFrame) -> tuple[float, int]:
    """Return the largest difference of probabilities, and the number of labels that differ."""
    answer = engine.score(model, X)
    gap = float(np.abs(answer.probabilities - model.predict_proba(X)).max())
    return gap, sum(a != b for a, b in zip(answer.labels, model.predict(X).tolist(), strict=True))


def speed(engines: Sequence[str], key: str = "tan") -> list[list[Any]]:
    """Rows a second of each engine and of predict_proba on the same rows, in turns."""
    import pandas as pd  # noqa: PLC0415 - optional

    lines = []
    for name in engines:
        X, y = tree_data(Shape(ROWS[name], COLUMNS, VALUES, 2, SEED))
        frame = pd.DataFrame(np.array([f"v{v}" for v in range(VALUES)], dtype=object)[X])
        frame.columns = [f"x{place}" for place in range(COLUMNS)]
        model = unnaive.make(key).fit(frame, y)
        try:
            with ENGINES[name]() as engine:
                ours, theirs, score = [], [], engine.timed(model, frame)
                for _ in range(3):
                    ours.append(timing.seconds(partial(model.predict_proba, frame)))
                    theirs.append(score())
        except NotHere as error:
            print(f"{name}: {error}")
            continue
        rates = [report.number(len(X) / min(times)) for times in (theirs, ours)]
        lines.append([name, f"{len(X):,}", report.duration(min(theirs)), *rates])
        print(*lines[-1], sep="  ", flush=True)  # the others may take long
    report.section(f"{key}, {COLUMNS} text columns of {VALUES} values, 2 classes, best of 3")
    report.show(["engine", "rows", "time", "rows/s", "rows/s of predict_proba"], lines)
    return lines


def run(
    *,
    checked: bool,
    only: Sequence[str] | None,
    sets: Sequence[str] | None,
    models: Sequence[str] | None,
    rows: int | None = None,
    resume: str | None = None,
    json_file: str | None = None,
) -> None:
    """Compare or measure, and print; servers are stopped also where a time limit ends this."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    machine = report.show_machine()
    warnings.filterwarnings("ignore", category=FutureWarning)  # of Spark about pandas
    engines = only or PARTS
    lines = check(engines, sets or SETS, models or (), rows, resume) if checked else speed(engines)
    report.write_json(json_file, {"machine": machine, "lines": lines})
