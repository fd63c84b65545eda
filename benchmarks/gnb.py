"""The GNB paper: cost and weight of its trees and TAN's, and its accuracies reproduced."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import data, paper, report, timing
from unnaive import TAN, CherryTreeNB, DecomposableNB, GeneralizedNB
from unnaive.datasets import load, names
from unnaive.information import conditional_mutual_information, mutual_information
from unnaive.papers.gnb import (
    BINS,
    GENERALIZED,
    NAMES,
    PLAIN,
    PRINTED_RUNS,
    TEST_SHARE,
    library_models,
    load_rows,
    paper_models,
    random_splits,
)
from unnaive.papers.published import printed
from unnaive.structure import maximum_spanning_tree, orient
from unnaive.structure.generalized import generalized_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from unnaive.counts import JointCounts
    from unnaive.datasets import Dataset

SPEED = data.Shape(rows=10_000, columns=500)
ROUNDS = 5  # interleaved fits; the best of each counts
REPEATS = 3  # of the larger models, which take longer
METHODS = ("optimal", "greedy", "free")
EDMONDS_COLUMNS = (50, 100, 150)  # its memory grows like their cube: 500 need more than 24 GB
RATIO = 1.3  # that the fit of GNB-O may take of TAN's time
SECONDS = 5.0  # that DecomposableNB may take to fit 80,000 rows of 50 columns
CUT = {"discretize": "quantile", "bins": BINS}
BITS = 1 / np.log(2)  # in a nat
ENDINGS = {"-test": "rows to validate another set", "-raw": "another set before cleaning"}
PRINTED = {  # by our name of a set, then the model: percent right, mean of five runs
    NAMES[data_set]: {
        row["model"]: 100 * float(row["value"])
        for row in printed("gnb_tables")
        if (row["dataset"], row["metric"]) == (data_set, "accuracy")
    }
    for data_set in NAMES
}


@dataclass
class Study:
    """The settings of the measurement, and the results so far."""

    folder: Path | None
    splits: int
    jobs: int
    targets: list[list[str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def judge(self, name: str, value: float, wanted: float, unit: str) -> None:
        """Record a figure that must not exceed its target."""
        self.targets.append(report.target(name, value, wanted, unit, at_least=False))


def paper_sets(study: Study) -> Iterator[tuple[str, Dataset]]:
    """Yield the paper's five sets and their names."""
    for name in PRINTED:
        yield name, load_rows(name, study.folder)


def further_names() -> Iterator[str]:
    """Yield the other data sets of the catalog; print which are skipped and why."""
    for name in sorted(names()):
        why = next((why for ending, why in ENDINGS.items() if name.endswith(ending)), None)
        if why:
            print(f"skipped: {name} ({why})")
        elif name not in PRINTED:
            yield name


def repeated(rows: Dataset) -> int:
    """Return the number of duplicate rows."""
    values = [rows.frame.column(place).values for place in range(len(rows.names))]
    return len(rows.y) - len(np.unique(np.stack([*values, rows.labels.values]), axis=1).T)


def undirected(model: Any) -> set[frozenset[str]]:
    """Return the undirected edges of a tree."""
    return {frozenset(edge[:2]) for edge in model.structure_.edges}


def measure_speed(study: Study) -> None:
    """Time fits of GNB and TAN, and the share of the search for the tree."""
    report.section(f"Fits of trees: {SPEED}, {study.jobs} threads")
    X, y = data.tree_data(SPEED)
    common = {"discretize": None, "n_jobs": study.jobs}
    models: dict[str, Any] = {"TAN": TAN(**common)}
    for method in METHODS:
        models[method] = GeneralizedNB(method=method, **common)
    fits = {name: partial(model.fit, X, y) for name, model in models.items()}
    timing.interleaved(fits, 1)
    times = timing.interleaved(fits, ROUNDS)
    fitted, searches = timing.best(times), tree_searches(models["TAN"].counts_, study.jobs)
    del searches["edmonds"]
    search = timing.best(timing.interleaved(searches, ROUNDS))
    table = []
    for name, whole in fitted.items():
        cells = [report.duration(whole), f"{whole / fitted['TAN']:.2f}"]
        share = f"{100 * search[name] / whole:.1f} %"
        label = name if name == "TAN" else f"GNB {name}"
        table.append([label, *cells, report.duration(search[name]), share])
    report.show(["", "fit", "ratio to TAN", "tree search", "share of the fit"], table)
    print(f"The best of {ROUNDS} in turns, after a first call. The search gets I(X;Y) and")
    print("I(X;X'|Y); every method of GNB also finds GNB-O's tree, for the loss.")
    median = timing.typical_ratio(times["optimal"], times["TAN"])
    print(f"GNB-O / TAN, median of the ratios within a round: {median:.2f}")
    study.judge("GNB-O fit / TAN fit", fitted["optimal"] / fitted["TAN"], RATIO, "")
    study.figures["speed"] = {"fit": fitted, "search": search, "rounds": times}
    study.figures["speed"]["edmonds"] = measure_edmonds(X, y, study.jobs)


