"""Gaussian models: numbers stay numbers, and every class has a Gaussian density of its own."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from unnaive._scikit import check_is_fitted
from unnaive.counts.expectation import maximum_likelihood
from unnaive.counts.moments import Moments, moments_of
from unnaive.exceptions import UnnaiveError
from unnaive.models.base import require_same_classes
from unnaive.models.classifier import Classifier, Given
from unnaive.models.gaussian_parts import (
    GaussianFitted,
    GaussianRecipe,
    NumberRows,
    Spread,
    schema_of,
    shares_of,
)
from unnaive.parameters import is_number, number, parameter
from unnaive.schema import Schema, learn_target
from unnaive.schema.columns import refuse_infinite
from unnaive.tables.gaussian import GaussianTables, log_conditionals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from unnaive._typing import AnyArray, FloatArray, IntArray, Label, State
    from unnaive.io.frames import Column, Frame
    from unnaive.models.fitted import Names, Normalise
    from unnaive.models.nb import NaiveBayes
    from unnaive.models.trial import LeftOutRows, Trial
    from unnaive.tables.terms import Terms

_LARGEST = 1e150  # squares of larger numbers overflow
_COMMON = """
    var_smoothing : float, default=1e-9
        Share of {largest} variance over all rows that is added to {added}.
    ddof : int, default=0
        Variances are divided by the number of rows less this.
    class_prior : array of shape (k,), default=None
        Prior probabilities of the classes; None: their shares of the rows.
    threshold_bias : dict or array of shape (k,), default=None
        What is added to each class's probability before ``predict`` takes the largest.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result is the same to the bit for any number.
