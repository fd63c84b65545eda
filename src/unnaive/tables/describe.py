"""Every kind of tables as plain values: what a page needs to compute their log joint.

A description has a ``kind`` and, for its numbers, positions in
:class:`~unnaive.report.export_arrays.Arrays`. Tables have the class as their first axis.

``product``
    ``base`` (k,), and ``factors``, by the longest chain of parents above them. A factor tells of
    its ``children`` given its ``parents``; one without children is the class's own. Each of its
    ``tables`` is looked up at the values of its ``columns``, the first ``sparse`` of which make a
    context: one of ``contexts``, or else the table's last, or one of a ``simpler`` table. One that
    is ``shared`` has no axis of classes.
    With ``marginalize`` a factor has one table, and missing columns are summed out; without, the
    first table of which all columns are observed counts, or none.
``average``
    Log mean over ``members``, super-parents: ``table`` (k, values of members, values of columns)
    holds log P(x_i | c, x_p) and, at p itself, log P(c, x_p). ``implied`` lists pairs of values of
    which the second makes the first superfluous. ``base`` is log P(c).
``hidden``
    ``base``, ``alone`` log P(x_i | c) (k, values), and for every column its ``bag``: members,
    weights W_ij, and W_ij P(x_i | x_j, c) in a table (k, values of i, values of all members).
``gaussian``
    ``base``, ``means`` (k, m) and ``covariances`` (k, m, m), or (k, m) variances where ``forms`` is
    "independent". What columns add is the mean over ``orders`` of them, each a list of positions
    in ``columns``, and acts ``through`` others.
``classes``, ``sum``, ``mean``, ``first``, ``rescue``
    Of ``parts``: a part a class; the sum; the log mean of their posteriors (or joints); the first
    that answers; the first that gives some class a chance.
"""

from __future__ import annotations

from functools import partial, singledispatch
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts.joint import starts_of
from unnaive.exceptions import UnnaiveError
from unnaive.structure.graph import topological
from unnaive.tables.export import NetworkTables
from unnaive.tables.families import FamilyTables
from unnaive.tables.gaussian import complete_forms, independent_forms, naive_forms
from unnaive.tables.groups import GroupTables, IntervalTables
from unnaive.tables.hidden import HiddenParentTables
from unnaive.tables.junction import RescuedTables
from unnaive.tables.super_parents import FirstAnswer
from unnaive.tables.trees import AveragedTrees, ClassTrees, TreeTables
from unnaive.tables.weighted import WeightedTables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, IntArray
    from unnaive._typing import State as Description
    from unnaive.tables.base import Arrays, Tables
    from unnaive.tables.families import FamilyTable
    from unnaive.tables.gaussian import GaussianTables
    from unnaive.tables.super_parents import SuperParentTables

_LARGEST = 2**53  # whole number that is told from the next one by a double


@singledispatch
def description_of(tables: Tables, arrays: Arrays) -> Description:
    """Describe tables; every kind of them registers how."""
    raise NotImplementedError(f"nothing describes {type(tables).__name__}")


@description_of.register(TreeTables)
def describe_tree(tables: TreeTables, arrays: Arrays) -> Description:
    """Describe a tree: a factor a column."""
    lines = tables.tables[: tables.n_classes]
    base, factors = lines[:, 0].copy(), []
    for column in tables.order.tolist():
        parent, slots, start = tables.columns[column].tolist()
        above = int(tables.columns[parent, 1]) if parent >= 0 else 1
        table = lines[:, start : start + above * slots].reshape(len(lines), above, slots)
        given, alone = table[:, :-1, :-1], table[:, -1, :-1]
        if parent < 0:  # the prior, where the root's table holds it
            prior = table[:, 0, -1]
            base += prior
            alone = alone - np.where(np.isneginf(prior), 0.0, prior)[:, None]
        if slots > 1:
            parents = [parent] if parent >= 0 else []
            made = [_dense([parent, column], given, arrays)] if parents else []
            if not (parents and tables.marginalize):
                made.append(_dense([column], alone, arrays))
            factors.append(_factor([column], parents, made))
    return _product(base, factors, arrays, marginalize=tables.marginalize)


@description_of.register(FamilyTables)
def describe_family(tables: FamilyTables, arrays: Arrays) -> Description:
    """Describe families: a factor a column and its parents."""
    factors = []
    families = {family.columns[0]: family.columns[1:] for family in tables.counts.families}
    n_columns = len(tables.counts.schema.sizes)
    for child in topological([families.get(i, ()) for i in range(n_columns)], families):
        parents = families[child]
        fewest = len(parents) if tables.marginalize else 0
        made = [
            _of_family((child, *some), tables, arrays)
            for size in range(len(parents), fewest - 1, -1)
            for some in combinations(parents, size)
        ]
        factors.append(_factor([child], parents, made))
    return _product(tables.prior[0], factors, arrays, marginalize=tables.marginalize)


def _of_family(family: tuple[int, ...], tables: FamilyTables, arrays: Arrays) -> Description:
    found = tables._table(family)  # noqa: SLF001 - made on demand, as for a row with gaps
    return _of_family_table(family[0], found, arrays)


