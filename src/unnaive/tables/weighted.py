r"""Products of factors with a weight each, fitted to predict the class (Mathematics 15.10).

.. math:: \log P(c, x) = \log P(c) + b_c + \sum_i w_i \log P(x_i \mid c)
          + \sum_{ij} w_{ij} \log \frac{P(x_i \mid x_j, c)}{P(x_i \mid c)} + \text{const}

A factor of more columns has what the last parent adds to the others,

.. math:: w_{ijk} \log \frac{P(x_i \mid x_j, x_k, c)}{P(x_i \mid x_j, c)},

and 0 for joint values of the parents that no row has. The tables come only from counts. The weights
maximize the conditional likelihood of the classes, where every row is looked up in leave-one-out
tables. So a factor that only memorizes its rows gets no weight.

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

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.weighting import gather_terms, place_terms, sum_terms
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import starts_of
from unnaive.tables import describe
from unnaive.tables.base import Tables, own_priors
from unnaive.tables.term_factors import table_cells, term_factors
from unnaive.tables.terms import Terms
from unnaive.tables.trees import leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.terms import Key

ROWS_A_TASK = 1 << 11


@dataclass(frozen=True, eq=False)
class WeightedTables(Tables):
    """log P(c) and the weighted factors of all terms, 0 for missing cells.

    Attributes
    ----------
    layout : ndarray of shape (m, 2·w + 1)
        For each term its column and parents (−1 where there are fewer than w − 1), the stride of
        each in its table, and where its table starts in a line of ``tables``.
    tables : ndarray of shape (sets · k, cells)
        Weighted log factors.
    prior : ndarray of shape (sets, k)
        log P(c) plus the bias.
    n_classes : int
        Number of classes k.
    n_corrections : int, default=0
        How many of the terms, at the end, are corrections, in which missing values count.
    """

    layout: IntArray
    tables: FloatArray
    prior: FloatArray
    n_classes: int
    n_corrections: int = 0

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
        families, first = self._families(), len(self.layout) - self.n_corrections
        keys: list[Key] = [((column,), tuple(parents)) for column, *parents in families[:first]]
        keys += [(tuple(columns), ()) for columns in families[first:]]
        return Terms(tuple(keys), np.repeat(self.prior[:1], codes.shape[1], axis=0), parts)

    def describe(self, arrays: Arrays) -> State:
        """Describe the weighted factors as a product."""
        lines, factors = self.tables[: self.n_classes], []
        bounds = [*self.layout[1:, -1].tolist(), lines.shape[1]]
        first = len(self.layout) - self.n_corrections
        for place, (line, (column, *parents), stop) in enumerate(
            zip(self.layout.tolist(), self._families(), bounds, strict=True)
        ):
            table = lines[:, line[-1] : stop].reshape(len(lines), *self._slots(line, stop))
            if place >= first:
                factors.append(_described_correction([*parents, column], table, arrays))
                continue
            known = table[(slice(None), *[slice(-1)] * (len(parents) + 1))]
            known = known.reshape(len(lines), -1, known.shape[-1]) if parents else known
            described = describe.table([*parents, column], known, arrays)
            factors.append(describe.factor([column], parents, [described]))
        return describe.product(self.prior[0], factors, arrays, marginalize=False)

    def _families(self) -> list[list[int]]:
        """Return the column of each term, and its parents."""
        columns = self.layout[:, : self.layout.shape[1] // 2].tolist()
        return [[column for column in term if column >= 0] for term in columns]

    def _slots(self, line: list[int], stop: int) -> list[int]:
        """Slots of the parents of a term, and of its column."""
        width = len(line) // 2
        n_parents = sum(column >= 0 for column in line[1:width])
        strides = [stop - line[-1], *line[width + 1 : width + 1 + n_parents], 1]
        return [above // below for above, below in pairwise(strides)]

    def _places(self, codes: CodeArray, rows: tuple[int, int]) -> IntArray:
        places = np.empty((len(self.layout), rows[1] - rows[0]), dtype=np.int64)
        place_terms(codes, self.layout, *rows, places)
        return places


def _described_correction(columns: list[int], table: FloatArray, arrays: Arrays) -> State:
    """Describe a correction by a table for every set of columns that may be observed."""
    described = []
    for width in range(len(columns), 0, -1):
        for some in combinations(columns, width):
            known = [slice(-1) if column in some else -1 for column in columns]
            values = table[(slice(None), *known)]
            values = values.reshape(len(values), -1, values.shape[-1]) if width > 1 else values
            described.append(describe.table(some, values, arrays))
    return describe.factor(sorted(columns), [], described)


def joined(terms: IntArray, further: IntArray) -> IntArray:
    """Return terms (m, w) and further ones below each other, filled up with −1."""
    width = max(terms.shape[1], further.shape[1])
    filled = [
        np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=-1)
        for one in (terms, further)
    ]
    return np.concatenate(filled)


def layout_of(sizes: IntArray, terms: IntArray) -> IntArray:
    """Return columns, strides and starts of the tables of terms (m, w)."""
    slots = np.where(terms >= 0, sizes[terms] + 1, 1)
    inner = np.cumprod(slots[:, :0:-1], axis=1)[:, ::-1]  # of a parent and all after it
    strides = np.ones_like(terms)
    strides[:, 1:-1] = inner[:, 1:]
    strides[:, 1:] *= slots[:, :1]
    return np.column_stack([terms, strides, starts_of(table_cells(sizes, terms))[:-1]])


def weighted_tables(
    counts: JointCounts,
    terms: IntArray,
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
        Counts of the columns, pairs and families.
    terms : ndarray of shape (m, w)
        The column of each term and its parents, −1 where there are fewer. A term with a parent
        has log P(x | x_parent, c) − log P(x | c); with more parents, what the last one adds.
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
    layout, cells = layout_of(sizes, terms), table_cells(sizes, terms)
    tables = np.zeros((len(sets), k, cells.sum()))
    prior = np.empty((len(sets), k))
    for index, held in enumerate(sets):
        prior[index] = log_prior(counts, smoothing, class_prior, held)
        prior[index] += 0.0 if bias is None else bias
    used = np.arange(len(terms)) if weights is None else np.flatnonzero(weights)
    for some, factors in term_factors(counts, terms[used], smoothing, held_out, pseudo_count):
        chosen = used[some]
        if weights is not None:
            np.multiply(factors, np.repeat(weights[chosen], cells[chosen]), out=factors)
        tables[:, :, _ranges(layout[chosen, -1], cells[chosen])] = factors
    return WeightedTables(layout, tables.reshape(len(sets) * k, -1), prior, k)


def _ranges(starts: IntArray, lengths: IntArray) -> IntArray | slice:
    """Places in ranges after each other: a slice, if they leave no gaps."""
    stops = starts + lengths
    if (starts[1:] == stops[:-1]).all():
        return slice(int(starts[0]), int(stops[-1]))
    shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return shift + np.arange(len(shift))