def tree_searches(counts: JointCounts, jobs: int) -> dict[str, Callable[[], Any]]:
    """Return functions that find the trees from the information."""
    schema, active = counts.schema, counts.schema.sizes > 0
    relevance = mutual_information(counts)
    information = conditional_mutual_information(counts, jobs)
    grow = partial(
        generalized_tree, schema.names, schema.target, relevance, information, active=active
    )
    calls: dict[str, Callable[[], Any]] = {
        "TAN": lambda: orient(maximum_spanning_tree(information, active), len(active), relevance)
    }
    for method in (*METHODS, "edmonds"):
        calls[method] = partial(grow, method=method)
    return calls


def measure_edmonds(X: np.ndarray, y: np.ndarray, jobs: int) -> list[dict[str, Any]]:
    """Time the algorithm of the paper on the first columns, once each."""
    optimal, edmonds = (
        GeneralizedNB(method=method, discretize=None, n_jobs=jobs)
        for method in ("optimal", "edmonds")
    )
    edmonds.fit(X[:, :5].copy(), y)
    found, table = [], []
    for columns in EDMONDS_COLUMNS:
        part = X[:, :columns].copy()
        fast = timing.best_of(partial(optimal.fit, part, y), ROUNDS)
        with timing.staged([("search", "unnaive.models.gnb:generalized_tree")]) as stages:
            whole = timing.seconds(partial(edmonds.fit, part, y))
        search, peak = stages.times["search"], peak_bytes(edmonds.counts_, jobs)
        same = undirected(edmonds) == undirected(optimal)
        one = {"columns": columns, "optimal": fast, "fit": whole, "search": search}
        found.append({**one, "bytes": peak, "same_tree": same})
        cells = [report.duration(time) for time in (fast, whole, search)]
        share = f"{100 * search / whole:.1f} %"
        table.append([columns, *cells, share, f"{peak / 2**20:,.0f} MiB", "yes" if same else "NO"])
    print(
        f"\nEdmonds' algorithm (networkx) on the first columns of the same {len(X):,} rows, once;"
    )
    print("the search is timed inside the fit, its memory is measured in another run:")
    headers = ["columns", "GNB optimal fit", "GNB edmonds fit", "its tree search", "of the fit"]
    report.show([*headers, "memory of the search", "same tree"], table)
    before, last = found[-2:]
    power = np.log(last["bytes"] / before["bytes"]) / np.log(last["columns"] / before["columns"])
    needed = last["bytes"] * (SPEED.columns / last["columns"]) ** power / 2**30
    print(
        f"Memory grows like d^{power:.1f}: {SPEED.columns} columns would need {needed:.0f} GiB or"
    )
    print("so (extrapolated). They were tried once, and 24 GB were not enough.")
    return found


def peak_bytes(counts: JointCounts, jobs: int) -> int:
    """Return the peak memory of Edmonds' algorithm."""
    call = tree_searches(counts, jobs)["edmonds"]
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def measure_size(study: Study) -> None:
    """Time fit and prediction of the larger models and of TAN."""
    shape = data.Shape()
    report.section(f"Larger clusters: {shape}, {study.jobs} threads")
    X, y = data.tree_data(shape)
    common = {"discretize": None, "n_jobs": study.jobs}
    models = {
        "TAN": TAN(**common),
        "DecomposableNB(max_clique=4)": DecomposableNB(max_clique=4, **common),
        "  penalty=None": DecomposableNB(max_clique=4, penalty=None, **common),
        "DecomposableNB(max_clique=5)": DecomposableNB(max_clique=5, **common),
        "CherryTreeNB(order=4)": CherryTreeNB(order=4, **common),
        "CherryTreeNB(order=5)": CherryTreeNB(order=5, **common),
    }
    figures, table = {}, []
    for name, model in models.items():
        model.fit(X[:2000], y[:2000]).predict_proba(X[:2000])
        fit = timing.best_of(partial(model.fit, X, y), REPEATS)
        predict = timing.best_of(partial(model.predict_proba, X), REPEATS)
        edges = len(model.structure_.edges)
        figures[name.strip()] = {"fit": fit, "predict_proba": predict, "edges": edges}
        table.append([name, report.duration(fit), report.duration(predict), edges])
    report.show(["", "fit", "predict_proba", "edges"], table)
    print(f"The best of {REPEATS} (once, if above {timing.SLOW:g} s), after a first call.")
    seconds = figures["DecomposableNB(max_clique=4)"]["fit"]
    study.judge("DecomposableNB(max_clique=4) fit", seconds, SECONDS, " s")
    study.figures["size"] = figures


