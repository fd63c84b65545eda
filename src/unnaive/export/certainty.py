"""Intervals in documents: the tables of three cumulants, for other programs to look up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.tables.posterior import Cumulant

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.models.fitted import Fitted
    from unnaive.tables.base import Arrays


def certainty_of(fitted: object, arrays: Arrays) -> State | None:
    """Describe the cumulants of the log joint; None for models without a closed form.

    ``cumulants`` are the tables of means, variances and third central moments of the log joints,
    see Mathematics 15.11. They ignore missing parents, as ``ignored`` does, the model's own tables
    in this manner; where the model sums missing parents out, the mean is shifted by the difference.
    """
    if getattr(fitted, "combines", str)() != "product":
        return None
    return _described(fitted, arrays)  # type: ignore[arg-type]


def _described(fitted: Fitted, arrays: Arrays) -> State:
    apart = fitted.tables.apart()
    return {
        "cumulants": [fitted.viewed(Cumulant(order)).describe(arrays) for order in (1, 2, 3)],
        "ignored": None if apart is fitted.tables else apart.describe(arrays),
    }
