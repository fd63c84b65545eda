"""SQL in stages: columns that are computed from columns of earlier stages."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError
from unnaive.export.reading import NOTHING

try:
    from sqlglot import exp as exp  # noqa: PLC0414 - the other modules take it from here
except ImportError:
    raise UnnaiveError('SQL needs sqlglot: pip install "unnaive[sql]"') from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unnaive._typing import FloatArray

    Expression = exp.Expression
    Vector = list[Expression]  # one expression for each class

DIALECTS = ("duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake")
_ONE_BASED = {"duckdb", "postgres"}  # the first entry of an array has the number 1
_KEPT = {"postgres", "sqlite"}  # which would copy the columns of a stage into the next one
_MOST_COLUMNS = 1500  # of a stage; PostgreSQL has 1,600, SQLite 2,000
_FEW = 4  # branches of a CASE that are tried one after the other


def number(value: float) -> Expression:
    """Write a double; the exponent says that it is one."""
    text = repr(float(value))
    return exp.Literal(this=text if "e" in text else f"{text}e0", is_string=False)


def whole(value: int) -> Expression:
    """Write an integer."""
    return exp.Literal(this=str(int(value)), is_string=False)


def column(name: str) -> Expression:
    """Refer to a column of an earlier stage."""
    return exp.column(exp.to_identifier(name, quoted=False))


def plus(terms: Iterable[Expression]) -> Expression:
    """Add up expressions; 0 if there are none."""
    terms = list(terms)
    add = lambda a, b: exp.Add(this=a, expression=b)  # noqa: E731
    return exp.Paren(this=reduce(add, terms)) if terms else number(0.0)


def minus(a: Expression, b: Expression) -> Expression:
    """Subtract."""
    return exp.Paren(this=exp.Sub(this=a, expression=b))


def times(a: Expression, b: Expression) -> Expression:
    """Multiply."""
    return exp.Paren(this=exp.Mul(this=a, expression=b))


def divided(a: Expression, b: Expression) -> Expression:
    """Divide doubles."""
    return exp.Paren(this=exp.Div(this=a, expression=b, typed=True))


def when(*branches: tuple[Expression, Expression], otherwise: Expression | None) -> Expression:
    """Return the value of the first condition that holds."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=otherwise)


def is_missing(operand: Expression) -> Expression:
    """Whether a value is NULL."""
    return exp.Is(this=operand, expression=exp.Null())


def is_known(operand: Expression) -> Expression:
    """Whether a value is not NULL."""
    return exp.Not(this=is_missing(operand))


def every(conditions: Iterable[Expression]) -> Expression:
    """Whether all conditions hold."""
    return exp.Paren(this=reduce(lambda a, b: exp.And(this=a, expression=b), conditions))


def some(conditions: Iterable[Expression]) -> Expression:
    """Whether one of the conditions holds."""
    return exp.Paren(this=reduce(lambda a, b: exp.Or(this=a, expression=b), conditions))


def function(name: str, *operands: Expression) -> Expression:
    """Call a function by its name."""
    return exp.Anonymous(this=name, expressions=list(operands))


def or_zero(operand: Expression) -> Expression:
    """Replace NULL by 0."""
    return function("COALESCE", operand, number(0.0))


