"""A Bayesian network over the columns and the class, as the structure of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.structure.graph import Shown

if TYPE_CHECKING:
    from typing import Self

    from unnaive._typing import IntArray, State


@dataclass(frozen=True, eq=False, repr=False)
class NetworkGraph(DAG, Shown):
    """A directed acyclic graph over the columns and the class, which is the last node.

    The class is a node like any other: it may have parents, and it need not be a parent of
    every column.

    Examples
    --------
    >>> graph = NetworkGraph(("a", "b", "y"), ((2,), (0, 2), ()))
    >>> graph.target, graph.families
    ('y', ((0,), (1, 0)))
    """

    __repr__ = Shown.__repr__

    @property
    def target(self) -> str:
        """Name of the class."""
        return self.names[-1]

    @property
    def used(self) -> IntArray:
        """All columns; shape (d,)."""
        return np.arange(len(self.names) - 1)

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return the parents of a column, without the class."""
        return tuple(parent for parent in self.parents[column] if parent < len(self.names) - 1)

    @property
    def pairs(self) -> IntArray:
        """No pairs, since whole families are counted; shape (0, 2)."""
        return np.empty((0, 2), dtype=np.int64)

    @property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Columns with their parents, then the parents of the class; always without the class."""
        families = tuple((column, *self.parents_of(column)) for column in self.used.tolist())
        above = self.parents[-1]
        return (*families, (above[-1], *above[:-1])) if above else families

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...] = (), _: str = "") -> Self:
        """Restore the graph from ``state()``; raise if it does not fit the columns."""
        graph = cls(tuple(state["names"]), state["parents"])
        if names and graph.names[:-1] != names:
            raise UnnaiveError("the network does not fit the columns")
        return graph
