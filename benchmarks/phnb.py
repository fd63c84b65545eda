"""The main result of the PHNB paper: test time relative to HNB, and accuracy."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks import paper, report, timing
from unnaive import HNB, PHNB
from unnaive.datasets import load
from unnaive.papers.phnb import (
    AVERAGE,
    HNB_,
    OPTIMAL,
    PRINTED,
    PaperRows,
    Printed,
    prepare,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["NAMES", "paper", "run"]
ROUNDS = 5  # interleaved predictions of a fold by every model; the best of each counts
WITHIN = 0.3  # points of accuracy that PHNB("loo") may lose against HNB
AUTOMATIC = "PHNB (loo)"
LINES = tuple(PRINTED.values())
NAMES = tuple(line.data for line in LINES)


@dataclass
class Measured:
    """The results of one model on the folds of one data set."""

    accuracy: list[float] = field(default_factory=list)  # percent, a fold
    seconds: list[float] = field(default_factory=list)  # of predicting a fold
    bags: list[float] = field(default_factory=list)  # mean size
    thresholds: list[float] = field(default_factory=list)  # bits
    fit_seconds: float = 0.0
    rows: int = 0

    @property
    def mean_accuracy(self) -> float:
        """Return the mean over folds, in percent."""
        return float(np.mean(self.accuracy))

    @property
    def a_row(self) -> float:
        """Return seconds for each predicted row."""
        return sum(self.seconds) / self.rows


Found = dict[str, Measured]


def models(line: Printed, rows: PaperRows, jobs: int) -> dict[str, Any]:
    """Return HNB and three variants of PHNB."""
    common = {"discretize": None, "categories": rows.categories, "n_jobs": jobs}
    return {
        HNB_: HNB(**common),
        AVERAGE: PHNB(**common),
        OPTIMAL: PHNB(threshold=line.threshold, **common),
        AUTOMATIC: PHNB(threshold="loo", max_memory=2**33, **common),
    }


def measure(line: Printed, rows: PaperRows, *, folds: int, repeats: int, jobs: int) -> Found:
    """Cross-validate the four models on the same folds."""
    compared = models(line, rows, jobs)
    found = {name: Measured() for name in compared}
    for repeat in range(repeats):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            parts = StratifiedKFold(folds, shuffle=True, random_state=repeat)
            splits = list(parts.split(rows.X, rows.y))
        for train, test in splits:
            _measure_fold(compared, rows, train, test, found)
    return found


def _measure_fold(
    compared: dict[str, Any],
    rows: PaperRows,
    train: np.ndarray,
    test: np.ndarray,
    found: Found,
) -> None:
    """Fit all models, then time their predictions of the fold in turns, on one thread."""
    seen, truth = rows.X[test], rows.y[test]
    for name, model in compared.items():
        jobs, start = model.n_jobs, time.perf_counter()
        model.fit(rows.X[train], rows.y[train])
        found[name].fit_seconds += time.perf_counter() - start
        found[name].accuracy.append(100 * float(np.mean(model.predict(seen) == truth)))
        found[name].bags.append(float(model.structure_.members.sum(axis=1).mean()))
        found[name].thresholds.append(float(model.structure_.threshold))
        model.set_params(n_jobs=1)
    calls = {name: partial(model.predict_proba, seen) for name, model in compared.items()}
    for name, best in timing.best(timing.interleaved(calls, ROUNDS)).items():
        found[name].seconds.append(best)
        found[name].rows += len(test)
        compared[name].set_params(n_jobs=jobs)


def run(
    folder: Path,
    *,
    folds: int,
    repeats: int,
    jobs: int,
    only: Sequence[str] | None = None,
    json_file: str | None = None,
) -> dict[str, Found]:
    """Measure the data sets (or some) and print the tables, the targets last."""
    os.environ["UNNAIVE_DATA"] = str(folder)
    found_machine = report.show_machine()
    print(f"{repeats} x {folds}-fold stratified cross-validation; missing values imputed and")
    print("ten bins of equal width on the whole set, as in the paper. Columns that it removed,")
    print("but does not list: constant ones, if the file has more columns than its table.")
    print("Prediction: predict_proba of a fold on one thread, validation and encoding included,")
    print(f"the four models in turns, the best of {ROUNDS}; fits on {jobs} threads.\n")
    chosen = [line for line in LINES if not only or line.data in only]
    results: dict[str, Found] = {}
    for line in chosen:
        start = time.perf_counter()
        rows = prepare(load(line.data), line)
        results[line.data] = measure(line, rows, folds=folds, repeats=repeats, jobs=jobs)
        spent = report.duration(time.perf_counter() - start)
        print(f"  {line.data}: {len(rows.X):,} x {rows.X.shape[1]}, {spent}", flush=True)
    _show_accuracy(chosen, results)
    _show_times(chosen, results)
    _show_thresholds(chosen, results)
    targets = _show_targets(chosen, results, whole=folds == 10)
    content = {
        name: {model: asdict(one) for model, one in found.items()}
        for name, found in results.items()
    }
    how = {"machine": found_machine, "folds": folds, "repeats": repeats, "jobs": jobs}
    report.write_json(json_file, {**how, "found": content, "targets": targets})
    return results


def _show_accuracy(chosen: Sequence[Printed], results: dict[str, Found]) -> None:
    report.section("Accuracy in percent: mean ± standard deviation over folds (the paper's)")
    rows = []
    for line in chosen:
        theirs = {name: f" ({value:.2f})" for name, value in line.accuracy.items()}
        cells = [
            f"{one.mean_accuracy:.2f} ± {np.std(one.accuracy):.2f}{theirs.get(name, '')}"
            for name, one in results[line.data].items()
        ]
        rows.append([line.data, *cells])
    report.show(["data set", HNB_, AVERAGE, OPTIMAL, AUTOMATIC], rows)


def _show_times(chosen: Sequence[Printed], results: dict[str, Found]) -> None:
    report.section("Time of predict_proba for each row; ratio to HNB (the paper's); bag size")
    rows = []
    for line in chosen:
        found = results[line.data]
        hnb, cells = found[HNB_].a_row, [report.duration(found[HNB_].a_row)]
        theirs = {name: f" ({line.ratio(name):.2f})" for name in (AVERAGE, OPTIMAL)}
        for name in (AVERAGE, OPTIMAL, AUTOMATIC):
            one = found[name]
            cells.append(f"{report.duration(one.a_row)}")
            cells.append(f"{one.a_row / hnb:.2f}{theirs.get(name, '')}")
            cells.append(f"{np.mean(one.bags):.1f}")
        rows.append([line.data, *cells])
    headers = ["data set", HNB_, "average", "ratio", "bag", "paper's", "ratio", "bag"]
    report.show([*headers, "loo", "ratio", "bag"], rows)


def _show_thresholds(chosen: Sequence[Printed], results: dict[str, Found]) -> None:
    report.section("Thresholds in bits (ours: median over folds), and fits")
    rows = []
    for line in chosen:
        found = results[line.data]
        average = float(np.median(found[AVERAGE].thresholds))
        chosen_ones = found[AUTOMATIC].thresholds
        cells = [f"{line.threshold:g}", f"{average:.4f}", f"{line.threshold / average:.2f} x"]
        cells += [f"{np.median(chosen_ones):.4f}", f"{min(chosen_ones):.4f}"]
        cells += [f"{max(chosen_ones):.4f}"]
        fits = [found[name].fit_seconds / len(found[name].seconds) for name in (HNB_, AUTOMATIC)]
        rows.append([line.data, *cells, *map(report.duration, fits)])
    headers = ["data set", "the paper's best", "our average", "best / average"]
    report.show([*headers, "our loo", "least", "most", "HNB fit", "loo fit"], rows)
    print('The paper: "the optimal value is gotten nearby the average".')


def _show_targets(
    chosen: Sequence[Printed], results: dict[str, Found], *, whole: bool
) -> list[list[str]]:
    report.section("Targets")
    if not whole:
        print("(set for ten folds)")
    rows = []
    for line in chosen:
        found = results[line.data]
        at = {OPTIMAL: f"at {line.threshold:g} bits", AUTOMATIC: 'at threshold="loo"'}
        for model, where in at.items() if line.wide else ():
            ratio = found[model].a_row / found[HNB_].a_row
            name = f"{line.data}: time over HNB's {where}"
            rows.append(
                report.target(name, ratio, round(line.ratio(OPTIMAL), 4), "", at_least=False)
            )
    for line in chosen:
        found = results[line.data]
        gained = found[AUTOMATIC].mean_accuracy - found[HNB_].mean_accuracy
        name = f"{line.data}: accuracy of {AUTOMATIC} less HNB's"
        rows.append(report.target(name, gained, -WITHIN, " points", at_least=True))
    report.show(["target", "wanted", "measured", ""], rows)
    return rows
