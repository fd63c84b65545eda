"""Data sets for examples and experiments: those of the papers by name, and generated ones.

Modules are imported when a name is first used, so that importing the package costs no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unnaive.datasets.artificial import (
        make_balanced,
        make_corral,
        make_m_of_n,
        make_monks,
        make_waveform,
    )
    from unnaive.datasets.dataset import Dataset
    from unnaive.datasets.entries import Entry, catalogue, names
    from unnaive.datasets.loading import load, load_wdbc

_MODULES = {
    "artificial": "make_balanced make_corral make_m_of_n make_monks make_waveform",
    "dataset": "Dataset",
    "entries": "Entry catalogue names",
    "loading": "load load_wdbc",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "Dataset",
    "Entry",
    "catalogue",
    "load",
    "load_wdbc",
    "make_balanced",
    "make_corral",
    "make_m_of_n",
    "make_monks",
    "make_waveform",
    "names",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unnaive.datasets' has no attribute {name!r}")
    return getattr(import_module(f"unnaive.datasets.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
