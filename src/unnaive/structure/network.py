"""A Bayesian network over the columns and the class, as a model has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.structure.graph import table_of_edges

if TYPE_CHECKING:
    from typing import Self

    from matplotlib.axes import Axes

    from unnaive._typing import IntArray, State


@dataclass(frozen=True, eq=False)
class NetworkGraph(DAG):
    """A directed acyclic graph over the columns and, last, the class; a node like any other.

    Examples
    --------
    >>> graph = NetworkGraph(("a", "b", "y"), ((2,), (0, 2), ()))
    >>> graph.target, graph.families
    ('y', ((0,), (1, 0)))
    """

    @property
    def target(self) -> str:
        """Name of the class."""
        return self.names[-1]

    @property
    def used(self) -> IntArray:
        """All columns; shape (d,)."""
        return np.arange(len(self.names) - 1)

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return a column's parents besides the class."""
        return tuple(parent for parent in self.parents[column] if parent < len(self.names) - 1)

    @property
    def pairs(self) -> IntArray:
        """No pairs: whole families are counted; shape (0, 2)."""
        return np.empty((0, 2), dtype=np.int64)

    @property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Columns with their parents, and those of the class, without the class itself."""
        label = len(self.names) - 1
        families = [
            (node, *(parent for parent in above if parent != label))
            for node, above in enumerate(self.parents[:-1])
        ]
        above = self.parents[-1]
        return (*families, (above[-1], *above[:-1])) if above else tuple(families)

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...] = (), _: str = "") -> Self:
        """Make the graph that ``state()`` described, which must be of these columns."""
        graph = cls(tuple(state["names"]), state["parents"])
        if names and graph.names[:-1] != names:
            raise UnnaiveError("the network does not fit the columns")
        return graph

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw nodes in layers, parents above their children; returns matplotlib axes."""
        from unnaive.structure.draw import draw_structure  # noqa: PLC0415 - matplotlib is optional

        drawn: Axes = draw_structure(self, ax)
        return drawn

    def _repr_html_(self) -> str:
        """Show the edges as a table in a notebook."""
        return table_of_edges(self)
