"""Results of comparisons: means, ranks, significance tests and tables."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._axes import new_axes
from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive._json import plain
from unnaive.evaluate import tables
from unnaive.evaluate.page import cells, describe, failed, legend, page
from unnaive.evaluate.significance import corrected_resampled_t, holm, rank
from unnaive.evaluate.tables import number
from unnaive.exceptions import UnnaiveError
from unnaive.explain.shared import LINE, verbatim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, State
    from unnaive.evaluate.verdicts import Verdict
    from unnaive.schema.columns import Label

_ALPHA = 0.05  # significance level of marks in notebooks
LOSSES = ("log_loss", "brier")  # metrics for which lower is better


@dataclass(frozen=True)
class Failure:
    """A fold on which a model raised an error.

    Parameters
    ----------
    model : str
        Name of the model.
    repeat : int
        Repeat of the fold, from 0.
    fold : int
        Number of the fold, from 0.
    error : str
        Type and message of the error.

    See Also
    --------
    Comparison : Has the failures of all models.

    Examples
    --------
    >>> Failure("tan", repeat=0, fold=3, error="ValueError: no rows").fold
    3
    """

    model: str
    repeat: int
    fold: int
    error: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Result of :func:`compare`: scores of several models on the same folds.

    Parameters
    ----------
    scores : dict of str to dict of str to ndarray of shape (folds × repeats,)
        Scores by model and metric; NaN if a fold failed or the metric is not defined (the AUC of
        samples of one class).
    fit_seconds : dict of str to ndarray
        Time to fit each fold, by model. Folds that run in parallel slow each other down.
    predict_seconds : dict of str to ndarray
        Time to predict each fold, by model.
    failures : tuple of Failure
        Folds on which models raised errors.
    classes : tuple
        Class labels.
    n_rows : int
        Number of samples.
    protocol : dict
        Settings of the folds.
    test_share : float
        Number of test samples divided by number of training samples, mean over folds.
    resumed : int
        Number of folds, of all models, that were read from the store.

    See Also
    --------
    Comparisons : The same models on several data sets.
    Evaluation : Result for one model.

    Examples
    --------
    >>> from unnaive.evaluate import compare
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 5, [0, 0, 1, 1] * 5
    >>> result = compare(["nb", "tan"], X, y, folds=2, metrics=["accuracy"])
    >>> result.mean("accuracy")
    {'nb': 1.0, 'tan': 1.0}
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

    def __repr__(self) -> str:
        metric = self.metrics[0]
        means = ", ".join(f"{row['model']} {number(row[metric])}" for row in self.table())
        return (
            f"Comparison({describe(self.protocol)} of {self.n_rows:,} samples; {metric}: {means})"
        )

    def _repr_html_(self) -> str:
        caption = f"{self.n_rows:,} samples, {describe(self.protocol)}"
        table = tables.to_html(*cells(self, _ALPHA), caption)
        return f"{table}<p>{legend(_ALPHA)}</p>{''.join(failed(self))}"

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.scores)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(next(iter(self.scores.values())))

    def mean(self, metric: str) -> dict[str, float]:
        """Return the mean score of every model over folds, without NaN.

        Parameters
        ----------
        metric : str
            One of ``metrics``.

        Returns
        -------
        dict of str to float
            Mean by model.
        """
        return {m: float(np.mean(s)) if len(s) else math.nan for m, s in self._known(metric)}

    @described_like(mean)
    def std(self, metric: str) -> dict[str, float]:
        """Return the standard deviation over folds (divisor n − 1) of every model.

        Returns
        -------
        dict of str to float
            Standard deviation by model; NaN for a single fold.
        """
        known = self._known(metric)
        return {m: float(np.std(s, ddof=1)) if len(s) > 1 else math.nan for m, s in known}

    @described_like(mean)
    def ranks(self, metric: str) -> dict[str, float]:
        """Return the rank of every model's mean.

        Returns
        -------
        dict of str to float
            Rank by model: 1 is best, ties get their mean rank, NaN if a fold failed.
        """
        failed = {failure.model for failure in self.failures}
        means = [math.nan if m in failed else mean for m, mean in self.mean(metric).items()]
        ranks = rank(means, lower_is_better=metric in LOSSES)
        return dict(zip(self.models, ranks.tolist(), strict=True))

    @described_like(mean)
    def best(self, metric: str) -> str | None:
        """Return the model with the best mean.

        Returns
        -------
        str or None
            Name of the model, the first one among ties; None if all models failed.
        """
        ranks = {m: r for m, r in self.ranks(metric).items() if not math.isnan(r)}
        return min(ranks, key=ranks.__getitem__) if ranks else None

    def against(self, metric: str, reference: str | None = None) -> dict[str, Verdict]:
        """Test every model against the best one, or against another.

        Uses the corrected resampled t-test over all folds, with Holm's adjustment for the number
        of models. Which model is best depends partly on chance, so p-values against the best are
        slightly too small.

        Parameters
        ----------
        metric : str
            One of ``metrics``.
        reference : str, default=None
            Model to compare with; None for the best.

        Returns
        -------
        dict of str to Verdict
            Result for every other model without failures. A negative statistic means that the
            model's scores are lower, which is better for losses.
        """
        ranks = self.ranks(metric)
        reference = self.best(metric) if reference is None else reference
        if reference is None:
            return {}
        if reference not in ranks:
            raise UnnaiveError(
                f"there is no model {reference!r}; the models are {', '.join(ranks)}"
            )
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
        """Return one dictionary for each model, sorted by the first metric.

        Each metric has its mean; with the endings ``_std``, ``_rank`` and ``_p``, its standard
        deviation, rank and p-value against the best; with ``_worse``, whether p is below
        ``alpha``. The median seconds of a fold and the number of failed folds follow.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level.

        Returns
        -------
        list of dict
            Rows of the table, for example for ``pandas.DataFrame``.
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

    def to_frame(self, alpha: float = 0.05) -> Any:
        """Return :meth:`table` as a data frame.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level.

        Returns
        -------
        pandas.DataFrame
            One row for each model.
        """
        return tables.to_pandas(self.table(alpha), "model")

    def to_latex(self, alpha: float = 0.05) -> str:
        """Return a LaTeX table, for the package booktabs.

        Parameters
        ----------
        alpha : float, default=0.05
            Significance level.

        Returns
        -------
        str
            A ``tabular`` of mean ± standard deviation; the best model is bold, and * marks models
            that are significantly worse.
        """
        return tables.to_latex(*cells(self, alpha))

    def plot(self, metric: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the mean and standard deviation of every model, the best at the top.

        For the critical-difference diagram over several data sets, see :meth:`Comparisons.plot`.

        Parameters
        ----------
        metric : str, default=None
            One of the metrics; None for the first.
        ax : matplotlib axes, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib axes
            The axes.
        """
        metric = metric or self.metrics[0]
        mean, deviation, ranks = self.mean(metric), self.std(metric), self.ranks(metric)
        order = sorted(self.models, key=lambda model: (math.isnan(ranks[model]), ranks[model]))
        ax = new_axes(ax, figsize=(6, 1.2 + 0.3 * len(order)))
        values, bars = ([column[model] for model in order] for column in (mean, deviation))
        ax.errorbar(values, range(len(order)), xerr=bars, fmt="o", capsize=3, color=LINE)
        ax.set_yticks(range(len(order)), [verbatim(model) for model in order])
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.set_title(f"{describe(self.protocol)}, {self.n_rows:,} rows", fontsize=10)
        ax.set_xlabel(f"{tables.metric_title(metric)}, mean ± standard deviation over folds")
        return ax

    def to_dict(self) -> State:
        """Return everything as plain values.

        Returns
        -------
        dict
            The table, the scores of all folds and the failures.
        """
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
        """Return :meth:`to_dict` as JSON; NaN and infinity become null.

        Returns
        -------
        str
            The JSON text.
        """
        return json.dumps(plain(self.to_dict()), ensure_ascii=False, indent=2, default=str)

    def to_html(self, title: str = "Comparison of models", alpha: float = 0.05) -> str:
        """Return an HTML page without external files, light or dark as the reader's screen.

        It has the table, and a picture of means and standard deviations for each metric.

        Parameters
        ----------
        title : str
            Title of the page.
        alpha : float, default=0.05
            Significance level of the marks.

        Returns
        -------
        str
            The page.
        """
        return "\n".join(page(self, title, alpha)) + "\n"

    def _known(self, metric: str) -> Iterator[tuple[str, FloatArray]]:
        if metric not in self.metrics:
            raise UnnaiveError(
                f"metric {metric!r} was not computed; the metrics are {', '.join(self.metrics)}"
            )
        for model, scores in self.scores.items():
            yield model, scores[metric][~np.isnan(scores[metric])]


def _median(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else math.nan
