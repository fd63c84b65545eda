"""Between naive and full Bayes: the experiments of Barrow's thesis (2011), repeated.

    python examples/between_naive_and_full.py [--seeds N] [--folds K] [--out FOLDER]

Needs matplotlib (``pip install "unnaive[plot]"``). ``docs/between-naive-and-full.md`` describes the
results. All F-scores are macro F1: the mean of the F1 of both classes.
"""
# ruff: noqa: T201 - a script that prints

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from threadpoolctl import threadpool_limits

from unnaive import FullBayes, GaussianNaiveBayes, KNaiveBayes
from unnaive.datasets import load_wdbc, make_balanced
from unnaive.evaluate import cross_validate
from unnaive.explain import dependence_derivatives, plot_dependence_derivatives
from unnaive.io.frames import Frame
from unnaive.tables.gaussian import GaussianTables, complete_forms, naive_covariance

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BALANCES = tuple(np.linspace(-1, 1, 11).round(1).tolist())
ROWS = 225  # the thesis: between 150 and 300
SIZES = (10, 15, 20, 30, 50, 75, 110, 150, 200, 300)
TEST_ROWS = 2000
REPEATS = 5  # of the folds on WDBC
MEAN_COLUMNS = 10  # of WDBC's 30: the thesis used these
FIGURE = (*"0123456789+-", "")
MODES = ("full-conditional", "parents")
KINDS = {  # of sets that are tried: the number of columns, and whether strongly naive
    "strong 1-naive": (1, True),
    "strong 2-naive": (2, True),
    "weak 2-naive": (2, False),
}


@dataclass(frozen=True, eq=False)
class Curves:
    """Scores of several models over a varied quantity, each of shape (values, seeds)."""

    places: tuple[float, ...]
    scores: dict[str, np.ndarray]

    def mean(self, name: str) -> np.ndarray:
        """Return the mean over seeds."""
        return np.asarray(self.scores[name].mean(axis=1))

    def spread(self, name: str) -> np.ndarray:
        """Return the standard deviation over seeds."""
        return np.asarray(self.scores[name].std(axis=1))


