"""References of docstrings: split into fields, shortened, and as BibTeX."""

from __future__ import annotations

import re
import unicodedata

from unnaive._dataclasses import dataclass

_PATTERN = re.compile(
    r"(?:[a-z][^A-Z]*?(?:: | by ))?"  # "as described by "
    r"(?P<authors>[^\"]+), \"(?P<title>[^\"]+)\"[,;]? ?"
    r"(?P<venue>.*?)(?:,? (?P<year>\d{4}))?\.?$"
)


@dataclass(frozen=True)
class Citation:
    """A reference, as docstrings write it: authors, "title", venue, year.

    Parameters
    ----------
    authors : tuple of str
        Names of the authors.
    title : str
        Title, or "".
    venue : str
        Journal and volume, conference, or "".
    year : str
        Year, or "".

    Examples
    --------
    >>> citation = Citation.parse('Zhang, Jiang & Su, "Hidden naive Bayes", AAAI 2005.')
    >>> citation.short
    'Zhang, Jiang & Su (2005)'
    >>> print(citation.bibtex())
    @inproceedings{zhang2005hidden,
      author = {Zhang and Jiang and Su},
      title = {Hidden naive Bayes},
      booktitle = {AAAI},
      year = {2005},
    }
    """

    authors: tuple[str, ...]
    title: str
    venue: str
    year: str

    @classmethod
    def parse(cls, reference: str) -> Citation:
        """Split a reference into its fields."""
        fields = _PATTERN.match(reference)
        if fields is None:
            return cls((), reference, "", "")
        authors = tuple(re.split(r", | & ", fields["authors"]))
        return cls(authors, fields["title"], fields["venue"], fields["year"] or "")

    @property
    def short(self) -> str:
        """Authors and year."""
        *others, last = self.authors or (self.title,)
        names = f"{', '.join(others)} & {last}" if others else last
        return f"{names} ({self.year})" if self.year else names

    @property
    def key(self) -> str:
        """Key in BibTeX: last name of the first author, year, first word of the title."""
        name = self.authors[0].split()[-1] if self.authors else "unnaive"
        word = re.sub(r"\W.*", "", re.sub(r"^(?:The|A|On|An) ", "", self.title or self.venue))
        ascii_only = unicodedata.normalize("NFKD", f"{name}{self.year}{word}")
        return re.sub(r"[^a-z0-9]", "", ascii_only.lower())

    def bibtex(self) -> str:
        """Return a BibTeX entry."""
        journal = re.fullmatch(r"(?!LNCS)(\D+) (\d+)", self.venue)
        if journal:
            kind, where = "article", {"journal": journal[1], "volume": journal[2]}
        elif re.match(r"arXiv|Bard College", self.venue) or not self.venue:
            kind, where = "misc", {"howpublished": self.venue}
        else:
            kind, where = "inproceedings", {"booktitle": self.venue}
        fields = {"author": " and ".join(self.authors), "title": self.title, **where}
        fields["year"] = self.year
        lines = [f"  {name} = {{{_escaped(text)}}}," for name, text in fields.items() if text]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])


def _escaped(text: str) -> str:
    return text.replace("&", r"\&").rstrip(",;. ")
