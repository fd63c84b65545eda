"""What all classifiers share: rows in, names checked, log joint out as probabilities or classes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

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
from unnaive.models.partitioned import on_partitions
from unnaive.schema import refuse_unusable_target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Self

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.explain import Explanation
    from unnaive.io.frames import Column
    from unnaive.tables.terms import Terms

Method = TypeVar("Method", bound="Callable[..., Any]")


def first_of_the_best(logs: FloatArray) -> IntArray:
    """Class of the largest log-probability of every row, the first of those that tie; (n,)."""
    tied = logs >= logs.max(axis=1, keepdims=True) - TIE_TOLERANCE
    return np.asarray(np.argmax(tied, axis=1))


def chosen_classes(model: Classifier, chances: FloatArray) -> IntArray:
    """Class of every row that a model predicts, from its probabilities; shape (n,).

    The first of those whose logarithms tie; with a ``threshold_bias``, whose sums do.
    """
    bias = model._bias
    if bias is not None:
        return first_of_the_best(chances + bias)
    least = chances.max(axis=1, keepdims=True) * math.exp(-TIE_TOLERANCE)
    return np.asarray(np.argmax(chances >= least, axis=1))


def all_or_nothing(method: Method) -> Method:
    """Make a method that learns leave the model as it was if it fails."""

    @wraps(method)
    def learn(self: Any, *arguments: Any, **options: Any) -> Any:
        before = self.__dict__.copy()
        try:
            return method(self, *arguments, **options)
        except BaseException:
            self.__dict__ = before
            raise

    return learn  # type: ignore[return-value]


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all classifiers: a model adds how it learns, and the log joint of rows."""

    class_prior: Any = None
    threshold_bias: Any = None
    n_jobs: int | None = None

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows."""

    @abstractmethod
    def _predict_rows(self, frame: Frame, normalise: Any = None) -> FloatArray:
        """Log joint of a frame's rows, or what ``normalise`` makes of it; shape (n, k)."""

    @abstractmethod
    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p(x_i | others or parents, c), log p(x_i | c), both (n, k, d), and log prior (k,).

        Both are 0 for missing cells.
        """

    @abstractmethod
    def _terms(self, frame: Frame) -> Terms:
        """Split the log joint of a frame's rows, as ``predict_proba`` takes it, into terms."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """Give what was learned as plain values and arrays for the store."""

    @abstractmethod
    def _restore(self, state: dict[str, Any]) -> Self:
        """Become the model whose state was saved."""

    @on_partitions
    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """Log P(c, x) as the model estimates it; shape (n, k)."""
        return self._answer(X)

    @on_partitions
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Log P(c | x); shape (n, k)."""
        return self._answer(X, log_posterior)

    @on_partitions
    def predict_proba(self, X: Any) -> FloatArray:
        """P(c | x), classes in the order of ``classes_``; shape (n, k)."""
        return self._answer(X, posterior)

    @on_partitions
    def predict(self, X: Any) -> AnyArray:
        """Most probable class of every row, the first one on ties; shape (n,).

        With ``threshold_bias`` b, the class of largest P(c | x) + b_c.
        """
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chosen_classes(self, chances)])

    def predict_one(self, row: Mapping[str, Any]) -> Any:
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
        return self.predict([row]).tolist()[0]

    def predict_proba_one(self, row: Mapping[str, Any]) -> dict[Any, float]:
        """P(c | x) of every class for one row, a mapping from names to cells."""
        chances = self.predict_proba([row]).tolist()[0]
        return dict(zip(self.classes_.tolist(), chances, strict=True))

    def _answer(self, X: Any, normalise: Any = None) -> FloatArray:
        """Log joint of rows of any kind, or what ``normalise`` makes of it; shape (n, k)."""
        return self._predict_rows(self._known_frame(X), normalise)

    def predict_log_conditionals(
        self, X: Any, mode: str = "full-conditional"
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
        return self._log_conditionals(self._known_frame(X), mode)

    def explain(self, X: Any) -> Explanation:
        """Tell what each attribute of each row contributes to the model's answer.

        The contributions add up, with those of the prior, to the log joint and to the log-odds
        that the model predicts; see :class:`unnaive.explain.Explanation`.

        Examples
        --------
        >>> from unnaive import NaiveBayes
        >>> X = [["sunny", "hot"], ["rainy", "cool"], ["sunny", "mild"], ["rainy", None]]
        >>> model = NaiveBayes().fit(X, ["no", "yes", "no", "yes"])
        >>> print(model.explain([["sunny", None]]).text())
        y = yes: 25 % (without any attribute 50 %)
          against yes
            x0 = sunny    -1.10  odds ÷ 3
          not known: x1
        """
        from unnaive.explain.explanation import explanation_of  # noqa: PLC0415 - loads when asked

        return explanation_of(self, self._known_frame(X))

    def save(self, path: str | Path) -> None:
        """Write the model to one file, atomically; :func:`unnaive.load` reads it."""
        check_is_fitted(self)
        persistence.save_model(path, self)

    @property
    def _bias(self) -> FloatArray | None:
        """Read ``threshold_bias``: a number a class, or a mapping from labels; shape (k,)."""
        given, labels = self.threshold_bias, self.classes_.tolist()
        if given is None:
            return None
        if isinstance(given, Mapping):
            strange = [label for label in given if label not in labels]
            if strange:
                raise ValueError(
                    f"threshold_bias names {strange[0]!r}, which is no class; they are {labels}"
                )
            given = [given.get(label, 0.0) for label in labels]
        return self._of_classes(given, "threshold_bias")

    def _of_classes(self, given: Any, name: str) -> FloatArray:
        """Read a number for each class; shape (k,)."""
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}={given!r}; it must be a list of numbers, one a class"
            ) from None
        if numbers.shape != (len(self.classes_),) or not np.isfinite(numbers).all():
            raise ValueError(
                f"{name}={given!r}; it needs one number for each of the {len(self.classes_)} "
                f"classes {self.classes_.tolist()}"
            )
        return numbers

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, keep_all: bool = False
    ) -> tuple[Frame, Column, FloatArray | None]:
        """Check rows, labels and weights."""
        frame, target = self._frame(X, reset=reset), to_column(y)
        refuse_unusable_target(target)
        if target.values.dtype.kind == "f":
            check_classification_targets(target.values)
        return weighted_rows(frame, target, sample_weight, keep_all=keep_all)

    def _frame(self, X: Any, *, reset: bool) -> Frame:
        if not reset and is_mappings(X):
            names = self.schema_.names
            X = to_frame([{name: row.get(name) for name in names} for row in X])
        elif is_mappings(X):
            X = to_frame(X)
        if isinstance(X, Frame):
            return self._check_names(X, reset=reset)
        frame = to_frame(X)
        if not reset and self._has_names_of(X):
            return frame
        validate_data(
            self,
            X if hasattr(X, "shape") else np.empty((1, len(frame.names))),
            reset=reset,
            skip_check_array=True,
        )
        return frame

    def _has_names_of(self, X: Any) -> bool:
        """Whether rows have the number and names of columns that fit had, told quickly."""
        if isinstance(X, np.ndarray):
            known = not hasattr(self, "feature_names_in_")
            return known and X.ndim == 2 and X.shape[1] == self.n_features_in_
        names = getattr(self, "feature_names_in_", None)
        return names is not None and list(getattr(X, "columns", ())) == names.tolist()

    def _check_names(self, frame: Frame, *, reset: bool) -> Frame:
        """Do for our own frames what scikit-learn does for pandas'."""
        names = list(frame.names)
        if reset:
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
        elif names != list(getattr(self, "feature_names_in_", names)):
            known = list(self.feature_names_in_)
            missing = [name for name in known if name not in names]
            extra = [name for name in names if name not in known]
            raise SchemaMismatch(
                "The feature names should match those that were passed during fit: "
                f"missing {missing}, not seen in fit {extra}, or in another order"
            )
        return to_frame(frame)

    def _known_frame(self, X: Any) -> Frame:
        check_is_fitted(self)
        return self._frame(X, reset=False)

    @property
    def _class_prior(self) -> FloatArray | None:
        if self.class_prior is None:
            return None
        prior = self._of_classes(self.class_prior, "class_prior")
        if (prior < 0).any() or not np.isclose(prior.sum(), 1.0):
            raise ValueError("class_prior must hold probabilities that sum to 1")
        return prior

    def _set_names(self, names: Sequence[str], *, named: bool) -> None:
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that gaps, labels and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
