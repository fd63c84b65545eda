"""Predictions as new columns of arrow tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

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


def stream_of_answers(
    prediction: Prediction, fields: Sequence[pa.Field], batches: Iterable[pa.RecordBatch]
) -> pa.RecordBatchReader:
    """Add predictions to batches of some fields as new columns, when the stream is read."""
    arrow = import_module("pyarrow")
    columns = tuple(field.name for field in fields)
    features = list(prediction.columns_of(columns))
    names = new_names(prediction, columns)
    kind = arrow_array(prediction.empty.ravel()).type
    new = [arrow.field(name, kind) for name in names]

    def answered() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = arrow.Table.from_batches([batch])
            answers = prediction(table.select(features))
            yield from with_answers(table, answers, names).to_batches()

    return arrow.RecordBatchReader.from_batches(arrow.schema([*fields, *new]), answered())


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
