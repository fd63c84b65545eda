"""The classifiers, one family per file, and the register of all of them.

The file of a model is imported when the model is first used.
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
    """Return all models by key.

    Returns
    -------
    dict
        Factories that take the parameters of the model, by key.

    See Also
    --------
    make : Build one model.
    model_keys : Only the keys.

    Examples
    --------
    >>> import unnaive
    >>> sorted(unnaive.all_models())[:4]
    ['a2de', 'aode', 'aode-sr', 'apnbc']
    """
    factories: dict[str, Callable[..., Classifier]] = {}
    for key, entry in entries().items():
        try:
            kind = entry.load()
        except (UnnaiveError, TypeError) as error:  # of another package; the others still work
            warnings.warn(f"model {key!r} is left out: {error}", UserWarning, stacklevel=2)
            continue
        factories[key] = partial(kind, **entry.settings) if entry.settings else kind
    return factories


def model_keys() -> tuple[str, ...]:
    """Return the keys of all models without importing them.

    Returns
    -------
    tuple of str
        Keys for :func:`make` and the command line.

    See Also
    --------
    all_models : The models by key.

    Examples
    --------
    >>> from unnaive.models import model_keys
    >>> "tan" in model_keys()
    True
    """
    return tuple(entries())


def make(key: str, **parameters: Any) -> Classifier:
    """Build a model by its key.

    Parameters
    ----------
    key : str
        Key of a model, as in :func:`all_models`.
    **parameters
        Parameters of the model.

    Returns
    -------
    Classifier
        The model, not fitted.

    See Also
    --------
    all_models : All models by key.
    load : Read a fitted model.

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

    A program that only loads and predicts does not import scikit-learn.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    Classifier
        The fitted model.

    See Also
    --------
    make : Build a model by its key.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import unnaive
    >>> path = Path(mkdtemp()) / "model.unb"
    >>> unnaive.NaiveBayes().fit([["a"], ["b"]], [0, 1]).save(path)
    >>> unnaive.load(path).predict([["b"]])
    array([1])
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
