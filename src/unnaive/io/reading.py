"""How the cells of a text file are read: missing values, number formats, and what is noted.

The kind of a column follows from all of its cells. :class:`Tally` counts them, and tallies of
pieces of a file add up; :func:`decide` then compares the columns of the file and chooses a
:class:`Format` for each. Nothing is converted silently: every decision that a user may want to
change is a note.
"""

from __future__ import annotations

import codecs
from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from unnaive._core import csv
from unnaive._dataclasses import dataclass
from unnaive.exceptions import DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "Null", "NULL")
AMONG_NUMBERS = frozenset({"-", ".", "None", "not measured"})  # missing if the others are numbers
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
FEWEST_NUMBERS, LEAST_SHARE = 20, 0.95  # of a column whose words are read as missing
_SHOWN = 5  # columns or words in a note


class Style(NamedTuple):
    """The decimal mark of numbers, and the mark between thousands."""

    decimal: str
    thousands: str = ""


STYLES = tuple(Style(*marks) for marks in csv.STYLES.split("|"))
PLAIN = STYLES[0]
_BLANKS = " \u00a0\u202f"  # between thousands


def plain_number(cell: str, style: Style) -> float:
    """Convert a number of a style."""
    for mark in _BLANKS if style.thousands == " " else style.thousands:
        cell = cell.replace(mark, "")
    return float(cell.replace(style.decimal, "."))


