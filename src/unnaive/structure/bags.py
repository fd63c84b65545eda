"""Hidden parents: for each column a bag of other columns that it depends on, with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.joint import all_pairs
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import Graph

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import BoolArray, FloatArray, IntArray, State


@dataclass(frozen=True, eq=False, repr=False)
class HiddenParents(Graph):
    """Structure of hidden naive Bayes: each column's hidden parent is a weighted bag of columns.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    members : ndarray of shape (d, d)
        Whether column j is in the bag of column i.
    weights : ndarray of shape (d, d)
        Weight of column j in the bag of column i. A row sums to 1, or to 0 if the column depends
        only on the class.
    threshold : float
        Minimum information, in bits, of two columns that are in each other's bag.
    """

    members: BoolArray
    weights: FloatArray
    threshold: float

    keys: ClassVar[tuple[str, ...]] = ("members", "weights", "threshold")

    @property
    def bags(self) -> dict[str, list[str]]:
        """Names of the columns in each column's bag."""
        return {
            name: [self.names[j] for j in np.flatnonzero(row)]
            for name, row in zip(self.names, self.members, strict=True)
        }

    @property
    def edges(self) -> list[tuple[str, str, float]]:
        """Edges as (member of the bag, column that has the bag, weight)."""
        return [
            (self.names[j], self.names[i], float(self.weights[i, j]))
            for i, j in zip(*np.nonzero(self.members), strict=True)
        ]

    @property
    def pairs(self) -> IntArray:
        """All pairs of columns; shape (m, 2)."""
        return all_pairs(len(self.names))

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Restore the bags from :meth:`state`."""
        square = (len(names), len(names))
        if state["members"].shape != square or state["weights"].shape != square:
            raise UnnaiveError("the bags do not fit the columns")
        return cls(names, target, **state)


def bag_members(information: FloatArray, threshold: float, rule: str = "ge") -> BoolArray:
    """Mark the columns in each other's bags by a threshold in nats; shape (d, d).

    With the rule "ge" the information must reach the threshold, otherwise exceed it.
    """
    tolerance = -TIE_TOLERANCE if rule == "ge" else TIE_TOLERANCE
    compare = np.greater_equal if rule == "ge" else np.greater
    return np.asarray(
        compare(information, threshold + tolerance) & ~np.eye(len(information), dtype=bool)
    )


def bag_weights(information: FloatArray, members: BoolArray) -> FloatArray:
    """Weight members by their information, relative to the sum of the bag; shape (d, d)."""
    inside = np.where(members, information, 0.0)
    total = inside.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(inside, total, out=np.zeros_like(inside), where=total > 0))


def average_information(information: FloatArray) -> float:
    """Average the information over pairs of columns; 0 for a single column."""
    pairs = len(information) * (len(information) - 1)
    return float(information.sum() / max(pairs, 1))
