"""``unnaive fit``: learn a model from rows or counts and save it."""

from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from unnaive.cli import counting, options, queries
from unnaive.cli.check import read_checked
from unnaive.cli.options import flag, option
from unnaive.cli.output import require_writable, size_of
from unnaive.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.cli.rows import TrainingRows
    from unnaive.counts.engines.dispatch import Rows
    from unnaive.models import Classifier
    from unnaive.models.conformal import ConformalClassifier

_OF_ROWS = (
    *("discretize", "bins", "categorical", "ignore", "keep", "weight"),
    *("encoding", "decimal", "thousands", "missing", "keep_text"),
)

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"File of rows ({options.FORMATS}), or of counts from unnaive count or merge. With "
        "--query: postgresql://user@host/name, or a file of SQLite or DuckDB.",
    ),
]
Target = Annotated[
    str | None, option("--target -t", "COLUMN", "Target column; not needed for a counts file.")
]
Output = Annotated[Path, option("--output -o", "FILE", "File for the model.")]


@options.expand
def fit(
    data: Data,
    *,
    target: Target = None,
    output: Output,
    query: queries.Query = None,
    model: options.Model = None,
    training: options.Training,
    prediction_sets: Annotated[
        bool, flag("--prediction-sets", "Also calibrate prediction sets, for predict.")
    ] = False,
    n_jobs: options.Jobs = -1,
    json: options.AsJson = False,
) -> None:
    """Fit a model to a file and save it.

    Missing values are allowed: empty cells, ? and NA. nb, tan, aode, hnb and others can also be
    fitted to counts, with the same result as from the rows.

    Examples
    --------
    unnaive fit patients.csv --target diagnosis -o patients.unb
    unnaive fit patients.csv -t diagnosis --ignore id --model tan -o patients.unb
    unnaive fit wards.duckdb --query "select * from visits" -t diagnosis -o visits.unb
    """
    parameters, file, named = training.parameters(), Path(data), data
    from_counts = query is None and counting.is_counts(file)
    model = model or ("tan" if from_counts or query is not None else "auto")
    classifier = options.build(model, parameters).set_params(n_jobs=n_jobs)
    require_writable(output, *([file] if query is None else []))
    start = perf_counter()
    if prediction_sets and (from_counts or query is not None):
        what = f"{data} holds counts" if from_counts else "those of a query are streamed"
        raise ValueError(f"--prediction-sets needs rows in memory, and {what}")
    if from_counts:
        _refuse_row_options(file, training)
        with progress(f"fitting {model}"), options.checked(parameters):
            summary = _fit_counts(classifier, file, model, target)
    elif target is None:
        raise typer.BadParameter(
            "name the target column, as in --target diagnosis", param_hint="--target"
        )
    elif query is not None:
        with progress(f"fitting {model}"), options.checked(parameters):
            summary, named = _fit_query(classifier, data, query, target, training)
    else:
        queries.refuse_database(data)
        with progress(f"reading {file.name}"):
            rows, found = read_checked(file, target, training)
        with progress(f"fitting {model}"), options.checked(parameters):
            if prediction_sets:
                sets = _with_sets(classifier).fit(rows.frame, rows.target, rows.weights)
                classifier = sets.estimator_
            else:
                classifier.fit(rows.frame, rows.target, rows.weights)
        summary = {**_summary(classifier, rows), **found}
    classifier.set_params(n_jobs=parameters.get("n_jobs"))  # the file is for any machine
    (sets if prediction_sets else classifier).save(output)
    summary |= {"class_name": type(classifier).__name__, "model": model, "parameters": parameters}
    summary |= {"file": str(output), "seconds": round(perf_counter() - start, 3)}
    if json:
        print_json(summary)
    else:
        _show(summary, named, of_file=query is None and not from_counts)


def _with_sets(classifier: "Classifier") -> "ConformalClassifier":
    """Return a model that is fitted with the scores of prediction sets."""
    from unnaive.models.conformal import ConformalClassifier  # noqa: PLC0415 - see app.py

    return ConformalClassifier(classifier)


def _fit_counts(classifier: "Classifier", path: Path, model: str, target: str | None) -> "State":
    """Fit a model to a counts file, and describe the counts."""
    _refuse_without_counts(classifier, model, f"{path} holds counts")
    counts = counting.load_counts(path)
    if target not in {None, counts.schema.target}:
        raise ValueError(
            f"the target of {path} is {counts.schema.target!r}, not {target!r}; leave --target out"
        )
    try:
        classifier.fit_counts(counts)
    except ValueError as error:
        raise ValueError(f"model {model!r} cannot be fitted to {path}: {error}") from error
    return counting.describe_counts(counts)


