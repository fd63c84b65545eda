"""Read data files in batches, with bounded memory."""

from __future__ import annotations

from functools import partial
from glob import has_magic
from itertools import pairwise
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive._dataclasses import dataclass
from unnaive.exceptions import DataFileError
from unnaive.io.content import ENDINGS, checked_ending
from unnaive.io.parts.base import RESTART, Part
from unnaive.io.parts.parquet import FragmentPart, ParquetPart, WholePart
from unnaive.io.parts.plain import ExcelPart, JsonPart
from unnaive.io.parts.streams import StreamPart
from unnaive.io.parts.text import CsvPart
from unnaive.io.reading import Reading
from unnaive.io.sources import is_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyarrow import dataset

    Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

__all__ = ["RESTART", "Entry", "Part", "entries", "is_dataset", "is_files", "list_files"]


def is_files(source: object) -> bool:
    """Whether a source is a path, a pattern, a list of paths, a ``pyarrow.dataset``, a stream."""
    if isinstance(source, str | PathLike) or is_dataset(source) or is_stream(source):
        return True
    if not isinstance(source, list | tuple) or not source:
        return False
    return all(isinstance(path, str | PathLike) for path in source)


def is_dataset(source: object) -> bool:
    """Whether a source is a ``pyarrow.dataset.Dataset``; pyarrow is not imported for it."""
    return any(
        (kind.__module__, kind.__name__) == ("pyarrow._dataset", "Dataset")
        for kind in type(source).__mro__
    )


def list_files(source: Paths) -> list[Path]:
    """List the files of a path, a pattern, a folder, or a list of these, in sorted order.

    Examples
    --------
    >>> [path.name for path in list_files(["b.csv", "a.csv"])]
    ['a.csv', 'b.csv']
    """
    sources = [source] if isinstance(source, str | PathLike) else source
    paths = sorted((path for one in sources for path in _expand(Path(one).expanduser())), key=str)
    for path, following in pairwise(paths):
        if path == following:
            raise DataFileError(f"{path} is listed twice, and would be counted twice; list it once")
    return paths


def _expand(path: Path) -> list[Path]:
    if path.is_dir():
        files = [file for file in path.rglob("*") if _is_data(file.relative_to(path))]
        if not files:
            raise DataFileError(f"{path} has no file that ends in {', '.join(ENDINGS)}")
        if any("=" in folder for file in files for folder in file.relative_to(path).parts[:-1]):
            cure = f"pyarrow.dataset.dataset({fspath(path)!r}, partitioning='hive')"
            raise DataFileError(f"{path} keeps values in the names of its folders; count {cure}")
        return files
    if has_magic(str(path)) and not path.exists():
        anchor = Path(path.anchor)
        files = [file for file in anchor.glob(str(path.relative_to(anchor))) if file.is_file()]
        if not files:
            raise DataFileError(f"no file matches {path}; check the pattern and its folder")
        return files
    return [path]


def _is_data(path: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.parts)
    return not hidden and path.name.lower().endswith(ENDINGS)


@dataclass(frozen=True)
class Entry:
    """A file or fragment that is not open yet."""

    name: str
    open: Callable[[], Part]
    look: Callable[[], tuple[int, int]]

    def stamp(self) -> list[int]:
        """Return size and time of the last change, by which a checkpoint recognizes the file."""
        try:
            return list(self.look())
        except OSError:
            return [-1, -1]


def entries(
    source: Paths | dataset.Dataset,
    reading: Reading = Reading(),  # noqa: B008 - is immutable
) -> list[Entry]:
    """List the files or fragments of a source, in order."""
    if is_dataset(source):
        return _fragments(source)
    if is_stream(source):
        part = StreamPart(source)
        return [Entry(part.name, lambda: part, _no_stamp)]
    paths = list_files(source)
    return [Entry(str(p), partial(open_part, p, reading), partial(_look, p)) for p in paths]


def open_part(path: Path, reading: Reading = Reading()) -> Part:  # noqa: B008 - is immutable
    """Open one file and check its extension, its first bytes and its column names."""
    try:
        ending = checked_ending(path, reading.encoding)
    except OSError as error:
        raise DataFileError(f"{path}: {error.strerror or error}") from error
    return part_of(path, ending, reading)


def part_of(path: Path, ending: str, reading: Reading) -> Part:
    """Open a file of a known format."""
    if ending == ".parquet":
        return ParquetPart(path)
    if ending == ".arff":
        return WholePart(path, reading)
    if ending == ".xlsx":
        return ExcelPart(path, reading)
    if ending in {".jsonl", ".ndjson"}:
        return JsonPart(path, reading)
    return CsvPart(path, ending, reading)


def _look(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _fragments(source: dataset.Dataset) -> list[Entry]:
    """List the fragments of a dataset; a filtered one, or one in memory, is a single part."""
    name, schema = "the dataset", source.schema
    try:
        fragments = sorted(source.get_fragments(), key=lambda fragment: str(fragment.path))
    except (ValueError, AttributeError):
        return [Entry(name, partial(FragmentPart, source, schema, name), _no_stamp)]
    return [
        Entry(
            str(fragment.path),
            partial(FragmentPart, fragment, schema, str(fragment.path)),
            partial(_look_far, fragment),
        )
        for fragment in fragments
    ]


def _look_far(fragment: dataset.Fragment) -> tuple[int, int]:
    status = fragment.filesystem.get_file_info(fragment.path)
    return status.size or 0, status.mtime_ns or 0


def _no_stamp() -> tuple[int, int]:
    raise DataFileError(
        "a checkpoint needs files, and these rows are a stream, filtered or in memory; count "
        "without checkpoint="
    )
