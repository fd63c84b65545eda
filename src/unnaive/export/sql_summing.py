"""SQL for missing columns: they are summed out of a product, step by step."""

from __future__ import annotations

from itertools import product as cells_of
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from unnaive.export import sql_words as sql
from unnaive.export.sql_words import column, minus, number, or_zero, plus, some, when

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, FloatArray, State
    from unnaive.export.reading import Plan, Step
    from unnaive.export.sql_kinds import Compiler
    from unnaive.export.sql_words import Expression

    Dense = tuple[list[int], FloatArray]  # columns, and a table with an entry for every cell
    Message = dict[tuple[int, ...], str]  # columns of stages by the joint values left

_NARROW = 600.0  # logarithms that differ by less have powers of their differences everywhere


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
        weights.append(stages.put(when((here, number(1.0)), otherwise=number(0.0))))
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
        For each factor, a column that is 1 if it takes part, else 0.
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
        self._chosen: dict[int, list[str]] = {}
        self._ranges = self._found_ranges()

    def _found_ranges(self) -> list[float]:
        """By how much the terms of each step can differ, whatever the row."""
        found: list[float] = []
        for step in self.plan.steps:
            logs = [self.tables[place][0][1] for place in step.factors]
            own = sum(max(v.max(), 0.0) - min(v.min(), 0.0) for v in logs)  # 0 if it is left out
            found.append(float(own) + sum(found[message] for message in step.messages))
        return found

    def messages(self, label: int) -> list[str]:
        """Return the columns that the last steps leave, which have no columns left."""
        made: list[Message] = []
        for step in self.plan.steps:
            made.append(self._message(step, made, label))
        return [own[()] for step, own in zip(self.plan.steps, made, strict=True) if not step.rest]

    def _message(self, step: Step, made: list[Message], label: int) -> Message:
        stages, guard = self.compiler.stages, sql.is_known(column(self.open_row))
        narrow = self._ranges[len(made)] < _NARROW
        found = {}
        for values in cells_of(*(range(self.sizes[c]) for c in step.rest)):
            at = dict(zip(step.rest, values, strict=True))
            cells = [{**at, step.column: value} for value in range(self.sizes[step.column])]
            terms = [self._terms(step, cell, made, label) for cell in cells]
            total = (
                self._narrow_sum(step, terms, self._arrived(step, cells[0], made))
                if narrow
                else self._wide_sum(step, terms)
            )
            found[values] = stages.put(when((guard.copy(), total), otherwise=number(0.0)))
        return found

    def _narrow_sum(
        self, step: Step, terms: list[list[Expression]], shift: list[Expression]
    ) -> Expression:
        r"""Return log Σ_v e^{t_v} over the values that a row allows, as one expression.

        The shift s is what the messages add to the first term, so that powers neither overflow nor
        underflow, and no term needs a column of its own:

        .. math:: s + \log \sum_v a_v e^{t_v - s}
        """
        powers = [
            sql.times(column(allowed), sql.function("EXP", _less(plus(own), shift)))
            for allowed, own in zip(self._allowed(step.column), terms, strict=True)
        ]
        return plus([*(own.copy() for own in shift), sql.function("LN", plus(powers))])

    def _wide_sum(self, step: Step, terms: list[list[Expression]]) -> Expression:
        """Return the same for terms of any size, from which the largest is taken out."""
        stages, guard = self.compiler.stages, sql.is_known(column(self.open_row))
        names = stages.put_all(
            when((guard.copy(), plus(own)), otherwise=number(0.0)) for own in terms
        )
        total = stages.log_sum(names)
        picked = stages.pick(names, self.compiler.cell(step.column))
        # A missing column that is not summed out has no influence: all terms are equal.
        observed = sql.function("COALESCE", picked, column(names[0]))
        return when((self.free[step.column].copy(), column(total)), otherwise=observed)

    def _allowed(self, place: int) -> list[str]:
        """Columns of 1 for the values of a column that are summed, and 0 for the others."""
        if place not in self._chosen:
            # A missing column that is not summed out has no influence: its first value will do.
            known = sql.function("COALESCE", self.compiler.cell(place), sql.whole(0))
            self._chosen[place] = self.compiler.stages.put_all(
                when(
                    (self.free[place].copy(), number(1.0)),
                    (sql.exp.EQ(this=known.copy(), expression=sql.whole(value)), number(1.0)),
                    otherwise=number(0.0),
                )
                for value in range(self.sizes[place])
            )
        return self._chosen[place]

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
            found.append(
                sql.times(column(self.weights[place]), or_zero(entry) if others else entry)
            )
        return [*found, *self._arrived(step, at, made)]

    def _arrived(self, step: Step, at: dict[int, int], made: list[Message]) -> list[Expression]:
        """Return what messages add for one joint value."""
        rests = [(message, self.plan.steps[message].rest) for message in step.messages]
        return [column(made[message][tuple(at[c] for c in rest)]) for message, rest in rests]

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


def _less(total: Expression, shift: list[Expression]) -> Expression:
    """Subtract a shift, if there is one."""
    return minus(total, plus(own.copy() for own in shift)) if shift else total
