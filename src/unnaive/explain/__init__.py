"""Why this prediction, and what a model saw; plots take ``ax`` and return it."""

from unnaive.explain.critical_difference import plot_critical_difference
from unnaive.explain.derivatives import (
    DependenceDerivatives,
    dependence_derivatives,
    plot_dependence_derivatives,
)
from unnaive.explain.plots import (
    plot_cumulated_information,
    plot_precision_recall,
    plot_roc,
    plot_score_path,
    plot_size_path,
    plot_threshold_path,
)

__all__ = [
    "DependenceDerivatives",
    "dependence_derivatives",
    "plot_critical_difference",
    "plot_cumulated_information",
    "plot_dependence_derivatives",
    "plot_precision_recall",
    "plot_roc",
    "plot_score_path",
    "plot_size_path",
    "plot_threshold_path",
]
