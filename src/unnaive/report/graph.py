"""The structure of a model as plain nodes, edges and boxes."""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.explain.structure import pair_information
from unnaive.report.card import ranked_members
from unnaive.structure.dag import DAG
from unnaive.structure.graph import ClassGraphs, Graph, ParentGraph
from unnaive.structure.groups import GroupGraph
from unnaive.structure.parents import HiddenParents, SuperParents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import State
    from unnaive.models import Classifier
    from unnaive.models.recipe import Structure

_MOST_NODES = 120
_MOST_CLASSES = 6
_DENSE = 3  # edges per column, beyond which lines are unreadable
_FEW = 20  # columns up to which the two heaviest members of every bag are drawn


class Links(NamedTuple):
    """Edges (parent, child, strength or None), and sets of columns to draw in one box."""

    edges: list[tuple[int, int, float | None]]
    boxes: list[tuple[int, ...]]
    used: list[int]
    unit: str | None
    note: str = ""


def describe_structure(model: Classifier, information: Sequence[float]) -> State:
    """Describe the graph of a model, of each class, or of each member of a blend.

    ``pictures`` is empty if there is no graph. A node's ``information`` is the mutual information
    of its column with the class, in bits. The column −1 is the class, which is a node among the
    others only if it is not a parent of all of them.
    """
    members, notes = ranked_members(model), []
    owners = [
        (f"{one.name}, weight {one.weight:.0%}".replace("%", " %"), one.model) for one in members
    ]
    graphs: Sequence[tuple[str, Structure, Classifier]] = [
        (title, owner.fitted_.structure, owner) for title, owner in owners or [("", model)]
    ]
    whole = graphs[0][1]
    if isinstance(whole, ClassGraphs) and not members:
        named = zip(model.schema_.classes, whole.graphs, strict=True)
        graphs = [(f"Class {label}", graph, model) for label, graph in named][:_MOST_CLASSES]
        if len(whole.graphs) > len(graphs):
            notes.append(f"Every class has its own graph; the first {len(graphs)} are drawn.")
    graphs = [entry for entry in graphs if structure_is_drawn(entry[1])]
    names, pictures, left_out = model.schema_.names, [], set(range(len(information)))
    for title, graph, owner in graphs:
        links = _links(graph, owner)
        left_out -= set(links.used)
        links, cut = _most_informative(links, information)
        notes += [note for note in (links.note, cut) if note and note not in notes]
        if links.used:
            pictures.append({"title": title, **_picture(links, names, information)})
    return {
        "pictures": pictures,
        "left_out": [names[column] for column in sorted(left_out)] if graphs else [],
        "notes": notes,
    }


def structure_is_drawn(structure: Structure) -> bool:
    """Whether a structure is one network, or an average with different weights of parents."""
    alike = isinstance(structure, SuperParents) and np.ptp(structure.weights) == 0
    return not (alike or isinstance(structure, ClassGraphs))


def _links(graph: Structure, model: Classifier) -> Links:
    """Read edges and boxes from any kind of graph."""
    if isinstance(graph, HiddenParents):
        return _bags(graph)
    if isinstance(graph, GroupGraph):
        boxes = [group for group in graph.groups if len(group) > 1]
        return Links([], boxes, graph.used.tolist(), None)
    if isinstance(graph, ParentGraph):
        place = {name: column for column, name in enumerate(graph.names)}
        edges = [(place[a], place[b], nats / log(2)) for a, b, nats in graph.edges]
        return Links(list(edges), [], graph.used.tolist(), "bits")
    if isinstance(graph, Graph) and any(len(edge) > 2 for edge in graph.edges):
        return _weighed(graph)
    pairs, used = _arrows(graph)
    columns = [pair for pair in pairs if -1 not in pair]
    if len(columns) > _DENSE * len(used):
        note = "There are too many edges to draw: columns in a box depend on each other."
        return Links([], _components(columns), used, None, note)
    bits = pair_information(model) / log(2) if columns else np.zeros((0, 0))
    known = {pair: float(bits[pair]) for pair in columns if not np.isnan(bits[pair])}
    weighted = [(a, b, known.get((a, b))) for a, b in pairs]
    return Links(weighted, [], used, "bits" if known else None)


