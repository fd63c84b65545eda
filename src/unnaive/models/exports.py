"""Exports that every model has: JSON and JavaScript.

The functions are methods of :class:`~unnaive.models.Classifier`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unnaive.models.classifier import Classifier


def to_json(self: Classifier) -> str:
    """Write the model as a JSON document, from which predictions can be computed anywhere.

    Returns
    -------
    str
        JSON; see :func:`unnaive.export.to_json`.
    """
    from unnaive import export  # noqa: PLC0415 - loads when asked

    return export.to_json(self)


def to_javascript(self: Classifier) -> str:
    """Write the model as one ES module with ``predict(row)`` and ``explain(row)``.

    Returns
    -------
    str
        The module; see :func:`unnaive.export.to_javascript`.
    """
    from unnaive import export  # noqa: PLC0415 - loads when asked

    return export.to_javascript(self)
