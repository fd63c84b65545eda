"""What all classifiers share: rows in, names checked, log joint out as probabilities or classes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from inspect import cleandoc
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from unnaive._core.tables import log_posterior, posterior
from unnaive._scikit import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    validate_data,
)
from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.count import weighted_rows
from unnaive.exceptions import SchemaMismatch
from unnaive.io.frames import Frame, is_mappings, to_column, to_frame
from unnaive.models import persistence
from unnaive.models.fitted import Names
from unnaive.models.partitioned import on_partitions
from unnaive.parameters import check_parameters, is_whole, parameter
from unnaive.schema import refuse_unusable_target

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Self

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray, Label, State
    from unnaive.explain import Explanation
    from unnaive.io.frames import Column
    from unnaive.models.fitted import Normalise
    from unnaive.models.recipe import Structure
    from unnaive.models.trial import LeftOutRows, Trial
    from unnaive.report.file import Report
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms


class Given(NamedTuple):
    """Rows that were given, checked: columns, labels, weights, and the columns' names."""

    frame: Frame
    target: Column
    weights: FloatArray | None
    names: Names


class Shown:
    """An attribute that shows something that was learned, by its name in the fitted value.

    Before ``fit``, and where a model has no such thing, it is not there: ``hasattr`` says no.
    """

    def __init__(self, doc: str, key: str | None = None) -> None:
        self.__doc__, self.key = doc, key

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's own name if no other was given."""
        self.name, self.key = name, self.key or name

    def __get__(self, model: Classifier | None, owner: type | None = None) -> Any:
        """Look the attribute up in what was fitted."""
        if model is None:
            return self
        learned = getattr(model.__dict__.get("_fitted"), "learned", None)
        for known in () if learned is None else (learned.parameters, learned.trace):
            if self.key in known:
                return known[self.key]
        raise AttributeError(f"{type(model).__name__} has no {self.name} here; see its docstring")


def first_of_the_best(logs: FloatArray) -> IntArray:
    """Class of the largest log-probability of every row, the first of those that tie; (n,)."""
    tied = logs >= logs.max(axis=1, keepdims=True) - TIE_TOLERANCE
    return np.asarray(np.argmax(tied, axis=1))


def chosen_classes(model: Classifier, chances: FloatArray) -> IntArray:
    """Class of every row that a model predicts, from its probabilities; shape (n,).

    The first of those whose logarithms tie; with a ``threshold_bias``, whose sums do.
    """
    bias = model.bias_of(model.classes_.tolist())
    if bias is not None:
        return first_of_the_best(chances + bias)
    least = chances.max(axis=1, keepdims=True) * math.exp(-TIE_TOLERANCE)
    return np.asarray(np.argmax(chances >= least, axis=1))


