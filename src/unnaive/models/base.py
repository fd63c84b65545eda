"""The estimator that runs any recipe: count, learn, choose, tabulate, calibrate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import posterior
from unnaive._scikit import check_is_fitted
from unnaive.counts import CodedRows, JointCounts
from unnaive.counts.engines.dispatch import engine_of
from unnaive.discretize import discretizer
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.io.frames import is_few_rows, is_mappings
from unnaive.models.classifier import Classifier, Given, Shown
from unnaive.models.fitted import MOST_WEIGHTS, Fitting, Names, calibrate
from unnaive.models.partitioned import fit_partitions
from unnaive.models.recipe import Estimate
from unnaive.parameters import is_number, is_whole, number, one_of, parameter, whole
from unnaive.schema import Schema, label_array, learn_schema, sorted_labels
from unnaive.tables.left_out import by_weight
from unnaive.tables.smoothing import Laplace, Smoothing, smoothing_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, Label, State
    from unnaive.discretize import ByColumn, Discretizer
    from unnaive.io.frames import Frame
    from unnaive.models.fitted import Fitted, Normalise
    from unnaive.models.recipe import Recipe
    from unnaive.models.trial import LeftOutRows, Trial
    from unnaive.tables.network import Network
    from unnaive.tables.terms import Terms

_BLOCK_ROWS = 1 << 13
_COMMON = """
    discretize : str, a discretiser, or None, default="mdlp"
        How numeric columns are cut into bins, learned in ``fit`` from its rows alone: "mdlp",
        "auto", "quantile", "frequency" or "width", see :mod:`unnaive.discretize`. None: every
        column's distinct values are its categories.
    bins : int, default=5
        Number of bins for the discretisers that take one.
    categorical_features : "auto", list of names or positions, or mask, default="auto"
        Which numeric columns are categories. "auto": those of whole numbers with at most ten
        distinct values, each twice on average. Labels (strings, booleans, category types)
        always are.
    categories : dict or list, default=None
        Declared values of some columns, ``{"smoker": ["no", "ex", "yes"]}``, or a list with an
        entry (or None) a column. Values count in smoothing even if no row has them.
    min_frequency : int or float, default=None
        Categories of fewer rows, or of a smaller share of the rows (a number below 1), are grouped
        into one category "other values". Applies to columns of labels. Unseen categories are
        still missing values.
    max_categories : int, default=None
        Largest number of categories of a column of labels; the rarest are grouped in the same way.
    smoothing : policy, str or None, default=None
        None: {smoothing}. See :mod:`unnaive.tables.smoothing`.
    class_prior : array of shape (k,), default=None
        Prior probabilities of the classes; None: estimated from the counts.
    threshold_bias : dict or array of shape (k,), default=None
        What is added to each class's probability before ``predict`` takes the largest, as in
        ``{"ill": 0.2}``: more of the ill are found, and more of the well are alarmed.
    handle_unknown : {"missing", "error"}, default="missing"
        What a category never seen in fit is at prediction.
    calibrate : {"loo", None}, default=None
        "loo": a temperature and a bias a class make the left-out probabilities of the rows fit
        their classes best; exact and without folds, see :mod:`unnaive.tables.calibration`.
    max_memory : int, default=2 GiB
        Bytes that tables may take; a model that needs more says so before it takes them.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result is the same to the bit for any number.
