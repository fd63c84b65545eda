"""Protocols: stratified k-fold, repeated, and leave-one-out in closed form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import count
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from unnaive import _parallel
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, to_column, to_frame
from unnaive.metrics import SCORES, Metrics, measure
from unnaive.schema import learn_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.schema.columns import Label

    Take = Callable[[IntArray], tuple[object, object, FloatArray | None]]

Answer = TypeVar("Answer")


class Model(Protocol):
    """A classifier that learns from rows, labels and weights."""

    @property
    def classes_(self) -> AnyArray:
        """The classes it learned."""

    def fit(self, rows: object, labels: object, weights: FloatArray | None, /) -> Self:
        """Learn."""

    def predict_proba(self, rows: object, /) -> FloatArray:
        """P(c | x), a column a class."""


class EvaluationRows(NamedTuple):
    """Rows, labels and weights, and the classes of all of them."""

    frame: Frame
    target: Column
    weights: FloatArray | None
    classes: tuple[Label, ...]
    codes: IntArray

    def take(self, rows: IntArray) -> tuple[Frame, Column, FloatArray | None]:
        """Return some rows as if there had never been others."""
        weights = None if self.weights is None else self.weights[rows]
        return self.frame.take(rows), self.target.take(rows), weights


def prepare_rows(X: object, y: object, sample_weight: ArrayLike | None = None) -> EvaluationRows:
    """Read rows, labels and weights."""
    frame, target = to_frame(X), to_column(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    check_consistent_length(np.empty((frame.n_rows, 0)), target.values, weights)
    if weights is not None and not (weights > 0).all():
        row = int(np.argmin(weights > 0))
        raise UnnaiveError(
            f"sample_weight is {weights[row]} in row {row}; to evaluate, weights must be above 0: "
            "leave the other rows out"
        )
    labels, codes = learn_target(target)
    if not target.is_text and target.values.dtype.kind == "f":
        check_classification_targets(target.values)
    return EvaluationRows(frame, target, weights, tuple(labels.tolist()), codes)


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

    classes: tuple[Label, ...]
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
    model: Model,
    X: object,
    y: object,
    *,
    folds: int = 10,
    repeats: int = 1,
    random_state: int | None = 0,
    sample_weight: ArrayLike | None = None,
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
    splits = deal(data, folds, repeats, random_state)
    lock, numbers = Lock(), count(1)

    def run_fold(split: tuple[IntArray, IntArray]) -> tuple[FloatArray, float, float]:
        predicted = fit_and_predict(model, data.take, split, data.classes)
        with lock:
            number = next(numbers)
            if progress is not None:
                progress(number, len(splits))
        return predicted

    results = _parallel.run(run_fold, splits, n_jobs)
    return _collect(data, repeats, [test for _, test in splits], results)


def _collect(
    data: EvaluationRows,
    repeats: int,
    tests: list[IntArray],
    results: list[tuple[FloatArray, float, float]],
) -> Evaluation:
    """Measure every fold, and all of them together."""
    probabilities = np.zeros((repeats, len(data.codes), len(data.classes)))
    metrics = []
    for number, (test, (chances, *_)) in enumerate(zip(tests, results, strict=True)):
        probabilities[number * repeats // len(tests), test] = chances
        weights = None if data.weights is None else data.weights[test]
        metrics.append(measure(chances, data.codes[test], data.classes, weights))
    return Evaluation(
        classes=data.classes,
        probabilities=probabilities,
        folds=tuple(metrics),
        pooled=_pool(probabilities, data),
        fit_seconds=np.array([fit_seconds for _, fit_seconds, _ in results]),
        predict_seconds=np.array([predict_seconds for *_, predict_seconds in results]),
    )


def leave_one_out(
    model: Model, X: object, y: object, *, sample_weight: ArrayLike | None = None
) -> Evaluation:
    """Evaluate a model on every row by the model without that row, in closed form.

    The counts of a row are taken out of the tables that predict it, exactly. The structure,
    the bins and the categories stay those learned from all rows, so a model that searches
    much looks a little better than it is: :func:`cross_validate` learns these anew.

    Parameters
    ----------
    model : estimator with ``loo_predict_proba``
        It is cloned and stays as it is.
    X, y, sample_weight
        As in :func:`cross_validate`.

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
    aligned = _aligned(chances, fitted.classes_, data.classes)
    every = np.arange(len(data.codes))
    return _collect(data, 1, [every], [(aligned, fit_seconds, predict_seconds)])


def deal(
    data: EvaluationRows, folds: int, repeats: int, random_state: int | None
) -> list[tuple[IntArray, IntArray]]:
    """Row numbers to train on and to test on, of every fold."""
    if folds < 2 or repeats < 1:
        raise ValueError(
            f"folds={folds}, repeats={repeats}: there must be at least 2 folds and 1 repeat"
        )
    counts = np.bincount(data.codes)
    for label, rows in zip(data.classes, counts.tolist(), strict=False):
        if 1 < rows < folds:
            raise ValueError(
                f"class {label!r} has {rows} rows, too few for {folds} folds; use folds={rows} "
                f"(--folds {rows}) or leave-one-out, or merge or drop the class"
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


def fit_and_predict(
    model: Model, take: Take, split: tuple[IntArray, IntArray], classes: tuple[Label, ...]
) -> tuple[FloatArray, float, float]:
    """Learn from some rows and predict others, with the seconds that each took."""
    train, test = split
    fitted, fit_seconds = _timed(clone(model).fit, *take(train))
    chances, predict_seconds = _timed(fitted.predict_proba, take(test)[0])
    return _aligned(chances, fitted.classes_, classes), fit_seconds, predict_seconds


def _timed(function: Callable[..., Answer], *arguments: object) -> tuple[Answer, float]:
    start = perf_counter()
    return function(*arguments), perf_counter() - start


def _aligned(chances: FloatArray, known: AnyArray, classes: tuple[Label, ...]) -> FloatArray:
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
