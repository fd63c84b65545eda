"""What the look-up side of every model can do: answer, explain itself, and go into a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray, State
    from unnaive.tables.terms.split import Terms


class Arrays(Protocol):
    """Where a description puts its numbers."""

    def add(self, values: ArrayLike) -> int:
        """Keep an array; returns its position."""

    def require(self, size: int) -> None:
        """Raise an error if so many numbers are too many."""


class Tables(ABC):
    """Log-probabilities that codes of rows are looked up in.

    What explains and describes a kind of tables is registered for it in ``tables.terms`` and
    ``tables.describe``, which load when they are asked for.
    """

    def joint(
        self, codes: CodeArray, held: IntArray | None = None, n_jobs: int | None = None
    ) -> FloatArray:
        """Log joint of every row and class; shape (n, k).

        Tables of leave-one-out are told by ``held`` the rows' own classes (−1: not left out).
        """
        return self._joint(codes, own_classes(held, codes), n_jobs)

    @abstractmethod
    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k). ``held``: own classes, or −1."""

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint of rows into what every column adds, for explanations."""
        from unnaive.tables.terms import terms_of  # noqa: PLC0415 - knows every kind of tables

        return terms_of(self, codes)

    def describe(self, arrays: Arrays) -> State:
        """Describe the tables for a page that computes with them, see ``tables.describe``."""
        from unnaive.tables.describe import description_of  # noqa: PLC0415 - likewise

        return description_of(self, arrays)


def own_priors(prior: FloatArray, held: IntArray) -> FloatArray:
    """Log prior of every row (n, k), by sets (1 or more, k): the last is for own classes."""
    out = np.repeat(prior[:1], len(held), axis=0)
    left_out = np.flatnonzero(held >= 0) if len(prior) > 1 else held[:0]
    out[left_out, held[left_out]] = prior[-1, held[left_out]]
    return out


def rows_alike(marks: BoolArray) -> Iterable[tuple[IntArray, BoolArray]]:
    """Rows that have the same marks of (d, n), such as missing cells, and these marks (d,)."""
    patterns, pattern = np.unique(marks, axis=1, return_inverse=True)
    order = np.argsort(pattern.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(pattern.reshape(-1)))[:-1]
    return zip(np.split(order, ends), patterns.T, strict=False)  # no rows are a part, too


def own_classes(held: IntArray | None, codes: CodeArray) -> IntArray:
    """Classes of left-out rows, or −1 for every row where none is left out; shape (n,)."""
    return np.full(codes.shape[1], -1, dtype=np.int64) if held is None else held
