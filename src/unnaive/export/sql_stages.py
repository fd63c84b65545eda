"""SQL in stages: columns that are computed from columns of earlier stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.export.sql_schedule import Join, Limits, Work, needed, selected, stages_of
from unnaive.export.sql_words import column, exp, function, minus, number, plus, when, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import FloatArray
    from unnaive.export.sql_tables import RealTables
    from unnaive.export.sql_words import Expression

DIALECTS = ("duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake")
_ONE_BASED = {"duckdb", "postgres"}  # the first entry of an array has the number 1
_KEPT = {"postgres", "sqlite"}  # which would copy the columns of a stage into the next one
_KEPT_IF_WIDE = {"duckdb"}  # which plans such a query in half of the time, if stages are kept
_WIDE = 1000  # columns of all stages
_MOST_COLUMNS = 1500  # of a stage; PostgreSQL has 1,600, SQLite 2,000
_MOST_ARGUMENTS = 100  # of a function of SQLite
MOST_JOINS = 50  # of a stage; SQLite joins 64 tables at most
_LIMITS = Limits(columns=1000, joins=MOST_JOINS)  # what was begun may need some columns more
_FEW = 4  # branches of a CASE that are tried one after the other
_DOUBLE = exp.DataType.build("double")
_DOUBLES = exp.DataType.build("array<double>", dialect="bigquery")


class Stages:
    """Columns by the stage in which they are computed; a stage refers to earlier ones only.

    Parameters
    ----------
    dialect : str
        One of :data:`DIALECTS`.
    tables : RealTables
        Where large tables are made.
    """

    def __init__(self, dialect: str, tables: RealTables) -> None:
        self.dialect, self.tables = dialect, tables
        self._values: dict[str, Expression] = {}
        self._given: list[str] = []
        self._work: list[Work] = []

    def given(self, name: str, value: Expression) -> str:
        """Add a column that is computed from the user's table.

        Parameters
        ----------
        name : str
            Name of the column.
        value : Expression
            An expression of the user's columns.

        Returns
        -------
        str
            The name.
        """
        self._values[name] = value
        self._given.append(name)
        return name

    def put(self, value: Expression) -> str:
        """Add a column, after those that it refers to, and return its name.

        Stages keep queries short: what is used twice is computed once and has a name.

        Parameters
        ----------
        value : Expression
            An expression of columns of stages.

        Returns
        -------
        str
            Name of the column; its stage comes after those of the columns that it refers to.
        """
        name = self._named(value)
        self._work.append(Work([name], _columns(value)))
        return name

    def _named(self, value: Expression) -> str:
        name = f"v{len(self._values)}"
        self._values[name] = value
        return name

    def put_all(self, values: Iterable[Expression]) -> list[str]:
        """Add several columns.

        Parameters
        ----------
        values : iterable of Expression
            Expressions of columns of stages.

        Returns
        -------
        list of str
            Their names.
        """
        return [self.put(value) for value in values]

    # ---- formulas -----------------------------------------------------------------------------

    def largest(self, names: Sequence[str]) -> Expression:
        """Return the largest of some columns, none of which is NULL.

        Parameters
        ----------
        names : list of str
            Columns of stages, at least one.

        Returns
        -------
        Expression
            GREATEST, or MAX in SQLite, where it takes several numbers, too.
        """
        if self.dialect != "sqlite":
            return function("GREATEST", *map(column, names)) if names[1:] else column(names[0])
        values = [column(name) for name in names]
        while len(values) > 1:
            lots = range(0, len(values), _MOST_ARGUMENTS)
            parts = [values[first : first + _MOST_ARGUMENTS] for first in lots]
            values = [function("MAX", *some) if some[1:] else some[0] for some in parts]
        return values[0]

    def exponential(self, operand: Expression) -> Expression:
        """Return e to a power of at most 0.

        Parameters
        ----------
        operand : Expression
            The power.

        Returns
        -------
        Expression
            Its exponential; powers below −700 count as −700. PostgreSQL stops with an error where a
            result is below 1e-308, and the difference is far below 1e-9.
        """
        name = "MAX" if self.dialect == "sqlite" else "GREATEST"
        return function("EXP", function(name, operand, number(-700.0)))

    def log_sum(self, names: Sequence[str]) -> str:
        r"""Return log Σ e^x of some columns.

        The largest is taken out first, so that nothing overflows or underflows:

        .. math:: \log \sum_i e^{x_i} = m + \log \sum_i e^{x_i - m}, \quad m = \max_i x_i

        Parameters
        ----------
        names : list of str
            Columns of logarithms.

        Returns
        -------
        str
            Name of the column with the logarithm of the sum.
        """
        if len(names) == 1:
            return names[0]
        top = self.put(self.largest(names))
        total = plus(self.exponential(minus(column(name), column(top))) for name in names)
        return self.put(plus([column(top), function("LN", total)]))

    def look_up(self, table: FloatArray, index: Expression) -> Expression:
        """Return the entry of a table of doubles; NULL if the index is NULL.

        Parameters
        ----------
        table : ndarray of shape (m,)
            The entries.
        index : Expression
            Position, from 0.

        Returns
        -------
        Expression
            An entry of an array. SQLite has no arrays: there it is found by halves, in a CASE.
        """
        entries = [number(entry) for entry in table.tolist()]
        if self.dialect == "sqlite":
            return self.pick_expression(entries, index)
        if self.dialect in _ONE_BASED:
            index = exp.Add(this=index, expression=whole(1))
        array: Expression = exp.Array(expressions=entries)
        if self.dialect == "spark":  # which may look up a missing index as −1, and stop
            return function("GET", array, index)
        if self.dialect in _ONE_BASED:
            array = exp.Paren(this=exp.Cast(this=array, to=_DOUBLES.copy()))
        offset = 1 if self.dialect in _ONE_BASED else 0
        entry = exp.Bracket(this=array, expressions=[index], offset=offset)
        if self.dialect == "snowflake":
            return exp.Cast(this=entry, to=exp.DataType.build("double"))
        return entry

    def look_up_all(self, tables: FloatArray, index: Expression) -> list[Expression]:
        """Return the entries of several tables of doubles at one place; NULL if it is NULL.

        Parameters
        ----------
        tables : ndarray of shape (m, n)
            The entries of m tables.
        index : Expression
            Position, from 0.

        Returns
        -------
        list of Expression
            An entry of each; columns of a joined table where n is beyond the limit.
        """
        if tables.shape[1] <= self.tables.inline:
            return [self.look_up(table, index.copy()) for table in tables]
        place = self.put(index)
        table = self.tables.of_numbers(np.ascontiguousarray(tables))
        join = Join(table, self.fresh("j"), place)
        names = self.joined(join, [f"c{at}" for at in range(len(tables))], {place})
        return [column(name) for name in names]

    def fresh(self, prefix: str) -> str:
        """Return a name that no table of the query has, if a column is added before the next."""
        return f"{prefix}{len(self._values)}"

    def joined(self, join: Join, columns: Sequence[str], used: set[str]) -> list[str]:
        """Add columns of a table that is joined.

        Parameters
        ----------
        join : Join
            The table.
        columns : list of str
            Names of the columns in the table.
        used : set of str
            Columns of stages that the table and the join refer to.

        Returns
        -------
        list of str
            Names of the columns in the stage.
        """
        names = [self._named(exp.column(name, table=join.alias)) for name in columns]
        self._work.append(Work(names, used, join))
        return names

    def pick(self, names: Sequence[str], index: Expression) -> Expression:
        """Return the column that an index names; NULL if the index is NULL.

        Parameters
        ----------
        names : list of str
            Columns of stages.
        index : Expression
            Position among them, from 0.

        Returns
        -------
        Expression
            A CASE that finds the column by halves.
        """
        return self.pick_expression([column(name) for name in names], index)

    def pick_expression(
        self, entries: Sequence[Expression], index: Expression, first: int = 0
    ) -> Expression:
        """Return the expression that an index names, found by halves; NULL if it is NULL."""
        if len(entries) <= _FEW:
            branches = [
                (exp.EQ(this=index.copy(), expression=whole(first + place)), entry)
                for place, entry in enumerate(entries)
            ]
            return when(*branches, otherwise=None)
        half = len(entries) // 2
        below = exp.LT(this=index.copy(), expression=whole(first + half))
        lower = self.pick_expression(entries[:half], index, first)
        return when(
            (below, lower), otherwise=self.pick_expression(entries[half:], index, first + half)
        )

    # ---- the query ----------------------------------------------------------------------------

    def query(self, source: exp.Select, last: dict[str, Expression]) -> exp.Select:
        """Write one SELECT.

        Parameters
        ----------
        source : Select
            Selects nothing yet from the user's table.
        last : dict
            Columns of the result, by their names.

        Returns
        -------
        Select
            One common table expression for each stage, with the columns that later ones use.
        """
        wanted = set[str]().union(*map(_columns, last.values()))
        work = needed(self._work, wanted)
        stage_of = stages_of(work, self._given, wanted, _LIMITS)
        order = {name: stage_of[name] for name in self._values if name in stage_of}
        joins: dict[int, list[Join]] = {}
        for own in work:
            if own.join:
                joins.setdefault(stage_of[own.names[0]], []).append(own.join)
        query: exp.Select | None = None
        for stage, names in enumerate(selected(work, order, wanted)):
            _require_few(names)
            chosen = [
                exp.alias_(self._typed(self._values[name]), name, quoted=False, copy=False)
                if stage_of[name] == stage
                else column(name)
                for name in names
            ] or [exp.alias_(whole(1), "one", quoted=False)]
            before = source if stage == 0 else _from(exp.Select(), stage - 1)
            for table, alias, place, parts in joins.get(stage, ()):
                for name, part in parts(f"s{stage - 1}") if parts else ():
                    query = self._joined(query, part, name)
                same = exp.EQ(this=exp.column("place", table=alias), expression=column(place))
                joined = exp.to_table(table, alias=alias)
                before = before.join(joined, on=same, join_type="left", copy=False)
            query = self._joined(query, before.select(*chosen, copy=False), f"s{stage}")
        assert query is not None  # noqa: S101 - there is a first stage
        typed = {name: self._typed(value) for name, value in last.items()}
        answers = [exp.alias_(v, name, quoted=True, copy=False) for name, v in typed.items()]
        end = exp.Select().select(*answers, copy=False)
        end.set("with_", query.args["with_"])
        return _from(end, max(stage_of.values()))

    def _typed(self, value: Expression) -> Expression:
        """Say that numbers are doubles where PostgreSQL would compute with decimals."""
        if self.dialect != "postgres":
            return value
        for case in value.find_all(exp.Case):
            results = [case.args.get("default"), *(own.args["true"] for own in case.args["ifs"])]
            for result in filter(_is_decimal, results):
                result.replace(exp.Cast(this=result.copy(), to=_DOUBLE.copy()))
        return exp.Cast(this=value, to=_DOUBLE.copy()) if _is_decimal(value) else value

    def _joined(self, before: exp.Select | None, stage: exp.Select, name: str) -> exp.Select:
        """Add a stage to those before it."""
        wide = len(self._values) > _WIDE and self.dialect in _KEPT_IF_WIDE
        kept = True if wide or self.dialect in _KEPT else None
        holder = before if before is not None else exp.Select()
        if stage.args.get("with_") is not None:  # tables of values that the first stage joins
            for cte in stage.args["with_"].expressions:
                holder = holder.with_(cte.args["alias"], as_=cte.this, copy=False)
            stage.set("with_", None)
        return holder.with_(name, as_=stage, materialized=kept, copy=False)


def _require_few(names: Sequence[str]) -> None:
    if len(names) > _MOST_COLUMNS:
        raise UnnaiveError(
            f"the query would need {len(names):,} columns at once, more than databases allow; "
            "export to ONNX, JSON or JavaScript, or fit a model with fewer columns or values"
        )


def _is_decimal(value: Expression | None) -> bool:
    """Whether a value consists of numbers with exponents only, which are decimals in PostgreSQL."""
    if value is None or value.find(exp.Column, exp.Cast):
        return False
    return any("e" in own.this for own in value.find_all(exp.Literal) if not own.is_string)


def _columns(value: Expression) -> set[str]:
    """Return the names of the columns that an expression refers to."""
    return {known.name for known in value.find_all(exp.Column)}


def _from(query: exp.Select, stage: int) -> exp.Select:
    """Read a stage; copies of whole queries at every step would take most of the time."""
    return query.from_(exp.to_table(f"s{stage}"), copy=False)
