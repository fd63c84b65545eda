"""Random hostile data for every model: a clear answer or a clear refusal, as docstrings promise.

An exception that is no :class:`ValueError`, probabilities that are not finite or do not sum to 1,
and a broken promise are faults. What models promise (:func:`promises`) is what their docstrings
say: two fits agree, the order of the samples and of the features does not matter, and a sample of
weight 2 is the same sample twice; each exactly, up to rounding, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import unnaive
from fuzz.run import check_message

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.run import Subject

ROUNDING = 1e-8  # largest difference of probabilities that is due to rounding
FITTED = {"wanbia", "weighted-tan", "weighted-pairs"}  # weights by a minimization
GAUSSIAN = {"gaussian-nb", "full-bayes", "k-naive", "gaussian-tan", "gaussian-kdb"}
SUMS = {"nb", "aode", "waode", "hnb"}  # no choice among features, so that their order only rounds
SMOOTHINGS = [None, None, "laplace", "laplace:1e-12", "m-estimate", "bdeu", "backoff", "ml"]
SMOOTHINGS += ["hierarchical", "hierarchical:5", "bdeu:1e-9", "laplace:1e9"]
KINDS = ["two", "few", "many", "constant", "missing", "copy", "normal", "tiny", "huge", "integers"]


def column(kind: str, y: np.ndarray, before: list[object], random: np.random.Generator) -> object:
    """Return the cells of one column."""
    n = len(y)
    if kind == "copy":
        return before[-1] if before else np.zeros(n)
    if kind == "missing":
        return np.full(n, np.nan)
    if kind == "constant":
        return np.full(n, random.choice([0.0, 1e-300, 7.0, 1e300]))
    if kind in {"two", "few", "many"}:
        size = {"two": 2, "few": 5, "many": 300}[kind]
        codes = (random.integers(size, size=n) + y * random.integers(2)) % size
        return np.array([f"v{code}" for code in codes], dtype=object)
    if kind == "integers":
        return random.integers(-3, 4, size=n)
    scale = {"normal": 1.0, "tiny": 1e-300, "huge": 1e307}[kind]
    return scale * np.clip(random.normal(size=n) + y, -9, 9)


def problem(random: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Return features, classes and weights of a hostile shape."""
    n = int(random.choice([1, 2, 3, 5, 8, 20, 60, 200]))
    d = int(random.choice([1, 2, 3, 6, 12]))
    k = int(random.choice([1, 2, 2, 3, 40]))
    y = random.integers(k, size=n)
    numbers = random.random() < 0.5
    kinds = KINDS[3:] if numbers else KINDS
    cells: list[object] = []
    for _ in range(d):
        cells.append(column(str(random.choice(kinds)), y, cells, random))
    X = pd.DataFrame({f"x{i}": cell for i, cell in enumerate(cells)})
    gaps = random.random(X.shape) < random.choice([0.0, 0.0, 0.2, 0.9])
    weights = None
    if random.random() < 0.2:
        weights = random.choice([0.0, 1e-9, 0.5, 1.0, 2.0, 1e9], size=n)
    return X.mask(gaps), y, weights


def settings(key: str, random: np.random.Generator) -> dict[str, object]:
    """Return random settings that the model has."""
    known = unnaive.make(key).get_params()
    chosen: dict[str, object] = {
        "smoothing": random.choice(np.array(SMOOTHINGS, dtype=object)),
        "discretize": random.choice(np.array(["mdlp", None, "quantile", "width"], dtype=object)),
        "calibrate": "loo" if random.random() < 0.1 else None,
        "random_state": 0,
    }
    return {name: value for name, value in chosen.items() if name in known}


def require(condition: object, message: str) -> None:
    """Raise an error that the caller reports as wrong."""
    if not condition:
        raise AssertionError(message)


def judge(chances: np.ndarray, what: str) -> None:
    """Check probabilities."""
    require(np.isfinite(chances).all(), f"{what}: not finite: {chances[:2]}")
    require(np.allclose(chances.sum(axis=1), 1.0), f"{what}: do not sum to 1: {chances[:2]}")
    require((chances >= 0).all(), f"{what}: below 0")


