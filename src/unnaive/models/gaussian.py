"""Gaussian models: numeric features without bins, and a Gaussian density for every class."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from unnaive._caution import caution
from unnaive._scikit import check_is_fitted
from unnaive.counts.moments import Moments, moments_of
from unnaive.exceptions import UnnaiveError
from unnaive.models.classifier import Classifier
from unnaive.models.gaussian_parts import (
    GaussianFitted,
    GaussianRecipe,
    NumberRows,
    Spread,
    refuse_huge,
    refuse_huge_columns,
    schema_of,
    shares_of,
)
from unnaive.models.inputs import require_same_classes
from unnaive.parameters import number
from unnaive.schema import Schema, learn_target
from unnaive.tables.gaussian import GaussianTables, log_conditionals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unnaive._typing import AnyArray, FloatArray, IntArray, Label, State
    from unnaive.counts.label_cells import LabelRows
    from unnaive.io.frames import Column, Frame
    from unnaive.models.base import CountsClassifier
    from unnaive.models.fitted import Names, Normalise
    from unnaive.models.inputs import Given
    from unnaive.models.trial import LeftOutRows, Trial
    from unnaive.tables.terms import Terms


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianClassifier(Classifier):
    """Base class of the models that learn from :class:`~unnaive.counts.moments.Moments`.

    A model returns the parts that define it by :meth:`recipe`.

    Parameters
    ----------
    var_smoothing : float, default=1e-9
        Share of the variance of a feature over all samples that is added to its variance in every
        class.
    ddof : int, default=0
        Variances are divided by the number of samples minus this.
    class_prior : array of shape (k,), default=None
        Prior probabilities of the classes; None: their shares of the samples.
    threshold_bias : dict or array of shape (k,), default=None
        Number added to the probability of each class before ``predict`` takes the largest.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn. Results do not depend on it.

    Attributes
    ----------
    moments_ : Moments
        Sums that means and covariances are computed from; they can be merged with ``+``.
    structure_ : Graph
        Dependence structure: which features depend on which.
    {attributes}
    """

    var_smoothing: float = number(1e-9)
    ddof: float = number(0)

    family: ClassVar[str] = "gaussian"
    repeats: ClassVar[str] = (
        "Two fits to the same samples agree exactly. Up to rounding, the order of the samples does "
        "not matter, and a sample of weight 2 counts like the same sample twice, also with missing "
        "values: sums over samples are more precise than their results."
    )

    @abstractmethod
    def recipe(self) -> GaussianRecipe:
        """Define the model by its parts, with the current parameters.

        Returns
        -------
        GaussianRecipe
            What is learned from moments, and the densities that are made of it.
        """

    @property
    def learns_from_moments(self) -> bool:
        """Whether all features are numeric, so that moments of folds can be merged."""
        return True

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> GaussianFitted: ...  # noqa: D102

    @property
    def moments_(self) -> Moments:
        """Sums that means and covariances are computed from."""
        return self.fitted_.moments

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit the model to samples of numeric features; missing values are allowed."""
        self._check()
        self._fitted = self._fit_given(self._training(X, y, sample_weight))
        return self

    def partial_fit(
        self,
        X: object,
        y: object,
        classes: Sequence[Label] | None = None,
        sample_weight: object = None,
    ) -> Self:
        """Add samples to the model.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features.
        y : array of shape (n,)
            Class labels.
        classes : list, default=None
            All class labels, on the first call; None: those in ``y``.
        sample_weight : array of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        Self
            The updated model.
        """
        self._check()
        if "_fitted" not in self.__dict__:
            batch = self._given(X, y, sample_weight, first=True)
            self._fitted = self._fit_given(batch, classes)
            return self
        require_same_classes(classes, self.schema_)
        return self._changed("partial_fit", X, y, sample_weight)

    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Unlearn samples: the model becomes what it would be without them, up to rounding.

        Parameters
        ----------
        X : array or table of shape (n, d)
            Features of samples that the model was fitted to.
        y : array of shape (n,)
            Their class labels.
        sample_weight : array of shape (n,), default=None
            Their weights.

        Returns
        -------
        Self
            The updated model.
        """
        check_is_fitted(self)
        self._check()
        return self._changed("forget", X, y, sample_weight)

    def _changed(self, action: str, X: object, y: object, sample_weight: object) -> Self:
        """Add samples to the moments (``partial_fit``), or subtract them (``forget``)."""
        fitted, batch = self.fitted_, self._given(X, y, sample_weight, first=False)
        categories, moments = self._changed_categories(action, batch), self._moments(batch)
        sums = fitted.moments
        moments = sums + moments if action == "partial_fit" else sums - moments
        known = (fitted.labels, fitted.names, fitted.columns, categories)
        cells = self._changed_cells(action, batch)
        self._fitted = self.of_moments(moments, None, *known, cells=cells)
        return self

    def _fit_given(self, batch: Given, classes: Sequence[Label] | None = None) -> GaussianFitted:
        frame, target = batch.frame, batch.target
        labels, codes = learn_target(target, classes)
        self.bias_of(labels.tolist())  # raises here rather than at the first prediction
        columns = self._number_columns(frame)
        categories = self._fit_categories(batch, columns, labels)
        names = [frame.names[column] for column in columns]
        schema = Schema.of_numbers(names, labels.tolist(), target.name)
        coded = None if categories is None else self._label_rows(batch, columns, categories)
        rows = NumberRows(self.numbers(frame, columns), codes, batch.weights, coded)
        if empty := np.flatnonzero(np.isnan(rows.X).all(axis=0)).tolist():
            listed = ", ".join(repr(names[column]) for column in empty)
            message = f"column {listed} has no value in any row and is ignored"
            caution(UserWarning(message))
        ready = self._prepared(rows)
        moments = moments_of(ready.X, ready.classes, schema, ready.weights)
        return self.of_moments(moments, rows, labels, batch.names, columns, categories)

    def of_moments(  # noqa: PLR0917 - all that a fitted value is made of
        self,
        moments: Moments,
        rows: NumberRows | None,
        labels: AnyArray,
        names: Names,
        columns: IntArray,
        categories: CountsClassifier | None = None,
        learned: State | None = None,
        cells: State | None = None,
    ) -> GaussianFitted:
        """Run the recipe on moments, and on samples if there are any.

        Parameters
        ----------
        moments : Moments
            Sums over samples.
        rows : NumberRows or None
            The samples; None: there are only moments.
        labels : ndarray of shape (k,)
            Class labels.
        names : Names
            Names of all features.
        columns : ndarray of shape (m,)
            Positions of the numeric features.
        categories : CountsClassifier, default=None
            Model of the other features.
        learned : dict, default=None
            What was learned before, of a saved model.
        cells : dict, default=None
            Moments in cells of categorical features, if there are no samples.

        Returns
        -------
        GaussianFitted
            The fitted value.
        """
        class_prior, recipe = self._prior_of(labels.tolist()), self.recipe()
        shares = shares_of(moments.class_weights) if class_prior is None else class_prior
        with np.errstate(divide="ignore"):
            prior = np.log(shares)
        scale = (float(self.var_smoothing), float(self.ddof), self._adds_largest)
        graph = None if categories is None else categories.fitted_.structure
        spread = Spread(moments, prior, *scale, learned=cells or {}, labels=graph)
        if learned is None:
            learned = {} if recipe.learn is None else recipe.learn(spread, rows)
        spread = replace(spread, learned=learned)
        schema = schema_of(moments, columns, categories)
        shape = recipe.shape(spread, schema, columns[moments.used])
        known = (labels, names, categories, self.settings())
        return GaussianFitted(spread, shape, columns, *known)

    def fit_and_leave_out(self, trial: Trial) -> LeftOutRows:
        """Fit the model to all samples of a trial, and without each fold."""
        with warnings.catch_warnings():  # about parameters of the candidate, which users do not set
            warnings.simplefilter("ignore", UserWarning)
            numbers, names = self._number_columns(trial.given.frame), trial.given.frame.names
            if not self.learns_from_moments or len(numbers) < len(names):
                return super().fit_and_leave_out(trial)
            self._check()
            return trial.of_moments(self)

    @property
    def _adds_largest(self) -> bool:
        """Whether a share of the largest variance is added to all variances, as in scikit-learn."""
        return False

    def _number_columns(self, frame: Frame) -> IntArray:
        """Positions of the numeric columns: all of them."""
        return np.arange(len(frame.names))

    def _fit_categories(
        self, batch: Given, columns: IntArray, labels: AnyArray
    ) -> CountsClassifier | None:
        """Fit a model to the columns that are not numeric; most models have none."""
        return None

    def _changed_categories(self, action: str, batch: Given) -> CountsClassifier | None:
        """Add rows to that model, or remove them."""
        return None

    def _label_rows(
        self, batch: Given, columns: IntArray, categories: CountsClassifier
    ) -> LabelRows | None:
        """Codes of the columns that are not numeric, if numbers may depend on them."""
        return None

    def _changed_cells(self, action: str, batch: Given) -> State | None:
        """Add rows to the moments in cells of these columns, or remove them."""
        return None

    def _prepared(self, rows: NumberRows) -> NumberRows:
        """Change the rows before the fit, as one paper does; other models do not."""
        return rows

    def _moments(self, batch: Given) -> Moments:
        codes, known = self.schema_.encode_target(batch.target), self.moments_
        X = self.numbers(batch.frame, self.fitted_.columns)
        return moments_of(X, codes, known.schema, batch.weights, known.origin)

    def numbers(self, frame: Frame, columns: IntArray) -> FloatArray:
        """Return numeric features as floats.

        Parameters
        ----------
        frame : Frame
            Samples.
        columns : ndarray of shape (m,)
            Positions of the numeric features.

        Returns
        -------
        ndarray of shape (n, m)
            Values, NaN where missing.
        """
        if frame.matrix is not None and len(columns) == len(frame.names):
            X = np.asarray(frame.matrix, dtype=np.float64)
            refuse_huge_columns(frame.names, X)
            return X
        X = np.empty((frame.n_rows, len(columns)))
        for place, index in enumerate(columns):
            X[:, place] = self._number_column(frame.column(index))
        return X

    def _number_column(self, column: Column) -> FloatArray:
        if column.is_text and not column.missing.all():
            labels = column.categories or ()
            label = labels[column.values[~column.missing][0]]
            number = "1 value" if len(labels) == 1 else f"{len(labels):,} values"
            raise UnnaiveError(
                f"column {column.name!r} holds labels such as {label!r}, and {type(self).__name__} "
                f"needs numbers; leave out the column, which has {number}, or use "
                "GaussianNaiveBayes, GaussianTAN or GaussianKDB"
            )
        missing = np.full(len(column.values), np.nan)
        numbers = missing if column.is_text else np.asarray(column.values, dtype=np.float64)
        refuse_huge(column.name, numbers)
        return numbers

    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        fitted = self.fitted_
        return fitted.normalised(self._joint_of_frame(frame, fitted), normalise)

    def _joint_of_frame(self, frame: Frame, fitted: GaussianFitted) -> FloatArray:
        return fitted.joint(self.numbers(frame, fitted.columns), self.n_jobs)

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        fitted = self.fitted_
        if fitted.shape.in_cells:
            raise UnnaiveError(
                "no dependence derivatives where numbers depend on categorical columns; fit numbers"
            )
        if not isinstance(fitted.shape.tables, GaussianTables):
            raise UnnaiveError("models of unnaive.papers.barrow have no densities to compare")
        used = fitted.moments.used
        places = {int(column): place for place, column in enumerate(fitted.columns[used])}

        def parents_of(place: int) -> tuple[int, ...]:
            above = fitted.structure.parents_of(int(fitted.columns[used[place]]))
            return tuple(places[parent] for parent in above)

        parents = parents_of if mode == "parents" else None
        X = self.numbers(frame, fitted.columns)[:, used]
        logs = log_conditionals(X, fitted.shape.tables, parents)
        shape = (frame.n_rows, len(fitted.labels), len(frame.names))
        conditional, alone = np.zeros((2, *shape))
        conditional[:, :, fitted.columns[used]], alone[:, :, fitted.columns[used]] = logs
        return conditional, alone, fitted.prior

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint probability of samples into additive terms of features."""
        fitted = self.fitted_
        return fitted.terms(self.numbers(frame, fitted.columns)).answered(fitted.prior)

    def _with_prior(self, prior: FloatArray) -> GaussianFitted:
        fitted, model = self.fitted_, copy(self)
        model.class_prior = self.class_prior = prior
        known = (fitted.labels, fitted.names, fitted.columns, fitted.categories)
        return model.of_moments(fitted.moments, None, *known, fitted.spread.learned)

    def _restored(self, state: State, labels: AnyArray, names: Names) -> GaussianFitted:
        moments = Moments.from_state(state["moments"])
        columns = np.array(state["numbers"], dtype=np.int64)
        categories = self._restored_categories(state.get("labels_model"), labels)
        learned = state["learned"]
        return self.of_moments(moments, None, labels, names, columns, categories, learned)

    def _restored_categories(
        self, state: State | None, labels: AnyArray
    ) -> CountsClassifier | None:
        """Restore the model of the columns that are not numeric."""
        return None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that strings and categories are not accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = False
        return tags
