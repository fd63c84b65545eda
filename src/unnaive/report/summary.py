"""The content of a report as one dictionary of plain values."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from unnaive import __version__
from unnaive._dataclasses import dataclass
from unnaive._json import plain
from unnaive.checks import check_data
from unnaive.exceptions import UnnaiveError
from unnaive.explain.wording import plural
from unnaive.report.budget import affordable
from unnaive.report.card import describe_model
from unnaive.report.certainty import describe_certainty
from unnaive.report.data import describe_data
from unnaive.report.drift import describe_drift
from unnaive.report.effects import describe_effects
from unnaive.report.errors import describe_errors
from unnaive.report.graph import describe_structure
from unnaive.report.importance import describe_importance
from unnaive.report.performance import describe_performance, judge
from unnaive.report.rows import report_rows
from unnaive.report.writing import interval, percent

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import Label, State
    from unnaive.counts import JointCounts
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

FORMAT = 1
_PERFECT = 0.99  # accuracy that is suspicious


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of a report; :func:`summarise` and :func:`write` take them as keywords.

    Parameters
    ----------
    folds : int or None, default=10
        Folds of the cross-validation, fewer if the smallest class has fewer samples. Every fold
        learns bins, structure and tables again. None: the samples are new to the model, so its own
        predictions are scored.
    seed : int, default=0
        Random seed of the folds and of samples drawn.
    positive : class label, default=None
        Class whose effects and ROC curve are shown; None: the last.
    errors : int, default=10
        Largest number of misclassified samples to show.
    sample : int, default=500
        Largest number of samples for the importance of features.
    max_rows : int or None, default=None
        Largest number of samples to score, drawn with the shares of the classes; None: all.
    seconds : float or None, default=None
        Approximate time limit of the cross-validation: of more than 8000 samples as many are drawn
        as a slow model manages, perhaps in 5 folds. The number depends on the machine. None: no
        limit.
    name : str, default=""
        Name of the data, such as a file name.
    title : str or None, default=None
        Title of the report; None: the model and the target.
    drift : JointCounts or None, default=None
        Counts of earlier samples, with which these are compared in a section of the report, see
        :func:`unnaive.evaluate.drift`; None: there is no such section.
    origin : dict or None, default=None
        ``file``, ``saved`` and ``version`` of the model, if it comes from a file.
    n_jobs : int, default=None
        Number of folds to compute at the same time, as threads; the results are the same.
    progress : callable, default=None
        Called as ``progress(done, total)`` after every fold.

    See Also
    --------
    summarise : Computes the content of a report.
    write : Writes a report to a file.

    Examples
    --------
    >>> Settings(folds=5, positive="malignant").errors
    10
    """

    folds: int | None = 10
    seed: int = 0
    positive: Label = None
    errors: int = 10
    sample: int = 500
    max_rows: int | None = None
    seconds: float | None = None
    name: str = ""
    title: str | None = None
    drift: JointCounts | None = None
    origin: dict[str, str] | None = None
    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if self.folds is not None and self.folds < 2:
            raise ValueError(
                f"folds={self.folds}; it must be at least 2, or None for rows new to the model"
            )


def summarise(model: Classifier, X: object, y: object, **settings: Any) -> State:
    """Compute the content of a report as plain values.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    X : data frame or array-like of shape (n, d)
        Samples, usually the training data.
    y : array-like of shape (n,), or str
        Class labels of the samples, or the name of their column in X.
    **settings : dict
        Fields of :class:`Settings`, such as ``folds=5``.

    Returns
    -------
    dict
        ``data``, ``model``, ``structure``, ``importance``, ``performance`` (only an ``error`` if
        the samples cannot be scored), ``errors`` and more; ``json.dumps`` accepts all of it.

    See Also
    --------
    write : Also makes the page, and writes it to a file.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> summary = summarise(NaiveBayes().fit(data.X[:, :4], data.y), data.X[:, :4], data.y, folds=5)
    >>> summary["data"]["classes"]
    [{'label': 'benign', 'rows': 357, 'share': 0.6274...}, {'label': 'malignant', 'rows': 212, ...}]
    >>> summary["performance"]["scores"][0]["name"], summary["performance"]["roc"]["positive"]
    ('accuracy', 'malignant')
    """
    options = Settings(**settings)
    rows, place = report_rows(model, X, y), _positive(model, options.positive)
    data = {"name": options.name, **describe_data(model, rows)}
    information = [column["information"] for column in data["columns"]]
    importance, note = describe_importance(model, rows, information, options.sample, options.seed)
    performance, wrong = _judged(model, rows, place, options)
    summary = {
        "format": FORMAT,
        "unnaive": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "title": options.title or f"{type(model).__name__} model of {model.schema_.target}",
        "lead": _lead(data, performance),
        "warnings": _warnings(performance, importance),
        "findings": check_data(rows.frame, rows.target).to_dict()["findings"],
        "positive": place,
        "data": data,
        "drift": describe_drift(model, rows, options.drift, options.seed),
        "model": {**describe_model(model, rows), "origin": options.origin},
        "structure": describe_structure(model, information),
        "importance": importance,
        "importance_note": note,
        "effects": describe_effects(model, rows, place, options.seed),
        "performance": performance,
        "errors": wrong,
        "explorer_note": "",
    }
    return cast("State", plain(summary))  # without numbers that JSON lacks


