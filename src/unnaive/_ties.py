"""Ties: scores that differ by at most a tolerance count as equal, and the first wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import FloatArray

TIE_TOLERANCE = 1e-10  # Mathematics 0.7


def first_best(scores: FloatArray) -> int:
    """Find the index of the largest score; the lowest index of those within the tolerance."""
    return int(np.argmax(scores >= scores.max() - TIE_TOLERANCE))
