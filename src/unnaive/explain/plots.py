"""Plots of what models learned; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from unnaive._axes import new_axes
from unnaive.exceptions import UnnaiveError
from unnaive.explain.shared import LINE, MARK, documented, verbatim
from unnaive.structure.parents import HiddenParents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from unnaive._typing import AnyArray, BoolArray, FloatArray, Label
    from unnaive.models import PHNB, Classifier, CountsClassifier, GeneralizedNB, WeightedBayes
    from unnaive.models.ordered import OrderedClassifier

_SCORES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
    "auc_hard": "AUC of predicted labels",
}


@documented
def plot_threshold_path(model: PHNB, ax: Axes | None = None) -> Axes:
    """Plot leave-one-out log loss and accuracy of PHNB for all thresholds.

    The horizontal axis counts the parents of all features together: the higher the threshold, the
    fewer features are informative enough to be parents.

    Parameters
    ----------
    model : PHNB
        Fitted with ``threshold="loo"``.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_size_path : The same for the size of cliques.
    plot_score_path : Scores for the number of features.

    Examples
    --------
    >>> from unnaive import PHNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = PHNB(threshold="loo").fit(data.X[:, :8], data.y)
    >>> plot_threshold_path(model).get_xlabel()
    'number of parents, summed over all columns'
    """
    path, ax = _path_of(model, 'threshold="loo"'), new_axes(ax)
    ax.plot(path["members"], path["log_loss"], color=LINE, label="log loss")
    bags = model.fitted_.learned.graph(HiddenParents)
    ax.axvline(int(bags.members.sum()), color="0.6", linestyle=":", label="chosen threshold")
    ax.set_xlabel("number of parents, summed over all columns")
    ax.set_ylabel("leave-one-out log loss (nats)")
    other = ax.twinx()
    other.plot(path["members"], path["accuracy"], color=MARK, label="accuracy")
    other.set_ylabel("leave-one-out accuracy")
    ax.legend(handles=[*ax.get_lines(), *other.get_lines()], loc="center right")
    ax.set_title(f"chosen threshold: {bags.threshold:.4g} bits")
    return ax


@documented
def plot_score_path(
    model: GeneralizedNB, X: object, y: object, *, positive: Label = None, ax: Axes | None = None
) -> Axes:
    """Plot the scores of the models with the first 2, 3, … features.

    Parameters
    ----------
    model : GeneralizedNB
        A fitted model.
    {X}
    {y}
    {positive}
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    GeneralizedNB.score_path : Computes the scores.
    plot_cumulated_information : Information that each feature adds.

    Examples
    --------
    >>> from unnaive import GeneralizedNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = GeneralizedNB(method="greedy").fit(data.X[::2], data.y[::2])
    >>> plot_score_path(model, data.X[1::2], data.y[1::2]).get_xlabel()
    'number of columns in the model'
    """
    path, ax = model.score_path(X, y, positive), new_axes(ax)
    for name, label in _SCORES.items():
        ax.plot(path["n_features"], path[name], label=label, marker=".", markersize=4)
    ax.set(xlabel="number of columns in the model", ylabel="score")
    ax.legend(loc="lower right")
    return ax


@documented
def plot_cumulated_information(model: OrderedClassifier, ax: Axes | None = None) -> Axes:
    """Plot the information in bits that each feature adds, and its running sum.

    Features stand in the order in which the model includes them.

    Parameters
    ----------
    model : GeneralizedNB or CherryTreeNB
        A fitted model.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    importance : Importance of features in any model.
    plot_score_path : Scores for the number of features.

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
    ax.bar(places, added, color=LINE, label="added by the column")
    ax.plot(places, np.cumsum(added), color=MARK, marker=".", label="sum so far")
    ax.set_xticks(places, [verbatim(names[column]) for column in order], rotation=90)
    ax.set_ylabel("information (bits)")
    ax.legend(loc="upper left")
    return ax


@documented
def plot_size_path(model: OrderedClassifier, ax: Axes | None = None) -> Axes:
    """Plot training and leave-one-out accuracy for the size of cliques.

    A growing distance between the two lines is overfitting.

    Parameters
    ----------
    model : DecomposableNB or CherryTreeNB
        Fitted with ``max_clique="loo"`` or ``order="loo"``.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_threshold_path : The same for the threshold of PHNB.

    Examples
    --------
    >>> from unnaive import CherryTreeNB
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = CherryTreeNB(order="loo").fit(data.X[:, :8], data.y)
    >>> plot_size_path(model).get_xlabel()
    'clique size, including the class'
    """
    size = "order" if "order" in model.get_params(deep=False) else "max_clique"
    path, ax = _path_of(model, f'{size}="loo"'), new_axes(ax)
    lines = {"training_accuracy": ("training rows", MARK), "accuracy": ("leave-one-out", LINE)}
    for name, (label, colour) in lines.items():
        ax.plot(path["size"], path[name], color=colour, marker="o", label=label)
    ax.set_xticks(path["size"])
    ax.set(xlabel="clique size, including the class", ylabel="accuracy")
    ax.legend()
    return ax


