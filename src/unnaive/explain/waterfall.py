"""Waterfall plots: one sample's log-odds from the prior to the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from unnaive._axes import new_axes
from unnaive.explain.shared import AGAINST, FOR, documented, verbatim
from unnaive.explain.wording import percent, plural, ranks, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, Label
    from unnaive.explain.explanation import Explanation
    from unnaive.explain.odds import LogOdds

_CHANCES = [0.5, 0.9, 0.1, 0.99, 0.01, 0.999, 0.001, 0.75, 0.25, 0.95, 0.05, 1 - 1e-6, 1e-6]
_LETTER = 0.032  # of the axis, of a probability above it
_LONGEST = 46


@documented
def plot_waterfall(
    found: Explanation,
    row: int = 0,
    *,
    positive: Label = None,
    most: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Plot the contributions of one sample's features as a waterfall.

    From the prior on top, each bar is the contribution of one feature to the log-odds, the
    strongest first; the scale on top has probabilities. Infinite contributions are cut off.

    Parameters
    ----------
    found : Explanation
        Result of ``model.explain(X)``.
    row : int, default=0
        Position of the sample.
    positive : class label, default=None
        As in :meth:`Explanation.log_odds`.
    most : int, default=12
        Largest number of bars; the weaker features share one more.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    Explanation.text : The same in words.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> explanation = TAN().fit(data.X[:, :5], data.y).explain(data.X[:1, :5])
    >>> ax = plot_waterfall(explanation)
    >>> ax.get_xlabel(), len(ax.patches)  # five features
    ("log-odds of 'malignant'", 5)
    """
    row = found.require_row(row)
    odds = found.log_odds(positive, by="group")
    labels, parts = _strongest(found, row, odds, most)
    base, label = float(odds.base[row]), odds.positive[row]
    ends, limit = _ends(base, parts)
    ax = new_axes(ax, figsize=(8, max(2.4, 0.32 * (len(parts) + 2) + 1)))
    for place, part in enumerate(parts):
        low, high = ends[place], ends[place + 1]
        ax.barh(place + 1, high - low, left=low, color=FOR if part > 0 else AGAINST, height=0.7)
        ax.plot([high, high], [place + 0.65, place + 2.35], color="0.6", linewidth=0.8)
        tip = (max(low, high), place + 1)
        ax.annotate(signed(part), tip, (3, 0), "data", "offset points", va="center", fontsize=8)
    for place, end in ((0, ends[0]), (len(parts) + 1, ends[-1])):
        ax.plot(end, place, "D", color="0.2", markersize=5, zorder=3)
    names = [f"starting probability {percent(float(expit(base)))}", *labels]
    names.append(f"{found.target} = {label}: {percent(float(odds.probability[row]))}")
    _finish(ax, names, limit, f"log-odds of {label!r}")
    return ax


def _strongest(
    found: Explanation, row: int, odds: LogOdds, most: int
) -> tuple[list[str], list[float]]:
    """Names with values, and contributions, of observed columns, the strongest first."""
    parts = odds.contributions[row]
    observed = [[c for c in group if found.observed[row, c]] for group in found.groups]
    shown = [place for place in ranks(parts) if observed[place]]
    labels, values = [], []
    for place in shown[:most]:
        name = ", ".join(found.cell(row, c) for c in observed[place])
        labels.append(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")
        values.append(float(parts[place]))
    if rest := shown[most:]:
        labels.append(plural(len(rest), "weaker column"))
        values.append(float(parts[rest].sum()))
    return labels, values


def _ends(base: float, parts: list[float]) -> tuple[FloatArray, tuple[float, float]]:
    """Where the bars begin and end, infinite ones cut off, and the limits of the axis."""
    finite = [value for value in (base, *parts) if np.isfinite(value)]
    far = 1.5 * sum(abs(value) for value in finite) + 2.0
    reached = np.cumsum([np.clip(value, -far, far) for value in (base, *parts)])
    low, high = min(0.0, *reached), max(0.0, *reached)
    wide = high - low + 0.4
    return reached, (low - 0.06 * wide, high + 0.2 * wide)  # numbers stand right of the bars


def _finish(ax: Axes, names: list[str], limit: tuple[float, float], label: str) -> None:
    """Set scales and names: log-odds below, probabilities above."""
    ax.axvline(0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(names)), list(map(verbatim, names)))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(*limit)
    ax.set_xlabel(label)
    above = ax.secondary_xaxis("top")
    places = _probabilities(limit)
    above.set_xticks(list(places), list(places.values()))
    above.set_xlabel("probability")


def _probabilities(limit: tuple[float, float]) -> dict[float, str]:
    """Log-odds and labels of probabilities that are far enough apart to be read."""
    letter = _LETTER * (limit[1] - limit[0])
    shown: dict[float, str] = {}
    for chance in _CHANCES:
        place, label = float(logit(chance)), f"{100 * chance:.6g} %"
        if limit[0] < place < limit[1] and all(
            abs(place - other) > letter * (len(label) + len(text) + 1) / 2
            for other, text in shown.items()
        ):
            shown[place] = label
    return shown
