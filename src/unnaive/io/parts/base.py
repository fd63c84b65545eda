"""The base class of data files that are read in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError, DataWarning, UnnaiveError
from unnaive.io.cells import diagnose
from unnaive.io.content import Encoding, one_line, open_bytes
from unnaive.io.reading import Format, decide, numbers_notes, words_note

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping
    from pathlib import Path

    from unnaive.io.frames import Frame
    from unnaive.io.reading import Reading, Tally

    Frames = Generator[Frame | str]
    Told = Mapping[str, str]

_PIECE = 1 << 24  # bytes
_BROKEN = (OverflowError, RecursionError)  # of sizes and nested notes that a file claims
RESTART = "restart"  # between frames: ignore the frames of this part so far, it starts again


class Part(ABC):
    """A file, or a fragment of a ``pyarrow.dataset``.

    Attributes
    ----------
    name : str
        Name in error messages and checkpoints.
    columns : tuple of str
        Column names.
    kinds : dict of str to str
        Kind of every column: "number", "bool" or "text". Columns without values are not listed.
    typed : bool
        Whether the file declares the types of its columns; a CSV file does not.
    """

    name: str
    columns: tuple[str, ...]
    kinds: dict[str, str]
    typed = True

    def notes(self) -> list[DataWarning]:
        """Return what the user should know about how the file was read."""
        return []

    def frames(
        self, rows: int, told: Told, threads: bool, wanted: Collection[str] | None = None
    ) -> Frames:
        """Yield frames of at most about ``rows`` rows, or ``RESTART``.

        ``told`` gives the kinds of columns of untyped files: "int", "float", "bool" or "text".
        ``wanted`` names the columns to read; None reads all.
        """
        columns = [name for name in self.columns if wanted is None or name in wanted]
        return self.read(rows, columns, threads, told)

    @abstractmethod
    def read(self, rows: int, columns: list[str], threads: bool, told: Told) -> Frames:
        """Yield frames of some columns, in the order of the file."""


class TextPart(Part):
    """A file whose cells are text; the formats of its columns follow from all cells.

    ``tallies`` and ``formats`` are by column; ``read_as`` has the formats of the columns that
    were read.
    """

    typed = False

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.name, self.reading = path, str(path), reading
        self.separator, self.encoding = "", Encoding()
        self.tallies: dict[str, Tally] = {}
        self.formats: dict[str, Format] = {}
        self.read_as: dict[str, Format] = {}
        self.ambiguous: list[str] = []
        self.empty_rows = 0

    @property
    def kinds(self) -> dict[str, str]:  # type: ignore[override]
        """The kinds of the columns, as far as the file was read."""
        kinds = {name: form.kind for name, form in self.formats.items() if form.kind != "none"}
        return {n: "number" if kind in {"int", "float"} else kind for n, kind in kinds.items()}

    def decide(self) -> None:
        """Choose the formats of all columns from the tallies."""
        self.formats, self.ambiguous = decide(self.tallies, self.separator, self.reading)

    def choose(self, columns: list[str], told: Told) -> dict[str, Format]:
        """Return the formats of some columns; ``told`` has kinds that overrule the file."""
        none = Format("none")
        self.read_as = {n: self.formats.get(n, none).told(told.get(n)) for n in columns}
        return self.read_as

    def notes(self) -> list[DataWarning]:
        """Return notes on the encoding, number formats, missing values and empty rows."""
        notes = list(self.encoding.note(self.name))
        notes += numbers_notes(self.name, self.read_as, self.tallies, self.ambiguous)
        worded = {n: self.tallies[n] for n, form in self.read_as.items() if form.words}
        if worded:
            notes.append(words_note(self.name, worded))
        if self.empty_rows:
            what = f"{self.empty_rows:,} empty row{'s were' if self.empty_rows > 1 else ' was'}"
            notes.append(DataWarning(f"{self.name}: {what} skipped", kind="rows"))
        return notes

    def check_quotes(self) -> None:
        """Raise if a quote of a CSV file is not closed; its last cell may have swallowed rows."""
        if not self.separator:
            return
        with open_bytes(self.path, self.encoding.name) as stream:
            quotes = sum(piece.count(b'"') for piece in iter(lambda: stream.read(_PIECE), b""))
        if quotes % 2:
            diagnose(self.path, self.separator, self.encoding.name)

    def misfit(self, name: str, cell: str, kind: str) -> DataFileError:
        """Make the error for a cell that is not of the kind that its column must have."""
        wanted = "true or false" if kind == "bool" else "a number"
        what = f"column {name!r} has {cell!r}, where it should have {wanted}"
        cure = "correct it, leave it empty, or declare it as missing (--missing)"
        return DataFileError(f"{self.path}: {what}; {cure}")


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Turn errors of pyarrow or the disk into errors that name the file."""
    arrow = import_module("pyarrow")
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, OSError, EOFError, ValueError, *_BROKEN) as error:
        if isinstance(error, UnnaiveError):
            raise
        what = f"{name} is damaged ({one_line(error)})"
        raise DataFileError(f"{what}; write or download it again") from error
    except (TypeError, NotImplementedError) as error:
        raise DataFileError(f"{name}: {one_line(error)}") from error
