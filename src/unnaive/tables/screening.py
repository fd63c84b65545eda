r"""Families of columns that predictions lack: a score test of their tables (Mathematics 15.13).

Predictions :math:`p_{rc}` of rows may miss what several columns say together. A table with a number
:math:`\theta_{gc}` for every joint value g of a family and every class, added to the log joint,
changes the log likelihood by one Newton step from 0, with a penalty of :math:`\theta^2/2`, by

.. math:: G = \frac{1}{2} \sum_{g, c} \frac{(N_{gc} - E_{gc})^2 - H_{gc}}{H_{gc} + 1},
          \quad E_{gc} = \sum_{r \in g} p_{rc}, \quad H_{gc} = \sum_{r \in g} p_{rc}(1 - p_{rc})

less what is expected by chance. Only the predictions and counts of the family are needed, so that
thousands of families can be compared.
"""

from __future__ import annotations

from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.screening import score_families
from unnaive._ties import TIE_TOLERANCE
from unnaive.tables.left_out import some_rows

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows

MOST_CELLS = 1 << 12  # of a table, all classes together
_WORK = 40_000_000  # rows times classes times families that are compared at a size
_ENOUGH_ROWS = 1800  # rather than look at more of them, more families are compared
_FAMILIES_A_TASK = 64
_LEAST_GAIN = 1.0
_MARGIN = 2.0  # standard deviations, for gains are skewed


def lacking_families(
    rows: CodedRows,
    chances: FloatArray,
    families: IntArray,
    *,
    most: int,
    n_jobs: int | None = None,
) -> IntArray:
    """Return the families of largest gain that is beyond chance.

    Parameters
    ----------
    rows : CodedRows
        Coded rows.
    chances : ndarray of shape (n, k)
        Predictions of the rows.
    families : ndarray of shape (m, w)
        Families to compare, columns ascending.
    most : int
        Largest number of families to return.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    ndarray of shape (at most ``most``, w)
        Families by decreasing gain, the first on ties. The gain exceeds its standard deviation
        under chance by what the largest of so many families has. Of many rows, an equal share
        of every class is looked at.
    """
    chosen = some_rows(rows.classes, _WORK, len(families) * chances.shape[1])
    if len(chosen) < len(chances):
        rows, chances = rows.take(chosen), chances[chosen]
    # In a table with more cells than rows, hardly any two rows would share a cell.
    most_cells = min(MOST_CELLS, chances.size)
    gains, variances = family_gains(rows, chances, families, n_jobs, most_cells)
    limit = np.sqrt(2 * np.log(max(len(families), 1))) + _MARGIN
    beyond = np.flatnonzero((gains > _LEAST_GAIN) & (gains > limit * np.sqrt(variances)))
    rounded = np.round(gains[beyond] / TIE_TOLERANCE)
    return families[beyond[np.argsort(-rounded, kind="stable")[:most]]]


def family_gains(
    rows: CodedRows,
    chances: FloatArray,
    families: IntArray,
    n_jobs: int | None = None,
    most_cells: int = MOST_CELLS,
) -> tuple[FloatArray, FloatArray]:
    """Return the gain of every family, and its variance under chance; each of shape (m,).

    A family of more than ``most_cells``, all classes together, gains nothing.
    """
    gains, variances = np.empty(len(families)), np.empty(len(families))
    weights = np.ones(len(rows.classes)) if rows.weights is None else rows.weights
    arrays = (rows.classes, np.asarray(weights, dtype=np.float64), np.ascontiguousarray(chances))
    codes = np.ascontiguousarray(rows.codes)

    def score(block: tuple[int, int]) -> None:
        some = slice(*block)
        score_families(
            codes,
            rows.schema.sizes,
            families[some],
            *arrays,
            most_cells,
            gains[some],
            variances[some],
        )

    n_jobs = _parallel.jobs_for(codes.shape[1] * len(families), n_jobs)
    _parallel.run(score, _parallel.row_blocks(len(families), _FAMILIES_A_TASK), n_jobs)
    return gains, variances


def families_to_try(
    width: int,
    last: IntArray,
    sizes: IntArray,
    relevance: FloatArray,
    *,
    n_rows: int,
    n_classes: int,
) -> IntArray:
    """Return the families of some number of columns that are compared.

    Parameters
    ----------
    width : int
        Number of columns of a family.
    last : ndarray of shape (m, width − 1)
        Families of one column less that are in the model.
    sizes : ndarray of shape (d,)
        Number of values of each column.
    relevance : ndarray of shape (d,)
        Columns of larger relevance are preferred.
    n_rows, n_classes : int
        Numbers of rows and classes.

    Returns
    -------
    ndarray of shape (m, width)
        All families of columns with two and more values, if these are few enough; else those of
        the most relevant columns, and ``last`` with each further column.
    """
    columns = np.flatnonzero(sizes > 1)
    number, work = len(columns), min(n_rows, _ENOUGH_ROWS) * n_classes
    while number > width and comb(number, width) * work > _WORK:
        number -= 1
    rounded = np.round(relevance[columns] / TIE_TOLERANCE)
    kept = np.sort(columns[np.argsort(-rounded, kind="stable")[:number]]).tolist()
    if number == len(columns):  # no other family is left
        return _all_families(kept, width)
    tried = set(combinations(kept, width))
    tried |= {
        tuple(sorted((*family, column)))
        for family in last.tolist()
        for column in columns.tolist()
        if column not in family
    }
    return np.array(sorted(tried), dtype=np.int64).reshape(-1, width)


def _all_families(columns: list[int], width: int) -> IntArray:
    """List all families of columns in lexicographic order; shape (m, width)."""
    every = chain.from_iterable(combinations(columns, width))
    return np.fromiter(every, dtype=np.int64).reshape(-1, width)
