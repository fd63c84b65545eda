"""SQL: a model as one SELECT over a table of rows."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from typing import TYPE_CHECKING

from unnaive._ties import TIE_TOLERANCE
from unnaive.exceptions import UnnaiveError
from unnaive.export import sql_words as sql
from unnaive.export.checks import kind_of_labels, kind_of_values, require_doubles, require_text
from unnaive.export.query import Query
from unnaive.export.reading import readings_of
from unnaive.export.sql_explain import Explainer, require_positive, strongest
from unnaive.export.sql_kinds import Compiler
from unnaive.export.sql_stages import DIALECTS, MOST_JOINS, Stages
from unnaive.export.sql_tables import RealTables, constant, listed
from unnaive.export.sql_words import column, exp, number, plus, when

if TYPE_CHECKING:
    from unnaive._typing import Label, State
    from unnaive.export.reading import Reading
    from unnaive.export.sql_words import Expression

_FEW_VALUES = 40  # that a CASE compares; more are joined
_SIMPLE = re.compile(r"[\w .-]{1,40}")
_LARGEST = sys.float_info.max
_EXACT_NAMES = {"postgres", "snowflake"}  # in which quoted names that differ in case differ
_POSTGRES_BYTES = 63  # of a name that PostgreSQL keeps
_MOST_PARTS = 3  # of the name of a table: catalog, schema, table
_STEP = "step_"  # begins the names of steps where the user's table has such a name


def select_of(  # noqa: PLR0917 - the options of to_sql
    document: State, table: str, key: str | None, dialect: str, explain: int, inline: int
) -> Query:
    """Write the query of a document; :func:`unnaive.export.to_sql` explains it."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect={dialect!r}; it must be one of {', '.join(DIALECTS)}")
    if explain < 0:
        raise ValueError(f"explain={explain}; it must be 0 or more")
    require_doubles(document, "SQL")
    kind_of_labels(document, "SQL")
    require_text(document, "SQL", table=table, key=key, forbidden="\0")
    _require_names(document, dialect)
    _require_given(table, key)
    tables = RealTables(f"unnaive_{_digest(document)}", inline)
    stages = Stages(dialect, tables)
    source = _Source(document, table, stages)
    members = [_joint(reading, source, stages) for reading in readings_of(document)]
    compiler, joint = members[0]
    if "members" in document:
        joint = _blended(document, members, stages)
    answers, best = _answers(document, compiler, joint)
    if explain:
        answers |= _explained(document, [own for own, _ in members], best, explain)
    if key is not None:
        if key.casefold() in map(str.casefold, answers):
            raise UnnaiveError(f"key={key!r} is also a column of the result; rename it first")
        answers = {key: column("the_key"), **answers}
    query = stages.query(source.select(key), answers)
    _keep_apart(query, source.table)
    text = str(query.sql(dialect, comments=False, copy=False))
    return Query(text, list(tables.statements(dialect)))


def _digest(document: State) -> str:
    """Return a few letters that tell a model from others."""
    return hashlib.blake2b(json.dumps(document).encode(), digest_size=5).hexdigest()


def _require_names(document: State, dialect: str) -> None:
    """Raise an error if a column has no name, or two columns have one name in the database."""
    seen: dict[str, str] = {}
    for name in (own["name"] for own in document["columns"] if own["used"]):
        if not name:
            raise UnnaiveError("a column has no name, which SQL needs; name it")
        known = name if dialect in _EXACT_NAMES else _folded(name)
        if dialect == "postgres":
            known = name.encode()[:_POSTGRES_BYTES].decode(errors="ignore")
        if known in seen:
            how = f"after {_POSTGRES_BYTES} bytes" if dialect == "postgres" else "in case"
            raise UnnaiveError(
                f"the columns {seen[known]!r} and {name!r} differ only {how}, which {dialect} does "
                "not tell apart; rename one of them before the fit"
            )
        seen[known] = name


def _require_given(table: str, key: str | None) -> None:
    """Raise an error if the table or the key has no name, or the table more than three."""
    parts = table.split(".")
    if not all(parts) or len(parts) > _MOST_PARTS:
        raise ValueError(
            f"table={table!r}; it must be the name of a table, or schema.table, or "
            "catalog.schema.table, each of which has a name"
        )
    if not key and key is not None:
        raise ValueError("key=''; it must be the name of a column, or None")


def _keep_apart(query: exp.Select, table: exp.Table) -> None:
    """Rename the steps of a query if the user's table has the name of one of them."""
    steps = {step.alias: step for step in query.args["with_"].expressions}
    if table.db or _folded(table.name) not in map(_folded, steps):
        return
    for found in list(query.find_all(exp.Table)):
        if found.name in steps and not found.this.quoted:  # only the user's own is quoted
            if not found.alias:
                found.set("alias", exp.TableAlias(this=exp.to_identifier(found.name)))
            found.set("this", exp.to_identifier(f"{_STEP}{found.name}"))
    for name, step in steps.items():
        step.args["alias"].set("this", exp.to_identifier(f"{_STEP}{name}"))


