"""Tables of models that average over super-parents: every column in turn is everyone's parent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.super_parents import drop_generalisations, sum_super_parents, super_parent_tables
from unnaive.counts.joint import starts_of
from unnaive.tables.base import Tables
from unnaive.tables.hierarchy import Level, pair_concentrations
from unnaive.tables.trees import (
    PLAIN,
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
    from unnaive._typing import AnyArray, BoolArray, CodeArray, CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing

ROWS_A_TASK = 1 << 11
GROUP_VALUES = 64
_CHOSEN = "_pair_concentrations"


@dataclass(frozen=True, eq=False)
class SuperParentTables:
    """log P(x_i | c, x_p) of all pairs, and log P(c, x_p) on the diagonal.

    ``tables`` (sets · k, S, G): a row for each value of a super-parent and an entry for each
    joint value of a small group of children, all with a slot for missing cells; ``slots``
    (d + 1,) are the columns' starts among the rows, ``columns`` (d, 4) their places, see the
    kernel; ``weights`` (S,) are the values' weights as super-parents, 0 for none.
    """

    slots: IntArray
    columns: IntArray
    parents: IntArray
    tables: FloatArray
    weights: FloatArray
    generalises: BoolArray | None
    n_classes: int

    def joint(self, codes: CodeArray, held: AnyArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint of every row and class, NaN where no column can be super-parent; (n, k)."""
        out, codes = np.empty((codes.shape[1], self.n_classes)), self.resolved(codes)

        def look_up(rows: tuple[int, int]) -> None:
            arrays = (self.columns, self.parents, self.weights, self.tables)
            sum_super_parents(codes, *arrays, held, rows, out)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out

    def resolved(self, codes: CodeArray) -> CodeArray:
        """Leave out the values that others imply, if the model does."""
        if self.generalises is None:
            return codes
        out = np.empty_like(codes)
        drop_generalisations(codes, self.slots, self.generalises, out)
        return out


@dataclass(frozen=True, eq=False)
class FirstAnswer(Tables):
    """Averages over super-parents, from the most to the fewest of them, and naive Bayes last.

    The first that knows of a super-parent for a row answers.
    """

    averages: tuple[SuperParentTables, ...]
    simplest: TreeTables

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k)."""
        joint = self.averages[0].joint(codes, held, n_jobs)
        fallbacks: list[SuperParentTables | TreeTables] = [*self.averages[1:], self.simplest]
        for simpler in fallbacks:
            rest = np.flatnonzero(np.isnan(joint).any(axis=1))
            if len(rest):
                some = np.ascontiguousarray(codes[:, rest])
                joint[rest] = simpler.joint(some, held[rest], n_jobs)
        return joint


def child_groups(sizes: IntArray) -> tuple[IntArray, int]:
    """Put neighbouring columns into groups of few joint values: one look-up serves a group.

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


def single_parents(slots: IntArray) -> IntArray:
    """Every column as a super-parent of its own, for the kernel; shape (d, 5)."""
    column = np.arange(len(slots) - 1)
    ones = np.ones_like(column)
    return np.stack([column, column, slots[:-1], ones, 0 * ones], axis=1)


def table_bytes(sizes: IntArray, n_classes: int) -> int:
    """Bytes that the tables take while they are made."""
    n_slots = int((sizes + 1).sum())
    return n_slots * (n_slots + child_groups(sizes)[1]) * n_classes * 8


