"""The one door to scikit-learn, whose import takes longer than most answers of ours.

Functions are imported when they are first called. The base classes of estimators are
scikit-learn's, unless a program that only predicts called :func:`do_without` first.
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
    """What is left of an estimator in a program that only predicts: its parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's
        """Parameters by name."""
        names = list(signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **given: Any) -> Self:
        """Change parameters."""
        for name, value in given.items():
            setattr(self, name, value)
        return self


class PlainMixin:
    """Stands in for a mixin of scikit-learn's."""


def do_without() -> None:
    """Make estimators of plain classes from now on, unless scikit-learn is there already."""
    global _plain  # noqa: PLW0603 - asked for once, at the start of a program
    _plain = "sklearn" not in sys.modules


def __getattr__(name: str) -> Any:
    if name not in _BASES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _plain:
        return PlainEstimator if name == "BaseEstimator" else type(name, (PlainMixin,), {})
    return getattr(import_module("sklearn.base"), name)


def _later(module: str, name: str) -> Callable[..., Any]:
    """Import a function of scikit-learn's when it is first called."""

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
    """Copy an estimator with its parameters, not fitted."""
    if not _plain:
        return import_module("sklearn.base").clone(estimator)
    given = estimator.get_params()
    return type(estimator)(
        **{
            name: clone(value) if isinstance(value, PlainEstimator) else deepcopy(value)
            for name, value in given.items()
        }
    )


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError if an estimator was not fitted."""
    is_fitted = getattr(estimator, "__sklearn_is_fitted__", None)
    if is_fitted is None or not is_fitted():
        import_module("sklearn.utils.validation").check_is_fitted(estimator)