def _of_family_table(child: int, table: FamilyTable, arrays: Arrays) -> Description:
    sparse = (len(table.parents), table.contexts)
    described = _table((*table.parents, child), table.table[0], arrays, sparse)
    if table.simpler is not None:
        described["simpler"] = _of_family_table(child, table.simpler, arrays)
    return described


@description_of.register(WeightedTables)
def describe_weighted(tables: WeightedTables, arrays: Arrays) -> Description:
    """Describe weighted factors."""
    lines, factors = tables.tables[: tables.n_classes], []
    bounds = [*tables.layout[1:, 3].tolist(), lines.shape[1]]
    for (column, parent, slots, start), stop in zip(tables.layout.tolist(), bounds, strict=True):
        table = lines[:, start:stop].reshape(len(lines), -1, slots)
        parents = [parent] if parent >= 0 else []
        known = table[:, :-1, :-1] if parents else table[:, 0, :-1]
        factors.append(_factor([column], parents, [_dense([*parents, column], known, arrays)]))
    return _product(tables.prior[0], factors, arrays, marginalize=False)


@description_of.register(GroupTables)
def describe_group(tables: GroupTables, arrays: Arrays) -> Description:
    """Describe groups: a factor a group."""
    factors = []
    for group in (family.columns for family in tables.counts.families):
        made = []
        for size in range(len(group), 0, -1):
            for shown in combinations(group, size):
                cells, found = tables._estimate(group, shown)  # noqa: SLF001 - likewise
                made.append(_table(shown, found[0], arrays, (size, cells)))
        factors.append(_factor(group, [], made))
    return _product(tables.prior[0], factors, arrays, marginalize=False)


@description_of.register(IntervalTables)
def describe_interval(tables: IntervalTables, arrays: Arrays) -> Description:
    """Describe groups whose probabilities lie within intervals."""
    prior, chances = tables.intervals.decode(tables.genome)
    with np.errstate(divide="ignore"):
        factors = [
            _factor(group, [], [_dense(group, np.log(found), arrays)])
            for group, found in zip(tables.intervals.groups, chances, strict=True)
        ]
        return _product(np.log(prior), factors, arrays, marginalize=True)


@description_of.register(NetworkTables)
def describe_network(tables: NetworkTables, arrays: Arrays) -> Description:
    """Describe a network: a factor a node."""
    dag, sizes = tables.network.dag, tables.counts.schema.sizes
    label, factors = len(sizes), []
    logs = tables.network._logs  # noqa: SLF001 - what its own answers are made of
    above = [tuple(p for p in parents if p != label) for parents in dag.parents]
    for node in topological(above, np.flatnonzero(sizes > 0).tolist()):
        with_class = label in dag.parents[node]
        table = np.moveaxis(logs[node], -2, 0) if with_class else logs[node]
        made = {**_dense((*above[node], node), table, arrays), "shared": not with_class}
        factors.append(_factor([node], above[node], [made]))
    prior = logs[label]
    if above[label]:
        own = _dense(above[label], np.moveaxis(prior, -1, 0), arrays)
        factors.append(_factor([], above[label], [own]))
        prior = np.zeros(prior.shape[-1])
    return _product(prior, factors, arrays, marginalize=True)


def _product(
    base: FloatArray, factors: list[Description], arrays: Arrays, *, marginalize: bool
) -> Description:
    return {
        "kind": "product",
        "base": arrays.add(base),
        "factors": factors,
        "marginalize": bool(marginalize),
    }


def _factor(
    children: Sequence[int], parents: Sequence[int], tables: list[Description]
) -> Description:
    return {"children": list(children), "parents": list(parents), "tables": tables}


def _dense(columns: Sequence[int], values: FloatArray, arrays: Arrays) -> Description:
    return {"columns": list(columns), "sparse": 0, "values": arrays.add(values)}


def _table(
    columns: Sequence[int], values: FloatArray, arrays: Arrays, sparse: tuple[int, IntArray]
) -> Description:
    n_sparse, contexts = sparse
    if contexts.max(initial=0) > _LARGEST:
        raise UnnaiveError("a table has more contexts than a page can number; join fewer columns")
    found = {"columns": list(columns), "sparse": n_sparse, "values": arrays.add(values)}
    return {**found, "contexts": arrays.add(contexts)}


def describe_super_parents(tables: SuperParentTables, arrays: Arrays) -> Description:
    """Describe an average over super-parents."""
    sizes = np.diff(tables.slots) - 1
    members, rows = [], []
    for first, second, start, stride, second_stride in tables.parents.tolist():
        columns = [first] if first == second else [first, second]
        members.append(columns)
        seconds = np.arange(sizes[second]) if second_stride else np.zeros(1, dtype=np.int64)
        own = start + stride * np.arange(sizes[first])[:, None] + second_stride * seconds
        rows.append(own.reshape(-1))
    every = np.concatenate([np.empty(0, dtype=np.int64), *rows])
    whole = tables.tables[: tables.n_classes]
    arrays.require(whole.shape[0] * len(every) * int(sizes.sum()))
    table = whole[:, every[:, None], _single_cells(tables.columns, sizes)]
    return {
        "kind": "average",
        "members": members,
        "weights": arrays.add(tables.weights[every]),
        "table": arrays.add(table),
        "implied": _implied(tables, arrays),
    }


