"""k-naive Bayes with a set of independent features for every sample, and forced sets."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError
from unnaive.structure.balanced import balanced_sets, best_set
from unnaive.tables.gaussian import log_conditionals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import AnyArray, FloatArray
    from unnaive.io.frames import Frame
    from unnaive.models.knaive import KNaiveBayes

    Columns = tuple[int, ...]


@dataclass(frozen=True)
class RowSets:
    """Predictions of k-naive Bayes whose set is chosen for every sample.

    Parameters
    ----------
    probabilities : ndarray of shape (n, k)
        P(c | x) of every sample, by its own set.
    columns : list of tuple of str
        Names of the independent features of every sample.
    classes : list
        Class labels.
    """

    probabilities: FloatArray
    columns: list[tuple[str, ...]]
    classes: list[object]

    @property
    def labels(self) -> AnyArray:
        """Most probable class of every sample; shape (n,)."""
        return np.asarray(np.array(self.classes)[self.probabilities.argmax(axis=1)])


def row_sets(model: KNaiveBayes, frame: Frame) -> RowSets:
    """Choose the set of every row by its own log ddr, and predict the row with it."""
    fitted, spread = model.fitted_, model.fitted_.spread
    X = model.numbers(frame, fitted.columns)[:, spread.used]
    logs = np.subtract(*log_conditionals(X, spread.densities(spread.covariances)))
    present = np.flatnonzero(spread.moments.class_weights).tolist()
    lines = np.stack(
        [logs[:, b] - logs[:, a] for a, b in combinations(present, 2)] or [0.0 * logs[:, 0]], axis=1
    )
    n_columns = X.shape[1]
    k = len(fitted.spread.learned["naive"]) if model.k == "cv" else model.k
    least = int(k) if k != "auto" and model.exact_k else 1
    sizes = range(least, n_columns + 1 if k == "auto" else int(k) + 1)
    objective = {"objective": model.objective} if len(present) == 2 else {}
    sets: list[Columns] = [
        best_set(balanced_sets(line, sizes, **objective)).columns if max(sizes, default=0) else ()
        for line in lines
    ]
    probabilities = np.empty((len(X), len(fitted.labels)))
    for chosen in dict.fromkeys(sets):
        rows = [place for place, one in enumerate(sets) if one == chosen]
        probabilities[rows] = forced_probabilities(model, chosen, X[rows])
    names = [spread.moments.schema.names[column] for column in spread.moments.used]
    told = [tuple(names[column] for column in one) for one in sets]
    return RowSets(probabilities, told, fitted.labels.tolist())


def forced_probabilities(model: KNaiveBayes, naive: Sequence[int], X: FloatArray) -> FloatArray:
    """P(c | x) of rows of used columns, with a set that is given; shape (n, k)."""
    joint = model.forced(naive).joint(X)
    chances = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def set_weights(
    model: KNaiveBayes, frame: Frame, truth: AnyArray, sets: Iterable[Sequence[int]]
) -> tuple[FloatArray, FloatArray]:
    """Log weight of sets, and accuracy of the models that take them as independent; shapes (m,)."""
    fitted, spread = model.fitted_, model.fitted_.spread
    weights = spread.learned["weights"]
    if len(weights) != 1:
        raise UnnaiveError(
            f"sets have one log weight for each of {len(weights)} pairs of classes; use two classes"
        )
    X, labels = model.numbers(frame, fitted.columns)[:, spread.used], np.asarray(fitted.labels)
    logs, right = [], []
    for naive in map(list, sets):
        logs.append(float(weights[0][naive].sum()))
        guess = labels[forced_probabilities(model, naive, X).argmax(axis=1)]
        right.append(float(np.mean(guess == truth)))
    return np.array(logs), np.array(right)
