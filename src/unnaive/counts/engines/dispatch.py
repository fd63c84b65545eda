"""Partitioned rows: the work that is done on one partition.

An engine (Dask, Spark) runs a :class:`Work` on every partition and merges the results in any
order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypedDict, TypeVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.engines.memory import code_rows, count_codes
from unnaive.counts.sizes import require_pairs_fit
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io.frames import Column, Frame, to_column, to_frame
from unnaive.schema.settings import require_features

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Sized
    from typing import Unpack

    from unnaive._typing import AnyArray, FloatArray, State
    from unnaive.counts.joint import JointCounts
    from unnaive.discretize import Discretizer
    from unnaive.schema import Schema
    from unnaive.schema.columns import Label
    from unnaive.schema.settings import Categories, Features, Missing
    from unnaive.schema.sketch import SchemaSketch

KNOWN_ERRORS = (SchemaMismatch, UnnaiveError, ValueError, TypeError)
_ROUNDING = 1e-9  # relative rounding of sums of weights in another order, at most; rows are exact
Result = TypeVar("Result")


class Learning(TypedDict, total=False):
    """How a schema is learned, by the names of the models' parameters."""

    discretize: str | Discretizer | None
    bins: int
    categorical_features: Features
    categories: Categories
    missing_as_category: Missing


class SketchLearning(Learning, total=False):
    """How a schema is learned from sketches."""

    classes: Sequence[Label] | None
    accuracy: int


class SketchSettings(SketchLearning, total=False):
    """All settings of a sketch: also the name of the target and the number of threads."""

    target: str
    n_jobs: int | None


class Rows(NamedTuple):
    """Rows of a partition, or of a batch of it."""

    frame: Frame
    target: Column
    weights: FloatArray | None


@dataclass(frozen=True)
class Work(ABC, Generic[Result]):
    """Work on a partition, and how results are merged; it is sent to the workers.

    ``target`` and ``weight`` are names of columns; None if labels or weights are separate from
    the frame, or if rows have no weights. ``names`` are the columns that a partition must have.
    """

    target: str | None
    weight: str | None = None
    names: tuple[str, ...] | None = None

    @abstractmethod
    def run(self, rows: Rows) -> Result:
        """Do the work on some rows."""

    @abstractmethod
    def join(self, results: list[Result]) -> Result:
        """Merge results into a new one; they must not change, since a task may run twice."""

    def apart(
        self, part: Frame | Sized, labels: object = None, weights: object = None
    ) -> tuple[Frame, Column, object] | None:
        """Split a partition into features, labels and weights; None if it has no rows."""
        if not (part.n_rows if isinstance(part, Frame) else len(part)):
            return None
        frame = to_frame(part)
        if self.target is not None:
            frame, labels = frame.split(self.target)
        if self.weight is not None:
            frame, weights = frame.split(self.weight)
        require_features(frame.names, self.target)
        target = to_column(labels)
        if len(target.values) != frame.n_rows:
            raise UnnaiveError(
                f"there are {frame.n_rows} rows and {len(target.values)} labels; give both "
                "the same partitions, or name a column of the frame"
            )
        return arranged(frame, self.names), target, weights

    def read(
        self, part: Frame | Sized, labels: object = None, weights: object = None
    ) -> Rows | None:
        """Convert a partition of any library to plain rows; None if it has no rows."""
        apart = self.apart(part, labels, weights)
        if apart is None:
            return None
        frame, target, weights = apart
        rows = Rows(frame, target, None)
        return rows if weights is None else _weighted(rows, weights_of(weights, frame.n_rows))

    def run_part(
        self,
        part: Frame | Sized,
        labels: object = None,
        weights: object = None,
        place: tuple[int, int] = (0, 0),  # noqa: ARG002 - which samples need
    ) -> Result | None:
        """Do the work on a partition; None if it has no rows.

        ``place`` is the number of the partition, and the position of its first row here.
        """
        rows = self.read(part, labels, weights)
        return None if rows is None else self.run(rows)

    def merge(self, results: Iterable[Result | None]) -> Result | None:
        """Merge results; None if there are none."""
        known = [result for result in results if result is not None]
        return self.join(known) if len(known) > 1 else next(iter(known), None)


