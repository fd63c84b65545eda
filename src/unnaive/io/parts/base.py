"""A part: some rows that are read together, a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping

    from unnaive.io.frames import Frame

    Frames = Generator[Frame | str]
    Told = Mapping[str, str]

RESTART = "restart"  # between frames: those of this part so far do not count, it begins anew


class Part(ABC):
    """A file, or a fragment of a ``pyarrow.dataset``.

    Attributes
    ----------
    name : str
        What it is called in errors and checkpoints.
    columns : tuple of str
        Names of its columns.
    kinds : dict
        By column "number", "bool" or "text"; a column without any value is not listed.
    typed : bool
        Whether the file itself says what a column is; the cells of a CSV are all text.
    """

    name: str
    columns: tuple[str, ...]
    kinds: dict[str, str]
    typed = True

    def frames(
        self, rows: int, told: Told, threads: bool, wanted: Collection[str] | None = None
    ) -> Frames:
        """Yield frames of at most about ``rows`` rows, or ``RESTART``.

        ``told`` says what columns are where the file does not: "int" and "float" (numbers),
        "bool", "text". ``wanted`` names the columns that are read; None: all.
        """
        columns = [name for name in self.columns if wanted is None or name in wanted]
        return self.read(rows, columns, threads, told)

    @abstractmethod
    def read(self, rows: int, columns: list[str], threads: bool, told: Told) -> Frames:
        """Yield frames of some columns, which are in the order of the file."""


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Turn whatever pyarrow or the disk says of damaged rows into an error with the name."""
    arrow = import_module("pyarrow")
    try:
        yield
    except MemoryError:
        raise
    except (arrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise DataFileError(f"{name} is damaged ({error}); write or fetch it again") from error
    except (TypeError, NotImplementedError) as error:
        raise DataFileError(f"{name}: {error}") from error
