r"""Log factors of weighted products: what a column, a pair or a family adds (Mathematics 15.10).

See :mod:`unnaive.tables.weighted` for the formulas. Factors of columns and pairs with hierarchical
smoothing, of which there may be hundreds, are estimated together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.back_off import term_shares
from unnaive.counts.families import FamilyCounts
from unnaive.counts.sizes import starts_of
from unnaive.exceptions import UnnaiveError
from unnaive.tables.base import less
from unnaive.tables.family import back_off_levels
from unnaive.tables.hierarchy import CONCENTRATIONS, concentrations, hierarchical, root
from unnaive.tables.trees import column_factors, leave_one_out_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut

_MOST_TOGETHER = 1 << 17  # numbers of the tables that are estimated together: the cache holds them


def table_cells(sizes: IntArray, terms: IntArray) -> IntArray:
    """Count the cells in the tables of terms (m, w), for one class and set; shape (m,)."""
    return np.asarray(np.where(terms >= 0, sizes[terms] + 1, 1).prod(axis=1))


def term_factors(
    counts: JointCounts,
    terms: IntArray,
    smoothing: Smoothing,
    held_out: float | None,
    pseudo: float,
) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield some terms, and their log factors, table after table; shape (sets, k, cells).

    Parameters
    ----------
    counts : JointCounts
        Counts of the columns, pairs and families.
    terms : ndarray of shape (m, w)
        The column of each term and its parents, −1 where there are fewer.
    smoothing : Smoothing
        The smoothing policy.
    held_out : float or None
        Weight of a row, for leave-one-out.
    pseudo : float
        Pseudo-count that reins in factors of few rows.

    Yields
    ------
    some : ndarray of shape (l,)
        Positions of terms, ascending; every position is in one of the arrays.
    factors : ndarray of shape (sets, k, cells)
        Log factors.
    """
    width, k = (terms >= 0).sum(axis=1), counts.n_classes
    sets = leave_one_out_sets(held_out)[:2]
    together = smoothing.is_hierarchical and smoothing.view is None
    for term in np.flatnonzero(width > (2 if together else 0)).tolist():
        columns = tuple(column for column in terms[term].tolist() if column >= 0)
        if len(columns) > 2:
            factors = _family_factors(counts, columns, smoothing, held_out, pseudo)
        else:
            factors = np.stack(list(_pair_factors(counts, columns, smoothing, sets, pseudo)))
        yield np.array([term]), factors.reshape(len(sets), k, -1)
    numbers = len(sets) * k * table_cells(counts.schema.sizes, terms)
    for one_width in (1, 2) if together else ():
        chosen = np.flatnonzero(width == one_width)
        bounds = np.cumsum(numbers[chosen]) // _MOST_TOGETHER
        for some in np.split(chosen, np.flatnonzero(np.diff(bounds)) + 1):
            if len(some):
                yield some, _backed_off(counts, terms[some, :2], smoothing, sets, pseudo)


def _backed_off(
    counts: JointCounts,
    terms: IntArray,
    smoothing: Smoothing,
    sets: tuple[HeldOut, ...],
    pseudo: float,
) -> FloatArray:
    """Log factors of columns (m, 2) without a parent, or of columns that all have one.

    Hierarchical smoothing; cells of missing values have the factor 0.
    """
    alone, shape = terms[0, 1] < 0, (len(sets), counts.n_classes)
    cells = table_cells(counts.schema.sizes, terms)
    values, pairs, places = _counted(counts, terms, starts_of(cells)[:-1])
    shares, expected, rows = np.empty((3, *shape, int(cells.sum())))
    held = np.array([(one.total, one.value, one.alone) for one in sets])
    given = smoothing.concentration
    alphas = CONCENTRATIONS if given is None else np.array([float(given)])
    term_shares(values, pairs, places, alphas, held, shares, expected, rows)
    found = np.log(shares, out=shares)  # in place, since the table of a pair may be large
    simpler = np.log(expected) if alone else np.log(expected, out=expected)
    if not pseudo:
        return found if alone else less(found, simpler)
    known, usual = np.exp(found, out=found), expected if alone else np.exp(simpler, out=simpler)
    for part in (known, usual):
        np.multiply(rows, part, out=part)
        np.add(part, pseudo, out=part)
        np.log(part, out=part)
    known -= usual
    return np.asarray(simpler + known if alone else known)


def _counted(
    counts: JointCounts, terms: IntArray, starts: IntArray
) -> tuple[AnyArray, AnyArray, IntArray]:
    """Return counts of values and pairs, and where those of terms begin, for the kernel; (m, 7)."""
    sizes, (column, parent) = counts.schema.sizes, terms.T
    places = np.zeros((len(terms), 7), dtype=np.int64)
    places[:, 0], places[:, 1] = counts.value_starts[column], sizes[column]
    places[:, 2], places[:, 6] = -1, starts
    if (parent >= 0).any():
        counts = counts.filled()
        low, high = np.minimum(column, parent), np.maximum(column, parent)
        first = parent < column
        places[:, 2] = sizes[parent]
        places[:, 3] = counts.pair_starts[_pair_places(counts, low, high)]
        places[:, 4] = np.where(first, sizes[column], 1)
        places[:, 5] = np.where(first, 1, sizes[parent])
    kind = np.int64 if counts.values.dtype == counts.pairs.dtype == np.int64 else np.float64
    values, pairs = (np.ascontiguousarray(each, kind) for each in (counts.values, counts.pairs))
    return values, pairs, places


