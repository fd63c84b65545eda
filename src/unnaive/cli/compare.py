"""``unnaive compare``: rank models on a file and test which differences are significant."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from unnaive.cli import options
from unnaive.cli.evaluate import USUAL
from unnaive.cli.options import option
from unnaive.cli.output import require_apart, write
from unnaive.cli.rows import read_training
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
Page = Annotated[Path | None, option("--html", "FILE", "Also write the table as an HTML page.")]


@options.expand
def compare(
    data: options.Data,
    *,
    target: options.Target,
    models: options.Models = None,
    protocol: options.Protocol,
    metrics: Scores = "accuracy,log_loss,auc,brier",
    html: Page = None,
    resume: options.Resume = None,
    training: options.Training,
    n_jobs: options.TimedJobs = -1,
    json: options.AsJson = False,
) -> None:
    """Rank models and test which differences are significant.

    All models are trained and tested on the same folds. A * marks a model that is significantly
    worse than the best, by the corrected resampled t-test with Holm's correction. A model that
    fails is left out with a note.

    Examples
    --------
    unnaive compare patients.csv --target diagnosis --models nb,tan,aode
    unnaive compare patients.csv -t diagnosis --models all --repeats 10 --resume runs.jsonl
    unnaive compare patients.csv -t diagnosis --metrics log_loss,auc --html models.html
    """
    classifiers = {key: training.build(key) for key in options.chosen_models(models, USUAL)}
    require_apart(data, html=html, resume=resume)
    with progress(f"reading {data.name}"):
        rows = read_training(data, target, training)
    names = options.words([metrics])
    comparison = _compared(classifiers, rows, names, protocol, n_jobs=n_jobs, store=resume)
    _note_failures(comparison)
    if html is not None:
        write(html, comparison.to_html(f"Models for {target} in {data.name}"))
        say(f"table written to {html}")
    if json:
        print_json({"data": str(data), "target": target, **comparison.to_dict()})
    else:
        _show(comparison, f"{data}: {rows.frame.n_rows:,} rows")


def _compared(
    models: "dict[str, Classifier]",
    rows: "TrainingRows",
    metrics: "Sequence[str]",
    protocol: options.Protocol,
    *,
    n_jobs: int,
    store: Path | None,
) -> "Comparison":
    """Compare models and show the progress; if interrupted, say what is saved."""
    from unnaive.evaluate import compare as compared  # noqa: PLC0415 - see app.py

    total = len(models) * protocol.folds * protocol.repeats
    with progress(f"comparing {len(models)} models", total) as advance:
        try:
            comparison = compared(
                models,
                rows.frame,
                rows.target,
                **vars(protocol),
                metrics=metrics,
                sample_weight=rows.weights,
                n_jobs=n_jobs,
                store=store,
                watch=lambda step: advance(step.done),
            )
        except KeyboardInterrupt:
            if store is not None:
                say(f"finished folds are saved in {store}; run the same command to continue")
            raise
    if comparison.resumed:
        note(f"{comparison.resumed} of {total} folds were already in {store}")
    return comparison


def _note_failures(comparison: "Comparison") -> None:
    """Note which models failed; raise if all did."""
    from unnaive.evaluate.page import summarise  # noqa: PLC0415 - see app.py

    folds = len(next(iter(comparison.fit_seconds.values())))
    lines = summarise(comparison.failures, folds)
    if len(comparison.failures) == folds * len(comparison.models):
        raise ValueError(f"every model failed: {lines[0]}")
    for line in lines:
        note(line)


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
