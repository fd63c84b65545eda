"""SQL and ONNX, which need optional packages, and files of every format."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError
from unnaive.export.checks import exported
from unnaive.export.javascript import javascript_types, to_javascript
from unnaive.export.json_file import to_json
from unnaive.io.store import replacing

if TYPE_CHECKING:
    import os

    from onnx import ModelProto

    from unnaive.export.query import Query
    from unnaive.models.classifier import Classifier

FORMATS = {".json": "json", ".js": "js", ".mjs": "js", ".sql": "sql", ".onnx": "onnx"}


def to_sql(
    model: Classifier,
    table: str,
    *,
    key: str | None = None,
    dialect: str = "duckdb",
    explain: int = 0,
    inline: int = 5000,
    max_bytes: int = 100_000_000,
) -> Query:
    """Write a model as one SELECT that returns the class and the probabilities of every row.

    The query computes with logarithms until the last line. Probabilities are those of
    ``predict_proba`` to 1e-9, also for missing values (NULL, NaN) and unseen categories. Infinite
    numbers, which Python refuses, count as missing.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    table : str
        Name of the table or view that has the columns of the model; "schema.table" is a table in
        a schema.
    key : str or None, default=None
        Column that is returned with every prediction, such as "id"; None: none.
    dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"}
        Database. Queries for "bigquery" and "snowflake" are parsed by the tests, but never run.
    explain : int, default=0
        Number of contributions to return: ``column_1``, ``contribution_1`` and so on are the
        columns that add most to the log-odds of the label, the strongest first, as in
        ``model.explain(X).log_odds(positive=labels)``; NULL where no other column adds anything.
    inline : int, default=5000
        Largest number of values of a column, and of entries of a table for each class, that is
        written into the SELECT. Of a larger model, statements before the SELECT make tables in the
        database (``unnaive_`` and a digest of the model), which it joins.
    max_bytes : int, default=100_000_000
        Limit for the tables of the model, and for the query, as text.

    Returns
    -------
    Query
        The query, a text; ``query.tables`` and ``query.select`` are its parts. Its columns are the
        key, "label", and one for every class: ``p_`` and the class, or its position if some class
        is not a simple word.

    Raises
    ------
    UnnaiveError
        If the model cannot be exported exactly, or sqlglot is not installed.

    See Also
    --------
    to_onnx : A model for onnxruntime.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.export import to_sql
    >>> model = NaiveBayes().fit([["a"], ["b"]] * 5, ["no", "yes"] * 5)
    >>> query = to_sql(model, "patients", key="id")
    >>> import duckdb
    >>> patients = duckdb.sql("SELECT 1 AS id, 'b' AS x0")
    >>> duckdb.sql(query).fetchall()
    [(1, 'yes', 0.1428..., 0.8571...)]
    """
    from unnaive.export.sql import select_of  # noqa: PLC0415 - optional, see the extra "sql"

    query = select_of(exported(model, max_bytes), table, key, dialect, explain, inline)
    if len(query) > max_bytes:
        raise UnnaiveError(
            f"the query of this {type(model).__name__} has {len(query) / 1e6:,.0f} MB, more than "
            f"max_bytes={max_bytes:,}; export to ONNX, JSON or JavaScript, or fit a simpler model"
        )
    return query


def to_onnx(model: Classifier, max_bytes: int = 100_000_000) -> ModelProto:
    """Convert a model to ONNX.

    Every column that the model uses is an input of shape (n, 1): strings for categories that are
    text, doubles for all others (NaN: missing; booleans as 0 and 1). A text that did not occur in
    training is treated as a missing value; where missing values are a category, the empty text
    stands for them. The outputs are ``label`` (n,) and ``probabilities`` (n, k), as in models
    of scikit-learn that sklearn-onnx converts without ZipMap. All numbers are doubles, so
    probabilities are those of ``predict_proba`` to 1e-9.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    max_bytes : int, default=100_000_000
        Limit for the tables, as text.

    Returns
    -------
    onnx.ModelProto
        The model; :func:`write` writes it to a file.

    Raises
    ------
    UnnaiveError
        If the model cannot be exported exactly, or onnx is not installed.

    See Also
    --------
    write : Write a model to a file.
    to_sql : A model as a query.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.export import to_onnx
    >>> model = NaiveBayes().fit([["a", "u"], ["b", "v"]] * 5, ["no", "yes"] * 5)
    >>> [given.name for given in to_onnx(model).graph.input]
    ['x0', 'x1']
    """
    from unnaive.export.onnx_model import graph_of  # noqa: PLC0415 - optional, see the extra "onnx"

    return graph_of(exported(model, max_bytes))


def write(
    model: Classifier,
    path: str | os.PathLike[str],
    to: str | None = None,
    *,
    table: str = "rows",
    key: str | None = None,
    dialect: str = "duckdb",
    explain: int = 0,
    intervals: bool = False,
) -> None:
    """Write a model to a file for another program.

    Nothing is written if the model cannot be exported exactly. An old file is replaced when the new
    one is complete. Beside a file ``.js`` or ``.mjs``, its types are written as ``.d.ts``.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    path : str or path
        The file.
    to : {"json", "js", "sql", "onnx"}, default=None
        The format; None: by the name of the file, ``.json``, ``.js`` or ``.mjs``, ``.sql``,
        ``.onnx``.
    table, key, dialect : str
        For SQL, see :func:`to_sql`.
    explain : int, default=0
        For SQL, see :func:`to_sql`.
    intervals : bool, default=False
        For JSON and JavaScript, see :func:`to_json`.

    See Also
    --------
    to_json, to_javascript, to_sql, to_onnx : The same without a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unnaive import NaiveBayes, export
    >>> model = NaiveBayes().fit([["a"], ["b"]], ["no", "yes"])
    >>> with TemporaryDirectory() as folder:
    ...     export.write(model, f"{folder}/model.js")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['model.d.ts', 'model.js']
    """
    path = Path(path)
    to = FORMATS.get(path.suffix.lower()) if to is None else to
    others: dict[Path, str] = {}
    if intervals and to not in {"json", "js"}:
        raise ValueError(f"intervals are exported as JSON and JavaScript, not as {to!r}")
    if explain and to != "sql":
        raise ValueError(f"contributions are exported as SQL, not as {to!r}; leave out explain")
    if to == "onnx":
        content: bytes = to_onnx(model).SerializeToString()
    elif to == "sql":
        content = (to_sql(model, table, key=key, dialect=dialect, explain=explain) + ";\n").encode()
    elif to == "js":
        content = to_javascript(model, intervals=intervals).encode()
        others[path.with_suffix(".d.mts" if path.suffix.lower() == ".mjs" else ".d.ts")] = (
            javascript_types()
        )
    elif to == "json":
        content = to_json(model, intervals=intervals).encode()
    else:
        raise ValueError(
            f"the format of {path.name!r} is not known; pass to='json', 'js', 'sql' or 'onnx'"
        )
    contents = {path: content, **{other: text.encode() for other, text in others.items()}}
    with ExitStack() as stack:  # all are written before the first replaces an old file
        for file, data in contents.items():
            stream = stack.enter_context(replacing(file))
            stream.write(data)
            stream.flush()
