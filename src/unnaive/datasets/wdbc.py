"""The Wisconsin diagnostic breast cancer data, as scikit-learn carries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sklearn.datasets import load_breast_cancer

from unnaive.io.frames import Frame

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Numbers with names, and the class of every row.

    Attributes
    ----------
    X : array of shape (n, d)
        Rows.
    y : array of shape (n,)
        Class labels.
    names : tuple of str
        Names of the columns.
    target : str
        Name of what ``y`` tells.
    title : str
        What the data is, in one line.
    """

    X: FloatArray
    y: AnyArray
    names: tuple[str, ...]
    target: str
    title: str

    @property
    def frame(self) -> Frame:
        """The rows with the names of their columns, for ``fit`` and ``predict``."""
        return Frame(self.names, len(self.X), matrix=self.X)


def load_wdbc() -> Dataset:
    """Load the Wisconsin diagnostic breast cancer data: 569 tumours, 30 measurements.

    Returns
    -------
    Dataset
        Its classes are "benign" (357 rows) and "malignant" (212).

    References
    ----------
    Street, Wolberg & Mangasarian, "Nuclear feature extraction for breast tumor diagnosis",
    SPIE 1905, 1993.

    Examples
    --------
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> data.X.shape, str(data.y[0]), data.names[0]
    ((569, 30), 'malignant', 'mean radius')
    """
    bunch = load_breast_cancer()
    return Dataset(
        X=bunch.data,
        y=bunch.target_names[bunch.target],
        names=tuple(str(name) for name in bunch.feature_names),
        target="diagnosis",
        title="Wisconsin diagnostic breast cancer",
    )
