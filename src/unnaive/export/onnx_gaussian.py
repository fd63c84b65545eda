"""ONNX for Gaussian densities; missing columns are integrated out of each row."""

from __future__ import annotations

from math import log, pi, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.export.onnx_graph import Graph
    from unnaive.export.onnx_kinds import Compiler

_LOG_TWO_PI = log(2 * pi)


def gaussian(compiler: Compiler, spec: State) -> str:
    """Return the log joint.

    A missing column becomes one with variance 1, no covariance and distance 0: it changes neither
    the factor of the others nor their densities, and its own density is not added.

    Parameters
    ----------
    compiler : Compiler
        Has the numbers and the graph.
    spec : dict
        Description of the densities.

    Returns
    -------
    str
        Name of the log joint (n, k).
    """
    graph, reading, k = compiler.graph, compiler.reading, compiler.k
    columns, m = spec["columns"], len(spec["columns"])
    base = graph.constant(reading.logs(spec["base"])[None])
    if not m:
        return base
    if spec["forms"] == "cells":
        means, spread = _in_cells(compiler, spec)
    else:
        means = graph.constant(reading.exact(spec["means"]).reshape(1, k, m))
        spread = graph.constant(reading.exact(spec["covariances"]).reshape(1, k, m, -1))
    values = graph.stacked([compiler.code(place) for place in columns], 1)  # (n, m)
    known = graph.stacked(
        [graph.as_double(compiler.finite[compiler.code(place)]) for place in columns], 1
    )
    shown = graph.shaped(known, [-1, 1, m])
    away = graph.node("Sub", graph.shaped(values, [-1, 1, m]), means)
    away = graph.node("Mul", away, shown)  # (n, k, m)
    if spec["forms"] == "independent":
        parts = _alone(graph, away, reading.exact(spec["covariances"]).reshape(k, m))
    else:
        parts = _dependent(compiler, spec, away, shown, spread)
    return graph.node("Add", base, graph.total(graph.node("Mul", parts, shown), 2))


def _in_cells(compiler: Compiler, spec: State) -> tuple[str, str]:
    r"""Return means (n, k, m) and covariances (n, k, m, m) in the cells of rows, from regressions.

    .. math:: \mu_i = \beta_0 + \sum_p \beta_p \mu_p, \quad
              \Sigma_{ij} = \sum_p \beta_p \Sigma_{pj}, \quad
              \Sigma_{ii} = \sigma^2 + \sum_p \beta_p \Sigma_{pi}
    """
    graph, k, m = compiler.graph, compiler.k, len(spec["columns"])
    none = graph.as_double(compiler.finite[compiler.code(spec["columns"][0])])
    zero = graph.node("Mul", graph.shaped(none, [-1, 1]), graph.constant(np.zeros((1, k))))
    means, spread = [zero] * m, [[zero] * m for _ in range(m)]  # each (n, k)

    def along(slopes: dict[int, str], values: list[str], first: str) -> str:
        return graph.add([first, *(graph.node("Mul", s, values[p]) for p, s in slopes.items())])

    for family in spec["families"]:
        child, parents, sizes = family["child"], family["parents"], family["sizes"]
        index = None
        if sizes:
            index = graph.number_of([compiler.code(label) for label in family["labels"]], sizes)

        def entry(name: str, at: int = 0, family: State = family, index: str | None = index) -> str:
            table = compiler.reading.exact(family[name]).reshape(k, prod(family["sizes"]), -1)
            lines = np.ascontiguousarray(table[..., at].T)
            return graph.constant(lines) if index is None else graph.rows(lines, index)

        slopes = {parent: entry("slopes", at) for at, parent in enumerate(parents)}
        means[child] = along(slopes, means, graph.node("Add", zero, entry("intercept")))
        for other in range(m):
            if other != child:
                line = along(slopes, [spread[p][other] for p in range(m)], zero)
                spread[child][other] = spread[other][child] = line
        noise = graph.node("Add", zero, entry("noise"))
        spread[child][child] = along(slopes, spread[child], noise)
    matrix = graph.stacked([graph.stacked(line, 2) for line in spread], 2)
    return graph.stacked(means, 2), matrix


def _alone(graph: Graph, away: str, variances: FloatArray) -> str:
    """Log densities of columns that depend only on the class; (n, k, m)."""
    heights = graph.constant(-(np.log(variances) + _LOG_TWO_PI)[None] / 2)
    scales = graph.constant(-0.5 / variances[None])
    return graph.node("Add", heights, graph.node("Mul", graph.node("Mul", away, away), scales))


