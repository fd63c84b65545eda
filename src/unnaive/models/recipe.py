"""Recipes: a model of counts is defined by its parts.

A model is a dataclass of parameters with a method ``recipe``, which returns how its structure is
learned and how its tables are made. One estimator, :class:`~unnaive.models.base.CountsClassifier`,
runs any recipe: it counts what the recipe needs, learns, chooses by leave-one-out, makes the
tables and calibrates them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import require_memory
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import FamilyGraph, ParentGraph
from unnaive.tables.trees import PLAIN, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from unnaive._typing import FloatArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema
    from unnaive.structure.graph import Graph
    from unnaive.structure.network import NetworkGraph
    from unnaive.tables.base import Tables
    from unnaive.tables.left_out import LeftOut
    from unnaive.tables.network import Network
    from unnaive.tables.posterior import View
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut

Source: TypeAlias = "JointCounts | CodedRows"
Structure: TypeAlias = "Graph | NetworkGraph"
Learner: TypeAlias = "Callable[[Source, CodedRows | None], Learned | None]"
Choice: TypeAlias = "Callable[[Learned, Task], Learned]"
Kind = TypeVar("Kind")


@dataclass(frozen=True, eq=False)
class Learned:
    """Result of a learner.

    Attributes
    ----------
    structure : Graph
        Dependence structure.
    parameters : mapping
        Learned numbers besides counts and structure, such as weights; they are saved.
    trace : mapping
        Paths, scores and results of searches, by the names of the attributes that show them; they
        are not saved.
    left_out : callable, default=None
        Held-out log joint of the rows (n, k), where leaving a row out of the tables is not
        enough; it may return None.
    """

    structure: Structure
    parameters: Mapping[str, object] = field(default_factory=dict)
    trace: Mapping[str, object] = field(default_factory=dict)
    left_out: Callable[[], FloatArray | None] | None = None

    def graph(self, kind: type[Kind]) -> Kind:
        """Return the structure; raises if it is of another kind."""
        if not isinstance(self.structure, kind):
            raise UnnaiveError(f"the structure is not a {kind.__name__}")
        return self.structure

    def array(self, key: str) -> FloatArray:
        """Return a learned array."""
        array = self.parameters[key]
        if not isinstance(array, np.ndarray):
            raise UnnaiveError(f"the learned {key} is not an array")
        return array


@dataclass(frozen=True, eq=False)
class Estimate:
    """How probabilities are estimated from counts, in one model.

    Attributes
    ----------
    smoothing : Smoothing
        Smoothing policy.
    class_prior : ndarray of shape (k,), or None
        Prior probabilities of the classes; None: they are estimated.
    max_memory : int
        Most bytes that tables may take.
    n_jobs : int or None
        Number of threads.
    model : str
        Name of the model, for messages.
    """

    smoothing: Smoothing
    class_prior: FloatArray | None = None
    max_memory: int = 2**31
    n_jobs: int | None = None
    model: str = "the model"

    def log_prior(self, counts: JointCounts, held: HeldOut = PLAIN) -> FloatArray:
        """Log P(c); shape (k,)."""
        return log_prior(counts, self.smoothing, self.class_prior, held)

    def require(self, schema: Schema, needed: int, what: str = "") -> None:
        """Raise an error if tables of that many bytes are too large."""
        require_memory(schema, needed, self.max_memory, what or f"the tables of {self.model}")


class TableMaker(ABC):
    """Makes tables from counts and the learned structure."""

    leaves_out: ClassVar[bool] = True  # whether leaving a row out has a closed form
    by_cells: bool = False  # whether pairs may be held by the cells that occurred

    @abstractmethod
    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> Tables:
        """Estimate the tables; with ``held_out``, the weight of a row, those of leave-one-out."""

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables.

        "product": one entry of each table is multiplied; "sum": products are summed; "average":
        tables that share rows are averaged or weighted; "tuned": entries are not estimates.
        """
        return "product"

    def estimate(self, how: Estimate) -> Estimate:
        """Return how probabilities are estimated, if not by the parameters of the model."""
        return how

    def require(self, schema: Schema, how: Estimate, sets: int = 1) -> None:  # noqa: B027
        """Raise an error if tables would be too large, as far as that is known before counting.

        Leave-one-out takes two sets of tables.
        """

    def log_prior(
        self, counts: JointCounts, learned: Learned, how: Estimate, held: HeldOut = PLAIN
    ) -> FloatArray:
        """Log prior probabilities of the classes; shape (k,)."""
        return how.log_prior(counts, held)

    def network(self, counts: JointCounts, learned: Learned, how: Estimate) -> Network:
        """Return the model as a Bayesian network; raises if it is not one."""
        raise UnnaiveError(
            f"{how.model} is not a single network of columns: it averages over models or parents, "
            "or joins columns; TAN, KDB, GeneralizedNB and others are"
        )


