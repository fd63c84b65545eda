"""Metrics of predicted probabilities: accuracy, log loss, Brier score, AUC and others.

Ratios are computed from the confusion matrix, with 0/0 = 0. A metric that is not defined, such
as the AUC of samples of a single class, is NaN. The metrics agree with scikit-learn where it
defines them, and the tests compare the two. scikit-learn's functions are not called, since they
warn about or refuse a single class, folds without one of the classes, and sample weights in the
AUC over pairs of classes.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray
    from unnaive.schema.columns import Label

SMALLEST = float(np.finfo(np.float64).eps)  # log loss takes smaller probabilities as this one


@dataclass(frozen=True, eq=False)
class Metrics:
    r"""Metrics of a set of predictions, as returned by :func:`measure`.

    Arrays have one entry per class, in the order of ``classes``.

    Parameters
    ----------
    classes : tuple
        The k class labels.
    confusion : ndarray of shape (k, k)
        Number (or total weight) of samples by actual class (first axis) and predicted class.
    accuracy : float
        Share of samples whose most probable class is the true one.
    balanced_accuracy : float
        Mean recall over the classes.
    log_loss : float
        Mean of :math:`-\log P(\text{true class})`, with probabilities of at least 2.2e-16.
    brier : float
        Mean over the samples of :math:`\sum_c (P(c) - [c = \text{true class}])^2`.
    auc : float
        Area under the ROC curve; ties count ½. With two classes the last one is the positive
        class. With more it is the mean of one class against the rest. Classes without samples
        are left out.
    auc_hand_till : float
        The same for two classes. With more it is the mean over all pairs of classes.
    auc_hard : float
        AUC of the predicted labels instead of the probabilities, which some papers report: the
        mean of recall and specificity over the classes that have samples.
    f1 : float
        F1 score of the last class if there are two, else the mean over the classes.
    precision : ndarray of shape (k,)
        Precision of each class against the rest.
    recall : ndarray of shape (k,)
        Recall (sensitivity) of each class against the rest.
    specificity : ndarray of shape (k,)
        Specificity of each class against the rest.
    f1_by_class : ndarray of shape (k,)
        F1 score of each class against the rest.

    See Also
    --------
    measure : Compute the metrics from predicted probabilities.

    References
    ----------
    Hand & Till, "A simple generalisation of the area under the ROC curve for multiple class
    classification problems", Machine Learning 45, 2001, eq. 7.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.evaluate import measure
    >>> metrics = measure(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), ["no", "yes"])
    >>> round(metrics.scores()["brier"], 6)
    0.05
    """

    classes: tuple[Label, ...]
    confusion: AnyArray
    accuracy: float
    balanced_accuracy: float
    log_loss: float
    brier: float
    auc: float
    auc_hand_till: float
    auc_hard: float
    f1: float
    precision: FloatArray
    recall: FloatArray
    specificity: FloatArray
    f1_by_class: FloatArray

    def scores(self) -> dict[str, float]:
        """Return the metrics that are a single number.

        Returns
        -------
        dict of str to float
            Accuracy, balanced accuracy, log loss, Brier score, the AUCs and F1, by name.
        """
        return {name: float(getattr(self, name)) for name in SCORES}


SCORES = tuple(field.name for field in fields(Metrics) if field.type == "float")


def measure(
    probabilities: FloatArray,
    actual: IntArray,
    classes: Sequence[Label],
    weights: FloatArray | None = None,
) -> Metrics:
    """Compute the metrics of predicted probabilities.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Posterior probabilities P(c | x); each row sums to 1.
    actual : ndarray of shape (n,)
        Codes 0 … k−1 of the true classes.
    classes : sequence of length k
        Class labels; of two classes, the last is the positive one.
    weights : ndarray of shape (n,), default=None
        Sample weights.

    Returns
    -------
    Metrics
        All metrics at once.

    Raises
    ------
    ValueError
        If the shapes do not agree or there are no samples.

    See Also
    --------
    Metrics : The metrics, with their definitions.
    predicted_codes : The predicted class of every sample.

    References
    ----------
    Hand & Till, "A simple generalisation of the area under the ROC curve for multiple class
    classification problems", Machine Learning 45, 2001, eq. 7.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.evaluate import measure
    >>> posterior = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> metrics = measure(posterior, np.array([0, 0, 1, 1]), ["well", "ill"])
    >>> metrics.confusion.tolist(), metrics.accuracy, metrics.auc
    ([[1, 1], [0, 2]], 0.75, 1.0)
    """
    k = len(classes)
    if probabilities.shape != (len(actual), k) or not len(actual):
        raise ValueError(
            f"probabilities have shape {probabilities.shape}; {len(actual)} rows and {k} classes "
            f"need ({len(actual)}, {k}), and at least one row"
        )
    cells = actual * k + predicted_codes(probabilities)
    confusion = np.bincount(cells, weights, minlength=k * k).reshape(k, k)
    precision, recall, specificity, f1 = _one_against_rest(confusion)
    truth = probabilities[np.arange(len(actual)), actual]
    errors = ((probabilities - np.eye(k)[actual]) ** 2).sum(axis=1)
    one_against_rest, hand_till = _areas(probabilities, actual, weights)
    return Metrics(
        classes=tuple(classes),
        confusion=confusion,
        accuracy=float(np.trace(confusion) / confusion.sum()),
        balanced_accuracy=float(recall.mean()),
        log_loss=float(np.average(-np.log(np.maximum(truth, SMALLEST)), weights=weights)),
        brier=float(np.average(errors, weights=weights)),
        auc=one_against_rest,
        auc_hand_till=hand_till,
        auc_hard=_area_of_labels(confusion, recall, specificity),
        f1=float(f1[-1] if k == 2 else f1.mean()),
        precision=precision,
        recall=recall,
        specificity=specificity,
        f1_by_class=f1,
    )


def measure_path(
    path: Iterable[FloatArray],
    actual: IntArray,
    classes: Sequence[Label],
    positive: Label | None = None,
) -> Iterator[dict[str, float]]:
    """Yield the metrics of several predictions of the same samples, for the figures of papers.

    Each dictionary has accuracy, precision, recall, f1, auc and auc_hard. Precision, recall and
    f1 are those of the ``positive`` class. By default this is the last of two classes; with
    more, it is the mean over the classes.
    """
    if positive is not None and positive not in classes:
        raise ValueError(f"positive={positive!r} is not one of the classes {list(classes)}")
    chosen: list[int] | slice = slice(None) if len(classes) != 2 else [1]
    if positive is not None:
        chosen = [list(classes).index(positive)]
    for probabilities in path:
        metrics = measure(probabilities, actual, classes)
        yield {
            "accuracy": metrics.accuracy,
            "precision": float(metrics.precision[chosen].mean()),
            "recall": float(metrics.recall[chosen].mean()),
            "f1": float(metrics.f1_by_class[chosen].mean()),
            "auc": metrics.auc,
            "auc_hard": metrics.auc_hard,
        }


def _area_of_labels(confusion: AnyArray, recall: FloatArray, specificity: FloatArray) -> float:
    """AUC of predicted labels, whose ROC curve has a single corner; NaN for one class."""
    present = confusion.sum(axis=1) > 0
    return float((recall + specificity)[present].mean() / 2) if present.sum() > 1 else np.nan


def predicted_codes(probabilities: FloatArray) -> IntArray:
    """Return the code of the most probable class of every sample.

    Ties go to the first class, as in the ``predict`` method of all models.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        Posterior probabilities.

    Returns
    -------
    ndarray of shape (n,)
        Codes 0 … k−1.

    See Also
    --------
    measure : Compute the metrics of the probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.evaluate import predicted_codes
    >>> predicted_codes(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array([1, 0])
    """
    best = probabilities.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(probabilities >= best * (1 - TIE_TOLERANCE), axis=1))


def _one_against_rest(confusion: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Precision, recall, specificity and F1 of every class against the rest; shapes (k,)."""
    right = np.diag(confusion).astype(float)
    actual, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    others = confusion.sum() - actual
    return (
        _ratio(right, predicted),
        _ratio(right, actual),
        _ratio(others - (predicted - right), others),
        _ratio(2 * right, actual + predicted),
    )


def _ratio(share: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide, with 0/0 = 0."""
    return np.divide(share, whole, out=np.zeros(len(share)), where=whole > 0)


def _areas(
    probabilities: FloatArray, actual: IntArray, weights: FloatArray | None
) -> tuple[float, float]:
    """One-against-rest AUC and Hand–Till AUC; with two classes both are that of the last one."""
    weights = np.ones(len(actual)) if weights is None else weights
    present = np.flatnonzero(np.bincount(actual, weights, minlength=probabilities.shape[1]))
    if len(present) < 2:
        return np.nan, np.nan
    if probabilities.shape[1] == 2:
        area = _area(probabilities[:, 1], actual == 1, weights)
        return area, area
    rest = [_area(probabilities[:, c], actual == c, weights) for c in present]
    pairs = []
    for a, b in combinations(present, 2):
        rows = (actual == a) | (actual == b)
        pairs += [_area(probabilities[rows, c], actual[rows] == c, weights[rows]) for c in (a, b)]
    return float(np.mean(rest)), float(np.mean(pairs))


def _area(scores: FloatArray, positive: BoolArray, weights: FloatArray) -> float:
    """Share of (positive, negative) pairs of samples in the right order; ties count ½."""
    _, rank = np.unique(scores, return_inverse=True)
    high = np.bincount(rank, weights * positive)
    low = np.bincount(rank, weights * ~positive)
    return float(high @ (np.cumsum(low) - low / 2) / (high.sum() * low.sum()))