def _weighed(graph: Graph) -> Links:
    """Read edges with weights; of many edges only the heaviest."""
    place = {name: column for column, name in enumerate(graph.names)}
    weighed = [(edge[0], edge[1], float(edge[-1])) for edge in graph.edges]
    edges = sorted(weighed, key=lambda edge: -edge[2])
    most = _DENSE * len(graph.used) // 2
    kept: list[tuple[int, int, float | None]] = [(place[a], place[b], w) for a, b, w in edges]
    note = (
        f"Only the {most:,} heaviest of {len(edges):,} edges are drawn."
        if len(edges) > most
        else ""
    )
    return Links(kept[:most], [], graph.used.tolist(), "weight", note)


def _arrows(graph: Structure) -> tuple[list[tuple[int, int]], list[int]]:
    """Edges by column, and the columns; the class is −1, omitted if it is a parent of all."""
    place = {name: column for column, name in enumerate(graph.names)}
    pairs = [(place[edge[0]], place[edge[1]]) for edge in graph.edges]
    if not isinstance(graph, DAG):
        return pairs, graph.used.tolist()
    d = len(graph.names) - 1
    if all(d in graph.parents[column] for column in range(d)):
        pairs = [(a, b) for a, b in pairs if a != d]
    named = [(-1 if a == d else a, -1 if b == d else b) for a, b in pairs]
    return named, list(range(d))


def _bags(graph: HiddenParents) -> Links:
    """Take the heaviest members of every column's bag."""
    each = 2 if len(graph.names) <= _FEW else 1
    edges: list[tuple[int, int, float | None]] = []
    for column, weights in enumerate(graph.weights):
        heaviest = np.argsort(-weights, kind="stable")[:each].tolist()
        edges += [(other, column, float(weights[other])) for other in heaviest if weights[other]]
    which, verb = ("two heaviest members", "are") if each == 2 else ("heaviest member", "is")
    note = f"Only the {which} of every column's bag {verb} drawn."
    note = note if len(edges) < int((graph.weights > 0).sum()) else ""
    return Links(edges, [], list(range(len(graph.names))), "of the bag", note)


def _components(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Find the connected components of a graph."""
    components: list[set[int]] = []
    for pair in pairs:
        touched = [component for component in components if component & set(pair)]
        components = [component for component in components if component not in touched]
        components.append(set(pair).union(*touched))
    return [tuple(sorted(component)) for component in sorted(components, key=min)]


def _most_informative(links: Links, information: Sequence[float]) -> tuple[Links, str]:
    """Keep the most informative columns, as many as can be drawn."""
    if len(links.used) <= _MOST_NODES:
        return links, ""
    ranked = sorted(links.used, key=lambda column: -information[column])[:_MOST_NODES]
    kept = {-1, *ranked}
    boxes = [tuple(column for column in box if column in kept) for box in links.boxes]
    drawn = links._replace(
        edges=[edge for edge in links.edges if edge[0] in kept and edge[1] in kept],
        boxes=[box for box in boxes if len(box) > 1],
        used=sorted(ranked),
    )
    return drawn, (
        f"Only the {_MOST_NODES} most informative of {len(links.used):,} columns are drawn."
    )


def _picture(links: Links, names: Sequence[str], information: Sequence[float]) -> State:
    """Turn links into plain nodes, edges and boxes."""
    with_class = any(-1 in edge[:2] for edge in links.edges)
    joined = {pair for box in links.boxes for pair in combinations(box, 2)}
    nodes = [
        {
            "column": column,
            "name": names[column],
            "information": information[column],
            "parents": [names[a] for a, b, _ in links.edges if b == column and a >= 0],
            "joined": [names[a if b == column else b] for a, b in joined if column in (a, b)],
        }
        for column in links.used
    ]
    return {
        "unit": links.unit,
        "class_is_above_all": not with_class,
        "nodes": nodes,
        "edges": [
            {"parent": parent, "child": child, "strength": strength}
            for parent, child, strength in links.edges
        ],
        "boxes": [list(box) for box in links.boxes],
    }
