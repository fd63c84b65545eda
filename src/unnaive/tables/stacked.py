"""Several tables of one structure, looked up at once: the columns of their log joints side by side.

The place of a row's entry is the same in all of them, so it is computed once, and the entries lie
next to each other in memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from unnaive import _parallel
from unnaive._core.families import sum_families
from unnaive._core.tables import mark_missing
from unnaive._dataclasses import dataclass
from unnaive.tables.families import FamilyTables
from unnaive.tables.trees import ROWS_A_TASK, TreeTables

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.tables.base import Tables


@dataclass(frozen=True, eq=False)
class Stacked:
    """Tables whose log joints are put side by side.

    Attributes
    ----------
    members : tuple of Tables
        Tables of the same structure, such as means and variances.
    """

    members: tuple[Tables, ...]

    def joint(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """Log joints of all tables; shape (n, members · k)."""
        return np.concatenate([one.joint(codes, None, n_jobs) for one in self.members], axis=1)


@dataclass(frozen=True, eq=False)
class StackedTrees(Stacked):
    """Trees as one tree with more classes."""

    @cached_property
    def _tree(self) -> TreeTables:
        trees = cast("tuple[TreeTables, ...]", self.members)
        k = trees[0].n_classes
        lines = np.concatenate([tree.tables[:k] for tree in trees])
        return replace(trees[0], tables=lines, n_classes=k * len(trees))

    def joint(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """Log joints of all trees, in one look-up."""
        return self._tree.joint(codes, None, n_jobs)


@dataclass(frozen=True, eq=False)
class StackedFamilies(Stacked):
    """Tables with several parents; rows without missing values are looked up at once."""

    @cached_property
    def _entries(self) -> FloatArray:
        families = cast("tuple[FamilyTables, ...]", self.members)
        return np.ascontiguousarray(np.concatenate([one.flat[3] for one in families], axis=1))

    @cached_property
    def _prior(self) -> FloatArray:
        families = cast("tuple[FamilyTables, ...]", self.members)
        return np.concatenate([one.prior[0] for one in families])

    def joint(self, codes: CodeArray, n_jobs: int | None = None) -> FloatArray:
        """Log joints of all tables, in one look-up where nothing is missing."""
        first = cast("FamilyTables", self.members[0])
        gapped = np.empty(codes.shape[1], dtype=bool)
        slots = first.slots
        if first.wide:
            return super().joint(codes, n_jobs)
        if not mark_missing(codes, slots, slots[:, 2].copy(), gapped):
            return self._whole(codes, n_jobs)
        out = np.empty((codes.shape[1], len(self._prior)))
        out[gapped] = super().joint(np.ascontiguousarray(codes[:, gapped]), n_jobs)
        out[~gapped] = self._whole(np.ascontiguousarray(codes[:, ~gapped]), n_jobs)
        return out

    def _whole(self, codes: CodeArray, n_jobs: int | None) -> FloatArray:
        families, parents, contexts, _, used = cast("FamilyTables", self.members[0]).flat
        out = np.empty((codes.shape[1], len(self._prior)))
        none: IntArray = np.full(codes.shape[1], -1)

        def look_up(rows: tuple[int, int]) -> None:
            part, own = np.ascontiguousarray(codes[:, slice(*rows)]), none[slice(*rows)]
            sums = out[slice(*rows)]
            sum_families(part, families, parents, contexts, self._entries, used, own, sums)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        out += self._prior
        return out


def stacked(members: tuple[Tables, ...]) -> Stacked:
    """Return tables of one structure as one table, looked up at once where that is possible.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> tables = NaiveBayes().fit([["a"], ["b"]], [0, 1]).fitted_.tables
    >>> stacked((tables, tables)).joint(np.array([[0]], dtype=np.uint8)).shape
    (1, 4)
    """
    if all(isinstance(one, TreeTables) and not one.marginalize for one in members):
        return StackedTrees(members)
    if all(isinstance(one, FamilyTables) for one in members):
        return StackedFamilies(members)
    return Stacked(members)
