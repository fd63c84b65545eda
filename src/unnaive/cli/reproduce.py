"""``unnaive reproduce``: a paper's experiment once more, its figures beside ours."""

import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import options
from unnaive.cli.output import require_apart, write
from unnaive.cli.terminal import console, error_console, new_bar, note, print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from unnaive.papers import Experiment, Reproduction, Step

_ROOM_FOR_NOTES = 120  # columns of a terminal


class Paper(StrEnum):
    """The papers, by the key of their experiment."""

    gnb = "gnb"
    phnb = "phnb"
    eda = "eda"
    knaive = "knaive"


Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer runs, on the smaller data sets: minutes.")
]
Honest = Annotated[
    bool, typer.Option("--honest", help="Also estimate without what makes figures too good.")
]
Runs = Annotated[
    int | None, typer.Option("--runs", metavar="N", min=1, help="Repetitions of everything.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Where chance begins.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help="A data set, by the paper's name; repeatable."),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Keep every finished unit in this file, and take from it what is there.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the result as JSON, too."),
]


def reproduce(
    paper: Annotated[Paper, typer.Argument(metavar="PAPER", help="gnb, phnb, eda or knaive.")],
    *,
    quick: Quick = False,
    honest: Honest = False,
    runs: Runs = None,
    seed: Seed = 0,
    only: Only = None,
    resume: Resume = None,
    n_jobs: options.TimedJobs = -1,
    json: options.AsJson = False,
    output: Output = None,
) -> None:
    """Run a paper's experiment once more.

    Every figure that the paper printed is put beside ours. gnb: generalized naive Bayes; phnb:
    packaged hidden naive Bayes; eda: semi-naive Bayes by evolutionary search; knaive: between
    naive and full Bayes. The data sets come from the folder $UNNAIVE_DATA, or from OpenML.
    """
    require_apart(output=output, resume=resume)
    made = _experiment(paper)
    names = _names(made, only or [])
    experiment = made(quick=quick, honest=honest, runs=runs, seed=seed, only=names)
    found = _reproduced(experiment, n_jobs=n_jobs, store=resume)
    if output is not None:
        write(output, found.to_json())
        say(f"result written to {output}")
    if json:
        print_json(found.to_dict())
    else:
        _show(found)


def _experiment(paper: Paper) -> "type[Experiment]":
    from importlib import import_module  # noqa: PLC0415 - see app.py

    from unnaive.papers.page import PAPERS  # noqa: PLC0415 - see app.py

    module = import_module(f"unnaive.papers.{paper.value}")
    return getattr(module, PAPERS[paper.value])  # type: ignore[no-any-return]


def _names(experiment: "type[Experiment]", only: list[str]) -> list[str]:
    """Return data sets by the paper's names, whether named so, by ours, or nearly."""
    known: dict[str, str] = {}
    for theirs, ours in experiment.names.items():
        known |= {_plain(ours): theirs, _plain(theirs): theirs}
    words = [word.strip() for text in only for word in text.split(",") if word.strip()]
    return [known.get(_plain(word), word) for word in words]


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def _reproduced(experiment: "Experiment", *, n_jobs: int, store: Path | None) -> "Reproduction":
    """Run an experiment and show how far it is; say what is kept if it is interrupted."""
    from unnaive import papers  # noqa: PLC0415 - see app.py
    from unnaive.evaluate.runs import Runs as Kept  # noqa: PLC0415

    kept = () if store is None else Kept(store, experiment.settings)
    costs = {unit.key: unit.cost for unit in experiment.units()}
    left = {key: cost for key, cost in costs.items() if key not in kept}
    if len(left) < len(costs):
        note(f"{len(costs) - len(left)} of {len(costs)} units were in {store}")
    try:
        with _progress(experiment.key, left) as watch:
            return papers.reproduce(experiment, store=store, n_jobs=n_jobs, watch=watch)
    except KeyboardInterrupt:
        if store is None:
            say("what was done is lost; with --resume FILE it is kept")
        else:
            say(f"finished units are in {store}; the same command goes on from there")
        raise


@contextmanager
def _progress(label: str, costs: dict[str, float]) -> "Iterator[Callable[[Step], None]]":
    """Show on a terminal what was done last, how much of the work, and the time left."""
    errors = error_console()
    if errors is None:
        yield lambda _: None
        return
    with new_bar(errors, timed=True) as bar:
        task = bar.add_task(label, total=sum(costs.values()))

        def watch(step: "Step") -> None:
            done = f"{label}: {step.key} ({step.done} of {step.total})"
            bar.update(task, advance=costs.get(step.key, 0.0), description=done)

        yield watch


def _show(found: "Reproduction") -> None:
    """Print a table for every one of the paper's, then the remarks."""
    from unnaive.papers import page  # noqa: PLC0415 - see app.py

    screen = console()
    marks: dict[bool | None, str] = {True: "yes", False: "no", None: ""}
    if sys.stdout.isatty() and (sys.stdout.encoding or "").lower().startswith("utf"):
        marks = {True: "✓", False: "✗", None: ""}
    without = () if screen.width >= _ROOM_FOR_NOTES else ("note",)
    screen.print(f"{found.title}: {page.settings_of(found.settings, found.seconds)}", style="bold")
    for name, lines in page.tables(found.lines).items():
        print_table(*page.layout(lines, marks, *without), left=3, title=f"\n{name}")
    for remark in found.remarks:
        screen.print(f"- {remark}")
    say("near: the difference is within chance. Nothing is said where there is no saying.")
