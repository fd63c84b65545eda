"""JavaScript: the engine of the report's page, and a model as one ES module."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from unnaive.export.checks import exported, require_doubles

if TYPE_CHECKING:
    from unnaive.models.classifier import Classifier

SCRIPTS = (  # in order
    "engine_logs",
    "engine_gaussian",
    "engine_kinds",
    "engine_certainty",
    "engine",
    "engine_rows",
)

_MODEL = """
const model = unnaiveModel(JSON.parse({document}));
export const {{ classes, columns, predict, explain, interval }} = model;
"""


@cache
def engine_module() -> str:
    """Return the ES module that computes posteriors from a document, without any model.

    It exports ``unnaiveEngine(document)``, for cells, and ``unnaiveModel(document)``, for rows of
    values. It loads nothing, and runs nothing until it is called. Reports contain it as it is.

    Returns
    -------
    str
        The module.

    See Also
    --------
    to_javascript : A module with a model inside.

    Examples
    --------
    >>> from unnaive.export import engine_module
    >>> "export { unnaiveEngine, unnaiveModel };" in engine_module()
    True
    """
    folder = files("unnaive.export") / "static"
    return "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)


def to_javascript(
    model: Classifier, max_bytes: int = 100_000_000, *, intervals: bool = False
) -> str:
    """Write a model as one ES module without dependencies.

    The module exports ``predict(row)``, ``explain(row)``, ``interval(row, level)``, ``classes`` and
    ``columns``; see :func:`javascript_types` for their types. Probabilities are those of
    ``predict_proba`` to 1e-9, intervals those of ``predict_interval``.

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
        The module, for a file ``model.js`` or ``model.mjs``.

    Raises
    ------
    UnnaiveError
        If the model cannot be exported exactly.

    See Also
    --------
    to_json : The document alone.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> from unnaive.export import to_javascript
    >>> model = NaiveBayes().fit([["a"], ["b"]], ["no", "yes"])
    >>> print(to_javascript(model).splitlines()[-1])
    export const { classes, columns, predict, explain, interval } = model;
    """
    document = exported(model, max_bytes, intervals=intervals)
    require_doubles(document, "JavaScript")
    text = json.dumps(json.dumps(document, separators=(",", ":"), allow_nan=False))
    return engine_module() + _MODEL.format(document=text)


def javascript_types() -> str:
    """Return the TypeScript declarations of a module that :func:`to_javascript` writes.

    Returns
    -------
    str
        The content of a file ``model.d.ts`` beside ``model.js``.

    See Also
    --------
    to_javascript : Writes the module.

    Examples
    --------
    >>> from unnaive.export import javascript_types
    >>> "export function predict(row: Row): Prediction;" in javascript_types()
    True
    """
    return (files("unnaive.export") / "static" / "model.d.ts").read_text(encoding="utf-8")