@dataclass(frozen=True, kw_only=True)
class Counting(Work["JointCounts"]):
    """Count rows by a schema that all partitions share."""

    schema: Schema
    pairs: str | None = "all"
    families: tuple[tuple[int, ...], ...] = ()
    triples: bool = False

    def run(self, rows: Rows) -> JointCounts:
        """Count rows in one thread, since the scheduler runs several workers."""
        coded = code_rows(rows.frame, rows.target, self.schema, rows.weights)
        counts = count_codes(coded, self.pairs)
        families = coded.count_families(self.families)
        triples = coded.count_triples() if self.triples else None
        return replace(counts, families=families, triples=triples)

    def join(self, results: list[JointCounts]) -> JointCounts:
        """Add counts; if sums are exact, the first, often of many rows, is added only once."""
        first, *rest = results
        if rest and all(one.class_counts.dtype.kind == "i" for one in results):
            return first + reduce(add, rest)
        return reduce(add, results)


@dataclass(frozen=True, kw_only=True)
class Sketching(Work["SchemaSketch"]):
    """Learn a schema from sketches of the columns; ``settings`` are those of a sketch."""

    settings: SketchSettings

    def run(self, rows: Rows) -> SchemaSketch:
        """Sketch the columns of some rows."""
        sketch = self.new()
        sketch.add(*rows)
        return sketch

    def new(self, state: State | None = None) -> SchemaSketch:
        """Make a sketch of no rows, or restore one from its state."""
        from unnaive.schema.sketch import SchemaSketch  # noqa: PLC0415 - costs import time

        if state is None:
            return SchemaSketch(**self.settings)
        return SchemaSketch.from_state(state, **self.settings)

    def state(self, result: SchemaSketch) -> State:
        """Return a sketch as plain values and arrays for the store."""
        return result.state()

    def join(self, results: list[SchemaSketch]) -> SchemaSketch:
        """Merge sketches."""
        sketch = self.new()
        for result in results:
            sketch.merge(result)
        return sketch


