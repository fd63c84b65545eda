"""How good the model is on rows that it did not learn from, with intervals.

Rows are taken as independent; the intervals cover 95 %. They are those of the pooled rows of
all folds, and leave out the chance in the choice of the model itself.

References
----------
Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
American Statistical Association 22, 1927. DeLong, DeLong & Clarke-Pearson, "Comparing the areas
under two or more correlated receiver operating characteristic curves", Biometrics 44, 1988.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.evaluate import cross_validate, predicted_codes
from unnaive.exceptions import UnnaiveError
from unnaive.explain.plots_quality import Z
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
    """Probabilities of rows by models that did not learn from them, and what they decide."""

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
    """Cross-validate the model, or apply it to rows that it has never seen."""
    k = len(rows.labels)
    if folds is None:
        chances = model.predict_proba(rows.frame)
        protocol: State = {"kind": "new rows", "description": "rows new to the model"}
    else:
        folds = _possible_folds(rows, folds)
        found = cross_validate(
            *(model, rows.frame, rows.target),
            folds=folds,
            random_state=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
        labels = list(model.schema_.classes)
        chances = np.zeros((rows.frame.n_rows, k))
        chances[:, [labels.index(label) for label in found.classes]] = found.probabilities[0]
        what = f"{folds}-fold cross-validation"
        protocol = {"kind": "cross-validation", "description": what, "folds": folds, "seed": seed}
        protocol["fit_seconds"] = float(np.median(found.fit_seconds))
    if not np.isfinite(chances).all():
        rows_without = int((~np.isfinite(chances)).any(axis=1).sum())
        raise UnnaiveError(
            f"the model has no probabilities for {rows_without:,} rows; numbers near the largest "
            "that there are may be the cause: scale them"
        )
    bias = model.bias_of(model.classes_.tolist())  # what predict adds before it decides
    decided = chances if bias is None else chances + bias - bias.min()
    return Judged(chances, predicted_codes(decided), protocol)


def _possible_folds(rows: ReportRows, folds: int) -> int:
    """Return as many folds as the smallest class of several rows allows."""
    counts = np.bincount(rows.codes)
    several = counts[counts > 1]
    if not len(several):
        raise UnnaiveError("every class has a single row, so no fold can be judged by the others")
    return max(2, min(folds, int(several.min())))


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
    }
    if k == 2 and (confusion.sum(axis=1) > 0).all():
        found["roc"] = _roc(judged, rows, positive)
    return found


def _scores(judged: Judged, rows: ReportRows, confusion: IntArray) -> list[State]:
    """Accuracy, log loss, Brier score and AUC, each with interval and what no model reaches."""
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
    r"""Wilson's interval of a share; None without rows.

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
    """Interval of a mean of losses, which are not negative; None of a single row."""
    if len(losses) < 2:
        return None
    half = Z * float(np.std(losses, ddof=1)) / sqrt(len(losses))
    return max(float(losses.mean()) - half, 0.0), float(losses.mean()) + half


def auc_interval(chances: FloatArray, actual: IntArray) -> tuple[float, float] | None:
    r"""DeLong's interval of the area under the ROC curve, on the scale of its logit.

    Of more than two classes it is that of the mean over classes, one against the rest: the parts
    that a row has in all areas are added up before their variance is taken. None where the area
    has no variance: a single class, or every pair of rows in the right order.

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
    parts = [_row_parts(chances[:, one], actual == one) for one in ones]
    area = float(np.mean([found for found, _ in parts]))
    spread = sqrt(float((np.mean([influence for _, influence in parts], axis=0) ** 2).sum()))
    if not (0 < area < 1 and spread > 0):
        return None
    centre, half = log(area / (1 - area)), Z * spread / (area * (1 - area))
    return _expit(centre - half), _expit(centre + half)


def _row_parts(scores: FloatArray, positive: BoolArray) -> tuple[float, FloatArray]:
    """Area under the ROC curve, and how far every row moves it; shape (n,)."""
    _, place = np.unique(scores, return_inverse=True)
    high, low = np.bincount(place, positive), np.bincount(place, ~positive)
    m, n = high.sum(), low.sum()
    below = (np.cumsum(low) - low / 2) / n
    above = 1 - (np.cumsum(high) - high / 2) / m
    area = float(high @ below / m)
    return area, np.where(positive, (below[place] - area) / m, (above[place] - area) / n)


def _expit(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


def _by_class(confusion: IntArray, labels: tuple[str, ...]) -> list[State]:
    """Recall and precision of every class with their intervals."""
    found = []
    for code, label in enumerate(labels):
        right, rows = int(confusion[code, code]), int(confusion[code].sum())
        predicted = int(confusion[:, code].sum())
        found.append(
            {
                "label": label,
                "rows": rows,
                "predicted": predicted,
                "recall": right / rows if rows else None,
                "recall_interval": wilson(right, rows),
                "precision": right / predicted if predicted else None,
                "precision_interval": wilson(right, predicted),
            }
        )
    return found


def _most_confused(confusion: IntArray, labels: tuple[str, ...]) -> list[State]:
    """Pairs of classes that are mistaken most often, for matrices too wide to read."""
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
    """Compare predicted probabilities with what came true, in ten bins of probability.

    Of two classes it is the positive one's probability, of more that of the predicted class.
    """
    two = len(rows.labels) == 2
    best = np.full(len(rows.codes), positive) if two else judged.predicted
    chance = judged.probabilities[np.arange(len(best)), best]
    true = rows.codes == best
    place = np.minimum((chance * _CALIBRATION_BINS).astype(int), _CALIBRATION_BINS - 1)
    counts = np.bincount(place, minlength=_CALIBRATION_BINS)
    sums = np.bincount(place, chance, _CALIBRATION_BINS)
    hits = np.bincount(place, true, _CALIBRATION_BINS)
    bins = [
        {
            "low": number / _CALIBRATION_BINS,
            "high": (number + 1) / _CALIBRATION_BINS,
            "rows": count,
            "predicted": float(sums[number] / count) if count else None,
            "observed": float(hits[number] / count) if count else None,
            "interval": wilson(float(hits[number]), count),
        }
        for number, count in enumerate(counts.tolist())
    ]
    return {
        "of": rows.labels[positive] if two else None,
        "bins": bins,
        "error": float(np.abs(sums - hits).sum() / len(true)),
        "predicted": float(chance.mean()),
        "observed": float(true.mean()),
    }


def _roc(judged: Judged, rows: ReportRows, positive: int) -> State:
    """Sensitivity against false alarms over all thresholds, thinned to what can be drawn."""
    scores, actual = judged.probabilities[:, positive], rows.codes == positive
    _, place = np.unique(-scores, return_inverse=True)
    found = np.append(0, np.cumsum(np.bincount(place, actual))) / actual.sum()
    alarms = np.append(0, np.cumsum(np.bincount(place, ~actual))) / (~actual).sum()
    walked = found + alarms
    wanted = np.linspace(0, 2, _CURVE_POINTS)
    kept = np.unique(np.append(np.searchsorted(walked, wanted - 1e-12), [0, len(walked) - 1]))
    chosen = judged.predicted == positive
    return {
        "positive": rows.labels[positive],
        "points": [[float(alarms[i]), float(found[i])] for i in kept if i < len(walked)],
        "decision": [float(chosen[~actual].mean()), float(chosen[actual].mean())],
    }
