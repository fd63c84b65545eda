"""Importance of columns in a report."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

import numpy as np

from unnaive.explain import importance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

_NUMBERS = 2e6  # approximate limit for the explanation of the rows drawn


def describe_importance(
    model: Classifier, rows: ReportRows, information: Sequence[float], most: int, seed: int
) -> tuple[list[State], str]:
    """Compute the mean absolute contribution of every column to the log-odds, over some rows.

    ``information`` is the mutual information of each column with the class, in bits. A column
    that excludes a class in some row has infinite importance, which is None.
    """
    n, d = rows.frame.n_rows, len(rows.frame.names)
    size = int(min(n, most, max(50.0, _NUMBERS / (len(rows.labels) * d))))
    drawn = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    means = np.nan_to_num(importance(model, rows.take(drawn).frame).values, posinf=np.inf).tolist()
    entries = [
        {"name": name, "importance": None if isinf(value) else value, "information": bits}
        for name, value, bits in zip(model.schema_.names, means, information, strict=True)
    ]
    which = f"{size:,} rows drawn at random" if size < n else "all rows"
    return entries, f"The mean absolute contribution of a column to the log-odds, over {which}."
