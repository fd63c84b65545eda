"""Hidden parents: the bag of columns that each column listens to, and how much to each."""

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


@dataclass(frozen=True, eq=False)
class HiddenParents(Graph):
    """Every column's hidden parent: a weighted bag of other columns.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    target : str
        Name of the class.
    members : ndarray of shape (d, d)
        Whether column j is in the bag of column i.
    weights : ndarray of shape (d, d)
        Its weight there; a row sums to 1, or to 0 where the bag says nothing and the column
        depends on the class alone.
    threshold : float
        Least information of a pair that joins each other's bag, in bits.
    """

    names: tuple[str, ...]
    target: str
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
        """Members and owners of bags as (member, owner, weight)."""
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
        """Make the bags that :meth:`state` described."""
        square = (len(names), len(names))
        if state["members"].shape != square or state["weights"].shape != square:
            raise UnnaiveError("the bags do not fit the columns")
        return cls(names, target, **state)


def bag_members(information: FloatArray, threshold: float, rule: str = "ge") -> BoolArray:
    """Which columns are in each other's bags, by a threshold in nats; shape (d, d)."""
    if rule == "ge":
        members = information >= threshold - TIE_TOLERANCE
    else:
        members = information > threshold + TIE_TOLERANCE
    np.fill_diagonal(members, val=False)
    return np.asarray(members)


def bag_weights(information: FloatArray, members: BoolArray) -> FloatArray:
    """Information of the members relative to that of the whole bag; shape (d, d)."""
    inside = np.where(members, information, 0.0)
    total = inside.sum(axis=1, keepdims=True)
    weights = np.zeros_like(inside)
    np.divide(inside, total, out=weights, where=total > 0)
    return weights


def average_information(information: FloatArray) -> float:
    """Mean over pairs of columns; 0 for a single column."""
    n_columns = len(information)
    pairs = n_columns * (n_columns - 1)
    return float(information.sum() / pairs) if pairs else 0.0
