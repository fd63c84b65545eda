"""What a model says of itself in its docstring: in one line, and where it comes from."""

import re
from inspect import cleandoc


def summary_of(kind: type) -> str:
    """Return the first line of a class's docstring.

    >>> from unnaive import NaiveBayes
    >>> summary_of(NaiveBayes)
    'Naive Bayes for categories.'
    """
    return cleandoc(kind.__doc__ or kind.__name__).split("\n", 1)[0]


def references_of(kind: type) -> list[str]:
    """Return the papers of a class's docstring, each as one line.

    A paper ends with its year: before a full stop, or before a semicolon and the next paper.

    >>> from unnaive import TAN
    >>> references_of(TAN)
    ['Friedman, Geiger & Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.']
    """
    section = re.search(
        r"^References\n-+\n(.+?)(?=\n\n|\Z)", cleandoc(kind.__doc__ or ""), re.MULTILINE | re.DOTALL
    )
    cited = " ".join(section.group(1).split()) if section else ""
    return [one for one in re.split(r"(?<=\d{4}\.) |(?<=\d{4}); ", cited) if one]