def _pair_places(counts: JointCounts, low: IntArray, high: IntArray) -> IntArray:
    """Positions of pairs of columns among those that were counted; shape (m,)."""
    keys = counts.pair_columns[:, 0] * counts.n_columns + counts.pair_columns[:, 1]
    wanted = low * counts.n_columns + high
    places = np.searchsorted(keys, wanted)
    absent = np.append(keys, -1)[places] != wanted
    for pair in zip(low[absent].tolist(), high[absent].tolist(), strict=True):
        counts.pair(*pair)  # raises an error that names the columns
    return places


def _pair_factors(
    counts: JointCounts,
    columns: tuple[int, ...],
    smoothing: Smoothing,
    sets: tuple[HeldOut, ...],
    pseudo: float,
) -> Iterator[FloatArray]:
    """Yield the log factors of a column, or of a column and its parent, for every set."""
    column, parent = columns if len(columns) > 1 else (*columns, -1)
    for held, factor in zip(
        sets, column_factors(counts, column, parent, smoothing, sets), strict=True
    ):
        if pseudo:
            yield _reined(counts, (column, parent), factor, held, pseudo)
        else:
            yield less(factor, factor[:, -1:]) if parent >= 0 else factor


def _family_factors(
    counts: JointCounts,
    columns: tuple[int, ...],
    smoothing: Smoothing,
    held_out: float | None,
    pseudo: float,
) -> FloatArray:
    """Log factors of a column and several parents, 0 for missing ones; (sets, k, …, slots)."""
    counted = next((one for one in counts.families if one.columns == columns), None)
    if not isinstance(counted, FamilyCounts):
        named = ", ".join(counts.schema.names[column] for column in columns)
        raise UnnaiveError(f"the columns {named} were not counted together; fit on rows")
    sizes, sets, parents = counts.schema.sizes, leave_one_out_sets(held_out)[:2], columns[1:]
    contexts, found, expected = _family_logs(counts, counted, smoothing, held_out)
    if pseudo:
        held = np.array([one.value for one in sets])[:, None, None, None]
        n_rows = np.maximum(counted.table.sum(axis=2)[..., None] - held, 0.0)
        ratio = np.log(n_rows * np.exp(found) + pseudo) - np.log(n_rows * np.exp(expected) + pseudo)
    else:
        ratio = less(found, expected)
    ratio[:, :, counted.table.sum(axis=(0, 2)) <= (held_out or 0.0)] = 0.0  # of no other row
    slots = sizes[[*parents, columns[0]]] + 1
    factors = np.zeros((len(sets), counts.n_classes, *slots.tolist()))
    values = np.unravel_index(contexts, sizes[list(parents)].tolist())
    cells = np.ravel_multi_index(values, slots[:-1].tolist())
    factors.reshape(*factors.shape[:2], -1, slots[-1])[:, :, cells, :-1] = ratio
    return factors


def _family_logs(
    counts: JointCounts, counted: FamilyCounts, smoothing: Smoothing, held_out: float | None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Contexts of a family; log-probabilities with all parents, and without the last one.

    Both have the shape (sets, k, contexts, v).
    """
    columns, sets = counted.columns, leave_one_out_sets(held_out)[:2]
    if not smoothing.is_hierarchical or smoothing.view is not None:
        return _single_logs(counts, counted, smoothing, held_out)
    margin = counts.marginal(columns[0]).sum(axis=0)
    contexts, levels = back_off_levels(counts, counted, columns)
    chosen = concentrations(margin, levels, smoothing.concentration)
    shape = (len(sets), counts.n_classes, len(contexts), len(margin))
    logs = np.empty((2, *shape))
    for index, held in enumerate(sets):
        *_, before, last = hierarchical(
            margin, levels, chosen, (held.total, held.alone, held.value)
        )
        logs[0, index] = np.log(last).reshape(shape[1:])
        logs[1, index] = np.log(before)[levels[-1].above].reshape(shape[1:])
    return contexts, *logs


def _single_logs(
    counts: JointCounts, counted: FamilyCounts, smoothing: Smoothing, held_out: float | None
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return :func:`_family_logs` of two tables that are estimated apart."""
    from unnaive.tables.families import family_tables  # noqa: PLC0415 - loads when asked

    given = family_tables(replace(counts, families=(counted,)), smoothing, held_out=held_out)
    full, simpler = (given.table_of(one) for one in (counted.columns, counted.columns[:-1]))
    size, n_sets = int(counts.schema.sizes[counted.columns[-1]]), len(given.prior[:2])
    above = np.searchsorted(simpler.contexts, full.contexts // size)
    found = full.table[:n_sets, :, : len(full.contexts)]  # type: ignore[union-attr]
    return full.contexts, found, simpler.table[:n_sets, :, above]  # type: ignore[union-attr]


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
