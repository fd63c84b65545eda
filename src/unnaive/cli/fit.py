"""``unnaive fit``: learn a model from a file and save it."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unnaive.cli import options
from unnaive.cli.output import require_writable, size_of
from unnaive.cli.rows import read_training
from unnaive.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from unnaive.cli.rows import TrainingRows
    from unnaive.models import Classifier

_SHOWN = 10


def fit(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet or .arff.")
    ],
    *,
    target: options.Target,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the model is saved.")
    ],
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="KEY", help="See: unnaive models.")
    ] = "tan",
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

    Missing cells are welcome: they may be empty, ? or NA.
    """
    given = options.parameters(discretize, bins, smoothing, categorical, settings)
    classifier = options.build(model, given)
    require_writable(output, data)
    start = perf_counter()
    with progress(f"reading {data.name}"):
        rows = read_training(data, target, ignore=ignore, weight=weight, categorical=categorical)
    with progress(f"learning {model}"), options.checked(given):
        classifier.set_params(n_jobs=n_jobs).fit(rows.frame, rows.target, rows.weights)
    classifier.set_params(n_jobs=given.get("n_jobs"))  # the file is for any machine
    classifier.save(output)
    summary = _summary(classifier, rows)
    summary |= {"model": model, "parameters": given}
    summary |= {"file": str(output), "seconds": round(perf_counter() - start, 3)}
    if json:
        print_json(summary)
    else:
        _show(summary, data)


def _summary(model: "Classifier", rows: "TrainingRows") -> dict[str, Any]:
    """Describe what was learned from, in plain values."""
    import numpy as np  # noqa: PLC0415 - see app.py

    from unnaive.schema import NumericColumn  # noqa: PLC0415 - see app.py

    frame, schema = rows.frame, model.schema_
    counts = np.bincount(schema.encode_target(rows.target), minlength=len(schema.classes))
    numeric = sum(isinstance(column, NumericColumn) for column in schema.columns)
    return {
        "rows": frame.n_rows,
        "columns": len(frame.names),
        "categorical": len(frame.names) - numeric,
        "numeric": numeric,
        "missing_cells": sum(int(column.missing.sum()) for column in frame.columns),
        "target": schema.target,
        "classes": [
            {"class": label, "rows": count}
            for label, count in zip(schema.classes, counts.tolist(), strict=True)
        ],
        "class_name": type(model).__name__,
    }


def _show(summary: dict[str, Any], data: Path) -> None:
    cells = summary["rows"] * summary["columns"]
    gaps = summary["missing_cells"]
    missing = f"{gaps:,} missing cells ({gaps / cells:.2%})" if gaps else "no missing cells"
    classes = [f"{entry['class']} {entry['rows']:,}" for entry in summary["classes"]]
    if len(classes) > _SHOWN:
        classes = [*classes[:_SHOWN], f"… {len(classes)} in all"]
    settings = ", ".join(f"{name}={value!r}" for name, value in summary["parameters"].items())
    file = summary["file"]
    for name, value in {
        "data": f"{data}: {summary['rows']:,} rows",
        "columns": f"{summary['columns']:,} ({summary['categorical']:,} categorical, "
        f"{summary['numeric']:,} numeric), {missing}",
        "classes": f"{summary['target']}: {', '.join(classes)}",
        "model": f"{summary['model']}: {summary['class_name']}({settings})",
        "written": f"{file} ({size_of(Path(file))}) in {summary['seconds']:.2f} s",
        "next": f"unnaive predict {file} NEW.csv",
    }.items():
        typer.echo(f"{name:<9}{value}")
