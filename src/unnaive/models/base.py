"""The estimator that all models from counts share; a model adds its structure and its vote."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from inspect import cleandoc
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import posterior
from unnaive._scikit import check_is_fitted
from unnaive.counts import CodedRows, JointCounts
from unnaive.counts.engines.dispatch import engine_of
from unnaive.counts.sizes import largest_pair_bytes, pair_bytes, require_memory
from unnaive.discretize import discretizer
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.io.frames import is_few_rows, is_mappings
from unnaive.models.classifier import Classifier, all_or_nothing
from unnaive.models.left_out import calibration, restored_calibration
from unnaive.models.partitioned import fit_partitions
from unnaive.schema import Schema, label_array, learn_schema, sorted_labels
from unnaive.structure.graph import Graph
from unnaive.tables.conditionals import factors_alone, full_conditionals
from unnaive.tables.smoothing import Laplace, Smoothing, smoothing_policy
from unnaive.tables.trees import leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.io.frames import Column, Frame
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


@dataclass(eq=False, repr=False, kw_only=True)
class CountsClassifier(Classifier):
    """Base of the classifiers that learn from :class:`~unnaive.counts.JointCounts`.

    ``fit`` is: learn the schema, code the rows, count, then ``fit_counts``.

    Parameters
    ----------
    {parameters}
    """

    discretize: Any = "mdlp"
    bins: int = 5
    categorical_features: Any = "auto"
    categories: Any = None
    smoothing: Any = None
    handle_unknown: str = "missing"
    calibrate: str | None = None
    max_memory: int = 2**31

    _calibration: ClassVar[Any] = None
    default_smoothing: ClassVar[Smoothing] = Laplace(1.0)
    needs_pairs: ClassVar[bool] = True
    needs_triples: ClassVar[bool] = False
    has_leave_one_out: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        """Write the parameters that all models share into the model's docstring."""
        super().__init_subclass__(**options)
        common = cleandoc(_COMMON.replace("{smoothing}", f"``{cls.default_smoothing}``", 1))
        if cls.__doc__:
            cls.__doc__ = cleandoc(cls.__doc__).replace("{parameters}", common)

    @abstractmethod
    def _learn_structure(self, source: JointCounts | CodedRows) -> Any:
        """Learn what depends on what; the result has ``state()``."""

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> Any:
        """Learn what depends on what where rows are at hand, too."""
        return self._learn_structure(source)

    def _kept_structure(self, source: JointCounts | CodedRows) -> Any:
        """Return what an earlier fit learned from rows, since counts alone cannot give it."""
        if not hasattr(self, "structure_"):
            raise UnnaiveError(
                f"{type(self).__name__} learns by classifying rows, and counts of columns or pairs "
                "alone have none; fit it on rows, after which fit_counts, partial_fit and forget "
                "keep what it found"
            )
        self.schema_.require_same(source.schema)
        return self.structure_

    @abstractmethod
    def _restore_structure(self, state: Any, schema: Schema) -> Any:
        """Make the structure whose ``state()`` was saved."""

    @abstractmethod
    def _pairs_of(self, structure: Any) -> IntArray:
        """Pairs of columns that the tables need."""

    def _families_of(self, structure: Any) -> list[tuple[int, ...]]:
        """Columns with their several parents that the tables need; none, as a rule."""
        return []

    @abstractmethod
    def _make_tables(self, held_out: float | None = None) -> Any:
        """Estimate the tables from ``counts_`` and ``structure_``."""

    def _joint(
        self, tables: Any, codes: CodeArray, held: IntArray, n_jobs: int | None
    ) -> FloatArray:
        """Log joint of every row and class; shape (n, k)."""
        joint: FloatArray = tables.joint(codes, held, n_jobs)
        return joint

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        engine = engine_of(X)
        if engine is not None:
            self._check_settings()
            return fit_partitions(self, engine, y, sample_weight)
        frame, target, weights = self._rows(X, y, sample_weight, reset=True)
        return self._fit_rows(self._learn_rows(frame, target, weights))

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to what was learned.

        The first call fixes the schema: categories, bin edges and, by ``classes``, the class
        labels. Declare by ``categories=`` what the first rows may lack.
        """
        first = not hasattr(self, "counts_")
        frame, target, weights = self._rows(X, y, sample_weight, reset=first)
        if first:
            return self._fit_rows(self._learn_rows(frame, target, weights, classes), keep_all=True)
        if classes is not None and sorted_labels(set(classes)) != self.schema_.classes:
            raise ValueError(
                f"classes={list(classes)!r} is not the same as on the first call to partial_fit: "
                f"{self.classes_.tolist()!r}"
            )
        return self._refit(self._counts_to_change() + self._count(frame, target, weights))

    @all_or_nothing
    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out of what was learned, as if they had never been there."""
        check_is_fitted(self)
        frame, target, weights = self._rows(X, y, sample_weight, reset=False)
        return self._refit(self._counts_to_change() - self._count(frame, target, weights))

    def _counts_to_change(self) -> JointCounts:
        """Return the counts, if they hold all that other rows may call for."""
        counts: JointCounts = self.counts_
        if self.needs_pairs and not (counts.has_all_pairs or counts.families):
            raise TableTooLarge(
                "this model was fitted beyond max_memory and kept the pairs of its own structure "
                "alone, so rows can neither be added nor taken out; raise max_memory and fit anew"
            )
        return counts

    @all_or_nothing
    def fit_counts(self, counts: JointCounts) -> Self:
        """Learn from counts, wherever they were made."""
        if not isinstance(counts, JointCounts):
            raise TypeError(f"fit_counts takes JointCounts, not {type(counts).__name__}; see fit")
        self._take_names(counts.schema)
        return self._refit(counts)

    def _take_names(self, schema: Schema) -> None:
        names = list(schema.names)
        self._set_names(names, named=names != [f"x{i}" for i in range(len(names))])
        self.classes_ = label_array(schema.classes)

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """P(c | x) for rows of the fit, each by the model without that row; shape (n, k).

        Exact and without refits: leaving a row out changes only its own class's tables, each
        by one count. Structure, bins and categories stay those of all rows. Rows (and
        weights) must be among those that were learned from.
        """
        check_is_fitted(self)
        frame, target, weights = self._rows(X, y, sample_weight, reset=False, keep_all=True)
        held = self.schema_.encode_target(target)
        if weights is None:
            return self._predict_rows(frame, posterior, held, 1.0)
        chances = np.empty((len(held), len(self.classes_)))
        for weight in np.unique(weights):
            rows = weights == weight
            part = frame.take(rows)
            chances[rows] = self._predict_rows(part, posterior, held[rows], float(weight))
        return chances

    def _predict_rows(
        self,
        frame: Frame,
        normalise: Any = None,
        held: IntArray | None = None,
        weight: float | None = None,
    ) -> FloatArray:
        """Log joint of a frame's rows, or what ``normalise`` makes of it; shape (n, k).

        With ``held``, the rows' own classes, each row is left out with its ``weight``. An array
        is coded, looked up and normalised block by block: its codes are never all in memory.
        """
        model = self._as_fitted
        tables = model._tables if weight is None else model._make_tables(held_out=weight)
        schema = model.schema_
        out = np.empty((frame.n_rows, len(schema.classes)))

        def predict_block(rows: tuple[int, int], n_jobs: int | None = 1) -> None:
            part = slice(*rows)
            block = frame.block(*rows)
            codes = schema.encode(block, handle_unknown=self.handle_unknown, n_jobs=n_jobs)
            own = None if held is None else held[part]
            model._predict_codes(tables, codes, normalise, out[part], own, weight, n_jobs)

        if frame.matrix is None:
            predict_block((0, frame.n_rows), self.n_jobs)
        else:
            pieces = 4 * _parallel.effective_n_jobs(self.n_jobs)
            size = max(1, min(_BLOCK_ROWS, -(-frame.n_rows // pieces)))
            _parallel.run(predict_block, _parallel.row_blocks(frame.n_rows, size), self.n_jobs)
        return out

    def _answer(self, X: Any, normalise: Any = None) -> FloatArray:
        """Answer for a few rows without making columns of them."""
        check_is_fitted(self)
        few = self.handle_unknown == "missing" and is_few_rows(X)
        if not few or not (is_mappings(X) or self._has_names_of(X)):
            return super()._answer(X, normalise)
        model, codes = self._as_fitted, self.schema_.encode_few(X)
        out = np.empty((codes.shape[1], len(self.classes_)))
        model._predict_codes(model._tables, codes, normalise, out)
        return out

    def _predict_codes(  # noqa: PLR0917 - as the two ways above call it
        self,
        tables: Any,
        codes: CodeArray,
        normalise: Any,
        out: FloatArray,
        held: IntArray | None = None,
        weight: float | None = None,
        n_jobs: int | None = 1,
    ) -> None:
        """Fill in the log joint of coded rows, or what ``normalise`` makes of it."""
        own = np.full(codes.shape[1], -1) if held is None else held
        joint = self._joint(tables, codes, own, n_jobs)
        if normalise is not None:
            self._answer_hopeless(joint, own, weight, self.counts_)
        if self._calibration is not None:
            self._calibration.apply(joint)
        if normalise is None:
            out[...] = joint
        else:
            normalise(joint, out)

    def to_network(self) -> Network:
        """Return the model as a Bayesian network over the columns and the class.

        It answers any question, ``network.query("age", {"ill": "yes"})``, draws samples, and
        ``network.write("model.bif")`` makes a file for other programs.
        """
        from unnaive.tables.export import network_of_graph  # noqa: PLC0415 - loads when asked

        check_is_fitted(self)
        model = self._as_fitted
        if not hasattr(model.structure_, "parents_of") or not hasattr(model._tables, "factors"):
            raise UnnaiveError(
                f"{type(self).__name__} is no single network of columns: it averages over models "
                "or parents, or joins columns; TAN, KDB, GeneralizedNB and others are"
            )
        return network_of_graph(
            model.counts_, model.structure_, model._smoothing, model._class_prior
        )

    def _log_conditionals(
        self, frame: Frame, mode: str
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        model = self._as_fitted
        codes = model.schema_.encode(frame, handle_unknown=self.handle_unknown, n_jobs=self.n_jobs)
        alone = factors_alone(model.counts_, codes, model._smoothing)
        prior = log_prior(model.counts_, model._smoothing, model._class_prior)
        given = model._given(codes, mode)
        if isinstance(model.structure_, Graph):
            left_out = np.setdiff1d(np.arange(len(codes)), model.structure_.used)
            given[:, :, left_out] = alone[:, :, left_out] = 0.0
        return given, alone, prior

    def _given(self, codes: CodeArray, mode: str) -> FloatArray:
        """Log P(x_i | all other cells, or those of its parents, c); shape (n, k, d)."""
        if mode == "full-conditional":
            held = np.full(codes.shape[1], -1)

            def joint(changed: CodeArray) -> FloatArray:
                return self._joint(self._tables, changed, held, self.n_jobs)

            return full_conditionals(joint, codes, self.schema_.sizes)
        if not hasattr(self._tables, "factors"):
            raise UnnaiveError(
                f"{type(self).__name__} has no parents: it averages over models, or over parents; "
                'use mode="full-conditional"'
            )
        factors: FloatArray = self._tables.factors(codes)
        return factors

    def _split(self, frame: Frame) -> Terms:
        """Split the log joint into terms, hopeless rows included."""
        from unnaive.tables.terms import split  # noqa: PLC0415 - loads when asked

        model = self._as_fitted
        codes = model.schema_.encode(frame, handle_unknown=self.handle_unknown, n_jobs=self.n_jobs)
        return split(model._tables, codes)

    def _terms(self, frame: Frame) -> Terms:
        terms, model = self._split(frame), self._as_fitted
        answer = terms.joint
        model._answer_hopeless(answer, np.full(frame.n_rows, -1), None, model.counts_)
        terms = terms.answered(answer)
        if model._calibration is None:
            return terms
        return terms.scaled(model._calibration.temperature, model._calibration.bias)

    def _answer_hopeless(
        self, joint: FloatArray, held: IntArray, weight: float | None, counts: JointCounts
    ) -> None:
        """Where no class has any chance, put the log prior, without the row if it is held out."""
        hopeless = np.flatnonzero(np.isneginf(joint).all(axis=1))
        if not len(hopeless):
            return
        sets = leave_one_out_sets(weight or 0.0)
        others, own = (
            log_prior(counts, self._smoothing, self._class_prior, off) for off in sets[:2]
        )
        joint[hopeless] = others
        if weight is not None:
            joint[hopeless, held[hopeless]] = own[held[hopeless]]

    def _learn_rows(
        self, frame: Frame, target: Column, weights: FloatArray | None, classes: Any = None
    ) -> CodedRows:
        self._check_settings()
        schema, codes, class_codes = learn_schema(
            frame,
            target,
            discretizer=self._discretizer,
            categorical_features=self.categorical_features,
            categories=self.categories,
            classes=classes,
            weights=weights,
            n_jobs=self.n_jobs,
        )
        self.classes_ = label_array(schema.classes, target)
        return CodedRows(schema, codes, class_codes, weights, self.n_jobs)

    def _check_settings(self) -> None:
        if self.handle_unknown not in {"missing", "error"}:
            raise ValueError(
                f"handle_unknown={self.handle_unknown!r}; it must be 'missing' or 'error'"
            )
        if self.calibrate not in {None, "loo"}:
            raise ValueError(f"calibrate={self.calibrate!r}; it must be 'loo' or None")
        if not isinstance(self.max_memory, Real) or not float(self.max_memory) > 0:
            raise ValueError(
                f"max_memory={self.max_memory!r}; it must be a number of bytes above 0"
            )

    def _fit_rows(self, rows: CodedRows, *, keep_all: bool = False) -> Self:
        """Learn the structure from rows, and count what its tables need."""
        self._calibration = None  # type: ignore[misc]
        values = 8 * len(rows.schema.classes) * int(rows.schema.sizes.sum())
        require_memory(rows.schema, values, self.max_memory, "counting the values of all columns")
        if not self.needs_pairs:
            counts = rows.select(np.empty((0, 2), dtype=np.int64))
            return self._count_rest(counts, self._learn_from_rows(counts, rows), rows)
        needed = pair_bytes(rows.schema)
        if keep_all:
            require_memory(rows.schema, needed, self.max_memory, "counting all pairs of columns")
        if needed <= self.max_memory:
            counts = rows.count()
            structure = self._learn_from_rows(counts, rows)
        else:
            largest = largest_pair_bytes(rows.schema)
            require_memory(rows.schema, largest, self.max_memory, "one pair of columns alone")
            structure = self._learn_from_rows(rows, rows)
            counts = rows.select(self._pairs_of(structure))
        return self._count_rest(counts, structure, rows)

    def _count_rest(self, counts: JointCounts, structure: Any, rows: CodedRows) -> Self:
        """Count what the tables need beyond pairs."""
        families = rows.count_families(self._families_of(structure))
        triples = rows.count_triples() if self.needs_triples else None
        self._set(replace(counts, families=families, triples=triples), structure)
        if self.calibrate is not None:
            self._calibration = calibration(self, rows)  # type: ignore[misc]
            self._as_fitted._calibration = self._calibration  # type: ignore[misc]
        return self

    def _refit(self, counts: JointCounts) -> Self:
        if self.calibrate is not None and self._calibration is None:
            raise UnnaiveError(
                'calibrate="loo" leaves rows out, and counts have none; fit on rows, after which '
                "fit_counts, partial_fit and forget keep the calibration"
            )
        return self._set(counts, self._learn_structure(counts))

    def _state(self) -> dict[str, Any]:
        structure = None if self.structure_ is None else self.structure_.state()
        state = {"counts": self.counts_.state(), "structure": structure}
        if self._calibration is not None:
            state["calibration"] = self._calibration.state()
        return state

    def _restore(self, state: dict[str, Any]) -> Self:
        counts = JointCounts.from_state(state["counts"])
        if "calibration" in state:
            found = restored_calibration(state["calibration"])
            self._calibration = found  # type: ignore[misc]
        return self._set(counts, self._restore_structure(state["structure"], counts.schema))

    def _set(self, counts: JointCounts, structure: Any) -> Self:
        if self.needs_pairs:
            counts.select(self._pairs_of(structure))
        self.schema_ = counts.schema
        self.counts_ = counts
        self.structure_ = structure
        self._tables = self._make_tables()
        # What was fitted answers, whatever set_params does to this object afterwards.
        self._as_fitted = copy(self)
        self._as_fitted.__dict__.pop("_as_fitted", None)
        return self

    def _count(self, frame: Frame, target: Column, weights: FloatArray | None) -> JointCounts:
        """Count rows by the schema that is there."""
        classes = self.schema_.encode_target(target)
        codes = self.schema_.encode(frame, handle_unknown=self.handle_unknown, n_jobs=self.n_jobs)
        rows = CodedRows(self.schema_, codes, classes, weights, self.n_jobs)
        families = rows.count_families([family.columns for family in self.counts_.families])
        triples = None if self.counts_.triples is None else rows.count_triples()
        counts = rows.select(self.counts_.pair_columns)
        return replace(counts, families=families, triples=triples)

    @property
    def _discretizer(self) -> Any:
        return None if self.discretize is None else discretizer(self.discretize, self.bins)

    @property
    def _smoothing(self) -> Smoothing:
        return smoothing_policy(self.smoothing, self.default_smoothing)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether there are counts."""
        return hasattr(self, "counts_")
