"""Predictions as new columns of arrow tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from unnaive._typing import AnyArray
    from unnaive.counts.engines.dispatch import Prediction


def new_names(prediction: Prediction, taken: Collection[str]) -> list[str]:
    """Names of the columns of predictions, such as probability_yes; raise if one is taken."""
    names = [prediction.kind]
    if prediction.empty.ndim == 2:
        names = [f"{prediction.kind}_{label}" for label in prediction.labels]
    for name in names:
        if name in taken:
            raise UnnaiveError(f"the frame has a column {name!r} already; drop or rename it")
    return names


def with_answers(table: pa.Table, answers: AnyArray, names: list[str]) -> pa.Table:
    """Append predictions (n,) or (n, k) to the columns of a table."""
    for name, column in zip(names, answers.reshape(len(table), -1).T, strict=True):
        table = table.append_column(name, arrow_array(column))
    return table


def arrow_array(answers: AnyArray) -> pa.Array:
    """Convert predictions to types that all engines have: double, long, boolean, string."""
    arrow, kind = import_module("pyarrow"), answers.dtype.kind
    if kind in "fiub":
        return arrow.array(answers.astype({"f": np.float64, "b": np.bool_}.get(kind, np.int64)))
    return arrow.array([str(answer) for answer in answers], arrow.string())
