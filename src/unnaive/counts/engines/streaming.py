"""Files as a stream of rows: one thread reads ahead, bad files are named, passes are watched."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from unnaive import _parallel
from unnaive.counts.engines.dispatch import KNOWN_ERRORS, features_of
from unnaive.exceptions import DataFileError, DataWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from unnaive.counts.engines.checkpoint import Checkpoint
    from unnaive.counts.engines.dispatch import Counting, Rows, Sketching
    from unnaive.io.parts import Entry, Part

    Offer = tuple[int, Rows] | str | Exception | None

Item = TypeVar("Item")
READ_CELLS = 1 << 23  # of a batch as it is read: at most 64 MB of numbers


@dataclass(frozen=True)
class CountProgress:
    """How far a count over files is; what ``watch`` is told after every batch.

    Attributes
    ----------
    stage : str
        "schema" while the columns are learned, then "count".
    part : str
        The file that is being read.
    done, total : int
        Files that this stage is done with, and all of them.
    rows : int
        Rows read in this stage; those that a checkpoint remembers are left out.
    skipped : tuple of str
        Files that were left out since they are bad.
    """

    stage: str
    part: str
    done: int
    total: int
    rows: int
    skipped: tuple[str, ...] = ()


class Pass(Protocol):
    """What is done with the rows of all files."""

    stage: str

    @property
    def work(self) -> Counting | Sketching:
        """Say how rows are read."""

    def begin(self) -> None:
        """Begin a part, and forget what it was begun with before."""

    def add(self, rows: Rows) -> None:
        """Take some of its rows."""

    def finish(self, part: Part) -> None:
        """Keep the part, all of whose rows were taken."""


@dataclass
class Files:
    """The files of a count: which there are, which are done with, which are bad.

    ``notes`` say what is done; ``weight`` names the column of weights, if there is one.
    """

    entries: list[Entry]
    notes: Checkpoint
    target: str
    weight: str | None
    n_jobs: int | None
    batch_rows: int
    skip_bad_files: bool
    watch: Callable[[CountProgress], None] | None
    names: tuple[str, ...] = ()
    rows: int = 0
    parts: dict[str, Part] = field(default_factory=dict)

    def open(self, done: list[str]) -> list[Part]:
        """Look at all files that are not done with, before hours go into some of them."""
        parts = []
        known = set(done)
        for entry in self.entries:
            if entry.name in known or entry.name in self.notes.skipped:
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
        """Leave a file out and say so later, or raise."""
        text = str(error) if isinstance(error, DataFileError) else f"{name}: {error}"
        if not self.skip_bad_files:
            raise DataFileError(text) from error
        self.notes.skipped[name] = text

    def warn(self) -> None:
        """Say which files were left out, and why; and how files of text were read."""
        notes = [note for part in self.parts.values() for note in part.notes()]
        for note in {(note.kind, note.names): note for note in reversed(notes)}.values():
            warnings.warn(note, stacklevel=4)
        if self.notes.skipped:
            names, reasons = zip(*self.notes.skipped.items(), strict=True)
            what = f"{len(names)} of {len(self.entries)} files are bad and were left out"
            told = "\n".join([f"{what}:", *(f"  {reason}" for reason in reasons)])
            warnings.warn(DataWarning(told, kind="files", names=names), stacklevel=4)

    def fold(self, run: Pass, parts: list[Part], told: dict[str, str]) -> None:
        """Run a pass over parts: rows of a part are kept once all of them were read."""
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

    def _take(self, run: Pass, part: Part, item: Offer) -> None:
        """Deal with what a part had to offer: rows, a new beginning, its end, an error."""
        if isinstance(item, Exception):
            raise item
        if isinstance(item, str):
            run.begin()
        elif item is None:
            run.finish(part)
            run.begin()
        else:
            first, rows = item
            with _located(part.name, first, rows.frame.n_rows):
                run.add(rows)
            self.rows += rows.frame.n_rows

    def _progress(self, stage: str, name: str) -> CountProgress:
        done = self.notes.sketched if stage == "schema" else self.notes.counted
        skipped = tuple(self.notes.skipped)
        return CountProgress(stage, name, len(done), len(self.entries), self.rows, skipped)

    def _stream(
        self, parts: list[Part], work: Counting | Sketching, told: dict[str, str]
    ) -> Generator[tuple[Part, Offer]]:
        """Yield each part with its rows, ``RESTART``, None at its end, or the error it ends in."""
        most = max(1024, READ_CELLS // max(1, len(self.names)))
        size = min(self.batch_rows, most)
        threads = _parallel.effective_n_jobs(self.n_jobs) > 1
        for part in parts:
            first = 0
            try:
                for frame in part.frames(size, told, threads):
                    if isinstance(frame, str):
                        first = 0
                        yield part, frame
                        continue
                    with _located(part.name, first, frame.n_rows):
                        rows = work.read(frame)
                    if rows is not None:
                        yield part, (first, rows)
                    first += frame.n_rows
                yield part, None
            except KNOWN_ERRORS as error:
                yield part, error


@contextmanager
def _located(name: str, first: int, rows: int) -> Iterator[None]:
    """Say in which rows of which file an error arose."""
    try:
        yield
    except KNOWN_ERRORS as error:
        where = f"{name}, rows {first + 1:,} to {first + rows:,}"
        raise DataFileError(f"{where} (the first is row 0 here): {error}") from error


def read_ahead(items: Generator[Item]) -> Generator[Item]:
    """Yield what a generator yields, the next of which another thread already fetches.

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
