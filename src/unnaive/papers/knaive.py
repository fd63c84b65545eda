"""The experiments of Lionel R. Barrow's thesis, by its protocol.

"A Method for Automatically Generating Network Structure in Bayesian Classifiers", Bard College,
2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive import FullBayes, GaussianNaiveBayes, KNaiveBayes
from unnaive.datasets.artificial import make_balanced
from unnaive.datasets.loading import load_wdbc
from unnaive.evaluate.crossvalidate import cross_validate
from unnaive.papers.barrow import BarrowFullBayes, BarrowKNaiveBayes, BarrowNaiveBayes
from unnaive.papers.experiment import Experiment, Line, Unit, mean_and_spread
from unnaive.papers.published import printed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.models.classifier import Classifier
    from unnaive.papers.experiment import Results

WDBC, SIMULATED = "WDBC", "simulated"
FOLDS = 10
MEAN_COLUMNS = 10  # of WDBC's 30
NAIVE, FULL, WEAK = "naive Bayes", "full Bayes", "k-weak naive Bayes"
AS_RUN = f"{WEAK}, run as strong"
ROWS, BALANCES = 225, (-1.0, -0.6, -0.2, 0.0, 0.2, 0.6, 1.0)  # the thesis: 150 to 300 rows
CELLS = ("benign as benign", "benign as malignant", "malignant as benign", "malignant as malignant")
PROGRAM_F = ("the program's F, benign", "the program's F, malignant")
TRUE_F = ("F1, benign", "F1, malignant")
_FOLD_ROWS = 569 // FOLDS
_STRIDE = 1_000_000  # between the shuffles of two seeds


@dataclass(frozen=True)
class PrintedMatrix:
    """A confusion matrix of WDBC in the thesis (rows actual, benign first), and its F-score."""

    name: str
    matrix: tuple[int, ...]
    f_score: float


PRINTED = tuple(
    PrintedMatrix(
        row["classifier"].replace("_", " ").replace("bayes", "Bayes").replace("k weak", "k-weak"),
        tuple(int(row[cell]) for cell in ("m00", "m01", "m10", "m11")),
        float(row["f_score_published"]),
    )
    for row in printed("barrow_wdbc")
)


def mean_columns() -> tuple[FloatArray, IntArray, list[str]]:
    """Return rows, class codes (benign 0) and names of WDBC's ten means (section 3.5)."""
    data = load_wdbc()
    names = [name.removeprefix("mean ") for name in data.names[:MEAN_COLUMNS]]
    return data.X[:, :MEAN_COLUMNS].copy(), (data.y == "malignant").astype(int), names


