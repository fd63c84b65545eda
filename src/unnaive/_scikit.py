"""The only module that imports scikit-learn, and only when necessary, since that takes long.

Functions are imported when they are first called. The base classes of estimators are those of
scikit-learn, unless :func:`do_without` was called first: by commands that do not need it, and by
``unnaive.load`` in a program that has not imported scikit-learn. Models with plain base classes
still work in pipelines, searches and cross-validation; they lack the HTML view, ``set_output`` and
metadata routing.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

_BASES = {"BaseEstimator", "ClassifierMixin", "OneToOneFeatureMixin", "TransformerMixin"}
_plain = False


class PlainEstimator:
    """The methods that scikit-learn requires of an estimator, without its base class."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return parameters by name; with ``deep`` also those of nested estimators."""
        values = {name: getattr(self, name) for name in self._defaults()}
        for name, value in list(values.items()) if deep else ():
            if isinstance(value, PlainEstimator):
                nested = value.get_params().items()
                values |= {f"{name}__{inner}": inner_value for inner, inner_value in nested}
        return values

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; ``name__inner`` is a parameter of a nested estimator."""
        known = self._defaults()
        for name, value in parameters.items():
            outer, nested, inner = name.partition("__")
            if outer not in known:
                listed = ", ".join(known)
                raise ValueError(
                    f"{type(self).__name__} has no parameter {outer!r}; it has {listed}"
                )
            if nested:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        taken = list(signature(cls.__init__).parameters.values())[1:]
        return {one.name: one.default for one in taken}

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what kind of estimator this is."""
        tags = import_module("sklearn.utils")
        return tags.Tags(estimator_type=None, target_tags=tags.TargetTags(required=False))


class PlainClassifier:
    """Replaces scikit-learn's ``ClassifierMixin``."""

    def score(self, X: object, y: object, sample_weight: Any = None) -> float:
        """Return the accuracy, weighted if weights are given."""
        import numpy as np  # noqa: PLC0415 - ``import unnaive`` imports nothing heavy

        right = np.asarray(self.predict(X)) == np.asarray(y)  # type: ignore[attr-defined]
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is a classifier."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.estimator_type, tags.target_tags.required = "classifier", True
        tags.classifier_tags = import_module("sklearn.utils").ClassifierTags()
        return tags


class PlainTransformer:
    """Replaces scikit-learn's ``TransformerMixin``."""

    def fit_transform(self, X: object, y: object = None) -> object:
        """Fit to samples, and transform them."""
        return self.fit(X, y).transform(X)  # type: ignore[attr-defined]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output features: those of the input."""
        names = getattr(self, "feature_names_in_", input_features)
        return [f"x{place}" for place in range(self.n_features_in_)] if names is None else names  # type: ignore[attr-defined]


class PlainMixin:
    """Replaces another mixin of scikit-learn."""


def do_without() -> None:
    """Use plain base classes from now on, unless scikit-learn is already imported."""
    global _plain  # noqa: PLW0603 - set once, at the start of a program
    _plain = "sklearn" not in sys.modules


def __getattr__(name: str) -> Any:
    if name not in _BASES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _plain:
        plain = {"BaseEstimator": PlainEstimator, "ClassifierMixin": PlainClassifier}
        plain["TransformerMixin"] = PlainTransformer
        return plain.get(name, type(name, (PlainMixin,), {}))
    return getattr(import_module("sklearn.base"), name)


def _later(module: str, name: str) -> Callable[..., Any]:
    """Import a function of scikit-learn when it is first called."""

    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **options)

    call.__name__ = name
    return call


check_array = _later("sklearn.utils.validation", "check_array")
check_classification_targets = _later("sklearn.utils.multiclass", "check_classification_targets")
check_sample_weight = _later("sklearn.utils.validation", "_check_sample_weight")
column_or_1d = _later("sklearn.utils.validation", "column_or_1d")
validate_data = _later("sklearn.utils.validation", "validate_data")


def clone(estimator: Any) -> Any:
    """Return an estimator with the same parameters that is not fitted."""
    if not _plain:
        return import_module("sklearn.base").clone(estimator)
    copies = {
        name: clone(value) if isinstance(value, PlainEstimator) else deepcopy(value)
        for name, value in estimator.get_params().items()
    }
    return type(estimator)(**copies)


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError if an estimator is not fitted."""
    is_fitted = getattr(estimator, "__sklearn_is_fitted__", None)
    if is_fitted is None or not is_fitted():
        import_module("sklearn.utils.validation").check_is_fitted(estimator)
