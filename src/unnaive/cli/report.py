"""``unnaive report``: an HTML page about a model."""

import json as json_module
import zipfile
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnaive.cli import options
from unnaive.cli.counting import load_counts
from unnaive.cli.options import flag, option
from unnaive.cli.output import require_writable, size_of
from unnaive.cli.rows import match, text_columns
from unnaive.cli.terminal import note, print_json, progress, say, tell

if TYPE_CHECKING:
    from unnaive.io.frames import Column, Frame
    from unnaive.io.reading import Reading
    from unnaive.models import Classifier
    from unnaive.schema.columns import Label

_ENDINGS = ("", ".html", ".htm", ".md", ".markdown")
_PATIENCE = 30.0  # seconds for the cross-validation; the page should take a minute in total


class Format(StrEnum):
    """Formats of a report."""

    html = "html"
    markdown = "markdown"


Output = Annotated[Path | None, option("--output -o", "FILE", "HTML or Markdown file to write.")]
To = Annotated[
    Format | None,
    option(
        "--to",
        "FORMAT",
        "html or markdown. Default: markdown for a file .md, else html. Markdown without --output "
        "is printed.",
    ),
]
Target = Annotated[
    str | None,
    option("--target -t", "COLUMN", "Target column, if its name differs from the training file."),
]
Folds = Annotated[int, option("--folds", "N", "Number of folds of the cross-validation.", min=2)]
NewRows = Annotated[
    bool,
    flag(
        "--new-rows",
        "The rows are new to the model: evaluate its predictions on them, without folds.",
    ),
]
Rows = Annotated[
    int | None,
    option(
        "--rows",
        "N",
        "Evaluate on at most N random rows. Default: all rows, or fewer if the model is too "
        "slow to finish in a minute.",
        min=2,
    ),
]
Drift = Annotated[
    Path | None,
    option("--drift", "COUNTS", "Counts of earlier rows, with which these rows are compared."),
]
Positive = Annotated[
    str | None,
    option(
        "--positive", "LABEL", "Class whose effects and ROC curve are shown. Default: the last one."
    ),
]
Errors = Annotated[int, option("--errors", "N", "Number of misclassified rows to show.", min=0)]


@options.expand
def report(
    model: options.ModelFile,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help=f"Training rows: {options.FORMATS}.")
    ],
    *,
    output: Output = None,
    to: To = None,
    target: Target = None,
    folds: Folds = 10,
    new_rows: NewRows = False,
    rows: Rows = None,
    positive: Positive = None,
    errors: Errors = 10,
    drift: Drift = None,
    title: Annotated[str | None, option("--title", "TEXT", "Title of the page.")] = None,
    seed: options.Seed = 0,
    cells: options.Cells,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Write an HTML page, or a Markdown file, about a model.

    The page shows how accurate the model is, explains its predictions, and computes predictions for
    values you enter. It is one file and needs no network. It contains some rows of the data: the
    misclassified rows with the largest errors. --json prints the content of the page; a page is
    then written only with --output.

    Examples
    --------
    unnaive report patients.unb patients.csv -o report.html
    unnaive report patients.unb later.csv --new-rows --drift patients.counts -o later.html
    unnaive report patients.unb patients.csv --to markdown
    """
    from unnaive.explain.wording import plural  # noqa: PLC0415 - see app.py
    from unnaive.report.file import report_on  # noqa: PLC0415

    if output is not None:
        require_writable(output, model, data, *([drift] if drift else []))
        if to is None and output.suffix.lower() not in _ENDINGS:
            what = f"{output} is neither .html nor .md; a browser can print the page, also as PDF"
            raise typer.BadParameter(what, param_hint="--output")
    elif not (json or to is Format.markdown):
        raise typer.BadParameter("name the HTML file, or use --json", param_hint="--output")
    with progress(f"reading {data.name}"):
        classifier = options.loaded(model).set_params(n_jobs=n_jobs)
        frame, labels = _rows(data, classifier, target, cells.reading())
        earlier = None if drift is None else load_counts(drift)
    settings: dict[str, Any] = {
        "folds": None if new_rows else folds,
        "seed": seed,
        "max_rows": rows,
        "seconds": _PATIENCE,
        "positive": positive,
        "errors": errors,
        "drift": earlier,
        "name": data.name,
        "title": title,
        "origin": _origin(model),
        "n_jobs": n_jobs,
    }
    with progress(f"reporting on {data.name}", folds):
        result = report_on(classifier, frame, labels, **settings)
        if output is not None:
            result.write(output, to)
    if findings := result.summary["findings"]:
        where = "at the top of the page" if output else "in the output"
        note(f"{plural(len(findings), 'finding')} about the data: {where}")
    if json:
        print_json(result.summary)
    elif output is None:
        tell(result.markdown(), end=False)
    if output is not None:
        what = "" if result.is_markdown(output, to) else "; open it in a browser"
        say(f"report written to {output} ({size_of(output)}){what}")


def _rows(
    path: Path, model: "Classifier", target: str | None, reading: "Reading"
) -> "tuple[Frame, Column]":
    """Read the features in the order of the model, and the target."""
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    schema = model.schema_
    name = target or schema.target
    frame = read(path, target=name, labels=text_columns(schema, name), reading=reading)
    features, labels = frame.split(name)
    _require_classes(path, labels, schema.classes)
    rows = features if name not in schema.names else frame
    return match(path, rows, model, complete=True), labels


def _require_classes(path: Path, labels: "Column", classes: "tuple[Label, ...]") -> None:
    """Raise for a label that is no class of the model; categories may list labels of no row."""
    if labels.categories is None:
        return
    for code in sorted(set(labels.values.tolist()) - {-1}):
        label = labels.categories[code]
        if label not in classes:
            known = ", ".join(map(str, classes))
            what = f"column {labels.name!r} of {path} has {label!r}"
            cure = "correct it, or name the target by --target"
            raise ValueError(f"{what}, which is no class of the model ({known}); {cure}")


def _origin(path: Path) -> dict[str, str]:
    """Return the file of a model, when it was saved, and by which version."""
    with zipfile.ZipFile(path) as archive:
        version = json_module.loads(archive.read("unnaive.json")).get("written_by", "")
    saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return {"file": path.name, "saved": saved.strftime("%Y-%m-%d %H:%M UTC"), "version": version}
