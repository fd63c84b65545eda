r"""Tables of naive Bayes over groups of columns, and exact leave-one-out scores of groupings.

.. math:: P(x_G \mid c) = \frac{N(c, x_G) + \alpha}{N_G(c) + \alpha V}, \qquad V = \prod_G v_i

A row is counted in a group's table if all of the group's cells are observed. For a row that lacks
some of them, the others are looked up in the margin of the counts, smoothed as one variable; with
``complete`` the group has no factor.
"""

from __future__ import annotations

import math
from dataclasses import field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import _parallel
from unnaive._core.groups import add_group, score_changes, score_genomes
from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.cells import CellCounts
from unnaive.counts.families import context_of, strides_of
from unnaive.structure.groups import apply_change, genome_of, groups_of
from unnaive.tables import describe
from unnaive.tables.base import Tables, less, own_classes, own_priors, rows_alike
from unnaive.tables.hierarchy import Level, concentrations, hierarchical
from unnaive.tables.left_out import left_out_priors
from unnaive.tables.terms import Terms
from unnaive.tables.trees import leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.structure.groups import Change, Group, Groups
    from unnaive.tables.base import Arrays
    from unnaive.tables.intervals import Intervals
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut

_MOST_BITS = 62.0  # that number the joint values of a group
_TASKS_A_THREAD = 4


