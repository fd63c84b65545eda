"""A table of every type of column with gaps, and its counts in memory, for the engines' tests."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import unnaive

ROWS = 3000


@cache
def patients() -> pd.DataFrame:
    """Strings, integers, floats and booleans; all but the whole numbers of ``visits`` have gaps."""
    rng = np.random.default_rng(7)
    ages = rng.integers(20, 90, ROWS)
    frame = pd.DataFrame(
        {
            "smoker": rng.choice(["no", "ex", "yes", None], ROWS, p=[0.5, 0.2, 0.2, 0.1]),
            "visits": rng.integers(0, 5, ROWS),
            "children": pd.array(rng.integers(0, 4, ROWS), dtype="Int64"),
            "pressure": rng.normal(130, 15, ROWS).round(0) + ages / 10,
            "treated": pd.array(rng.random(ROWS) < 0.4, dtype="boolean"),
        }
    )
    for name in ("children", "pressure", "treated"):
        frame.loc[rng.random(ROWS) < 0.1, name] = None
    sick = (frame["smoker"] == "yes").to_numpy() | (rng.random(ROWS) < ages / 200)
    frame["ill"] = np.where(sick, "yes", "no")
    return frame


@cache
def in_memory() -> unnaive.JointCounts:
    return unnaive.count(patients(), "ill")


def features(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="ill")
