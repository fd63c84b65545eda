"""Groups of columns: leave-one-out scores per second, compared with scikit-learn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import report
from benchmarks.paper import data_folder
from unnaive import PazzaniNB
from unnaive.io.files import read
from unnaive.models.nb import NaiveBayes
from unnaive.search import UMDA
from unnaive.tables.groups import GroupScores
from unnaive.tables.smoothing import Laplace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["PARTS", "data_folder", "run"]
PARTS = ("vehicle", "satimage", "run")
GENOMES = {"vehicle": (400, 12), "satimage": (100, 3)}  # how many ours scores, and how many theirs
TARGET = {"vehicle": 200.0, "satimage": 0.0}
PAPER_EVALUATIONS = 105_300
FOLDS = 10


def coded(folder: Path, name: str) -> Any:
    """Return the rows of a data set as codes, with MDLP on all rows, as in the paper."""
    X, y = read(folder / f"{name}.csv.gz").split("class")
    model = NaiveBayes()
    return model.coded(model._given(X, y, None, first=True))[0]  # noqa: SLF001


def joined_columns(rows: Any, genome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns for scikit-learn's naive Bayes: one for each group."""
    columns, sizes = [], []
    for label in np.unique(genome[genome > 0]):
        members = rows.codes[genome == label]
        _, joint = np.unique(members, axis=1, return_inverse=True)
        columns.append(joint.reshape(-1))
        sizes.append(int(joint.max()) + 1)
    return np.stack(columns, axis=1), np.array(sizes)


def beside_scikit_learn(folder: Path, name: str, jobs: int) -> tuple[list[str], float]:
    """Score random groupings both ways; return a line of the table and the ratio."""
    from sklearn.model_selection import cross_val_score  # noqa: PLC0415 - the peer
    from sklearn.naive_bayes import CategoricalNB  # noqa: PLC0415

    rows = coded(folder, name)
    ours, theirs = GENOMES[name]
    d = len(rows.codes)
    genomes = np.random.default_rng(0).integers(0, d + 1, (ours, d))
    counts = rows.select(np.empty((0, 2), dtype=np.int64))
    rates = []
    for threads in (1, jobs):
        threaded = type(rows)(rows.schema, rows.codes, rows.classes, None, threads)
        scores = GroupScores(counts, threaded, Laplace(1.0))
        scores.of_genomes(genomes[:4])  # compiles
        spent = min(_timed(lambda scores=scores: scores.of_genomes(genomes)) for _ in range(3))
        rates.append(ours / spent)
    spent = 0.0
    for genome in genomes[:theirs]:
        start = time.perf_counter()
        X, sizes = joined_columns(rows, genome)
        cross_val_score(CategoricalNB(min_categories=sizes), X, rows.classes, cv=FOLDS)
        spent += time.perf_counter() - start
    rate = theirs / spent
    cells = [f"{value:,.0f}" for value in rates] + [f"{rate:,.1f}"]
    line = [name, f"{rows.codes.shape[1]:,}", str(d), *cells, f"{rates[0] / rate:,.0f}"]
    return [*line, f"{rates[1] / rate:,.0f}"], rates[1] / rate


def full_run(folder: Path, jobs: int) -> tuple[list[str], float]:
    """Run the paper's EDA on satimage, with as many evaluations as in the paper."""
    X, y = read(folder / "satimage.csv.gz").split("class")
    generations = -(-(PAPER_EVALUATIONS - 500) // 1000)
    algorithm = UMDA.paper(max_generations=generations, patience=None)
    model = PazzaniNB(search="eda", algorithm=algorithm, seed_with=(), random_state=0, n_jobs=jobs)
    spent = _timed(lambda: model.fit(X, y))
    result = model.search_result_
    cells = [f"{result.evaluations:,}", f"{result.cache_hits:,}", result.reason]
    groups = model.structure_.groups
    sizes = [str(sum(map(len, groups))), str(len(groups))]
    return ["satimage", *cells, f"{100 * model.loo_score_:.2f}", *sizes, f"{spent:.1f} s"], spent


def _timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run(
    folder: Path, *, jobs: int, only: Sequence[str] | None = None, json_file: str | None = None
) -> Any:
    """Measure, and print rates and targets."""
    machine = report.show_machine()
    lines, runs, targets = [], [], []
    for name in PARTS:
        if only and name not in only:
            continue
        if name == "run":
            line, seconds = full_run(folder, jobs)
            runs.append(line)
            targets.append(
                report.target("Pazzani-EDA on satimage", seconds, 300, " s", at_least=False)
            )
        else:
            line, ratio = beside_scikit_learn(folder, name, jobs)
            lines.append(line)
            wanted = TARGET[name]
            targets.append(report.target(f"{name}, ratio", ratio, wanted, " x", at_least=True))
    report.section(f"Groupings per second: leave-one-out, and CategoricalNB in {FOLDS} folds")
    headers = ["data", "rows", "columns", "1 thread", f"{jobs} threads", "scikit-learn"]
    report.show([*headers, "ratio", f"ratio, {jobs} threads"], lines)
    report.section("A run of UMDA in the paper's setting")
    headers = ["data", "evaluations", "known", "ended by", "leave-one-out %", "columns", "groups"]
    report.show([*headers, "time"], runs)
    report.section("Targets")
    report.show(["target", "wanted", "measured", ""], targets)
    content = {"machine": machine, "lines": lines, "runs": runs, "targets": targets}
    report.write_json(json_file, content)
    return lines
