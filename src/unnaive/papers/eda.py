"""Robles et al.: semi-naive Bayes found by estimation-of-distribution algorithms.

Their protocol: numbers are cut by MDLP on all rows, Laplace, missing cells have no factor. On 19
data sets the figure is the leave-one-out accuracy that the search maximised, so it is no estimate
of anything; on two the search sees 300 rows and the figure is the accuracy on others. In tables 3
(IENB), 5 and 6 the paper's shares are of n − 1 rows, so it lost one; ours are of all n. Runs differ
in the seed; a search ends with the first generation that adds nothing to the population, or after
100 (Pazzani: 150), since the paper gives no rule. Nor does it say how leave-one-out applies to
IENB's free parameters: "ienb" leaves rows out of the counts that its intervals stand on,
"ienb-training" does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive.evaluate.folds import WekaStratifiedKFold
from unnaive.papers.experiment import Experiment, Line, Unit, mean_and_spread, nearness
from unnaive.papers.published import number, printed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unnaive._typing import State
    from unnaive.datasets import Dataset
    from unnaive.papers.experiment import Results

ONE_POINT = 1.0
NAIVE_POINTS = 0.3
FOLDS = 10
_SMALL = 7_000  # cells of the data sets that a quick run takes
_KINDS = ("nb", "fssj", "bsej", "apnbc", "iterative", "pazzani-eda", "apnbc-eda", "ienb")
_SEARCHED = ("pazzani-eda", "apnbc-eda", "ienb", "ienb-training")
_GENERATIONS = {"pazzani-eda": 150, "apnbc-eda": 100, "ienb": 100, "ienb-training": 100}
_REASONS = {  # why a data set may be off, as far as it is known
    "flare": "the paper takes two columns of few values for numbers; its class rule is inferred",
    "m-of-n-3-7-10": "300 other rows were drawn to learn from; validation is on all 1024 patterns",
    "waveform-21": "300 other rows were drawn to learn from",
    "shuttle-small": "another sample of 5800 rows",
}
_COLUMNS = {  # of what model: the table, and the columns of its figure and evaluations
    "nb": ("eda_table3", "nb_pct", ""),
    "ienb": ("eda_table3", "ienb_mean_pct", ""),
    "ienb-training": ("eda_table3", "ienb_mean_pct", ""),
    "apnbc-eda": ("eda_table4", "apnbc_eda_mean_pct", "evaluations"),
    "fssj": ("eda_table5", "fssj_pct", "fssj_evaluations"),
    "bsej": ("eda_table5", "bsej_pct", "bsej_evaluations"),
    "pazzani-eda": ("eda_table6", "pazzani_eda_mean_pct", "evaluations"),
}


_CELLS = {
    line["dataset"]: int(line["attributes"]) * int(line["learning"])
    for line in printed("eda_table2")
}


@dataclass(kw_only=True)
class EDAExperiment(Experiment):
    """Tables 3 to 6: IENB, APNBC-EDA, FSSJ and BSEJ, Pazzani-EDA, and naive Bayes beside."""

    key = "eda"
    title = "Semi-naive Bayes by estimation-of-distribution algorithms"
    default_runs = (3, 1)
    names: ClassVar[Mapping[str, str]] = {
        **{name: name for name in _CELLS},
        "chess": "kr-vs-kp",
        "m-of-n-3-7-10": "mofn-3-7-10",
    }

    def is_small(self, name: str) -> bool:
        """Whether there is time for a data set in a hurry."""
        return _CELLS[name] <= _SMALL

    def units(self) -> list[Unit]:
        """One a data set for what has no chance in it, then one a run, model and data set."""
        units = []
        for name, cells in _CELLS.items():
            if name not in self.chosen:
                continue
            cost = float(cells)
            units.append(Unit(f"{name}, greedy", partial(greedy, self, name), 3 * cost))
            for model in _SEARCHED:
                for run in range(self._runs_of(model)):
                    key = f"{name}, {model}, run {run + 1}"
                    seed = self.seed + run
                    price = cost * (30 if model == "pazzani-eda" else 10)
                    units.append(Unit(key, partial(searched, self, name, model, seed), price))
            if self.honest:
                for model in _KINDS:
                    fold = partial(held_out, self, name, model)
                    units.append(Unit(f"{name}, {model}, honest", fold, 20 * cost))
        return units

    def _runs_of(self, model: str) -> int:
        return 1 if model == "ienb-training" else self.n_runs

    def lines(self, results: Results) -> list[Line]:
        """Figures in per cent, table by table."""
        return [
            self._line(results, model, line["dataset"], line[column], line.get(evaluations, ""))
            for model, (table, column, evaluations) in _COLUMNS.items()
            for line in printed(table)
            if line["dataset"] in self.chosen
        ]

    def _line(self, results: Results, model: str, name: str, figure: str, evaluations: str) -> Line:
        """Put our runs of a model beside one figure of the paper."""
        if model in _SEARCHED:
            keys = [f"{name}, {model}, run {run + 1}" for run in range(self._runs_of(model))]
            runs = [results[key] for key in keys]
        else:
            runs = [results[f"{name}, greedy"][model]]
        shares = [100.0 * run["right"] / run["n"] for run in runs]
        honest = results.get(f"{name}, {model.removesuffix('-training')}, honest")
        note = ""
        if evaluations:
            spent = np.mean([run["evaluations"] for run in runs])
            note = f"{spent:,.0f} evaluations, the paper {float(evaluations):,.0f}"
        return Line(
            *(_COLUMNS[model][0][-1], name, model, "accuracy %", number(figure)),
            *mean_and_spread(shares),
            tolerance=_points(model),
            honest=None if honest is None else 100 * honest["accuracy"],
            note=note,
        )

    def remarks(self, lines: Sequence[Line]) -> list[str]:
        """Count who is near the paper, model by model, and name who is not."""
        remarks = []
        for model in _COLUMNS:
            remarks.append(nearness(lines, model, _points(model)))
            gaps = [
                line.ours - line.honest
                for line in lines
                if line.model == model and line.honest is not None and line.ours is not None
            ]
            if gaps and model != "nb":
                gap = float(np.mean(gaps))
                remarks.append(
                    f"{model}: the optimised figure is {gap:+.2f} points from nested "
                    "cross-validation on average"
                )
        off = {line.data for line in lines if line.within is False}
        remarks += [f"{name}: {why}" for name, why in _REASONS.items() if name in off]
        remarks.append(
            "Greedy searches take one of many paths: a tie that is broken otherwise, or one row "
            "more (the paper lost one), ends elsewhere. Where ours is off by more than a point "
            "though the naive Bayes figure agrees to the digit, we know no other reason."
        )
        return remarks


def _points(model: str) -> float:
    return NAIVE_POINTS if model == "nb" else ONE_POINT


def make_model(kind: str, data: Dataset, *, paper: bool, seed: int) -> Any:
    """Build one of the paper's models, in its setting or in ours."""
    from unnaive.models import make  # noqa: PLC0415 - costs time to import
    from unnaive.search import UMDA, UMDAc  # noqa: PLC0415

    options: State = {  # columns are what the data set says they are
        "categorical_features": list(data.categories),
        "categories": dict(data.categories),
    }
    if kind in _SEARCHED:
        options["random_state"] = seed
        algorithm = UMDA if kind == "pazzani-eda" else UMDAc
        if paper:
            options["algorithm"] = algorithm.paper(max_generations=_GENERATIONS[kind])
            options |= {"polish": False} if kind == "apnbc-eda" else {"paper": True}
    if kind == "ienb-training":
        options["criterion"] = "training"
    return make(kind.removesuffix("-training"), **options)