@dataclass(frozen=True, eq=False)
class Maker:
    """A table maker with everything it needs except counts and structure."""

    maker: TableMaker
    how: Estimate

    @classmethod
    def of(cls, maker: TableMaker, how: Estimate) -> Maker:
        """Join the two; a maker may replace the estimate."""
        return cls(maker, maker.estimate(how))

    def tables(
        self, counts: JointCounts, learned: Learned, held_out: float | None = None
    ) -> Tables:
        """Make the tables; with ``held_out`` those of leave-one-out."""
        held = counts if self.maker.by_cells else counts.filled()
        return self.maker.tables(held, learned, self.how, held_out)

    def viewed(self, counts: JointCounts, learned: Learned, view: View) -> Tables:
        """Make tables of another view of their posterior, see :mod:`unnaive.tables.posterior`."""
        how = replace(self.how, smoothing=self.how.smoothing.viewed(view))
        return replace(self, how=how).tables(counts, learned)

    def prior(self, counts: JointCounts, learned: Learned) -> FloatArray:
        """Log-probabilities of the classes; shape (k,)."""
        return self.maker.log_prior(counts, learned, self.how)

    def left_out_prior(self, counts: JointCounts, learned: Learned, rows: LeftOut) -> FloatArray:
        """Log-probabilities of the classes without each row; shape (n, k)."""
        sets = leave_one_out_sets(rows.weight)[:2]
        return rows.among(*(self.maker.log_prior(counts, learned, self.how, held) for held in sets))


@dataclass(frozen=True, eq=False)
class Task:
    """What a choice among candidates is made with.

    Attributes
    ----------
    source : JointCounts or CodedRows
        What the structure was learned from.
    given : CodedRows or None
        The rows, or None if there are only counts.
    maker : Maker
        Maker of the tables.
    """

    source: Source
    given: CodedRows | None
    maker: Maker

    @property
    def rows(self) -> CodedRows:
        """The rows; raises if there are only counts."""
        if self.given is None:
            raise UnnaiveError("counts alone have no rows to classify; fit on rows")
        return self.given

    @property
    def counts(self) -> JointCounts:
        """Counts of single columns at least."""
        none = np.empty((0, 2), dtype=np.int64)
        return self.rows.select(none) if self.source is self.given else self.source  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Recipe:
    """The parts of a model.

    Attributes
    ----------
    learn : callable (source, rows) -> Learned or None
        Learns the structure from ``source``: counts or, if tables of all pairs do not fit into
        memory, rows that are scored tile by tile. ``rows`` are the rows, or None if there are only
        counts; a learner that needs rows then returns None.
    tables : TableMaker
        Makes the tables.
    choose : callable (learned, task) -> Learned, default=None
        Chooses among candidates, or learns weights, by classifying the rows of a :class:`Task`.
        It is not called without rows if ``keeps``.
    structure : type, default=ParentGraph
        Class of the structure; saved models are restored by its ``of_state``.
    counts : {"values", "pairs", "triples"}, default="pairs"
        What is counted before the structure is known.
    keeps : bool, default=False
        Whether ``partial_fit``, ``forget`` and ``fit_counts`` keep what was learned from rows,
        rather than learn again from counts.
    rows : bool, default=False
        Whether learning needs rows, although counts of its families are enough to learn again.
    """

    learn: Learner
    tables: TableMaker
    choose: Choice | None = None
    structure: type[Structure] = ParentGraph
    counts: str = "pairs"
    keeps: bool = False
    rows: bool = False

    @property
    def needs_rows(self) -> bool:
        """Whether what is learned needs rows, so that counts of pairs are not enough."""
        return self.keeps or self.rows

    @property
    def learns_again(self) -> bool:
        """Whether other counts may give another structure, so that all pairs must be known."""
        from_pairs = self.counts != "values" and not self.keeps
        return from_pairs and not issubclass(self.structure, FamilyGraph)

    def learned(self, source: Source, rows: CodedRows | None, how: Estimate) -> Learned | None:
        """Learn, and choose; None if that needs rows and there are none."""
        learned = self.learn(source, rows)
        if learned is None or self.choose is None or (rows is None and self.keeps):
            return learned
        return self.choose(learned, Task(source, rows, Maker.of(self.tables, how)))

    def restored(self, state: State | None, counts: JointCounts) -> Learned | None:
        """Restore the structure, whose class names its keys, and the learned parameters."""
        if state is None:  # as version 0.1 wrote it if every column is a super-parent
            return self.learn(counts, None)
        schema, keys = counts.schema, getattr(self.structure, "keys", ()) or tuple(state)
        saved = {key: value for key, value in state.items() if key in keys}
        rest = {k: value for k, value in state.items() if k not in keys and value is not None}
        structure = self.structure.of_state(saved, schema.names, schema.target)
        if {family.columns for family in counts.families} != set(structure.families):
            raise UnnaiveError("the counted families are not those of the structure")
        return Learned(structure, rest)
