"""Time over rows, columns, values, classes and threads, varied one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks import data, report, timing
from unnaive import AODE, TAN, NaiveBayes

BASE = data.Shape(rows=40_000, columns=40, values=4, classes=2)
GRID: dict[str, tuple[int, ...]] = {
    "rows": (10_000, 40_000, 160_000, 640_000),
    "columns": (10, 20, 40, 80, 160),
    "values": (2, 4, 8, 16, 32, 128),
    "classes": (2, 4, 8, 16, 32),
}
MODELS = (NaiveBayes, TAN, AODE)
AODE_WORK = 4e8  # rows x columns² x classes: beyond this AODE predicts a part of the rows


def run(repeats: int, jobs: int) -> None:
    """Print a table for each varied quantity."""
    report.show_machine()
    print(f"Unless stated otherwise: {BASE}, {jobs} threads.")
    print("In brackets: the time divided by that of the line above.")
    for axis, sizes in GRID.items():
        measured = []
        for size in sizes:
            shape = replace(BASE, **{axis: size})
            measured.append((size, _measure(*data.tree_data(shape), shape, repeats, jobs)))
        _show(axis, measured)
    X, y = data.tree_data(BASE)
    counts = sorted({1, 2, jobs})
    _show("threads", [(n, _measure(X, y, BASE, repeats, n)) for n in counts])


def _measure(X: Any, y: Any, shape: data.Shape, repeats: int, jobs: int) -> dict[str, float]:
    """Return seconds of every fit, and seconds for each predicted row."""
    times = {}
    for model in MODELS:
        fitted = model(discretize=None, n_jobs=jobs).fit(X, y)
        rows = X
        if model is AODE:
            rows = X[: max(1000, int(AODE_WORK / (shape.columns**2 * shape.classes)))]
        fitted.predict_proba(rows[:1000])
        name = model.__name__
        times[f"{name} fit"] = timing.best_of(lambda m=fitted: m.fit(X, y), repeats)
        spent = timing.best_of(lambda m=fitted, r=rows: m.predict_proba(r), repeats)
        times[f"{name} predict"] = spent / len(rows)
    return times


def _show(axis: str, measured: list[tuple[int, dict[str, float]]]) -> None:
    report.section(f"Time over {axis} (prediction: for each row)")
    lines: list[list[str]] = []
    previous: dict[str, float] = {}
    for size, times in measured:
        cells = [
            report.duration(time) + (f" ({time / previous[name]:.1f})" if previous else "")
            for name, time in times.items()
        ]
        lines.append([f"{size:,}", *cells])
        previous = times
    report.show([axis, *measured[0][1]], lines)