def judged(model: Any, data: Dataset, kind: str) -> State:
    """Count the rows that a fitted model gets right: of the validation file, or left out."""
    if data.test is not None:
        right = model.predict(data.test.frame) == np.asarray(data.test.y)
    elif kind in {"ienb-training", "apnbc", "iterative"}:
        right = model.predict(data.frame) == np.asarray(data.y)
    else:
        from unnaive.models.classifier import first_of_the_best  # noqa: PLC0415

        with np.errstate(divide="ignore"):
            chances = np.log(model.loo_predict_proba(data.frame, data.labels))
        right = model.classes_[first_of_the_best(chances)] == np.asarray(data.y)
    return {"right": int(right.sum()), "n": len(right)}


def greedy(experiment: EDAExperiment, name: str) -> State:
    """Fit what has no chance in it: naive Bayes, FSSJ, BSEJ, APNBC, iterative Bayes."""
    data = experiment.data(name)
    results = {}
    for kind in ("nb", "fssj", "bsej", "apnbc", "iterative"):
        model = make_model(kind, data, paper=True, seed=0).fit(data.frame, data.labels)
        results[kind] = judged(model, data, kind)
        if kind in {"fssj", "bsej"}:
            results[kind] |= {"evaluations": model.evaluations_, **_sizes(model)}
    return results


def _sizes(model: Any) -> dict[str, int]:
    return {"columns": len(model.structure_.used), "groups": len(model.structure_.groups)}


def searched(experiment: EDAExperiment, name: str, kind: str, seed: int) -> State:
    """Let an EDA in the paper's setting search once."""
    data = experiment.data(name)
    model = make_model(kind, data, paper=True, seed=seed).fit(data.frame, data.labels)
    spent = {"seed": seed, "evaluations": model.search_result_.evaluations}
    return judged(model, data, kind) | spent | (_sizes(model) if kind == "pazzani-eda" else {})


def held_out(experiment: EDAExperiment, name: str, kind: str) -> State:
    """Accuracy by stratified cross-validation around all of it: bins, groups, intervals.

    In our own default setting, since the paper's takes ten times as long and is no better.
    """
    data = experiment.data(name)
    truth = np.asarray(data.y)
    folds = WekaStratifiedKFold(FOLDS, seed=experiment.seed + 1)
    right = 0
    for train, test in folds.split(truth, truth):
        model = make_model(kind, data, paper=False, seed=experiment.seed)
        model.fit(data.frame.take(train), truth[train])
        right += int((model.predict(data.frame.take(test)) == truth[test]).sum())
    return {"accuracy": right / len(truth), "folds": FOLDS, "seed": experiment.seed}
