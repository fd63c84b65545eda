"""Data to try the models on, without a network."""

from unnaive.datasets.wdbc import Dataset, load_wdbc

__all__ = ["Dataset", "load_wdbc"]
