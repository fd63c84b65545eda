"""Rows that the model got most wrong, with the reasons that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive.explain import what_if
from unnaive.report.cells import explorer_cells, typed_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import IntArray
    from unnaive.explain import Explanation
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier
    from unnaive.report.performance import Judged
    from unnaive.report.rows import ReportRows

_REASONS = 8  # of a row; what is left is added up
_FEW = 20  # columns of which two at a time can be changed in a moment, to have a row told right
_CHANCES = 3  # classes of a row whose probabilities are told


def describe_errors(
    model: Classifier, rows: ReportRows, judged: Judged, most: int, numbers_of_rows: IntArray
) -> dict[str, Any]:
    """Describe the rows whose own class had the least probability and was not predicted.

    ``row`` counts from 0, as ``numbers_of_rows`` does. ``judged`` is the probability by a model
    that did not learn from the row, ``fitted`` that of the model of this report; the reasons are
    those of the latter, as log-odds of the class that was predicted against all others.
    """
    own = judged.probabilities[np.arange(len(rows.codes)), rows.codes]
    wrong = np.flatnonzero(judged.predicted != rows.codes)
    worst = wrong[np.argsort(own[wrong], kind="stable")][:most]
    found: dict[str, Any] = {"wrong": len(wrong), "rows": []}
    if not len(worst):
        return found
    part = rows.take(worst)
    fitted = model.predict_proba(part.frame)
    explanation = model.explain(part.frame)
    codes, numbers = explorer_cells(model, part.frame), typed_numbers(model, part.frame)
    labels = model.classes_.tolist()
    for place, row in enumerate(worst.tolist()):
        predicted = int(judged.predicted[row])
        found["rows"].append(
            {
                "row": int(numbers_of_rows[row]),
                "actual": rows.labels[part.codes[place]],
                "predicted": rows.labels[predicted],
                "own": float(own[row]),
                "judged": _chances(judged.probabilities[row], rows, int(part.codes[place])),
                "fitted": _chances(fitted[place], rows, int(part.codes[place])),
                "cells": explanation.cells[place].tolist(),
                "codes": codes[place],
                "numbers": numbers[place],
                **_reasons(explanation, place, labels[predicted], numbers[place]),
                "cure": _cure(model, part.frame.block(place, place + 1), labels[part.codes[place]]),
            }
        )
    return found


def _chances(chances: Any, rows: ReportRows, own: int) -> list[dict[str, Any]]:
    """List the most probable classes and the row's own, the most probable first."""
    order = np.argsort(-chances, kind="stable").tolist()
    listed = [code for code in order if code in order[:_CHANCES] or code == own]
    return [{"label": rows.labels[code], "probability": float(chances[code])} for code in listed]


def _reasons(
    explanation: Explanation, place: int, label: Any, numbers: Sequence[float | None]
) -> dict[str, Any]:
    """List what spoke most for and against a class, in log-odds."""
    cells = [
        text if number is None else f"{number:.6g}"
        for text, number in zip(explanation.cells[place], numbers, strict=True)
    ]
    odds = explanation.log_odds(positive=label, by="group")
    parts, groups = odds.contributions[place], explanation.groups
    order = np.argsort(-np.abs(parts), kind="stable")
    listed = [group for group in order.tolist() if parts[group] != 0]
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
        "rest": float(parts[rest].sum()) if rest else 0.0,
        "log_odds": float(odds.base[place] + parts.sum()),
    }


def _cure(model: Classifier, row: Frame, label: Any) -> str:
    """Say what would have to be different for the row to be told right."""
    if model.predict(row).tolist()[0] == label:
        return "The model of this report, which may have learned from the row, tells it right."
    most = 2 if len(row.names) <= _FEW else 1
    found = what_if(model, row, to=label, at_most=most)
    if found.instead is None:
        few = "one or two of its cells" if most == 2 else "a single cell"
        cut = "" if found.complete else ", as far as was tried"
        return f"No change of {few} would make it {label}{cut}."
    changes = " and ".join(
        f"{one.column} were {one.instead} instead of {one.value}" for one in found.changes
    )
    return f"It would be taken for {label} if {changes}."
