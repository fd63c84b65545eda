"""Rows with names and classes, and the values that their columns may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, to_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from unnaive._typing import AnyArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows with names, and the class of every row.

    Attributes
    ----------
    X : array of shape (n, d)
        Rows: floats if every column has numbers; otherwise objects, of which labels are
        strings, numbers are floats, and missing cells are None and NaN.
    y : array of shape (n,)
        Class labels.
    names : tuple of str
        Names of the columns.
    target : str
        Name of what ``y`` tells.
    title : str
        What the data is, in one line.
    categories : dict of str to tuple of str
        For every column of labels, all values that it may take, in declared order, seen or
        not: smoothing counts these. Columns that are not listed have numbers.
    classes : tuple of str
        All classes, in declared order, seen or not.
    description, licence : str
        Where the rows come from, and on what terms.
    test : Dataset or None
        The rows set apart for validation, where the source has such.

    Examples
    --------
    A model fitted on ``frame`` and ``labels`` knows declared values that no row has:

    >>> from unnaive import TAN
    >>> from unnaive.datasets import make_corral
    >>> data = make_corral()
    >>> data
    Dataset('Corral', 128 rows, 6 columns, 2 classes)
    >>> model = TAN().fit(data.frame, data.labels)
    >>> print(model.score(data.frame, data.y))
    1.0
    """

    X: AnyArray
    y: AnyArray
    names: tuple[str, ...]
    target: str
    title: str
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    description: str = ""
    licence: str = ""
    test: Dataset | None = None

    def __repr__(self) -> str:
        n_classes = len(self.classes or np.unique(self.y))
        rows = f"{len(self.y)} rows, {len(self.names)} columns, {n_classes} classes"
        return f"Dataset({self.title!r}, {rows})"

    @cached_property
    def frame(self) -> Frame:
        """The rows with names and declared values, for ``fit`` and ``predict``."""
        if not self.categories:
            return Frame(self.names, len(self.X), matrix=self.X)
        columns = tuple(self._column(i, name) for i, name in enumerate(self.names))
        return Frame(self.names, len(self.X), columns)

    @property
    def labels(self) -> Column:
        """The class of every row, with all declared classes, for ``fit``."""
        if not self.classes:
            return to_column(self.y, self.target)
        return label_column(self.target, self.y.tolist(), self.classes)

    def to_pandas(self) -> tuple[pd.DataFrame, pd.Series]:
        """Return a pandas frame of the rows and a series of the classes.

        Labels become pandas categories, so that declared values are not lost.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise UnnaiveError("pandas is not there; pip install pandas") from error

        def plain(column: Column) -> AnyArray | pd.Categorical:
            if column.categories is None:
                return column.values
            return pandas.Categorical.from_codes(column.values, list(column.categories))

        columns = [self.frame.column(i) for i in range(len(self.names))]
        X = pandas.DataFrame({column.name: plain(column) for column in columns})
        return X, pandas.Series(plain(self.labels), name=self.target)

    def _column(self, index: int, name: str) -> Column:
        if name in self.categories:
            return label_column(name, self.X[:, index].tolist(), self.categories[name])
        return Column(name, self.X[:, index].astype(np.float64))


def label_column(name: str, cells: Sequence[str | None], values: tuple[str, ...]) -> Column:
    """Make a column of labels by its declared values; None and "" are missing cells."""
    places: dict[str | None, int] = {value: place for place, value in enumerate(values)}
    places |= {None: -1, "": -1}
    try:
        indices = [places[cell] for cell in cells]
    except KeyError as error:
        row = list(cells).index(error.args[0])
        what = f"value {error.args[0]!r} in row {row + 1}, which is not declared"
        declared = ", ".join(map(repr, values))
        raise UnnaiveError(f"column {name!r} has {what}; its values are {declared}") from None
    return Column(name, np.array(indices, dtype=np.int32), values, declared=True)
