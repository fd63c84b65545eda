"""Exports that every model has: JSON, JavaScript, SQL and ONNX.

The functions are methods of :class:`~unnaive.models.Classifier`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

    from unnaive.export.query import Query
    from unnaive.models.classifier import Classifier


def to_json(self: Classifier, *, intervals: bool = False) -> str:
    """Write the model as a JSON document, from which predictions can be computed anywhere.

    Parameters
    ----------
    intervals : bool, default=False
        Export what ``predict_interval`` needs as well.

    Returns
    -------
    str
        JSON; see :func:`unnaive.export.to_json`.
    """
    from unnaive import export  # noqa: PLC0415 - loads when asked

    return export.to_json(self, intervals=intervals)


def to_javascript(self: Classifier, *, intervals: bool = False) -> str:
    """Write the model as one ES module with ``predict(row)`` and ``explain(row)``.

    Parameters
    ----------
    intervals : bool, default=False
        Export what ``predict_interval`` needs as well; the module's ``interval(row)`` uses it.

    Returns
    -------
    str
        The module; see :func:`unnaive.export.to_javascript`.
    """
    from unnaive import export  # noqa: PLC0415 - loads when asked

    return export.to_javascript(self, intervals=intervals)


def to_sql(
    self: Classifier,
    table: str,
    *,
    key: str | None = None,
    dialect: str = "duckdb",
    explain: int = 0,
    inline: int = 5000,
) -> Query:
    """Write the model as one SELECT that returns the class and the probabilities of every row.

    Parameters
    ----------
    table : str
        Name of the table that has the columns of the model.
    key : str or None, default=None
        Column that is returned with every prediction; None: none.
    dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake"}
        Database.
    explain : int, default=0
        Number of contributions to return, the strongest first.
    inline : int, default=5000
        Largest table that is written into the SELECT; larger ones are made by statements before it.

    Returns
    -------
    Query
        The query; see :func:`unnaive.export.to_sql`.
    """
    from unnaive import export  # noqa: PLC0415 - loads when asked

    return export.to_sql(self, table, key=key, dialect=dialect, explain=explain, inline=inline)


def to_onnx(self: Classifier) -> ModelProto:
    """Convert the model to ONNX, for onnxruntime and other engines.

    Returns
    -------
    onnx.ModelProto
        The model; see :func:`unnaive.export.to_onnx`.
    """
    from unnaive import export  # noqa: PLC0415 - loads when asked

    return export.to_onnx(self)