def _single_cells(columns: IntArray, sizes: IntArray) -> IntArray:
    """Where a group's table has one column's values, all others of the group missing; (V,)."""
    group, stride = columns[:, 1], columns[:, 2]
    missing = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(missing, group, stride * sizes)
    np.add.at(missing, group, columns[:, 3])  # 0 but for the group's first member
    cells = [
        missing[group[i]] + stride[i] * (np.arange(size) - size) for i, size in enumerate(sizes)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *cells])


def _implied(tables: SuperParentTables, arrays: Arrays) -> int | None:
    """Pairs of values, the general one and the one that implies it, numbered without gaps."""
    if tables.generalises is None:
        return None
    slots = np.delete(np.arange(tables.slots[-1]), tables.slots[1:] - 1)
    return arrays.add(np.argwhere(tables.generalises[np.ix_(slots, slots)]))


@description_of.register(HiddenParentTables)
def describe_hidden(tables: HiddenParentTables, arrays: Arrays) -> Description:
    """Describe hidden parents."""
    sizes, k = tables.columns[:, 7], tables.n_classes
    values = np.delete(np.arange(tables.alone.shape[1] - 1), starts_of(sizes + 1)[1:] - 1)
    return {
        "kind": "hidden",
        "base": arrays.add(tables.alone[:k, -1]),
        "alone": arrays.add(tables.alone[:k, values]),
        "bags": [_bag(column, tables, arrays) for column in range(len(sizes))],
    }


def _bag(column: int, tables: HiddenParentTables, arrays: Arrays) -> Description:
    """Members of a column's bag one by one: cells in which all others of a group are missing."""
    sizes, group, stride = tables.columns[:, 7], tables.columns[:, 1], tables.columns[:, 2]
    first, last, start, width = tables.columns[column, 3:7].tolist()
    k, size = tables.n_classes, int(sizes[column])
    own = tables.tables[:, start : start + size * width].reshape(len(tables.tables), size, width)
    members, weights, parts = [], [], [np.empty((k, size, 0))]
    for heard, offset in tables.groups[first:last].tolist() if size else []:
        inside = np.flatnonzero(group == heard)
        missing = offset + int((stride[inside] * sizes[inside]).sum())
        for member in inside.tolist():
            cells = missing + stride[member] * (np.arange(sizes[member]) - sizes[member])
            if len(cells) and own[-1, 0, cells[0]] > 0:
                members.append(member)
                weights.append(own[-1, 0, cells[0]])
                parts.append(own[:k][:, :, cells])
    return {
        "members": members,
        "weights": arrays.add(weights),
        "table": arrays.add(np.concatenate(parts, axis=2)),
    }


def describe_gaussian(tables: GaussianTables, arrays: Arrays) -> Description:
    """Describe Gaussian densities."""
    forms_of, spread = tables.forms_of, tables.covariances
    found: Description = {"kind": "gaussian", "base": arrays.add(tables.log_prior)}
    if forms_of is independent_forms:
        spread, found["forms"] = np.einsum("kii->ki", spread), "independent"
    elif forms_of is complete_forms:
        found["forms"] = "complete"
    elif isinstance(forms_of, partial) and forms_of.func is naive_forms:
        found["forms"], found["strong"] = "naive", bool(forms_of.keywords["strong"])
        found["naive"] = forms_of.keywords["naive"].tolist()
    else:
        raise UnnaiveError("a page cannot compute with these Gaussian forms")
    found["columns"] = list(range(tables.means.shape[1]))
    return {**found, "means": arrays.add(tables.means), "covariances": arrays.add(spread)}


@description_of.register(AveragedTrees)
def describe_averaged_trees(tables: AveragedTrees, arrays: Arrays) -> Description:
    """Describe trees that answer together."""
    parts = [member.describe(arrays) for member in tables.members]
    return {"kind": "mean", "parts": parts, "posteriors": bool(tables.of_posteriors)}


@description_of.register(ClassTrees)
def describe_class_trees(tables: ClassTrees, arrays: Arrays) -> Description:
    """Describe a tree for every class."""
    return {"kind": "classes", "parts": [member.describe(arrays) for member in tables.members]}


@description_of.register(RescuedTables)
def describe_rescued(tables: RescuedTables, arrays: Arrays) -> Description:
    """Describe tables, and others where these give no class a chance."""
    parts = [member.describe(arrays) for member in (tables.plain, tables.rescue)]
    return {"kind": "rescue", "parts": parts}


@description_of.register(FirstAnswer)
def describe_first_answer(tables: FirstAnswer, arrays: Arrays) -> Description:
    """Describe averages over super-parents, and naive Bayes where there is none."""
    averages = [describe_super_parents(average, arrays) for average in tables.averages]
    simplest = tables.simplest.describe(arrays)
    parts = [{**average, "base": simplest["base"]} for average in averages]
    return {"kind": "first", "parts": [*parts, simplest]}
