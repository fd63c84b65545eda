"""Structure search compared with pybnesian and pgmpy, and public networks with pyAgrum."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import data, known_networks, report
from unnaive.information.scores import FamilyScores
from unnaive.structure.climb import Climber, hill_climbing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIBRARIES = ("pybnesian", "pgmpy")
PARTS = (*LIBRARIES, "marginals", "recovery")
MAX_PARENTS = 3
ROUNDS = 3
SHAPES = {
    "pybnesian": data.Shape(),
    "pgmpy": data.Shape(rows=10_000, columns=30),
}
TARGETS = {"pybnesian": 3.0, "pgmpy": 300.0}


def coded(shape: data.Shape) -> np.ndarray:
    """Return the columns and, last, the class of generated rows as codes; shape (d + 1, n)."""
    X, y = data.tree_data(shape)
    return np.ascontiguousarray(np.concatenate([X.T, y[None]]).astype(np.uint8))


def frame(codes: np.ndarray) -> Any:
    """Return a pandas frame of categories for the other libraries."""
    import pandas as pd  # noqa: PLC0415 - only needed for the other libraries

    columns = {}
    for place, line in enumerate(codes):
        labels = [str(value) for value in range(int(line.max()) + 1)]
        columns[f"x{place}"] = pd.Categorical.from_codes(line, categories=labels)
    return pd.DataFrame(columns)


def ours(codes: np.ndarray, jobs: int) -> Any:
    """Run hill climbing; scores are not cached between calls."""
    sizes = codes.max(axis=1).astype(np.int64) + 1
    free = np.zeros((len(codes), len(codes)), dtype=bool)
    scores = FamilyScores(codes, sizes, "bic", n_jobs=jobs)
    return hill_climbing(Climber(scores, MAX_PARENTS, free, free))


def of_pybnesian(rows: Any) -> list[tuple[str, str]]:
    """Return the arcs of pybnesian's hill climbing."""
    import pybnesian  # noqa: PLC0415 - optional

    network = pybnesian.hc(
        rows,
        bn_type=pybnesian.DiscreteBNType(),
        operators=["arcs"],
        score="bic",
        max_indegree=MAX_PARENTS,
    )
    return list(network.arcs())


def of_pgmpy(rows: Any) -> list[tuple[str, str]]:
    """Return the arcs of pgmpy's hill climbing."""
    from pgmpy.estimators import HillClimbSearch  # noqa: PLC0415 - optional

    found = HillClimbSearch(rows).estimate(
        scoring_method="bic-d", max_indegree=MAX_PARENTS, show_progress=False
    )
    return list(found.edges())


def timed(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the best time of some calls, and the last result."""
    best, found = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - start)
        if best > 10:
            break
    return best, found


def run(
    *,
    jobs: int,
    only: Sequence[str] | None = None,
    folder: str | None = None,
    limit: float = 60.0,
    rows: Sequence[int] = known_networks.ROWS,
    names: Sequence[str] = known_networks.RECOVERED,
    json_file: str | None = None,
) -> Any:
    """Measure, and print times, scores and targets."""
    machine = report.show_machine()
    figures: dict[str, Any] = {"machine": machine}
    targets: list[Any] = []
    chosen = [part for part in PARTS if not only or part in only]
    if set(chosen) & set(LIBRARIES):
        figures["lines"], more = climbing([part for part in chosen if part in LIBRARIES], jobs)
        targets += more
    known = known_networks.folder_of(folder)
    if known is None and set(chosen) - set(LIBRARIES):
        print("no folder of networks: pass --networks, or set UNNAIVE_NETWORKS")
    elif known is not None:
        if "marginals" in chosen:
            figures["marginals"], more = known_networks.marginals(known)
            targets += more
            report.section("All marginals given three findings, processor time, one thread")
            headers = ["network", "variables", "ours, with the tree", "ours, again", "pyAgrum"]
            report.show([*headers, "difference"], figures["marginals"])
        if "recovery" in chosen:
            report.section(f"Networks recovered from rows, at most {limit:g} s a search")
            _, more, figures["recovery"] = known_networks.recovery(known, limit, rows, names)
            targets += more
    report.section("Targets")
    report.show(["target", "wanted", "measured", ""], targets)
    report.write_json(json_file, {**figures, "targets": targets})
    return figures


def climbing(names: Sequence[str], jobs: int) -> tuple[list[list[str]], list[Any]]:
    """Compare hill climbing with other libraries on generated rows."""
    lines, targets = [], []
    for name in names:
        shape = SHAPES[name]
        codes = coded(shape)
        rows = frame(codes)
        ours(codes[:, :100], jobs)  # compiles
        mine, found = timed(lambda codes=codes: ours(codes, jobs), ROUNDS)
        theirs_of = of_pybnesian if name == "pybnesian" else of_pgmpy
        try:
            spent, arcs = timed(lambda rows=rows, f=theirs_of: f(rows), ROUNDS)
        except ImportError:
            print(f"{name} is not installed: pip install --group peers")
            continue
        sizes = codes.max(axis=1).astype(np.int64) + 1
        scores = FamilyScores(codes, sizes, "bic")
        parents: list[list[int]] = [[] for _ in codes]
        for parent, child in arcs:
            parents[int(child[1:])].append(int(parent[1:]))
        score = scores.total([tuple(above) for above in parents])
        cells = [report.duration(mine), report.duration(spent), f"{spent / mine:.1f}"]
        lines.append([name, str(shape), *cells, f"{found.score:,.1f}", f"{score:,.1f}"])
        targets += [
            report.target(f"{name} / ours, time", spent / mine, TARGETS[name], " x", at_least=True),
            report.target(f"ours - {name}'s score", found.score - score, 0.0, "", at_least=True),
        ]
    report.section(f"Hill climbing with BIC, at most {MAX_PARENTS} parents, {jobs} threads")
    report.show(["library", "rows", "ours", "theirs", "ratio", "our BIC", "their BIC"], lines)
    return lines, targets
