"""Where bin edges come from: one column's numbers (and classes) in, its edges out."""

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
    """Turn the name of a discretiser into one; an object is handed back as it is.

    Parameters
    ----------
    name_or_object : {"mdlp", "quantile", "width", "frequency", "auto"} or object
        An object needs the method ``column_edges`` of this room's classes.
    bins : int, default=5
        Number of bins of those that are told it; an object knows its own.

    Returns
    -------
    Discretizer

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
