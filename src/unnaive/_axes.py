"""Axes for drawings; matplotlib is optional and is imported when the first one is made."""

from __future__ import annotations

from typing import Any

from unnaive.exceptions import UnnaiveError


def new_axes(ax: Any = None, **figure: Any) -> Any:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional, see the extra "plot"
    except ImportError:
        raise UnnaiveError('pictures need matplotlib: pip install "unnaive[plot]"') from None
    return Figure(**{"layout": "constrained", **figure}).subplots()
