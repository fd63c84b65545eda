"""Comparison of models on the same folds; one unit of work is one fold of one model."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from unnaive import _parallel, _progress
from unnaive._caution import Once
from unnaive._dataclasses import dataclass
from unnaive.evaluate.comparison import Comparison, Failure
from unnaive.evaluate.comparisons import Comparisons
from unnaive.evaluate.crossvalidate import EvaluationRows, deal, fit_and_predict, prepare_rows
from unnaive.evaluate.runs import Runs, hash_rows
from unnaive.exceptions import UnnaiveError
from unnaive.io.frames import Column, Frame
from unnaive.metrics import SCORES, measure
from unnaive.models import Classifier, all_models, make

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray, IntArray, State

    Models = str | Sequence[str] | Mapping[str, object]
    Given = tuple[object, object]

METRICS = ("accuracy", "log_loss", "auc", "brier")


@dataclass(frozen=True)
class Step:
    """Progress of a comparison, passed to ``watch`` after every fold of a model.

    Parameters
    ----------
    done : int
        Number of finished folds of all models, including resumed ones.
    total : int
        Number of folds of all models.
    model : str
        Name of the model whose fold was finished.
    repeat : int
        Repeat of the fold, from 0.
    fold : int
        Number of the fold, from 0.
    error : str or None
        Error message, if the model failed.
    data : str
        Name of the data set, in :func:`compare_many`.

    See Also
    --------
    compare : Calls ``watch`` with this.

    Examples
    --------
    >>> Step(done=3, total=20, model="tan", repeat=0, fold=2).error is None
    True
    """

    done: int
    total: int
    model: str
    repeat: int
    fold: int
    error: str | None = None
    data: str = ""


class _Unit(NamedTuple):
    """One fold of one model."""

    model: str
    repeat: int
    fold: int
    train: IntArray
    test: IntArray


def compare(
    models: Models,
    X: object,
    y: object,
    *,
    folds: object = 10,
    repeats: int = 1,
    seed: int | None = 0,
    metrics: Sequence[str] = METRICS,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    store: str | os.PathLike[str] | None = None,
    watch: Callable[[Step], None] | None = None,
) -> Comparison:
    """Cross-validate several models on the same folds and test their differences.

    A model that fails on a fold has no rank; the error is in ``failures``. The other folds and
    models are still evaluated.

    Parameters
    ----------
    models : "all", list of keys, or dict of name to key or estimator
        Keys are those of ``unnaive.all_models()``. Estimators of scikit-learn are allowed if they
        accept X as it is.
    X : array or frame of shape (n, d)
        Features.
    y : array of shape (n,), or str
        Class labels, or the name of their column in X.
    folds : int or splitter, default=10
        Number of stratified folds, or a scikit-learn splitter such as
        :class:`WekaStratifiedKFold`.
    repeats : int, default=1
        Number of repeats, each with new folds; must be 1 for a splitter.
    seed : int or None, default=0
        Random seed of the folds.
    metrics : sequence of str
        Names of scores of :class:`Metrics`; tables are sorted by the first.
    sample_weight : array of shape (n,), default=None
        Weights of the samples, all above 0, for fitting and for the metrics.
    n_jobs : int, default=None
        Number of folds that run in parallel, as threads. Only the times depend on it.
    store : path, default=None
        File to which every finished fold is saved. Folds that it already has are not computed
        again; data, ``folds`` and ``seed`` must be the same. Models and repeats may be added;
        failed folds are tried again.
    watch : callable, default=None
        Called with a :class:`Step` after every fold.

    Returns
    -------
    Comparison
        Scores of every model and fold, with ranks, tests and tables.

    See Also
    --------
    compare_many : The same on several data sets.
    cross_validate : For one model.

    Examples
    --------
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> result = compare(["nb", "tan"], data.X, data.y, folds=5, metrics=["accuracy", "log_loss"])
    >>> result.best("log_loss"), result.ranks("log_loss")
    ('tan', {'nb': 2.0, 'tan': 1.0})
    """
    work = _Work(_candidates(models), prepare_rows(X, y, sample_weight), (X, y))
    names = _known_metrics(metrics)
    protocol = work.deal(folds, repeats, seed)
    if store is not None:
        work.resume(store, protocol)
    results = work.run(n_jobs, watch)
    return work.collect(results, names, {**protocol, "repeats": repeats})


def compare_many(
    models: Models,
    datasets: Mapping[str, Given],
    *,
    store: str | os.PathLike[str] | None = None,
    watch: Callable[[Step], None] | None = None,
    **settings: Any,
) -> Comparisons:
    """Compare models on several data sets, for the tests of Friedman and Nemenyi.

    Parameters
    ----------
    models : "all", list of keys, or dict of name to key or estimator
        Models, as in :func:`compare`.
    datasets : dict of str to (X, y)
        Features and class labels of every data set, by name.
    store : path, default=None
        Folder for a file of finished folds for every data set.
    watch : callable, default=None
        Called with a :class:`Step` after every fold; its ``data`` names the data set.
    **settings : object
        Other parameters of :func:`compare`.

    Returns
    -------
    Comparisons
        The comparison on every data set, with tests over all of them.

    See Also
    --------
    compare : On one data set.
    friedman : The test on any table of scores.

    Examples
    --------
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> halves = {"even": (data.X[::2], data.y[::2]), "odd": (data.X[1::2], data.y[1::2])}
    >>> result = compare_many(["nb", "tan", "aode"], halves, folds=3)
    >>> result.friedman("accuracy").n
    2
    """
    if store is not None:
        Path(store).mkdir(parents=True, exist_ok=True)
    parts = {}
    for name, (X, y) in datasets.items():
        file = None if store is None else _file_for(Path(store), name)
        parts[name] = compare(models, X, y, store=file, watch=_named(watch, name), **settings)
    return Comparisons(parts)


def _file_for(folder: Path, name: str) -> Path:
    if Path(name).name != name:
        raise UnnaiveError(f"data set {name!r}: its results need a file; use a name without slash")
    return folder / f"{name}.jsonl"


def _named(watch: Callable[[Step], None] | None, name: str) -> Callable[[Step], None] | None:
    return None if watch is None else lambda step: watch(replace(step, data=name))


def _candidates(models: Models) -> dict[str, object]:
    """Return estimators by name."""
    if isinstance(models, str):
        models = list(all_models()) if models == "all" else [models]
    if not isinstance(models, Mapping):
        if not all(isinstance(key, str) for key in models):
            raise UnnaiveError("models: estimators need names, as in {'mine': TAN(root=0)}")
        models = {key: key for key in models}
    if not models:
        raise UnnaiveError("models is empty; name at least one, or use 'all'")
    return {
        str(name): make(model) if isinstance(model, str) else model
        for name, model in models.items()
    }


def _known_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys([metrics] if isinstance(metrics, str) else metrics))
    wrong = [name for name in names if name not in SCORES]
    if wrong or not names:
        what = f"there is no metric {wrong[0]!r}" if wrong else "metrics is empty"
        raise UnnaiveError(f"{what}; the metrics are {', '.join(SCORES)}")
    return names


class _Work:
    """The folds of all models, and their results."""

    def __init__(self, models: dict[str, object], data: EvaluationRows, original: Given) -> None:
        self.models = {name: _wrapped(name, model, original) for name, model in models.items()}
        self.data, self.original = data, original
        self.splits: list[tuple[IntArray, IntArray]] = []
        self.units: list[_Unit] = []
        self.runs: Runs | None = None
        self.resumed = 0
        self.keys = {name: _digest(model) for name, model in models.items()}

    def deal(self, folds: object, repeats: int, seed: int | None) -> State:
        """Assign rows to folds; return the settings that the folds depend on."""
        n = len(self.data.codes)
        if not isinstance(folds, str) and hasattr(folds, "split"):
            if repeats != 1:
                raise ValueError(f"repeats={repeats}: set it in the splitter {folds!r} instead")
            self.splits = list(folds.split(np.empty((n, 0)), self.data.codes))
            each = len(self.splits)
            protocol: State = {"folds": repr(folds), "splits": _digest_of(self.splits)}
        elif isinstance(folds, Integral):
            each = int(folds)
            self.splits = deal(self.data, each, repeats, seed)
            protocol = {"folds": each, "seed": seed}
        else:
            raise ValueError(f"folds={folds!r}: use a whole number or a splitter")
        self.units = [
            _Unit(model, *divmod(number, each), train, test)
            for model in self.models
            for number, (train, test) in enumerate(self.splits)
        ]
        return protocol

    def resume(self, store: str | os.PathLike[str], protocol: State) -> None:
        """Open the file of finished folds."""
        if protocol.get("seed", 0) is None:
            raise UnnaiveError("seed=None gives other folds every time; to resume, use a number")
        self.runs = Runs(store, {"data": hash_rows(self.data), **protocol})

    def key(self, unit: _Unit) -> str:
        """Return the key of a unit in the file; it depends on the model's parameters."""
        return f"{unit.model}, repeat {unit.repeat}, fold {unit.fold}, {self.keys[unit.model]}"

    def run(
        self, n_jobs: int | None, watch: Callable[[Step], None] | None
    ) -> list[dict[str, float] | Failure]:
        """Run the units that are not finished, and return the results of all."""
        saved = (
            {unit[:3]: self.runs.get(self.key(unit)) for unit in self.units} if self.runs else {}
        )
        results = {place: result for place, result in saved.items() if result is not None}
        missing = [unit for unit in self.units if unit[:3] not in results]
        self.resumed = len(results)
        lock, numbers = Lock(), count(self.resumed + 1)

        def run_unit(unit: _Unit) -> None:
            result = results[unit[:3]] = self.attempt(unit)
            with lock:
                number = next(numbers)
                error = result.error if isinstance(result, Failure) else None
                step = Step(number, len(self.units), *unit[:3], error)
                if watch is not None:
                    watch(step)
                _progress.tell("comparison", number, len(self.units), step)

        with Once():
            _parallel.run(run_unit, missing, n_jobs)
        return [results[unit[:3]] for unit in self.units]

    def take_original(self, places: IntArray) -> tuple[object, object, FloatArray | None]:
        """Return some rows as they were given, for estimators of other libraries."""
        X, y = (_safe_indexing(rows, places) for rows in self.original)
        return X, y, None if self.data.weights is None else self.data.weights[places]

    def attempt(self, unit: _Unit) -> dict[str, float] | Failure:
        """Run one fold of one model; an error is returned as a failure."""
        model, data = self.models[unit.model], self.data
        take = self.take_original if isinstance(model, _Guest) else data.take
        try:
            chances, fit_seconds, predict_seconds = fit_and_predict(
                model, take, (unit.train, unit.test), data.classes
            )
            weights = None if data.weights is None else data.weights[unit.test]
            scores = measure(chances, data.codes[unit.test], data.classes, weights).scores()
        except Exception as error:  # the other models are still evaluated
            if _progress.is_from_callback(error):
                raise
            message = " ".join(f"{type(error).__name__}: {error}".split())
            return Failure(*unit[:3], message)
        result = {**scores, "fit_seconds": fit_seconds, "predict_seconds": predict_seconds}
        if self.runs is not None:
            self.runs.put(self.key(unit), result)
        return result

    def collect(
        self, outcomes: list[dict[str, float] | Failure], metrics: tuple[str, ...], protocol: State
    ) -> Comparison:
        """Collect the results in arrays over folds."""
        nothing = dict.fromkeys((*metrics, "fit_seconds", "predict_seconds"), np.nan)
        results = [nothing if isinstance(unit, Failure) else unit for unit in outcomes]
        size = len(self.splits)
        blocks = {
            model: results[place * size : (place + 1) * size]
            for place, model in enumerate(self.models)
        }

        def over_folds(model: str, name: str) -> FloatArray:
            return np.array([unit[name] for unit in blocks[model]])

        return Comparison(
            scores={m: {name: over_folds(m, name) for name in metrics} for m in blocks},
            fit_seconds={m: over_folds(m, "fit_seconds") for m in blocks},
            predict_seconds={m: over_folds(m, "predict_seconds") for m in blocks},
            failures=tuple(unit for unit in outcomes if isinstance(unit, Failure)),
            classes=self.data.classes,
            n_rows=len(self.data.codes),
            protocol=protocol,
            test_share=float(np.mean([len(test) / len(train) for train, test in self.splits])),
            resumed=self.resumed,
        )


