"""Whole calls for ``limit``: a fit and its stages, memory, leave-one-out, cutting numbers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import data, memory, report, timing
from unnaive import AODE, MDLP, TAN, NaiveBayes
from unnaive.counts.joint import all_pairs

if TYPE_CHECKING:
    from benchmarks.bench import Bench

PEER_ROWS, PEER_COLUMNS = 80_000, 50
MDLP_COLUMNS = 30
MDLP_SECONDS = 10.0  # "a matter of seconds"
STAGES = (
    ("check and frame", "unnaive.models.base:CountsClassifier._rows"),
    ("schema and codes", "unnaive.models.base:learn_schema"),
    ("bitmaps", "unnaive.counts.engines.memory:make_bitmaps"),
    ("pairs", "unnaive.counts.engines.memory:CodedRows.count_pairs"),
    ("information", "unnaive.models.tree:conditional_mutual_information"),
    ("spanning tree", "unnaive.models.tree:maximum_spanning_tree"),
    ("spanning tree", "unnaive.models.tree:orient"),
    ("tables", "unnaive.models.tree:tree_tables"),
)


def measure_fit(bench: Bench) -> None:
    """TAN.fit from the array against the counting of pairs alone, both with all threads."""
    report.section(f"TAN.fit and its stages, {bench.jobs} threads")
    rows = bench.coded(bench.jobs)
    pairs = all_pairs(len(rows.codes))
    model = TAN(discretize=None, n_jobs=bench.jobs)
    model.fit(bench.X[:2000], bench.y[:2000])
    calls = {
        "kernel": lambda: rows.count_pairs(pairs),
        "fit": lambda: model.fit(bench.X, bench.y),
    }
    best = timing.best(timing.interleaved(calls, bench.rounds))
    totals: list[tuple[float, dict[str, float]]] = []
    for _ in range(bench.rounds):
        with timing.staged(STAGES) as stages:
            total = timing.seconds(calls["fit"])
        totals.append((total, dict(stages.times)))
    total, times = min(totals, key=lambda entry: entry[0])
    times["everything else"] = total - sum(times.values())
    report.show(
        ["stage", "time", "of the fit"],
        [[name, report.duration(t), f"{100 * t / total:.1f} %"] for name, t in times.items()],
    )
    print(f"fit {report.duration(best['fit'])}, kernel alone {report.duration(best['kernel'])}")
    bench.figures["stages of TAN.fit"] = times
    ratio = best["fit"] / best["kernel"]
    bench.judge("TAN.fit against its counting kernel", ratio, 4, " x", at_least=False)


def measure_memory(bench: Bench) -> None:
    """Peak memory of TAN.fit beyond the input, in a fresh process."""
    report.section("Peak memory of TAN.fit beyond the input")
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
    """Leave-one-out of all rows against predicting them."""
    X, y = bench.X[:PEER_ROWS, :PEER_COLUMNS].copy(), bench.y[:PEER_ROWS]
    report.section(f"Leave-one-out against predict_proba, {len(X):,} x {X.shape[1]}")
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
    """Cut numbers by MDLP."""
    X, y = data.float_data(len(bench.X), MDLP_COLUMNS)
    report.section(f"MDLP, {len(X):,} x {MDLP_COLUMNS} floats, 3 classes, {bench.jobs} threads")
    cut = MDLP(n_jobs=bench.jobs)
    cut.fit(X[:2000], y[:2000])
    spent = timing.best_of(lambda: cut.fit(X, y), 2)
    print(f"{report.duration(spent)}, {sum(map(len, cut.edges_))} edges")
    bench.judge("MDLP, seconds", spent, MDLP_SECONDS, " s", at_least=False)
