"""Effect curves: the contribution of every value of a column to the log-odds; and nomograms.

A nomogram exists where the model adds up: the log-odds of a class against another are a constant
plus one number for the value of each column, whatever the other columns are. That is tested and
not assumed: the effects of single values must sum to the model's own log-odds of real rows.

References
----------
Možina, Demšar, Kattan & Zupan, "Nomograms for visualization of naive Bayesian classifier",
PKDD 2004.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.explain.cells import one_row, repeated, values_of, with_values
from unnaive.explain.order import shown_order
from unnaive.io.frames import Column, Frame
from unnaive.models import CountsClassifier
from unnaive.schema import CategoricalColumn, NumericColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray, State
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows
    from unnaive.schema import ColumnSchema

_ROWS = 500  # whose contributions are averaged
_VALUES = 24  # of a column, the most frequent ones
_MOST_COLUMNS = 60  # of a nomogram
_MOST_CLASSES = 6  # that have a nomogram
_CHECKED = 50  # rows on which a nomogram is compared with the model
_CLOSE = 1e-6  # log-odds between the two
_CUTS = np.linspace(0, 1, 9)[1:-1]  # quantiles at which numbers are cut that the model does not bin


class _Classes(NamedTuple):
    """Positions of the reference class and of the classes that are compared with it."""

    reference: int
    others: list[int]

    @classmethod
    def of(cls, counts: IntArray, positive: int) -> _Classes:
        """Of two classes, compare the positive one; of more, the frequent with the largest."""
        if len(counts) == 2:
            return cls(1 - positive, [positive])
        first, *others = np.argsort(-counts, kind="stable").tolist()
        return cls(first, sorted(others[:_MOST_CLASSES]))


def describe_effects(model: Classifier, rows: ReportRows, positive: int, seed: int) -> State:
    """Describe the effect of every value of every column on the log-odds of the positive class.

    ``curves`` has the mean contribution of every value over up to 500 rows, and its 10 % and 90 %
    quantiles, which differ where the contribution depends on other columns; ``rows`` counts all
    rows. ``nomograms`` have the effects of single values if they add up to the model's log-odds;
    there is none otherwise, and ``note`` says why. There is one nomogram for two classes; of more
    classes, the most frequent ones have one each, against the most frequent of all.
    """
    label = model.classes_.tolist()[positive]
    d = len(rows.frame.names)
    drawn = rows.drawn(int(min(_ROWS, max(50, 2e6 / (len(rows.labels) * d)))), seed)
    frame = rows.frame.take(drawn)
    explanation = model.explain(frame)
    odds = explanation.log_odds(positive=label)
    curves = []
    for place in sorted({column for term in explanation.terms for column in term.columns}):
        column = _readable(model, rows.frame.column(place), model.schema_.columns[place])
        codes = column.encode(rows.frame.column(place)).astype(int)
        counts = np.bincount(codes, minlength=column.size + 1)
        contributions = odds.contributions[:, place]
        shown = [code for code in _shown(column, counts) if counts[code]]
        values = [
            {
                "label": column.label(code),
                "rows": int(counts[code]),
                **_spread(contributions[codes[drawn] == code]),
            }
            for code in shown
        ]
        if any(value["effect"] != 0 for value in values):
            curves.append({"column": place, "name": column.name, "values": values})
    classes = _Classes.of(np.bincount(rows.codes, minlength=len(rows.labels)), positive)
    nomograms, note = _nomograms(model, frame, rows.labels, classes)
    found = {"positive": rows.labels[positive], "curves": curves}
    return {**found, "nomograms": nomograms, "note": note}


def _readable(model: Classifier, cells: Column, column: ColumnSchema) -> ColumnSchema:
    """Return a column with bins: the model's own, or octiles of numbers that it does not bin."""
    if isinstance(column, CategoricalColumn) or isinstance(model, CountsClassifier):
        return column
    numbers = cells.values[~cells.missing].astype(float)
    cuts = np.unique(np.quantile(numbers, _CUTS)) if len(numbers) else np.zeros(0)
    return NumericColumn(column.name, tuple(cuts[np.isfinite(cuts)].tolist()))


def _shown(column: ColumnSchema, counts: IntArray) -> list[int]:
    """Codes of the most frequent values, in the order to show them."""
    frequent = set(np.argsort(-counts[: column.size], kind="stable")[:_VALUES].tolist())
    return [code for code in shown_order(values_of(column)) if code in frequent]


