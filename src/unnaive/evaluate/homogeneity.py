r"""Whether two samples come from one distribution: Pearson's test with exact moments.

For counts :math:`a_j, b_j` of two samples in m cells, with :math:`C_j = a_j + b_j`,

.. math:: X^2 = \sum_j \frac{N^2}{N_a N_b C_j} \left(a_j - \frac{N_a C_j}{N}\right)^2 .

If both samples come from one distribution and all totals are given, mean and variance of
:math:`X^2` are known exactly, however empty the cells are (Haldane 1940; Dawson 1954). Tables of
several strata are added, and the sum is compared with the gamma distribution of the same mean and
variance. With many rows in every cell this is the usual test by the chi-squared distribution.

References
----------
Haldane, "The mean and variance of χ², when used as a test of homogeneity, when expectations are
small", Biometrika 31, 1940. Dawson, "A simplified expression for the variance of the χ²-function
on a contingency table", Biometrika 41, 1954.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc

if TYPE_CHECKING:
    from unnaive._typing import CountArray, FloatArray

_LEAST_ROWS = 4  # of a stratum; the variance divides by N − 3


def homogeneity(old: CountArray, new: CountArray) -> float:
    """Probability of tables at least as different as these, if nothing has changed.

    Parameters
    ----------
    old, new : ndarray of shape (strata, cells)
        Counts of the two samples; within a stratum they may differ in their number of rows.

    Returns
    -------
    float
        The p-value; 1 if no stratum has rows of both samples in at least two cells.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.evaluate.homogeneity import homogeneity
    >>> homogeneity(np.array([[30, 70]]), np.array([[32, 68]])) > 0.5
    True
    >>> homogeneity(np.array([[30, 70]]), np.array([[60, 40]])) < 1e-4
    True
    """
    statistic, mean, variance = moments(old, new)
    if not variance > 0:
        return 1.0
    return float(gammaincc(mean**2 / variance, statistic * mean / variance))


def moments(old: CountArray, new: CountArray) -> tuple[float, float, float]:
    """Pearson's statistic, and its mean and variance if nothing has changed.

    Parameters
    ----------
    old, new : ndarray of shape (strata, cells)
        Counts of the two samples.

    Returns
    -------
    tuple of float
        Sums over the strata.
    """
    both = np.asarray(old + new, dtype=float)
    n_old, n_new = (np.asarray(table.sum(axis=1), dtype=float) for table in (old, new))
    cells = (both > 0).sum(axis=1)
    kept = (n_old > 0) & (n_new > 0) & (cells > 1) & (n_old + n_new >= _LEAST_ROWS)
    n_old, n_new, m, both = n_old[kept], n_new[kept], cells[kept].astype(float), both[kept]
    n = n_old + n_new
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(both > 0, 1.0 / both, 0.0)
    away = old[kept] - both * (n_old / n)[:, None]
    statistic = (n**2 / (n_old * n_new)) * (away**2 * inverse).sum(axis=1)
    mean = (m - 1) * n / (n - 1)
    return float(statistic.sum()), float(mean.sum()), float(_variance(n_old, n_new, m, inverse))


def _variance(n_old: FloatArray, n_new: FloatArray, m: FloatArray, inverse: FloatArray) -> float:
    """Sum over strata of the variance of X² with all totals given, after Dawson."""
    n = n_old + n_new
    rows, columns = (n - 2) / (n - 1), (m - 1) * (n - m) / (n - 1)
    uneven_rows = (n * (1 / n_old + 1 / n_new) - 4) / (n - 2)
    uneven_columns = (n * inverse.sum(axis=1) - m**2) / (n - 2)
    first = 2 * n / (n - 3) * (rows - uneven_rows) * (columns - uneven_columns)
    return float((first + n**2 / (n - 1) * uneven_rows * uneven_columns).sum())