def _dependent(compiler: Compiler, spec: State, away: str, shown: str, spread: str) -> str:
    """Return log densities of columns given those before them, or given all others.

    Parameters
    ----------
    compiler : Compiler
        Has the model and the graph.
    spec : dict
        Description of the densities.
    away : str
        Distances from the means (n, k, m), 0 if missing.
    shown : str
        1 for observed columns, else 0 (n, 1, m).
    spread : str
        Covariances (1 or n, k, m, m).

    Returns
    -------
    str
        Name of the log densities (n, k, m).
    """
    graph, k, m = compiler.graph, compiler.k, len(spec["columns"])
    is_naive = np.isin(np.arange(m), spec.get("naive", []) if spec["forms"] == "naive" else [])
    inside = shown
    if spec.get("strong"):
        inside = graph.node("Mul", shown, graph.constant((~is_naive).astype(float)[None, None]))
    both = graph.node(
        "Mul", graph.shaped(inside, [-1, 1, m, 1]), graph.shaped(inside, [-1, 1, 1, m])
    )
    unit = graph.node("Sub", graph.number(1.0), graph.shaped(inside, [-1, 1, m, 1]))
    matrix = graph.node(
        "Add",
        graph.node("Mul", spread, both),
        graph.node("Mul", graph.constant(np.eye(m)[None, None]), unit),
    )
    own = graph.node("Mul", away, inside) if spec.get("strong") else away
    right = graph.shaped(own, [-1, k, m, 1])
    if spec["forms"] in {"complete", "cells"}:
        forms, logs = _reduced(graph, matrix, right, k, m)
        squares = graph.shaped(graph.node("Mul", forms, forms), [-1, k, m])
        half = graph.node(
            "Mul", graph.node("Add", squares, graph.number(_LOG_TWO_PI)), graph.number(-0.5)
        )
        return graph.node("Sub", half, logs)
    identity = graph.constant(np.eye(m)[None, None])
    lines, _ = _reduced(graph, matrix, identity, k, m)
    turned = graph.node("Transpose", lines, perm=[0, 1, 3, 2])
    precision = graph.node("MatMul", turned, lines)
    diagonal = graph.total(graph.node("Mul", precision, identity), 3)
    form = graph.shaped(
        graph.node("MatMul", turned, graph.node("MatMul", lines, right)), [-1, k, m]
    )
    squares = graph.node("Div", graph.node("Mul", form, form), diagonal)
    half = graph.node(
        "Mul", graph.node("Add", squares, graph.number(_LOG_TWO_PI)), graph.number(-0.5)
    )
    given = graph.node(
        "Add", half, graph.node("Mul", graph.node("Log", diagonal), graph.number(0.5))
    )
    covariances = compiler.reading.exact(spec["covariances"]).reshape(k, m, m)
    alone = _alone(graph, away, np.einsum("kii->ki", covariances))
    return graph.node("Where", graph.constant(is_naive[None, None]), alone, given)


def _reduced(graph: Graph, matrix: str, right: str, k: int, m: int) -> tuple[str, str]:
    """Solve L z = right for the Cholesky factor L of a matrix.

    Column by column, all rows and classes at once; each step subtracts the outer product of a
    column of L from what is left of the matrix.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    matrix : str
        Matrices (n, k, m, m).
    right : str
        Right sides (n, k, m, …).
    k : int
        Number of classes.
    m : int
        Number of columns.

    Returns
    -------
    tuple of two str
        Names of z, and of the logarithms of L's diagonal (n, k, m).
    """
    solved, logs = [], []
    first, one, end = graph.integers([0]), graph.integers([1]), graph.integers([m])
    rows, lines = graph.integers([2]), graph.integers([3])
    for j in range(m):
        left = m - j
        head = graph.node("Slice", matrix, first, one, lines)  # (n, k, left, 1)
        pivot = graph.node("Sqrt", graph.node("Slice", head, first, one, rows))
        scaled = graph.node("Div", head, pivot)
        top = graph.node("Div", graph.node("Slice", right, first, one, rows), pivot)
        solved.append(top)
        logs.append(graph.shaped(graph.node("Log", pivot), [-1, k, 1]))
        if left == 1:
            break
        below = graph.node("Slice", scaled, one, end, rows)
        rest = graph.node("Slice", graph.node("Slice", matrix, one, end, rows), one, end, lines)
        turned = graph.node("Transpose", below, perm=[0, 1, 3, 2])
        matrix = graph.node("Sub", rest, graph.node("MatMul", below, turned))
        right = graph.node(
            "Sub", graph.node("Slice", right, one, end, rows), graph.node("MatMul", below, top)
        )
    return graph.node("Concat", *solved, axis=2), graph.node("Concat", *logs, axis=2)
