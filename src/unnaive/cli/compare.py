"""``unnaive compare``: which models are best on a file, and which differences are real."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.completion import complete_models
from unnaive.cli.output import require_apart, write
from unnaive.cli.rows import read_training
from unnaive.cli.terminal import console, milliseconds, note, print_json, print_table, progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State
    from unnaive.cli.rows import TrainingRows
    from unnaive.evaluate import Comparison
    from unnaive.models import Classifier

_NAMES = {"auc": "AUC", "auc_hand_till": "AUC H-T", "f1": "F1", "brier": "Brier"}
_WIDE = 20  # columns that "0.953 ± 0.028*" and its rank need, with their margins

Models = Annotated[
    str,
    typer.Option(
        "--models",
        "-m",
        metavar="KEYS",
        help="Separated by commas; see: unnaive models. Or: all.",
        autocompletion=complete_models,
    ),
]
Scores = Annotated[
    str, typer.Option("--metrics", metavar="NAMES", help="The first one decides the order.")
]
Page = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the table as a page, too.")
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Keep every finished fold in this file, and take from it what is there.",
    ),
]


def compare(
    data: options.Data,
    *,
    target: options.Target,
    models: Models = "nb,tan,aode",
    folds: options.Folds = 10,
    repeats: options.Repeats = 1,
    seed: options.Seed = 0,
    metrics: Scores = "accuracy,log_loss,auc,brier",
    html: Page = None,
    resume: Resume = None,
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    smoothing: options.Smoothing = None,
    categorical: options.Categorical = None,
    ignore: options.Ignore = None,
    weight: options.Weight = None,
    settings: options.Settings = None,
    n_jobs: options.TimedJobs = -1,
    json: options.AsJson = False,
) -> None:
    """Rank models and tell which differences are real.

    All models see the same folds. A * says that a model is worse than the best by the corrected
    resampled t-test, with Holm's correction. A model that fails is left out with a note.
    """
    given = options.parameters(discretize, bins, smoothing, categorical, settings)
    classifiers = {key: options.build(key, given) for key in _keys(models)}
    require_apart(data, html=html, resume=resume)
    with progress(f"reading {data.name}"):
        rows = read_training(data, target, ignore=ignore, weight=weight, categorical=categorical)
    protocol = {"folds": folds, "repeats": repeats, "seed": seed}
    found = _compared(classifiers, rows, _words(metrics), protocol, n_jobs=n_jobs, store=resume)
    _tell_failures(found)
    title = f"{data}: {rows.frame.n_rows:,} rows"
    if html is not None:
        write(html, found.to_html(f"Models for {target} in {data.name}"))
        say(f"table written to {html}")
    if json:
        print_json({"data": str(data), "target": target, **found.to_dict()})
    else:
        _show(found, title)


def _words(text: str) -> list[str]:
    """Names separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _keys(text: str) -> list[str]:
    keys = list(unnaive.all_models()) if text.strip() == "all" else _words(text)
    if not keys:
        raise typer.BadParameter("name at least one model, or say all", param_hint="--models")
    return keys


def _compared(
    models: "dict[str, Classifier]",
    rows: "TrainingRows",
    metrics: "Sequence[str]",
    protocol: dict[str, int],
    *,
    n_jobs: int,
    store: Path | None,
) -> "Comparison":
    """Compare and show how far it is; say what is kept if it is interrupted."""
    from unnaive.evaluate import compare as compared  # noqa: PLC0415 - see app.py

    total = len(models) * protocol["folds"] * protocol["repeats"]
    with progress(f"comparing {len(models)} models", total) as advance:
        try:
            found = compared(
                models,
                rows.frame,
                rows.target,
                **protocol,
                metrics=metrics,
                sample_weight=rows.weights,
                n_jobs=n_jobs,
                store=store,
                watch=lambda step: advance(step.done),
            )
        except KeyboardInterrupt:
            if store is not None:
                say(f"finished folds are in {store}; the same command goes on from there")
            raise
    if found.resumed:
        note(f"{found.resumed} of {total} folds were in {store}")
    return found


def _tell_failures(found: "Comparison") -> None:
    """Note what failed; if that is everything, there is nothing to show."""
    from unnaive.evaluate.comparison import summarise  # noqa: PLC0415 - see app.py

    folds = len(next(iter(found.fit_seconds.values())))
    lines = summarise(found.failures, folds)
    if len(found.failures) == folds * len(found.models):
        raise ValueError(f"no model got through: {lines[0]}")
    for line in lines:
        note(line)


def _show(found: "Comparison", title: str) -> None:
    from unnaive.evaluate.comparison import describe  # noqa: PLC0415 - see app.py

    metrics = found.metrics
    joint = " ± " if console().width >= _WIDE * (len(metrics) + 1) else "\n±"
    header = ["model"]
    for metric in metrics:
        header += [_NAMES.get(metric, metric.replace("_", " ")), "#"]
    lines = [_line(row, metrics, joint) for row in found.table()]
    title = f"{title}, {describe(found.protocol)}; best first by {metrics[0].replace('_', ' ')}"
    print_table([*header, "fit ms"], lines, title=title)
    say("# rank of the mean. * worse than the best: p < 0.05, corrected resampled t-test, Holm.")


def _line(row: "State", metrics: "Sequence[str]", joint: str) -> list[str]:
    cells = [row["model"]]
    for metric in metrics:
        mean, deviation = row[metric], row[f"{metric}_std"]
        mark = "*" if row[f"{metric}_worse"] else " "
        spread = "" if math.isnan(deviation) else f"{joint}{deviation:.3f} "
        both = f"{mean:.3f}{spread[:-1]}{mark}" if joint == " ± " else f"{mean:.3f}{mark}{spread}"
        place = row[f"{metric}_rank"]
        cells.append("- " if math.isnan(mean) else both)
        cells.append("-" if math.isnan(place) else f"{place:g}")
    seconds = row["fit_seconds"]
    return [*cells, "-" if math.isnan(seconds) else milliseconds(seconds)]
