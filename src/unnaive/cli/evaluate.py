"""``unnaive evaluate``: cross-validate models on the same folds of a file."""

from dataclasses import replace
from typing import TYPE_CHECKING

from unnaive.cli import options
from unnaive.cli.check import read_checked
from unnaive.cli.scores import show_classes, show_confusion, show_scores, summary
from unnaive.cli.terminal import note, print_json, progress, say

if TYPE_CHECKING:
    from unnaive.cli.rows import TrainingRows
    from unnaive.evaluate import Evaluation
    from unnaive.models import Classifier

USUAL = ["nb", "tan", "aode"]


@options.expand
def evaluate(
    data: options.Data,
    *,
    target: options.Target,
    models: options.Models = None,
    protocol: options.Protocol,
    loo: options.LeaveOneOut = False,
    training: options.Training,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Cross-validate models on a file.

    All models are trained and tested on the same folds. For one model, the confusion matrix and the
    scores of each class are also shown.

    Examples
    --------
    unnaive evaluate patients.csv --target diagnosis
    unnaive evaluate patients.csv -t diagnosis -m tan -m aode --repeats 10
    unnaive evaluate patients.csv -t diagnosis -m tan --leave-one-out
    """
    classifiers = {key: training.build(key) for key in options.chosen_models(models, USUAL)}
    with progress(f"reading {data.name}"):
        rows, found = read_checked(data, target, training)
    protocol = protocol if loo else feasible(protocol, rows)
    results = {}
    for key, classifier in classifiers.items():
        with options.checked(training.parameters()):
            if loo:
                results[key] = _leave_one_out(key, classifier, rows, n_jobs)
            else:
                results[key] = cross_validated(key, classifier, rows, protocol, n_jobs)
    described = _describe(loo, protocol)
    if json:
        head = {"data": str(data), "target": target, "rows": rows.frame.n_rows, **found}
        print_json({**head, "protocol": described, **summary(results)})
    else:
        _show(results, f"{data}: {rows.frame.n_rows:,} rows, {described['description']}")


def feasible(protocol: options.Protocol, rows: "TrainingRows", name: str = "") -> options.Protocol:
    """Return a protocol with fewer folds, and a note, if a class has too few rows."""
    from unnaive.evaluate.crossvalidate import possible_folds  # noqa: PLC0415 - see app.py
    from unnaive.schema import learn_target  # noqa: PLC0415

    folds = possible_folds(learn_target(rows.target)[1], protocol.folds)
    if folds < protocol.folds:
        where = f" of {name}" if name else ""
        note(f"{folds} folds, not {protocol.folds}: the smallest class{where} has {folds} rows")
    return replace(protocol, folds=folds)


def cross_validated(
    key: str, model: "Classifier", rows: "TrainingRows", protocol: options.Protocol, n_jobs: int
) -> "Evaluation":
    """Cross-validate one model and show the progress."""
    from unnaive.evaluate import cross_validate  # noqa: PLC0415 - see app.py

    with progress(f"evaluating {key}", protocol.folds * protocol.repeats):
        return cross_validate(
            model,
            rows.frame,
            rows.target,
            folds=protocol.folds,
            repeats=protocol.repeats,
            random_state=protocol.seed,
            sample_weight=rows.weights,
            n_jobs=n_jobs,
        )


def _leave_one_out(
    key: str, model: "Classifier", rows: "TrainingRows", n_jobs: int
) -> "Evaluation":
    from unnaive.evaluate import leave_one_out  # noqa: PLC0415 - see app.py

    with progress(f"evaluating {key}"):
        model.set_params(n_jobs=n_jobs)
        return leave_one_out(model, rows.frame, rows.target, sample_weight=rows.weights)


def _describe(loo: bool, protocol: options.Protocol) -> dict[str, str | int]:
    if loo:
        how = "leave-one-out (counts without the row; structure and bins from all rows)"
        return {"kind": "leave-one-out", "description": how}
    from unnaive.evaluate.page import describe  # noqa: PLC0415 - see app.py

    numbers = vars(protocol)
    return {"kind": "cross-validation", "description": describe(numbers), **numbers}


def _show(results: "dict[str, Evaluation]", title: str) -> None:
    show_scores(results, title)
    if len(results) == 1:
        (only,) = results.values()
        show_confusion(only.pooled)
        show_classes(only.pooled)
    else:
        say("For a confusion matrix, name one --model; --model auto is the default of unnaive fit.")
