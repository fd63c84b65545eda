"""Dependence derivatives: how far, and which way, each column pushes naive Bayes off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from unnaive._axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, Label
    from unnaive.models import Classifier


@dataclass(frozen=True, eq=False)
class DependenceDerivatives:
    r"""What :func:`dependence_derivatives` found, all in logarithms.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    classes : list
        Class labels.
    log_dd : ndarray of shape (n, k, d)
        :math:`\log dd_c(x_i) = \log p(x_i \mid \ldots, c) - \log p(x_i \mid c)`.
    naive_joint : ndarray of shape (n, k)
        Log joint of naive Bayes with the model's own p(x_i | c).
    mode : str
        "parents" or "full-conditional".
    """

    names: tuple[str, ...]
    classes: list[Label]
    log_dd: FloatArray
    naive_joint: FloatArray
    mode: str

    def log_ddr(self, positive: Label = None, negative: Label = None) -> FloatArray:
        """Log dd₊ / dd₋ of every row and column; shape (n, d).

        Above 0, the column's dependences speak for the positive class, which naive Bayes does
        not hear. By default the last class against the first.
        """
        above = self._place(positive, len(self.classes) - 1)
        below = self._place(negative, 0)
        return np.asarray(self.log_dd[:, above] - self.log_dd[:, below])

    def log_gdf(self, positive: Label = None, negative: Label = None) -> FloatArray:
        """Log of the product of ddr over columns: what naive Bayes's log odds lack; shape (n,)."""
        return np.asarray(self.log_ddr(positive, negative).sum(axis=1))

    def weights(
        self, positive: Label = None, negative: Label = None, weighting: str = "log-mean"
    ) -> FloatArray:
        """Weight of every column: mean of log ddr, or log of the mean of ddr; shape (d,)."""
        if weighting not in {"log-mean", "mean"}:
            raise ValueError(f"weighting={weighting!r}; it must be 'log-mean' or 'mean'")
        ratios = self.log_ddr(positive, negative)
        if weighting == "log-mean":
            return np.asarray(ratios.mean(axis=0))
        return np.asarray(logsumexp(ratios, axis=0) - np.log(len(ratios)))

    def _place(self, label: Label, default: int) -> int:
        if label is None:
            return default
        if label not in self.classes:
            raise ValueError(f"{label!r} is no class; the classes are {self.classes}")
        return self.classes.index(label)


def dependence_derivatives(
    model: Classifier, X: object, mode: str = "full-conditional"
) -> DependenceDerivatives:
    r"""Compare what a model says of each cell with what naive Bayes would say.

    .. math:: dd_c(x_i) = \frac{p(x_i \mid \ldots, c)}{p(x_i \mid c)},
              \qquad ddr(x_i) = \frac{dd_+(x_i)}{dd_-(x_i)},
              \qquad gdf(x) = \prod_i ddr(x_i)

    Parameters
    ----------
    model : Classifier
        Any fitted model of this library.
    X : rows
        As in ``predict``. A missing cell has a derivative of 1.
    mode : {"full-conditional", "parents"}, default="full-conditional"
        Given all other cells of the row; or given the cells of the column's parents, where the
        model has such: then naive Bayes' odds times gdf are exactly the model's (Zhang's
        theorem). The product of full conditionals is a pseudo-likelihood, not the posterior.

    References
    ----------
    Zhang, "The optimality of naive Bayes", FLAIRS 2004; Barrow, "Between naive and full Bayes",
    thesis, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive import TAN
    >>> from unnaive.explain import dependence_derivatives
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = TAN().fit(X, [0, 1, 1, 0] * 5)
    >>> found = dependence_derivatives(model, X[:2], mode="parents")
    >>> odds = found.naive_joint[:, 1] - found.naive_joint[:, 0] + found.log_gdf()
    >>> joint = model.predict_joint_log_proba(X[:2])
    >>> np.allclose(odds, joint[:, 1] - joint[:, 0])
    True
    """
    given, alone, log_prior = model.predict_log_conditionals(X, mode)
    with np.errstate(invalid="ignore"):
        log_dd = np.where(np.isneginf(given) & np.isneginf(alone), 0.0, given - alone)
    return DependenceDerivatives(
        model.schema_.names,
        model.classes_.tolist(),
        log_dd,
        np.asarray(log_prior + alone.sum(axis=2)),
        mode,
    )


def plot_dependence_derivatives(
    found: DependenceDerivatives,
    row: int | None = None,
    *,
    positive: Label = None,
    negative: Label = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which columns push naive Bayes off, in one row or on average.

    Bars to the right: the column's dependences speak for the positive class, and naive Bayes
    does not hear them. The title tells how far all of them together move the log odds.

    Parameters
    ----------
    found : DependenceDerivatives
    row : int, default=None
        Which row; None: the mean over all, with the middle half of the rows as a thin line.
    positive, negative : class labels, default=None
        The last class against the first.
    ax : matplotlib axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib axes
    """
    ratios = found.log_ddr(positive, negative)
    if row is not None and not -len(ratios) <= row < len(ratios):
        raise ValueError(f"row={row}; there are {len(ratios)} rows")
    shown = ratios.mean(axis=0) if row is None else ratios[row]
    order = np.argsort(np.abs(shown), kind="stable")
    places = np.arange(len(order))
    ax = new_axes(ax, figsize=(6.4, max(2.4, 0.28 * len(order) + 1)))
    colours = ["C1" if value > 0 else "C0" for value in shown[order]]
    ax.barh(places, shown[order], color=colours)
    if row is None:
        low, high = np.quantile(ratios[:, order], [0.25, 0.75], axis=0)
        ax.hlines(places, low, high, color="0.3", linewidth=1)
    ax.set_yticks(places, [found.names[column] for column in order])
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    above = found.classes[-1] if positive is None else positive
    below = found.classes[0] if negative is None else negative
    ax.set_xlabel(f"neglected log odds of {above!r} against {below!r}")
    ax.set_title(f"naive Bayes' log odds lack {shown.sum():+.3g}")
    return ax
