"""SQL for every kind of tables: the log joint of each class as columns of stages."""

from __future__ import annotations

from itertools import product as cells_of
from math import log, pi, prod
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export import sql_stages as sql
from unnaive.export.reading import LOST, plan_of
from unnaive.export.sql_gaussian import gaussian
from unnaive.export.sql_stages import column, minus, number, or_zero, plus, some, when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, State
    from unnaive.export.reading import Plan, Reading, Step
    from unnaive.export.sql_stages import Expression, Stages

    Dense = tuple[list[int], FloatArray]  # columns, and a table with an entry for every cell
    Message = dict[tuple[int, ...], str]  # columns of stages by the joint values left

_MOST_CELLS = 4000  # joint values that one step may enumerate
_LOG_TWO_PI = log(2 * pi)


class Compiler:
    """Compiles the tables of one model.

    Parameters
    ----------
    reading : Reading
        The model.
    stages : Stages
        Where columns are added.
    cells : list of str
        Column of the code, or number, of every column; NULL if missing.
    """

    def __init__(self, reading: Reading, stages: Stages, cells: Sequence[str | None]) -> None:
        self.reading, self.stages, self.cells = reading, stages, cells
        self.k = reading.n_classes

    def joint(self, tables: State) -> list[str]:
        """Return the columns of the log joint, one for each class."""
        return self.answered(tables)[0]

    def answered(self, tables: State) -> tuple[list[str], Expression | None]:
        """Return the log joint, and the condition under which there is one; None: always."""
        kind = tables["kind"]
        if kind == "average":
            return self._average(tables)
        own = {
            "product": self._product,
            "hidden": self._hidden,
            "gaussian": lambda spec: gaussian(self, spec),
            "classes": self._classes,
            "sum": self._sum,
            "first": self._first,
            "rescue": self._rescue,
            "mean": self._mean,
        }
        return own[kind](tables), None

    def cell(self, place: int) -> Expression:
        """Refer to the cell of a column."""
        name = self.cells[place]
        return sql.exp.Null() if name is None else column(name)

    def index(self, columns: Sequence[int], sizes: Sequence[int] | None = None) -> Expression:
        """Return the position of the joint value of some columns, the last fastest."""
        sizes = [self.reading.sizes[c] for c in columns] if sizes is None else sizes
        terms = [
            self.cell(c)
            if (stride := prod(sizes[place + 1 :])) == 1
            else sql.exp.Mul(this=self.cell(c), expression=sql.whole(stride))
            for place, c in enumerate(columns)
        ]
        return plus(terms)

    def entry(self, table: FloatArray, columns: Sequence[int]) -> Expression:
        """Look up a table over some columns; NULL if one of them is missing."""
        if not columns:
            return number(float(table))
        return self.stages.look_up(table.reshape(-1), self.index(columns))

    # ---- products -----------------------------------------------------------------------------

    def _product(self, spec: State) -> list[str]:
        base = self.reading.logs(spec["base"])
        tables = [
            [(t["columns"], self.reading.dense(t)) for t in factor["tables"]]
            for factor in spec["factors"]
        ]
        known = [
            [
                or_zero(sql.function("COALESCE", *entries) if len(entries) > 1 else entries[0])
                for own in tables
                if (entries := [self.entry(values[c], columns) for columns, values in own])
            ]
            for c in range(self.k)
        ]
        plan = plan_of(spec["factors"], self.reading.sizes)
        added = self._summed_out(spec, tables, plan) if spec["marginalize"] and plan.steps else None
        total = []
        for c in range(self.k):
            opened = [or_zero(column(name)) for name in added[c]] if added else []
            total.append(self.stages.put(plus([number(base[c]), *known[c], *opened])))
        return total

    def _summed_out(self, spec: State, tables: list[list[Dense]], plan: Plan) -> list[list[str]]:
        """Return, for each class, what factors with missing columns add."""
        if plan.cells(self.reading.sizes) * self.k > _MOST_CELLS:
            step = max(plan.steps, key=lambda s: prod(self.reading.sizes[c] for c in s.rest))
            names = [self.reading.columns[c]["name"] for c in (step.column, *step.rest)]
            raise UnnaiveError(
                f"where values are missing, {self.reading.document['model']} sums over all joint "
                f"values of the columns {', '.join(map(repr, names))}, too many for SQL; export to "
                "JavaScript or JSON, or fit a simpler model, such as TAN"
            )
        free, weights = self._conditions(spec["factors"], plan)
        open_row = self.stages.put(
            when((some(free[c] for c in plan.inner), sql.whole(1)), otherwise=None)
        )
        summing = _Summing(self, plan, tables, weights, free, open_row)
        return [summing.messages(c) for c in range(self.k)]

    def _conditions(
        self, factors: list[State], plan: Plan
    ) -> tuple[dict[int, Expression], list[str]]:
        """Return which columns must be summed out, and which factors take part (1 or NULL).

        Factors of missing columns without observed descendants sum to one, and do not count.
        """
        stages = self.stages
        counted: list[str] = [""] * len(factors)
        for place in range(len(factors) - 1, -1, -1):
            children = factors[place]["children"]
            below = [
                sql.is_known(column(counted[other]))
                for other in range(place + 1, len(factors))
                if set(children) & set(factors[other]["parents"])
            ]
            seen = [sql.is_known(self.cell(child)) for child in children]
            counts = some([*seen, *below]) if children else sql.exp.true()
            counted[place] = stages.put(when((counts, sql.whole(1)), otherwise=None))
        free: dict[int, str] = {}
        for c in plan.inner:
            within = [counted[p] for p, scope in enumerate(plan.scopes) if c in scope]
            needed = some(sql.is_known(column(name)) for name in within)
            is_free = sql.every([sql.is_missing(self.cell(c)), needed])
            free[c] = stages.put(when((is_free, sql.whole(1)), otherwise=None))
        weights = []
        for place, scope in enumerate(plan.scopes):
            open_here = (
                some(sql.is_known(column(free[c])) for c in scope) if scope else sql.exp.false()
            )
            here = sql.every([sql.is_known(column(counted[place])), open_here])
            weights.append(stages.put(when((here, sql.whole(1)), otherwise=None)))
        return {c: sql.is_known(column(name)) for c, name in free.items()}, weights

    # ---- means over super-parents -------------------------------------------------------------

    def _average(self, spec: State) -> tuple[list[str], Expression]:
        reading, sizes, starts = self.reading, self.reading.sizes, self.reading.starts
        weights, rows = reading.exact(spec["weights"]), 0
        table = reading.logs(spec["table"]).reshape(self.k, len(weights), starts[-1])
        inner = Compiler(reading, self.stages, self._resolved(spec))
        voters, joints = [], []
        for members in spec["members"]:
            lines = slice(rows, rows := rows + prod(sizes[c] for c in members))
            weight = self.stages.put(or_zero(inner.entry(weights[lines], members)))
            voters.append(weight)
            shapes = [sizes[c] for c in members]
            own = []
            for c in range(self.k):
                terms = []
                for i in (i for i in range(len(sizes)) if sizes[i] and i not in members[1:]):
                    values = table[c, lines, starts[i] : starts[i + 1]]
                    if i in members:
                        at = tuple(
                            np.indices([sizes[m] for m in members]).reshape(len(members), -1)
                        )
                        terms.append(inner.entry(values[np.arange(len(values)), at[0]], members))
                        continue
                    index = inner.index([*members, i], [*shapes, sizes[i]])
                    terms.append(or_zero(self.stages.look_up(values.reshape(-1), index)))
                own.append(terms)
            joints.append((weight, own))
        total = self.stages.put(plus(map(column, voters)))
        found = []
        for c in range(self.k):
            logs = []
            for weight, own in joints:
                share = sql.function("LN", sql.divided(column(weight), column(total)))
                voting = sql.exp.GT(this=column(weight), expression=number(0.0))
                logs.append(
                    self.stages.put(
                        when((voting, plus([*own[c], share])), otherwise=sql.log_zero())
                    )
                )
            found.append(self.stages.log_sum(logs) if logs else self.stages.put(sql.log_zero()))
        return found, sql.exp.GT(this=column(total), expression=number(0.0))

    def _resolved(self, spec: State) -> list[str | None]:
        """Return the cells without those that another cell of the row implies."""
        if spec["implied"] is None:
            return list(self.cells)
        sizes, starts = self.reading.sizes, self.reading.starts
        owner = np.repeat(np.arange(len(sizes)), sizes)
        gone: dict[int, list[Expression]] = {}
        for first, second in (
            self.reading.exact(spec["implied"]).astype(int).reshape(-1, 2).tolist()
        ):
            both = [
                sql.exp.EQ(this=self.cell(owner[v]), expression=sql.whole(v - starts[owner[v]]))
                for v in (first, second)
            ]
            gone.setdefault(int(owner[first]), []).append(sql.every(both))
        return [
            self.stages.put(when((some(gone[i]), sql.exp.Null()), otherwise=self.cell(i)))
            if i in gone
            else name
            for i, name in enumerate(self.cells)
        ]

    # ---- hidden parents -----------------------------------------------------------------------

    def _hidden(self, spec: State) -> list[str]:
        reading, sizes, starts = self.reading, self.reading.sizes, self.reading.starts
        base = reading.logs(spec["base"])
        alone = reading.logs(spec["alone"]).reshape(self.k, -1)
        terms: list[list[str]] = [[] for _ in range(self.k)]
        for i, bag in enumerate(spec["bags"]):
            if not sizes[i]:
                continue
            weights, members = reading.exact(bag["weights"]), bag["members"]
            width = sum(sizes[m] for m in members)
            table = reading.exact(bag["table"]).reshape(self.k, sizes[i], width)
            shown = [
                when((sql.is_known(self.cell(m)), number(w)), otherwise=None)
                for m, w in zip(members, weights, strict=True)
            ]
            heard = (
                some(sql.is_known(self.cell(m)) for m in members) if members else sql.exp.false()
            )
            weight = self.stages.put(plus(map(or_zero, shown)))
            for c in range(self.k):
                offset, chances = 0, []
                for m in members:
                    values = table[c, :, offset : offset + sizes[m]]
                    offset += sizes[m]
                    chances.append(or_zero(self.entry(values, [i, m])))
                value = self.stages.put(plus(chances))
                positive = sql.exp.GT(this=column(value), expression=number(0.0))
                share = sql.function("LN", sql.divided(column(value), column(weight)))
                own = self.entry(alone[c, starts[i] : starts[i + 1]], [i])
                through = when((positive, share), otherwise=sql.log_zero())
                chosen = when(
                    (sql.is_missing(self.cell(i)), number(0.0)),
                    (heard.copy(), through),
                    otherwise=own,
                )
                terms[c].append(self.stages.put(chosen))
        return self.stages.put_all(
            plus([number(base[c]), *map(column, terms[c])]) for c in range(self.k)
        )

    # ---- several of these ---------------------------------------------------------------------

    def _classes(self, spec: State) -> list[str]:
        inner = Compiler(self.reading.of_one_class(), self.stages, self.cells)
        return [inner.joint(part)[0] for part in spec["parts"]]

    def _sum(self, spec: State) -> list[str]:
        parts = [self.joint(part) for part in spec["parts"]]
        return self.stages.put_all(plus(column(part[c]) for part in parts) for c in range(self.k))

    def _first(self, spec: State) -> list[str]:
        *answers, (last, _) = [self.answered(part) for part in spec["parts"]]
        return self.stages.put_all(
            when(
                *(
                    (condition.copy(), column(joint[c]))
                    for joint, condition in answers
                    if condition
                ),
                otherwise=column(last[c]),
            )
            for c in range(self.k)
        )

    def _rescue(self, spec: State) -> list[str]:
        plain, rescue = (self.joint(part) for part in spec["parts"])
        return self._unless_lost(plain, [column(name) for name in rescue])

    def _unless_lost(self, joint: list[str], instead: Sequence[Expression]) -> list[str]:
        """Replace a log joint in which every class has probability 0."""
        top = self.stages.put(self.stages.largest(joint))
        lost = sql.exp.LT(this=column(top), expression=number(LOST))
        return self.stages.put_all(
            when((lost.copy(), instead[c]), otherwise=column(joint[c])) for c in range(self.k)
        )

    def with_prior(self, joint: list[str], prior: FloatArray) -> list[str]:
        """Answer by the prior where every class has probability 0."""
        return self._unless_lost(joint, [number(value) for value in prior])

    def normalised(self, joint: list[str]) -> list[str]:
        """Return log posteriors."""
        total = self.stages.log_sum(joint)
        return self.stages.put_all(minus(column(name), column(total)) for name in joint)

    def scaled(self, joint: list[str], temperature: float, bias: FloatArray) -> list[str]:
        """Calibrate a log joint."""
        return self.stages.put_all(
            plus([sql.times(number(temperature), column(name)), number(bias[c])])
            for c, name in enumerate(joint)
        )

    def _mean(self, spec: State) -> list[str]:
        joints = []
        for part in spec["parts"]:
            joint = self.joint(part)
            if spec["posteriors"]:
                joint = self.normalised(self.with_prior(joint, self.reading.logs(part["base"])))
            joints.append(joint)
        share = number(-log(len(joints)))
        sums = [self.stages.log_sum([joint[c] for joint in joints]) for c in range(self.k)]
        return self.stages.put_all(plus([column(name), share.copy()]) for name in sums)


class _Summing:
    """Sums missing columns out of the factors of a product, step by step, for one class."""

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
