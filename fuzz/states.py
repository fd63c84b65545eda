"""Altered models whose checksums are right: each must be refused by ``load``, or answer properly.

A checksum finds damage, but anyone can compute it again for other content. So the program takes the
saved models of ``tests/golden/models``, changes one to three values of the state (a number, a
shape, a type, a key, an entry of an array), saves it properly, and loads it. What loads must give
finite probabilities that sum to 1 over the right classes, explain them, and be saved again. Counts
that load must give a model, or be refused by it. All else is a fault.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

import unnaive
from fuzz.run import check_message
from unnaive.exceptions import ModelFileError, TableTooLarge, UnnaiveError
from unnaive.io import store

if TYPE_CHECKING:
    from fuzz.run import Subject

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "models"
NUMBERS = (0, -1, 1, 2, 7, 255, 2**31, 2**63, -(2**63), 0.5, -0.0, 1e308, -1e308, 5e-324)
ODD = (*NUMBERS, float("nan"), float("inf"), None, True, "", "x", "class", [], {}, [0], {"a": 1})
TYPES = ("?", "i1", "i4", "i8", "u1", "u8", "f4", "f8")
COUNTED = ("tan", "a2de", "kdb")  # models whose counts are altered on their own


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


def altered(state: dict, known: list[tuple], rng: np.random.Generator) -> dict:
    """Change some values of a copy of a state; what is not changed is shared with the state."""
    state = dict(state)
    for _ in range(rng.integers(1, 4)):
        *way, key = known[rng.integers(len(known))]
        inside = state
        try:
            for step in way:
                inside[step] = copy.copy(inside[step])
                inside = inside[step]
            _alter(inside, key, rng)
        except (LookupError, TypeError):
            continue  # an earlier change removed this place
    return state


def _alter(inside: dict | list, key: str | int, rng: np.random.Generator) -> None:
    """Change one value of a dictionary or list."""
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
    """Say what is wrong with how the library treats a model file; "" if it answers.

    A file may say that the model has a few bytes of memory (``max_memory``); it refuses rows then.
    """
    try:
        model = unnaive.load(path)
        chances = model.predict_proba(rows := rows_for(model, rng))
    except (ModelFileError, TableTooLarge) as error:
        check_message(error)
    if chances.shape != (len(rows), len(model.classes_)):
        return f"shape {chances.shape} for {len(model.classes_)} classes"
    if not np.isfinite(chances).all() or not np.allclose(chances.sum(axis=1), 1.0):
        return f"probabilities: {chances[0]}"
    model.predict(rows)
    model.explain(rows[:1]).text()
    repr(model)
    model.save(path)
    return ""


def fault_of_counts(path: Path, _: np.random.Generator) -> str:
    """Say what is wrong with how the library treats a counts file."""
    try:
        counts = unnaive.JointCounts.load(path)
        model = unnaive.NaiveBayes().fit_counts(counts)
    except UnnaiveError as error:
        check_message(error)
    chances = model.predict_proba([{}])
    if chances.shape != (1, len(counts.schema.classes)) or not np.isfinite(chances).all():
        return f"probabilities: {chances[0]}"
    return ""


class Altered:
    """The altered states of one saved object."""

    def __init__(self, name: str, path: Path) -> None:
        counts = name.removeprefix("counts-")
        old = GOLDEN / f"{counts}.unb"
        unnaive.load(old).save(path)
        self.name, self.path, self.states = name, path, [store.load(old), store.load(path)]
        self.kind, self.judge = "model", fault
        if counts != name:
            self.kind, self.judge = "counts", fault_of_counts
            self.states = [state["counts"] for state in self.states]
        self.known = [places(state)[1:] for state in self.states]

    def __call__(self, seed: int) -> str:
        """Try one alteration, and return the fault that it shows, or "".

        Files of version 0.1.0 and of the present code take turns. One in eight states goes through
        a file. The others are handed to the same functions, as if they had been read, since writing
        and reading takes most of the time.
        """
        rng = np.random.default_rng([seed, len(self.name), *self.name.encode()])
        try:
            turn = seed // 8 % 2
            state = altered(self.states[turn], self.known[turn], rng)
        except (TypeError, OverflowError, ValueError):
            return ""
        if seed % 8 == 0:
            store.save(self.path, state, self.kind, written_by=unnaive.__version__)
            return self.judge(self.path, rng)
        with patch.object(store, "load", lambda *_, **__: state):
            return self.judge(self.path, rng)


def subjects(folder: Path) -> dict[str, Subject]:
    """Return a function of the seed for every saved model, and for counts."""
    names = [path.stem for path in sorted(GOLDEN.glob("*.unb"))]
    names += [f"counts-{name}" for name in COUNTED]
    return {name: Altered(name, folder / "model.unb") for name in names}