class Prediction(Protocol):
    """A fitted model that predicts the rows of a partition."""

    @property
    def kind(self) -> str:
        """What is predicted, for the names of columns."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes."""

    @property
    def empty(self) -> AnyArray:
        """Predictions of no rows; shape (0,), or (0, k) for probabilities."""

    def columns_of(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Choose the columns that the model needs."""

    def __call__(self, part: Sized) -> AnyArray:
        """Predict the rows of a partition."""


class Engine(Protocol):
    """A library that holds the partitions of a frame."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Columns of every partition, if they are known beforehand."""

    @property
    def keeps_columns(self) -> bool:
        """Whether predictions are added to the columns of the frame."""

    @property
    def in_order(self) -> bool:
        """Whether rows come one after the other, so that their positions are known."""

    def fold(
        self, work: Work[Result], labels: object = None, weights: object = None
    ) -> Result | None:
        """Run the work on every partition and merge the results; None if there are no rows."""

    def predict(self, prediction: Prediction) -> object:
        """Predict every partition, lazily, as a frame of the library."""


def count_partitions(
    engine: Engine,
    target: object,
    *,
    schema: Schema | None = None,
    pairs: str | None = "all",
    sample_weight: object = None,
    max_memory: int = 2**31,
    **learning: Unpack[SketchLearning],
) -> JointCounts:
    """Count the partitions of an engine, after a pass that learns the schema if there is none.

    Parameters
    ----------
    engine : Engine
        Engine from :func:`unnaive.counts.engines.engine_of`.
    target, sample_weight : str, or series with the same partitions as the frame
        Names of columns, or the engine's series of labels and weights.
    schema, pairs, max_memory
        As in :func:`unnaive.count`.
    **learning
        How a schema is learned: ``discretize``, ``bins``, ``categorical_features``,
        ``categories``, ``missing_as_category``, ``classes``.
    """
    if schema is None:
        schema = learn_schema_of(engine, target, sample_weight, **learning)
    require_pairs_fit(schema, pairs, max_memory)
    work = Counting(*columns_of(engine, target, sample_weight, schema), schema=schema, pairs=pairs)
    return fold(engine, work, target, sample_weight)


def count_more(
    engine: Engine,
    counts: JointCounts,
    target: object,
    sample_weight: object,
    *,
    families: Sequence[tuple[int, ...]],
    triples: bool,
) -> JointCounts:
    """Count families and triples in another pass, and add them to existing counts."""
    if not families and not triples:
        return counts
    columns = columns_of(engine, target, sample_weight, counts.schema)
    work = Counting(
        *columns, schema=counts.schema, pairs=None, families=tuple(families), triples=triples
    )
    more = fold(engine, work, target, sample_weight)
    if not np.allclose(more.class_counts, counts.class_counts, rtol=_ROUNDING, atol=0.0):
        raise changed_rows(counts.total, more.total)
    return replace(counts, families=more.families, triples=more.triples)


def changed_rows(before: float, after: float) -> UnnaiveError:
    """Return the error of a source that gives other rows in another pass."""
    first, then = f"{before:,.10g}", "other ones" if before == after else f"{after:,.10g}"
    return UnnaiveError(
        f"the rows changed while they were read: {first} in one pass, {then} in the next; give "
        "rows that stay as they are until the model is fitted"
    )


def learn_schema_of(
    engine: Engine, target: object, sample_weight: object = None, **learning: Unpack[SketchLearning]
) -> Schema:
    """Learn the schema of an engine's partitions in one pass of sketches that are merged."""
    columns = columns_of(engine, target, sample_weight, None)
    settings: SketchSettings = {"target": _target_name(target), "n_jobs": 1, **learning}
    return fold(engine, Sketching(*columns, settings=settings), target, sample_weight).schema()


def fold(engine: Engine, work: Work[Result], target: object, sample_weight: object) -> Result:
    """Run a work on all partitions of an engine; raise if there are no rows."""
    labels = None if work.target is not None else target
    weights = None if work.weight is not None else sample_weight
    result = engine.fold(work, labels, weights)
    if result is None:
        weighted = "" if sample_weight is None else " of a weight above 0"
        raise UnnaiveError(f"no partition has any row{weighted}; there is nothing to learn from")
    return result


def _target_name(target: object) -> str:
    name = target if isinstance(target, str) else getattr(target, "name", None)
    return "y" if name is None else str(name)


def columns_of(
    engine: Engine, target: object, sample_weight: object, schema: Schema | None
) -> tuple[str | None, str | None, tuple[str, ...] | None]:
    """Names of target, weights and features; raise now if the frame is known not to have them."""
    label, weight = (name if isinstance(name, str) else None for name in (target, sample_weight))
    names = None if schema is None else schema.names
    if engine.names is not None:
        names = features_of(engine.names, (label, weight), names)
    return label, weight, names


def features_of(
    columns: tuple[str, ...], others: Sequence[str | None], names: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the columns without some others, in the order of ``names``, which must agree.

    The first of the others is the target; at least one column must be left.
    """
    frame = Frame(columns, 1, tuple(Column(name, np.empty(0)) for name in columns))
    for name in filter(None, others):
        frame, _ = frame.split(name)
    require_features(frame.names, others[0] if others else None)
    return arranged(frame, names).names


def arranged(frame: Frame, names: Sequence[str] | None) -> Frame:
    """Return the frame with its columns in this order; it must have exactly these columns."""
    if names is None or frame.names == tuple(names):
        return frame
    missing = [name for name in names if name not in frame.names]
    extra = [name for name in frame.names if name not in names]
    if missing:
        raise SchemaMismatch(
            f"there is no column {missing[0]!r} among {list(frame.names)}; add it (empty cells are "
            "welcome), or leave it out everywhere"
        )
    if extra:
        raise SchemaMismatch(
            f"column {extra[0]!r} is not one of {list(names)}; drop it, or count all rows with it"
        )
    columns = tuple(frame.column(frame.names.index(name)) for name in names)
    return Frame(tuple(names), frame.n_rows, columns)


def weights_of(values: object, n_rows: int) -> Column:
    """Read a column of weights.

    Parameters
    ----------
    values : series or array of shape (n,)
        Weights, of any library.
    n_rows : int
        Number of rows.

    Returns
    -------
    Column
        The weights, which may still be missing, infinite or negative.

    Raises
    ------
    UnnaiveError
        If it has text, or not one number for every row.
    """
    weights = to_column(values, "sample_weight")
    if weights.is_text or len(weights.values) != n_rows:
        raise UnnaiveError(
            f"sample_weight {weights.name!r} must be numbers, one per row; convert the column"
        )
    return weights


def _weighted(rows: Rows, weights: Column) -> Rows | None:
    """Check weights and drop rows of weight 0."""
    numbers = np.asarray(weights.values, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        raise UnnaiveError(
            f"sample_weight {weights.name!r} is {numbers[wrong[0]]} in row {wrong[0]}; weights "
            "must be finite and not negative"
        )
    used = numbers > 0
    if used.all():
        return rows._replace(weights=numbers)
    if not used.any():
        return None
    return Rows(rows.frame.take(used), rows.target.take(used), numbers[used])


@contextmanager
def located(number: int) -> Iterator[None]:
    """Add the number of the partition to an error about its rows."""
    try:
        yield
    except KNOWN_ERRORS as error:
        kind = next(kind for kind in KNOWN_ERRORS if isinstance(error, kind))
        raise kind(f"partition {number}: {error}") from error
