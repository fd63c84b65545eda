"""Evaluation by (repeated) stratified cross-validation or leave-one-out in closed form."""

from __future__ import annotations

import warnings
from itertools import count
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils.validation import check_consistent_length

from unnaive import _parallel, _progress
from unnaive._caution import Once
from unnaive._dataclasses import dataclass
from unnaive.evaluate import tables
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame, rows_and_labels
from unnaive.metrics import SCORES, Metrics, measure
from unnaive.schema import learn_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.schema.columns import Label

    Take = Callable[[IntArray], tuple[object, object, FloatArray | None]]

Answer = TypeVar("Answer")
_MAIN = ("accuracy", "log_loss", "auc")  # metrics in short descriptions


class Model(Protocol):
    """A classifier that is fitted to features, target and weights."""

    @property
    def classes_(self) -> AnyArray:
        """Class labels."""

    def fit(self, rows: object, labels: object, weights: FloatArray | None, /) -> Self:
        """Fit the model."""

    def predict_proba(self, rows: object, /) -> FloatArray:
        """Return P(c | x), one column for each class."""


class EvaluationRows(NamedTuple):
    """Features, target and weights, with the class labels and codes."""

    frame: Frame
    target: Column
    weights: FloatArray | None
    classes: tuple[Label, ...]
    codes: IntArray

    def take(self, rows: IntArray) -> tuple[Frame, Column, FloatArray | None]:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return self.frame.take(rows), self.target.take(rows), weights


def prepare_rows(X: object, y: object, sample_weight: ArrayLike | None = None) -> EvaluationRows:
    """Check and convert features, target and weights."""
    frame, target = rows_and_labels(X, y)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    check_consistent_length(np.empty((frame.n_rows, 0)), target.values, weights)
    if weights is not None and not (weights > 0).all():
        row = int(np.argmin(weights > 0))
        raise UnnaiveError(
            f"sample_weight is {weights[row]} in row {row}; weights must be above 0 in evaluation: "
            "leave out rows without weight"
        )
    labels, codes = learn_target(target)
    return EvaluationRows(frame, target, weights, tuple(labels.tolist()), codes)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of :func:`cross_validate` or :func:`leave_one_out`.

    Parameters
    ----------
    classes : tuple
        Class labels, in the order of the columns of ``probabilities``.
    probabilities : ndarray of shape (repeats, n, k)
        Predicted probabilities of every sample, by a model that was not trained on it.
    folds : tuple of Metrics
        Metrics of every fold, over all repeats; only one for leave-one-out.
    pooled : Metrics
        Metrics of all samples of all repeats together; its ``confusion`` is the sum over folds.
    fit_seconds : ndarray of shape (folds × repeats,)
        Time to fit each fold. Folds that run in parallel slow each other down.
    predict_seconds : ndarray of shape (folds × repeats,)
        Time to predict each fold.

    See Also
    --------
    Comparison : Result for several models on the same folds.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.evaluate import cross_validate
    >>> X, y = [["a"], ["a"], ["b"], ["b"]] * 5, [0, 0, 1, 1] * 5
    >>> cross_validate(NaiveBayes(), X, y, folds=2).mean["accuracy"]
    1.0
    """

    classes: tuple[Label, ...]
    probabilities: FloatArray
    folds: tuple[Metrics, ...]
    pooled: Metrics
    fit_seconds: FloatArray
    predict_seconds: FloatArray

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {tables.number(self.mean[name])}" for name in _MAIN)
        return f"Evaluation({self._protocol()}: {shown})"

    def _protocol(self) -> str:
        _, n, k = self.probabilities.shape
        folds = f"{len(self.folds)} folds" if len(self.folds) > 1 else "leave-one-out"
        return f"{n:,} samples, {k} classes, {folds}"

    def _repr_html_(self) -> str:
        return tables.to_html(*self._cells(), f"{self._protocol()}, mean ± standard deviation")

    def _cells(self) -> tuple[list[str], list[list[tables.Cell]]]:
        mean, std = self.mean, self.std
        rows = [
            [tables.metric_title(name), tables.spread(mean[name], std[name])] for name in SCORES
        ]
        return ["metric", "mean"], [list(map(tables.Cell, row)) for row in rows]

    def to_frame(self) -> Any:
        """Return the mean and standard deviation of every metric as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row for each metric.
        """
        mean, std = self.mean, self.std
        rows = [{"metric": name, "mean": mean[name], "std": std[name]} for name in SCORES]
        return tables.to_pandas(rows, "metric")

    def to_latex(self) -> str:
        """Return the mean and standard deviation of every metric as a LaTeX table.

        Returns
        -------
        str
            A ``tabular``, for the package booktabs.
        """
        return tables.to_latex(*self._cells())

    @property
    def mean(self) -> dict[str, float]:
        """Mean over folds of every metric, without folds where it is NaN."""
        return {name: float(np.mean(known)) if len(known) else np.nan for name, known in self._by()}

    @property
    def std(self) -> dict[str, float]:
        """Standard deviation over folds (divisor n − 1); NaN for a single fold."""
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

    Bins, categories, structure and tables are learned only from the training samples of each fold.

    A class with a single sample is absent from the training samples when it is tested: it gets
    probability 0 and the sample counts as an error. A class with more samples but fewer than
    ``folds`` raises an error.

    Parameters
    ----------
    model : estimator of this library
        It is cloned for every fold and not changed.
    X : array or frame of shape (n, d)
        Features.
    y : array of shape (n,), or str
        Class labels, or the name of their column in X.
    folds : int, default=10
        Number of folds, at least 2.
    repeats : int, default=1
        Number of repeats, each with new folds.
    random_state : int, default=0
        Random seed of the folds; the same seed gives the same folds for every model.
    sample_weight : array of shape (n,), default=None
        Weights of the samples, all above 0, for fitting and for the metrics.
    n_jobs : int, default=None
        Number of folds that run in parallel, as threads. Results do not depend on it.
    progress : callable, default=None
        Called as ``progress(done, total)`` after every fold.

    Returns
    -------
    Evaluation
        Metrics of every fold and of all folds together.

    See Also
    --------
    leave_one_out : In closed form, quicker.
    compare : Several models on the same folds.

    Examples
    --------
    >>> from unnaive import TAN
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> result = cross_validate(TAN(), data.X, data.y, folds=5)
    >>> result.mean["accuracy"] > 0.93, result.pooled.confusion.sum()
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
            _progress.tell("cross-validation", number, len(splits))
        return predicted

    with Once():
        results = _parallel.run(run_fold, splits, n_jobs)
    return _collect(data, repeats, [test for _, test in splits], results)


def _collect(
    data: EvaluationRows,
    repeats: int,
    tests: list[IntArray],
    results: list[tuple[FloatArray, float, float]],
) -> Evaluation:
    """Compute the metrics of every fold and of all folds together."""
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
    """Evaluate a model by leave-one-out in closed form.

    The model is fitted once. Each sample is predicted from tables without its own counts, which is
    exact. Structure, bins and categories are still learned from all samples, so a model that
    searches for a structure looks slightly better than it is; :func:`cross_validate` learns these
    in every fold.

    Parameters
    ----------
    model : estimator with ``loo_predict_proba``
        It is cloned and not changed.
    X : array or frame of shape (n, d)
        Features.
    y : array of shape (n,), or str
        Class labels, or the name of their column in X.
    sample_weight : array of shape (n,), default=None
        Weights of the samples, all above 0, for fitting and for the metrics.

    Returns
    -------
    Evaluation
        With one set of metrics for all samples, so without standard deviations.

    See Also
    --------
    cross_validate : For every model; learns everything in each fold.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.evaluate import leave_one_out
    >>> X = [["sunny"], ["sunny"], ["rainy"], ["rainy"], ["rainy"]]
    >>> result = leave_one_out(NaiveBayes(), X, ["out", "out", "in", "in", "out"])
    >>> result.pooled.confusion.tolist()
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


