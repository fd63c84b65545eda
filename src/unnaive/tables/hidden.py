"""Tables of hidden naive Bayes: each column's probability is a mean over its bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.hidden import LEAST, fill_bags, sum_hidden_parents, sweep_thresholds
from unnaive.counts.joint import starts_of
from unnaive.tables.base import Tables
from unnaive.tables.super_parents import child_groups, conditional_tables
from unnaive.tables.trees import PLAIN, HeldOut, column_factor, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.smoothing import Smoothing

ROWS_A_TASK = 1 << 11
SWEEPS = 16  # rows are swept in this many parts, whatever the threads, so that sums are the same


@dataclass(frozen=True, eq=False)
class HiddenParentTables(Tables):
    """Weighted sums of P(x_i | x_j, c) over bags; ``_core/hidden.cpp`` describes the arrays."""

    columns: IntArray
    groups: IntArray
    tables: FloatArray
    alone: FloatArray
    n_classes: int

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k)."""
        out = np.empty((codes.shape[1], self.n_classes))

        def look_up(span: tuple[int, int]) -> None:
            arrays = (self.columns, self.groups, self.tables, self.alone)
            sum_hidden_parents(codes, *arrays, held, span, out)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out


def hidden_parent_tables(
    counts: JointCounts,
    weights: FloatArray,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    held_out: float | None = None,
) -> HiddenParentTables:
    """Estimate the tables for bags of given weights (d, d), those of leave-one-out if asked."""
    sizes, k = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    columns, groups, cells = _layout(sizes, weights)
    sets = (PLAIN,) if held_out is None else leave_one_out_sets(held_out)[:2]
    tables = np.zeros((len(sets) * k + 1, cells))
    alone = np.empty((len(sets) * k, slots[-1] + 1))
    for index, held in enumerate(sets):
        chances = _chances(counts, smoothing, held)
        for label in range(k):
            fill_bags(chances[label], weights, columns, groups, slots, tables[index * k + label])
        alone[index * k : (index + 1) * k] = _alone(counts, smoothing, class_prior, held)
    ones = np.ones((slots[-1], slots[-1]))
    fill_bags(ones, weights, columns, groups, slots, tables[-1])
    return HiddenParentTables(columns, groups, tables, alone, k)


def table_bytes(sizes: IntArray, weights: FloatArray, n_classes: int) -> int:
    """Bytes that the tables take while they are made."""
    n_slots = int((sizes + 1).sum())
    return 8 * (n_classes * n_slots**2 + (n_classes + 1) * _layout(sizes, weights)[2])


def sweep_bytes(sizes: IntArray, n_classes: int) -> int:
    """Bytes that the sweep over thresholds takes."""
    return 8 * 3 * n_classes * int((sizes + 1).sum()) ** 2


def _layout(sizes: IntArray, weights: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Places of columns and groups, and the number of cells of a table."""
    grouped = child_groups(sizes)[0]
    columns = np.zeros((len(sizes), 8), dtype=np.int64)
    columns[:, :3], columns[:, 7] = grouped[:, :3], sizes
    joint = np.ones(grouped[-1, 1] + 1, dtype=np.int64)
    np.multiply.at(joint, grouped[:, 1], sizes + 1)
    groups: list[tuple[int, int]] = []
    cells = 0
    for i in range(len(sizes)):
        heard = np.unique(grouped[weights[i] > 0, 1])
        offsets = starts_of(joint[heard])
        columns[i, 3:7] = len(groups), len(groups) + len(heard), cells, offsets[-1]
        groups += list(zip(heard.tolist(), offsets[:-1].tolist(), strict=True))
        cells += int(offsets[-1]) * int(max(sizes[i], 1))
    return columns, np.array(groups, dtype=np.int64).reshape(-1, 2), cells


def _chances(counts: JointCounts, smoothing: Smoothing, held: HeldOut) -> FloatArray:
    """P(x_i | x_j, c), rows for the slots of j and columns for those of i; shape (k, S, S)."""
    n_slots = int((counts.schema.sizes + 1).sum())
    tables = np.full((counts.n_classes, n_slots, n_slots), -np.inf)
    conditional_tables(tables, counts, smoothing, held)
    return np.asarray(np.exp(tables, out=tables))


def _alone(
    counts: JointCounts, smoothing: Smoothing, class_prior: FloatArray | None, held: HeldOut
) -> FloatArray:
    """Log P(x_i | c) with 0 for missing cells, and the log prior last; shape (k, S + 1)."""
    sizes, k = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    alone = np.zeros((k, slots[-1] + 1))
    alone[:, -1] = log_prior(counts, smoothing, class_prior, held)
    for column in range(len(sizes)):
        factor = column_factor(counts, column, -1, smoothing, held)
        alone[:, slots[column] : slots[column + 1]] = factor[:, 0]
    return alone


def threshold_path(
    rows: CodedRows,
    counts: JointCounts,
    smoothing: Smoothing,
    *,
    pairs: IntArray,
    information: FloatArray,
    marks: BoolArray,
    class_prior: FloatArray | None = None,
) -> FloatArray:
    """Leave-one-out log loss and accuracy of all nested sets of bags; shape (marks + 1, 2).

    ``pairs`` come by falling ``information``; see :func:`sweep_thresholds`. Weights of the
    bags are held at those of all rows.
    """
    slots = starts_of(counts.schema.sizes + 1)
    weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
    n_models = int(marks.sum()) + 1
    total = np.zeros((n_models, 2))
    for weight in np.unique(weights):
        sets = leave_one_out_sets(float(weight))[:2]
        chances = np.empty((slots[-1], slots[-1], 2 * counts.n_classes))
        for index, held in enumerate(sets):
            part = _chances(counts, smoothing, held).transpose(1, 2, 0)
            chances[:, :, index * counts.n_classes : (index + 1) * counts.n_classes] = part
        alone = np.concatenate([_alone(counts, smoothing, class_prior, held) for held in sets])
        model = (pairs, information, marks, chances, np.maximum(alone, np.log(LEAST)))

        def sweep(members: IntArray) -> FloatArray:
            out = np.zeros((n_models, 2))
            codes = np.ascontiguousarray(rows.codes[:, members])
            sweep_thresholds(codes, rows.classes[members], slots, *model, out)  # noqa: B023
            return out

        parts = np.array_split(np.flatnonzero(weights == weight), SWEEPS)
        for found in _parallel.run(sweep, parts, rows.n_jobs):
            total += weight * found
    return np.asarray(total / float(weights.sum()))
