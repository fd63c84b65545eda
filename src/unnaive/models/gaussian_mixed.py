"""Numeric and categorical features side by side, in one Gaussian model."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts.label_cells import LabelCells, LabelRows
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Frame
from unnaive.models.fitted import Names
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_cells import Cells
from unnaive.models.gaussian_parts import NumberRows
from unnaive.models.nb import NaiveBayes
from unnaive.parameters import frequency, one_of, whole
from unnaive.schema.settings import categorical_mask, declared_categories, missing_mask

if TYPE_CHECKING:
    from typing import Any

    from unnaive._typing import AnyArray, FloatArray, IntArray, State
    from unnaive.io.frames import Column
    from unnaive.models.base import CountsClassifier
    from unnaive.models.gaussian_parts import GaussianFitted
    from unnaive.models.inputs import Given
    from unnaive.tables.terms import Terms


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
        model = self._label_model(len(labels))
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

    def _label_model(self, n_classes: int) -> CountsClassifier:
        """Make a model of the categorical columns, with a uniform prior: it is counted once."""
        return (self.recipe().labels or NaiveBayes)(
            discretize=None,
            smoothing=self.smoothing,
            handle_unknown=self.handle_unknown,
            class_prior=np.full(n_classes, 1.0 / n_classes),
        )

    def _restored_categories(
        self, state: State | None, labels: AnyArray
    ) -> CountsClassifier | None:
        if state is None:
            return None
        model = self._label_model(len(labels))
        fitted = model._restored(state, labels, Names(0, None))
        names = Names.of(fitted.schema.names, named=True)
        model._fitted = replace(fitted, names=names)
        return model

    def _label_rows(
        self, batch: Given, columns: IntArray, categories: CountsClassifier
    ) -> LabelRows | None:
        if not self.recipe().in_cells:
            return None
        codes = categories.codes_of(without(batch.frame, columns), self.n_jobs)
        return LabelRows(codes, categories.schema_.sizes)

    def _changed_cells(self, action: str, batch: Given) -> State | None:
        fitted = self.fitted_
        if fitted.categories is None or not fitted.shape.in_cells:
            return None
        X = self.numbers(batch.frame, fitted.columns)
        classes = self.schema_.encode_target(batch.target)
        labels = self._label_rows(batch, fitted.columns, fitted.categories)
        cells = Cells(NumberRows(X, classes, batch.weights, labels), fitted.moments)
        states, learned = {}, fitted.spread.learned
        for key, state in learned["cells"].items():
            known = LabelCells.from_state(state)
            change = cells.of(known.columns, known.labels)
            states[key] = (known + change if action == "partial_fit" else known - change).state()
        return {"cells": states, "by_label": learned["by_label"]}

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


def without(frame: Frame, columns: IntArray) -> Frame:
    """Return the other columns of a frame."""
    kept = np.setdiff1d(np.arange(len(frame.names)), columns)
    names = tuple(frame.names[i] for i in kept)
    return Frame(names, frame.n_rows, tuple(frame.column(i) for i in kept))
