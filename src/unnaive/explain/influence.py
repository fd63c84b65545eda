"""Importance of features: their information about the class, or their effect on predictions."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._html import html_table
from unnaive.explain.cells import heaviest, target_codes
from unnaive.explain.explanation import explanation_of
from unnaive.explain.shared import documented, signed_bars
from unnaive.information import mutual_information
from unnaive.information.gaussian import gaussian_relevance
from unnaive.io.frames import to_frame
from unnaive.models.base import CountsClassifier
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_parts import shares_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray
    from unnaive.models import Classifier

_BLOCK = 256  # rows whose terms are in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class Importance:
    """Importance of every feature; :func:`importance` returns it.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    values : ndarray of shape (d,)
        Importance of every feature; 0 if the model does not use it.
    unit : str
        What the values measure.

    See Also
    --------
    importance : Computes it.
    plot_importance : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> Importance(("age", "sex"), np.array([0.1, 0.4]), "bits").ranked
    [('sex', 0.4), ('age', 0.1)]
    """

    names: tuple[str, ...]
    values: FloatArray
    unit: str

    def __repr__(self) -> str:
        first = ", ".join(f"{name} {value:.3g}" for name, value in self.ranked[:3])
        more = ", …" if len(self.names) > 3 else ""
        return f"Importance({first}{more}; {self.unit})"

    def _repr_html_(self) -> str:
        """Show the features and values as a table."""
        lines = [(name, f"{value:.3g}") for name, value in self.ranked]
        return html_table("", ("column", self.unit), lines)

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """Features and values, the largest value first."""
        order = np.argsort(-self.values, kind="stable")
        return [(self.names[column], float(self.values[column])) for column in order]


def importance(model: Classifier, X: object = None, y: object = None) -> Importance:
    """Measure how much each feature matters, in the same way for every model.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    X : data frame or array-like of shape (n, d), default=None
        Samples. None: the mutual information I(X_i; C) of each feature with the class in bits,
        from the counts of the model, or of the heaviest member of a blend. With samples: the mean
        absolute contribution of each feature to the log-odds of the last of two classes, or of
        each sample's most probable class; see :meth:`Explanation.log_odds`.
    y : array-like of shape (n,), default=None
        Class labels. With labels: the mean contribution to the log-odds of the true class. A
        feature that misleads more than it helps is below 0.

    Returns
    -------
    Importance
        Names, values and unit.

    See Also
    --------
    plot_importance : Draw the result.
    Explanation : Contributions in single samples.
    ask_next : Expected information of missing features.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X = [["yes", "old"], ["yes", "young"], ["no", "old"], ["no", "young"]] * 5
    >>> y = ["ill", "ill", "well", "well"] * 5
    >>> model = NaiveBayes().fit(X, y)
    >>> importance(model).ranked
    [('x0', 1.0), ('x1', 0.0)]
    >>> importance(model, X, y).values.round(2)
    array([2.4, 0. ])
    """
    names = model.schema_.names
    if X is None:
        if y is not None:
            raise ValueError("y without X; pass the rows, too")
        used = np.isin(np.arange(len(names)), heaviest(model).fitted_.structure.used)
        values = np.where(used, class_information(model), 0.0) / log(2)
        return Importance(names, values, "mutual information with the class (bits)")
    frame = to_frame(X)
    labels = None if y is None else model.classes_[target_codes(model, y, frame.n_rows)].tolist()
    total = np.zeros(len(names))
    for start in range(0, frame.n_rows, _BLOCK):
        stop = min(start + _BLOCK, frame.n_rows)
        explanation = explanation_of(model, model.known_frame(frame.block(start, stop)))
        odds = explanation.log_odds(labels and labels[start:stop])
        total += (np.abs(odds.contributions) if labels is None else odds.contributions).sum(axis=0)
    unit = "mean contribution to the log-odds of the true class"
    if labels is None:
        unit = "mean absolute contribution to the log-odds"
    return Importance(names, total / frame.n_rows, unit)


def class_information(model: Classifier) -> FloatArray:
    """I(X_i; C) of every column in nats; numbers are taken as Gaussian; shape (d,)."""
    model = heaviest(model)
    if isinstance(model, CountsClassifier):
        return mutual_information(model.counts_)
    values = np.zeros(len(model.schema_.names))
    if isinstance(model, GaussianClassifier):
        fitted, moments = model.fitted_, model.moments_
        values[fitted.columns] = gaussian_relevance(
            moments.covariances(), shares_of(moments.class_weights), moments.variances
        )
        if fitted.categories is not None:
            others = np.setdiff1d(np.arange(len(values)), fitted.columns)
            values[others] = mutual_information(fitted.categories.counts_)
    return values


@documented
def plot_importance(found: Importance, most: int = 20, ax: Axes | None = None) -> Axes:
    """Plot the importance of features, the most important on top.

    Parameters
    ----------
    found : Importance
        Result of :func:`importance`.
    most : int, default=20
        Largest number of features to draw.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    importance : Computes the importance.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[:, :8], data.y)
    >>> plot_importance(importance(model)).get_xlabel()
    'mutual information with the class (bits)'
    """
    shown = sorted(found.ranked, key=lambda entry: -abs(entry[1]))[:most]
    ax = signed_bars([name for name, _ in shown], np.array([value for _, value in shown]), ax)
    ax.set_xlabel(found.unit)
    if len(shown) < len(found.names):
        ax.set_title(f"the first {len(shown)} of {len(found.names)} columns", fontsize=10)
    return ax
