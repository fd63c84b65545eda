r"""Products of factors with a weight each, fitted to predict the class (SPEC 15.10).

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
from unnaive.counts.joint import starts_of
from unnaive.tables.trees import PLAIN, column_factors, leave_one_out_sets, log_prior
from unnaive.tables.weighted_kernels import (
    conditional_loss,
    gather_terms,
    place_terms,
    sum_terms,
    weighted_joint,
)

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing

ROWS_A_TASK = 1 << 11
ROWS_A_STEP = 1 << 8  # whose entries stay in the cache between the two halves of a gradient
ITERATIONS = 100
BIAS_PENALTY = 1.0


@dataclass(frozen=True, eq=False)
class WeightedTables:
    """log P(c) and the weighted factors of all terms, 0 for missing cells.

    ``terms`` (m, 4): column, parent or −1, slots of the column, start of the table in a row of
    ``tables`` (sets · k, cells); ``prior`` (sets, k).
    """

    terms: IntArray
    tables: FloatArray
    prior: FloatArray
    n_classes: int

    def joint(self, codes: CodeArray, held: AnyArray, n_jobs: int | None = None) -> FloatArray:
        """Log joint of every row and class; shape (n, k). ``held``: own classes, or −1."""
        out = np.repeat(self.prior[:1], codes.shape[1], axis=0)
        left_out = np.flatnonzero(held >= 0) if len(self.prior) > 1 else held[:0]
        out[left_out, held[left_out]] = self.prior[-1, held[left_out]]

        def look_up(rows: tuple[int, int]) -> None:
            places = self._places(codes, rows)
            sum_terms(places, self.tables, held[slice(*rows)], out[slice(*rows)])

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out

    def entries(self, codes: CodeArray, held: AnyArray, n_jobs: int | None = None) -> AnyArray:
        """Return every term's entry for rows and classes; shape (m, n, k)."""
        found = np.empty((len(self.terms), codes.shape[1], self.n_classes), dtype=np.float32)

        def look_up(rows: tuple[int, int]) -> None:
            places, part = self._places(codes, rows), slice(*rows)
            gather_terms(places, self.tables, held[part], self.n_classes, found[:, part])

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return found

    def _places(self, codes: CodeArray, rows: tuple[int, int]) -> IntArray:
        places = np.empty((len(self.terms), rows[1] - rows[0]), dtype=np.int64)
        place_terms(codes, self.terms, *rows, places)
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
            tables[index, :, place] = scale * added.reshape(k, -1)
    terms = np.column_stack([pairs, sizes[pairs[:, 0]] + 1, starts[:-1]])
    return WeightedTables(terms, tables.reshape(len(sets) * k, -1), prior, k)


def _less(factor: FloatArray, alone: FloatArray) -> FloatArray:
    """Divide in logarithms, with 0/0 = 1."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(alone), 0.0, factor - alone)


@dataclass(frozen=True, eq=False)
class Weighing:
    """Rows as terms see them, each left out: what weights are fitted to.

    Attributes
    ----------
    entries : ndarray of shape (m, n, k), in single precision
        Left-out log factors, finite.
    prior : ndarray of shape (k,)
        Log P(c).
    classes, importance : ndarray of shape (n,)
        The rows' own classes, and how much each row weighs.
    penalty : ndarray of shape (m,)
        How strongly each weight is drawn to 0.
    n_jobs : int or None
    """

    entries: AnyArray
    prior: FloatArray
    classes: IntArray
    importance: FloatArray
    penalty: FloatArray
    n_jobs: int | None = None

    def loss(self, point: FloatArray, importance: FloatArray) -> tuple[float, FloatArray]:
        """Penalised log loss of weights and biases (m + k,), and its gradient."""
        m = len(self.penalty)
        weights, bias = point[:m], point[m:]

        def part(rows: tuple[int, int]) -> tuple[float, FloatArray]:
            gradient, loss = np.zeros(len(point)), 0.0
            for start in range(rows[0], rows[1], ROWS_A_STEP):
                stop = min(start + ROWS_A_STEP, rows[1])
                arrays = (self.entries, weights, self.prior + bias, self.classes, importance)
                loss += conditional_loss(*arrays, start, stop, gradient)
            return loss, gradient

        loss = float(self.penalty @ weights**2 + BIAS_PENALTY * bias @ bias) / 2
        gradient = np.concatenate([self.penalty * weights, BIAS_PENALTY * bias])
        blocks = _parallel.row_blocks(len(self.classes), ROWS_A_TASK)
        for one, slope in _parallel.run(part, blocks, self.n_jobs):
            loss, gradient = loss + one, gradient + slope
        return loss, gradient

    def fit(
        self, start: FloatArray, importance: FloatArray | None = None, iterations: int = ITERATIONS
    ) -> FloatArray:
        """Weights, none below 0, and biases of least penalised log loss; shape (m + k,)."""
        from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

        rows = self.importance if importance is None else importance
        bounds = [(0.0, None)] * len(self.penalty) + [(None, None)] * len(self.prior)
        found = minimize(
            self.loss,
            start,
            (rows,),
            method="L-BFGS-B",
            jac=True,
            bounds=bounds,
            options={"maxiter": iterations, "ftol": 1e-7},
        )
        return np.asarray(found.x)

    def joint(self, point: FloatArray) -> FloatArray:
        """Log joint of every row by some weights and biases; shape (n, k)."""
        m = len(self.penalty)
        out = np.repeat((self.prior + point[m:])[None], len(self.classes), axis=0)
        weighted_joint(self.entries, point[:m], 0, len(out), out)
        return out

    def cross_validated(self, point: FloatArray, folds: int, iterations: int) -> FloatArray:
        """Log joint of every row by weights fitted without its fold; shape (n, k).

        Folds are dealt class by class. Fits start at ``point``, the weights of all rows.
        """
        order = np.argsort(self.classes, kind="stable")
        fold = np.empty(len(order), dtype=np.int64)
        fold[order] = np.arange(len(order)) % folds
        found = np.empty((len(order), len(self.prior)))
        for number in range(folds):
            rows = np.where(fold == number, 0.0, self.importance)
            own = self.joint(self.fit(point, rows, iterations))
            found[fold == number] = own[fold == number]
        return found
