"""A model as another package would write it: super-parent TAN, from nothing but public parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unnaive.models.base import CountsClassifier
from unnaive.models.choice import left_out_candidates
from unnaive.models.makers import TreeFactors
from unnaive.models.nb import no_parents
from unnaive.models.recipe import Learned, Recipe


@dataclass(eq=False, repr=False, kw_only=True)
class SuperParentTAN(CountsClassifier):
    """Super-parent TAN: arcs are added as long as exact leave-one-out accuracy grows.

    Parameters
    ----------
    {parameters}

    References
    ----------
    Keogh & Pazzani, "Learning augmented Bayesian classifiers", AI & Statistics 1999.
    """

    family = "trees"
    assumption = "Within a class, every column depends on one other column at most."

    def recipe(self):
        return Recipe(learn=no_parents, choose=self._grow, tables=TreeFactors(), keeps=True)

    def _grow(self, learned, task):
        rows, maker, graph = task.rows, task.maker, learned.structure
        every = np.flatnonzero(rows.schema.sizes > 0)
        (best,) = left_out_candidates(rows, maker, [learned])[:, 0]
        while len(every):
            stars = [hung(graph, parent, every) for parent in every]
            parent = every[np.argmax(left_out_candidates(rows, maker, stars)[:, 0])]
            arcs = [hung(graph, parent, [child]) for child in every]
            accuracy = left_out_candidates(rows, maker, arcs)[:, 0]
            if accuracy.max() <= best + 1e-10:
                break
            best, graph = accuracy.max(), arcs[np.argmax(accuracy)].structure
        return Learned(graph)


def hung(graph, parent, children):
    """The graph with a column as the parent of children that have none, if no cycle closes."""
    parents, above = graph.parents.copy(), parent
    while above >= 0:
        above, root = graph.parents[above], above
    free = [child for child in children if parents[child] < 0 and child != root]
    parents[free] = parent
    return Learned(replace(graph, parents=parents))