@dataclass(frozen=True)
class Reading:
    """Options for reading text files; None means that the file decides.

    Parameters
    ----------
    encoding : str, default=None
        Name of the encoding. None: UTF-8, or UTF-16 with a byte order mark, else Windows-1252.
    decimal : {".", ","}, default=None
        Decimal mark.
    thousands : {",", ".", "'", " ", ""}, default=None
        Mark between thousands; "" for none.
    missing : tuple of str, default=()
        Spellings of missing values, besides ``MISSING``.
    keep_text : frozenset of str, default=frozenset()
        Columns that stay text even if their cells are numbers.
    """

    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    keep_text: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                what = f"encoding={self.encoding!r} is not known"
                raise ValueError(f"{what}; pass for example utf-8, utf-16 or latin-1") from None
        if self.decimal not in {None, ".", ","}:
            raise ValueError(f"decimal={self.decimal!r}; it must be '.' or ','")
        marks = {style.thousands for style in STYLES}
        if self.thousands is not None and self.thousands not in marks:
            raise ValueError(f"thousands={self.thousands!r}; it must be one of {sorted(marks)}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError(f"decimal and thousands are both {self.decimal!r}; they must differ")

    @property
    def spellings(self) -> tuple[str, ...]:
        """All spellings of missing values."""
        return (*MISSING, *(word.strip() for word in self.missing))

    def allows(self, style: Style) -> bool:
        """Whether the options allow a style of numbers."""
        return (
            self.decimal in {None, style.decimal}
            and style.decimal != self.thousands
            and (self.thousands is None or style.thousands in {"", self.thousands})
        )


@dataclass
class Tally:
    """What the cells of a column look like; ``words`` is None if there are too many.

    ``styles`` are those that all its numbers have, and ``example`` is a number that is not an
    integer.
    """

    numbers: int = 0
    whole: bool = True
    styles: frozenset[Style] = frozenset(STYLES)
    words: Counter[str] | None = field(default_factory=Counter)
    example: str = ""

    def merge(self, other: Tally) -> None:
        """Add the tally of another piece of the column."""
        self.numbers += other.numbers
        self.whole &= other.whole
        self.styles &= other.styles
        self.example = max(self.example, other.example, key=lambda text: (len(text), text))
        both = None if self.words is None or other.words is None else self.words + other.words
        self.words = None if both is None or len(both) > csv.MOST_WORDS else both

    @property
    def is_numeric(self) -> bool:
        """Whether the column is numeric; its few words are then missing values."""
        if not self.numbers or not self.styles or self.words is None:
            return False
        others = sum(times for word, times in self.words.items() if word not in AMONG_NUMBERS)
        share = self.numbers / (self.numbers + others)
        return not others or (self.numbers >= FEWEST_NUMBERS and share >= LEAST_SHARE)

    @property
    def decimals(self) -> set[str]:
        """The decimal marks that the numbers may have; both if that is not clear."""
        return {style.decimal for style in self.styles}


@dataclass(frozen=True)
class Format:
    """How a column is read: "int", "float", "bool", "text", or "none" if it has no values.

    ``words`` are the cells of a numeric column that are missing values. ``style`` is that of the
    numbers, also in a column of text that has some.
    """

    kind: str
    style: Style = PLAIN
    words: frozenset[str] = frozenset()

    def told(self, kind: str | None) -> Format:
        """Return the format with a kind that a schema or the user gives; None changes nothing."""
        if kind is None or kind == self.kind:
            return self
        return Format(kind, self.style, self.words) if kind in {"int", "float"} else Format(kind)


def decide(
    tallies: Mapping[str, Tally], separator: str, reading: Reading
) -> tuple[dict[str, Format], list[str]]:
    """Choose the format of every column, and name the columns whose decimal mark is ambiguous.

    ``1,234`` is a decimal number or an integer. Other columns of the file tell which; if they do
    not, it is a decimal number if semicolons separate the cells.
    """
    numeric = [tally for tally in tallies.values() if tally.is_numeric]
    marks = {mark for tally in numeric if len(tally.decimals) == 1 for mark in tally.decimals}
    usual = marks.pop() if len(marks) == 1 else None
    formats, ambiguous = {}, []
    for name, tally in tallies.items():
        styles = [style for style in STYLES if style in tally.styles and reading.allows(style)]
        if name in reading.keep_text or not styles:
            formats[name] = Format("text")
            continue
        decimals = {style.decimal for style in styles}
        default = "." if PLAIN in styles or separator != ";" else ","
        mark = (usual or default) if len(decimals) > 1 else min(decimals)
        style = PLAIN if tally.whole else next(s for s in styles if s.decimal == mark)
        if not tally.is_numeric:
            formats[name] = Format(_kind_of_words(tally), style)
            continue
        kind, words = "int" if tally.whole else "float", frozenset(tally.words or ())
        formats[name] = Format(kind, style, words)
        if len(decimals) > 1 and style != PLAIN:
            ambiguous.append(name)
    return formats, ambiguous


def _kind_of_words(tally: Tally) -> str:
    if tally.numbers or tally.words is None or not tally.words.keys() <= {*TRUE, *FALSE}:
        return "text"
    return "bool" if tally.words else "none"


def words_note(source: str, tallies: Mapping[str, Tally]) -> DataWarning:
    """Make the note on words that are read as missing in numeric columns."""

    def described(name: str) -> str:
        tally = tallies[name]
        words = [f"{times:,} {word!r}" for word, times in (tally.words or {}).items()]
        return f"column {name!r} has {tally.numbers:,} numbers and {_listed(words)}"

    what = _listed([described(name) for name in tallies], "; ", " columns")
    return DataWarning(
        f"{source}: {what}; words in a column of numbers are read as missing values",
        kind="words",
        names=tuple(tallies),
    )


def numbers_notes(
    source: str,
    formats: Mapping[str, Format],
    tallies: Mapping[str, Tally],
    ambiguous: Iterable[str],
) -> Iterator[DataWarning]:
    """Yield the notes on numbers with a decimal comma or marks between thousands."""
    floats = {name: form.style for name, form in formats.items() if form.kind == "float"}
    for style in dict.fromkeys(style for style in floats.values() if style != PLAIN):
        names = [name for name in floats if floats[name] == style]
        doubtful = [name for name in names if name in ambiguous]
        example = tallies[(doubtful or names)[0]].example
        what = f"{example!r} is read as {plain_number(example, style):.15g}"
        if doubtful:
            styles = tallies[doubtful[0]].styles
            other = next(s for s in STYLES if s in styles and s.decimal != style.decimal)
            what += f", but it could also be {plain_number(example, other):.15g}"
        columns = f"column {names[0]!r}" if len(names) == 1 else f"columns {_named(names)}"
        yield DataWarning(f"{source}: in {columns}, {what}", kind="numbers", names=tuple(names))


def _named(names: list[str]) -> str:
    """List at least two names, so that what follows is not taken for another one.

    >>> _named(["a", "b", "c"])
    "'a', 'b' and 'c'"
    """
    shown = [repr(name) for name in names]
    if len(names) > _SHOWN:
        return _listed(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _listed(items: list[str], separator: str = ", ", more: str = "") -> str:
    rest = f" and {len(items) - _SHOWN:,} more{more}" if len(items) > _SHOWN else ""
    return separator.join(items[:_SHOWN]) + rest