def _folded(name: str) -> str:
    """Return a name without its case, as widely as any database does."""
    return name.casefold().upper().lower().casefold()


class _Source:
    """The user's table, and how its values become codes and numbers."""

    def __init__(self, document: State, table: str, stages: Stages) -> None:
        self.stages, self.document = stages, document
        names = [exp.to_identifier(part, quoted=True) for part in table.split(".")]
        self.table = exp.Table(
            this=names[-1],
            db=names[-2] if len(names) > 1 else None,
            catalog=names[-3] if len(names) > 2 else None,
            alias=exp.TableAlias(this=exp.to_identifier("source")),
        )
        self.joined: list[tuple[str, exp.Select | exp.Table, Expression]] = []
        self._made: dict[str, str] = {}

    def select(self, key: str | None) -> exp.Select:
        """Select nothing yet from the table and the tables of values."""
        found = exp.select().from_(self.table)
        for alias, values, condition in self.joined:
            if isinstance(values, exp.Table):
                joined = exp.alias_(values, alias, table=True)
            else:
                found = found.with_(alias, as_=values, copy=False)
                joined = exp.to_table(alias)
            found = found.join(joined, on=condition, join_type="left", copy=False)
        if key is not None:
            self.stages.given("the_key", self._value(key))
        return found

    def _value(self, name: str) -> Expression:
        return exp.column(
            exp.to_identifier(name, quoted=True), table=exp.to_identifier("source", quoted=False)
        )

    def cells(self, reading: Reading) -> list[str | None]:
        """Return the columns of codes and numbers; None for columns that the model does not use."""
        return [self._cell(description) for description in reading.columns]

    def _cell(self, description: State) -> str | None:
        if not description["used"]:
            return None
        known = repr(sorted((k, v) for k, v in description.items() if k not in {"low", "high"}))
        if known not in self._made:
            self._made[known] = self.stages.given(f"x{len(self._made)}", self._coded(description))
        return self._made[known]

    def _coded(self, description: State) -> Expression:
        if description["kind"] == "category":
            return self._category(description)
        value = self._number(description["name"])
        if description["kind"] == "number":
            return value
        edges = description["edges"]
        absent = sql.whole(description["missing"]) if "missing" in description else exp.Null()
        return when((sql.is_missing(value), absent), otherwise=self._bin(value, edges, 0))

    def _bin(self, value: Expression, edges: list[float], first: int) -> Expression:
        """Return the number of edges below a value, found by halves."""
        if not edges:
            return sql.whole(first)
        half = len(edges) // 2
        below = exp.LTE(this=value.copy(), expression=number(edges[half]))
        lower = self._bin(value, edges[:half], first)
        return when((below, lower), otherwise=self._bin(value, edges[half + 1 :], first + half + 1))

    def _number(self, name: str) -> Expression:
        """Return a finite double, else NULL; NaN is not between two numbers anywhere."""
        value = self._value(name)
        if self.stages.dialect == "sqlite":  # which would cast text to 0
            kinds = [exp.Literal.string("integer"), exp.Literal.string("real")]
            kind = exp.In(this=sql.function("TYPEOF", value), expressions=kinds)
            value = when((kind, value.copy()), otherwise=None)
        else:
            value = exp.Cast(this=value, to=exp.DataType.build("double"))
        low, high = number(-_LARGEST), number(_LARGEST)
        if self.stages.dialect == "postgres":  # where these are decimals, and NaN the largest
            low, high = (
                exp.Cast(this=edge, to=exp.DataType.build("double")) for edge in (low, high)
            )
        between = exp.Between(this=value.copy(), low=low, high=high)
        return when((between, value), otherwise=None)

    def _category(self, description: State) -> Expression:
        values = [*description["values"], *description.get("others", ())]
        last = len(description["values"]) - 1
        codes = [min(code, last) for code in range(len(values))]
        name, kind = description["name"], kind_of_values(description, "SQL")
        value = self._number(name) if kind is float else self._value(name)
        if kind is bool:
            codes_of = dict(zip(values, codes, strict=True))
            branches = [
                (value.copy() if v else exp.Not(this=value.copy()), c) for v, c in codes_of.items()
            ]
            found = when(*((test, sql.whole(code)) for test, code in branches), otherwise=None)
        elif len(values) > _FEW_VALUES and len(self.joined) < MOST_JOINS:
            found = self._joined_code(value, values, codes)
        else:
            found = when(
                *(
                    (self._equal(value.copy(), v), sql.whole(code))
                    for v, code in zip(values, codes, strict=True)
                ),
                otherwise=None,
            )
        if "missing" not in description:
            return found
        absent = sql.whole(description["missing"])
        return when((sql.is_missing(value.copy()), absent), otherwise=found)

    def _equal(self, value: Expression, constant: Label) -> Expression:
        if not isinstance(constant, str):
            return exp.EQ(this=value, expression=number(constant))
        if self.stages.dialect == "sqlite":  # whatever the collation of the column
            value = exp.Collate(this=value, expression=exp.var("BINARY"))
        return exp.EQ(this=value, expression=exp.Literal.string(constant))

    def _joined_code(self, value: Expression, values: list[Label], codes: list[int]) -> Expression:
        """Find codes by a join with a table of values, a real one if there are very many."""
        alias = f"values_{len(self.joined)}"
        selected: exp.Select | exp.Table
        if len(values) > self.stages.tables.inline:
            selected = exp.to_table(self.stages.tables.of_values(values, codes))
        else:
            pairs = zip(values, codes, strict=True)
            rows = [[constant(value), sql.whole(code)] for value, code in pairs]
            selected = listed(rows, ["value", "code"], self.stages.dialect)
        if self.stages.dialect == "sqlite" and isinstance(values[0], str):
            value = exp.Collate(this=value, expression=exp.var("BINARY"))
        condition = exp.EQ(this=value, expression=exp.column("value", table=alias))
        self.joined.append((alias, selected, condition))
        return exp.column("code", table=alias)


