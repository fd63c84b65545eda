r"""Whether two samples come from one distribution: Pearson's test with three exact moments.

For counts :math:`a_j, b_j` of two samples in m cells, with :math:`C_j = a_j + b_j`,

.. math:: X^2 = \sum_j \frac{N^2}{N_a N_b C_j} \left(a_j - \frac{N_a C_j}{N}\right)^2 .

If both samples come from one distribution and all totals are given, mean and variance of
:math:`X^2` are known exactly, however empty the cells are (Haldane 1940; Dawson 1954), and so is
the third moment (Lewis, Saunders and Westcott 1984). Tables of several strata are added, and the
sum is compared with the gamma distribution of the same mean and variance, and with the shifted one
that has the same skewness, too: if one sample is much smaller than the other, rare cells make
:math:`X^2` very skewed, and without its skewness small p-values would be several times too small.
The larger p-value counts. With many rows in every cell this is the usual test by the chi-squared
distribution.

References
----------
Haldane, "The mean and variance of χ², when used as a test of homogeneity, when expectations are
small", Biometrika 31, 1940. Dawson, "A simplified expression for the variance of the χ²-function
on a contingency table", Biometrika 41, 1954. Lewis, Saunders & Westcott, "The moments of the
Pearson chi-squared statistic and the minimum expected value in two-way tables", Biometrika 71(3),
1984.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaincc

if TYPE_CHECKING:
    from unnaive._typing import CountArray, FloatArray

_LEAST_ROWS = 4  # of a stratum; the variance divides by N − 3
_SKEWED_ROWS = 6  # of a stratum whose third moment is added; it divides by N − 5
_THIRD = np.array(  # by functions of the columns and of the rows: factors of N⁰, N¹, …, N⁶
    [
        [
            [-64, 304, -520, 400, -136, 16, 0],
            [-32, 152, -170, -10, 82, -22, 0],
            [-4, 19, -10, -20, 14, 1, 0],
        ],
        [
            [256, -832, 640, 272, -512, 200, -24],
            [128, -416, 200, 268, -162, -40, 22],
            [16, -52, 10, 50, -2, -22, 0],
        ],
        [
            [-384, 1632, -2400, 1560, -456, 48, 0],
            [-192, 816, -960, 270, 108, -42, 0],
            [-24, 102, -90, -30, 42, 0, 0],
        ],
        [
            [0, 0, 384, -608, 352, -88, 8],
            [0, 0, 192, -344, 184, -32, 0],
            [0, 0, 24, -48, 24, 0, 0],
        ],
        [
            [256, -1088, 1344, -720, 176, -16, 0],
            [128, -544, 672, -292, 32, 4, 0],
            [16, -68, 84, -28, -4, 0, 0],
        ],
    ]
)


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
    statistic, mean, variance, third = moments(old, new)
    if not variance > 0:
        return 1.0
    p_value = float(gammaincc(mean**2 / variance, statistic * mean / variance))
    if third <= 0:
        return p_value
    scale = third / (2 * variance)
    shape = variance / scale**2
    above = max(0.0, (statistic - mean) / scale + shape)
    return max(p_value, float(gammaincc(shape, above)))


def moments(old: CountArray, new: CountArray) -> tuple[float, float, float, float]:
    """Pearson's statistic; its mean, variance and third central moment if nothing has changed.

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
    variance, third = _variance(n_old, n_new, m, inverse), _third(n_old, n_new, m, inverse)
    return float(statistic.sum()), float(mean.sum()), variance, third


def _variance(n_old: FloatArray, n_new: FloatArray, m: FloatArray, inverse: FloatArray) -> float:
    """Sum over strata of the variance of X² with all totals given, after Dawson."""
    n = n_old + n_new
    rows, columns = (n - 2) / (n - 1), (m - 1) * (n - m) / (n - 1)
    uneven_rows = (n * (1 / n_old + 1 / n_new) - 4) / (n - 2)
    uneven_columns = (n * inverse.sum(axis=1) - m**2) / (n - 2)
    first = 2 * n / (n - 3) * (rows - uneven_rows) * (columns - uneven_columns)
    return float((first + n**2 / (n - 1) * uneven_rows * uneven_columns).sum())


def _third(n_old: FloatArray, n_new: FloatArray, m: FloatArray, inverse: FloatArray) -> float:
    """Sum over strata of the third central moment of X² with all totals given.

    It is a sum of products of functions of the columns, of the rows, and of N. The factors are
    those of Lewis, Saunders & Westcott for two rows, over one denominator.
    """
    kept = n_old + n_new >= _SKEWED_ROWS
    n_old, n_new, m, inverse = n_old[kept], n_new[kept], m[kept], inverse[kept]
    n = n_old + n_new
    first, second = n * inverse.sum(axis=1), n**2 * (inverse**2).sum(axis=1)
    uneven, full = first - m**2, (m - 1) * (n - m)
    of_columns = np.stack([second - 3 * m * first + 2 * m**3, uneven, m * uneven, full, m * full])
    of_rows = (n**2 / (n_old * n_new) - 4) ** np.arange(3)[:, None]
    of_all = n ** np.arange(_THIRD.shape[2])[:, None]
    divisor = (n - 1) ** 3 * (n - 2) * (n - 3) * (n - 4) * (n - 5)
    products = np.einsum("crp,cs,rs,ps->s", _THIRD, of_columns, of_rows, of_all)
    return float((products / divisor).sum())
