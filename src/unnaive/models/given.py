"""Networks of other programs as classifiers: a model that is fitted to expected counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from unnaive.counts import JointCounts
from unnaive.counts.cells import CellCounts, is_wide_family
from unnaive.counts.families import FamilyCounts
from unnaive.exceptions import UnnaiveError
from unnaive.models.bayesnet import BayesNet
from unnaive.schema import CategoricalColumn, NumericColumn, Schema
from unnaive.structure.dag import DAG
from unnaive.structure.network import NetworkGraph
from unnaive.tables.evidence import node_of

if TYPE_CHECKING:
    from unnaive._typing import FloatArray
    from unnaive.schema.columns import ColumnSchema
    from unnaive.tables.network import Network


def classifier_of(network: Network, target: str, equivalent_sample_size: float) -> BayesNet:
    """Make the classifier of a network, see :meth:`unnaive.Network.to_classifier`."""
    label = node_of(network, target)
    if len(network.states[label]) < 2:
        raise UnnaiveError(f"{target!r} has a single state, so there is nothing to predict")
    if not 0 < equivalent_sample_size < math.inf:
        raise ValueError(
            f"equivalent_sample_size={equivalent_sample_size!r}; it must be a positive number"
        )
    columns = [node for node in range(len(network.sizes)) if node != label]
    schema = Schema(
        tuple(_column(network, node) for node in columns), network.states[label], target
    )
    places = {node: place for place, node in enumerate([*columns, label])}
    above = tuple(tuple(places[p] for p in network.dag.parents[node]) for node in places)
    graph = NetworkGraph((*schema.names, target), above)
    model = BayesNet(structure=DAG(graph.names, graph.parents), smoothing="ml")
    counts = expected_counts(network, schema, graph, [*columns, label])
    size = float(equivalent_sample_size)
    return model.fit_counts(counts.changed(lambda table: table.astype(np.float64) * size))


def _column(network: Network, node: int) -> ColumnSchema:
    """Describe a variable as a column of data."""
    name, states = network.dag.names[node], network.states[node]
    edges = network.bins.get(name)
    if edges is None:
        return CategoricalColumn(name, states)
    return NumericColumn(name, edges, missing_category=len(states) > len(edges) + 1)


def expected_counts(
    network: Network, schema: Schema, graph: NetworkGraph, nodes: list[int]
) -> JointCounts:
    """Probabilities of the classes, values and families, as counts of one row.

    The last of ``nodes``, variables of the network in the order of the graph, is the class. A batch
    of findings, one per class, gives the probabilities of all families.
    """
    tree, label = network._tree, nodes[-1]
    beliefs, logs = tree.observed({label: np.eye(len(schema.classes))})
    prior = np.exp(logs)

    def joint(members: list[int]) -> FloatArray:
        """P(c, members), from cliques that are weighted up to a factor."""
        table = tree.joint(beliefs, [node for node in members if node != label])
        flat = table.reshape(len(table), -1)
        total = flat.sum(axis=1, keepdims=True)
        shares = np.divide(flat, total, out=np.zeros_like(flat), where=total > 0)
        return np.asarray((prior[:, None] * shares).reshape(len(prior), *table.shape[1:]))

    values = [joint([node]) for node in nodes[:-1]]
    families = []
    for columns in graph.families:
        child, *parents = (nodes[column] for column in columns)
        table = joint([*parents, child]).reshape(len(prior), -1, network.sizes[child])
        families.append(_family(columns, table, schema))
    none = np.empty((0, 2), dtype=np.int64)
    return JointCounts(
        schema,
        prior,
        np.concatenate(values, axis=1) if values else np.empty((len(prior), 0)),
        none,
        np.empty((len(prior), 0)),
        tuple(families),
    )


def _family(
    columns: tuple[int, ...], table: FloatArray, schema: Schema
) -> FamilyCounts | CellCounts:
    """Return the probabilities of a family in the form in which rows of it are counted."""
    if is_wide_family(columns, schema.sizes, len(table)):
        keys = np.flatnonzero(table)
        return CellCounts(columns, keys, table.reshape(-1)[keys])
    contexts = np.flatnonzero(table.any(axis=(0, 2)))
    return FamilyCounts(columns, contexts, np.ascontiguousarray(table[:, contexts]))
