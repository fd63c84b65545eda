"""Numeric and categorical features side by side, in one Gaussian model."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts.label_cells import LabelCells, LabelRows, cells_of
from unnaive.exceptions import UnnaiveError
from unnaive.information.gaussian import (
    gaussian_information,
    gaussian_relevance,
    label_information,
)
from unnaive.io.frames import Frame
from unnaive.models.fitted import Names
from unnaive.models.gaussian import GaussianClassifier, ShrinkingClassifier
from unnaive.models.gaussian_parts import GaussianRecipe, NumberRows, Shape, shares_of
from unnaive.models.nb import NaiveBayes
from unnaive.parameters import frequency, number, one_of, whole
from unnaive.schema.settings import categorical_mask, declared_categories, missing_mask
from unnaive.structure.graph import FamilyGraph, Graph
from unnaive.tables.conditional_gaussian import CellTables, ClassDensities
from unnaive.tables.gaussian import (
    GaussianTables,
    complete_forms,
    network_covariances,
    network_forms,
)

if TYPE_CHECKING:
    from typing import Any

    from unnaive._typing import AnyArray, FloatArray, IntArray, State
    from unnaive.counts.moments import Moments
    from unnaive.io.frames import Column
    from unnaive.models.base import CountsClassifier
    from unnaive.models.gaussian_parts import GaussianFitted, Spread
    from unnaive.models.inputs import Given
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms

    Dependences = tuple[tuple[int, ...], tuple[int, ...]]

_MOST_CELLS = 2**18  # of the combinations of the categorical parents of a number


@dataclass(eq=False, repr=False, kw_only=True)
class MixedClassifier(GaussianClassifier):
    """Base class of the Gaussian models that also take categorical features.

    The categorical features have a model of counts, whose log joint is added to the densities of
    the numbers.

    Parameters
    ----------
    categorical_features : list of names or positions, or mask, default=None
        Numeric features that are categorical; strings and booleans are always categorical.
    categories : dict or list, default=None
        Declared categories of some features, ``{"smoker": ["no", "ex", "yes"]}``, or a list with
        one entry (or None) per feature. These features are categorical.
    min_frequency : int or float, default=None
        Categories of labels with fewer samples, or with a smaller share of the samples (a number
        below 1), are grouped into one category "other values".
    max_categories : int, default=None
        Largest number of categories of a feature of labels; the rarest are grouped as above.
    missing_as_category : bool, list of names or positions, or mask, default=False
        Categorical features in which missing values are a category of their own; True: all of
        them. Numeric features have no categories, and their missing values no influence.
    smoothing : policy, str or None, default=None
        Smoothing of the categorical features; None: ``Laplace(a=1.0)``.
    handle_unknown : {"missing", "error"}, default="missing"
        Whether an unseen category counts as a missing value at prediction, or is an error.
    {parameters}
    """

    categorical_features: Any = None
    categories: Any = None
    min_frequency: float | None = frequency(None)
    max_categories: int | None = whole(None, 2, also=(None,))
    missing_as_category: Any = False
    smoothing: Any = None
    handle_unknown: str = one_of("missing", "error")

    def _number_columns(self, frame: Frame) -> IntArray:
        chosen = categorical_mask(self.categorical_features, frame.names)
        if chosen is None:
            raise ValueError(
                'categorical_features="auto" is for models of counts; here numeric columns stay '
                "numeric unless they are named"
            )
        cells = [frame.column(index) for index in range(len(frame.names))]
        # A column without values is a number, whatever kind of table it comes from.
        text = np.array([c.is_text and (c.declared or not c.missing.all()) for c in cells])
        declared = np.isin(frame.names, list(declared_categories(self.categories, frame.names)))
        numeric = ~(text | chosen | declared)
        every = isinstance(self.missing_as_category, bool)
        wrong = numeric & missing_mask(self.missing_as_category, frame.names)
        if wrong.any() and not every:
            raise ValueError(
                f"missing_as_category= names column {frame.names[int(np.argmax(wrong))]!r}, which "
                "is numeric and has no categories here; take it out, or use a model that cuts "
                "numbers into bins"
            )
        return np.flatnonzero(numeric)

    def _fit_categories(
        self, batch: Given, columns: IntArray, labels: AnyArray
    ) -> CountsClassifier | None:
        others = without(batch.frame, columns)
        if not others.names:
            return None
        names = np.array(batch.frame.names)
        model = self._label_model(self._label_settings(len(labels)))
        model.set_params(
            categories=declared_categories(self.categories, batch.frame.names),
            min_frequency=self.min_frequency,
            max_categories=self.max_categories,
            missing_as_category=np.isin(
                others.names, names[missing_mask(self.missing_as_category, batch.frame.names)]
            ),
        )
        return model.partial_fit(others, batch.target, labels.tolist(), batch.weights)

    def _changed_categories(self, action: str, batch: Given) -> CountsClassifier | None:
        fitted = self.fitted_
        if fitted.categories is None:
            return None
        model, others = copy(fitted.categories), without(batch.frame, fitted.columns)
        getattr(model, action)(others, batch.target, sample_weight=batch.weights)
        return model

    def _label_model(self, settings: State) -> CountsClassifier:
        """Model of the categorical columns."""
        return NaiveBayes(**settings)

    def _label_settings(self, n_classes: int) -> State:
        """Return its parameters, with a uniform prior: the prior is counted once."""
        return {
            "discretize": None,
            "smoothing": self.smoothing,
            "handle_unknown": self.handle_unknown,
            "class_prior": np.full(n_classes, 1.0 / n_classes),
        }

    def _restored_categories(
        self, state: State | None, labels: AnyArray
    ) -> CountsClassifier | None:
        if state is None:
            return None
        model = self._label_model(self._label_settings(len(labels)))
        fitted = model._restored(state, labels, Names(0, None))
        names = Names.of(fitted.schema.names, named=True)
        model._fitted = replace(fitted, names=names)
        return model

    def _number_column(self, column: Column) -> FloatArray:
        if column.is_text and not column.missing.all():
            label = (column.categories or ())[column.values[~column.missing][0]]
            raise UnnaiveError(
                f"column {column.name!r} held numbers in fit and has the label {label!r} now; "
                "convert it to numbers"
            )
        return super()._number_column(column)

    def _joint_of_frame(self, frame: Frame, fitted: GaussianFitted) -> FloatArray:
        if fitted.categories is None:
            return super()._joint_of_frame(frame, fitted)
        others, numbers = without(frame, fitted.columns), self.numbers(frame, fitted.columns)
        codes = fitted.categories.codes_of(others, self.n_jobs) if fitted.shape.in_cells else None
        joint = fitted.joint(numbers, self.n_jobs, codes)
        labels = fitted.categories.predict_joint_log_proba(others)
        return np.asarray(joint + labels + np.log(len(fitted.labels)))

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint probability of samples into additive terms of features."""
        from unnaive.tables.terms import Terms  # noqa: PLC0415 - loads when asked

        fitted = self.fitted_
        if fitted.categories is None:
            return super().terms_of(frame)
        codes = fitted.categories.codes_of(without(frame, fitted.columns), self.n_jobs)
        numbers = fitted.terms(self.numbers(frame, fitted.columns), codes).answered(fitted.prior)
        labels = fitted.categories.fitted_.tables.terms(codes)
        kept = np.setdiff1d(np.arange(len(frame.names)), fitted.columns).tolist()
        keys = tuple(
            (tuple(kept[column] for column in columns), tuple(kept[column] for column in above))
            for columns, above in labels.keys
        )
        parts = np.concatenate([numbers.parts, labels.parts], axis=2)
        return Terms((*numbers.keys, *keys), numbers.base, parts).answered(fitted.prior)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that strings and categories are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class MixedNetwork(MixedClassifier, ShrinkingClassifier):
    r"""Base class of the networks of numbers, which may also depend on categorical features.

    With categorical features, ``partial_fit`` and ``forget`` keep the parents of the first fit. A
    missing number is integrated out exactly. If the categorical parent of a number is missing, the
    number has its distribution over all samples of the class, which is not the mixture of its
    distributions within categories, but one normal distribution. There is no closed form of
    leave-one-out.

    Parameters
    ----------
    cell_weight : float, default=20.0
        Number of samples that the mean and covariance of the whole class count for in each
        category, or combination of categories, of the categorical parents of a number.
    smoothing : policy, str or None, default=None
        Smoothing of the categorical features; None: ``Laplace(a=1.0)``.
    {parameters}
    """

    cell_weight: float = number(20.0)

    @abstractmethod
    def dependences(
        self, relevance: FloatArray, information: FloatArray, by_label: FloatArray
    ) -> list[Dependences]:
        """Choose the parents of numeric features, parents before children.

        Parameters
        ----------
        relevance : ndarray of shape (m,)
            I(X_i;Y) of the numeric features.
        information : ndarray of shape (m, m)
            I(X_i;X_j|Y) of pairs of them.
        by_label : ndarray of shape (m, l)
            I(X_i;X_j|Y) of numeric features and categorical ones.

        Returns
        -------
        list of (tuple, tuple)
            Every numeric feature followed by its numeric parents; its categorical parents.
        """

    def recipe(self) -> GaussianRecipe:
        """Learn the network from information, and make its densities."""
        return GaussianRecipe(self._shape, self._learn)

    def _learn(self, spread: Spread, rows: NumberRows | None) -> State:
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
        weight = float(self.cell_weight)
        return ClassDensities(spread.means, spread.covariances, moments.origin[used], added, weight)

    def _shape(self, spread: Spread, schema: Schema, places: IntArray) -> Shape:
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

    def _label_rows(
        self, batch: Given, columns: IntArray, categories: CountsClassifier
    ) -> LabelRows:
        codes = categories.codes_of(without(batch.frame, columns), self.n_jobs)
        return LabelRows(codes, categories.schema_.sizes)

    def _changed_cells(self, action: str, batch: Given) -> State | None:
        fitted = self.fitted_
        if fitted.categories is None:
            return None
        X, classes = (
            self.numbers(batch.frame, fitted.columns),
            self.schema_.encode_target(batch.target),
        )
        labels = self._label_rows(batch, fitted.columns, fitted.categories)
        cells = Cells(NumberRows(X, classes, batch.weights, labels), fitted.moments)
        states, learned = {}, fitted.spread.learned
        for key, state in learned["cells"].items():
            known = LabelCells.from_state(state)
            change = cells.of(known.columns, known.labels)
            states[key] = (known + change if action == "partial_fit" else known - change).state()
        return {"cells": states, "by_label": learned["by_label"]}


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


def without(frame: Frame, columns: IntArray) -> Frame:
    """Return the other columns of a frame."""
    kept = np.setdiff1d(np.arange(len(frame.names)), columns)
    names = tuple(frame.names[i] for i in kept)
    return Frame(names, frame.n_rows, tuple(frame.column(i) for i in kept))
