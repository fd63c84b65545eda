"""The base class of data files that are read in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.content import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping

    from unnaive.exceptions import DataWarning
    from unnaive.io.frames import Frame

    Frames = Generator[Frame | str]
    Told = Mapping[str, str]

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
