"""How much each column moves the model's answer."""

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

_NUMBERS = 2e6  # that an explanation of the drawn rows may hold, about


def describe_importance(
    model: Classifier, rows: ReportRows, information: Sequence[float], most: int, seed: int
) -> tuple[list[State], str]:
    """Mean absolute contribution of every column in log-odds, over some of the rows.

    ``information`` is what each column tells of the class by itself, in bits. The importance of
    a column that rules a class out in some row has no bound, and is None.
    """
    n, d = rows.frame.n_rows, len(rows.frame.names)
    size = int(min(n, most, max(50.0, _NUMBERS / (len(rows.labels) * d))))
    drawn = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
    part = rows.take(drawn)
    moved = np.nan_to_num(importance(model, part.frame).values, posinf=np.inf).tolist()
    found = [
        {"name": name, "importance": None if isinf(value) else value, "information": told}
        for name, value, told in zip(model.schema_.names, moved, information, strict=True)
    ]
    which = f"{size:,} rows drawn at random" if size < n else "all rows"
    note = (
        "How far a column moves the log-odds of the class, for or against it: the mean over "
        f"{which}."
    )
    return found, note
