"""Counting, in one call: rows in, sufficient statistics out."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from unnaive.counts.engines.memory import CodedRows, pair_bytes, require_memory
from unnaive.discretize import discretizer
from unnaive.exceptions import UnnaiveError
from unnaive.io.files import read
from unnaive.io.frames import to_column, to_frame
from unnaive.schema import Schema, learn_schema

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.counts.joint import JointCounts
    from unnaive.io.frames import Column, Frame


def count(
    source: Any,
    target: Any,
    *,
    schema: Schema | None = None,
    pairs: str | None = "all",
    sample_weight: Any = None,
    discretize: Any = "mdlp",
    bins: int = 5,
    categorical_features: Any = "auto",
    categories: Any = None,
    max_memory: int = 2**31,
    n_jobs: int | None = None,
) -> JointCounts:
    """Count the rows of a table.

    Parameters
    ----------
    source : array, data frame, or path of a file
        The rows.
    target : str or array
        Name of the class column in ``source``, or the class labels themselves.
    schema : Schema, default=None
        What the columns are; counts add up only if they share it. None: learned from these
        rows by ``discretize``, ``bins``, ``categorical_features`` and ``categories``, which
        are those of the models.
    pairs : "all" or None, default="all"
        Whether pairs of columns are counted (naive Bayes needs none).
    sample_weight, max_memory, n_jobs
        As in the models.

    Examples
    --------
    >>> import unnaive
    >>> counts = unnaive.count([["a", "u"], ["b", "u"], ["b", "w"]], target=[0, 1, 1])
    >>> counts
    JointCounts(3 rows, 2 columns, 2 classes, 1 pairs, 144 bytes)
    >>> counts.pair(0, 1)[1].tolist()
    [[0, 0], [1, 1]]
    """
    if pairs not in {"all", None}:
        raise ValueError(f"pairs={pairs!r}; it must be 'all' or None")
    frame, labels, weights = weighted_rows(*_split(source, target), sample_weight)
    if schema is None:
        schema, codes, classes = learn_schema(
            frame,
            labels,
            discretizer=None if discretize is None else discretizer(discretize, bins),
            categorical_features=categorical_features,
            categories=categories,
            weights=weights,
            n_jobs=n_jobs,
        )
    else:
        codes, classes = schema.encode(frame, n_jobs=n_jobs), schema.encode_target(labels)
    rows = CodedRows(schema, codes, classes, weights, n_jobs)
    if pairs is None:
        return rows.select(np.empty((0, 2), dtype=np.int64))
    require_memory(schema, pair_bytes(schema), max_memory, "counting all pairs of columns")
    return rows.count()


def weighted_rows(
    frame: Frame, target: Column, sample_weight: Any, *, keep_all: bool = False
) -> tuple[Frame, Column, FloatArray | None]:
    """Check lengths and weights; rows of no weight are left out unless ``keep_all``."""
    check_consistent_length(target.values, np.empty((frame.n_rows, 0)))
    if sample_weight is None:
        return frame, target, None
    weights = _check_sample_weight(sample_weight, target.values, dtype=np.float64, copy=True)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise UnnaiveError(
            f"sample_weight is {weights[row]} in row {row}; weights must not be negative"
        )
    if not weights.any():
        raise UnnaiveError("sample_weight is zero in every row; no row is left to learn from")
    used = weights > 0
    if used.all() or keep_all:
        return frame, target, weights
    return frame.take(used), target.take(used), weights[used]


def _split(source: Any, target: Any) -> tuple[Frame, Column]:
    """Tell the rows from their labels."""
    frame = read(source) if isinstance(source, str | PathLike) else to_frame(source)
    if isinstance(target, str):
        return frame.split(target)
    return frame, to_column(target)