def _judged(
    model: Classifier, rows: ReportRows, positive: int, options: Settings
) -> tuple[State, State | None]:
    """Describe performance and errors, or say why there are none."""
    folds, most = options.folds, options.max_rows
    try:
        if options.seconds is not None and most is None and folds is not None:
            folds, most = affordable(model, rows, folds, options.seconds, options.seed)
        drawn = rows.drawn(most, options.seed)
        scored = rows if len(drawn) == len(rows.codes) else rows.take(drawn)
        judged = judge(
            *(model, scored, folds),
            seed=options.seed,
            n_jobs=options.n_jobs,
            progress=options.progress,
        )
    except UnnaiveError as error:
        return {"error": str(error)}, None
    wrong = describe_errors(model, scored, judged, options.errors, drawn)
    found = describe_performance(judged, scored, positive)
    found["certainty"] = describe_certainty(model, scored, judged.probabilities)
    return found, wrong


def _positive(model: Classifier, wanted: Label) -> int:
    """Position of the positive class, by its label or its text."""
    labels = list(model.schema_.classes)
    if wanted is None:
        return len(labels) - 1
    for place, label in enumerate(labels):
        if label == wanted or str(label) == str(wanted):
            return place
    raise ValueError(f"positive={wanted!r} is not a class; the classes are {labels}")


def _lead(data: State, performance: State) -> str:
    """Say in two sentences what the model predicts and how well."""
    columns, classes = len(data["columns"]), [entry["label"] for entry in data["classes"]]
    which = ", ".join(classes[:5]) + (f" and {len(classes) - 5} more" if len(classes) > 5 else "")
    what = f"The model predicts {data['target']} ({which}) from {plural(columns, 'column')}."
    if "scores" not in performance:
        return what
    accuracy = performance["scores"][0]
    largest = max(data["classes"], key=lambda entry: entry["rows"])["label"]
    new = performance["protocol"]["kind"] == "new rows"
    return (
        f"{what} It classifies {percent(accuracy['value'])} of "
        f"{plural(performance['rows'], 'new row' if new else 'held-out row')} correctly (95 % "
        f"interval {interval(accuracy['interval'])}); always predicting “{largest}” would be "
        f"correct for {percent(accuracy['baseline'])}."
    )


def _warnings(performance: State, importance: list[State]) -> list[str]:
    """List what the headline must not hide: useless probabilities, and scores too good."""
    if "scores" not in performance:
        return []
    scores = {score["name"]: score for score in performance["scores"]}
    accuracy, loss, area = (scores[name] for name in ("accuracy", "log_loss", "auc"))
    warnings = []
    if loss["baseline"] is not None and loss["value"] > loss["baseline"] > 0:
        warnings.append(
            f"The probabilities are worse than the class shares: log loss {loss['value']:.2f} "
            f"against {loss['baseline']:.2f} for predicting the shares. Do not use them as they "
            "are; calibrate the model, or choose another one."
        )
    if accuracy["value"] < accuracy["baseline"]:
        warnings.append(
            f"The accuracy of {percent(accuracy['value'])} is below that of always predicting the "
            f"largest class, {percent(accuracy['baseline'])}."
        )
    perfect = accuracy["value"] > _PERFECT > accuracy["baseline"]
    if perfect or (area["value"] is not None and area["value"] > 0.999):
        best = max(importance, key=lambda entry: _size(entry["importance"]))
        warnings.append(
            "Scores this close to 100 % are rare: check for leakage, a column that would not be "
            f"known when the model is used. The most important column is “{best['name']}”."
        )
    return warnings


def _size(importance: float | None) -> float:
    return math.inf if importance is None else importance
