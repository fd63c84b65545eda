"""Generators of data sets: Corral, m of n, waveforms, the monks' problems, balanced classes."""

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
    """Generate Corral: four relevant bits, an irrelevant one, and one correlated with the class.

    The class is (A0 and A1) or (B0 and B1). ``Irrelevant`` is independent of the class, and
    ``Correlated`` equals the class in 75 % of the samples. The design is exact and not random:
    each of the 32 combinations of the first five bits occurs 4 times, in 3 of them
    ``Correlated`` equals the class. Greedy decision trees split on ``Correlated`` first. The
    rule is not linear, so naive Bayes cannot learn it.

    Returns
    -------
    Dataset
        128 samples, in the order of the file ``corral``.

    See Also
    --------
    make_m_of_n : A rule that is linear in the bits.
    load : Load data sets of the papers.

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
    """Generate m of n: the class is 1 if at least m of the relevant bits are 1.

    The relevant bits are in the middle. If they cannot be centered, they are half a position
    further right: of ten bits, ``bit2`` to ``bit8``, as in mofn-3-7-10 of MLC++. The rule is
    linear in the bits, but naive Bayes does not learn it, because the intercept that follows
    from its weights is wrong.

    Parameters
    ----------
    m : int, default=3
        Number of relevant bits that must be 1.
    relevant : int, default=7
        Number of relevant bits.
    columns : int, default=10
        Number of bits; at most 16.
    n_rows : int, default=None
        Number of training samples to draw without replacement. None returns the complete truth
        table, in order.
    random_state : int, Generator or None, default=None
        Random seed.

    Returns
    -------
    Dataset
        The samples. If they were drawn, ``test`` is the complete truth table.

    See Also
    --------
    make_corral : A rule that is not linear in the bits.
    make_monks : Rules over categorical features.

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
    r"""Generate Breiman's waveforms: three classes, each a mixture of two of three triangles.

    With :math:`h_c(i) = \max(6 - |i - c|, 0)` for i = 1, …, 21, a sample of class 0 is
    :math:`u h_7 + (1 - u) h_{15}`, of class 1 :math:`u h_7 + (1 - u) h_{11}`, of class 2
    :math:`u h_{15} + (1 - u) h_{11}`, plus independent N(0, 1) noise in every feature. Here u is
    uniform on [0, 1], and the classes are equally probable. The Bayes accuracy is about 86 %.

    Parameters
    ----------
    n_rows : int, default=300
        Number of samples.
    noise : bool, default=False
        Whether to add 19 features of pure N(0, 1) noise (waveform-40).
    random_state : int, Generator or None, default=None
        Random seed.

    Returns
    -------
    Dataset
        Features and classes as in the files ``waveform-21``, which round to two decimals.

    See Also
    --------
    make_balanced : Two Gaussian classes with correlated features.

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
        title="Breiman's waveforms",
        classes=("0", "1", "2"),
    )


def make_monks(
    problem: int = 1,
    n_rows: int | None = None,
    *,
    noise: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """Generate one of the three monks' problems, over six categorical features.

    The features have 3, 3, 2, 3, 4 and 2 categories. In problem 1 the class is 1 if a1 = a2 or
    a5 = 1. In problem 2 it is 1 if exactly two features equal 1. In problem 3 it is 1 if a5 = 3
    and a4 = 1, or a5 ≠ 4 and a2 ≠ 3; 5 % of its training samples have the wrong class.

    Parameters
    ----------
    problem : {1, 2, 3}, default=1
        Number of the problem.
    n_rows : int, default=None
        Number of training samples to draw without replacement. The original problems have 124,
        169 and 122, which no random seed reproduces. None returns all 432 combinations, in
        order and without noise.
    noise : float, default=None
        Share of the drawn samples that get the wrong class. None is 0.05 in problem 3 and 0 in
        the others.
    random_state : int, Generator or None, default=None
        Random seed.

    Returns
    -------
    Dataset
        The samples. If they were drawn, ``test`` has all 432 combinations without noise.

    See Also
    --------
    make_m_of_n : A rule over bits.

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
    r"""Generate two Gaussian classes whose features are correlated in one of them.

    All variances are 1. The correlation of any two features is :math:`\rho \max(b, 0)` in
    class 1 and :math:`\rho \max(-b, 0)` in class 0. With balance b = 0 the assumption of naive
    Bayes holds. The further b is from 0, the more naive Bayes overestimates the evidence, in
    favor of one class.

    Parameters
    ----------
    n_rows : int, default=300
        Number of samples.
    n_columns : int, default=4
        Number of features.
    balance : float, default=0.5
        The balance b, from −1 to 1.
    correlation : float, default=0.6
        The largest correlation ρ, at least 0 and below 1.
    shift : float, default=2.0
        Euclidean distance between the means of the classes, the same in every feature.
    random_state : int, Generator or None, default=None
        Random seed.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns)
        The samples.
    y : ndarray of shape (n_rows,)
        The classes 0 and 1, half of the samples each.

    See Also
    --------
    make_waveform : Three classes of numeric features.

    References
    ----------
    Lionel R. Barrow, "A Method for Automatically Generating Network Structure in Bayesian
    Classifiers", Bard College, 2011, section 3.2.

    Examples
    --------
    >>> from unnaive.datasets import make_balanced
    >>> X, y = make_balanced(1000, balance=1.0, random_state=0)
    >>> print(round(float(np.corrcoef(X[y == 1].T)[0, 1]), 1))
    0.6
    """
    _require_whole("n_rows", n_rows, 1)
    _require_whole("n_columns", n_columns, 1)
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
    """Make a data set of categories from their codes."""
    from unnaive.datasets.dataset import Dataset  # noqa: PLC0415 - costs import time

    columns = [np.array(labels, dtype=object)[c] for labels, c in zip(values, codes.T, strict=True)]
    return Dataset(
        X=np.column_stack(columns),
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
    """Draw rows without replacement and flip the class of some; the complete table is the test."""
    _require_whole("n_rows", n_rows, 1, len(complete.y))
    random = np.random.default_rng(seed)
    rows = random.choice(len(complete.y), n_rows, replace=False)
    y = complete.y[rows]
    flipped = random.choice(n_rows, round(noise * n_rows), replace=False)
    y[flipped] = np.where(y[flipped] == "1", "0", "1")
    return replace(complete, X=complete.X[rows], y=y, test=complete)


def _require_whole(name: str, number: int, least: int, most: int | None = None) -> None:
    whole = isinstance(number, Integral) and not isinstance(number, bool)
    if not whole or number < least or (most is not None and number > most):
        span = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name}={number!r}; it must be a whole number {span}")
