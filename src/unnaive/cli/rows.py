"""Rows from a file: to learn from, and to match with what a model knows."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from unnaive.cli.terminal import listed, note
from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from unnaive._typing import FloatArray
    from unnaive.io.frames import Column, Frame
    from unnaive.models import Classifier
    from unnaive.schema import ColumnSchema, Schema

_BATCH_ROWS = 1 << 16


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
    labels: "Collection[str]" = (),
) -> TrainingRows:
    """Read a file and separate the class, the weights and the columns to leave out.

    Columns that the user named must be there. Those that are ``labels`` are text even if all of
    their cells look like numbers.
    """
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    frame = read(path, target=target, labels=labels)
    apart = [target, *(ignore or []), *([weight] if weight else [])]
    for name in [*apart, *(categorical or [])]:
        _require(path, name, frame.names)
    features = frame.select([name for name in frame.names if name not in apart])
    if not features.names:
        raise ValueError(f"{path} has no column to learn from besides {target!r}")
    weights = None if weight is None else _weights(frame.column(frame.names.index(weight)))
    return TrainingRows(features, frame.column(frame.names.index(target)), weights)


def text_columns(schema: "Schema", target: str | None = None) -> list[str]:
    """Name the columns whose cells are labels to a schema, whatever they look like in a file."""
    text = [column.name for column in schema.columns if getattr(column, "is_text", False)]
    labels = target is not None and any(isinstance(label, str) for label in schema.classes)
    return [*text, target] if target is not None and labels else text


def match(path: Path, frame: "Frame", model: "Classifier") -> "Frame":
    """Put a file's columns into the order of a model's; say what is left out or unknown."""
    _match_names(path, frame.names, model.schema_)
    matched, unseen = frame.select(model.schema_.names), Unseen(model)
    unseen.add(matched)
    unseen.tell()
    return matched


def matched_batches(path: Path, model: "Classifier", n_jobs: int | None) -> "Iterator[Frame]":
    """Yield a file's rows some at a time, their columns in the order of a model's.

    What is left out is said first, what is unknown in the end.
    """
    from unnaive._parallel import effective_n_jobs  # noqa: PLC0415 - see app.py
    from unnaive.counts.engines.streaming import READ_CELLS, read_ahead  # noqa: PLC0415
    from unnaive.io.parts import open_part  # noqa: PLC0415

    part, schema, unseen = open_part(path), model.schema_, Unseen(model)
    _match_names(path, part.columns, schema)
    size = max(1024, min(_BATCH_ROWS, READ_CELLS // len(schema.names)))
    threads = effective_n_jobs(n_jobs) > 1
    frames = part.frames(size, schema.cell_kinds, threads, set(schema.names))
    given, again = 0, 0
    for frame in read_ahead(frames):
        if isinstance(frame, str):  # read anew, with more care: what was given stays given
            again = given
            continue
        skipped = min(again, frame.n_rows)
        again -= skipped
        if skipped < frame.n_rows:
            matched = frame.block(skipped, frame.n_rows).select(schema.names)
            unseen.add(matched)
            given += matched.n_rows
            yield matched
    if not given:
        raise DataFileError(f"{path} has a header but no rows; add at least one")
    unseen.tell()


def _match_names(path: Path, given: "Sequence[str]", schema: "Schema") -> None:
    """Require the columns of a model, and say which others are left out."""
    held, wanted = set(given), set(schema.names)
    for name in schema.names:
        if name not in held:
            _require(path, name, given, ", which the model needs")
    _tell_extra([name for name in given if name not in wanted], schema.target)


class Unseen:
    """Values that are no category of a model, by column."""

    def __init__(self, model: "Classifier") -> None:
        missing = getattr(model, "handle_unknown", "missing") == "missing"
        self._columns = model.schema_.columns if missing else ()
        self._found: dict[str, set[Hashable]] = {}

    def add(self, frame: "Frame") -> None:
        """Look at some rows, whose columns are those of the model."""
        for known, column in zip(self._columns, frame.columns, strict=False):
            unseen = _unseen(known, column)
            if unseen:
                self._found.setdefault(known.name, set()).update(unseen)

    def tell(self) -> None:
        """Say what was found."""
        for name, values in self._found.items():
            what = f"column {name!r} has values never seen in fit, which count as missing"
            note(f"{what}: {listed(sorted(values, key=str))}")


def _tell_extra(extra: list[str], target: str) -> None:
    """Note which columns of a file are of no use."""
    if extra == [target]:
        note(f"column {target!r} is what the model predicts; it is not used")
    elif extra:
        own = f"; {target!r} is what it predicts" if target in extra else ""
        note(f"not used, because the model does not know them: {listed(extra)}{own}")


def _require(path: Path, name: str, names: "Sequence[str]", why: str = "") -> None:
    if name not in names:
        from unnaive.io.files import nearest  # noqa: PLC0415 - see app.py

        raise ValueError(f"{path} has no column {name!r}{why}; {nearest(name, names)}")


def _weights(column: "Column") -> "FloatArray":
    if column.is_text or column.missing.any():
        what = "labels" if column.is_text else "missing cells"
        raise ValueError(f"column {column.name!r} has {what}; weights must be numbers in every row")
    return column.values.astype(float)


def _unseen(known: "ColumnSchema", column: "Column") -> "set[Hashable]":
    """Values of a column that are no category of the model's."""
    import numpy as np  # noqa: PLC0415 - see app.py

    if not hasattr(known, "categories"):
        return set()
    if column.categories is None:
        held = np.unique(column.values[~column.missing]).tolist()
    elif column.declared:
        values = np.flatnonzero(np.bincount(column.values[column.values >= 0])).tolist()
        held = [column.categories[value] for value in values]
    else:
        held = column.categories
    return set(held) - set(known.categories)
