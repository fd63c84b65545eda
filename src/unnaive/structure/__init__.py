"""Structure learning: pure functions from information to dependences between columns."""

from unnaive.structure.graph import ClassGraphs, ParentGraph, independent, with_parents
from unnaive.structure.parents import best_parents, super_parent_scores
from unnaive.structure.tree import maximum_spanning_tree, orient, penalised

__all__ = [
    "ClassGraphs",
    "ParentGraph",
    "best_parents",
    "independent",
    "maximum_spanning_tree",
    "orient",
    "penalised",
    "super_parent_scores",
    "with_parents",
]
