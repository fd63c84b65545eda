"""Rows and counts in files: how they are counted, added and described."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.cli.options import BinningParameters
from unnaive.cli.rows import read_training, text_columns
from unnaive.cli.terminal import listed, note, progress, say, tell
from unnaive.exceptions import DataFileError, SchemaMismatch, WrongKindError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import State
    from unnaive.cli.options import Training
    from unnaive.cli.rows import TrainingRows
    from unnaive.counts import JointCounts
    from unnaive.counts.rules import Rules
    from unnaive.io.frames import Column, Frame
    from unnaive.io.reading import Reading
    from unnaive.schema import Schema
    from unnaive.schema.sketch import SchemaSketch

ENDING = ".counts"
_SHOWN = 10  # classes of many
_HELD = {"model": "a model", "conformal": "a model with prediction sets"}


class Counting(BinningParameters, total=False):
    """How files are counted."""

    pairs: str | None
    n_jobs: int
    checkpoint: Path | None
    skip_bad_files: bool
    reading: "Reading"


def is_counts(path: Path) -> bool:
    """Whether a file is one that unnaive saved, by its name or its first bytes."""
    if path.suffix == ENDING:
        return True
    if not path.is_file() or path.suffix.lower() == ".xlsx":
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"PK\x03\x04"


def load_counts(path: Path) -> "JointCounts":
    """Read a counts file."""
    from unnaive.counts import JointCounts  # noqa: PLC0415 - see app.py

    try:
        return JointCounts.load(path)
    except WrongKindError as error:
        held = _HELD.get(error.found, error.found)
        what = f"holds {held}, not counts; write a counts file with unnaive count"
        raise WrongKindError(f"{path} {what}", found=error.found, wanted=error.wanted) from error


def describe_schema(schema: "Schema") -> "State":
    """Count the columns of a schema."""
    from unnaive.schema import NumericColumn  # noqa: PLC0415 - see app.py

    numeric = sum(isinstance(column, NumericColumn) for column in schema.columns)
    return {
        "columns": len(schema.columns),
        "categorical": len(schema.columns) - numeric,
        "numeric": numeric,
        "target": schema.target,
    }


def describe_counts(counts: "JointCounts") -> "State":
    """Describe counts in plain values; cells in no table were missing or unseen."""
    filled = counts.schema.sizes > 0
    missing = filled.sum() * counts.class_counts.sum() - counts.values.sum()
    return {
        "rows": counts.class_counts.sum().item(),
        **describe_schema(counts.schema),
        "missing_cells": missing.item(),
        "pairs": len(counts.pair_columns),
        "classes": class_rows(counts.schema, counts.class_counts.tolist()),
    }


def class_rows(schema: "Schema", rows: list[float]) -> "list[State]":
    """Return the number of rows of each class."""
    return [{"class": label, "rows": n} for label, n in zip(schema.classes, rows, strict=True)]


def row_lines(summary: "State", name: str) -> dict[str, str]:
    """Describe counted rows or training rows, one line for each entry."""
    pairs, what = "", "missing values"
    if "pairs" in summary:
        pairs, what = f"{summary['pairs']:,} pairs, ", "missing or unseen values"
    n_missing, cells = summary["missing_cells"], summary["rows"] * summary["columns"]
    missing = f"{n_missing:,} {what} ({n_missing / cells:.2%})" if n_missing else f"no {what}"
    classes = [f"{entry['class']} {entry['rows']:,}" for entry in summary["classes"]]
    drawn = f", a sample of {summary['drawn_from']:,}" if "drawn_from" in summary else ""
    return {
        "data": f"{name}: {summary['rows']:,} rows{drawn}",
        "columns": f"{show_columns(summary)}, {pairs}{missing}",
        "classes": f"{summary['target']}: {first_of(classes)}",
    }


def show_lines(**lines: str) -> None:
    """Print names and values, one pair on each line."""
    for name, value in lines.items():
        tell(f"{name:<9}{value}")


def show_columns(summary: "State") -> str:
    """Return the number of columns of each kind."""
    kinds = f"{summary['categorical']:,} categorical, {summary['numeric']:,} numeric"
    return f"{summary['columns']:,} ({kinds})"


def first_of(words: list[str]) -> str:
    """Return the first ten words, and the number of all."""
    if len(words) > _SHOWN:
        words = [*words[:_SHOWN], f"… ({len(words)} in total)"]
    return ", ".join(words)


def learned(
    files: "Sequence[Path]",
    target: str,
    training: "Training",
    advance: "Callable[[int], None]",
    n_jobs: int,
) -> "tuple[Schema, int]":
    """Learn a schema from files, one in memory at a time; also return the number of rows."""
    from unnaive.schema.sketch import SchemaSketch  # noqa: PLC0415 - see app.py
    from unnaive.schema.sketch.columns import MixedColumn  # noqa: PLC0415 - see app.py

    labels, how = set[str](), training.binning()

    def read(path: Path) -> "TrainingRows":
        return read_training(path, target, training, labels)

    if len(files) == 1:
        return _schema_of_one(read(files[0]), how, n_jobs)
    while True:
        try:
            sketch = SchemaSketch(target=target, n_jobs=n_jobs, **how)
            return _schema_of_many(files, read, sketch, advance)
        except MixedColumn as error:  # numbers in one file, text in another: read it as text in all
            if error.name in labels:
                raise
            labels.add(error.name)


def _schema_of_one(
    rows: "TrainingRows", how: BinningParameters, n_jobs: int
) -> "tuple[Schema, int]":
    """Learn from rows in memory, as a fit does."""
    from unnaive.discretize import discretizer  # noqa: PLC0415 - see app.py
    from unnaive.schema import learn_schema  # noqa: PLC0415 - see app.py

    kind = how.get("discretize", "mdlp")
    schema, _, _ = learn_schema(
        rows.frame,
        rows.target,
        discretizer=None if kind is None else discretizer(kind, how.get("bins", 5)),
        categorical_features=how.get("categorical_features", "auto"),
        missing_as_category=how.get("missing_as_category", False),
        n_jobs=n_jobs,
    )
    return schema, rows.frame.n_rows


def _schema_of_many(
    files: "Sequence[Path]",
    read: "Callable[[Path], TrainingRows]",
    sketch: "SchemaSketch",
    advance: "Callable[[int], None]",
) -> "tuple[Schema, int]":
    """Learn from a sketch of the files."""
    from unnaive.schema.sketch.columns import MixedColumn  # noqa: PLC0415 - see app.py

    for number, path in enumerate(files, 1):
        rows = read(path)
        try:
            sketch.add(rows.frame, rows.target)
        except MixedColumn:
            raise
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        advance(number)
    return sketch.schema(), sketch.n_rows


def counted(
    files: "Sequence[Path]", agreed: "Schema | None", target: str | None, how: Counting
) -> "JointCounts":
    """Count files and show the progress."""
    from unnaive.counts.count import count  # noqa: PLC0415 - see app.py

    if agreed is None:
        note_of_own_schema()
    elif _has_more(files, agreed, how["reading"]):
        return _in_memory(files, agreed, how)
    with progress(f"counting {named(files)}", len(files)) as advance:
        try:
            return count(
                [str(path) for path in files],
                target if agreed is None else agreed.target,
                schema=agreed,
                watch=lambda step: advance(step.done),
                **how,
            )
        except KeyboardInterrupt:
            if how["checkpoint"] is not None:
                say(f"finished files are in {how['checkpoint']}; repeat the command to continue")
            raise


def note_of_own_schema() -> None:
    """Say that counts by a schema of their own rows can be added to no others."""
    note(
        "without --schema, categories and bins are learned from these rows; counts of other "
        "files cannot be added"
    )


def _has_more(files: "Sequence[Path]", agreed: "Schema", reading: "Reading") -> bool:
    """Whether a file has columns that a schema does not have; note which."""
    from unnaive.io.parts import entries  # noqa: PLC0415 - see app.py

    known, more = {*agreed.names, agreed.target}, dict[str, None]()
    for entry in entries([str(path) for path in files], reading):
        with suppress(DataFileError):  # reported when it is counted
            more |= dict.fromkeys(name for name in entry.open().columns if name not in known)
    if more:
        note(f"columns not counted, because the schema does not have them: {listed(list(more))}")
    return bool(more)


def _in_memory(files: "Sequence[Path]", agreed: "Schema", how: Counting) -> "JointCounts":
    """Count files that have columns to leave out; each is read as a whole."""
    from unnaive.counts.count import count  # noqa: PLC0415 - see app.py
    from unnaive.io.parts import list_files  # noqa: PLC0415 - see app.py

    if how["checkpoint"] is not None:
        raise ValueError(
            "--resume needs files without columns that the schema does not have; drop the columns, "
            "or leave --resume out"
        )
    total, paths = None, list_files([str(path) for path in files])
    with progress(f"counting {named(files)}", len(paths)) as advance:
        for number, path in enumerate(paths, 1):
            try:
                frame, target = read_by_schema(path, agreed, how["reading"])
                counts = count(
                    frame, target, schema=agreed, pairs=how["pairs"], n_jobs=how["n_jobs"]
                )
            except ValueError as error:
                text = str(error) if isinstance(error, DataFileError) else f"{path}: {error}"
                if not how["skip_bad_files"]:
                    raise DataFileError(text) from error
                note(f"left out: {text}")
            else:
                total = counts if total is None else total + counts
            advance(number)
    if total is None:
        raise ValueError(f"none of {len(paths)} files could be counted; see the notes above")
    return total


def read_by_schema(path: Path, agreed: "Schema", reading: "Reading") -> "tuple[Frame, Column]":
    """Read the columns of a schema, and the target."""
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    labels = text_columns(agreed, agreed.target)
    frame = read(path, target=agreed.target, labels=labels, reading=reading)
    for name in agreed.names:
        if name not in frame.names:
            raise DataFileError(
                f"{path} has no column {name!r}, which the schema has; add it, possibly empty"
            )
    return frame.select(agreed.names), frame.column(frame.names.index(agreed.target))


def added(
    paths: "Sequence[Path]",
    advance: "Callable[[int], None]",
    rules: "Rules | None" = None,
    *,
    grow: bool = False,
) -> "JointCounts":
    """Add counts files; one file and the sum are in memory at a time."""
    from unnaive.counts import merging  # noqa: PLC0415 - see app.py

    aligned, seen, used = rules is not None or grow, dict[bytes, Path](), set()
    total: JointCounts | None = None
    for number, path in enumerate(paths):
        advance(number)
        more = load_counts(path)
        if (same := seen.setdefault(_checksum(path), path)) != path:
            note(f"{path} has the same content as {same}; if it is a copy, leave it out")
        if rules is not None:
            used |= rules.used(more.schema)
            more = merging.by_rules(more, rules, str(path))
        try:
            how = {"aligned": aligned, "grow": grow}
            total = more if total is None else merging.added(total, more, **how)
        except SchemaMismatch as error:
            raise SchemaMismatch(
                f"{paths[0]} (here) and {path} (there) cannot be added: {error} (unnaive count "
                "--schema, with the same file at every site; or unnaive merge --rules, --grow)"
            ) from error
    if rules is not None:
        rules.require_used(used)
    if total is None:
        raise ValueError("there are no counts to merge; name at least one file")
    return total


def _checksum(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def named(paths: "Sequence[Path | str]") -> str:
    """Return the name of one file, or the number of files."""
    return str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
