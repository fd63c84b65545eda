"""Altered models whose checksums are right: each must be refused by ``load``, or answer properly.

    python -m fuzz.states --seconds 60 [--seed 0] [--only tan]

A checksum finds damage, but anyone can compute it again for other content. So the program takes the
saved models of ``tests/golden/models``, changes one to three values of the state (a number, a
shape, a type, a key, an entry of an array), saves it properly, and loads it. What loads must give
finite probabilities that sum to 1 over the right classes, explain them, and be saved again. All
else is a fault. The program prints it with the seed that makes it again, and ends with 1.
"""

from __future__ import annotations

import argparse
import collections
import copy
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np

import unnaive
from unnaive.exceptions import UnnaiveError
from unnaive.io import store

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "models"
NUMBERS = (0, -1, 1, 2, 7, 255, 2**31, 2**63, -(2**63), 0.5, -0.0, 1e308, -1e308, 5e-324)
ODD = (*NUMBERS, float("nan"), float("inf"), None, True, "", "x", "class", [], {}, [0], {"a": 1})
TYPES = ("?", "i1", "i4", "i8", "u1", "u8", "f4", "f8")
SLOW = 5.0  # seconds


def places(state: object, path: tuple = ()) -> list[tuple]:
    """Paths of all values in a state, nested ones too."""
    inner = ()
    if isinstance(state, dict):
        inner = state.items()
    elif isinstance(state, list):
        inner = enumerate(state)
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def altered_array(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Change an entry, the type, the shape or the order of an array."""
    choice = rng.integers(7)
    if choice == 0:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(TYPES))
    if choice == 1:
        return array[: rng.integers(len(array) + 1)] if array.ndim else array.reshape(1)
    if choice == 2:
        return np.concatenate([array, array]) if array.ndim else np.array([array, array])
    if choice == 3:
        return array.reshape(-1) if array.ndim != 1 else array.reshape(-1, 1)
    if choice == 4 and array.size:
        return rng.permutation(array.reshape(-1)).reshape(array.shape)
    changed = array.copy()
    for _ in range(rng.integers(1, 4)):
        if changed.size:
            _set_entry(changed, rng)
    return changed


def _set_entry(array: np.ndarray, rng: np.random.Generator) -> None:
    place = tuple(rng.integers(size) for size in array.shape)
    pool = NUMBERS + ((np.nan, np.inf, -np.inf) if array.dtype.kind == "f" else ())
    number = pool[rng.integers(len(pool))]
    if array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        number = int(min(max(int(number), info.min), info.max))
    with np.errstate(all="ignore"):
        array[place] = number


def altered(state: dict, rng: np.random.Generator) -> dict:
    """Copy a state, with some of its values changed."""
    state = copy.deepcopy(state)
    for _ in range(rng.integers(1, 4)):
        found = places(state)[1:]
        *way, key = found[rng.integers(len(found))]
        inside = state
        for step in way:
            inside = inside[step]
        value, choice = inside[key], rng.integers(6)
        if isinstance(value, np.ndarray) and choice:
            inside[key] = altered_array(value, rng)
        elif choice == 1:
            del inside[key]
        elif choice == 2 and isinstance(value, list) and value:
            inside[key] = [*value, value[rng.integers(len(value))]]
        elif choice == 3 and isinstance(value, list):
            inside[key] = [value[i] for i in rng.permutation(len(value))]
        elif isinstance(value, (int, float)) and choice == 4:
            inside[key] = value + int(rng.integers(-2, 3))
        else:
            inside[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])
    return state


def rows_for(model: unnaive.models.Classifier, rng: np.random.Generator) -> list[dict]:
    """Rows of known, unseen and missing values for a model."""
    columns = model.schema_.columns
    rows = []
    for _ in range(4):
        row = {}
        for column in columns:
            if rng.random() < 0.2:
                row[column.name] = None
            elif hasattr(column, "categories") and column.categories:
                row[column.name] = column.categories[rng.integers(len(column.categories))]
            else:
                row[column.name] = float(rng.normal(scale=10.0))
        rows.append(row)
    return rows


def fault(path: Path, rng: np.random.Generator) -> str:
    """Say what is wrong with how the library treats a file; "" if it is refused or answers."""
    try:
        model = unnaive.load(path)
    except UnnaiveError as error:
        return "a message of several lines" if "\n" in str(error) else ""
    chances = model.predict_proba(rows := rows_for(model, rng))
    if chances.shape != (len(rows), len(model.classes_)):
        return f"shape {chances.shape} for {len(model.classes_)} classes"
    if not np.isfinite(chances).all() or not np.allclose(chances.sum(axis=1), 1.0):
        return f"probabilities {chances[0]}"
    model.predict(rows)
    model.explain(rows[:1]).text()
    repr(model)
    model.save(path)
    return ""


def tried(name: str, state: dict, seed: int, path: Path) -> str:
    """Try one alteration, and return the fault that it shows, or ""."""
    rng = np.random.default_rng([seed, len(name), *name.encode()])
    try:
        store.save(path, altered(state, rng), written_by=unnaive.__version__)
    except (TypeError, OverflowError, ValueError):
        return ""
    start = time.process_time()
    try:
        wrong = fault(path, rng)
    except UnnaiveError as error:
        wrong = f"accepted by load, then {type(error).__name__}: {str(error)[:200]}"
    except (MemoryError, Exception) as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(line.filename).name}:{line.lineno}"
        wrong = f"{type(error).__name__} at {where}: {str(error)[:200]}"
    if not wrong and (spent := time.process_time() - start) > SLOW:
        wrong = f"took {spent:.1f} s"
    return wrong


def run(seconds: float, first: int, only: str) -> int:
    """Alter states until the time is up; return how many faults there were."""
    states = {p.stem: store.load(p) for p in sorted(GOLDEN.glob("*.unb")) if only in p.stem}
    faults: dict[str, list[str]] = collections.defaultdict(list)
    end, seed, tries = time.monotonic() + seconds, first, 0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.unb"
        while time.monotonic() < end:
            for name, state in states.items():
                tries += 1
                if wrong := tried(name, state, seed, path):
                    faults[wrong.split(": ", 1)[0]].append(f"{name} {seed}: {wrong}")
            seed += 1
    for kind, examples in sorted(faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(examples):6d}  {kind}\n          {examples[0]}")
    print(f"{tries:,} altered states, {sum(map(len, faults.values()))} faults")
    return sum(map(len, faults.values()))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="models whose name contains this")
    options = parser.parse_args()
    sys.exit(bool(run(options.seconds, options.seed, options.only)))


if __name__ == "__main__":
    main()
