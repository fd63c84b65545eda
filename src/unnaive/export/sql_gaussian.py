"""SQL for Gaussian densities; missing columns are integrated out of each row."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export import sql_words as sql
from unnaive.export.sql_words import column, minus, number, or_zero, plus, times, when

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import FloatArray, State
    from unnaive.export.sql_kinds import Compiler
    from unnaive.export.sql_words import Expression

    Triangle = dict[tuple[int, int], str]  # columns of stages by line and column of a matrix
    Spread = Callable[[int, int], Expression]  # the covariance of two columns

_LOG_TWO_PI = log(2 * pi)
_MOST_STEPS = 12_000  # of the factorisations of all classes


def gaussian(compiler: Compiler, spec: State) -> list[str]:
    """Return the columns of the log joint, one for each class.

    Missing columns of a Gaussian are integrated out by leaving them out. In SQL the columns of a
    matrix cannot depend on the row, so a missing column becomes one with variance 1, no covariance
    and distance 0, which changes neither the factor of the others nor their densities.

    Parameters
    ----------
    compiler : Compiler
        Has the cells and the stages.
    spec : dict
        Description of the densities.

    Returns
    -------
    list of str
        Columns of the log joint.
    """
    reading, columns = compiler.reading, spec["columns"]
    base, k, m = reading.logs(spec["base"]), compiler.k, len(columns)
    if spec["forms"] == "independent":
        terms = densities_alone(compiler, spec)
        return [compiler.stages.put(plus([number(base[c]), *terms[c]])) for c in range(k)]
    if k * m**3 / 3 > _MOST_STEPS:
        names = ", ".join(repr(reading.columns[place]["name"]) for place in columns[:3])
        raise UnnaiveError(
            f"{reading.document['model']} of the {m} columns {names}, … integrates missing numbers "
            "out by matrices that are too large for SQL; export to ONNX, JSON or JavaScript"
        )
    found = []
    for c in range(k):
        centre, spread = (_in_cells if spec["forms"] == "cells" else _constants)(compiler, spec, c)
        distances = _away(compiler, columns, centre)
        found.append(_class(compiler, spec, float(base[c]), distances, spread))
    return found


def densities_alone(compiler: Compiler, spec: State) -> list[list[Expression]]:
    """Return, for each class, log densities of columns that depend only on the class."""
    columns = spec["columns"]
    shape = (compiler.k, len(columns))
    means = compiler.reading.exact(spec["means"]).reshape(shape)
    variances = compiler.reading.exact(spec["covariances"]).reshape(shape)
    away = [_away(compiler, columns, [number(mean) for mean in line]) for line in means]
    return [_alone(compiler, columns, away[c], variances[c]) for c in range(compiler.k)]


def _away(compiler: Compiler, columns: list[int], means: list[Expression]) -> list[Expression]:
    """Distances from the means; 0 where missing."""
    return [
        or_zero(minus(compiler.cell(place), mean))
        for place, mean in zip(columns, means, strict=True)
    ]


def _constants(compiler: Compiler, spec: State, label: int) -> tuple[list[Expression], Spread]:
    """Means and covariances of a class, the same in every row."""
    m = len(spec["columns"])
    means = compiler.reading.exact(spec["means"]).reshape(-1, m)[label]
    spread = compiler.reading.exact(spec["covariances"]).reshape(-1, m, m)[label]
    return [number(mean) for mean in means], lambda i, j: number(spread[i, j])


def _in_cells(compiler: Compiler, spec: State, label: int) -> tuple[list[Expression], Spread]:
    r"""Means and covariances of a class in the cell of a row, from regressions.

    .. math:: \mu_i = \beta_0 + \sum_p \beta_p \mu_p, \quad
              \Sigma_{ij} = \sum_p \beta_p \Sigma_{pj}, \quad
              \Sigma_{ii} = \sigma^2 + \sum_p \beta_p \Sigma_{pi}
    """
    stages, reading = compiler.stages, compiler.reading
    means: dict[int, str] = {}
    spread: Triangle = {}

    def along(slopes: dict[int, str], other: int) -> list[Expression]:
        known = ((slope, spread.get((parent, other))) for parent, slope in slopes.items())
        return [times(column(slope), column(value)) for slope, value in known if value is not None]

    for family in spec["families"]:
        child, parents, sizes = family["child"], family["parents"], family["sizes"]
        cells = [
            sql.function("COALESCE", compiler.cell(label), sql.whole(size - 1))
            for label, size in zip(family["labels"], sizes, strict=True)
        ]
        lines = {
            name: reading.exact(family[name]).reshape(compiler.k, *sizes, -1)[label]
            for name in ("intercept", "slopes", "noise")
        }

        def entry(table: FloatArray, cells: list[Expression] = cells) -> Expression:
            index = sql.place_of([cell.copy() for cell in cells], table.shape)
            return stages.look_up(table.reshape(-1), index) if cells else number(float(table))

        slopes = {p: stages.put(entry(lines["slopes"][..., at])) for at, p in enumerate(parents)}
        added = [times(column(slope), column(means[p])) for p, slope in slopes.items()]
        means[child] = stages.put(plus([entry(lines["intercept"][..., 0]), *added]))
        for other in means:
            if other != child and (terms := along(slopes, other)):
                spread[child, other] = spread[other, child] = stages.put(plus(terms))
        own = along(slopes, child)
        spread[child, child] = stages.put(plus([entry(lines["noise"][..., 0]), *own]))

    def covariance(i: int, j: int) -> Expression:
        return column(spread[i, j]) if (i, j) in spread else number(0.0)

    return [column(means[i]) for i in range(len(means))], covariance


def _alone(
    compiler: Compiler, columns: list[int], away: list[Expression], variances: FloatArray
) -> list[Expression]:
    """Log densities of columns that depend only on the class; 0 where missing."""
    terms = []
    for i, place in enumerate(columns):
        variance = float(variances[i])
        distance = compiler.stages.put(away[i].copy())
        square = times(column(distance), column(distance))
        scaled = times(number(-0.5 / variance), square)
        height = number(-(log(variance) + _LOG_TWO_PI) / 2)
        known = sql.is_known(compiler.cell(place))
        terms.append(when((known, plus([height, scaled])), otherwise=number(0.0)))
    return terms


def _class(
    compiler: Compiler, spec: State, base: float, away: list[Expression], covariance: Spread
) -> str:
    r"""Return the log joint of one class.

    .. math:: \log p(x) = -\sum_i \log L_{ii} - \tfrac12 \sum_i z_i^2 - \tfrac m2 \log 2\pi,
              \quad L L^T = \Sigma, \quad L z = x - \mu

    Parameters
    ----------
    compiler : Compiler
        Has the cells and the stages.
    spec : dict
        Description of the densities.
    base : float
        Log prior probability of the class.
    away : list of Expression
        Distances from the means, 0 if missing.
    covariance : callable
        Returns the covariance of two columns in the class.

    Returns
    -------
    str
        The column of the log joint.
    """
    stages, columns, m = compiler.stages, spec["columns"], len(spec["columns"])
    naive = set(spec["naive"]) if spec["forms"] == "naive" else set()
    outside = naive if spec.get("strong") else set()
    inside = [i for i in range(m) if i not in outside]
    known = [sql.is_known(compiler.cell(place)) for place in columns]
    distance = stages.put_all(away)
    terms = []
    if naive:
        chosen = sorted(naive)
        own = np.array([float(covariance(i, i).name) for i in chosen])
        places, distances = [columns[i] for i in chosen], [column(distance[i]) for i in chosen]
        terms += _alone(compiler, places, distances, own)
    factor = _factor(compiler, covariance, inside, known)
    forward = _forward(compiler, factor, [distance[i] for i in inside])
    if naive:
        terms += _conditionals(compiler, factor, forward, inside, naive, known)
    else:
        for j, i in enumerate(inside):
            square = times(column(forward[j]), column(forward[j]))
            height = plus([number(-_LOG_TWO_PI / 2), _minus_log(factor[j, j])])
            density = plus([height, times(number(-0.5), square)])
            terms.append(when((known[i].copy(), density), otherwise=number(0.0)))
    return stages.put(plus([number(base), *terms]))


def _minus_log(name: str) -> Expression:
    return times(number(-1.0), sql.function("LN", column(name)))


def _factor(
    compiler: Compiler, covariance: Spread, inside: list[int], known: list[Expression]
) -> Triangle:
    """Return the Cholesky factor of the observed columns, row by row.

    Parameters
    ----------
    compiler : Compiler
        Has the stages.
    covariance : callable
        Returns the covariance of two columns in the class.
    inside : list of int
        Columns of the matrix.
    known : list of Expression
        Whether each column is observed.

    Returns
    -------
    dict
        Columns of stages by line and column of the lower triangle.
    """
    stages = compiler.stages
    factor: Triangle = {}
    for j, column_j in enumerate(inside):
        for i in range(j, len(inside)):
            both = sql.every([known[inside[i]].copy(), known[column_j].copy()])
            value = covariance(inside[i], column_j)
            entry: Expression = when((both, value), otherwise=number(float(i == j)))
            for before in range(j):
                used = times(column(factor[i, before]), column(factor[j, before]))
                entry = minus(entry, used)
            scaled = (
                sql.function("SQRT", entry) if i == j else sql.divided(entry, column(factor[j, j]))
            )
            factor[i, j] = stages.put(scaled)
    return factor


def _forward(compiler: Compiler, factor: Triangle, distance: list[str]) -> list[str]:
    """Solve L z = x − μ.

    Parameters
    ----------
    compiler : Compiler
        Has the stages.
    factor : dict
        The lower triangle L.
    distance : list of str
        Columns of x − μ.

    Returns
    -------
    list of str
        Columns of z.
    """
    found: list[str] = []
    for i, name in enumerate(distance):
        rest: Expression = column(name)
        for j in range(i):
            rest = minus(rest, times(column(factor[i, j]), column(found[j])))
        found.append(compiler.stages.put(sql.divided(rest, column(factor[i, i]))))
    return found


def _conditionals(  # noqa: PLR0917 - all of it is needed
    compiler: Compiler,
    factor: Triangle,
    forward: list[str],
    inside: list[int],
    naive: set[int],
    known: list[Expression],
) -> list[Expression]:
    r"""Return log densities of columns given all other observed columns.

    .. math:: -\tfrac12 \frac{(\Lambda (x - \mu))_i^2}{\Lambda_{ii}} +
              \tfrac12 \log \frac{\Lambda_{ii}}{2\pi}, \quad \Lambda = L^{-T} L^{-1}

    Parameters
    ----------
    compiler : Compiler
        Has the stages.
    factor : dict
        The lower triangle L.
    forward : list of str
        Columns of z, where L z = x − μ.
    inside : list of int
        Columns of the matrix.
    naive : set of int
        Columns that depend only on the class; they are left out.
    known : list of Expression
        Whether each column is observed.

    Returns
    -------
    list of Expression
        Log densities, 0 if missing.
    """
    stages, m, terms = compiler.stages, len(inside), []
    inverse: Triangle = {}
    for j in range(m):
        for i in range(j, m):
            rest: Expression = number(float(i == j))
            for between in range(j, i):
                rest = minus(rest, times(column(factor[i, between]), column(inverse[between, j])))
            inverse[i, j] = stages.put(sql.divided(rest, column(factor[i, i])))
    for j, i in enumerate(inside):
        if i in naive:
            continue
        lines = range(j, m)
        precision = stages.put(
            plus(times(column(inverse[line, j]), column(inverse[line, j])) for line in lines)
        )
        form = stages.put(
            plus(times(column(inverse[line, j]), column(forward[line])) for line in lines)
        )
        square = sql.divided(times(column(form), column(form)), column(precision))
        half_log = times(number(0.5), sql.function("LN", column(precision)))
        density = plus([number(-_LOG_TWO_PI / 2), half_log, times(number(-0.5), square)])
        terms.append(when((known[i].copy(), density), otherwise=number(0.0)))
    return terms
