"""Data sets made by rule: Corral, m of n, waves, the monks' problems, classes out of balance."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray
    from unnaive.datasets.dataset import Dataset

_BITS = ("0", "1")
_MOST_COLUMNS = 16  # 2 to this power rows, all in memory


def make_corral() -> Dataset:
    """Make Corral: four relevant bits, one irrelevant, one that is right three times of four.

    The class is (A0 and A1) or (B0 and B1). ``Irrelevant`` is any bit, and ``Correlated`` equals
    the class in 3 of 4 rows. The design is exact, not drawn: each of the 32 combinations of the
    first five bits occurs 4 times, 3 of them with ``Correlated`` right. Trees that look one
    column ahead split on ``Correlated`` first; the rule is not linear, so naive Bayes cannot
    learn it.

    Returns
    -------
    Dataset
        128 rows, in the order of the file ``corral``.

    References
    ----------
    John, Kohavi & Pfleger, "Irrelevant features and the subset selection problem", ICML 1994.

    Examples
    --------
    >>> from unnaive.datasets import make_corral
    >>> data = make_corral()
    >>> data.names, print(np.mean(data.X[:, 5] == data.y))
    0.75
    (('A0', 'A1', 'B0', 'B1', 'Irrelevant', 'Correlated'), None)
    """
    bits = np.array(list(product((0, 1), repeat=5)))
    rule = (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & bits[:, 3])
    right = np.column_stack([bits, rule])
    both = np.column_stack([np.repeat(bits, 2, axis=0), np.tile([0, 1], len(bits))])
    X = np.concatenate([right, right, both])
    y = np.concatenate([rule, rule, np.repeat(rule, 2)])
    names = ("A0", "A1", "B0", "B1", "Irrelevant", "Correlated")
    return _labelled("Corral", names, [_BITS] * 6, X, y)


def make_m_of_n(
    m: int = 3,
    relevant: int = 7,
    columns: int = 10,
    *,
    n_rows: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Make m of n: whether at least m of the relevant bits are 1.

    The relevant bits are in the middle, or half a place to the right of it: of ten bits,
    ``bit2`` to ``bit8``, as in MLC++'s mofn-3-7-10. The rule is linear in the bits, and yet
    naive Bayes misses it, for its weights and its threshold do not fit each other.

    Parameters
    ----------
    m, relevant, columns : int, default=3, 7 and 10
        How many must be 1, of how many, among how many; at most 16 columns.
    n_rows : int, optional
        So many different rows are drawn for training, all equally likely. Default: the complete
        truth table, in order.
    random_state : int, Generator or None, default=None
        Seed of the drawing.

    Returns
    -------
    Dataset
        If rows were drawn, its ``test`` is the complete table.

    References
    ----------
    Murphy & Pazzani, "ID2-of-3: constructive induction of M-of-N concepts", ICML 1991; Kohavi,
    Sommerfield & Dougherty, "Data mining using MLC++", 1996.

    Examples
    --------
    >>> from unnaive.datasets import make_m_of_n
    >>> data = make_m_of_n(n_rows=300, random_state=0)
    >>> data.X.shape, data.test.X.shape, print(np.mean(data.test.y == "1").round(4))
    0.7734
    ((300, 10), (1024, 10), None)
    """
    _require_whole("columns", columns, 1, _MOST_COLUMNS)
    _require_whole("relevant", relevant, 1, columns)
    _require_whole("m", m, 0, relevant)
    X = np.array(list(product((0, 1), repeat=columns)))
    first = (columns - relevant + 1) // 2
    y = X[:, first : first + relevant].sum(axis=1) >= m
    names = tuple(f"bit{i}" for i in range(columns))
    title = f"{m} of {relevant} relevant bits among {columns}"
    complete = _labelled(title, names, [_BITS] * columns, X, y)
    return complete if n_rows is None else _drawn(complete, n_rows, 0.0, random_state)


def make_waveform(
    n_rows: int = 300, *, noise: bool = False, random_state: int | np.random.Generator | None = None
) -> Dataset:
    r"""Make Breiman's waves: three classes, each a mixture of two of three triangles.

    With :math:`h_c(i) = \max(6 - |i - c|, 0)` for i = 1, …, 21, a row of class 0 is
    :math:`u h_7 + (1 - u) h_{15}`, of class 1 :math:`u h_7 + (1 - u) h_{11}`, of class 2
    :math:`u h_{15} + (1 - u) h_{11}`, plus independent N(0, 1) in every column; u is uniform on
    [0, 1] and the classes are equally likely. The best possible accuracy is about 86 %.

    Parameters
    ----------
    n_rows : int, default=300
    noise : bool, default=False
        Whether to add 19 columns of N(0, 1) that tell nothing (waveform-40).
    random_state : int, Generator or None, default=None
        Seed.

    Returns
    -------
    Dataset
        Columns and classes as in the files ``waveform-21``, which round to two decimals.

    References
    ----------
    Breiman, Friedman, Olshen & Stone, "Classification and regression trees", 1984, section 2.6.2.

    Examples
    --------
    >>> from unnaive.datasets import make_waveform
    >>> make_waveform(5000, noise=True, random_state=0).X.shape
    (5000, 40)
    """
    from unnaive.datasets.dataset import Dataset  # noqa: PLC0415 - costs import time

    _require_whole("n_rows", n_rows, 1)
    random = np.random.default_rng(random_state)
    h7, h11, h15 = np.maximum(6 - np.abs(np.arange(1, 22) - [[7], [11], [15]]), 0)
    first, second = np.stack([h7, h7, h15]), np.stack([h15, h11, h11])
    y = random.integers(0, 3, n_rows)
    u = random.random((n_rows, 1))
    X = random.normal(size=(n_rows, 40 if noise else 21))
    X[:, :21] += u * first[y] + (1 - u) * second[y]
    return Dataset(
        X=X,
        y=y.astype(str),
        names=tuple(f"x{i + 1}" for i in range(X.shape[1])),
        target="class",
        title="Breiman's waves",
        classes=("0", "1", "2"),
    )


