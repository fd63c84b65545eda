"""Call the compiled core with invalid arguments: it must refuse or return, never crash.

Real calls are recorded while models learn and predict; then single entries, shapes and numbers of
their arguments are changed. Run as a program (``python tests/core/fuzz.py ROUNDS``), best under
AddressSanitizer: see ``build_tools/sanitize``.
"""

import sys
import time
from collections import Counter
from contextlib import suppress
from copy import deepcopy

import numpy as np

import unnaive._core as core

CALLS_A_KERNEL = 12
REFUSALS = (IndexError, TypeError, ValueError, MemoryError, OverflowError)
BAD = (-1, -2, 0, 1, 2, 7, 255, 1 << 16, 1 << 31, -(1 << 31), 1 << 40, -(1 << 62), (1 << 63) - 1)
recorded = {}


def rooms():
    """Return submodules of the core by name."""
    found = {name: getattr(core, name) for name in dir(core) if not name.startswith("_")}
    return {name: room for name, room in found.items() if type(room).__name__ == "module"}


def record():
    """Wrap every kernel, before it is imported by name, so that its calls are recorded."""
    for room_name, room in rooms().items():
        for name in dir(room):
            kernel = getattr(room, name)
            if callable(kernel) and not name.startswith("_"):
                setattr(room, name, _recorder(f"{room_name}.{name}", kernel))


def _recorder(key, kernel):
    kept = recorded.setdefault(key, (kernel, []))[1]

    def call(*arguments):
        if len(kept) < CALLS_A_KERNEL:
            kept.append(deepcopy(arguments))
        return kernel(*arguments)

    return call


def learn():
    """Fit, predict, compute leave-one-out and search with all models on a few small tables."""
    import unnaive  # noqa: PLC0415 - after the kernels were wrapped
    from unnaive.models.averaging import arc_probabilities  # noqa: PLC0415
    from unnaive.tables import weighing  # noqa: PLC0415 - as above

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    codes = (labels[:, None] + rng.integers(0, 3, (60, 5))) % 4
    numbers = labels[:, None] + rng.normal(size=(60, 4))
    gaps = numbers.copy()
    gaps[rng.random(gaps.shape) < 0.2] = np.nan
    weights = rng.integers(1, 3, 60) / 2
    for make in unnaive.all_models().values():
        for X, settings in ((codes, {"discretize": None}), (numbers, {}), (gaps, {})):
            model = make()
            known = model.get_params()
            quick = {"max_evaluations": 60, "random_state": 0, "n_jobs": 2}
            chosen = {**settings, **quick}
            model.set_params(**{name: v for name, v in chosen.items() if name in known})
            for sample_weight in (None, weights):
                _try(model, X, labels, sample_weight)
    for settings in ({"smoothing": "hierarchical"}, {"n_features": "loo"}, {"threshold": "loo"}):
        for name in ("TAN", "KDB", "AODE", "PHNB"):
            model = getattr(unnaive, name)()
            if set(settings) <= set(model.get_params()):
                _try(model.set_params(**settings), codes, labels, None)
    for sample_weight in (None, weights):
        _try(unnaive.BayesNet(search="pc", augmented=False), codes, labels, sample_weight)
    arc_probabilities(unnaive.BayesNet(max_parents=2), codes, labels)
    unnaive.TAN().fit(codes, labels).predict_interval(codes)
    unnaive.TAN(smoothing="bdeu").fit(codes[:9], labels[:9]).predict_interval(codes)
    unnaive.count(gaps, labels, discretize="auto")
    weighing._TOGETHER = -1  # as with more rows
    _try(unnaive.WeightedBayes(), codes, labels, None)


def _try(model, X, labels, sample_weight):
    with suppress(
        TypeError, ValueError, ArithmeticError, AttributeError
    ):  # not every model takes every table
        model.fit(X, labels, sample_weight)
        model.predict_proba(X)
        model.loo_predict_proba(X, labels, sample_weight)


def spoil(value, rng):
    """Change an argument: an entry, a shape, an order, or a number."""
    if isinstance(value, tuple):
        place = rng.integers(len(value))
        return tuple(spoil(v, rng) if i == place else v for i, v in enumerate(value))
    if isinstance(value, np.ndarray):
        return _spoil_array(value.copy(), rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return int(rng.choice(BAD))
    if value is None or callable(value):
        bad = (None, lambda *_: None, lambda *_: "x", lambda *_: np.nan, lambda *_: -1.0)
        return bad[rng.integers(len(bad))]
    return float(rng.choice([-1.0, 0.0, 1e308, -np.inf, np.inf, np.nan, value + 1]))


def _spoil_array(array, rng):
    way = rng.integers(6)
    if way == 0 and array.ndim and len(array):
        return np.ascontiguousarray(array[:-1])
    if way == 1:
        return np.ascontiguousarray(np.concatenate([array, array[:1]]))
    if way == 2:
        return np.ascontiguousarray(array.T)
    if way == 3:
        return np.zeros([0] * array.ndim, dtype=array.dtype)
    if array.size:
        place = tuple(rng.integers(extent) for extent in array.shape)
        with np.errstate(all="ignore"):
            array[place] = np.array(rng.choice(BAD)).astype(array.dtype)
    return array


def main(rounds, seconds):
    """Change the arguments of every recorded call several times."""
    rng = np.random.default_rng(1)
    counts, start = Counter(), time.perf_counter()
    for _ in range(rounds):
        for kernel, calls in recorded.values():
            for arguments in calls:
                spoiled = list(deepcopy(arguments))
                place = rng.integers(len(spoiled))
                spoiled[place] = spoil(spoiled[place], rng)
                try:
                    kernel(*spoiled)
                    counts["answered"] += 1
                except REFUSALS:
                    counts["refused"] += 1
            if time.perf_counter() - start > seconds:
                break
    return counts


if __name__ == "__main__":
    record()
    learn()
    silent = sorted(key for key, (_, calls) in recorded.items() if not calls)
    counts = main(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1e9)
    print(f"{len(recorded)} kernels, never called: {', '.join(silent) or 'none'}")
    print(f"{counts['answered']:,} answered, {counts['refused']:,} refused")
