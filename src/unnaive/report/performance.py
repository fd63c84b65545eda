"""Performance of the model on rows that it did not learn from, with 95 % intervals.

Rows are taken as independent. The intervals are those of the pooled rows of all folds; they do
not include the variation between training sets.

References
----------
Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
American Statistical Association 22, 1927. DeLong, DeLong & Clarke-Pearson, "Comparing the areas
under two or more correlated receiver operating characteristic curves", Biometrics 44, 1988.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import roc_curve

from unnaive.evaluate import cross_validate, predicted_codes
from unnaive.evaluate.crossvalidate import possible_folds
from unnaive.exceptions import UnnaiveError
from unnaive.explain.plots_quality import Z, binned
from unnaive.explain.plots_quality import wilson as interval_of_shares
from unnaive.metrics import SMALLEST, measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import BoolArray, FloatArray, IntArray, State
    from unnaive.models import Classifier
    from unnaive.report.rows import ReportRows

_CALIBRATION_BINS = 10
_CURVE_POINTS = 120
_PAIRS_SHOWN = 15


class Judged(NamedTuple):
    """Probabilities of rows by models that did not learn from them, and the decisions."""

    probabilities: FloatArray
    predicted: IntArray
    protocol: State


def judge(
    model: Classifier,
    rows: ReportRows,
    folds: int | None,
    *,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> Judged:
    """Cross-validate the model, or apply it to new rows."""
    if folds is None:
        chances = model.predict_proba(rows.frame)
        protocol: State = {"kind": "new rows", "description": "rows new to the model"}
    else:
        if np.bincount(rows.codes).max() < 2:
            raise UnnaiveError("every class has a single row; cross-validation needs at least two")
        folds = possible_folds(rows.codes, folds)
        run = cross_validate(
            *(model, rows.frame, rows.target),
            folds=folds,
            random_state=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
        labels = list(model.schema_.classes)
        chances = np.zeros((rows.frame.n_rows, len(labels)))
        chances[:, [labels.index(label) for label in run.classes]] = run.probabilities[0]
        protocol = {
            "kind": "cross-validation",
            "description": f"{folds}-fold cross-validation",
            "folds": folds,
            "seed": seed,
            "fit_seconds": float(np.median(run.fit_seconds)),
        }
    if not np.isfinite(chances).all():
        failed = int((~np.isfinite(chances)).any(axis=1).sum())
        raise UnnaiveError(
            f"the probabilities of {failed:,} rows are not finite; the cause may be numbers near "
            "the largest float: rescale the columns"
        )
    bias = model.bias_of(model.classes_.tolist())  # predict adds it before it decides
    decided = chances if bias is None else chances + bias - bias.min()
    return Judged(chances, predicted_codes(decided), protocol)


def describe_performance(judged: Judged, rows: ReportRows, positive: int) -> State:
    """Measure probabilities and decisions, in plain values."""
    k = len(rows.labels)
    confusion = np.bincount(rows.codes * k + judged.predicted, minlength=k * k).reshape(k, k)
    found: State = {
        "protocol": judged.protocol,
        "rows": len(rows.codes),
        "scores": _scores(judged, rows, confusion),
        "classes": _by_class(confusion, rows.labels),
        "confusion": confusion.tolist(),
        "confused": _most_confused(confusion, rows.labels),
        "calibration": _calibration(judged, rows, positive),
        "roc": None,
        "thresholds": None,
    }
    if k == 2 and (confusion.sum(axis=1) > 0).all():
        found["roc"] = _roc(judged, rows, positive)
        found["thresholds"] = _thresholds(judged, rows, positive)
    return found


def _scores(judged: Judged, rows: ReportRows, confusion: IntArray) -> list[State]:
    """List accuracy, log loss, Brier score and AUC with intervals and what class shares reach."""
    n, actual, chances = len(rows.codes), rows.codes, judged.probabilities
    shares = np.bincount(actual, minlength=len(rows.labels)) / n
    truth = chances[np.arange(n), actual]
    squares = ((chances - np.eye(len(rows.labels))[actual]) ** 2).sum(axis=1)
    observed = shares[shares > 0]
    right = int(np.trace(confusion))
    pooled = measure(chances, actual, rows.labels)
    logs = mean_interval(-np.log(np.maximum(truth, SMALLEST)))
    return [
        _score("accuracy", right / n, wilson(right, n), float(shares.max())),
        _score("log_loss", pooled.log_loss, logs, -float((observed * np.log(observed)).sum())),
        _score("brier", pooled.brier, mean_interval(squares), float(1 - (shares**2).sum())),
        _score("auc", pooled.auc, auc_interval(chances, actual), 0.5),
    ]


def _score(name: str, value: float, interval: tuple[float, float] | None, baseline: float) -> State:
    if np.isnan(value):
        return {"name": name, "value": None, "interval": None, "baseline": None}
    ends = None if interval is None else list(interval)
    return {"name": name, "value": float(value), "interval": ends, "baseline": baseline}


def wilson(count: float, n: float) -> tuple[float, float] | None:
    r"""Compute Wilson's interval of a share; None without rows.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Examples
    --------
    >>> [round(end, 4) for end in wilson(9, 10)]
    [0.5958, 0.9821]
    """
    if n <= 0:
        return None
    low, high = interval_of_shares(np.array(count / n), np.array(n))
    return float(low), float(high)


def mean_interval(losses: FloatArray) -> tuple[float, float] | None:
    """Interval of a mean of losses, which are at least 0; None for a single row."""
    if len(losses) < 2:
        return None
    half = Z * float(np.std(losses, ddof=1)) / sqrt(len(losses))
    return max(float(losses.mean()) - half, 0.0), float(losses.mean()) + half


def auc_interval(chances: FloatArray, actual: IntArray) -> tuple[float, float] | None:
    r"""Compute DeLong's interval of the area under the ROC curve, on the scale of its logit.

    With more than two classes it is the interval of the mean over classes, one against the rest:
    the influences of a row on all areas are averaged before their variance is taken. None where
    the area has no variance: a single class, or perfectly separated classes.

    .. math:: \operatorname{var} \hat A = \sum_{i \in +} \frac{(V_i - \hat A)^2}{m^2}
              + \sum_{j \in -} \frac{(V_j - \hat A)^2}{n^2}

    where :math:`V_i` is the share of negative rows below positive row i, ties ½, and
    :math:`V_j` the share of positive rows above negative row j.
    """
    k = chances.shape[1]
    present = np.flatnonzero(np.bincount(actual, minlength=k))
    if len(present) < 2:
        return None
    ones = [1] if k == 2 else present.tolist()
    areas, influences = zip(*(_area(chances[:, one], actual == one) for one in ones), strict=True)
    area, spread = float(np.mean(areas)), sqrt(float((np.mean(influences, axis=0) ** 2).sum()))
    if not (0 < area < 1 and spread > 0):
        return None
    centre, half = logit(area), Z * spread / (area * (1 - area))
    return float(expit(centre - half)), float(expit(centre + half))


def _area(scores: FloatArray, positive: BoolArray) -> tuple[float, FloatArray]:
    """Area under the ROC curve, and the influence of every row on it; shape (n,)."""
    _, place = np.unique(scores, return_inverse=True)
    high, low = np.bincount(place, positive), np.bincount(place, ~positive)
    m, n = high.sum(), low.sum()
    below = (np.cumsum(low) - low / 2) / n
    above = 1 - (np.cumsum(high) - high / 2) / m
    area = float(high @ below / m)
    return area, np.where(positive, (below[place] - area) / m, (above[place] - area) / n)


def _by_class(confusion: IntArray, labels: tuple[str, ...]) -> list[State]:
    """Recall and precision of every class with their intervals."""
    right, rows, predicted = confusion.diagonal(), confusion.sum(axis=1), confusion.sum(axis=0)
    return [
        {
            "label": label,
            "rows": int(rows[code]),
            "predicted": int(predicted[code]),
            "recall": float(right[code] / rows[code]) if rows[code] else None,
            "recall_interval": wilson(right[code], rows[code]),
            "precision": float(right[code] / predicted[code]) if predicted[code] else None,
            "precision_interval": wilson(right[code], predicted[code]),
        }
        for code, label in enumerate(labels)
    ]


def _most_confused(confusion: IntArray, labels: tuple[str, ...]) -> list[State]:
    """Pairs of classes that are confused most often, for matrices too wide to read."""
    wrong = confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:_PAIRS_SHOWN]
    places = [divmod(int(cell), len(labels)) for cell in order if wrong.flat[cell] > 0]
    return [
        {
            "actual": labels[actual],
            "predicted": labels[predicted],
            "rows": int(wrong[actual, predicted]),
            "share": float(wrong[actual, predicted] / confusion[actual].sum()),
        }
        for actual, predicted in places
    ]


def _calibration(judged: Judged, rows: ReportRows, positive: int) -> State:
    """Compare predicted probabilities with observed frequencies in ten bins of probability.

    With two classes it is the probability of the positive one, with more that of the predicted
    class.
    """
    two = len(rows.labels) == 2
    classes = np.full(len(rows.codes), positive) if two else judged.predicted
    chance = judged.probabilities[np.arange(len(classes)), classes]
    true = rows.codes == classes
    predicted, observed, counts = binned(chance, true, _CALIBRATION_BINS)
    bins = [
        {
            "low": place / _CALIBRATION_BINS,
            "high": (place + 1) / _CALIBRATION_BINS,
            "rows": count,
            "predicted": float(predicted[place]) if count else None,
            "observed": float(observed[place]) if count else None,
            "interval": wilson(observed[place] * count, count),
        }
        for place, count in enumerate(counts.tolist())
    ]
    return {
        "of": rows.labels[positive] if two else None,
        "bins": bins,
        "error": float(np.nansum(np.abs(predicted - observed) * counts) / len(true)),
        "predicted": float(chance.mean()),
        "observed": float(true.mean()),
    }


def _roc(judged: Judged, rows: ReportRows, positive: int) -> State:
    """List false and true positive rates of all thresholds, thinned to what can be drawn."""
    actual, chosen = rows.codes == positive, judged.predicted == positive
    points = np.transpose(roc_curve(actual, judged.probabilities[:, positive])[:2])
    wanted = np.linspace(0, 2, _CURVE_POINTS) - 1e-12
    kept = np.unique([*np.searchsorted(points.sum(axis=1), wanted), 0, len(points) - 1])
    return {
        "positive": rows.labels[positive],
        "points": points[kept[kept < len(points)]].tolist(),
        "decision": [float(chosen[~actual].mean()), float(chosen[actual].mean())],
    }


def _thresholds(judged: Judged, rows: ReportRows, positive: int) -> State:
    """Count true and false positives for thresholds of 0, 1, …, 100 % on the probability."""
    actual = rows.codes == positive
    steps = np.floor(np.clip(judged.probabilities[:, positive], 0, 1) * 100 + 1e-9).astype(int)

    def at_least(chosen: BoolArray) -> list[int]:
        counts = np.bincount(steps[chosen], minlength=101)
        return [int(count) for count in np.cumsum(counts[::-1])[::-1]]

    return {
        "positive": rows.labels[positive],
        "negative": rows.labels[1 - positive],
        "positives": int(actual.sum()),
        "negatives": int((~actual).sum()),
        "true_positives": at_least(actual),
        "false_positives": at_least(~actual),
    }
