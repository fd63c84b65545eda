r"""What a model's log joint is the sum of, row by row and class by class.

.. math:: \log P(c, x) = b_c + \sum_t p_{ct}

A term t belongs to a column (or to several that are one variable), and acts through the columns
that are its parents. Every kind of tables says how its log joint is split, see
:meth:`unnaive.tables.base.Tables.terms`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray
    from unnaive.tables.base import Tables

    Joint = Callable[[CodeArray], FloatArray]

Key = tuple[tuple[int, ...], tuple[int, ...]]  # columns, and what they act through


@dataclass(frozen=True, eq=False)
class Terms:
    """The log joint of n rows and k classes as a base and t terms.

    Attributes
    ----------
    keys : tuple of (columns, through)
        Whose terms they are, all different.
    base : ndarray of shape (n, k)
        The log joint of a row that shows nothing.
    parts : ndarray of shape (n, k, t)
        What every term adds; 0 where its columns are missing.
    log_evidence : ndarray of shape (n,), or None
        Log P(x), where it is not the log sum of the joint.
    """

    keys: tuple[Key, ...]
    base: FloatArray
    parts: FloatArray
    log_evidence: FloatArray | None = None

    @property
    def joint(self) -> FloatArray:
        """Log joint; shape (n, k)."""
        return np.asarray(self.base + self.parts.sum(axis=2))

    def scaled(self, factor: float, bias: FloatArray) -> Terms:
        """Multiply the log joint by a number above 0, and add one to each class (k,)."""
        return replace(self, base=self.base * factor + bias, parts=self.parts * factor)

    def answered(self, answer: FloatArray) -> Terms:
        """Put an answer (n, k), and no terms, where no class has any chance."""
        joint = self.joint
        hopeless = np.isneginf(joint.max(axis=1))
        if not hopeless.any():
            return self
        evidence = np.logaddexp.reduce(joint, axis=1)
        if self.log_evidence is not None:
            evidence = self.log_evidence
        return replace(
            self,
            base=np.where(hopeless[:, None], answer, self.base),
            parts=np.where(hopeless[:, None, None], 0.0, self.parts),
            log_evidence=evidence,
        )


@singledispatch
def terms_of(tables: Tables, codes: CodeArray) -> Terms:
    """Split the log joint of rows; every kind of tables registers how."""
    raise NotImplementedError(f"nothing splits the log joint of {type(tables).__name__}")


def single_terms(
    columns: Iterable[int], parents_of: Callable[[int], Iterable[int]]
) -> tuple[Key, ...]:
    """One term a column, through its parents."""
    return tuple(((int(column),), tuple(map(int, parents_of(column)))) for column in columns)


def merged(shape: tuple[int, int], found: Sequence[tuple[IntArray, Terms]]) -> Terms:
    """Put terms of different rows together; shape is (n, k)."""
    keys = tuple(dict.fromkeys(key for _, terms in found for key in terms.keys))
    place = {key: index for index, key in enumerate(keys)}
    base, parts = np.zeros(shape), np.zeros((*shape, len(keys)))
    for rows, terms in found:
        base[rows] = terms.base
        at = np.array([place[key] for key in terms.keys], dtype=np.int64)
        parts[rows[:, None], :, at] = terms.parts.transpose(0, 2, 1)
    return Terms(keys, base, parts)


def chained(
    joint: Joint, codes: CodeArray, sizes: IntArray, later: Sequence[int], column: int
) -> FloatArray:
    """Log joint of rows with a column less that without it, later columns missing; (n, k)."""
    shown = codes.copy()
    shown[list(later)] = sizes[list(later), None]
    after = joint(shown)
    shown[column] = sizes[column]
    return less(after, joint(shown))


def less(after: FloatArray, before: FloatArray) -> FloatArray:
    """Subtract logarithms; nothing is left of −inf less −inf."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isneginf(before), 0.0, after - before))


def observed(codes: CodeArray, sizes: IntArray) -> BoolArray:
    """Which cells are there; shape (d, n)."""
    return np.asarray(codes < sizes[:, None])
