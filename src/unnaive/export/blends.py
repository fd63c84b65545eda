"""Blends: columns and tables of every member, and common columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.explain.cells import bin_points
from unnaive.schema.columns import MISSING_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import State
    from unnaive.export.arrays import Arrays
    from unnaive.models import Classifier
    from unnaive.models.trial import Member
    from unnaive.tables.calibration import Calibration


_POINTS = 31  # at which the expected information of a number is computed if no member has bins


def blend_of(
    members: Sequence[Member], single: Callable[[Classifier, Arrays], State], arrays: Arrays
) -> State:
    """Describe all members, and the columns as the heaviest member has them.

    Members may have different bins for a column of numbers, so this column is a "number" for the
    page; ``points`` has one number in each bin of the heaviest member, and "missing" if missing
    values are a category.
    """
    described = [
        {
            **single(member.model, arrays),
            "weight": float(member.weight),
            "scale": scale_of(member.calibration, arrays),
        }
        for member in members
    ]
    heaviest = described[int(np.argmax([member.weight for member in members]))]
    columns = []
    for place, column in enumerate(heaviest["columns"]):
        alike = [member["columns"][place] for member in described]
        used = any(other["used"] for other in alike)
        columns.append({**_common(column, alike), "used": used})
    return {"columns": columns, "members": described}


def scale_of(calibration: Calibration, arrays: Arrays) -> State:
    """Describe a calibration: the factor of log joints, and what is added for each class."""
    return {"temperature": float(calibration.temperature), "bias": arrays.add(calibration.bias)}


def _common(column: State, alike: list[State]) -> State:
    """Return a column that every member can translate to its own."""
    if column["kind"] == "category":
        return column
    number = next((other for other in alike if other["kind"] == "number"), None)
    cut = [other["edges"] for other in (column, *alike) if other.get("edges")]
    edges: list[float] = cut[0] if cut else []
    if number is None:
        span = (edges[-1] - edges[0] or 1.0) if edges else 1.0
        ends = (edges[0], edges[-1]) if edges else (0.0, 0.0)
        low, high = ends[0] - span, ends[1] + span
        number = {"name": column["name"], "kind": "number", "low": low, "high": high}
    grid = np.linspace(number["low"], number["high"], _POINTS).tolist()
    points: list[float | str] = [*(bin_points(edges) if edges else grid)]
    missing = {"missing": MISSING_VALUES} if any("missing" in other for other in alike) else {}
    return {**number, **missing, "points": [*points, *missing.values()]}
