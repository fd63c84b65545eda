"""Exported models in the engines that run them: whether they agree with Python, and how fast.

``--check``: every model on five data sets, with gaps and unseen values made by a fixed seed;
labels must be equal on all rows, and probabilities to 1e-9. Without it: rows a second of each
engine and of ``predict_proba``, in turns in one run.
"""

from __future__ import annotations

import signal
import sys
import warnings
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import unnaive
from benchmarks import paper, report, timing
from benchmarks.data import Shape, tree_data
from benchmarks.engines import ENGINES, NotHere, unseen
from unnaive.datasets import load
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from benchmarks.engines import Engine

__all__ = ["PARTS", "paper", "run"]
PARTS = tuple(ENGINES)
SETS = ("flare", "heart-cleveland", "iris", "pima", "vote")
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


def fitted(name: str, only: Sequence[str]) -> Iterator[tuple[str, Any, pd.DataFrame]]:
    """Yield every model of the register, fitted to rows with gaps, and other rows to score."""
    X, y = load(name).to_pandas()
    rows, given = unseen(X, SEED), unseen(X, SEED + 1)
    random = np.random.default_rng(SEED)
    for column in X.columns:
        X.loc[random.random(len(X)) < 0.05, column] = np.nan
    numbers = X.select_dtypes("number").columns
    for key, make in unnaive.all_models().items():
        if only and key not in only:
            continue
        model = make()
        chance = {"random_state": 0} if "random_state" in model.get_params() else {}
        model.set_params(**chance)
        try:
            yield key, model.fit(X, y.to_numpy()), rows
        except UnnaiveError as error:  # of numbers only
            if len(numbers) < 2:
                print(f"{name}, {key}: {error}")
                continue
            yield key, model.fit(X[numbers], y.to_numpy()), given[numbers]


def check(engines: Sequence[str], sets: Sequence[str], only: Sequence[str]) -> list[list[Any]]:
    """Compare every model on every set; a line for each engine and set."""
    lines, wrong = [], []
    with ExitStack() as stack:
        opened = {}
        for name in engines:
            try:
                opened[name] = stack.enter_context(ENGINES[name]())
            except NotHere as error:
                print(f"{name}: {error}")
        for data in sets:
            found: dict[str, list[Any]] = {name: [0, 0.0, []] for name in opened}
            for key, model, X in fitted(data, only):
                for name, engine in opened.items():
                    told = f"{data}, {key}, {name}"
                    try:
                        gap, differ = compared(engine, model, X)
                    except UnnaiveError as error:
                        found[name][2].append(key)
                        print(f"{told}: {error}", flush=True)
                        continue
                    found[name][0] += 1
                    found[name][1] = max(found[name][1], gap)
                    if not gap <= TOLERANCE or differ:
                        wrong.append(f"{told}: {differ} labels differ, {gap:.1g}")
                        print(wrong[-1], flush=True)
            for name, (count, gap, refused) in found.items():
                lines.append([name, data, count, f"{gap:.1e}", " ".join(refused)])
    report.section("Probabilities and labels, compared with Python")
    report.show(["engine", "data", "models", "largest difference", "refused"], lines)
    print("\n".join(wrong) or "\nall labels are equal, all probabilities to 1e-9")
    return lines


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
    json_file: str | None = None,
) -> None:
    """Compare or measure, and print; servers are stopped also where a time limit ends this."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    machine = report.show_machine()
    warnings.filterwarnings("ignore", category=FutureWarning)  # of Spark about pandas
    engines = only or PARTS
    lines = check(engines, sets or SETS, models or ()) if checked else speed(engines)
    report.write_json(json_file, {"machine": machine, "lines": lines})
