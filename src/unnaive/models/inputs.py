"""Input of models: samples, labels and numbers of classes are read and checked here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._scikit import BaseEstimator, validate_data
from unnaive.exceptions import SchemaMismatch
from unnaive.io.frames import Frame, is_mappings, to_frame
from unnaive.models.fitted import Names
from unnaive.schema.learn import declared_classes

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
        try:
            validate_data(model, shape, reset=False, skip_check_array=True)
        except ValueError as error:  # scikit-learn's words, which its checks ask for
            raise ValueError(f"{error}{how_to_select(model, frame.names)}") from None
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
    if features is not None and names != features.tolist():
        raise SchemaMismatch(
            "The feature names should match those that were passed during fit: "
            f"{names_that_differ(names, features.tolist())}"
        )


def names_that_differ(names: Sequence[str], known: Sequence[str]) -> str:
    """Say which columns are missing or too many; if none is, that their order is another."""
    differences = {
        "missing": [name for name in known if name not in names],
        "not seen in fit": [name for name in names if name not in known],
    }
    said = (f"{what}: {', '.join(map(repr, some))}" for what, some in differences.items() if some)
    return "; ".join(said) or "their order is another"


def how_to_select(model: Classifier, names: Sequence[str]) -> str:
    """Say how to get the columns of the fit from a table with other columns, if it has names."""
    features = model.fitted_.names.features
    if features is None or set(names).isdisjoint(features):
        return ""
    if set(features) <= set(names):
        return "To select the features of the fit: X[list(model.feature_names_in_)].\n"
    return (
        "To take absent features as missing values: X.reindex(columns=model.feature_names_in_) of "
        "pandas, or pass the rows as dictionaries.\n"
    )


def require_same_classes(classes: Sequence[Label] | None, schema: Schema) -> None:
    """Raise an error if a later call of ``partial_fit`` names other classes than the first."""
    if classes is not None and declared_classes(classes) != schema.classes:
        raise ValueError(
            f"classes={list(classes)!r} is not the same as on the first call to partial_fit: "
            f"{list(schema.classes)!r}"
        )
