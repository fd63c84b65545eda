"""``unnaive drift``: what changed between two counts files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import options
from unnaive.cli.counting import load_counts
from unnaive.cli.options import complete_model, flag, option
from unnaive.cli.terminal import note, print_json, print_table, progress, tell
from unnaive.exceptions import SchemaMismatch

if TYPE_CHECKING:
    from unnaive.evaluate import Drift
    from unnaive.models import CountsClassifier

Old = Annotated[Path, typer.Argument(metavar="OLD", help="Counts of the earlier rows.")]
New = Annotated[Path, typer.Argument(metavar="NEW", help="Counts of the later rows.")]
Level = Annotated[
    float, option("--level", "P", "Probability of any false alarm.", min=1e-6, max=0.5)
]
Cost = Annotated[
    str | None,
    option(
        "--model -m",
        "KEY",
        "Also estimate how much log loss this model has more if it is not learned again.",
        autocompletion=complete_model,
    ),
]
Every = Annotated[bool, flag("--all", "Show all comparisons, not only changes beyond chance.")]


def drift(
    old: Old,
    new: New,
    *,
    level: Level = 0.05,
    model: Cost = None,
    every: Every = False,
    seed: options.Seed = 0,
    json: options.AsJson = False,
) -> None:
    """Compare two counts files and list what changed.

    The files must have been made with the same --schema, from different rows. Compared are the
    classes, all columns with their missing values, all columns within the classes, and the
    dependences of pairs of columns. No rows are needed.

    Examples
    --------
    unnaive drift january.counts february.counts
    unnaive drift january.counts february.counts --model tan --json
    """
    from unnaive import evaluate  # noqa: PLC0415 - see app.py

    if old.resolve() == new.resolve():
        raise ValueError(f"{old} is named twice; name the counts of earlier and of later rows")
    judged = None if model is None else _classifier(model)
    with progress("comparing"):
        counts = load_counts(old), load_counts(new)
        try:
            result = evaluate.drift(*counts, level=level, model=judged, random_state=seed)
        except SchemaMismatch as error:
            raise SchemaMismatch(
                f"{old} (here) and {new} (there) cannot be compared: {error} (unnaive count "
                "--schema, with the same file for both)"
            ) from error
    if json:
        print_json({"old": str(old), "new": str(new), "model": model, **result.state()})
    else:
        _show(result, every)


def _classifier(key: str) -> "CountsClassifier":
    from unnaive.models import CountsClassifier, make  # noqa: PLC0415 - see app.py

    model = make(key)
    if not isinstance(model, CountsClassifier):
        raise ValueError(
            f"--model {key} does not learn from counts; use nb, tan or aode (unnaive models lists "
            "all)"
        )
    return model


def _show(result: "Drift", every: bool) -> None:
    from unnaive.evaluate.drift import HEADS  # noqa: PLC0415 - see app.py

    tell(result.summary())
    if lines := result.table(every=every):
        print_table(HEADS, lines, left=2)
    if result.skipped:
        first = " and ".join(result.skipped[0])
        note(f"{len(result.skipped)} pairs of very many values were not compared, such as {first}")
