r"""Correction tables: what a few columns say beyond the weighted factors (Mathematics 15.14).

Predictions :math:`p_{rc}` of rows are corrected in rounds. A round splits all rows by up to six
questions, each about one column, and adds to the log joint of class c in cell g

.. math:: \theta_{gc} = \eta \frac{N_{gc} - E_{gc}}{H_{gc} + 1}, \quad
          E_{gc} = \sum_{r \in g} p_{rc}, \quad H_{gc} = \sum_{r \in g} p_{rc}(1 - p_{rc}),

a share η of a Newton step. A question is "is the bin at most t?" of a column of numbers and "is it
the value v?" of others; missing is the last value. The next question is that of the largest
:math:`\sum (N - E)^2 / (H + 1)`. A round is a table of the columns it asks about, and tables of the
same columns are added. The number of rounds has the least loss of rows that are held out.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive import _parallel
from unnaive._core.corrections import advance, ask, fill_slopes
from unnaive._core.tables import log_posterior, posterior
from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE
from unnaive.exceptions import UnnaiveError
from unnaive.structure.parents import are_families
from unnaive.tables.term_factors import table_cells
from unnaive.tables.weighted import WeightedTables, joined, layout_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray

MOST_CELLS = 1 << 12  # of a table, for one class
_QUESTIONS = 6
_RATE = 0.15
_PENALTY = 1.0
_SHARE, _LEAST_COLUMNS = 0.6, 4  # of the columns, in each round
_FIRST, _PATIENCE = 3, 15  # rounds without a smaller loss, after which none is tried
_ALONE = 1 << 16  # fewer codes do not gain from a second thread


@dataclass(frozen=True, eq=False)
class Corrections:
    """Tables that are added to the log joint.

    Attributes
    ----------
    columns : ndarray of shape (m, w)
        Ascending columns of every table, −1 where there are fewer than w.
    tables : ndarray of shape (k, cells)
        The tables after each other. The first column is the last axis of a table, and the others
        are in order before it; the last place of each axis is a missing value. Where all columns
        are missing, the correction is 0.
    """

    columns: AnyArray
    tables: FloatArray

    def require(self, sizes: IntArray, n_classes: int) -> None:
        """Raise an error if the tables do not fit columns of these sizes, and classes."""
        columns, tables = self.columns, self.tables
        fits: object = columns.ndim == tables.ndim == 2 and columns.dtype.kind in "iu"
        fits = fits and columns.shape[1] >= 2 and (columns[:, 0] >= 0).all()
        fits = fits and columns.min(initial=0) >= -1 and columns.max(initial=-1) < len(sizes)
        fits = fits and are_families(columns)
        if fits:
            slots = np.where(columns >= 0, sizes[columns] + 1.0, 1.0).prod(axis=1)
            fits = slots.max(initial=0.0) <= MOST_CELLS
            fits = fits and tables.shape == (n_classes, slots.sum())
        if not fits:
            raise UnnaiveError("the corrections do not fit the columns and classes")


class Found(NamedTuple):
    """Corrections, what they add to the bias (k,), and held-out log joints of the rows (n, k)."""

    corrections: Corrections | None
    bias: FloatArray
    left_out: FloatArray


class Round(NamedTuple):
    """Questions as (column, code), the cell of every row (n,), and corrections (cells, k)."""

    questions: list[tuple[int, int]]
    cells: IntArray
    steps: FloatArray


@dataclass(frozen=True, eq=False)
class Correcting:
    """The rows that corrections are learned from.

    Attributes
    ----------
    codes : ndarray of shape (d, n)
        Codes of the rows.
    sizes : ndarray of shape (d,)
        Number of values of every column.
    ordered : ndarray of shape (d,)
        1 for columns whose values are ordered, else 0.
    classes, importance : ndarray of shape (n,)
        Classes and weights of the rows.
    n_jobs : int or None, default=None
        Number of threads.
    """

    codes: CodeArray
    sizes: IntArray
    ordered: IntArray
    classes: IntArray
    importance: FloatArray
    n_jobs: int | None = None

    @cached_property
    def _slots(self) -> IntArray:
        return self.sizes + 1

    def learn(self, start: FloatArray, folds: IntArray, most: int) -> Found:
        """Learn corrections of the log joints ``start`` (n, k), in at most ``most`` rounds.

        ``folds`` (n,) says which rows are held out together. Corrections of held-out rows are
        learned from all others.
        """
        number, left_out = self._number_of_rounds(start, folds, most)
        joint, rounds = start.copy(), []
        for columns in self._dealt_columns(number):
            rounds.append(self.round(joint, self.importance, columns))
            joint += rounds[-1].steps[rounds[-1].cells]
        return Found(*self._added(rounds, start.shape[1]), left_out)

    def _dealt_columns(self, most: int) -> Iterator[IntArray]:
        """Yield the columns that each round may ask about, ascending."""
        random, known = np.random.default_rng(0), np.flatnonzero(self.sizes > 0)
        number = max(_LEAST_COLUMNS, int(np.ceil(_SHARE * len(known))))
        for _ in range(most):
            yield np.sort(random.permutation(known)[:number])

    def _number_of_rounds(
        self, start: FloatArray, folds: IntArray, most: int
    ) -> tuple[int, FloatArray]:
        """Return the number of rounds of least held-out loss, and held-out joints (n, k)."""
        marks = np.unique(folds).tolist()
        held = [np.flatnonzero(folds == mark) for mark in marks]
        weights = [np.where(folds == mark, 0.0, self.importance) for mark in marks]
        joints = [start.copy() for _ in marks]
        team = _parallel.Team(self.n_jobs if self.codes.size > _ALONE else 1)
        number, best, left_out = 0, self._loss(start), start.copy()
        now = start.copy()
        manner = (_QUESTIONS, MOST_CELLS, _PENALTY, TIE_TOLERANCE, _RATE)
        for done, columns in enumerate(self._dealt_columns(most), 1):

            def step(fold: int, columns: IntArray = columns) -> None:
                asked: Any = (self.codes, self._slots, self.ordered, columns)
                rows = (self.classes, weights[fold])
                advance(asked, rows, manner, joints[fold], held[fold], now)

            team.run(step, range(len(marks)))
            loss = self._loss(now)
            if loss < best - TIE_TOLERANCE:
                number, best, left_out = done, loss, now.copy()
            if done - number >= min(_FIRST + number, _PATIENCE):
                break
        return number, left_out

    def _loss(self, joint: FloatArray) -> float:
        """Log loss of the rows."""
        chances = np.empty_like(joint)
        log_posterior(joint, chances)
        return -float(self.importance @ chances[np.arange(len(chances)), self.classes])

    def round(self, joint: FloatArray, importance: FloatArray, columns: IntArray) -> Round:
        """Choose questions about some columns, and take a step from the log joints (n, k).

        Rows of ``importance`` 0 have no say.
        """
        slopes = self.slopes(joint, importance)
        questions = np.empty((_QUESTIONS, 2), dtype=np.int64)
        cells = np.empty(len(joint), dtype=np.int64)
        sums = np.empty((1 << _QUESTIONS, joint.shape[1], 2))
        rows = (self.codes, self._slots, self.ordered, columns, slopes)
        number = ask(*rows, MOST_CELLS, _PENALTY, TIE_TOLERANCE, questions, cells, sums)
        sums = sums[: 1 << number]
        steps = _RATE * sums[..., 0] / (sums[..., 1] + _PENALTY)
        return Round([(column, code) for column, code in questions[:number].tolist()], cells, steps)

    def slopes(self, joint: FloatArray, importance: FloatArray) -> FloatArray:
        """Slope and curvature of every row's log likelihood for each class; (n, k, 2)."""
        chances, slopes = np.empty_like(joint), np.empty((*joint.shape, 2))
        posterior(joint, chances)
        fill_slopes(chances, self.classes, importance, slopes)
        return slopes

    def answers(self, column: int, code: int) -> IntArray:
        """Answer of every value of a column to a question: 0 or 1."""
        values = np.arange(self._slots[column])
        return (values > code if self.ordered[column] else values == code).astype(np.int64)

    def _added(self, rounds: list[Round], k: int) -> tuple[Corrections | None, FloatArray]:
        """Add the tables of the same columns; return them, and what they add to the bias."""
        tables: dict[tuple[int, ...], FloatArray] = {}
        bias = np.zeros(k)
        for one in rounds:
            if not one.questions:  # all rows are in one cell
                bias += one.steps[0]
                continue
            columns = tuple(sorted({column for column, _ in one.questions}))
            axes = [*columns[1:], columns[0]]
            cells = np.zeros([1] * len(axes), dtype=np.int64)
            for column, code in one.questions:
                shape = [-1 if axis == column else 1 for axis in axes]
                cells = 2 * cells + self.answers(column, code).reshape(shape)
            table = one.steps.T[:, cells.reshape(-1)]
            bias += table[:, -1]
            tables[columns] = tables.get(columns, 0.0) + table - table[:, -1:]
        if not tables:
            return None, bias
        width = max(2, *(len(columns) for columns in tables))
        filled = [[*columns, *[-1] * (width - len(columns))] for columns in sorted(tables)]
        parts = np.concatenate([tables[columns] for columns in sorted(tables)], axis=1)
        return Corrections(np.array(filled, dtype=np.int64), parts), bias


