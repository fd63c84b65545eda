"""Tables of models in which a column depends on the class and on one other column at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive.counts.joint import starts_of
from unnaive.tables.kernels import log_table, sum_factors, sum_product

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, CodeArray, CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.structure import ParentGraph
    from unnaive.tables.smoothing import Smoothing

ROWS_A_TASK = 1 << 13


@dataclass(frozen=True)
class HeldOut:
    """What leave-one-out takes off the counts: a row's weight, in the table of one class."""

    value: float = 0.0
    total: float = 0.0


PLAIN = HeldOut()


def leave_one_out_sets(weight: float) -> tuple[HeldOut, ...]:
    """Tables for the other classes, for the row's own class, and for what it took no part in."""
    return HeldOut(0.0, weight), HeldOut(weight, weight), PLAIN


def estimate(
    counts: CountArray, pseudo: tuple[FloatArray, float], held: tuple[float, float] = (0.0, 0.0)
) -> FloatArray:
    """Log-probabilities of a table (contexts, values), see :mod:`unnaive.tables.smoothing`."""
    table = np.ascontiguousarray(counts, dtype=np.float64)
    out = np.empty(table.shape)
    log_table(table, np.ascontiguousarray(pseudo[0], dtype=np.float64), pseudo[1], *held, out)
    return out


def log_prior(
    counts: JointCounts,
    smoothing: Smoothing,
    class_prior: FloatArray | None,
    held: HeldOut = PLAIN,
) -> FloatArray:
    """Log P(c); shape (k,)."""
    if class_prior is not None:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(class_prior))
    table = counts.class_counts.reshape(1, -1)
    own = frequencies(counts.class_counts, held.value, held.total)
    pseudo = smoothing.pseudo_counts(table.size, 1, own)
    return np.asarray(estimate(table, pseudo, (held.value, held.total))[0])


def frequencies(counts: CountArray, held: float = 0.0, held_total: float = 0.0) -> FloatArray:
    """Relative frequencies of values, less ``held`` of each value's rows and of all rows."""
    total = float(counts.sum()) - held_total
    if total <= 0:
        return np.full(len(counts), 1.0 / max(len(counts), 1))
    return np.asarray(np.maximum(counts - held, 0.0) / total)


@dataclass(frozen=True, eq=False)
class TreeTables:
    """log P(c) and log P(x_i | x_parent, c) with a slot for missing cells.

    ``columns`` (d, 3): parent, slots (v + 1), start of the table in a row of ``tables``
    (sets · k, 1 + cells).
    """

    columns: IntArray
    order: IntArray
    tables: FloatArray
    n_classes: int
    marginalize: bool = True

    def joint(self, codes: CodeArray, held: AnyArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint of every row and class; shape (n, k). ``held``: own classes, or −1."""
        out = np.empty((codes.shape[1], self.n_classes))

        def look_up(rows: tuple[int, int]) -> None:
            sum_factors(codes, self.columns, self.tables, held, *rows, out)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        rows = self._rows_to_sum(codes)

        def sum_out(part: tuple[int, int]) -> None:
            chosen = rows[slice(*part)]
            sum_product(chosen, codes, self.columns, self.order, self.tables, held, out)

        _parallel.run(sum_out, _parallel.row_blocks(len(rows), ROWS_A_TASK), n_jobs)
        return out

    def _rows_to_sum(self, codes: CodeArray) -> IntArray:
        """Rows in which a column that has children is missing."""
        parents = self.columns[:, 0]
        inner = np.unique(parents[parents >= 0])
        missing = np.zeros(codes.shape[1], dtype=bool)
        if self.marginalize:
            for column in inner:
                slot = self.columns[column, 1] - 1
                if codes[column].max(initial=0) == slot:  # far quicker than a comparison
                    missing |= codes[column] == slot
        return np.flatnonzero(missing)


def tree_tables(
    counts: JointCounts,
    graph: ParentGraph,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    marginalize: bool = True,
    held_out: float | None = None,
) -> TreeTables:
    """Estimate the tables of a graph; with ``held_out`` those of leave-one-out."""
    sizes, parents = counts.schema.sizes, graph.parents
    contexts = np.where(parents >= 0, sizes[parents] + 1, 1)
    starts = 1 + starts_of((sizes + 1) * contexts)
    sets = (PLAIN,) if held_out is None else leave_one_out_sets(held_out)
    n_classes = counts.n_classes
    tables = np.empty((len(sets), n_classes, starts[-1]))
    for index, held in enumerate(sets):
        if held is PLAIN and index and not smoothing.uses_frequencies:
            tables[index] = tables[0]  # the prior of a set that is never asked for it
            continue
        tables[index, :, 0] = log_prior(counts, smoothing, class_prior, held)
        for column in range(len(sizes)):
            factor = _factor(counts, column, parents[column], smoothing, held)
            place = slice(starts[column], starts[column + 1])
            tables[index, :, place] = factor.reshape(n_classes, -1)
    columns = np.stack([parents, sizes + 1, starts[:-1]], axis=1)
    stacked = tables.reshape(len(sets) * n_classes, -1)
    return TreeTables(columns, graph.order, stacked, n_classes, marginalize)


def _factor(
    counts: JointCounts, column: int, parent: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Log P(x | x_parent, c) with missing slots; shape (k, v_parent + 1 or 1, v + 1)."""
    marginal = counts.marginal(column)
    n_classes, size = marginal.shape
    frequency = frequencies(marginal.sum(axis=0), held.total, held.total)
    off = (held.value, held.value)
    alone = estimate(marginal, smoothing.pseudo_counts(size, n_classes, frequency), off)
    above = counts.schema.sizes[parent] if parent >= 0 else 0
    factor = np.zeros((n_classes, above + 1, size + 1))
    factor[:, above, :size] = alone
    if parent >= 0:
        pair = counts.pair(parent, column).reshape(n_classes * above, size)
        pseudo = smoothing.pseudo_counts(size, n_classes * int(above), frequency)
        factor[:, :above, :size] = estimate(pair, pseudo, off).reshape(n_classes, above, size)
    return factor
