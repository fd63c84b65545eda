"""Rows from a file: to learn from, and to match with what a model knows."""

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unnaive.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray
    from unnaive.io.frames import Column, Frame
    from unnaive.models import Classifier
    from unnaive.schema import ColumnSchema

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
    apart = [target, *(ignore or []), *([weight] if weight else [])]
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

    place = {name: index for index, name in enumerate(frame.names)}
    columns = tuple(frame.column(place[name]) for name in names)
    return Frame(tuple(names), frame.n_rows, columns)


def match(path: Path, frame: "Frame", model: "Classifier") -> "Frame":
    """Put a file's columns into the order of a model's; say what is left out or unknown."""
    names = model.schema_.names
    held, wanted = set(frame.names), set(names)
    for name in names:
        if name not in held:
            _require(path, name, frame.names, ", which the model needs")
    extra = [name for name in frame.names if name not in wanted]
    _tell_extra(extra, model.schema_.target)
    matched = select(frame, names)
    for known, column in zip(model.schema_.columns, matched.columns, strict=True):
        unseen = (
            _unseen(known, column)
            if getattr(model, "handle_unknown", "missing") == "missing"
            else []
        )
        if unseen:
            what = f"column {known.name!r} has values never seen in fit"
            say(f"note: {what}, which count as missing: {_some(unseen)}")
    return matched


def _tell_extra(extra: list[str], target: str) -> None:
    """Note which columns of a file are of no use."""
    if extra == [target]:
        say(f"note: column {target!r} is what the model predicts; it is not used")
    elif extra:
        own = f"; {target!r} is what it predicts" if target in extra else ""
        say(f"note: not used, because the model does not know them: {_some(extra)}{own}")


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
