"""Base class of all classifiers: input checks, fitted attributes, predictions, persistence."""

from __future__ import annotations

import copyreg
import math
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._scikit import BaseEstimator, ClassifierMixin, check_is_fitted
from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.count import weighted_rows
from unnaive.io.frames import Frame, table_with_target, to_column
from unnaive.models import certainty, docstrings, exports, persistence, predictions
from unnaive.models.inputs import (
    Given,
    known_frame,
    named_frame,
    numbers_of_classes,
)
from unnaive.models.partitioned import on_partitions, rows_of_engine
from unnaive.parameters import check_parameters, is_whole, parameter
from unnaive.schema import refuse_unusable_target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Self

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray, Label, State
    from unnaive.counts.engines.sampling import Sampled
    from unnaive.models.fitted import Names, Normalise
    from unnaive.models.recipe import Structure
    from unnaive.models.trial import LeftOutRows, Trial
    from unnaive.report.file import Report
    from unnaive.schema import Schema
    from unnaive.tables.terms import Terms


def first_of_the_best(logs: FloatArray) -> IntArray:
    """Index of the most probable class of every sample, the first one on ties; shape (n,)."""
    tied = logs >= logs.max(axis=1, keepdims=True) - TIE_TOLERANCE
    return np.asarray(np.argmax(tied, axis=1))


