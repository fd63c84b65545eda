"""Privacy: counts that reveal less about single rows, by suppression or by calibrated noise.

Neither protects the schema: categories, bin edges and classes are passed on with the counts.
Agree on them beforehand, from public knowledge and not from the rows to be protected.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import version
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from types import ModuleType

    from unnaive._typing import CountArray, FloatArray, IntArray
    from unnaive.counts.joint import JointCounts
    from unnaive.schema import Schema

# Shares of ε. Every model depends on class and value counts, so these get more than their
# number of tables would give them.
_WITH_PAIRS = {"class counts": Fraction(1, 16), "values": Fraction(5, 16), "pairs": Fraction(5, 8)}
_WITHOUT_PAIRS = {"class counts": Fraction(1, 8), "values": Fraction(7, 8)}
# Measured: OpenDP 0.12.0 to 0.14.1 draws 2 with a probability 13 % too high at scale 3, so that
# a cell's ε is 0.5 instead of 0.33; 0.14.2 to 0.16.0 are correct. This agrees with the review of
# 8 April 2026 in opendp/opendp#2120.
_SOUND = (0, 14, 2)
_LARGEST_SCALE = 2.0**40
_SWEEPS = 20  # of proportional fitting; rounding then meets the margins exactly
_CHUNK = 1 << 16  # cells per call of the sampler, which takes lists
_FUZZ = 1e-12


class Noise(NamedTuple):
    """Noise on one kind of tables.

    ``tables`` is the number of released tables. A row is in at most one cell of each, so adding
    or removing a row changes the cells by at most ``tables`` in sum, which is the sensitivity.
    Every cell gets noise z with P(z) ∝ exp(−|z| / ``scale``), which makes the tables
    ``epsilon``-differentially private.
    """

    kind: str
    tables: int
    epsilon: float
    scale: float


def suppress(counts: JointCounts, min_cell: int) -> JointCounts:
    """Set every cell of 1 … ``min_cell`` − 1 rows to zero, in every table.

    The tables stay consistent in the way they are with missing values: the count of a value is
    at least the sum of its row in the table of a pair, and the count of a class is at least the
    sum of a column's values. So every model that learns from counts accepts them. It learns that
    rare combinations never occur, which smoothing has to correct.

    Suppression hides rare combinations from readers of the tables, but it guarantees nothing. A
    zero may be a small number. If one cell of a row was suppressed and no value was missing, the
    sum of the row in another table reveals it (complementary disclosure). Counts made again
    after a row was added reveal it, too. Use :func:`noisy` against readers who compute.

    Parameters
    ----------
    counts : JointCounts
        Counts of plain rows; weights do not show how many rows are in a cell.
    min_cell : int
        The smallest count that is kept, at least 2.

    Returns
    -------
    JointCounts
        Counts without small cells.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.counts.privacy import suppress
    >>> counts = unnaive.count([["a", "u"]] * 9 + [["b", "u"]] * 2, target=["no"] * 11)
    >>> suppress(counts, 5).pair(0, 1).tolist()
    [[[9], [0]]]
    """
    if not isinstance(min_cell, Integral) or isinstance(min_cell, bool) or min_cell < 2:
        raise ValueError(f"min_cell={min_cell!r}; it must be a whole number of 2 or more")
    _refuse_weights(counts, "suppression")
    return counts.changed(lambda table: np.where(table < min_cell, 0, table))


def noisy(counts: JointCounts, epsilon: float) -> JointCounts:
    """Add noise that makes counts ε-differentially private, then make the tables consistent.

    For any two sets of rows that differ by one row, and any set of results, the probabilities of
    these results differ by a factor of at most e^ε (Dwork & Roth 2014, definition 2.4). Class
    counts, values and pairs get shares of ε, which add up (theorem 3.16); see :func:`noise`. The
    noise has the two-sided geometric (discrete Laplace) distribution and is drawn exactly, in
    integers, by OpenDP (Ghosh, Roughgarden & Sundararajan 2012; Canonne, Kamath & Steinke 2020).
    The steps after this use only the noisy tables and cost no privacy (proposition 2.1): tables
    are replaced by the nearest ones without negative cells and fitted to each other. Every table
    of a pair then has the values of its columns as margins, and the values of every column add
    up to the class counts; all are integers. Missing values are spread over the observed values.

    The schema is not protected. Every call spends ε again, also on the same rows: two results
    together have 2ε. One row is protected, not all the rows of a person who has several.

    Parameters
    ----------
    counts : JointCounts
        Counts of plain rows, as :func:`unnaive.count` makes them.
    epsilon : float
        Privacy bound, above 0. There is no random seed, because whoever knew it could remove the
        noise.

    Returns
    -------
    JointCounts
        Noisy, consistent counts.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.counts.privacy import noisy
    >>> counts = unnaive.count([["a", "u"], ["b", "w"]] * 500, target=["no", "yes"] * 500)
    >>> released = noisy(counts, epsilon=2.0)
    >>> bool((released.pair(0, 1).sum(axis=2) == released.marginal(0)).all())
    True
    """
    _refuse_weights(counts, "noise")
    if counts.families or counts.triples is not None:
        raise UnnaiveError(
            "these counts hold families or triples of columns besides pairs, as a fitted model "
            "has them; noise is for class counts, values and pairs: use those of unnaive.count"
        )
    counts = counts.filled()  # cells without rows get noise, too
    noises = noise(counts.schema, epsilon, counts.pair_columns)
    scales = {one.kind: one.scale for one in noises}
    drawn = replace(
        counts,
        class_counts=_with_noise(counts.class_counts, scales["class counts"]),
        values=_with_noise(counts.values, scales["values"]),
        pairs=_with_noise(counts.pairs, scales["pairs"]) if "pairs" in scales else counts.pairs,
    )
    return _made_consistent(drawn, noises[-1].scale)


def noise(schema: Schema, epsilon: float, pair_columns: IntArray | None = None) -> list[Noise]:
    """Compute how :func:`noisy` divides ε, and the scale of the noise.

    The result depends on the schema and on the counted pairs (None: none), never on rows.

    Parameters
    ----------
    schema : Schema
        Columns and classes of the counts.
    epsilon : float
        Privacy bound, above 0.
    pair_columns : ndarray of shape (m, 2), default=None
        Pairs of columns that are counted.

    Returns
    -------
    list of Noise
        Noise on class counts, on values and, if there are any, on pairs.

    Examples
    --------
    >>> import unnaive
    >>> from unnaive.counts.privacy import noise
    >>> counts = unnaive.count([["a", "u", "x"], ["b", "w", "x"]] * 9, target=["no", "yes"] * 9)
    >>> for kind, tables, epsilon, scale in noise(counts.schema, 1.0, counts.pair_columns):
    ...     print(f"{kind}: {tables} tables, ε = {epsilon}, scale {scale:.3g}")
    class counts: 1 tables, ε = 0.0625, scale 16
    values: 3 tables, ε = 0.3125, scale 9.6
    pairs: 3 tables, ε = 0.625, scale 4.8
    """
    if not isinstance(epsilon, Real) or isinstance(epsilon, bool) or not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon={epsilon!r}; it must be a number above 0, such as 1.0")
    filled = schema.sizes > 0
    n_pairs = 0 if pair_columns is None else int(filled[pair_columns].all(axis=1).sum())
    tables = {"class counts": 1, "values": int(filled.sum()), "pairs": n_pairs}
    shares = _WITH_PAIRS if n_pairs else _WITHOUT_PAIRS
    exact = Fraction(float(epsilon))
    return [
        _calibrated(kind, max(tables[kind], 1), exact * share) for kind, share in shares.items()
    ]


def _calibrated(kind: str, tables: int, epsilon: Fraction) -> Noise:
    """Find the smallest scale that is enough by OpenDP's accounting, which rounds up."""
    scale = float(tables / epsilon)
    if not scale <= _LARGEST_SCALE:
        raise ValueError(
            f"epsilon={float(epsilon):.3g} for {tables} tables of {kind} needs noise of scale "
            f"{scale:.3g}, which is larger than the counts; use a larger epsilon"
        )
    while Fraction(_sampler(scale).map(tables)) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return Noise(kind, tables, float(epsilon), scale)


