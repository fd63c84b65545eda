"""Checks of text cells: numbers written as text, dates, free text and mixed spellings."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.checks.finding import (
    DATES,
    NOTE,
    NUMBERS_AND_WORDS,
    NUMBERS_AS_TEXT,
    SEPARATORS,
    SPELLINGS,
    WARNING,
    Finding,
    left_out,
    listed,
    percent,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import FloatArray
    from unnaive.checks.facts import Facts

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"([T ]\d{1,2}:\d{2}.*)?"
_PATTERNS = {
    "thousands": r"[+-]?(\d{1,3}([,'\u2019 \u00a0\u202f]\d{3})+(\.\d+)?|\d{1,3}(\.\d{3}){2,}"
    r"|\d{1,3}(\.\d{3})+,\d+)",
    "comma": r"[+-]?\d*,\d+",
    "date": r"(\d{4}([-/.])\d\d?\2\d\d?|\d\d?([-/.])\d\d?\3(\d{4}|\d\d)"
    rf"|\d\d?[. -]*{_MONTH}[ ,-]*\d{{2,4}}|{_MONTH} \d\d?,? \d{{4}}){_TIME}",
}
_COMPILED = {kind: re.compile(f"(?:{text})", re.IGNORECASE) for kind, text in _PATTERNS.items()}
_NUMERIC = ("number", "thousands", "comma")
_SAMPLE = 500  # labels that decide whether all are read
_MOST = 0.8  # share of the cells that are numbers in a column of numbers and words
_FEW_NUMBERS = 10  # so many distinct numbers can be categories, see learn_schema
_FEW_WORDS = 20
_MANY_LABELS = 1000  # spellings of more labels are not compared
_YES, _NO = {"1", "1.0", "yes", "y", "true"}, {"0", "0.0", "no", "n", "false"}


@dataclass(frozen=True)
class LabelKinds:
    """Text cells by kind: the number of cells, the distinct labels, and how often a word occurs."""

    cells: dict[str, int]
    labels: dict[str, list[str]]
    times: dict[str, int]

    @property
    def n_numeric(self) -> int:
        """Number of cells that are numbers, however they are written."""
        return sum(self.cells.get(kind, 0) for kind in _NUMERIC)

    @property
    def is_dates(self) -> bool:
        """Whether nearly all cells are dates."""
        return self.cells.get("date", 0) >= 0.9 * sum(self.cells.values()) > 0

    def numbers(self) -> FloatArray | None:
        """Return the distinct values of a column of plain numbers; None for other columns."""
        if set(self.labels) != {"number"}:
            return None
        return np.array([float(label) for label in self.labels["number"]])


def kinds_of(facts: Facts) -> LabelKinds | None:
    """Read the labels of a text column; None if no label of a sample is a number or a date."""
    labels = facts.labels
    table = facts.table
    if not facts.column.is_text or table is None or not labels:
        return None
    some = labels[:: max(1, len(labels) // _SAMPLE)]
    if sum(kind_of(label) != "word" for label in some) < 0.2 * len(some):
        return None
    if _all_numbers(labels):
        texts = [str(label) for label in labels]
        return LabelKinds({"number": int(table[1].sum())}, {"number": texts}, {})
    kinds = np.array([kind_of(label) for label in labels])
    by_kind, cells = {}, {}
    for kind in np.unique(kinds).tolist():
        places = np.flatnonzero(kinds == kind)
        by_kind[kind] = [str(labels[place]) for place in places.tolist()]
        cells[kind] = int(table[1][places].sum())
    times = dict(zip(by_kind.get("word", ()), table[1][kinds == "word"].tolist(), strict=False))
    return LabelKinds(cells, by_kind, times)


def _all_numbers(labels: Sequence[object]) -> bool:
    """Whether all labels are finite numbers; much faster than one by one."""
    try:
        return bool(np.isfinite(np.array(labels, dtype=np.str_).astype(np.float64)).all())
    except ValueError:
        return False


def kind_of(label: object) -> str:
    """Return what a label looks like: "number", "thousands", "comma", "date" or "word".

    >>> [kind_of(label) for label in (7, "-1.5e3", "1,234", "1,5", "2024-02-29", "ill", True)]
    ['number', 'number', 'thousands', 'comma', 'date', 'word', 'word']
    """
    if isinstance(label, date):
        return "date"
    if not isinstance(label, str):
        return "word" if isinstance(label, bool | np.bool_) else "number"
    text = label.strip()
    try:
        float(text)
    except ValueError:
        is_number = False
    else:
        is_number = text[-1] in "0123456789." and "_" not in text  # not "nan", "inf" or "1_000"
    if is_number:
        return "number"
    return next((kind for kind, form in _COMPILED.items() if form.fullmatch(text)), "word")


def check_numbers(facts: Facts, kinds: LabelKinds, subject: str) -> Finding | None:
    """Find separators in numbers, words among numbers, or numbers as text."""
    name, total = facts.name, sum(kinds.cells.values())
    separated = [*kinds.labels.get("thousands", ()), *kinds.labels.get("comma", ())]
    words = kinds.labels.get("word", [])
    if kinds.n_numeric < _MOST * total:
        return None
    if separated:
        decimal = "comma" in kinds.labels
        what = "decimal commas" if decimal else "thousands separators"
        n = kinds.n_numeric - kinds.cells.get("number", 0)
        replaced = ".replace(',', '.')" if decimal else ".replace(',', '')"
        return Finding(
            SEPARATORS,
            (name,),
            WARNING,
            f"{subject} has numbers with {what} in {n:,} of {total:,} cells, such as "
            f"{listed(separated, 2)}; it is read as text.",
            f"Convert it to numbers: X[{name!r}].str{replaced}.astype(float) in pandas, "
            f"{'--decimal' if decimal else '--thousands'} , on the command line.",
        )
    n_numbers = len(kinds.labels.get("number", ()))
    if words and n_numbers > _FEW_NUMBERS and len(words) <= _FEW_WORDS:
        shown = ", ".join(f"{kinds.times[word]:,} × {word!r}" for word in words[:4])  # noqa: RUF001
        more = f" and {len(words) - 4} more words" if len(words) > 4 else ""
        missing = " ".join(f"--missing {shlex.quote(word)}" for word in words[:4])
        return Finding(
            NUMBERS_AND_WORDS,
            (name,),
            WARNING,
            f"{subject} has {kinds.cells['number']:,} numbers and {shown}{more}; it is read as "
            "text.",
            f"Make these words missing values: pandas.to_numeric(X[{name!r}], errors='coerce') in "
            f"Python, {missing} on the command line.",
        )
    leading_zero = any(text[0] == "0" and text[1:2].isdigit() for text in kinds.labels["number"])
    if not words and n_numbers > _FEW_NUMBERS and not leading_zero:
        return Finding(
            NUMBERS_AS_TEXT,
            (name,),
            WARNING,
            f"{subject} has {n_numbers:,} different numbers, but as text, such as "
            f"{listed(kinds.labels['number'], 2)}; each of them is a category.",
            f"Convert it to numbers, for example with pandas.to_numeric(X[{name!r}]).",
        )
    return None


def check_dates(facts: Facts, kinds: LabelKinds) -> Finding | None:
    """Find dates that are text."""
    if not kinds.is_dates:
        return None
    dates = kinds.labels["date"]
    return date_finding(facts.name, len(dates), f" as text, such as {listed(dates, 2)}")


def date_finding(
    name: str, n_dates: int, how: str = "", so: str = "new dates will be unseen categories"
) -> Finding:
    """Return the finding for a column of dates."""
    return Finding(
        DATES,
        (name,),
        WARNING,
        f"Column {name!r} has {n_dates:,} different dates{how}; {so}.",
        "Replace it by a number or category, such as the age at that date, the days since an "
        f"event or the month. {left_out([name]).replace('Leave it out', 'Or leave it out')}",
    )


def words_per_cell(facts: Facts) -> float:
    """Mean number of words in a sample of the labels."""
    labels = facts.labels
    some = [label for label in labels[:: max(1, len(labels) // _SAMPLE)] if isinstance(label, str)]
    return sum(len(label.split()) for label in some) / max(1, len(some))


def check_spellings(facts: Facts, *, target: bool = False) -> Finding | None:
    """Find labels that differ only by case, blanks, or by words for yes and no."""
    table = facts.table
    if table is None or not facts.column.is_text or len(table[0]) > _MANY_LABELS:
        return None
    times = dict(zip(facts.labels, table[1].tolist(), strict=True))
    groups: defaultdict[str, list[object]] = defaultdict(list)
    for label in times:
        groups[_meaning(label)].append(label)
    mixed = [group for group in groups.values() if len(group) > 1]
    if not mixed:
        return None
    subject = f"The target {facts.name!r}" if target else f"Column {facts.name!r}"
    what = "classes" if target else "categories"
    cells = sum(times[label] for group in mixed for label in group)
    return Finding(
        SPELLINGS,
        (facts.name,),
        WARNING if target else NOTE,
        f"{subject} has {len(times):,} {what}, of which some seem to be the same: "
        f"{'; '.join(_counted(group, times) for group in mixed[:3])}"
        f"{f'; and {len(mixed) - 3:,} more' if len(mixed) > 3 else ''} "
        f"({percent(cells / facts.n_observed)} of the rows).",
        f"Write each of the {what} in one way, for example with "
        f"{_series(facts.name, target=target)}.replace({_replacements(mixed[0])!r}) in pandas.",
    )


def _meaning(label: object) -> str:
    text = " ".join(str(label).split()).casefold()
    return "yes" if text in _YES else "no" if text in _NO else text


def _counted(group: Sequence[object], times: dict[object, int]) -> str:
    return ", ".join(f"{label!r} ({times[label]:,})" for label in group)


def _series(name: str, *, target: bool) -> str:
    return "y" if target else f"X[{name!r}]"


def _replacements(group: Sequence[object]) -> dict[object, object]:
    """Map all spellings to the last one in order of their text."""
    ordered = sorted(group, key=str)
    return dict.fromkeys(ordered[:-1], ordered[-1])
