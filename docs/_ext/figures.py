"""The figures of the pages; every build draws them into ``docs/figures``."""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pictures
from matplotlib.figure import Figure

import unnaive
from unnaive.datasets import load_wdbc
from unnaive.explain import (
    plot_cumulated_information,
    plot_score_path,
    plot_set_weights,
    plot_size_path,
    plot_structure,
    plot_term_path,
    plot_threshold_path,
)
from unnaive.papers.curves import draw_curve
from unnaive.report import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
NUMBERS = ("age", "saturation")
SETTINGS = {"font.size": 9, "svg.hashsalt": "unnaive", "axes.spines.top": False}


@cache
def patients() -> tuple[Any, Any]:
    """Return the invented patients and their classes."""
    table = pd.read_csv(ROOT / "examples" / "patients.csv")
    return table.drop(columns="pneumonia"), table["pneumonia"]


@cache
def fitted(key: str, **settings: Any) -> Any:
    """Fit a model on the patients."""
    return unnaive.make(key, **settings).fit(*patients())


def structure(key: str) -> Any:
    """Draw the structure of a model."""
    return plot_structure(fitted(key))


def members_of_aode() -> Figure:
    """Draw two of the stars that AODE averages."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    for ax, parent in zip(figure.subplots(2, 1), ("age", "fever"), strict=True):
        fitted("spode", parent=parent).structure_.plot(ax)
        ax.set_title(f"super-parent {parent}", fontsize=9)
    return figure


def trees_of_classes() -> Figure:
    """Draw the tree of every class."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    model = fitted("tan-multinet")
    graphs = zip(figure.subplots(1, 2), model.structure_.graphs, model.classes_, strict=True)
    for ax, graph, label in graphs:
        graph.plot(ax)
        ax.set_title(f"pneumonia = {label}", fontsize=9)
    return figure


def hidden_parents() -> Figure:
    """Draw the weights of the hidden parents of HNB and PHNB."""
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, key in zip(axes, ("hnb", "phnb"), strict=True):
        bags = fitted(key).structure_
        shown = ax.imshow(np.where(bags.members, bags.weights, np.nan), cmap="Blues", vmin=0)
        ax.set_xticks(range(len(bags.names)), bags.names, rotation=90)
        ax.set_title({"hnb": "hnb: all other features", "phnb": "phnb: informative features"}[key])
    axes[0].set_yticks(range(len(bags.names)), bags.names)
    figure.colorbar(shown, ax=axes, label="weight in the row's hidden parent", shrink=0.8)
    return figure


def thresholds() -> Any:
    """Draw the leave-one-out scores of PHNB over its thresholds."""
    data = load_wdbc()
    return plot_threshold_path(unnaive.PHNB(threshold="loo").fit(data.X, data.y))


def score_path() -> Figure:
    """Draw the information that each feature adds, and the accuracy of the first features."""
    data = load_wdbc()
    X = pd.DataFrame(data.X, columns=[str(name) for name in data.names])
    model = unnaive.GeneralizedNB(method="greedy").fit(X[::2], data.y[::2])
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_cumulated_information(model, left)
    left.tick_params(axis="x", labelsize=7)
    plot_score_path(model, X[1::2], data.y[1::2], ax=right)
    return figure


def junction(key: str, **settings: Any) -> Any:
    """Draw clusters and separators of a model."""
    return fitted(key, **settings).junction_tree_.plot()


def stored_curve(paper: str, name: str) -> Figure:
    """Draw a figure of a paper from the stored results."""
    path = ROOT / "docs" / "results" / f"{paper}.json"
    return draw_curve(json.loads(path.read_text(encoding="utf-8"))["curves"][name])


def sizes() -> Figure:
    """Draw training and leave-one-out scores over the size of clusters."""
    data = load_wdbc()
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    X, y = data.X[:, :15], data.y
    plot_size_path(unnaive.CherryTreeNB(order="loo").fit(X, y), left)
    plot_size_path(unnaive.DecomposableNB(max_clique="loo", penalty=None).fit(X, y), right)
    left.set_title("cherry tree")
    right.set_title("chordal graph without a penalty")
    return figure


def few_terms() -> Figure:
    """Draw the held-out log loss over the number of terms."""
    data = load_wdbc()
    model = unnaive.WeightedBayes(max_terms=1).fit(data.X, data.y)
    return plot_term_path(model).figure


def intervals() -> Figure:
    """Draw the confidence intervals of P(fever | c), within which IENB changes probabilities."""
    counts = fitted("nb").counts_
    column = counts.schema.names.index("fever")
    table, labels = counts.marginal(column) + 1, counts.schema.columns[column].categories
    chances = table / table.sum(axis=1, keepdims=True)
    spread = 1.96 * np.sqrt(chances * (1 - chances) / counts.marginal(column).sum(axis=1)[:, None])
    figure = Figure(figsize=(6, 2.8), layout="constrained")
    ax = figure.subplots()
    for shift, (label, p, s) in enumerate(zip(counts.schema.classes, chances, spread, strict=True)):
        places = np.arange(len(labels)) + 0.2 * shift
        ax.errorbar(places, p, yerr=s, fmt="o", capsize=4, label=f"pneumonia = {label}")
    ax.set_xticks(np.arange(len(labels)) + 0.1, labels)
    ax.set_xlabel("fever")
    ax.set_ylabel("P(fever | class)")
    ax.legend()
    return figure


def losses() -> Figure:
    """Draw the loss of iterative Bayes after each pass."""
    path = fitted("iterative").loss_path_
    figure = Figure(figsize=(5, 2.8), layout="constrained")
    ax = figure.subplots()
    ax.plot(path, marker="o")
    ax.set_xlabel("passes over the rows (0: naive Bayes)")
    ax.set_ylabel("mean of 1 − P(y | x)")
    return figure


