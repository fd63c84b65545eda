"""``unnaive evaluate``: models side by side on the same folds of a file."""

from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import options
from unnaive.cli.completion import complete_model
from unnaive.cli.rows import read_training
from unnaive.cli.scores import show_classes, show_confusion, show_scores, summary
from unnaive.cli.terminal import print_json, progress, say

if TYPE_CHECKING:
    from unnaive.cli.rows import TrainingRows
    from unnaive.evaluate import Evaluation
    from unnaive.models import Classifier

_USUAL = ["nb", "tan", "aode"]


def evaluate(
    data: options.Data,
    *,
    target: options.Target,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            metavar="KEY",
            help="See: unnaive models; repeatable. Without it: nb, tan and aode.",
            autocompletion=complete_model,
        ),
    ] = None,
    folds: options.Folds = 10,
    repeats: options.Repeats = 1,
    seed: options.Seed = 0,
    loo: options.LeaveOneOut = False,
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    smoothing: options.Smoothing = None,
    categorical: options.Categorical = None,
    ignore: options.Ignore = None,
    weight: options.Weight = None,
    settings: options.Settings = None,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Cross-validate models side by side.

    All models see the same folds of the file.
    """
    given = options.parameters(discretize, bins, smoothing, categorical, settings)
    classifiers = {key: options.build(key, given) for key in model or _USUAL}
    with progress(f"reading {data.name}"):
        rows = read_training(data, target, ignore=ignore, weight=weight, categorical=categorical)
    found = {}
    for key, classifier in classifiers.items():
        with options.checked(given):
            if loo:
                found[key] = _leave_one_out(key, classifier, rows, n_jobs)
            else:
                found[key] = cross_validated(
                    key, classifier, rows, folds=folds, repeats=repeats, seed=seed, n_jobs=n_jobs
                )
    protocol = _protocol(loo, folds, repeats, seed)
    if json:
        head = {"data": str(data), "target": target, "rows": rows.frame.n_rows}
        print_json({**head, "protocol": protocol, **summary(found)})
    else:
        _show(found, f"{data}: {rows.frame.n_rows:,} rows, {protocol['description']}")


def cross_validated(
    key: str,
    model: "Classifier",
    rows: "TrainingRows",
    *,
    folds: int,
    repeats: int,
    seed: int,
    n_jobs: int,
) -> "Evaluation":
    """Cross-validate one model and show how far it is."""
    from unnaive.evaluate import cross_validate  # noqa: PLC0415 - see app.py

    with progress(f"evaluating {key}", folds * repeats) as advance:
        return cross_validate(
            model,
            rows.frame,
            rows.target,
            folds=folds,
            repeats=repeats,
            random_state=seed,
            sample_weight=rows.weights,
            n_jobs=n_jobs,
            progress=lambda done, _: advance(done),
        )


def _leave_one_out(
    key: str, model: "Classifier", rows: "TrainingRows", n_jobs: int
) -> "Evaluation":
    from unnaive.evaluate import leave_one_out  # noqa: PLC0415 - see app.py

    with progress(f"evaluating {key}"):
        model.set_params(n_jobs=n_jobs)
        return leave_one_out(model, rows.frame, rows.target, sample_weight=rows.weights)


def _protocol(loo: bool, folds: int, repeats: int, seed: int) -> dict[str, str | int]:
    if loo:
        how = "leave-one-out (counts without the row; structure and bins from all rows)"
        return {"kind": "leave-one-out", "description": how}
    how = f"{folds}-fold cross-validation" + (f", {repeats} times" if repeats > 1 else "")
    numbers = {"folds": folds, "repeats": repeats, "seed": seed}
    return {"kind": "cross-validation", "description": how, **numbers}


def _show(found: "dict[str, Evaluation]", title: str) -> None:
    show_scores(found, title)
    if len(found) == 1:
        (only,) = found.values()
        show_confusion(only.pooled)
        show_classes(only.pooled)
    else:
        say(
            "Name a single --model to see its confusion matrix; --model auto is what unnaive fit "
            "makes."
        )
