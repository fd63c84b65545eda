"""Ji, Yu & Zhang: packaged hidden naive Bayes.

The paper's protocol: missing values are replaced by the column's mean or most frequent value,
numeric columns get ten bins of equal width, and useless columns are removed, all on the whole data
set before it is split; then ten repeats of WEKA's stratified 10-fold cross-validation, with WEKA's
estimates. The paper does not name the useless columns: removing constant columns, if the file has
more columns than table 1, gives its numbers (optdigits keeps its two). Thresholds are in bits; the
"optimal" threshold was tuned by hand on the same folds as its accuracy.

The following is not in the paper, but reproduces many of its figures exactly: they seem to come
from one run with WEKA's seed 1, truncated after two digits; its average threshold counts the class
as a column, so it is slightly too small; and the threshold 0.138 of sick is a misprint of 0.0138.
Here the threshold is the printed one, and the average is the paper's.

Honest: bins and means from the training rows only, the correct average, and instead of the tuned
threshold the one chosen by leave-one-out among the training rows; one repeat of ten folds. Test
times are the best of three predictions of a fold on one thread, relative to HNB. They are most
reliable if nothing else runs (one job).

An accuracy is near if it is within two standard deviations of one run, since the paper seems to
have made one. The three widest data sets have a single run, of which chance cannot be judged, and
no honest figures, unless the number of runs is given.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from math import log, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive.evaluate.folds import WekaStratifiedKFold
from unnaive.information import conditional_mutual_information
from unnaive.papers.experiment import Experiment, Line, Unit, mean_and_spread, nearness
from unnaive.papers.published import printed
from unnaive.structure.parents import average_information

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive._typing import IntArray, State
    from unnaive.datasets import Dataset
    from unnaive.io.frames import Column
    from unnaive.models.classifier import Classifier
    from unnaive.papers.experiment import Results
    from unnaive.tables.smoothing import Smoothing

BINS = 10
FOLDS = 10
LAST_DIGIT = 0.01  # of a figure that is rounded or truncated
MANY_COLUMNS = 30  # the paper's main claim is about data sets with more columns
HURRY = 100  # a quick run takes data sets with fewer columns, including the class
HNB_, AVERAGE, OPTIMAL = "HNB", "PHNB (average)", "PHNB (optimal)"
ACCURACY, FIRST = "accuracy %", "accuracy %, first run"
TIME, BITS = "test time over HNB's", "average information, bits"
_TURNS = 3  # predictions of a fold; the fastest counts
_SWEEP_MEMORY = 2**32  # bytes: arrhythmia's sweep over thresholds takes 2.6 GB


@dataclass(frozen=True)
class Printed:
    """A row of tables 1 and 2: sizes, and percentages and seconds by model."""

    name: str
    data: str  # our name
    rows: int
    columns: int  # the class included
    classes: int
    threshold: float  # bits
    accuracy: Mapping[str, float]
    seconds: Mapping[str, float]

    def ratio(self, model: str) -> float:
        """Return the test time relative to HNB."""
        return self.seconds[model] / self.seconds[HNB_]

    @property
    def wide(self) -> bool:
        """Whether the paper's main claim is about this data set."""
        return self.columns > MANY_COLUMNS


def _read(sizes: Mapping[str, str], figures: Mapping[str, str]) -> Printed:
    prefixes = {HNB_: "hnb", AVERAGE: "phnb_average", OPTIMAL: "phnb_optimal"}
    name = sizes["dataset"]
    return Printed(
        name=name,
        data={"meat_zernike": "mfeat-zernike"}.get(name, name.lower().replace("_", "-")),
        rows=int(sizes["examples"]),
        columns=int(sizes["attributes_incl_class"]),
        classes=int(sizes["classes"]),
        threshold=float(figures["phnb_optimal_threshold"]),
        accuracy={m: float(figures[f"{p}_accuracy_pct"]) for m, p in prefixes.items()},
        seconds={m: float(figures[f"{p}_test_time_s"]) for m, p in prefixes.items()},
    )


PRINTED = {
    sizes["dataset"]: _read(sizes, figures)
    for sizes, figures in zip(printed("phnb_table1"), printed("phnb_table2"), strict=True)
}


@dataclass(frozen=True, eq=False)
class PaperRows:
    """Rows as codes: ``X`` (n, d) and ``y`` (n,), with the possible codes of every column."""

    X: IntArray
    y: IntArray
    categories: list[list[int]]


