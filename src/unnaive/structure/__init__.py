"""Pure functions from information to what depends on what."""

from unnaive.structure.graph import ParentGraph
from unnaive.structure.tree import maximum_spanning_tree, orient, penalised

__all__ = ["ParentGraph", "maximum_spanning_tree", "orient", "penalised"]
