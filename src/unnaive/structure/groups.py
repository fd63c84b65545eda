r"""Groups of columns, each treated as one variable, and greedy searches for them.

.. math:: P(c, x) = P(c) \prod_G P(x_G \mid c)

References
----------
Pazzani, "Searching for dependencies in Bayesian classifiers", AI & Statistics 1996.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.structure.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import BoolArray, FloatArray, IntArray

Group = tuple[int, ...]
Groups = tuple[Group, ...]
Change = tuple[tuple[Group, ...], Group]  # groups that are removed, and the one that is added


@dataclass(frozen=True, eq=False, repr=False)
class GroupGraph(Graph):
    """Structure of disjoint groups of columns; the columns of a group are treated as one.

    Attributes
    ----------
    names, target
        Names of the columns and of the class.
    groups : tuple of tuples of int
        Columns of every group. A column in no group is not in the model.

    Examples
    --------
    >>> graph = GroupGraph(("a", "b", "c"), "y", ((0, 2),))
    >>> graph.named
    [('a', 'c')]
    >>> graph.edges
    [('a', 'c')]
    """

    groups: Groups

    keys: ClassVar[tuple[str, ...]] = ("groups",)

    @property
    def named(self) -> list[tuple[str, ...]]:
        """Groups by the names of their columns."""
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
        """Groups, which are counted together."""
        return self.groups


class Scores(Protocol):
    """Fitness of groupings, as a search needs it."""

    def total(self, groups: Groups) -> float:
        """Fitness of a grouping."""

    def changes(self, groups: Groups, changes: Sequence[Change]) -> FloatArray:
        """Fitness of a grouping after each of some changes; shape (m,)."""


@dataclass(frozen=True)
class Step:
    """Progress of a greedy search: steps made, fitness, and candidates scored so far."""

    number: int
    best: float
    evaluations: int


@dataclass(frozen=True)
class Joined:
    """Result of a greedy search.

    Attributes
    ----------
    groups : tuple of tuples of int
        The best grouping.
    fitness : float
        Its fitness.
    evaluations : int
        Number of candidates that were scored, without the start.
    history : tuple of (groups, fitness)
        The start and the grouping after every step.
    """

    groups: Groups
    fitness: float
    evaluations: int
    history: tuple[tuple[Groups, float], ...]


def forward_joining(
    scores: Scores,
    active: BoolArray,
    watch: Callable[[Step], None] | None = None,
    *,
    paper: bool = False,
) -> Joined:
    """FSSJ: start without columns; add a column as a new group or to an existing group.

    On ties, a new group comes before a join, then the lower column, then the lower group.
    ``paper``: the rules that the table of Robles et al. suggests. A join comes first, the first
    column is added even if it does not help, and a step counts as n (1 + groups) evaluations.
    """
    n_columns = int(active.sum())

    def changes(groups: Groups) -> list[Change]:
        used = {column for group in groups for column in group}
        free = [column for column in np.flatnonzero(active).tolist() if column not in used]
        additions: list[Change] = [((), (column,)) for column in free]
        joins: list[Change] = [
            ((group,), _joined(group, (column,))) for column in free for group in groups
        ]
        return joins + additions if paper else additions + joins

    price = (lambda groups: n_columns * (1 + len(groups))) if paper else None
    return _climb((), changes, scores, watch, price=price, least=int(paper))


def backward_joining(
    scores: Scores,
    active: BoolArray,
    delete: str = "group",
    watch: Callable[[Step], None] | None = None,
    *,
    paper: bool = False,
) -> Joined:
    """BSEJ: start with every column as a group; delete a group (or a member), or join two groups.

    On ties, a deletion comes before a join, then the lower group (or column). ``paper``: the rules
    that the table of Robles et al. suggests. A join comes first, only single columns are joined
    (no printed grouping has fewer groups than half its columns), and a step counts as n²
    evaluations.
    """

    def changes(groups: Groups) -> list[Change]:
        deletions: list[Change] = [((group,), ()) for group in groups]
        if delete == "member":
            members = sorted((column, group) for group in groups for column in group)
            deletions = [((g,), tuple(other for other in g if other != c)) for c, g in members]
        joined = [g for g in groups if len(g) == 1] if paper else groups
        joins: list[Change] = [
            ((one, two), _joined(one, two)) for one, two in combinations(joined, 2)
        ]
        return joins + deletions if paper else deletions + joins

    start = tuple((column,) for column in np.flatnonzero(active).tolist())
    price = (lambda _: len(start) ** 2) if paper else None
    return _climb(start, changes, scores, watch, price=price)


def _climb(
    start: Groups,
    changes_of: Callable[[Groups], list[Change]],
    scores: Scores,
    watch: Callable[[Step], None] | None,
    *,
    price: Callable[[Groups], int] | None = None,
    least: int = 0,
) -> Joined:
    """Make the best change while it is strictly better, and at least ``least`` changes.

    ``price`` says how many evaluations a step counts as; None: one for each candidate.
    """
    groups, fitness, evaluations = start, scores.total(start), 0
    history = [(groups, fitness)]
    while changes := changes_of(groups):
        candidates = scores.changes(groups, changes)
        evaluations += len(changes) if price is None else price(groups)
        best = first_best(candidates)
        if len(history) > least and not candidates[best] > fitness + TIE_TOLERANCE:
            break
        groups, fitness = apply_change(groups, changes[best]), float(candidates[best])
        history.append((groups, fitness))
        if watch is not None:
            watch(Step(len(history) - 1, fitness, evaluations))
    # Changes are scored by differences; the final fitness is scored as a whole, exact to the bit.
    return Joined(groups, scores.total(groups), evaluations, tuple(history))


def _joined(one: Group, two: Group) -> Group:
    return tuple(sorted((*one, *two)))


def apply_change(groups: Groups, change: Change) -> Groups:
    """Replace groups by another one; the result is sorted by the groups' first columns."""
    gone, new = change
    kept = [group for group in groups if group not in gone]
    return tuple(sorted([*kept, new] if new else kept))


def canonical_genomes(genomes: IntArray) -> IntArray:
    """Give the groups of genomes (m, d) numbers from 1, by their first columns; 0 stays 0.

    Examples
    --------
    >>> import numpy as np
    >>> canonical_genomes(np.array([[3, 0, 3, 1]])).tolist()
    [[1, 0, 1, 2]]
    """
    first = np.zeros(genomes.shape, dtype=np.int64)
    for column in range(genomes.shape[1]):
        same = genomes[:, : column + 1] == genomes[:, column : column + 1]
        first[:, column] = np.argmax(same, axis=1)
    new = (first == np.arange(genomes.shape[1])) & (genomes > 0)
    labels = np.take_along_axis(np.cumsum(new, axis=1), first, axis=1)
    return np.where(genomes > 0, labels, 0)


def groups_of(genome: IntArray) -> Groups:
    """Return the groups of a genome: the columns of each label above 0."""
    labels = [label for label in np.unique(genome).tolist() if label > 0]
    return tuple(sorted(tuple(np.flatnonzero(genome == label).tolist()) for label in labels))


def genome_of(groups: Groups, n_columns: int) -> IntArray:
    """Return the canonical genome of groups; shape (d,)."""
    genome = np.zeros(n_columns, dtype=np.int64)
    for label, group in enumerate(sorted(groups), start=1):
        genome[list(group)] = label
    return genome
