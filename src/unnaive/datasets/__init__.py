"""Data to try the models on, without a network."""

from unnaive.datasets.balanced import make_balanced
from unnaive.datasets.wdbc import Dataset, load_wdbc

__all__ = ["Dataset", "load_wdbc", "make_balanced"]
