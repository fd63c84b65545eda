"""ONNX for missing columns: they are summed out of a product, step by step."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export.reading import NOTHING

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.export.onnx_kinds import Compiler
    from unnaive.export.reading import Plan, Step

_MOST_CELLS = 1 << 17  # numbers that one step may hold for each row


class Summing:
    """Sums missing columns out of the factors of a product.

    Parameters
    ----------
    compiler : Compiler
        Has the codes of the rows, and the graph.
    factors : list of dict
        Descriptions of the factors.
    plan : Plan
        In which order columns are summed out.
    dense : list of tuple
        Columns of every factor, and its table with slots for missing values.
    """

    def __init__(
        self,
        compiler: Compiler,
        factors: list[State],
        plan: Plan,
        dense: list[tuple[list[int], FloatArray]],
    ) -> None:
        self.compiler, self.graph, self.plan = compiler, compiler.graph, plan
        self.factors, self.dense, self.sizes = factors, dense, compiler.reading.sizes
        if plan.cells(self.sizes) * compiler.k > _MOST_CELLS:
            step = max(plan.steps, key=lambda s: prod(self.sizes[c] for c in s.rest))
            names = [compiler.reading.columns[c]["name"] for c in (step.column, *step.rest)]
            raise UnnaiveError(
                f"where values are missing, {compiler.reading.document['model']} sums over all "
                f"joint values of the columns {', '.join(map(repr, names))}, too many for ONNX; "
                "export to JavaScript or JSON, or fit a model with fewer values or parents"
            )

    def messages(self) -> list[str]:
        """Return what factors with missing columns add.

        Every step enumerates the joint values of the columns that it touches. An observed column
        has evidence: 0 at its value and log 0 at all others. So rows with and without missing
        values are computed alike, without branches.

        Returns
        -------
        list of str
            Names of logarithms, each of shape (n, k).
        """
        free, weights = self._conditions()
        made: list[str] = []
        for step in self.plan.steps:
            made.append(self._message(step, made, free, weights))
        return [name for step, name in zip(self.plan.steps, made, strict=True) if not step.rest]

    def _conditions(self) -> tuple[dict[int, str], list[str]]:
        """Return which columns are summed out, and which factors take part (0 or 1); (n,)."""
        graph, factors, plan = self.graph, self.factors, self.plan
        known = {
            c: self.compiler.known(c) for c in {c for columns, _ in self.dense for c in columns}
        }
        counted: list[str] = [""] * len(factors)
        for place in range(len(factors) - 1, -1, -1):
            children = factors[place]["children"]
            below = [
                counted[other]
                for other in range(place + 1, len(factors))
                if set(children) & set(factors[other]["parents"])
            ]
            if children:
                counted[place] = graph.any([*(known[c] for c in children), *below])
            else:
                some = next(iter(known.values()))
                counted[place] = graph.node("Or", some, graph.node("Not", some))
        free = {}
        for c in plan.inner:
            within = graph.any([counted[p] for p, scope in enumerate(plan.scopes) if c in scope])
            free[c] = graph.node("And", graph.node("Not", known[c]), within)
        weights = []
        for place, scope in enumerate(plan.scopes):
            if scope:
                open_here = graph.any([free[c] for c in scope])
                weights.append(graph.as_double(graph.node("And", counted[place], open_here)))
            else:
                weights.append("")
        return free, weights

    def _message(
        self, step: Step, made: list[str], free: dict[int, str], weights: list[str]
    ) -> str:
        graph, k = self.graph, self.compiler.k
        axes = [*step.rest, step.column]
        parts = [self._factor(place, axes, weights[place]) for place in step.factors]
        for message in step.messages:
            rest = self.plan.steps[message].rest
            shape = [-1, *(self.sizes[c] if c in rest else 1 for c in axes), k]
            order = [1 + rest.index(c) for c in axes if c in rest]
            turned = graph.node("Transpose", made[message], perm=[0, *order, len(rest) + 1])
            parts.append(graph.shaped(turned, shape))
        size = self.sizes[step.column]
        slot = np.full((size + 1, size), NOTHING)
        slot[np.arange(size), np.arange(size)] = 0.0
        slot[size, 0] = 0.0  # missing, and nothing depends on it
        evidence = graph.rows(slot, self.compiler.code(step.column))
        wide = graph.node("Unsqueeze", free[step.column], graph.integers([1]))
        evidence = graph.node("Where", wide, graph.number(0.0), evidence)
        parts.append(graph.shaped(evidence, [-1, *(1 for _ in step.rest), size, 1]))
        return graph.log_sum(graph.add(parts), len(step.rest) + 1)

    def _factor(self, place: int, axes: list[int], weight: str) -> str:
        """Return a factor over some of the axes, with codes of other columns looked up.

        Parameters
        ----------
        place : int
            Position of the factor.
        axes : list of int
            Columns that are enumerated, in the order of the axes.
        weight : str
            1 if the factor takes part in a row, else 0 (n,).

        Returns
        -------
        str
            Name of the logarithms (n, sizes of the axes or 1 …, k).
        """
        graph, k = self.graph, self.compiler.k
        columns, slots = self.dense[place]
        inner = sorted((c for c in columns if c in self.plan.inner), key=axes.index)
        leaves = [c for c in columns if c not in self.plan.inner]
        order = [columns.index(c) for c in (*leaves, *inner)]
        table = slots.transpose(*order, len(columns))
        table = table[(*(slice(None) for _ in leaves), *(slice(0, -1) for _ in inner))]
        shape = [self.sizes[c] if c in inner else 1 for c in axes]
        weight = graph.shaped(weight, [-1, *(1 for _ in axes), 1])
        if not leaves:
            return graph.node("Mul", graph.constant(table.reshape(1, *shape, k)), weight)
        lines = prod(self.sizes[c] + 1 for c in leaves)
        index = graph.number_of(
            [self.compiler.code(c) for c in leaves], [self.sizes[c] + 1 for c in leaves]
        )
        entries = graph.rows(table.reshape(lines, -1), index)
        return graph.node("Mul", graph.shaped(entries, [-1, *shape, k]), weight)
