"""Samples of rows from a Bayesian network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._dataclasses import dataclass

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray, Label

_BLOCK_BYTES = 1 << 24  # of the weights of rows that are sampled together


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows sampled from a network.

    Attributes
    ----------
    names : tuple of str
        The variables.
    states : tuple of tuples
        Labels of every variable.
    codes : ndarray of shape (d, n)
        Positions of labels in ``states``.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: CodeArray

    def decode(self) -> dict[str, list[Label]]:
        """Return the labels of every variable, in a form that data frames accept.

        Returns
        -------
        dict of str to list
            The labels of each variable.
        """
        lines = zip(self.names, self.states, self.codes.tolist(), strict=True)
        return {name: [labels[code] for code in line] for name, labels, line in lines}


def drawn(weights: FloatArray, given: CodeArray, random: np.random.Generator) -> IntArray:
    """Sample a state for each row from weights (*given, states), given earlier codes (m, n)."""
    cumulated = np.cumsum(weights, axis=-1)
    drawn = np.empty(given.shape[1], dtype=np.int64)
    uniform = random.random(len(drawn))
    size = max(1, _BLOCK_BYTES // (8 * cumulated.shape[-1]))
    for start, stop in _parallel.row_blocks(len(drawn), size):
        steps = np.atleast_2d(cumulated[tuple(given[:, start:stop])])
        point = uniform[start:stop] * steps[:, -1]  # less than the total, despite rounding
        drawn[start:stop] = (steps <= point[:, None]).sum(axis=1)
    return drawn