def corrected(tables: WeightedTables, corrections: Corrections, sizes: IntArray) -> WeightedTables:
    """Add corrections to weighted tables: those of one column to its factor, others as new terms.

    Parameters
    ----------
    tables : WeightedTables
        Tables of weighted factors.
    corrections : Corrections
        What is added; the same for all sets of tables.
    sizes : ndarray of shape (d,)
        Number of values of every column.

    Returns
    -------
    WeightedTables
        Ready for look-ups.
    """
    k, width = tables.n_classes, tables.layout.shape[1] // 2
    corrections.require(sizes, k)
    terms = tables.layout[:, :width]
    starts = {int(line[0]): int(line[-1]) for line in tables.layout if line[1] < 0}
    stops = np.cumsum(table_cells(sizes, corrections.columns)).tolist()
    lines = tables.tables.reshape(-1, k, tables.tables.shape[1]).copy()
    wide, further = [], []
    for columns, start, stop in zip(corrections.columns, [0, *stops], stops, strict=False):
        own = corrections.tables[:, start:stop]
        place = starts.get(int(columns[0])) if columns[1] < 0 else None
        if place is None:
            wide.append(columns)
            further.append(own)
        else:
            lines[:, :, place : place + stop - start] += own
    if wide:
        terms = joined(terms, np.array(wide))
        more = np.repeat(np.concatenate(further, axis=1)[None], len(lines), axis=0)
        lines = np.concatenate([lines, more], axis=2)
    layout, flat = layout_of(sizes, terms), np.ascontiguousarray(lines.reshape(-1, lines.shape[2]))
    return WeightedTables(layout, flat, tables.prior, k, n_corrections=len(wide))
