"""Tables of A2DE: each pair of columns in turn is the parents of all other columns."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts.sizes import starts_of
from unnaive.tables.hierarchy import Level
from unnaive.tables.super_parents import (
    SuperParentTables,
    child_groups,
    grouped,
    super_parent_prior,
)
from unnaive.tables.trees import HeldOut, conditional, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing


def pair_parents(sizes: IntArray) -> tuple[IntArray, int]:
    """All pairs of columns as super-parents (m, 5), and the number of lines of their tables."""
    pairs = np.array(list(combinations(range(len(sizes)), 2)), dtype=np.int64).reshape(-1, 2)
    slots = sizes + 1
    starts = starts_of(slots[pairs[:, 0]] * slots[pairs[:, 1]])
    ones = np.ones(len(pairs), dtype=np.int64)
    strides = slots[pairs[:, 1]]
    return np.column_stack([pairs, starts[:-1], strides, ones]), int(starts[-1])


def triple_bytes(sizes: IntArray, n_classes: int) -> int:
    """Bytes that the counts and the tables of all triples need while they are estimated."""
    v = sizes.astype(object)
    power = [(v**p).sum() for p in (1, 2, 3)]
    triples = (power[0] ** 3 - 3 * power[0] * power[1] + 2 * power[2]) // 6
    rows = pair_parents(sizes)[1]
    entries = int((sizes + 1).sum()) + child_groups(sizes)[1]
    return 8 * n_classes * (int(triples) + rows * entries)


def triple(counts: JointCounts, columns: tuple[int, int, int]) -> CountArray:
    """N(c, x_i, x_j, x_l) with the axes in the order of the three columns; shape (k, v, v, v)."""
    if counts.triples is None:
        raise ValueError("these counts have no triples of columns; fit on rows")
    order = sorted(columns)
    i, j, last = order
    d = counts.n_columns
    before = sum((d - a - 1) * (d - a - 2) // 2 for a in range(i))
    before += sum(d - b - 1 for b in range(i + 1, j)) + last - j - 1
    sizes = [int(counts.schema.sizes[c]) for c in order]
    start = counts.triple_starts[before]
    table = counts.triples[:, start : start + int(np.prod(sizes))].reshape(counts.n_classes, *sizes)
    return table.transpose(0, *(1 + order.index(c) for c in columns))


def all_pairs_of_parents(
    counts: JointCounts,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    pair_weights: FloatArray | None = None,
    min_count: float = 1,
    held_out: float | None = None,
) -> SuperParentTables:
    """Estimate the tables of A2DE; with ``held_out`` for leave-one-out.

    ``pair_weights`` (d, d) are the weights of the pairs as super-parents. A pair of values must
    occur ``min_count`` times to be a super-parent.
    """
    sizes, k = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    parents, n_rows = pair_parents(sizes)
    sets = leave_one_out_sets(held_out)[:2]
    columns, width = child_groups(sizes)
    stacked, weights = np.zeros((len(sets), k, n_rows, width)), np.zeros(n_rows)
    for p, q, start, stride, _ in parents.tolist():
        often = counts.pair(p, q).sum(axis=0) - (held_out or 0.0) >= min_count
        share = 1.0 if pair_weights is None else pair_weights[p, q]
        # Rows of pairs that are too rare have no weight and stay 0, so that they take no memory.
        of_p, of_q = np.nonzero(often * share)
        rows = start + of_p * stride + of_q
        weights[rows] = share
        for table, held in zip(stacked, sets, strict=True) if len(rows) else ():
            chosen = of_p * int(sizes[q]) + of_q
            entries = _pair_entries(counts, (p, q), smoothing, class_prior, held, chosen)
            table[:, rows] = grouped(entries, columns, slots)
    return SuperParentTables(
        slots, columns, parents, stacked.reshape(-1, n_rows, width), weights, None, k
    )


def _pair_entries(  # noqa: PLR0917 - as long as the formula
    counts: JointCounts,
    pair: tuple[int, int],
    smoothing: Smoothing,
    class_prior: FloatArray | None,
    held: HeldOut,
    chosen: IntArray,
) -> FloatArray:
    """Log P(x_i | c, x_p, x_q) of all children, P(c, x_p, x_q) at p, of chosen pairs; (k, m, S)."""
    p, q = pair
    sizes, k = counts.schema.sizes, counts.n_classes
    slots = starts_of(sizes + 1)
    v_p, v_q = int(sizes[p]), int(sizes[q])
    out = np.zeros((k, len(chosen), slots[-1]))
    for child, size in enumerate(sizes.tolist()):
        if child in pair:
            continue
        table = triple(counts, (p, q, child)).reshape(k, v_p * v_q, size)
        marginal, wanted = counts.marginal(child), chosen
        if not smoothing.is_hierarchical:
            levels = [Level.of(table[:, chosen].reshape(k * len(chosen), size))]
            wanted = np.arange(len(chosen))
        else:  # its strength is chosen by all pairs of values
            above = np.repeat(np.arange(k * v_p), v_q)
            pair_table = counts.pair(p, child).reshape(k * v_p, size)
            levels = [Level.of(marginal), Level.of(pair_table, np.repeat(np.arange(k), v_p))]
            levels.append(Level.of(table.reshape(len(above), size), above))
        margin, possible = marginal.sum(axis=0), k * v_p * v_q
        entries = conditional(smoothing, margin, levels, possible, held, column=child)
        place = slice(slots[child], slots[child] + size)
        out[..., place] = entries.reshape(k, len(entries) // k, size)[:, wanted]
    of_class = log_prior(counts, smoothing, class_prior, held)
    prior = super_parent_prior(
        *(counts.pair(p, q).reshape(k, -1), smoothing, of_class, held),
        given=class_prior is not None,
        column=p,
    )
    out[:, np.arange(len(chosen)), slots[p] + chosen // v_q] = prior[:, chosen]
    return out
