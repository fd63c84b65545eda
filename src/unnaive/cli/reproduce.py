"""``unnaive reproduce``: run a paper's experiment again and compare the results."""

import sys
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import options
from unnaive.cli.options import flag, option
from unnaive.cli.output import require_apart, require_writable, write
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


Quick = Annotated[bool, flag("--quick", "Fewer runs on the smaller data sets; takes minutes.")]
Honest = Annotated[
    bool, flag("--honest", "Also estimate without the optimistic bias of the protocol.")
]
Runs = Annotated[int | None, option("--runs", "N", "Number of runs with different seeds.", min=1)]
Only = Annotated[
    list[str] | None, option("--only", "NAME", "Only this data set of the paper. Repeatable.")
]
Output = Annotated[Path | None, option("-o --output", "FILE", "Also write the results as JSON.")]
Pictures = Annotated[
    Path | None,
    option("--figures", "FOLDER", "Also draw the paper's figures, as PNG (gnb, knaive)."),
]


def reproduce(
    paper: Annotated[Paper, typer.Argument(metavar="PAPER", help="gnb, phnb, eda or knaive.")],
    *,
    quick: Quick = False,
    honest: Honest = False,
    runs: Runs = None,
    seed: options.Seed = 0,
    only: Only = None,
    resume: options.Resume = None,
    n_jobs: options.TimedJobs = -1,
    json: options.AsJson = False,
    output: Output = None,
    figures: Pictures = None,
) -> None:
    """Run a paper's experiment again and compare the results.

    Every published figure is shown beside ours. gnb: generalized naive Bayes; phnb: packaged hidden
    naive Bayes; eda: semi-naive Bayes by estimation of distribution algorithms; knaive: k-naive
    Bayes. The data sets come from the folder $UNNAIVE_DATA, or from OpenML.

    Examples
    --------
    unnaive reproduce phnb --quick
    unnaive reproduce eda --honest --resume eda.jsonl -o eda.json
    unnaive reproduce gnb --only Wdbc --runs 20 --figures .
    """
    require_apart(output=output, resume=resume)
    if figures is not None:
        require_writable(figures / "figure-1.png")
    kind = _experiment(paper)
    names = _names(kind, options.words(only))
    experiment = kind(quick=quick, honest=honest, runs=runs, seed=seed, only=names)
    result = _reproduced(experiment, n_jobs=n_jobs, store=resume)
    if output is not None:
        write(output, result.to_json())
        say(f"results written to {output}")
    if figures is not None:
        _draw(result, figures)
    if json:
        print_json(result.to_dict())
    else:
        _show(result)


def _draw(result: "Reproduction", folder: Path) -> None:
    """Write the paper's figures as PNG files."""
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py
    from unnaive.papers.curves import draw_curve  # noqa: PLC0415

    for name, curve in result.curves.items():
        path = folder / f"figure-{name}.png"
        with replacing(path) as stream:
            draw_curve(curve).savefig(stream, dpi=150, format="png")
        say(f"figure {name} written to {path}")
    if not result.curves:
        note(
            f"the experiment {result.paper} has no curves; --figures draws those of gnb and knaive"
        )


def _experiment(paper: Paper) -> "type[Experiment]":
    from importlib import import_module  # noqa: PLC0415 - see app.py

    from unnaive.papers.page import PAPERS  # noqa: PLC0415 - see app.py

    module = import_module(f"unnaive.papers.{paper.value}")
    return getattr(module, PAPERS[paper.value])  # type: ignore[no-any-return]


def _names(experiment: "type[Experiment]", only: list[str]) -> list[str]:
    """Return data sets by the paper's names; our names and other spellings are understood."""
    known: dict[str, str] = {}
    for theirs, ours in experiment.names.items():
        known |= {_plain(ours): theirs, _plain(theirs): theirs}
    return [known.get(_plain(word), word) for word in only]


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def _reproduced(experiment: "Experiment", *, n_jobs: int, store: Path | None) -> "Reproduction":
    """Run an experiment and show the progress; if interrupted, say what is saved."""
    from unnaive import papers  # noqa: PLC0415 - see app.py
    from unnaive.evaluate.runs import Runs as Kept  # noqa: PLC0415

    kept = () if store is None else Kept(store, experiment.settings)
    costs = {unit.key: unit.cost for unit in experiment.units()}
    left = {key: cost for key, cost in costs.items() if key not in kept}
    if len(left) < len(costs):
        note(f"{len(costs) - len(left)} of {len(costs)} units were already in {store}")
    try:
        with _progress(experiment.key, left) as watch:
            return papers.reproduce(experiment, store=store, n_jobs=n_jobs, watch=watch)
    except KeyboardInterrupt:
        if store is None:
            say("the results so far are lost; --resume FILE saves them")
        else:
            say(f"finished units are saved in {store}; run the same command to continue")
        raise


@contextmanager
def _progress(label: str, costs: dict[str, float]) -> "Iterator[Callable[[Step], None]]":
    """Show the last finished unit, the share of the work done and the remaining time."""
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


def _show(result: "Reproduction") -> None:
    """Print a table for each table of the paper, then the remarks."""
    from unnaive.papers import page  # noqa: PLC0415 - see app.py

    screen = console()
    marks: dict[bool | None, str] = {True: "yes", False: "no", None: ""}
    if sys.stdout.isatty() and (sys.stdout.encoding or "").lower().startswith("utf"):
        marks = {True: "✓", False: "✗", None: ""}
    without = () if screen.width >= _ROOM_FOR_NOTES else ("note",)
    title = f"{result.title}: {page.settings_of(result.settings, result.seconds)} of processor time"
    screen.print(title, style="bold")
    for name, lines in page.tables(result.lines).items():
        print_table(*page.layout(lines, marks, *without), left=3, title=f"\n{name}")
    for remark in result.remarks:
        screen.print(f"- {remark}")
    say("near: the difference can be chance; empty where this cannot be judged.")
