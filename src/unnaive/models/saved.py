"""The description of a saved model, by which a file is checked before a model is made of it.

It adds the parts of models to the description of statistics, :mod:`unnaive.io.description`. What it
cannot know, since models learn different things, is found by asking the restored model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.io.description import (
    CALIBRATION,
    COUNTS,
    FLAG,
    LABEL,
    MOMENTS,
    NUMBER,
    TEXT,
    WHOLE,
    Array,
    Each,
    Record,
    any_finite,
    moderate,
    of_schema,
    require,
)
from unnaive.io.store import TYPES
from unnaive.schema.columns import LARGEST_NUMBER
from unnaive.structure.graph import topological

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.io.description import Check, Sizes
    from unnaive.models.classifier import Classifier

# Errors that values of a wrong type, size or range can lead to:
BROKEN = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError)

_ROUNDING = 1e-6  # by which an eigenvalue of correlations of few columns may be below 0


def members(value: object, place: str, sizes: Sizes) -> None:
    """Check the members of a blend, each of which is a model."""
    require(isinstance(value, dict) and value, place, "a dictionary of members")
    member = Record(
        {"name": TEXT, "weight": NUMBER, "calibration": CALIBRATION, "fitted": check_state}
    )
    for key, state in dict(value).items():  # type: ignore[call-overload]
        require(key.isdecimal(), f"{place}.{key}", "a number")
        member(state, f"{place}.{key}", sizes)
        require(len(state["fitted"]["labels"]) == sizes["k"], f"{place}.{key}", "of these classes")
    _same_categories(dict(value), place)  # type: ignore[call-overload]


def _same_categories(states: State, place: str) -> None:
    """Require that the members of a blend have the same categories of a column."""
    seen: dict[str, object] = {}
    for key, state in states.items():
        for counted in (state["fitted"], state["fitted"].get("labels_model") or {}):
            counts = counted.get("counts")
            for entry in counts["schema"]["columns"] if counts else ():
                if "categories" in entry:
                    first = seen.setdefault(entry["name"], entry["categories"])
                    agree = first == entry["categories"]
                    require(agree, f"{place}.{key}", "of the categories of the other members")


def families(value: object, place: str, sizes: Sizes) -> None:
    """Check columns that are followed by their parents: each only once, and without a cycle."""
    Each(Each(WHOLE, least=1, distinct=True))(value, place, sizes)
    columns: list[list[int]] = list(value)  # type: ignore[call-overload]
    parents: list[list[int]] = [[] for _ in range(sizes["d"])]
    known = all(0 <= column < sizes["d"] for family in columns for column in family)
    require(known, place, "of columns of the model")
    require(len({family[0] for family in columns}) == len(columns), place, "of different columns")
    for child, *above in columns:
        parents[child] = above
    topological(parents, ())


def covariances(value: object, place: str, sizes: Sizes) -> None:
    """Check covariances of the classes: symmetric, and of no negative variance but by rounding."""
    square = Array(("k", None, None), "f", largest=LARGEST_NUMBER**2, asymmetry=0.0)
    square(value, place, sizes)
    matrices: FloatArray = np.asarray(value)
    variances = np.einsum("kii->ki", matrices)
    require((variances >= 0).all(), place, "of variances of 0 or more")
    scale = np.sqrt(np.where(variances > 0, variances, 1.0))
    correlations = matrices / scale[:, :, None] / scale[:, None, :]
    least = np.linalg.eigvalsh(correlations).min(initial=0.0)
    require(least >= -_ROUNDING * matrices.shape[-1], place, "positive semidefinite")


STRUCTURE = Record({"families": families}, may=("families",), others=moderate)
LEARNED = Record(
    {
        "means": Array(("k", None), "f", largest=LARGEST_NUMBER),
        "covariances": covariances,
        "families": families,
        "cells": any_finite,
    },
    may=("means", "covariances", "families", "cells"),
    others=moderate,
)
COUNTED: dict[str, Check] = {
    "counts": of_schema(COUNTS),
    "structure": STRUCTURE,
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
        "moments": of_schema(MOMENTS),
        "learned": LEARNED,
        "numbers": Each(WHOLE, distinct=True),
        "labels_model": Record(COUNTED, may=tuple(COUNTED)),
        "members": members,
        "leaderboard": Each(Record({"name": TEXT})),
        "sample": Each(WHOLE, least=2),
    },
    may=(
        *(*COUNTED, "moments", "learned", "numbers", "labels_model"),
        *("members", "leaderboard", "sample"),
    ),
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
    require(state["classes"] in {"labels", *TYPES}, f"{place}.classes", "a type of labels")
    for key in ("counts", "moments"):
        if state.get(key) is not None:
            _agrees(state, state[key]["schema"], place, all_columns=key == "counts")


def _agrees(state: State, schema: State, place: str, *, all_columns: bool) -> None:
    """Compare names and labels with those of the schema; moments are of some columns only."""
    names = [entry["name"] for entry in schema["columns"]]
    agree = names == state["names"] if all_columns else set(names) <= set(state["names"])
    require(agree, f"{place}.names", "those of the columns")
    require(schema["classes"] == state["labels"], f"{place}.labels", "those of the classes")
    if not all_columns:
        places = [state["names"].index(name) for name in names]
        require(sorted(state["numbers"]) == sorted(places), f"{place}.numbers", "those columns")


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
    require(whole, "the model", "whole: it gives no probabilities")


def _cell(entry: object, last: int) -> object:
    """Return the first (0) or last (−1) category of a column, or a number beyond its edges."""
    categories = getattr(entry, "categories", None)
    if categories is not None:
        return categories[last]
    edges = getattr(entry, "edges", ()) or (0.0,)
    return float(edges[last]) + (1.0 if last else -1.0)
