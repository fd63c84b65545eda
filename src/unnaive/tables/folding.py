"""Factors of two missing columns in which many values of one are alike, so that one stands for all.

Given a column of very many values, most classes have few of them, and all others have the same
probabilities of the other column. Summing that one out of each value that differs is enough. The
numbers are the same to the last bit, since every value is computed as it would be alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive.tables.elimination import Scope
    from unnaive.tables.opening import OpenFactor

_LEAST_CELLS = 1 << 8  # of a factor, below which calls cost more than its cells
_MOST_SHARE = 0.25  # of the values, that may differ
_MOST_BYTES = 1 << 22


class Fold(NamedTuple):
    """Entries of a factor for all classes, and for all left-out rows' own class if these differ.

    Attributes
    ----------
    scope : tuple of 2 ints
        The two columns, ascending.
    variable : int
        The column that is summed out; the other one is folded.
    entries : ndarray of shape (k or 2·k, a, b)
        Entries of the values that differ, and others to fill the axis.
    places : ndarray of shape (k or 2·k, values)
        Where each value of the folded column is.
    """

    scope: Scope
    variable: int
    entries: FloatArray
    places: IntArray

    @property
    def n_cells(self) -> int:
        """Number of cells of a line."""
        return math.prod(self.entries.shape[1:])

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.entries.nbytes + self.places.nbytes


class FoldedFactor:
    """A folded factor of some rows; its lines are as those of :class:`OpenFactor`, but folded.

    Parameters
    ----------
    fold : Fold
        The entries.
    held : ndarray of shape (n,)
        Class of every row that is left out, −1 for others.
    n_classes : int
        Number of classes k.
    """

    def __init__(self, fold: Fold, held: IntArray, n_classes: int) -> None:
        self.fold, self.scope = fold, fold.scope
        self._lines = np.tile(np.arange(n_classes), (len(held), 1))
        if len(fold.entries) > n_classes:
            own = np.flatnonzero(held >= 0)
            self._lines[own, held[own]] += n_classes

    def lines(self, low: int, high: int) -> FloatArray:
        """Return the lines ``low`` to ``high`` − 1; line r·k + c is of row r and class c."""
        return self.fold.entries[self._lines.reshape(-1)[low:high]]

    def unfolding(self, low: int, high: int) -> tuple[int, IntArray]:
        """Return how many values lines have, and which of them stands for each value."""
        places = self.fold.places[self._lines.reshape(-1)[low:high]]
        return self.fold.entries.shape[2 - self.scope.index(self.fold.variable)], places


def foldable(scopes: Sequence[Scope], order: Sequence[int]) -> dict[int, int]:
    """List factors that may be folded, by their places, and the variable that is summed out.

    It is summed out of this factor and of factors that have no other variable.

    Examples
    --------
    >>> foldable([(0, 1), (1, 2), (2,)], [0, 2, 1])
    {0: 0, 1: 2}
    >>> foldable([(0, 1), (1, 2), (0, 2)], [0, 1, 2])
    {}
    """
    found: dict[int, int] = {}
    left = [(frozenset(scope), place) for place, scope in enumerate(scopes)]
    for variable in order:
        bucket = [factor for factor in left if variable in factor[0]]
        left = [factor for factor in left if variable not in factor[0]]
        several = [factor for factor in bucket if len(factor[0]) > 1]
        if [len(scope) for scope, _ in several] == [2] and several[0][1] >= 0:
            found[several[0][1]] = variable
        joined = frozenset[int]().union(*(scope for scope, _ in bucket))
        left.append((joined - {variable}, -1))
    return found


def fold_of(factor: OpenFactor, variable: int, n_sets: int, n_classes: int) -> Fold | None:
    """Fold a factor of two columns that depends on the class alone; None if too many values differ.

    Row 0 of the factor has no class, and row c + 1 has class c; see :class:`Fold`.
    """
    axis = 1 - factor.scope.index(variable)
    n_values, n_cells = factor.shape[axis], math.prod(factor.shape)
    n_lines, most = n_sets * n_classes, int(_MOST_SHARE * n_values)
    if n_cells < _LEAST_CELLS or 8 * n_lines * n_cells * _MOST_SHARE > _MOST_BYTES:
        return None
    kept: list[FloatArray] = []
    places = np.empty((n_lines, n_values), dtype=np.int64)
    for line in range(n_lines):
        row = 0 if line < n_classes else 1 + line - n_classes
        start = row * n_classes + line % n_classes
        values = np.ascontiguousarray(np.moveaxis(factor.lines(start, start + 1)[0], axis, 0))
        numbers: dict[bytes, int] = {}
        places[line] = [numbers.setdefault(value.tobytes(), len(numbers)) for value in values]
        if len(numbers) > most:
            return None
        kept.append(values[np.unique(places[line], return_index=True)[1]])
    width = max(2, *map(len, kept))  # NumPy adds one line alone in another order
    filled = [np.resize(values, (width, values.shape[1])) for values in kept]
    entries = np.ascontiguousarray(np.moveaxis(np.stack(filled), 1, 1 + axis))
    return Fold(factor.scope, variable, entries, places)
