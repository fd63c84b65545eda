"""``unnaive predict``: classes and probabilities for the rows of a file."""

import csv
import io
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from unnaive.cli import options, output
from unnaive.cli.rows import match
from unnaive.cli.terminal import plain, progress, say

if TYPE_CHECKING:
    from unnaive.models import Classifier


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model that unnaive fit saved.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet or .arff.")
    ],
    *,
    to: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write; without it: standard output."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Write the probability of every class, too.")
    ] = False,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Predict the class of every row of a file.

    The result is CSV, in the order of the rows. Columns are found by name, in any order;
    columns that the model does not know (an id, the class itself) are left out.
    """
    import unnaive  # noqa: PLC0415 - see app.py
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py

    if to is not None:
        output.require_writable(to, model, data)
    with progress(f"predicting {data.name}"):
        classifier = unnaive.load(model).set_params(n_jobs=n_jobs)
        labels = [c.name for c in classifier.schema_.columns if getattr(c, "is_text", False)]
        frame = match(data, read(data, labels=labels), classifier)
        predicted = classifier.predict(frame).tolist()
        chances = classifier.predict_proba(frame).tolist() if proba else None
    text = (_as_json if json else _as_csv)(classifier, predicted, chances)
    if to is None:
        _write(text, sys.stdout.buffer)
    else:
        with replacing(to) as stream:
            _write(text, stream)
        say(f"{len(predicted):,} rows written to {to}")


def _write(text: str, stream: IO[bytes]) -> None:
    """Write UTF-8 on any system, which is what every command reads."""
    stream.write(text.encode())
    stream.flush()


def _as_csv(model: "Classifier", predicted: list[Any], chances: list[list[float]] | None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if chances is None:
        writer.writerow(["class"])
        writer.writerows([label] for label in predicted)
    else:
        writer.writerow(["class", *(f"P({label})" for label in model.classes_.tolist())])
        writer.writerows([label, *row] for label, row in zip(predicted, chances, strict=True))
    return text.getvalue()


def _as_json(model: "Classifier", predicted: list[Any], chances: list[list[float]] | None) -> str:
    from json import dumps  # noqa: PLC0415 - the name of the option hides the module

    found = {
        "target": model.schema_.target,
        "classes": model.classes_,
        "predicted": predicted,
    }
    if chances is not None:
        found["probabilities"] = chances
    return dumps(plain(found), ensure_ascii=False) + "\n"
