"""A data set: samples, feature names, classes, and the declared categories of every feature."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, to_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from unnaive._typing import AnyArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Samples with feature names, and the class of every sample.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples. Floats if all features are numeric. Otherwise objects: categories are strings,
        numbers are floats, and missing values are None or NaN.
    y : ndarray of shape (n,)
        Class labels.
    names : tuple of str
        Feature names.
    target : str
        Name of the target.
    title : str
        What the data is, in one line.
    categories : dict of str to tuple of str
        All categories of every categorical feature in declared order, also those that do not
        occur; smoothing needs their number. Features that are not listed are numeric.
    classes : tuple of str
        All classes in declared order, also those that do not occur.
    description : str
        Where the samples come from.
    licence : str
        Terms of use.
    test : Dataset or None
        Separate test samples, if the source has them.

    See Also
    --------
    load : Load a data set of the catalogue.

    Examples
    --------
    A model fitted on ``frame`` and ``labels`` also knows declared categories that do not occur:

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
        """The samples with feature names and declared categories, for ``fit`` and ``predict``."""
        if not self.categories:
            return Frame(self.names, len(self.X), matrix=self.X)
        columns = tuple(
            label_column(name, cells.tolist(), self.categories[name])
            if name in self.categories
            else Column(name, cells.astype(np.float64))
            for name, cells in zip(self.names, self.X.T, strict=True)
        )
        return Frame(self.names, len(self.X), columns)

    @property
    def labels(self) -> Column:
        """The class of every sample with all declared classes, for ``fit``."""
        if not self.classes:
            return to_column(self.y, self.target)
        return label_column(self.target, self.y.tolist(), self.classes)

    def to_pandas(self) -> tuple[pd.DataFrame, pd.Series]:
        """Convert to pandas; categorical features keep their declared categories.

        Returns
        -------
        X : DataFrame of shape (n, d)
            The samples; categorical features have the dtype ``category``.
        y : Series of shape (n,)
            The classes.

        Raises
        ------
        UnnaiveError
            If pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise UnnaiveError("pandas is not installed; pip install pandas") from error

        def plain(column: Column) -> AnyArray | pd.Categorical:
            if column.categories is None:
                return column.values
            return pandas.Categorical.from_codes(column.values, list(column.categories))

        columns = [self.frame.column(i) for i in range(len(self.names))]
        X = pandas.DataFrame({column.name: plain(column) for column in columns})
        return X, pandas.Series(plain(self.labels), name=self.target)


def label_column(name: str, cells: Sequence[str | None], values: tuple[str, ...]) -> Column:
    """Make a categorical column with declared values; None and "" are missing."""
    codes: dict[str | None, int] = {value: code for code, value in enumerate(values)}
    codes |= {None: -1, "": -1}
    try:
        indices = [codes[cell] for cell in cells]
    except KeyError as error:
        row = list(cells).index(error.args[0])
        what = f"value {error.args[0]!r} in row {row + 1}, which is not declared"
        declared = ", ".join(map(repr, values))
        raise UnnaiveError(f"column {name!r} has {what}; its values are {declared}") from None
    return Column(name, np.array(indices, dtype=np.int32), values, declared=True)
