r"""Products of factors with a weight each, fitted to predict the class (Mathematics 15.10).

.. math:: \log P(c, x) = \log P(c) + b_c + \sum_i w_i \log P(x_i \mid c)
          + \sum_{ij} w_{ij} \log \frac{P(x_i \mid x_j, c)}{P(x_i \mid c)} + \text{const}

The tables come only from counts. The weights maximize the conditional likelihood of the classes,
where every row is looked up in leave-one-out tables. So a factor that only memorizes its rows gets
no weight.

A weight is shared by all cells of a table, the rare ones too. With a pseudo-count a > 0, a cell has
the ratio of the rows that it has to those that it would have without the dependence, with a more of
both:

.. math:: \frac{P(x_i \mid c)}{P(x_i)} \to
          \frac{N_c P(x_i \mid c) + a}{N_c P(x_i) + a}, \qquad
          \frac{P(x_i \mid x_j, c)}{P(x_i \mid c)} \to
          \frac{N_{jc} P(x_i \mid x_j, c) + a}{N_{jc} P(x_i \mid c) + a}

This is the posterior mean of the ratio, which is Poisson's given the expected rows, for a gamma
prior of mean 1 and shape a. A cell for which E rows are expected and none is there changes the log
joint by −log(E / a + 1), however small its estimated probability is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.weighting import gather_terms, place_terms, sum_terms
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import starts_of
from unnaive.tables import describe
from unnaive.tables.base import Tables, less, own_priors
from unnaive.tables.hierarchy import root
from unnaive.tables.terms import Terms
from unnaive.tables.trees import column_factors, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut

ROWS_A_TASK = 1 << 11


@dataclass(frozen=True, eq=False)
class WeightedTables(Tables):
    """log P(c) and the weighted factors of all terms, 0 for missing cells.

    Attributes
    ----------
    layout : ndarray of shape (m, 4)
        For each term its column, the parent or −1, the slots of the column, and where its
        table starts in a line of ``tables``.
    tables : ndarray of shape (sets · k, cells)
        Weighted log factors.
    prior : ndarray of shape (sets, k)
        log P(c) plus the bias.
    n_classes : int
        Number of classes k.
    """

    layout: IntArray
    tables: FloatArray
    prior: FloatArray
    n_classes: int

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        out = own_priors(self.prior, held)

        def look_up(rows: tuple[int, int]) -> None:
            places = self._places(codes, rows)
            sum_terms(places, self.tables, held[slice(*rows)], out[slice(*rows)])

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out

    def entries(self, codes: CodeArray, held: AnyArray, n_jobs: int | None = None) -> AnyArray:
        """Return the entry of every term, class and row; shape (m, k, n)."""
        out = np.empty((len(self.layout), self.n_classes, codes.shape[1]), dtype=np.float32)

        def look_up(rows: tuple[int, int]) -> None:
            places = self._places(codes, rows)
            gather_terms(places, self.tables, held[slice(*rows)], rows[0], out)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint into the weighted factors."""
        places = self._places(np.ascontiguousarray(codes), (0, codes.shape[1]))
        parts = self.tables[: self.n_classes][:, places].transpose(2, 0, 1)
        keys = tuple(((i,), (j,) if j >= 0 else ()) for i, j in self.layout[:, :2].tolist())
        return Terms(keys, np.repeat(self.prior[:1], codes.shape[1], axis=0), parts)

    def describe(self, arrays: Arrays) -> State:
        """Describe the weighted factors as a product."""
        lines, factors = self.tables[: self.n_classes], []
        bounds = [*self.layout[1:, 3].tolist(), lines.shape[1]]
        for (column, parent, slots, start), stop in zip(self.layout.tolist(), bounds, strict=True):
            table = lines[:, start:stop].reshape(len(lines), -1, slots)
            parents = [parent] if parent >= 0 else []
            known = table[:, :-1, :-1] if parents else table[:, 0, :-1]
            described = describe.table([*parents, column], known, arrays)
            factors.append(describe.factor([column], parents, [described]))
        return describe.product(self.prior[0], factors, arrays, marginalize=False)

    def _places(self, codes: CodeArray, rows: tuple[int, int]) -> IntArray:
        places = np.empty((len(self.layout), rows[1] - rows[0]), dtype=np.int64)
        place_terms(codes, self.layout, *rows, places)
        return places


def table_cells(sizes: IntArray, pairs: IntArray) -> IntArray:
    """Count the cells in the tables of terms (m, 2), for one class and set; shape (m,)."""
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
    pseudo_count: float = 0.0,
) -> WeightedTables:
    """Estimate the tables of terms.

    Parameters
    ----------
    counts : JointCounts
        Counts of the columns and pairs.
    pairs : ndarray of shape (m, 2)
        The column of each term and its parent, or −1. A term with a parent has
        log P(x | x_parent, c) − log P(x | c).
    smoothing : Smoothing
        The smoothing policy.
    weights : ndarray of shape (m,), default=None
        Weights of the terms; None is 1 for all.
    bias : ndarray of shape (k,), default=None
        Added to the log prior.
    class_prior : ndarray of shape (k,), default=None
        P(c); None estimates it.
    held_out : float, default=None
        Weight of a row; if given, the tables are those of leave-one-out.
    pseudo_count : float, default=0.0
        Rows that are added to those that a cell has and to those that are expected in it.

    Returns
    -------
    WeightedTables
        Ready for look-ups.
    """
    sizes, k = counts.schema.sizes, counts.n_classes
    sets = leave_one_out_sets(held_out)[:2]
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
            if pseudo_count:
                added = _reined(counts, (column, parent), factor, sets[index], pseudo_count)
            else:
                added = less(factor, factor[:, -1:]) if parent >= 0 else factor
            np.multiply(scale, added.reshape(k, -1), out=tables[index, :, place])
    terms = np.column_stack([pairs, sizes[pairs[:, 0]] + 1, starts[:-1]])
    return WeightedTables(terms, tables.reshape(len(sets) * k, -1), prior, k)


def _reined(
    counts: JointCounts, term: tuple[int, int], factor: FloatArray, held: HeldOut, pseudo: float
) -> FloatArray:
    """Log factors of a term, as far as the rows of each cell support them; shape of ``factor``.

    The factor of a single column is log P(x) more than the ratio, as P(x | c) is.
    """
    column, parent = term
    marginal = counts.marginal(column)
    reined, known = np.zeros_like(factor), np.exp(factor[..., :-1])
    if parent < 0:
        n_rows, found = marginal.sum(axis=1)[:, None, None] - held.alone, known
        expected: FloatArray = root(marginal.sum(axis=0), held.total)
        reined[..., :-1] = np.log(expected)
    else:
        n_rows = counts.pair(parent, column).sum(axis=2)[..., None] - held.value
        found, expected = known[:, :-1], known[:, -1:]
    n_rows = np.maximum(n_rows, 0.0)
    ratio = np.log(n_rows * found + pseudo) - np.log(n_rows * expected + pseudo)
    reined[:, : found.shape[1], :-1] += ratio
    return reined
