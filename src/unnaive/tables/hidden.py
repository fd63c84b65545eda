r"""Tables of hidden naive Bayes: each column has a hidden parent, a weighted mean over its bag.

.. math:: P(x_i \mid x_{-i}, c) = \sum_j W_{ij} P(x_i \mid x_j, c)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.hidden import LEAST, fill_bags, sum_hidden_parents, sweep_thresholds
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import starts_of
from unnaive.tables.base import Tables
from unnaive.tables.super_parents import child_groups, conditional_tables, first_cells
from unnaive.tables.terms import Terms, observed
from unnaive.tables.trees import HeldOut, column_factor, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing

ROWS_A_TASK = 1 << 11
SWEEPS = 16  # rows are split into this many blocks for any n_jobs, so that sums are equal


@dataclass(frozen=True, eq=False)
class HiddenParentTables(Tables):
    """Weighted sums of P(x_i | x_j, c) over bags; ``_core/hidden.cpp`` describes the arrays.

    Attributes
    ----------
    columns : ndarray of shape (d, 8)
        Slot, group, stride, first and last entry in ``groups``, start and width of the table,
        and number of values of every column.
    groups : ndarray
        Groups of columns that each bag looks up together, and where they start in the table.
    tables : ndarray of shape (sets · k + 1, cells)
        W_ij P(x_i | x_j, c) summed over a group; the last line has the sums of W_ij.
    alone : ndarray of shape (sets · k, S + 1)
        log P(x_i | c), used if the whole bag is missing, and the log prior.
    n_classes : int
        Number of classes k.
    """

    columns: IntArray
    groups: IntArray
    tables: FloatArray
    alone: FloatArray
    n_classes: int

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        out = np.empty((codes.shape[1], self.n_classes))
        arrays = (self.columns, self.groups, self.tables, self.alone, held)
        blocks = _parallel.row_blocks(codes.shape[1], ROWS_A_TASK)
        _parallel.run(lambda rows: sum_hidden_parents(codes, *arrays, rows, out), blocks, n_jobs)
        return out

    def _bag(self, column: int) -> tuple[IntArray, IntArray]:
        """Members of a column's bag, and the cell of the first value of each.

        In that cell, the other columns of the member's group are missing.
        """
        first, last, start, _ = self.columns[column, 3:7]
        groups, offsets = self.groups[first:last].T
        near = np.flatnonzero(np.isin(self.columns[:, 1], groups) & (self.columns[:, 7] > 0))
        cells = start + first_cells(self.columns, self.columns[:, 7])[near]
        cells += offsets[np.searchsorted(groups, self.columns[near, 1])]
        heard = self.tables[-1, cells] > 0
        return near[heard], cells[heard]

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint: one term per column and member of its bag."""
        sizes, k = self.columns[:, 7], self.n_classes
        there, lines = observed(codes, sizes), np.concatenate([self.tables[:k], self.tables[-1:]])
        base = np.repeat(self.alone[None, :k, -1], codes.shape[1], axis=0)
        keys, parts = [], [np.zeros((*base.shape, 0))]
        for column in np.flatnonzero(sizes > 0).tolist():
            members, cells = self._bag(column)
            value = np.minimum(codes[column].astype(np.int64), sizes[column] - 1)
            place = cells[:, None] + self.columns[members, 2, None] * codes[members]
            shares = lines[:, place + value * self.columns[column, 6]]
            chance, weight = shares[:-1].sum(axis=1), shares[-1].sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_chance = np.log(chance / weight)
                share = np.where(chance[:, None] > 0, shares[:-1] / chance[:, None], 0.0)
                through = np.where(share > 0, share * log_chance[:, None], 0.0)
            lost = np.isneginf(log_chance)[:, None] & (shares[-1] > 0)
            through = np.where(lost, -np.inf, through)
            heard = there[members].any(axis=0)
            alone = self.alone[:k, self.columns[column, 0] + codes[column]][:, None]
            added = np.concatenate([np.where(heard, 0.0, alone), np.where(heard, through, 0.0)], 1)
            parts.append(np.where(there[column], added, 0.0).transpose(2, 0, 1))
            keys += [((column,), ()), *(((column,), (member,)) for member in members.tolist())]
        return Terms(tuple(keys), base, np.concatenate(parts, axis=2))

    def describe(self, arrays: Arrays) -> State:
        """Describe the bags of all columns."""
        sizes, k = self.columns[:, 7], self.n_classes
        values = np.delete(np.arange(self.alone.shape[1] - 1), starts_of(sizes + 1)[1:] - 1)
        bags = []
        for column, size in enumerate(sizes.tolist()):
            members, cells = self._bag(column)
            steps = [
                cell + self.columns[member, 2] * np.arange(sizes[member])
                for member, cell in zip(members, cells, strict=True)
            ]
            inner = np.concatenate([np.empty(0, dtype=np.int64), *steps])
            outer = self.columns[column, 6] * np.arange(size)[:, None]
            weights, table = (
                arrays.add(self.tables[-1, cells]),
                arrays.add(self.tables[:k, inner + outer]),
            )
            bags.append({"members": members.tolist(), "weights": weights, "table": table})
        base, alone = arrays.add(self.alone[:k, -1]), arrays.add(self.alone[:k, values])
        return {"kind": "hidden", "base": base, "alone": alone, "bags": bags}


def hidden_parent_tables(
    counts: JointCounts,
    weights: FloatArray,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    held_out: float | None = None,
) -> HiddenParentTables:
    """Estimate the tables of bags with weights W (d, d); with ``held_out`` for leave-one-out."""
    sizes, k = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    columns, groups, cells = _layout(sizes, weights)
    sets = leave_one_out_sets(held_out)[:2]
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
    """Bytes that the tables need while they are estimated."""
    n_slots = int((sizes + 1).sum())
    return 8 * (n_classes * n_slots**2 + (n_classes + 1) * _layout(sizes, weights)[2])


def sweep_bytes(sizes: IntArray, n_classes: int) -> int:
    """Bytes that the sweep over thresholds needs."""
    return 8 * 3 * n_classes * int((sizes + 1).sum()) ** 2


def _layout(sizes: IntArray, weights: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Positions of columns and groups, and the number of cells of a table."""
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
    """P(x_i | x_j, c): lines are the slots of j, columns those of i; shape (k, S, S)."""
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

    ``pairs`` are sorted by decreasing ``information``; see :func:`sweep_thresholds`. The weights
    of the bags are those learned from all rows.
    """
    slots = starts_of(counts.schema.sizes + 1)
    weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
    n_models = int(marks.sum()) + 1
    total = np.zeros((n_models, 2))
    for weight in np.unique(weights):
        sets = leave_one_out_sets(float(weight))[:2]
        chances = np.concatenate([_chances(counts, smoothing, held) for held in sets])
        chances = np.ascontiguousarray(chances.transpose(1, 2, 0))
        alone = np.concatenate([_alone(counts, smoothing, class_prior, held) for held in sets])
        model = (pairs, information, marks, chances, np.maximum(alone, np.log(LEAST)))

        def sweep(members: IntArray) -> FloatArray:
            out = np.zeros((n_models, 2))
            codes = np.ascontiguousarray(rows.codes[:, members])
            sweep_thresholds(codes, rows.classes[members], slots, *model, out)  # noqa: B023
            return out

        blocks = np.array_split(np.flatnonzero(weights == weight), SWEEPS)
        for scores in _parallel.run(sweep, blocks, rows.n_jobs):
            total += weight * scores
    return np.asarray(total / float(weights.sum()))
