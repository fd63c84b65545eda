"""ONNX: a model as a graph for onnxruntime and other engines."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE
from unnaive.exceptions import UnnaiveError
from unnaive.export.checks import (
    kind_of_labels,
    kind_of_values,
    models_of,
    require_doubles,
    require_text,
)
from unnaive.export.onnx_graph import Graph
from unnaive.export.onnx_kinds import Compiler
from unnaive.export.reading import readings_of

if TYPE_CHECKING:
    from onnx import ModelProto

    from unnaive._typing import State
    from unnaive.export.reading import Reading

_LARGEST = sys.float_info.max


def graph_of(document: State) -> ModelProto:
    """Convert a document; :func:`unnaive.export.to_onnx` explains the result."""
    require_doubles(document, "ONNX")
    require_text(document, "ONNX")
    inputs = _inputs(document)
    graph = Graph(list(inputs))
    logs = []
    for reading in readings_of(document):
        joint = _joint(reading, graph, inputs)
        if "members" in document:
            scale = reading.single["scale"]
            joint = graph.scaled(joint, scale["temperature"], reading.exact(scale["bias"]))
            weight = graph.number(math.log(reading.single["weight"]))
            joint = graph.node("Add", graph.normalised(joint), weight)
        logs.append(joint)
    joint = graph.log_sum(graph.stacked(logs, 1), 1) if len(logs) > 1 else logs[0]
    chances = graph.node("Exp", graph.normalised(graph.for_rows(joint, next(iter(inputs)))))
    label = _label(document, readings_of(document)[0], graph, chances)
    return graph.model(inputs, label, chances, len(document["labels"]))


def _inputs(document: State) -> dict[str, str]:
    """Return the columns that some member uses, and whether they are text."""
    found: dict[str, str] = {}
    for member in models_of(document):
        for column in member["columns"]:
            if column["used"]:
                text = kind_of_values(column, "ONNX") is str
                found[column["name"]] = "str" if text else found.get(column["name"], "float")
    if "" in found:
        raise UnnaiveError("a column has no name, which an input of ONNX needs; name it")
    if not found or {"label", "probabilities"} & set(found):
        what = "no column is used" if not found else "a column has the name of an output of ONNX"
        raise UnnaiveError(f"{document['model']}: {what} ('label', 'probabilities'); rename it")
    order = [column["name"] for column in document["columns"] if column["name"] in found]
    return {name: found[name] for name in order}


def _joint(reading: Reading, graph: Graph, inputs: dict[str, str]) -> str:
    """Return the calibrated log joint of one model; shape (n, k)."""
    cells = {name: graph.shaped(name, [-1]) for name in inputs}
    codes: list[str | None] = []
    finite: dict[str, str] = {}
    for column in reading.columns:
        if not column["used"]:
            codes.append(None)
        elif column["kind"] == "number":
            number, known = _number(graph, cells[column["name"]])
            codes.append(number)
            finite[number] = known
        else:
            codes.append(_coded(column, graph, cells[column["name"]]))
    compiler = Compiler(reading, graph, codes, finite)
    joint = compiler.joint(reading.single["tables"])
    prior = graph.constant(reading.logs(reading.single["prior"])[None])
    joint = graph.unless_lost(joint, prior)
    if (scale := reading.single["calibration"]) is not None:
        joint = graph.scaled(joint, scale["temperature"], reading.exact(scale["bias"]))
    return joint


def _coded(column: State, graph: Graph, cell: str) -> str:
    """Return the code of every row, the number of values if missing."""
    size = len(column.get("labels", ()))
    if column["kind"] == "category":
        values = [*column["values"], *column.get("others", ())]
        codes = [min(code, len(column["values"]) - 1) for code in range(len(values))]
        if kind_of_values(column, "ONNX") is str:
            return _text_code(column, graph, cell, values, codes, size)
        known = _finite(graph, cell)
        wide = graph.node("Unsqueeze", cell, graph.integers([1]))
        hits = graph.node("Equal", wide, graph.constant(np.array([values], dtype=float)))
        hits = graph.node("Cast", hits, to=6)  # int32
        place = graph.node("ArgMax", hits, axis=1, keepdims=0)
        hit = graph.node("Greater", graph.largest(hits, 1), graph.constant(np.array(0, np.int32)))
        code = graph.rows(np.array(codes, dtype=np.int64), place)
        code = graph.node("Where", hit, code, graph.integers([size]))
    else:
        known = _finite(graph, cell)
        edges = np.array([column["edges"] or [math.inf]])
        wide = graph.node("Unsqueeze", cell, graph.integers([1]))
        above = graph.node("Cast", graph.node("Greater", wide, graph.constant(edges)), to=7)
        code = graph.total(above, 1)
    absent = graph.integers([column.get("missing", size)])
    return graph.node("Where", known, code, absent)


def _text_code(  # noqa: PLR0917 - what a column consists of
    column: State, graph: Graph, cell: str, values: list[str], codes: list[int], size: int
) -> str:
    """Return codes of texts; the empty text is missing where that is a category."""
    if "missing" in column:
        if "" in values:
            raise UnnaiveError(
                f"column {column['name']!r} has an empty text as a value, and missing values are a "
                "category; texts of ONNX cannot be missing, so the two are alike; rename the value"
            )
        values, codes = [*values, ""], [*codes, column["missing"]]
    return graph.node(
        "LabelEncoder", cell, keys_strings=values, values_int64s=codes, default_int64=size
    )


def _number(graph: Graph, cell: str) -> tuple[str, str]:
    """Return finite numbers, 0 for others, and whether they are finite.

    "Where" of onnxruntime may return NaN if the value that it does not choose is NaN.
    """
    known = _finite(graph, cell)
    place = graph.node("Cast", graph.node("Not", known), to=7)
    zero = graph.node("Mul", graph.as_double(known), graph.number(0.0))
    both = graph.stacked([cell, zero], 1)
    wide = graph.node("Unsqueeze", place, graph.integers([1]))
    chosen = graph.node("GatherElements", both, wide, axis=1)
    return graph.shaped(chosen, [-1]), known


def _finite(graph: Graph, cell: str) -> str:
    """Whether a number is neither NaN nor infinite."""
    return graph.node("LessOrEqual", graph.node("Abs", cell), graph.number(_LARGEST))


def _label(document: State, reading: Reading, graph: Graph, chances: str) -> tuple[str, str]:
    """Return the label of every row, the first one on ties, and its type."""
    scores, slack = chances, graph.number(TIE_TOLERANCE)
    if document["threshold_bias"] is not None:
        bias = reading.exact(document["threshold_bias"])
        scores = graph.node("Add", chances, graph.constant(bias[None]))
    best = graph.largest(scores, 1, keep=True)
    if document["threshold_bias"] is None:  # logarithms are compared
        slack = graph.node("Mul", best, slack)
    least = graph.node("Sub", best, slack)
    tied = graph.node("Cast", graph.node("GreaterOrEqual", scores, least), to=6)
    place = graph.node("ArgMax", tied, axis=1, keepdims=0)
    labels = document["labels"]
    kind = kind_of_labels(document, "ONNX")
    types = {"str": object, "float": np.float64, "int": np.int64, "bool": np.bool_}
    return graph.node("Gather", graph.constant(np.array(labels, dtype=types[kind])), place), kind
