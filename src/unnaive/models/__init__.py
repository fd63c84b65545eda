"""The classifiers, one family a file, and the register of all of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from unnaive.models.aode import AODE
from unnaive.models.base import CountsClassifier
from unnaive.models.nb import NaiveBayes
from unnaive.models.persistence import load_model
from unnaive.models.tree import TAN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["AODE", "TAN", "CountsClassifier", "NaiveBayes", "all_models", "load", "make"]

_MODELS: dict[str, Callable[..., CountsClassifier]] = {
    "nb": NaiveBayes,
    "tan": TAN,
    "aode": AODE,
    "aode-sr": partial(AODE, subsumption=True),
}
_CLASSES: dict[str, type[CountsClassifier]] = {"NaiveBayes": NaiveBayes, "TAN": TAN, "AODE": AODE}


def all_models() -> dict[str, Callable[..., CountsClassifier]]:
    """Every model by its key, as a factory that takes the model's parameters.

    Examples
    --------
    >>> import unnaive
    >>> sorted(unnaive.all_models())
    ['aode', 'aode-sr', 'nb', 'tan']
    """
    return dict(_MODELS)


def make(key: str, **parameters: Any) -> CountsClassifier:
    """Build a model by its key.

    Examples
    --------
    >>> import unnaive
    >>> unnaive.make("tan", smoothing="bdeu")
    TAN(smoothing='bdeu')
    """
    if key not in _MODELS:
        raise ValueError(f"there is no model {key!r}; the models are {', '.join(sorted(_MODELS))}")
    return _MODELS[key](**parameters)


def load(path: str | Path) -> CountsClassifier:
    """Read a model from a file that ``model.save(path)`` wrote."""
    return load_model(path, _CLASSES)