def measure_trees(study: Study) -> None:
    """Print the weights of the trees, and whether GNB-O has TAN's tree."""
    report.section("Trees of GNB and of TAN, in bits")
    further = list(further_names())
    print("The paper's five: quantiles, 5 bins, learned on the whole set. Below: all others,")
    print("MDLP. I(X;Y) and I(X;X'|Y) use the rows without missing values. Columns with one")
    print("value add nothing to any tree, and ties decide on their parents.", flush=True)
    theirs = [compare_trees(*one, CUT, study.jobs) for one in paper_sets(study)]
    others = [
        compare_trees(name, load(name, cache=study.folder), {"discretize": "mdlp"}, study.jobs)
        for name in further
    ]
    headers = ["data set", "rows", "d", "one value", "gaps", "W NB", "GNB-A", "GNB-O", "TAN"]
    headers += ["forced edge's loss", "of TAN - NB", "O's tree is TAN's", "edges not TAN's: O", "A"]
    blank = [""] * len(headers)
    report.show(headers, [*map(_tree_cells, theirs), blank, *map(_tree_cells, others)])
    for one in (*theirs, *others):
        for warned in one["warnings"]:
            print(f"warning, {one['name']}: {warned}")
    for label, found in (("the paper's five", theirs), ("others", others)):
        same = sum(one["same_tree"] for one in found)
        free = sum(one["loss"] * BITS < 1e-9 for one in found)
        greedy = sum(one["greedy_edges"] == 0 for one in found)
        print(f"{label}: GNB-O's tree is TAN's in {same} of {len(found)} sets, of the same weight")
        print(f"  in {free}; GNB-A's tree is TAN's in {greedy}")
    study.figures["trees"] = {one["name"]: one for one in (*theirs, *others)}


def compare_trees(name: str, rows: Dataset, cut: dict[str, Any], jobs: int) -> dict[str, Any]:
    """Grow the three trees of one set; information in nats."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        optimal = GeneralizedNB(method="optimal", n_jobs=jobs, **cut).fit(rows.frame, rows.labels)
    greedy = GeneralizedNB(method="greedy").fit_counts(optimal.counts_)
    free = GeneralizedNB(method="free").fit_counts(optimal.counts_)
    naive = free.weight_ - free.kl_gain_over_nb_
    return {
        "name": name,
        "rows": len(rows.y),
        "columns": len(rows.names),
        "one_value": int((optimal.schema_.sizes < 2).sum()),
        "gaps": int(sum(rows.frame.column(i).missing.sum() for i in range(len(rows.names)))),
        "weights": [naive, greedy.weight_, optimal.weight_, free.weight_],
        "loss": optimal.forced_edge_loss_,
        "share": optimal.forced_edge_loss_ / max(free.kl_gain_over_nb_, 1e-300),
        "same_tree": undirected(optimal) == undirected(free),
        "edges": len(undirected(optimal) - undirected(free)),
        "greedy_edges": len(undirected(greedy) - undirected(free)),
        "warnings": [str(one.message) for one in warned],
    }


def _tree_cells(found: dict[str, Any]) -> list[str]:
    weights = [f"{weight * BITS:.4f}" for weight in found["weights"]]
    shape = [f"{found[name]:,}" for name in ("rows", "columns", "one_value", "gaps")]
    loss = [f"{found['loss'] * BITS:.5f}", f"{100 * found['share']:.3f} %"]
    same = "yes" if found["same_tree"] else "no"
    return [found["name"], *shape, *weights, *loss, same, found["edges"], found["greedy_edges"]]


def compared_models(jobs: int) -> dict[str, Any]:
    """Return the models, all to be fitted to the same counts."""
    ours, paper_ones = library_models(jobs), paper_models(jobs)
    return {
        **{name: ours[name] for name in ("NB", "GNB-A", "GNB-O", "TAN")},
        **{f"{name}(paper)": paper_ones[name] for name in GENERALIZED},
        "TAN(ml)": paper_ones[f"TAN{PLAIN}"],
    }


PAIRS = {"Laplace": ("GNB-O", "TAN"), "none": ("GNB-O(paper)", "TAN(ml)")}


def split_accuracies(rows: Dataset, study: Study) -> tuple[dict[str, np.ndarray], int]:
    """Return the accuracies (%) in every split, and how often GNB-O has TAN's tree."""
    models, target = compared_models(study.jobs), rows.labels
    right: dict[str, list[float]] = {name: [] for name in models}
    same = 0
    for train, test in random_splits(len(rows.y), range(study.splits)):
        learner = TAN(n_jobs=study.jobs, **CUT)
        counts = learner.fit(rows.frame.take(train), target.take(train)).counts_
        seen = rows.frame.take(test)
        for name, model in models.items():
            predicted = model.fit_counts(counts).predict(seen)
            right[name].append(100 * float(np.mean(predicted == rows.y[test])))
        same += undirected(models["GNB-O"]) == undirected(models["TAN"])
    return {name: np.array(series) for name, series in right.items()}, same


