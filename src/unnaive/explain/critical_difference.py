"""Critical difference diagrams: mean ranks of models, and which differences are significant."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

from unnaive._axes import new_axes
from unnaive.explain.shared import MARK, documented, verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

_BAR = 0.35  # between two bars, where 1 is between two names


@documented
def plot_critical_difference(
    mean_ranks: Mapping[str, float], critical: float, ax: Axes | None = None
) -> Axes:
    """Plot mean ranks of models; a bar joins models that do not differ significantly.

    Parameters
    ----------
    mean_ranks : dict of str to float
        Mean rank of every model over data sets; 1 is best.
    critical : float
        Critical difference of mean ranks, for example from ``unnaive.evaluate.nemenyi``.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    unnaive.evaluate.nemenyi : Computes the critical difference.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006,
    figure 1.

    Examples
    --------
    >>> ranks = {"nb": 3.4, "tan": 2.1, "aode": 1.6, "hnb": 2.9}
    >>> ax = plot_critical_difference(ranks, critical=1.25)
    >>> [text.get_text() for text in ax.texts if text.get_text() in ranks]
    ['aode', 'tan', 'nb', 'hnb']
    """
    ordered = sorted(mean_ranks.items(), key=lambda item: item[1])
    if not ordered or not critical >= 0:
        raise ValueError(
            f"{len(ordered)} models, critical={critical}; pass at least one model, and a critical "
            "difference of at least 0"
        )
    groups = undecided([rank for _, rank in ordered], critical)
    half = ceil(len(ordered) / 2)
    low = min(floor(ordered[0][1]), 1)
    high = max(ceil(ordered[-1][1]), len(ordered), low + 1)
    below = 0.6 + _BAR * len(groups)
    ax = new_axes(ax, figsize=(7, 1.4 + 0.25 * (half + _BAR * len(groups))))
    _draw_scale(ax, low, high, critical)
    for number, (first, last) in enumerate(groups):
        y = -0.5 - _BAR * number
        ends = ordered[first][1] - 0.03, ordered[last][1] + 0.03
        ax.plot(ends, [y, y], color="0.2", linewidth=3, solid_capstyle="butt", label="undecided")
    margin = 0.08 * (high - low)
    for place, (name, rank) in enumerate(ordered[:half]):
        _draw_name(ax, name, rank, -below - place, low - margin)
    for place, (name, rank) in enumerate(reversed(ordered[half:])):
        _draw_name(ax, name, rank, -below - place, high + margin)
    ax.set_xlim(low - 4 * margin, high + 4 * margin)
    ax.set_ylim(-below - half, 2.4)
    ax.set_axis_off()
    return ax


def undecided(ranks: list[float], critical: float) -> list[tuple[int, int]]:
    """First and last position of every maximal group of sorted ranks that differ by less.

    Examples
    --------
    >>> undecided([1.0, 1.5, 2.2, 4.0], critical=1.0)
    [(0, 1), (1, 2)]
    """
    groups: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(
            place for place, other in enumerate(ranks) if other - rank < critical or place == first
        )
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def _draw_scale(ax: Axes, low: int, high: int, critical: float) -> None:
    """Draw the axis of ranks with its numbers, and the critical difference above it."""
    ax.plot([low, high], [0, 0], color="0.2", linewidth=1)
    step = max(1, (high - low) // 15)
    for tick in range(low, high + 1, step):
        ax.plot([tick, tick], [0, 0.2], color="0.2", linewidth=1)
        ax.text(tick, 0.3, str(tick), ha="center", va="bottom")
    if critical < high - low:
        ax.plot([low, low + critical], [1.6, 1.6], color=MARK, linewidth=2)
        ax.text(low + critical / 2, 1.7, f"CD = {critical:.2f}", ha="center", va="bottom")
    else:
        ax.text(low, 1.7, f"CD = {critical:.2f}, larger than the range of ranks", va="bottom")


def _draw_name(ax: Axes, name: str, rank: float, y: float, end: float) -> None:
    """Draw a line from a rank down and sideways to the name of the model."""
    ax.plot([rank, rank, end], [0, y, y], color="0.6", linewidth=1)
    shift, side = (-4, "right") if end < rank else (4, "left")
    ax.annotate(verbatim(name), (end, y), (shift, 0), "data", "offset points", ha=side, va="center")
