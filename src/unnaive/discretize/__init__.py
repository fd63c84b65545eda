"""Discretization: the values of a numeric feature (and the classes) in, its bin edges out.

Every model has a parameter ``discretize``. It takes a name or one of the objects of this package:
"mdlp" (:class:`MDLP`, the default), "auto" (:class:`Automatic`), "quantile" (:class:`Quantile`),
"frequency" (:class:`EqualFrequency`) or "width" (:class:`EqualWidth`). The objects are also
scikit-learn transformers and work in a pipeline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.discretize.automatic import Automatic
from unnaive.discretize.base import Discretizer
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


def discretizer(name_or_object: str | Discretizer, bins: int = 5) -> Discretizer:
    """Return the discretizer of a name; an object is returned as it is.

    Parameters
    ----------
    name_or_object : {"mdlp", "quantile", "width", "frequency", "auto"} or object
        A name, or an object with the method ``column_edges`` of :class:`Discretizer`.
    bins : int, default=5
        Number of bins for "quantile", "width" and "frequency". An object has its own number.

    Returns
    -------
    Discretizer
        A new discretizer, or ``name_or_object`` itself if it is not a string.

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
    """
    if isinstance(name_or_object, str) and name_or_object in _BY_NAME:
        return _BY_NAME[name_or_object](bins)
    if not isinstance(name_or_object, (str, type)) and hasattr(name_or_object, "column_edges"):
        return name_or_object
    names = ", ".join(map(repr, _BY_NAME))
    raise ValueError(
        f"discretize={name_or_object!r} is not known; use one of {names}, "
        "or an object such as unnaive.discretize.MDLP()"
    )
