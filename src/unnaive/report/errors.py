"""Rows that the model got most wrong, with the reasons that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.explain import what_if
from unnaive.report.cells import explorer_cells, typed_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, Label, State
    from unnaive.explain import Explanation
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier
    from unnaive.report.performance import Judged
    from unnaive.report.rows import ReportRows

_REASONS = 8  # of a row; what is left is added up
_FEW, _MANY = 20, 40  # columns of which two at a time, or one, can be tried to be others
_CHANCES = 3  # classes of a row whose probabilities are told


def describe_errors(
    model: Classifier, rows: ReportRows, judged: Judged, most: int, numbers_of_rows: IntArray
) -> State:
    """Describe the rows whose own class had the least probability and was not predicted.

    ``row`` counts from 0, as ``numbers_of_rows`` does. ``judged`` is the probability by a model
    that did not learn from the row, ``fitted`` that of the model of this report; the reasons are
    those of the latter, as log-odds of the class that was predicted against all others.
    """
    own = judged.probabilities[np.arange(len(rows.codes)), rows.codes]
    wrong = np.flatnonzero(judged.predicted != rows.codes)
    worst = wrong[np.argsort(own[wrong], kind="stable")][:most]
    found: State = {"wrong": len(wrong), "rows": []}
    if not len(worst):
        return found
    part = rows.take(worst)
    fitted = model.predict_proba(part.frame)
    explanation = model.explain(part.frame)
    codes, numbers = explorer_cells(model, part.frame), typed_numbers(model, part.frame)
    labels = model.classes_.tolist()
    for place, row in enumerate(worst.tolist()):
        predicted, own_class = int(judged.predicted[row]), int(part.codes[place])
        cells = _texts(explanation.cells[place].tolist(), numbers[place])
        found["rows"].append(
            {
                "row": int(numbers_of_rows[row]),
                "actual": rows.labels[own_class],
                "predicted": rows.labels[predicted],
                "own": float(own[row]),
                "judged": _chances(judged.probabilities[row], rows, own_class),
                "fitted": _chances(fitted[place], rows, own_class),
                "cells": cells,
                "codes": codes[place],
                "numbers": numbers[place],
                **_reasons(explanation, place, labels[predicted], cells),
                "cure": _cure(model, part.frame.block(place, place + 1), labels[own_class], cells),
            }
        )
    return found


def _texts(cells: Sequence[str], numbers: Sequence[float | None]) -> list[str]:
    """Return what the cells of a row are, numbers without their bins."""
    return [
        text if number is None else f"{number:.6g}"
        for text, number in zip(cells, numbers, strict=True)
    ]


def _chances(chances: FloatArray, rows: ReportRows, own: int) -> list[State]:
    """List the most probable classes and the row's own, the most probable first."""
    order = np.argsort(-chances, kind="stable").tolist()
    listed = [code for code in order if code in order[:_CHANCES] or code == own]
    return [{"label": rows.labels[code], "probability": float(chances[code])} for code in listed]


def _reasons(explanation: Explanation, place: int, label: Label, cells: Sequence[str]) -> State:
    """List what spoke most for and against a class, in log-odds."""
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


def _cure(model: Classifier, row: Frame, label: Label, cells: Sequence[str]) -> str:
    """Say what would have to be different for the row to be told right."""
    if model.predict(row).tolist()[0] == label:
        return "The model of this report, which may have learned from the row, tells it right."
    if len(row.names) > _MANY:
        return ""
    most = 2 if len(row.names) <= _FEW else 1
    found = what_if(model, row, to=label, at_most=most)
    if found.instead is None:
        few = "one or two of its cells" if most == 2 else "a single cell"
        cut = "" if found.complete else ", as far as was tried"
        return f"No change of {few} would make it {label}{cut}."
    changes = " and ".join(
        f"{one.column} were {'in ' if one.instead.startswith('(') else ''}{one.instead} instead of "
        f"{cells[row.names.index(one.column)]}"
        for one in found.changes
    )
    return f"It would be taken for {label} if {changes}."
