"""The figures of the page "How it works": counts, probabilities and information of the patients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from unnaive.information import conditional_mutual_information

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHILD, PARENT = "crp", "fever"


def table_of(model: Any) -> tuple[Any, list[str], list[str]]:
    """Return counts by class, fever and crp, and the labels of both features."""
    schema = model.counts_.schema
    child, parent = schema.names.index(CHILD), schema.names.index(PARENT)
    low, high = schema.columns[child].edges
    bins = [f"≤ {low:g}", f"{low:g} to {high:g}", f"> {high:g}"]
    return model.counts_.pair(parent, child), list(schema.columns[parent].categories), bins


def show(ax: Axes, table: Any, form: str, labels: tuple[list[str], list[str]]) -> None:
    """Draw a matrix of numbers with a number in each cell."""
    ax.imshow(table, cmap="Blues", vmin=0, vmax=table.max() * 1.6)
    for (i, j), number in np.ndenumerate(table):
        ax.text(j, i, format(number, form), ha="center", va="center")
    ax.set_yticks(range(len(labels[0])), labels[0])
    ax.set_xticks(range(len(labels[1])), labels[1])
    ax.tick_params(length=0)


def counts_and_tables(model: Any) -> Figure:
    """Draw the counts of fever and crp in each class, and the probabilities made from them."""
    table, fevers, bins = table_of(model)
    figure = Figure(figsize=(8.4, 5.4), layout="constrained")
    for row, label, counts in zip(figure.subplots(2, 2), model.classes_, table, strict=True):
        smoothed = (counts + 1) / (counts.sum(axis=1, keepdims=True) + counts.shape[1])
        show(row[0], counts, "d", (fevers, bins))
        show(row[1], smoothed, ".2f", (fevers, bins))
        row[0].set_ylabel(f"fever (pneumonia = {label})")
    row[0].set_xlabel("crp")
    row[1].set_xlabel("crp")
    top = figure.axes
    top[0].set_title("counts N(class, fever, crp)")
    top[1].set_title("table P(crp | fever, class)")
    return figure


def information(model: Any) -> Figure:
    """Draw I(X_i; X_j | Y) of all pairs, with the edges of TAN's tree framed."""
    names = list(model.counts_.schema.names)
    values = conditional_mutual_information(model.counts_)
    figure = Figure(figsize=(5.6, 5), layout="constrained")
    ax = figure.subplots()
    show(ax, np.where(np.eye(len(names), dtype=bool), 0, values), ".2f", (names, names))
    ax.tick_params(axis="x", rotation=60)
    for parent, child, _ in model.structure_.edges:
        for i, j in ((parent, child), (child, parent)):
            corner = (names.index(j) - 0.5, names.index(i) - 0.5)
            ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="C1", linewidth=2.5))
    return figure
