"""Random hostile data for every model: a clear answer or a clear refusal, as docstrings promise.

A case is one model with random settings and one random data set. The model is fitted, and asked for
probabilities of its samples and of others. Then it is fitted again in two of these ways, by turns,
and compared (:class:`Promise` says how closely):

- to the same samples, given as another kind of table and with two threads;
- to permuted samples; to samples of weight 2 and to the same samples twice; to permuted features;
- saved and loaded; from its own counts, and after samples were added and forgotten;
- to hostile weights, where only the answer is judged.

Faults are an exception that is no :class:`ValueError`, probabilities that are not finite or do not
sum to 1, a broken promise, and a second fit that refuses what the first one accepted. What models
promise (:func:`promises`) is what their docstrings say: each exactly, up to rounding, or not at
all. One case in four also changes parameters that only this model has.
"""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import unnaive
from fuzz.run import Refused, check_message
from unnaive.exceptions import TableTooLarge
from unnaive.io.frames import Column, Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fuzz.run import Subject

    Settings = dict[str, object]

ROUNDING = 1e-8  # largest difference of probabilities that is due to rounding
FITTED = {"wanbia", "weighted-tan", "weighted-pairs"}  # weights by a minimization
GAUSSIAN = {"gaussian-nb", "full-bayes", "k-naive", "gaussian-tan", "gaussian-kdb"}
SUMS = {"nb", "aode", "waode", "hnb"}  # no choice among features, so that their order only rounds
SMOOTHINGS = [None, None, "laplace", "laplace:1e-12", "m-estimate", "bdeu", "backoff", "ml"]
SMOOTHINGS += ["hierarchical", "hierarchical:5", "bdeu:1e-9", "laplace:1e9"]
KINDS = ["two", "few", "many", "constant", "missing", "copy", "normal", "tiny", "huge", "integers"]
COMMON = {"n_jobs", "handle_unknown", "calibrate", "random_state"}  # parameters of all models


def column(
    name: str, kind: str, y: np.ndarray, before: list[Column], random: np.random.Generator
) -> Column:
    """Return one column."""
    n = len(y)
    if kind == "copy":
        return replace(before[-1], name=name) if before else Column(name, np.zeros(n))
    if kind == "missing":
        return Column(name, np.full(n, np.nan))
    if kind == "constant":
        return Column(name, np.full(n, random.choice([0.0, 1e-300, 7.0, 1e300])))
    if kind in {"two", "few", "many"}:
        size = {"two": 2, "few": 5, "many": 300}[kind]
        codes = (random.integers(size, size=n) + y * random.integers(2)) % size
        labels = tuple(f"v{code}" for code in range(size))
        return Column(name, codes.astype(np.int32), labels, declared=bool(random.random() < 0.1))
    if kind == "integers":
        return Column(name, random.integers(-3, 4, size=n))
    scale = {"normal": 1.0, "tiny": 1e-300, "huge": 1e307}[kind]
    return Column(name, scale * np.clip(random.normal(size=n) + y, -9, 9))


def masked(frame: Frame, gaps: np.ndarray) -> Frame:
    """Return a frame with missing cells."""

    def with_gaps(cells: Column, gap: np.ndarray) -> Column:
        if not gap.any():
            return cells
        values = np.where(gap, -1 if cells.is_text else np.nan, cells.values)
        return replace(cells, values=values.astype(np.int32) if cells.is_text else values)

    pairs = zip(frame.columns, gaps.T, strict=True)
    whole = replace(frame, columns=tuple(with_gaps(cells, gap) for cells, gap in pairs))
    return whole.take(np.arange(frame.n_rows))  # without labels that do not occur


def problem(random: np.random.Generator) -> tuple[Frame, np.ndarray]:
    """Return features and classes of a hostile shape."""
    n = int(random.choice([1, 2, 3, 5, 8, 20, 60, 200]))
    d = int(random.choice([1, 2, 3, 6, 12]))
    k = int(random.choice([1, 2, 2, 3, 40]))
    y = random.integers(k, size=n)
    kinds = KINDS[3:] if random.random() < 0.5 else KINDS
    columns: list[Column] = []
    for place in range(d):
        columns.append(column(f"x{place}", str(random.choice(kinds)), y, columns, random))
    frame = Frame(tuple(cells.name for cells in columns), n, tuple(columns))
    return masked(frame, random.random((n, d)) < random.choice([0.0, 0.0, 0.2, 0.9])), y


def given(frame: Frame, door: int) -> object:
    """Return a frame as a pandas table, a list of rows, an array of numbers, or as it is."""
    if door == 0:
        return pd.DataFrame({cells.name: _for_pandas(cells) for cells in frame.columns})
    if door == 1 and not any(cells.declared for cells in frame.columns):
        rows = range(frame.n_rows)
        return [{c.name: c.cell(row) for c in frame.columns} for row in rows]
    if door == 2 and not any(cells.is_text for cells in frame.columns):
        return np.column_stack([cells.values.astype(np.float64) for cells in frame.columns])
    return frame