def regions() -> Figure:
    """Draw the decision regions of three models."""
    X, y = patients()
    known = X[list(NUMBERS)].dropna()
    labels = y[known.index]
    sides = [np.linspace(known[name].min(), known[name].max(), 120) for name in NUMBERS]
    grid = pd.DataFrame(
        {name: side.ravel() for name, side in zip(NUMBERS, np.meshgrid(*sides), strict=True)}
    )
    figure = Figure(figsize=(9, 3), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    for ax, key in zip(axes, ("nb", "gaussian-nb", "full-bayes"), strict=True):
        chance = unnaive.make(key).fit(known, labels).predict_proba(grid)[:, 1]
        shape = (len(sides[1]), len(sides[0]))
        shown = ax.contourf(*sides, chance.reshape(shape), np.linspace(0, 1, 11), cmap="RdBu_r")
        for label, marker in (("no", "."), ("yes", "x")):
            rows = known[labels == label]
            ax.plot(rows[NUMBERS[0]], rows[NUMBERS[1]], marker, color="0.15", markersize=3)
        ax.set_title(key)
        ax.set_xlabel(NUMBERS[0])
    axes[0].set_ylabel(NUMBERS[1])
    figure.colorbar(shown, ax=axes, label="P(pneumonia)")
    return figure


@cache
def k_naive() -> unnaive.KNaiveBayes:
    """Fit k-naive Bayes to the ten mean features of WDBC."""
    data = load_wdbc()
    names = [str(name).removeprefix("mean ") for name in data.names[:10]]
    return unnaive.KNaiveBayes(var_smoothing=0).fit(
        pd.DataFrame(data.X[:, :10], columns=names), data.y
    )


def derivatives() -> Figure:
    """Draw the weights by which k-naive Bayes chooses its independent features."""
    model = k_naive()
    names = model.feature_names_in_
    weights = model.attribute_weights_[0]
    figure = Figure(figsize=(6, 3), layout="constrained")
    ax = figure.subplots()
    naive = [name in model.naive_columns_ for name in names]
    ax.barh(names, weights, color=np.where(naive, "C1", "C0"))
    ax.invert_yaxis()
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.set_xscale("symlog", linthresh=0.1)
    ax.set_xlabel("mean log ddr (orange: treated as independent)")
    return figure


def set_weights() -> Figure:
    """Draw log weights of sets of two and of five features against accuracy."""
    data = load_wdbc()
    X, y = data.X[:, :10], data.y
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for ax, size in zip(figure.subplots(1, 2), (2, 5), strict=True):
        model = unnaive.KNaiveBayes(k=size, var_smoothing=0).fit(X[::2], y[::2])
        plot_set_weights(model, X[1::2], y[1::2], ax=ax)
    return figure


def column_weights() -> Figure:
    """Draw the weights of weighted naive Bayes."""
    graph = fitted("wanbia").structure_
    figure = Figure(figsize=(6, 2.6), layout="constrained")
    ax = figure.subplots()
    ax.barh([graph.names[column] for column in graph.terms[:, 0]], graph.weights)
    ax.invert_yaxis()
    ax.axvline(1, color="0.6", linestyle=":")
    ax.set_xlabel("weight (naive Bayes: 1)")
    return figure


def network() -> Any:
    """Draw a network in which the class may have parents."""
    return plot_structure(fitted("bayesnet", augmented=False))


def waterfall() -> Any:
    """Draw the contributions from the prior to the posterior for one patient."""
    return fitted("tan").explain(patients()[0][3:4]).plot()


FIGURES: dict[str, Callable[[], Any]] = {
    **{
        key: (lambda key=key: structure(key))
        for key in (
            *("nb", "spode", "tan", "odanb", "kdb", "gnb-a", "gnb-o", "decomposable"),
            *("cherry", "bsej", "phnb", "pazzani-eda"),
        )
    },
    "counts": lambda: pictures.counts_and_tables(fitted("tan")),
    "information": lambda: pictures.information(fitted("tan")),
    "aode": members_of_aode,
    "bayesnet": network,
    "wanbia": column_weights,
    "waterfall": waterfall,
    "tan-multinet": trees_of_classes,
    "hidden-parents": hidden_parents,
    "phnb-path": thresholds,
    "gnb-path": score_path,
    "gnb-junction": partial(junction, "gnb-o"),
    "cherry-junction": partial(junction, "cherry", order=4),
    **{f"paper-{name}": partial(stored_curve, "gnb", name) for name in ("7", "8", "9", "10", "11")},
    "thesis-balance": partial(stored_curve, "knaive", "3-2"),
    "cluster-sizes": sizes,
    "few-terms": few_terms,
    "ienb": intervals,
    "iterative": losses,
    "gaussian": regions,
    "k-naive": derivatives,
    "k-naive-sets": set_weights,
    "k-naive-set": lambda: plot_structure(k_naive()),
}


def draw_all(app: Sphinx) -> None:
    """Draw every figure."""
    folder = Path(app.srcdir) / "figures"
    folder.mkdir(exist_ok=True)
    with mpl.rc_context(SETTINGS):
        for name, draw in FIGURES.items():
            drawn = draw()
            figure = drawn if isinstance(drawn, Figure) else drawn.figure
            figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})


def write_report(app: Sphinx, failed: Exception | None) -> None:
    """Write the report that the page on reports points to."""
    if failed is None and app.builder.format == "html":
        X, y = patients()
        settings = {"folds": 5, "name": "patients.csv", "title": "Who has pneumonia?"}
        write(fitted("tan"), X, y, Path(app.outdir) / "report.html", **settings)


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw before pages are read; write the report, which is not a page of Sphinx, last."""
    app.connect("builder-inited", draw_all)
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
