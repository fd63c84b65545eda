"""``unnaive explain``: which columns of a row led to a prediction, and what would change it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import options
from unnaive.cli.options import flag, option
from unnaive.cli.rows import match, text_columns
from unnaive.cli.terminal import note, print_json, progress, tell

if TYPE_CHECKING:
    from unnaive.explain.certainty import Certainty
    from unnaive.io.frames import Frame
    from unnaive.io.reading import Reading
    from unnaive.models import Classifier
    from unnaive.schema.columns import Label


@options.expand
def explain(
    model: options.ModelFile,
    data: options.Data,
    *,
    row: Annotated[
        list[int] | None, option("--row", "N", "Row number in the file, from 1. Repeatable.", min=1)
    ] = None,
    positive: Annotated[
        str | None,
        option(
            "--positive",
            "LABEL",
            "Class to explain. Default: the second of two classes, otherwise the predicted class.",
        ),
    ] = None,
    changes: Annotated[
        bool, flag("--what-if", "Also find the smallest change that changes the prediction.")
    ] = False,
    fixed: Annotated[
        list[str] | None,
        option(
            "--fixed", "COLUMN", "Column that --what-if cannot change, such as age. Repeatable."
        ),
    ] = None,
    ask: Annotated[
        bool, flag("--ask", "Also rank missing values by their expected information.")
    ] = False,
    cells: options.Cells,
    json: options.AsJson = False,
) -> None:
    """Explain the prediction for a row, column by column.

    Contributions are log-odds; they add up to the log-odds that the model predicts. Beside each is
    the factor by which it multiplies the odds. Without --row, the first row is explained.

    Examples
    --------
    unnaive explain patients.unb new.csv --row 3
    unnaive explain patients.unb new.csv --positive ill --ask
    unnaive explain patients.unb new.csv --what-if --fixed age --fixed sex
    """
    if fixed and not changes:
        raise typer.BadParameter("it applies to --what-if; add it", param_hint="--fixed")
    with progress(f"explaining {data.name}"):
        classifier, frame, numbers = _chosen_rows(model, data, row, cells.reading())
        label = None if positive is None else _label(classifier, positive)
        explained = [
            Explained(
                classifier,
                frame.block(n - 1, n),
                n,
                label,
                changes=changes,
                fixed=fixed or [],
                ask=ask,
            )
            for n in numbers
        ]
    if json:
        target, classes = classifier.schema_.target, classifier.classes_
        print_json(
            {"target": target, "classes": classes, "rows": [entry.state() for entry in explained]}
        )
    else:
        tell("\n\n".join(entry.text() for entry in explained))


def _chosen_rows(
    model: Path, data: Path, rows: list[int] | None, reading: "Reading"
) -> tuple["Classifier", "Frame", list[int]]:
    """Return the model, the rows of the file, and the numbers of the rows to explain."""
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    classifier = options.loaded(model)
    labels = text_columns(classifier.schema_)
    frame = match(data, read(data, labels=labels, reading=reading), classifier)
    if rows is None and frame.n_rows > 1:
        note(f"this explains the first of {frame.n_rows:,} rows; choose another with --row")
    numbers = rows or [1]
    if max(numbers) > frame.n_rows:
        raise ValueError(f"{data} has {frame.n_rows:,} rows; there is no row {max(numbers):,}")
    return classifier, frame, numbers


def _label(model: "Classifier", text: str) -> "Label":
    """Return the class label that is written like a text."""
    labels: list[Label] = model.classes_.tolist()
    for label in labels:
        if str(label) == text:
            return label
    known = ", ".join(map(str, labels))
    raise ValueError(f"--positive {text}: there is no class {text!r}; the classes are {known}")


class Explained:
    """The explanation of a row, with changes and questions if wanted."""

    def __init__(
        self,
        model: "Classifier",
        row: "Frame",
        number: int,
        positive: "Label | None",
        *,
        changes: bool,
        fixed: list[str],
        ask: bool,
    ) -> None:
        from unnaive.explain import ask_next, what_if  # noqa: PLC0415 - see app.py

        self.number, self.positive = number, positive
        self.explanation = model.explain(row)
        combines = getattr(model.fitted_, "combines", str)()
        self.certainty = self.explanation.certainty() if combines == "product" else None
        self.change = what_if(model, row, fixed=fixed) if changes else None
        self.questions = ask_next(model, row) if ask else None

    def text(self) -> str:
        """Return the explanation in words."""
        from unnaive.explain.certainty import (  # noqa: PLC0415 - see app.py
            rows_in_words,
            sure_in_words,
        )
        from unnaive.explain.questions import questions_in_words  # noqa: PLC0415

        explanation = self.explanation
        parts = [f"row {self.number}", explanation.text(0, self.positive)]
        if self.certainty is not None:
            sure = sure_in_words(explanation, self.certainty, 0, self.positive)
            counted = rows_in_words(explanation, self.certainty, 0)
            parts += ["", f"how sure: {sure}"]
            parts += (
                ["rows behind the terms", *(f"  {line}" for line in counted)] if counted else []
            )
        if self.change is not None:
            parts += ["", self.change.text()]
        if self.questions is not None:
            target, classes = explanation.target, explanation.classes
            label = explanation.log_odds(self.positive).positive[0]
            asked = questions_in_words(self.questions, target, classes, label)
            parts += ["", "what to ask next", asked]
        return "\n".join(parts)

    def _certainty_state(self, known: "Certainty") -> dict[str, object]:
        """Return intervals and the numbers of rows behind every term, in plain values."""
        explanation, bounds = self.explanation, known.intervals
        named = explanation.names
        return {
            "level": bounds.level,
            "lower": bounds.lower[0],
            "upper": bounds.upper[0],
            "rows": [
                {"columns": [named[c] for c in (*term.columns, *term.through)], "rows": counts}
                for term, counts in zip(explanation.terms, known.rows[0].T.tolist(), strict=True)
            ],
        }

    def state(self) -> dict[str, object]:
        """Return the explanation in plain values."""
        from dataclasses import asdict  # noqa: PLC0415 - see app.py

        explanation = self.explanation
        odds = explanation.log_odds(self.positive)
        contributions = odds.contributions[0].tolist()
        columns = zip(explanation.names, explanation.cells[0], contributions, strict=True)
        described: dict[str, object] = {
            "row": self.number,
            "probabilities": explanation.posterior[0],
            "positive": odds.positive[0],
            "probability": odds.probability[0],
            "log_odds": odds.total[0],
            "base": odds.base[0],
            "contributions": [
                {"column": name, "value": cell, "contribution": share}
                for name, cell, share in columns
            ],
        }
        if self.certainty is not None:
            described["certainty"] = self._certainty_state(self.certainty)
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
