"""Fit every model to random hostile data for some time, and print what went wrong.

    python -m fuzz.fits --minutes 15 --seed 0 --models tan,aode

Every case has its own seed, so ``--only SEED`` repeats it. A case is wrong if probabilities are not
finite or do not sum to 1, if an exception is neither a ValueError nor an UnnaiveError, or if the
fit and the predictions take longer than ``--seconds``. All messages of refused fits are listed at
the end: each of them should name its cure.
"""

from __future__ import annotations

import argparse
import signal
import time
import traceback
import warnings
from collections import Counter

import numpy as np
import pandas as pd

import unnaive
from unnaive.exceptions import UnnaiveError

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


def run(key: str, seed: int) -> None:
    """Fit and predict once."""
    random = np.random.default_rng(seed)
    X, y, weights = problem(random)
    model = unnaive.make(key, **settings(key, random))
    model.fit(X, y, sample_weight=weights) if weights is not None else model.fit(X, y)
    judge(model.predict_proba(X), "predict_proba")
    other = X.sample(frac=1.0, random_state=seed).mask(random.random(X.shape) < 0.3)
    judge(model.predict_proba(other), "predict_proba of new rows")
    if hasattr(model, "loo_predict_proba") and weights is None and random.random() < 0.3:
        judge(model.loo_predict_proba(X, y), "loo_predict_proba")


def late(*_: object) -> None:
    """Stop a fit that takes too long."""
    raise TimeoutError


def main() -> None:
    """Read the options and run until time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of one case")
    parser.add_argument("--models", default=",".join(sorted(unnaive.all_models())))
    parser.add_argument("--only", type=int, default=None, help="run only this seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    keys, end = options.models.split(","), time.monotonic() + 60 * options.minutes
    refused, wrong, cases, seed = Counter[str](), Counter[str](), 0, options.seed
    while time.monotonic() < end:
        key = keys[seed % len(keys)]
        number = seed if options.only is None else options.only
        for name in keys if options.only is not None else [key]:
            cases += 1
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(int(20 * options.seconds))
            try:
                run(name, number)
                require(time.process_time() - began < options.seconds, "too slow")
            except (ValueError, UnnaiveError) as error:
                refused[f"{name}: {error}"] += 1
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                text = (
                    f"{type(error).__name__} {str(error)[:150]!r} {place.filename.rsplit('/')[-1]}"
                )
                print(f"--models {name} --only {number}: {text}:{place.lineno}", flush=True)
                wrong[name] += 1
                if isinstance(error, KeyboardInterrupt):
                    raise
            finally:
                signal.alarm(0)
        if options.only is not None:
            break
        seed += 1
    print(f"{cases} cases, {sum(wrong.values())} wrong: {dict(wrong)}")
    for message, times in sorted(refused.items()):
        print(f"refused {times}x {message[:300]}")


if __name__ == "__main__":
    main()
