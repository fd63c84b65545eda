"""k-naive Bayes: speed, the exact search, and the WDBC experiment of the thesis."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

from benchmarks import report, timing
from unnaive import FullBayes, GaussianNaiveBayes, GaussianTAN, KNaiveBayes
from unnaive.datasets import make_balanced
from unnaive.papers.barrow import (
    BarrowFullBayes,
    BarrowKNaiveBayes,
    BarrowNaiveBayes,
    Quirks,
)
from unnaive.papers.knaive import (
    FOLDS,
    PRINTED,
    f_scores,
    harness_scores,
    matrix_of,
    mean_columns,
    paper_models,
)
from unnaive.structure.balanced import balanced_sets, best_set
from unnaive.tables.gaussian import GaussianTables, complete_forms, naive_covariance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROWS, COLUMNS, NAIVE = 100_000, 30, 5
THREADS = (1, 2)
RATIO = 1.0  # that others' time must be of ours, at least
SEARCHED = (20, 30, 40, 44, 100, 200)
SECONDS, SECONDS_COLUMNS = 10.0, 40  # that all sizes may take, of so many columns
CHOSEN = ("radius", "smoothness", "compactness")  # in the thesis
FLAGS = ("column_sort", "inverse_variance", "no_prior", "absolute_log", "ddof")


@dataclass
class Study:
    """The settings of the measurement, and the results so far."""

    rounds: int
    seeds: int
    targets: list[list[str]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)


def measure_throughput(study: Study) -> None:
    """Time predictions of our models and scikit-learn's, in turns."""
    report.section(f"predict_proba: {ROWS:,} rows of {COLUMNS} columns, 2 classes")
    X, y = make_balanced(ROWS, COLUMNS, random_state=0)
    rivals = {
        f"KNaiveBayes(k={NAIVE})": (KNaiveBayes(k=NAIVE), QuadraticDiscriminantAnalysis()),
        "GaussianNaiveBayes": (GaussianNaiveBayes(), GaussianNB()),
    }
    table, figures = [], []
    for name, (ours, theirs) in rivals.items():
        ours.fit(X, y)
        theirs.fit(X, y)
        other = type(theirs).__name__
        for threads in THREADS:
            ours.set_params(n_jobs=threads)
            calls = {"ours": partial(ours.predict_proba, X)}
            calls |= {"theirs": partial(theirs.predict_proba, X)}
            with threadpool_limits(threads):
                timing.interleaved(calls, 1)
                times = timing.interleaved(calls, study.rounds)
            best = timing.best(times)
            ratio = best["theirs"] / best["ours"]
            median = timing.typical_ratio(times["theirs"], times["ours"])
            cells = [report.duration(best["ours"]), report.duration(best["theirs"])]
            table.append([name, other, threads, *cells, f"{ratio:.2f}", f"{median:.2f}"])
            figures.append({"ours": name, "theirs": other, "threads": threads, "times": times})
            label = f"{other} / {name}, {threads} thread{'s' * (threads > 1)}"
            study.targets.append(report.target(label, ratio, RATIO, "", at_least=True))
    headers = ["ours", "theirs", "threads", "ours takes", "theirs takes", "ratio", "median ratio"]
    report.show(headers, table)
    print(f"The best of {study.rounds} in turns, and the median of the ratios within a round. Ours")
    print("has n_jobs threads; scikit-learn's models have the threads of numpy's BLAS.")
    _show_agreement(X, y)
    study.figures["throughput"] = figures


def _show_agreement(X: np.ndarray, y: np.ndarray) -> None:
    """Print the difference of posteriors of models that should agree."""
    pairs = [
        (FullBayes(var_smoothing=0), QuadraticDiscriminantAnalysis()),
        (FullBayes(var_smoothing=0, ddof=1), QuadraticDiscriminantAnalysis()),
        (GaussianNaiveBayes(), GaussianNB()),
    ]
    for ours, theirs in pairs:
        apart = ours.fit(X, y).predict_proba(X) - theirs.fit(X, y).predict_proba(X)
        print(f"{ours} and {theirs}: posteriors differ by {np.abs(apart).max():.1e} at most")
    print("(Versions of scikit-learn divide QDA's covariances by n, or by n - 1: ddof.)")


