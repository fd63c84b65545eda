"""Gaussian models: numbers stay numbers, and every class has a Gaussian density of its own."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from inspect import cleandoc
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from unnaive._scikit import check_is_fitted
from unnaive.counts.expectation import maximum_likelihood
from unnaive.counts.moments import Moments, moments_of
from unnaive.exceptions import UnnaiveError
from unnaive.models.classifier import Classifier, all_or_nothing
from unnaive.schema import Schema, learn_target, sorted_labels
from unnaive.schema.columns import refuse_infinite
from unnaive.tables.gaussian import GaussianTables, complete_forms, log_conditionals

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.io.frames import Column, Frame
    from unnaive.tables.terms import Terms

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


class NumberRows(NamedTuple):
    """Rows of numbers, NaN where missing, with their classes and weights."""

    X: FloatArray
    classes: IntArray
    weights: FloatArray | None


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianClassifier(Classifier):
    """Base of the models that learn from :class:`~unnaive.counts.moments.Moments`."""

    var_smoothing: float = 1e-9
    ddof: int = 0

    needs_covariances: ClassVar[bool] = True
    smoothed: ClassVar[dict[str, str]] = {
        "largest": "a column's",
        "added": "its variance in every class",
    }

    def __init_subclass__(cls, **options: Any) -> None:
        """Write the parameters that all Gaussian models share into the model's docstring."""
        super().__init_subclass__(**options)
        if cls.__doc__:
            common = cleandoc(_COMMON.format(**cls.smoothed))
            cls.__doc__ = cleandoc(cls.__doc__).replace("{parameters}", common)

    @property
    def learns_from_moments(self) -> bool:
        """Whether rows that fit takes are all numbers, and their moments merge."""
        return True

    def _choose(self, moments: Moments, rows: NumberRows | None) -> dict[str, Any]:
        """Learn what the moments alone do not say, as plain values for the store."""
        return {}

    @abstractmethod
    def _build(self) -> Any:
        """Make tables, whose ``joint`` takes rows, and ``structure_``."""

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows of numbers; missing cells (NaN, None, NA, null) are welcome.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n, d)
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), default=None
        """
        frame, target, weights = self._rows(X, y, sample_weight, reset=True)
        return self._fit_frame(frame, target, weights)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was learned; ``classes`` names all classes on the first call."""
        first = not hasattr(self, "moments_")
        frame, target, weights = self._rows(X, y, sample_weight, reset=first)
        if first:
            return self._fit_frame(frame, target, weights, classes)
        if classes is not None and sorted_labels(set(classes)) != self.schema_.classes:
            raise ValueError(
                f"classes={list(classes)!r} is not the same as on the first call to partial_fit: "
                f"{self.classes_.tolist()!r}"
            )
        self._learn_labels("partial_fit", frame, target, weights)
        return self._set(self.moments_ + self._moments(frame, target, weights), None)

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of what was learned; up to rounding as if they had never been there."""
        check_is_fitted(self)
        frame, target, weights = self._rows(X, y, sample_weight, reset=False)
        self._learn_labels("forget", frame, target, weights)
        return self._set(self.moments_ - self._moments(frame, target, weights), None)

    def _fit_frame(
        self, frame: Frame, target: Column, weights: FloatArray | None, classes: Any = None
    ) -> Self:
        labels, codes = learn_target(target, classes)
        self.classes_, self._number_columns = labels, self._choose_numbers(frame)
        self._learn_labels("fit", frame, target, weights)
        names = [frame.names[column] for column in self._number_columns]
        schema = Schema.of_numbers(names, labels.tolist(), target.name)
        rows = NumberRows(self._numbers(frame), codes, weights)
        empty = np.flatnonzero(np.isnan(rows.X).all(axis=0))
        if len(empty):
            listed = ", ".join(repr(names[column]) for column in empty)
            warnings.warn(
                f"column {listed} has no value in any row and is ignored", UserWarning, stacklevel=3
            )
        ready = self._prepared(rows)
        return self._set(moments_of(ready.X, ready.classes, schema, ready.weights), rows)

    def _choose_numbers(self, frame: Frame) -> IntArray:
        """Positions of the columns that are numbers: all of them."""
        return np.arange(len(frame.names))

    def _learn_labels(
        self, action: str, frame: Frame, target: Column, weights: FloatArray | None
    ) -> None:
        """Fit, add or forget the columns that are no numbers; as a rule there are none."""

    def _whole_schema(self, moments: Moments) -> Schema:
        """Return what all columns are."""
        return moments.schema

    def _prepared(self, rows: NumberRows) -> NumberRows:
        """Change the rows before they are learned from; none does, but in the thesis."""
        return rows

    def _moments(self, frame: Frame, target: Column, weights: FloatArray | None) -> Moments:
        codes, origin = self.schema_.encode_target(target), self.moments_.origin
        return moments_of(self._numbers(frame), codes, self.moments_.schema, weights, origin)

    def _numbers(self, frame: Frame) -> FloatArray:
        """Return the cells of number columns as floats, missing ones as NaN; shape (n, d)."""
        if frame.matrix is not None and len(self._number_columns) == len(frame.names):
            X = np.asarray(frame.matrix, dtype=np.float64)
            if not np.isfinite(X.sum(axis=0)).all() and np.isinf(X).any():
                at = int(np.argmax(np.isinf(X).any(axis=0)))
                refuse_infinite(frame.names[at], X[:, at])
            return X
        X = np.empty((frame.n_rows, len(self._number_columns)))
        for place, index in enumerate(self._number_columns):
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
        refuse_infinite(column.name, column.values)
        return np.asarray(column.values, dtype=np.float64)

    def _set(self, moments: Moments, rows: NumberRows | None) -> Self:
        for name in ("var_smoothing", "ddof"):
            if not 0 <= as_number(getattr(self, name)) < np.inf:
                raise ValueError(f"{name}={getattr(self, name)!r}; it must be at least 0")
        self.moments_, self.schema_ = moments, self._whole_schema(moments)
        if self.needs_covariances:
            self._warn_of_few_rows()
        self._learned = self._choose(moments, rows)
        self._tables = self._build()
        return self

    def _warn_of_few_rows(self) -> None:
        seen = self.moments_.class_weights
        few = (seen > 0) & (seen <= len(self.moments_.used))
        alone = getattr(self, "shrinkage", 1) is None and not self.pooling
        if alone and few.any():
            label = self.classes_.tolist()[int(np.argmax(few))]
            warnings.warn(
                f"class {label!r} has {seen[few][0]:g} rows for {len(self.moments_.used)} columns; "
                'its covariances say little: set shrinkage="ledoit-wolf", or pooling=0.5',
                UserWarning,
                stacklevel=4,
            )

    @property
    def _log_prior(self) -> FloatArray:
        counts = self.moments_.class_weights
        prior = shares_of(counts) if self._class_prior is None else self._class_prior
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(prior))

    @property
    def _means(self) -> FloatArray:
        """Means of the classes in the columns in use; shape (k, m)."""
        return np.asarray(self.moments_.means[:, self.moments_.used])

    @property
    def _scatter(self) -> FloatArray:
        """Covariances of the columns in use, divided by the number of rows, a copy; (k, m, m)."""
        covariances, used = self.moments_.covariances(), self.moments_.used
        if len(used) == covariances.shape[1]:
            return covariances
        return np.asarray(covariances[:, used[:, None], used])

    @property
    def _covariances(self) -> FloatArray:
        """Covariances that densities are made of, with what var_smoothing adds; (k, m, m)."""
        covariances, rows = self._scatter, self.moments_.class_weights
        if self.ddof:
            left = np.maximum(rows - self.ddof, 0.0)
            scale = np.divide(rows, left, out=np.ones(len(rows)), where=left > 0)
            covariances *= scale[:, None, None]
        own = np.einsum("kii->ki", covariances)
        own += self._added_variances(self.moments_.variances[self.moments_.used])
        own[own <= 0] = 1.0
        return covariances

    def _added_variances(self, variances: FloatArray) -> FloatArray:
        """Return what is added to each column's variances, by its variance over all rows."""
        return np.asarray(self.var_smoothing * variances)

    def _gaussian(self, covariances: FloatArray, forms_of: Any = complete_forms) -> GaussianTables:
        tables = GaussianTables(self._log_prior, self._means, covariances, forms_of)
        tables.forms  # noqa: B018 - raises here if a covariance is singular
        return tables

    def _predict_rows(self, frame: Frame, normalise: Any = None) -> FloatArray:
        return self._normalised(self._joint_of_frame(frame), normalise)

    def _normalised(self, joint: FloatArray, normalise: Any) -> FloatArray:
        if normalise is None:
            return joint
        out = np.empty_like(joint)
        hopeless = np.isneginf(joint).all(axis=1)
        joint[hopeless] = self._log_prior
        normalise(joint, out)
        return out

    def _joint_of_frame(self, frame: Frame) -> FloatArray:
        return self._joint_of_numbers(self._numbers(frame), self.n_jobs)

    def _joint_of_numbers(self, X: FloatArray, n_jobs: int | None) -> FloatArray:
        used = self.moments_.used
        X = X if len(used) == X.shape[1] else X[:, used]
        return np.asarray(self._tables.joint(X, n_jobs))

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        if not isinstance(self._tables, GaussianTables):
            raise UnnaiveError("the thesis' programs (paper=True) have no densities to compare")
        used = self.moments_.used
        places = {int(column): place for place, column in enumerate(used)}

        def parents_of(place: int) -> tuple[int, ...]:
            column = int(self._number_columns[used[place]])
            return tuple(places[parent] for parent in self.structure_.parents_of(column))

        parents = parents_of if mode == "parents" else None
        found = log_conditionals(self._numbers(frame)[:, used], self._tables, parents)
        shape = (frame.n_rows, len(self.classes_), len(frame.names))
        given, alone = np.zeros(shape), np.zeros(shape)
        given[:, :, self._number_columns[used]], alone[:, :, self._number_columns[used]] = found
        return given, alone, self._log_prior

    def _terms(self, frame: Frame) -> Terms:
        from unnaive.tables.terms import Terms, number_parts  # noqa: PLC0415 - loads when asked

        used = self.moments_.used
        base, parts = number_parts(self._tables, self._numbers(frame)[:, used], self._orders())
        places = self._number_columns[used].tolist()
        keys = tuple(
            ((place,), tuple(places[parent] for parent in above))
            for place, above in zip(places, self._acts_through(), strict=True)
        )
        return Terms(keys, base, parts).answered(self._log_prior)

    def _acts_through(self) -> list[tuple[int, ...]]:
        """Parents of the columns in use, by their places among these."""
        used = self.moments_.used
        place = {int(self._number_columns[column]): index for index, column in enumerate(used)}
        return [tuple(place[parent] for parent in self.structure_.parents_of(c)) for c in place]

    def _orders(self) -> list[IntArray]:
        """Orders of the columns in use in which each is explained by those before it."""
        from unnaive.tables.terms import topological  # noqa: PLC0415 - loads when asked

        parents = self._acts_through()
        return [np.array(topological(parents, range(len(parents))), dtype=np.int64)]

    def _state(self) -> dict[str, Any]:
        numbers = self._number_columns.tolist()
        return {"moments": self.moments_.state(), "learned": self._learned, "numbers": numbers}

    def _restore(self, state: dict[str, Any]) -> Self:
        self.moments_ = Moments.from_state(state["moments"])
        self._number_columns = np.array(state["numbers"], dtype=np.int64)
        self.schema_ = self._whole_schema(self.moments_)
        self._learned = state["learned"]
        self._tables = self._build()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there are moments."""
        return hasattr(self, "moments_")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are for others."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        tags.input_tags.categorical = False
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class ShrinkingClassifier(GaussianClassifier):
    """Base of the Gaussian models that need whole covariance matrices.

    From rows with gaps ``fit`` takes those that make them most likely; ``partial_fit`` and
    ``forget`` have moments alone, and each covariance then is that of the rows with both cells.
    """

    shrinkage: Any = None
    pooling: float = 0.0

    def _choose(self, moments: Moments, rows: NumberRows | None) -> dict[str, Any]:
        learned: dict[str, Any] = {
            "shrinkage": self._shrinkage(moments, rows),
            "pooling": self._pooling,
        }
        used = moments.used
        if rows is not None and not moments.complete and np.isnan(rows.X[:, used]).any():
            found = [self._most_likely(moments, rows, c) for c in range(len(self.classes_))]
            learned["means"] = np.stack([mean for mean, _ in found])
            learned["covariances"] = np.stack([covariance for _, covariance in found])
        return learned

    def _most_likely(
        self, moments: Moments, rows: NumberRows, label: int
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of one class from rows with gaps."""
        used, mine = moments.used, np.flatnonzero(rows.classes == label)
        weights = np.ones(len(mine)) if rows.weights is None else rows.weights[mine]
        variances = np.diag(moments.covariances()[label])[used]
        least = self._added_variances(moments.variances[used]) + 1e-12 * variances
        X, mean = rows.X[np.ix_(mine, used)], moments.means[label, used]
        return maximum_likelihood(X, weights, mean, variances, np.where(least > 0, least, 1.0))

    @property
    def _means(self) -> FloatArray:
        return np.asarray(self._learned.get("means", super()._means))

    @property
    def _scatter(self) -> FloatArray:
        if "covariances" in self._learned:
            return np.array(self._learned["covariances"])
        return _positive(super()._scatter, self.moments_)

    @property
    def _covariances(self) -> FloatArray:
        covariances = super()._covariances
        pooling = self._learned.get("pooling", 0.0)
        if pooling:
            common = np.einsum("k,kij->ij", shares_of(self.moments_.class_weights), covariances)
            covariances = (1 - pooling) * covariances + pooling * common
        share = np.asarray(self._learned["shrinkage"])[:, None, None]
        if not share.any():
            return covariances
        mean = np.einsum("kii->k", covariances) / max(covariances.shape[1], 1)
        target = mean[:, None, None] * np.eye(covariances.shape[1])
        return np.asarray((1 - share) * covariances + share * target)

    @property
    def _pooling(self) -> float:
        """Share of the classes' common covariance."""
        if not 0 <= as_number(self.pooling) <= 1:
            raise ValueError(f"pooling={self.pooling!r}; it must be a number from 0 to 1")
        return as_number(self.pooling)

    def _shrinkage(self, moments: Moments, rows: NumberRows | None) -> FloatArray:
        """Share of the mean variance in each class's covariance; shape (k,)."""
        given, k = self.shrinkage, len(moments.class_weights)
        if given is None:
            return np.zeros(k)
        if 0 <= as_number(given) <= 1:
            return np.full(k, as_number(given))
        if not (isinstance(given, str) and given == "ledoit-wolf"):
            raise ValueError(
                f"shrinkage={given!r}; it must be None, 'ledoit-wolf' or a number from 0 to 1"
            )
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


