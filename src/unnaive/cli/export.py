"""``unnaive export``: a model as a file for another program."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unnaive.cli import options
from unnaive.cli.options import option
from unnaive.cli.output import require_writable, size_of
from unnaive.cli.terminal import print_json, progress, say


class Format(StrEnum):
    """Formats of exported models."""

    json = "json"
    js = "js"
    sql = "sql"
    onnx = "onnx"


class Dialect(StrEnum):
    """Databases."""

    duckdb = "duckdb"
    postgres = "postgres"
    sqlite = "sqlite"
    spark = "spark"
    bigquery = "bigquery"
    snowflake = "snowflake"


Output = Annotated[
    Path, option("--output -o", "FILE", "File to write: .json, .js, .mjs, .sql or .onnx.")
]
To = Annotated[
    Format | None, option("--to", "FORMAT", "json, js, sql or onnx. Default: by the file's name.")
]
Intervals = Annotated[bool, options.flag("--intervals", "Also export intervals, for json and js.")]
_TABLE = "rows"


@options.expand
def export(
    model: options.ModelFile,
    *,
    output: Output,
    to: To = None,
    dialect: Annotated[
        Dialect, option("--dialect", "NAME", f"Database, for SQL: {', '.join(Dialect)}.")
    ] = Dialect.duckdb,
    table: Annotated[str, option("--table", "NAME", "Table of the rows, for SQL.")] = _TABLE,
    key: Annotated[
        str | None, option("--key", "COLUMN", "Column to return with predictions, for SQL.")
    ] = None,
    explain: Annotated[
        int, option("--explain", "N", "Contributions to return with predictions, for SQL.", min=0)
    ] = 0,
    intervals: Intervals = False,
    json: options.AsJson = False,
) -> None:
    """Write a model as a file for another program.

    JSON is the model's document, js one module for browsers and node, sql one SELECT over a table
    of rows, onnx a graph for onnxruntime. All give the model's own probabilities.

    Examples
    --------
    unnaive export patients.unb -o patients.onnx
    unnaive export patients.unb -o patients.js
    unnaive export patients.unb -o patients.sql --table visits --key id --explain 3
    """
    from unnaive.export import write  # noqa: PLC0415 - see app.py
    from unnaive.export.targets import FORMATS  # noqa: PLC0415

    require_writable(output, model)
    if to is None and output.suffix.lower() not in FORMATS:
        raise typer.BadParameter(
            f"{output.name!r} does not tell the format; add --to {', --to '.join(Format)}",
            param_hint="--output",
        )
    if (to or FORMATS[output.suffix.lower()]) != Format.sql:
        _refuse_sql_options(
            output,
            dialect=dialect != Dialect.duckdb,
            table=table != _TABLE,
            key=key,
            explain=explain,
        )
    with progress(f"exporting {model.name}"):
        classifier = options.loaded(model)
        write(
            *(classifier, output, to),
            table=table,
            key=key,
            dialect=str(dialect),
            explain=explain,
            intervals=intervals,
        )
    if json:
        print_json({"model": str(model), "file": str(output), "bytes": output.stat().st_size})
    else:
        say(f"model written to {output} ({size_of(output)})")


def _refuse_sql_options(path: Path, **given: object) -> None:
    """Raise an error for an option that has no effect, since the file is no SQL."""
    for name in (name for name, value in given.items() if value):
        raise ValueError(f"--{name} is for SQL, and {path.name} is not; leave it out")
