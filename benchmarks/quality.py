"""Prediction quality on the papers' data sets, compared with boosting, forests and others.

Five stratified folds, dealt once by a fixed seed, the same for every method. Nothing is tuned
on a test fold: peers run at their defaults, ours as specified, the same on all sets. A unit of
work is one method on one data set; finished units are kept in a file (``--resume``), so that a
variant of ours is compared without running the peers again.
"""

from __future__ import annotations

import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from benchmarks import paper, quality_report, report
from benchmarks.quality_methods import LONG, OURS, PEERS, Method, method, missing_packages
from unnaive.datasets import catalogue, load, names
from unnaive.evaluate.runs import Runs
from unnaive.metrics import measure, predicted_codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["NAMES", "paper", "run"]
FOLDS, SEED = 5, 20_261_115
SMALLEST = 1e-15  # probabilities below are raised to this, then rows sum to 1 again
BINS = 15  # of the calibration error
SKIPPED = {  # run only if named by --only
    "heart-cleveland-raw": "rows of heart-cleveland once more, before the paper's cleaning",
    "thyroid-ann-train-raw": "rows of thyroid-ann-train once more, with one class split in two",
}
NAMES = names()


@dataclass(frozen=True)
class Study:
    """The methods and the settings of a run."""

    methods: tuple[Method, ...]
    data: tuple[str, ...]
    threads: int = 2
    jobs: int = 1


class Rows(NamedTuple):
    """One data set: a pandas frame, codes of the classes that occur, and the folds."""

    X: Any
    y: IntArray
    folds: list[tuple[IntArray, IntArray]]


class Clocks(NamedTuple):
    """Wall time and CPU time of one call, all threads together."""

    wall: float
    process: float


def read_rows(name: str) -> Rows:
    """Load a data set and split it into folds; columns are x0, x1, … for LightGBM."""
    data = load(name)
    X, _ = data.to_pandas()
    X.columns = [f"x{index}" for index in range(X.shape[1])]
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        dealer = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
        return Rows(X, y, list(dealer.split(X, y)))


def measure_unit(spec: str, name: str, threads: int) -> dict[str, Any]:
    """Cross-validate one method on one data set; record the error if it fails.

    Calibration is measured on the rows of all folds together, for a fold of a small set has
    too few for 15 bins.
    """
    found: dict[str, Any] = {"threads": threads, "folds": []}
    rows, chosen = read_rows(name), method(spec)
    tops: list[tuple[FloatArray, BoolArray]] = []
    with threadpool_limits(threads), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        try:
            _warm_up(chosen, threads)
            for train, test in rows.folds:
                fold, top = _measure_fold(chosen.make(threads), rows, train, test)
                found["folds"].append(fold)
                tops.append(top)
        except Exception as error:  # of whatever library
            return {**found, "failed": f"{type(error).__name__}: {error}"[:300]}
    confidence, right = map(np.concatenate, zip(*tops, strict=True))
    found["calibration"] = calibration_error(confidence, right)
    found["warnings"] = sorted({f"{one.category.__name__}: {one.message}"[:120] for one in told})
    return found


def _warm_up(chosen: Method, threads: int) -> None:
    """Load code on a few mixed rows, so that the fits are not charged for it."""
    import pandas as pd  # noqa: PLC0415

    random = np.random.default_rng(0)
    numbers = random.normal(size=(60, 2))
    numbers[::7, 0] = np.nan
    X = pd.DataFrame(numbers, columns=["x0", "x1"])
    X["x2"] = pd.Categorical(np.array(["a", "b", "c"])[random.integers(0, 3, 60)])
    chosen.make(threads).fit(X, np.arange(60) % 3).predict_proba(X)


def _measure_fold(
    model: Any, rows: Rows, train: IntArray, test: IntArray
) -> tuple[dict[str, float], tuple[FloatArray, BoolArray]]:
    """Fit and predict a fold; also return confidences and whether each was correct."""
    (X, y), (seen_X, truth) = ((rows.X.iloc[part], rows.y[part]) for part in (train, test))
    model, fitting = clocked(model.fit, X, y)
    chances, predicting = clocked(model.predict_proba, seen_X)
    scores, top = measure_fold(np.asarray(chances), np.asarray(model.classes_), truth)
    times = {
        **{f"fit_{name}": seconds for name, seconds in fitting._asdict().items()},
        **{f"predict_{name}": seconds for name, seconds in predicting._asdict().items()},
    }
    return {**scores, **times}, top


def measure_fold(
    chances: FloatArray, classes: AnyArray, truth: AnyArray
) -> tuple[dict[str, float], tuple[FloatArray, BoolArray]]:
    """Measure the predictions of a fold.

    A row of a class that no training row has counts as an error, and is left out of the other
    measures: every method gives it probability 0, and would pay the same 34.5 nats.
    """
    if not np.isfinite(chances).all():
        raise ValueError("predicted probabilities are not finite")
    chances = np.maximum(chances, SMALLEST)
    chances = chances / chances.sum(axis=1, keepdims=True)
    known = np.isin(truth, classes)
    codes = np.searchsorted(classes, truth[known])
    found = measure(chances[known], codes, classes.tolist())
    scores = {
        "accuracy": found.accuracy * float(known.mean()),
        "log_loss": found.log_loss,
        "brier": found.brier,
        "auc": found.auc,
        "unknown_class": float((~known).sum()),
    }
    return scores, (chances[known].max(axis=1), predicted_codes(chances[known]) == codes)


