"""Protocols: stratified k-fold, repeated, and leave-one-out in closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from unnaive import _parallel
from unnaive.evaluate.rows import EvaluationRows, prepare_rows
from unnaive.exceptions import UnnaiveError
from unnaive.metrics import SCORES, Metrics, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unnaive._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a protocol found.

    Attributes
    ----------
    classes : tuple
        Class labels, in the order of the columns of ``probabilities``.
    probabilities : array of shape (repeats, n, k)
        For every row, what a model that did not learn from it predicted.
    folds : tuple of Metrics
        One a fold, repeat after repeat; a single one for leave-one-out.
    pooled : Metrics
        Of all rows of all repeats together; its ``confusion`` is the sum over the folds.
    fit_seconds, predict_seconds : array
        Time by the clock of each fold. Folds that run side by side slow each other down.
    """

    classes: tuple[Any, ...]
    probabilities: FloatArray
    folds: tuple[Metrics, ...]
    pooled: Metrics
    fit_seconds: FloatArray
    predict_seconds: FloatArray

    @property
    def mean(self) -> dict[str, float]:
        """Mean over folds of every metric that is one number; folds where it is NaN left out."""
        return {name: float(np.mean(known)) if len(known) else np.nan for name, known in self._by()}

    @property
    def std(self) -> dict[str, float]:
        """Sample standard deviation over folds (n − 1 below); NaN of a single fold."""
        return {
            name: float(np.std(known, ddof=1)) if len(known) > 1 else np.nan
            for name, known in self._by()
        }

    def _by(self) -> list[tuple[str, FloatArray]]:
        scores = [fold.scores() for fold in self.folds]
        columns = [(name, np.array([score[name] for score in scores])) for name in SCORES]
        return [(name, column[~np.isnan(column)]) for name, column in columns]


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    random_state: int | None = 0,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Evaluate a model by stratified k-fold cross-validation, once or repeated.

    Everything is learned from the training rows of a fold alone: bins, categories,
    structure, tables.

    A class of one row is in no training fold together with its test row: the model of that
    fold does not know the class, gives it probability 0, and the row counts as an error. A
    class of more rows than that but fewer than ``folds`` raises, for there is a cure.

    Parameters
    ----------
    model : estimator of this library
        It is cloned for every fold and stays as it is.
    X, y : array or frame of shape (n, d), array of shape (n,)
        Rows and class labels.
    folds, repeats : int
        Number of folds, at least 2; how often the rows are dealt into folds anew.
    random_state : int, default=0
        Seed of the folds; the same seed deals the same folds to every model.
    sample_weight : array of shape (n,), default=None
        Weights of the rows, all above 0, in learning and in the metrics.
    n_jobs : int, default=None
        Folds that run side by side, as threads. Changes nothing but the time.
    progress : callable, default=None
        Called as ``progress(done, total)`` after every fold.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> found = cross_validate(TAN(), data.X, data.y, folds=5)
    >>> found.mean["accuracy"] > 0.93, found.pooled.confusion.sum()
    (True, np.int64(569))
    """
    data = prepare_rows(X, y, sample_weight)
    splits = _deal(data, folds, repeats, random_state)
    tick = _counter(progress, len(splits))

    def run_fold(split: tuple[IntArray, IntArray]) -> tuple[FloatArray, float, float]:
        found = _fit_and_predict(model, data, *split)
        tick()
        return found

    found = _parallel.run(run_fold, splits, n_jobs)
    return _collect(data, repeats, [test for _, test in splits], found)


def _counter(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    """Make a function that reports one more fold done, whichever thread did it."""
    lock, done = Lock(), 0

    def tick() -> None:
        nonlocal done
        with lock:
            done += 1
            if progress is not None:
                progress(done, total)

    return tick


def _collect(
    data: EvaluationRows,
    repeats: int,
    tests: list[IntArray],
    found: list[tuple[FloatArray, float, float]],
) -> Evaluation:
    """Measure every fold, and all of them together."""
    probabilities = np.zeros((repeats, len(data.codes), len(data.classes)))
    metrics = []
    for number, (test, (chances, *_)) in enumerate(zip(tests, found, strict=True)):
        probabilities[number * repeats // len(tests), test] = chances
        weights = None if data.weights is None else data.weights[test]
        metrics.append(measure(chances, data.codes[test], data.classes, weights))
    return Evaluation(
        classes=data.classes,
        probabilities=probabilities,
        folds=tuple(metrics),
        pooled=_pool(probabilities, data),
        fit_seconds=np.array([fit_seconds for _, fit_seconds, _ in found]),
        predict_seconds=np.array([predict_seconds for *_, predict_seconds in found]),
    )


def leave_one_out(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Evaluation:
    """Evaluate a model on every row by the model without that row, in closed form.

    The counts of a row are taken out of the tables that predict it, exactly. The structure,
    the bins and the categories stay those learned from all rows, so a model that searches
    much looks a little better than it is: :func:`cross_validate` learns these anew.

    Parameters
    ----------
    model : estimator with ``loo_predict_proba``
        It is cloned and stays as it is.
    X : array or frame of shape (n, d)
        Rows.
    y : array of shape (n,)
        Class labels.
    sample_weight : array of shape (n,), default=None
        Weights of the rows, all above 0, in learning and in the metrics.

    Returns
    -------
    Evaluation
        With the one set of metrics of all rows, so without standard deviations.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.evaluate import leave_one_out
    >>> X = [["sunny"], ["sunny"], ["rainy"], ["rainy"], ["rainy"]]
    >>> found = leave_one_out(NaiveBayes(), X, ["out", "out", "in", "in", "out"])
    >>> found.pooled.confusion.tolist()
    [[0, 2], [1, 2]]
    """
    if not hasattr(model, "loo_predict_proba"):
        raise UnnaiveError(
            f"{type(model).__name__} has no leave-one-out in closed form; use cross-validation"
        )
    data = prepare_rows(X, y, sample_weight)
    fitted, fit_seconds = _timed(clone(model).fit, data.frame, data.target, data.weights)
    chances, predict_seconds = _timed(
        fitted.loo_predict_proba, data.frame, data.target, data.weights
    )
    probabilities = _aligned(chances, fitted.classes_, data.classes)[None]
    pooled = _pool(probabilities, data)
    return Evaluation(
        classes=data.classes,
        probabilities=probabilities,
        folds=(pooled,),
        pooled=pooled,
        fit_seconds=np.array([fit_seconds]),
        predict_seconds=np.array([predict_seconds]),
    )


def _deal(
    data: EvaluationRows, folds: int, repeats: int, random_state: int | None
) -> list[tuple[IntArray, IntArray]]:
    """Row numbers to train on and to test on, of every fold."""
    if folds < 2 or repeats < 1:
        raise ValueError(
            f"folds={folds}, repeats={repeats}: there must be at least 2 folds and 1 repeat"
        )
    counts = np.bincount(data.codes)
    for label, count in zip(data.classes, counts.tolist(), strict=False):
        if 1 < count < folds:
            raise ValueError(
                f"class {label!r} has {count} rows, too few for {folds} folds; use folds={count} "
                f"(--folds {count}) or leave-one-out, or merge or drop the class"
            )
    if counts.max() < folds:
        raise ValueError(
            "every class has one row only, so there is nothing to learn from the others; is the "
            "target the right column?"
        )
    dealer = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=random_state)
    with warnings.catch_warnings():  # of classes of one row, which are let pass with intent
        warnings.simplefilter("ignore", UserWarning)
        return list(dealer.split(np.empty((len(data.codes), 0)), data.codes))


def _fit_and_predict(
    model: Any, data: EvaluationRows, train: IntArray, test: IntArray
) -> tuple[FloatArray, float, float]:
    frame, target, weights = data.take(train)
    fitted, fit_seconds = _timed(clone(model).fit, frame, target, weights)
    chances, predict_seconds = _timed(fitted.predict_proba, data.frame.take(test))
    return _aligned(chances, fitted.classes_, data.classes), fit_seconds, predict_seconds


def _timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    start = perf_counter()
    return function(*arguments), perf_counter() - start


def _aligned(chances: FloatArray, known: Sequence[Any], classes: tuple[Any, ...]) -> FloatArray:
    """Give every class its column; one that the model never saw has probability 0."""
    wide = np.zeros((len(chances), len(classes)))
    wide[:, [classes.index(label) for label in np.asarray(known).tolist()]] = chances
    return wide


def _pool(probabilities: FloatArray, data: EvaluationRows) -> Metrics:
    repeats, _, k = probabilities.shape
    weights = None if data.weights is None else np.tile(data.weights, repeats)
    return measure(
        probabilities.reshape(-1, k), np.tile(data.codes, repeats), data.classes, weights
    )
