"""The classifiers, one family a file, and the register of all of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

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
from unnaive.models.persistence import load_model
from unnaive.models.spode import SPODE
from unnaive.models.tree import ATAN, ODANB, TAN
from unnaive.models.weighted import WeightedBayes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
]

_MODELS: dict[str, Callable[..., Classifier]] = {
    "auto": AutoBayes,
    "nb": NaiveBayes,
    "spode": SPODE,
    "aode": AODE,
    "aode-sr": partial(AODE, subsumption=True),
    "waode": WAODE,
    "a2de": A2DE,
    "tan": TAN,
    "atan": ATAN,
    "tan-multinet": partial(TAN, per_class=True),
    "odanb": ODANB,
    "kdb": KDB,
    "hnb": HNB,
    "phnb": PHNB,
    "gnb-a": partial(GeneralizedNB, method="greedy"),
    "gnb-o": GeneralizedNB,
    "decomposable": DecomposableNB,
    "cherry": CherryTreeNB,
    "fssj": partial(PazzaniNB, search="forward"),
    "bsej": PazzaniNB,
    "pazzani-eda": partial(PazzaniNB, search="eda"),
    "ienb": IENB,
    "iterative": IterativeBayes,
    "apnbc": AdjustedNB,
    "apnbc-eda": partial(AdjustedNB, search="eda"),
    "gaussian-nb": GaussianNaiveBayes,
    "full-bayes": FullBayes,
    "k-naive": KNaiveBayes,
    "gaussian-tan": GaussianTAN,
    "gaussian-kdb": GaussianKDB,
    "wanbia": partial(WeightedBayes, dependences="none"),
    "weighted-tan": partial(WeightedBayes, dependences="tree"),
    "weighted-pairs": WeightedBayes,
    "bayesnet": BayesNet,
}
_CLASSES: dict[str, type[Classifier]] = {
    model.__name__: model
    for model in (
        *(NaiveBayes, SPODE, AODE, WAODE, A2DE, TAN, ATAN, ODANB, KDB, HNB, PHNB),
        *(GeneralizedNB, DecomposableNB, CherryTreeNB),
        *(PazzaniNB, IENB, IterativeBayes, AdjustedNB),
        *(GaussianNaiveBayes, FullBayes, KNaiveBayes, GaussianTAN, GaussianKDB),
        *(WeightedBayes, AutoBayes, BayesNet),
    )
}


def all_models() -> dict[str, Callable[..., Classifier]]:
    """Every model by its key, as a factory that takes the model's parameters.

    Examples
    --------
    >>> import unnaive
    >>> sorted(unnaive.all_models())[:4]
    ['a2de', 'aode', 'aode-sr', 'apnbc']
    """
    return dict(_MODELS)


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
    return _MODELS[key](**parameters)


def load(path: str | Path) -> Classifier:
    """Read a model from a file that ``model.save(path)`` wrote."""
    return load_model(path, _CLASSES)
