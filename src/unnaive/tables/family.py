"""Tables of one column given its parents: of contexts, or only of cells, that occurred."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.cells import n_cells
from unnaive.counts.families import context_of, context_places, strides_of
from unnaive.tables import describe
from unnaive.tables.hierarchy import Level
from unnaive.tables.trees import frequencies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, CodeArray, CountArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.counts.cells import CellCounts
    from unnaive.counts.families import FamilyCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import HeldOut


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """log P(x | parents, c) of one family.

    Attributes
    ----------
    parents : tuple of int
        The parents, in the order in which they number the contexts.
    contexts : ndarray of shape (q,)
        Numbers of the joint values of the parents that occurred, ascending.
    table : ndarray of shape (sets, k, q + 1, v), or (sets, k, q, v)
        Log-probabilities. The last context stands for all that did not occur.
    simpler : FamilyTable or None
        If given, contexts that did not occur are looked up here, with one parent less.
    """

    parents: tuple[int, ...]
    contexts: IntArray
    table: FloatArray
    simpler: FamilyTable | None = None

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return len(self.table)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.table.nbytes

    def only_class(self, label: int) -> FamilyTable:
        """Return the table of one class."""
        simpler = None if self.simpler is None else self.simpler.only_class(label)
        return FamilyTable(self.parents, self.contexts, self.table[:, [label]], simpler)

    def look_up(self, codes: CodeArray, sizes: IntArray, child: AnyArray) -> FloatArray:
        """Log-probabilities of rows whose child and parents are observed; shape (sets, k, n)."""
        place = context_places(self.contexts, context_of(codes, sizes, self.parents)[0])
        if self.simpler is None:
            return np.asarray(self.table[:, :, place, child])
        others = place == len(self.contexts)
        entries = np.empty((*self.table.shape[:2], len(place)))
        entries[:, :, ~others] = self.table[:, :, place[~others], child[~others]]
        entries[:, :, others] = self.simpler.look_up(codes[:, others], sizes, child[others])
        return entries

    def describe(self, child: int, arrays: Arrays) -> State:
        """Describe the table and, inside, the simpler one."""
        columns, table = (*self.parents, child), self.table[0]
        described = describe.table(columns, table, arrays, self.contexts)
        if self.simpler is not None:
            described["simpler"] = self.simpler.describe(child, arrays)
        return described


@dataclass(frozen=True, eq=False)
class CellTable:
    r"""log P(x | parents, c) of one family, of the cells that occurred.

    All other cells of a context have count 0, so that one number of the context and one of the
    value are enough:

    .. math:: \log P(x \mid \pi, c) = \log \alpha_x - \log (N(\pi, c) + A)

    Attributes
    ----------
    parents : tuple of int
        The parents, in the order in which they number the contexts.
    contexts : ndarray of shape (q,)
        Numbers of the joint values of the parents that occurred, ascending.
    keys : ndarray of shape (m,)
        Numbers of the cells (class, position of the context, value), ascending.
    entries : ndarray of shape (sets, m)
        Log-probabilities of these cells.
    of_context : ndarray of shape (sets, k, q + 1)
        −log (N + A) of each context; the last one stands for all that did not occur.
    of_value : ndarray of shape (sets, v)
        log α of each value.
    """

    parents: tuple[int, ...]
    contexts: IntArray
    keys: IntArray
    entries: FloatArray
    of_context: FloatArray
    of_value: FloatArray

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.entries.nbytes + self.of_context.nbytes + self.of_value.nbytes

    def only_class(self, label: int) -> CellTable:
        """Return the table of one class."""
        n_cells = self.of_context.shape[2] * self.of_value.shape[1]
        mine = slice(*np.searchsorted(self.keys, [label * n_cells, (label + 1) * n_cells]))
        return CellTable(
            self.parents,
            self.contexts,
            self.keys[mine] - label * n_cells,
            np.ascontiguousarray(self.entries[:, mine]),
            self.of_context[:, [label]],
            self.of_value,
        )

    def look_up(self, codes: CodeArray, sizes: IntArray, child: AnyArray) -> FloatArray:
        """Log-probabilities of rows whose child and parents are observed; shape (sets, k, n)."""
        place = context_places(self.contexts, context_of(codes, sizes, self.parents)[0])
        entries = self.of_context[:, :, place] + self.of_value[:, None, child]
        _, n_classes, slots = self.of_context.shape
        for label in range(n_classes if len(self.keys) else 0):
            keys = (label * slots + place) * self.of_value.shape[1] + child
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            rows = np.flatnonzero(self.keys[at] == keys)
            entries[:, label, rows] = self.entries[:, at[rows]]
        return np.asarray(entries)

    def describe(self, child: int, arrays: Arrays) -> State:
        """Describe the table with all values of all contexts that occurred."""
        _, n_classes, slots = self.of_context.shape
        size = self.of_value.shape[1]
        arrays.require(n_classes * slots * size)
        table = self.of_context[0, :, :, None] + self.of_value[0]
        table.reshape(-1)[self.keys] = self.entries[0]
        return describe.table((*self.parents, child), table, arrays, self.contexts)


def cell_table(  # noqa: PLR0917 - as many as the estimate depends on
    cells: CellCounts,
    sizes: IntArray,
    margin: CountArray,
    smoothing: Smoothing,
    n_classes: int,
    sets: Sequence[HeldOut],
) -> CellTable:
    """Estimate the table of a family; the policy must not be hierarchical.

    Parameters
    ----------
    cells : CellCounts
        Counts of the cells that occurred.
    sizes : ndarray of shape (d,)
        Numbers of values.
    margin : ndarray of shape (v,)
        Counts of the child's values in all contexts together.
    smoothing : Smoothing
        The smoothing policy.
    n_classes : int
        Number of classes.
    sets : sequence of HeldOut
        What leave-one-out subtracts in every set.

    Returns
    -------
    CellTable
        The table; the same numbers as :func:`~unnaive.tables.trees.conditional` gives.
    """
    child, size = cells.columns[0], len(margin)
    possible = n_cells(cells.columns[1:], sizes, 1)
    labels, contexts, place = cells.contexts(sizes)
    slots, value = len(contexts) + 1, cells.keys % max(size, 1)
    line = labels * slots + place
    in_context = np.bincount(line, cells.table, n_classes * slots)
    entries = np.empty((len(sets), len(line)))
    of_context, of_value = np.empty((len(sets), n_classes * slots)), np.empty((len(sets), size))
    for index, held in enumerate(sets):
        frequency = frequencies(margin, held.total, held.total)
        alpha, total = smoothing.pseudo_counts(size, n_classes * possible, frequency)
        below = np.maximum(in_context - held.value, 0.0) + total
        if smoothing.view is not None:
            of_value[index] = smoothing.view.parts(np.zeros(size), alpha)
            none = np.zeros((len(below), 0))
            of_context[index] = -smoothing.view.totals(none, none, np.where(below > 0, below, size))
            entries[index] = (
                smoothing.view.parts(cells.table, alpha[value]) + of_context[index][line]
            )
            continue
        with np.errstate(divide="ignore"):
            of_value[index] = np.log(alpha) if total > 0 else 0.0
            of_context[index] = -np.log(below) if total > 0 else -np.inf
            above = np.maximum(cells.table - held.value, 0.0) + alpha[value]
            empty = below[line] <= 0
            entries[index] = np.log(above / np.where(empty, 1.0, below[line]))
        of_context[index, below <= 0] = entries[index, empty] = -np.log(size)
    shape = (len(sets), n_classes, slots)
    parents, keys = tuple(cells.columns[1:]), line * int(sizes[child]) + value
    return CellTable(parents, contexts, keys, entries, of_context.reshape(shape), of_value)


def back_off_levels(
    counts: JointCounts, counted: FamilyCounts, family: tuple[int, ...]
) -> tuple[IntArray, list[Level]]:
    """Contexts that occurred, and the counts given no parent, the first, the first two, ….

    Parameters
    ----------
    counts : JointCounts
        Counts of the columns.
    counted : FamilyCounts
        Counts of the child and at least these parents.
    family : tuple of int
        The child, then its parents.

    Returns
    -------
    contexts : ndarray of shape (q,)
        Numbers of the joint values of all parents, ascending.
    levels : list of Level
        Counts given the class, the class and the first parent, and so on.
    """
    sizes, k = counts.schema.sizes, counts.n_classes
    levels = [Level.of(counts.marginal(family[0]))]
    contexts, last = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for depth in range(1, len(family)):
        contexts, table = summed_out(counted, family[: depth + 1], sizes)
        above = np.searchsorted(last, contexts // int(sizes[family[depth]]))
        place = np.arange(k)[:, None] * len(last) + above
        levels.append(Level.of(table.reshape(-1, table.shape[2]), place.reshape(-1)))
        last = contexts
    return contexts, levels


def summed_out(
    counted: FamilyCounts, family: tuple[int, ...], sizes: IntArray
) -> tuple[IntArray, CountArray]:
    """Contexts and table of a family with fewer parents than it was counted with."""
    if counted.columns == family:
        return counted.contexts, counted.table
    parents, kept = counted.columns[1:], family[1:]
    number = np.zeros(len(counted.contexts), dtype=np.int64)
    old = dict(zip(parents, strides_of(sizes, parents), strict=True))
    for parent, stride in zip(kept, strides_of(sizes, kept), strict=True):
        number += counted.contexts // old[parent] % int(sizes[parent]) * stride
    contexts, place = np.unique(number, return_inverse=True)
    k, _, v = counted.table.shape
    cell = (place.reshape(-1, 1) * v + np.arange(v)).reshape(-1)
    summed = [np.bincount(cell, part.reshape(-1), len(contexts) * v) for part in counted.table]
    return contexts, np.stack(summed).reshape(k, len(contexts), v)