class Stages:
    """Columns by the stage in which they are computed; a stage refers to earlier ones only.

    Parameters
    ----------
    dialect : str
        One of :data:`DIALECTS`.
    """

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.columns: list[dict[str, Expression]] = [{}]
        self._stage: dict[str, int] = {}

    def given(self, name: str, value: Expression) -> str:
        """Add a column that is computed from the user's table."""
        self.columns[0][name], self._stage[name] = value, 0
        return name

    def put(self, value: Expression) -> str:
        """Add a column, after those that it refers to, and return its name."""
        used = [self._stage[known.name] for known in value.find_all(exp.Column)]
        stage = max(used, default=0) + 1
        while len(self.columns) <= stage:
            self.columns.append({})
        name = f"v{len(self._stage)}"
        self.columns[stage][name], self._stage[name] = value, stage
        return name

    def put_all(self, values: Iterable[Expression]) -> list[str]:
        """Add several columns."""
        return [self.put(value) for value in values]

    # ---- formulas -----------------------------------------------------------------------------

    def largest(self, names: Sequence[str]) -> Expression:
        """Return the largest of some columns, none of which is NULL."""
        if len(names) == 1:
            return column(names[0])
        return function("MAX" if self.dialect == "sqlite" else "GREATEST", *map(column, names))

    def exponential(self, operand: Expression) -> Expression:
        """Return e to a power of at most 0; PostgreSQL stops at results below 1e-308."""
        name = "MAX" if self.dialect == "sqlite" else "GREATEST"
        return function("EXP", function(name, operand, number(-700.0)))

    def log_sum(self, names: Sequence[str]) -> str:
        """Return log Σ e^x of some columns."""
        if len(names) == 1:
            return names[0]
        top = self.put(self.largest(names))
        total = plus(self.exponential(minus(column(name), column(top))) for name in names)
        return self.put(plus([column(top), function("LN", total)]))

    def look_up(self, table: FloatArray, index: Expression) -> Expression:
        """Return the entry of a table of doubles; NULL if the index is NULL."""
        entries = [number(entry) for entry in table.tolist()]
        if self.dialect == "sqlite":
            return self._pick(entries, index)
        if self.dialect in _ONE_BASED:
            index = exp.Add(this=index, expression=whole(1))
        kind = exp.DataType.build("array<double>", dialect="bigquery")
        array: Expression = exp.Array(expressions=entries)
        if self.dialect in _ONE_BASED:
            array = exp.Paren(this=exp.Cast(this=array, to=kind))
        offset = 1 if self.dialect in _ONE_BASED else 0
        entry = exp.Bracket(this=array, expressions=[index], offset=offset)
        if self.dialect == "snowflake":
            return exp.Cast(this=entry, to=exp.DataType.build("double"))
        return entry

    def pick(self, names: Sequence[str], index: Expression) -> Expression:
        """Return the column that an index names; NULL if the index is NULL."""
        return self._pick([column(name) for name in names], index)

    def _pick(self, entries: Sequence[Expression], index: Expression, first: int = 0) -> Expression:
        if len(entries) <= _FEW:
            branches = [
                (exp.EQ(this=index.copy(), expression=whole(first + place)), entry)
                for place, entry in enumerate(entries)
            ]
            return when(*branches, otherwise=None)
        half = len(entries) // 2
        below = exp.LT(this=index.copy(), expression=whole(first + half))
        lower = self._pick(entries[:half], index, first)
        return when((below, lower), otherwise=self._pick(entries[half:], index, first + half))

    # ---- the query ----------------------------------------------------------------------------

    def query(self, source: exp.Select, last: dict[str, Expression]) -> exp.Select:
        """Write one SELECT; ``source`` selects nothing yet from the user's table."""
        wanted = self._wanted(last.values())
        needed: list[list[str]] = []
        for stage in range(len(self.columns) - 1, -1, -1):
            needed.insert(0, sorted(wanted, key=lambda name: int(self._stage[name])))
            self._require_few(wanted)
            own = [name for name in wanted if self._stage[name] == stage]
            wanted = {name for name in wanted if self._stage[name] < stage}
            wanted |= self._wanted(self.columns[stage][name] for name in own) if stage else set()
        query: exp.Select | None = None
        for stage, names in enumerate(needed):
            chosen = [
                exp.alias_(self.columns[stage][name], name, quoted=False)
                if self._stage[name] == stage
                else column(name)
                for name in names
            ] or [exp.alias_(whole(1), "one", quoted=False)]
            here = (source if stage == 0 else exp.select().from_(f"s{stage - 1}")).select(*chosen)
            query = self._joined(query, here, f"s{stage}")
        assert query is not None  # noqa: S101 - there is a first stage
        end = exp.select(*(exp.alias_(value, name, quoted=True) for name, value in last.items()))
        end.set("with_", query.args["with_"])
        return end.from_(f"s{len(needed) - 1}")

    def _joined(self, before: exp.Select | None, stage: exp.Select, name: str) -> exp.Select:
        """Add a stage to those before it."""
        kept = True if self.dialect in _KEPT else None
        holder = before if before is not None else exp.select("1")
        if stage.args.get("with_") is not None:  # tables of values that the first stage joins
            for cte in stage.args["with_"].expressions:
                holder = holder.with_(cte.args["alias"], as_=cte.this, copy=False)
            stage.set("with_", None)
        return holder.with_(name, as_=stage, materialized=kept, copy=False)

    def _wanted(self, values: Iterable[Expression]) -> set[str]:
        return {known.name for value in values for known in value.find_all(exp.Column)}

    def _require_few(self, names: Iterable[str]) -> None:
        if (many := len(list(names))) > _MOST_COLUMNS:
            raise UnnaiveError(
                f"the query would need {many:,} columns at once, more than databases allow; export "
                "to ONNX, JSON or JavaScript, or fit a model with fewer columns or values"
            )


def log_zero() -> Expression:
    """Stand for log 0."""
    return number(NOTHING)