def calibration_error(confidence: FloatArray, right: BoolArray, bins: int = BINS) -> float:
    """Return the calibration error of the predicted class, in bins of equal count.

    >>> print(calibration_error(np.array([0.6, 0.6, 0.9, 0.9]), np.array([1, 0, 1, 1]), bins=2))
    0.1
    """
    order = np.argsort(confidence, kind="stable")
    parts = np.array_split(order, min(bins, len(order)))
    gaps = [abs(float(np.sum(confidence[part] - right[part]))) for part in parts]
    return round(sum(gaps) / len(order), 12)


def clocked(function: Any, *arguments: Any) -> tuple[Any, Clocks]:
    """Call a function, and return its result, wall time and CPU time."""
    wall, process = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return result, Clocks(time.perf_counter() - wall, time.process_time() - process)


def open_runs(path: str | Path) -> Runs:
    """Open the file of finished results; refuse one of another protocol."""
    settings = {"benchmark": "quality", "folds": FOLDS, "seed": SEED, "smallest": SMALLEST}
    return Runs(path, {**settings, "calibration bins": BINS})


def unit_key(chosen: Method, name: str) -> str:
    """Return the key of a result: the method, its version, the data set."""
    return f"{chosen.spec} [{chosen.version}] {name}"


def work(study: Study, runs: Runs) -> None:
    """Run what is missing in the file, method by method, and store each result."""
    quick_first = sorted(study.data, key=size_of)
    units = [(chosen, name) for chosen in study.methods for name in quick_first]
    missing = [unit for unit in units if unit_key(*unit) not in runs]
    if len(missing) < len(units):
        print(f"{len(units) - len(missing)} of {len(units)} results are in {runs.path}.")
    for chosen, name, found in _results(missing, study):
        runs.put(unit_key(chosen, name), found)
        print(f"  {chosen.title}, {name}: {_told(found)}", flush=True)


def size_of(name: str) -> int:
    entry = catalogue()[name]
    return entry.rows * entry.attributes * len(entry.classes)


def _results(
    units: list[tuple[Method, str]], study: Study
) -> Iterator[tuple[Method, str, dict[str, Any]]]:
    if study.jobs == 1:
        for chosen, name in units:
            yield chosen, name, measure_unit(chosen.spec, name, study.threads)
        return
    with ProcessPoolExecutor(study.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(measure_unit, chosen.spec, name, study.threads): (chosen, name)
            for chosen, name in units
        }
        for done in as_completed(waiting):
            yield *waiting[done], done.result()


def _told(found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"FAILED, {found['failed']}"
    mean = {name: np.mean([fold[name] for fold in found["folds"]]) for name in found["folds"][0]}
    spent = sum(fold["fit_wall"] + fold["predict_wall"] for fold in found["folds"])
    figures = f"log loss {mean['log_loss']:.4f}, accuracy {mean['accuracy']:.4f}"
    return f"{figures}, {report.duration(spent)}"


def choose_methods(chosen: Sequence[str] | None, trials: Sequence[str] | None) -> list[str]:
    """Return the methods to compare: all or those named, and further models of ours."""
    specs = list(chosen) if chosen else [*(peer for peer in PEERS if peer not in LONG), *OURS]
    specs += [trial for trial in trials or () if trial not in specs]
    absent = missing_packages(specs)
    for spec, package in absent.items():
        print(f"{spec} is absent; to install it: pip install {package}")
    return [spec for spec in specs if spec not in absent]


def run(
    folder: Path,
    *,
    methods: Sequence[str] | None = None,
    trials: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    threads: int = 2,
    jobs: int = 1,
    resume: str | None = None,
    finished: bool = False,
    tables: Sequence[str] = ("log_loss", "accuracy"),
    json_file: str | None = None,
) -> dict[str, Any]:
    """Measure all methods (or some) on all data sets (or some), and print the tables."""
    os.environ["UNNAIVE_DATA"] = str(folder)
    found_machine = report.show_machine()
    specs = choose_methods(methods, trials)
    data = tuple(name for name in NAMES if (name in only if only else name not in SKIPPED))
    study = Study(tuple(map(method, specs)), data, threads, jobs)
    print(f"{len(data)} data sets, {FOLDS} stratified folds (seed {SEED}), the same for all.")
    print("Encoding is part of the times; a first fit on a few rows, which loads code, is not.")
    for name, reason in SKIPPED.items():
        if name not in data and not only:
            print(f"Skipped: {name} ({reason}).")
    with TemporaryDirectory() as temporary:
        runs = open_runs(resume or Path(temporary) / "runs.jsonl")
        if not finished:
            work(study, runs)
        results = {
            chosen.spec: {name: runs.get(unit_key(chosen, name)) for name in data}
            for chosen in study.methods
        }
    titles = {chosen.spec: chosen.title for chosen in study.methods}
    summary = quality_report.show(results, titles, tables)
    content = {"machine": found_machine, "threads": threads, "jobs": jobs, "seed": SEED}
    report.write_json(json_file, {**content, "summary": summary, "results": results})
    return summary
