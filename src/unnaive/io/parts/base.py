"""A part: some rows that are read together, a batch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from unnaive.exceptions import DataFileError
from unnaive.io.arrow import is_text

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping

    import pyarrow as pa

    from unnaive.io.frames import Frame

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

    @abstractmethod
    def frames(
        self,
        rows: int,
        told: Mapping[str, str],
        threads: bool,
        wanted: Collection[str] | None = None,
    ) -> Generator[Frame | str]:
        """Yield frames of at most about ``rows`` rows, or ``RESTART``.

        ``told`` says what columns are where the file does not: "int" and "float" (numbers),
        "bool", "text". ``wanted`` names the columns that are read; None: all.
        """

    def chosen(self, wanted: Collection[str] | None) -> tuple[str, ...]:
        """Columns to read, in the order of the file."""
        return tuple(name for name in self.columns if wanted is None or name in wanted)


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


def kinds_of(schema: pa.Schema) -> dict[str, str]:
    """Say what the columns of an arrow schema are; those of other types are not listed."""
    types = import_module("pyarrow").types
    kinds = {}
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_boolean(kind):
            kinds[field.name] = "bool"
        elif is_text(kind):
            kinds[field.name] = "text"
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            kinds[field.name] = "number"
    return kinds