def _spread(contributions: FloatArray) -> State:
    """Mean and quantiles of contributions; None where no row was drawn or one is infinite."""
    if not len(contributions) or not np.isfinite(contributions).all():
        return {"effect": None, "low": None, "high": None}
    low, high = np.quantile(contributions, [0.1, 0.9])
    return {"effect": float(contributions.mean()), "low": float(low), "high": float(high)}


def _nomograms(
    model: Classifier, frame: Frame, labels: Sequence[str], classes: _Classes
) -> tuple[list[State], str]:
    """Return a nomogram of every class against the reference, or the reason why there is none.

    Differences of log P(c, x) between two classes add up; the log-odds of one class against all
    others together do not, unless there are two classes.
    """
    empty = one_row(model, {})
    base = _log_odds(model, empty, classes)
    start = model.explain(empty)
    used = sorted({column for term in start.terms for column in term.columns})
    if len(used) > _MOST_COLUMNS:
        return [], f"There is no nomogram, because {len(used):,} columns are too many."
    checked = frame.block(0, min(frame.n_rows, _CHECKED))
    with np.errstate(invalid="ignore"):
        alone = [_log_odds(model, _only(checked, place), classes) - base for place in used]
        gaps = np.abs(base + np.sum(alone, axis=0) - _log_odds(model, checked, classes))
    if not np.isfinite(alone).all():
        return [], "There is no nomogram, because some values exclude a class."
    if gaps.max(initial=0.0) > _CLOSE:
        return [], (
            "There is no nomogram for this model: the effect of a column depends on the values of "
            "other columns."
        )
    effects = {place: _single_values(model, frame, empty, place, classes) for place in used}
    against = labels[classes.reference] if len(labels) > 2 else ""
    nomograms = []
    for number, other in enumerate(classes.others):
        columns = [
            {
                "column": place,
                "name": model.schema_.columns[place].name,
                "values": [
                    {"label": name, "effect": float(odds[number] - base[0, number])}
                    for name, odds in values
                ],
                **({"missing": True} if model.schema_.columns[place].missing_category else {}),
            }
            for place, values in effects.items()
            if values and np.ptp([odds[number] for _, odds in values]) > 0
        ]
        start_odds = float(base[0, number])
        nomogram = {"positive": labels[other], "against": against, "base": start_odds}
        nomograms.append({**nomogram, "columns": columns})
    return nomograms, ""


def _single_values(
    model: Classifier, frame: Frame, empty: Frame, place: int, classes: _Classes
) -> list[tuple[str, FloatArray]]:
    """Names of the values of a column, and log-odds of rows that have nothing else."""
    column = _readable(model, frame.column(place), model.schema_.columns[place])
    cells = _points(model, frame.column(place), column)
    if not len(cells.values):
        return []
    names = [f"{number:.4g}" for number in cells.values.tolist()]
    if cells.categories is not None or isinstance(model, CountsClassifier):
        names = values_of(column)
    odds = _log_odds(model, repeated(empty, len(cells.values), {place: cells}), classes)
    return list(zip(names, odds, strict=True))


def _points(model: Classifier, cells: Column, column: ColumnSchema) -> Column:
    """One cell for every value of a column; the quantiles of numbers that are not binned."""
    if isinstance(column, CategoricalColumn) or isinstance(model, CountsClassifier):
        unknown = Column(column.name, np.full(1, np.nan))
        return with_values(unknown, column, np.arange(column.size))
    edges = column.edges
    numbers = cells.values[~cells.missing].astype(float)
    ends = [numbers.min(), numbers.max()] if len(numbers) else [0.0]
    return Column(column.name, np.unique([*ends, *edges]))


def _log_odds(model: Classifier, frame: Frame, classes: _Classes) -> FloatArray:
    """Log-odds of the other classes against the reference; (n, m)."""
    joint = model.explain(frame).joint
    return joint[:, classes.others] - joint[:, [classes.reference]]


def _only(frame: Frame, place: int) -> Frame:
    """Return rows in which every other column is unknown."""
    empty = np.full(frame.n_rows, np.nan)
    columns = [
        frame.column(other) if other == place else Column(name, empty, unknown=True)
        for other, name in enumerate(frame.names)
    ]
    return Frame(frame.names, frame.n_rows, tuple(columns))
