"""Rows and counts in files: counted, added up, described."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from unnaive.cli.options import Binning
from unnaive.cli.rows import read_training, text_columns
from unnaive.cli.terminal import listed, note, progress, say
from unnaive.exceptions import DataFileError, SchemaMismatch, WrongKindError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import State
    from unnaive.cli.rows import TrainingRows
    from unnaive.counts import JointCounts
    from unnaive.io.frames import Column, Frame
    from unnaive.schema import Schema
    from unnaive.schema.columns import Label
    from unnaive.schema.sketch import SchemaSketch

ENDING = ".counts"
_SHOWN = 10  # classes of many

ClassRows = TypedDict("ClassRows", {"class": "Label", "rows": float})


class Summary(TypedDict, total=False):
    """What is said of counts, or of what a model learned from; each command has some of it."""

    files: list[str]
    schema: str | None
    rows: float
    leaderboard: "list[State]"
    columns: int
    categorical: int
    numeric: int
    target: str
    missing_cells: float
    pairs: int
    classes: list[ClassRows]
    min_cell: int
    epsilon: float
    noise: list[dict[str, object]]
    class_name: str
    model: str
    parameters: dict[str, object]
    file: str
    seconds: float


class Counting(Binning, total=False):
    """How files are counted."""

    pairs: str | None
    n_jobs: int
    checkpoint: Path | None
    skip_bad_files: bool


def is_counts(path: Path) -> bool:
    """Whether a file is, by its name or its first bytes, one that unnaive saved."""
    if path.suffix == ENDING:
        return True
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"PK\x03\x04"


def load_counts(path: Path) -> "JointCounts":
    """Read a counts file; of whatever is wrong, say the cure."""
    from unnaive.counts import JointCounts  # noqa: PLC0415 - see app.py

    try:
        return JointCounts.load(path)
    except WrongKindError as error:
        what = "holds a model or something else, not counts; make these with unnaive count"
        raise WrongKindError(f"{path} {what}", found=error.found, wanted=error.wanted) from error


def describe_schema(found: "Schema") -> Summary:
    """Count the columns of a schema."""
    from unnaive.schema import NumericColumn  # noqa: PLC0415 - see app.py

    numeric = sum(isinstance(column, NumericColumn) for column in found.columns)
    return {
        "columns": len(found.columns),
        "categorical": len(found.columns) - numeric,
        "numeric": numeric,
        "target": found.target,
    }


def describe_counts(counts: "JointCounts") -> Summary:
    """Say in plain values what was counted; cells that no table has were missing or unknown."""
    filled = counts.schema.sizes > 0
    missing = filled.sum() * counts.class_counts.sum() - counts.values.sum()
    return {
        "rows": counts.class_counts.sum().item(),
        **describe_schema(counts.schema),
        "missing_cells": missing.item(),
        "pairs": len(counts.pair_columns),
        "classes": class_rows(counts.schema, counts.class_counts.tolist()),
    }


def class_rows(schema: "Schema", rows: list[float]) -> list[ClassRows]:
    """Pair classes with their rows."""
    both = zip(schema.classes, rows, strict=True)
    return [{"class": label, "rows": count} for label, count in both]


def show_rows(summary: Summary, name: str) -> dict[str, str]:
    """Say in lines for people what was counted or learned from."""
    pairs, what = "", "missing cells"
    if "pairs" in summary:
        pairs, what = f"{summary['pairs']:,} pairs, ", "cells missing or unknown"
    gaps, cells = summary["missing_cells"], summary["rows"] * summary["columns"]
    missing = f"{gaps:,} {what} ({gaps / cells:.2%})" if gaps else "no missing cells"
    classes = [f"{entry['class']} {entry['rows']:,}" for entry in summary["classes"]]
    return {
        "data": f"{name}: {summary['rows']:,} rows",
        "columns": f"{show_columns(summary)}, {pairs}{missing}",
        "classes": f"{summary['target']}: {first_of(classes)}",
    }


def show_columns(summary: Summary) -> str:
    """Say how many columns there are, and of which kind."""
    kinds = f"{summary['categorical']:,} categorical, {summary['numeric']:,} numeric"
    return f"{summary['columns']:,} ({kinds})"


def first_of(words: list[str]) -> str:
    """Name the first ten, and say how many there are."""
    if len(words) > _SHOWN:
        words = [*words[:_SHOWN], f"… {len(words)} in all"]
    return ", ".join(words)


def learned(
    files: "Sequence[Path]",
    target: str,
    how: Binning,
    advance: "Callable[[int], None]",
    *,
    ignore: list[str] | None,
    n_jobs: int,
) -> "tuple[Schema, int]":
    """Learn a schema from files, one in memory at a time; also return the number of rows."""
    from unnaive.schema.sketch import SchemaSketch  # noqa: PLC0415 - see app.py
    from unnaive.schema.sketch.columns import MixedColumn  # noqa: PLC0415 - see app.py

    labels: set[str] = set()

    def read(path: Path) -> "TrainingRows":
        chosen = how.get("categorical_features")
        return read_training(path, target, ignore=ignore, categorical=chosen, labels=labels)

    if len(files) == 1:
        return _schema_of_one(read(files[0]), how, n_jobs)
    while True:
        try:
            sketch = SchemaSketch(target=target, n_jobs=n_jobs, **how)
            return _schema_of_many(files, read, sketch, advance)
        except MixedColumn as error:  # numbers in one file, text in another: text in all of them
            if error.name in labels:
                raise
            labels.add(error.name)


def _schema_of_one(rows: "TrainingRows", how: Binning, n_jobs: int) -> "tuple[Schema, int]":
    """Learn from rows in memory, as a fit does."""
    from unnaive.discretize import discretizer  # noqa: PLC0415 - see app.py
    from unnaive.schema import learn_schema  # noqa: PLC0415 - see app.py

    kind = how.get("discretize", "mdlp")
    found, _, _ = learn_schema(
        rows.frame,
        rows.target,
        discretizer=None if kind is None else discretizer(kind, how.get("bins", 5)),
        categorical_features=how.get("categorical_features", "auto"),
        n_jobs=n_jobs,
    )
    return found, rows.frame.n_rows


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
    """Count files, and show how far it is."""
    from unnaive.counts.count import count  # noqa: PLC0415 - see app.py

    if agreed is None:
        what = "columns and bins are learned from these rows, and counts of others will not add up"
        note(f"without --schema, {what}")
    elif _has_more(files, agreed):
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
                say(f"finished files are in {how['checkpoint']}; the same command goes on there")
            raise


def _has_more(files: "Sequence[Path]", agreed: "Schema") -> bool:
    """Whether some file has columns that a schema does not know; say which."""
    from unnaive.io.parts import entries  # noqa: PLC0415 - see app.py

    known, more = {*agreed.names, agreed.target}, dict[str, None]()
    for entry in entries([str(path) for path in files]):
        with suppress(DataFileError):  # said when it is counted
            more |= dict.fromkeys(name for name in entry.open().columns if name not in known)
    if more:
        note(f"not counted, because the schema does not know them: {listed(list(more))}")
    return bool(more)


def _in_memory(files: "Sequence[Path]", agreed: "Schema", how: Counting) -> "JointCounts":
    """Count files that have columns to leave out, each read as a whole."""
    from unnaive.counts.count import count  # noqa: PLC0415 - see app.py
    from unnaive.io.parts import list_files  # noqa: PLC0415 - see app.py

    if how["checkpoint"] is not None:
        raise ValueError(
            "--resume takes files as they are, and these have columns that the schema does not "
            "know; drop them from the files, or leave --resume out"
        )
    total, paths = None, list_files([str(path) for path in files])
    with progress(f"counting {named(files)}", len(paths)) as advance:
        for number, path in enumerate(paths, 1):
            try:
                frame, target = read_by_schema(path, agreed)
                found = count(
                    frame, target, schema=agreed, pairs=how["pairs"], n_jobs=how["n_jobs"]
                )
            except ValueError as error:
                text = str(error) if isinstance(error, DataFileError) else f"{path}: {error}"
                if not how["skip_bad_files"]:
                    raise DataFileError(text) from error
                note(f"left out: {text}")
            else:
                total = found if total is None else total + found
            advance(number)
    if total is None:
        raise ValueError(f"no file of {len(paths)} could be counted; see the notes above")
    return total


def read_by_schema(path: Path, agreed: "Schema") -> "tuple[Frame, Column]":
    """Read the columns that a schema names, and the classes."""
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    frame = read(path, target=agreed.target, labels=text_columns(agreed, agreed.target))
    for name in agreed.names:
        if name not in frame.names:
            raise DataFileError(
                f"{path} has no column {name!r}, which the schema names; add it (empty cells are "
                "welcome)"
            )
    return frame.select(agreed.names), frame.column(frame.names.index(agreed.target))


def added(paths: "Sequence[Path]", advance: "Callable[[int], None]") -> "JointCounts":
    """Add files up, one in memory at a time besides the sum."""
    total, seen = load_counts(paths[0]), {_checksum(paths[0]): paths[0]}
    for number, path in enumerate(paths[1:], 1):
        advance(number)
        more = load_counts(path)
        if (same := seen.setdefault(_checksum(path), path)) != path:
            note(f"{path} holds the very counts of {same}; if it is a copy, leave it out")
        try:
            total = total + more
        except SchemaMismatch as error:
            raise SchemaMismatch(
                f"{paths[0]} (here) and {path} (there) do not add up: {error} (unnaive count "
                "--schema, with the same file at every site)"
            ) from error
    return total


def _checksum(path: Path) -> bytes:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def named(paths: "Sequence[Path | str]") -> str:
    """Name one file, or say how many there are."""
    return str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
