"""How much each attribute matters: to the class by itself, or to a model's answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from unnaive._axes import new_axes
from unnaive.exceptions import UnnaiveError
from unnaive.explain.cells import heaviest
from unnaive.explain.explanation import explanation_of
from unnaive.information import mutual_information
from unnaive.information.gaussian import gaussian_relevance
from unnaive.io.frames import to_column, to_frame
from unnaive.models.base import CountsClassifier
from unnaive.models.gaussian import GaussianClassifier
from unnaive.models.gaussian_parts import shares_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unnaive._typing import FloatArray, Label
    from unnaive.models import Classifier

_BLOCK = 256  # rows whose terms are held at a time


@dataclass(frozen=True, eq=False)
class Importance:
    """How much each column matters.

    Attributes
    ----------
    names : tuple of str
    values : ndarray of shape (d,)
        0 for columns that are not in the model.
    unit : str
        What the values are.
    """

    names: tuple[str, ...]
    values: FloatArray
    unit: str

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """Columns and values, the largest first."""
        order = np.argsort(-self.values, kind="stable")
        return [(self.names[column], float(self.values[column])) for column in order]


def importance(model: Classifier, X: object = None, y: object = None) -> Importance:
    """Tell how much each column matters, in the same way for every model.

    Parameters
    ----------
    model : Classifier
        Fitted.
    X : rows, default=None
        None: the information of each column about the class, I(X_i;C) in bits, from what the
        model, or the heaviest member of a blend, counted. With rows: the mean size of each
        column's contribution to the log-odds of the last of two classes, or of each row's most
        probable one, see :meth:`Explanation.log_odds`.
    y : class labels, default=None
        With labels: the mean contribution to the log-odds of each row's own class. Columns that
        mislead more than they help are below 0.

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
            raise ValueError("y without X; give the rows, too")
        used = np.isin(np.arange(len(names)), heaviest(model).fitted_.structure.used)
        values = np.where(used, class_information(model), 0.0) / log(2)
        return Importance(names, values, "information about the class, bits")
    frame = to_frame(X)
    classes = model.classes_.tolist()
    labels = None if y is None else _labels(y, frame.n_rows, classes)
    total = np.zeros(len(names))
    for start in range(0, frame.n_rows, _BLOCK):
        stop = min(start + _BLOCK, frame.n_rows)
        found = explanation_of(model, model.known_frame(frame.block(start, stop)))
        if labels is None:
            total += np.abs(found.log_odds().contributions).sum(axis=0)
        else:
            total += found.log_odds(labels[start:stop]).contributions.sum(axis=0)
    unit = "mean contribution to the log-odds of the own class"
    if labels is None:
        unit = "mean size of the contribution to the log-odds"
    return Importance(names, total / frame.n_rows, unit)


def _labels(y: object, n_rows: int, classes: list[Label]) -> list[Label]:
    column = to_column(y)
    cells = column.values.tolist()
    labels = cells if column.categories is None else [column.categories[c] for c in cells]
    if len(labels) != n_rows:
        raise ValueError(f"there are {n_rows} rows and {len(labels)} labels")
    strange = [label for label in labels if label not in classes]
    if strange:
        raise UnnaiveError(f"y has {strange[0]!r}, which is no class; they are {classes}")
    return labels


def class_information(model: Classifier) -> FloatArray:
    """I(X_i;C) of every column in nats; of numbers, as if they were Gaussian; shape (d,)."""
    model = heaviest(model)
    if isinstance(model, CountsClassifier):
        return mutual_information(model.counts_)
    values = np.zeros(len(model.schema_.names))
    if isinstance(model, GaussianClassifier):
        fitted, moments = model.fitted_, model.moments_
        own = (moments.covariances(), shares_of(moments.class_weights), moments.variances)
        values[fitted.columns] = gaussian_relevance(*own)
        if fitted.categories is not None:
            others = np.setdiff1d(np.arange(len(values)), fitted.columns)
            values[others] = mutual_information(fitted.categories.counts_)
    return values


def plot_importance(found: Importance, most: int = 20, ax: Axes | None = None) -> Axes:
    """Draw how much each column matters, the most important on top.

    Parameters
    ----------
    found : Importance
        What :func:`importance` found.
    most : int, default=20
        Columns to draw.
    ax : matplotlib axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[:, :8], data.y)
    >>> plot_importance(importance(model)).get_xlabel()
    'information about the class, bits'
    """
    shown = sorted(found.ranked, key=lambda entry: -abs(entry[1]))[:most]
    ax = new_axes(ax, figsize=(6.4, max(2.0, 0.28 * len(shown) + 1)))
    places = np.arange(len(shown))
    colours = ["C1" if value >= 0 else "C0" for _, value in shown]
    ax.barh(places, [value for _, value in shown], color=colours)
    ax.set_yticks(places, [name.replace("$", r"\$") for name, _ in shown])
    ax.invert_yaxis()
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set_xlabel(found.unit)
    left_out = len(found.names) - len(shown)
    if left_out:
        ax.set_title(f"the first {len(shown)} of {len(found.names)} columns", fontsize=10)
    return ax
