"""Files as a stream of rows, with a thread that reads ahead, errors by file, and progress."""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass
from unnaive.counts.engines.dispatch import KNOWN_ERRORS, features_of
from unnaive.exceptions import DataFileError, DataWarning, UnnaiveError
from unnaive.io.frames import Frame
from unnaive.io.parts.streams import StreamPart

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from unnaive.counts.engines.checkpoint import Checkpoint
    from unnaive.counts.engines.dispatch import Counting, Rows, Sketching
    from unnaive.counts.engines.files import CountPass, SchemaPass
    from unnaive.io.frames import Column
    from unnaive.io.parts import Entry, Part

    Offer = tuple[int, Rows] | str | Exception | None

Item = TypeVar("Item")
_LABEL = sys.getsizeof("") + 8  # bytes of a string but its characters, with its reference
READ_CELLS = 1 << 23  # values of a batch that is read: at most 64 MB of numbers


@dataclass(frozen=True)
class CountProgress:
    """Progress of a count over files, with which ``watch`` is called after every batch.

    Attributes
    ----------
    stage : str
        "schema" while the schema is learned, then "count".
    part : str
        The file that is being read.
    done, total : int
        Number of files that this stage has finished, and of all files.
    rows : int
        Rows read in this stage, without those of files that a checkpoint has finished.
    skipped : tuple of str
        Bad files that were skipped.
    """

    stage: str
    part: str
    done: int
    total: int
    rows: int
    skipped: tuple[str, ...] = ()


@dataclass
class Kept:
    """Rows of the first pass that the second one need not read again.

    A file is kept whole or not at all; there is ``room`` for so many bytes.
    """

    room: int
    rows: dict[str, list[tuple[int, Rows]]] = field(default_factory=dict)

    def add(self, name: str, first: int, rows: Rows) -> None:
        """Keep a batch of a file; if there is no room, drop the file and keep no others."""
        if self.room:
            frame = rows.frame
            columns = tuple(_narrow(frame.column(i)) for i in range(len(frame.names)))
            few = Frame(frame.names, frame.n_rows, columns)
            rows = rows._replace(frame=few, target=_narrow(rows.target))
            self.rows.setdefault(name, []).append((first, rows))
            self.room -= _bytes_of(rows)
            if self.room <= 0:
                self.drop(name)
                self.room = 0

    def drop(self, name: str) -> None:
        """Forget the batches of a file."""
        self.room += sum(_bytes_of(rows) for _, rows in self.rows.pop(name, ()))

    def take(self, name: str) -> Iterator[tuple[int, Rows]]:
        """Yield the batches of a file and forget them."""
        batches = self.rows.pop(name)[::-1]
        while batches:
            yield batches.pop()


def _narrow(column: Column) -> Column:
    """Hold integers and indices of labels in as few bytes as they need."""
    values = column.values
    if values.dtype.kind not in "iu" or not len(values):
        return column
    kind = np.result_type(np.min_scalar_type(values.min()), np.min_scalar_type(values.max()))
    return replace(column, values=values.astype(kind, copy=False))


def _bytes_of(rows: Rows) -> int:
    weights = 0 if rows.weights is None else rows.weights.nbytes
    return weights + bytes_of(*rows.frame.columns, rows.target)


def bytes_of(*columns: Column) -> int:
    """Memory that the values of columns and their labels take."""
    labels = [label for column in columns for label in column.categories or ()]
    texts = sum(len(label) for label in labels if isinstance(label, str))
    return sum(column.values.nbytes for column in columns) + _LABEL * len(labels) + texts


