"""Reports as files."""

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

    The page has the performance of the model on held-out samples, its largest errors, the
    importance of features, the structure, the data, a model card, and an explorer that computes
    the posterior probabilities of any sample from the model's own tables.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    X : data frame or array-like of shape (n, d)
        Samples, usually the training data. The report shows the misclassified samples with the
        lowest probability of their true class, with all of their values.
    y : array-like of shape (n,)
        Class labels of the samples.
    path : str or path
        The file. An old file is replaced when the new one is complete.
    max_bytes : int, default=3_000_000
        Limit for the tables of the explorer; beyond it the page has no explorer.
    **settings : dict
        Fields of :class:`~unnaive.report.Settings`, such as ``folds=5``.

    Returns
    -------
    dict
        The summary from which the page was made; see :func:`summarise`.

    See Also
    --------
    summarise : Compute the summary only.
    render : Make the page of a summary.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from unnaive import TAN, report
    >>> from unnaive.datasets import load_wdbc
    >>> data = load_wdbc()
    >>> model = TAN().fit(data.X[:, :5], data.y)
    >>> with TemporaryDirectory() as folder:
    ...     summary = report.write(model, data.X[:, :5], data.y, f"{folder}/report.html", folds=5)
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
        json.dumps(document, allow_nan=False)
    except UnnaiveError as error:
        return None, f"There is no explorer: {error}"
    except ValueError:
        return None, "There is no explorer: the model's tables have values that are not numbers."
    return document, ""