@cache
def _opendp() -> dict[str, ModuleType]:
    """Import OpenDP, and refuse versions with biased noise."""
    cure = 'pip install -U "unnaive[privacy]"'
    try:
        modules = {
            name: import_module(f"opendp.{name}")
            for name in ("domains", "measurements", "metrics", "mod")
        }
    except ImportError as error:
        raise UnnaiveError(f"noise cannot be drawn without OpenDP; {cure}") from error
    installed = version("opendp")
    if tuple(map(int, re.findall(r"\d+", installed)[:3])) < _SOUND:
        raise UnnaiveError(
            f"OpenDP {installed} draws biased noise, by which ε is larger than stated; {cure}"
        )
    modules["mod"].enable_features("contrib")  # without this, OpenDP refuses to work
    return modules


def _sampler(scale: float) -> Any:
    """OpenDP's measurement that adds discrete Laplace noise to integers."""
    opendp = _opendp()
    domain = opendp["domains"].vector_domain(opendp["domains"].atom_domain(T="i64"))
    metric = opendp["metrics"].l1_distance(T="i64")
    return opendp["measurements"].make_laplace(domain, metric, scale)


def _with_noise(table: CountArray, scale: float) -> IntArray:
    add_noise, cells = _sampler(scale), table.reshape(-1).tolist()
    starts = range(0, len(cells), _CHUNK)
    drawn = [cell for start in starts for cell in add_noise(cells[start : start + _CHUNK])]
    return np.array(drawn, dtype=np.int64).reshape(table.shape)