def show(title: str, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers have three decimals and are aligned right."""
    cells = [
        [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    columns = list(zip(headers, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numbers = [all(cell[:1] in FIGURE for cell in column[1:]) for column in columns]
    print(f"\n{title}\n")
    for line in (headers, ["-" * width for width in widths], *cells):
        padded = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        ]
        print("  ".join(padded).rstrip())


def save(figure: Figure, folder: Path | None, name: str) -> None:
    """Write a figure into the folder, if there is one."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / f"{name}.png", dpi=120)


# (a) Attribute balance


def models() -> dict[str, Any]:
    """Return naive Bayes, full Bayes and k-naive Bayes."""
    between = {f"{k}-naive": KNaiveBayes(k=k, var_smoothing=0) for k in (1, 2, 3)}
    ends = {
        "naive": GaussianNaiveBayes(var_smoothing=0),
        "full": FullBayes(var_smoothing=0),
    }
    return {**ends, **between}


def f_score(model: Any, X: np.ndarray, y: np.ndarray, folds: int, seed: int) -> float:
    """Return the cross-validated macro F1 of all rows."""
    found = cross_validate(model, X, y, folds=folds, random_state=seed)
    return float(found.pooled.f1_by_class.mean())


def over_balance(
    seeds: int, folds: int, balances: Sequence[float] = BALANCES, rows: int = ROWS
) -> Curves:
    """Return F-scores on artificial rows whose dependences favor one class or the other."""
    scores = {name: np.empty((len(balances), seeds)) for name in models()}
    for place, balance in enumerate(balances):
        for seed in range(seeds):
            X, y = make_balanced(rows, balance=balance, random_state=seed)
            for name, model in models().items():
                scores[name][place, seed] = f_score(model, X, y, folds, seed)
    return Curves(tuple(balances), scores)


def show_balance(found: Curves, folder: Path | None) -> None:
    """Print and draw F-scores against balance."""
    names = list(found.scores)
    means = [found.mean(name).tolist() for name in names]
    show(
        "Mean F-score against balance; k-naive is weak, and 1-naive then is full by the chain rule",
        ["balance", *names],
        [[f"{place:+.1f}", *scores] for place, *scores in zip(found.places, *means, strict=True)],
    )
    ax = Figure(figsize=(6.4, 4), layout="constrained").subplots()
    for name, scores in zip(names, means, strict=True):
        ax.plot(found.places, scores, "--" if name == "1-naive" else "-", marker=".", label=name)
    ax.set(xlabel="balance", ylabel="F-score", title="weak k-naive Bayes, mean over seeds")
    ax.legend()
    save(ax.figure, folder, "balance")


# (b) Attribute weight


def make_unlike(
    n_rows: int, n_columns: int = 4, *, shift: float = 2.0, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Make two Gaussian classes with random correlations and a random direction between them.

    Unlike those of ``make_balanced``, its columns differ from each other.
    """
    random = np.random.default_rng(random_state)
    y = random.permutation(np.arange(n_rows) % 2)
    X = random.normal(size=(n_rows, n_columns))
    for label in (0, 1):
        mixing = random.normal(size=(n_columns, n_columns))
        mixing /= np.linalg.norm(mixing, axis=0)  # all variances are 1
        X[y == label] = X[y == label] @ mixing
    direction = random.normal(size=n_columns)
    return X + np.outer(y - 0.5, shift * direction / np.linalg.norm(direction)), y


def make_opposed(
    n_rows: int, *, correlation: float = 0.9, shift: float = 2.0, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Make two Gaussian classes: columns 0 and 1 depend in class 1, columns 2 and 3 in class 0.

    So one column of each pair makes a balanced set, and both columns of a pair do not.
    """
    random = np.random.default_rng(random_state)
    y = random.permutation(np.arange(n_rows) % 2)
    X = random.normal(size=(n_rows, 4))
    for label, first in ((1, 0), (0, 2)):
        mine = y == label
        X[mine, first + 1] *= np.sqrt(1 - correlation**2)
        X[mine, first + 1] += correlation * X[mine, first]
    return X + (y[:, None] - 0.5) * shift / 2, y


def forced(model: Any, naive: Sequence[int], X: np.ndarray, *, strong: bool) -> np.ndarray:
    """Predict with a k-naive model of the same moments but other naive columns."""
    moments = model.moments_
    columns = np.array(naive, dtype=np.int64)
    own = [naive_covariance(one, columns, strong=strong) for one in moments.covariances()]
    log_prior = np.log(moments.class_weights / moments.class_weights.sum())
    tables = GaussianTables(log_prior, moments.means, np.stack(own), complete_forms)
    return np.asarray(tables.joint(X).argmax(axis=1))


def rank_scores(X: np.ndarray, y: np.ndarray, folds: int, seed: int) -> dict[str, np.ndarray]:
    """Return F-scores by the rank of the naive set, and those of full and naive Bayes.

    The rank is that of the |sum of weights| on the training rows of a fold, the least first.
    """
    n_columns = X.shape[1]
    sets = {kind: list(combinations(range(n_columns), size)) for kind, (size, _) in KINDS.items()}
    sizes = {"full": 1, "naive": 1, **{kind: len(of_kind) for kind, of_kind in sets.items()}}
    ranked = {name: np.empty((size, len(y)), dtype=int) for name, size in sizes.items()}
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for train, test in splits.split(X, y):
        model = KNaiveBayes(k=0, var_smoothing=0).fit(X[train], y[train])
        weights = model.attribute_weights_[0]
        ranked["full"][:, test] = model.predict(X[test])
        ranked["naive"][:, test] = forced(model, range(n_columns), X[test], strong=True)
        for kind, (_, strong) in KINDS.items():
            codes = np.stack([forced(model, one, X[test], strong=strong) for one in sets[kind]])
            order = np.argsort(np.abs(weights[np.array(sets[kind])].sum(axis=1)), kind="stable")
            ranked[kind][:, test] = codes[order]
    return {
        name: np.array([f1_score(y, codes, average="macro") for codes in of_name])
        for name, of_name in ranked.items()
    }


def over_ranks(
    seeds: int, folds: int, balances: Sequence[float] = BALANCES[::5], rows: int = ROWS
) -> dict[str, dict[str, np.ndarray]]:
    """Return F-scores by rank, shape (ranks, seeds), means over balances or data sets."""
    found: dict[str, dict[str, list[np.ndarray]]] = {}
    for seed in range(seeds):
        several = [seed * len(balances) + number for number in range(len(balances))]
        data = {
            "alike": [make_balanced(rows, balance=one, random_state=seed) for one in balances],
            "unlike": [make_unlike(rows, random_state=one) for one in several],
            "opposed": [make_opposed(rows, random_state=one) for one in several],
        }
        for sort, sets in data.items():
            scores = [rank_scores(X, y, folds, seed) for X, y in sets]
            for name in scores[0]:
                mean = np.mean([one[name] for one in scores], axis=0)
                found.setdefault(sort, {}).setdefault(name, []).append(mean)
    return {
        sort: {name: np.stack(series, axis=1) for name, series in of_sort.items()}
        for sort, of_sort in found.items()
    }


def show_ranks(found: dict[str, dict[str, np.ndarray]], folder: Path | None) -> None:
    """Print and draw F-scores by the rank of the weight."""
    figure = Figure(figsize=(12, 4), layout="constrained")
    lines: list[list[str]] = []
    for ax, (sort, of_sort) in zip(figure.subplots(1, len(found)), found.items(), strict=True):
        for name, scores in of_sort.items():
            mean = scores.mean(axis=1)
            ranks = [f"{one:.3f}" for one in mean] + [""] * (6 - len(mean))
            if name not in KINDS:
                ax.axhline(mean[0], color="0.2" if name == "full" else "0.6", linestyle=":")
                lines.append([sort, name, *ranks, "", ""])
                continue
            gained = scores[0] - scores[-1]
            error = gained.std(ddof=min(1, len(gained) - 1)) / np.sqrt(len(gained))
            lines.append([sort, name, *ranks, f"{gained.mean():+.4f}", f"{error:.4f}"])
            ax.plot(np.arange(1, len(mean) + 1), mean, marker=".", label=name)
        ax.set(xlabel="rank of |sum of weights|, best balanced first", ylabel="F-score")
        ax.set_title(f"columns {sort}\ndotted: full (dark), naive", fontsize="medium")
        ax.legend(fontsize="small")
    show(
        "Mean F-score by rank of |sum of weights|, best balanced first, every set forced in turn\n"
        "(strong for size 1: one weakly naive column is full Bayes, whichever it is); standard\n"
        "error over seeds",
        ["columns", "sets", *(f"rank {rank}" for rank in range(1, 7)), "1st-last", "error"],
        lines,
    )
    save(figure, folder, "weight_rank")


# (c) Number of rows


def sparse_models() -> dict[str, Any]:
    """Return models that can be fitted to ten rows; the last one has shrunk covariances."""
    return {
        "naive": GaussianNaiveBayes(),
        "full": FullBayes(),
        "2-naive": KNaiveBayes(k=2),
        "3-naive": KNaiveBayes(k=3),
        "full, shrunk": FullBayes(shrinkage="ledoit-wolf"),
    }


def over_rows(
    seeds: int, sizes: Sequence[int] = SIZES, balance: float = -0.5, test_rows: int = TEST_ROWS
) -> Curves:
    """Return F-scores on new rows over the number of training rows."""
    scores = {name: np.empty((len(sizes), seeds)) for name in sparse_models()}
    for seed in range(seeds):
        fresh, truth = make_balanced(test_rows, balance=balance, random_state=10_000 + seed)
        X, y = make_balanced(max(sizes), balance=balance, random_state=seed)
        for place, size in enumerate(sizes):
            half = size // 2
            rows = np.r_[np.flatnonzero(y == 0)[:half], np.flatnonzero(y == 1)[: size - half]]
            for name, model in sparse_models().items():
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "class .* has .* rows for .* columns")
                    guess = clone(model).fit(X[rows], y[rows]).predict(fresh)
                scores[name][place, seed] = f1_score(truth, guess, average="macro")
    return Curves(tuple(sizes), scores)


def show_rows(found: Curves, folder: Path | None) -> None:
    """Print and draw F-scores against the number of rows."""
    names = list(found.scores)
    lines = []
    for place, size in enumerate(found.places):
        cells = [f"{found.mean(n)[place]:.3f} ±{found.spread(n)[place]:.3f}" for n in names]
        lines.append([str(size), *cells])
    show(
        "F-score on fresh rows against rows learned from, balance -0.5; mean and standard\n"
        "deviation over seeds; k-naive is weak",
        ["rows", *names],
        lines,
    )
    ax = Figure(figsize=(6.4, 4), layout="constrained").subplots()
    for name in names:
        mean, spread = found.mean(name), found.spread(name)
        (line,) = ax.plot(found.places, mean, marker=".", label=name)
        ax.fill_between(
            found.places, mean - spread, mean + spread, color=line.get_color(), alpha=0.12
        )
    ax.set(xscale="log", xlabel="rows learned from", ylabel="F-score on fresh rows")
    ax.set_xticks(found.places, [str(place) for place in found.places])
    ax.minorticks_off()
    ax.legend()
    save(ax.figure, folder, "rows")


# (d) Dependence derivatives of WDBC


def wdbc() -> tuple[Frame, np.ndarray]:
    """Return the ten mean columns of WDBC, without the word "mean", and the classes."""
    data = load_wdbc()
    names = tuple(name.removeprefix("mean ") for name in data.names[:MEAN_COLUMNS])
    return Frame(names, len(data.X), matrix=data.X[:, :MEAN_COLUMNS].copy()), data.y


def rescued_row(naive: Any, full: Any, frame: Frame, y: np.ndarray) -> int:
    """Return the first row that naive Bayes misclassifies and full Bayes does not."""
    return int(np.argmax((naive.predict(frame) != y) & (full.predict(frame) == y)))


def show_derivatives(folder: Path | None) -> dict[str, Any]:
    """Print and draw the dependence derivatives of WDBC's ten mean columns."""
    frame, y = wdbc()
    full = FullBayes(var_smoothing=0).fit(frame, y)
    row = rescued_row(GaussianNaiveBayes(var_smoothing=0).fit(frame, y), full, frame, y)
    modes = {mode: dependence_derivatives(full, frame, mode) for mode in MODES}
    figure = Figure(figsize=(13, 8), layout="constrained")
    for axes, (mode, found) in zip(figure.subplots(2, 2), modes.items(), strict=True):
        for ax, one in zip(axes, (None, row), strict=True):
            plot_dependence_derivatives(found, one, ax=ax)
            which = "mean over rows" if one is None else f"row {one} ({y[one]})"
            ax.set_title(f"{mode}, {which}:\n{ax.get_title()}", fontsize="medium")
    save(figure, folder, "derivatives")
    headers, columns = ["column"], [list(frame.names)]
    for mode, found in modes.items():
        headers += [f"{mode}: mean", f"row {row}"]
        columns += [found.weights().tolist(), found.log_ddr()[row].tolist()]
    sums = ["all", *(float(np.sum(column)) for column in columns[1:])]
    title = f"Log ddr of {full.classes_[1]} against {full.classes_[0]} in WDBC, full Gaussian"
    show(title, headers, [*zip(*columns, strict=True), sums])
    joint = full.predict_joint_log_proba(frame)[row]
    naive_odds = np.diff(modes["parents"].naive_joint[row])[0]
    odds = {
        "naive Bayes": naive_odds,
        "full Bayes": joint[1] - joint[0],
        **{f"naive + log gdf, {mode}": naive_odds + modes[mode].log_gdf()[row] for mode in modes},
    }
    show(f"Log odds of row {row} ({y[row]})", ["by", "log odds"], odds.items())
    return {"row": row, "odds": odds, "modes": modes}


# (e) The path from full to naive Bayes on WDBC


def path_scores(
    folds: int, repeats: int = REPEATS, sizes: Sequence[int] = tuple(range(MEAN_COLUMNS + 1))
) -> dict[str, dict[Any, float]]:
    """Return accuracies of weak and strong k-naive Bayes of every size, "auto" and "cv"."""
    frame, y = wdbc()
    found: dict[str, dict[Any, float]] = {}
    for naivete in ("weak", "strong"):
        found[naivete] = {}
        for size in (*sizes, "auto", "cv"):
            model = KNaiveBayes(k=size, naivete=naivete, var_smoothing=0)
            ran = cross_validate(model, frame, y, folds=folds, repeats=repeats, random_state=0)
            found[naivete][size] = ran.pooled.accuracy
    return found


def sets_of_folds(folds: int, repeats: int = REPEATS) -> list[tuple[str, ...]]:
    """Return the naive columns that "auto" chooses in each training fold."""
    frame, y = wdbc()
    splits = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    model = KNaiveBayes(var_smoothing=0)
    return [
        tuple(model.fit(frame.take(train), y[train]).naive_columns_)
        for train, _ in splits.split(y, y)
    ]


def named(columns: Sequence[str], every: Sequence[str]) -> str:
    """Return the names of some columns, or of all others if these are fewer."""
    others = [name for name in every if name not in columns]
    if not columns or not others:
        return "all" if columns else "none"
    return ", ".join(columns) if len(columns) <= len(others) else "all but " + ", ".join(others)


def show_path(found: dict[str, dict[Any, float]], folder: Path | None) -> None:
    """Print and draw accuracy against the number of naive columns."""
    frame, y = wdbc()
    lines, chosen = [], {}
    for size in found["weak"]:
        fitted = {
            naivete: KNaiveBayes(k=size, naivete=naivete, var_smoothing=0).fit(frame, y)
            for naivete in found
        }
        chosen[size] = {naivete: len(one.naive_columns_) for naivete, one in fitted.items()}
        sets = dict.fromkeys(named(one.naive_columns_, frame.names) for one in fitted.values())
        weight = fitted["weak"].attribute_weights_[0]
        names = list(frame.names)
        inside = [names.index(name) for name in fitted["weak"].naive_columns_]
        accuracies = [f"{100 * found[naivete][size]:.2f}" for naivete in found]
        lines.append([str(size), *accuracies, f"{abs(weight[inside].sum()):.4f}", " | ".join(sets)])
    headers = ["k", *(f"{naivete}, %" for naivete in found), "|log w|", "naive columns"]
    show(
        "WDBC: accuracy by number of naive columns; the sets are those of all rows", headers, lines
    )
    ax = Figure(figsize=(6.4, 4), layout="constrained").subplots()
    for place, (naivete, of_size) in enumerate(found.items()):
        sizes = [size for size in of_size if not isinstance(size, str)]
        accuracies = [100 * of_size[size] for size in sizes]
        ax.plot(sizes, accuracies, f"C{place}-", marker=".", label=naivete)
        for size, mark in (("auto", "s"), ("cv", "D")):
            at = (chosen[size][naivete], 100 * of_size[size])
            ax.plot(*at, f"C{place}{mark}", fillstyle="none", label=f'{naivete}, "{size}"')
    ax.set(xlabel="number of naive columns", ylabel="accuracy, %", title="WDBC, ten mean columns")
    ax.legend()
    save(ax.figure, folder, "path")


def main(arguments: Sequence[str] | None = None) -> None:
    """Make all figures and print their numbers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=30, help="artificial data sets a setting")
    parser.add_argument("--folds", type=int, default=10, help="of the cross-validations")
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder of the figures")
    options = parser.parse_args(arguments)
    seeds, folds, out = options.seeds, options.folds, options.out
    with threadpool_limits(1):  # threads only slow down 4 × 4 matrices
        show_balance(over_balance(seeds, folds), out)
        show_ranks(over_ranks(seeds, folds), out)
        show_rows(over_rows(seeds), out)
        show_derivatives(out)
        repeats = min(seeds, REPEATS)
        show_path(path_scores(folds, repeats), out)
        sets = sets_of_folds(folds, repeats)
        print(f'\n"auto" takes {len(set(sets))} different sets in {len(sets)} training folds')
    print(f"\nfigures: {out}")


if __name__ == "__main__":
    main()