def _for_pandas(cells: Column) -> object:
    if cells.categories is None:
        return cells.values
    if cells.declared:
        return pd.Categorical.from_codes(cells.values, categories=list(cells.categories))
    return np.append(np.array(cells.categories, dtype=object), None)[cells.values]


@cache
def known_parameters(key: str) -> dict[str, list[object]]:
    """Return the parameters of a model, and the words or truth values that each may have."""
    found: dict[str, list[object]] = {}
    for entry in dataclasses.fields(unnaive.make(key)):
        allowed = entry.metadata.get("allowed")
        words = [] if allowed is None else list(allowed.words)
        found[entry.name] = [True, False] if isinstance(entry.default, bool) else words
    return found


def settings(key: str, random: np.random.Generator) -> tuple[Settings, bool]:
    """Return random settings that the model has, and whether one is only this model's own."""
    known = known_parameters(key)
    chosen: Settings = {
        "smoothing": SMOOTHINGS[random.integers(len(SMOOTHINGS))],
        "discretize": ["mdlp", None, "quantile", "width"][random.integers(4)],
        "calibrate": "loo" if random.random() < 0.1 else None,
        "missing_as_category": bool(random.random() < 0.1),
        "max_categories": 3 if random.random() < 0.1 else None,
        "max_memory": [2**20, 2**24, 2**24, 2**31][random.integers(4)],
        "random_state": 0,
    }
    own = {name: words for name, words in known.items() if words and name not in COMMON | {*chosen}}
    special = bool(own) and bool(random.random() < 0.25)
    if special:
        for name in random.choice(sorted(own), size=min(2, len(own)), replace=False):
            chosen[str(name)] = own[name][random.integers(len(own[name]))]
    return {name: value for name, value in chosen.items() if name in known}, special


def require(condition: object, message: str) -> None:
    """Raise an error that the caller reports as wrong."""
    if not condition:
        raise AssertionError(message)


def judge(chances: np.ndarray, what: str) -> None:
    """Check probabilities."""
    wrong = {
        "not finite": ~np.isfinite(chances),
        "do not sum to 1": np.abs(chances.sum(axis=1) - 1.0) > 1e-8,
        "below 0": chances < 0,
    }
    for fault, places in wrong.items():
        if places.any():
            raise AssertionError(f"{what}: {fault}: {chances[:2]}")


def agree(found: np.ndarray, expected: np.ndarray, allowed: float, what: str) -> None:
    """Check that two models give the same probabilities."""
    require(found.shape == expected.shape, f"{what}: other classes")
    gap = np.abs(found - expected).max(initial=0.0)
    require(gap <= allowed, f"{what}: probabilities differ by {gap:.2g}, more than {allowed:g}")


@dataclass(frozen=True)
class Promise:
    """Largest differences of probabilities; None: nothing is promised."""

    rows: float | None = 0.0
    twice: float | None = 0.0
    columns: float | None = None
    counts: float | None = 0.0


def promises(key: str, chosen: Settings, *, gaps: bool, special: bool) -> Promise:
    """Return what the docstring of a model promises."""
    if special:
        return Promise(None, None, None, None)
    if key in {"iterative", "auto"}:
        return Promise(None, None)
    if chosen.get("calibrate") is not None:
        return Promise(ROUNDING, None, None, None)
    if key in FITTED or key in GAUSSIAN:
        estimated = gaps and key in GAUSSIAN - {"gaussian-nb"}  # by fit, not by partial_fit
        return Promise(ROUNDING, ROUNDING, None, None if estimated else ROUNDING)
    if key in {"apnbc", "apnbc-eda"}:
        return Promise(0.0, None)
    return Promise(0.0, 0.0, ROUNDING if key in SUMS else None)


@dataclass(frozen=True)
class Case:
    """A model that was fitted to a problem, and its probabilities for the samples."""

    key: str
    chosen: Settings
    frame: Frame
    y: np.ndarray
    promise: Promise
    model: unnaive.models.Classifier
    expected: np.ndarray
    random: np.random.Generator
    path: Path

    def fitted(
        self, frame: Frame, y: np.ndarray, weights: np.ndarray | None = None
    ) -> unnaive.models.Classifier:
        """Fit another model with the same settings."""
        return unnaive.make(self.key, **self.chosen).fit(frame, y, sample_weight=weights)


def again(case: Case) -> None:
    """Fit to the same samples, given otherwise, with two threads; the result is equal."""
    model = unnaive.make(case.key, **case.chosen, n_jobs=2)
    X = given(case.frame, int(case.random.integers(3)))
    agree(model.fit(X, case.y).predict_proba(X), case.expected, 0.0, "two fits")


def permuted_rows(case: Case) -> None:
    """Fit to the samples in another order."""
    if case.promise.rows is not None:
        order = case.random.permutation(len(case.y))
        model = case.fitted(case.frame.take(order), case.y[order])
        agree(model.predict_proba(case.frame), case.expected, case.promise.rows, "permuted rows")