def make_monks(
    problem: int = 1,
    n_rows: int | None = None,
    *,
    noise: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Make one of the three monks' problems, over six attributes of 3, 3, 2, 3, 4 and 2 values.

    Problem 1: a1 = a2 or a5 = 1. Problem 2: exactly two of the six are 1. Problem 3: a5 = 3 and
    a4 = 1, or a5 ≠ 4 and a2 ≠ 3; its training rows have wrong classes, 5 % of them.

    Parameters
    ----------
    problem : {1, 2, 3}, default=1
    n_rows : int, optional
        So many different rows are drawn for training; the original has 124, 169 and 122 (a draw
        of its own, which no seed gives). Default: all 432 rows, in order, with right classes.
    noise : float, optional
        Share of drawn rows, rounded to whole rows, whose class is turned. Default: 0.05 in
        problem 3, otherwise 0.
    random_state : int, Generator or None, default=None
        Seed of rows and noise.

    Returns
    -------
    Dataset
        If rows were drawn, its ``test`` are all 432, with right classes.

    References
    ----------
    Thrun et al., "The MONK's problems: a performance comparison of different learning
    algorithms", CMU-CS-91-197, 1991.

    Examples
    --------
    >>> from unnaive.datasets import make_monks
    >>> [int(np.sum(make_monks(problem).y == "1")) for problem in (1, 2, 3)]
    [216, 142, 228]
    """
    if problem not in _MONKS:
        raise ValueError(f"problem={problem!r}; it must be 1, 2 or 3")
    if noise is not None and (not isinstance(noise, Real) or not 0 <= noise <= 1 or n_rows is None):
        raise ValueError(f"noise={noise!r}; it must be from 0 to 1, and n_rows must be given")
    values = [tuple(str(v + 1) for v in range(size)) for size in (3, 3, 2, 3, 4, 2)]
    X = np.array(list(product(*(range(len(labels)) for labels in values))))
    y = _MONKS[problem](*(X + 1).T)
    names = tuple(f"a{i + 1}" for i in range(6))
    complete = _labelled(f"Monk's problem {problem}", names, values, X, y)
    share = noise if noise is not None else 0.05 if problem == 3 else 0.0
    return complete if n_rows is None else _drawn(complete, n_rows, share, random_state)


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


_MONKS: dict[int, Callable[..., BoolArray]] = {
    1: lambda a1, a2, _a3, _a4, a5, _a6: (a1 == a2) | (a5 == 1),
    2: lambda *a: np.equal(a, 1).sum(axis=0) == 2,
    3: lambda _a1, a2, _a3, a4, a5, _a6: ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)),
}


def _labelled(
    title: str,
    names: tuple[str, ...],
    values: Sequence[tuple[str, ...]],
    codes: IntArray,
    y: AnyArray,
) -> Dataset:
    """Make a data set of labels from their places in the lists of values."""
    from unnaive.datasets.dataset import Dataset  # noqa: PLC0415 - costs import time

    X = np.empty(codes.shape, dtype=object)
    for index, labels in enumerate(values):
        X[:, index] = np.array(labels, dtype=object)[codes[:, index]]
    return Dataset(
        X=X,
        y=np.array(_BITS)[np.asarray(y, dtype=int)],
        names=names,
        target="class",
        title=title,
        categories=dict(zip(names, values, strict=True)),
        classes=_BITS,
    )


def _drawn(
    complete: Dataset, n_rows: int, noise: float, seed: int | np.random.Generator | None
) -> Dataset:
    """Draw different rows and turn the class of some; the complete table is the test."""
    _require_whole("n_rows", n_rows, 1, len(complete.y))
    random = np.random.default_rng(seed)
    rows = random.choice(len(complete.y), n_rows, replace=False)
    y = complete.y[rows]
    turned = random.choice(n_rows, round(noise * n_rows), replace=False)
    y[turned] = np.where(y[turned] == "1", "0", "1")
    return replace(complete, X=complete.X[rows], y=y, test=complete)


def _require_whole(name: str, number: int, least: int, most: int | None = None) -> None:
    whole = isinstance(number, Integral) and not isinstance(number, bool)
    if not whole or number < least or (most is not None and number > most):
        span = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={number!r}; it must be a whole number {span}")
