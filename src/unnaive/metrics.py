"""Metrics of predicted probabilities: one function in, one plain value out.

All ratios come from the confusion matrix, and 0/0 is 0 in every one of them. What has no
value at all, the AUC of rows of a single class, is NaN. These are scikit-learn's metrics
where it defines them; its functions are not called, for they warn of or refuse a single
class, folds that lack a class, and weights for the AUC of pairs. The tests compare.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray
    from unnaive.schema.columns import Label

SMALLEST = float(np.finfo(np.float64).eps)  # probabilities below are taken as this in log loss


@dataclass(frozen=True, eq=False)
class Metrics:
    """What :func:`measure` found; arrays have one entry a class, in the order of ``classes``.

    Attributes
    ----------
    classes : tuple
        Class labels.
    confusion : array of shape (k, k)
        Rows (or weights) by actual class, then predicted class.
    accuracy, balanced_accuracy : float
        Share of right predictions; mean recall of all classes.
    log_loss, brier : float
        Mean −log P(true class), where no P counts as less than 2.2e-16; mean squared error
        summed over the classes.
    auc, auc_hand_till : float
        Area under the ROC curve, ties ½. Of two classes both are that of the last class
        against the first. Of more: the mean over classes of one against the rest, and the
        mean over pairs of classes (Hand & Till 2001). Classes without rows are left out.
    auc_hard : float
        What some papers call AUC: that of the predicted labels, not of the probabilities; the
        mean of recall and specificity over the classes that have rows.
    f1 : float
        Of the last class if there are two, else the mean over all classes.
    precision, recall, specificity, f1_by_class : array of shape (k,)
        One class against the rest.
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
        """Return the metrics that are one number, by name."""
        return {name: float(getattr(self, name)) for name in SCORES}


SCORES = tuple(field.name for field in fields(Metrics) if field.type == "float")


def measure(
    probabilities: FloatArray,
    actual: IntArray,
    classes: Sequence[Label],
    weights: FloatArray | None = None,
) -> Metrics:
    """Compare predicted probabilities with the truth.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        P(c | x), a row sums to 1.
    actual : array of shape (n,)
        Codes 0 … k−1 of the true classes.
    classes : sequence of length k
        Class labels; of two, the last is the positive one.
    weights : array of shape (n,), default=None
        Weights of the rows.

    References
    ----------
    Hand & Till, "A simple generalisation of the area under the ROC curve for multiple class
    classification problems", Machine Learning 45, 2001, eq. 7.

    Examples
    --------
    >>> import numpy as np
    >>> from unnaive.evaluate import measure
    >>> chances = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]])
    >>> found = measure(chances, np.array([0, 0, 1, 1]), ["well", "ill"])
    >>> found.confusion.tolist(), found.accuracy, found.auc
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
    """Measure one prediction after the other, as the figures of papers do.

    Yields accuracy, precision, recall, f1, auc and auc_hard; precision, recall and f1 are those
    of the ``positive`` class, by default the last of two, or the mean over more.
    """
    if positive is not None and positive not in classes:
        raise ValueError(f"positive={positive!r} is no class; the classes are {list(classes)}")
    place = len(classes) - 1 if positive is None else list(classes).index(positive)
    chosen = slice(None) if positive is None and len(classes) != 2 else slice(place, place + 1)
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
    """Area under the ROC curve of labels, whose curve has one corner; NaN for one class."""
    present = confusion.sum(axis=1) > 0
    return float((recall + specificity)[present].mean() / 2) if present.sum() > 1 else np.nan


def predicted_codes(probabilities: FloatArray) -> IntArray:
    """Code of the most probable class, the first of those that tie, as models do; shape (n,)."""
    best = probabilities.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(probabilities >= best * (1 - TIE_TOLERANCE), axis=1))


def _one_against_rest(confusion: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Precision, recall, specificity and F1 of every class; each of shape (k,)."""
    right = np.diag(confusion).astype(float)
    actual, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    others = confusion.sum() - actual
    return (
        _ratio(right, predicted),
        _ratio(right, actual),
        _ratio(others - (predicted - right), others),
        _ratio(2 * right, actual + predicted),
    )


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide, with 0/0 = 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _areas(
    probabilities: FloatArray, actual: IntArray, weights: FloatArray | None
) -> tuple[float, float]:
    """One-against-rest and Hand–Till AUC; of two classes both are the last one's."""
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
        part, chances, w = actual[rows], probabilities[rows], weights[rows]
        pairs += [_area(chances[:, a], part == a, w), _area(chances[:, b], part == b, w)]
    return float(np.mean(rest)), float(np.mean(pairs))


def _area(scores: FloatArray, positive: BoolArray, weights: FloatArray) -> float:
    """Share of (positive, negative) pairs of rows that are in the right order, ties ½."""
    _, place = np.unique(scores, return_inverse=True)
    high = np.bincount(place, weights * positive)
    low = np.bincount(place, weights * ~positive)
    return float(high @ (np.cumsum(low) - low / 2) / (high.sum() * low.sum()))