def _positive(covariances: FloatArray, moments: Moments) -> FloatArray:
    """Covariances from pairs of cells need not be any: raise what is not positive."""
    weights = np.einsum("kii->ki", moments.weights)[:, moments.used]
    if (weights == moments.class_weights[:, None]).all():
        return covariances
    values, vectors = np.linalg.eigh(covariances)
    least = 1e-9 * np.maximum(values[:, -1:], 0.0)
    values = np.maximum(values, least)
    return np.asarray(np.einsum("kij,kj,klj->kil", vectors, values, vectors))


def both_ways(n_columns: int) -> list[IntArray]:
    """Orders of columns of which none is better than another: as they stand, and reversed."""
    order = np.arange(n_columns)
    return [order, order[::-1]]


def shares_of(counts: FloatArray) -> FloatArray:
    """Shares of the classes, the same for all where there are no rows; shape (k,)."""
    total = float(counts.sum())
    return np.asarray(counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts)))


def as_number(given: Any) -> float:
    """Read a parameter that is a number; NaN if it is none."""
    known = isinstance(given, Real) and not isinstance(given, bool)
    return float(given) if known else float("nan")


def whole_number(given: Any, name: str, least: int, most: int | None = None) -> int:
    """Read a parameter that is a whole number."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not whole or given < least or (most is not None and given > most):
        upto = "" if most is None else f" and at most {most}, the number of columns"
        raise ValueError(f"{name}={given!r}; it must be a whole number of at least {least}{upto}")
    return int(given)
