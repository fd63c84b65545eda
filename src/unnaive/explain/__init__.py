"""Why this prediction, and what a model saw; plots take ``ax`` and return it."""

from unnaive.explain.plots import (
    plot_cumulated_information,
    plot_score_path,
    plot_size_path,
    plot_threshold_path,
)

__all__ = [
    "plot_cumulated_information",
    "plot_score_path",
    "plot_size_path",
    "plot_threshold_path",
]
