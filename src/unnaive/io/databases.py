"""Queries to databases, whose rows are read as streams of arrow batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from weakref import finalize

from unnaive.exceptions import DataFileError, UnnaiveError
from unnaive.io.content import one_line
from unnaive.io.parts.streams import open_reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import Self

    import pyarrow as pa

_POSTGRES = ("postgresql", "postgres")
_ENDINGS = {".duckdb": "duckdb", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite"}
_STEADY = "set transaction isolation level repeatable read"


class QueriedRows:
    """Rows of a query to a database; made by :func:`unnaive.query`.

    Every pass over the rows runs the query again. All passes are in one transaction, so that they
    see the same rows, in PostgreSQL and SQLite. What was opened is closed at the end of a
    ``with`` statement, or when the query is no longer used.
    """

    def __init__(self, database: _Database, text: str) -> None:
        self._database, self._text = database, text

    def __repr__(self) -> str:
        """Say where the rows come from, without the password."""
        return f"query({self._database.name!r}, {self._text!r})"

    @property
    def described(self) -> str:
        """Name in messages."""
        return f"the query to {self._database.name}"

    def __enter__(self) -> Self:
        """Use the query in a ``with`` statement."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close what the query opened."""
        self._database.close()

    def to_reader(self) -> pa.RecordBatchReader:
        """Run the query, and return a reader of its rows.

        Returns
        -------
        pyarrow.RecordBatchReader
            Batches of rows.
        """
        with self._refused():
            return with_numbers(open_reader(self._database.run(self._text)))

    def described_columns(self) -> pa.Schema | None:
        """Ask for the columns without running the query; None if the driver cannot say."""
        with self._refused():
            schema = self._database.describe(self._text)
            return None if schema is None else plain_types(schema)

    @contextmanager
    def _refused(self) -> Iterator[None]:
        """Take the password out of what the driver says."""
        try:
            yield
        except UnnaiveError:  # the driver is not installed
            raise
        except Exception as error:
            what = self._database.hidden(one_line(error))
            raise DataFileError(f"{self._database.name} refused the query: {what}") from None


def query(source: str | PathLike[str] | Any, text: str) -> QueriedRows:
    """Ask a database for rows, of which a model learns or which it predicts.

    Rows come as a stream, so that a table of any length needs little memory. Needs the extra
    ``database``, and nothing else: PostgreSQL and SQLite by ADBC, DuckDB by itself.

    Parameters
    ----------
    source : str, path or connection
        A URI such as ``"postgresql://user:password@host/name"``; a file of SQLite (.sqlite,
        .sqlite3, .db) or of DuckDB (.duckdb), which is only read; or an open connection of ADBC or
        DuckDB. The password is shown nowhere.
    text : str
        The query in SQL.

    Returns
    -------
    QueriedRows
        Rows for :func:`unnaive.count`, and for ``fit`` and ``predict`` of the models.

    See Also
    --------
    unnaive.count : Counts rows, also those of a query.

    Examples
    --------
    >>> import duckdb, unnaive
    >>> wards = duckdb.connect()
    >>> _ = wards.execute("create table visits as select 'yes' as smoker, 'yes' as ill")
    >>> _ = wards.execute("insert into visits values ('no', 'no'), ('no', 'no'), ('yes', 'yes')")
    >>> visits = unnaive.query(wards, "select smoker, ill from visits")
    >>> model = unnaive.NaiveBayes().fit(visits, "ill")
    >>> model.predict([{"smoker": "yes"}]).tolist()
    ['yes']
    """
    if not isinstance(text, str) or not text.strip():
        raise UnnaiveError(f"text={text!r}; it must be a query in SQL")
    return QueriedRows(_database_of(source), text)


def is_database(address: str) -> bool:
    """Whether an address is that of a database, by its first or its last letters."""
    return _scheme(address) in _POSTGRES or Path(address).suffix.lower() in _ENDINGS


def _scheme(address: str) -> str:
    return address.partition("://")[0] if "://" in address else ""


def _database_of(source: Any) -> _Database:
    """Recognize a database; nothing is opened before the first query."""
    if hasattr(source, "cursor") and hasattr(source, "adbc_get_info"):
        return _Adbc(f"the {type(source).__name__}", connection=source)
    if hasattr(source, "sql") and hasattr(source, "cursor"):
        return _DuckDB(f"the {type(source).__name__}", connection=source)
    address = str(source)
    if _scheme(address) in _POSTGRES:
        return _Adbc(_without_password(address), address, "adbc_driver_postgresql.dbapi")
    kind = _ENDINGS.get(Path(address).suffix.lower())
    if kind is None:
        raise UnnaiveError(
            f"{_without_password(address)} is not known as a database; give "
            "postgresql://user:password@host/name, a file that ends in .sqlite, .db or .duckdb, or "
            "an open connection of ADBC or DuckDB"
        )
    if not Path(address).is_file():
        raise DataFileError(f"{address}: there is no such file")
    if kind == "duckdb":
        return _DuckDB(address, address)
    return _Adbc(address, f"file:{Path(address).absolute()}?mode=ro", "adbc_driver_sqlite.dbapi")


