"""Networks of numbers, which may also depend on categorical features: a part of recipes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.label_cells import LabelCells, cells_of
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import (
    gaussian_information,
    gaussian_relevance,
    label_information,
)
from unnaive.models.gaussian_parts import Shape, shares_of
from unnaive.parameters import described, number
from unnaive.structure.graph import FamilyGraph, Graph
from unnaive.tables.conditional_gaussian import CellTables, ClassDensities
from unnaive.tables.gaussian import (
    GaussianTables,
    complete_forms,
    network_covariances,
    network_forms,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.counts.moments import Moments
    from unnaive.models.gaussian_parts import NumberRows, Spread
    from unnaive.schema import Schema

    Dependences = tuple[tuple[int, ...], tuple[int, ...]]

_MOST_CELLS = 2**18  # of the combinations of the categorical parents of a number


def cell_weight_of() -> float:
    """Declare the parameter ``cell_weight``."""
    return described(
        number(20.0),
        "float, default=20.0",
        "Number of samples that the mean and covariance of the whole class count for in each "
        "category, or combination of categories, of the categorical parents of a number.",
    )


@dataclass(frozen=True, eq=False)
class MixedNetwork:
    r"""Learns a network of numbers, which may also depend on categorical features.

    With categorical features, ``partial_fit`` and ``forget`` keep the parents of the first fit. A
    missing number is integrated out exactly. If the categorical parent of a number is missing, the
    number has its distribution over all samples of the class, which is not the mixture of its
    distributions within categories, but one normal distribution. There is no closed form of
    leave-one-out.

    Attributes
    ----------
    learn_spread : callable (spread, rows) -> dict
        Learns covariances, see :func:`unnaive.models.shrinkage.learn_spread`.
    dependences : callable (relevance, information, by_label) -> list of (tuple, tuple)
        Chooses the parents of numbers, parents before children, from I(X_i;Y) of the numbers (m,),
        I(X_i;X_j|Y) of pairs of them (m, m), and of numbers and categorical features (m, l). It
        returns every number followed by its numeric parents; and its categorical parents.
    cell_weight : float
        Number of samples that the whole class counts for in each cell.
    """

    learn_spread: Callable[[Spread, NumberRows | None], State]
    dependences: Callable[[FloatArray, FloatArray, FloatArray], list[Dependences]]
    cell_weight: float

    def learn(self, spread: Spread, rows: NumberRows | None) -> State:
        """Learn covariances and parents; with categorical parents, the moments in their cells."""
        learned = self.learn_spread(spread, rows)
        if "cells" in spread.learned:
            return {**learned, **spread.learned}
        moments, spread = spread.moments, replace(spread, learned=learned)
        used, shares = spread.used, shares_of(moments.class_weights)
        covariances = spread.covariances
        relevance = gaussian_relevance(covariances, shares, moments.variances[used])
        information = gaussian_information(covariances, shares)
        if rows is None or rows.labels is None:
            families = self.dependences(relevance, information, np.zeros((len(used), 0)))
            return {**learned, "families": [list(family) for family, _ in families]}
        cells = Cells(rows, moments)
        by_label = self._by_label(cells, spread)
        chosen = self.dependences(relevance, information, by_label[used])
        states = {}
        for place, (family, labels) in enumerate(chosen):
            few = affordable(labels, rows.labels.sizes)
            states[str(place)] = cells.of(tuple(used[list(family)].tolist()), few).state()
        return {**learned, "cells": states, "by_label": by_label}

    def _by_label(self, cells: Cells, spread: Spread) -> FloatArray:
        """I(X_i;X_j|Y) of all columns of numbers and categorical columns; shape (d, l)."""
        classes, used = self._classes(spread), spread.used.tolist()
        by_label = np.zeros((len(spread.moments.schema.names), len(cells.labels.sizes)))
        for place, column in enumerate(used):
            within = classes.covariances[:, place, place]
            for label in range(by_label.shape[1]):
                pair = cells.of((column,), (label,))
                variances = classes.shrunk(pair, [place])[1][:, :-1, 0, 0]
                by_label[column, label] = label_information(pair.weights[:, :-1], variances, within)
        return by_label

    def _classes(self, spread: Spread) -> ClassDensities:
        """Means and covariances of the classes, towards which cells are shrunk."""
        used, moments = spread.used, spread.moments
        added = spread.added(moments.variances[used])
        known = (spread.means, spread.covariances, moments.origin[used], added)
        return ClassDensities(*known, self.cell_weight)

    def shape(self, spread: Spread, schema: Schema, places: IntArray) -> Shape:
        """Make structure and densities of the network."""
        if "cells" in spread.learned:
            return self._shape_in_cells(spread, schema, places.tolist())
        families = [tuple(family) for family in spread.learned["families"]]
        named = tuple(tuple(int(places[column]) for column in family) for family in families)
        graph, covariances = FamilyGraph(schema.names, schema.target, named), spread.covariances
        implied = partial(network_covariances, covariances, families)
        forms = network_forms(covariances, families)
        tables = GaussianTables(spread.log_prior, spread.means, implied, complete_forms, forms)
        return Shape.of_graph(graph, tables, places)

    def _shape_in_cells(self, spread: Spread, schema: Schema, places: list[int]) -> Shape:
        """Make the densities of numbers that may depend on categorical columns."""
        classes, place = self._classes(spread), {c: i for i, c in enumerate(spread.used.tolist())}
        known = [LabelCells.from_state(state) for state in spread.learned["cells"].values()]
        families = [
            classes.family(LabelCells.empty((column,), len(spread.log_prior)), [place[column]])
            for column in place
            if column not in {cells.columns[0] for cells in known}  # had no values in the fit
        ]
        for cells in known:
            if cells.columns[0] in place:
                kept = cells.narrowed([c for c in cells.columns if c in place])
                families.append(classes.family(kept, [place[c] for c in kept.columns]))
        numbers = set(spread.moments.schema.names)
        others = [i for i, name in enumerate(schema.names) if name not in numbers]
        through: list[tuple[int, ...]] = [()] * len(places)
        labels: list[tuple[int, ...]] = [()] * len(places)
        for family in families:
            through[family.child] = family.parents
            labels[family.child] = tuple(others[label] for label in family.labels)
        named = [
            (places[i], *(places[p] for p in through[i]), *labels[i]) for i in range(len(places))
        ]
        if isinstance(spread.labels, Graph):
            named += [
                (others[c], *(others[p] for p in spread.labels.parents_of(c)))
                for c in spread.labels.used.tolist()
            ]
        graph = FamilyGraph(schema.names, schema.target, tuple(sorted(named)))
        tables = CellTables(spread.log_prior, tuple(families))
        order = np.array([family.child for family in families], dtype=np.int64)
        return Shape(graph, tables, through, [order], labels)


class Cells:
    """Rows whose moments are taken within cells of categorical columns."""

    def __init__(self, rows: NumberRows, moments: Moments) -> None:
        if rows.labels is None:
            raise UnnaiveError("these rows have no categorical columns")
        self.labels, self._classes = rows.labels, rows.classes
        self._away = rows.X - moments.origin
        self._weights = np.ones(len(rows.X)) if rows.weights is None else rows.weights
        self._n_classes = len(moments.class_weights)

    def of(self, columns: tuple[int, ...], labels: tuple[int, ...]) -> LabelCells:
        """Moments of some numbers in the cells of some categorical columns."""
        rows = (self._away, self._classes, self.labels, self._weights, self._n_classes)
        return cells_of(columns, labels, *rows)


def affordable(labels: tuple[int, ...], sizes: IntArray) -> tuple[int, ...]:
    """Keep the first categorical parents whose combinations are few enough to have cells."""
    kept: list[int] = []
    for label in labels:
        if np.prod([sizes[one] + 1.0 for one in (*kept, label)]) <= _MOST_CELLS:
            kept.append(label)
    return tuple(kept)