@dataclass
class Files:
    """The files of a count, the finished ones and the bad ones.

    ``notes`` hold the progress; ``weight`` is the name of the column of weights, if any.
    """

    entries: list[Entry]
    notes: Checkpoint
    target: str
    weight: str | None
    n_jobs: int | None
    batch_rows: int
    skip_bad_files: bool
    watch: Callable[[CountProgress], None] | None
    kept: Kept
    names: tuple[str, ...] = ()
    rows: int = 0
    parts: dict[str, Part] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The only file by its name, or the number of files."""
        return self.entries[0].name if len(self.entries) == 1 else f"{len(self.entries)} files"

    def open(self, done: list[str]) -> list[Part]:
        """Open all unfinished files first, so that a bad one is found before hours of work."""
        parts = []
        known = {*done, *self.notes.skipped}
        for entry in self.entries:
            if entry.name in known:
                continue
            try:
                part = self.parts.get(entry.name) or entry.open()
                named = (self.target, self.weight)
                self.names = features_of(part.columns, named, self.names or None)
            except KNOWN_ERRORS as error:
                self.bad(entry.name, error)
            else:
                self.parts[entry.name] = part
                parts.append(part)
        self.rows = 0
        return parts

    def bad(self, name: str, error: Exception) -> None:
        """Skip a bad file and warn later, or raise."""
        text = str(error) if isinstance(error, DataFileError) else f"{name}: {error}"
        self.kept.drop(name)
        if not self.skip_bad_files:
            raise DataFileError(text) from error
        self.notes.skipped[name] = text

    def without_rows(self, purpose: str) -> UnnaiveError:
        """Make the error for files without rows, which names one that was left out."""
        left, why = list(self.notes.skipped.values()), ""
        if left:
            why = f"; {len(left)} are bad and were left out, such as: {left[0]}"
        return UnnaiveError(f"there are no rows in {self.named}; nothing to {purpose}{why}")

    def warn(self) -> None:
        """Warn about the files that were skipped, and note how text files were read."""
        warn_of_reading(self.parts.values(), stacklevel=5)
        if self.notes.skipped:
            names, reasons = zip(*self.notes.skipped.items(), strict=True)
            what = f"{len(names)} of {len(self.entries)} files are bad and were left out"
            text = "\n".join([f"{what}:", *(f"  {reason}" for reason in reasons)])
            warnings.warn(DataWarning(text, kind="files", names=names), stacklevel=4)

    def fold(self, run: SchemaPass | CountPass, parts: list[Part], told: dict[str, str]) -> None:
        """Run a pass over files; the rows of a file are kept only if all of them can be read."""
        run.begin()
        broken: Part | None = None
        with closing(read_ahead(self._stream(parts, run.work, told))) as stream:
            for part, item in stream:
                if part is broken:
                    continue
                try:
                    self._take(run, part, item)
                except KNOWN_ERRORS as error:
                    self.bad(part.name, error)
                    run.begin()
                    broken = part
                if self.watch is not None:
                    self.watch(self._progress(run.stage, part.name))

    def _take(self, run: SchemaPass | CountPass, part: Part, item: Offer) -> None:
        """Process an item of a file's stream: rows, a restart, the end, or an error."""
        if isinstance(item, Exception):
            raise item
        if isinstance(item, str):
            self.kept.drop(part.name)
            run.begin()
        elif item is None:
            run.finish(part)
            run.begin()
        else:
            first, rows = item
            with located(part.name, first, rows.frame.n_rows):
                run.add(rows)
            if run.stage == "schema":
                self.kept.add(part.name, first, rows)
                if isinstance(part, StreamPart) and part.once and part.name not in self.kept.rows:
                    raise part.is_read_once()
            self.rows += rows.frame.n_rows

    def _progress(self, stage: str, name: str) -> CountProgress:
        done = self.notes.sketched if stage == "schema" else self.notes.counted
        skipped = tuple(self.notes.skipped)
        return CountProgress(stage, name, len(done), len(self.entries), self.rows, skipped)

    def _stream(
        self, parts: list[Part], work: Counting | Sketching, told: dict[str, str]
    ) -> Generator[tuple[Part, Offer]]:
        """Yield each file with its rows, ``RESTART``, None at its end, or the error it ends in."""
        size = min(self.batch_rows, max(1024, READ_CELLS // max(1, len(self.names))))
        threads = _parallel.effective_n_jobs(self.n_jobs) > 1
        for part in parts:
            if part.name in self.kept.rows:
                yield from ((part, batch) for batch in self.kept.take(part.name))
                yield part, None
                continue
            first = 0
            try:
                for frame in part.frames(size, told, threads):
                    if isinstance(frame, str):
                        first = 0
                        yield part, frame
                        continue
                    with located(part.name, first, frame.n_rows):
                        rows = work.read(frame)
                    if rows is not None:
                        yield part, (first, rows)
                    first += frame.n_rows
                yield part, None
            except KNOWN_ERRORS as error:
                yield part, error


def warn_of_reading(parts: Iterable[Part], stacklevel: int) -> None:
    """Say how text files were read; the first file of each kind of note is named."""
    notes = [note for part in parts for note in part.notes()]
    for note in {(note.kind, note.names): note for note in reversed(notes)}.values():
        warnings.warn(note, stacklevel=stacklevel)


@contextmanager
def located(name: str, first: int, rows: int) -> Iterator[None]:
    """Add the file and its rows to an error."""
    try:
        yield
    except KNOWN_ERRORS as error:
        where = f"{name}, rows {first + 1:,} to {first + rows:,}"
        raise DataFileError(f"{where} (the first is row 0 here): {error}") from error


def require_names(source: str, **series: object) -> None:
    """Refuse labels or weights that are beside the rows of files or of a stream."""
    for what, values in series.items():
        if values is not None:
            raise TypeError(f"{what} of {source} must be the name of a column there")


def read_ahead(items: Generator[Item]) -> Generator[Item]:
    """Yield the items of a generator while another thread fetches the next one.

    Examples
    --------
    >>> list(read_ahead(square**2 for square in range(4)))
    [0, 1, 4, 9]
    """
    end = object()
    with closing(items), ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, end)
        while (item := following.result()) is not end:
            following = thread.submit(next, items, end)
            yield item  # type: ignore[misc]
