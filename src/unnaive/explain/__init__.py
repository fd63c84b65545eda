"""Why this prediction, and what a model saw; plots take ``ax`` and return it."""

from unnaive.explain.plots import plot_threshold_path

__all__ = ["plot_threshold_path"]
