r"""Groups of columns that are one variable each, and greedy searches for them.

.. math:: P(c, x) = P(c) \prod_G P(x_G \mid c)

References
----------
Pazzani, "Searching for dependencies in Bayesian classifiers", AI & Statistics 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.structure.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from unnaive._typing import BoolArray, FloatArray, IntArray, State

Group = tuple[int, ...]
Groups = tuple[Group, ...]
Change = tuple[tuple[Group, ...], Group]  # groups that go, and the one that comes


@dataclass(frozen=True, eq=False)
class GroupGraph(Graph):
    """Disjoint groups of columns below the class; a column in none is left out.

    Examples
    --------
    >>> graph = GroupGraph(("a", "b", "c"), "y", ((0, 2),))
    >>> graph.named
    [('a', 'c')]
    >>> graph.edges
    [('a', 'c')]
    """

    names: tuple[str, ...]
    target: str
    groups: Groups

    keys: ClassVar[tuple[str, ...]] = ("groups",)

    @property
    def named(self) -> list[tuple[str, ...]]:
        """The groups by the names of their columns."""
        return [tuple(self.names[column] for column in group) for group in self.groups]

    @property
    def edges(self) -> list[tuple[str, str]]:
        """All pairs of columns of one group."""
        return [pair for group in self.named for pair in combinations(group, 2)]

    @property
    def used(self) -> IntArray:
        """Columns that are in the model; shape (m,)."""
        return np.array(sorted(c for group in self.groups for c in group), dtype=np.int64)

    def parents_of(self, column: int) -> tuple[int, ...]:
        """Return the columns of a column's group that come before it."""
        return next((g[: g.index(column)] for g in self.groups if column in g), ())

    @property
    def families(self) -> Groups:
        """The groups, which are counted together."""
        return self.groups

    def state(self) -> State:
        """Plain values for the store."""
        return {"groups": [list(group) for group in self.groups]}

    @classmethod
    def of_state(cls, state: State, names: tuple[str, ...], target: str) -> Self:
        """Make the groups that :meth:`state` described."""
        return cls(names, target, tuple(tuple(group) for group in state["groups"]))


class Scores(Protocol):
    """What a search needs to know of groupings."""

    def total(self, groups: Groups) -> float:
        """Fitness of a grouping."""

    def changes(self, groups: Groups, changes: Sequence[Change]) -> FloatArray:
        """Fitness of a grouping after each of some changes; shape (m,)."""


@dataclass(frozen=True)
class Step:
    """How far a greedy search is: steps made, fitness, and candidates scored so far."""

    number: int
    best: float
    evaluations: int


@dataclass(frozen=True)
class Joined:
    """What a greedy search found.

    Attributes
    ----------
    groups : tuple of tuples of int
    fitness : float
    evaluations : int
        Candidates that were scored; the start is not counted.
    history : tuple of (groups, fitness)
        The start, and what every step led to.
    """

    groups: Groups
    fitness: float
    evaluations: int
    history: tuple[tuple[Groups, float], ...]


def forward_joining(
    scores: Scores, active: BoolArray, watch: Callable[[Step], None] | None = None
) -> Joined:
    """FSSJ: begin with no column; add one as a group of its own, or to a group that is there.

    Of equals an addition comes before a join, then the lower column, then the lower group.
    """

    def changes(groups: Groups) -> list[Change]:
        used = {column for group in groups for column in group}
        free = [column for column in np.flatnonzero(active).tolist() if column not in used]
        alone: list[Change] = [((), (column,)) for column in free]
        joins = [((group,), _joined(group, (column,))) for column in free for group in groups]
        return alone + joins

    return _climb((), changes, scores, watch)


def backward_joining(
    scores: Scores,
    active: BoolArray,
    delete: str = "group",
    watch: Callable[[Step], None] | None = None,
) -> Joined:
    """BSEJ: begin with all columns, each a group; delete a group (or a member), or join two.

    Of equals a deletion comes before a join, then the lower group (or column).
    """

    def changes(groups: Groups) -> list[Change]:
        found: list[Change] = [((group,), ()) for group in groups]
        if delete == "member":
            members = sorted((column, group) for group in groups for column in group)
            found = [((g,), tuple(other for other in g if other != c)) for c, g in members]
        return found + [((one, two), _joined(one, two)) for one, two in combinations(groups, 2)]

    start = tuple((column,) for column in np.flatnonzero(active).tolist())
    return _climb(start, changes, scores, watch)


def _climb(
    start: Groups,
    changes_of: Callable[[Groups], list[Change]],
    scores: Scores,
    watch: Callable[[Step], None] | None,
) -> Joined:
    """Take the best change while it is strictly better."""
    groups, fitness, evaluations = start, scores.total(start), 0
    history = [(groups, fitness)]
    while changes := changes_of(groups):
        found = scores.changes(groups, changes)
        evaluations += len(changes)
        best = int(np.argmax(found >= found.max() - TIE_TOLERANCE))
        if not found[best] > fitness + TIE_TOLERANCE:
            break
        groups, fitness = apply_change(groups, changes[best]), float(found[best])
        history.append((groups, fitness))
        if watch is not None:
            watch(Step(len(history) - 1, fitness, evaluations))
    # Changes are scored by differences; the last bit is that of the grouping as a whole.
    return Joined(groups, scores.total(groups), evaluations, tuple(history))


def _joined(one: Group, two: Group) -> Group:
    return tuple(sorted((*one, *two)))


def apply_change(groups: Groups, change: Change) -> Groups:
    """Take groups away and put another in their place; in the order of their first columns."""
    gone, new = change
    kept = [group for group in groups if group not in gone]
    return tuple(sorted([*kept, new] if new else kept))


def canonical_genomes(genomes: IntArray) -> IntArray:
    """Label the groups of genomes (m, d) in the order of their first columns, from 1; 0 stays.

    Examples
    --------
    >>> import numpy as np
    >>> canonical_genomes(np.array([[3, 0, 3, 1]])).tolist()
    [[1, 0, 1, 2]]
    """
    first = np.zeros(genomes.shape, dtype=np.int64)
    label = np.zeros(genomes.shape, dtype=np.int64)
    for column in range(genomes.shape[1]):
        same = genomes[:, : column + 1] == genomes[:, column : column + 1]
        first[:, column] = np.argmax(same, axis=1)
    new = (first == np.arange(genomes.shape[1])) & (genomes > 0)
    np.cumsum(new, axis=1, out=label)
    found = np.take_along_axis(label, first, axis=1)
    return np.where(genomes > 0, found, 0)


def groups_of(genome: IntArray) -> Groups:
    """Return the groups of a genome: columns of one label above 0."""
    labels = [label for label in np.unique(genome).tolist() if label > 0]
    return tuple(sorted(tuple(np.flatnonzero(genome == label).tolist()) for label in labels))


def genome_of(groups: Groups, n_columns: int) -> IntArray:
    """Return the canonical genome of groups; shape (d,)."""
    genome = np.zeros(n_columns, dtype=np.int64)
    for label, group in enumerate(sorted(groups), start=1):
        genome[list(group)] = label
    return genome
