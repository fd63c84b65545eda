r"""Products of factors with a weight each, fitted to predict the class (Mathematics 15.10).

.. math:: \log P(c, x) = \log P(c) + b_c + \sum_i w_i \log P(x_i \mid c)
          + \sum_{ij} w_{ij} \log \frac{P(x_i \mid x_j, c)}{P(x_i \mid c)} + \text{const}

The tables come from counts alone. The weights are those of largest conditional likelihood of
the rows' classes, where every row is looked up in tables that it was left out of: a factor that
only remembers its rows earns no weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.weighting import gather_terms, place_terms, sum_terms
from unnaive.counts.joint import starts_of
from unnaive.tables.base import Tables, own_priors
from unnaive.tables.trees import PLAIN, column_factors, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing

ROWS_A_TASK = 1 << 11


@dataclass(frozen=True, eq=False)
class WeightedTables(Tables):
    """log P(c) and the weighted factors of all terms, 0 for missing cells.

    ``layout`` (m, 4): column, parent or −1, slots of the column, start of the table in a row of
    ``tables`` (sets · k, cells); ``prior`` (sets, k).
    """

    layout: IntArray
    tables: FloatArray
    prior: FloatArray
    n_classes: int

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k). ``held``: own classes, or −1."""
        out = own_priors(self.prior, held)

        def look_up(rows: tuple[int, int]) -> None:
            places = self._places(codes, rows)
            sum_terms(places, self.tables, held[slice(*rows)], out[slice(*rows)])

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out

    def entries(self, codes: CodeArray, held: AnyArray, n_jobs: int | None = None) -> AnyArray:
        """Return every term's entry for classes and rows; shape (m, k, n)."""
        found = np.empty((len(self.layout), self.n_classes, codes.shape[1]), dtype=np.float32)

        def look_up(rows: tuple[int, int]) -> None:
            places = self._places(codes, rows)
            gather_terms(places, self.tables, held[slice(*rows)], rows[0], found)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return found

    def _places(self, codes: CodeArray, rows: tuple[int, int]) -> IntArray:
        places = np.empty((len(self.layout), rows[1] - rows[0]), dtype=np.int64)
        place_terms(codes, self.layout, *rows, places)
        return places


def table_cells(sizes: IntArray, pairs: IntArray) -> IntArray:
    """Cells that the tables of terms (m, 2) take, for one class and set; shape (m,)."""
    slots = sizes + 1
    return np.asarray(slots[pairs[:, 0]] * np.where(pairs[:, 1] >= 0, slots[pairs[:, 1]], 1))


def weighted_tables(
    counts: JointCounts,
    pairs: IntArray,
    smoothing: Smoothing,
    *,
    weights: FloatArray | None = None,
    bias: FloatArray | None = None,
    class_prior: FloatArray | None = None,
    held_out: float | None = None,
) -> WeightedTables:
    """Estimate the tables of terms (m, 2), a column and its parent or −1 each.

    A term with a parent holds what the parent adds: log P(x | x_parent, c) − log P(x | c).
    ``held_out``: the tables of leave-one-out.
    """
    sizes, k = counts.schema.sizes, counts.n_classes
    sets = (PLAIN,) if held_out is None else leave_one_out_sets(held_out)[:2]
    starts = starts_of(table_cells(sizes, pairs))
    tables = np.empty((len(sets), k, starts[-1]))
    prior = np.empty((len(sets), k))
    for index, held in enumerate(sets):
        prior[index] = log_prior(counts, smoothing, class_prior, held)
        prior[index] += 0.0 if bias is None else bias
    for term, (column, parent) in enumerate(pairs.tolist()):
        place = slice(starts[term], starts[term + 1])
        scale = 1.0 if weights is None else weights[term]
        if scale == 0.0:
            tables[:, :, place] = 0.0
            continue
        for index, factor in enumerate(column_factors(counts, column, parent, smoothing, sets)):
            added = _less(factor, factor[:, -1:]) if parent >= 0 else factor
            np.multiply(scale, added.reshape(k, -1), out=tables[index, :, place])
    terms = np.column_stack([pairs, sizes[pairs[:, 0]] + 1, starts[:-1]])
    return WeightedTables(terms, tables.reshape(len(sets) * k, -1), prior, k)


def _less(factor: FloatArray, alone: FloatArray) -> FloatArray:
    """Divide in logarithms, with 0/0 = 1."""
    impossible = np.isneginf(alone)
    if not impossible.any():
        return factor - alone
    with np.errstate(invalid="ignore"):
        return np.where(impossible, 0.0, factor - alone)
