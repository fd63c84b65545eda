"""Reports as pages, as Markdown, as files, and in notebooks."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unnaive._dataclasses import dataclass
from unnaive.exceptions import TableTooLarge, UnnaiveError
from unnaive.export.document import model_document
from unnaive.io.store import replacing
from unnaive.report.html import render, render_markdown
from unnaive.report.summary import summarise

if TYPE_CHECKING:
    import os

    from unnaive._typing import State
    from unnaive.models import Classifier


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report on a model; ``model.report(X, y)`` returns it, and notebooks show it.

    Parameters
    ----------
    summary : dict
        The content, from :func:`summarise`.
    document : dict or None, default=None
        The model for the explorer, from :func:`~unnaive.export.model_document`; None: no explorer.

    See Also
    --------
    write : Compute a report and write it to a file.

    Examples
    --------
    >>> from unnaive import NaiveBayes
    >>> X, y = [["a", "u"], ["b", "v"]] * 10, ["no", "yes"] * 10
    >>> report = NaiveBayes().fit(X, y).report(X, y, folds=2)
    >>> report
    Report('NaiveBayes model of y', accuracy 100 %)
    >>> report.markdown()[:23]
    '# NaiveBayes model of y'
    """

    summary: State
    document: State | None = None

    def __repr__(self) -> str:
        scores = self.summary["performance"].get("scores")
        accuracy = f", accuracy {100 * scores[0]['value']:.4g} %" if scores else ""
        return f"Report({self.summary['title']!r}{accuracy})"

    def _repr_html_(self) -> str:
        """Show the page in a frame, apart from the notebook's own style and scripts."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" sandbox="allow-scripts" '
            f'title="{escape(self.summary["title"])}" width="100%" height="720" '
            'style="border: 1px solid #8888; border-radius: 8px"></iframe>'
        )

    def html(self) -> str:
        """Return the report as one HTML page.

        Returns
        -------
        str
            See :func:`render`.
        """
        return render(self.summary, self.document)

    def markdown(self) -> str:
        """Return the report as Markdown, without pictures and explorer.

        Returns
        -------
        str
            Headings, sentences and tables.
        """
        return render_markdown(self.summary)

    def write(self, path: str | os.PathLike[str], to: str | None = None) -> None:
        """Write the report to a file.

        Parameters
        ----------
        path : str or path
            The file. An old file is replaced when the new one is complete.
        to : {"html", "markdown"}, default=None
            The format; None: Markdown for names that end in ``.md`` or ``.markdown``, else HTML.
        """
        content = self.markdown() if self.is_markdown(path, to) else self.html()
        with replacing(Path(path)) as stream:
            stream.write(content.encode())

    @staticmethod
    def is_markdown(path: str | os.PathLike[str], to: str | None = None) -> bool:
        """Whether a file is written as Markdown.

        Parameters
        ----------
        path : str or path
            The file.
        to : {"html", "markdown"}, default=None
            The format; None: by the name of the file.

        Returns
        -------
        bool
            True for Markdown, False for HTML.
        """
        if to not in {None, "html", "markdown"}:
            raise ValueError(f"to={to!r}; it must be 'html', 'markdown' or None")
        by_name = Path(path).suffix.lower() in {".md", ".markdown"}
        return by_name if to is None else to == "markdown"


def report_on(
    model: Classifier, X: object, y: object, *, max_bytes: int = 3_000_000, **settings: Any
) -> Report:
    """Compute a report; the parameters are those of :func:`write`."""
    summary = summarise(model, X, y, **settings)
    document, summary["explorer_note"] = _explorable(model, max_bytes)
    return Report(summary, document)


def write(
    model: Classifier,
    X: object,
    y: object,
    path: str | os.PathLike[str],
    *,
    max_bytes: int = 3_000_000,
    **settings: Any,
) -> State:
    """Write a report on a model to one HTML file that needs no network, or to Markdown.

    The page has the performance of the model on held-out samples, its largest errors, the
    importance and the effects of features, the structure, the data, a model card, and an explorer
    that computes the posterior probabilities of any sample from the model's own tables.

    Parameters
    ----------
    model : Classifier
        A fitted model.
    X : data frame or array-like of shape (n, d)
        Samples, usually the training data. The report shows the misclassified samples with the
        lowest probability of their true class, with all of their values.
    y : array-like of shape (n,), or str
        Class labels of the samples, or the name of their column in X.
    path : str or path
        The file; ``.md`` or ``.markdown`` for Markdown, anything else for HTML. An old file is
        replaced when the new one is complete.
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
    Report : A report in a notebook.
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
    report = report_on(model, X, y, max_bytes=max_bytes, **settings)
    report.write(path)
    return report.summary


def _explorable(model: Classifier, max_bytes: int) -> tuple[State | None, str]:
    """Describe the model for the explorer, or say why there is none."""
    try:
        document = _document(model, max_bytes)
        json.dumps(document, allow_nan=False)
    except UnnaiveError as error:
        return None, f"There is no explorer: {error}"
    except ValueError:
        return None, "There is no explorer: the model's tables have values that are not numbers."
    return document, ""


def _document(model: Classifier, max_bytes: int) -> State:
    """Describe the model with its intervals, or without them if they are too large."""
    try:
        return model_document(model, max_bytes, intervals=True)
    except TableTooLarge:
        return model_document(model, max_bytes)
