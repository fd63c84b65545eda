"""Rows from a file: to learn from, and to match with what a model knows."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unnaive.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray
    from unnaive.io.frames import Column, Frame
    from unnaive.schema import ColumnSchema, Schema

_SHOWN = 5


class TrainingRows(NamedTuple):
    """What a file holds to learn from."""

    frame: "Frame"
    target: "Column"
    weights: "FloatArray | None"


def read_training(
    path: Path,
    target: str,
    *,
    ignore: "Sequence[str] | None" = None,
    weight: str | None = None,
    categorical: "Sequence[str] | None" = None,
) -> TrainingRows:
    """Read a file and separate the class, the weights and the columns to leave out.

    Columns that the user named must be there.
    """
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    frame = read(path, target=target)
    apart = {target, *(ignore or []), *([weight] if weight else [])}
    for name in [*apart, *(categorical or [])]:
        _require(path, name, frame.names)
    features = select(frame, [name for name in frame.names if name not in apart])
    if not features.names:
        raise ValueError(f"{path} has no column to learn from besides {target!r}")
    weights = None if weight is None else _weights(frame.column(frame.names.index(weight)))
    return TrainingRows(features, frame.column(frame.names.index(target)), weights)


def select(frame: "Frame", names: "Sequence[str]") -> "Frame":
    """Return some columns of a frame, in the order of ``names``."""
    from unnaive.io.frames import Frame  # noqa: PLC0415 - see app.py

    columns = tuple(frame.column(frame.names.index(name)) for name in names)
    return Frame(tuple(names), frame.n_rows, columns)


def match(path: Path, frame: "Frame", schema: "Schema") -> "Frame":
    """Put a file's columns into the order of a model's; say what is left out or unknown."""
    for name in schema.names:
        _require(path, name, frame.names, ", which the model needs")
    extra = [name for name in frame.names if name not in schema.names]
    if extra:
        say(f"note: not used, because the model does not know them: {_some(extra)}")
    matched = select(frame, schema.names)
    columns = []
    for known, column in zip(schema.columns, matched.columns, strict=True):
        same = _as_labels(known, column)
        unseen = _unseen(known, same)
        if unseen:
            say(
                f"note: column {known.name!r}: never seen in fit, so as if missing: {_some(unseen)}"
            )
        columns.append(same)
    return type(frame)(matched.names, frame.n_rows, tuple(columns))


def _require(path: Path, name: str, names: "Sequence[str]", why: str = "") -> None:
    if name not in names:
        close = get_close_matches(name, names, n=1)
        cure = f"did you mean {close[0]!r}?" if close else f"its columns are {_some(names, 20)}"
        raise ValueError(f"{path} has no column {name!r}{why}; {cure}")


def _weights(column: "Column") -> "FloatArray":
    if column.is_text or column.missing.any():
        what = "labels" if column.is_text else "missing cells"
        raise ValueError(f"column {column.name!r} has {what}; weights must be numbers in every row")
    return column.values.astype(float)


def _as_labels(known: "ColumnSchema", column: "Column") -> "Column":
    """Take numbers for labels where the model has labels: a short file may hold only '7'."""
    from unnaive.io.frames import Column, to_column  # noqa: PLC0415 - see app.py

    if column.is_text or column.missing.all() or not getattr(known, "is_text", False):
        return column
    cells = [
        None if gap else _label(value)
        for value, gap in zip(column.values.tolist(), column.missing.tolist(), strict=True)
    ]
    text: Column = to_column(cells, column.name)
    say(
        f"note: column {column.name!r} holds labels in the model and numbers here; they are read "
        f"as the labels {_some(text.categories or ())}"
    )
    return text


def _label(number: float) -> str:
    return str(int(number)) if number == int(number) else str(number)


def _unseen(known: "ColumnSchema", column: "Column") -> list[Any]:
    """Values of a column that are no category of the model's."""
    import numpy as np  # noqa: PLC0415 - see app.py

    if not hasattr(known, "categories"):
        return []
    values = np.unique(column.values[~column.missing]).tolist()
    labels = column.categories
    held = values if labels is None else [labels[value] for value in values]
    return sorted(set(held) - set(known.categories), key=str)


def _some(names: "Sequence[Any]", shown: int = _SHOWN) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(repr(name) for name in names[:shown]) + more
