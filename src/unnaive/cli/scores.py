"""Evaluations as tables and as plain values."""

import math
from typing import TYPE_CHECKING

from unnaive.cli.terminal import console, milliseconds, print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive.evaluate import Evaluation, Metrics

_SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "f1": "F1",
    "auc": "AUC",
    "auc_hand_till": "AUC H-T",
    "log_loss": "log loss",
    "brier": "Brier",
}
_WIDE = 16  # columns that "0.953 ± 0.028" needs, with its margins
_WIDEST = 12  # classes of a confusion matrix that can still be read


def show_scores(
    found: "dict[str, Evaluation]", title: str, scores: "Sequence[str]" = tuple(_SCORES)
) -> None:
    """Print models × metrics, mean ± standard deviation over folds."""
    first = next(iter(found.values()))
    if len(first.classes) <= 2:  # the same number then
        scores = [score for score in scores if score != "auc_hand_till"]
    if len(first.classes) == 2 and "f1" in scores:
        title = f"{title}; F1 is that of class {first.classes[1]!r}"
    joint = " ± " if console().width >= _WIDE * (len(scores) + 1) else "\n±"
    header = ["model", *(_SCORES[score] for score in scores)]
    lines = [
        [key, *(_cell(one.mean[score], one.std[score], joint) for score in scores)]
        for key, one in found.items()
    ]
    if len(first.folds) > 1:  # a single fit is mostly the loading of compiled code
        header.append("fit ms")
        lines = [
            [*line, _milliseconds(one)] for line, one in zip(lines, found.values(), strict=True)
        ]
    print_table(header, lines, title=title)


def show_confusion(metrics: "Metrics") -> None:
    """Print how often each class was taken for which."""
    labels = [str(label) for label in metrics.classes]
    if len(labels) > _WIDEST:
        say(f"The confusion matrix of {len(labels)} classes is in the output of --json.")
        return
    lines = [
        [label, *(_amount(count) for count in line)]
        for label, line in zip(labels, metrics.confusion.tolist(), strict=True)
    ]
    print_table(["", *labels], lines, title="Confusion: rows actual, columns predicted")


def show_classes(metrics: "Metrics") -> None:
    """Print each class against the rest."""
    columns = {
        "precision": metrics.precision,
        "recall": metrics.recall,
        "specificity": metrics.specificity,
        "F1": metrics.f1_by_class,
    }
    lines = [
        [str(label), _amount(metrics.confusion[code].sum().item())]
        + [f"{values[code]:.3f}" for values in columns.values()]
        for code, label in enumerate(metrics.classes)
    ]
    print_table(["class", "rows", *columns], lines, title="Each class against the rest")


def summary(found: "dict[str, Evaluation]") -> dict[str, object]:
    """Return evaluations as plain values."""
    first = next(iter(found.values()))
    return {"classes": first.classes, "models": {key: _summary(one) for key, one in found.items()}}


def _summary(one: "Evaluation") -> dict[str, object]:
    pooled = one.pooled
    return {
        "mean": one.mean,
        "std": one.std,
        "folds": [fold.scores() for fold in one.folds],
        "pooled": pooled.scores(),
        "confusion": pooled.confusion,
        "precision": pooled.precision,
        "recall": pooled.recall,
        "specificity": pooled.specificity,
        "f1_by_class": pooled.f1_by_class,
        "fit_seconds": one.fit_seconds,
        "predict_seconds": one.predict_seconds,
    }


def _cell(mean: float, deviation: float, joint: str) -> str:
    if math.isnan(mean):
        return "-"
    return f"{mean:.3f}" + ("" if math.isnan(deviation) else f"{joint}{deviation:.3f}")


def _milliseconds(one: "Evaluation") -> str:
    """Tell the median, which the compilation in the first folds does not move."""
    ordered = sorted(one.fit_seconds.tolist())
    return milliseconds(ordered[len(ordered) // 2])


def _amount(count: float) -> str:
    """Tell rows as whole numbers, weights as they are."""
    return f"{count:,}" if isinstance(count, int) else f"{count:,.6g}"
