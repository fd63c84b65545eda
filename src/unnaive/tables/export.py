"""Models as Bayesian networks: tables of every column given its parents and the class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.cells import CellCounts
from unnaive.counts.families import context_of
from unnaive.exceptions import UnnaiveError
from unnaive.schema.columns import MISSING_VALUES, NumericColumn
from unnaive.structure.dag import DAG
from unnaive.structure.graph import topological
from unnaive.tables import describe
from unnaive.tables.base import Tables, rows_alike
from unnaive.tables.hierarchy import Level
from unnaive.tables.network import Network
from unnaive.tables.terms import Terms, chained, observed, single_terms
from unnaive.tables.trees import (
    PLAIN,
    HeldOut,
    conditional,
    estimate,
    frequencies,
    leave_one_out_sets,
    log_prior,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import (
        AnyArray,
        CodeArray,
        CountArray,
        FloatArray,
        IntArray,
        Label,
        State,
    )
    from unnaive.counts import JointCounts
    from unnaive.schema import Schema
    from unnaive.schema.columns import ColumnSchema
    from unnaive.structure.graph import Graph
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing


def class_node(schema: Schema) -> str:
    """Name of the class in a network; it differs from the target if a column has that name."""
    return schema.target if schema.target not in schema.names else f"{schema.target} (class)"


def family_counts(counts: JointCounts, columns: Sequence[int]) -> CountArray:
    """N(c, x_parents, x) of a column and its parents, with all contexts; shape (k, q, v).

    The joint values of the parents are numbered in the order of ``columns``.
    """
    child, *parents = columns
    if not parents:
        return counts.marginal(child)[:, None, :]
    sizes = counts.schema.sizes
    for family in counts.families:
        counted = family.columns[1:]
        if family.columns[0] == child and sorted(counted) == sorted(parents):
            shape = (counts.n_classes, math.prod(sizes[parents].tolist()), sizes[child])
            if isinstance(family, CellCounts):
                cells = family.given((child, *parents), sizes)
                return cells.filled(sizes, counts.n_classes).reshape(shape)
            dense = np.zeros(shape, dtype=family.table.dtype)
            dense[:, family.contexts] = family.table
            apart = dense.reshape(counts.n_classes, *sizes[list(counted)].tolist(), sizes[child])
            order = [1 + counted.index(parent) for parent in parents]
            return apart.transpose(0, *order, len(parents) + 1).reshape(shape)
    if len(parents) > 1:
        raise UnnaiveError(
            "these counts do not have the columns together with their parents; fit on rows"
        )
    return counts.pair(parents[0], child)


def conditional_table(
    counts: JointCounts,
    columns: Sequence[int],
    smoothing: Smoothing,
    *,
    given_class: bool = True,
    held: HeldOut = PLAIN,
) -> FloatArray:
    """Log P(x | x_parents, c), or without the class; shape (k or 1, q, v)."""
    child, *parents = _as_counted(counts, columns)
    table = family_counts(counts, (child, *parents))
    if not given_class:
        table = table.sum(axis=0, keepdims=True)
    margin = counts.marginal(child).sum(axis=0)
    k, q, v = table.shape
    shape = (k, *counts.schema.sizes[parents].tolist(), v)
    levels = [Level.of(table.reshape(k * q, v))]
    if smoothing.is_hierarchical:
        levels = _levels(table.reshape(shape))
        alone = counts.marginal(child)  # of all rows that have the cell
        levels[0] = Level.of(alone if given_class else alone.sum(axis=0, keepdims=True))
    logs = conditional(smoothing, margin, levels, k * q, held).reshape(shape)
    order = [1 + parents.index(parent) for parent in columns[1:]]
    return logs.transpose(0, *order, len(parents) + 1).reshape(k, q, v)


def _as_counted(counts: JointCounts, columns: Sequence[int]) -> list[int]:
    """Return a column and its parents in the order in which they were counted, if they were.

    Hierarchical smoothing depends on this order.
    """
    for family in counts.families:
        if family.columns[0] == columns[0] and sorted(family.columns) == sorted(columns):
            return list(family.columns)
    return list(columns)


def _levels(table: CountArray) -> list[Level]:
    """Sum counts (k, parents …, v): given no parent, the first, …, all of them."""
    levels, contexts = [], 1
    for depth in range(1, table.ndim):
        counts = table.sum(axis=tuple(range(depth, table.ndim - 1)))
        flat = counts.reshape(-1, table.shape[-1])
        levels.append(Level.of(flat, np.arange(len(flat)) // (len(flat) // contexts)))
        contexts = len(flat)
    return levels


def network_of_graph(
    counts: JointCounts, graph: Graph, smoothing: Smoothing, class_prior: FloatArray | None
) -> Network:
    """Estimate the network of a model; the class is a parent of all columns in its graph."""
    schema = counts.schema
    label = len(schema.names)
    used = {column for column in graph.used.tolist() if schema.sizes[column]}
    parents = [
        (*graph.parents_of(column), label) if column in used else () for column in range(label)
    ]
    dag = DAG((*schema.names, class_node(schema)), (*map(tuple, parents), ()))
    return network_of(counts, dag, smoothing, class_prior)


def network_of(
    counts: JointCounts, dag: DAG, smoothing: Smoothing, class_prior: FloatArray | None = None
) -> Network:
    """Estimate all tables of a network over the columns and, last, the class."""
    schema, sizes = counts.schema, counts.schema.sizes
    label, tables = len(schema.names), []
    for node, above in enumerate(dag.parents[:-1]):
        parents = [parent for parent in above if parent != label]
        with_class = label in above
        if not sizes[node]:
            tables.append(np.ones(1))
            continue
        logs = conditional_table(counts, (node, *parents), smoothing, given_class=with_class)
        shape = [*sizes[parents].tolist(), int(sizes[node])]
        table = np.exp(logs).reshape(-1, *shape)
        # The class is the last node, so it is the last of the sorted parents, before the child.
        tables.append(np.moveaxis(table, 0, -2) if with_class else table[0])
    tables.append(np.exp(class_table(counts, dag.parents[-1], smoothing, class_prior)))
    states = (*map(_states, schema.columns), schema.classes)
    bins = {
        column.name: column.edges for column in schema.columns if isinstance(column, NumericColumn)
    }
    return Network(dag, states, tuple(tables), bins=bins)


def _states(column: ColumnSchema) -> tuple[Label, ...]:
    """Categories of a column, or its bins as text; one state if it has no value."""
    if isinstance(column, NumericColumn):
        return tuple(column.label(code) for code in range(column.size))
    last = (column.label(column.size - 1),) if column.missing_category else ()
    return (*column.categories, *last) or (MISSING_VALUES,)


def class_table(
    counts: JointCounts,
    parents: Sequence[int],
    smoothing: Smoothing,
    class_prior: FloatArray | None = None,
) -> FloatArray:
    """Log P(c | x_parents) of the class; shape (sizes of parents …, k)."""
    if not parents:
        return log_prior(counts, smoothing, class_prior)
    if class_prior is not None:
        raise UnnaiveError(
            "class_prior needs a class without parents, but here the class has parents; "
            "leave class_prior=None"
        )
    table, pseudo = _class_counts(counts, parents, smoothing)
    shape, view = counts.schema.sizes[list(parents)].tolist(), smoothing.view
    logs = estimate(table, pseudo) if view is None else view.given(table, pseudo[0])
    return logs.reshape(*shape, counts.n_classes)


def _class_counts(
    counts: JointCounts, parents: Sequence[int], smoothing: Smoothing
) -> tuple[CountArray, tuple[FloatArray, float]]:
    """N(x_parents, c) of the class, shape (q, k), and its pseudo-counts."""
    table = counts.class_counts.reshape(1, -1)
    if parents:
        *rest, last = parents
        table = family_counts(counts, (last, *rest)).reshape(counts.n_classes, -1).T
    frequency = frequencies(counts.class_counts)
    return table, smoothing.pseudo_counts(counts.n_classes, len(table), frequency)


def log_joint(network: Network, codes: CodeArray) -> FloatArray:
    """Log P(class, observed cells) of coded rows (d + 1, n), the class last; shape (n, k)."""
    label = len(network.dag.names) - 1
    every = set(range(label + 1))
    missing = codes[:label] >= network.sizes[:label, None]
    joint = np.empty((codes.shape[1], int(network.sizes[label])))
    for rows, gaps in rows_alike(missing):
        hidden = {*np.flatnonzero(gaps).tolist(), label}
        nodes = network._with_ancestors((every - hidden) | {label})  # noqa: SLF001
        joint[rows], _ = network._eliminated(codes[:, rows], hidden, (label,), nodes)  # noqa: SLF001
    return joint


@dataclass(frozen=True, eq=False)
class NetworkTables(Tables):
    """A network as the tables of a classifier; see :class:`~unnaive.models.BayesNet`.

    Attributes
    ----------
    network : Network
        The columns and, as the last variable, the class.
    counts : JointCounts
        Counts, needed for leave-one-out.
    smoothing : Smoothing
        The smoothing policy.
    held_out : float, default=None
        Weight of a row for leave-one-out.
    """

    network: Network
    counts: JointCounts
    smoothing: Smoothing
    held_out: float | None = None

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:  # noqa: ARG002
        lines = np.zeros((1, codes.shape[1]), dtype=codes.dtype)
        joint = log_joint(self.network, np.concatenate([codes, lines]))
        if self.held_out is not None:
            self._hold_out(joint, codes, held)
        return joint

    @property
    def _above(self) -> list[tuple[int, ...]]:
        """Parents of every node except the class."""
        label = len(self.counts.schema.sizes)
        return [tuple(p for p in parents if p != label) for parents in self.network.dag.parents]

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint: one term per column, see :mod:`unnaive.tables.terms`."""
        sizes, parents = self.counts.schema.sizes, self._above[:-1]
        there, used = observed(codes, sizes), np.flatnonzero(sizes > 0).tolist()
        base = self.joint(np.repeat(sizes.astype(codes.dtype)[:, None], codes.shape[1], axis=1))
        parts = np.zeros((*base.shape, len(sizes)))
        order = topological(parents, used)
        for place, column in enumerate(order):
            whole = np.asarray(there[[column, *parents[column]]].all(axis=0))
            whole &= not self._above[-1]  # else the class depends on the columns above it
            parts[whole, :, column] = self._factor(codes[:, whole], column)
            rows, later = np.flatnonzero(there[column] & ~whole), order[place + 1 :]
            if len(rows):
                added = chained(self.joint, codes[:, rows], sizes, later, column)
                parts[rows, :, column] = added
        return Terms(single_terms(used, parents.__getitem__), base, parts[:, :, used])

    def _log_table(self, node: int) -> tuple[bool, FloatArray]:
        """Whether a node depends on the class, and log P(x | parents), the class then first."""
        dag, table = self.network.dag, self.network._logs[node]  # noqa: SLF001
        with_class = len(dag.names) - 1 in dag.parents[node]
        return with_class, np.moveaxis(table, -2, 0) if with_class else table

    def _factor(self, codes: CodeArray, column: int) -> FloatArray:
        """Log P(x | parents) of rows in which all of these are observed; shape (n, k)."""
        with_class, table = self._log_table(column)
        cells = tuple(codes[[*self._above[column], column]])
        if with_class:
            return np.asarray(table[(slice(None), *cells)].T)
        return np.repeat(table[cells][:, None], self.counts.n_classes, axis=1)

    def describe(self, arrays: Arrays) -> State:
        """Describe the network as a product with one factor per node."""
        above, factors = self._above, []
        for node in topological(above, np.flatnonzero(self.counts.schema.sizes > 0).tolist()):
            with_class, logs = self._log_table(node)
            table = describe.table((*above[node], node), logs, arrays)
            shared = {**table, "shared": not with_class}
            factors.append(describe.factor([node], above[node], [shared]))
        prior = self.network._logs[-1]  # noqa: SLF001
        if above[-1]:
            table = describe.table(above[-1], np.moveaxis(prior, -1, 0), arrays)
            factors.append(describe.factor([], above[-1], [table]))
            prior = np.zeros(prior.shape[-1])
        return describe.product(prior, factors, arrays, marginalize=True)

    def _hold_out(self, joint: FloatArray, codes: CodeArray, held: AnyArray) -> None:
        """Subtract each row's weight from the tables of its class, and from shared tables."""
        sizes, dag, weight = self.counts.schema.sizes, self.network.dag, self.held_out or 0.0
        if (codes >= sizes[:, None]).any():
            raise UnnaiveError(
                "leave-one-out of a Bayesian network needs rows without missing values; use "
                "cross-validation"
            )
        rows = np.arange(len(held))
        sets = (*leave_one_out_sets(weight)[:2], PLAIN)
        for node, above in enumerate(dag.parents[:-1]):
            if len(sizes) not in above or not sizes[node]:
                continue
            columns = (node, *self._above[node])
            place, _ = context_of(codes, sizes, columns[1:])
            tables = (conditional_table(self.counts, columns, self.smoothing, held=s) for s in sets)
            others, own, plain = (table[:, place, codes[node]].T for table in tables)
            with np.errstate(invalid="ignore"):  # −inf less −inf: probability 0 before and after
                change = others - plain
                change[rows, held] = own[rows, held] - plain[rows, held]
            joint += np.where(np.isnan(change), 0.0, change)
        joint[rows, held] += self._prior_change(codes, held, weight)

    def _prior_change(self, codes: CodeArray, held: AnyArray, weight: float) -> FloatArray:
        """Change of the log-probability of the row's class without the row; shape (n,)."""
        parents = tuple(self.network.dag.parents[-1])
        table, (alpha, _) = _class_counts(self.counts, parents, self.smoothing)
        place, _ = context_of(codes, self.counts.schema.sizes, parents)
        seen = table[place, held]
        with np.errstate(divide="ignore", invalid="ignore"):
            after = np.log(np.maximum(seen - weight, 0.0) + alpha[held])
            return np.asarray(after - np.log(seen + alpha[held]))