@dataclass(frozen=True)
class Promise:
    """Largest differences of probabilities; None: nothing is promised."""

    rows: float | None = 0.0
    twice: float | None = 0.0
    columns: float | None = None


def promises(key: str, chosen: dict[str, object]) -> Promise:
    """Return what the docstring of a model promises."""
    columns = ROUNDING if key in SUMS and chosen.get("calibrate") is None else None
    if key in {"iterative", "auto"}:
        return Promise(None, None)
    if chosen.get("calibrate") is not None:
        return Promise(ROUNDING, None)
    if key in FITTED or key in GAUSSIAN:
        return Promise(ROUNDING, ROUNDING)
    if key in {"apnbc", "apnbc-eda"}:
        return Promise(0.0, None)
    return Promise(0.0, 0.0, columns)


def fitted(
    key: str, chosen: dict[str, object], X: pd.DataFrame, y: np.ndarray, weights: np.ndarray | None
) -> unnaive.models.Classifier:
    """Fit a model, with weights if there are any."""
    model = unnaive.make(key, **chosen)
    return model.fit(X, y) if weights is None else model.fit(X, y, sample_weight=weights)


def agree(found: np.ndarray, expected: np.ndarray, allowed: float, what: str) -> None:
    """Check that two models give the same probabilities."""
    gap = np.abs(found - expected).max(initial=0.0)
    require(gap <= allowed, f"{what}: probabilities differ by {gap:.2g}, more than {allowed:g}")


def check_promises(
    key: str, seed: int, chosen: dict[str, object], random: np.random.Generator
) -> None:
    """Fit again in the way that is the turn of this seed, and compare with what is promised."""
    X, y, _ = problem(random)
    promise = promises(key, chosen)
    model = fitted(key, chosen, X, y, None)
    expected = model.predict_proba(X)
    judge(expected, "predict_proba")
    turn = seed // 2 % 4
    if turn == 0:
        again = fitted(key, chosen, X, y, None).predict_proba(X)
        agree(again, expected, 0.0, "two fits")
    elif turn == 1 and promise.rows is not None:
        order = random.permutation(len(y))
        again = fitted(key, chosen, X.iloc[order].reset_index(drop=True), y[order], None)
        agree(again.predict_proba(X), expected, promise.rows, "permuted rows")
    elif turn == 2 and promise.twice is not None:
        times = random.integers(1, 3, size=len(y))
        again = fitted(key, chosen, X, y, times)
        places = np.repeat(np.arange(len(y)), times)
        twice = fitted(key, chosen, X.iloc[places].reset_index(drop=True), y[places], None)
        agree(again.predict_proba(X), twice.predict_proba(X), promise.twice, "weight 2")
    elif turn == 3 and promise.columns is not None:
        names = list(random.permutation(X.columns))
        again = fitted(key, chosen, X[names], y, None).predict_proba(X[names])
        agree(again, expected, promise.columns, "permuted columns")


def answers(key: str, seed: int, chosen: dict[str, object], random: np.random.Generator) -> None:
    """Fit to any data, and ask for probabilities of the rows, of others, and of left-out ones."""
    X, y, weights = problem(random)
    model = fitted(key, chosen, X, y, weights)
    judge(model.predict_proba(X), "predict_proba")
    other = X.sample(frac=1.0, random_state=seed).mask(random.random(X.shape) < 0.3)
    judge(model.predict_proba(other), "predict_proba of new rows")
    if hasattr(model, "loo_predict_proba") and weights is None and random.random() < 0.3:
        judge(model.loo_predict_proba(X, y), "loo_predict_proba")


def tried(key: str, seed: int) -> str:
    """Fit one model to data of one seed, in one of two ways."""
    random = np.random.default_rng([seed, len(key), *key.encode()])
    chosen = settings(key, random)
    try:
        (check_promises if seed % 2 else answers)(key, seed, chosen, random)
    except ValueError as error:
        check_message(error)
    except AssertionError as error:
        return f"{error}; {chosen}"
    return ""


def subjects(_: Path) -> dict[str, Subject]:
    """Return a function of the seed for every model."""
    return {key: partial(tried, key) for key in sorted(unnaive.all_models())}
