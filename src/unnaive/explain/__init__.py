"""Explanations of predictions, counterfactuals, importance of features, and plots.

``model.explain(X)`` returns an :class:`Explanation`. Plots take ``ax`` and return it.
"""

from unnaive.explain.changes import Change, WhatIf, what_if
from unnaive.explain.critical_difference import plot_critical_difference
from unnaive.explain.derivatives import (
    DependenceDerivatives,
    dependence_derivatives,
    plot_dependence_derivatives,
    plot_set_weights,
)
from unnaive.explain.explanation import Explanation, Term
from unnaive.explain.influence import Importance, importance, plot_importance
from unnaive.explain.odds import LogOdds
from unnaive.explain.plots import (
    plot_cumulated_information,
    plot_precision_recall,
    plot_roc,
    plot_score_path,
    plot_size_path,
    plot_term_path,
    plot_threshold_path,
)
from unnaive.explain.plots_quality import plot_confusion, plot_reliability
from unnaive.explain.questions import Answer, Question, ask_next
from unnaive.explain.structure import plot_structure
from unnaive.explain.waterfall import plot_waterfall

__all__ = [
    "Answer",
    "Change",
    "DependenceDerivatives",
    "Explanation",
    "Importance",
    "LogOdds",
    "Question",
    "Term",
    "WhatIf",
    "ask_next",
    "dependence_derivatives",
    "importance",
    "plot_confusion",
    "plot_critical_difference",
    "plot_cumulated_information",
    "plot_dependence_derivatives",
    "plot_importance",
    "plot_precision_recall",
    "plot_reliability",
    "plot_roc",
    "plot_score_path",
    "plot_set_weights",
    "plot_size_path",
    "plot_structure",
    "plot_term_path",
    "plot_threshold_path",
    "plot_waterfall",
    "what_if",
]
