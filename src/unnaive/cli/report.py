"""``unnaive report``: one page on a model, for people."""

import json as json_module
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.output import require_writable, size_of
from unnaive.cli.rows import match, text_columns
from unnaive.cli.terminal import print_json, progress, say

if TYPE_CHECKING:
    from unnaive.io.frames import Column, Frame
    from unnaive.models import Classifier

_PATIENCE = 30.0  # seconds that a cross-validation may take; the rest of a minute is for the rest

Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="The page, an .html file.")
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column that holds the class, if it has another name than in fit.",
    ),
]
Folds = Annotated[
    int,
    typer.Option(
        "--folds", metavar="N", min=2, help="Folds of the cross-validation that judges the model."
    ),
]
NewRows = Annotated[
    bool,
    typer.Option(
        "--new-rows",
        help="The model has not learned from these rows: judge its own answers, without folds.",
    ),
]
Rows = Annotated[
    int | None,
    typer.Option(
        "--rows",
        metavar="N",
        min=2,
        help="Judge on at most so many rows, drawn at random. Without it: on all, or on as many "
        "as a slow model manages in a minute.",
    ),
]
Positive = Annotated[
    str | None, typer.Option("--positive", metavar="LABEL", help="Of two classes the one to find.")
]
Errors = Annotated[
    int, typer.Option("--errors", metavar="N", min=0, help="Rows shown of those it got wrong.")
]


def report(
    model: options.ModelFile,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Rows it learned from: .csv, .parquet or .arff.")
    ],
    *,
    output: Output = None,
    target: Target = None,
    folds: Folds = 10,
    new_rows: NewRows = False,
    rows: Rows = None,
    positive: Positive = None,
    errors: Errors = 10,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Title of the page.")
    ] = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Write a page on a model, with an explorer inside.

    It tells how good the model is and why it answers what it does. The page is one file that needs
    no network. It shows some rows of the data as they are: those that the model got most wrong.
    With --json what the page says is printed, and a page is written only where --output names one.
    """
    from unnaive.report import summarise, write  # noqa: PLC0415 - see app.py

    if output is not None:
        require_writable(output, model, data)
    elif not json:
        raise typer.BadParameter("name the page to write, or say --json", param_hint="--output")
    with progress(f"reading {data.name}"):
        classifier = unnaive.load(model).set_params(n_jobs=n_jobs)
        frame, labels = _rows(data, classifier, target)
    settings: dict[str, Any] = {
        "folds": None if new_rows else folds,
        "seed": seed,
        "max_rows": rows,
        "seconds": _PATIENCE,
        "positive": positive,
        "errors": errors,
        "name": data.name,
        "title": title,
        "origin": _origin(model),
        "n_jobs": n_jobs,
    }
    with progress(f"reporting on {data.name}", folds) as advance:
        settings["progress"] = lambda done, _: advance(done)
        if output is None:
            found = summarise(classifier, frame, labels, **settings)
        else:
            found = write(classifier, frame, labels, output, **settings)
    if json:
        print_json(found)
    if output is not None:
        say(f"report written to {output} ({size_of(output)}); open it in a browser")


def _rows(path: Path, model: "Classifier", target: str | None) -> "tuple[Frame, Column]":
    """Read rows in the order of the model's columns, and their classes."""
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    schema = model.schema_
    name = target or schema.target
    frame = read(path, target=name, labels=text_columns(schema, name))
    features, labels = frame.split(name)
    return match(path, features if name not in schema.names else frame, model), labels


def _origin(path: Path) -> dict[str, str]:
    """Tell which file a model comes from, when it was saved, and by which version."""
    with zipfile.ZipFile(path) as archive:
        version = json_module.loads(archive.read("unnaive.json")).get("written_by", "")
    saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return {"file": path.name, "saved": saved.strftime("%Y-%m-%d %H:%M UTC"), "version": version}
