"""The classifiers, one family a file, and the register of all of them.

A model's file is loaded when the model is first asked for.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from unnaive.exceptions import UnnaiveError
from unnaive.models.registry import HOMES, class_of, entries, entry_of, register, unregister

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
    "register",
    "unregister",
]


def all_models() -> dict[str, Callable[..., Classifier]]:
    """Every model by its key, as a factory that takes the model's parameters.

    Examples
    --------
    >>> import unnaive
    >>> sorted(unnaive.all_models())[:4]
    ['a2de', 'aode', 'aode-sr', 'apnbc']
    """
    found: dict[str, Callable[..., Classifier]] = {}
    for key, entry in entries().items():
        try:
            kind = entry.load()
        except (UnnaiveError, TypeError) as error:  # of another package; the rest still works
            warnings.warn(f"model {key!r} is left out: {error}", UserWarning, stacklevel=2)
            continue
        found[key] = partial(kind, **entry.settings) if entry.settings else kind
    return found


def model_keys() -> tuple[str, ...]:
    """Keys of all models; none of them is loaded for it."""
    return tuple(entries())


def make(key: str, **parameters: Any) -> Classifier:
    """Build a model by its key.

    Examples
    --------
    >>> import unnaive
    >>> unnaive.make("tan", smoothing="bdeu")
    TAN(smoothing='bdeu')
    """
    entry = entry_of(key)
    return entry.load()(**{**entry.settings, **parameters})


def load(path: str | Path) -> Classifier:
    """Read a model from a file that ``model.save(path)`` wrote.

    A program that only loads and predicts does not import scikit-learn for it.
    """
    if "unnaive.models.classifier" not in sys.modules:
        from unnaive._scikit import do_without  # noqa: PLC0415 - loads when asked

        do_without()
    from unnaive.models.persistence import load_model  # noqa: PLC0415 - imports this module

    return load_model(path, class_of)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'unnaive.models' has no attribute {name!r}")
    return class_of(name)


def __dir__() -> list[str]:
    return __all__
