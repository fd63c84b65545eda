"""``unnaive demo``: models, an explanation and a report on data that come with scikit-learn."""

from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

import unnaive
from unnaive.cli import options
from unnaive.cli.evaluate import cross_validated
from unnaive.cli.options import flag
from unnaive.cli.rows import TrainingRows
from unnaive.cli.scores import show_scores, summary
from unnaive.cli.terminal import print_json, progress

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.datasets import Dataset
    from unnaive.evaluate import Evaluation
    from unnaive.models import Classifier

_FOLDS = 10
_SIX = ["nb", "tan", "aode", "hnb", "kdb", "wanbia"]
_POSITIVE = "malignant"
_INTERESTING = 0.8  # the explained patient has about this probability: likely, not certain


# One thread: two would not be faster on so few rows, and would distort the times shown.
def demo(
    every: Annotated[bool, flag("--all", "All models, in minutes instead of seconds.")] = False,
    n_jobs: options.Jobs = 1,
    json: options.AsJson = False,
) -> None:
    """Try six models on a small data set, in ten seconds.

    The models are cross-validated on the Wisconsin breast cancer data, which come with
    scikit-learn: nothing is downloaded. Then the prediction of the best model for one patient is
    explained, and a report is written to the folder for temporary files.

    Examples
    --------
    unnaive demo
    unnaive demo --all
    """
    from unnaive.datasets import load_wdbc  # noqa: PLC0415 - see app.py
    from unnaive.io.frames import to_column  # noqa: PLC0415 - see app.py

    start = perf_counter()
    data = load_wdbc()
    rows = TrainingRows(data.frame, to_column(data.y, data.target), None)
    protocol = options.Protocol(folds=_FOLDS)
    results = {
        key: cross_validated(key, unnaive.make(key), rows, protocol, n_jobs)
        for key in (unnaive.all_models() if every else _SIX)
    }
    if json:
        print_json({"data": data.title, "rows": len(data.y), **summary(results)})
        return
    best = _show(results, data)
    with progress(f"fitting {best}"):
        model = unnaive.make(best).fit(data.frame, data.labels)
        _explain(model, data)
    if find_spec("jinja2"):
        _report(model, data, Path(gettempdir()) / "unnaive-demo.html")
    typer.echo(f"\n{len(results)} models in {perf_counter() - start:.1f} s.")
    if not every:
        typer.echo("All models: unnaive demo --all")
    typer.echo("Your own data: unnaive evaluate YOUR.csv --target COLUMN")
    typer.echo("List of models: unnaive models")


def _show(results: "dict[str, Evaluation]", data: "Dataset") -> str:
    """Print the table, sorted by accuracy, and return the best model."""
    ordered = sorted(results, key=lambda key: -results[key].mean["accuracy"])
    names = {key: f"{key} (best)" if key == ordered[0] else key for key in ordered}
    title = (
        f"{data.title}: {len(data.y)} tumors, {len(data.names)} measurements\n"
        f"{_FOLDS}-fold cross-validation, the same folds for all models; sorted by accuracy"
    )
    shown = {names[key]: results[key] for key in ordered}
    show_scores(shown, title, ["accuracy", "log_loss", "auc"])
    return ordered[0]


def _explain(model: "Classifier", data: "Dataset") -> None:
    """Explain the prediction for a patient who is likely to be ill, but not certainly."""
    place = model.classes_.tolist().index(_POSITIVE)
    chances = model.predict_proba(data.frame)[:, place]
    row = int(abs(chances - _INTERESTING).argmin())
    typer.echo(f"Patient {row + 1}: why {_POSITIVE}?")
    text = model.explain(data.frame.block(row, row + 1)).text(0, _POSITIVE)
    typer.echo("\n".join(line for line in text.splitlines() if "no effect here" not in line))


def _report(model: "Classifier", data: "Dataset", path: Path) -> None:
    """Write a report on the model."""
    from unnaive.report import write  # noqa: PLC0415 - see app.py

    with progress("writing a report", _FOLDS):
        settings: State = {"folds": _FOLDS, "seed": 0, "positive": _POSITIVE, "name": data.title}
        write(model, data.frame, data.labels, path, **settings)
    typer.echo(f"\nReport with an explorer: {path} (open it in a browser)")
