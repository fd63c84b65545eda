"""``unnaive demo``: every model on data that comes along."""

from time import perf_counter

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.evaluate import cross_validated
from unnaive.cli.rows import TrainingRows
from unnaive.cli.scores import show_scores, summary
from unnaive.cli.terminal import print_json

_FOLDS = 10


# One thread: rows this few gain nothing from two, and folds side by side spoil the times shown.
def demo(n_jobs: options.Jobs = 1, json: options.AsJson = False) -> None:
    """Try all models on data that comes along.

    They are cross-validated side by side on the Wisconsin breast cancer data, which comes
    with scikit-learn: nothing is downloaded.
    """
    from unnaive.datasets import load_wdbc  # noqa: PLC0415 - see app.py
    from unnaive.io.frames import to_column  # noqa: PLC0415 - see app.py

    start = perf_counter()
    data = load_wdbc()
    rows = TrainingRows(data.frame, to_column(data.y, data.target), None)
    models = {key: make() for key, make in unnaive.all_models().items()}
    found = {
        key: cross_validated(key, model, rows, folds=_FOLDS, repeats=1, seed=0, n_jobs=n_jobs)
        for key, model in models.items()
    }
    title = (
        f"{data.title}: {len(data.y)} tumours, {len(data.names)} measurements, benign or "
        f"malignant?\n{_FOLDS}-fold cross-validation, the same folds for every model"
    )
    if json:
        print_json({"data": data.title, "rows": len(data.y), **summary(found)})
        return
    show_scores(found, title, ["accuracy", "log_loss", "auc"])
    typer.echo(f"{len(models)} models in {perf_counter() - start:.1f} s.")
    typer.echo("With your own data: unnaive evaluate YOUR.csv --target COLUMN")
    typer.echo("What the models are: unnaive models")
