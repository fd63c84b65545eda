"""A report as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnaive.exceptions import UnnaiveError
from unnaive.io.store import replacing
from unnaive.report.html import render
from unnaive.report.summary import summarise
from unnaive.report.tables import explorer_document

if TYPE_CHECKING:
    import os

    from unnaive._typing import State
    from unnaive.models import Classifier


def write(
    model: Classifier,
    X: object,
    y: object,
    path: str | os.PathLike[str],
    *,
    max_bytes: int = 3_000_000,
    **settings: Any,
) -> State:
    """Write a report on a model to one HTML file that needs no network.

    The page shows the data, the model, its structure, what matters to it, how good it is on rows
    that it has not seen, the rows it got most wrong, and an explorer that computes the model's
    answer for any case from its own tables.

    Parameters
    ----------
    model : Classifier
        Fitted.
    X, y
        Rows and labels, as a rule those that the model learned from. Rows that the model got
        most wrong are shown in the report, with all of their cells.
    path : str or path
        The file. It is replaced once all of the page is on the disk.
    max_bytes : int, default=3,000,000
        Most bytes of tables for the explorer, which is left out of the page beyond that.
    **settings
        Fields of :class:`~unnaive.report.Settings`, as in ``folds=5``.

    Returns
    -------
    dict
        The summary that the page was made from.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unnaive import TAN, report
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[:, :5], data.y)
    >>> with TemporaryDirectory() as folder:
    ...     found = report.write(model, data.X[:, :5], data.y, f"{folder}/report.html", folds=5)
    ...     Path(folder, "report.html").read_text()[:15]
    '<!doctype html>'
    """
    summary = summarise(model, X, y, **settings)
    document, note = _explorable(model, max_bytes)
    summary["explorer_note"] = note
    page = render(summary, document)
    with replacing(Path(path)) as stream:
        stream.write(page.encode())
    return summary


def _explorable(model: Classifier, max_bytes: int) -> tuple[State | None, str]:
    """Describe the model for the explorer, or say why there is none."""
    try:
        document = explorer_document(model, max_bytes)
    except UnnaiveError as error:
        return None, f"The explorer is left out: {error}"
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return None, "The explorer is left out: the model's tables hold what is no number."
    return document, ""
