"""The fitted value: everything that predictions are made of, replaced as a whole by ``fit``."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import largest_pair_bytes, pair_bytes, require_memory, wide_bytes
from unnaive.exceptions import UnnaiveError
from unnaive.models.recipe import Learned, Maker
from unnaive.tables.base import hopeless_rows, less
from unnaive.tables.conditionals import factors_alone, full_conditionals
from unnaive.tables.left_out import by_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unnaive._typing import AnyArray, CodeArray, FloatArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.counts.engines.sampling import Sampled
    from unnaive.models.classifier import Classifier
    from unnaive.models.recipe import Estimate, Recipe, Source, Structure
    from unnaive.schema import Schema
    from unnaive.tables.base import Tables
    from unnaive.tables.calibration import Calibration
    from unnaive.tables.left_out import LeftOut
    from unnaive.tables.network import Network
    from unnaive.tables.posterior import View
    from unnaive.tables.stacked import Stacked
    from unnaive.tables.terms import Terms

    Normalise = Callable[[FloatArray, FloatArray], None]

MOST_WEIGHTS = 16  # with more distinct weights, rows are left out as if of the mean weight


class Shown:
    """A fitted attribute that is looked up in the learned parameters or in the trace.

    ``hasattr`` is False before ``fit``, and where the learner did not set the attribute.

    Parameters
    ----------
    doc : str
        Docstring of the attribute.
    key : str, default=None
        Name in the learned parameters or in the trace; None: the name of the attribute.
    """

    def __init__(self, doc: str, key: str | None = None) -> None:
        self.__doc__, self.key = doc, key

    def __set_name__(self, owner: type, name: str) -> None:
        """Use the name of the attribute unless another key was given."""
        self.name, self.key = name, self.key or name

    def __get__(self, model: Classifier | None, owner: type | None = None) -> Any:
        """Return the value in the fitted model; raises AttributeError if there is none."""
        if model is None:
            return self
        learned = getattr(model.__dict__.get("_fitted"), "learned", None)
        for known in () if learned is None else (learned.parameters, learned.trace):
            if self.key in known:
                return known[self.key]
        raise AttributeError(
            f"this {type(model).__name__} has no {self.name}: it is not fitted, or its settings "
            "do not compute it; see the docstring"
        )


class Names(NamedTuple):
    """Number of columns, their names if ``fit`` was given names, and the sample, if it was one."""

    number: int
    features: AnyArray | None
    sample: Sampled | None = None

    @classmethod
    def of_schema(cls, schema: Schema) -> Names:
        """Return the names of a schema; x0, x1, … stand for columns without names."""
        default = tuple(f"x{place}" for place in range(len(schema.names)))
        return cls.of(schema.names, named=schema.names != default)

    @classmethod
    def of(cls, names: tuple[str, ...] | list[str], *, named: bool) -> Names:
        """Keep the names, or only their number."""
        return cls(len(names), np.array(names, dtype=object) if named else None)


@dataclass(frozen=True, eq=False)
class Counted:
    """What tables are made of, which is enough to leave rows out.

    Attributes
    ----------
    counts : JointCounts
        Counts of the rows.
    learned : Learned
        Structure, learned parameters, and the trace of learning.
    made_by : Maker
        Maker of the tables, with the smoothing and the prior of the fit.
    """

    counts: JointCounts
    learned: Learned
    made_by: Maker

    def left_out_joint(self, rows: CodedRows, most_weights: int | None = None) -> FloatArray:
        """Leave-one-out log joint of training rows, not calibrated; shape (n, k)."""
        out = np.empty((len(rows.classes), self.counts.n_classes))
        for group in by_weight(rows, most_weights):
            out[group.places] = self.left_out_of(group, self.left_out_tables(group.weight))
        return out

    def left_out_tables(self, weight: float) -> Tables:
        """Make the leave-one-out tables of rows of one weight."""
        if not self.made_by.maker.leaves_out:
            raise UnnaiveError(
                f"{self.made_by.how.model} has no leave-one-out in closed form, so it cannot be "
                "calibrated by it; use scikit-learn's CalibratedClassifierCV"
            )
        return self.made_by.tables(self.counts, self.learned, weight)

    def left_out_of(self, group: LeftOut, tables: Tables, n_jobs: int | None = None) -> FloatArray:
        """Leave-one-out log joint of rows of one weight; shape (m, k)."""
        n_jobs = self.made_by.how.n_jobs if n_jobs is None else n_jobs
        joint = tables.joint(group.codes, group.classes, n_jobs)
        hopeless = hopeless_rows(joint)
        if len(hopeless):
            prior = self.made_by.left_out_prior(self.counts, self.learned, group)
            joint[hopeless] = prior[hopeless]
        return joint


@dataclass(frozen=True, eq=False)
class Fitted(Counted):
    """The fitted value of a model of counts; later ``set_params`` do not change it.

    Attributes
    ----------
    counts : JointCounts
        Counts of the rows.
    learned : Learned
        Structure, learned parameters, and the trace of learning.
    made_by : Maker
        Maker of the tables, with the smoothing and the prior of the fit.
    tables : Tables
        Log-probability tables.
    labels : ndarray of shape (k,)
        Class labels.
    names : Names
        Number and names of the columns.
    settings : dict
        Parameters of the estimator at the fit.
    kept : bool
        Whether the structure is kept when counts change.
    calibration : Calibration or None
        Temperature and bias of the probabilities.
    """

    tables: Tables
    labels: AnyArray
    names: Names
    settings: State = field(default_factory=dict)
    kept: bool = False
    calibration: Calibration | None = None

    @property
    def schema(self) -> Schema:
        """Categories, bin edges and class labels."""
        return self.counts.schema

    @property
    def structure(self) -> Structure:
        """Dependence structure."""
        return self.learned.structure

    def answer(
        self, codes: CodeArray, normalise: Normalise | None, out: FloatArray, n_jobs: int | None = 1
    ) -> None:
        """Write the log joint of coded rows (n, k), or its normalized form, into ``out``."""
        joint = self.tables.joint(codes, None, n_jobs)
        if normalise is not None:
            self.answer_hopeless(joint)
        if self.calibration is not None:
            self.calibration.apply(joint)
        if normalise is None:
            out[...] = joint
        else:
            normalise(joint, out)

    def answer_hopeless(self, joint: FloatArray) -> None:
        """Replace the log joint of rows of probability 0 in all classes by the log prior."""
        hopeless = hopeless_rows(joint)
        if len(hopeless):
            joint[hopeless] = self.prior

    @property
    def prior(self) -> FloatArray:
        """Log prior probabilities of the classes; shape (k,)."""
        return self.made_by.prior(self.counts, self.learned)

    def combines(self) -> str:
        """Return how predictions combine the entries of tables, see :class:`TableMaker`."""
        return self.made_by.maker.combines(self.learned)

    def viewed(self, view: View) -> Tables:
        """Make tables of another view of their posterior; missing parents are ignored."""
        return self.made_by.viewed(self.counts, self.learned, view).apart()

    @cached_property
    def _cumulant_tables(self) -> Stacked:
        """Means, variances and third central moments of the log-probabilities of all tables."""
        from unnaive.tables.posterior import Cumulant  # noqa: PLC0415 - loads when asked
        from unnaive.tables.stacked import stacked  # noqa: PLC0415 - loads when asked

        return stacked(tuple(self.viewed(Cumulant(order)) for order in (1, 2, 3)))

    def cumulants(self, codes: CodeArray, n_jobs: int | None = 1) -> FloatArray:
        """Posterior means, variances and third central moments of the log joint; shape (n, 3, k).

        They are calibrated. The log joints of different classes are independent, up to a number
        that all share. Where a missing parent is summed out, the mean is shifted by what that
        changes in the log joint.
        """
        k = len(self.labels)
        out = self._cumulant_tables.joint(codes, n_jobs).reshape(-1, 3, k)
        apart = self.tables.apart()
        if apart is not self.tables:
            missing = self.schema.sizes.astype(codes.dtype)[:, None]
            rows = np.flatnonzero((codes >= missing).any(axis=0))
            if len(rows):
                some = np.ascontiguousarray(codes[:, rows])
                summed, ignored = (one.joint(some, None, n_jobs) for one in (self.tables, apart))
                shift = less(summed, ignored)
                out[rows, 0] += np.where(np.isfinite(shift), shift, 0.0)
        if self.calibration is not None:
            mean = np.ascontiguousarray(out[:, 0])
            self.calibration.apply(mean)
            out[:, 0] = mean
            out[:, 1] *= self.calibration.temperature**2
            out[:, 2] *= self.calibration.temperature**3
        return out

    def draws(self, random: np.random.Generator, model: Classifier) -> Iterator[Fitted]:
        """Yield the model with tables drawn from their posterior, again and again."""
        kind = self.combines()
        if kind == "tuned":
            raise UnnaiveError(
                f"the tables of this {type(model).__name__} were tuned by a search, so they have "
                'no posterior; use structure="bootstrap" with training=(X, y)'
            )
        from unnaive.tables.posterior import Draw, SharedDraw  # noqa: PLC0415 - loads when asked

        view: Draw = Draw(random)
        if kind == "average":
            view = SharedDraw(random, n_classes=len(self.labels))
        while True:
            yield replace(self, tables=self.made_by.viewed(self.counts, self.learned, view))
            view = view.next()

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint of coded rows, as predicted, into terms of columns."""
        terms = self.tables.terms(codes)
        joint = terms.joint
        self.answer_hopeless(joint)
        terms = terms.answered(joint)
        if self.calibration is None:
            return terms
        return terms.scaled(self.calibration.temperature, self.calibration.bias)

    def log_conditionals(
        self, codes: CodeArray, mode: str, n_jobs: int | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log P(x_i | others or parents, c), log P(x_i | c), both (n, k, d), and log prior (k,)."""
        alone = factors_alone(self.counts, codes, self.made_by.how.smoothing)
        if mode == "full-conditional":
            conditional = full_conditionals(
                lambda changed: self.tables.joint(changed, None, n_jobs), codes, self.schema.sizes
            )
        elif hasattr(self.tables, "factors"):
            conditional = self.tables.factors(codes)
        else:
            raise UnnaiveError(
                f"{self.made_by.how.model} has no parents: it averages over models, or over "
                'parents; use mode="full-conditional" instead'
            )
        outside = np.setdiff1d(np.arange(len(codes)), self.structure.used)
        conditional[:, :, outside] = alone[:, :, outside] = 0.0
        prior = self.prior
        return conditional, alone, np.asarray(prior - np.logaddexp.reduce(prior))

    @property
    def prevalence(self) -> FloatArray:
        """Log prior probabilities of the classes without learned weights, normalized; (k,)."""
        prior = self.made_by.how.log_prior(self.counts)
        return np.asarray(prior - np.logaddexp.reduce(prior))

    def with_prior(self, log_prior: FloatArray) -> Fitted:
        """Return the model with another prior: its posteriors times the ratio of the priors."""
        return replace(self, calibration=shifted(self.calibration, log_prior - self.prevalence))

    def calibrated(self, calibration: Calibration) -> Fitted:
        """Return the model with a further calibration of its log joint."""
        return replace(self, calibration=composed(self.calibration, calibration))

    def importances(self) -> FloatArray:
        """Return the importance of the columns; shape (d,)."""
        from unnaive.models.importance import counted_importances  # noqa: PLC0415 - loads when asked

        return counted_importances(self.counts, self.structure, self.made_by.how.n_jobs)

    def network(self) -> Network:
        """Return the model as a Bayesian network; raises if it is not one."""
        return self.made_by.maker.network(self.counts, self.learned, self.made_by.how)

    def light(self) -> Fitted:
        """Return the model without the counts of pairs, families and triples."""
        return replace(self, counts=replace(self.counts.without_pairs(), families=(), triples=None))

    def state(self) -> State:
        """Return the fitted value as plain values and arrays for the store."""
        learned = {**self.structure.state(), **self.learned.parameters}
        state: State = {"counts": self.counts.state(), "structure": learned}
        if self.calibration is not None:
            state["calibration"] = self.calibration.state()
        return state


class Fitting(NamedTuple):
    """One run of a recipe: its parts, how probabilities are estimated, and the previous fit."""

    recipe: Recipe
    how: Estimate
    settings: State
    before: Fitted | None = None

    def of_rows(
        self, rows: CodedRows, names: Names, labels: AnyArray, *, keep_all: bool = False
    ) -> Fitted:
        """Learn from rows, and count what the tables and, if ``keep_all``, later rows need."""
        return self.of_counts(*self.learned_of_rows(rows, keep_all=keep_all), names, labels)

    def learned_of_rows(
        self, rows: CodedRows, *, keep_all: bool = False
    ) -> tuple[JointCounts, Learned]:
        """Learn from rows, as far as memory allows from their counts; also return the counts."""
        schema, most = rows.schema, self.how.max_memory
        values = 8 * len(schema.classes) * int(schema.sizes.sum())
        self.how.require(schema, values, "counting the values of all columns")
        self.recipe.tables.require(schema, self.how)
        n_rows = len(rows.classes)
        counts: JointCounts | None = None
        if self.recipe.counts == "values":
            counts = rows.select(np.empty((0, 2), dtype=np.int64))
        else:
            if not self.recipe.tables.by_cells:  # counts, and tables of both directions
                self.how.require(schema, 3 * wide_bytes(schema)[0])
            needed = pair_bytes(schema, n_rows)
            if keep_all and self.recipe.learns_again:
                require_memory(schema, needed, most, "counting all pairs of columns")
            if needed <= most:
                counts = rows.count()
            else:
                needed = largest_pair_bytes(schema, n_rows)
                require_memory(schema, needed, most, "one pair of columns alone")
        source: Source = rows if counts is None else counts
        learned = self.recipe.learned(source, rows, self.how)
        if learned is None:
            raise UnnaiveError(f"{self.how.model} learned nothing from these rows")
        if counts is None:
            counts = rows.select(learned.structure.pairs)
        families = rows.count_families(learned.structure.families)
        triples = rows.count_triples() if self.recipe.counts == "triples" else None
        return replace(counts, families=families, triples=triples), learned

    def learned_of(self, counts: JointCounts) -> Learned:
        """Learn from counts only, or keep what was learned from rows before."""
        before, keeps = self.before, self.recipe.keeps
        if keeps and before is not None and before.kept:
            before.schema.require_same(counts.schema)
            return before.learned
        from_rows = keeps and not counts.families
        learned = None if from_rows else self.recipe.learned(counts, None, self.how)
        if learned is None:
            raise UnnaiveError(
                f"{self.how.model} learns from rows, and counts of columns or pairs "
                "alone have none; fit it on rows, after which fit_counts, partial_fit and forget "
                "keep what it found"
            )
        return learned

    def of_counts(
        self, counts: JointCounts, learned: Learned, names: Names, labels: AnyArray
    ) -> Fitted:
        """Make the tables from counts and the learned structure."""
        given = self.counted(counts, learned)
        tables = given.made_by.tables(counts, given.learned)
        known = (labels, names, self.settings, self.recipe.keeps)
        return Fitted(counts, given.learned, given.made_by, tables, *known)

    def counted(self, counts: JointCounts, learned: Learned) -> Counted:
        """Join counts and the learned structure with the maker of their tables."""
        if self.recipe.counts != "values":
            counts.select(learned.structure.pairs)  # raises if a pair was not counted
        made_by = Maker.of(self.recipe.tables, self.how)
        return Counted(counts, replace(learned, left_out=None), made_by)


def composed(first: Calibration | None, second: Calibration) -> Calibration:
    """Return one calibration that applies two, one after the other."""
    if first is None:
        return second
    scale = second.temperature
    return replace(
        first, temperature=scale * first.temperature, bias=scale * first.bias + second.bias
    )


def shifted(calibration: Calibration | None, bias: FloatArray) -> Calibration:
    """Return a calibration with a further bias of the classes."""
    from unnaive.tables.calibration import Calibration  # noqa: PLC0415 - loads when asked

    if calibration is None:
        return Calibration(1.0, bias)
    return replace(calibration, bias=calibration.bias + bias)


def calibrate(fitted: Fitted, rows: CodedRows) -> Fitted:
    """Calibrate a model by leave-one-out predictions of all rows."""
    from unnaive.tables.calibration import calibrated  # noqa: PLC0415 - loads when asked

    joint = fitted.left_out_joint(rows, MOST_WEIGHTS)
    return replace(fitted, calibration=calibrated(joint, rows.classes, rows.weights, rows.n_jobs))
