"""Tables of a database that a query joins, where a model is too large to be written into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unnaive.export.sql_words import double, exp, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unnaive._typing import FloatArray, Label
    from unnaive.export.sql_words import Expression

_ROWS = 1000  # of one INSERT


class RealTables:
    """Collects tables; equal ones are made once.

    Parameters
    ----------
    prefix : str
        Beginning of their names; that of another model must differ.
    inline : int
        Number of entries, or of values, up to which no table is made.
    """

    def __init__(self, prefix: str, inline: int) -> None:
        self.prefix, self.inline = prefix, inline
        self._names: dict[object, str] = {}
        self._made: list[tuple[str, dict[str, str], list[tuple[Label, ...]]]] = []

    def of_numbers(self, columns: FloatArray) -> str:
        """Make a table of numbers (m, n): ``place`` 0 … n − 1, ``c0`` … of m columns."""
        kinds = {"place": "int", **{f"c{at}": "double" for at in range(len(columns))}}
        rows = [(place, *line) for place, line in enumerate(columns.T.tolist())]
        return self._added((columns.shape, columns.tobytes()), kinds, rows)

    def of_values(self, values: Sequence[Label], codes: Sequence[int]) -> str:
        """Make a table of the values of a column: ``value`` and ``code``."""
        text = isinstance(values[0], str)
        kinds = {"value": "text" if text else "double", "code": "int"}
        rows = list(zip(values, codes, strict=True))
        return self._added(tuple(rows), kinds, rows)

    def _added(self, content: object, kinds: dict[str, str], rows: list[tuple[Label, ...]]) -> str:
        if content not in self._names:
            self._names[content] = f"{self.prefix}_{len(self._made)}"
            self._made.append((self._names[content], kinds, rows))
        return self._names[content]

    def statements(self, dialect: str) -> Iterator[str]:
        """Yield statements that make all tables, in place of those of an earlier run."""
        for name, kinds, rows in self._made:
            table = exp.to_table(name)
            columns = [
                exp.ColumnDef(this=exp.to_identifier(own), kind=exp.DataType.build(kind))
                for own, kind in kinds.items()
            ]
            schema = exp.Schema(this=table.copy(), expressions=columns)
            yield f"DROP TABLE IF EXISTS {name}"
            yield exp.Create(this=schema, kind="TABLE").sql(dialect)
            lines = [f"({', '.join(_written(value, dialect) for value in row)})" for row in rows]
            for start in range(0, len(rows), _ROWS):
                some = ", ".join(lines[start : start + _ROWS])
                yield f"INSERT INTO {name} VALUES {some}"  # noqa: S608 - texts are quoted


def _written(value: Label, dialect: str) -> str:
    """Write a constant; sqlglot quotes texts, and is slow where there are very many numbers."""
    if isinstance(value, str):
        return str(constant(value).sql(dialect))
    return str(value) if isinstance(value, int) else double(value)


def constant(value: Label) -> Expression:
    """Write a text or a number."""
    return exp.Literal.string(value) if isinstance(value, str) else number(value)


def listed(rows: Sequence[Sequence[Expression]], names: Sequence[str], dialect: str) -> exp.Select:
    """Select from a list of rows, whose columns have names.

    Examples
    --------
    >>> listed([[number(0.5)], [number(2.0)]], ["half"], "duckdb").sql("duckdb")
    'SELECT half AS half FROM (VALUES (0.5e0), (2.0e0)) AS t(half)'
    """
    own = [f"column{at}" for at in range(1, len(names) + 1)] if dialect == "sqlite" else names
    columns = [] if dialect == "sqlite" else list(map(exp.to_identifier, own))
    alias = exp.TableAlias(this=exp.to_identifier("t"), columns=columns)
    values = exp.Values(expressions=[exp.Tuple(expressions=list(row)) for row in rows], alias=alias)
    chosen = (exp.alias_(exp.column(given), new) for given, new in zip(own, names, strict=True))
    return exp.select(*chosen).from_(values)