def _joint(reading: Reading, source: _Source, stages: Stages) -> tuple[Compiler, list[str]]:
    """Return the calibrated log joint of one model."""
    compiler = Compiler(reading, stages, source.cells(reading))
    joint = compiler.joint(reading.single["tables"])
    joint = compiler.with_prior(joint, reading.logs(reading.single["prior"]))
    if (scale := reading.single["calibration"]) is not None:
        joint = compiler.scaled(joint, scale["temperature"], reading.exact(scale["bias"]))
    return compiler, joint


def _blended(
    document: State, members: list[tuple[Compiler, list[str]]], stages: Stages
) -> list[str]:
    """Return the log of the weighted mean of posteriors."""
    logs = []
    for member, (compiler, joint) in zip(document["members"], members, strict=True):
        scale = member["scale"]
        bias = compiler.reading.exact(scale["bias"])
        own = compiler.normalised(compiler.scaled(joint, scale["temperature"], bias))
        weight = number(math.log(member["weight"]))
        logs.append(stages.put_all(plus([column(name), weight.copy()]) for name in own))
    return [stages.log_sum([own[c] for own in logs]) for c in range(len(document["labels"]))]


def _answers(
    document: State, compiler: Compiler, joint: list[str]
) -> tuple[dict[str, Expression], str]:
    """Return label and probabilities by name, and a column with the label's position."""
    stages = compiler.stages
    logs = compiler.normalised(joint)
    chances = stages.put_all(stages.exponential(column(name)) for name in logs)
    bias = document["threshold_bias"]
    scores = chances
    if bias is not None:
        added = compiler.reading.exact(bias)
        scores = stages.put_all(
            plus([column(p), number(b)]) for p, b in zip(chances, added, strict=True)
        )
    best = stages.put(stages.largest(scores))
    least = sql.times(column(best), number(math.exp(-TIE_TOLERANCE)))
    if bias is not None:
        least = sql.minus(column(best), number(TIE_TOLERANCE))
    labels = [_label(label) for label in document["labels"]]
    branches = [
        (exp.GTE(this=column(score), expression=least.copy()), sql.whole(place))
        for place, score in enumerate(scores[:-1])
    ]
    last = sql.whole(len(labels) - 1)
    place = stages.put(when(*branches, otherwise=last) if branches else last)
    named = zip(_names(document), chances, strict=True)
    label = stages.pick_expression(labels, column(place))
    return {"label": label, **{name: column(p) for name, p in named}}, place


def _explained(
    document: State, compilers: list[Compiler], best: str, most: int
) -> dict[str, Expression]:
    """Return the columns of the largest contributions to the log-odds of the label."""
    require_positive(document, compilers[0].reading)
    splits = []
    for compiler in compilers:
        explainer, single = Explainer(compiler), compiler.reading.single
        split = explainer.split(single["tables"])
        for scale in (single["calibration"], single.get("scale")):
            if scale is not None:
                bias = compiler.reading.exact(scale["bias"])
                split = explainer.scaled(split, scale["temperature"], bias)
        splits.append(split)
    split = splits[0]
    if "members" in document:
        logs = [math.log(member["weight"]) for member in document["members"]]
        weights = compilers[0].stages.put_all(map(number, logs))
        split = explainer.mixed([explainer.posterior(own) for own in splits], weights)
    names = [column["name"] for column in document["columns"]]
    return strongest(compilers[0].stages, explainer.odds(split, best), names, most)


def _label(label: Label) -> Expression:
    if isinstance(label, bool):
        return exp.true() if label else exp.false()
    if isinstance(label, str):
        return exp.Literal.string(label)
    return sql.whole(label) if isinstance(label, int) else number(label)


def _names(document: State) -> list[str]:
    """Names of the probabilities: classes if these are simple words, else their positions."""
    names = document["classes"]
    simple = all(_SIMPLE.fullmatch(name) and len(name.encode()) <= 40 for name in names)
    if simple and len(set(map(_folded, names))) == len(names):
        return [f"p_{name}" for name in names]
    return [f"p_{place}" for place in range(len(names))]