def possible_folds(codes: IntArray, folds: int) -> int:
    """Return the number of folds, at most the size of the smallest class of several samples.

    Parameters
    ----------
    codes : array of int of shape (n,)
        Class codes.
    folds : int
        Wanted number of folds.

    Returns
    -------
    int
        At least 2.

    Examples
    --------
    >>> possible_folds(np.array([0, 0, 0, 1, 1, 1, 1, 2]), 10)
    3
    """
    sizes = np.bincount(codes)
    return max(2, int(min([folds, *sizes[sizes > 1]])))


def deal(
    data: EvaluationRows, folds: int, repeats: int, random_state: int | None
) -> list[tuple[IntArray, IntArray]]:
    """Return the numbers of training and test rows of every fold."""
    if folds < 2 or repeats < 1:
        raise ValueError(f"folds={folds}, repeats={repeats}: use at least 2 folds and 1 repeat")
    counts = np.bincount(data.codes)
    for label, rows in zip(data.classes, counts.tolist(), strict=False):
        if 1 < rows < folds:
            raise ValueError(
                f"class {label!r} has {rows} rows, too few for {folds} folds; use folds={rows} "
                f"(--folds {rows}) or leave-one-out, or merge or drop the class"
            )
    if counts.max() < folds:
        raise ValueError(
            "every class has only one row, so nothing can be learned; is the target the right "
            "column?"
        )
    dealer = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=random_state)
    with warnings.catch_warnings():  # of classes with one row, which are allowed here
        warnings.simplefilter("ignore", UserWarning)
        return list(dealer.split(np.empty((len(data.codes), 0)), data.codes))


def fit_and_predict(
    model: Model, take: Take, split: tuple[IntArray, IntArray], classes: tuple[Label, ...]
) -> tuple[FloatArray, float, float]:
    """Fit to some rows and predict others; also return the seconds of both."""
    train, test = split
    fitted, fit_seconds = _timed(clone(model).fit, *take(train))
    chances, predict_seconds = _timed(fitted.predict_proba, take(test)[0])
    return _aligned(chances, fitted.classes_, classes), fit_seconds, predict_seconds


def _timed(function: Callable[..., Answer], *arguments: object) -> tuple[Answer, float]:
    start = perf_counter()
    return function(*arguments), perf_counter() - start


def _aligned(chances: FloatArray, known: AnyArray, classes: tuple[Label, ...]) -> FloatArray:
    """Add a column of zeros for every class that is absent from the training rows."""
    wide = np.zeros((len(chances), len(classes)))
    wide[:, [classes.index(label) for label in np.asarray(known).tolist()]] = chances
    return wide


def _pool(probabilities: FloatArray, data: EvaluationRows) -> Metrics:
    repeats, _, k = probabilities.shape
    weights = None if data.weights is None else np.tile(data.weights, repeats)
    return measure(
        probabilities.reshape(-1, k), np.tile(data.codes, repeats), data.classes, weights
    )