def measure_accuracy(study: Study) -> None:
    """Print accuracies with the paper's protocol, with more than its five splits."""
    report.section(f"Accuracy in percent, mean of {study.splits} random splits, and the paper's")
    print(f"Test part: ceil({TEST_SHARE:g} n) rows drawn at random, not stratified. Quantiles, 5")
    print("bins, learned on the training part of every split; the paper seems to have used the")
    print("whole set. (paper): no smoothing, but substitutes for zeros. TAN(ml): no")
    print("smoothing, probably as in the paper. All others: Laplace, 1.", flush=True)
    found, same = {}, {}
    for name, rows in paper_sets(study):
        found[name], same[name] = split_accuracies(rows, study)
    table = []
    for name, theirs in PRINTED.items():
        ours = [f"{series.mean():.2f}" for series in found[name].values()]
        cells = [f"{theirs[model]:.2f}" for model in ("NB", "GNB-A", "GNB-O", "TAN")]
        table.append([name, *ours, *cells])
    headers = ["data set", *compared_models(1), "paper's NB", "GNB-A", "GNB-O", "TAN"]
    report.show(headers, table)
    _show_differences(study, found, same)
    _show_spread(study, found)
    accuracies = {
        name: {model: series.tolist() for model, series in of_set.items()}
        for name, of_set in found.items()
    }
    study.figures["accuracy"] = {"splits": accuracies, "same_tree": same}


def _show_differences(
    study: Study, found: dict[str, dict[str, np.ndarray]], same: dict[str, int]
) -> None:
    """Print the accuracy of GNB-O minus that of TAN, paired by split."""
    report.section("GNB-O - TAN on the same splits, in points")
    table = []
    for name, printed_ones in PRINTED.items():
        for smoothing, (optimal, tan) in PAIRS.items():
            gained = found[name][optimal] - found[name][tan]
            error = gained.std(ddof=1) / np.sqrt(len(gained)) if len(gained) > 1 else np.nan
            outcome = f"{(gained > 0).sum()}/{(gained == 0).sum()}/{(gained < 0).sum()}"
            theirs = f"{printed_ones['GNB-O'] - printed_ones['TAN']:.2f}"
            mean = [f"{gained.mean():.2f}", f"{error:.2f}", outcome]
            table.append([name, smoothing, *mean, f"{same[name]}/{study.splits}", theirs])
    headers = ["data set", "smoothing", "mean", "standard error", "wins/ties/losses"]
    report.show([*headers, "same tree", "the paper's"], table)
    print("Splits share rows, so the standard error is too small. The same tree with")
    print("other predictions: Laplace depends on the root (GNB-O: of the most informative pair,")
    print("TAN: the most informative column); without smoothing, on the treatment of zeros.")


