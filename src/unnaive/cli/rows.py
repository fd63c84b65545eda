"""Rows from a file: to learn from, and matched to the columns of a model."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from unnaive.cli.terminal import listed, note
from unnaive.exceptions import DataFileError

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Sequence

    from unnaive._typing import FloatArray
    from unnaive.cli.options import Training
    from unnaive.io.frames import Column, Frame
    from unnaive.io.reading import Reading
    from unnaive.models import Classifier
    from unnaive.schema import ColumnSchema, Schema

_BATCH_ROWS = 1 << 16


class TrainingRows(NamedTuple):
    """Features, target and weights of a file."""

    frame: "Frame"
    target: "Column"
    weights: "FloatArray | None"


def read_training(
    path: Path, target: str, training: "Training", labels: "Collection[str]" = ()
) -> TrainingRows:
    """Read a file and separate features, target and weights.

    Columns named by an option must exist. Columns in ``labels`` are read as text even if all of
    their values look like numbers.
    """
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    frame = read(path, target=target, labels=labels, reading=training.reading())
    for name in training.keep_text or []:
        _require(path, name, frame.names)
    apart = [target, *(training.ignore or []), *([training.weight] if training.weight else [])]
    for name in [*apart, *(training.categorical or []), *(training.keep or [])]:
        _require(path, name, frame.names)
    features = frame.select([name for name in frame.names if name not in apart])
    if not features.names:
        raise ValueError(f"{path} has no column to learn from besides {target!r}")
    weight = training.weight
    weights = None if weight is None else _weights(frame.column(frame.names.index(weight)))
    return TrainingRows(features, frame.column(frame.names.index(target)), weights)


def text_columns(schema: "Schema", target: str | None = None) -> list[str]:
    """Return the columns that a schema treats as text, even if a file holds numbers there."""
    text = [column.name for column in schema.columns if getattr(column, "is_text", False)]
    labels = target is not None and any(isinstance(label, str) for label in schema.classes)
    return [*text, target] if target is not None and labels else text


def match(path: Path, frame: "Frame", model: "Classifier", *, complete: bool = False) -> "Frame":
    """Order a file's columns as a model's; note what is not used, absent or unseen.

    Absent columns are treated as missing, or raise an error if the rows must be ``complete``.
    """
    _match_names(path, frame.names, model.schema_, complete=complete)
    matched, unseen = _matched(frame, model.schema_), Unseen(model)
    unseen.add(matched)
    unseen.report()
    return matched


def matched_batches(
    path: Path,
    model: "Classifier",
    n_jobs: int | None,
    reading: "Reading",
    keep: "Sequence[str]" = (),
) -> "Iterator[tuple[Frame, Frame]]":
    """Yield a file's rows in batches: columns ordered as a model's, and columns to keep.

    Unused and absent columns are noted before the first batch, unseen categories after the last.
    """
    from unnaive._parallel import effective_n_jobs  # noqa: PLC0415 - see app.py
    from unnaive.counts.engines.streaming import READ_CELLS, read_ahead  # noqa: PLC0415
    from unnaive.io.parts import open_part  # noqa: PLC0415

    part, schema, unseen = open_part(path, reading), model.schema_, Unseen(model)
    for name in keep:
        _require(path, name, part.columns)
    _match_names(path, part.columns, schema, keep)
    size = max(1024, min(_BATCH_ROWS, READ_CELLS // len(schema.names)))
    threads = effective_n_jobs(n_jobs) > 1
    kinds = dict.fromkeys(keep, "text") | schema.cell_kinds
    frames = part.frames(size, kinds, threads, {*schema.names, *keep})
    done, repeated = 0, 0
    for frame in read_ahead(frames):
        if isinstance(frame, str):  # the reader starts again: skip the rows already predicted
            repeated = done
            continue
        skipped = min(repeated, frame.n_rows)
        repeated -= skipped
        if skipped < frame.n_rows:
            block = frame.block(skipped, frame.n_rows)
            matched = _matched(block, schema)
            unseen.add(matched)
            done += matched.n_rows
            yield matched, block.select(keep)
    if not done:
        raise DataFileError(f"{path} has a header but no rows; add at least one")
    for warning in part.notes():
        warnings.warn(warning, stacklevel=2)
    unseen.report()


def _matched(frame: "Frame", schema: "Schema") -> "Frame":
    """Order columns as a schema; those that are absent are missing in every row."""
    import numpy as np  # noqa: PLC0415 - see app.py

    from unnaive.io.frames import Column, Frame  # noqa: PLC0415

    absent = {
        name: Column(name, np.full(frame.n_rows, -1, np.int32), ())
        if kind == "text"
        else Column(name, np.full(frame.n_rows, np.nan))
        for name, kind in schema.cell_kinds.items()
        if name not in frame.names
    }
    if not absent:
        return frame.select(schema.names)
    place = {name: number for number, name in enumerate(frame.names)}
    columns = (absent.get(n) or frame.column(place[n]) for n in schema.names)
    return Frame(schema.names, frame.n_rows, tuple(columns))


def _match_names(
    path: Path,
    names: "Sequence[str]",
    schema: "Schema",
    keep: "Sequence[str]" = (),
    *,
    complete: bool = False,
) -> None:
    """Note which columns of a model are absent, and which others are not used."""
    present, wanted, target = set(names), {*schema.names, *keep}, schema.target
    absent = [name for name in schema.names if name not in present]
    if absent and (complete or len(absent) == len(schema.names)):
        _require(path, absent[0], names, ", which the model needs")
    extra = [name for name in names if name not in wanted]
    if absent:
        what = f"columns not in {path.name}, treated as missing in every row: {listed(absent)}"
        note(what + _renamed(absent, [name for name in extra if name != target]))
    if extra == [target]:
        note(f"column {target!r} is the target; it is not used")
    elif extra:
        also = f" ({target!r} is the target)" if target in extra else ""
        note(f"columns not used, because the model does not have them: {listed(extra)}{also}")


def _renamed(absent: "Sequence[str]", extra: "Sequence[str]") -> str:
    """Ask whether a column that is not used is one that is absent, with another spelling.

    >>> _renamed(["Organ", "age"], ["organ", "id"])
    "; if 'organ' is 'Organ', rename it"
    """
    from difflib import get_close_matches  # noqa: PLC0415 - see app.py

    plain = {name.casefold(): name for name in extra}
    found = [(name, get_close_matches(name.casefold(), plain, n=1)) for name in absent]
    pairs = [f"{plain[close[0]]!r} is {name!r}" for name, close in found if close]
    which = "it" if len(pairs) == 1 else "them"
    return f"; if {' and '.join(pairs)}, rename {which}" if pairs else ""


class Unseen:
    """Values that are not categories of a model, by column."""

    def __init__(self, model: "Classifier") -> None:
        missing = getattr(model, "handle_unknown", "missing") == "missing"
        self._columns = model.schema_.columns if missing else ()
        self._values: dict[str, set[Hashable]] = {}

    def add(self, frame: "Frame") -> None:
        """Look at some rows, whose columns are those of the model."""
        for known, column in zip(self._columns, frame.columns, strict=False):
            unseen = _unseen(known, column)
            if unseen:
                self._values.setdefault(known.name, set()).update(unseen)

    def report(self) -> None:
        """Note all unseen categories."""
        for name, values in self._values.items():
            what = f"column {name!r} has unseen categories, which are treated as missing"
            note(f"{what}: {listed(sorted(values, key=str))}")


def _require(path: Path, name: str, names: "Sequence[str]", why: str = "") -> None:
    if name not in names:
        from unnaive.io.files import nearest  # noqa: PLC0415 - see app.py

        raise ValueError(f"{path} has no column {name!r}{why}; {nearest(name, names)}")


def _weights(column: "Column") -> "FloatArray":
    if column.is_text or column.missing.any():
        what = "text" if column.is_text else "missing values"
        raise ValueError(f"column {column.name!r} has {what}; every row needs a number as weight")
    return column.values.astype(float)


def _unseen(known: "ColumnSchema", column: "Column") -> "set[Hashable]":
    """Return the values of a column that are not categories of the model."""
    import numpy as np  # noqa: PLC0415 - see app.py

    if not hasattr(known, "categories"):
        return set()
    if column.categories is None:
        present = np.unique(column.values[~column.missing]).tolist()
    elif column.declared:
        codes = np.flatnonzero(np.bincount(column.values[column.values >= 0])).tolist()
        present = [column.categories[code] for code in codes]
    else:
        present = column.categories
    return set(present) - {*known.categories, *getattr(known, "others", ())}
