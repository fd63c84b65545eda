"""The interface of all look-up tables: predict, split into terms, describe for a report page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray, State
    from unnaive.tables.terms import Terms

NO_ROWS: IntArray = np.empty(0, dtype=np.int64)


class Arrays(Protocol):
    """Collects the arrays of a description."""

    def add(self, values: ArrayLike) -> int:
        """Store an array and return its position."""

    def require(self, size: int) -> None:
        """Raise an error if ``size`` more numbers exceed the limit."""


class Tables(ABC):
    """Log-probability tables in which coded rows are looked up.

    A subclass implements three methods. ``_joint`` computes the log joint, ``terms`` splits it
    into the contributions of the columns (for explanations), and ``describe`` returns the tables
    as plain values and arrays, with which a report page repeats the computation.

    Codes have shape (d, n). The code after a column's last category means that the cell is
    missing or has an unseen category.
    """

    def joint(
        self, codes: CodeArray, held: IntArray | None = None, n_jobs: int | None = None
    ) -> FloatArray:
        """Log joint of every row and class; shape (n, k).

        Parameters
        ----------
        codes : ndarray of shape (d, n)
            Coded rows.
        held : ndarray of shape (n,), default=None
            For leave-one-out tables: the class of each row, or −1 for rows that were not
            counted. None means −1 for all rows.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        ndarray of shape (n, k)
            log P(c, x).
        """
        return self._joint(codes, own_classes(held, codes), n_jobs)

    @abstractmethod
    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k). ``held``: classes of the rows, or −1."""

    def apart(self) -> Tables:
        """Return tables that do not sum missing parents out, but ignore them."""
        return self

    @abstractmethod
    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint of rows into one term per column, for explanations."""

    @abstractmethod
    def describe(self, arrays: Arrays) -> State:
        """Describe the tables for a page that computes with them, see ``tables.describe``."""


def own_priors(prior: FloatArray, held: IntArray) -> FloatArray:
    """Log prior of every row; shape (n, k).

    ``prior`` has one line, or two for leave-one-out: the second is used at each row's class.
    """
    out = np.repeat(prior[:1], len(held), axis=0)
    left_out = np.flatnonzero(held >= 0) if len(prior) > 1 else held[:0]
    out[left_out, held[left_out]] = prior[-1, held[left_out]]
    return out


def hopeless_rows(joint: FloatArray) -> IntArray:
    """Rows of a log joint (n, k) in which every class has probability 0; shape (m,).

    Examples
    --------
    >>> hopeless_rows(np.array([[-1.0, -np.inf], [-np.inf, -np.inf]])).tolist()
    [1]
    """
    if joint.min(initial=0.0) > -np.inf:  # nearly always, and seen in a tenth of the time
        return NO_ROWS
    return np.flatnonzero(np.isneginf(joint).all(axis=1))


def rows_alike(marks: BoolArray) -> Iterable[tuple[IntArray, BoolArray]]:
    """Group rows by equal marks (d, n), for example by missing cells; yields rows and marks (d,).

    Examples
    --------
    >>> marks = np.array([[True, False, True], [False, False, False]])
    >>> [(rows.tolist(), pattern.tolist()) for rows, pattern in rows_alike(marks)]
    [([1], [False, False]), ([0, 2], [True, False])]
    """
    patterns, pattern = np.unique(marks, axis=1, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(pattern.reshape(-1)))[:-1]
    return zip(np.split(order, ends), patterns.T, strict=False)  # without rows there is no pattern


def own_classes(held: IntArray | None, codes: CodeArray) -> IntArray:
    """Classes of rows for leave-one-out; None means −1 for every row; shape (n,)."""
    return np.full(codes.shape[1], -1, dtype=np.int64) if held is None else held


def less(after: FloatArray, before: FloatArray) -> FloatArray:
    """Subtract logarithms; 0 where ``before`` is −inf.

    Examples
    --------
    >>> less(np.array([-1.0, -np.inf]), np.array([-3.0, -np.inf])).tolist()
    [2.0, 0.0]
    """
    out = np.zeros(np.broadcast_shapes(after.shape, before.shape))
    return np.asarray(np.subtract(after, before, out=out, where=~np.isneginf(before)))


def patterns_of(missing: BoolArray) -> Iterator[tuple[IntArray, set[int]]]:
    """Yield rows that miss the same cells, and these cells; complete rows come first."""
    gapped = missing.any(axis=0)
    if not gapped.all():
        yield np.flatnonzero(~gapped), set()
    rest = np.flatnonzero(gapped)
    for rows, gaps in rows_alike(missing[:, rest]):
        yield rest[rows], set(np.flatnonzero(gaps).tolist())
