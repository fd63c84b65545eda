"""What a comparison found: means, ranks, which differences are real, and tables of it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from unnaive.evaluate.significance import (
    FriedmanVerdict,
    NemenyiVerdict,
    Verdict,
    corrected_resampled_t,
    friedman,
    holm,
    nemenyi,
    rank,
)
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import FloatArray, State
    from unnaive.schema.columns import Label

LOSSES = ("log_loss", "brier")  # metrics of which less is better
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em;color:#222}table{border-collapse:collapse}"
    "td,th{padding:.2em .9em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}.best{font-weight:bold}small{color:#777}"
)


@dataclass(frozen=True)
class Failure:
    """A fold that a model could not do.

    Attributes
    ----------
    model : str
        Whose fold it was.
    repeat, fold : int
        Which one, from 0.
    error : str
        Kind of error and message.
    """

    model: str
    repeat: int
    fold: int
    error: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    scores : dict of str to dict of str to array of shape (folds × repeats,)
        For every model, for every metric, its scores; NaN where a fold failed, or has no such
        score (the AUC of rows of one class).
    fit_seconds, predict_seconds : dict of str to array
        Time by the clock of each fold; folds that run side by side slow each other down.
    failures : tuple of Failure
        Folds that models could not do.
    classes : tuple
        Class labels.
    n_rows : int
        Rows in all.
    protocol : dict
        How rows were dealt into folds.
    test_share : float
        Test rows divided by training rows, mean over folds.
    resumed : int
        Folds, over all models, that came from the store.
    """

    scores: dict[str, dict[str, FloatArray]]
    fit_seconds: dict[str, FloatArray]
    predict_seconds: dict[str, FloatArray]
    failures: tuple[Failure, ...]
    classes: tuple[Label, ...]
    n_rows: int
    protocol: State
    test_share: float
    resumed: int = 0

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, as given."""
        return tuple(self.scores)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics, as given."""
        return tuple(next(iter(self.scores.values())))

    def mean(self, metric: str) -> dict[str, float]:
        """Mean over folds of every model, of the folds that have the score."""
        return {m: float(np.mean(s)) if len(s) else math.nan for m, s in self._known(metric)}

    def std(self, metric: str) -> dict[str, float]:
        """Sample standard deviation over folds of every model; NaN of a single fold."""
        known = self._known(metric)
        return {m: float(np.std(s, ddof=1)) if len(s) > 1 else math.nan for m, s in known}

    def ranks(self, metric: str) -> dict[str, float]:
        """Rank of every model's mean, 1 is best, ties share; NaN if a fold failed."""
        failed = {failure.model for failure in self.failures}
        means = [math.nan if m in failed else mean for m, mean in self.mean(metric).items()]
        ranks = rank(means, lower_is_better=metric in LOSSES)
        return dict(zip(self.models, ranks.tolist(), strict=True))

    def best(self, metric: str) -> str | None:
        """Return the model with the best mean, the first of those that tie; None if all failed."""
        ranks = {m: r for m, r in self.ranks(metric).items() if not math.isnan(r)}
        return min(ranks, key=ranks.__getitem__) if ranks else None

    def against(self, metric: str, reference: str | None = None) -> dict[str, Verdict]:
        """Test every model against the best one, or against any other.

        The corrected resampled t-test over all folds, its p adjusted by Holm for the number of
        models. The best of many models is partly so by luck: p is a little too small then.

        Parameters
        ----------
        metric : str
            One of ``metrics``.
        reference : str, default=None
            Model to compare with; None: the best.

        Returns
        -------
        dict of str to Verdict
            Of all models without failures but the reference; a statistic below 0 says that the
            model's scores are lower, which for losses is better.
        """
        ranks = self.ranks(metric)
        reference = self.best(metric) if reference is None else reference
        if reference is None:
            return {}
        if reference not in ranks:
            raise UnnaiveError(f"there is no model {reference!r}; there are {', '.join(ranks)}")
        verdicts = {
            model: corrected_resampled_t(
                self.scores[model][metric],
                self.scores[reference][metric],
                test_share=self.test_share,
                names=(model, reference),
            )
            for model in ranks
            if model != reference and not math.isnan(ranks[model] + ranks[reference])
        }
        adjusted = holm([verdict.p for verdict in verdicts.values()]).tolist()
        return {
            model: replace(verdict, test=f"{verdict.test}, Holm", p=p)
            for (model, verdict), p in zip(verdicts.items(), adjusted, strict=True)
        }

    def table(self, alpha: float = 0.05) -> list[State]:
        """One dictionary a model, best first by the first metric; ``pandas.DataFrame`` takes it.

        For each metric its mean, and with ``_std``, ``_rank``, ``_p`` behind the name its
        deviation, rank, and p against the best; with ``_worse`` whether p is below ``alpha``.
        Then median seconds of a fold, and the number of folds that failed.
        """
        rows: dict[str, State] = {model: {"model": model} for model in self.models}
        for metric in self.metrics:
            columns = self.mean(metric), self.std(metric), self.ranks(metric)
            verdicts = self.against(metric)
            for model, row in rows.items():
                mean, deviation, place = (column[model] for column in columns)
                p = verdicts[model].p if model in verdicts else math.nan
                row |= {metric: mean, f"{metric}_std": deviation, f"{metric}_rank": place}
                row |= {f"{metric}_p": p, f"{metric}_worse": p < alpha}
        for model, row in rows.items():
            row["fit_seconds"] = _median(self.fit_seconds[model])
            row["predict_seconds"] = _median(self.predict_seconds[model])
            row["failures"] = sum(failure.model == model for failure in self.failures)
        first = f"{self.metrics[0]}_rank"
        return sorted(rows.values(), key=lambda row: (math.isnan(row[first]), row[first]))

    def to_dict(self) -> State:
        """Return all of it as plain values: the table, the scores of folds, the failures."""
        return {
            "rows": self.n_rows,
            "classes": list(self.classes),
            "protocol": self.protocol,
            "best": {metric: self.best(metric) for metric in self.metrics},
            "table": self.table(),
            "scores": {m: {k: v.tolist() for k, v in s.items()} for m, s in self.scores.items()},
            "failures": [asdict(failure) for failure in self.failures],
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; what is no number, such as NaN, is null."""
        return json.dumps(_plain(self.to_dict()), ensure_ascii=False, indent=2, default=str)

    def to_html(self, title: str = "Comparison of models", alpha: float = 0.05) -> str:
        """Return one HTML page that needs nothing besides itself."""
        return "\n".join(_page(self, title, alpha)) + "\n"

    def _known(self, metric: str) -> Iterator[tuple[str, FloatArray]]:
        if metric not in self.metrics:
            raise UnnaiveError(
                f"metric {metric!r} was not asked for; there are {', '.join(self.metrics)}"
            )
        for model, scores in self.scores.items():
            yield model, scores[metric][~np.isnan(scores[metric])]


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of the same models on several data sets.

    Attributes
    ----------
    parts : dict of str to Comparison
        By name of the data set.
    """

    parts: dict[str, Comparison]

    def __post_init__(self) -> None:
        models = {part.models for part in self.parts.values()}
        if len(models) != 1:
            raise UnnaiveError(
                f"{len(self.parts)} data sets with {len(models)} lists of models; compare the "
                "same models, in one order, on at least one data set"
            )

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return next(iter(self.parts.values())).models

    def means(self, metric: str) -> dict[str, FloatArray]:
        """Mean of every model on every data set; NaN where a fold failed; shape (n,) each."""
        parts = [(part.mean(metric), part.ranks(metric)) for part in self.parts.values()]
        return {
            model: np.array([math.nan if math.isnan(r[model]) else m[model] for m, r in parts])
            for model in self.models
        }

    def friedman(self, metric: str) -> FriedmanVerdict:
        """Ask whether any model differs; data sets where one failed are left out."""
        return friedman(self.means(metric), lower_is_better=metric in LOSSES)

    def nemenyi(self, metric: str, alpha: float = 0.05) -> NemenyiVerdict:
        """Find which models differ; for ``unnaive.explain``'s critical difference diagram."""
        return nemenyi(self.means(metric), lower_is_better=metric in LOSSES, alpha=alpha)

    def table(self, metric: str) -> list[State]:
        """One dictionary a data set with the mean of every model, then one of mean ranks."""
        means, ranks = self.means(metric), self.friedman(metric).ranks
        rows = [
            {"data": name, **{model: float(means[model][place]) for model in self.models}}
            for place, name in enumerate(self.parts)
        ]
        return [*rows, {"data": "mean rank", **ranks}]

    def to_dict(self) -> State:
        """Return all of it as plain values."""
        metrics = next(iter(self.parts.values())).metrics
        return {
            "data": {name: part.to_dict() for name, part in self.parts.items()},
            "friedman": {metric: asdict(self.friedman(metric)) for metric in metrics},
            "critical_difference": {metric: self.nemenyi(metric).critical for metric in metrics},
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; what is no number, such as NaN, is null."""
        return json.dumps(_plain(self.to_dict()), ensure_ascii=False, indent=2, default=str)


def describe(protocol: State) -> str:
    """Say in words how rows were dealt into folds."""
    folds, repeats = protocol["folds"], protocol.get("repeats", 1)
    how = f"{folds}-fold cross-validation" if isinstance(folds, int) else str(folds)
    return how + (f", {repeats} times" if repeats > 1 else "")


def summarise(failures: tuple[Failure, ...], folds: int) -> list[str]:
    """Say in a line a model what went wrong, with the first message."""
    first: dict[str, Failure] = {}
    for failure in failures:
        first.setdefault(failure.model, failure)
    lines = []
    for model, failure in first.items():
        often = sum(other.model == model for other in failures)
        where = f"repeat {failure.repeat + 1}, fold {failure.fold + 1}"
        lines.append(f"{model} failed in {often} of {folds} folds; {where}: {failure.error}")
    return lines


def _page(comparison: Comparison, title: str, alpha: float) -> Iterator[str]:
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
    yield f"<style>{_STYLE}</style><h1>{escape(title)}</h1>"
    names = ", ".join(escape(str(label)) for label in comparison.classes)
    how = escape(describe(comparison.protocol))
    yield f"<p>{comparison.n_rows:,} rows, classes {names}; {how}.</p>"
    heads = "".join(f"<th>{escape(m.replace('_', ' '))}<th>#" for m in comparison.metrics)
    yield f"<table><tr><th>model{heads}<th>fit ms<th>predict ms</tr>"
    for row in comparison.table(alpha):
        cells = "".join(_cells(row, metric) for metric in comparison.metrics)
        times = "".join(
            f"<td>{_number(1000 * row[name], '.3g')}" for name in ("fit_seconds", "predict_seconds")
        )
        yield f"<tr><td>{escape(row['model'])}{cells}{times}</tr>"
    yield "</table><p>Mean ± standard deviation over folds; # rank of the mean; bold: best; "
    yield (
        f"* differs from the best, p &lt; {alpha:g} by the corrected resampled t-test (Nadeau "
        "&amp; Bengio 2003), Holm corrected. Times are medians of a fold.</p>"
    )
    for line in summarise(comparison.failures, len(next(iter(comparison.fit_seconds.values())))):
        yield f"<p>{escape(line)}</p>"
    yield "</html>"


def _cells(row: State, metric: str) -> str:
    mean, deviation = _number(row[metric], ".4f"), _number(row[f"{metric}_std"], ".4f")
    mark = "*" if row[f"{metric}_worse"] else ""
    kind = ' class="best"' if row[f"{metric}_rank"] == 1 else ""
    place = _number(row[f"{metric}_rank"], "g")
    return f"<td{kind}>{mean} <small>± {deviation}</small>{mark}<td>{place}"


def _number(value: float, how: str) -> str:
    return "-" if math.isnan(value) else format(value, how)


def _median(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