def twice(case: Case) -> None:
    """Fit to samples of weight 1 and 2, and to each so many times."""
    if case.promise.twice is not None:
        times = case.random.integers(1, 3, size=len(case.y))
        places = np.repeat(np.arange(len(case.y)), times)
        try:
            repeated = case.fitted(case.frame.take(places), case.y[places])
        except TableTooLarge:  # twice the samples may have another structure, with larger tables
            with may_refuse():
                case.fitted(case.frame, case.y, times)
                require(False, "weight 2 is not refused, but the samples twice are")
            return
        weighted = case.fitted(case.frame, case.y, times)
        found, expected = (model.predict_proba(case.frame) for model in (weighted, repeated))
        agree(found, expected, case.promise.twice, "weight 2")


def permuted_columns(case: Case) -> None:
    """Fit to the features in another order."""
    if case.promise.columns is not None:
        frame = case.frame.select(list(case.random.permutation(case.frame.names)))
        found = case.fitted(frame, case.y).predict_proba(frame)
        agree(found, case.expected, case.promise.columns, "permuted columns")


@contextmanager
def may_refuse() -> Iterator[None]:
    """Let a check end here if the library refuses in one line."""
    try:
        yield
    except ValueError as error:
        with suppress(Refused):
            check_message(error)


def saved(case: Case) -> None:
    """Save and load the model; its answers are equal."""
    case.model.save(case.path)
    loaded = unnaive.load(case.path)
    agree(loaded.predict_proba(case.frame), case.expected, 0.0, "saved and loaded")


def counted(case: Case) -> None:
    """Fit to the counts of the model; then add samples, and forget them again."""
    if case.promise.counts is None or not hasattr(case.model, "forget"):
        return
    if hasattr(case.model, "fit_counts"):
        with may_refuse():  # models that learn from rows
            other = unnaive.make(case.key, **case.chosen).fit_counts(case.model.counts_)
            agree(other.predict_proba(case.frame), case.expected, 0.0, "fitted to its counts")
    rows = case.random.permutation(len(case.y))[: 1 + len(case.y) // 3]
    more = (case.frame.take(rows), case.y[rows])
    try:
        model = unnaive.make(case.key, **case.chosen).partial_fit(case.frame, case.y)
    except TableTooLarge:  # its docstring: a model that learns its structure again needs all pairs
        recipe = case.model.recipe()
        if not recipe.keeps and recipe.counts == "pairs":
            return
        raise
    expected = model.predict_proba(case.frame)
    found = model.partial_fit(*more).forget(*more).predict_proba(case.frame)
    agree(found, expected, case.promise.counts, "added and forgotten")


def weighted(case: Case) -> None:
    """Fit with hostile weights; the model may refuse them."""
    weights = case.random.choice([0.0, 1e-9, 0.5, 1.0, 2.0, 1e9], size=len(case.y))
    with may_refuse():
        model = case.fitted(case.frame, case.y, weights)
        judge(model.predict_proba(case.frame), "predict_proba with weights")


def left_out(case: Case) -> None:
    """Ask for leave-one-out probabilities of the samples."""
    if not hasattr(case.model, "loo_predict_proba"):
        return
    with may_refuse():  # models without leave-one-out in closed form
        judge(case.model.loo_predict_proba(case.frame, case.y), "loo_predict_proba")


TURNS: tuple[tuple[Callable[[Case], None], ...], ...] = (
    (again, permuted_rows),
    (twice, permuted_columns),
    (saved, counted),
    (left_out, weighted),
)


def begun(key: str, seed: int, path: Path) -> Case:
    """Fit a model to the data of one seed, and judge its answers."""
    random = np.random.default_rng([seed, len(key), *key.encode()])
    chosen, special = settings(key, random)
    frame, y = problem(random)
    X = given(frame, seed // len(TURNS) % 8)
    model = unnaive.make(key, **chosen).fit(X, y)
    expected = model.predict_proba(X)
    judge(expected, "predict_proba")
    other = frame.take(random.permutation(len(y)))
    other = masked(other, random.random((len(y), len(frame.names))) < 0.3)
    judge(model.predict_proba(other), "predict_proba of new rows")
    gaps = any(cells.missing.any() for cells in frame.columns)
    promise = promises(key, chosen, gaps=gaps, special=special)
    return Case(key, chosen, frame, y, promise, model, expected, random, path)


def tried(key: str, path: Path, seed: int) -> str:
    """Fit one model to data of one seed, and check what is the turn of this seed."""
    try:
        case = begun(key, seed, path)
    except ValueError as error:
        check_message(error)
    except AssertionError as error:
        return str(error)
    for check in TURNS[seed % len(TURNS)]:
        try:
            check(case)
        except ValueError as error:
            return f"{check.__name__} refused: {error}; {case.chosen}"
        except AssertionError as error:
            return f"{error}; {case.chosen}"
    return ""


def subjects(folder: Path) -> dict[str, Subject]:
    """Return a function of the seed for every model."""
    keys = sorted(unnaive.all_models())
    return {key: partial(tried, key, folder / "model.unb") for key in keys}
