"""SQL for every kind of tables: the log joint of each class as columns of stages."""

from __future__ import annotations

from math import log, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export import sql_words as sql
from unnaive.export.reading import LOST, plan_of
from unnaive.export.sql_gaussian import gaussian
from unnaive.export.sql_relations import Relations
from unnaive.export.sql_summing import Summing, conditions
from unnaive.export.sql_words import column, minus, number, or_zero, plus, some, when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray, State
    from unnaive.export.reading import Plan, Reading
    from unnaive.export.sql_stages import Stages
    from unnaive.export.sql_summing import Dense
    from unnaive.export.sql_words import Expression

_FEW_CELLS = 1000  # joint values, times classes, that are columns of the query; more are rows
_FEW_OF_SPARK = 4000  # which is slow where there are many relations
_MOST_CELLS = 1 << 17  # joint values that a row without values may have


class Voter(NamedTuple):
    """A super-parent: columns of its weight and of the sum of weights, log tables by column."""

    columns: list[int]
    weight: str
    total: str
    terms: list[dict[int, Expression]]

    @property
    def votes(self) -> Expression:
        """Whether its cells are observed and frequent."""
        return sql.exp.GT(this=column(self.weight), expression=number(0.0))

    @property
    def log_share(self) -> Expression:
        """Log of its share in the mean, where it votes."""
        return sql.function("LN", sql.divided(column(self.weight), column(self.total)))


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
        """Return the columns of the log joint, one for each class.

        Parameters
        ----------
        tables : dict
            A description of tables, see :mod:`unnaive.tables.describe`.

        Returns
        -------
        list of str
            Columns of log P(c, x), missing columns summed out.
        """
        return self.answered(tables)[0]

    def answered(self, tables: State) -> tuple[list[str], Expression | None]:
        """Return the log joint, and the condition under which there is one.

        Parameters
        ----------
        tables : dict
            A description of tables.

        Returns
        -------
        tuple
            Columns of the log joint; a condition, or None if there always is one.
        """
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
        """Refer to the cell of a column.

        Parameters
        ----------
        place : int
            Position of the column.

        Returns
        -------
        Expression
            The code or the number; NULL if missing, or if the model does not use the column.
        """
        name = self.cells[place]
        return sql.exp.Null() if name is None else column(name)

    def index(self, columns: Sequence[int], sizes: Sequence[int] | None = None) -> Expression:
        r"""Return the position of the joint value of some columns, the last fastest.

        .. math:: ((x_1 v_2 + x_2) v_3 + x_3) \ldots

        Parameters
        ----------
        columns : list of int
            Positions of the columns.
        sizes : list of int, default=None
            Their numbers of values; None: as the model has them.

        Returns
        -------
        Expression
            The position; NULL if a column is missing.
        """
        sizes = [self.reading.sizes[c] for c in columns] if sizes is None else sizes
        return sql.place_of([self.cell(c) for c in columns], sizes)

    def entry(self, table: FloatArray, columns: Sequence[int]) -> Expression:
        """Look up a table over some columns; NULL if one of them is missing.

        Parameters
        ----------
        table : ndarray
            Entries, one axis for each column.
        columns : list of int
            Positions of the columns.

        Returns
        -------
        Expression
            The entry; a constant if there are no columns.
        """
        if not columns:
            return number(float(table))
        return self.stages.look_up(table.reshape(-1), self.index(columns))

    def entries(self, values: FloatArray, columns: Sequence[int]) -> list[Expression]:
        """Look up a table of every class, whose first axis is the class; see :meth:`entry`."""
        if not columns:
            return [number(float(value)) for value in values]
        return self.stages.look_up_all(values.reshape(self.k, -1), self.index(columns))

    # ---- products -----------------------------------------------------------------------------

    def _product(self, spec: State) -> list[str]:
        base = self.reading.logs(spec["base"])
        tables = [
            [(t["columns"], self.reading.dense(t)) for t in factor["tables"]]
            for factor in spec["factors"]
        ]
        known: list[list[Expression]] = [[] for _ in range(self.k)]
        for own in tables:
            entries = [self.entries(values, columns) for columns, values in own]
            for c in range(self.k if own else 0):
                first, *rest = (of_table[c] for of_table in entries)
                known[c].append(or_zero(sql.function("COALESCE", first, *rest) if rest else first))
        plan = plan_of(spec["factors"], self.reading.sizes)
        added = self._summed_out(spec, tables, plan) if spec["marginalize"] and plan.steps else None
        total = []
        for c in range(self.k):
            opened = [or_zero(column(name)) for name in added[c]] if added else []
            total.append(self.stages.put(plus([number(base[c]), *known[c], *opened])))
        return total

    def _summed_out(self, spec: State, tables: list[list[Dense]], plan: Plan) -> list[list[str]]:
        r"""Return, for each class, what factors with missing columns add.

        Parameters
        ----------
        spec : dict
            Description of the product.
        tables : list
            Tables of the factors, with an entry for every cell.
        plan : Plan
            In which order columns are summed out.

        Returns
        -------
        list of list of str
            Columns of logarithms for each class.
        """
        cells = plan.cells(self.reading.sizes) * self.k
        if cells > _MOST_CELLS:
            step = max(plan.steps, key=lambda s: prod(self.reading.sizes[c] for c in s.rest))
            names = [self.reading.columns[c]["name"] for c in (step.column, *step.rest)]
            raise UnnaiveError(
                f"where values are missing, {self.reading.document['model']} sums over all joint "
                f"values of the columns {', '.join(map(repr, names))}, too many for SQL; export to "
                "ONNX, JavaScript or JSON, or fit a model with fewer values or parents"
            )
        free, weights = conditions(self, spec["factors"], plan)
        open_row = self.stages.put(
            when((some(free[c] for c in plan.inner), sql.whole(1)), otherwise=None)
        )
        if cells > (_FEW_OF_SPARK if self.stages.dialect == "spark" else _FEW_CELLS):
            return Relations(self, plan, tables, weights, free).messages(open_row)
        summing = Summing(self, plan, tables, weights, free, open_row)
        return [summing.messages(c) for c in range(self.k)]

    # ---- means over super-parents -------------------------------------------------------------

    def voters(self, spec: State) -> list[Voter]:
        """Return what every super-parent of an average says, and when it votes."""
        reading, sizes, starts = self.reading, self.reading.sizes, self.reading.starts
        weights, rows = reading.exact(spec["weights"]), 0
        table = reading.logs(spec["table"]).reshape(self.k, len(weights), starts[-1])
        inner = Compiler(reading, self.stages, self._resolved(spec))
        found = []
        for members in spec["members"]:
            lines = slice(rows, rows := rows + prod(sizes[c] for c in members))
            weight = self.stages.put(or_zero(inner.entry(weights[lines], members)))
            terms: list[dict[int, Expression]] = [{} for _ in range(self.k)]
            for i in (i for i in range(len(sizes)) if sizes[i] and i not in members[1:]):
                values = table[:, lines, starts[i] : starts[i + 1]]
                if i in members:
                    shape = [sizes[m] for m in members]
                    own = np.indices(shape).reshape(len(members), -1)[0]
                    entries = inner.entries(values[:, np.arange(len(own)), own], members)
                else:
                    entries = list(map(or_zero, inner.entries(values, [*members, i])))
                for c in range(self.k):
                    terms[c][i] = entries[c]
            found.append((members, weight, terms))
        total = self.stages.put(plus(column(weight) for _, weight, _ in found))
        return [Voter(members, weight, total, terms) for members, weight, terms in found]

    def _average(self, spec: State) -> tuple[list[str], Expression]:
        voters = self.voters(spec)
        found = []
        for c in range(self.k):
            logs = self.stages.put_all(
                when(
                    (voter.votes, plus([*voter.terms[c].values(), voter.log_share])),
                    otherwise=sql.log_zero(),
                )
                for voter in voters
            )
            found.append(self.stages.log_sum(logs) if logs else self.stages.put(sql.log_zero()))
        if not voters:
            return found, sql.exp.false()
        return found, sql.exp.GT(this=column(voters[0].total), expression=number(0.0))

    def _resolved(self, spec: State) -> list[str | None]:
        """Return the cells; NULL where another cell of the row implies it."""
        if spec["implied"] is None:
            return list(self.cells)
        sizes, starts = self.reading.sizes, self.reading.starts
        owner = np.repeat(np.arange(len(sizes)), sizes)
        gone: dict[int, list[Expression]] = {}
        for first, second in self.reading.pairs(spec["implied"]).tolist():
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
        base, terms = self.reading.logs(spec["base"]), self.hidden_terms(spec)
        return self.stages.put_all(
            plus([number(base[c]), *map(column, terms[c].values())]) for c in range(self.k)
        )

    def hidden_terms(self, spec: State) -> list[dict[int, str]]:
        """Return, for each class, the logarithm of every column's factor; 0 where missing."""
        reading, sizes, starts = self.reading, self.reading.sizes, self.reading.starts
        alone = reading.logs(spec["alone"]).reshape(self.k, -1)
        terms: list[dict[int, str]] = [{} for _ in range(self.k)]
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
            chances: list[list[Expression]] = [[] for _ in range(self.k)]
            offset = 0
            for m in members:
                values = table[:, :, offset : offset + sizes[m]]
                offset += sizes[m]
                for c, entry in enumerate(self.entries(values, [i, m])):
                    chances[c].append(or_zero(entry))
            alone_here = self.entries(alone[:, starts[i] : starts[i + 1]], [i])
            for c in range(self.k):
                value = self.stages.put(plus(chances[c]))
                positive = sql.exp.GT(this=column(value), expression=number(0.0))
                share = sql.function("LN", sql.divided(column(value), column(weight)))
                through = when((positive, share), otherwise=sql.log_zero())
                chosen = when(
                    (sql.is_missing(self.cell(i)), number(0.0)),
                    (heard.copy(), through),
                    otherwise=alone_here[c],
                )
                terms[c][i] = self.stages.put(chosen)
        return terms

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
        r"""Replace a log joint in which every class has probability 0.

        Parameters
        ----------
        joint : list of str
            Columns of the log joint.
        instead : list of Expression
            What is returned instead, one for each class.

        Returns
        -------
        list of str
            Columns of the log joint.
        """
        top = self.stages.put(self.stages.largest(joint))
        lost = sql.exp.LT(this=column(top), expression=number(LOST))
        return self.stages.put_all(
            when((lost.copy(), instead[c]), otherwise=column(joint[c])) for c in range(self.k)
        )

    def with_prior(self, joint: list[str], prior: FloatArray) -> list[str]:
        """Answer by the prior where every class has probability 0.

        Parameters
        ----------
        joint : list of str
            Columns of the log joint.
        prior : ndarray of shape (k,)
            Log prior probabilities.

        Returns
        -------
        list of str
            Columns of the log joint.
        """
        return self._unless_lost(joint, [number(value) for value in prior])

    def normalised(self, joint: list[str]) -> list[str]:
        r"""Return log posteriors.

        .. math:: \log P(c \mid x) = \log P(c, x) - \log \sum_{c'} P(c', x)

        Parameters
        ----------
        joint : list of str
            Columns of the log joint.

        Returns
        -------
        list of str
            Columns of log P(c | x).
        """
        total = self.stages.log_sum(joint)
        return self.stages.put_all(minus(column(name), column(total)) for name in joint)

    def scaled(self, joint: list[str], temperature: float, bias: FloatArray) -> list[str]:
        """Calibrate a log joint.

        Parameters
        ----------
        joint : list of str
            Columns of the log joint.
        temperature : float
            τ.
        bias : ndarray of shape (k,)
            b.

        Returns
        -------
        list of str
            Columns of τ log P(c, x) + b_c.
        """
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
