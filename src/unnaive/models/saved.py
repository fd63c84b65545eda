"""The description of a saved model, by which a file is checked before a model is made of it.

A checksum finds damage, but anyone can compute it again for other content. Therefore the state that
a file holds is compared with one description: types, shapes, ranges, and what must agree with what.
Sizes that several entries share have names: ``k`` classes and ``d`` columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.io.store import TYPES

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, State
    from unnaive.models.classifier import Classifier

Sizes: TypeAlias = dict[str, int]
Check: TypeAlias = Callable[[object, str, Sizes], None]
# Errors that values of a wrong type, size or range can lead to:
BROKEN = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError)


def _require(holds: object, place: str, wanted: str) -> None:
    if not holds:
        raise UnnaiveError(f"{place} is not {wanted}")


@dataclass(frozen=True)
class Value:
    """A plain value of some types; floats must be finite."""

    types: tuple[type, ...]
    wanted: str

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if the value is of another type."""
        _require(isinstance(value, self.types), place, self.wanted)
        _require(not isinstance(value, float) or isfinite(value), place, "finite")
        _require(bool in self.types or not isinstance(value, bool), place, self.wanted)


@dataclass(frozen=True)
class Array:
    """An array of numbers with a shape (sizes, names of sizes, or None for any) and a range."""

    shape: tuple[int | str | None, ...]
    kinds: str = "if"
    least: float = -np.inf
    most: str = ""  # name of a size: all entries are below it
    narrow: bool = False  # whether it may be of whole numbers of fewer than 8 bytes

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if the array has another type, shape or range, or infinite entries."""
        _require(isinstance(value, np.ndarray), place, "an array")
        array: AnyArray = np.asarray(value)
        usual = array.dtype.kind in self.kinds and array.dtype.itemsize == 8
        _require(usual or (self.narrow and array.dtype.kind == "u"), place, "of its type")
        expected = [sizes[size] if isinstance(size, str) else size for size in self.shape]
        fits = array.ndim == len(expected) and all(
            wanted is None or actual == wanted
            for actual, wanted in zip(array.shape, expected, strict=True)
        )
        _require(fits, place, f"of shape {self.shape}, but {array.shape}")
        _require(np.isfinite(array).all(), place, "finite")
        if array.size:
            below = not self.most or array.max() < sizes[self.most]
            _require(array.min() >= self.least and below, place, "in range")


@dataclass(frozen=True)
class Each:
    """A list of entries, of which each passes a check; no two are alike if ``distinct``."""

    check: Check
    least: int = 0
    distinct: bool = False
    size: str = ""

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if the list or an entry of it is not as described."""
        _require(isinstance(value, list), place, "a list")
        entries: list[object] = list(value)  # type: ignore[call-overload]
        for number, entry in enumerate(entries):
            self.check(entry, f"{place}[{number}]", sizes)
        if self.distinct:
            keys = {(isinstance(entry, str), isinstance(entry, bool), entry) for entry in entries}
            _require(len(keys) == len(entries), place, "free of repeated entries")
        _require(len(entries) >= self.least, place, f"at least {self.least} long")
        _require(not self.size or len(entries) == sizes[self.size], place, f"{self.size} long")


@dataclass(frozen=True)
class Record:
    """A dictionary with these entries; ``may`` names those that can be absent or None."""

    entries: Mapping[str, Check]
    may: tuple[str, ...] = ()

    def __call__(self, value: object, place: str, sizes: Sizes) -> None:
        """Raise an error if an entry is absent or not as described."""
        _require(isinstance(value, dict), place, "a dictionary")
        state: State = dict(value)  # type: ignore[call-overload]
        for key, check in self.entries.items():
            if key in self.may and state.get(key) is None:
                continue
            _require(key in state, place, f"complete: it lacks {key!r}")
            check(state[key], f"{place}.{key}", sizes)


def any_finite(value: object, place: str, sizes: Sizes) -> None:
    """Check arrays of any shape for being finite, and single numbers, which may be infinite.

    Both may be nested in lists and dictionaries. A threshold of −∞ means that there is none.
    """
    if isinstance(value, np.ndarray):
        _require(value.dtype.kind in "biuf" and np.isfinite(value).all(), place, "finite")
    elif isinstance(value, dict):
        for key, entry in value.items():
            any_finite(entry, f"{place}.{key}", sizes)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            any_finite(entry, f"{place}[{number}]", sizes)
    elif isinstance(value, float):
        _require(not isnan(value), place, "a number")


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
    if "edges" not in state:
        Record({"categories": LABELS})(value, place, sizes)
        return
    Record({"edges": Each(NUMBER)})(value, place, sizes)
    edges = [float(edge) for edge in state["edges"]]
    _require(edges == sorted(set(edges)), f"{place}.edges", "increasing")