def grouped(tables: FloatArray, columns: IntArray, slots: IntArray) -> FloatArray:
    """Add up the children's entries for every joint value of each group."""
    width = child_groups(np.diff(slots) - 1)[1]
    joined = np.empty((*tables.shape[:2], width))
    start = 0
    for group in range(columns[-1, 1] + 1):
        together = np.zeros((*tables.shape[:2], 1))
        for column in np.flatnonzero(columns[:, 1] == group):
            entries = tables[:, :, slots[column] : slots[column + 1]]
            both = entries[:, :, :, None] + together[:, :, None, :]
            together = both.reshape(*tables.shape[:2], -1)
        joined[:, :, start : start + together.shape[2]] = together
        start += together.shape[2]
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
) -> SuperParentTables:
    """Estimate the tables of AODE; with ``held_out`` those of leave-one-out.

    ``column_weights`` weigh the columns as super-parents. ``critical``: a value that occurs
    more often than this, and only together with another, makes the other superfluous
    (subsumption resolution); None leaves that out.
    """
    sizes, n_classes = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    sets = (PLAIN,) if held_out is None else leave_one_out_sets(held_out)[:2]
    tables = np.zeros((len(sets), n_classes, slots[-1], slots[-1]))
    for index, held in enumerate(sets):
        conditional_tables(tables[index], counts, smoothing, held)
        of_class = log_prior(counts, smoothing, class_prior, held)
        for column, size in enumerate(sizes):
            diagonal = np.arange(slots[column], slots[column] + size)
            tables[index][:, diagonal, diagonal] = super_parent_prior(
                counts.marginal(column), smoothing, of_class, held, given=class_prior is not None
            )
    off = held_out or 0.0
    occurs = np.zeros(slots[-1])
    values = np.delete(np.arange(slots[-1]), slots[1:] - 1)
    occurs[values] = counts.values.sum(axis=0)
    weights = np.zeros(slots[-1])
    weights[values] = occurs[values] - off >= min_count
    if column_weights is not None:
        weights *= np.repeat(column_weights, sizes + 1)
    generalises = None if critical is None else _generalises(counts, slots, critical + off)
    columns = child_groups(sizes)[0]
    stacked = grouped(tables.reshape(-1, slots[-1], slots[-1]), columns, slots)
    parents = single_parents(slots)
    return SuperParentTables(slots, columns, parents, stacked, weights, generalises, n_classes)


def conditional_tables(
    out: FloatArray, counts: JointCounts, smoothing: Smoothing, held: HeldOut
) -> None:
    """Log P(x_i | c, x_p) of every ordered pair of columns into ``out`` (k, S, S).

    Rows are the slots of p, columns those of i; what concerns missing cells is left as it is.
    """
    sizes, n_classes = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    pairs = counts.pairs.astype(np.float64, copy=False)
    if smoothing.is_hierarchical:
        alpha, totals = _leaning(counts, pairs, slots, smoothing, held)
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


def _leaning(
    counts: JointCounts, pairs: FloatArray, slots: IntArray, smoothing: Smoothing, held: HeldOut
) -> tuple[FloatArray, FloatArray]:
    """α·P(x_i | c) of every class and slot (k, S), and α of every column, for all its parents."""
    given = smoothing.concentration
    found = []
    for off in (HeldOut(1.0, 1.0, 1.0), held):
        alone = np.zeros((counts.n_classes, slots[-1]))
        for column, size in enumerate(counts.schema.sizes):
            marginal = counts.marginal(column)
            levels, margin = [Level.of(marginal)], marginal.sum(axis=0)
            alone[:, slots[column] : slots[column] + size] = np.exp(
                conditional(smoothing, margin, levels, counts.n_classes, off)
            )
        found.append(alone)
    if given is not None:
        alphas = np.full(len(slots) - 1, given)
    else:
        kept = counts.__dict__  # where a cached property would be, of which counts know nothing
        if _CHOSEN not in kept:
            kept[_CHOSEN] = pair_concentrations(pairs, counts.pair_starts, slots, found[0])
        alphas = kept[_CHOSEN]
    return found[1] * np.repeat(alphas, np.diff(slots)), alphas


def super_parent_prior(
    table: CountArray, smoothing: Smoothing, prior: FloatArray, held: HeldOut, *, given: bool
) -> FloatArray:
    """Log P(c, x) of a super-parent's table (k, v): one variable, unless P(c) is given."""
    if not given:
        return possible(joint_prior(table, smoothing, held), prior)
    levels = [Level.of(table)]
    of_value = conditional(smoothing, table.sum(axis=0), levels, len(table), held)
    return np.asarray(prior[:, None] + of_value)


def _generalises(counts: JointCounts, slots: IntArray, critical: float) -> BoolArray:
    """Which value (row) is implied by which other value (column); shape (S, S).

    x_i generalises x_j if x_j occurs more than ``critical`` times and never without x_i; of
    two values that imply each other the one of the larger column is the general one.
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
