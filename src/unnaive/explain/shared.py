"""What plots share: colours, bars, and the description of their common parameters."""

from __future__ import annotations

from inspect import cleandoc
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unnaive._axes import new_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray

    Function = TypeVar("Function", bound=Callable[..., Any])

FOR, AGAINST = "#1667b7", "#b4471b"  # as in the report's style; for nothing else
LINE, MARK = "#3f5068", "#8e4fa8"  # for all other curves and marks

_PARAMETERS = {
    "model": "model : Classifier\n    A fitted model.",
    "X": "X : data frame or array-like of shape (n, d)\n    Samples, best those held out from fit.",
    "y": "y : array-like of shape (n,)\n    Class labels of the samples.",
    "positive": "positive : class label, default=None\n    The class of interest; None: the last "
    "one. All other classes are negative.",
    "ax": "ax : matplotlib axes, default=None\n    Where to draw; None: a new figure.",
    "axes": "matplotlib.axes.Axes\n    The axes with the plot.",
}


def documented(function: Function) -> Function:
    """Replace ``{ax}`` and other names in a docstring by the description of these parameters."""
    text = cleandoc(function.__doc__ or "")
    for name, description in _PARAMETERS.items():
        text = text.replace(f"{{{name}}}", description)
    function.__doc__ = indent(text, "    ").strip()
    return function


def verbatim(text: object) -> str:
    """Return a text that matplotlib shows as it is, without mathematics between dollar signs."""
    return str(text).replace("$", r"\$")


def signed_bars(names: Sequence[str], values: FloatArray, ax: Axes | None) -> Axes:
    """Draw horizontal bars from top to bottom, coloured by sign."""
    ax = new_axes(ax, figsize=(6.4, max(2.4, 0.28 * len(names) + 1)))
    ax.barh(range(len(names)), values, color=np.where(values < 0, AGAINST, FOR))
    ax.set_yticks(range(len(names)), [verbatim(name) for name in names])
    ax.invert_yaxis()
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    return ax