def _refuse_without_counts(classifier: "Classifier", model: str, why: str) -> None:
    if not hasattr(classifier, "fit_counts"):
        raise ValueError(
            f"model {model!r} needs rows, and {why}; fit it to a file of rows, or choose a model "
            "that learns from counts, such as nb, tan, aode or hnb"
        )


def _fit_query(
    classifier: "Classifier", source: str, text: str, target: str, training: options.Training
) -> "tuple[State, str]":
    """Fit a model to the rows of a query; describe them, and name the source without password.

    A model that needs rows has no counts to describe, so its sample is drawn once more.
    """
    from unnaive.counts.engines.sampling import sample_rows  # noqa: PLC0415 - see app.py
    from unnaive.counts.engines.streams import engine  # noqa: PLC0415 - see app.py
    from unnaive.io.databases import query  # noqa: PLC0415 - see app.py

    queries.refuse_file_options(training)
    with query(source, text) as rows:
        classifier.fit(rows, target, training.weight)
        if hasattr(classifier, "counts_") and classifier.sample_ is None:
            return counting.describe_counts(classifier.counts_), rows.described
        drawn, sampled = sample_rows(engine(rows), target, training.weight)
    found = {} if sampled is None else {"drawn_from": sampled.of}
    return {**_summary(classifier, drawn), **found}, rows.described


def _refuse_row_options(path: Path, training: options.Training) -> None:
    """Raise for an option that has no effect on rows that are already counted."""
    for name in _OF_ROWS:
        if getattr(training, name) is not None:
            where = (
                "; counts cannot be weighted"
                if name == "weight"
                else ", or use it with unnaive schema"
            )
            what = f"--{name.replace('_', '-')} applies to rows, and {path} holds counts"
            raise ValueError(f"{what}; leave it out{where}")


def _summary(model: "Classifier", rows: "TrainingRows | Rows") -> "State":
    """Describe the training rows in plain values."""
    import numpy as np  # noqa: PLC0415 - see app.py

    frame, schema = rows.frame, model.schema_
    counts = np.bincount(schema.encode_target(rows.target), minlength=len(schema.classes))
    board: State = {"leaderboard": model.leaderboard_} if hasattr(model, "leaderboard_") else {}
    return {
        "rows": frame.n_rows,
        **board,
        **counting.describe_schema(schema),
        "missing_cells": sum(int(column.missing.sum()) for column in frame.columns),
        "classes": counting.class_rows(schema, counts.tolist()),
    }


def _show(summary: "State", data: str, *, of_file: bool) -> None:
    settings = ", ".join(f"{name}={value!r}" for name, value in summary["parameters"].items())
    file = summary["file"]
    page = quote(str(Path(file).with_suffix(".html")))
    report = f"unnaive report {quote(file)} {quote(data)} -o {page}"
    counting.show_lines(
        **counting.row_lines(summary, data),
        model=f"{summary['model']}: {summary['class_name']}({settings})",
        **_blend(summary.get("leaderboard", [])),
        **_price(summary.get("leaderboard", []), summary["parameters"].get("max_terms")),
        saved=f"{file} ({size_of(Path(file))}) in {summary['seconds']:.2f} s",
        next=f"unnaive predict {quote(file)} NEW.csv",
        **({"or": report} if of_file else {}),
    )


def _price(board: "list[State]", max_terms: object) -> dict[str, str]:
    """Say what a limit of terms costs in held-out log loss.

    >>> best, chosen = ({"name": "kdb", "log_loss": 0.3}, {"name": "nb, 2 terms", "log_loss": 0.4})
    >>> _price([{**best, "weight": 0.0}, {**chosen, "weight": 1.0}], 2)
    {'price': 'held-out log loss 0.400 with at most 2 terms, 0.300 without the limit (kdb)'}
    """
    if max_terms is None or not board:
        return {}
    chosen = next(line for line in board if line["weight"] > 0)
    text = f"held-out log loss {chosen['log_loss']:.3f} with at most {max_terms} terms"
    if board[0] is chosen:
        return {"price": f"{text}, and no candidate without the limit is better"}
    best = board[0]
    return {"price": f"{text}, {best['log_loss']:.3f} without the limit ({best['name']})"}


def _blend(board: "list[State]") -> dict[str, str]:
    """Say how many models were tried, and the weights of those that are combined."""
    tried = [line for line in board if "log_loss" in line]
    members = [
        f"{line['name']} {line['weight']:.0%}"
        for line in sorted(tried, key=lambda line: -line["weight"])
        if line["weight"] > 0
    ]
    if not members:
        return {}
    return {"blend": f"{', '.join(members)} (of {len(tried)} models tried on held-out rows)"}
