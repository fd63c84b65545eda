r"""Calibration: a temperature and a bias for each class, fitted to leave-one-out log joints.

.. math:: \log P'(c, x) = \tau \log P(c, x) + b_c

A model that treats dependent columns as independent counts their evidence twice and is
overconfident; then :math:`\tau < 1`. Only the biases can change the order of the classes in a row.

References
----------
Guo, Pleiss, Sun & Weinberger, "On calibration of modern neural networks", ICML 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.tables.weighing import Weighing

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray, State

_FAR = -200.0  # log joints are cut off at this distance from the best of their row
_LEAST = 1e-3
_PENALTY = 1e-3
_ENOUGH = 1e-5


@dataclass(frozen=True, eq=False)
class Calibration:
    """A temperature and the biases of the classes.

    Attributes
    ----------
    temperature : float
        τ.
    bias : ndarray of shape (k,)
        b.
    """

    temperature: float
    bias: FloatArray

    def apply(self, joint: FloatArray) -> None:
        """Calibrate log joints (n, k) in place."""
        joint *= self.temperature
        joint += self.bias

    def state(self) -> State:
        """Return plain values and arrays for saved files."""
        return {"temperature": self.temperature, "bias": self.bias}


def calibrated(
    joint: FloatArray,
    classes: IntArray,
    importance: FloatArray | None = None,
    n_jobs: int | None = None,
) -> Calibration:
    """Fit τ and b by minimizing the log loss of leave-one-out log joints.

    Parameters
    ----------
    joint : ndarray of shape (n, k)
        Leave-one-out log joints.
    classes : ndarray of shape (n,)
        True classes of the rows.
    importance : ndarray of shape (n,), default=None
        Weights of the rows; None weighs all equally.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    Calibration
        The fitted temperature, at least 0.001, and biases.
    """
    top = joint.max(axis=1, keepdims=True)
    level = np.where(np.isfinite(top), joint - np.where(np.isfinite(top), top, 0.0), 0.0)
    entries = np.ascontiguousarray(np.maximum(level, _FAR).T, dtype=np.float32)[None]
    k = joint.shape[1]
    rows = np.ones(len(classes)) if importance is None else importance
    weighing = Weighing(entries, np.zeros(k), classes, rows, np.array([_PENALTY]), n_jobs)
    temperature, *bias = weighing.fit(np.concatenate([[1.0], np.zeros(k)]), _ENOUGH)
    return Calibration(max(float(temperature), _LEAST), np.array(bias))
