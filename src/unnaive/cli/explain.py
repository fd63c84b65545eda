"""``unnaive explain``: why a model answers as it does for a row, and what would change that."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnaive.cli import options
from unnaive.cli.rows import match
from unnaive.cli.terminal import plain, print_json, progress, say

if TYPE_CHECKING:
    from unnaive.explain import Explanation, Question, WhatIf
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier


def explain(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model that unnaive fit saved.")],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet or .arff.")
    ],
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
            _described(classifier, frame.block(n - 1, n), n, label, (changes, ask), json=json)
            for n in numbers
        ]
    if json:
        target, classes = classifier.schema_.target, classifier.classes_
        print_json({"target": target, "classes": classes, "rows": found})
    else:
        typer.echo("\n\n".join(found))


def _chosen_rows(
    model: Path, data: Path, rows: list[int] | None
) -> tuple["Classifier", "Frame", list[int]]:
    """Read the model, the rows of the file, and which of them are asked for."""
    import unnaive  # noqa: PLC0415 - see app.py
    from unnaive.io.files import read  # noqa: PLC0415 - see app.py

    classifier = unnaive.load(model)
    labels = [c.name for c in classifier.schema_.columns if getattr(c, "is_text", False)]
    frame = match(data, read(data, labels=labels), classifier)
    if rows is None and frame.n_rows > 1:
        say(f"note: the first of {frame.n_rows:,} rows; --row 2 explains the second")
    numbers = rows or [1]
    if max(numbers) > frame.n_rows:
        raise ValueError(f"{data} has {frame.n_rows:,} rows; there is no row {max(numbers):,}")
    return classifier, frame, numbers


def _label(model: "Classifier", text: str) -> Any:
    """Find the class that is written like this."""
    for label in model.classes_.tolist():
        if str(label) == text:
            return label
    known = ", ".join(map(str, model.classes_.tolist()))
    raise ValueError(f"--positive {text}: there is no such class; they are {known}")


def _described(
    model: "Classifier",
    row: "Frame",
    number: int,
    positive: Any,
    wanted: tuple[bool, bool],
    *,
    json: bool,
) -> Any:
    """Describe a row's explanation: words for people, a dictionary for programs."""
    from unnaive.explain import ask_next, what_if  # noqa: PLC0415 - see app.py
    from unnaive.explain.questions import questions_in_words  # noqa: PLC0415 - see app.py

    found = model.explain(row)
    change = what_if(model, row) if wanted[0] else None
    questions = ask_next(model, row) if wanted[1] else None
    if json:
        return _as_dictionary(found, number, positive, change, questions)
    parts = [f"row {number}", found.text(0, positive)]
    if change is not None:
        parts += ["", change.text()]
    if questions is not None:
        asked = questions_in_words(questions, found.target, found.classes, positive)
        parts += ["", "what to ask next", asked]
    return "\n".join(parts)


def _as_dictionary(
    found: "Explanation",
    number: int,
    positive: Any,
    change: "WhatIf | None",
    questions: "list[Question] | None",
) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415 - see app.py

    odds = found.log_odds(positive)
    described: dict[str, Any] = {
        "row": number,
        "probabilities": found.posterior[0],
        "positive": odds.positive[0],
        "probability": odds.probability[0],
        "log_odds": odds.total[0],
        "base": odds.base[0],
        "contributions": [
            {"column": name, "value": cell, "contribution": part}
            for name, cell, part in zip(
                found.names, found.cells[0], odds.contributions[0].tolist(), strict=True
            )
        ],
    }
    if change is not None:
        described["what_if"] = {
            **asdict(change),
            "changes": [entry._asdict() for entry in change.changes],
        }
    if questions is not None:
        described["ask"] = [
            {
                "column": question.column,
                "bits": question.information,
                "answers": [answer._asdict() for answer in question.answers],
            }
            for question in questions
        ]
    return dict(plain(described))
