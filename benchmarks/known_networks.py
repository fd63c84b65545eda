"""Public Bayesian networks: all marginals against pyAgrum, and networks recovered from rows."""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import os
import resource
import tempfile
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import report
from unnaive import Network, read_network
from unnaive.information.scores import FamilyScores
from unnaive.structure.climb import Climber, hill_climbing
from unnaive.structure.constraint import pc_stable
from unnaive.structure.dag import DAG, PDAG
from unnaive.structure.equivalence import greedy_equivalence_search
from unnaive.structure.independence import chi_square_test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FINDINGS, ROUNDS = 3, 5
AGREEMENT = 1e-7
RECOVERED = ("asia", "sachs", "child", "alarm", "insurance", "hailfinder", "win95pts")
ROWS = (500, 5_000, 50_000)
MAX_PARENTS = 4
SEED = 20
_ENOUGH = 0.2  # seconds of processor time that short searches are repeated for: its clock is coarse
_PATIENCE = 20  # seconds by the clock for each second of processor time, if a process hangs


def folder_of(given: str | None) -> Path | None:
    """Return the folder of networks: the option, or the environment's."""
    folder = given or os.environ.get("UNNAIVE_NETWORKS")
    return Path(folder) if folder else None


def files(folder: Path) -> dict[str, Path]:
    """Return the networks of a folder by name."""
    found = sorted([*folder.glob("*.bif"), *folder.glob("*.bif.gz")])
    return {path.name.split(".")[0]: path for path in found}


