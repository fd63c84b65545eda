"""How sure a prediction is, in words: its interval, and the term that has the fewest samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.explain.wording import percent, plural
from unnaive.tables.posterior import Cumulant, Rows

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, Label
    from unnaive.explain.explanation import Explanation
    from unnaive.io.frames import Frame
    from unnaive.models import Classifier
    from unnaive.models.intervals import Intervals

_MOSTLY = 0.5  # share of the variance from which on a term is the main reason


@dataclass(frozen=True, eq=False)
class Certainty:
    """Intervals of samples, and the training samples behind every term.

    Attributes
    ----------
    intervals : Intervals
        Intervals of the posterior probabilities.
    rows : ndarray of shape (n, k, t)
        Number of training samples in the cell of every class and term, of the terms of an
        explanation.
    variances : ndarray of shape (n, k, t)
        Variance of every term, given these numbers.
    """

    intervals: Intervals
    rows: FloatArray
    variances: FloatArray


def certainty_of(model: Classifier, frame: Frame, level: float) -> Certainty:
    """Look up intervals, and the samples and the variance behind every term.

    Only for models that multiply one entry of each table; others raise an error.
    """
    fitted = model.fitted_
    if getattr(fitted, "combines", str)() != "product":
        raise UnnaiveError(
            f"{type(model).__name__} is not a product of one entry of each table, so terms have no "
            "numbers of rows; predict_interval gives its intervals"
        )
    codes = model.codes_of(frame, model.n_jobs)
    rows, variances = (fitted.viewed(view).terms(codes).parts for view in (Rows(), Cumulant(2)))
    return Certainty(model.predict_interval(frame, level), rows, variances)


def sure_in_words(
    explanation: Explanation, known: Certainty, row: int, positive: Label = None
) -> str:
    """Say how sure a prediction is, and which term makes it least sure."""
    row = explanation.require_row(row)
    label = int(explanation._chosen(positive)[row])  # noqa: SLF001 - the explanation's own words
    bounds = known.intervals
    low, high = (percent(float(bound[row, label])) for bound in (bounds.lower, bounds.upper))
    chance = percent(float(explanation.posterior[row, label]))
    text = f"{chance} ({_between(low, high)})"
    rows, variances = known.rows[row], known.variances[row]
    total = variances.sum()
    if not total > 0:
        return text
    place = int(np.argmax(variances.sum(axis=0)))
    least = int(np.argmax(variances[:, place]))
    term = explanation.terms[place]
    what = " and ".join(explanation.cell(row, c) for c in (*term.columns, *term.through))
    seen = round(float(rows[least, place]))
    number = f"only {plural(seen, 'row')}" if seen else "no row"
    mostly = "mostly " if variances[:, place].sum() >= _MOSTLY * total else "most of all "
    named = f"{explanation.target} = {explanation.classes[least]}"
    return f"{text}, {mostly}because {number} of {named} had {what}"


def _between(low: str, high: str) -> str:
    """Write two percentages as a range.

    >>> _between("28 %", "74 %"), _between("28 %", "> 99.9 %"), _between("100 %", "100 %")
    ('28-74 %', '28 % to > 99.9 %', '100 %')
    """
    if low == high:
        return low
    limits = low.startswith("<") or high.startswith(">")
    return f"{low} to {high}" if limits else f"{low.removesuffix(' %')}-{high}"


def rows_in_words(explanation: Explanation, known: Certainty, row: int, most: int = 6) -> list[str]:
    """Say how many training rows of every class each term has, a line each, the fewest first."""
    row = explanation.require_row(row)
    told = []
    for place in np.argsort(known.rows[row].min(axis=0), kind="stable").tolist():
        term = explanation.terms[place]
        if not known.variances[row, :, place].any():
            continue
        what = " and ".join(explanation.cell(row, c) for c in (*term.columns, *term.through))
        counts = [f"{round(float(n)):,}" for n in known.rows[row, :, place]]
        numbers = ", ".join(
            f"{n} of {label}" for n, label in zip(counts, explanation.classes, strict=True)
        )
        told.append(f"{what}: {numbers}")
    rest = len(told) - most
    return told[:most] + ([f"and {plural(rest, 'other term')}"] if rest > 0 else [])
