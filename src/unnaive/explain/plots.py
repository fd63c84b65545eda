"""Pictures of what models learned; matplotlib is imported when one is drawn."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from unnaive._axes import new_axes
from unnaive.exceptions import UnnaiveError
from unnaive.structure.bags import HiddenParents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from unnaive._typing import AnyArray, BoolArray, FloatArray, Label
    from unnaive.models import PHNB, Classifier, CountsClassifier, GeneralizedNB
    from unnaive.models.ordered import OrderedClassifier

_SCORES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
    "auc_hard": "AUC of labels",
}


def plot_threshold_path(model: PHNB, ax: Axes | None = None) -> Axes:
    """Draw leave-one-out accuracy and log loss of packaged hidden naive Bayes over thresholds.

    Parameters
    ----------
    model : PHNB
        Fitted with ``threshold="loo"``.
    ax : matplotlib axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import PHNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = PHNB(threshold="loo").fit(data.X[:, :8], data.y)
    >>> plot_threshold_path(model).get_xlabel()
    'columns heard, over all bags'
    """
    path, ax = _path_of(model, 'threshold="loo", which tries them all'), new_axes(ax)
    ax.plot(path["members"], path["log_loss"], color="C0", label="log loss")
    bags = model.fitted_.learned.graph(HiddenParents)
    ax.axvline(int(bags.members.sum()), color="0.6", linestyle=":", label="chosen")
    ax.set(xlabel="columns heard, over all bags", ylabel="leave-one-out log loss")
    other = ax.twinx()
    other.plot(path["members"], path["accuracy"], color="C1", label="accuracy")
    other.set_ylabel("leave-one-out accuracy")
    ax.legend(handles=[*ax.get_lines(), *other.get_lines()], loc="center right")
    ax.set_title(f"threshold {bags.threshold:.4g} bits")
    return ax


def plot_score_path(
    model: GeneralizedNB, X: object, y: object, *, positive: Label = None, ax: Axes | None = None
) -> Axes:
    """Draw how good the models of the first 2, 3, … columns are (the paper's figures 7 to 11).

    Parameters
    ----------
    model : GeneralizedNB
        Fitted.
    X, y, ax
        As in :func:`plot_roc`.
    positive : class label, default=None
        As in ``model.score_path``.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import GeneralizedNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = GeneralizedNB(method="greedy").fit(data.X[::2], data.y[::2])
    >>> plot_score_path(model, data.X[1::2], data.y[1::2]).get_xlabel()
    'columns in the model'
    """
    path = model.score_path(X, y, positive)
    ax = new_axes(ax)
    for name, label in _SCORES.items():
        ax.plot(path["n_features"], path[name], label=label, marker=".", markersize=4)
    ax.set(xlabel="columns in the model", ylabel="score")
    ax.legend(loc="lower right")
    return ax


def plot_cumulated_information(model: OrderedClassifier, ax: Axes | None = None) -> Axes:
    """Draw what each column adds and what there is with it, in bits, as the columns enter.

    Parameters
    ----------
    model : GeneralizedNB or CherryTreeNB
        Fitted.
    ax : matplotlib axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import GeneralizedNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = GeneralizedNB(n_features=8).fit(data.X, data.y)
    >>> len(plot_cumulated_information(model).patches)
    8
    """
    order, names = model.feature_order_, model.structure_.names
    added = model.feature_importances_[order] / log(2)
    places = np.arange(len(order))
    ax = new_axes(ax, figsize=(max(6.4, 0.3 * len(order)), 4.8))
    ax.bar(places, added, color="C0", label="added")
    ax.plot(places, np.cumsum(added), color="C1", marker=".", label="cumulated")
    ax.set_xticks(places, [names[column] for column in order], rotation=90)
    ax.set_ylabel("information (bits)")
    ax.legend(loc="upper left")
    return ax


def plot_size_path(model: OrderedClassifier, ax: Axes | None = None) -> Axes:
    """Draw accuracy on the training rows and when each is left out, over the size of clusters.

    Parameters
    ----------
    model : DecomposableNB or CherryTreeNB
        Fitted with ``max_clique="loo"`` or ``order="loo"``.
    ax : matplotlib axes, default=None
        Where to draw; None: a new figure.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import CherryTreeNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = CherryTreeNB(order="loo").fit(data.X[:, :8], data.y)
    >>> plot_size_path(model).get_xlabel()
    'members of a cluster, the class counted'
    """
    size = "order" if "order" in model.get_params(deep=False) else "max_clique"
    path, ax = _path_of(model, f'{size}="loo", which tries several sizes'), new_axes(ax)
    ax.plot(path["size"], path["training_accuracy"], marker="o", label="training rows")
    ax.plot(path["size"], path["accuracy"], marker="o", label="each row left out")
    ax.set_xticks(path["size"])
    ax.set(xlabel="members of a cluster, the class counted", ylabel="accuracy")
    ax.legend()
    return ax


def _path_of(model: CountsClassifier, cure: str) -> Mapping[str, AnyArray]:
    """Return what leave-one-out chose among; raises if it did not."""
    path: Mapping[str, AnyArray] | None = getattr(model, "path_", None)
    if path is None:
        raise UnnaiveError(f"there is no path to draw; fit the model with {cure}")
    return path


def plot_roc(
    model: Classifier, X: object, y: object, *, positive: Label = None, ax: Axes | None = None
) -> Axes:
    """Draw sensitivity against false alarms over all thresholds, and where ``predict`` stands.

    Parameters
    ----------
    model : Classifier
        Fitted.
    X, y
        Rows to score on, best new ones.
    positive : class label, default=None
        The class to find; None: the last one. All others are negative.
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
    >>> model = TAN().fit(data.X[::2], data.y[::2])
    >>> plot_roc(model, data.X[1::2], data.y[1::2]).get_ylabel()
    "sensitivity for 'malignant'"
    """
    scores, actual, label = scored(model, X, y, positive)
    alarms, found, _ = roc_curve(actual, scores)
    chosen = model.predict(X) == label
    ax = new_axes(ax)
    area = float(np.trapezoid(found, alarms))
    ax.plot(alarms, found, label=f"area {area:.3f}")
    ax.plot([0, 1], [0, 1], color="0.7", linestyle=":")
    ax.plot(chosen[~actual].mean(), chosen[actual].mean(), "o", color="C1", label="predict")
    ax.set(xlabel="false alarms among the others", ylabel=f"sensitivity for {label!r}")
    ax.legend(loc="lower right")
    return ax


def plot_precision_recall(
    model: Classifier, X: object, y: object, *, positive: Label = None, ax: Axes | None = None
) -> Axes:
    """Draw precision against sensitivity over all thresholds, and where ``predict`` stands.

    Parameters
    ----------
    model, X, y, positive, ax
        As in :func:`plot_roc`.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[::2], data.y[::2])
    >>> plot_precision_recall(model, data.X[1::2], data.y[1::2]).get_xlabel()
    "sensitivity for 'malignant'"
    """
    scores, actual, label = scored(model, X, y, positive)
    precision, found, _ = precision_recall_curve(actual, scores)
    chosen = model.predict(X) == label
    ax = new_axes(ax)
    ax.step(found, precision, where="post", label="all thresholds")
    ax.axhline(actual.mean(), color="0.7", linestyle=":")
    if chosen.any():
        ax.plot(chosen[actual].mean(), actual[chosen].mean(), "o", color="C1", label="predict")
    ax.set(xlabel=f"sensitivity for {label!r}", ylabel="precision")
    ax.legend(loc="lower left")
    return ax


def scored(
    model: Classifier, X: object, y: object, positive: Label
) -> tuple[FloatArray, BoolArray, Label]:
    """Probability of the positive class, which rows have it, and its label."""
    labels = model.classes_.tolist()
    label = labels[-1] if positive is None else positive
    if label not in labels:
        raise ValueError(f"positive={label!r} is no class; the classes are {labels}")
    actual = np.asarray(y) == label
    if actual.all() or not actual.any():
        raise UnnaiveError(f"all rows are of class {label!r}, or none is: there is no curve")
    return model.predict_proba(X)[:, labels.index(label)], actual, label
