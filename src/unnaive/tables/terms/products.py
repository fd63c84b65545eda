"""Models that are products: a term a column, log P(x_i | parents, c), or one a group.

Where a parent is missing the product does not hold, and the chain rule serves: what a cell adds
to the log joint of the observed cells above it. In an order with parents before children, that is
log P(x_i | parents, c) for every cell whose parents are observed, whatever else is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.structure.graph import topological
from unnaive.tables.base import own_classes
from unnaive.tables.export import NetworkTables
from unnaive.tables.families import FamilyTables
from unnaive.tables.groups import GroupTables, IntervalTables
from unnaive.tables.junction import RescuedTables
from unnaive.tables.terms.family_chain import family_parts
from unnaive.tables.terms.split import Terms, chained, less, observed, single_terms, terms_of
from unnaive.tables.trees import ClassTrees, TreeTables
from unnaive.tables.weighted import WeightedTables

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray


@terms_of.register(TreeTables)
def tree_terms(tables: TreeTables, codes: CodeArray) -> Terms:
    """Split the log joint of a tree."""
    n_classes = tables.n_classes
    used = np.sort(tables.order)
    keys = single_terms(used, lambda column: [p for p in tables.columns[column, :1] if p >= 0])
    with np.errstate(invalid="ignore"):  # a root that holds a prior of 0
        factors = tables.factors(codes)
    factors = np.where(np.isnan(factors), 0.0, factors)
    prior = tables.tables[:n_classes, 0].copy()
    for root in used[tables.columns[used, 0] < 0]:
        _, slots, start = tables.columns[root]
        prior += tables.tables[:n_classes, start + slots - 1]
    base = np.repeat(prior[None], codes.shape[1], axis=0)
    if tables.marginalize:
        _chain_tree(tables, codes, factors)
    return Terms(keys, base, factors[:, :, used])


def _chain_tree(tables: TreeTables, codes: CodeArray, factors: FloatArray) -> None:
    """Put in what cells add whose parent is missing."""
    sizes = tables.columns[:, 1] - 1
    there = observed(codes, sizes)
    for place, column in enumerate(tables.order.tolist()):
        parent = int(tables.columns[column, 0])
        rows = np.flatnonzero(there[column] & ~there[parent] & (parent >= 0))
        if len(rows):
            factors[rows, :, column] = chained(
                tables.joint,
                np.ascontiguousarray(codes[:, rows]),
                sizes,
                tables.order[place + 1 :].tolist(),
                column,
            )


@terms_of.register(ClassTrees)
def class_trees_terms(tables: ClassTrees, codes: CodeArray) -> Terms:
    """Split the log joint of a tree for every class."""
    found = [member.terms(codes) for member in tables.members]
    keys = tuple(dict.fromkeys(key for terms in found for key in terms.keys))
    place = {key: index for index, key in enumerate(keys)}
    base = np.concatenate([terms.base for terms in found], axis=1)
    parts = np.zeros((*base.shape, len(keys)))
    for label, terms in enumerate(found):
        parts[:, label, [place[key] for key in terms.keys]] = terms.parts[:, 0]
    return Terms(keys, base, parts)


@terms_of.register(RescuedTables)
def rescued_terms(tables: RescuedTables, codes: CodeArray) -> Terms:
    """Split the log joint of tables with others in reserve."""
    plain, rescue = tables.plain.terms(codes), tables.rescue.terms(codes)
    hopeless = np.isneginf(plain.joint.max(axis=1))
    return Terms(
        plain.keys,
        np.where(hopeless[:, None], rescue.base, plain.base),
        np.where(hopeless[:, None, None], rescue.parts, plain.parts),
    )


@terms_of.register(FamilyTables)
def family_terms(tables: FamilyTables, codes: CodeArray) -> Terms:
    """Split the log joint of families."""
    families = {family.columns[0]: family.columns[1:] for family in tables.counts.families}
    used = sorted(families)
    parts = tables.factors(codes)
    if tables.marginalize:
        family_parts(tables, codes, parts)
    base = np.repeat(tables.prior[:1], codes.shape[1], axis=0)
    return Terms(single_terms(used, families.__getitem__), base, parts[:, :, used])


@terms_of.register(WeightedTables)
def weighted_terms(tables: WeightedTables, codes: CodeArray) -> Terms:
    """Split a sum of weighted factors, of which one with a missing cell is 0."""
    column, parent, slots, start = tables.layout.T
    wide = codes.astype(np.int64)
    above = np.where(parent[:, None] >= 0, wide[parent] * slots[:, None], 0)
    places = start[:, None] + above + wide[column]
    parts = tables.tables[: tables.n_classes][:, places].transpose(2, 0, 1)
    keys = tuple(((i,), (j,) if j >= 0 else ()) for i, j in tables.layout[:, :2].tolist())
    return Terms(keys, np.repeat(tables.prior[:1], codes.shape[1], axis=0), parts)


@terms_of.register(GroupTables)
def group_terms(tables: GroupTables, codes: CodeArray) -> Terms:
    """Split the log joint of groups."""
    groups = [family.columns for family in tables.counts.families]
    base = np.repeat(tables.prior[:1], codes.shape[1], axis=0)
    parts = np.zeros((*base.shape, len(groups)))
    for place, group in enumerate(groups):
        tables._add(group, codes, own_classes(None, codes), parts[:, :, place])  # noqa: SLF001
    return Terms(tuple((group, ()) for group in groups), base, parts)


@terms_of.register(IntervalTables)
def interval_terms(tables: IntervalTables, codes: CodeArray) -> Terms:
    """Split the log joint of groups with intervals."""
    groups, sizes = tables.intervals.groups, np.array(tables.intervals.sizes)
    nothing = np.repeat(sizes.astype(codes.dtype)[:, None], codes.shape[1], axis=1)
    base = tables.joint(nothing)
    parts = np.zeros((*base.shape, len(groups)))
    for place, group in enumerate(groups):
        shown = nothing.copy()
        shown[list(group)] = codes[list(group)]
        parts[:, :, place] = less(tables.joint(shown), base)
    return Terms(tuple((tuple(group), ()) for group in groups), base, parts)


@terms_of.register(NetworkTables)
def network_terms(tables: NetworkTables, codes: CodeArray) -> Terms:
    """Split the log joint of a network."""
    dag, sizes = tables.network.dag, tables.counts.schema.sizes
    label = len(sizes)
    parents = [tuple(p for p in above if p != label) for above in dag.parents[:-1]]
    used = np.flatnonzero(sizes > 0).tolist()

    def joint(shown: CodeArray) -> FloatArray:
        return tables.joint(shown)

    there = observed(codes, sizes)
    base = joint(np.repeat(sizes.astype(codes.dtype)[:, None], codes.shape[1], axis=1))
    parts = np.zeros((*base.shape, len(sizes)))
    order = topological(parents, used)
    for place, column in enumerate(order):
        whole = np.asarray(there[[column, *parents[column]]].all(axis=0))
        whole &= not dag.parents[-1]  # else the class tells of what is above it
        parts[whole, :, column] = _network_factor(tables, codes[:, whole], column)
        rows = np.flatnonzero(there[column] & ~whole)
        if len(rows):
            later = order[place + 1 :]
            parts[rows, :, column] = chained(joint, codes[:, rows], sizes, later, column)
    return Terms(single_terms(used, parents.__getitem__), base, parts[:, :, used])


def _network_factor(tables: NetworkTables, codes: CodeArray, column: int) -> FloatArray:
    """Log P(x | parents) of rows that have all of these cells; shape (n, k)."""
    dag, table = tables.network.dag, tables.network.tables[column]
    label, n_classes = len(codes), tables.counts.n_classes
    cells = tuple(codes[parent] for parent in (*dag.parents[column], column) if parent != label)
    with np.errstate(divide="ignore"):
        if label not in dag.parents[column]:
            return np.repeat(np.log(table[cells])[:, None], n_classes, axis=1)
        # The class is the last parent, so its axis is the last but one.
        return np.asarray(np.log(np.moveaxis(table, -2, 0)[(slice(None), *cells)]).T)
