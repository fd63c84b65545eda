"""SQL for missing columns with very many joint values: joins with those that a row allows."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from unnaive.export import sql_words as sql
from unnaive.export.sql_schedule import Join
from unnaive.export.sql_tables import listed
from unnaive.export.sql_words import column, exp, function, minus, number, or_zero, plus, when

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unnaive.export.reading import Plan, Step
    from unnaive.export.sql_kinds import Compiler
    from unnaive.export.sql_summing import Dense
    from unnaive.export.sql_words import Expression

_TEXT = exp.DataType.build("text")
_FEW_ENTRIES = 40  # that a CASE compares


class Relations:
    r"""Sums missing columns out of the factors of a product, in relations beside the rows.

    A relation has one row for each row with missing columns and each joint value that this row
    allows, so that the query is as short as the tables of the model, and observed columns cost
    nothing. A step joins what it needs, and sums over the values of a column by groups:

    .. math:: m + \log \sum_v e^{t_v - m}, \quad m = \max_v t_v

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
    """

    def __init__(
        self,
        compiler: Compiler,
        plan: Plan,
        tables: list[list[Dense]],
        weights: list[str],
        free: dict[int, Expression],
    ) -> None:
        self.compiler, self.plan, self.weights, self.free = compiler, plan, weights, free
        self.sizes, self.stages, self.k = compiler.reading.sizes, compiler.stages, compiler.k
        self.tables = {place: tables[place][0] for step in plan.steps for place in step.factors}
        self.name = self.stages.fresh("r")

    def messages(self, open_row: str) -> list[list[str]]:
        """Return, for each class, the columns that factors with missing columns add.

        Parameters
        ----------
        open_row : str
            A column that is NULL in rows in which nothing is summed out.

        Returns
        -------
        list of list of str
            Columns of logarithms for each class; NULL in those rows.
        """
        cells = sorted({c for columns, _ in self.tables.values() for c in columns})
        codes = [name for c in cells if (name := self.compiler.cells[c])]
        row = when((sql.is_known(column(open_row)), _as_text(codes)), otherwise=None)
        place = self.stages.put(row)
        free = [own.name for c in self.plan.inner for own in self.free[c].find_all(exp.Column)]
        used = [place, *codes, *free, *(self.weights[factor] for factor in self.tables)]

        def parts(stage: str) -> Iterator[tuple[str, exp.Select]]:
            chosen = [exp.alias_(column(place), "place"), *map(column, dict.fromkeys(used[1:]))]
            known = sql.is_known(column(place))
            if self.stages.dialect == "spark":  # which else computes the rows again for each use
                chance = exp.GTE(this=function("RAND"), expression=number(0.0))
                known = sql.every([known, chance])
            rows = exp.select(*chosen).from_(exp.to_table(stage)).where(known).distinct()
            yield f"{self.name}_rows", rows
            yield from self._steps()

        sums = [f"c{label}" for label in range(self.k)]
        join = Join(self.name, self.name, place, parts)
        return [[name] for name in self.stages.joined(join, sums, set(used))]

    def _steps(self) -> Iterator[tuple[str, exp.Select]]:
        largest = max(self.sizes[c] for c in self.plan.inner)
        values = [[sql.whole(value)] for value in range(largest)]
        yield f"{self.name}_values", listed(values, ["value"], self.stages.dialect)
        for at, step in enumerate(self.plan.steps):
            yield from self._tables(step)
            yield self._at("terms", at), self._terms(step)
            yield self._at("tops", at), self._tops(at)
            yield self._at("sums", at), self._sums(at)
        ends = [at for at, step in enumerate(self.plan.steps) if not step.rest]
        total = self._joined((), ends).select(_of("d", "place"), copy=False)
        for label in range(self.k):
            added = plus(_of(f"m{at}", f"c{label}") for at in ends)
            total.select(exp.alias_(added, f"c{label}"), copy=False)
        yield self.name, total

    def _at(self, kind: str, step: int) -> str:
        return f"{self.name}_{kind}{step}"

    def _joined(self, axes: Iterable[int], messages: Iterable[int]) -> exp.Select:
        """Read the rows, the values of some columns that they allow, and earlier sums."""
        query = exp.Select().from_(exp.to_table(f"{self.name}_rows", alias="d"), copy=False)
        for c in axes:
            values = exp.to_table(f"{self.name}_values", alias=f"n{c}")
            query.join(values, on=self._allowed(c), copy=False)
        for at in messages:
            rest = self.plan.steps[at].rest
            same = [exp.EQ(this=_of(f"m{at}", "place"), expression=_of("d", "place"))]
            same += [
                exp.EQ(this=_of(f"m{at}", f"y{c}"), expression=_of(f"n{c}", "value")) for c in rest
            ]
            earlier = exp.to_table(self._at("sums", at), alias=f"m{at}")
            query.join(earlier, on=sql.every(same), copy=False)
        return query

    def _allowed(self, place: int) -> Expression:
        """Whether a row allows a value: all values if the column is summed out, else its own."""
        value = _of(f"n{place}", "value")
        within = exp.LT(this=value.copy(), expression=sql.whole(self.sizes[place]))
        free = sql.every([_of_row(self.free[place]), within])
        # A missing column that is not summed out has no influence: its first value will do.
        known = function("COALESCE", _of_row(self.compiler.cell(place)), sql.whole(0))
        return sql.some([free, exp.EQ(this=value, expression=known)])

    def _terms(self, step: Step) -> exp.Select:
        """Select what factors and earlier sums add, for each joint value that a row allows.

        For two columns of which the second is summed out, in short::

            select d.place, n0.value as y0, d.w0 * f0[n0.value, n1.value] + ... as t0, ...
            from rows as d join numbers as n0 on ... join numbers as n1 on ...
        """
        axes = sorted({step.column, *step.rest})
        query = self._joined(axes, step.messages).select(_of("d", "place"), copy=False)
        for c in step.rest:
            query.select(exp.alias_(_of(f"n{c}", "value"), f"y{c}"), copy=False)
        columns: list[list[Expression]] = [[] for _ in range(self.k)]
        for factor in step.factors:
            weight = _of("d", self.weights[factor])
            for label, entry in enumerate(self._entries(factor, axes, query)):
                columns[label].append(sql.times(weight.copy(), or_zero(entry)))
        for label, own in enumerate(columns):
            own += [_of(f"m{at}", f"c{label}") for at in step.messages]
            query.select(exp.alias_(plus(own), f"t{label}"), copy=False)
        return query

    def _entries(self, factor: int, axes: Sequence[int], query: exp.Select) -> list[Expression]:
        """Look up a factor for every class; a large one is joined to the query."""
        members, values = self.tables[factor]
        codes = [
            _of(f"n{c}", "value") if c in axes else _of_row(self.compiler.cell(c)) for c in members
        ]
        index = sql.place_of(codes, [self.sizes[c] for c in members])
        lines = np.ascontiguousarray(values.reshape(self.k, -1))
        alias = f"f{factor}"
        if lines.shape[1] > self.stages.tables.inline:
            table = exp.to_table(self.stages.tables.of_numbers(lines), alias=alias)
        elif self._is_listed(factor):
            table = exp.to_table(self._at("table", factor), alias=alias)
        else:
            return [self.stages.look_up(line, index.copy()) for line in lines]
        same = exp.EQ(this=_of(alias, "place"), expression=index)
        query.join(table, on=same, join_type="left", copy=False)
        return [_of(alias, f"c{label}") for label in range(self.k)]

    def _is_listed(self, factor: int) -> bool:
        """Whether a factor is a table of the query; SQLite has no arrays."""
        entries = self.tables[factor][1].size // self.k
        listed_here = self.stages.dialect == "sqlite" and entries > _FEW_ENTRIES
        return listed_here and entries <= self.stages.tables.inline

    def _tables(self, step: Step) -> Iterator[tuple[str, exp.Select]]:
        names = ["place", *(f"c{label}" for label in range(self.k))]
        for factor in filter(self._is_listed, step.factors):
            entries = self.tables[factor][1].reshape(self.k, -1).T.tolist()
            rows = [[sql.whole(at), *map(number, line)] for at, line in enumerate(entries)]
            yield self._at("table", factor), listed(rows, names, self.stages.dialect)

    def _tops(self, at: int) -> exp.Select:
        """Select the terms, and beside them the largest of their group."""
        group = self._group(at)
        names = [f"t{label}" for label in range(self.k)]
        query = exp.select(*(own.copy() for own in group), *map(column, names))
        for label, name in enumerate(names):
            largest = exp.Max(this=column(name))
            of_group = exp.Window(this=largest, partition_by=[own.copy() for own in group])
            query.select(exp.alias_(of_group, f"m{label}"), copy=False)
        return query.from_(exp.to_table(self._at("terms", at)), copy=False)

    def _sums(self, at: int) -> exp.Select:
        """Select the logarithm of the sum over the values of a column."""
        group = self._group(at)
        query = exp.select(*(own.copy() for own in group))
        for label in range(self.k):
            top = column(f"m{label}")
            power = self.stages.exponential(minus(column(f"t{label}"), top.copy()))
            total = plus([exp.Max(this=top), function("LN", exp.Sum(this=power))])
            query.select(exp.alias_(total, f"c{label}"), copy=False)
        return query.from_(exp.to_table(self._at("tops", at)), copy=False).group_by(*group)

    def _group(self, at: int) -> list[Expression]:
        return [column("place"), *(column(f"y{c}") for c in self.plan.steps[at].rest)]


def _of(table: str, name: str) -> Expression:
    return exp.column(name, table=table)


def _of_row(value: Expression) -> Expression:
    """Take the columns of an expression from the rows."""
    value = value.copy()
    for own in value.find_all(exp.Column):
        own.set("table", exp.to_identifier("d"))
    return value


def _as_text(names: Sequence[str]) -> Expression:
    """Write codes as one text, which differs where one of them does."""
    empty, comma = exp.Literal.string(""), exp.Literal.string(",")
    texts = [
        function("COALESCE", exp.Cast(this=column(name), to=_TEXT.copy()), empty.copy())
        for name in names
    ]
    return reduce(
        lambda a, b: exp.DPipe(this=exp.DPipe(this=a, expression=comma.copy()), expression=b), texts
    )