def measure_search(study: Study) -> None:
    """Time the search for the best balanced sets of all sizes."""
    report.section("Best balanced sets of every size, weights drawn from N(0, 1)")
    balanced_sets([0.5, -0.25], [1])
    table, figures = [], []
    for columns in SEARCHED:
        weights = np.random.default_rng(columns).normal(size=columns)
        found: dict[int, Any] = {}
        search = partial(_search, weights, found)
        seconds = timing.best_of(search, study.rounds)
        best, sets = best_set(found), list(found.values())
        median = float(np.median([one.weight for one in sets]))
        gap, exact = max(one.gap for one in sets), sum(one.gap == 0 for one in sets)
        cells = [f"{best.weight:.1e}", len(best.columns), f"{median:.1e}", f"{gap:.1e}"]
        table.append([columns, report.duration(seconds), *cells, f"{exact}/{columns}"])
        one = {"columns": columns, "seconds": seconds, "weight": best.weight, "median": median}
        figures.append({**one, "gap": gap, "exact": exact})
        if columns == SECONDS_COLUMNS:
            label = f"sets of all sizes of {columns} columns"
            study.targets.append(report.target(label, seconds, SECONDS, " s", at_least=False))
    headers = ["columns", "all sizes", "best weight", "its size", "median over sizes"]
    report.show([*headers, "largest gap", "proved optimal"], table)
    print("Weight: |sum of weights|. No set of its size is better by more than the gap. Up to 44")
    print("columns the search is exact (two halves), beyond that sums are rounded and refined.")
    study.figures["search"] = figures


def _search(weights: np.ndarray, found: dict[int, Any]) -> None:
    found.update(balanced_sets(weights, range(1, len(weights) + 1)))


class Forced:
    """Weak k-naive Bayes with given naive columns."""

    def __init__(self, naive: Sequence[int]) -> None:
        self.naive = np.array(naive, dtype=np.int64)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Forced:
        moments = FullBayes().fit(X, y).moments_
        own = [naive_covariance(one, self.naive, strong=False) for one in moments.covariances()]
        log_prior = np.log(moments.class_weights / moments.class_weights.sum())
        self.tables = GaussianTables(log_prior, moments.means, np.stack(own), complete_forms)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.tables.joint(X).argmax(axis=1)


def right_models(names: list[str]) -> dict[str, Any]:
    """Return the correct models, and one with the set of the thesis."""
    plain = {"var_smoothing": 0}
    return {
        "GaussianNaiveBayes": GaussianNaiveBayes(**plain),
        "FullBayes": FullBayes(**plain),
        'KNaiveBayes("auto")': KNaiveBayes(**plain),
        "  strong": KNaiveBayes(naivete="strong", **plain),
        "  the thesis' set": Forced([names.index(name) for name in CHOSEN]),
        'KNaiveBayes("cv")': KNaiveBayes(k="cv", **plain),
        "GaussianTAN": GaussianTAN(**plain),
    }


def measure_wdbc(study: Study) -> None:
    """Repeat the experiment of the thesis."""
    X, y, names = mean_columns()
    tested = len(X) // FOLDS * FOLDS
    report.section(f"WDBC, ten means: {tested} of {len(X)} rows tested, {study.seeds} shuffles")
    print("b→m: actual benign, predicted malignant. F1: benign, malignant. Harness F: the F of")
    print("the thesis' program, which uses only the rates of the actual classes.")
    headers = ["", "b→b", "b→m", "m→b", "m→m", "accuracy", "F1 b", "F1 m", "harness F b", "F m"]
    figures: dict[str, Any] = {}
    for title, models in (("right", right_models(names)), ("programs", paper_models())):
        table = []
        for name, model in models.items():
            found = np.stack([matrix_of(model, X, y, seed) for seed in range(study.seeds)])
            table.append(_matrix_row(name, found.reshape(-1, 4)))
            figures[f"{title} {name.strip()}"] = found.reshape(-1, 4).tolist()
        print(f"\n{title}: mean over shuffles (least to most)")
        report.show(headers, table)
    print('run as strong: the thesis\' harness does not pass on "weak"')
    print("\nThe thesis:")
    table = [_matrix_row(one.name, np.array([one.matrix])) for one in PRINTED]
    printed = [[f"{one.f_score:.3f}", sum(one.matrix)] for one in PRINTED]
    rows = [[*row, *more] for row, more in zip(table, printed, strict=True)]
    report.show([*headers, "printed F", "rows"], rows)
    figures["sets"] = _show_sets(X, y, names)
    figures["nearest"] = _show_nearest(X, y)
    study.figures["wdbc"] = figures


def _matrix_row(name: str, found: np.ndarray) -> list[str]:
    """Return the lines of a table, one for each matrix."""
    cells = [f"{mean:.0f}" for mean in found.mean(axis=0)]
    if len(found) > 1:
        ends = zip(found.min(axis=0), found.max(axis=0), strict=True)
        cells = [f"{cell} ({low}-{high})" for cell, (low, high) in zip(cells, ends, strict=True)]
    accuracy = (found[:, [0, 3]].sum(axis=1) / found.sum(axis=1)).mean()
    scores = np.mean([f_scores(one) + harness_scores(one) for one in found], axis=0)
    return [name, *cells, f"{100 * accuracy:.2f} %", *(f"{score:.3f}" for score in scores)]


def all_sets(columns: int) -> list[tuple[int, ...]]:
    """Return all nonempty subsets of some columns."""
    return [one for size in range(1, columns + 1) for one in combinations(range(columns), size)]


