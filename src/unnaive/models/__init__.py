"""The classifiers, one family a file, and the register of all of them.

A model's file is loaded when the model is first asked for.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from unnaive.models.adjusted import AdjustedNB
    from unnaive.models.aode import A2DE, AODE, WAODE
    from unnaive.models.auto import AutoBayes
    from unnaive.models.base import CountsClassifier
    from unnaive.models.bayesnet import BayesNet
    from unnaive.models.classifier import Classifier
    from unnaive.models.decomposable import CherryTreeNB, DecomposableNB
    from unnaive.models.gaussian_networks import (
        FullBayes,
        GaussianKDB,
        GaussianNaiveBayes,
        GaussianTAN,
    )
    from unnaive.models.gnb import GeneralizedNB
    from unnaive.models.hnb import HNB, PHNB
    from unnaive.models.ienb import IENB
    from unnaive.models.iterative import IterativeBayes
    from unnaive.models.kdb import KDB
    from unnaive.models.knaive import KNaiveBayes
    from unnaive.models.nb import NaiveBayes
    from unnaive.models.pazzani import PazzaniNB
    from unnaive.models.spode import SPODE
    from unnaive.models.tree import ATAN, ODANB, TAN
    from unnaive.models.weighted import WeightedBayes
__all__ = [
    "A2DE",
    "AODE",
    "ATAN",
    "HNB",
    "IENB",
    "KDB",
    "ODANB",
    "PHNB",
    "SPODE",
    "TAN",
    "WAODE",
    "AdjustedNB",
    "AutoBayes",
    "BayesNet",
    "CherryTreeNB",
    "Classifier",
    "CountsClassifier",
    "DecomposableNB",
    "FullBayes",
    "GaussianKDB",
    "GaussianNaiveBayes",
    "GaussianTAN",
    "GeneralizedNB",
    "IterativeBayes",
    "KNaiveBayes",
    "NaiveBayes",
    "PazzaniNB",
    "WeightedBayes",
    "all_models",
    "load",
    "make",
    "model_keys",
]

_HOME = {
    "A2DE": "aode",
    "AODE": "aode",
    "ATAN": "tree",
    "AdjustedNB": "adjusted",
    "AutoBayes": "auto",
    "BayesNet": "bayesnet",
    "CherryTreeNB": "decomposable",
    "Classifier": "classifier",
    "CountsClassifier": "base",
    "DecomposableNB": "decomposable",
    "FullBayes": "gaussian_networks",
    "GaussianKDB": "gaussian_networks",
    "GaussianNaiveBayes": "gaussian_networks",
    "GaussianTAN": "gaussian_networks",
    "GeneralizedNB": "gnb",
    "HNB": "hnb",
    "IENB": "ienb",
    "IterativeBayes": "iterative",
    "KDB": "kdb",
    "KNaiveBayes": "knaive",
    "NaiveBayes": "nb",
    "ODANB": "tree",
    "PHNB": "hnb",
    "PazzaniNB": "pazzani",
    "SPODE": "spode",
    "TAN": "tree",
    "WAODE": "aode",
    "WeightedBayes": "weighted",
}
_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("AutoBayes", {}),
    "nb": ("NaiveBayes", {}),
    "spode": ("SPODE", {}),
    "aode": ("AODE", {}),
    "aode-sr": ("AODE", {"subsumption": True}),
    "waode": ("WAODE", {}),
    "a2de": ("A2DE", {}),
    "tan": ("TAN", {}),
    "atan": ("ATAN", {}),
    "tan-multinet": ("TAN", {"per_class": True}),
    "odanb": ("ODANB", {}),
    "kdb": ("KDB", {}),
    "hnb": ("HNB", {}),
    "phnb": ("PHNB", {}),
    "gnb-a": ("GeneralizedNB", {"method": "greedy"}),
    "gnb-o": ("GeneralizedNB", {}),
    "decomposable": ("DecomposableNB", {}),
    "cherry": ("CherryTreeNB", {}),
    "fssj": ("PazzaniNB", {"search": "forward"}),
    "bsej": ("PazzaniNB", {}),
    "pazzani-eda": ("PazzaniNB", {"search": "eda"}),
    "ienb": ("IENB", {}),
    "iterative": ("IterativeBayes", {}),
    "apnbc": ("AdjustedNB", {}),
    "apnbc-eda": ("AdjustedNB", {"search": "eda"}),
    "gaussian-nb": ("GaussianNaiveBayes", {}),
    "full-bayes": ("FullBayes", {}),
    "k-naive": ("KNaiveBayes", {}),
    "gaussian-tan": ("GaussianTAN", {}),
    "gaussian-kdb": ("GaussianKDB", {}),
    "wanbia": ("WeightedBayes", {"dependences": "none"}),
    "weighted-tan": ("WeightedBayes", {"dependences": "tree"}),
    "weighted-pairs": ("WeightedBayes", {}),
    "bayesnet": ("BayesNet", {}),
}


def all_models() -> dict[str, Callable[..., Classifier]]:
    """Every model by its key, as a factory that takes the model's parameters.

    Examples
    --------
    >>> import unnaive
    >>> sorted(unnaive.all_models())[:4]
    ['a2de', 'aode', 'aode-sr', 'apnbc']
    """
    return {
        key: partial(class_of(name), **settings) if settings else class_of(name)
        for key, (name, settings) in _MODELS.items()
    }


def model_keys() -> tuple[str, ...]:
    """Keys of all models; none of them is loaded for it."""
    return tuple(_MODELS)


def make(key: str, **parameters: Any) -> Classifier:
    """Build a model by its key.

    Examples
    --------
    >>> import unnaive
    >>> unnaive.make("tan", smoothing="bdeu")
    TAN(smoothing='bdeu')
    """
    if key not in _MODELS:
        raise ValueError(f"there is no model {key!r}; the models are {', '.join(sorted(_MODELS))}")
    name, settings = _MODELS[key]
    return class_of(name)(**{**settings, **parameters})


def load(path: str | Path) -> Classifier:
    """Read a model from a file that ``model.save(path)`` wrote."""
    from unnaive.models.persistence import load_model  # noqa: PLC0415 - imports this module

    return load_model(path, class_of)


def class_of(name: str) -> type[Classifier]:
    """Return a model's class by its name; KeyError if there is none of that name."""
    found: type[Classifier] = getattr(import_module(f"unnaive.models.{_HOME[name]}"), name)
    return found


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unnaive.models' has no attribute {name!r}")
    return class_of(name)


def __dir__() -> list[str]:
    return __all__
