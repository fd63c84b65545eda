"""Rows of databases on the command line: which options go with ``--query``."""

from typing import TYPE_CHECKING, Annotated

from unnaive.cli.counting import note_of_own_schema
from unnaive.cli.options import option

if TYPE_CHECKING:
    from unnaive.cli.counting import Counting
    from unnaive.cli.options import BinningParameters, Cells
    from unnaive.counts import JointCounts
    from unnaive.schema import Schema

_OF_FILES = ("ignore", "keep", "encoding", "decimal", "thousands", "missing", "keep_text")

Query = Annotated[
    str | None,
    option("--query", "SQL", "Learn from the rows of this query, which are streamed."),
]


def refuse_file_options(chosen: "Cells", **others: object) -> None:
    """Raise an error for an option that says how files are read."""
    given = [name for name in _OF_FILES if getattr(chosen, name, None) is not None]
    for name in [*given, *(name for name, value in others.items() if value)]:
        what = f"--{name.replace('_', '-')} is for files; with --query"
        if name in others:
            raise ValueError(f"{what}, leave it out: the rows are streamed in one go")
        raise ValueError(f"{what}, choose the columns and convert the values in the query")


def refuse_database(data: str) -> None:
    """Raise an error if rows of a database are wanted, but not which."""
    from unnaive.io.databases import is_database  # noqa: PLC0415 - see app.py

    if is_database(data):
        raise ValueError("DATA is a database; add which rows to learn from, --query 'select …'")


def counted(  # noqa: PLR0917 - as for files, and the parameters of bins
    source: str,
    text: str,
    agreed: "Schema | None",
    target: str | None,
    how: "Counting",
    chosen: "BinningParameters",
) -> "tuple[JointCounts, str]":
    """Count the rows of a query; also name the source without its password."""
    from unnaive.counts.count import count  # noqa: PLC0415 - see app.py
    from unnaive.io.databases import query  # noqa: PLC0415 - see app.py

    if agreed is None:
        note_of_own_schema()
    with query(source, text) as rows:
        wanted = target if agreed is None else agreed.target
        known = {"schema": agreed, "pairs": how["pairs"], "n_jobs": how["n_jobs"]}
        return count(rows, wanted, **known, **chosen), rows.described  # type: ignore[arg-type]
