"""``unnaive compare``: rank models on a file and test which differences are significant."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import options
from unnaive.cli.check import read_checked
from unnaive.cli.evaluate import USUAL, feasible
from unnaive.cli.options import option
from unnaive.cli.output import require_apart, write
from unnaive.cli.scores import metric_name
from unnaive.cli.terminal import console, milliseconds, note, print_json, print_table, progress, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State
    from unnaive.cli.rows import TrainingRows
    from unnaive.evaluate import Comparison
    from unnaive.models import Classifier

_WIDE = 20  # columns that "0.953 ± 0.028*" and its rank need, with their margins

Scores = Annotated[
    str,
    option("--metrics", "NAMES", "Metrics, separated by commas. Models are sorted by the first."),
]
Files = Annotated[
    list[Path],
    typer.Argument(metavar="DATA...", help=f"Files of rows ({options.FORMATS}), one per data set."),
]
Resume = Annotated[
    Path | None,
    option(
        "--resume",
        "FILE",
        "Save finished folds in this file (a folder, for several data sets). If interrupted, the "
        "same command continues from it.",
    ),
]
Page = Annotated[
    Path | None,
    option("--html -o", "FILE", "Also write the tables, with pictures, as an HTML page."),
]


@options.expand
def compare(
    data: Files,
    *,
    target: options.Target,
    models: options.Models = None,
    protocol: options.Protocol,
    metrics: Scores = "accuracy,log_loss,auc,brier",
    html: Page = None,
    resume: Resume = None,
    training: options.Training,
    n_jobs: options.TimedJobs = -1,
    json: options.AsJson = False,
) -> None:
    """Rank models and test which differences are significant.

    All models are trained and tested on the same folds. A * marks a model that is significantly
    worse than the best, by the corrected resampled t-test with Holm's correction. Several files are
    compared by mean ranks, with the tests of Friedman and Nemenyi. A model that fails is left out
    with a note.

    Examples
    --------
    unnaive compare patients.csv --target diagnosis --models nb,tan,aode
    unnaive compare patients.csv -t diagnosis --models all --repeats 10 --resume runs.jsonl
    unnaive compare oslo.csv bern.csv -t diagnosis --metrics log_loss,auc --html models.html
    """
    classifiers = {key: training.build(key) for key in options.chosen_models(models, USUAL)}
    several = len(data) > 1
    if len({path.stem for path in data}) < len(data):
        raise ValueError("two files have the same name; name every file once, or rename one")
    require_apart(*data, html=html, resume=None if several else resume)
    if several and resume is not None:
        resume.mkdir(parents=True, exist_ok=True)
    parts, findings = {}, {}
    for path in data:
        with progress(f"reading {path.name}"):
            rows, found = read_checked(path, target, training)
        settings = {
            **vars(feasible(protocol, rows, path.name if several else "")),
            "metrics": options.words([metrics]),
            "n_jobs": n_jobs,
            "store": resume / f"{path.stem}.jsonl" if several and resume else resume,
        }
        label = f"comparing {len(classifiers)} models" + (f" on {path.name}" if several else "")
        comparison = _compared(classifiers, rows, label, settings)
        _note_failures(comparison, f"{path.name}: " if several else "")
        parts[str(path)] = comparison
        findings[str(path)] = found
    if several:
        _report_many(parts, findings, target, html, json=json)
        return
    if html is not None:
        write(html, comparison.to_html(f"Models for {target} in {path.name}"))
        say(f"page written to {html}")
    if json:
        print_json({"data": str(path), "target": target, **found, **comparison.to_dict()})
    else:
        _show(comparison, f"{path}: {rows.frame.n_rows:,} rows")


def _report_many(
    parts: "dict[str, Comparison]",
    findings: "dict[str, State]",
    target: str,
    html: Path | None,
    *,
    json: bool,
) -> None:
    """Show the comparison on several files: means, mean ranks and tests."""
    from unnaive.evaluate import Comparisons  # noqa: PLC0415 - see app.py

    comparisons = Comparisons(parts)
    metric, models = comparisons.metrics[0], comparisons.models
    if html is not None:
        write(html, comparisons.to_html(f"Models for {target} on {len(parts)} data sets"))
        say(f"page written to {html}")
    if json:
        print_json({"target": target, "checks": findings, **comparisons.to_dict()})
        return
    lines = [
        [row["data"], *("-" if math.isnan(row[model]) else f"{row[model]:.3f}" for model in models)]
        for row in comparisons.table(metric)
    ]
    title = f"{len(parts)} data sets, mean {metric_name(metric)} over folds"
    print_table(["data", *models], lines, title=title)
    friedman = comparisons.friedman(metric)
    say(f"Friedman test: p = {friedman.p:.3g} ({friedman.n} data sets, {len(models)} models).")
    if len(models) > 1 and friedman.n:
        critical = comparisons.nemenyi(metric).critical
        say(f"Mean ranks that differ by less than {critical:.2f} are not significantly different.")


def _compared(
    models: "dict[str, Classifier]", rows: "TrainingRows", label: str, settings: "State"
) -> "Comparison":
    """Compare models and show the progress; if interrupted, say what is saved."""
    from unnaive.evaluate import compare as compared  # noqa: PLC0415 - see app.py

    total, store = len(models) * settings["folds"] * settings["repeats"], settings["store"]
    with progress(label, total):
        try:
            comparison = compared(
                models, rows.frame, rows.target, sample_weight=rows.weights, **settings
            )
        except KeyboardInterrupt:
            if store is not None:
                say(f"finished folds are saved in {store}; run the same command to continue")
            raise
    if comparison.resumed:
        note(f"{comparison.resumed} of {total} folds were already in {store}")
    return comparison


def _note_failures(comparison: "Comparison", where: str) -> None:
    """Note which models failed; raise if all did."""
    from unnaive.evaluate.page import summarise  # noqa: PLC0415 - see app.py

    folds = len(next(iter(comparison.fit_seconds.values())))
    lines = summarise(comparison.failures, folds)
    if len(comparison.failures) == folds * len(comparison.models):
        raise ValueError(f"{where}every model failed: {lines[0]}")
    for line in lines:
        note(where + line)


def _show(comparison: "Comparison", title: str) -> None:
    from unnaive.evaluate.page import describe  # noqa: PLC0415 - see app.py

    metrics = comparison.metrics
    joint = " ± " if console().width >= _WIDE * (len(metrics) + 1) else "\n±"
    header = [name for metric in metrics for name in (metric_name(metric), "#")]
    lines = [_line(row, metrics, joint) for row in comparison.table()]
    title = f"{title}, {describe(comparison.protocol)}; sorted by {metric_name(metrics[0])}"
    print_table(["model", *header, "fit ms"], lines, title=title)
    say("#: rank of the mean. *: worse than the best, p < 0.05 (corrected resampled t-test, Holm).")


def _line(row: "State", metrics: "Sequence[str]", joint: str) -> list[str]:
    cells = [row["model"]]
    for metric in metrics:
        mean, deviation, rank = (row[f"{metric}{end}"] for end in ("", "_std", "_rank"))
        mark = "*" if row[f"{metric}_worse"] else " "
        spread = "" if math.isnan(deviation) else f"{joint}{deviation:.3f} "
        both = f"{mean:.3f}{spread[:-1]}{mark}" if joint == " ± " else f"{mean:.3f}{mark}{spread}"
        cells.append("- " if math.isnan(mean) else both)
        cells.append("-" if math.isnan(rank) else f"{rank:g}")
    seconds = row["fit_seconds"]
    return [*cells, "-" if math.isnan(seconds) else milliseconds(seconds)]
