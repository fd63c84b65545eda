"""Artificial rows in which naive Bayes errs as much, and in such direction, as is asked for."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, IntArray


def make_balanced(
    n_rows: int = 300,
    n_columns: int = 4,
    *,
    balance: float = 0.5,
    correlation: float = 0.6,
    shift: float = 2.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[FloatArray, IntArray]:
    r"""Make two Gaussian classes whose columns are correlated in one of them (Barrow, section 3.2).

    All variances are 1. Columns correlate by :math:`\rho \max(b, 0)` in class 1 and by
    :math:`\rho \max(-b, 0)` in class 0, so that at balance b = 0 naive Bayes is right, and the
    farther from 0, the more it overrates what it sees, in favour of one class.

    Parameters
    ----------
    n_rows, n_columns : int, default=300 and 4
    balance : float, default=0.5
        b, from −1 to 1.
    correlation : float, default=0.6
        ρ, at least 0 and below 1.
    shift : float, default=2.0
        Distance of the classes' means, split evenly over the columns.
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of shape (n_rows,)
        0 and 1, half of the rows each.

    Examples
    --------
    >>> from unnaive.datasets import make_balanced
    >>> X, y = make_balanced(1000, balance=1.0, random_state=0)
    >>> print(round(float(np.corrcoef(X[y == 1].T)[0, 1]), 1))
    0.6
    """
    for name, number in (("n_rows", n_rows), ("n_columns", n_columns)):
        if not isinstance(number, Integral) or number < 1:
            raise ValueError(f"{name}={number!r}; it must be a whole number of at least 1")
    if not -1 <= balance <= 1:
        raise ValueError(f"balance={balance!r}; it must be from -1 to 1")
    if not 0 <= correlation < 1:
        raise ValueError(f"correlation={correlation!r}; it must be at least 0 and below 1")
    random = np.random.default_rng(random_state)
    y = random.permutation(np.arange(n_rows) % 2)
    X = random.normal(size=(n_rows, n_columns))
    shared = random.normal(size=(n_rows, 1))
    strength = correlation * np.where(y == 1, max(balance, 0.0), max(-balance, 0.0))[:, None]
    X = np.sqrt(1 - strength) * X + np.sqrt(strength) * shared
    return X + (y[:, None] - 0.5) * shift / np.sqrt(n_columns), y
