"""Bayesian classifiers that do not pretend features are independent.

Every semi-naive Bayes classifier under one scikit-learn API, from one pass of counting.
Public names and packages (``unnaive.datasets``, ``unnaive.evaluate``, …) are loaded on first use:
``import unnaive`` itself imports nothing heavy.
"""

# ruff: noqa: F401, PLE0604 - names are for type checkers; __all__ is made of the register
# ruff: noqa: I001 - Ctrl-C is caught before anything else is imported
from unnaive._interrupt import guard as _guard, is_command as _is_command

if _is_command():
    _guard()

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unnaive.models.registry import HOMES

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unnaive import (
        checks,
        counts,
        datasets,
        discretize,
        evaluate,
        explain,
        export,
        information,
        models,
        papers,
        report,
        schema,
        search,
        structure,
        tables,
    )
    from unnaive._progress import Progress, progress
    from unnaive.checks import DataCheck, Finding, check_data
    from unnaive.counts import JointCounts, merge
    from unnaive.counts.count import count
    from unnaive.discretize import MDLP, Automatic, EqualFrequency, EqualWidth, Quantile
    from unnaive.io.databases import query
    from unnaive.io.sign import sign, verify
    from unnaive.models import *  # noqa: F403 - its __all__ has the models and what makes them
    from unnaive.models.conformal import ConformalClassifier
    from unnaive.models.feature_selection import SelectByInformation
    from unnaive.schema import Schema
    from unnaive.tables import ML, Backoff, BDeu, Hierarchical, Laplace, MEstimate
    from unnaive.tables.network import Network
    from unnaive.tables.network_files import read_network

_HOME = {
    **dict.fromkeys(HOMES, "models"),
    **dict.fromkeys(("all_models", "load", "make", "register", "unregister"), "models"),
    **dict.fromkeys(("DataCheck", "Finding", "check_data"), "checks"),
    **dict.fromkeys(("JointCounts", "count", "merge"), "counts"),
    **dict.fromkeys(("MDLP", "Automatic", "EqualFrequency"), "discretize"),
    **dict.fromkeys(("EqualWidth", "Quantile"), "discretize"),
    **dict.fromkeys(("ML", "Backoff", "BDeu", "Hierarchical", "Laplace", "MEstimate"), "tables"),
    **dict.fromkeys(("sign", "verify"), "io.sign"),
    "ConformalClassifier": "models.conformal",
    "Network": "tables.network",
    "Progress": "_progress",
    "progress": "_progress",
    "query": "io.databases",
    "read_network": "tables.network_files",
    "Schema": "schema",
    "SelectByInformation": "models.feature_selection",
}

_PACKAGES = {
    "checks",
    "counts",
    "datasets",
    "discretize",
    "evaluate",
    "explain",
    "export",
    "information",
    "models",
    "papers",
    "report",
    "schema",
    "search",
    "structure",
    "tables",
}

__all__ = ["__version__", *(set(_HOME) - {"Classifier", "CountsClassifier"})]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"unnaive.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'unnaive' has no attribute {name!r}{_suggestion(name)}")
    return getattr(import_module(f"unnaive.{_HOME[name]}"), name)


def _suggestion(name: str) -> str:
    """Name what may be meant; special names are asked for by other programs, not by people."""
    if name.startswith("_"):
        return ""
    from difflib import get_close_matches  # noqa: PLC0415 - loads when asked

    close = get_close_matches(name, __dir__(), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
