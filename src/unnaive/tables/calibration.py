r"""Calibration: a temperature, and a bias for each class, from left-out log joints.

.. math:: \log P'(c, x) = \tau \log P(c, x) + b_c

A model that takes related columns for independent ones counts their evidence twice, and is too
sure of itself; then :math:`\tau < 1`. The order of classes in a row changes by the bias alone.

References
----------
Guo, Pleiss, Sun & Weinberger, "On calibration of modern neural networks", ICML 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.weighing import Weighing

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray, State

_FAR = -200.0  # log joints further below their row's best do not count while fitting
_LEAST = 1e-3
_PENALTY = 1e-3
_ENOUGH = 1e-5


@dataclass(frozen=True, eq=False)
class Calibration:
    """τ and the classes' biases (k,)."""

    temperature: float
    bias: FloatArray

    def apply(self, joint: FloatArray) -> None:
        """Calibrate log joints (n, k) in place."""
        joint *= self.temperature
        joint += self.bias

    def state(self) -> State:
        """Plain values and arrays for the store."""
        return {"temperature": self.temperature, "bias": self.bias}


def calibrated(
    joint: FloatArray,
    classes: IntArray,
    importance: FloatArray | None = None,
    n_jobs: int | None = None,
) -> Calibration:
    """Fit τ and b to left-out log joints (n, k) of rows of known classes: least log loss."""
    top = joint.max(axis=1, keepdims=True)
    level = np.where(np.isfinite(top), joint - np.where(np.isfinite(top), top, 0.0), 0.0)
    entries = np.ascontiguousarray(np.maximum(level, _FAR).T, dtype=np.float32)[None]
    k = joint.shape[1]
    rows = np.ones(len(classes)) if importance is None else importance
    weighing = Weighing(entries, np.zeros(k), classes, rows, np.array([_PENALTY]), n_jobs)
    found = weighing.fit(np.concatenate([[1.0], np.zeros(k)]), _ENOUGH)
    return Calibration(max(float(found[0]), _LEAST), found[1:])
