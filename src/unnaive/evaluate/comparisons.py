"""Results of comparisons on several data sets: tests over all of them, and tables."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._docstrings import described_like
from unnaive._json import plain
from unnaive.evaluate import tables
from unnaive.evaluate.comparison import LOSSES, Comparison
from unnaive.evaluate.page import page_of_many, verdict
from unnaive.evaluate.significance import friedman, nemenyi
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, State
    from unnaive.evaluate.verdicts import FriedmanVerdict, NemenyiVerdict


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons:
    """Result of :func:`compare_many`: the same models on several data sets.

    Parameters
    ----------
    parts : dict of str to Comparison
        Comparison by name of the data set.

    See Also
    --------
    Comparison : Result for one data set.

    Examples
    --------
    >>> from unnaive.evaluate import compare_many
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 5, [0, 0, 1, 1] * 5
    >>> result = compare_many(["nb", "tan"], {"one": (X, y), "two": (X, y)}, folds=2)
    >>> result.friedman("accuracy").ranks
    {'nb': 1.5, 'tan': 1.5}
    """

    parts: dict[str, Comparison]

    def __post_init__(self) -> None:
        models = {part.models for part in self.parts.values()}
        if len(models) != 1:
            raise UnnaiveError(
                f"{len(self.parts)} data sets with {len(models)} different lists of models; "
                "compare the same models, in the same order, on at least one data set"
            )

    def __repr__(self) -> str:
        data, metric = ", ".join(map(repr, self.parts)), self.metrics[0]
        ranks = sorted(self.friedman(metric).ranks.items(), key=lambda item: item[1])
        shown = ", ".join(f"{model} {rank:.2f}" for model, rank in ranks)
        return f"Comparisons({len(self.parts)} data sets: {data}; mean ranks by {metric}: {shown})"

    def _repr_html_(self) -> str:
        metric = self.metrics[0]
        return f"{self.html_table(metric)}{verdict(self, metric)}"

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return next(iter(self.parts.values())).models

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return next(iter(self.parts.values())).metrics

    def means(self, metric: str) -> dict[str, FloatArray]:
        """Return the mean score of every model on every data set.

        Parameters
        ----------
        metric : str
            One of the metrics.

        Returns
        -------
        dict of str to ndarray of shape (n,)
            Means by model; NaN if a fold failed.
        """
        parts = [(part.mean(metric), part.ranks(metric)) for part in self.parts.values()]
        return {
            model: np.array([math.nan if math.isnan(r[model]) else m[model] for m, r in parts])
            for model in self.models
        }

    @described_like(means)
    def friedman(self, metric: str) -> FriedmanVerdict:
        """Test whether any model differs; data sets on which a model failed are left out.

        Returns
        -------
        FriedmanVerdict
            Mean ranks and p-values.
        """
        return friedman(self.means(metric), lower_is_better=metric in LOSSES)

    def nemenyi(self, metric: str, alpha: float = 0.05) -> NemenyiVerdict:
        """Test which models differ.

        Parameters
        ----------
        metric : str
            One of the metrics.
        alpha : float, default=0.05
            Significance level.

        Returns
        -------
        NemenyiVerdict
            Critical difference and p-values, for
            :func:`unnaive.explain.plot_critical_difference`.
        """
        return nemenyi(self.means(metric), lower_is_better=metric in LOSSES, alpha=alpha)

    @described_like(means)
    def table(self, metric: str) -> list[State]:
        """Return one dictionary for each data set, and one with mean ranks.

        Returns
        -------
        list of dict
            Name of the data set and mean of every model.
        """
        means, ranks = self.means(metric), self.friedman(metric).ranks
        rows = [
            {"data": name, **{model: float(means[model][place]) for model in self.models}}
            for place, name in enumerate(self.parts)
        ]
        return [*rows, {"data": "mean rank", **ranks}]

    @described_like(means)
    def html_table(self, metric: str) -> str:
        """Return :meth:`table` as an HTML table.

        Returns
        -------
        str
            The table; the best model of each row is bold.
        """
        return tables.to_html(*self._cells(metric), tables.metric_title(metric))

    def _cells(self, metric: str) -> tuple[list[str], list[list[tables.Cell]]]:
        """Return header and cells of a table; the best model of each row is bold."""
        rows = []
        for row in self.table(metric):
            scores = [row[model] for model in self.models]
            lowest = metric in LOSSES or row["data"] == "mean rank"
            known = [score for score in scores if not math.isnan(score)]
            best = (min(known) if lowest else max(known)) if known else math.nan
            line = (tables.Cell(tables.number(score), bold=score == best) for score in scores)
            rows.append([tables.Cell(row["data"]), *line])
        return ["data", *self.models], rows

    def to_frame(self, metric: str | None = None) -> Any:
        """Return :meth:`table` as a data frame.

        Parameters
        ----------
        metric : str, default=None
            One of the metrics; None for the first.

        Returns
        -------
        pandas.DataFrame
            One row for each data set and one with mean ranks, one column for each model.
        """
        return tables.to_pandas(self.table(metric or self.metrics[0]), "data")

    @described_like(to_frame)
    def to_latex(self, metric: str | None = None) -> str:
        """Return :meth:`table` as a LaTeX table, for the package booktabs.

        Returns
        -------
        str
            A ``tabular``; the best model of each row is bold.
        """
        return tables.to_latex(*self._cells(metric or self.metrics[0]))

    def plot(self, metric: str | None = None, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
        """Draw mean ranks and the critical difference of the Nemenyi test.

        Parameters
        ----------
        metric : str, default=None
            One of the metrics; None for the first.
        alpha : float, default=0.05
            Significance level.
        ax : matplotlib axes, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib axes
            The axes; bars join models that do not differ significantly.
        """
        from unnaive.explain.critical_difference import plot_critical_difference  # noqa: PLC0415

        metric = metric or self.metrics[0]
        found = self.nemenyi(metric, alpha)
        ax = plot_critical_difference(found.ranks, found.critical, ax)
        ax.set_title(
            f"mean rank by {tables.metric_title(metric)}, {found.n} data sets", fontsize=10
        )
        return ax

    def to_dict(self) -> State:
        """Return everything as plain values.

        Returns
        -------
        dict
            All comparisons, and the tests of every metric.
        """
        return {
            "data": {name: part.to_dict() for name, part in self.parts.items()},
            "friedman": {metric: asdict(self.friedman(metric)) for metric in self.metrics},
            "critical_difference": {m: self.nemenyi(m).critical for m in self.metrics},
        }

    def to_html(self, title: str = "Comparison of models") -> str:
        """Return an HTML page without external files, light or dark as the reader's screen.

        It has a critical-difference diagram, the tests and a table for each metric, and a table
        for each data set.

        Parameters
        ----------
        title : str
            Title of the page.

        Returns
        -------
        str
            The page.
        """
        return "\n".join(page_of_many(self, title)) + "\n"

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON; NaN and infinity become null.

        Returns
        -------
        str
            The JSON text.
        """
        return json.dumps(plain(self.to_dict()), ensure_ascii=False, indent=2, default=str)