def harness_folds(n_rows: int, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield training and test rows as in the thesis: the remainder is never tested."""
    order, size = np.random.default_rng(seed).permutation(n_rows), n_rows // FOLDS
    for fold in range(FOLDS):
        test = order[fold * size : (fold + 1) * size]
        yield np.setdiff1d(order, test), test


def matrix_of(model: Classifier, X: FloatArray, y: IntArray, seed: int) -> IntArray:
    """Return the confusion matrix over all folds, rows actual; shape (2, 2)."""
    matrix = np.zeros((2, 2), dtype=np.int64)
    for train, test in harness_folds(len(X), seed):
        guess = model.fit(X[train], y[train]).predict(X[test])
        np.add.at(matrix, (y[test], guess), 1)
    return matrix


def f_scores(matrix: ArrayLike) -> list[float]:
    """Return F1 of both classes.

    >>> [round(score, 3) for score in f_scores([342, 14, 56, 148])]
    [0.907, 0.809]
    """
    cells = np.asarray(matrix, dtype=float).reshape(2, 2)
    both = cells.sum(axis=0) + cells.sum(axis=1)
    return [float(score) for score in 2 * np.diag(cells) / both]


def harness_scores(matrix: ArrayLike) -> list[float]:
    """Return the F-scores of the thesis' program, which uses rates of the actual classes.

    >>> [round(score, 3) for score in harness_scores([232, 120, 10, 198])]
    [0.772, 0.83]
    """
    cells = np.asarray(matrix, dtype=float).reshape(2, 2)
    right = np.diag(cells) / cells.sum(axis=1)
    recall = right / (right + 1 - right[::-1])  # as the program calls it
    return [float(score) for score in 2 * right * recall / (right + recall)]


def paper_models() -> dict[str, Classifier]:
    """Return the programs of the thesis' appendix, with all quirks.

    Its cross-validation ignores the option "weak" and runs strong, so both are included.
    """
    return {
        NAIVE: BarrowNaiveBayes(),
        FULL: BarrowFullBayes(),
        WEAK: BarrowKNaiveBayes(),
        AS_RUN: BarrowKNaiveBayes(naivete="strong"),
    }


def right_models() -> dict[str, Classifier]:
    """Return the models without quirks; k is chosen by cross-validation."""
    return {
        NAIVE: GaussianNaiveBayes(var_smoothing=0),
        FULL: FullBayes(var_smoothing=0),
        WEAK: KNaiveBayes(k="cv", var_smoothing=0),
    }


def simulated_models() -> dict[str, Classifier]:
    """Return naive Bayes, full Bayes (which equals weak 1-naive) and models between them."""
    between = {f"weak {k}-naive Bayes": KNaiveBayes(k=k, var_smoothing=0) for k in (2, 3)}
    ends = {name: model for name, model in right_models().items() if name != WEAK}
    return {**ends, **between}


@dataclass(kw_only=True)
class KNaiveExperiment(Experiment):
    """The confusion matrices of WDBC and the simulations of balance in Barrow's thesis.

    WDBC (section 3.5): ten "mean" columns; 10-fold cross-validation that tests 560 of the 569 rows;
    the programs of the appendix with their quirks (column sort, 1/σ², no prior, smallest |log p|,
    …; :class:`unnaive.papers.barrow.Quirks`); one run for each shuffle. Lines are shares of the
    tested rows, and F-scores: those of the program, from rates of the actual classes, and F1. The
    thesis printed one shuffle: a figure is ``within`` if it differs by at most 2 standard
    deviations over shuffles. ``honest``: models without quirks on all rows, stratified 10-fold
    cross-validation, k chosen by cross-validation inside the training folds, and F1.

    Simulations (section 3.2): two Gaussian classes of 4 columns and 225 rows, by
    :func:`unnaive.datasets.make_balanced`, because the thesis does not print its generator; models
    without quirks. They can only be compared with the text of the thesis.
    """

    key = "knaive"
    title = "k-naive classifiers from dependence derivatives, error matrices of WDBC"
    default_runs = (20, 3)
    names: ClassVar[Mapping[str, str]] = {WDBC: "wdbc", SIMULATED: "make_balanced"}

    def units(self) -> list[Unit]:
        """Return shuffles of WDBC, also for the honest estimate, and simulations."""
        kinds: dict[str, tuple[Callable[[int], State], float]] = {}
        if WDBC in self.chosen:
            kinds["shuffle"] = (self._shuffle, 1.0)
        if WDBC in self.chosen and self.honest:
            kinds["honest"] = (self._honest, 10.0)
        if SIMULATED in self.chosen:
            kinds["simulated"] = (self._simulate, 3.0)
        return [
            Unit(f"{kind} {run}", partial(work, self.seed * _STRIDE + run), cost)
            for kind, (work, cost) in kinds.items()
            for run in range(self.n_runs)
        ]

    def _shuffle(self, seed: int) -> dict[str, list[int]]:
        """Return confusion matrices of the thesis' programs."""
        X, y, _ = mean_columns()
        return {
            name: matrix_of(model, X, y, seed).ravel().tolist()
            for name, model in paper_models().items()
        }

    def _honest(self, seed: int) -> dict[str, list[int]]:
        """Return confusion matrices of the models without quirks."""
        X, y, _ = mean_columns()
        return {
            name: cross_validate(model, X, y, folds=FOLDS, random_state=seed)
            .pooled.confusion.ravel()
            .tolist()
            for name, model in right_models().items()
        }

    def _simulate(self, seed: int) -> dict[str, list[float]]:
        """Return the accuracy of the models at every balance, on the same rows."""
        shares: dict[str, list[float]] = {name: [] for name in simulated_models()}
        for balance in BALANCES:
            X, y = make_balanced(ROWS, balance=balance, random_state=seed)
            for name, model in simulated_models().items():
                matrix = matrix_of(model, X, y, seed)
                shares[name].append(float(np.trace(matrix) / matrix.sum()))
        return shares

    def lines(self, results: Results) -> list[Line]:
        """Return shares and F-scores with those of the thesis, then the simulations."""
        lines = []
        if WDBC in self.chosen:
            for theirs in PRINTED:
                for program in (WEAK, AS_RUN) if theirs.name == WEAK else (theirs.name,):
                    ours = self._gather(results, "shuffle", program)
                    right = self._gather(results, "honest", theirs.name)
                    lines += _matrix_lines(theirs, program, ours, right)
        if SIMULATED in self.chosen:
            curves = {name: self._gather(results, "simulated", name) for name in simulated_models()}
            lines += _simulated_lines(curves)
        return lines

    def curves(self, results: Results) -> State:
        """Return the first chart of section 3.2: accuracies over the balance."""
        if SIMULATED not in self.chosen:
            return {}
        found = {name: self._gather(results, "simulated", name) for name in simulated_models()}
        return {
            "3-2": {
                "title": f"{ROWS} simulated rows of 4 columns: mean of {self.n_runs} runs",
                "balances": list(BALANCES),
                "means": {name: values.mean(axis=0).tolist() for name, values in found.items()},
                "deviations": {name: values.std(axis=0).tolist() for name, values in found.items()},
            }
        }

    def _gather(self, results: Results, kind: str, model: str) -> FloatArray:
        """Stack the results of a model over runs; shape (runs, 4 or balances)."""
        keys = [f"{kind} {run}" for run in range(self.n_runs)]
        return np.array([results[key][model] for key in keys if key in results], dtype=float)

    def remarks(self, lines: Sequence[Line]) -> list[str]:
        """Say which figures agree, and why others may not."""
        remarks = []
        if WDBC in self.chosen:
            remarks += [*_agreement(lines), *_about_matrices(), *_about_honesty(lines)]
        if SIMULATED in self.chosen:
            remarks += _about_balance(lines)
        return remarks


def _metrics(matrix: ArrayLike) -> dict[str, float]:
    """Return shares of the tested rows, and both kinds of F-scores."""
    cells = np.asarray(matrix, dtype=float).ravel()
    values = [*(cells / cells.sum()), *harness_scores(cells), *f_scores(cells)]
    return dict(zip((*CELLS, *PROGRAM_F, *TRUE_F), map(float, values), strict=True))


def _printed_as(theirs: PrintedMatrix) -> str | None:
    """Return which F-score of the printed matrix equals the printed F-score, or None."""
    known = _metrics(theirs.matrix)
    same = (f for f in (*PROGRAM_F, *TRUE_F) if round(known[f], 3) == theirs.f_score)
    return next(same, None)


def _matrix_lines(
    theirs: PrintedMatrix, program: str, ours: FloatArray, right: FloatArray
) -> list[Line]:
    """Return lines of one printed matrix and its F-score, with our runs of a program."""
    known, tested = _metrics(theirs.matrix), sum(theirs.matrix)
    runs, honest = ([_metrics(matrix) for matrix in of] for of in (ours, right))
    notes = {
        cell: f"{count} of {tested}; ours {mean:.1f} of {ours[0].sum():.0f}"
        for cell, count, mean in zip(CELLS, theirs.matrix, ours.mean(axis=0), strict=True)
    }

    def line(name: str, metric: str, published: float, note: str, fair: str | None) -> Line:
        table = "error matrices" if name in CELLS else "F-scores"
        mean, spread, n = mean_and_spread([run[metric] for run in runs])
        tolerance = None if spread is None else 2 * spread
        nested = float(np.mean([run[fair] for run in honest])) if fair and honest else None
        what = (table, WDBC, program, name, published)
        return Line(*what, mean, spread, n, tolerance, nested, note)

    lines = []
    for metric in (*CELLS, *PROGRAM_F, *TRUE_F):
        note = notes.get(metric, "the thesis': from its matrix")
        fair = None if metric in PROGRAM_F else metric
        lines.append(line(metric, metric, known[metric], note, fair))
    same = _printed_as(theirs)
    metric = same or PROGRAM_F[0]
    note = f"as printed, {metric}" if same else f"as printed, none; ours: {metric}"
    fair = TRUE_F[PROGRAM_F.index(metric)]
    return [*lines, line("F-score", metric, theirs.f_score, note, fair)]


def _simulated_lines(curves: Mapping[str, FloatArray]) -> list[Line]:
    """Return accuracies over the balance, each with a note on the thesis' claims."""
    means = {name: values.mean(axis=0) for name, values in curves.items()}
    return [
        Line(
            *("section 3.2", SIMULATED, name, f"accuracy at b={balance:g}", None),
            *mean_and_spread(values[:, place]),
            note=_verdict(name, means, place),
        )
        for name, values in curves.items()
        for place, balance in enumerate(BALANCES)
    ]


def _verdict(name: str, means: Mapping[str, FloatArray], place: int) -> str:
    """Compare an accuracy with the thesis' claims."""
    accuracy, naive, full = (float(means[model][place]) for model in (name, NAIVE, FULL))
    if name == NAIVE:
        return f"{accuracy - full:+.4f} to full Bayes"
    if name == FULL:
        return f"{accuracy - means[FULL].mean():+.4f} to its mean over b"
    low, high = sorted((naive, full))
    if low <= accuracy <= high:
        return "between naive and full Bayes"
    below = f"{low - accuracy:.4f} below both"
    return below if accuracy < low else f"{accuracy - high:.4f} above both"


def _agreement(lines: Sequence[Line]) -> list[str]:
    """Count the cells that are within the tolerance."""
    chosen = [line for line in lines if line.metric in CELLS and line.within is not None]
    if not chosen:
        return ["Chance cannot be judged from a single shuffle; use at least 2."]
    inside = {line.model: 0 for line in chosen}
    for line in chosen:
        inside[line.model] += line.within is True
    each = "; ".join(f"{model} {count}" for model, count in inside.items())
    most = max(chosen, key=lambda line: abs(line.difference or 0.0))
    counted = (
        f"Of the {len(CELLS)} cells of a printed matrix, within ± 2 standard deviations of a "
        f"shuffle by the programs of the appendix: {each}. Largest difference: {most.model}, "
        f"{most.metric}, {most.published:.3f} of the rows in print, {most.ours:.3f} ours."
    )
    weak, strong = (
        [line.ours or 0.0 for line in chosen if line.model == m] for m in (WEAK, AS_RUN)
    )
    gap = max(abs(a - b) for a, b in zip(weak, strong, strict=True))
    slip = "The thesis' harness runs k-weak naive Bayes as strong; this changes shares by at most"
    return [counted, f"{slip} {gap:.5f}."]


def _about_matrices() -> list[str]:
    """Describe inconsistent sums, and F-scores that do not fit their matrices."""
    sums = ", ".join(f"{one.name} {sum(one.matrix)}" for one in PRINTED)
    benign = ", ".join(str(sum(one.matrix[:2])) for one in PRINTED)
    rows = (
        f"Rows in the printed matrices: {sums}; {FOLDS} folds of {_FOLD_ROWS} are "
        f"{FOLDS * _FOLD_ROWS}. Benign rows: {benign}, so the models were tested on different rows."
    )
    which = [f"{one.f_score:.3f} ({one.name}) is {_printed_as(one) or 'none'}" for one in PRINTED]
    return [rows, f"Printed F-scores, by their matrices: {'; '.join(which)}."]


def _about_honesty(lines: Sequence[Line]) -> list[str]:
    """Return F1 of malignant, and how far printed matrices are from models without quirks."""
    chosen = [line for line in lines if line.honest is not None and line.model != AS_RUN]
    if not chosen:
        return []
    scores = [f"{line.model} {line.honest:.3f}" for line in chosen if line.metric == TRUE_F[1]]
    apart = {line.model: 0.0 for line in chosen}
    for line in chosen:
        if line.metric in CELLS:
            gap = abs((line.honest or 0.0) - (line.published or 0.0))
            apart[line.model] = max(apart[line.model], gap)
    gaps = ", ".join(f"{model} {gap:.3f}" for model, gap in apart.items())
    return [
        f"Honest F1 of malignant, k chosen inside the training folds: {', '.join(scores)}.",
        f"Largest difference of a printed share from that of models without quirks: {gaps}.",
    ]


def _about_balance(lines: Sequence[Line]) -> list[str]:
    """Compare the simulations with the thesis' claims."""
    chosen = [line for line in lines if line.data == SIMULATED]
    curves: dict[str, list[float]] = {line.model: [] for line in chosen}
    for line in chosen:
        curves[line.model].append(line.ours or 0.0)
    naive, full = np.array(curves.pop(NAIVE)), np.array(curves.pop(FULL))
    between = np.array(list(curves.values()))
    outside = np.maximum(between - np.maximum(naive, full), np.minimum(naive, full) - between)
    best, middle = BALANCES[int(naive.argmax())], BALANCES.index(0.0)
    above = ", ".join(f"{b:g}" for b, more in zip(BALANCES, naive > full, strict=True) if more)
    ends = (
        f"Simulations: naive Bayes is best at b={best:g}; it has {naive[middle]:.3f} at b=0, "
        f"{naive[0]:.3f} at b={BALANCES[0]:g} and {naive[-1]:.3f} at b={BALANCES[-1]:g}, and is "
        f"above full Bayes at b={above or 'none'}. Range of accuracy over b: naive Bayes "
        f"{np.ptp(naive):.3f}, full Bayes {np.ptp(full):.3f}."
    )
    inner = (
        f"Simulations: k-naive Bayes lies between them in {(outside <= 0).sum()} of {outside.size} "
        f"cases, and outside by at most {max(outside.max(), 0.0):.4f}."
    )
    return [ends, inner]