class _Guest(BaseEstimator):  # type: ignore[misc]
    """An estimator of another library, with our signature of ``fit``."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, rows: object, labels: object, weights: FloatArray | None) -> Self:
        more = {} if weights is None else {"sample_weight": weights}
        self.fitted_ = self.estimator.fit(rows, labels, **more)
        self.classes_ = self.fitted_.classes_
        return self

    def predict_proba(self, rows: object) -> FloatArray:
        return np.asarray(self.fitted_.predict_proba(rows))


def _wrapped(name: str, model: object, original: Given) -> Classifier | _Guest:
    """Return one of our models as it is, and wrap an estimator of another library."""
    if isinstance(model, Classifier):
        return model
    if not (hasattr(model, "fit") and hasattr(model, "predict_proba")):
        raise UnnaiveError(
            f"model {name!r} is {model!r}; use a key or an estimator with predict_proba"
        )
    if isinstance(original[0], Frame) or isinstance(original[1], Column):
        raise UnnaiveError(
            f"model {name!r}, {type(model).__name__}, needs X and y as arrays or data frames"
        )
    return _Guest(model)


def _digest(model: object) -> str:
    """Fingerprint of a model's class and parameters, but for the number of threads."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        said = {n: repr(v) for n, v in sorted(parameters.items()) if not n.endswith("n_jobs")}
    text = f"{type(model).__module__}.{type(model).__qualname__} {said}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _digest_of(splits: list[tuple[IntArray, IntArray]]) -> str:
    text = "".join(repr(np.asarray(rows).tolist()) for split in splits for rows in split)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
