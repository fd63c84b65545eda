"""JSON: the document of a model as text, and its JSON Schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

from unnaive.export.checks import exported

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.models.classifier import Classifier


def to_json(model: Classifier, max_bytes: int = 100_000_000, *, intervals: bool = False) -> str:
    """Write a model as a JSON document, from which predictions can be computed anywhere.

    The documentation, "Exporting models", specifies the format and has a scorer of 60 lines.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    max_bytes : int, default=100_000_000
        Limit for the tables, as text.
    intervals : bool, default=False
        Export what ``predict_interval`` needs as well; for models with intervals in closed form.

    Returns
    -------
    str
        JSON, in ASCII.

    Raises
    ------
    UnnaiveError
        If the model cannot be exported exactly.

    See Also
    --------
    json_schema : The JSON Schema of the document.
    model_document : The document as a dictionary.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.export import to_json
    >>> to_json(NaiveBayes().fit([["a"], ["b"]], ["no", "yes"]))[:38]
    '{"format":"unnaive-model","version":1,'
    """
    document = exported(model, max_bytes, intervals=intervals)
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def json_schema() -> State:
    """Return the JSON Schema (2020-12) of the documents that :func:`to_json` writes.

    Returns
    -------
    dict
        The schema.

    See Also
    --------
    to_json : Writes a document.

    Examples
    --------
    >>> from unnaive.export import json_schema
    >>> json_schema()["properties"]["version"]
    {'const': 1}
    """
    text = (files("unnaive.export") / "schema.json").read_text(encoding="utf-8")
    schema: State = json.loads(text)
    return schema
