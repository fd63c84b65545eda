"""Moments of numbers within the cells of categorical columns; they add and subtract like counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.precise import split
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray, State


class LabelRows(NamedTuple):
    """Codes of categorical columns (l, n), whose sizes (l,) are the codes of missing values."""

    codes: CodeArray
    sizes: IntArray


@dataclass(frozen=True, eq=False)
class LabelCells:
    """Weights, sums and products of some numbers for every class and cell of categorical columns.

    A cell is a combination of categories; the last category of each column is a missing value.
    Rows in which one of the numbers is missing are left out.

    Attributes
    ----------
    columns : tuple of int
        The numbers, by their positions among the columns of numbers.
    labels : tuple of int
        The categorical columns, by their positions among these.
    weights : ndarray of shape (k, v₁ + 1, v₂ + 1, …)
        Number of rows, or the sum of their weights.
    sums : ndarray of shape (k, v₁ + 1, …, f)
        Sums of the f numbers, each less its origin.
    products : ndarray of shape (k, v₁ + 1, …, f, f)
        Sums of their products.

    Examples
    --------
    >>> X, classes = np.array([[1.0], [3.0], [8.0]]), np.array([0, 0, 0])
    >>> labels = LabelRows(np.array([[0, 0, 1]]), np.array([2]))
    >>> cells = cells_of((0,), (0,), X, classes, labels, np.ones(3), 1)
    >>> cells.weights.tolist(), cells.sums[..., 0].tolist()
    ([[2.0, 1.0, 0.0]], [[4.0, 8.0, 0.0]])
    >>> cells.with_totals().sums[..., 0].tolist()  # a missing value: all rows
    [[4.0, 8.0, 12.0]]
    """

    columns: tuple[int, ...]
    labels: tuple[int, ...]
    weights: FloatArray
    sums: FloatArray
    products: FloatArray

    def __add__(self, other: LabelCells) -> LabelCells:
        return self._combined(other, np.add)

    def __sub__(self, other: LabelCells) -> LabelCells:
        return self._combined(other, np.subtract)

    def _combined(self, other: LabelCells, combine: np.ufunc) -> LabelCells:
        names = ("weights", "sums", "products")
        arrays = {name: combine(getattr(self, name), getattr(other, name)) for name in names}
        slack = 1e-9 * max(float(self.weights.max(initial=0.0)), 1.0)
        if (arrays["weights"] < -slack).any():
            raise UnnaiveError(
                "more rows would be removed than were learned; forget only rows that were learned"
            )
        none = arrays["weights"] <= slack
        for name in names:
            arrays[name][none] = 0.0
        return replace(self, **arrays)

    @classmethod
    def empty(cls, columns: tuple[int, ...], n_classes: int) -> LabelCells:
        """Cells of no rows, which depend on no categorical column."""
        f = len(columns)
        zeros = [np.zeros((n_classes, *shape)) for shape in ((), (f,), (f, f))]
        return cls(columns, (), *zeros)

    def narrowed(self, columns: list[int]) -> LabelCells:
        """Return the cells of some of the numbers."""
        kept = [self.columns.index(column) for column in columns]
        products = self.products[..., kept, :][..., kept]
        return replace(self, columns=tuple(columns), sums=self.sums[..., kept], products=products)

    def with_totals(self) -> LabelCells:
        """Replace the cells of missing values by the sum of all cells."""
        arrays = [array.copy() for array in (self.weights, self.sums, self.products)]
        for array in arrays:
            for axis in range(1, 1 + len(self.labels)):
                across = np.moveaxis(array, axis, 0)
                across[-1] = across.sum(axis=0)
        weights, sums, products = arrays
        return replace(self, weights=weights, sums=sums, products=products)

    def state(self) -> State:
        """Plain values and arrays for the store."""
        arrays = {"weights": self.weights, "sums": self.sums, "products": self.products}
        return {"columns": list(self.columns), "labels": list(self.labels), **arrays}

    @classmethod
    def from_state(cls, state: State) -> LabelCells:
        """Restore the cells from :meth:`state`."""
        columns, labels = tuple(state["columns"]), tuple(state["labels"])
        cells = cls(columns, labels, state["weights"], state["sums"], state["products"])
        shape, f = cells.weights.shape, len(columns)
        fits = len(shape) == 1 + len(labels) and cells.sums.shape == (*shape, f)
        if not fits or cells.products.shape != (*shape, f, f) or (cells.weights < 0).any():
            raise UnnaiveError("the cells do not fit the columns")
        return cells


def cells_of(  # noqa: PLR0917 - the rows, whole
    columns: tuple[int, ...],
    labels: tuple[int, ...],
    X: FloatArray,
    classes: IntArray,
    coded: LabelRows,
    weights: FloatArray,
    n_classes: int,
) -> LabelCells:
    """Compute the moments of some numbers in the cells of some categorical columns.

    The order of the rows does not matter, see :mod:`unnaive.counts.precise`.

    Parameters
    ----------
    columns : tuple of int
        The numbers, by their positions in ``X``.
    labels : tuple of int
        The categorical columns, by their positions in ``coded``.
    X : ndarray of shape (n, d)
        Numbers less their origin, NaN where missing.
    classes : ndarray of shape (n,)
        Codes of the classes.
    coded : LabelRows
        Codes of the categorical columns.
    weights : ndarray of shape (n,)
        Weights of the rows.
    n_classes : int
        Number of classes k.

    Returns
    -------
    LabelCells
        Moments of the rows that have all of the numbers.
    """
    f, shape = len(columns), (n_classes, *(int(coded.sizes[label]) + 1 for label in labels))
    chosen = X[:, list(columns)]
    known = np.flatnonzero(~np.isnan(chosen).any(axis=1))
    place = np.ravel_multi_index((classes, *(coded.codes[label] for label in labels)), shape)
    place, values, share = place[known], chosen[known], weights[known]
    size = int(np.prod(shape))

    def total(of: FloatArray) -> FloatArray:
        sums = np.bincount(place, share * of, minlength=size)
        return sums.astype(np.float64, copy=False).reshape(shape)

    upper, lower = (part.T for part in split(values, share))
    sums = np.stack([total(upper[i]) + total(lower[i]) for i in range(f)], axis=-1)
    products = np.empty((*shape, f, f))
    for i in range(f):
        for j in range(i + 1):
            rest = total(upper[i] * lower[j] + lower[i] * values[:, j])
            products[..., i, j] = products[..., j, i] = total(upper[i] * upper[j]) + rest
    return LabelCells(columns, labels, total(np.ones(len(share))), sums, products)
