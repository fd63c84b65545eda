"""Whole calls for ``limit``: a fit and its stages, memory, leave-one-out, discretization."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import data, memory, report, timing
from unnaive import AODE, MDLP, TAN, NaiveBayes
from unnaive.counts.sizes import all_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.bench import Bench

PEER_ROWS, PEER_COLUMNS = 80_000, 50
MDLP_COLUMNS = 30
MDLP_SECONDS = 10.0  # "a matter of seconds"
STAGES = (
    ("check and frame", "unnaive.models.classifier:Classifier._training"),
    ("schema and codes", "unnaive.models.base:learn_schema"),
    ("bitmaps", "unnaive.counts.engines.memory:make_bitmaps"),
    ("pairs", "unnaive.counts.engines.memory:CodedRows.count_pairs"),
    ("information", "unnaive.models.tree:conditional_mutual_information"),
    ("spanning tree", "unnaive.models.tree:maximum_spanning_tree"),
    ("spanning tree", "unnaive.models.tree:orient"),
    ("tables", "unnaive.models.fitted:Fitting.of_counts"),
)
PREDICT_STAGES = (  # with one thread, since stages of blocks would overlap
    ("check and frame", "unnaive.models.classifier:Classifier.known_frame"),
    ("codes", "unnaive.models.base:CountsClassifier.codes_of"),
    ("look up and add", "unnaive.tables.base:Tables.joint"),
)


def measure_fit(bench: Bench) -> None:
    """Time TAN.fit relative to counting all pairs, both with all threads."""
    report.section(f"TAN.fit and its stages, {bench.jobs} threads")
    rows = bench.coded(bench.jobs)
    pairs = all_pairs(len(rows.codes))
    model = TAN(discretize=None, n_jobs=bench.jobs)
    model.fit(bench.X[:2000], bench.y[:2000])
    stages, kernel = Staged(lambda: model.fit(bench.X, bench.y), STAGES), []
    for _ in range(bench.rounds):
        kernel.append(timing.seconds(lambda: rows.count_pairs(pairs)))
        stages.run()
    stages.show()
    alone = min(kernel)
    print(f"fit {report.duration(stages.total)}, only the kernel {report.duration(alone)}")
    bench.figures["stages of TAN.fit"] = stages.times
    ratio = stages.total / alone
    bench.judge("TAN.fit against its counting kernel", ratio, 4, " x", at_least=False)


def measure_predict(bench: Bench) -> None:
    """Time the stages of predict_proba."""
    X, y = bench.X[:PEER_ROWS, :PEER_COLUMNS].copy(), bench.y[:PEER_ROWS]
    for model in (NaiveBayes, TAN, AODE):
        name = model.__name__
        title = f"{name}.predict_proba and its stages, {len(X):,} x {X.shape[1]}"
        report.section(f"{title}, one thread")
        fitted = model(discretize=None, n_jobs=1).fit(X, y)
        fitted.predict_proba(X)
        stages = Staged(lambda fitted=fitted: fitted.predict_proba(X), PREDICT_STAGES)
        for _ in range(bench.rounds):
            stages.run()
        stages.show()
        bench.figures[f"stages of {name}.predict_proba"] = stages.times


class Staged:
    """The stages of the shortest of several calls."""

    def __init__(self, call: Callable[[], Any], places: Sequence[tuple[str, str]]) -> None:
        self.call, self.places = call, places
        self.total = float("inf")
        self.times: dict[str, float] = {}

    def run(self) -> None:
        """Call and time again."""
        with timing.staged(self.places) as stages:
            total = timing.seconds(self.call)
        if total < self.total:
            rest = total - sum(stages.times.values())
            self.total, self.times = total, {**stages.times, "everything else": rest}

    def show(self) -> None:
        """Print the stages."""
        rows = [
            [name, report.duration(time), f"{100 * time / self.total:.1f} %"]
            for name, time in self.times.items()
        ]
        report.show(["stage", "time", "share"], rows)


def measure_memory(bench: Bench) -> None:
    """Measure the peak memory of TAN.fit without its input, in a fresh process."""
    report.section("Peak memory of TAN.fit without its input")
    with tempfile.TemporaryDirectory() as folder:
        data.save(Path(folder), bench.X, bench.y)
        figures = memory.of_fit(Path(folder), bench.jobs)
    if figures is None:
        print("not measured: this system has no /proc/self/status")
        return
    rows = [[name, f"{figures[name] / 2**20:,.0f} MiB"] for name in figures]
    report.show(["resident memory", ""], rows)
    multiple = figures["peak"] / figures["codes"]
    bench.judge("peak memory of TAN.fit, times the codes", multiple, 3, " x", at_least=False)


def measure_leave_one_out(bench: Bench) -> None:
    """Time leave-one-out relative to prediction."""
    X, y = bench.X[:PEER_ROWS, :PEER_COLUMNS].copy(), bench.y[:PEER_ROWS]
    report.section(f"Leave-one-out and predict_proba, {len(X):,} x {X.shape[1]}")
    table = []
    for model in (NaiveBayes, TAN, AODE):
        fitted = model(discretize=None, n_jobs=bench.jobs).fit(X, y)
        fitted.loo_predict_proba(X, y)
        calls = {
            "predict": lambda fitted=fitted: fitted.predict_proba(X),
            "leave": lambda fitted=fitted: fitted.loo_predict_proba(X, y),
        }
        best = timing.best(timing.interleaved(calls, bench.rounds))
        ratio = best["leave"] / best["predict"]
        cells = [report.duration(best["predict"]), report.duration(best["leave"])]
        table.append([model.__name__, *cells, f"{ratio:.2f} x"])
        label = f"leave-one-out against predict_proba, {model.__name__}"
        bench.judge(label, ratio, 1.6, " x", at_least=False)
    report.show(["", "predict_proba", "loo_predict_proba", "ratio"], table)


def measure_mdlp(bench: Bench) -> None:
    """Time MDLP."""
    X, y = data.float_data(len(bench.X), MDLP_COLUMNS)
    report.section(f"MDLP, {len(X):,} x {MDLP_COLUMNS} floats, 3 classes, {bench.jobs} threads")
    cut = MDLP(n_jobs=bench.jobs)
    cut.fit(X[:2000], y[:2000])
    spent = timing.best_of(lambda: cut.fit(X, y), 2)
    print(f"{report.duration(spent)}, {sum(map(len, cut.edges_))} edges")
    bench.judge("MDLP, seconds", spent, MDLP_SECONDS, " s", at_least=False)
