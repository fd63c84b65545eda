"""The sources of data sets: folders, scikit-learn, generators, OpenML."""

from __future__ import annotations

import csv
import gzip
import os
import sys
import zlib
from http.client import HTTPException
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import fetch_openml, load_breast_cancer, load_iris

from unnaive.datasets.artificial import make_corral
from unnaive.exceptions import DataFileError
from unnaive.io.store import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive.datasets.content import Cells
    from unnaive.datasets.entries import Entry
    from unnaive.io.frames import Column, Frame

DATA, CACHE = "UNNAIVE_DATA", "UNNAIVE_CACHE"
ENDINGS = (".csv.gz", ".csv")
_WHOLE = 1e15  # whole numbers below this are written without a point


class Unreachable(Exception):
    """OpenML did not answer, or its answer holds no data."""


def data_folder() -> Path | None:
    """Return the folder $UNNAIVE_DATA, if it is set."""
    folder = os.environ.get(DATA)
    return Path(folder).expanduser() if folder else None


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the cache folder: the one given, else $UNNAIVE_CACHE, else that of the platform."""
    if folder := folder or os.environ.get(CACHE):
        return Path(folder).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local", "unnaive")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/unnaive"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "unnaive")


def find_file(name: str, folders: Sequence[Path]) -> Path | None:
    """Return the first file of a data set that the folders have."""
    paths = (folder / f"{name}{ending}" for folder in folders for ending in ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def read_file(entry: Entry, path: Path) -> list[Cells]:
    """Read a CSV file with the header of the catalogue; only empty cells are missing values."""
    plain_open = gzip.open if path.name.endswith(".gz") else open
    try:
        with plain_open(path, "rt", encoding="utf-8-sig", newline="") as stream:
            header, *rows = list(csv.reader(stream, strict=True)) or [[]]
    except (EOFError, OSError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise DataFileError(f"{path} cannot be read ({error}); fetch it again") from error
    _check_shape(entry, header, rows, path)
    return [list(column) for column in zip(*rows, strict=True)]


def _check_shape(entry: Entry, header: list[str], rows: list[list[str]], path: Path) -> None:
    wanted = [*entry.names, "class"]
    if header != wanted:
        same = zip(header, wanted, strict=False)
        at = next((i for i, (a, b) in enumerate(same) if a != b), min(len(header), len(wanted)))
        what = f"the header {header[at : at + 3]} where {entry.name!r} has {wanted[at : at + 3]}"
        raise DataFileError(f"{path} has, from column {at + 1} on, {what}; it is another data set")
    if not rows:
        raise DataFileError(f"{path} has a header but no rows; fetch it again")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(wanted):
            what = f"row {number} has {len(row)} cells and the header has {len(wanted)}"
            raise DataFileError(f"{path}: {what}; fetch it again")


def write_file(frame: Frame, path: Path) -> None:
    """Write a compressed CSV file; it appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = map(_written, frame.columns)
    with (
        replacing(path) as stream,
        gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed,
        TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(frame.names)
        writer.writerows(zip(*columns, strict=True))


def fetch(entry: Entry) -> list[Cells]:
    """Download a data set from OpenML; columns are in the order of the server."""
    try:
        bunch = fetch_openml(
            data_id=entry.openml,
            target_column=None,
            as_frame=False,
            parser="liac-arff",
            cache=False,
            n_retries=1,
        )
    except (OSError, ValueError, HTTPException) as error:
        raise Unreachable(f"{type(error).__name__}: {error}") from error
    return [
        _decoded(bunch.data[:, index], (bunch.categories or {}).get(name))
        for index, name in enumerate(bunch.feature_names)
    ]


def _decoded(numbers: Cells, values: Sequence[str] | None) -> Cells:
    """Turn codes of categories back into the categories."""
    numbers = np.asarray(numbers, dtype=np.float64)
    if values is None:
        return numbers
    return ["" if np.isnan(number) else values[int(number)] for number in numbers.tolist()]


def _written(column: Column) -> list[str]:
    if column.categories is not None:
        labels = [*map(str, column.categories), ""]
        return [labels[code] for code in column.values.tolist()]
    return ["" if np.isnan(value) else _number(value) for value in column.values.tolist()]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < _WHOLE else repr(value)


def _iris() -> list[Cells]:
    bunch = load_iris()
    rows = bunch.data.copy()
    # scikit-learn follows Fisher's article in three cells; UCI, Weka and OpenML differ there.
    rows[34, 3], rows[37, 1], rows[37, 2] = 0.1, 3.1, 1.5
    return [*rows.T, [f"Iris-{bunch.target_names[code]}" for code in bunch.target]]


BUILT_IN: dict[str, Callable[[], list[Cells]]] = {
    "wdbc": lambda: [*(data := load_breast_cancer()).data.T, ["MB"[code] for code in data.target]],
    "iris": _iris,
    "corral": lambda: [*(data := make_corral()).X.T.tolist(), data.y.tolist()],
}
