"""All that a report says, as one dictionary of plain values; the page is made from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from unnaive import __version__
from unnaive.exceptions import UnnaiveError
from unnaive.report.budget import affordable
from unnaive.report.card import describe_model
from unnaive.report.data import describe_data
from unnaive.report.errors import describe_errors
from unnaive.report.graph import describe_structure
from unnaive.report.importance import describe_importance
from unnaive.report.performance import describe_performance, judge
from unnaive.report.rows import report_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import Label, State
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a report is made; :func:`summarise` and :func:`write` take each by its name.

    Attributes
    ----------
    folds : int or None, default=10
        Folds of the cross-validation, fewer where the smallest class has fewer rows; every fold
        learns bins, structure and tables anew. None: the rows are new to the model, and its own
        answers are judged.
    seed : int, default=0
        Of folds and of rows that are drawn.
    positive : class label, default=None
        Of two classes the one to find; None: the last.
    errors : int, default=10
        Most rows that are shown of those that the model got wrong.
    sample : int, default=500
        Most rows that the importance of columns is the mean over.
    max_rows : int or None, default=None
        Most rows that the model is judged on, drawn with the shares of the classes; None: all.
    seconds : float or None, default=None
        Time that the cross-validation may take, about: of more than 8000 rows as many are drawn
        as a slow model manages, perhaps in 5 folds, which depends on the machine. None: however
        long it takes.
    name : str
        Of the data, a file for one.
    title : str or None, default=None
        Of the report; None: the model and the class.
    origin : dict or None, default=None
        ``file``, ``saved`` and ``version`` of the model, if it comes from a file.
    n_jobs : int, default=None
        Folds side by side, as threads. Changes nothing but the time.
    progress : callable, default=None
        Called as ``progress(done, total)`` after every fold.
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
    origin: dict[str, str] | None = None
    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        if self.folds is not None and self.folds < 2:
            raise ValueError(
                f"folds={self.folds}; it must be at least 2, or None for rows new to the model"
            )


def summarise(model: Classifier, X: object, y: object, **settings: Any) -> State:
    """Say all that a report says, in plain values.

    Parameters
    ----------
    model : Classifier
        Fitted.
    X, y : rows of the model's columns, labels of shape (n,)
        What the model learned from, as a rule.
    **settings
        Fields of :class:`Settings`, as in ``folds=5``.

    Returns
    -------
    dict
        ``data``, ``model``, ``structure``, ``importance``, ``performance`` (with an ``error`` alone
        if the rows cannot be judged), ``errors`` and more; all of it fit for ``json.dumps``.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> found = summarise(NaiveBayes().fit(data.X[:, :4], data.y), data.X[:, :4], data.y, folds=5)
    >>> found["data"]["classes"]
    [{'label': 'benign', 'rows': 357, 'share': 0.6274...}, {'label': 'malignant', 'rows': 212, ...}]
    >>> found["performance"]["scores"][0]["name"], found["performance"]["roc"]["positive"]
    ('accuracy', 'malignant')
    """
    given = Settings(**settings)
    rows, place = report_rows(model, X, y), _positive(model, given.positive)
    data = {"name": given.name, **describe_data(model, rows)}
    information = [column["information"] for column in data["columns"]]
    importance, note = describe_importance(model, rows, information, given.sample, given.seed)
    performance, wrong = _judged(model, rows, place, given)
    found = {
        "format": FORMAT,
        "unnaive": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "title": given.title or f"{type(model).__name__} model of {model.schema_.target}",
        "lead": _lead(data, performance),
        "positive": place,
        "data": data,
        "model": {**describe_model(model, rows), "origin": given.origin},
        "structure": describe_structure(model, information),
        "importance": importance,
        "importance_note": note,
        "performance": performance,
        "errors": wrong,
        "explorer_note": "",
    }
    return dict(_finite(found))


def _judged(
    model: Classifier, rows: ReportRows, positive: int, given: Settings
) -> tuple[State, State | None]:
    """Describe performance and errors, or say why there are none."""
    folds, most = given.folds, given.max_rows
    try:
        if given.seconds is not None and most is None and folds is not None:
            folds, most = affordable(model, rows, folds, given.seconds, given.seed)
        drawn = rows.drawn(most, given.seed)
        part = rows if len(drawn) == len(rows.codes) else rows.take(drawn)
        judged = judge(
            *(model, part, folds), seed=given.seed, n_jobs=given.n_jobs, progress=given.progress
        )
    except UnnaiveError as error:
        return {"error": str(error)}, None
    wrong = describe_errors(model, part, judged, given.errors, drawn)
    return describe_performance(judged, part, positive), wrong


def _positive(model: Classifier, given: Label) -> int:
    """Place of the class to find among the model's, by its label or its text."""
    labels = list(model.schema_.classes)
    if given is None:
        return len(labels) - 1
    for place, label in enumerate(labels):
        if label == given or str(label) == str(given):
            return place
    raise ValueError(f"positive={given!r} is no class; the classes are {labels}")


def _lead(data: State, performance: State) -> str:
    """Say in two sentences what the model does and how well."""
    d, classes = len(data["columns"]), [entry["label"] for entry in data["classes"]]
    which = ", ".join(classes[:5]) + (f" and {len(classes) - 5} more" if len(classes) > 5 else "")
    what = f"The model predicts {data['target']} ({which}) from {d:,} column{'s' if d > 1 else ''}."
    if "scores" not in performance:
        return what
    accuracy = performance["scores"][0]
    low, high = accuracy["interval"]
    largest = max(data["classes"], key=lambda entry: entry["rows"])["label"]
    how = performance["protocol"]["description"]
    return (
        f"{what} On {how if 'new' in how else 'rows it had not seen'}, it is right in "
        f"{accuracy['value']:.1%} of {performance['rows']:,} rows (95% interval {low:.1%} to "
        f"{high:.1%}); always answering “{largest}” would be right in {accuracy['baseline']:.1%}."
    )


def _finite(value: Any) -> Any:
    """Replace what JSON has no number for by None."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