@dataclass(frozen=True, eq=False)
class GroupTables(Tables):
    """log P(c) and log P(x_G | c) of the groups that were counted as families.

    Attributes
    ----------
    counts : JointCounts
        Counts of the groups.
    smoothing : Smoothing
        The smoothing policy.
    prior : ndarray of shape (sets, k)
        log P(c).
    held_out : float or None
        Weight of a row for leave-one-out.
    complete : bool
        Whether a group has a factor only for rows that have all of its cells.
    made : dict
        Tables by group and observed columns; those of fewer columns are estimated when needed.
    """

    counts: JointCounts
    smoothing: Smoothing
    prior: FloatArray
    held_out: float | None
    complete: bool = False
    made: dict[tuple[Group, Group], tuple[IntArray, list[FloatArray]]] = field(default_factory=dict)

    @property
    def _groups(self) -> list[Group]:
        return [family.columns for family in self.counts.families]

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:  # noqa: ARG002
        out = own_priors(self.prior, held)
        for group in self._groups:
            self._add(group, codes, held, out)
        return out

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint: one term per group."""
        base = np.repeat(self.prior[:1], codes.shape[1], axis=0)
        parts = np.zeros((*base.shape, len(self._groups)))
        for place, group in enumerate(self._groups):
            self._add(group, codes, own_classes(None, codes), parts[:, :, place])
        return Terms(tuple((group, ()) for group in self._groups), base, parts)

    def describe(self, arrays: Arrays) -> State:
        """Describe the groups as a product with one factor per group."""
        factors = []
        for group in self._groups:
            tables = []
            for shown in (
                s
                for size in range(len(group), len(group) - 1 if self.complete else 0, -1)
                for s in combinations(group, size)
            ):
                cells, estimates = self._estimate(group, shown)
                tables.append(describe.table(shown, estimates[0], arrays, cells))
            factors.append(describe.factor(group, [], tables))
        return describe.product(self.prior[0], factors, arrays, marginalize=False)

    def _add(self, group: Group, codes: CodeArray, held: AnyArray, out: FloatArray) -> None:
        """Add the factor of a group to ``out``, for rows with the same observed cells together."""
        known = codes[list(group)] < self.counts.schema.sizes[list(group), None]
        if known.all():
            out += self._look_up(group, group, codes, held)
            return
        for rows, seen in rows_alike(known):
            shown = tuple(c for c, there in zip(group, seen, strict=True) if there)
            if shown == group or (shown and not self.complete):
                out[rows] += self._look_up(group, shown, codes[:, rows], held[rows])

    def _look_up(self, group: Group, shown: Group, codes: CodeArray, held: AnyArray) -> FloatArray:
        """Return a group's factor for rows in which some of its columns are observed; (n, k)."""
        if (group, shown) not in self.made:
            self.made[group, shown] = self._estimate(group, shown)
        cells, tables = self.made[group, shown]
        number, _ = context_of(codes, self.counts.schema.sizes, shown)
        place = np.searchsorted(cells, number)
        place[place == len(cells)] = 0
        if len(cells):
            place[cells[place] != number] = len(cells)
        entries = tables[0][:, place].T
        if self.held_out is not None and shown == group:
            own = np.flatnonzero(held >= 0)
            entries[own, held[own]] = tables[1][held[own], place[own]]
        return np.asarray(entries)

    def _estimate(self, group: Group, shown: Group) -> tuple[IntArray, list[FloatArray]]:
        """Return the joint values of the columns shown, and log-probabilities (k, cells + 1).

        The last entry is that of all joint values that did not occur.
        """
        cells, counts = _margin(self.counts, group, shown)
        held_out = self.held_out if shown == group else None  # incomplete rows were not counted
        n_values = math.prod(float(self.counts.schema.sizes[column]) for column in shown)
        return cells, [
            self._of_set(counts, n_values, held) for held in leave_one_out_sets(held_out)[:2]
        ]

    def _of_set(self, counts: FloatArray, n_values: float, held: HeldOut) -> FloatArray:
        padded = np.concatenate([counts, np.zeros((len(counts), 1))], axis=1)
        if self.smoothing.is_hierarchical:
            return self._backed_off(padded, n_values, held)
        each, shared = self.smoothing.shares(len(counts))
        parts: FloatArray | float = 1.0 / n_values
        total = float(counts.sum()) - held.total
        if self.smoothing.uses_frequencies and total > 0:
            parts = np.maximum(padded.sum(axis=0) - held.total, 0.0) / total
        above = np.maximum(padded - held.value, 0.0) + each + shared * parts
        seen = np.maximum(counts.sum(axis=1) - held.value, 0.0)
        below = (seen + each * n_values + shared)[:, None]
        if self.smoothing.view is not None:
            return self.smoothing.view.given(padded, above - padded, below[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below > 0, np.log(above / below), -math.log(n_values))

    def _backed_off(self, counts: FloatArray, n_values: float, held: HeldOut) -> FloatArray:
        """Log P(x_G | c), smoothed towards P(x_G); the last cell stands for unseen joint values."""
        margin, levels = counts.sum(axis=0), [Level.of(counts)]
        alphas = concentrations(margin, levels, self.smoothing.concentration, n_values)
        off = (held.total, held.alone, held.value)
        shares = hierarchical(margin, levels, alphas, off, n_values)[-1]
        if self.smoothing.view is None:
            return np.log(shares)
        strength = counts.sum(axis=1) + alphas[-1]
        alpha = np.maximum(shares * strength[:, None] - counts, 0.0)
        return self.smoothing.view.given(counts, alpha, strength)


@dataclass(frozen=True, eq=False)
class IntervalTables(Tables):
    """Tables whose probabilities are chosen by a genome, within their confidence intervals.

    Attributes
    ----------
    intervals : Intervals
        The counts, and how a genome is read.
    genome : ndarray of shape (intervals.size,)
        A position in every interval.
    held_out : float or None
        Weight of a row for leave-one-out.
    """

    intervals: Intervals
    genome: FloatArray
    held_out: float | None

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        from unnaive.tables.intervals import interval_joint  # noqa: PLC0415 - loads more kernels

        weight = self.held_out
        return interval_joint(self.intervals, self.genome, codes, held, n_jobs, held_out=weight)

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint: one term per group."""
        groups, sizes = self.intervals.groups, np.array(self.intervals.sizes)
        nothing = np.repeat(sizes.astype(codes.dtype)[:, None], codes.shape[1], axis=1)
        base = self.joint(nothing)
        parts = np.zeros((*base.shape, len(groups)))
        for place, group in enumerate(groups):
            shown = nothing.copy()
            shown[list(group)] = codes[list(group)]
            parts[:, :, place] = less(self.joint(shown), base)
        return Terms(tuple((tuple(group), ()) for group in groups), base, parts)

    def describe(self, arrays: Arrays) -> State:
        """Describe the groups as a product with one factor per group."""
        prior, chances = self.intervals.decode(self.genome)
        with np.errstate(divide="ignore"):
            factors = [
                describe.factor(group, [], [describe.table(group, np.log(chance), arrays)])
                for group, chance in zip(self.intervals.groups, chances, strict=True)
            ]
            return describe.product(np.log(prior), factors, arrays, marginalize=True)


def _margin(counts: JointCounts, group: Group, shown: Group) -> tuple[IntArray, FloatArray]:
    """Return the joint values of some columns of a group that occurred, and their counts (k, m)."""
    sizes = counts.schema.sizes
    family = next(family for family in counts.families if family.columns == group)
    if isinstance(family, CellCounts):
        labels, digits = family.digits(sizes)
        strides = zip(shown, strides_of(sizes, shown), strict=True)
        number = sum((digits[column] * stride for column, stride in strides), 0 * labels)
        cells, place = np.unique(number, return_inverse=True)
        table = np.zeros((counts.n_classes, len(cells)))
        np.add.at(table, (labels, place.reshape(-1)), family.table)
        return cells, table
    values: dict[int, IntArray] = {group[0]: np.arange(sizes[group[0]])[None, :]}
    for parent, stride in zip(group[1:], strides_of(sizes, group[1:]), strict=True):
        values[parent] = (family.contexts // stride % sizes[parent])[:, None]
    number = np.zeros(family.table.shape[1:], dtype=np.int64)
    for column, stride in zip(shown, strides_of(sizes, shown), strict=True):
        number += values[column] * stride
    cells, place = np.unique(number.reshape(-1), return_inverse=True)
    table = np.zeros((len(cells), counts.n_classes))
    np.add.at(table, place.reshape(-1), family.table.reshape(counts.n_classes, -1).T)
    used = table.any(axis=1)
    return cells[used], np.ascontiguousarray(table[used].T)


def group_tables(
    counts: JointCounts,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    held_out: float | None = None,
    complete: bool = False,
) -> GroupTables:
    """Estimate the tables of all counted groups; with ``held_out`` for leave-one-out."""
    sets = leave_one_out_sets(held_out)[:2]
    prior = np.stack([log_prior(counts, smoothing, class_prior, held) for held in sets])
    return GroupTables(counts, smoothing, prior, held_out, complete)


class GroupScores:
    """Exact leave-one-out accuracy (or mean log-likelihood) of groupings of coded rows.

    A row of weight w above 1 stands for w equal rows, of which one is left out.

    Parameters
    ----------
    counts : JointCounts
        Counts that include at least those of the classes.
    rows : CodedRows
        The rows.
    smoothing : Smoothing
        The smoothing policy.
    class_prior : ndarray of shape (k,), default=None
        P(c); None estimates it.
    criterion : {"accuracy", "log_loss"}, default="accuracy"
        What is computed.
    max_memory : int, default=2**31
        Bytes that the factors of the current groups may use in a greedy search.
    """

    def __init__(
        self,
        counts: JointCounts,
        rows: CodedRows,
        smoothing: Smoothing,
        *,
        class_prior: FloatArray | None = None,
        criterion: str = "accuracy",
        max_memory: int = 2**31,
    ) -> None:
        self.sizes, self.n_columns = rows.schema.sizes, len(rows.codes)
        self._team = _parallel.Team(rows.n_jobs)
        self._column = 0 if criterion == "accuracy" else 1
        self._max_memory = max_memory
        n = len(rows.classes)
        self._total = float(n if rows.weights is None else rows.weights.sum())
        weights = np.ones(n) if rows.weights is None else np.minimum(rows.weights, 1.0)
        priors = left_out_priors(counts, smoothing, class_prior, rows.classes, weights)
        self._prior = np.ascontiguousarray(priors.T)
        each, shared = smoothing.shares(counts.n_classes)
        plain = rows.weights is None and each > 0 and shared == 0
        logs = np.log(np.arange(n + 1) + each) if plain else np.empty(0)
        shares = np.array([each, shared, float(smoothing.uses_frequencies)])
        own = np.empty(0) if rows.weights is None else rows.weights
        self._data = (rows.codes, self.sizes, rows.classes, own, logs, shares)

    def of_genomes(self, genomes: IntArray) -> FloatArray:
        """Fitness of groupings (m, d): the group of each column, 0 for unused; shape (m,)."""
        genomes = np.ascontiguousarray(genomes, dtype=np.int64)
        out = np.zeros((len(genomes), 1 + self._column))

        def score(part: tuple[int, int]) -> None:
            mine = slice(*part)
            score_genomes(self._data, self._prior, genomes[mine], out[mine])

        self._share_out(score, len(genomes))
        fitness = out[:, self._column] / self._total
        return np.where(self._countable(genomes), fitness, -np.inf)

    def total(self, groups: Groups) -> float:
        """Fitness of one grouping."""
        return float(self.of_genomes(genome_of(groups, self.n_columns)[None])[0])

    def changes(self, groups: Groups, changes: Sequence[Change]) -> FloatArray:
        """Fitness of a grouping after each of some changes; only changed groups are counted."""
        after = np.stack([genome_of(apply_change(groups, c), self.n_columns) for c in changes])
        factors = self._factors(groups)
        if factors is None:
            return self.of_genomes(after)
        place = {group: index for index, group in enumerate(groups)}
        gone = np.full((len(changes), 2), -1)
        for index, (taken, _) in enumerate(changes):
            gone[index, : len(taken)] = [place[group] for group in taken]
        bounds = np.concatenate([[0], np.cumsum([len(new) for _, new in changes])])
        members = np.array([column for _, new in changes for column in new], dtype=np.int64)
        present = self._prior + factors.sum(axis=0)
        out = np.zeros((len(changes), 1 + self._column))

        def score(part: tuple[int, int]) -> None:
            mine = slice(*part)
            score_changes(
                *(self._data, self._prior, present, factors, gone[mine], members),
                *(bounds[part[0] : part[1] + 1], out[mine]),
            )

        self._share_out(score, len(changes))
        return np.where(self._countable(after), out[:, self._column] / self._total, -np.inf)

    def _factors(self, groups: Groups) -> FloatArray | None:
        """Leave-one-out factors (g, k, n), or None if too large or not finite."""
        if 8 * self._prior.size * len(groups) > self._max_memory:
            return None
        factors = np.zeros((len(groups), *self._prior.shape))

        def fill(place: int) -> None:
            members = np.array(groups[place], dtype=np.int64)
            add_group(self._data, members, factors[place])

        self._team.run(fill, range(len(groups)))
        return factors if np.isfinite(factors).all() else None

    def _countable(self, genomes: IntArray) -> AnyArray:
        """Whether 64 bits can number the joint values of every group; shape (m,)."""
        bits = np.zeros((len(genomes), int(genomes.max(initial=0)) + 1))
        for column, size in enumerate(self.sizes):
            bits[np.arange(len(genomes)), genomes[:, column]] += math.log2(max(int(size), 1))
        return np.asarray((bits[:, 1:] <= _MOST_BITS).all(axis=1))

    def _share_out(self, score: Callable[[tuple[int, int]], None], size: int) -> None:
        each = max(1, -(-size // (_TASKS_A_THREAD * self._team.size)))
        self._team.run(score, _parallel.row_blocks(size, each))


class CompleteGroupScores(GroupScores):
    """:class:`GroupScores` in which a group has a factor only for rows with all of its cells.

    Factors are kept, because a search meets the same groups again and again.
    """

    def __init__(
        self, counts: JointCounts, rows: CodedRows, smoothing: Smoothing, **options: Any
    ) -> None:
        super().__init__(counts, rows, smoothing, **options)
        self._kept: dict[Group, FloatArray] = {}
        self._missing = rows.codes >= self.sizes[:, None]
        self._classes = rows.classes
        self._weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights

    def of_genomes(self, genomes: IntArray) -> FloatArray:
        """Fitness of groupings (m, d): the group of each column, 0 for unused; shape (m,)."""
        if not self._missing.any():
            return super().of_genomes(genomes)
        fitness = [
            self._fitness(groups_of(genome)) if countable else -np.inf
            for genome, countable in zip(genomes, self._countable(genomes), strict=True)
        ]
        return np.array(fitness, dtype=np.float64)

    def changes(self, groups: Groups, changes: Sequence[Change]) -> FloatArray:
        """Fitness of a grouping after each of some changes."""
        if not self._missing.any():
            return super().changes(groups, changes)
        after = [genome_of(apply_change(groups, c), self.n_columns) for c in changes]
        return self.of_genomes(np.stack(after))

    def _fitness(self, groups: Groups) -> float:
        joint = self._prior.copy()
        for group in groups:
            joint += self._factor(group)
        impossible = np.isneginf(joint).all(axis=0)
        joint[:, impossible] = self._prior[:, impossible]
        own = joint[self._classes, np.arange(joint.shape[1])]
        if self._column:
            told = own - np.logaddexp.reduce(joint, axis=0)
        else:
            tied = joint >= joint.max(axis=0) - TIE_TOLERANCE
            told = np.argmax(tied, axis=0) == self._classes
        return float((self._weights * told).sum() / self._total)

    def _factor(self, group: Group) -> FloatArray:
        """Leave-one-out factor of a group, 0 for rows that lack a cell; shape (k, n)."""
        if group not in self._kept:
            if 8 * self._prior.size * len(self._kept) > self._max_memory:
                self._kept.clear()
            factor = np.zeros(self._prior.shape)
            add_group(self._data, np.array(group, dtype=np.int64), factor)
            factor[:, self._missing[list(group)].any(axis=0)] = 0.0
            self._kept[group] = factor
        return self._kept[group]
