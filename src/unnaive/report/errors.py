"""Misclassified rows with the lowest probability of their true class, and the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.explain import what_if
from unnaive.explain.wording import ranks
from unnaive.report.rows import engine_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, Label, State
    from unnaive.explain import Explanation
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier
    from unnaive.report.performance import Judged
    from unnaive.report.rows import ReportRows

_REASONS = 8  # of a row; the others are summed up
_FEW, _MANY = 20, 40  # columns up to which pairs, or single cells, are changed to find a correction
_CHANCES = 3  # classes of a row whose probabilities are listed


def describe_errors(
    model: Classifier, rows: ReportRows, judged: Judged, most: int, numbers_of_rows: IntArray
) -> State:
    """Describe the misclassified rows whose true class had the lowest probability.

    ``row`` counts from 0, as ``numbers_of_rows`` does. ``judged`` are the probabilities of a model
    that did not learn from the row, ``fitted`` those of the model of this report. The reasons are
    those of the latter, as log-odds of the predicted class against all others.
    """
    true = judged.probabilities[np.arange(len(rows.codes)), rows.codes]
    wrong = np.flatnonzero(judged.predicted != rows.codes)
    worst = wrong[np.argsort(true[wrong], kind="stable")][:most]
    errors: State = {"wrong": len(wrong), "rows": []}
    if not len(worst):
        return errors
    taken = rows.take(worst)
    fitted = model.predict_proba(taken.frame)
    explanation = model.explain(taken.frame)
    codes, numbers = engine_cells(model, taken.frame)
    labels = model.classes_.tolist()
    for place, row in enumerate(worst.tolist()):
        predicted, actual = int(judged.predicted[row]), int(taken.codes[place])
        cells = _texts(explanation.cells[place].tolist(), numbers[place])
        errors["rows"].append(
            {
                "row": int(numbers_of_rows[row]),
                "actual": rows.labels[actual],
                "predicted": rows.labels[predicted],
                "own": float(true[row]),
                "judged": _chances(judged.probabilities[row], rows, actual),
                "fitted": _chances(fitted[place], rows, actual),
                "cells": cells,
                "codes": codes[place],
                "numbers": numbers[place],
                **_reasons(explanation, place, labels[predicted], cells),
                "cure": _cure(model, taken.frame.block(place, place + 1), labels[actual], cells),
            }
        )
    return errors


def _texts(cells: Sequence[str], numbers: Sequence[float | None]) -> list[str]:
    """Return the cells of a row as text, numbers without their bins."""
    return [
        text if number is None else f"{number:.6g}"
        for text, number in zip(cells, numbers, strict=True)
    ]


def _chances(chances: FloatArray, rows: ReportRows, actual: int) -> list[State]:
    """List the most probable classes and the true class, the most probable first."""
    order = np.argsort(-chances, kind="stable").tolist()
    listed = [code for code in order if code in order[:_CHANCES] or code == actual]
    return [{"label": rows.labels[code], "probability": float(chances[code])} for code in listed]


def _reasons(explanation: Explanation, place: int, label: Label, cells: Sequence[str]) -> State:
    """List the strongest contributions for and against a class, in log-odds."""
    odds = explanation.log_odds(positive=label, by="group")
    parts, groups = odds.contributions[place], explanation.groups
    listed = [group for group in ranks(parts) if parts[group] != 0]
    shown = [
        {
            "label": ", ".join(
                f"{explanation.names[column]} = {cells[column]}" for column in groups[group]
            ),
            "contribution": float(parts[group]),
        }
        for group in listed[:_REASONS]
    ]
    rest = listed[_REASONS:]
    return {
        "base": float(odds.base[place]),
        "reasons": shown,
        "others": len(rest),
        "rest": float(parts[rest].sum()),
        "log_odds": float(odds.base[place] + parts.sum()),
    }


def _cure(model: Classifier, row: Frame, label: Label, cells: Sequence[str]) -> str:
    """Say which change would make the model classify the row correctly."""
    if model.predict(row).tolist()[0] == label:
        return "The model of this report, which may have learned from it, classifies it correctly."
    if len(row.names) > _MANY:
        return ""
    most = 2 if len(row.names) <= _FEW else 1
    result = what_if(model, row, to=label, at_most=most)
    if result.instead is None:
        few = "one or two cells" if most == 2 else "a single cell"
        stopped = "" if result.complete else " was found that"
        return f"No change of {few}{stopped} would make the prediction {label}."
    changes = " and ".join(
        f"{one.column} were {'in ' if one.instead.startswith('(') else ''}{one.instead} instead of "
        f"{cells[row.names.index(one.column)]}"
        for one in result.changes
    )
    return f"The prediction would be {label} if {changes}."
