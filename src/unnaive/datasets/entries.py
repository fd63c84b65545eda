"""What data sets there are, from ``catalogue.json``, which comes with the package."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from unnaive.exceptions import UnnaiveError

PAPERS = {
    "GNB": 'Kovács, Ország, Pfeifer & Benczúr, "Generalized naive Bayes", arXiv 2408.15923, 2024',
    "PHNB": 'Ji, Yu & Zhang, "Packaged hidden naive Bayes"',
    "k-naive": 'Barrow, "Between naive and full Bayes", thesis, 2011',
    "EDA": "Robles et al., semi-naive Bayes by estimation of distribution algorithms, 2004",
}


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue.

    Attributes
    ----------
    name, title : str
        What :func:`load` calls it, and what it is.
    rows : int
        How many rows it has.
    names : tuple of str
        Its columns without the class.
    categories : dict of str to tuple of str
        Declared values of those columns that hold labels; the others hold numbers.
    classes : tuple of str
        Declared classes; not every one need have a row.
    missing : int
        How many cells are missing.
    papers : tuple of str
        Which papers use it: keys of ``PAPERS``.
    source, notes, licence : str
        Where the rows come from, how they compare with the papers' tables, terms of use.
    sha256 : str
        Of the file ``<name>.csv.gz`` that the catalogue was made from.
    content, digests : str and tuple of str
        Of the values, see :func:`unnaive.datasets.content.fingerprint`: of all of them, and
        the first digits for each column, the class last.
    openml : int or None
        Number at openml.org, where its rows are the same.
    test : str or None
        Name of the rows that are set apart for validation.
    maker : str
        Function that makes rows of this kind, if they are artificial.
    """

    name: str
    title: str
    rows: int
    names: tuple[str, ...] = field(repr=False)
    categories: dict[str, tuple[str, ...]] = field(repr=False)
    classes: tuple[str, ...]
    missing: int
    papers: tuple[str, ...]
    source: str = field(repr=False)
    notes: str = field(repr=False)
    licence: str
    sha256: str = field(repr=False)
    content: str = field(repr=False)
    digests: tuple[str, ...] = field(repr=False)
    openml: int | None = None
    test: str | None = None
    maker: str = ""

    @property
    def attributes(self) -> int:
        """Number of columns without the class."""
        return len(self.names)


def catalogue() -> dict[str, Entry]:
    """Return all data sets that :func:`load` knows, by name, whether or not they are at hand.

    Examples
    --------
    >>> from unnaive.datasets import catalogue
    >>> vote = catalogue()["vote"]
    >>> vote.rows, vote.attributes, vote.classes, vote.papers
    (435, 16, ('democrat', 'republican'), ('EDA',))
    """
    return dict(_entries())


def names(paper: str | None = None) -> tuple[str, ...]:
    """Return the names of all data sets, or of those that a paper uses.

    Parameters
    ----------
    paper : {"GNB", "PHNB", "k-naive", "EDA"}, optional
        Key of a paper.

    Examples
    --------
    >>> from unnaive.datasets import names
    >>> len(names()), names("k-naive")
    (38, ('wdbc',))
    """
    if paper is not None and paper not in PAPERS:
        raise UnnaiveError(f"paper={paper!r} is not known; it must be one of {', '.join(PAPERS)}")
    return tuple(e.name for e in _entries().values() if paper is None or paper in e.papers)


def find(name: str) -> Entry:
    """Return the entry of a data set; an unknown name is an error that says what is near."""
    if isinstance(name, str) and name in _entries():
        return _entries()[name]
    close = get_close_matches(str(name).lower(), _entries(), n=3, cutoff=0.5)
    known = " or ".join(map(repr, close)) if close else "one of unnaive.datasets.names()"
    raise UnnaiveError(f"there is no data set {name!r}; did you mean {known}?")


@cache
def _entries() -> dict[str, Entry]:
    text = files("unnaive.datasets").joinpath("catalogue.json").read_text(encoding="utf-8")
    return {name: _entry(name, **fields) for name, fields in json.loads(text).items()}


def _entry(name: str, columns: list[list[str]], digests: str, **fields: object) -> Entry:
    """Read an entry: a column is its name, then its values if it holds labels."""
    *attributes, target = columns
    fields["papers"] = tuple(fields["papers"])  # type: ignore[arg-type]
    return Entry(
        name=name,
        names=tuple(column[0] for column in attributes),
        categories={column[0]: tuple(column[1:]) for column in attributes if len(column) > 1},
        classes=tuple(target[1:]),
        digests=tuple(digests.split()),
        **fields,  # type: ignore[arg-type]
    )