class _Database(ABC):
    """A database that is opened by its first query."""

    def __init__(
        self, name: str, address: str = "", driver: str = "duckdb", connection: Any = None
    ) -> None:
        self.name, self._address, self._driver = name, address, driver
        self._connection = connection
        self._opened: list[Any] = []  # what is ours to close, the last one first
        self.close = finalize(self, _close, self._opened)

    def hidden(self, message: str) -> str:
        """Take the password out of a message of the driver."""
        for secret in _secrets(self._address):
            message = message.replace(secret, "***")
        return message

    def module(self) -> Any:
        """Import the driver."""
        try:
            return import_module(self._driver)
        except ImportError as error:
            package = self._driver.partition(".")[0].replace("_", "-")
            raise UnnaiveError(f"{package} is not installed; pip install {package}") from error

    @abstractmethod
    def run(self, text: str) -> Any:
        """Run a query; returns what :func:`~unnaive.io.parts.streams.open_reader` takes."""

    def describe(self, text: str) -> pa.Schema | None:  # noqa: ARG002 - which few drivers can
        """Return the columns of a query without running it; None if that cannot be had."""
        return None


class _Adbc(_Database):
    """PostgreSQL and SQLite."""

    def run(self, text: str) -> Any:
        """Run a query in the transaction of the first one."""
        cursor = self._cursor()
        cursor.execute(text)
        return cursor

    def describe(self, text: str) -> pa.Schema | None:
        """Prepare a query, which PostgreSQL can; a query that is run there is run to its end."""
        cursor = self._cursor()
        try:
            return cursor.adbc_execute_schema(text)
        except Exception as error:
            if type(error).__name__ == "NotSupportedError":
                return None
            raise

    def _cursor(self) -> Any:
        """Open a cursor, and before the first one the connection."""
        if self._connection is None:
            self._connection = self.module().connect(self._address)
            self._opened.append(self._connection)
            if self._address.startswith(_POSTGRES):
                with self._connection.cursor() as first:
                    first.execute(_STEADY)
        cursor = self._connection.cursor()
        self._opened.append(cursor)
        return cursor


class _DuckDB(_Database):
    """DuckDB, whose relations run when they are read."""

    def run(self, text: str) -> Any:
        """Prepare a query on a connection of its own, so that it disturbs no other."""
        if self._connection is None:
            self._connection = self.module().connect(self._address, read_only=True)
            self._opened.append(self._connection)
        cursor = self._connection.cursor()
        self._opened.append(cursor)  # before DuckDB 2.0 a relation does not keep it open
        return cursor.sql(text)


def _close(opened: list[Any]) -> None:
    while opened:
        with suppress(Exception):  # of a lost connection
            opened.pop().close()


def _secrets(address: str) -> list[str]:
    """Passwords in a URI, as written and as meant; also that of ?password=."""
    if "://" not in address:
        return []
    parts = urlsplit(address)
    asked = [value for name, value in parse_qsl(parts.query) if "pass" in name.lower()]
    written = [parts.password or "", *asked]
    return [secret for text in written for secret in {text, unquote(text), quote(text)} if secret]


def _without_password(address: str) -> str:
    if "://" not in address:
        return address
    parts = urlsplit(address)
    user, host = parts.username, parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{user}@{host}" if user else host, query="").geturl()


def plain_types(schema: pa.Schema) -> pa.Schema:
    """Return a schema with floats for numerics of PostgreSQL, which its driver gives as texts."""
    arrow = import_module("pyarrow")
    key, numeric = b"ADBC:postgresql:typname", b"numeric"
    fields = [
        arrow.field(field.name, arrow.float64())
        if (field.metadata or {}).get(key) == numeric
        else field
        for field in schema
    ]
    return arrow.schema(fields)


def with_numbers(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Cast numerics of PostgreSQL to floats."""
    arrow = import_module("pyarrow")
    schema = plain_types(reader.schema)
    if schema.equals(reader.schema):
        return reader
    batches = (batch.cast(schema) for batch in reader)
    return arrow.RecordBatchReader.from_batches(schema, batches)
