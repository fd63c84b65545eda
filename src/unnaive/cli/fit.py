"""``unnaive fit``: learn a model from a file of rows or of counts and save it."""

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import counting, options
from unnaive.cli.completion import complete_model
from unnaive.cli.counting import Summary
from unnaive.cli.output import require_writable, size_of
from unnaive.cli.rows import read_training
from unnaive.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.cli.rows import TrainingRows
    from unnaive.models import Classifier

_OF_ROWS = ("discretize", "bins", "categorical_features", "ignore", "weight")

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Rows: .csv, .tsv, .parquet or .arff; or what unnaive count or merge wrote.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Column that holds the class; counts know it."
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Where the model is saved.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="KEY",
        help="See: unnaive models. Without it: auto, which tries several and blends the best; "
        "for counts, which have no rows to judge by, tan.",
        autocompletion=complete_model,
    ),
]


def fit(
    data: Data,
    *,
    target: Target = None,
    output: Output,
    model: Model = None,
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
    """Learn a model from a file and save it.

    Missing cells are welcome: they may be empty, ? or NA. Counts serve as well as the rows
    that they were made of, for most models.
    """
    given = options.parameters(discretize, bins, smoothing, categorical, settings)
    model = model or ("tan" if counting.is_counts(data) else "auto")
    classifier = options.build(model, given)
    require_writable(output, data)
    start = perf_counter()
    classifier.set_params(n_jobs=n_jobs)
    if counting.is_counts(data):
        _refuse_row_options(data, {**given, "ignore": ignore, "weight": weight})
        with progress(f"learning {model}"), options.checked(given):
            summary = _fit_counts(classifier, data, model, target)
    elif target is None:
        raise typer.BadParameter(
            "name the column that holds the class, as in --target diagnosis", param_hint="--target"
        )
    else:
        with progress(f"reading {data.name}"):
            rows = read_training(
                data, target, ignore=ignore, weight=weight, categorical=categorical
            )
        with progress(f"learning {model}"), options.checked(given):
            classifier.fit(rows.frame, rows.target, rows.weights)
        summary = _summary(classifier, rows)
    classifier.set_params(n_jobs=given.get("n_jobs"))  # the file is for any machine
    classifier.save(output)
    summary |= {"class_name": type(classifier).__name__, "model": model, "parameters": given}
    summary |= {"file": str(output), "seconds": round(perf_counter() - start, 3)}
    if json:
        print_json(summary)
    else:
        _show(summary, data)


def _fit_counts(classifier: "Classifier", path: Path, model: str, target: str | None) -> Summary:
    """Learn from a counts file, and describe it."""
    if not hasattr(classifier, "fit_counts"):
        raise ValueError(
            f"model {model!r} learns from rows, and {path} holds counts; fit it on a file of rows, "
            "or choose a model of counts, such as nb, tan, aode or hnb"
        )
    counts = counting.load_counts(path)
    if target not in {None, counts.schema.target}:
        raise ValueError(
            f"{path} counts the classes of {counts.schema.target!r}, not of {target!r}; leave "
            "--target out"
        )
    try:
        classifier.fit_counts(counts)
    except ValueError as error:
        raise ValueError(f"model {model!r} cannot be learned from {path}: {error}") from error
    return counting.describe_counts(counts)


def _refuse_row_options(path: Path, given: dict[str, object]) -> None:
    """Name an option that has no say any more once rows are counted."""
    for name in _OF_ROWS:
        if given.get(name) is not None:
            shown = name.removesuffix("_features")
            raise ValueError(
                f"--{shown} is about rows, and {path} holds counts; leave it out, or give it to "
                f"unnaive schema or count{'' if name != 'weight' else ', which take no weights'}"
            )


def _summary(model: "Classifier", rows: "TrainingRows") -> Summary:
    """Describe what was learned from, in plain values."""
    import numpy as np  # noqa: PLC0415 - see app.py

    frame, schema = rows.frame, model.schema_
    counts = np.bincount(schema.encode_target(rows.target), minlength=len(schema.classes))
    board: Summary = {"leaderboard": model.leaderboard_} if hasattr(model, "leaderboard_") else {}
    return {
        "rows": frame.n_rows,
        **board,
        **counting.describe_schema(schema),
        "missing_cells": sum(int(column.missing.sum()) for column in frame.columns),
        "classes": counting.class_rows(schema, counts.tolist()),
    }


def _show(summary: Summary, data: Path) -> None:
    settings = ", ".join(f"{name}={value!r}" for name, value in summary["parameters"].items())
    file = summary["file"]
    for name, value in {
        **counting.show_rows(summary, str(data)),
        "model": f"{summary['model']}: {summary['class_name']}({settings})",
        **_blend(summary.get("leaderboard", [])),
        "written": f"{file} ({size_of(Path(file))}) in {summary['seconds']:.2f} s",
        "next": f"unnaive predict {quote(file)} NEW.csv",
        **({} if "pairs" in summary else {"or": _report(file, data)}),
    }.items():
        typer.echo(f"{name:<9}{value}")


def _blend(board: "list[State]") -> dict[str, str]:
    """Say how many models were tried, and which of them answer together."""
    tried = [line for line in board if "log_loss" in line]
    members = [
        f"{line['name']} {line['weight']:.0%}"
        for line in sorted(tried, key=lambda line: -line["weight"])
        if line["weight"] > 0
    ]
    if not members:
        return {}
    how = f" (of {len(tried)} models tried on rows left out)"
    return {"blend": ", ".join(members) + how}


def _report(file: str, data: Path) -> str:
    page = Path(file).with_suffix(".html")
    return f"unnaive report {quote(file)} {quote(str(data))} -o {quote(str(page))}"
