"""Evaluations as tables and as plain values."""

import math
from typing import TYPE_CHECKING

from unnaive.cli.terminal import console, milliseconds, print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive.evaluate import Evaluation, Metrics

_SCORES = ("accuracy", "balanced_accuracy", "f1", "auc", "auc_hand_till", "log_loss", "brier")
_NAMES = {
    "balanced_accuracy": "balanced",
    "f1": "F1",
    "auc": "AUC",
    "auc_hand_till": "AUC H-T",
    "brier": "Brier",
}
_LEGEND = "AUC: each class against the rest; AUC H-T: mean over pairs of classes (Hand and Till)."
_WIDE = 16  # columns that "0.953 ± 0.028" needs, with its margins
_WIDEST = 12  # classes of a confusion matrix that can still be read
_CLASS_SCORES = {
    "precision": "precision",
    "recall": "recall",
    "specificity": "specificity",
    "F1": "f1_by_class",
}


def metric_name(metric: str) -> str:
    """Return the heading of a metric in tables.

    >>> metric_name("log_loss"), metric_name("auc")
    ('log loss', 'AUC')
    """
    return _NAMES.get(metric, metric.replace("_", " "))


def show_scores(
    results: "dict[str, Evaluation]", title: str, scores: "Sequence[str]" = _SCORES
) -> None:
    """Print models × metrics, mean ± standard deviation over folds."""
    first = next(iter(results.values()))
    if len(first.classes) <= 2:  # equal to the AUC
        scores = [score for score in scores if score != "auc_hand_till"]
    if len(first.classes) == 2 and "f1" in scores:
        title = f"{title}; F1 of class {first.classes[1]!r}"
    joint = " ± " if console().width >= _WIDE * (len(scores) + 1) else "\n±"
    timed = len(first.folds) > 1  # the time of a single fit is mostly loading compiled code
    lines = [
        [key]
        + [_cell(result.mean[score], result.std[score], joint) for score in scores]
        + [_median_time(result)] * timed
        for key, result in results.items()
    ]
    header = ["model", *map(metric_name, scores), *["fit ms"] * timed]
    print_table(header, lines, title=title)
    if "auc_hand_till" in scores:
        say(_LEGEND)


def show_confusion(metrics: "Metrics") -> None:
    """Print the confusion matrix."""
    labels = [str(label) for label in metrics.classes]
    if len(labels) > _WIDEST:
        say(f"The confusion matrix of {len(labels)} classes is in the output of --json.")
        return
    lines = [
        [label, *map(_amount, counts)]
        for label, counts in zip(labels, metrics.confusion.tolist(), strict=True)
    ]
    print_table(["", *labels], lines, title="Confusion matrix: rows actual, columns predicted")


def show_classes(metrics: "Metrics") -> None:
    """Print the scores of each class against the rest."""
    lines = [
        [str(label), _amount(metrics.confusion[code].sum().item())]
        + [f"{getattr(metrics, score)[code]:.3f}" for score in _CLASS_SCORES.values()]
        for code, label in enumerate(metrics.classes)
    ]
    print_table(["class", "rows", *_CLASS_SCORES], lines, title="Each class against the rest")


def summary(results: "dict[str, Evaluation]") -> dict[str, object]:
    """Return evaluations as plain values."""
    first = next(iter(results.values()))
    models = {
        key: {
            "mean": result.mean,
            "std": result.std,
            "folds": [fold.scores() for fold in result.folds],
            "pooled": result.pooled.scores(),
            "confusion": result.pooled.confusion,
            **{score: getattr(result.pooled, score) for score in _CLASS_SCORES.values()},
            "fit_seconds": result.fit_seconds,
            "predict_seconds": result.predict_seconds,
        }
        for key, result in results.items()
    }
    return {"classes": first.classes, "models": models}


def _cell(mean: float, deviation: float, joint: str) -> str:
    if math.isnan(mean):
        return "-"
    return f"{mean:.3f}" + ("" if math.isnan(deviation) else f"{joint}{deviation:.3f}")


def _median_time(result: "Evaluation") -> str:
    """Return the median fit time, which compilation in the first folds does not change."""
    ordered = sorted(result.fit_seconds.tolist())
    return milliseconds(ordered[len(ordered) // 2])


def _amount(count: float) -> str:
    """Return a number of rows, or a sum of weights."""
    return f"{count:,}" if isinstance(count, int) else f"{count:,.6g}"