def _show_spread(study: Study, found: dict[str, dict[str, np.ndarray]]) -> None:
    """Print the standard deviation of a mean of five splits."""
    groups = study.splits // PRINTED_RUNS
    report.section(
        f"Standard deviation of a mean of {PRINTED_RUNS} splits, {groups} of them, in points"
    )
    if groups < 2:
        print(f"not measured: this needs at least {2 * PRINTED_RUNS} splits")
        return

    def spread(series: np.ndarray) -> float:
        return float(
            series[: groups * PRINTED_RUNS].reshape(groups, PRINTED_RUNS).mean(axis=1).std(ddof=1)
        )

    table = []
    for name, of_set in found.items():
        each = {model: spread(series) for model, series in of_set.items()}
        paired = spread(of_set["GNB-O"] - of_set["TAN"])
        apart = float(np.hypot(each["GNB-O"], each["TAN"]))
        table.append([name, *(f"{one:.2f}" for one in (*each.values(), paired, apart))])
    extra = ["GNB-O - TAN, same splits", "other splits"]
    report.show(["data set", *compared_models(1), *extra], table)


def measure_overfit(study: Study) -> None:
    """Print training and leave-one-out accuracy over the size of clusters."""
    report.section("Size of clusters, including the class: training and leave-one-out")
    print("Quantiles, 5 bins, learned on the whole set, as is the structure; leave-one-out of the")
    print("tables only. *: lowest leave-one-out log loss (nats), so this size is chosen.")
    table, paths, chosen = [], [], []
    common = {"n_jobs": study.jobs, **CUT}
    for set_name, rows in paper_sets(study):
        if repeated(rows):
            print(f"{set_name}: {repeated(rows)} of {len(rows.y)} rows are duplicates")
        models = {
            "CherryTreeNB": CherryTreeNB(order="loo", **common),
            "DecomposableNB": DecomposableNB(max_clique="loo", penalty=None, **common),
        }
        for name, model in models.items():
            path = model.fit(rows.frame, rows.labels).path_
            table += _path_rows(f"{set_name}, {name}", path)
            chosen.append(int(path["size"][np.argmin(path["log_loss"])]))
            plain = {measure: series.tolist() for measure, series in path.items()}
            paths.append({"name": set_name, "model": name, **plain})
    report.show(["data set, model", "", *(f"size {size}" for size in path["size"])], table)
    last = sum(max(one["training_accuracy"]) == one["training_accuracy"][-1] for one in paths)
    print(f"Training accuracy is largest at the largest size in {last} of {len(paths)} cases; the")
    sizes = ", ".join(f"{size} in {chosen.count(size)}" for size in sorted(set(chosen)))
    print(f"leave-one-out log loss is lowest at size {sizes}.")
    study.figures["overfit"] = paths


def _path_rows(name: str, path: dict[str, np.ndarray]) -> list[list[str]]:
    best = int(np.argmin(path["log_loss"]))
    losses = [f"{loss:.4f}" + "*" * (at == best) for at, loss in enumerate(path["log_loss"])]
    percent = {
        "training accuracy, %": path["training_accuracy"],
        "leave-one-out accuracy, %": path["accuracy"],
    }
    lines = [[what, *(f"{100 * one:.2f}" for one in of)] for what, of in percent.items()]
    lines.append(["leave-one-out log loss", *losses])
    return [[name if at == 0 else "", *line] for at, line in enumerate(lines)]


PARTS: dict[str, Callable[[Study], None]] = {
    "speed": measure_speed,
    "size": measure_size,
    "trees": measure_trees,
    "accuracy": measure_accuracy,
    "overfit": measure_overfit,
}
OF_FILES = ("trees", "accuracy", "overfit")


def run(
    given: str | None,
    *,
    splits: int,
    jobs: int,
    only: Sequence[str] | None = None,
    json_file: str | None = None,
) -> Study:
    """Measure all parts (or some) and print their tables, the targets last."""
    chosen = [name for name in PARTS if not only or name in only]
    folder = paper.data_folder(given) if set(OF_FILES) & set(chosen) else None
    found_machine = report.show_machine()
    study = Study(folder, splits, jobs)
    for name in chosen:
        PARTS[name](study)
    if study.targets:
        report.section("Targets")
        report.show(["target", "wanted", "measured", ""], study.targets)
    how = {"machine": found_machine, "splits": splits, "jobs": jobs}
    report.write_json(json_file, {**how, "figures": study.figures, "targets": study.targets})
    return study
