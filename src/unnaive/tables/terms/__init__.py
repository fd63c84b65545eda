r"""The log joint of rows as a sum of terms, for explanations.

.. math:: \log P(c, x) = b_c + \sum_t p_{ct}

A term t belongs to one column (or to several that form one variable) and depends on the columns
that are its parents. Every kind of tables splits its own log joint, see
:meth:`unnaive.tables.base.Tables.terms`.

Products of factors have one term per column, log P(x_i | parents, c), or one per group. If a
parent is missing, this does not add up to the log joint, and the chain rule is used: the term is
the log joint of the observed cells up to this one, less that without this one. With parents before
children, this equals log P(x_i | parents, c) for every cell whose parents are observed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.tables.base import less

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from unnaive._typing import BoolArray, CodeArray, FloatArray, IntArray

__all__ = ["Key", "Terms", "chained", "joined", "observed", "single_terms"]

Key = tuple[tuple[int, ...], tuple[int, ...]]  # the columns of a term, and the parents


@dataclass(frozen=True, eq=False)
class Terms:
    """The log joint of n rows and k classes as a base and t terms.

    Attributes
    ----------
    keys : tuple of (columns, parents)
        Which columns each term belongs to, and which parents it depends on. Keys are distinct.
    base : ndarray of shape (n, k)
        The log joint of a row whose cells are all missing.
    parts : ndarray of shape (n, k, t)
        The terms; 0 where the columns of a term are missing.
    log_evidence : ndarray of shape (n,), or None
        Log P(x), if it is not the log sum of the joint.

    Examples
    --------
    >>> terms = Terms((((0,), ()),), np.log([[0.5, 0.5]]), np.log([[[0.2], [0.6]]]))
    >>> np.exp(terms.joint).round(2).tolist()
    [[0.1, 0.3]]
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
        """Multiply the log joint by a positive number and add a bias to each class (k,)."""
        return replace(self, base=self.base * factor + bias, parts=self.parts * factor)

    def answered(self, answer: FloatArray) -> Terms:
        """Replace rows in which every class has probability 0 by an answer (n, k) without terms."""
        joint = self.joint
        hopeless = np.isneginf(joint.max(axis=1))
        if not hopeless.any():
            return self
        evidence = self.log_evidence
        return Terms(
            self.keys,
            np.where(hopeless[:, None], answer, self.base),
            np.where(hopeless[:, None, None], 0.0, self.parts),
            np.logaddexp.reduce(joint, axis=1) if evidence is None else evidence,
        )


def single_terms(
    columns: Iterable[int], parents_of: Callable[[int], Iterable[int]]
) -> tuple[Key, ...]:
    """Keys of one term per column, given its parents."""
    return tuple(((int(column),), tuple(map(int, parents_of(column)))) for column in columns)


def joined(members: Sequence[Terms]) -> tuple[tuple[Key, ...], list[IntArray]]:
    """All keys of several terms, and for each of these the positions of its own keys."""
    keys = tuple(dict.fromkeys(key for terms in members for key in terms.keys))
    place = {key: index for index, key in enumerate(keys)}
    return keys, [np.array([place[k] for k in terms.keys], dtype=np.int64) for terms in members]


def chained(
    joint: Callable[[CodeArray], FloatArray],
    codes: CodeArray,
    sizes: IntArray,
    later: Sequence[int] | IntArray,
    column: int,
) -> FloatArray:
    """Log joint of rows with a column less that without it, ``later`` columns missing; (n, k)."""
    shown = codes.copy()
    shown[list(later)] = sizes[list(later), None]
    after = joint(shown)
    shown[column] = sizes[column]
    return less(after, joint(shown))


def observed(codes: CodeArray, sizes: IntArray) -> BoolArray:
    """Which cells are observed; shape (d, n)."""
    return np.asarray(codes < sizes[:, None])