def prepare(data: Dataset, line: Printed, train: IntArray | None = None) -> PaperRows:
    """Fill missing values, make bins, and drop constant columns if the paper has fewer.

    Parameters
    ----------
    data : Dataset
        Data set.
    line : Printed
        The paper's row for the data set.
    train : array of row numbers, default=None
        Rows from which means, bins and constants are learned; None for all rows, as in the paper.
    """
    learn = np.arange(len(data.y)) if train is None else train
    drop = len(data.names) + 1 > line.columns
    coded = []
    for index in range(len(data.names)):
        codes, size = _coded(data.frame.column(index), learn)
        if not (drop and np.ptp(codes[learn]) == 0):
            coded.append((codes, size))
    X = np.stack([codes for codes, _ in coded], axis=1)
    return PaperRows(X, data.labels.values.astype(np.int64), [[*range(v)] for _, v in coded])


def _coded(column: Column, learn: IntArray) -> tuple[IntArray, int]:
    """Return the codes of a column without missing values, and its number of values."""
    if column.categories is not None:
        codes, size = column.values.astype(np.int64), len(column.categories)
        seen = codes[learn]
        mode = int(np.bincount(seen[seen >= 0], minlength=1).argmax())
        return np.where(codes >= 0, codes, mode), size
    from unnaive.discretize import EqualWidth  # noqa: PLC0415 - costs time to import

    numbers = np.array(column.values, dtype=np.float64)
    missing = np.isnan(numbers)
    known = numbers[learn][~missing[learn]]
    if not len(known):
        return np.zeros(len(numbers), dtype=np.int64), 1
    numbers[missing] = known.mean()
    cut = EqualWidth(BINS).fit(numbers[learn, None])
    return cut.transform(numbers[:, None]).ravel().astype(np.int64), len(cut.edges_[0]) + 1


@dataclass(kw_only=True)
class PHNBExperiment(Experiment):
    """Table 2: accuracy and test time of HNB and PHNB on nine data sets.

    The three widest data sets have a single run, and no honest figures, unless ``runs`` is given.
    An accuracy is near if it is within two standard deviations of a run, for the paper seems to
    have made one; they are estimated by at least two runs of ours.
    """

    key = "phnb"
    title = "Packaged hidden naive Bayes"
    default_runs = (3, 1)
    names: ClassVar[Mapping[str, str]] = {line.name: line.data for line in PRINTED.values()}

    _loaded: dict[str, Dataset] = field(default_factory=dict, init=False, repr=False)
    _prepared: dict[str, PaperRows] = field(default_factory=dict, init=False, repr=False)

    def is_small(self, name: str) -> bool:
        """Return whether a quick run includes a data set; three have too many columns."""
        return PRINTED[name].columns < HURRY

    def units(self) -> list[Unit]:
        """Return one unit for each fold; costs are about seconds."""
        units = []
        for name in self.chosen:
            line = PRINTED[name]
            cost = line.columns**2 * line.classes / 1e5
            sweep = cost * line.rows / 300
            for fold in range(FOLDS):
                for run in range(self._runs_of(name)):
                    work = partial(self._as_printed, line, run, fold)
                    units.append(Unit(f"{name}, run {run + 1}, fold {fold + 1}", work, cost))
                if self._is_nested(name):
                    work = partial(self._as_should_be, line, fold)
                    units.append(Unit(f"{name}, honest, fold {fold + 1}", work, cost + sweep))
        return units

    def _runs_of(self, name: str) -> int:
        """Return the number of runs of a data set; the widest take minutes each."""
        return self.n_runs if self.runs is not None or self.is_small(name) else 1

    def _is_nested(self, name: str) -> bool:
        """Whether a data set has honest figures."""
        return self.honest and (self.runs is not None or self.is_small(name))

    def _data(self, line: Printed) -> Dataset:
        if line.name not in self._loaded:
            self._loaded[line.name] = self.data(line.name)
        return self._loaded[line.name]

    def _fold(self, labels: IntArray, run: int, fold: int) -> tuple[IntArray, IntArray]:
        """Return training and test rows of one of WEKA's folds; run 0 has WEKA's seed 1."""
        folds = WekaStratifiedKFold(FOLDS, seed=self.seed + run + 1)
        return list(folds.split(labels, labels))[fold]

    def _as_printed(self, line: Printed, run: int, fold: int) -> State:
        from unnaive.tables.smoothing import Weka  # noqa: PLC0415 - see data

        if line.name not in self._prepared:
            self._prepared[line.name] = prepare(self._data(line), line)
        rows = self._prepared[line.name]
        split = self._fold(rows.y, run, fold)
        return judged(line, rows, split, smoothing=Weka(1.0))

    def _as_should_be(self, line: Printed, fold: int) -> State:
        from unnaive.tables.smoothing import MEstimate  # noqa: PLC0415 - see data

        data = self._data(line)
        split = self._fold(data.labels.values.astype(np.int64), 0, fold)
        rows = prepare(data, line, split[0])
        return judged(line, rows, split, smoothing=MEstimate(1.0), honest=True)

    def lines(self, results: Results) -> list[Line]:
        """Return accuracies of all runs and of the first, times, and the average threshold."""
        lines = []
        for metric, models in {
            ACCURACY: (HNB_, AVERAGE, OPTIMAL),
            FIRST: (HNB_, AVERAGE, OPTIMAL) if self.seed == 0 else (),
            TIME: (AVERAGE, OPTIMAL),
            BITS: (AVERAGE,),
        }.items():
            for name in self.chosen:
                runs = [
                    [results[f"{name}, run {run + 1}, fold {fold + 1}"] for fold in range(FOLDS)]
                    for run in range(1 if metric == FIRST else self._runs_of(name))
                ]
                nested = [
                    results.get(f"{name}, honest, fold {fold + 1}", {}) for fold in range(FOLDS)
                ]
                nested_too = self._is_nested(name) and metric in {ACCURACY, TIME}
                for model in models:
                    honest = _figure(nested, metric, model) if nested_too else None
                    ours = [_figure(folds, metric, model) for folds in runs]
                    lines.append(_line(PRINTED[name], metric, model, ours, honest))
        return lines

    def remarks(self, lines: Sequence[Line]) -> list[str]:
        """Compare accuracies and test times with the paper, and judge the tuned threshold."""
        accuracies = [line for line in lines if line.metric == ACCURACY]
        remarks = [nearness(accuracies, model) for model in (HNB_, AVERAGE, OPTIMAL)]
        remarks += [*_one_run(lines), *_savings(lines), *_thresholds(lines)]
        return [*remarks, *_optimism(lines)]


