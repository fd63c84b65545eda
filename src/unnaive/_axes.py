"""Axes for drawings; matplotlib is optional and is imported when the first one is made."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from unnaive.exceptions import UnnaiveError


def new_axes(ax: Any = None, **figure: Any) -> Any:
    """Return the given axes, or those of a new figure.

    In a notebook, and wherever ``matplotlib.pyplot`` is in use, pyplot makes the figure, so that
    it is shown and ``plt.gcf()`` and ``plt.savefig`` find it. Otherwise pyplot does not know the
    figure, and no global state changes.
    """
    if ax is not None:
        return ax
    options = {"layout": "constrained", **figure}
    shown = not {"matplotlib.pyplot", "ipykernel"}.isdisjoint(sys.modules)
    try:
        make = import_module("matplotlib.pyplot" if shown else "matplotlib.figure")
    except ImportError:
        raise UnnaiveError('pictures need matplotlib: pip install "unnaive[plot]"') from None
    return (make.figure if shown else make.Figure)(**options).subplots()
