"""The description of saved statistics, by which a file is checked before it is used.

A checksum finds damage, but anyone can compute it again for other content. Therefore the state that
a file holds is compared with one description: types, shapes, ranges, and what must agree with what.
Sizes that several entries share have names: ``k`` classes and ``d`` columns. Models add their parts
in :mod:`unnaive.models.saved`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, isnan
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, State

Sizes: TypeAlias = dict[str, int]
Check: TypeAlias = Callable[[object, str, Sizes], None]

_ROUNDING = 1e-6  # of sums of products: with weights, those of i and j are not those of j and i
LARGEST = 1e100  # of what a model learned; products and sums of larger numbers can overflow


def require(holds: object, place: str, wanted: str) -> None:
    """Raise an error that names the place and what is wanted there."""
    if not holds:
        raise UnnaiveError(f"{place} is not {wanted}")


@dataclass(frozen=True)
class Value:
    """A plain value of some types; floats must be finite."""

    types: tuple[type, ...]
    wanted: str

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if the value is of another type."""
        require(isinstance(value, self.types), place, self.wanted)
        require(not isinstance(value, float) or isfinite(value), place, "finite")
        require(bool in self.types or not isinstance(value, bool), place, self.wanted)


@dataclass(frozen=True)
class Array:
    """An array of numbers with a shape (sizes, names of sizes, or None for any) and a range."""

    shape: tuple[int | str | None, ...]
    kinds: str = "if"
    least: float = -np.inf
    most: str = ""  # name of a size: all entries are below it
    narrow: bool = False  # whether it may be of whole numbers of fewer than 8 bytes
    largest: float = np.inf  # absolute value
    asymmetry: float = np.inf  # of the last two axes, in shares of the largest entries of both

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if the array has another type, shape or range, or infinite entries."""
        require(isinstance(value, np.ndarray), place, "an array")
        array: AnyArray = np.asarray(value)
        usual = array.dtype.kind in self.kinds and array.dtype.itemsize == 8
        require(usual or (self.narrow and array.dtype.kind == "u"), place, "of its type")
        expected = [sizes[size] if isinstance(size, str) else size for size in self.shape]
        fits = array.ndim == len(expected) and all(
            wanted is None or actual == wanted
            for actual, wanted in zip(array.shape, expected, strict=True)
        )
        require(fits, place, f"of shape {self.shape}, but {array.shape}")
        require(np.isfinite(array).all(), place, "finite")
        if array.size:
            below = not self.most or array.max() < sizes[self.most]
            above = array.min() >= max(self.least, -self.largest)
            require(above and below and array.max() <= self.largest, place, "in range")
        if isfinite(self.asymmetry):
            require(array.shape[-1] == array.shape[-2], place, "symmetric")
            require(_asymmetry(array) <= self.asymmetry, place, "symmetric")


def _asymmetry(matrices: AnyArray) -> float:
    """Largest difference between entries (i, j) and (j, i), in shares of (i, i) and (j, j)."""
    differences = np.abs(matrices - matrices.swapaxes(-1, -2))
    if not differences.any():
        return 0.0
    d = matrices.shape[-1]
    scale = np.sqrt(np.abs(np.einsum("...ii->...i", matrices)).reshape(-1, d).max(axis=0))
    with np.errstate(all="ignore"):
        shares = differences / scale[:, None] / scale
    return float(np.nanmax(shares))


@dataclass(frozen=True)
class Each:
    """A list of entries, of which each passes a check; no two are alike if ``distinct``."""

    check: Check
    least: int = 0
    distinct: bool = False
    size: str = ""

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if the list or an entry of it is not as described."""
        require(isinstance(value, list), place, "a list")
        entries: list[object] = list(value)  # type: ignore[call-overload]
        for number, entry in enumerate(entries):
            self.check(entry, f"{place}[{number}]", sizes)
        if self.distinct:
            keys = {(isinstance(entry, str), isinstance(entry, bool), entry) for entry in entries}
            require(len(keys) == len(entries), place, "free of repeated entries")
        require(len(entries) >= self.least, place, f"at least {self.least} long")
        require(not self.size or len(entries) == sizes[self.size], place, f"{self.size} long")


