"""``unnaive compare``: which models are best on a file, and which differences are real."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnaive.cli import options
from unnaive.cli.completion import complete_models
from unnaive.cli.output import require_writable
from unnaive.cli.rows import read_training
from unnaive.cli.terminal import console, milliseconds, print_json, print_table, progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

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
Folds = Annotated[int, typer.Option("--folds", metavar="N", min=2, help="Folds of a repeat.")]
Repeats = Annotated[int, typer.Option("--repeats", metavar="N", min=1, help="Times to deal anew.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the folds.")]
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
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "--n-jobs",
        metavar="N",
        help="Threads; -1: every core. The result is the same but for the times.",
    ),
]


def compare(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet or .arff.")
    ],
    *,
    target: options.Target,
    models: Models = "nb,tan,aode",
    folds: Folds = 10,
    repeats: Repeats = 1,
    seed: Seed = 0,
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
    n_jobs: Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Rank models and tell which differences are real.

    All models see the same folds. A * says that a model is worse than the best by the corrected
    resampled t-test, with Holm's correction. A model that fails is left out with a note.
    """
    given = options.parameters(discretize, bins, smoothing, categorical, settings)
    classifiers = {key: options.build(key, given) for key in _keys(models)}
    _check_files(data, html, resume)
    with progress(f"reading {data.name}"):
        rows = read_training(data, target, ignore=ignore, weight=weight, categorical=categorical)
    protocol = {"folds": folds, "repeats": repeats, "seed": seed}
    found = _compared(classifiers, rows, _words(metrics), protocol, n_jobs=n_jobs, store=resume)
    _tell_failures(found)
    title = f"{data}: {rows.frame.n_rows:,} rows"
    if html is not None:
        _write_page(found, f"Models for {target} in {data.name}", html)
    if json:
        print_json({"data": str(data), "target": target, **found.to_dict()})
    else:
        _show(found, title)


def _check_files(data: Path, html: Path | None, resume: Path | None) -> None:
    """Raise before the work if what is to be written cannot be, or would be lost."""
    for path in (html, resume):
        if path is not None:
            require_writable(path, data)
    if html is not None and resume is not None and html.resolve() == resume.resolve():
        raise ValueError(f"--html and --resume both name {html}; name two files")


def _words(text: str) -> list[str]:
    """Names separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _keys(text: str) -> list[str]:
    import unnaive  # noqa: PLC0415 - see app.py

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
        say(f"note: {found.resumed} of {total} folds were in {store}")
    return found


def _tell_failures(found: "Comparison") -> None:
    """Note what failed; if that is everything, there is nothing to show."""
    from unnaive.evaluate.comparison import summarise  # noqa: PLC0415 - see app.py

    folds = len(next(iter(found.fit_seconds.values())))
    lines = summarise(found.failures, folds)
    if len(found.failures) == folds * len(found.models):
        raise ValueError(f"no model got through: {lines[0]}")
    for line in lines:
        say(f"note: {line}")


def _write_page(found: "Comparison", title: str, path: Path) -> None:
    from unnaive.io.store import replacing  # noqa: PLC0415 - see app.py

    with replacing(path) as stream:
        stream.write(found.to_html(title).encode())
    say(f"table written to {path}")


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


def _line(row: dict[str, Any], metrics: "Sequence[str]", joint: str) -> list[str]:
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
