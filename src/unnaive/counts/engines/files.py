"""Counting files that do not fit into memory: one pass for the schema, one for the counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from unnaive.counts.engines.checkpoint import Checkpoint
from unnaive.counts.engines.dispatch import Counting, Sketching, SketchLearning
from unnaive.counts.engines.memory import CodedRows, count_codes
from unnaive.counts.engines.streaming import CountProgress, Files, Kept
from unnaive.counts.joint import JointCounts
from unnaive.counts.sizes import pair_bytes, require_memory
from unnaive.exceptions import DataFileError, DataWarning
from unnaive.io.parts import entries
from unnaive.io.reading import Reading
from unnaive.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Unpack

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.counts.engines.dispatch import Rows, SketchSettings
    from unnaive.io.parts import Entry, Part
    from unnaive.schema.sketch import SchemaSketch

BATCH_ROWS = 1 << 17
HELD_BATCHES = 4  # rows of so many batches are counted together, if they have few columns:
HELD_CELLS = 1 << 25  # at most 32 MB of codes of one byte
COPIES = 3  # of all tables in memory: of all files, of this file, of a batch
KEPT = 8  # the part of the memory that may hold rows between the two passes
ROUGH = 0.01  # rank error of bin edges above which there is a warning


class FileOptions(TypedDict, total=False):
    """How files are counted; see :func:`count_files`."""

    checkpoint: str | PathLike[str] | None
    skip_bad_files: bool
    watch: Callable[[CountProgress], None] | None
    batch_rows: int
    reading: Reading


def count_files(
    source: object,
    target: object,
    *,
    schema: Schema | None = None,
    pairs: str | None = "all",
    sample_weight: object = None,
    max_memory: int = 2**31,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    skip_bad_files: bool = False,
    watch: Callable[[CountProgress], None] | None = None,
    batch_rows: int = BATCH_ROWS,
    reading: Reading = Reading(),  # noqa: B008 - is immutable
    **learning: Unpack[SketchLearning],
) -> JointCounts:
    """Count files in batches; for the other parameters see :func:`unnaive.count`.

    Files are read in the order of their names, one batch ahead of the counting. Without a
    ``schema``, :class:`~unnaive.schema.sketch.SchemaSketch` learns it in a first pass. The second
    pass reads the files again, except for those whose rows fit into an eighth of ``max_memory``.

    Parameters
    ----------
    checkpoint : path, default=None
        File in which progress is saved after every counted file. After an interruption, the same
        call continues from there. The file is kept when everything is counted.
    skip_bad_files : bool, default=False
        Skip files that cannot be read or counted, with a warning that names them. No row of
        these files is counted.
    watch : callable, default=None
        Called after every batch with a
        :class:`~unnaive.counts.engines.streaming.CountProgress`.
    batch_rows : int, default=131072
        Number of rows that are read together. Rows of up to four batches are counted together.
    reading : Reading, default=Reading()
        Encoding, number style and spellings of missing values of text files.
    **learning
        How a schema is learned: the settings of the models, ``classes`` and ``accuracy``.

    Returns
    -------
    JointCounts
        Counts of all files.
    """
    target, weight = _name("target", target), None
    if sample_weight is not None:
        weight = _name("sample_weight", sample_weight)
    if batch_rows < 1:
        raise ValueError(f"batch_rows={batch_rows!r}; it must be at least 1")
    if unknown := set(learning) - set(SketchLearning.__annotations__):
        raise TypeError(f"count() got an unexpected keyword argument {min(unknown)!r}")
    columns = {"target": target, "sample_weight": weight, "pairs": pairs}
    if reading != Reading():
        columns["reading"] = repr(reading)
    listed = entries(source, reading)
    notes = _notes(checkpoint, listed, columns, schema, learning)
    if not skip_bad_files:
        notes.skipped = {}
    kept = Kept(max_memory // KEPT)
    files = Files(listed, notes, target, weight, n_jobs, batch_rows, skip_bad_files, watch, kept)
    if schema is None:
        schema = _learn(files, {"target": target, "n_jobs": n_jobs, **learning})
    if pairs == "all":
        needed = COPIES * pair_bytes(schema)
        require_memory(schema, needed, max_memory, f"counting pairs, {COPIES} tables at a time,")
    counts = _count_all(files, schema, pairs)
    files.warn()
    return counts


def _name(role: str, given: object) -> str:
    if not isinstance(given, str):
        raise ValueError(f"{role} must be the name of a column if rows come from files")
    return given


def _notes(
    checkpoint: str | PathLike[str] | None,
    listed: list[Entry],
    columns: dict[str, str | None],
    schema: Schema | None,
    learning: SketchLearning,
) -> Checkpoint:
    """Open the checkpoint with all settings that decide the result."""
    if checkpoint is None:
        return Checkpoint(None, {})
    values = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in learning.items()}
    settings = {
        **columns,
        "schema": None if schema is None else schema.state(),
        "learning": {} if schema is not None else {n: repr(v) for n, v in values.items()},
        "files": {entry.name: entry.stamp() for entry in listed},
    }
    return Checkpoint.open(checkpoint, settings)


def _learn(files: Files, settings: SketchSettings) -> Schema:
    """Learn the schema from all files; start again if a column turns out to be text."""
    memory = files.notes.memory
    if "schema" in memory:
        return Schema.from_state(memory["schema"])
    kinds = Kinds(memory.get("kinds", {}))
    files.names = tuple(memory["sketch"]["names"]) if "sketch" in memory else ()
    while True:
        parts = []
        for part in files.open(files.notes.sketched):
            try:
                kinds.note(part)
                parts.append(part)
            except DataFileError as error:
                files.bad(part.name, error)
        run = SchemaPass(files, settings, kinds)
        try:
            files.fold(run, parts, dict.fromkeys(kinds.texts(), "text"))
            break
        except ReadAgainError:
            files.notes.restart()
            for name in tuple(files.kept.rows):
                files.kept.drop(name)
    if not run.total.n_rows:
        raise files.without_rows("learn")
    schema = run.total.schema()
    _warn_of_rough(run.total)
    files.notes.memory = {}
    files.notes.save(lambda: {"schema": schema.state()})
    return schema


def _warn_of_rough(sketch: SchemaSketch) -> None:
    rough = {name: error for name, error in sketch.rank_errors().items() if error > ROUGH}
    if rough:
        name = max(rough, key=lambda name: rough[name])
        text = (
            f"the bins of {len(rough)} columns are cut roughly, those of {name!r} with up to "
            f"{rough[name]:.1%} of its rows on the wrong side of an edge: its numbers crowd in "
            "some places; transform it (a logarithm, a difference), or give a schema="
        )
        warnings.warn(DataWarning(text, kind="rough", names=tuple(rough)), stacklevel=4)


class ReadAgainError(Exception):
    """A column that was read as numbers is text in other files."""


@dataclass
class Kinds:
    """Types of the columns in the files: for each column and type, the first file that has it."""

    seen: dict[str, dict[str, list[str | bool]]]

    def note(self, part: Part) -> None:
        """Add the types of one file; raise if they contradict those of other files."""
        for column, kind in part.kinds.items():
            kinds = self.seen.setdefault(column, {})
            both: dict[str, list[str | bool]] = {kind: [part.name, part.typed], **kinds}
            fixed = any(typed and k != "text" for k, (_, typed) in both.items())
            if len(both) > 1 and fixed:
                other = next(k for k in both if k != kind)
                raise DataFileError(
                    f"{part.name}: column {column!r} is {kind} here and {other} in "
                    f"{both[other][0]}; convert one of them"
                )
            kinds.setdefault(kind, [part.name, part.typed])

    def texts(self) -> set[str]:
        """Columns that must be read as text in all files."""
        return {column for column, kinds in self.seen.items() if len(kinds) > 1}


class SchemaPass:
    """The first pass, which sketches all columns."""

    stage = "schema"

    def __init__(self, files: Files, settings: SketchSettings, kinds: Kinds) -> None:
        self.work = Sketching(files.target, files.weight, files.names, settings=settings)
        self.notes, self.kinds, self._known = files.notes, kinds, kinds.texts()
        self.total = self.work.new(files.notes.memory.get("sketch"))

    def begin(self) -> None:
        """Start the sketch of a file, and discard that of an unfinished one."""
        self._sketch = self.work.new()

    def add(self, rows: Rows) -> None:
        """Sketch a batch."""
        self._sketch.add(*rows)

    def finish(self, part: Part) -> None:
        """Merge the sketch of a file into that of all files."""
        self.kinds.note(part)
        if self.kinds.texts() - self._known:
            raise ReadAgainError
        self.total.merge(self._sketch)
        self.notes.sketched.append(part.name)
        self.notes.save(lambda: {"sketch": self.total.state(), "kinds": self.kinds.seen})


def _count_all(files: Files, schema: Schema, pairs: str | None) -> JointCounts:
    """Count all files by a schema."""
    files.names = schema.names
    work = Counting(files.target, files.weight, schema.names, schema=schema, pairs=pairs)
    run = CountPass(files, work)
    told = schema.cell_kinds | {schema.target: schema.target_kind}
    files.fold(run, files.open(files.notes.counted), told)
    if run.total is None:
        raise files.without_rows("count")
    return run.total


class CountPass:
    """The second pass, which encodes batches and counts several of them together."""

    stage = "count"

    def __init__(self, files: Files, work: Counting) -> None:
        self.work, self.notes = work, files.notes
        self._n_jobs = files.n_jobs
        room = max(files.batch_rows, HELD_CELLS // max(1, len(work.schema.names)))
        self._most_rows = min(HELD_BATCHES * files.batch_rows, room)
        saved = files.notes.memory.get("counts")
        self.total = None if saved is None else JointCounts.from_state(saved)

    def begin(self) -> None:
        """Start the counts of a file, and discard those of an unfinished one."""
        self._counts: JointCounts | None = None
        self._held: list[tuple[CodeArray, IntArray, FloatArray | None]] = []

    def add(self, rows: Rows) -> None:
        """Encode a batch, and count when there are enough rows."""
        schema = self.work.schema
        codes = schema.encode(rows.frame, n_jobs=self._n_jobs)
        self._held.append((codes, schema.encode_target(rows.target), rows.weights))
        if sum(len(classes) for _, classes, _ in self._held) >= self._most_rows:
            self._flush()

    def _flush(self) -> None:
        if not self._held:
            return
        codes, classes, weights = zip(*self._held, strict=True)
        self._held = []
        rows = CodedRows(
            self.work.schema,
            codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1),
            np.concatenate(classes),
            None if weights[0] is None else np.concatenate(weights),
            self._n_jobs,
        )
        self._counts = _add(self._counts, count_codes(rows, self.work.pairs))

    def finish(self, part: Part) -> None:
        """Add the counts of a file to those of all files."""
        self._flush()
        if self._counts is not None:
            self.total = _add(self.total, self._counts)
        self.notes.counted.append(part.name)
        self.notes.save(lambda: {"counts": None if self.total is None else self.total.state()})


def _add(total: JointCounts | None, more: JointCounts) -> JointCounts:
    """Add to counts in place; nobody else may hold them."""
    if total is None:
        return more
    for mine, theirs in zip(total.tables, more.tables, strict=True):
        np.add(mine, theirs, out=mine)
    return total