SCHEMA = Record(
    {"target": TEXT, "classes": Each(LABEL, least=1, distinct=True), "columns": Each(column)}
)
CALIBRATION = Record({"temperature": NUMBER, "bias": Array(("k",), "f")})
FAMILY = Record(
    {
        "columns": Each(WHOLE, least=1, distinct=True),
        "contexts": Array((None,), "i", least=0),
        "table": Array((None, None, None), least=0),
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
    """Check the tables of pairs: all cells, or positions and counts of those that occurred."""
    steps = {key: check for key, check in CELLS.entries.items() if key != "columns"}
    (Record(steps) if isinstance(value, dict) else Array(("k", None), least=0))(value, place, sizes)


COUNTS = Record(
    {
        "schema": SCHEMA,
        "class_counts": Array(("k",), least=0),
        "values": Array(("k", None), least=0),
        "pair_columns": Array((None, 2), "i", least=0, most="d"),
        "pairs": pairs,
        "families": Each(family),
        "triples": Array(("k", None), least=0),
        "cells": Each(CELLS),
    },
    may=("triples", "cells"),
)
MOMENTS = Record(
    {
        "schema": SCHEMA,
        "class_weights": Array(("k",), "f", least=0),
        "origin": Array(("d",), "f"),
        "weights": Array(("k", "d", "d"), "f", least=0),
        "sums": Array(("k", "d", "d"), "f"),
        "products": Array(("k", "d", "d"), "f"),
    }
)


def _of_schema(check: Record) -> Check:
    """Check statistics by the sizes of the schema that they hold."""

    def checked(value: object, place: str, sizes: Sizes) -> None:
        Record({"schema": SCHEMA})(value, place, sizes)
        schema: State = dict(value)["schema"]  # type: ignore[call-overload]
        _require(len(schema["classes"]) == sizes["k"], f"{place}.schema.classes", "k long")
        check(value, place, {**sizes, "d": len(schema["columns"])})

    return checked


def members(value: object, place: str, sizes: Sizes) -> None:
    """Check the members of a blend, each of which is a model."""
    _require(isinstance(value, dict) and value, place, "a dictionary of members")
    member = Record(
        {"name": TEXT, "weight": NUMBER, "calibration": CALIBRATION, "fitted": check_state}
    )
    for key, state in dict(value).items():  # type: ignore[call-overload]
        _require(key.isdecimal(), f"{place}.{key}", "a number")
        member(state, f"{place}.{key}", sizes)
        _require(len(state["fitted"]["labels"]) == sizes["k"], f"{place}.{key}", "of these classes")


COUNTED: dict[str, Check] = {
    "counts": _of_schema(COUNTS),
    "structure": any_finite,
    "calibration": CALIBRATION,
}
MODEL = Record(
    {
        "model": TEXT,
        "parameters": Record({}),
        "named": FLAG,
        "names": Each(TEXT, distinct=True),
        "labels": Each(LABEL, least=1, distinct=True),
        "classes": TEXT,
        **COUNTED,
        "moments": _of_schema(MOMENTS),
        "learned": any_finite,
        "numbers": Each(WHOLE, distinct=True),
        "labels_model": Record(COUNTED, may=tuple(COUNTED)),
        "members": members,
        "leaderboard": Each(Record({"name": TEXT})),
    },
    may=(*COUNTED, "moments", "learned", "numbers", "labels_model", "members", "leaderboard"),
)


def check_state(value: object, place: str = "the model", sizes: Sizes | None = None) -> None:
    """Compare the state of a model with the description; raise an error where they differ.

    Parameters
    ----------
    value : object
        What a file holds.
    place : str, default="the model"
        How messages name it.
    sizes : dict, default=None
        Not used: a model has its own sizes.

    Raises
    ------
    UnnaiveError
        At the first entry that is not as described.
    """
    Record({"names": Each(TEXT), "labels": Each(LABEL)})(value, place, {})
    state: State = dict(value)  # type: ignore[call-overload]
    own = {"k": len(state["labels"]), "d": len(state["names"])}
    MODEL(state, place, own)
    _require(state["classes"] in {"labels", *TYPES}, f"{place}.classes", "a type of labels")
    for key in ("counts", "moments"):
        if state.get(key) is not None:
            _agrees(state, state[key]["schema"], place, all_columns=key == "counts")


def _agrees(state: State, schema: State, place: str, *, all_columns: bool) -> None:
    """Compare names and labels with those of the schema; moments are of some columns only."""
    names = [entry["name"] for entry in schema["columns"]]
    agree = names == state["names"] if all_columns else set(names) <= set(state["names"])
    _require(agree, f"{place}.names", "those of the columns")
    _require(schema["classes"] == state["labels"], f"{place}.labels", "those of the classes")
    if not all_columns:
        places = [state["names"].index(name) for name in names]
        _require(sorted(state["numbers"]) == sorted(places), f"{place}.numbers", "those columns")


def require_answers(model: Classifier) -> None:
    """Ask a restored model for rows of missing, first and last values; raise if it cannot answer.

    The description does not know every array that a model may have learned. What does not fit is
    refused by the loops over tables, which check their arguments, at this first question.
    """
    columns = model.schema_.columns
    known = [entry for entry in columns if getattr(entry, "categories", True)]
    rows = [{entry.name: _cell(entry, last) for entry in known} for last in (0, -1)]
    rows += [] if model.refuses_missing else [{}]
    try:
        chances = model.predict_proba(rows)
        model.bias_of(model.classes_.tolist())
        whole = chances.shape == (len(rows), len(model.classes_)) and np.isfinite(chances).all()
    except BROKEN:
        whole = False
    _require(whole, "the model", "whole: it gives no probabilities")


def _cell(entry: object, last: int) -> object:
    """Return the first (0) or last (−1) category of a column, or a number beyond its edges."""
    categories = getattr(entry, "categories", None)
    if categories is not None:
        return categories[last]
    edges = getattr(entry, "edges", ()) or (0.0,)
    return float(edges[last]) + (1.0 if last else -1.0)
