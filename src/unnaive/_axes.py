"""Axes for drawings; matplotlib is optional and is imported when the first one is made."""

from __future__ import annotations

import sys
from typing import Any

from unnaive.exceptions import UnnaiveError


def new_axes(ax: Any = None, **figure: Any) -> Any:
    """Return the given axes, or those of a new figure.

    Where ``matplotlib.pyplot`` is in use, as in a notebook, the figure is made by it, so that it
    is shown and ``plt.gcf()`` and ``plt.savefig`` find it. Otherwise it belongs to nobody else
    and no global state changes.
    """
    if ax is not None:
        return ax
    options = {"layout": "constrained", **figure}
    if "matplotlib.pyplot" in sys.modules:
        return sys.modules["matplotlib.pyplot"].figure(**options).subplots()
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional, see the extra "plot"
    except ImportError:
        raise UnnaiveError('pictures need matplotlib: pip install "unnaive[plot]"') from None
    return Figure(**options).subplots()
