"""Trees with columns of very many values: tables of the contexts and cells that occurred."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.tables.base import less
from unnaive.tables.families import FamilyTables, family_tables
from unnaive.tables.family import FamilyTable
from unnaive.tables.trees import column_factors, leave_one_out_sets, log_prior, possible

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.counts import JointCounts
    from unnaive.structure import ParentGraph
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.trees import RootOf

_FIRST = np.zeros(1, dtype=np.int64)


def wide_tree(
    counts: JointCounts,
    graph: ParentGraph,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    marginalize: bool = True,
    held_out: float | None = None,
    root_of: RootOf | None = None,
    shared: State | None = None,
    max_memory: int = 2**31,
) -> FamilyTables:
    """Estimate the tables of a tree of which some pairs are held by the cells that occurred.

    It gives the same probabilities as :func:`~unnaive.tables.trees.tree_tables`, which see for the
    parameters.
    """
    above, shared = graph.parents.tolist(), {} if shared is None else shared
    made, counted = shared.setdefault("made", {}), shared.setdefault("counted", {})
    families = [(c,) if above[c] < 0 else (c, above[c]) for c in graph.used]
    for columns in families:
        if columns not in counted:
            counted[columns] = counts.family(columns)
    for column in graph.used:
        if (column,) not in made:
            made[column,] = _alone(counts, column, smoothing, held_out)
    roots = np.flatnonzero(graph.parents == -1).tolist()
    if root_of is not None and class_prior is None and len(roots) == 1:
        made = {**made, (roots[0],): _joint_root(counts, roots[0], smoothing, held_out, root_of)}
    return family_tables(
        replace(counts, families=tuple(counted[columns] for columns in families)),
        smoothing,
        class_prior=class_prior,
        marginalize=marginalize,
        held_out=held_out,
        max_memory=max_memory,
        made=made,
    )


def _alone(
    counts: JointCounts, column: int, smoothing: Smoothing, held_out: float | None
) -> FamilyTable:
    """Log P(x | c); a row that lacks the parent was counted here, so it is left out here."""
    sets = leave_one_out_sets(held_out)
    factors = column_factors(counts, column, -1, smoothing, sets)
    tables = np.stack([factor[:, :, :-1] for factor in factors])
    if held_out is not None:
        tables[2] = tables[1]
    return FamilyTable((), _FIRST, tables)


def _joint_root(
    counts: JointCounts, column: int, smoothing: Smoothing, held_out: float | None, root_of: RootOf
) -> FamilyTable:
    """Log P(c, x) of the root less log P(c), which is added to every row.

    The last set is for the class of a row that lacks the root: only its prior is less one row.
    """
    sets = leave_one_out_sets(held_out)
    priors = [log_prior(counts, smoothing, None, held) for held in sets]
    roots = [
        possible(root_of(counts, column, smoothing, held), p)
        for held, p in zip(sets, priors, strict=True)
    ]
    if held_out is not None:
        priors[2:] = [priors[1], priors[0], priors[1]]
        roots[2:] = [roots[1], roots[3], roots[3]]
    tables = [
        less(root, np.broadcast_to(p[:, None], root.shape))
        for root, p in zip(roots, priors, strict=True)
    ]
    return FamilyTable((), _FIRST, np.stack(tables)[:, :, None])
