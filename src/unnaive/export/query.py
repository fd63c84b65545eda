"""What :func:`unnaive.export.to_sql` returns: statements that make tables, and a SELECT."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Query(str):
    """The text of a query; of a large model, after statements that make the tables it joins.

    Parameters
    ----------
    select : str
        The SELECT.
    tables : sequence of str, default=()
        Statements that make the tables, in order; each can be run again.

    Attributes
    ----------
    select, tables
        The parts, for drivers that run one statement at a time, such as sqlite3. The text is all of
        them, separated by semicolons, for those that run scripts, such as DuckDB and psql.

    See Also
    --------
    to_sql : Makes it.

    Examples
    --------
    >>> query = Query("SELECT x FROM t", ["CREATE TABLE t (x INT)"])
    >>> print(query)
    CREATE TABLE t (x INT);
    SELECT x FROM t
    >>> query.select
    'SELECT x FROM t'
    """

    __slots__ = ("select", "tables")
    select: str
    tables: tuple[str, ...]

    def __new__(cls, select: str, tables: Sequence[str] = ()) -> Query:
        """Join the statements."""
        query = super().__new__(cls, ";\n".join([*tables, select]))
        query.select, query.tables = select, tuple(tables)
        return query
