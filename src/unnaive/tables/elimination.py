"""Variable elimination: sum (or maximize) variables out of a product of factors.

A factor is a scope, a tuple of variables in ascending order, and an array of logarithms whose
first axis is the rows (or of length 1) and whose other axes are the variables of the scope.

References
----------
Zhang & Poole, "A simple approach to Bayesian network computations", Canadian AI 1994; Dechter,
"Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113, 1999.
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from unnaive._ties import TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from unnaive._typing import AnyArray, FloatArray, IntArray

    Scope = tuple[int, ...]
    Factor = tuple[Scope, FloatArray]
    Step = tuple[int, Scope, AnyArray]  # a variable, what it then depends on, see eliminate


def elimination_order(
    scopes: Iterable[Collection[int]], kept: Scope, sizes: IntArray
) -> tuple[list[int], list[Scope]]:
    """Choose an order by min-fill, and list the variables of every factor on the way.

    The next variable is the one that joins the fewest pairs of others, then the one with the
    smallest factor, then the one of lowest index (Koller & Friedman, "Probabilistic Graphical
    Models", 2009, section 9.4.3). The last factor is that of the ``kept`` variables.

    Examples
    --------
    >>> elimination_order([(0, 1), (1, 2)], (), np.array([2, 3, 2]))
    ([0, 1, 2], [(0, 1), (1, 2), (2,), ()])
    """
    near: dict[int, set[int]] = {}
    widths = sizes.tolist()
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(scope)
    bits = {variable: sum(1 << other for other in around) for variable, around in near.items()}

    def price(variable: int) -> tuple[int, int, int]:
        around, own = near[variable], bits[variable]
        joined = sum([(own & bits[other]).bit_count() for other in around])
        return len(around) ** 2 - joined, math.prod([widths[other] for other in around]), variable

    prices = {variable: price(variable) for variable in near if variable not in kept}
    order, cliques = [], []
    while prices:
        fill, _, variable = min(prices.values())
        around, own = near.pop(variable), bits.pop(variable)
        del prices[variable]
        order.append(variable)
        cliques.append(tuple(sorted(around)))
        changed = around - {variable}
        for other in changed:
            near[other] |= around
            near[other].discard(variable)
            bits[other] = (bits[other] | own) & ~(1 << variable)
        if fill:
            changed = changed.union(*(near[other] for other in changed))
        prices.update((other, price(other)) for other in changed if other in prices)
    return order, [*cliques, kept]


def eliminate(
    factors: Iterable[Factor],
    order: list[int],
    sizes: IntArray,
    maximize: bool = False,
    unfold: Mapping[int, tuple[int, IntArray]] = MappingProxyType({}),
) -> tuple[list[Factor], list[Step]]:
    """Sum variables out of a product of factors, or maximize over them.

    ``unfold`` has variables that are summed out of a folded factor, in which the other variable
    has fewer values: how many, and which of these stands for each value.

    Returns
    -------
    factors : list of Factor
        The factors that are left.
    steps : list of Step
        Each eliminated variable, the variables that it then depends on, and its weights given
        these on the last axis (or, if maximized, its best codes given these).
    """
    turn = {variable: place for place, variable in enumerate(order)}
    buckets: list[list[Factor]] = [[] for _ in range(len(order) + 1)]
    steps: list[Step] = []

    def put(factor: Factor) -> None:
        buckets[min((turn[v] for v in factor[0] if v in turn), default=-1)].append(factor)

    for factor in factors:
        put(factor)
    for variable, bucket in zip(order, buckets, strict=False):
        scope = tuple(sorted({member for members, _ in bucket for member in members}))
        rest = tuple(member for member in scope if member != variable)
        axis, widths = 1 + scope.index(variable), sizes
        if variable in unfold:
            widths = sizes.copy()
            widths[rest[0]] = unfold[variable][0]
        joint = multiply(bucket, scope, widths)
        high = joint.max(axis=axis, keepdims=True)
        if maximize:
            best = np.argmax(joint >= high - TIE_TOLERANCE, axis=axis)
            put((rest, high.squeeze(axis)))
        else:
            high[np.isneginf(high)] = 0.0
            best = np.moveaxis(np.exp(np.subtract(joint, high, out=joint), out=joint), axis, -1)
            with np.errstate(divide="ignore"):
                total = np.log(best.sum(axis=-1)) + high.squeeze(axis)
            if variable in unfold:
                total = np.take_along_axis(total, unfold[variable][1], axis=1)
            put((rest, total))
        steps.append((variable, rest, best))
    return buckets[-1], steps


def multiply(factors: list[Factor], scope: Scope, sizes: IntArray) -> FloatArray:
    """Log product of factors over all variables of a scope; shape (rows, *scope)."""
    rows = max((len(table) for _, table in factors), default=1)
    shape = (rows, *sizes[list(scope)].tolist())
    tables = [
        table.reshape(len(table), *(sizes[v] if v in members else 1 for v in scope))
        for members, table in factors
    ]
    if len(tables) < 2:
        return np.array(np.broadcast_to(tables[0], shape)) if tables else np.zeros(shape)
    total = np.empty(shape)
    np.add(tables[0], tables[1], out=total)
    for table in tables[2:]:
        total += table
    return total
