"""Bayesian classifiers that do not pretend features are independent.

Every semi-naive Bayes classifier under one scikit-learn API, from one pass of counting.
Public names are loaded when first asked for: ``import unnaive`` itself imports nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unnaive.counts import JointCounts, merge
    from unnaive.counts.count import count
    from unnaive.discretize import MDLP, Automatic, EqualFrequency, EqualWidth, Quantile
    from unnaive.models import (
        A2DE,
        AODE,
        ATAN,
        HNB,
        IENB,
        KDB,
        ODANB,
        PHNB,
        SPODE,
        TAN,
        WAODE,
        AdjustedNB,
        AutoBayes,
        BayesNet,
        CherryTreeNB,
        DecomposableNB,
        FullBayes,
        GaussianKDB,
        GaussianNaiveBayes,
        GaussianTAN,
        GeneralizedNB,
        IterativeBayes,
        KNaiveBayes,
        NaiveBayes,
        PazzaniNB,
        WeightedBayes,
        all_models,
        load,
        make,
    )
    from unnaive.models.select import SelectByInformation
    from unnaive.schema import Schema
    from unnaive.tables import ML, Backoff, BDeu, Hierarchical, Laplace, MEstimate

_HOME = {
    "A2DE": "models",
    "AODE": "models",
    "WAODE": "models",
    "WeightedBayes": "models",
    "SPODE": "models",
    "PHNB": "models",
    "ODANB": "models",
    "FullBayes": "models",
    "GaussianKDB": "models",
    "GaussianNaiveBayes": "models",
    "GaussianTAN": "models",
    "GeneralizedNB": "models",
    "KNaiveBayes": "models",
    "AdjustedNB": "models",
    "AutoBayes": "models",
    "Automatic": "discretize",
    "IterativeBayes": "models",
    "HNB": "models",
    "IENB": "models",
    "KDB": "models",
    "ATAN": "models",
    "BayesNet": "models",
    "CherryTreeNB": "models",
    "DecomposableNB": "models",
    "BDeu": "tables",
    "Backoff": "tables",
    "EqualFrequency": "discretize",
    "EqualWidth": "discretize",
    "Hierarchical": "tables",
    "JointCounts": "counts",
    "Laplace": "tables",
    "MDLP": "discretize",
    "MEstimate": "tables",
    "ML": "tables",
    "NaiveBayes": "models",
    "PazzaniNB": "models",
    "Quantile": "discretize",
    "Schema": "schema",
    "SelectByInformation": "models.select",
    "TAN": "models",
    "all_models": "models",
    "count": "counts",
    "load": "models",
    "make": "models",
    "merge": "counts",
}

__all__ = [
    "A2DE",
    "AODE",
    "ATAN",
    "HNB",
    "IENB",
    "KDB",
    "MDLP",
    "ML",
    "ODANB",
    "PHNB",
    "SPODE",
    "TAN",
    "WAODE",
    "AdjustedNB",
    "AutoBayes",
    "Automatic",
    "BDeu",
    "Backoff",
    "BayesNet",
    "CherryTreeNB",
    "DecomposableNB",
    "EqualFrequency",
    "EqualWidth",
    "FullBayes",
    "GaussianKDB",
    "GaussianNaiveBayes",
    "GaussianTAN",
    "GeneralizedNB",
    "Hierarchical",
    "IterativeBayes",
    "JointCounts",
    "KNaiveBayes",
    "Laplace",
    "MEstimate",
    "NaiveBayes",
    "PazzaniNB",
    "Quantile",
    "Schema",
    "SelectByInformation",
    "WeightedBayes",
    "__version__",
    "all_models",
    "count",
    "load",
    "make",
    "merge",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unnaive' has no attribute {name!r}")
    return getattr(import_module(f"unnaive.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