@dataclass(frozen=True)
class Record:
    """A dictionary with these entries; ``may`` names those that can be absent or None.

    All other entries must pass the check ``others``, if there is one.
    """

    entries: Mapping[str, Check]
    may: tuple[str, ...] = ()
    others: Check | None = None

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if an entry is absent or not as described."""
        require(isinstance(value, dict), place, "a dictionary")
        state: State = dict(value)  # type: ignore[call-overload]
        for key, check in self.entries.items():
            if key in self.may and state.get(key) is None:
                continue
            require(key in state, place, f"complete: it lacks {key!r}")
            check(state[key], f"{place}.{key}", sizes)
        for key in state.keys() - self.entries.keys() if self.others else ():
            self.others(state[key], f"{place}.{key}", sizes)  # type: ignore[misc]


def any_finite(value: object, place: str, sizes: Sizes, largest: float = np.inf) -> None:
    """Check arrays of any shape for being finite, and single numbers, which may be infinite.

    Both may be nested in lists and dictionaries. A threshold of −∞ means that there is none.
    """
    if isinstance(value, np.ndarray):
        require(value.dtype.kind in "biuf" and np.isfinite(value).all(), place, "finite")
        least, most = float(value.min(initial=0)), float(value.max(initial=0))
        require(-largest <= least and most <= largest, place, "in range")
    elif isinstance(value, dict):
        for key, entry in value.items():
            any_finite(entry, f"{place}.{key}", sizes, largest)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            any_finite(entry, f"{place}[{number}]", sizes, largest)
    elif isinstance(value, float):
        require(not isnan(value), place, "a number")
        require(abs(value) <= largest or not isfinite(value), place, "in range")


def moderate(value: object, place: str, sizes: Sizes) -> None:
    """Check arrays and numbers of any kind, of which none may be so large that sums overflow."""
    any_finite(value, place, sizes, LARGEST)


TEXT = Value((str,), "text")
FLAG = Value((bool,), "true or false")
WHOLE = Value((int,), "a whole number")
NUMBER = Value((int, float), "a number")
LABEL = Value((str, int, float, bool), "text, a number or a truth value")
LABELS = Each(LABEL, distinct=True)


def column(value: object, place: str, sizes: Sizes) -> None:
    """Check a column of a schema: edges that increase, or categories without repeats."""
    Record({"name": TEXT})(value, place, sizes)
    state: State = dict(value)  # type: ignore[call-overload]
    FLAG(state.get("missing_category", False), f"{place}.missing_category", sizes)
    if "edges" not in state:
        Record({"categories": LABELS})(value, place, sizes)
        return
    Record({"edges": Each(NUMBER)})(value, place, sizes)
    edges = [float(edge) for edge in state["edges"]]
    require(edges == sorted(set(edges)), f"{place}.edges", "increasing")


def temperature(value: object, place: str, sizes: Sizes) -> None:
    """Check the factor of log joints: 0 or less would turn a probability of 0 into another."""
    NUMBER(value, place, sizes)
    require(0 < float(value) <= LARGEST, place, "in range")  # type: ignore[arg-type]


SCHEMA = Record(
    {"target": TEXT, "classes": Each(LABEL, least=1, distinct=True), "columns": Each(column)}
)
CALIBRATION = Record({"temperature": temperature, "bias": Array(("k",), "f", largest=LARGEST)})
TABLE = Array(("k", None), least=0, narrow=True)
FAMILY = Record(
    {
        "columns": Each(WHOLE, least=1, distinct=True),
        "contexts": Array((None,), "i", least=0, narrow=True),
        "table": Array((None, None, None), least=0, narrow=True),
    }
)
CELLS = Record(
    {
        "columns": Each(WHOLE, least=1, distinct=True),
        "steps": Array((None,), "i", least=0, narrow=True),
        "counts": Array((None,), least=0, narrow=True),
    }
)


def family(value: object, place: str, sizes: Sizes) -> None:
    """Check the counts of a family: of all values in its contexts, or of cells."""
    (CELLS if isinstance(value, dict) and "steps" in value else FAMILY)(value, place, sizes)


def pairs(value: object, place: str, sizes: Sizes) -> None:
    """Check the tables of pairs: all cells, or positions and counts of those that occurred.

    With ``low``, the lowest byte of every count, the others are counts divided by 256; with
    ``half``, which has two lower halves of a byte in each entry, counts divided by 16.
    """
    steps = {key: check for key, check in CELLS.entries.items() if key != "columns"}
    lower = {"low": TABLE, "half": Array((None,), "i", least=0, narrow=True)}
    by_cells = Record({**steps, **lower}, may=tuple(lower))
    (by_cells if isinstance(value, dict) else TABLE)(value, place, sizes)


COUNTS = Record(
    {
        "schema": SCHEMA,
        "class_counts": Array(("k",), least=0),
        "values": TABLE,
        "pair_columns": Array((None, 2), "i", least=0, most="d"),
        "pairs": pairs,
        "families": Each(family),
        "triples": TABLE,
        "cells": Each(CELLS),
    },
    may=("triples", "cells"),
)
MOMENTS = Record(
    {
        "schema": SCHEMA,
        "class_weights": Array(("k",), "f", least=0),
        "origin": Array(("d",), "f"),
        "weights": Array(("k", "d", "d"), "f", least=0, asymmetry=_ROUNDING),
        "sums": Array(("k", "d", "d"), "f"),
        "products": Array(("k", "d", "d"), "f", asymmetry=_ROUNDING),
        "rests": Array((2, "k", "d", "d"), "f"),
    },
    may=("rests",),
)


def of_schema(check: Record) -> Check:
    """Check statistics by the sizes of the schema that they hold."""

    def checked(value: object, place: str, sizes: Sizes) -> None:
        Record({"schema": SCHEMA})(value, place, sizes)
        schema: State = dict(value)["schema"]  # type: ignore[call-overload]
        require(len(schema["classes"]) == sizes["k"], f"{place}.schema.classes", "k long")
        check(value, place, {**sizes, "d": len(schema["columns"])})

    return checked


def check_counts(state: State) -> None:
    """Compare the state of counts with the description; raise an error where they differ.

    Parameters
    ----------
    state : dict
        What a file holds.

    Raises
    ------
    UnnaiveError
        At the first entry that is not as described.
    """
    Record({"schema": SCHEMA})(state, "the counts", {})
    of_schema(COUNTS)(state, "the counts", {"k": len(state["schema"]["classes"])})