"""


def _is_frequency(value: object) -> bool:
    """Whether a value is a number of rows, or a share of them."""
    return is_whole(value, 1) or (is_number(value) and 0.0 < float(value) < 1.0)  # type: ignore[arg-type]


@dataclass(eq=False, repr=False, kw_only=True)
class CountsClassifier(Classifier):
    """Base of the classifiers that learn from :class:`~unnaive.counts.JointCounts`.

    A model says by :meth:`recipe` which parts make it; this class runs the recipe.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    counts_ : JointCounts
        What was counted.
    structure_ : Graph
        What depends on what; it can be drawn (``plot``) and exported (``to_networkx``, ``to_dot``).
    path_ : dict of arrays
        Where leave-one-out chose among models: what each was, and its scores.
    """

    discretize: Any = "mdlp"
    bins: int = whole(5, 1)
    categorical_features: Any = "auto"
    categories: Any = None
    min_frequency: float | None = parameter(
        None, "a whole number of at least 1, or a share below 1", also=(None,), test=_is_frequency
    )
    max_categories: int | None = whole(None, 2, also=(None,))
    smoothing: Any = None
    handle_unknown: str = one_of("missing", "error")
    calibrate: str | None = one_of(None, "loo")
    max_memory: float = number(2**31, 1, what="a number of bytes", infinite=True)

    default_smoothing: ClassVar[Smoothing] = Laplace(1.0)

    path_ = Shown("Models that leave-one-out chose among, and their scores.")

    @classmethod
    def common_parameters(cls) -> str:
        """Describe the parameters that all models of counts share."""
        return _COMMON.replace("{smoothing}", f"``{cls.default_smoothing}``", 1)

    @abstractmethod
    def recipe(self) -> Recipe:
        """Say which parts make the model, with the parameters as they are now."""

    if TYPE_CHECKING:

        @property
        def fitted_(self) -> Fitted: ...  # noqa: D102

    @property
    def counts_(self) -> JointCounts:
        """What was counted."""
        return self.fitted_.counts

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array, pandas, polars or pyarrow table of shape (n, d), Dask or Spark frame
            Missing cells (NaN, None, NA, null) are welcome.
        y : array of shape (n,)
            Class labels: strings, integers, floats or booleans. With a Dask or Spark frame, the
            name of a column in it; likewise ``sample_weight``.
        sample_weight : array of shape (n,), default=None
            Weights of the rows; counts are then sums of weights.
        """
        self._check()
        engine = engine_of(X)
        if engine is not None:
            self._fitted = fit_partitions(self, engine, y, sample_weight)
            return self
        given = self._given(X, y, sample_weight, first=True)
        return self._fit_rows(*self.coded(given), given.names)

    def partial_fit(
        self,
        X: object,
        y: object,
        classes: Sequence[Label] | None = None,
        sample_weight: object = None,
    ) -> Self:
        """Add rows to what was learned.

        The first call fixes the schema: categories, bin edges and, by ``classes``, the class
        labels. Declare by ``categories=`` what the first rows may lack.
        """
        self._check()
        first = "_fitted" not in self.__dict__
        given = self._given(X, y, sample_weight, first=first)
        if first:
            rows, labels = self.coded(given, classes)
            return self._fit_rows(rows, labels, given.names, keep_all=True)
        require_same_classes(classes, self.schema_)
        return self._refit(self._counts_to_change() + self.count(given))

    def forget(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Take rows out of what was learned, as if they had never been there."""
        check_is_fitted(self)
        self._check()
        given = self._given(X, y, sample_weight, first=False)
        return self._refit(self._counts_to_change() - self.count(given))

    def _counts_to_change(self) -> JointCounts:
        """Return the counts, if they hold all that other rows may call for."""
        counts = self.counts_
        by_pairs = self.recipe().counts != "values"
        if by_pairs and not (counts.has_all_pairs or counts.families):
            raise TableTooLarge(
                "this model was fitted beyond max_memory and kept the pairs of its own structure "
                "alone, so rows can neither be added nor taken out; raise max_memory and fit anew"
            )
        return counts

    def fit_counts(self, counts: JointCounts) -> Self:
        """Learn from counts, wherever they were made."""
        if not isinstance(counts, JointCounts):
            raise TypeError(f"fit_counts takes JointCounts, not {type(counts).__name__}; see fit")
        self._check()
        labels = label_array(counts.schema.classes)
        return self._refit(counts, Names.of_schema(counts.schema), labels)

    def loo_predict_proba(self, X: object, y: object, sample_weight: object = None) -> FloatArray:
        """P(c | x) for rows of the fit, each by the model without that row; shape (n, k).

        Exact and without refits: leaving a row out changes only its own class's tables, each
        by one count. Structure, learned weights, bins and categories stay those of all rows. Rows
        (and weights) must be among those that were learned from.
        """
        check_is_fitted(self)
        fitted = self.fitted_
        given = self._given(X, y, sample_weight, first=False, keep_all=True)
        weights = np.ones(1) if given.weights is None else np.unique(given.weights)
        tables = {weight: fitted.left_out_tables(weight) for weight in weights.tolist()}
        classes = fitted.schema.encode_target(given.target)
        chances = np.empty((given.frame.n_rows, len(fitted.labels)))

        def predict_block(block: tuple[int, int], n_jobs: int | None) -> None:
            part = slice(*block)
            codes = self.codes_of(given.frame.block(*block), n_jobs, fitted.schema)
            some = None if given.weights is None else given.weights[part]
            for group in by_weight(CodedRows(fitted.schema, codes, classes[part], some)):
                joint = fitted.left_out_of(group, tables[group.weight], n_jobs or 1)
                if fitted.calibration is not None:
                    fitted.calibration.apply(joint)
                out = np.empty_like(joint)
                posterior(joint, out)
                chances[part][group.places] = out

        self._in_blocks(given.frame, predict_block)
        return chances

    def _predict_rows(self, frame: Frame, normalise: Normalise | None = None) -> FloatArray:
        """Log joint of a frame's rows, or what ``normalise`` makes of it; shape (n, k).

        An array is coded, looked up and normalised block by block: its codes are never all in
        memory.
        """
        fitted = self.fitted_
        out = np.empty((frame.n_rows, len(fitted.labels)))

        def predict_block(rows: tuple[int, int], n_jobs: int | None) -> None:
            codes = self.codes_of(frame.block(*rows), n_jobs, fitted.schema)
            fitted.answer(codes, normalise, out[slice(*rows)], n_jobs)

        self._in_blocks(frame, predict_block)
        return out

    def _in_blocks(self, frame: Frame, work: Callable[[tuple[int, int], int | None], None]) -> None:
        """Work on blocks of an array's rows in threads, or on a table at once with threads."""
        if frame.matrix is None:
            work((0, frame.n_rows), self.n_jobs)
            return
        pieces = 4 * _parallel.effective_n_jobs(self.n_jobs)
        size = max(1, min(_BLOCK_ROWS, -(-frame.n_rows // pieces)))
        blocks = _parallel.row_blocks(frame.n_rows, size)
        _parallel.run(lambda rows: work(rows, 1), blocks, self.n_jobs)

    def _answer(self, X: object, normalise: Normalise | None = None) -> FloatArray:
        """Answer for a few rows without making columns of them."""
        check_is_fitted(self)
        few = self.handle_unknown == "missing" and is_few_rows(X)
        if not few or not (is_mappings(X) or self._has_names_of(X)):
            return super()._answer(X, normalise)
        fitted = self.fitted_  # read once: another thread may fit the model anew
        codes = fitted.schema.encode_few(X)
        out = np.empty((codes.shape[1], len(fitted.labels)))
        fitted.answer(codes, normalise, out)
        return out

    def to_network(self) -> Network:
        """Return the model as a Bayesian network over the columns and the class.

        It answers any question, ``network.query("age", {"ill": "yes"})``, draws samples, and
        ``network.write("model.bif")`` makes a file for other programs.
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
        """Split the log joint of a frame's rows, as ``predict_proba`` takes it, into terms."""
        fitted = self.fitted_
        return fitted.terms(self.codes_of(frame, self.n_jobs, fitted.schema))

    def codes_of(self, frame: Frame, n_jobs: int | None, schema: Schema | None = None) -> CodeArray:
        """Code a frame's rows by a schema, that of the fit by default; shape (d, n)."""
        schema = self.schema_ if schema is None else schema
        return schema.encode(frame, handle_unknown=self.handle_unknown, n_jobs=n_jobs)

    def coded(
        self, given: Given, classes: Sequence[Label] | None = None
    ) -> tuple[CodedRows, AnyArray]:
        """Learn what the columns are, and code the rows; also return the class labels."""
        schema, codes, class_codes = learn_schema(
            given.frame,
            given.target,
            discretizer=self._discretizer,
            categorical_features=self.categorical_features,
            categories=self.categories,
            min_frequency=self.min_frequency,
            max_categories=self.max_categories,
            classes=classes,
            weights=given.weights,
            n_jobs=self.n_jobs,
        )
        rows = CodedRows(schema, codes, class_codes, given.weights, self.n_jobs)
        return rows, label_array(schema.classes, given.target)

    def rows_of(self, given: Given, schema: Schema) -> CodedRows:
        """Code rows by a schema."""
        classes = schema.encode_target(given.target)
        codes = self.codes_of(given.frame, self.n_jobs, schema)
        return CodedRows(schema, codes, classes, given.weights, self.n_jobs)

    def count(self, given: Given) -> JointCounts:
        """Count rows by the schema that is there, as ``counts_`` was counted."""
        known = self.counts_
        rows = self.rows_of(given, known.schema)
        families = rows.count_families([family.columns for family in known.families])
        triples = None if known.triples is None else rows.count_triples()
        return replace(rows.select(known.pair_columns), families=families, triples=triples)

    def fitting(self, schema: Schema) -> Fitting:
        """Make a run of the recipe, for these columns and classes."""
        how = Estimate(
            smoothing_policy(self.smoothing, self.default_smoothing),
            self._prior_of(list(schema.classes)),
            int(min(self.max_memory, 2**62)),
            self.n_jobs,
            type(self).__name__,
        )
        settings = self.settings()
        return Fitting(self.recipe(), how, settings, self.__dict__.get("_fitted"))

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
        """Fit to all rows of a trial, and predict some of them, each left out."""
        self._check()
        return trial.of_counts(self)

    def fit_coded_and_leave_out(
        self, rows: CodedRows, labels: AnyArray, names: Names, chosen: IntArray
    ) -> FloatArray:
        """Fit to coded rows; left-out log joint of the chosen ones; shape (m, k)."""
        fitting = self.fitting(rows.schema)
        fitting.recipe.tables.require(rows.schema, fitting.how, 2)  # before it fits in vain
        fitted, left_out = fitting.of_rows_and_left_out(rows, names, labels)
        self._fitted = fitted if self.calibrate is None else calibrate(fitted, rows)
        joint = None if left_out is None else left_out()
        if joint is None:
            some = rows.take(chosen)
            joint = self._fitted.left_out_joint(some, MOST_WEIGHTS)
        else:
            joint = joint[chosen]
        if self._fitted.calibration is not None:
            self._fitted.calibration.apply(joint)
        return joint

    def _refit(
        self, counts: JointCounts, names: Names | None = None, labels: AnyArray | None = None
    ) -> Self:
        """Fit to counts alone; what only rows can teach stays as it was."""
        self.bias_of(list(counts.schema.classes))
        fitting = self.fitting(counts.schema)
        before = fitting.before
        kept = None if before is None or self.calibrate is None else before.calibration
        if self.calibrate is not None and kept is None:
            raise UnnaiveError(
                'calibrate="loo" leaves rows out, and counts have none; fit on rows, after which '
                "fit_counts, partial_fit and forget keep the calibration"
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

    @property
    def _discretizer(self) -> Discretizer | ByColumn | None:
        return None if self.discretize is None else discretizer(self.discretize, self.bins)


def require_same_classes(classes: Sequence[Label] | None, schema: Schema) -> None:
    """Raise an error if later calls of ``partial_fit`` name other classes than the first."""
    if classes is not None and sorted_labels(set(classes)) != schema.classes:
        raise ValueError(
            f"classes={list(classes)!r} is not the same as on the first call to partial_fit: "
            f"{list(schema.classes)!r}"
        )
