"""Parameters that name columns: declared categories, and columns that are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, BoolArray
    from unnaive.schema.columns import Label

    Features = str | Sequence[str | int] | AnyArray | None  # "auto", names, positions, a mask
    Missing = bool | Sequence[str | int] | AnyArray
    Categories = str | Mapping[str, Iterable[Label]] | Sequence[Iterable[Label] | None] | None


def require_features(names: Sequence[str], target: str | None) -> None:
    """Raise an error if there is no column but the target."""
    if not names:
        but = "" if target is None else f" but the target {target!r}"
        raise UnnaiveError(f"there is no column{but}; at least one feature is needed")


def declared_categories(
    categories: Categories, names: Sequence[str]
) -> dict[str, tuple[Label, ...]]:
    """Read ``categories=``: a mapping by name, or a list with one entry (or None) per column."""
    if categories is None or (isinstance(categories, str) and categories == "auto"):
        return {}
    if isinstance(categories, Mapping):
        unknown = [name for name in categories if name not in names]
        if unknown:
            raise ValueError(f"categories= names {unknown[0]!r}, which is not a column of X")
        declared = dict(categories)
    else:
        wrong = isinstance(categories, str) or not isinstance(categories, Sized)
        if wrong or len(categories) != len(names):
            raise ValueError(
                f"categories={categories!r}; it must be a mapping from column names or a list of "
                f"{len(names)} entries, one per column (None: learn them)"
            )
        pairs = zip(names, categories, strict=True)
        declared = {name: labels for name, labels in pairs if labels is not None}
    return {name: _declared(name, labels) for name, labels in declared.items()}


def _declared(name: str, labels: object) -> tuple[Label, ...]:
    """Check the declared values of one column."""
    values = named_categories(name, labels)
    if len(set(values)) != len(values):
        raise ValueError(f"categories= of column {name!r} has a value twice")
    return values


def named_categories(name: str, labels: object) -> tuple[Label, ...]:
    """Read the list of categories that somebody gives for a column."""
    return _listed(
        f"categories= of column {name!r}", labels, ", and missing cells need no category"
    )


def named_classes(labels: object) -> tuple[Label, ...]:
    """Read the list of classes that somebody gives."""
    return _listed("classes=", labels)


def _listed(what: str, labels: object, more: str = "") -> tuple[Label, ...]:
    """Check a list of labels; return them without the types of numpy, for messages and files."""
    if isinstance(labels, str | Mapping) or not isinstance(labels, Iterable):
        raise ValueError(f"{what} is {labels!r}; it must be a list of values")
    values = tuple(x.item() if isinstance(x, np.generic) else x for x in labels)
    for value in values:
        fits = isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))
        if not fits:
            raise ValueError(f"{what} has {value!r}; values are strings or finite numbers{more}")
    return values


def categorical_mask(features: Features, names: Sequence[str]) -> BoolArray | None:
    """Read ``categorical_features=``: "auto" (None here), names, positions or a mask."""
    if isinstance(features, str) and features == "auto":
        return None
    return _chosen_mask("categorical_features", "'auto'", features, names)


def missing_mask(columns: Missing, names: Sequence[str]) -> BoolArray:
    """Read ``missing_as_category=``: True (all columns), False, names, positions or a mask."""
    if isinstance(columns, bool | np.bool_):
        return np.full(len(names), columns, dtype=bool)
    return _chosen_mask("missing_as_category", "True, False", columns, names)


def _chosen_mask(parameter: str, words: str, columns: Features, names: Sequence[str]) -> BoolArray:
    """Read a parameter that chooses columns by names, positions or a mask."""
    mask = np.zeros(len(names), dtype=bool)
    empty = isinstance(columns, Sized) and not isinstance(columns, str) and not len(columns)
    if columns is None or empty:
        return mask
    chosen: AnyArray = np.asarray(columns)
    if chosen.ndim != 1 or (chosen.dtype == bool and len(chosen) != len(names)):
        raise ValueError(
            f"{parameter} must be {words}, a list of column names or positions, or a "
            f"mask of {len(names)} booleans; it is {columns!r}"
        )
    if chosen.dtype == bool:
        return chosen
    for feature in chosen.tolist():
        if isinstance(feature, str):
            if feature not in names:
                raise ValueError(f"{parameter} names {feature!r}, which is not a column of X")
            mask[list(names).index(feature)] = True
        elif isinstance(feature, int) and -len(names) <= feature < len(names):
            mask[feature] = True
        else:
            raise ValueError(
                f"{parameter} has {feature!r}; positions run from 0 to {len(names) - 1}"
            )
    return mask
