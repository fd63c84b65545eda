"""Discretization: the values of a numeric feature (and the classes) in, its bin edges out.

Every model has a parameter ``discretize``. It takes a name or one of the objects of this package:
"mdlp" (:class:`MDLP`, the default), "auto" (:class:`Automatic`), "quantile" (:class:`Quantile`),
"frequency" (:class:`EqualFrequency`) or "width" (:class:`EqualWidth`). A dictionary has a name, an
object or a list of edges for some features: ``discretize={"age": [18, 65], "crp": "quantile"}``.
The objects are also scikit-learn transformers and work in a pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from unnaive.discretize.automatic import Automatic
from unnaive.discretize.base import Discretizer
from unnaive.discretize.fixed import ByColumn, FixedEdges
from unnaive.discretize.mdlp import MDLP
from unnaive.discretize.unsupervised import EqualFrequency, EqualWidth, Quantile

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MDLP",
    "Automatic",
    "Discretizer",
    "EqualFrequency",
    "EqualWidth",
    "FixedEdges",
    "Quantile",
    "discretizer",
]

_BY_NAME: dict[str, Callable[[int], Discretizer]] = {
    "mdlp": lambda _: MDLP(),
    "quantile": Quantile,
    "width": EqualWidth,
    "frequency": EqualFrequency,
    "auto": lambda _: Automatic(),
}


def discretizer(
    name_or_object: str | Discretizer | Mapping[str, object], bins: int = 5
) -> Discretizer | ByColumn:
    """Return the discretizer of a name; an object is returned as it is.

    Parameters
    ----------
    name_or_object : {"mdlp", "quantile", "width", "frequency", "auto"}, object or dict
        A name, or an object with the method ``column_edges`` of :class:`Discretizer`. A dictionary
        has, by column, a name, an object, a list of edges, or None for a column that is not cut;
        all other columns are cut by "mdlp".
    bins : int, default=5
        Number of bins for "quantile", "width" and "frequency". An object has its own number.

    Returns
    -------
    Discretizer or ByColumn
        A new discretizer, or ``name_or_object`` itself if it is an object.

    Raises
    ------
    ValueError
        If the name is unknown, or the object has no method ``column_edges``.

    See Also
    --------
    Discretizer : The base class, and what an own discretizer has to implement.

    Examples
    --------
    >>> from unnaive.discretize import discretizer
    >>> discretizer("width", bins=3)
    EqualWidth(bins=3)
    >>> discretizer({"age": [18, 65]}).of("age")
    FixedEdges(edges=[18, 65])
    """
    if isinstance(name_or_object, Mapping):
        named = {name: _for_column(name, how, bins) for name, how in name_or_object.items()}
        return ByColumn(named, MDLP())
    if isinstance(name_or_object, str) and name_or_object in _BY_NAME:
        return _BY_NAME[name_or_object](bins)
    if not isinstance(name_or_object, (str, type)) and hasattr(name_or_object, "column_edges"):
        return name_or_object
    names = ", ".join(map(repr, _BY_NAME))
    raise ValueError(
        f"discretize={name_or_object!r} is not known; use one of {names}, "
        "an object such as unnaive.discretize.MDLP(), or a dictionary by column"
    )


def _for_column(name: str, how: object, bins: int) -> Discretizer | None:
    """Read the entry of a column: a name, an object, a list of edges, or None."""
    if how is None:
        return None
    try:
        if isinstance(how, str) or hasattr(how, "column_edges"):
            return discretizer(how, bins)  # type: ignore[arg-type, return-value]
        FixedEdges(how).column_edges(np.empty(0))  # type: ignore[arg-type]
    except ValueError as error:
        raise ValueError(f"discretize= of column {name!r}: {error}") from error
    return FixedEdges(how)  # type: ignore[arg-type]
