"""Checks of single columns: identifiers, free text, constants, missing values, leakage."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from unnaive.checks.finding import (
    ALL_MISSING,
    CONSTANT,
    FREE_TEXT,
    IDENTIFIER,
    LEAKAGE,
    MOSTLY_MISSING,
    NOTE,
    WARNING,
    Finding,
    columns,
    left_out,
    listed,
    percent,
)
from unnaive.checks.labels import (
    check_dates,
    check_numbers,
    check_spellings,
    date_finding,
    kinds_of,
    words_per_cell,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, IntArray
    from unnaive.checks.facts import Facts

MANY_ROWS = 30  # fewer rows are too few to call a column of distinct values an identifier
_IDENTIFIES = 0.9  # distinct values per row of an identifier
_REPEATED = 0.5  # the same, if the column is also named like one
_ID_NAME = re.compile(
    r"(?i:(.*[\W_])?(id|ids|uuid|guid|nr|mrn|ssn)|index|idx|row|rownum|rownames|no|key|number"
    r"|unnamed: 0)|.*[a-z](Id|ID|Nr)"
)
_WORDS = 4.0  # words per cell of free text
_DISTINCT_TEXT = 0.5  # distinct values per row of free text
_SHORT = 10  # the least number of rows of an identifier 1, 2, 3, …
_SAMPLED = 0.98  # distinct values per row of a sample of an identifier
_LONG_NUMBER = 7  # digits of numbers that are identifiers if all have as many
_MOSTLY = 0.5
_UNEXPLAINED = 0.02  # share of the errors of always guessing the largest class that may remain
_FEW_VALUES = 50  # more values decide the class of few rows each
_FEW_ROWS = 20  # fewer rows cannot show that a column decides the class


def check_column(facts: Facts) -> list[Finding]:
    """Check one column by itself; constants and empty columns are checked together later."""
    if facts.n_observed == 0 or is_constant(facts):
        return []
    findings = []
    if facts.n_missing > _MOSTLY * facts.n_rows:
        findings.append(_mostly_missing(facts))
    special = check_text(facts) if facts.column.is_text else check_numeric(facts)
    return [*findings, special] if special is not None else findings


def check_text(facts: Facts) -> Finding | None:
    """Find numbers and dates written as text, free text, identifiers or mixed spellings."""
    kinds = kinds_of(facts)
    if kinds is not None:
        written = check_dates(facts, kinds) or check_numbers(facts, kinds, f"Column {facts.name!r}")
        distinct = kinds.numbers()
        if distinct is not None and facts.table is not None:
            numbers = distinct[facts.table[2][~facts.missing]]
            reason = _numbers_reason(numbers, facts) or _named_reason(facts)
            return _identifier(facts, reason) if reason else written
        if written is not None:
            return written
    if facts.n_observed >= MANY_ROWS:
        if facts.size > _DISTINCT_TEXT * facts.n_observed and words_per_cell(facts) >= _WORDS:
            return _free_text(facts)
        distinct_rows = facts.size > _IDENTIFIES * facts.n_observed
        reason = "nearly every row has its own value" if distinct_rows else _named_reason(facts)
        if reason:
            return _identifier(facts, reason)
    return check_spellings(facts)


def check_numeric(facts: Facts) -> Finding | None:
    """Find identifiers and dates among whole numbers; measurements have repeats or fractions."""
    if facts.sampled_distinct < _REPEATED or not facts.is_whole:
        return None
    if facts.n_observed >= MANY_ROWS and _are_dates(facts.sample) and _are_dates(facts.numbers):
        return date_finding(facts.name, facts.size, f" as numbers, such as {facts.numbers[0]:.0f}")
    reason = _numbers_reason(facts.numbers, facts) or _named_reason(facts)
    return _identifier(facts, reason) if reason else None


def _numbers_reason(numbers: AnyArray, facts: Facts) -> str | None:
    """Say why whole numbers are an identifier; None if they may be measurements.

    If n numbers were drawn from a range of R whole numbers, n − R·(1 − (1 − 1/R)ⁿ) would repeat
    others. Measurements are not uniform and repeat even more often; identifiers do not repeat.
    """
    n = facts.n_observed
    if n < _SHORT or facts.sampled_distinct < _SAMPLED or not _are_whole(numbers):
        return None
    steps = np.diff(numbers)
    one_direction = bool((steps > 0).all() or (steps < 0).all())
    if one_direction and np.abs(steps).max() == 1:
        return f"it numbers the rows from {numbers[0]:.0f} to {numbers[-1]:.0f}"
    if n < MANY_ROWS:
        return None
    if one_direction:
        return f"its whole numbers {'increase' if steps[0] > 0 else 'decrease'} from row to row"
    lowest, highest = float(numbers.min()), float(numbers.max())
    span = highest - lowest + 1.0
    repeats = n + span * np.expm1(n * np.log1p(-1.0 / span))
    if repeats >= 10 and n - facts.size <= 0.1 * repeats:
        return "nearly every row has its own whole number"
    digits = len(f"{highest:.0f}")
    same_length = digits >= _LONG_NUMBER and lowest >= 10.0 ** (digits - 1)
    is_long = same_length and facts.size > _IDENTIFIES * n
    return f"nearly every row has its own number of {digits} digits" if is_long else None


def _are_whole(numbers: AnyArray) -> bool:
    return numbers.dtype.kind in "iub" or bool(np.array_equal(np.trunc(numbers), numbers))


def _named_reason(facts: Facts) -> str | None:
    """Say that a column named like an identifier has many distinct values; None if not."""
    named = _ID_NAME.fullmatch(facts.name) is not None
    many = facts.n_observed >= MANY_ROWS and facts.size > _REPEATED * facts.n_observed
    return "it is named like one and few rows share a value" if named and many else None


def _are_dates(numbers: AnyArray) -> bool:
    """Whether whole numbers are dates such as 20240229."""
    if numbers.min() < 19000101 or numbers.max() > 21001231:
        return False
    months, days = numbers // 100 % 100, numbers % 100
    return bool(((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())


def _identifier(facts: Facts, reason: str) -> Finding:
    seen = f"{facts.size:,} different values in {facts.n_observed:,} rows"
    return _to_leave_out(facts, IDENTIFIER, f"looks like an identifier: {reason} ({seen}).")


def _free_text(facts: Facts) -> Finding:
    seen = f"{facts.size:,} different texts in {facts.n_observed:,} rows"
    words = f"{words_per_cell(facts):.0f} words per cell on average"
    return _to_leave_out(facts, FREE_TEXT, f"is free text: {words}, and {seen}.")


def _to_leave_out(facts: Facts, code: str, what: str) -> Finding:
    """Find that a column is of no use."""
    cure = left_out([facts.name], default=True)
    return Finding(code, (facts.name,), WARNING, f"Column {facts.name!r} {what}", cure)


def _mostly_missing(facts: Facts) -> Finding:
    return Finding(
        MOSTLY_MISSING,
        (facts.name,),
        NOTE,
        f"Column {facts.name!r} is missing in {facts.n_missing:,} of {facts.n_rows:,} rows "
        f"({percent(facts.n_missing / facts.n_rows)}).",
        "If an empty cell has a meaning, such as 'no', write it as a category; otherwise consider "
        f"leaving the column out. {left_out([facts.name])}",
    )


def is_constant(facts: Facts) -> bool:
    """Whether a column has a single value; columns that are missing altogether are not."""
    return facts.table is not None and len(facts.table[0]) == 1


def check_constants(every: Sequence[Facts]) -> list[Finding]:
    """Find columns without any value, and columns of a single value."""
    empty = [facts.name for facts in every if facts.n_observed == 0]
    constant = [facts for facts in every if is_constant(facts)]
    findings = []
    if empty:
        has = "has" if len(empty) == 1 else "have"
        evidence = f"{columns(empty)} {has} no value in any of {every[0].n_rows:,} rows."
        findings.append(Finding(ALL_MISSING, tuple(empty), NOTE, evidence, left_out(empty)))
    full = [facts.name for facts in constant if not facts.n_missing]
    if full:
        has = "is constant: it has" if len(full) == 1 else "are constant: each has"
        evidence = f"{columns(full)} {has} a single value in all {every[0].n_rows:,} rows."
        findings.append(Finding(CONSTANT, tuple(full), NOTE, evidence, left_out(full)))
    findings += [
        Finding(
            CONSTANT,
            (facts.name,),
            NOTE,
            f"Column {facts.name!r} has the single value {facts.labels[0]!r} in "
            f"{facts.n_observed:,} rows and is missing in {facts.n_missing:,}.",
            "If an empty cell means 'no', write that into the cells; a missing value is not used. "
            f"{left_out([facts.name]).replace('Leave', 'Otherwise leave')}",
        )
        for facts in constant
        if facts.n_missing
    ]
    return findings


def check_leakage(facts: Facts, classes: IntArray, n_classes: int, target: str) -> Finding | None:
    """Find a column of few values, or the missing values of a column, that decide the class."""
    n, wrong = len(classes), None
    subject, values = f"Whether column {facts.name!r} is missing", ""
    allowed = _UNEXPLAINED * n_rows_wrong(np.bincount(classes, minlength=n_classes)[None])
    if n < _FEW_ROWS or not allowed or not facts.n_observed:
        return None
    if facts.n_missing:
        wrong = _wrong(facts.missing.astype(np.int64), 2, classes, n_classes)
    table = facts.table
    few = table is not None and 1 < len(table[0]) <= min(_FEW_VALUES, n // 4)
    if table is not None and few and (wrong is None or wrong > allowed):
        size = len(table[0])
        wrong = _wrong(np.where(table[2] < 0, size, table[2]), size + 1, classes, n_classes)
        subject, values = f"Column {facts.name!r}", f" (its values: {listed(facts.labels, 3)})"
    if wrong is None or wrong > allowed:
        return None
    where = f"all {n:,} rows" if not wrong else f"{n - wrong:,} of {n:,} rows"
    return Finding(
        LEAKAGE,
        (facts.name,),
        WARNING,
        f"{subject} decides the class {target!r} by itself in {where}{values}.",
        "Check whether its value is known before the class is. If it follows from the class: "
        f"{left_out([facts.name])}",
    )


def _wrong(codes: AnyArray, size: int, classes: IntArray, n_classes: int) -> int:
    """Rows that the most frequent class of their value misses; a value of one row misses it."""
    table = np.bincount(codes * n_classes + classes, minlength=size * n_classes)
    return n_rows_wrong(table.reshape(size, n_classes))


def n_rows_wrong(table: AnyArray) -> int:
    """Rows that are not of the most frequent class of their value."""
    most = table.max(axis=1)
    return int(table.sum() - most[most > 1].sum())
