"""The catalogue of data sets, read from ``catalogue.json`` in the package."""

from __future__ import annotations

import json
from dataclasses import field
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from unnaive._dataclasses import dataclass
from unnaive.exceptions import UnnaiveError

PAPERS = {
    "GNB": 'Kovács, Ország, Pfeifer & Benczúr, "Generalized naive Bayes", arXiv 2408.15923, 2024',
    "PHNB": 'Ji, Yu & Zhang, "Packaged hidden naive Bayes"',
    "k-naive": 'Lionel R. Barrow, "A Method for Automatically Generating Network Structure in '
    'Bayesian Classifiers", Bard College, 2011',
    "EDA": "Robles, Larrañaga, Peña, Pérez, Menasalvas & Herves, semi-naive Bayes by estimation of "
    "distribution algorithms, 2004",
}


@dataclass(frozen=True)
class Entry:
    """Description of one data set of the catalogue.

    Parameters
    ----------
    name : str
        Name by which :func:`load` loads it.
    title : str
        What the data is, in one line.
    rows : int
        Number of samples.
    names : tuple of str
        Feature names.
    categories : dict of str to tuple of str
        Declared categories of the categorical features; the others are numeric.
    classes : tuple of str
        Declared classes; some may not occur.
    missing : int
        Number of missing values.
    papers : tuple of str
        Papers that use it: keys of ``PAPERS``.
    source : str
        Where the samples come from.
    notes : str
        How they compare with the tables of the papers.
    licence : str
        Terms of use.
    sha256 : str
        Checksum of the file ``<name>.csv.gz`` from which the catalogue was made.
    content : str
        Checksum of all values; see :func:`unnaive.datasets.content.fingerprint`.
    digests : tuple of str
        First digits of the checksum of every column, the class last.
    openml : int or None
        Number of the data set at openml.org, if it has the same samples there.
    test : str or None
        Name of the data set with the separate test samples.
    maker : str
        Function that generates samples of this kind, if they are artificial.

    See Also
    --------
    catalogue : All descriptions by name.

    Examples
    --------
    >>> from unnaive.datasets import catalogue
    >>> catalogue()["waveform-21"].test
    'waveform-21-test'
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
        """Number of features."""
        return len(self.names)


def catalogue() -> dict[str, Entry]:
    """Return the descriptions of all data sets that :func:`load` knows.

    Nothing is downloaded; some of the data sets may not be on this computer.

    Returns
    -------
    dict of str to Entry
        Descriptions by name.

    See Also
    --------
    names : Only the names, of all papers or of one.
    load : Load a data set.

    Examples
    --------
    >>> from unnaive.datasets import catalogue
    >>> vote = catalogue()["vote"]
    >>> vote.rows, vote.attributes, vote.classes, vote.papers
    (435, 16, ('democrat', 'republican'), ('EDA',))
    """
    return dict(_entries())


def names(paper: str | None = None) -> tuple[str, ...]:
    """Return the names of all data sets, or of those that one paper uses.

    Parameters
    ----------
    paper : {"GNB", "PHNB", "k-naive", "EDA"}, default=None
        Key of the paper; None for all data sets.

    Returns
    -------
    tuple of str
        Names for :func:`load`.

    See Also
    --------
    catalogue : The descriptions of the data sets.

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
    """Return the description of a data set; an unknown name is an error with close matches."""
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
    """Read an entry; a column is its name, followed by its categories if it is categorical."""
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