def numbers_of_classes(given: ArrayLike, labels: list[Label], name: str) -> FloatArray:
    """Read a number for each class; shape (k,)."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={given!r}; it must be a list of numbers, one a class") from None
    if numbers.shape != (len(labels),) or not np.isfinite(numbers).all():
        raise ValueError(
            f"{name}={given!r}; it needs one number for each of the {len(labels)} classes {labels}"
        )
    return numbers


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all classifiers: a model adds how it learns, and the log joint of rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        Class labels.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Their names, if they had any.
    schema_ : Schema
        What the columns are.
    """

    class_prior: Any = None
    threshold_bias: Any = None
    n_jobs: int | None = parameter(
        None,
        "a whole number other than 0, as in scikit-learn",
        also=(None,),
        test=lambda value: is_whole(value) and value != 0,
    )

    family: ClassVar[str] = "other"
    assumption: ClassVar[str] = ""
    without_graph: ClassVar[str] = "This model has no graph of columns to draw."
    counts_twice: ClassVar[bool] = False  # what several columns say alike

    def __init_subclass__(cls, **options: Any) -> None:
        """Write the parameters that all models share into the model's docstring."""
        super().__init_subclass__(**options)
        if cls.__doc__:
            common = cleandoc(cls.common_parameters())
            cls.__doc__ = cleandoc(cls.__doc__).replace("{parameters}", common)

    @classmethod
    def common_parameters(cls) -> str:
        """Describe the parameters that models of one kind share."""
        return ""

    @abstractmethod
    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn from rows."""

    @abstractmethod
    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        """Log joint of a frame's rows, or what ``normalise`` makes of it; shape (n, k)."""

    @abstractmethod
    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p(x_i | others or parents, c), log p(x_i | c), both (n, k, d), and log prior (k,).

        Both are 0 for missing cells.
        """

    @abstractmethod
    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint of a frame's rows, as ``predict_proba`` takes it, into terms."""

    @abstractmethod
    def _restored(self, state: State, labels: AnyArray, names: Names) -> Any:
        """Make the fitted value whose state was saved."""

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model was fitted."""
        return "_fitted" in self.__dict__

    @property
    def fitted_(self) -> Any:
        """What the last ``fit`` left: one value that is replaced as a whole."""
        try:
            return self.__dict__["_fitted"]
        except KeyError:
            raise AttributeError(
                f"this {type(self).__name__} instance is not fitted yet; call fit"
            ) from None

    @property
    def structure_(self) -> Structure:
        """What depends on what, where the model has one structure."""
        structure: Structure = self.fitted_.structure
        return structure

    @property
    def classes_(self) -> AnyArray:
        """Class labels; shape (k,)."""
        labels: AnyArray = self.fitted_.labels
        return labels

    @property
    def schema_(self) -> Schema:
        """What the columns are."""
        schema: Schema = self.fitted_.schema
        return schema

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return int(self.fitted_.names.number)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns, if they had any; shape (d,)."""
        features = self.fitted_.names.features
        if features is None:
            raise AttributeError("the columns that fit was given had no names")
        return np.asarray(features)

    @on_partitions
    def predict_joint_log_proba(self, X: object) -> FloatArray:
        """Log P(c, x) as the model estimates it; shape (n, k)."""
        return self._answer(X)

    @on_partitions
    def predict_log_proba(self, X: object) -> FloatArray:
        """Log P(c | x); shape (n, k)."""
        return self._answer(X, log_posterior)

    @on_partitions
    def predict_proba(self, X: object) -> FloatArray:
        """P(c | x), classes in the order of ``classes_``; shape (n, k)."""
        return self._answer(X, posterior)

    @on_partitions
    def predict(self, X: object) -> AnyArray:
        """Most probable class of every row, the first one on ties; shape (n,).

        With ``threshold_bias`` b, the class of largest P(c | x) + b_c.
        """
        while True:
            fitted, chances = self.__dict__.get("_fitted"), self.predict_proba(X)
            if self.fitted_ is fitted:  # no other thread fitted the model anew meanwhile
                return np.asarray(fitted.labels[chosen_classes(self, chances)])

    def predict_one(self, row: Mapping[str, object]) -> Label:
        """Most probable class of one row, a mapping from names to cells.

        A cell that the mapping lacks is missing.

        Examples
        --------
        >>> from unnaive import NaiveBayes
        >>> rows = [{"wind": "calm"}, {"wind": "gale"}, {"wind": "gale"}, {"wind": "calm"}]
        >>> model = NaiveBayes().fit(rows, ["sail", "stay", "stay", "sail"])
        >>> model.predict_one({"wind": "gale"}), model.predict_proba_one({})
        ('stay', {'sail': 0.5, 'stay': 0.5})
        """
        label: Label = self.predict([row]).tolist()[0]
        return label

    def predict_proba_one(self, row: Mapping[str, object]) -> dict[Label, float]:
        """P(c | x) of every class for one row, a mapping from names to cells."""
        chances = self.predict_proba([row]).tolist()[0]
        return dict(zip(self.classes_.tolist(), chances, strict=True))

    def fit_and_leave_out(self, trial: Trial) -> LeftOutRows:
        """Fit to all rows of a trial, and predict some of them, each left out."""
        return trial.of_folds(self)

    def _answer(self, X: object, normalise: Normalise | None = None) -> FloatArray:
        """Log joint of rows of any kind, or what ``normalise`` makes of it; shape (n, k)."""
        return self._predict_rows(self.known_frame(X), normalise)

    def predict_log_conditionals(
        self, X: object, mode: str = "full-conditional"
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Tell what the model says of each cell of rows, and what naive Bayes would say.

        Parameters
        ----------
        X : rows
        mode : {"full-conditional", "parents"}, default="full-conditional"
            Given all other cells of the row, or those of the column's parents.

        Returns
        -------
        given : ndarray of shape (n, k, d)
            Log p(x_i | …, c), 0 for missing cells and for columns that the model leaves out.
        alone : ndarray of shape (n, k, d)
            Log p(x_i | c), likewise.
        log_prior : ndarray of shape (k,)
            Log P(c).
        """
        if mode not in {"parents", "full-conditional"}:
            raise ValueError(f"mode={mode!r}; it must be 'full-conditional' or 'parents'")
        return self._log_conditionals(self.known_frame(X), mode)

    def explain(self, X: object) -> Explanation:
        """Tell what each attribute of each row contributes to the model's answer.

        The contributions add up, with those of the prior, to the log joint and to the log-odds
        that the model predicts; see :class:`unnaive.explain.Explanation`.

        Examples
        --------
        >>> from unnaive import NaiveBayes
        >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "mild"], ["rainy", None]]
        >>> model = NaiveBayes().fit(X, ["no", "yes", "no", "yes"])
        >>> print(model.explain([["sunny", None]]).text())
        y = yes: 25 % (starting probability 50 %)
          against yes
            x0 = sunny    -1.10  odds ÷ 3
          missing: x1
        """
        from unnaive.explain.explanation import explanation_of  # noqa: PLC0415 - loads when asked

        model = copy(self)  # as it is fitted now, whatever another thread does meanwhile
        return explanation_of(model, model.known_frame(X))

    def report(self, X: object, y: object, **settings: Any) -> Report:
        """Report on the model: performance, errors, effects, structure, data and an explorer.

        Parameters
        ----------
        X : data frame or array-like of shape (n, d)
            Samples, usually the training data.
        y : array-like of shape (n,)
            Class labels of the samples.
        **settings : dict
            Fields of :class:`unnaive.report.Settings`, such as ``folds=5``.

        Returns
        -------
        Report
            A notebook shows it as a page; ``report.write(path)`` writes it to a file.
        """
        from unnaive.report.file import report_on  # noqa: PLC0415 - loads when asked

        return report_on(self, X, y, **settings)

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically; :func:`unnaive.load` reads it."""
        check_is_fitted(self)
        persistence.save_model(path, self)

    def bias_of(self, labels: list[Label]) -> FloatArray | None:
        """Read ``threshold_bias``: a number a class, or a mapping from labels; shape (k,)."""
        given = self.threshold_bias
        if isinstance(given, Mapping):
            strange = [label for label in given if label not in labels]
            if strange:
                raise ValueError(
                    f"threshold_bias names {strange[0]!r}, which is no class; they are {labels}"
                )
            given = [given.get(label, 0.0) for label in labels]
        return None if given is None else numbers_of_classes(given, labels, "threshold_bias")

    def _prior_of(self, labels: list[Label]) -> FloatArray | None:
        """Read ``class_prior``, for these classes; shape (k,)."""
        if self.class_prior is None:
            return None
        prior = numbers_of_classes(self.class_prior, labels, "class_prior")
        if (prior < 0).any() or not np.isclose(prior.sum(), 1.0):
            raise ValueError("class_prior must hold probabilities that sum to 1")
        return prior

    def settings(self) -> State:
        """Return the parameters as they are now, by name."""
        return {declared.name: getattr(self, declared.name) for declared in fields(self)}

    def _check(self) -> None:
        """Raise an error that names a parameter, its value and the cure, if one is wrong."""
        check_parameters(self)

    def _given(
        self, X: object, y: object, sample_weight: object, *, first: bool, keep_all: bool = False
    ) -> Given:
        """Check rows, labels and weights; ``first``: they say what the columns are."""
        frame, names = self._named(X) if first else (self._frame(X), self.fitted_.names)
        target = to_column(y)
        refuse_unusable_target(target)
        if target.values.dtype.kind == "f":
            check_classification_targets(target.values)
        rows = weighted_rows(frame, target, sample_weight, keep_all=keep_all)
        return Given(*rows, names)

    def _named(self, X: object) -> tuple[Frame, Names]:
        """Read rows that say what the columns are."""
        frame = to_frame(X)
        if isinstance(X, Frame) or is_mappings(X):
            return frame, Names.of(frame.names, named=True)
        seen = BaseEstimator()  # which scikit-learn's check leaves number and names on
        shape = X if hasattr(X, "shape") else np.empty((1, len(frame.names)))
        validate_data(seen, shape, reset=True, skip_check_array=True)
        return frame, Names(seen.n_features_in_, getattr(seen, "feature_names_in_", None))

    def _frame(self, X: object) -> Frame:
        """Read rows whose columns must be those of the fit."""
        if is_mappings(X):
            names = self.schema_.names
            X = to_frame([{name: row.get(name) for name in names} for row in X])
        if isinstance(X, Frame):
            self._require_names(list(X.names))
            return to_frame(X)
        frame = to_frame(X)
        if not self._has_names_of(X):
            shape = X if hasattr(X, "shape") else np.empty((1, len(frame.names)))
            validate_data(self, shape, reset=False, skip_check_array=True)
        return frame

    def known_frame(self, X: object) -> Frame:
        """Read rows for a fitted model: columns are checked by number and names."""
        check_is_fitted(self)
        return self._frame(X)

    def _has_names_of(self, X: object) -> bool:
        """Whether rows have the number and names of columns that fit had, told quickly."""
        names = self.fitted_.names
        if isinstance(X, np.ndarray):
            return names.features is None and X.ndim == 2 and X.shape[1] == names.number
        columns: Sequence[object] = getattr(X, "columns", ())
        return names.features is not None and list(columns) == names.features.tolist()

    def _require_names(self, names: list[str]) -> None:
        """Do for our own frames what scikit-learn does for pandas'."""
        features = self.fitted_.names.features
        known = names if features is None else features.tolist()
        if names != known:
            missing = [name for name in known if name not in names]
            extra = [name for name in names if name not in known]
            raise SchemaMismatch(
                "The feature names should match those that were passed during fit: "
                f"missing {missing}, not seen in fit {extra}, or in another order"
            )

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values, labels and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