def _show_sets(X: np.ndarray, y: np.ndarray, names: list[str]) -> list[dict[str, Any]]:
    """Print the sets chosen on all rows, and the rank of the thesis' set."""
    ways = {
        "right": KNaiveBayes(var_smoothing=0),
        "  log of mean (definition 2.2.3)": KNaiveBayes(var_smoothing=0, weighting="mean"),
        "programs": BarrowKNaiveBayes(),
        "  rows whole (no column_sort)": BarrowKNaiveBayes(quirks=_all_but("column_sort")),
    }
    theirs = [names.index(name) for name in CHOSEN]
    table, figures = [], []
    for way, model in ways.items():
        weights = model.fit(X, y).attribute_weights_[0]
        ours = [int(name.removeprefix("x")) for name in model.naive_columns_]
        sums = {one: abs(float(weights[list(one)].sum())) for one in all_sets(len(names))}
        least = sums[tuple(theirs)]
        rank = 1 + sum(one < least for one in sums.values())
        alike = [one for columns, one in sums.items() if len(columns) == len(theirs)]
        among = 1 + sum(one < least for one in alike)
        shown = ", ".join(names[column] for column in ours)
        own = sums[tuple(ours)]
        ranks = [f"{rank}/{len(sums)}", f"{among}/{len(alike)}"]
        table.append([way, shown, f"{own:.2g}", f"{least:.3g}", *ranks])
        figures.append({"way": way.strip(), "set": shown, "weight": own, "theirs": least})
        figures[-1] |= {"rank": rank, "rank_of_size": among}
    print(f"\nSets chosen on all rows; the thesis' is {', '.join(CHOSEN)}:")
    headers = ["weights", "chosen", "|log w|", "|log w| of the thesis' set", "its rank"]
    report.show([*headers, "among sets of 3"], table)
    return figures


def _all_but(name: str) -> Quirks:
    """Return all quirks of the programs except one."""
    return Quirks(**{**Quirks.all_on().state(), name: False})


def _show_nearest(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    """Find the combination of quirks that is closest to each published matrix."""
    naive, full, weak = PRINTED
    kinds: dict[str, Callable[..., Any]] = {
        naive.name: BarrowNaiveBayes,
        full.name: BarrowFullBayes,
        weak.name: BarrowKNaiveBayes,
        "  strong": partial(BarrowKNaiveBayes, naivete="strong"),
    }
    found: list[tuple[str, Quirks, np.ndarray]] = []
    same = 0
    chosen = {f"x{mean_columns()[2].index(name)}" for name in CHOSEN}
    for values, linear in product(
        product([False, True], repeat=len(FLAGS)), (None, "code", "text")
    ):
        quirks = Quirks(
            **dict(zip(FLAGS, values, strict=True)),
            linear_model=linear,
            zero_variance=True,
            log_phi_floor=True,
        )
        for name, kind in kinds.items():
            model = kind(quirks=quirks, var_smoothing=0)
            found.append((name, quirks, matrix_of(model, X, y, 0).reshape(4)))
            if isinstance(model, KNaiveBayes):
                same += set(model.fit(X, y).naive_columns_) == chosen
    table, figures = [], []
    for one in PRINTED:
        for label, among in (("its own", one.name), ("any", None)):
            name, quirks, matrix = min(
                (entry for entry in found if among in (None, entry[0])),
                key=lambda entry: np.abs(entry[2] - one.matrix).sum(),
            )
            off = int(np.abs(matrix - one.matrix).sum())
            on = ", ".join(key for key in FLAGS if getattr(quirks, key))
            way = f"{on or 'none'}; linear_model={quirks.linear_model}"
            cells = [
                " ".join(map(str, one.matrix)),
                label,
                name.strip(),
                " ".join(map(str, matrix)),
            ]
            table.append([one.name, *cells, off, way])
            figures.append({"printed": one.name, "program": name, "off": off, "quirks": way})
    print(
        f"\n{len(found) // len(kinds)} combinations of quirks, first shuffle; the nearest matrices:"
    )
    report.show(["printed as", "printed", "program", "", "found", "differ by", "quirks"], table)
    print(f"The thesis' set is chosen by {same} of them.")
    return figures


PARTS: dict[str, Callable[[Study], None]] = {
    "throughput": measure_throughput,
    "search": measure_search,
    "wdbc": measure_wdbc,
}


def run(
    *, rounds: int, seeds: int, only: Sequence[str] | None = None, json_file: str | None = None
) -> Study:
    """Measure all parts (or some) and print their tables, the targets last."""
    found_machine = report.show_machine()
    study = Study(rounds, seeds)
    for name, measure in PARTS.items():
        if not only or name in only:
            measure(study)
    if study.targets:
        report.section("Targets")
        report.show(["target", "wanted", "measured", ""], study.targets)
    how = {"machine": found_machine, "rounds": rounds, "seeds": seeds}
    report.write_json(json_file, {**how, "figures": study.figures, "targets": study.targets})
    return study
