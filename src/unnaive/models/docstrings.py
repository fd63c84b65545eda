"""Docstrings of models: shared sections are filled in, and reports read what they say."""

from __future__ import annotations

import inspect
import re
from inspect import cleandoc
from textwrap import fill
from typing import TYPE_CHECKING

from unnaive._docstrings import inherit

if TYPE_CHECKING:
    from unnaive.models.classifier import Classifier

_ANY = re.MULTILINE | re.DOTALL
REPEATS_OF_COUNTS = (
    "Two fits to the same samples agree exactly. The order of the samples does not matter, and "
    "a sample of weight 2 counts exactly like the same sample twice, except for "
    '``calibrate="loo"``, which leaves out a sample with its whole weight. If features are '
    "permuted, results differ by rounding; where the model chooses or searches, equal scores "
    "are decided by the order of the features."
)


def complete(kind: type[Classifier]) -> None:
    """Fill in the placeholders of a model's docstring, and read its assumption from it.

    ``{smoothing}`` stands for the default smoothing of the model. The assumption is the paragraph
    that begins with ``Assumption:``; reports and ``unnaive models`` show it, and they speak of
    columns and rows. It is followed by ``repeats``, which says what permuted and repeated samples
    change, unless the docstring says so itself.
    """
    inherit(kind)
    text = kind.__doc__ or ""
    if hasattr(kind, "default_smoothing"):
        text = text.replace("{smoothing}", f"``{kind.default_smoothing}``", 1)
    if stated := re.search(r"^Assumption: (.+?)(?=\n\n|\Z)", text, _ANY):
        words = for_reports(stated[1])
        kind.assumption = words[0].upper() + words[1:]
        if "order of the samples" not in text:
            text = text.replace(stated[0], f"{stated[0]}\n\n{fill(kind.repeats, 95)}".rstrip())
    kind.__doc__ = text or None


class Signature:
    """Descriptor of ``__signature__``: parameters are those of ``__init__``, not ``__new__``."""

    def __get__(self, model: object, kind: type) -> inspect.Signature:
        """Return the signature of a class."""
        _, *others = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]
        return inspect.Signature(others)


def for_reports(text: str) -> str:
    """Put a text on one line, in the words of reports: a feature is a column, a sample a row."""
    return " ".join(text.split()).replace("feature", "column").replace("sample", "row")


def summary_of(kind: type) -> str:
    """Return the first line of a class's docstring, in the words of reports.

    >>> from unnaive import NaiveBayes
    >>> summary_of(NaiveBayes)
    'Naive Bayes: every column depends only on the class; numbers are divided into bins.'
    """
    return for_reports(cleandoc(kind.__doc__ or kind.__name__).split("\n", 1)[0])


def references_of(kind: type) -> list[str]:
    """Return the references of a class's docstring, each as one line.

    A reference ends with its year: before a full stop, or before a semicolon and the next one.

    >>> from unnaive import TAN
    >>> references_of(TAN)
    ['Friedman, Geiger & Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.']
    """
    section = re.search(r"^References\n-+\n(.+?)(?=\n\n|\Z)", cleandoc(kind.__doc__ or ""), _ANY)
    cited = " ".join(section[1].split()) if section else ""
    return [one for one in re.split(r"(?<=\d{4}\.) |(?<=\d{4}); ", cited) if one]
