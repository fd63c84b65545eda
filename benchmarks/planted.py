"""Planted interactions: are rules over two, three and four columns found among noise?

Twenty columns of three values are noise, and a few others decide the class by one of two rules:

* ``sum``: the sum of their values modulo 3 is 0. Every smaller set of them is independent of the
  class, so that a greedy search has nothing to go by.
* ``all``: every one of them has one of its first two values, the usual kind of rule. Each of the
  columns tells something by itself.

One class in ten is flipped. All methods have their default parameters, the same training rows, and
the same 10,000 test rows; the best possible log loss is 0.325.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import quality, report
from benchmarks.quality_methods import method, missing_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import IntArray

METHODS = ("auto", "lightgbm", "catboost")
RULES = ("sum", "all")
ORDERS = (2, 3, 4)
ROWS = (500, 2_000, 10_000, 50_000)
NOISE_COLUMNS, VALUES, FLIPPED, TEST_ROWS = 20, 3, 0.1, 10_000


def planted(rule: str, order: int, n_rows: int, seed: int) -> tuple[IntArray, IntArray]:
    """Draw rows whose class is decided by the first columns; codes (n, d) and classes (n,)."""
    random = np.random.default_rng([seed, order, RULES.index(rule)])
    X = random.integers(0, VALUES, (n_rows, order + NOISE_COLUMNS))
    deciding = X[:, :order]
    if rule == "sum":
        true = deciding.sum(axis=1) % VALUES == 0
    else:
        true = (deciding < VALUES - 1).all(axis=1)
    flipped = random.random(n_rows) < FLIPPED
    return X, (true ^ flipped).astype(np.int64)


def frame_of(X: IntArray) -> Any:
    """Return the codes as a pandas frame of categories."""
    import pandas as pd  # noqa: PLC0415

    labels = [f"v{value}" for value in range(VALUES)]
    return pd.DataFrame(
        {f"x{index}": pd.Categorical.from_codes(column, labels) for index, column in enumerate(X.T)}
    )


def measured(spec: str, rule: str, order: int, n_rows: int, threads: int) -> tuple[float, float]:
    """Log loss on the test rows, and wall time of the fit."""
    X, y = planted(rule, order, n_rows, seed=1)
    other, truth = planted(rule, order, TEST_ROWS, seed=2)
    model, clocks = quality.clocked(method(spec).make(threads).fit, frame_of(X), y)
    chances = np.asarray(model.predict_proba(frame_of(other)))
    scores, _ = quality.measure_fold(chances, np.asarray(model.classes_), truth)
    return scores["log_loss"], clocks.wall


def run(
    *,
    methods: Sequence[str] | None = None,
    rows: Sequence[int] | None = None,
    orders: Sequence[int] | None = None,
    threads: int = 2,
    json_file: str | None = None,
) -> dict[str, Any]:
    """Measure all methods over the number of rows, and print a table for every rule."""
    machine = report.show_machine()
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    specs = list(methods or METHODS)
    for spec, package in missing_packages(specs).items():
        print(f"{spec} is absent; to install it: pip install {package}")
        specs.remove(spec)
    best = -(FLIPPED * np.log(FLIPPED) + (1 - FLIPPED) * np.log(1 - FLIPPED))
    found: dict[str, Any] = {}
    for rule in RULES:
        report.section(f"Rule {rule!r}: log loss (best possible {best:.3f}) and seconds of the fit")
        lines = []
        for order in orders or ORDERS:
            for n_rows in rows or ROWS:
                cells = [measured(spec, rule, order, n_rows, threads) for spec in specs]
                found[f"{rule} {order} {n_rows}"] = dict(zip(specs, cells, strict=True))
                texts = [f"{loss:.3f}, {seconds:.2f} s" for loss, seconds in cells]
                lines.append([order, n_rows, *texts])
                print("  ", *lines[-1], flush=True)
        report.show(["columns", "rows", *(method(spec).title for spec in specs)], lines)
    report.write_json(json_file, {"machine": machine, "threads": threads, "results": found})
    return found