def best_time(call: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """Return the least processor time of some calls, and the last result."""
    best, answer = float("inf"), None
    for _ in range(rounds):
        start = time.process_time()
        answer = call()
        best = min(best, time.process_time() - start)
    return best, answer


def findings(network: Network, seed: int = SEED) -> dict[str, str]:
    """Draw a row, and observe three of its cells."""
    random = np.random.default_rng(seed)
    row = network.sample(1, random_state=random).decode()
    names = random.choice(network.dag.names, FINDINGS, replace=False).tolist()
    return {name: row[name][0] for name in names}


def of_pyagrum(path: str, evidence: dict[str, str], names: Sequence[str]) -> tuple[float, Any]:
    """Return the time of pyAgrum's lazy propagation in one thread, and its marginals."""
    import pyagrum  # noqa: PLC0415 - optional

    network = pyagrum.loadBN(path)

    def answer() -> dict[str, np.ndarray]:
        engine = pyagrum.LazyPropagation(network)
        engine.setNumberOfThreads(1)
        engine.setEvidence(evidence)
        engine.makeInference()
        return {name: engine.posterior(name).toarray() for name in names}

    return best_time(answer)


def marginals(folder: Path) -> tuple[list[list[str]], list[Any]]:
    """All marginals given three findings: agreement and time, the clique tree included."""
    lines, ours, again, theirs, worst = [], 0.0, 0.0, 0.0, 0.0
    for name, path in files(folder).items():
        network = read_network(path)
        evidence = findings(network)
        copies = [dataclasses.replace(network) for _ in range(ROUNDS)]  # without a tree
        first, found = best_time(lambda c=copies, e=evidence: c.pop().marginals(e))
        network.marginals(evidence)
        second, _ = best_time(lambda n=network, e=evidence: n.marginals(e))
        with tempfile.TemporaryDirectory() as made:
            file = str(Path(made) / "network.bifxml")  # from BIF it keeps seven digits
            network.write(file)
            other, expected = of_pyagrum(file, evidence, network.dag.names)
        error = max(float(np.abs(found[n] - expected[n]).max()) for n in network.dag.names)
        times = [report.duration(seconds) for seconds in (first, second, other)]
        lines.append([name, f"{len(network.dag.names)}", *times, f"{error:.1e}"])
        ours, again, theirs = ours + first, again + second, theirs + other
        worst = max(worst, error)
    total = [report.duration(seconds) for seconds in (ours, again, theirs)]
    lines.append(["all", "", *total, f"{worst:.1e}"])
    targets = [
        report.target("largest difference from pyAgrum", worst, AGREEMENT, "", at_least=False),
        report.target("pyAgrum / ours, total time", theirs / ours, 1.0, " x", at_least=True),
    ]
    return lines, targets


def distance(first: PDAG, second: PDAG) -> int:
    """Structural Hamming distance: pairs of variables whose edge differs."""

    def edge(graph: PDAG, i: int, j: int) -> str:
        if (i, j) in graph.undirected:
            return "-"
        return ">" if (i, j) in graph.directed else "<" if (j, i) in graph.directed else ""

    pairs = combinations(range(len(first.names)), 2)
    return sum(edge(first, *pair) != edge(second, *pair) for pair in pairs)


def _scores(codes: np.ndarray, sizes: np.ndarray) -> FamilyScores:
    return FamilyScores(codes, sizes, "bic", n_jobs=1)


def climbed(codes: np.ndarray, sizes: np.ndarray, names: tuple[str, ...], **tabu: int) -> DAG:
    """Our hill climbing or tabu search."""
    free = np.zeros((len(names),) * 2, dtype=bool)
    found = hill_climbing(Climber(_scores(codes, sizes), MAX_PARENTS, free, free), **tabu)
    return DAG(names, tuple(tuple(sorted(above)) for above in found.parents))


def by_tabu(codes: np.ndarray, sizes: np.ndarray, names: tuple[str, ...]) -> DAG:
    """Our tabu search."""
    return climbed(codes, sizes, names, tabu_length=100, tabu_rounds=30)


def by_ges(codes: np.ndarray, sizes: np.ndarray, names: tuple[str, ...]) -> DAG:
    """Our greedy equivalence search."""
    local = _scores(codes, sizes).local
    return greedy_equivalence_search(names, local, max_parents=MAX_PARENTS).dag


def by_pc(codes: np.ndarray, sizes: np.ndarray, names: tuple[str, ...]) -> PDAG:
    """Our PC."""
    return pc_stable(names, chi_square_test(codes, sizes, 0.05)).graph


def frame(codes: np.ndarray, sizes: np.ndarray, names: tuple[str, ...]) -> Any:
    """Return a pandas frame of categories."""
    import pandas as pd  # noqa: PLC0415 - only needed for the other libraries

    columns = {}
    for name, line, size in zip(names, codes, sizes.tolist(), strict=True):
        labels = pd.Index([f"s{value}" for value in range(size)], dtype=object)
        columns[name] = pd.Categorical.from_codes(line.astype(int), categories=labels)
    return pd.DataFrame(columns)


def by_pgmpy(rows: Any, _: np.ndarray, names: tuple[str, ...]) -> DAG:
    """Hill climbing of pgmpy."""
    from pgmpy.estimators import HillClimbSearch  # noqa: PLC0415 - optional

    how = {"scoring_method": "bic-d", "max_indegree": MAX_PARENTS, "show_progress": False}
    return DAG.of_edges(names, list(HillClimbSearch(rows).estimate(**how).edges()))


def by_pybnesian(rows: Any, _: np.ndarray, names: tuple[str, ...]) -> DAG:
    """Hill climbing of pybnesian."""
    import pybnesian  # noqa: PLC0415 - optional

    found = pybnesian.hc(
        rows,
        bn_type=pybnesian.DiscreteBNType(),
        operators=["arcs"],
        score="bic",
        max_indegree=MAX_PARENTS,
    )
    return DAG.of_edges(names, list(found.arcs()))


def _learner(rows: Any) -> Any:
    import pyagrum  # noqa: PLC0415 - optional

    learner = pyagrum.BNLearner(rows)
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.setMaxIndegree(MAX_PARENTS)
    learner.setNumberOfThreads(1)
    return learner


def _of_learner(learner: Any, names: tuple[str, ...]) -> DAG:
    found = learner.learnDAG()
    places = {learner.idFromName(name): place for place, name in enumerate(names)}
    return DAG.of_edges(names, [(places[a], places[b]) for a, b in found.arcs()])


def by_pyagrum(rows: Any, _: np.ndarray, names: tuple[str, ...]) -> DAG:
    """Greedy hill climbing of pyAgrum."""
    learner = _learner(rows)
    learner.useGreedyHillClimbing()
    return _of_learner(learner, names)


def by_pyagrum_tabu(rows: Any, _: np.ndarray, names: tuple[str, ...]) -> DAG:
    """Tabu search of pyAgrum."""
    learner = _learner(rows)
    learner.useLocalSearchWithTabuList(100, 30)
    return _of_learner(learner, names)


def by_pybnesian_pc(rows: Any, _: np.ndarray, names: tuple[str, ...]) -> PDAG:
    """PC of pybnesian."""
    import pybnesian  # noqa: PLC0415 - optional

    found = pybnesian.PC().estimate(pybnesian.ChiSquare(rows), alpha=0.05)
    places = {name: place for place, name in enumerate(names)}
    arcs, edges = (
        [tuple(places[end] for end in pair) for pair in pairs]
        for pairs in (found.arcs(), found.edges())
    )
    return PDAG(names, frozenset(arcs), frozenset((min(pair), max(pair)) for pair in edges))


OURS: dict[str, Any] = {"hill climbing": climbed, "tabu": by_tabu, "ges": by_ges, "pc": by_pc}
OTHERS: dict[str, Any] = {
    "pgmpy": by_pgmpy,
    "pybnesian": by_pybnesian,
    "pyAgrum": by_pyagrum,
    "pyAgrum tabu": by_pyagrum_tabu,
    "pybnesian PC": by_pybnesian_pc,
}
LIKE = {"pyAgrum tabu": "tabu", "pybnesian PC": "pc"}  # ours; the others climb


def _work(pipe: Any, search: Any, data: tuple[Any, ...], limit: float) -> None:
    """Search, and send the processor time and the network; rows are prepared beforehand."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
    rows, few = data, tuple(part[:3] for part in data)  # three variables
    if search in OTHERS.values():
        rows, few = ((frame(*some), *some[1:]) for some in (rows, few))
    search(*few)  # imports, and what is made once
    start, times = time.process_time(), 0
    while (spent := time.process_time() - start) < _ENOUGH:
        found, times = search(*rows), times + 1
    pipe.send((spent / times, found))


def limited(search: Any, data: tuple[Any, ...], limit: float) -> tuple[float, Any] | None:
    """Run a search in its own process; None if it fails or takes more processor time."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    how = {"target": _work, "args": (theirs, search, data, limit)}
    process = multiprocessing.get_context("fork").Process(**how)
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(_PATIENCE * limit) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def cell(network: Network, n_rows: int, limit: float, skipped: set[str]) -> dict[str, Any]:
    """Run all searches on rows of one network: SHD, BIC and time of each."""
    codes = np.ascontiguousarray(network.sample(n_rows, random_state=SEED).codes.astype(np.uint8))
    data, truth = (codes, network.sizes, network.dag.names), network.dag.cpdag()
    scores, results = FamilyScores(codes, network.sizes, "bic"), {}
    for name, search in {**OURS, **OTHERS}.items():
        answer = None if name in skipped else limited(search, data, limit)
        if answer is None:
            skipped.add(name)  # it would take longer on more rows
            continue
        seconds, found = answer
        shd = distance(found.cpdag() if isinstance(found, DAG) else found, truth)
        bic = scores.total(found.parents) if isinstance(found, DAG) else float("nan")
        results[name] = {"seconds": seconds, "shd": shd, "bic": bic}
    return results


def recovery(
    folder: Path, limit: float, only_rows: Sequence[int] = ROWS, names: Sequence[str] = RECOVERED
) -> tuple[list[list[str]], list[Any], dict[str, Any]]:
    """Recover networks from sampled rows, all searches in turn."""
    lines, cells, known = [], {}, files(folder)
    for name in names:
        if name not in known:
            continue
        network, skipped = read_network(known[name]), set[str]()
        for n_rows in only_rows:
            results = cell(network, n_rows, limit, skipped)
            cells[f"{name} {n_rows}"] = results
            for search, figures in results.items():
                numbers = [f"{figures['shd']}", f"{figures['bic']:,.0f}"]
                own = "ours, " if search in OURS else ""
                line = [name, f"{n_rows:,}", f"{own}{search}", *numbers]
                lines.append([*line, report.duration(figures["seconds"])])
            report.show(["network", "rows", "search", "SHD", "BIC", "time"], lines[-len(results) :])
    return lines, verdicts(cells), cells


def verdicts(cells: dict[str, Any]) -> list[Any]:
    """Compare the best SHD of ours with the best of others, and the times of searches alike."""
    good, ratios = [], dict[str, list[float]]()
    for results in cells.values():
        ours = [one["shd"] for name, one in results.items() if name in OURS]
        theirs = [one["shd"] for name, one in results.items() if name in OTHERS]
        if ours and theirs:
            good.append(min(ours) <= min(theirs))
        for name in set(results) & set(OTHERS):
            own = results.get(LIKE.get(name, "hill climbing"))
            if own:
                ratios.setdefault(name, []).append(results[name]["seconds"] / own["seconds"])
    share = float(np.mean(good)) if good else float("nan")
    wanted = f"cells with an SHD at least as good, of {len(good)}"
    return [report.target(wanted, share, 2 / 3, "", at_least=True)] + [
        report.target(f"{name} / ours, least of {len(all_)}", min(all_), 5.0, " x", at_least=True)
        for name, all_ in ratios.items()
    ]
