"""Base class of the models of counts: count, learn, choose, make tables, calibrate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unnaive._docstrings import described_like
from unnaive._scikit import check_is_fitted
from unnaive.counts import CodedRows, JointCounts
from unnaive.counts.engines import engine_of
from unnaive.discretize import discretizer
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import is_few_rows, is_mappings
from unnaive.models import likelihood, updates
from unnaive.models.blocks import in_blocks, left_out_posteriors
from unnaive.models.classifier import Classifier
from unnaive.models.docstrings import REPEATS_OF_COUNTS
from unnaive.models.fitted import Fitting, Names, Shown, calibrate
from unnaive.models.inputs import has_names_of
from unnaive.models.partitioned import fit_partitions
from unnaive.models.recipe import Estimate
from unnaive.parameters import frequency, number, one_of, whole
from unnaive.schema import Schema, label_array, learn_schema
from unnaive.tables.smoothing import Laplace, Smoothing, smoothing_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, CodeArray, FloatArray, Label, State
    from unnaive.io.frames import Frame
    from unnaive.models.fitted import Fitted, Normalise
    from unnaive.models.inputs import Given
    from unnaive.models.recipe import Recipe
    from unnaive.models.trial import LeftOutRows, Trial
    from unnaive.tables.network import Network
    from unnaive.tables.terms import Terms


@dataclass(eq=False, repr=False, kw_only=True)
class CountsClassifier(Classifier):
    """Base class of the classifiers that learn from :class:`~unnaive.counts.JointCounts`.

    A model returns the parts that define it by :meth:`recipe`; this class runs the recipe: code
    the samples, count, learn the structure, choose among candidates by leave-one-out, make the
    tables, and calibrate. Counts add up, so ``partial_fit``, ``forget`` and ``fit_counts`` give
    the same model as a fit to all samples. Derive from it to add a model.

    Parameters
    ----------
    discretize : str, discretizer, dict or None, default="mdlp"
        How numeric features are cut into bins; the bin edges are learned in ``fit``: "mdlp",
        "auto", "quantile", "frequency" or "width", see :mod:`unnaive.discretize`. None: every
        distinct value is a category. A dictionary has one of these, or a list of edges, for some
        features: ``{"age": [18, 65], "crp": "quantile"}``; the others are cut by "mdlp".
    bins : int, default=5
        Number of bins, for the discretizers that take one.
    categorical_features : "auto", list of names or positions, or mask, default="auto"
        Which numeric features are categorical. "auto": those of whole numbers with at most ten
        distinct values that occur twice or more on average. Strings, booleans and category types
        are always categorical.
    categories : dict or list, default=None
        Declared categories of some features, ``{"smoker": ["no", "ex", "yes"]}``, or a list with
        one entry (or None) per feature. Smoothing counts declared categories even if no sample
        has them.
    min_frequency : int or float, default=None
        Categories with fewer samples, or with a smaller share of the samples (a number below 1),
        are grouped into one category "other values". Applies to features of labels. An unseen
        category is still a missing value.
    max_categories : int, default=None
        Largest number of categories of a feature of labels; the rarest are grouped as above.
    missing_as_category : bool, list of names or positions, or mask, default=False
        Features in which missing values are a category (or a bin) of their own, as a test that was
        not made may be informative; True: all features that have missing values in ``fit``.
    smoothing : policy, str or None, default=None
        How probabilities are estimated from counts, see :mod:`unnaive.tables.smoothing`; None:
        {smoothing}.
    class_prior : array of shape (k,), default=None
        Prior probabilities of the classes; None: estimated from the counts.
    threshold_bias : dict or array of shape (k,), default=None
        Number added to the probability of each class before ``predict`` takes the largest.
        ``{"ill": 0.2}`` gives fewer false negatives and more false positives.
    handle_unknown : {"missing", "error"}, default="missing"
        Whether an unseen category counts as a missing value at prediction, or is an error.
    calibrate : {"loo", None}, default=None
        "loo": fit a temperature and a bias per class to the leave-one-out probabilities of the
        training samples; exact and without folds, see :mod:`unnaive.tables.calibration`.
    max_memory : int, default=2 GiB
        Most bytes that tables may take; a model that needs more raises before it allocates them.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn. Results do not depend on it.

    Attributes
    ----------
    counts_ : JointCounts
        Counts that the model was estimated from; they can be merged with ``+`` and saved.
    structure_ : Graph
        Dependence structure: which features depend on which, with ``plot``, ``to_networkx`` and
        ``to_dot``.
    path_ : dict of arrays
        Candidates that leave-one-out compared, and their scores; only if a parameter is "loo".
    n_parameters_ : int
        Number of free parameters; only if the model is one Bayesian network.
    aic_, bic_ : float
        Information criteria, computed from counts, of such models; smaller is better.
    {attributes}

    See Also
    --------
    Classifier : Base class of all models.
    register : Give a new model a key.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.models import CountsClassifier
    >>> issubclass(TAN, CountsClassifier)
    True
    """

    discretize: Any = "mdlp"
    bins: int = whole(5, 1)
    categorical_features: Any = "auto"
    categories: Any = None
    min_frequency: float | None = frequency(None)
    max_categories: int | None = whole(None, 2, also=(None,))
    missing_as_category: Any = False
    smoothing: Any = None
    handle_unknown: str = one_of("missing", "error")
    calibrate: str | None = one_of(None, "loo")
    max_memory: float = number(2**31, 1, what="a number of bytes", infinite=True)

    default_smoothing: ClassVar[Smoothing] = Laplace(1.0)
    repeats: ClassVar[str] = REPEATS_OF_COUNTS

    path_ = Shown("Candidates that leave-one-out compared, and their scores.")
    partial_fit = updates.partial_fit
    forget = updates.forget
    log_likelihood = likelihood.log_likelihood
    n_parameters_ = property(likelihood.n_parameters)
    aic_ = property(likelihood.aic)
    bic_ = property(likelihood.bic)

    @abstractmethod
    def recipe(self) -> Recipe:
        """Define the model by its parts, with the current parameters.

        Returns
        -------
        Recipe
            Learner of the structure, choice by leave-one-out, and maker of the tables.
        """

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> Fitted: ...  # noqa: D102

    @property
    def marginalizes(self) -> bool:
        """Whether missing values are summed out, in models that have the parameter ``missing``."""
        return getattr(self, "missing", "marginalize") == "marginalize"

    @property
    def counts_(self) -> JointCounts:
        """Counts that the model was estimated from."""
        return self.fitted_.counts

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table (n, d), Dask or Spark frame, stream, path
            Features. Missing values (NaN, None, NA, null) are allowed. Streams of arrow batches,
            as DuckDB and polars give them, are read several times, see :func:`unnaive.count`. So
            are files: a path, a folder, a pattern, or a list of these.
        y : array of shape (n,), or str
            Class labels: strings, integers, floats or booleans; or the name of the column of X
            that has them, if X is a table, a list of mappings, a Dask or Spark frame or a stream.
        sample_weight : array of shape (n,), or str, default=None
            Weights of the samples; counts are then sums of weights. With a Dask or Spark frame or
            a stream, the name of the column of weights.

        Returns
        -------
        Self
            The fitted model.
        """
        self._check()
        engine = engine_of(X)
        if engine is not None and self.calibrate is None and not self.recipe().needs_rows:
            self._fitted = fit_partitions(self, engine, y, sample_weight)
            return self
        batch = self._training(X, y, sample_weight)
        return self._fit_rows(*self.coded(batch), batch.names)

    def fit_counts(self, counts: JointCounts) -> Self:
        """Fit the model to counts: of other machines, merged, or read from a file.

        Parameters
        ----------
        counts : JointCounts
            As :func:`unnaive.count` or ``counts_`` of a model gives them.

        Returns
        -------
        Self
            The fitted model, the same as from the samples that were counted.
        """
        if not isinstance(counts, JointCounts):
            raise TypeError(f"fit_counts takes JointCounts, not {type(counts).__name__}; see fit")
        self._check()
        labels = label_array(counts.schema.classes)
        return self._refit(counts, Names.of_schema(counts.schema), labels)

    @described_like(updates.forget)
    def loo_predict_proba(self, X: object, y: object, sample_weight: object = None) -> FloatArray:
        """Compute leave-one-out posterior probabilities of the training samples.

        Each sample is predicted by the model without that sample. This is exact and needs no
        refit: leaving a sample out changes only the tables of its class, each by one count.
        Structure, learned weights, bins and categories stay those of all samples.

        Returns
        -------
        ndarray of shape (n, k)
            Posterior probabilities, classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        batch = self._given(X, y, sample_weight, first=False, keep_all=True)
        return left_out_posteriors(self, batch)

    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        """Log joint of a frame's rows, or its normalized form; shape (n, k).

        An array is coded, looked up and normalized block by block, so that its codes are never
        all in memory.
        """
        fitted = self.fitted_
        out = np.empty((frame.n_rows, len(fitted.labels)))

        def predict_block(rows: tuple[int, int], n_jobs: int | None) -> None:
            codes = self.codes_of(frame.block(*rows), n_jobs, fitted.schema)
            fitted.answer(codes, normalise, out[slice(*rows)], n_jobs)

        in_blocks(frame, predict_block, self.n_jobs)
        return out

    def _answer(self, X: object, normalise: Normalise | None = None) -> FloatArray:
        """Predict; a few samples are coded without making columns of them."""
        check_is_fitted(self)
        few = self.handle_unknown == "missing" and is_few_rows(X)
        if not few or not (is_mappings(X) or has_names_of(self, X)):
            return super()._answer(X, normalise)
        fitted = self.fitted_  # read once: another thread may refit the model
        codes = fitted.schema.encode_few(X)
        out = np.empty((codes.shape[1], len(fitted.labels)))
        fitted.answer(codes, normalise, out)
        return out

    def to_network(self) -> Network:
        """Convert the model to a Bayesian network over the features and the class.

        The network answers any query, ``network.query("age", {"ill": "yes"})``, draws samples, and
        is written for other programs by ``network.write("model.bif")``.

        Returns
        -------
        Network
            The same distribution; models that are not one network raise an error.
        """
        check_is_fitted(self)
        return self.fitted_.network()

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        fitted = self.fitted_
        codes = self.codes_of(frame, self.n_jobs, fitted.schema)
        return fitted.log_conditionals(codes, mode, self.n_jobs)

    def terms_of(self, frame: Frame) -> Terms:
        """Split the log joint probability of samples into additive terms of features."""
        fitted = self.fitted_
        return fitted.terms(self.codes_of(frame, self.n_jobs, fitted.schema))

    def codes_of(self, frame: Frame, n_jobs: int | None, schema: Schema | None = None) -> CodeArray:
        """Code samples: every value becomes the index of its category or bin.

        Parameters
        ----------
        frame : Frame
            Samples.
        n_jobs : int or None
            Number of threads.
        schema : Schema, default=None
            Categories and bin edges; None: those of the fit.

        Returns
        -------
        ndarray of shape (d, n)
            Codes; one more than the last code of a feature is a missing value.
        """
        schema = self.schema_ if schema is None else schema
        return schema.encode(frame, handle_unknown=self.handle_unknown, n_jobs=n_jobs)

    def coded(
        self, batch: Given, classes: Sequence[Label] | None = None
    ) -> tuple[CodedRows, AnyArray]:
        """Learn categories and bin edges from samples, and code the samples.

        Parameters
        ----------
        batch : Given
            Checked samples.
        classes : list, default=None
            All class labels; None: those of the samples.

        Returns
        -------
        rows : CodedRows
            Codes, classes and weights of the samples.
        labels : ndarray of shape (k,)
            Class labels.
        """
        cut = None if self.discretize is None else discretizer(self.discretize, self.bins)
        schema, codes, class_codes = learn_schema(
            batch.frame,
            batch.target,
            discretizer=cut,
            categorical_features=self.categorical_features,
            categories=self.categories,
            min_frequency=self.min_frequency,
            max_categories=self.max_categories,
            missing_as_category=self.missing_as_category,
            classes=classes,
            weights=batch.weights,
            n_jobs=self.n_jobs,
        )
        rows = CodedRows(schema, codes, class_codes, batch.weights, self.n_jobs)
        return rows, label_array(schema.classes, batch.target)

    def fitting(self, schema: Schema) -> Fitting:
        """Prepare a run of the recipe for some features and classes.

        Parameters
        ----------
        schema : Schema
            Features and classes.

        Returns
        -------
        Fitting
            The recipe, how probabilities are estimated, and the previous fit.
        """
        how = Estimate(
            smoothing_policy(self.smoothing, self.default_smoothing),
            self._prior_of(list(schema.classes)),
            int(min(self.max_memory, 2**62)),
            self.n_jobs,
            type(self).__name__,
        )
        return Fitting(self.recipe(), how, self.settings(), self.__dict__.get("_fitted"))

    def _fit_rows(
        self,
        rows: CodedRows,
        labels: AnyArray | None = None,
        names: Names | None = None,
        *,
        keep_all: bool = False,
    ) -> Self:
        """Fit to coded rows."""
        self.bias_of(list(rows.schema.classes))  # raises here rather than at the first prediction
        names = Names.of_schema(rows.schema) if names is None else names
        labels = label_array(rows.schema.classes) if labels is None else labels
        fitted = self.fitting(rows.schema).of_rows(rows, names, labels, keep_all=keep_all)
        self._fitted = fitted if self.calibrate is None else calibrate(fitted, rows)
        return self

    def fit_and_leave_out(self, trial: Trial) -> LeftOutRows:
        """Fit the model to all samples of a trial, and leave some of them out of the tables."""
        self._check()
        return trial.of_counts(self)

    def _refit(
        self, counts: JointCounts, names: Names | None = None, labels: AnyArray | None = None
    ) -> Self:
        """Fit to counts only; what was learned from samples stays as it was."""
        self.bias_of(list(counts.schema.classes))
        fitting = self.fitting(counts.schema)
        before = fitting.before
        kept = None if before is None else before.calibration
        if self.calibrate is None and before is not None and before.settings.get("calibrate"):
            kept = None  # otherwise it is that of with_prior
        if self.calibrate is not None and kept is None:
            raise UnnaiveError(
                'calibrate="loo" leaves rows out, and counts have none; fit on rows first, '
                "after which fit_counts, partial_fit and forget keep the calibration"
            )
        names = self.fitted_.names if names is None else names
        labels = self.fitted_.labels if labels is None else labels
        fitted = fitting.of_counts(counts, fitting.learned_of(counts), names, labels)
        self._fitted = replace(fitted, calibration=kept)
        return self

    def _restored(self, state: State, labels: AnyArray, names: Names) -> Fitted:
        counts = JointCounts.from_state(state["counts"])
        fitting = self.fitting(counts.schema)
        learned = fitting.recipe.restored(state["structure"], counts)
        if learned is None:
            raise UnnaiveError("the file lacks what the model learned")
        fitted = fitting.of_counts(counts, learned, names, labels)
        if "calibration" not in state:
            return fitted
        from unnaive.tables.calibration import Calibration  # noqa: PLC0415 - loads when asked

        return replace(fitted, calibration=Calibration(**state["calibration"]))
