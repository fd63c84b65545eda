"""A schema as a JSON file that people can read and edit; sites agree on it before they count."""

from __future__ import annotations

import hashlib
import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.exceptions import SchemaMismatch
from unnaive.io.store import FORMAT, replacing
from unnaive.schema.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from unnaive._typing import State

VERSION = 1
_CHECKSUM = "sha256"
_CURE = "write it again with unnaive schema"


def save_schema(schema: Schema, path: str | PathLike[str], written_by: str = "") -> None:
    """Write a schema as JSON, one column per line; after an error an old file is unchanged.

    Parameters
    ----------
    schema : Schema
        The schema. The file shows its categories and edges, which were learned from rows: check
        that none of them reveals personal data.
    path : str or path
        The file to write.
    written_by : str
        Version of the library, for information.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unnaive.schema import CategoricalColumn, NumericColumn, Schema
    >>> columns = (NumericColumn("age", (45.5, 60.0)), CategoricalColumn("smoker", ("no", "yes")))
    >>> with TemporaryDirectory() as folder:
    ...     save_schema(Schema(columns, ("ill", "well"), "diagnosis"), Path(folder) / "s.json")
    ...     print((Path(folder) / "s.json").read_text().split('"sha256"')[0])
    {
      "format": "unnaive",
      "version": 1,
      "kind": "schema",
      "written_by": "",
      "target": "diagnosis",
      "classes": ["ill", "well"],
      "columns": [
        {"name": "age", "edges": [45.5, 60.0]},
        {"name": "smoker", "categories": ["no", "yes"]}
      ],
    """
    state = schema.state()
    head = {"format": FORMAT, "version": VERSION, "kind": "schema", "written_by": written_by}
    lines = [_entry(name, value) for name, value in head.items()]
    lines += [_entry(name, state[name]) for name in ("target", "classes")]
    columns = ",\n".join(f"    {_dump(column)}" for column in state["columns"])
    lines += [f'  "columns": [\n{columns}\n  ]', _entry(_CHECKSUM, _sum(state))]
    with replacing(Path(path)) as stream:
        stream.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def load_schema(path: str | PathLike[str]) -> Schema:
    """Read a file of :func:`save_schema`, edited or not.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Schema
        The schema.

    Raises
    ------
    SchemaMismatch
        If the file is not a schema, is from a newer version, or was altered and its checksum was
        not removed.
    """
    path = Path(path)
    if path.is_dir():
        raise SchemaMismatch(f"{path} is a folder; name the schema file in it")
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise SchemaMismatch(
            f"{path} is not a schema file: it is not JSON ({error}); {_CURE}"
        ) from error
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(document, dict) or document.get("format") != FORMAT or kind != "schema":
        raise SchemaMismatch(f"{path} is JSON, but not a schema of unnaive; {_CURE}")
    if not isinstance(version := document.get("version"), int) or version > VERSION:
        raise SchemaMismatch(
            f"{path} was written by unnaive {document.get('written_by')}, as version {version}; "
            "upgrade with pip install -U unnaive"
        )
    return _schema_of(document, path)


def _schema_of(document: State, path: Path) -> Schema:
    """Make the schema after checking everything in the document."""
    try:
        state = {name: document[name] for name in ("target", "classes", "columns")}
        _check_labels(state["classes"], "classes", least=1)
        _check_columns(state["columns"])
        schema = Schema.from_state(state)
        _check_names([*schema.names, schema.target])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise SchemaMismatch(
            f"{path} is not a complete schema: {reason}; correct it, or {_CURE}"
        ) from error
    if _CHECKSUM in document and document[_CHECKSUM] != _sum(state):
        raise SchemaMismatch(
            f"{path} was altered after it was written; copy it again or, if you changed it on "
            f'purpose, remove its line "{_CHECKSUM}"'
        )
    return schema


def _check_columns(columns: Sequence[State]) -> None:
    if not columns:
        raise ValueError("it has no columns")
    for column in columns:
        _check_column(column)


def _check_column(column: State) -> None:
    name = column["name"]
    if not isinstance(name, str):
        raise TypeError(f"a column has the name {name!r}, which is not text")
    if "edges" not in column:
        _check_labels(column["categories"], f"categories of column {name!r}")
        _check_labels(column.get("others", []), f"other values of column {name!r}")
    elif not all(isinstance(x, int | float) and abs(x) < float("inf") for x in column["edges"]):
        raise TypeError(f"an edge of column {name!r} is not a number")
    if not isinstance(column.get("missing_category", False), bool):
        raise TypeError(f"missing_category of column {name!r} is neither true nor false")


def _check_labels(labels: object, what: str, least: int = 0) -> None:
    if not isinstance(labels, list) or any(not isinstance(x, str | int | float) for x in labels):
        raise TypeError(f"the {what} are not a list of text and numbers")
    if any(isinstance(x, float) and not isfinite(x) for x in labels):
        raise ValueError(f"the {what} contain a number that is not finite")
    if len({(isinstance(x, str), x) for x in labels}) < len(labels):
        raise ValueError(f"the {what} contain a value twice")
    if len(labels) < least:
        raise ValueError(f"the {what} are empty")


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the column {name!r} occurs twice, or is also the target")


def _entry(name: str, value: object) -> str:
    return f"  {_dump(name)}: {_dump(value)}"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _sum(state: State) -> str:
    """Checksum of the values, independent of blanks in the file."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()
