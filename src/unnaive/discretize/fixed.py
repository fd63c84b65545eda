"""Edges that the user gives, and a discretizer for each feature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.discretize.base import Discretizer
from unnaive.parameters import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray
    from unnaive.discretize.base import Codes, Weights


class FixedEdges(Discretizer):
    """Cut every feature at given edges.

    The bins are (−∞, e₁], (e₁, e₂], …, (e_m, ∞). Use it where the field has its own limits, such
    as 18 and 65 years, or to give a model the bins of a publication. In a model, a
    list of edges for one feature is enough: ``discretize={"age": [18, 65]}``.

    Parameters
    ----------
    edges : sequence of float, default=()
        Strictly increasing, finite numbers. Empty: a single bin.
    n_jobs : int or None, default=None
        Number of threads for ``transform``. None means 1.

    Attributes
    ----------
    edges_ : list of n_features arrays
        The edges of every feature, all the same.
    {attributes}

    See Also
    --------
    MDLP : Supervised bins, the default of all models.
    Quantile : Bins of about equally many samples.

    Examples
    --------
    >>> from unnaive.discretize import FixedEdges
    >>> FixedEdges([18, 65]).fit_transform([[7.0], [18.0], [30.0], [99.0]]).ravel()
    array([0., 0., 1., 2.])
    """

    def __init__(self, edges: Sequence[float] = (), *, n_jobs: int | None = None) -> None:
        self.edges = edges
        self.n_jobs = n_jobs

    def column_edges(
        self, values: FloatArray, classes: Codes = None, n_classes: int = 0, weights: Weights = None
    ) -> FloatArray:
        """Return the given edges; the parameters are not used."""
        self._check_parameters()
        return self._edges(values, classes, n_classes, weights)

    def _edges(
        self, values: FloatArray, classes: Codes, n_classes: int, weights: Weights
    ) -> FloatArray:
        return np.array(self.edges, dtype=np.float64)

    def _check_parameters(self) -> None:
        is_list = isinstance(self.edges, Iterable) and not isinstance(self.edges, str | Mapping)
        numbers = is_list and all(is_number(edge) for edge in self.edges)
        if not numbers or list(self.edges) != sorted(set(self.edges)):
            raise ValueError(
                f"edges={self.edges!r}; edges must be a list of finite numbers in increasing "
                "order, such as [18, 65]"
            )


@dataclass(frozen=True)
class ByColumn:
    """A discretizer for each column that is named, and one for all others.

    A column whose discretizer is None is not cut: its distinct values are its categories.
    """

    named: Mapping[str, Discretizer | None]
    others: Discretizer

    def of(self, name: str) -> Discretizer | None:
        """Return the discretizer of a column."""
        return self.named.get(name, self.others)

    def column_edges(
        self, values: FloatArray, classes: Codes = None, n_classes: int = 0, weights: Weights = None
    ) -> FloatArray:
        """Find the bin edges of a column that is not named."""
        return self.others.column_edges(values, classes, n_classes, weights)
