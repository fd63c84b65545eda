"""``unnaive explain``: why a model answers as it does for a row, and what would change that."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.rows import match, text_columns
from unnaive.cli.terminal import note, print_json, progress

if TYPE_CHECKING:
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier
    from unnaive.schema.columns import Label


def explain(
    model: options.ModelFile,
    data: options.Data,
    *,
    row: Annotated[
        list[int] | None,
        typer.Option(
            "--row", metavar="N", min=1, help="Row of the file, the first is 1; repeatable."
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="LABEL",
            help="Class whose odds are explained; without it: the last of two, or the predicted.",
        ),
    ] = None,
    changes: Annotated[
        bool,
        typer.Option(
            "--what-if", help="Find the smallest change that would change the decision, too."
        ),
    ] = False,
    ask: Annotated[
        bool, typer.Option("--ask", help="Rank what is missing by what it would tell, too.")
    ] = False,
    json: options.AsJson = False,
) -> None:
    """Explain what each attribute of a row contributes to the answer.

    Contributions are log-odds, and sum to those that the model predicts; beside each stands by
    what it multiplies the odds. Without --row the first row of the file is explained.
    """
    with progress(f"explaining {data.name}"):
        classifier, frame, numbers = _chosen_rows(model, data, row)
        label = None if positive is None else _label(classifier, positive)
        found = [
            Explained(classifier, frame.block(n - 1, n), n, label, changes=changes, ask=ask)
            for n in numbers
        ]
    if json:
        target, classes = classifier.schema_.target, classifier.classes_
        print_json({"target": target, "classes": classes, "rows": [row.state() for row in found]})
    else:
        typer.echo("\n\n".join(row.text() for row in found))


def _chosen_rows(
    model: Path, data: Path, rows: list[int] | None
) -> tuple["Classifier", "Frame", list[int]]:
    """Read the model, the rows of the file, and which of them are asked for."""
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    classifier = unnaive.load(model)
    frame = match(data, read(data, labels=text_columns(classifier.schema_)), classifier)
    if rows is None and frame.n_rows > 1:
        note(f"the first of {frame.n_rows:,} rows; --row 2 explains the second")
    numbers = rows or [1]
    if max(numbers) > frame.n_rows:
        raise ValueError(f"{data} has {frame.n_rows:,} rows; there is no row {max(numbers):,}")
    return classifier, frame, numbers


def _label(model: "Classifier", text: str) -> "Label":
    """Find the class that is written like this."""
    labels: list[Label] = model.classes_.tolist()
    for label in labels:
        if str(label) == text:
            return label
    known = ", ".join(map(str, labels))
    raise ValueError(f"--positive {text}: there is no such class; they are {known}")


class Explained:
    """A row, why it is answered as it is, and what would change that if it is asked for."""

    def __init__(
        self,
        model: "Classifier",
        row: "Frame",
        number: int,
        positive: "Label | None",
        *,
        changes: bool,
        ask: bool,
    ) -> None:
        from unnaive.explain import ask_next, what_if  # noqa: PLC0415 - see app.py

        self.number, self.positive = number, positive
        self.found = model.explain(row)
        self.change = what_if(model, row) if changes else None
        self.questions = ask_next(model, row) if ask else None

    def text(self) -> str:
        """Say it in words, for people."""
        from unnaive.explain.questions import questions_in_words  # noqa: PLC0415 - see app.py

        found = self.found
        parts = [f"row {self.number}", found.text(0, self.positive)]
        if self.change is not None:
            parts += ["", self.change.text()]
        if self.questions is not None:
            asked = questions_in_words(self.questions, found.target, found.classes, self.positive)
            parts += ["", "what to ask next", asked]
        return "\n".join(parts)

    def state(self) -> dict[str, object]:
        """Say it in plain values, for programs."""
        from dataclasses import asdict  # noqa: PLC0415 - see app.py

        found, odds = self.found, self.found.log_odds(self.positive)
        parts = zip(found.names, found.cells[0], odds.contributions[0].tolist(), strict=True)
        described: dict[str, object] = {
            "row": self.number,
            "probabilities": found.posterior[0],
            "positive": odds.positive[0],
            "probability": odds.probability[0],
            "log_odds": odds.total[0],
            "base": odds.base[0],
            "contributions": [
                {"column": name, "value": cell, "contribution": part} for name, cell, part in parts
            ],
        }
        if self.change is not None:
            changes = [entry._asdict() for entry in self.change.changes]
            described["what_if"] = {**asdict(self.change), "changes": changes}
        if self.questions is not None:
            described["ask"] = [
                {
                    "column": question.column,
                    "bits": question.information,
                    "answers": [answer._asdict() for answer in question.answers],
                }
                for question in self.questions
            ]
        return described
