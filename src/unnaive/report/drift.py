"""Drift in a report: what differs between earlier rows, which were counted, and those shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive._scikit import clone
from unnaive.counts import JointCounts, count_batch
from unnaive.evaluate.drift import drift
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io.frames import Frame
from unnaive.models import CountsClassifier
from unnaive.report.writing import percent

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows


def describe_drift(
    model: Classifier, rows: ReportRows, old: JointCounts | None, seed: int
) -> State | None:
    """Compare the rows with counts of earlier rows; None if there are none.

    The rows are counted by the schema of the earlier counts. The cost of keeping the model is
    estimated if it learns from counts.
    """
    if old is None:
        return None
    if not isinstance(old, JointCounts):
        raise TypeError(f"drift= takes JointCounts of earlier rows, not {type(old).__name__}")
    new = count_batch(_ordered(rows.frame, old.schema.names), rows.target, old.schema)
    learner = clone(model) if isinstance(model, CountsClassifier) else None
    try:
        found = drift(old, new, model=learner, random_state=seed)
    except UnnaiveError:
        if learner is None:
            raise
        found = drift(old, new)  # a model that needs rows has no cost here
    state, beyond = found.state(), len(found.alarms)
    order = sorted(
        state["changes"], key=lambda one: (not one["alarm"], -one["jensen_shannon_bits"])
    )
    return {**state, "changes": order, "alarms": beyond, "sentence": _sentence(state, beyond)}


def _sentence(state: State, beyond: int) -> str:
    """Say what was compared and found."""
    old, new = (f"{state['rows'][which]:,.0f}" for which in ("old", "new"))
    found = (
        f"{beyond} of {len(state['changes'])} comparisons differ" if beyond else "Nothing differs"
    )
    return (
        f"{found} beyond chance between {old} earlier rows and the {new} rows of this report; the "
        f"probability of any false alarm is {percent(state['level'])}."
    )


def _ordered(frame: Frame, names: tuple[str, ...]) -> Frame:
    """Return the columns of the earlier counts; raises if the rows do not have all of them."""
    if lacking := [name for name in names if name not in frame.names]:
        raise SchemaMismatch(
            f"the earlier counts have column {lacking[0]!r}, which these rows lack; count the "
            "earlier rows with the same columns"
        )
    columns = tuple(frame.column(frame.names.index(name)) for name in names)
    return Frame(tuple(names), frame.n_rows, columns)
