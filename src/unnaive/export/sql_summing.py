"""SQL for missing columns: they are summed out of a product, step by step."""

from __future__ import annotations

from itertools import product as cells_of
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from unnaive.export import sql_words as sql
from unnaive.export.sql_words import column, number, or_zero, plus, some, when

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, State
    from unnaive.export.reading import Plan, Step
    from unnaive.export.sql_kinds import Compiler
    from unnaive.export.sql_words import Expression

    Dense = tuple[list[int], FloatArray]  # columns, and a table with an entry for every cell
    Message = dict[tuple[int, ...], str]  # columns of stages by the joint values left


def conditions(
    compiler: Compiler, factors: list[State], plan: Plan
) -> tuple[dict[int, Expression], list[str]]:
    """Return which columns must be summed out, and which factors take part.

    Factors of missing columns without observed descendants sum to one, and do not count.
    """
    stages = compiler.stages
    counted: list[str] = [""] * len(factors)
    for place in range(len(factors) - 1, -1, -1):
        children = factors[place]["children"]
        below = [
            sql.is_known(column(counted[other]))
            for other in range(place + 1, len(factors))
            if set(children) & set(factors[other]["parents"])
        ]
        seen = [sql.is_known(compiler.cell(child)) for child in children]
        counts = some([*seen, *below]) if children else sql.exp.true()
        counted[place] = stages.put(when((counts, sql.whole(1)), otherwise=None))
    free: dict[int, str] = {}
    for c in plan.inner:
        within = [counted[p] for p, scope in enumerate(plan.scopes) if c in scope]
        needed = some(sql.is_known(column(name)) for name in within)
        is_free = sql.every([sql.is_missing(compiler.cell(c)), needed])
        free[c] = stages.put(when((is_free, sql.whole(1)), otherwise=None))
    weights = []
    for place, scope in enumerate(plan.scopes):
        open_here = some(sql.is_known(column(free[c])) for c in scope) if scope else sql.exp.false()
        here = sql.every([sql.is_known(column(counted[place])), open_here])
        weights.append(stages.put(when((here, sql.whole(1)), otherwise=None)))
    return {c: sql.is_known(column(name)) for c, name in free.items()}, weights


class Summing:
    """Sums missing columns out of the factors of a product, for one class at a time.

    Parameters
    ----------
    compiler : Compiler
        Has the cells and the stages.
    plan : Plan
        In which order columns are summed out.
    tables : list
        Tables of every factor, with an entry for every cell.
    weights : list of str
        For each factor, a column that is NULL unless it takes part.
    free : dict
        By column, the condition that it is summed out.
    open_row : str
        A column that is NULL in rows in which nothing is summed out.
    """

    def __init__(  # noqa: PLR0917 - all of it is needed in every step
        self,
        compiler: Compiler,
        plan: Plan,
        tables: list[list[Dense]],
        weights: list[str],
        free: dict[int, Expression],
        open_row: str,
    ) -> None:
        self.compiler, self.plan, self.tables = compiler, plan, tables
        self.weights, self.free, self.open_row = weights, free, open_row
        self.sizes = compiler.reading.sizes
        self._looked: dict[int, AnyArray] = {}

    def messages(self, label: int) -> list[str]:
        """Return the columns that the last steps leave, which have no columns left."""
        made: list[Message] = []
        for step in self.plan.steps:
            made.append(self._message(step, made, label))
        return [own[()] for step, own in zip(self.plan.steps, made, strict=True) if not step.rest]

    def _message(self, step: Step, made: list[Message], label: int) -> Message:
        stages, compiler = self.compiler.stages, self.compiler
        found = {}
        guard = sql.is_known(column(self.open_row))
        for values in cells_of(*(range(self.sizes[c]) for c in step.rest)):
            at = dict(zip(step.rest, values, strict=True))
            sums = [
                self._terms(step, {**at, step.column: value}, made, label)
                for value in range(self.sizes[step.column])
            ]
            terms = stages.put_all(
                when((guard.copy(), plus(own)), otherwise=number(0.0)) for own in sums
            )
            total = stages.log_sum(terms)
            picked = stages.pick(terms, compiler.cell(step.column))
            # A missing column that is not summed out has no influence: all terms are equal.
            observed = sql.function("COALESCE", picked, column(terms[0]))
            chosen = when((self.free[step.column].copy(), column(total)), otherwise=observed)
            found[values] = stages.put(when((guard.copy(), chosen), otherwise=number(0.0)))
        return found

    def _terms(
        self, step: Step, at: dict[int, int], made: list[Message], label: int
    ) -> list[Expression]:
        """Return what factors and messages add for one joint value."""
        found = []
        for place in step.factors:
            (columns, values), *_ = self.tables[place]
            others = [c for c in columns if c not in at]
            inner = tuple(at[c] for c in columns if c in at)
            entry = (
                self._large(place, others)[label, *inner].copy() if self._is_large(others) else None
            )
            if entry is None:
                index = tuple(at[c] if c in at else slice(None) for c in columns)
                entry = self.compiler.entry(values[label][index], others)
            taking_part = sql.is_known(column(self.weights[place]))
            found.append(
                when((taking_part, or_zero(entry) if others else entry), otherwise=number(0.0))
            )
        for message in step.messages:
            rest = self.plan.steps[message].rest
            found.append(column(made[message][tuple(at[c] for c in rest)]))
        return found

    def _is_large(self, columns: list[int]) -> bool:
        return prod(self.sizes[c] for c in columns) > self.compiler.stages.tables.inline

    def _large(self, place: int, others: list[int]) -> AnyArray:
        """Entries of a large factor, by class and values of its enumerated columns."""
        if place not in self._looked:
            (columns, values), *_ = self.tables[place]
            inner = [at for at, c in enumerate(columns, start=1) if c not in others]
            outer = [at for at, c in enumerate(columns, start=1) if c in others]
            turned = values.transpose(0, *inner, *outer)
            shape = turned.shape[: 1 + len(inner)]
            index = self.compiler.index(others)
            entries = self.compiler.stages.look_up_all(turned.reshape(prod(shape), -1), index)
            found = np.empty(len(entries), dtype=object)
            found[:] = entries
            self._looked[place] = found.reshape(shape)
        return self._looked[place]