def _refuse_weights(counts: JointCounts, what: str) -> None:
    if any(table.dtype.kind == "f" for table in counts.tables):
        raise UnnaiveError(
            f"these counts are sums of weights, and {what} applies to rows; count the rows without "
            "weights"
        )


def _made_consistent(counts: JointCounts, scale: float) -> JointCounts:
    """Return non-negative tables whose margins agree; ``scale`` is that of the pairs' noise."""
    totals = np.maximum(counts.class_counts, 0)
    values, pairs = np.zeros_like(counts.values), np.zeros_like(counts.pairs)
    whole = replace(counts, class_counts=totals, values=values, pairs=pairs)
    for column in range(counts.n_columns):
        whole.marginal(column)[...] = _fitted_to_total(counts.marginal(column), totals)
    for first, second in counts.pair_columns.tolist():
        rows, columns = whole.marginal(first), whole.marginal(second)
        if rows.size and columns.size:
            shrunk = _shrunk(counts.pair(first, second), rows, columns, _variance(scale))
            whole.pair(first, second)[...] = _fitted_to_margins(shrunk, rows, columns)
    return whole


def _variance(scale: float) -> float:
    """Variance of the two-sided geometric distribution: 2α / (1 − α)² with α = exp(−1 / scale)."""
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 1e-3 else 0.0


def _fitted_to_total(table: CountArray, totals: CountArray) -> CountArray:
    """Scale every row of a table to its total, in integers; shape (k, v)."""
    if not table.shape[1]:
        return table
    cells = _nonnegative(table, np.clip(table.sum(axis=1), 0, totals))
    sums = cells.sum(axis=1, keepdims=True)
    share = np.divide(cells, sums, out=np.full(cells.shape, 1 / cells.shape[1]), where=sums > 0)
    exact = share * totals[:, None]
    whole: IntArray = np.floor(exact * (1 - _FUZZ)).astype(np.int64)
    for row, lacking in enumerate((totals - whole.sum(axis=1)).tolist()):
        order = np.argsort(whole[row] - exact[row], kind="stable")  # largest remainders first
        whole[row, order[:lacking]] += 1
    return whole


def _nonnegative(table: CountArray, sums: CountArray) -> FloatArray:
    """Replace each row by the nearest one without negative cells and with that sum; (k, n).

    The sum of a column's counts may be less than the class's, because values may be missing.
    """
    falling = -np.sort(-table.astype(np.float64), axis=1)
    shift = (np.cumsum(falling, axis=1) - sums[:, None]) / np.arange(1, table.shape[1] + 1)
    last = np.maximum((falling > shift).sum(axis=1) - 1, 0)
    nearest = np.maximum(table - np.take_along_axis(shift, last[:, None], axis=1), 0.0)
    return np.where(sums[:, None] > 0, nearest, 0.0)


