"""Models as networks: tables of every column given its parents and the class, for anyone to ask."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts.families import context_of
from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.tables.base import Tables, rows_alike
from unnaive.tables.hierarchy import Level
from unnaive.tables.network import Network
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

    from unnaive._typing import AnyArray, CodeArray, CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.schema import Schema
    from unnaive.structure.graph import Graph
    from unnaive.tables.smoothing import Smoothing


def class_node(schema: Schema) -> str:
    """Name of the class in a network, where a column has its name, too."""
    return schema.target if schema.target not in schema.names else f"{schema.target} (class)"


def family_counts(counts: JointCounts, columns: Sequence[int]) -> CountArray:
    """N(c, x_parents, x) of a column and its parents, contexts that never occurred included.

    Shape (k, q, v), the parents' joint values numbered in their order.
    """
    child, *parents = columns
    if not parents:
        return counts.marginal(child)[:, None, :]
    sizes = counts.schema.sizes
    for family in counts.families:
        counted = family.columns[1:]
        if family.columns[0] == child and sorted(counted) == sorted(parents):
            shape = (counts.n_classes, math.prod(sizes[parents].tolist()), sizes[child])
            dense = np.zeros(shape, dtype=family.table.dtype)
            dense[:, family.contexts] = family.table
            apart = dense.reshape(counts.n_classes, *sizes[list(counted)].tolist(), sizes[child])
            order = [1 + counted.index(parent) for parent in parents]
            return apart.transpose(0, *order, len(parents) + 1).reshape(shape)
    if len(parents) > 1:
        raise UnnaiveError("these counts do not hold the columns together with their parents")
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
    found = conditional(smoothing, margin, levels, k * q, held).reshape(shape)
    order = [1 + parents.index(parent) for parent in columns[1:]]
    return found.transpose(0, *order, len(parents) + 1).reshape(k, q, v)


def _as_counted(counts: JointCounts, columns: Sequence[int]) -> list[int]:
    """Return a column and its parents in the order they were counted in, if they were.

    Hierarchical smoothing leans along it.
    """
    for family in counts.families:
        if family.columns[0] == columns[0] and sorted(family.columns) == sorted(columns):
            return list(family.columns)
    return list(columns)


def _levels(table: CountArray) -> list[Level]:
    """Sum counts (k, parents …, v) to those with no parent, with the first, … with all."""
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
    """Estimate the network of a model: the class is a parent of all columns that its graph uses."""
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
        found = conditional_table(counts, (node, *parents), smoothing, given_class=with_class)
        shape = [*sizes[parents].tolist(), int(sizes[node])]
        table = np.exp(found).reshape(-1, *shape)
        # The class is the last node, so among sorted parents it comes last, before the child.
        tables.append(np.moveaxis(table, 0, -2) if with_class else table[0])
    tables.append(np.exp(class_table(counts, dag.parents[-1], smoothing, class_prior)))
    states = [
        tuple(column.label(code) for code in range(column.size)) or ("missing",)
        for column in schema.columns
    ]
    return Network(dag, (*states, tuple(map(str, schema.classes))), tuple(tables))


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
        raise UnnaiveError("class_prior is for a class without parents; this one has some")
    sizes = counts.schema.sizes
    rest, last = list(parents[:-1]), parents[-1]
    table = family_counts(counts, (last, *rest)).reshape(counts.n_classes, -1).T
    pseudo = smoothing.pseudo_counts(counts.n_classes, len(table), frequencies(counts.class_counts))
    return estimate(table, pseudo).reshape(*sizes[list(parents)].tolist(), counts.n_classes)


def log_joint(network: Network, codes: CodeArray) -> FloatArray:
    """Log P(class, observed cells) of coded rows (d + 1, n), the class last; shape (n, k)."""
    label = len(network.dag.names) - 1
    every = set(range(label + 1))
    missing = codes[:label] >= network.sizes[:label, None]
    found = np.empty((codes.shape[1], int(network.sizes[label])))
    for rows, gaps in rows_alike(missing):
        hidden = {*np.flatnonzero(gaps).tolist(), label}
        nodes = network._with_ancestors((every - hidden) | {label})  # noqa: SLF001
        found[rows], _ = network._eliminated(codes[:, rows], hidden, (label,), nodes)  # noqa: SLF001
    return found


@dataclass(frozen=True, eq=False)
class NetworkTables(Tables):
    """A network as a classifier's tables; see :class:`~unnaive.models.BayesNet`."""

    network: Network
    counts: JointCounts
    smoothing: Smoothing
    held_out: float | None = None

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:  # noqa: ARG002
        """Log joint of every row and class, missing cells summed out; shape (n, k)."""
        lines = np.zeros((1, codes.shape[1]), dtype=codes.dtype)
        joint = log_joint(self.network, np.concatenate([codes, lines]))
        if self.held_out is not None:
            self._hold_out(joint, codes, held)
        return joint

    def _hold_out(self, joint: FloatArray, codes: CodeArray, held: AnyArray) -> None:
        """Take each row's weight off the tables of its own class, and off what classes share."""
        sizes, dag, weight = self.counts.schema.sizes, self.network.dag, self.held_out or 0.0
        if (codes >= sizes[:, None]).any():
            raise UnnaiveError(
                "leave-one-out of a Bayesian network needs rows without gaps; use cross-validation"
            )
        rows = np.arange(len(held))
        sets = (*leave_one_out_sets(weight)[:2], PLAIN)
        for node, above in enumerate(dag.parents[:-1]):
            if len(sizes) not in above or not sizes[node]:
                continue
            columns = (node, *(parent for parent in above if parent != len(sizes)))
            place, _ = context_of(codes, sizes, columns[1:])
            others, own, plain = (
                conditional_table(self.counts, columns, self.smoothing, held=left)[
                    :, place, codes[node]
                ].T
                for left in sets
            )
            with np.errstate(invalid="ignore"):  # −inf less −inf: no chance before and after
                change = others - plain
                change[rows, held] = own[rows, held] - plain[rows, held]
            joint += np.where(np.isnan(change), 0.0, change)
        joint[rows, held] += self._prior_change(codes, held, weight)

    def _prior_change(self, codes: CodeArray, held: AnyArray, weight: float) -> FloatArray:
        """Log of the share of the own class that is left without the row; shape (n,)."""
        counts, parents = self.counts, self.network.dag.parents[-1]
        if not parents:
            table = counts.class_counts.reshape(1, -1)
            place: IntArray = np.zeros(len(held), dtype=np.int64)
        else:
            rest, last = list(parents[:-1]), parents[-1]
            table = family_counts(counts, (last, *rest)).reshape(counts.n_classes, -1).T
            place, _ = context_of(codes, counts.schema.sizes, tuple(parents))
        frequency = frequencies(counts.class_counts)
        alpha, _ = self.smoothing.pseudo_counts(counts.n_classes, len(table), frequency)
        seen = table[place, held]
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(np.maximum(seen - weight, 0.0) + alpha[held]) - np.log(
                seen + alpha[held]
            )
        return np.asarray(change)
