"""Values for JSON: arrays become lists, and numbers that JSON lacks are replaced."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(value: object, not_finite: Callable[[float], object] = lambda _: None) -> object:
    """Convert dictionaries, sequences and arrays to JSON values.

    Parameters
    ----------
    value : object
        Dictionaries, lists, tuples, arrays, numbers and text, nested in any way.
    not_finite : callable
        Returns the replacement of NaN and infinity; None by default.

    Returns
    -------
    object
        The same with lists for tuples and arrays, and text as keys.

    Examples
    --------
    >>> plain({"scores": (0.5, float("nan"))})
    {'scores': [0.5, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(entry, not_finite) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, not_finite) for entry in value]
    return not_finite(value) if isinstance(value, float) and not math.isfinite(value) else value
