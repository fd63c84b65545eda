"""The nine data sets of the PHNB paper, prepared as it says, and what it printed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unnaive import EqualWidth
from unnaive.io.files import read
from unnaive.schema import CategoricalColumn

BINS = 10
MANY_COLUMNS = 30  # the headline is about sets with more columns than this


@dataclass(frozen=True)
class Printed:
    """A line of the paper's Tables 1 and 2: percentages, seconds, and a threshold in bits."""

    name: str
    columns: int  # with the class
    accuracy: float
    seconds: float
    average_accuracy: float
    average_seconds: float
    threshold: float
    optimal_accuracy: float
    optimal_seconds: float

    @property
    def ratio(self) -> float:
        """Test time of PHNB at the printed threshold over that of HNB."""
        return self.optimal_seconds / self.seconds

    @property
    def wide(self) -> bool:
        """Whether the headline is about this set."""
        return self.columns > MANY_COLUMNS


PRINTED = (
    Printed("nursery", 9, 94.56, 0.22, 94.28, 0.25, 0.0058, 95.01, 0.25),
    Printed("sick", 28, 97.79, 0.17, 97.73, 0.09, 0.138, 97.79, 0.16),
    Printed("kr-vs-kp", 37, 92.25, 0.17, 92.52, 0.16, 0.024, 92.67, 0.14),
    Printed("mfeat-zernike", 48, 75.45, 2.06, 75.4, 1.56, 0.28, 75.5, 1.14),
    Printed("optdigits", 65, 95.88, 13.31, 95.92, 15.84, 0.12, 96.19, 9.92),
    Printed("mfeat-fourier", 77, 80.05, 8.43, 80.3, 10.41, 0.25, 80.15, 3.19),
    Printed("arrhythmia", 263, 66.15, 22.81, 68.58, 23.38, 0.2, 69.02, 16.08),
    Printed("mfeat-pixel", 241, 96.05, 50.58, 96.05, 44.78, 0.15, 96.05, 30.66),
    Printed("mfeat-factors", 217, 96.25, 49.58, 96.0, 38.42, 0.45, 96.1, 11.8),
)
NAMES = tuple(line.name for line in PRINTED)


@dataclass(frozen=True, eq=False)
class PaperRows:
    """Rows as whole numbers: ``X`` (n, d) and ``y`` (n,), with all declared values."""

    X: np.ndarray
    y: np.ndarray
    categories: list[list[int]]


def data_folder(given: str | None) -> Path:
    """Return where the data sets are: ``--data``, or ``UNNAIVE_DATA`` in the environment."""
    folder = given or os.environ.get("UNNAIVE_DATA")
    if not folder or not (Path(folder) / "schema.json").exists():
        raise SystemExit("name the folder of the papers' data sets: --data FOLDER or $UNNAIVE_DATA")
    return Path(folder)


def prepare(folder: Path, printed: Printed) -> PaperRows:
    """Read a data set and do what the paper did, all of it on the whole set.

    Missing cells become the column's mean or most frequent value, numbers ten bins of equal
    width. What "useless" columns the paper removed it does not say; where the file has more
    columns than the paper's table, the constant ones go, which gives the paper's numbers
    (so optdigits keeps its two).
    """
    declared = json.loads((folder / "schema.json").read_text())[printed.name]
    labels = [column["name"] for column in declared if column["type"] == "nominal"]
    frame, target = read(folder / f"{printed.name}.csv.gz", labels=labels).split("class")
    drop = len(declared) > printed.columns
    coded = []
    for index, column in enumerate(declared[:-1]):
        codes, size = _coded(frame.column(index), column)
        if not (drop and codes.min() == codes.max()):
            coded.append((codes, size))
    if len(coded) != printed.columns - 1:
        raise SystemExit(
            f"{printed.name}: {len(coded)} columns are left, the paper has {printed.columns - 1}"
        )
    classes = CategoricalColumn("class", tuple(declared[-1]["values"])).encode(target)
    X = np.stack([codes for codes, _ in coded], axis=1).astype(np.int64)
    return PaperRows(X, classes.astype(np.int64), [list(range(size)) for _, size in coded])


def _coded(column: Any, declared: dict[str, Any]) -> tuple[np.ndarray, int]:
    """Codes of a column without gaps, and its number of values; a constant has code 0."""
    if declared["type"] == "nominal":
        values = CategoricalColumn(declared["name"], tuple(declared["values"]))
        codes = values.encode(column).astype(np.int64)
        known = codes[codes < values.size]
        mode = int(np.bincount(known, minlength=1).argmax()) if len(known) else 0
        return np.where(codes < values.size, codes, mode), values.size
    numbers = np.array(column.values, dtype=np.float64)
    gaps = np.isnan(numbers)
    if gaps.all():
        return np.zeros(len(numbers), dtype=np.int64), 1
    numbers[gaps] = numbers[~gaps].mean()
    cut = EqualWidth(BINS).fit(numbers[:, None])
    return cut.transform(numbers[:, None]).ravel().astype(np.int64), len(cut.edges_[0]) + 1
