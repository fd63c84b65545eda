"""Spark: partitions are counted by ``mapInArrow``, and counts are merged in a tree of shuffles.

A task returns rows (part, place, content): a piece of its counts as plain 64-bit numbers, never
a pickle. Pieces of the same place are added, first within groups of tasks, then over all groups;
the driver receives one piece of each place. An error in the data is also sent as a piece, so
that its message arrives unchanged and the task is not tried four times.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.cells import by_context
from unnaive.counts.engines.answers import new_names, with_answers
from unnaive.counts.engines.dispatch import KNOWN_ERRORS, Counting, located
from unnaive.counts.families import FamilyCounts
from unnaive.counts.joint import JointCounts
from unnaive.counts.sizes import all_pairs, all_triples
from unnaive.exceptions import UnnaiveError
from unnaive.io import store

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from unnaive._typing import AnyArray, IntArray
    from unnaive.counts.engines.dispatch import Prediction, Work

    Batches = Iterator[pa.RecordBatch]

FAN_IN = 32  # tasks whose counts are added in the first step
PIECE = 1 << 20  # numbers in a piece: 8 MiB
BATCH_BYTES = 1 << 26  # rows that are counted together; Spark's batches are short
ERROR = -1  # the place of an error
PIECES = "part long, place long, content binary"
Result = TypeVar("Result")
Thing = TypeVar("Thing")


def engine(source: DataFrame) -> SparkEngine:
    """Make an engine of a Spark data frame."""
    if not hasattr(source, "mapInArrow"):
        raise TypeError(
            f"X is a Spark {type(source).__name__}; give a pyspark.sql.DataFrame, which "
            ".to_spark() makes of others"
        )
    return SparkEngine(source, tuple(source.columns))


@dataclass(frozen=True)
class SparkEngine:
    """Partitions on Spark."""

    source: DataFrame
    names: tuple[str, ...]
    keeps_columns: bool = True
    in_order: bool = False

    def fold(
        self, work: Work[Result], labels: object = None, weights: object = None
    ) -> Result | None:
        """Run the work on every partition and merge the pieces of the results."""
        for beside, what in ((labels, "target"), (weights, "sample_weight")):
            if beside is not None:
                raise UnnaiveError(
                    f"{what} is a {type(beside).__name__}; with Spark, name a column of the frame"
                )
        cutter: Any = CountPieces(work) if isinstance(work, Counting) else StatePieces(work)
        sent = _Sent(self.source, cutter)
        pieces = self.source.mapInArrow(partial(_count, sent), PIECES)
        pieces = pieces.repartition("part", "place").mapInArrow(partial(_merge, sent), PIECES)
        pieces = pieces.repartition("place").mapInArrow(partial(_merge, sent), PIECES)
        try:
            table = pieces.toArrow()
        finally:
            sent.release()
        pairs = zip(table["place"].to_pylist(), table["content"].to_pylist(), strict=True)
        values = {place: _load(cutter, place, content) for place, content in pairs}
        if ERROR in values:
            raise _error(values[ERROR])
        result: Result | None = cutter.whole(values) if values else None
        return result

    def predict(self, prediction: Prediction) -> DataFrame:
        """Add predictions to the frame as new columns."""
        types = import_module("pyspark.sql.types")
        names = new_names(prediction, self.names)
        kinds = {"f": "DoubleType", "b": "BooleanType", "i": "LongType", "u": "LongType"}
        kind = getattr(types, kinds.get(prediction.empty.dtype.kind, "StringType"))
        fields = [*self.source.schema.fields, *(types.StructField(n, kind()) for n in names)]
        sent = _Sent(self.source, prediction)
        features = list(prediction.columns_of(self.names))
        task = partial(_predict, sent, names, features)
        return self.source.mapInArrow(task, types.StructType(fields))


@dataclass(frozen=True)
class CountPieces:
    """Counts as pieces: all tables one after the other, then families with their contexts."""

    work: Counting

    @property
    def _kind(self) -> str:
        return "<i8" if self.work.weight is None else "<f8"

    @property
    def _pairs(self) -> IntArray:
        every = all_pairs(len(self.work.schema.columns))
        return every if self.work.pairs == "all" else every[:0]

    @property
    def _lengths(self) -> list[int]:
        """Widths of the tables that all partitions have: classes, values, pairs, triples."""
        sizes, d = self.work.schema.sizes, len(self.work.schema.columns)
        triples = all_triples(d) if self.work.triples else np.empty((0, 3), dtype=np.int64)
        of_sets = (int(sizes[sets].prod(axis=1).sum()) for sets in (self._pairs, triples))
        return [1, int(sizes.sum()), *of_sets]

    @property
    def _dense(self) -> int:
        """Number of pieces that hold tables."""
        return -(-sum(self._lengths) * len(self.work.schema.classes) // PIECE)

    def cut(self, result: JointCounts) -> Iterator[tuple[int, bytes]]:
        """Cut counts into pieces with their places."""
        sizes, k = result.schema.sizes, result.n_classes
        tables = replace(result.filled(), families=()).tables
        flat = np.concatenate([table.reshape(-1) for table in tables])
        for place in range(self._dense):
            yield place, self.dump(flat[place * PIECE : (place + 1) * PIECE])
        for place, family in enumerate(result.families, start=self._dense):
            yield place, self.dump(by_context(family, sizes, k))

    def load(self, place: int, content: bytes) -> AnyArray | FamilyCounts:
        """Read a piece of the tables, or a family."""
        if place < self._dense:
            return np.frombuffer(content, self._kind)
        columns = self.work.families[place - self._dense]
        k, v = len(self.work.schema.classes), int(self.work.schema.sizes[columns[0]])
        m = len(content) // 8 // (1 + k * v)
        contexts = np.frombuffer(content[: 8 * m], "<i8")
        table = np.frombuffer(content[8 * m :], self._kind).reshape(k, m, v)
        return FamilyCounts(columns, _native(contexts), _native(table))

    def add(self, first: Any, second: Any) -> Any:
        """Add two pieces of the same place."""
        return first.combine(second, np.add) if isinstance(first, FamilyCounts) else first + second

    def dump(self, piece: AnyArray | FamilyCounts) -> bytes:
        """Write a piece as numbers; a family as its contexts, then its table."""
        if isinstance(piece, FamilyCounts):
            return bytes(piece.contexts.astype("<i8").tobytes()) + self.dump(piece.table)
        return bytes(piece.astype(self._kind).tobytes())

    def whole(self, pieces: dict[int, Any]) -> JointCounts:
        """Put the counts together from all pieces, and check them."""
        schema, k = self.work.schema, len(self.work.schema.classes)
        flat = np.concatenate([pieces[place] for place in range(self._dense)])
        ends = np.cumsum([k * length for length in self._lengths])
        classes, *others = (_native(table) for table in np.split(flat, ends[:-1]))
        values, pairs, triples = (table.reshape(k, -1) for table in others)
        families = tuple(pieces[self._dense + place] for place in range(len(self.work.families)))
        counts = JointCounts(schema, classes, values, self._pairs, pairs, families)
        counts = replace(counts, triples=triples if self.work.triples else None)
        counts.check()
        return counts


@dataclass(frozen=True)
class StatePieces:
    """A sketch or a sample as a single piece: the bytes of a file of the store."""

    work: Any

    def cut(self, result: Any) -> Iterator[tuple[int, bytes]]:
        """Make one piece of the result."""
        yield 0, self.dump(result)

    def load(self, place: int, content: bytes) -> Any:  # noqa: ARG002 - there is one
        """Read a result; no code in it is ever run."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "sketch"
            path.write_bytes(content)
            return self.work.new(store.load(path, kind="sketch"))

    def add(self, first: Any, second: Any) -> Any:
        """Merge two results."""
        return self.work.join([first, second])

    def dump(self, piece: Any) -> bytes:
        """Write a result."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "sketch"
            store.save(path, self.work.state(piece), kind="sketch")
            return path.read_bytes()

    def whole(self, pieces: dict[int, Any]) -> Any:
        """Return the single piece."""
        return pieces[0]


Pieces = CountPieces | StatePieces


def _native(array: AnyArray) -> AnyArray:
    """Copy to the machine's byte order, so that the array can be written to."""
    return array.astype(array.dtype.newbyteorder("="))