def judged(
    line: Printed,
    rows: PaperRows,
    split: tuple[IntArray, IntArray],
    *,
    smoothing: Smoothing,
    honest: bool = False,
) -> State:
    """Fit the three models one after the other and test each on a fold, on one thread.

    Only one model is in memory at a time: the tables of arrhythmia take a gigabyte.
    """
    from unnaive import HNB, PHNB  # noqa: PLC0415 - cost time to import

    train, test = split
    X, y, d = rows.X[train], rows.y[train], rows.X.shape[1]
    common: State = {"categories": rows.categories, "smoothing": smoothing, "discretize": None}
    scores = {}
    model = HNB(**common).fit(X, y)
    scores[HNB_], counts = _tested(model, rows, test), model.counts_
    average = average_information(conditional_mutual_information(counts, 1, smoothing.guard))
    average /= log(2)
    # Paper: eq. (11) has n(n-1)/2 pairs of attributes, but counts the class as one, like WEKA.
    theirs = average * (d - 1) / (d + 1)
    model = PHNB(threshold=average if honest else theirs, **common).fit_counts(counts)
    scores[AVERAGE] = {**_tested(model, rows, test), "bits": average}
    if honest:
        model = PHNB(threshold="loo", max_memory=_SWEEP_MEMORY, **common)
        scores[OPTIMAL] = _tested(model.fit(X, y), rows, test)
    else:
        model = PHNB(threshold=line.threshold, **common)
        scores[OPTIMAL] = _tested(model.fit_counts(counts), rows, test)
    return scores


def _tested(model: Classifier, rows: PaperRows, test: IntArray) -> State:
    """Predict a fold several times, and return the shortest time."""
    spent, seen = [], rows.X[test]
    for _ in range(_TURNS):
        start = time.perf_counter()
        answers = model.predict(seen)
        spent.append(time.perf_counter() - start)
    right = int((answers == rows.y[test]).sum())
    return {"right": right, "rows": len(test), "seconds": min(spent)}


def _figure(folds: Sequence[State], metric: str, model: str) -> float:
    """Return the figure of one run, over all folds."""

    def total(name: str, of: str = model) -> float:
        return float(sum(fold[of][name] for fold in folds))

    if metric in {ACCURACY, FIRST}:
        return 100 * total("right") / total("rows")
    if metric == TIME:
        return total("seconds") / total("seconds", HNB_)
    return total("bits") / len(folds)


