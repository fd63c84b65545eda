"""The data of a report: classes, and the values of every column by class."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from unnaive.explain.cells import one_row, values_of
from unnaive.explain.order import shown_order
from unnaive.explain.wording import plural
from unnaive.information import entropy
from unnaive.models import CountsClassifier
from unnaive.schema import NumericColumn

if TYPE_CHECKING:
    from unnaive._typing import IntArray, State
    from unnaive.io.frames import Column
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows
    from unnaive.schema import ColumnSchema

_SHOWN_VALUES = 12
_SHOWN_BINS = 40
_BARS = 16  # of a histogram
_TAIL = 0.005  # share of the rows at either end that a histogram puts into its outermost bars


def describe_data(model: Classifier, rows: ReportRows) -> State:
    """Describe rows, classes and columns in plain values."""
    k, n = len(rows.labels), rows.frame.n_rows
    counts, incomplete = np.bincount(rows.codes, minlength=k), np.zeros(n, dtype=bool)
    columns = []
    for place, known in enumerate(model.schema_.columns):
        cells = rows.frame.column(place)
        incomplete |= cells.missing
        columns.append(_describe_column(known, cells, rows, isinstance(model, CountsClassifier)))
    missing = sum(column["missing"] for column in columns)
    start = model.predict_proba(one_row(model, {}))[0].tolist()
    return {
        "rows": n,
        "target": model.schema_.target,
        "classes": [
            {"label": label, "rows": count, "share": count / n, "start": probability}
            for label, count, probability in zip(rows.labels, counts.tolist(), start, strict=True)
        ],
        "columns": columns,
        "missing_cells": missing,
        "missing_share": missing / (n * len(columns)),
        "complete_rows": n - int(incomplete.sum()),
    }


def _describe_column(known: ColumnSchema, cells: Column, rows: ReportRows, binned: bool) -> State:
    k, missing = len(rows.labels), cells.missing
    numeric = isinstance(known, NumericColumn)
    found: State = {
        "name": known.name,
        "kind": ("bins" if binned else "number") if numeric else "categories",
        "missing": int(missing.sum()),
        "missing_by_class": np.bincount(rows.codes[missing], minlength=k).tolist(),
        "quartiles": None,
        "histogram": None,
    }
    if numeric:
        found |= _numbers(cells, rows.codes, k)
    as_number = numeric and not binned
    shown = NumericColumn(known.name, _quarters(found)) if as_number else known
    counts = _by_class(shown, cells, rows.codes, k)
    found["size"] = None if as_number else known.size
    found["unknown"] = int(counts[:, -1].sum())
    found["unknown"] -= 0 if shown.missing_category else found["missing"]
    bars = found["histogram"]["by_class"] if as_number and found["histogram"] else counts[:, :-1]
    found["information"] = _information(np.asarray(bars))
    found["values"], found["other_values"] = _listed(shown, counts[:, :-1])
    return found


def _quarters(found: State) -> tuple[float, ...]:
    """Distinct quartiles of a column of numbers."""
    least, *quartiles, most = found["quartiles"] or [0.0, 0.0]
    return tuple(sorted({cut for cut in quartiles if least <= cut < most}))


def _by_class(known: ColumnSchema, cells: Column, classes: IntArray, k: int) -> IntArray:
    """Count rows by class and value, the last of which is missing or unseen; (k, v + 1)."""
    width = known.size + 1
    cell = classes * width + known.encode(cells)
    return np.asarray(np.bincount(cell, minlength=k * width).reshape(k, width))


def _information(counts: IntArray) -> float:
    """Mutual information of a column with the class in bits, over the rows that have a value."""
    if not counts.sum():
        return 0.0
    both = entropy(counts.sum(axis=0)) + entropy(counts.sum(axis=1)) - entropy(counts)
    return max(both, 0.0) / log(2)


def _listed(known: ColumnSchema, counts: IntArray) -> tuple[list[State], int]:
    """List values with their rows by class; of many categories the most frequent ones."""
    total = counts.sum(axis=0)
    limit = _SHOWN_BINS if isinstance(known, NumericColumn) else _SHOWN_VALUES
    most = limit - 1 if known.size > limit else known.size
    frequent = set(np.argsort(-total, kind="stable")[:most].tolist())
    places = [place for place in shown_order(values_of(known)) if place in frequent]
    listed = [
        {
            "label": known.label(place),
            "rows": int(total[place]),
            "by_class": counts[:, place].tolist(),
        }
        for place in places
    ]
    others = known.size - len(listed)
    if others:
        rest = np.delete(counts, places, axis=1).sum(axis=1)
        label = plural(others, "other bin" if isinstance(known, NumericColumn) else "other value")
        listed.append({"label": label, "rows": int(rest.sum()), "by_class": rest.tolist()})
    return listed, others


def _numbers(cells: Column, classes: IntArray, k: int) -> State:
    """Compute quartiles and a histogram by class of a column of numbers."""
    observed = ~cells.missing
    values = np.zeros(0) if cells.is_text else np.asarray(cells.values[observed], dtype=float)
    if not len(values):
        return {}
    shares = [0, _TAIL, 0.25, 0.5, 0.75, 1 - _TAIL, 1]
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest float
        least, low, *quartiles, high, most = np.quantile(values, shares).tolist()
        cuts = np.unique(np.linspace(low, high, _BARS + 1)[1:-1])
    cuts = cuts[np.isfinite(cuts) & (cuts < most)]
    width = len(cuts) + 1
    bars = np.bincount(classes[observed] * width + np.searchsorted(cuts, values), None, k * width)
    return {
        "quartiles": [least, *quartiles, most],
        "histogram": {"cuts": cuts.tolist(), "by_class": bars.reshape(k, width).tolist()},
    }