def _shrunk(
    table: CountArray, rows: CountArray, columns: CountArray, variance: float
) -> FloatArray:
    """Shrink the noisy tables of one pair towards independence, by the effect of the noise.

    The interaction has k(v − 1)(w − 1) dimensions, each with the noise's variance; the share of
    its square that exceeds this is kept. Without shrinking, noise looks like dependence, and a
    tree would follow it. Shape (k, v, w).
    """
    totals = rows.sum(axis=1)[:, None, None].astype(np.float64)
    sums = np.clip(table.sum(axis=(1, 2), keepdims=True), 0, totals)
    scaled = np.divide(sums, totals**2, out=np.zeros_like(totals), where=totals > 0)
    alone = rows[:, :, None] * columns[:, None, :] * scaled
    rest = table - alone
    rest -= rest.mean(axis=1, keepdims=True)
    rest -= rest.mean(axis=2, keepdims=True)
    dimensions = len(table) * (table.shape[1] - 1) * (table.shape[2] - 1)
    energy = float(np.square(rest).sum())
    kept = max(0.0, 1 - dimensions * variance / energy) if energy > 0 else 0.0
    shrunk = (alone + kept * rest).reshape(len(table), -1)
    return _nonnegative(shrunk, sums.reshape(-1)).reshape(table.shape)


def _fitted_to_margins(table: FloatArray, rows: CountArray, columns: CountArray) -> IntArray:
    """Fit the table of one pair and every class to both margins, in integers; shape (k, v, w).

    Proportional fitting (Deming & Stephan 1940), made exact by the rounding of Altschuler, Weed
    & Rigollet (2017, algorithm 2). If the noise has left nothing of a table, independent columns
    are assumed.
    """
    empty = table.sum(axis=(1, 2), keepdims=True) == 0
    fitted = np.where(empty, rows[:, :, None] * columns[:, None, :].astype(np.float64), table)
    for sweep in range(_SWEEPS + 1):
        most = 1.0 if sweep == _SWEEPS else math.inf  # the last sweep only lowers
        fitted *= _ratio(rows, fitted.sum(axis=2), most)[:, :, None]
        fitted *= _ratio(columns, fitted.sum(axis=1), most)[:, None, :]
    lack = np.maximum(rows - fitted.sum(axis=2), 0.0)
    other = np.maximum(columns - fitted.sum(axis=1), 0.0)
    share = _ratio(other, lack.sum(axis=1, keepdims=True), math.inf)
    fitted += lack[:, :, None] * share[:, None, :]
    whole: IntArray = np.floor(fitted * (1 - _FUZZ)).astype(np.int64)
    for one in range(len(whole)):
        _round_up(whole[one], fitted[one], rows[one], columns[one])
    return whole


def _ratio(wanted: CountArray, sums: FloatArray, most: float) -> FloatArray:
    ratio = np.divide(wanted, sums, out=np.zeros(np.shape(wanted)), where=sums > 0)
    return np.asarray(np.minimum(ratio, most))


def _round_up(whole: IntArray, exact: FloatArray, rows: CountArray, columns: CountArray) -> None:
    """Add ones to the cells that were rounded down most, until both margins are met."""
    lack, other = rows - whole.sum(axis=1), columns - whole.sum(axis=0)
    for cell in np.argsort((whole - exact).reshape(-1), kind="stable").tolist():
        row, column = divmod(cell, whole.shape[1])
        if lack[row] > 0 and other[column] > 0:
            whole[row, column] += 1
            lack[row] -= 1
            other[column] -= 1
    # What is still lacking is placed along the diagonal (the north-west corner rule).
    down, along = np.cumsum(lack)[:, None], np.cumsum(other)[None, :]
    overlap = np.minimum(down, along) - np.maximum(down - lack[:, None], along - other[None, :])
    whole += np.maximum(overlap, 0)