def _line(
    line: Printed, metric: str, model: str, ours: Sequence[float], honest: float | None
) -> Line:
    mean, spread, n = mean_and_spread(ours)
    published, note = None, ""
    if metric in {ACCURACY, FIRST}:
        published = line.accuracy[model]
        note = f"at {line.threshold:g} bits" if model == OPTIMAL else ""
    elif metric == TIME:
        published = line.ratio(model)
    else:
        times = f", {line.threshold / mean:.2g} times that" if mean else ""
        note = f"optimal: {line.threshold:g}{times}"
    tolerance = {FIRST: LAST_DIGIT}.get(metric)
    if metric == ACCURACY and spread is not None:
        tolerance = 2 * spread * sqrt(1 + 1 / n) + LAST_DIGIT
    what = ("2", line.name, model, metric, published)
    return Line(*what, mean, spread, n, tolerance, honest, note)


def _of(lines: Sequence[Line], metric: str, model: str) -> dict[str, Line]:
    """Return the lines of a model by data set."""
    return {line.data: line for line in lines if (line.metric, line.model) == (metric, model)}


def _one_run(lines: Sequence[Line]) -> list[str]:
    """Find figures that come from a single run, and figures in the wrong column."""
    chosen = [line for line in lines if line.metric == FIRST]
    same = sum(bool(line.within) for line in chosen)
    remarks = []
    if same:
        remarks.append(
            f"{same} of {len(chosen)} printed accuracies equal to the last digit those of a single "
            "run with WEKA's seed 1: the paper seems to have made one run instead of ten"
        )
    average = _of(lines, FIRST, AVERAGE)
    for name, line in _of(lines, FIRST, HNB_).items():
        if (
            not line.within
            and _last_digit(line, average[name])
            and _last_digit(average[name], line)
        ):
            remarks.append(f"{name}: the paper's figures of HNB and PHNB (average) are exchanged")
    return remarks


def _last_digit(ours: Line, theirs: Line) -> bool:
    """Whether our figure of one line equals the published figure of another."""
    if ours.ours is None or theirs.published is None:
        return False
    return abs(ours.ours - theirs.published) <= LAST_DIGIT


def _savings(lines: Sequence[Line]) -> list[str]:
    """Compare test times with HNB on the data sets of the paper's main claim."""
    remarks = []
    for model in (AVERAGE, OPTIMAL):
        chosen = [line for name, line in _of(lines, TIME, model).items() if PRINTED[name].wide]
        ours = [line.ours for line in chosen if line.ours is not None]
        theirs = [line.published for line in chosen if line.published is not None]
        if ours:
            less = sum(line.difference is not None and line.difference <= 0 for line in chosen)
            remarks.append(
                f"{model}: with more than {MANY_COLUMNS} columns, test time is {_range(ours)} of "
                f"HNB's, the paper's {_range(theirs)}; we save at least as much as the paper on "
                f"{less} of {len(chosen)}"
            )
    return remarks


def _thresholds(lines: Sequence[Line]) -> list[str]:
    """Check the claim "the threshold is always gotten nearby the average"."""
    averages = {name: line.ours for name, line in _of(lines, BITS, AVERAGE).items()}
    times = {name: PRINTED[name].threshold / mean for name, mean in averages.items() if mean}
    if not times:
        return []
    low, high = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
    ends = f"{times[low]:.2g} ({low}) to {times[high]:.2g} ({high})"
    said = '"always gotten nearby the average"'
    return [f'the "optimal" thresholds are {ends} times the average; the paper: {said}']


def _optimism(lines: Sequence[Line]) -> list[str]:
    """Compare the gain over HNB: in the paper, here, and with an honest threshold."""
    chosen, base = _of(lines, ACCURACY, OPTIMAL), _of(lines, ACCURACY, HNB_)
    gains = {
        which: [
            getattr(line, which) - getattr(base[name], which)
            for name, line in chosen.items()
            if getattr(line, which) is not None
        ]
        for which in ("published", "ours", "honest")
    }
    words = {
        "published": "in the paper",
        "ours": "here at the printed threshold",
        "honest": "here at the threshold chosen by leave-one-out on the training rows",
    }
    parts = [
        f"{np.mean(gains[w]):+.2f} points {text}"
        + (f" ({len(gains[w])} of them)" if len(gains[w]) < len(chosen) else "")
        for w, text in words.items()
        if gains[w]
    ]
    average = _of(lines, ACCURACY, AVERAGE)
    beaten = [
        name
        for name, line in chosen.items()
        if (line.published or 0) < (average[name].published or 0)
    ]
    remarks = [f"PHNB over HNB in accuracy, mean of {len(chosen)} sets: {'; '.join(parts)}"]
    if beaten:
        remarks.append(f'the paper\'s "optimal" is below its average on {", ".join(beaten)}')
    return remarks


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"