"""


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianClassifier(Classifier):
    """Base of the models that learn from :class:`~unnaive.counts.moments.Moments`.

    A model says by :meth:`recipe` which parts make it.

    Attributes
    ----------
    moments_ : Moments
        What was added up.
    structure_ : Graph
        What depends on what.
    """

    var_smoothing: float = number(1e-9)
    ddof: float = number(0)

    smoothed: ClassVar[dict[str, str]] = {
        "largest": "a column's",
        "added": "its variance in every class",
    }
    family: ClassVar[str] = "gaussian"

    @classmethod
    def common_parameters(cls) -> str:
        """Describe the parameters that all Gaussian models share."""
        return _COMMON.format(**cls.smoothed)

    @abstractmethod
    def recipe(self) -> GaussianRecipe:
        """Say which parts make the model, with the parameters as they are now."""

    @property
    def learns_from_moments(self) -> bool:
        """Whether rows that fit takes are all numbers, and their moments merge."""
        return True

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> GaussianFitted: ...  # noqa: D102

    @property
    def moments_(self) -> Moments:
        """What was added up."""
        return self.fitted_.moments

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn from rows of numbers; missing cells (NaN, None, NA, null) are welcome.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n, d)
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), default=None
        """
        self._check()
        self._fitted = self._fit_given(self._given(X, y, sample_weight, first=True))
        return self

    def partial_fit(
        self,
        X: object,
        y: object,
        classes: Sequence[Label] | None = None,
        sample_weight: object = None,
    ) -> Self:
        """Add rows to what was learned; ``classes`` names all classes on the first call."""
        self._check()
        if "_fitted" not in self.__dict__:
            given = self._given(X, y, sample_weight, first=True)
            self._fitted = self._fit_given(given, classes)
            return self
        require_same_classes(classes, self.schema_)
        given = self._given(X, y, sample_weight, first=False)
        categories = self._changed_categories("partial_fit", given)
        moments = self.moments_ + self._moments(given)
        self._fitted = self._refitted(moments, categories)
        return self

    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Take rows out of what was learned; up to rounding as if they had never been there."""
        check_is_fitted(self)
        self._check()
        given = self._given(X, y, sample_weight, first=False)
        categories = self._changed_categories("forget", given)
        self._fitted = self._refitted(self.moments_ - self._moments(given), categories)
        return self

    def _fit_given(self, given: Given, classes: Sequence[Label] | None = None) -> GaussianFitted:
        frame, target = given.frame, given.target
        labels, codes = learn_target(target, classes)
        self.bias_of(labels.tolist())  # raises here rather than at the first prediction
        columns = self._number_columns(frame)
        categories = self._fit_categories(given, columns, labels)
        names = [frame.names[column] for column in columns]
        schema = Schema.of_numbers(names, labels.tolist(), target.name)
        rows = NumberRows(self.numbers(frame, columns), codes, given.weights)
        empty = np.flatnonzero(np.isnan(rows.X).all(axis=0))
        if len(empty):
            listed = ", ".join(repr(names[column]) for column in empty)
            warnings.warn(
                f"column {listed} has no value in any row and is ignored", UserWarning, stacklevel=3
            )
        ready = self._prepared(rows)
        moments = moments_of(ready.X, ready.classes, schema, ready.weights)
        return self.of_moments(moments, rows, labels, given.names, columns, categories)

    def of_moments(  # noqa: PLR0917 - all that a fitted value is made of
        self,
        moments: Moments,
        rows: NumberRows | None,
        labels: AnyArray,
        names: Names,
        columns: IntArray,
        categories: NaiveBayes | None = None,
        learned: State | None = None,
    ) -> GaussianFitted:
        """Run the recipe on moments, and on rows where there are any."""
        given = self._prior_of(labels.tolist())
        recipe = self.recipe()
        with np.errstate(divide="ignore"):
            prior = np.log(shares_of(moments.class_weights) if given is None else given)
        scale = (float(self.var_smoothing), float(self.ddof), self._adds_largest)
        spread = Spread(moments, prior, *scale)
        if learned is None:
            learned = {} if recipe.learn is None else recipe.learn(spread, rows)
        spread = replace(spread, learned=learned)
        schema = schema_of(moments, columns, categories)
        shape = recipe.shape(spread, schema, columns[moments.used])
        known = (labels, names, categories, self.settings())
        return GaussianFitted(spread, shape, columns, *known)

    def fit_and_leave_out(self, trial: Trial) -> LeftOutRows:
        """Fit to all rows of a trial, and predict some of them, each left out."""
        with warnings.catch_warnings():  # of what only the candidate's own parameters could cure
            warnings.simplefilter("ignore", UserWarning)
            if not self.learns_from_moments:
                return super().fit_and_leave_out(trial)
            self._check()
            return trial.of_moments(self)

    def _refitted(self, moments: Moments, categories: NaiveBayes | None) -> GaussianFitted:
        fitted = self.fitted_
        known = (fitted.labels, fitted.names, fitted.columns)
        return self.of_moments(moments, None, *known, categories)

    @property
    def _adds_largest(self) -> bool:
        """Whether a share of the largest variance is added to all, as scikit-learn does."""
        return False

    def _number_columns(self, frame: Frame) -> IntArray:
        """Positions of the columns that are numbers: all of them."""
        return np.arange(len(frame.names))

    def _fit_categories(
        self,
        given: Given,
        columns: IntArray,
        labels: AnyArray,
    ) -> NaiveBayes | None:
        """Fit a model to the columns that are no numbers; as a rule there are none."""
        return None

    def _changed_categories(self, action: str, given: Given) -> NaiveBayes | None:
        """Add rows to that model, or take them out."""
        return None

    def _prepared(self, rows: NumberRows) -> NumberRows:
        """Change the rows before they are learned from; none does, but in a thesis."""
        return rows

    def _moments(self, given: Given) -> Moments:
        codes, origin = self.schema_.encode_target(given.target), self.moments_.origin
        X = self.numbers(given.frame, self.fitted_.columns)
        return moments_of(X, codes, self.moments_.schema, given.weights, origin)

    def numbers(self, frame: Frame, columns: IntArray) -> FloatArray:
        """Return the cells of number columns as floats, missing ones as NaN; shape (n, d)."""
        if frame.matrix is not None and len(columns) == len(frame.names):
            X = np.asarray(frame.matrix, dtype=np.float64)
            for place in np.flatnonzero(_extremes(X) > _LARGEST):
                _refuse_huge(frame.names[place], X[:, place])
            return X
        X = np.empty((frame.n_rows, len(columns)))
        for place, index in enumerate(columns):
            X[:, place] = self._number_column(frame.column(index))
        return X

    def _number_column(self, column: Column) -> FloatArray:
        if column.is_text and not column.missing.all():
            label = (column.categories or ())[column.values[~column.missing][0]]
            raise UnnaiveError(
                f"column {column.name!r} holds labels such as {label!r}, and {type(self).__name__} "
                "needs numbers; GaussianNaiveBayes takes both, or leave the column out"
            )
        if column.is_text:
            return np.full(len(column.values), np.nan)
        numbers = np.asarray(column.values, dtype=np.float64)
        _refuse_huge(column.name, numbers)
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
        if not isinstance(fitted.shape.tables, GaussianTables):
            raise UnnaiveError("the thesis' programs have no densities to compare")
        used = fitted.moments.used
        places = {int(column): place for place, column in enumerate(fitted.columns[used])}

        def parents_of(place: int) -> tuple[int, ...]:
            above = fitted.structure.parents_of(int(fitted.columns[used[place]]))
            return tuple(places[parent] for parent in above)

        parents = parents_of if mode == "parents" else None
        X = self.numbers(frame, fitted.columns)[:, used]
        logs = log_conditionals(X, fitted.shape.tables, parents)
        shape = (frame.n_rows, len(fitted.labels), len(frame.names))
        given, alone = np.zeros(shape), np.zeros(shape)
        given[:, :, fitted.columns[used]], alone[:, :, fitted.columns[used]] = logs
        return given, alone, fitted.prior

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint of a frame's rows, as ``predict_proba`` takes it, into terms."""
        fitted = self.fitted_
        return fitted.terms(self.numbers(frame, fitted.columns)).answered(fitted.prior)

    def _restored(self, state: State, labels: AnyArray, names: Names) -> GaussianFitted:
        moments = Moments.from_state(state["moments"])
        columns = np.array(state["numbers"], dtype=np.int64)
        categories = self._restored_categories(state.get("labels_model"), labels)
        learned = state["learned"]
        return self.of_moments(moments, None, labels, names, columns, categories, learned)

    def _restored_categories(self, state: State | None, labels: AnyArray) -> NaiveBayes | None:
        """Make the model of the columns that are no numbers."""
        return None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are for others."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        tags.input_tags.categorical = False
        return tags


