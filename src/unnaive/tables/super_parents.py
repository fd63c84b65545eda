"""Tables of models that average over super-parents: each column in turn is the parent of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.super_parents import drop_generalisations, sum_super_parents, super_parent_tables
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import starts_of
from unnaive.tables.base import Tables
from unnaive.tables.hierarchy import Level, pair_concentrations, shares_alone
from unnaive.tables.posterior import SharedDraw
from unnaive.tables.terms import Terms, joined
from unnaive.tables.terms.divisia import shares_of_sum
from unnaive.tables.trees import (
    HeldOut,
    TreeTables,
    conditional,
    frequencies,
    joint_prior,
    leave_one_out_sets,
    log_prior,
    possible,
)

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, CodeArray, CountArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.terms import Key

ROWS_A_TASK = 1 << 11
GROUP_VALUES = 64
_BLOCK_CELLS = 1 << 21  # factors that terms are computed from at a time
_CHOSEN = "_pair_concentrations"


@dataclass(frozen=True, eq=False)
class SuperParentTables:
    """log P(x_i | c, x_p) of all pairs, and log P(c, x_p) on the diagonal.

    Attributes
    ----------
    slots : ndarray of shape (d + 1,)
        Where each column starts among the lines of the tables.
    columns : ndarray of shape (d, 4)
        Slot, group, stride in the group, and start of the group (at its first column).
    parents : ndarray of shape (m, 5)
        The super-parents: two columns (equal for one parent), their first line, two strides.
    tables : ndarray of shape (sets · k, S, G)
        A line for each value of a super-parent and an entry for each joint value of a small
        group of children, all with a slot for missing cells.
    weights : ndarray of shape (S,)
        Weight of each value as a super-parent; 0 excludes it.
    generalises : ndarray of shape (S, S), or None
        Which values are implied by which others (subsumption resolution).
    n_classes : int
        Number of classes k.
    """

    slots: IntArray
    columns: IntArray
    parents: IntArray
    tables: FloatArray
    weights: FloatArray
    generalises: BoolArray | None
    n_classes: int

    def joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint of every row and class, NaN if a row has no super-parent; shape (n, k)."""
        out, codes = np.empty((codes.shape[1], self.n_classes)), self.resolved(codes)
        arrays = (self.columns, self.parents, self.weights, self.tables, held)
        blocks = _parallel.row_blocks(codes.shape[1], ROWS_A_TASK)
        _parallel.run(lambda rows: sum_super_parents(codes, *arrays, rows, out), blocks, n_jobs)
        return out

    def resolved(self, codes: CodeArray) -> CodeArray:
        """Mark values that others imply as missing, with subsumption resolution."""
        if self.generalises is None:
            return codes
        out = np.empty_like(codes)
        drop_generalisations(codes, self.slots, self.generalises, out)
        return out

    def lines(self, codes: CodeArray) -> IntArray:
        """Line of the tables that each super-parent of every row selects; shape (m, n)."""
        first, second, start, stride, second_stride = self.parents.T[:, :, None]
        wide = codes.astype(np.int64)
        return np.asarray(start + stride * wide[first[:, 0]] + second_stride * wide[second[:, 0]])

    @property
    def _first_cells(self) -> IntArray:
        """Entry of each column's first value, the others of its group missing; shape (d,)."""
        group, starts = self.columns[:, 1], self.columns[:, 3]
        return first_cells(self.columns, np.diff(self.slots) - 1) + (
            np.bincount(group, starts)[group].astype(np.int64)  # 0 except for the first column
        )

    def terms(self, codes: CodeArray, base: FloatArray) -> Terms:
        """Split the weighted mean over super-parents, of which every row must have one."""
        keys, places = self._keys()
        n, k = base.shape
        parts = np.empty((n, k, len(keys)))
        size = max(1, _BLOCK_CELLS // max(1, k * len(self.parents) * len(codes)))
        for low in range(0, n, size):
            rows = slice(low, min(low + size, n))
            shares = self._shares(codes[:, rows], base[rows])
            parts[rows] = shares.reshape(*shares.shape[:2], -1)[:, :, places]
        return Terms(keys, base, parts)

    def _shares(self, codes: CodeArray, base: FloatArray) -> FloatArray:
        """Share of every super-parent and column in the log joint; shape (n, k, m, d)."""
        lines = self.lines(codes)
        cells = self._first_cells[:, None] + self.columns[:, 2, None] * codes.astype(np.int64)
        factors = self.tables[: self.n_classes][:, lines.T[:, :, None], cells.T[:, None, :]]
        factors = np.ascontiguousarray(factors.transpose(1, 0, 2, 3))
        member, first = np.arange(len(self.parents)), self.parents[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            own = factors[:, :, member, first] - base[:, :, None]
            weight = np.log(self.weights[lines].T)[:, None, :]
        factors[:, :, member, first] = np.where(np.isneginf(base)[:, :, None], -np.inf, own)
        factors = np.where(np.isneginf(weight)[..., None], 0.0, factors)
        before = weight + base[:, :, None]
        return shares_of_sum(before + factors.sum(axis=-1), before, factors)

    def _keys(self) -> tuple[tuple[Key, ...], IntArray]:
        """Keys of the terms, and their positions among all pairs of super-parent and column."""
        used = np.flatnonzero(np.diff(self.slots) > 1).tolist()
        keys: dict[int, Key] = {}
        for member, (first, second) in enumerate(self.parents[:, :2].tolist()):
            above = (first,) if first == second else (first, second)
            for column in used if set(above) <= set(used) else []:
                if column == first or column not in above:
                    key = (above, ()) if column == first else ((column,), above)
                    keys[member * (len(self.slots) - 1) + column] = key
        return tuple(keys.values()), np.array(list(keys), dtype=np.int64)

    def describe(self, arrays: Arrays) -> State:
        """Describe an average over super-parents."""
        sizes, cells = np.diff(self.slots) - 1, self._first_cells
        members, lines, entries = [], [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for first, second, start, stride, second_stride in self.parents.tolist():
            members.append([first] if first == second else [first, second])
            seconds = np.arange(sizes[second] if second_stride else 1)
            of_member = start + stride * np.arange(sizes[first])[:, None] + second_stride * seconds
            lines.append(of_member.reshape(-1))
        entries += [cells[i] + self.columns[i, 2] * np.arange(v) for i, v in enumerate(sizes)]
        every, implied = np.concatenate(lines), None
        arrays.require(self.n_classes * len(every) * int(sizes.sum()))
        table = self.tables[: self.n_classes][:, every[:, None], np.concatenate(entries)]
        if self.generalises is not None:
            values = np.delete(np.arange(self.slots[-1]), self.slots[1:] - 1)
            implied = arrays.add(np.argwhere(self.generalises[np.ix_(values, values)]))
        numbers = {"weights": arrays.add(self.weights[every]), "table": arrays.add(table)}
        return {"kind": "average", "members": members, **numbers, "implied": implied}


@dataclass(frozen=True, eq=False)
class FirstAnswer(Tables):
    """Averages over super-parents, for example of pairs, then of single columns, then naive Bayes.

    A row is answered by the first of these that has a super-parent for it.

    Attributes
    ----------
    averages : tuple of SuperParentTables
        Averages, the most complex first.
    simplest : TreeTables
        Naive Bayes.
    """

    averages: tuple[SuperParentTables, ...]
    simplest: TreeTables

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint of each row by the average that answers it."""
        naive, rows = self.simplest.terms(codes), np.arange(codes.shape[1])
        answers: list[tuple[IntArray, Terms]] = []
        for average in self.averages:
            resolved = average.resolved(np.ascontiguousarray(codes[:, rows]))
            here = average.weights[average.lines(resolved)].sum(axis=0) > 0
            if here.any():
                some = rows[here]
                answers.append((some, average.terms(resolved[:, here], naive.base[some])))
            rows = rows[~here]
        if len(rows):
            answers.append((rows, Terms(naive.keys, naive.base[rows], naive.parts[rows])))
        keys, places = joined([terms for _, terms in answers])
        parts = np.zeros((*naive.base.shape, len(keys)))
        for (rows, terms), place in zip(answers, places, strict=True):
            parts[rows[:, None], :, place] = terms.parts.transpose(0, 2, 1)
        return Terms(keys, naive.base, parts)

    def describe(self, arrays: Arrays) -> State:
        """Describe the averages and, last, naive Bayes."""
        averages = [average.describe(arrays) for average in self.averages]
        simplest = self.simplest.describe(arrays)
        parts = [{**average, "base": simplest["base"]} for average in averages]
        return {"kind": "first", "parts": [*parts, simplest]}

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        joint = self.averages[0].joint(codes, held, n_jobs)
        fallbacks: list[SuperParentTables | TreeTables] = [*self.averages[1:], self.simplest]
        for simpler in fallbacks:
            rest = np.flatnonzero(np.isnan(joint).any(axis=1))
            if len(rest):
                some = np.ascontiguousarray(codes[:, rest])
                joint[rest] = simpler.joint(some, held[rest], n_jobs)
        return joint


def child_groups(sizes: IntArray) -> tuple[IntArray, int]:
    """Put neighbouring columns into groups of few joint values, to be looked up together.

    Returns the ``columns`` of :class:`SuperParentTables` and the number of joint values of
    all groups.
    """
    slots = starts_of(sizes + 1)
    columns = np.zeros((len(sizes), 4), dtype=np.int64)
    columns[:, 0] = slots[:-1]
    group, width, total = -1, 0, 0
    for column, size in enumerate((sizes + 1).tolist()):
        if group < 0 or width * size > GROUP_VALUES:
            group, total, stride = group + 1, total + width, 1
            columns[column, 3], width = total, size
        else:
            stride, width = width, width * size
        columns[column, 1:3] = group, stride
    return columns, total + width


def first_cells(columns: IntArray, sizes: IntArray) -> IntArray:
    """Position of each column's first value in its group, the others missing; shape (d,)."""
    missing = columns[:, 2] * sizes
    return np.bincount(columns[:, 1], missing)[columns[:, 1]].astype(np.int64) - missing


def table_bytes(sizes: IntArray, n_classes: int) -> int:
    """Bytes that the tables need while they are estimated."""
    n_slots = int((sizes + 1).sum())
    return n_slots * (n_slots + child_groups(sizes)[1]) * n_classes * 8


def grouped(
    tables: FloatArray, columns: IntArray, slots: IntArray, out: FloatArray | None = None
) -> FloatArray:
    """Add up the children's entries for every joint value of each group.

    The sums are written into ``out``, if it is given. If every column is a group of its own, the
    tables are returned as they are.
    """
    if columns[-1, 1] + 1 == len(columns):  # every column is a group
        return tables
    lines = tables.shape[:2]
    joined = np.empty((*lines, child_groups(np.diff(slots) - 1)[1])) if out is None else out
    start = 0
    for group in range(columns[-1, 1] + 1):
        *before, last = np.flatnonzero(columns[:, 1] == group)
        together = np.zeros((1, 1, 1, 1))
        for column in before:
            entries = tables[:, :, slots[column] : slots[column + 1], None]
            together = (entries + together).reshape(*lines, 1, -1)
        entries = tables[:, :, slots[last] : slots[last + 1], None]
        stop = start + entries.shape[2] * together.shape[3]
        place = joined[:, :, start:stop].reshape(*entries.shape[:3], -1)  # a view
        np.add(entries, together, out=place)
        start = stop
    return joined


def all_super_parents(
    counts: JointCounts,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    column_weights: FloatArray | None = None,
    min_count: float = 1,
    critical: float | None = None,
    held_out: float | None = None,
    jointly: bool = True,
) -> SuperParentTables:
    """Estimate the tables of AODE.

    Parameters
    ----------
    counts : JointCounts
        Counts of all pairs of columns.
    smoothing : Smoothing
        The smoothing policy.
    class_prior : ndarray of shape (k,), default=None
        P(c); None estimates it.
    column_weights : ndarray of shape (d,), default=None
        Weights of the columns as super-parents; None weighs all equally.
    min_count : float, default=1
        A value must occur this often to be a super-parent.
    critical : float, default=None
        Subsumption resolution: a value that occurs more often than this, and only together
        with another value, makes the other superfluous. None switches it off.
    held_out : float, default=None
        Weight of a row; if given, the tables are those of leave-one-out.
    jointly : bool, default=True
        Whether P(c, x_p) is estimated as one variable; always P(c)·P(x_p | c) if P(c) is given.

    Returns
    -------
    SuperParentTables
        Ready for look-ups.
    """
    sizes, n_classes = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    sets = leave_one_out_sets(held_out)[:2]
    tables = np.zeros((len(sets), n_classes, slots[-1], slots[-1]))
    for index, held in enumerate(sets):
        conditional_tables(tables[index], counts, smoothing, held)
        of_class = log_prior(counts, smoothing, class_prior, held)
        logs = None
        known: dict[bytes, FloatArray] = {}
        if smoothing.is_hierarchical and smoothing.view is None:
            logs = np.log(shares_alone(counts, smoothing, [(held.total, held.alone)])[0])
        for column, size in enumerate(sizes):
            diagonal = np.arange(slots[column], slots[column] + size)
            tables[index][:, diagonal, diagonal] = super_parent_prior(
                *(counts.marginal(column), smoothing, of_class, held),
                given=class_prior is not None or not jointly,
                column=column,
                values=None if logs is None else logs[:, diagonal],
                known=known,
            )
    off = held_out or 0.0
    weights = np.zeros(slots[-1])
    values = np.delete(np.arange(slots[-1]), slots[1:] - 1)
    weights[values] = counts.values.sum(axis=0) - off >= min_count
    if column_weights is not None:
        weights *= np.repeat(column_weights, sizes + 1)
    generalises = None if critical is None else _generalises(counts, slots, critical + off)
    columns = child_groups(sizes)[0]
    stacked = grouped(tables.reshape(-1, slots[-1], slots[-1]), columns, slots)
    every = np.arange(len(sizes))
    parents = np.column_stack([every, every, slots[:-1], np.ones_like(every), 0 * every])
    return SuperParentTables(slots, columns, parents, stacked, weights, generalises, n_classes)


def conditional_tables(
    out: FloatArray, counts: JointCounts, smoothing: Smoothing, held: HeldOut
) -> None:
    """Write log P(x_i | c, x_p) of every ordered pair of columns into ``out`` (k, S, S).

    Lines are the slots of p, columns those of i. Slots of missing cells are not written.
    """
    sizes, n_classes = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    pairs = counts.pairs.astype(np.float64, copy=False)
    if smoothing.is_hierarchical:
        alpha, totals = _backed_off(counts, pairs, slots, smoothing, held)
    else:
        alpha, totals = np.zeros((n_classes, slots[-1])), np.zeros(len(sizes))
        for column, size in enumerate(sizes):
            frequency = frequencies(counts.marginal(column).sum(axis=0), held.total, held.total)
            place = slice(slots[column], slots[column] + size)
            pseudo = smoothing.pseudo_counts(int(size), n_classes, frequency)
            alpha[:, place], totals[column] = pseudo
    shares = np.where(sizes > 0, sizes, 1) if smoothing.splits_contexts else np.ones(len(sizes))
    super_parent_tables(
        pairs, counts.pair_starts, slots, alpha, totals, shares.astype(float), held.value, out
    )
    if isinstance(smoothing.view, SharedDraw):
        out[...] = smoothing.view.pairs(out, _strengths(counts, slots, totals, shares), slots)


def _strengths(
    counts: JointCounts, slots: IntArray, totals: FloatArray, shares: FloatArray
) -> FloatArray:
    """N(c, x_p) + A of the line of every cell, for all pairs of columns; shape (k, S, S)."""
    sizes = counts.schema.sizes.tolist()
    strengths = np.zeros((counts.n_classes, slots[-1], slots[-1]))
    for parent, above in enumerate(sizes):
        lines = slice(slots[parent], slots[parent] + above)
        for child, size in enumerate(sizes):
            if child != parent:
                rows = counts.pair(parent, child).sum(axis=2) + totals[child] / shares[parent]
                known = np.where(rows > 0, rows, size)[:, :, None]
                strengths[:, lines, slots[child] : slots[child] + size] = known
    return strengths


def _backed_off(
    counts: JointCounts, pairs: FloatArray, slots: IntArray, smoothing: Smoothing, held: HeldOut
) -> tuple[FloatArray, FloatArray]:
    """α·P(x_i | c) of every class and slot (k, S), and α of every column for all its parents."""
    kept = counts.__dict__  # a cached property that counts cannot compute themselves
    if smoothing.concentration is not None:
        alphas = np.full(len(slots) - 1, smoothing.concentration)
    elif _CHOSEN in kept:
        alphas = kept[_CHOSEN]
    else:
        alone = _alone(counts, slots, smoothing, HeldOut(1.0, 1.0, 1.0))
        alphas = kept[_CHOSEN] = pair_concentrations(pairs, counts.pair_starts, slots, alone)
    return _alone(counts, slots, smoothing, held) * np.repeat(alphas, np.diff(slots)), alphas


def _alone(counts: JointCounts, slots: IntArray, smoothing: Smoothing, held: HeldOut) -> FloatArray:
    """P(x_i | c) of every class and slot, whatever the view; shape (k, S)."""
    logs = np.log(shares_alone(counts, smoothing, [(held.total, held.alone)])[0])
    alone: FloatArray = np.exp(logs)
    alone[:, slots[1:] - 1] = 0.0
    return alone


def super_parent_prior(
    table: CountArray,
    smoothing: Smoothing,
    prior: FloatArray,
    held: HeldOut,
    *,
    given: bool,
    column: int,
    values: FloatArray | None = None,
    known: dict[bytes, FloatArray] | None = None,
) -> FloatArray:
    """Log P(c, x) of a super-parent's table (k, v) as one variable, or as P(c)·P(x | c).

    ``values`` and ``known`` as in :func:`joint_prior`.
    """
    if not given and smoothing.view is None:
        return possible(joint_prior(table, smoothing, held, values, known), prior)
    levels, margin = [Level.of(table)], table.sum(axis=0)
    of_value = conditional(smoothing, margin, levels, len(table), held, column=column)
    return np.asarray(prior[:, None] + of_value)


def _generalises(counts: JointCounts, slots: IntArray, critical: float) -> BoolArray:
    """Which value (line) is implied by which other value (column); shape (S, S).

    x_i generalises x_j if x_j occurs more than ``critical`` times and never without x_i. If
    two values imply each other, the one in the column of higher index is the general one.
    """
    result = np.zeros((slots[-1], slots[-1]), dtype=bool)
    sizes = counts.schema.sizes
    for i, j in counts.pair_columns:
        both = counts.pair(i, j).sum(axis=0)
        of_i, of_j = counts.marginal(i).sum(axis=0)[:, None], counts.marginal(j).sum(axis=0)
        i_general = (of_j > critical) & (both == of_j) & (of_i != of_j)
        j_general = (of_i > critical) & (both == of_i)
        rows = slice(slots[i], slots[i] + sizes[i])
        columns = slice(slots[j], slots[j] + sizes[j])
        result[rows, columns] = i_general
        result[columns, rows] = j_general.T
    return result
