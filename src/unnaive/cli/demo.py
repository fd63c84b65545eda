"""``unnaive demo``: models on a data set that comes with scikit-learn."""

from time import perf_counter

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.evaluate import cross_validated
from unnaive.cli.rows import TrainingRows
from unnaive.cli.scores import show_scores, summary
from unnaive.cli.terminal import print_json

_FOLDS = 10


# One thread: two would not be faster on so few rows, and would distort the times shown.
def demo(n_jobs: options.Jobs = 1, json: options.AsJson = False) -> None:
    """Cross-validate all models on a small data set.

    The Wisconsin breast cancer data come with scikit-learn: nothing is downloaded.

    Examples
    --------
    unnaive demo
    """
    from unnaive.datasets import load_wdbc  # noqa: PLC0415 - see app.py
    from unnaive.io.frames import to_column  # noqa: PLC0415 - see app.py

    start = perf_counter()
    data = load_wdbc()
    rows = TrainingRows(data.frame, to_column(data.y, data.target), None)
    models = {key: make() for key, make in unnaive.all_models().items()}
    protocol = options.Protocol(folds=_FOLDS)
    results = {
        key: cross_validated(key, model, rows, protocol, n_jobs) for key, model in models.items()
    }
    title = (
        f"{data.title}: {len(data.y)} tumors, {len(data.names)} measurements, benign or "
        f"malignant\n{_FOLDS}-fold cross-validation, the same folds for all models"
    )
    if json:
        print_json({"data": data.title, "rows": len(data.y), **summary(results)})
        return
    show_scores(results, title, ["accuracy", "log_loss", "auc"])
    typer.echo(f"{len(models)} models in {perf_counter() - start:.1f} s.")
    typer.echo("Your own data: unnaive evaluate YOUR.csv --target COLUMN")
    typer.echo("List of models: unnaive models")