class _Sent(Generic[Thing]):
    """An object that is sent once to each worker, as a broadcast variable.

    Spark Connect has no broadcast variables; there the object is part of the plan.
    """

    def __init__(self, source: DataFrame, thing: Thing) -> None:
        context = getattr(source.sparkSession, "sparkContext", None)
        self._broadcast = None if context is None else context.broadcast(thing)
        self._kept = [thing] if context is None else []

    def get(self) -> Thing:
        """Return the object, on the driver or on a worker."""
        return self._kept[0] if self._broadcast is None else self._broadcast.value

    def release(self) -> None:
        """Free the workers' memory; the object is no longer available."""
        if self._broadcast is not None:
            self._broadcast.destroy()


def _count(sent: _Sent[Pieces], batches: Batches) -> Batches:
    """Count a partition."""
    cutter: Any = sent.get()
    number = import_module("pyspark").TaskContext.get().partitionId()
    result, first = None, 0
    try:
        with located(number):
            for table in _gathered(batches):
                found = cutter.work.run_part(table, place=(number, first))
                result = cutter.work.merge([result, found])
                first += len(table)
    except KNOWN_ERRORS as error:
        yield _batch(number // FAN_IN, ERROR, f"{type(error).__name__}\n{error}".encode())
        return
    if result is not None:
        for place, content in cutter.cut(result):
            yield _batch(number // FAN_IN, place, content)


def _merge(sent: _Sent[Pieces], batches: Batches) -> Batches:
    """Add pieces of the same part and place."""
    cutter: Any = sent.get()
    merged: dict[tuple[int, int], Any] = {}
    for batch in batches:
        for row in batch.to_pylist():
            key = row["part"], row["place"]
            piece = _load(cutter, row["place"], row["content"])
            if key not in merged:
                merged[key] = piece
            elif row["place"] == ERROR:
                merged[key] = min(merged[key], piece)
            else:
                merged[key] = cutter.add(merged[key], piece)
    for (_, place), piece in merged.items():
        yield _batch(0, place, piece if place == ERROR else cutter.dump(piece))


def _load(cutter: Pieces, place: int, content: bytes) -> Any:
    return content if place == ERROR else cutter.load(place, content)


def _predict(
    sent: _Sent[Prediction], names: list[str], features: list[str], batches: Batches
) -> Batches:
    """Add predictions to the columns of a partition."""
    arrow = import_module("pyarrow")
    prediction = sent.get()
    for batch in batches:
        table = arrow.Table.from_batches([batch])
        yield from with_answers(table, prediction(table.select(features)), names).to_batches()


def _gathered(batches: Batches) -> Batches:
    """Join short batches to larger tables, which are counted faster."""
    arrow = import_module("pyarrow")
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.nbytes for one in waiting) >= BATCH_BYTES:
            yield arrow.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield arrow.Table.from_batches(waiting)


def _batch(part: int, place: int, content: bytes) -> pa.RecordBatch:
    columns = {"part": [part], "place": [place], "content": [content]}
    return import_module("pyarrow").RecordBatch.from_pydict(columns)


def _error(content: bytes) -> Exception:
    """Make the error that a task raised."""
    name, _, message = content.decode().partition("\n")
    kinds = {kind.__name__: kind for kind in KNOWN_ERRORS}
    return kinds.get(name, UnnaiveError)(message)