@documented
def plot_term_path(model: WeightedBayes, ax: Axes | None = None) -> Axes:
    """Plot what it costs to read fewer terms: held-out log loss for the number of terms.

    The terms were chosen by all samples, so that the losses are a little optimistic.

    Parameters
    ----------
    model : WeightedBayes
        Fitted with ``max_terms``; with ``max_terms=1`` the path goes to the end.
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_size_path : The same for the size of cliques.

    Examples
    --------
    >>> from unnaive import WeightedBayes
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = WeightedBayes(dependences="none", max_terms=1).fit(data.X[:, :8], data.y)
    >>> plot_term_path(model).get_xlabel()
    'terms of the model'
    """
    path, ax = _path_of(model, "max_terms=1"), new_axes(ax)
    ax.plot(path["terms"], path["log_loss"], color=LINE, marker=".")
    ax.set(xlabel="terms of the model", ylabel="held-out log loss")
    ax.set_ylim(bottom=0)
    return ax


def _path_of(model: CountsClassifier, setting: str) -> Mapping[str, AnyArray]:
    """Return the candidates of a choice by leave-one-out, or raise an error if there was none."""
    path: Mapping[str, AnyArray] | None = getattr(model, "path_", None)
    if path is None:
        raise UnnaiveError(f"there is no path to plot; fit the model with {setting}")
    return path


@documented
def plot_roc(
    model: Classifier, X: object, y: object, *, positive: Label = None, ax: Axes | None = None
) -> Axes:
    """Plot the ROC curve, and mark the decisions of ``predict``.

    The curve has the true positive rate (sensitivity) and the false positive rate of every
    threshold of the probability. An area of 0.5 is that of random guesses.

    Parameters
    ----------
    {model}
    {X}
    {y}
    {positive}
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_precision_recall : More informative where the positive class is rare.
    plot_reliability : Whether the probabilities are right.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[::2], data.y[::2])
    >>> plot_roc(model, data.X[1::2], data.y[1::2]).get_ylabel()
    "true positive rate (sensitivity for 'malignant')"
    """
    scores, actual, label = scored(model, X, y, positive)
    false_positive, true_positive, _ = roc_curve(actual, scores)
    chosen, ax = model.predict(X) == label, new_axes(ax)
    area = float(np.trapezoid(true_positive, false_positive))
    ax.plot(false_positive, true_positive, color=LINE, label=f"area {area:.3f}")
    ax.plot([0, 1], [0, 1], color="0.7", linestyle=":", label="random guesses")
    ax.set(xlabel="false positive rate", ylabel=f"true positive rate (sensitivity for {label!r})")
    ax.set_title("ROC curve", fontsize=10)
    return _decided(ax, chosen[~actual].mean(), chosen[actual].mean(), "lower right")


@documented
def plot_precision_recall(
    model: Classifier, X: object, y: object, *, positive: Label = None, ax: Axes | None = None
) -> Axes:
    """Plot precision against recall, and mark the decisions of ``predict``.

    The dotted line is the share of the positive class, the precision of random guesses.

    Parameters
    ----------
    {model}
    {X}
    {y}
    {positive}
    {ax}

    Returns
    -------
    {axes}

    See Also
    --------
    plot_roc : The same decisions by true and false positive rate.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[::2], data.y[::2])
    >>> plot_precision_recall(model, data.X[1::2], data.y[1::2]).get_xlabel()
    "recall (sensitivity for 'malignant')"
    """
    scores, actual, label = scored(model, X, y, positive)
    precision, recall, _ = precision_recall_curve(actual, scores)
    chosen, ax = model.predict(X) == label, new_axes(ax)
    ax.step(recall, precision, where="post", color=LINE, label="model")
    ax.axhline(actual.mean(), color="0.7", linestyle=":", label="random guesses")
    ax.set(xlabel=f"recall (sensitivity for {label!r})", ylabel="precision", ylim=(-0.02, 1.05))
    ax.set_title("precision and recall of all thresholds", fontsize=10)
    right = actual[chosen].mean() if chosen.any() else None
    return _decided(ax, chosen[actual].mean(), right, "lower left")


def _decided(
    ax: Axes, x: float, y: float | None, corner: Literal["lower left", "lower right"]
) -> Axes:
    """Mark the decisions of ``predict``, unless they have no point, and add the legend."""
    if y is not None:
        ax.plot(x, y, "o", color=MARK, label="predict")
    ax.legend(loc=corner)
    return ax


def scored(
    model: Classifier, X: object, y: object, positive: Label
) -> tuple[FloatArray, BoolArray, Label]:
    """Return the probability of the positive class, which rows have it, and its label."""
    labels = model.classes_.tolist()
    label = labels[-1] if positive is None else positive
    if label not in labels:
        raise ValueError(f"positive={label!r} is not a class; the classes are {labels}")
    actual = np.asarray(y) == label
    if actual.all() or not actual.any():
        raise UnnaiveError(f"all rows are of class {label!r}, or none is: there is no curve")
    return model.predict_proba(X)[:, labels.index(label)], actual, label
