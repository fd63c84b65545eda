"""Plots of how good the predictions of a model are: calibration and confusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._axes import new_axes
from unnaive.explain.cells import target_codes
from unnaive.explain.order import shown_order
from unnaive.explain.plots import scored
from unnaive.explain.shared import LINE, documented, verbatim
from unnaive.models.classifier import chosen_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import BoolArray, FloatArray, IntArray, Label
    from unnaive.models import Classifier

_FEW = 10  # classes up to which every cell of a confusion matrix has a count and a share
Z = 1.959963984540054  # the normal distribution's quantile of a 95 % interval


@documented
def plot_reliability(
    model: Classifier,
    X: object,
    y: object,
    *,
    positive: Label = None,
    bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    r"""Plot the observed frequency of a class against its predicted probability.

    Points on the diagonal are calibrated; below it the probabilities are too high, above it too
    low. The bars are Wilson's 95 % intervals, the numbers above them count samples. The title has
    the expected calibration error, the mean distance from the diagonal over all samples:

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \, | \bar p_b - \bar y_b |

    Parameters
    ----------
    {model}
    {X}
    {y}
    {positive}
    bins : int, default=10
        Number of bins of equal width for the predicted probabilities.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_roc : How well the probabilities separate the classes.
    plot_confusion : Decisions by class.

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
    binning", AAAI 2015; Wilson, "Probable inference", JASA 22, 1927.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[::2], data.y[::2])
    >>> plot_reliability(model, data.X[1::2], data.y[1::2]).get_ylabel()
    "observed frequency of 'malignant'"
    """
    if not isinstance(bins, int) or bins < 1:
        raise ValueError(f"bins={bins!r}; it must be a whole number of at least 1")
    scores, actual, label = scored(model, X, y, positive)
    predicted, share, rows = binned(scores, actual, bins)
    filled = rows > 0
    predicted, share, rows = predicted[filled], share[filled], rows[filled]
    error = float(np.abs(predicted - share) @ rows) / len(scores)
    ax = _draw_shares(predicted, share, rows, ax)
    ax.set(xlabel=f"predicted probability of {label!r}", ylabel=f"observed frequency of {label!r}")
    ax.set_title(f"expected calibration error {error:.3f}", fontsize=10)
    return ax


def _draw_shares(predicted: FloatArray, share: FloatArray, rows: IntArray, ax: Axes | None) -> Axes:
    """Draw shares with their intervals and numbers of rows, and the diagonal."""
    low, high = wilson(share, rows)
    ax = new_axes(ax)
    ax.plot([0, 1], [0, 1], color="0.7", linestyle=":")
    bars = [share - low, high - share]
    ax.errorbar(predicted, share, yerr=bars, fmt="o-", capsize=2, markersize=4, color=LINE)
    for x, top, size in zip(predicted, high, rows, strict=True):
        count = ax.annotate(f"{size:,}", (x, top), (0, 5), "data", "offset points", ha="center")
        count.set(fontsize=7, color="0.4")
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.1))
    return ax


def binned(
    scores: FloatArray, actual: BoolArray, bins: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Mean prediction (NaN without rows), observed frequency and rows of every bin; (bins,)."""
    place = np.minimum((scores * bins).astype(int), bins - 1)
    rows = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        predicted, share = (np.bincount(place, sums, bins) / rows for sums in (scores, actual))
    return predicted, share, rows


def wilson(share: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Wilson's 95 % intervals of shares, given the number of rows of each.

    Examples
    --------
    >>> low, high = wilson(np.array([0.0]), np.array([10]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0], [0.278])
    """
    centre = share + Z**2 / (2 * rows)
    half = Z * np.sqrt(share * (1 - share) / rows + Z**2 / (4 * rows**2))
    low, high = ((end / (1 + Z**2 / rows)).clip(0.0, 1.0) for end in (centre - half, centre + half))
    return np.minimum(low, share), np.maximum(high, share)


@documented
def plot_confusion(model: Classifier, X: object, y: object, ax: Axes | None = None) -> Axes:
    """Plot the confusion matrix, shaded by the share of each actual class.

    Classes with numbers in their names are in natural order. Of more than ten classes, only the
    counts above zero are written.

    Parameters
    ----------
    {model}
    {X}
    {y}
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_roc : Decisions for all thresholds.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[::2], data.y[::2])
    >>> ax = plot_confusion(model, data.X[1::2], data.y[1::2])
    >>> ax.get_xlabel(), len(ax.texts)
    ('predicted', 4)
    """
    predicted, k = chosen_classes(model, model.predict_proba(X)), len(model.classes_)
    actual = target_codes(model, y, len(predicted))
    table = np.bincount(actual * k + predicted, minlength=k * k).reshape(k, k)
    order = shown_order([str(label) for label in model.classes_])
    names = [verbatim(model.classes_[place]) for place in order]
    table, few = table[np.ix_(order, order)], k <= _FEW
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    side = (0.6 if few else 0.33) * k
    ax = new_axes(ax, figsize=(max(3.6, side + 2), max(3.2, side + 1.6)))
    ax.imshow(shares, cmap="Greys", vmin=0.0, vmax=1.0)
    for i, j in np.ndindex(k, k):
        if few or table[i, j]:
            share = f"\n{100 * shares[i, j]:.0f} %" if few and table[i].sum() else ""
            text = ax.text(j, i, f"{table[i, j]:,}{share}", ha="center", va="center", fontsize=8)
            text.set_color("white" if shares[i, j] > 0.6 else "black")
    ax.set_xticks(range(k), names)
    if max(map(len, names)) >= 10:
        for name in ax.get_xticklabels():
            name.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(k), names)
    ax.set(xlabel="predicted", ylabel="actual")
    ax.set_title(f"{np.trace(table):,} of {table.sum():,} rows correct", fontsize=10)
    return ax
