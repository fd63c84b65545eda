"""Input of models: samples, labels and numbers of classes are read and checked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._scikit import BaseEstimator, validate_data
from unnaive.exceptions import SchemaMismatch, UnnaiveError
from unnaive.io.frames import Frame, is_mappings, to_frame
from unnaive.models.fitted import Names
from unnaive.schema import sorted_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from unnaive._typing import FloatArray, Label
    from unnaive.io.frames import Column
    from unnaive.models.classifier import Classifier
    from unnaive.schema import Schema


class Given(NamedTuple):
    """A checked batch of samples: features, labels, weights, and names of the features."""

    frame: Frame
    target: Column
    weights: FloatArray | None
    names: Names


def numbers_of_classes(
    values: ArrayLike | Mapping[Label, float], labels: list[Label], name: str
) -> FloatArray:
    """Read a number for each class, from an array or a mapping; shape (k,).

    Classes that a mapping does not name have the number 0.
    """
    if isinstance(values, Mapping):
        if strange := [label for label in values if label not in labels]:
            what = f"{name} names {strange[0]!r}, which is not a class"
            raise ValueError(f"{what}; the classes are {labels}")
        values = [values.get(label, 0.0) for label in labels]
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={values!r}; it must be a list of numbers, one for each class"
        ) from None
    if numbers.shape != (len(labels),) or not np.isfinite(numbers).all():
        raise ValueError(
            f"{name}={values!r}; it needs one number for each of the {len(labels)} classes {labels}"
        )
    return numbers


def named_frame(X: object) -> tuple[Frame, Names]:
    """Read samples that define the features."""
    frame = to_frame(X)
    if isinstance(X, Frame) or is_mappings(X):
        return frame, Names.of(frame.names, named=True)
    seen = BaseEstimator()  # which scikit-learn's check leaves number and names on
    shape = X if hasattr(X, "shape") else np.empty((1, len(frame.names)))
    validate_data(seen, shape, reset=True, skip_check_array=True)
    return frame, Names(seen.n_features_in_, getattr(seen, "feature_names_in_", None))


def table_with_target(X: object, target: str) -> tuple[Frame, Column]:
    """Separate the column of labels from a table that has it."""
    if isinstance(X, np.ndarray | list | tuple) and not is_mappings(X):
        raise UnnaiveError(
            f"y is the text {target!r}, which names a column, but X has no names; give a label "
            "for every row"
        )
    return to_frame(X).split(target)


def known_frame(model: Classifier, X: object) -> Frame:
    """Read samples whose features must be those of the fit."""
    if is_mappings(X):
        names = model.schema_.names
        X = to_frame([{name: row.get(name) for name in names} for row in X])
    if isinstance(X, Frame):
        _require_names(model, list(X.names))
        return to_frame(X)
    frame = to_frame(X)
    if not has_names_of(model, X):
        shape = X if hasattr(X, "shape") else np.empty((1, len(frame.names)))
        validate_data(model, shape, reset=False, skip_check_array=True)
    return frame


def has_names_of(model: Classifier, X: object) -> bool:
    """Whether samples have the number and names of features of the fit; a quick check."""
    names = model.fitted_.names
    if isinstance(X, np.ndarray):
        return names.features is None and X.ndim == 2 and X.shape[1] == names.number
    columns: Sequence[object] = getattr(X, "columns", ())
    return names.features is not None and list(columns) == names.features.tolist()


def _require_names(model: Classifier, names: list[str]) -> None:
    """Check names of frames of this library as scikit-learn checks those of pandas."""
    features = model.fitted_.names.features
    known = names if features is None else features.tolist()
    if names != known:
        missing = [name for name in known if name not in names]
        extra = [name for name in names if name not in known]
        raise SchemaMismatch(
            "The feature names should match those that were passed during fit: "
            f"missing {missing}, not seen in fit {extra}, or in another order"
        )


def require_same_classes(classes: Sequence[Label] | None, schema: Schema) -> None:
    """Raise an error if a later call of ``partial_fit`` names other classes than the first."""
    if classes is not None and sorted_labels(set(classes)) != schema.classes:
        raise ValueError(
            f"classes={list(classes)!r} is not the same as on the first call to partial_fit: "
            f"{list(schema.classes)!r}"
        )