def chosen_classes(model: Classifier, chances: FloatArray) -> IntArray:
    """Index of the class that a model predicts for every sample; shape (n,).

    Logarithms of the probabilities that differ by rounding only are ties, and the first class
    wins. With ``threshold_bias``, the sums of probability and bias are compared instead.
    """
    bias = model.bias_of(model.classes_.tolist())
    if bias is not None:
        return first_of_the_best(chances + bias)
    least = chances.max(axis=1, keepdims=True) * math.exp(-TIE_TOLERANCE)
    return np.asarray(np.argmax(chances >= least, axis=1))


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of all classifiers.

    A model adds how it learns (``fit``) and the log joint probability of samples; predictions,
    explanations, input checks and files are the same for all models. Use it for ``isinstance``
    checks; a new model has one of its subclasses as its base, see
    :class:`~unnaive.models.CountsClassifier`.

    Parameters
    ----------
    class_prior : array of shape (k,), default=None
        Prior probabilities of the classes; None: estimated from the training data.
    threshold_bias : dict or array of shape (k,), default=None
        Number added to the probability of each class before ``predict`` takes the largest.
    n_jobs : int, default=None
        Number of threads.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Names of the features; only if ``fit`` was given names.
    schema_ : Schema
        Categories and bin edges of the features, and the class labels.
    feature_importances_ : ndarray of shape (d,)
        Importance of the features: the information about the class that the model uses.
    sample_ : Sampled or None
        Number of the samples that a model which needs samples was fitted to, and of how many of a
        stream, Dask or Spark frame they were drawn; None: it was fitted to all.
    fitted_ : object
        The fitted value, frozen: everything that predictions are made of. ``fit`` replaces it as
        a whole, and ``set_params`` does not change it.

    See Also
    --------
    CountsClassifier : Base class of the models that learn from counts.
    all_models : All models by key.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.models import Classifier
    >>> isinstance(TAN(), Classifier)
    True
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
    repeats: ClassVar[str] = ""  # what permuted or repeated samples change, for the docstring
    without_graph: ClassVar[str] = "This model has no graph of columns to draw."
    counts_twice: ClassVar[bool] = False  # whether evidence of dependent features is counted twice
    refuses_missing: ClassVar[bool] = False  # at prediction

    __signature__ = docstrings.Signature()

    def __new__(cls, *_: object, **parameters: object) -> Self:
        """Explain what to use instead of ``class_weight``, which classifiers elsewhere have."""
        if "class_weight" in parameters and not hasattr(cls, "class_weight"):
            raise TypeError(
                f"{cls.__name__} has no parameter 'class_weight'; use class_prior=[…] for other "
                "prior probabilities, sample_weight in fit for weighted samples, or "
                "threshold_bias={…} for other thresholds"
            )
        model: Self = super().__new__(cls)
        return model

    def __getstate__(self) -> State:
        """Return plain values and arrays, as ``save`` writes them; skops stores these."""
        return persistence.plain_state(self)

    def __setstate__(self, state: State) -> None:
        """Restore the model from plain values, or from the attributes that pickle stores."""
        persistence.restore(self, state)

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        """Let pickle, joblib and copy keep all attributes, also traces that are not saved."""
        return copyreg.__newobj__, (type(self),), {**self.__dict__}  # type: ignore[attr-defined]

    predict_joint_log_proba = predictions.predict_joint_log_proba
    predict_log_proba = predictions.predict_log_proba
    predict_proba = predictions.predict_proba
    predict_one = predictions.predict_one
    predict_proba_one = predictions.predict_proba_one
    predict_log_conditionals = predictions.predict_log_conditionals
    explain = predictions.explain
    to_json = exports.to_json
    to_javascript = exports.to_javascript
    to_sql = exports.to_sql
    to_onnx = exports.to_onnx
    predict_interval = certainty.predict_interval
    predict_set = certainty.predict_set
    predict_or_abstain = certainty.predict_or_abstain

    def __init_subclass__(cls, **options: Any) -> None:
        """Complete the docstring with what all models of one kind share."""
        super().__init_subclass__(**options)
        docstrings.complete(cls)

    @abstractmethod
    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n, d)
            Features. Missing values (NaN, None, NA, null) are allowed.
        y : array of shape (n,)
            Class labels: strings, integers, floats or booleans.
        sample_weight : array of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        Self
            The fitted model.
        """

    @abstractmethod
    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        """Log joint of a frame's rows, or its normalized form; shape (n, k)."""

    @abstractmethod
    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p(x_i | others or parents, c), log p(x_i | c), both (n, k, d), and log prior (k,).

        Both are 0 for missing values.
        """

    @abstractmethod
    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint probability of samples into additive terms of features.

        Explanations, the report and the exported models are made of these terms.

        Parameters
        ----------
        frame : Frame
            Samples, as ``known_frame`` reads them.

        Returns
        -------
        Terms
            A base value per class, and one term per class, sample and feature (or group of
            features); they add up to the log joint that ``predict_proba`` normalizes.
        """

    @abstractmethod
    def _restored(self, state: State, labels: AnyArray, names: Names) -> Any:
        """Restore the fitted value from its saved state."""

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether the model was fitted."""
        return "_fitted" in self.__dict__

    @property
    def fitted_(self) -> Any:
        """The fitted value: frozen, and replaced as a whole by the next ``fit``."""
        try:
            return self.__dict__["_fitted"]
        except KeyError:
            raise AttributeError(
                f"this {type(self).__name__} instance is not fitted yet; call fit first"
            ) from None

    @property
    def structure_(self) -> Structure:
        """Dependence structure, if the model has one structure."""
        structure: Structure | None = getattr(self.fitted_, "structure", None)
        if structure is None:
            raise AttributeError(
                f"{type(self).__name__} has no single structure; unnaive.explain.plot_structure "
                "draws its heaviest member, and members_ has all of them"
            )
        return structure

    @property
    def classes_(self) -> AnyArray:
        """Class labels; shape (k,)."""
        labels: AnyArray = self.fitted_.labels
        return labels

    @property
    def schema_(self) -> Schema:
        """Categories, bin edges and class labels."""
        schema: Schema = self.fitted_.schema
        return schema

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.fitted_.names.number)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the features, if ``fit`` was given names; shape (d,)."""
        features = self.fitted_.names.features
        if features is None:
            raise AttributeError("the model was fitted to data without column names")
        return np.asarray(features)

    @property
    def sample_(self) -> Sampled | None:
        """Rows that the model was fitted to, and of how many; None if it was fitted to all."""
        sample: Sampled | None = self.fitted_.names.sample
        return sample

    @property
    def feature_importances_(self) -> FloatArray:
        """Importance of every feature: information about the class that the model uses; (d,).

        For models of counts I(X_i;Y) in nats, plus half of the interaction information of the pairs
        of features whose dependence is in the model, see
        :func:`unnaive.models.importance.counted_importances`; features that are not in the model
        have 0. For numeric features of Gaussian models I(X_i;Y) of normal densities. It needs no
        samples, so that scikit-learn's ``RFE`` and ``SelectFromModel`` work with every model;
        :func:`unnaive.explain.importance` measures the effect on predictions instead.
        """
        importances: FloatArray = self.fitted_.importances()
        return importances

    def with_prior(self, prior: ArrayLike | Mapping[Label, float]) -> Self:
        r"""Return a copy of the fitted model with other prior probabilities of the classes.

        .. math:: P'(c \mid x) \propto P(c \mid x)\, P'(c) / P(c)

        Use it where classes are more or less frequent than in the training samples, such as a
        disease in another hospital. It is exact for models of the form P(c)·P(x | c); for others,
        such as blends and networks in which the class has parents, it reweights the posterior
        probabilities. Explanations, leave-one-out and saved files follow. ``partial_fit`` and
        ``forget`` keep the ratio of the priors.

        Parameters
        ----------
        prior : array of shape (k,), or mapping from class labels to numbers
            Prior probabilities, positive, of all classes; they sum to 1.

        Returns
        -------
        Self
            The copy; this model does not change.

        Examples
        --------
        >>> from unnaive import NaiveBayes
        >>> model = NaiveBayes().fit([["a"], ["b"], ["a"], ["b"]], ["ill", "well", "ill", "well"])
        >>> model.predict_proba([["a"]]).round(3)
        array([[0.75, 0.25]])
        >>> model.with_prior({"ill": 0.1, "well": 0.9}).predict_proba([["a"]]).round(3)
        array([[0.25, 0.75]])
        """
        check_is_fitted(self)
        probabilities = numbers_of_classes(prior, self.classes_.tolist(), "prior")
        if (probabilities <= 0).any() or not np.isclose(probabilities.sum(), 1.0):
            raise ValueError(
                f"prior={prior!r}; it must hold a positive probability of every class, and they "
                "must sum to 1"
            )
        model = copy(self)
        model._fitted = model._with_prior(probabilities)
        return model

    def _with_prior(self, prior: FloatArray) -> Any:
        """Return the fitted value with another prior (k,)."""
        return self.fitted_.with_prior(np.log(prior))

    @on_partitions
    def predict(self, X: object) -> AnyArray:
        """Predict the most probable class of every sample, the first one on ties.

        With ``threshold_bias`` b it is the class of largest P(c | x) + b_c.

        Parameters
        ----------
        X : array or table of shape (n, d), list of mappings, Dask or Spark frame
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            Class labels.
        """
        while True:
            fitted, chances = self.__dict__.get("_fitted"), self.predict_proba(X)
            if self.fitted_ is fitted:  # no other thread has refitted the model meanwhile
                return np.asarray(fitted.labels[chosen_classes(self, chances)])

    def fit_and_leave_out(self, trial: Trial) -> LeftOutRows:
        """Fit the model to all samples of a trial, and predict samples that were held out.

        Parameters
        ----------
        trial : Trial
            Samples that candidates of :class:`~unnaive.AutoBayes` are judged by.

        Returns
        -------
        LeftOutRows
            Log joint probabilities of samples by models that were fitted without them.
        """
        return trial.of_folds(self)

    def _answer(self, X: object, normalise: Normalise | None = None) -> FloatArray:
        """Log joint of samples of any kind, or its normalized form; shape (n, k)."""
        return self._predict_rows(self.known_frame(X), normalise)

    def report(self, X: object, y: object, **settings: Any) -> Report:
        """Report on the model: performance, errors, effects, structure, data and an explorer.

        Parameters
        ----------
        X : data frame or array-like of shape (n, d)
            Samples, usually the training data.
        y : array-like of shape (n,), or str
            Class labels of the samples, or the name of their column in X.
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
        """Write the model to one file, atomically; :func:`unnaive.load` reads it.

        The file holds JSON and plain arrays: parameters, counts and structure. It is never code.

        Parameters
        ----------
        path : str or path
            Name of the file.
        """
        check_is_fitted(self)
        persistence.save_model(path, self)

    def bias_of(self, labels: list[Label]) -> FloatArray | None:
        """Read the parameter ``threshold_bias``, and raise if it does not fit the classes.

        Parameters
        ----------
        labels : list
            Class labels.

        Returns
        -------
        ndarray of shape (k,) or None
            Bias of every class; None: no bias.
        """
        if self.threshold_bias is None:
            return None
        return numbers_of_classes(self.threshold_bias, labels, "threshold_bias")

    def _prior_of(self, labels: list[Label]) -> FloatArray | None:
        """Read the parameter ``class_prior`` for these classes; shape (k,)."""
        if self.class_prior is None:
            return None
        prior = numbers_of_classes(self.class_prior, labels, "class_prior")
        if (prior < 0).any() or not np.isclose(prior.sum(), 1.0):
            raise ValueError("class_prior must hold probabilities that sum to 1")
        return prior

    def settings(self) -> State:
        """Return the current parameters.

        Returns
        -------
        dict
            Parameters by name.
        """
        return {declared.name: getattr(self, declared.name) for declared in fields(self)}

    def _check(self) -> None:
        """Raise an error that names a wrong parameter, its value and the cure."""
        check_parameters(self)

    def _given(
        self, X: object, y: object, sample_weight: object, *, first: bool, keep_all: bool = False
    ) -> Given:
        """Check samples, labels and weights; ``first``: they define the features."""
        if isinstance(y, str):
            X, y = table_with_target(X, y)
        frame, names = named_frame(X) if first else (known_frame(self, X), self.fitted_.names)
        target = to_column(y)
        refuse_unusable_target(target)
        rows = weighted_rows(frame, target, sample_weight, keep_all=keep_all)
        return Given(*rows, names)

    def _training(self, X: object, y: object, sample_weight: object) -> Given:
        """Check samples to fit; of a stream, Dask or Spark they are drawn if there are many."""
        rows, sampled = rows_of_engine(X, y, sample_weight)
        given = self._given(*rows, first=True)
        return given._replace(names=given.names._replace(sample=sampled))

    def known_frame(self, X: object) -> Frame:
        """Read samples for a fitted model, and check number and names of the features.

        Parameters
        ----------
        X : array or table of shape (n, d), list of mappings
            Samples.

        Returns
        -------
        Frame
            Columns of the samples.
        """
        check_is_fitted(self)
        return known_frame(self, X)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values, strings and categories are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