def shrinkage_of() -> float | str | None:
    """Declare the parameter that says how far covariances shrink."""
    return parameter(
        None,
        "a number from 0 to 1",
        also=("ledoit-wolf", None),
        test=lambda value: is_number(value, 0, 1),
    )


@dataclass(eq=False, repr=False, kw_only=True)
class ShrinkingClassifier(GaussianClassifier):
    """Base of the Gaussian models that need whole covariance matrices.

    From rows with missing cells ``fit`` takes those that make them most likely; ``partial_fit``
    and ``forget`` have moments alone, and each covariance then is that of the rows with both
    cells.
    """

    shrinkage: float | str | None = shrinkage_of()
    pooling: float = number(0.0, 0.0, most=1.0)

    def learn_spread(self, spread: Spread, rows: NumberRows | None) -> State:
        """Learn how far covariances shrink, and what rows with missing cells say of them."""
        moments = spread.moments
        self._warn_of_few_rows(moments)
        learned: State = {
            "shrinkage": self._shrinkage(moments, rows),
            "pooling": float(self.pooling),
        }
        used = moments.used
        if rows is not None and not moments.complete and np.isnan(rows.X[:, used]).any():
            classes = range(len(moments.class_weights))
            likely = [_most_likely(spread, rows, label) for label in classes]
            learned["means"] = np.stack([mean for mean, _ in likely])
            learned["covariances"] = np.stack([covariance for _, covariance in likely])
        return learned

    def _warn_of_few_rows(self, moments: Moments) -> None:
        seen, columns = moments.class_weights, len(moments.used)
        few = (seen > 0) & (seen <= columns)
        if self.shrinkage is None and not self.pooling and few.any():
            label = moments.schema.classes[int(np.argmax(few))]
            warnings.warn(
                f"class {label!r} has {seen[few][0]:g} rows for {columns} columns; its covariances "
                'say little: set shrinkage="ledoit-wolf", or pooling=0.5',
                UserWarning,
                stacklevel=6,
            )

    def _shrinkage(self, moments: Moments, rows: NumberRows | None) -> FloatArray:
        """Share of the mean variance in each class's covariance; shape (k,)."""
        given, k = self.shrinkage, len(moments.class_weights)
        if not isinstance(given, str):
            return np.full(k, 0.0 if given is None else float(given))
        if rows is None or rows.weights is not None:
            raise UnnaiveError(
                'shrinkage="ledoit-wolf" looks at whole rows without weights; call fit, or give '
                "the number that it found there"
            )
        from sklearn.covariance import ledoit_wolf_shrinkage  # noqa: PLC0415 - slow to import

        X = rows.X[:, moments.used]
        whole = ~np.isnan(X).any(axis=1)
        parts = [X[whole & (rows.classes == label)] for label in range(k)]
        return np.array([ledoit_wolf_shrinkage(part) if len(part) > 1 else 1.0 for part in parts])


def _most_likely(spread: Spread, rows: NumberRows, label: int) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of one class from rows with missing cells."""
    moments, used = spread.moments, spread.used
    mine = np.flatnonzero(rows.classes == label)
    weights = np.ones(len(mine)) if rows.weights is None else rows.weights[mine]
    variances = np.diag(moments.covariances()[label])[used]
    least = spread.added(moments.variances[used]) + 1e-12 * variances
    X, mean = rows.X[np.ix_(mine, used)], moments.means[label, used]
    return maximum_likelihood(X, weights, mean, variances, np.where(least > 0, least, 1.0))


def _extremes(X: FloatArray) -> FloatArray:
    """Largest absolute value of every column, missing cells ignored; shape (d,)."""
    return np.maximum(np.fmax.reduce(X, axis=0, initial=0), -np.fmin.reduce(X, axis=0, initial=0))


def _refuse_huge(name: str, values: FloatArray) -> None:
    """Raise an error if a number is infinite, or so large that squares of numbers overflow."""
    refuse_infinite(name, values)
    if len(values) and _extremes(values) > _LARGEST:
        row = int(np.nanargmax(np.abs(values)))
        raise UnnaiveError(
            f"column {name!r} has value {values[row]:g} in row {row}, which is too large for "
            f"variances; divide the column by {abs(values[row]):.0e}"
        )
