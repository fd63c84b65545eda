"""Checks for columns that say the same, and for rows that occur several times."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from unnaive.checks.finding import (
    DUPLICATE_COLUMNS,
    DUPLICATE_ROWS,
    NOTE,
    Finding,
    left_out,
    percent,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from unnaive._typing import AnyArray, IntArray
    from unnaive.checks.facts import Facts

_FEW_ROWS = 20  # fewer rows may agree by chance
_DIFFERENT = 5  # rows that must differ from the most frequent value
_COMPARED = 64  # values of a numeric column that are compared first
_SHARE = 0.01  # of duplicate rows that is worth a finding
_FIRST = 7  # after this column it is known whether rows repeat in the columns of most values


def check_duplicate_columns(every: Sequence[Facts]) -> list[Finding]:
    """Find columns of which one follows from the other by renaming values, or linearly."""
    if not every or every[0].n_rows < _FEW_ROWS:
        return []
    groups: defaultdict[Hashable, list[list[Facts]]] = defaultdict(list)
    for facts in every:
        key = _key(facts)
        if key is None:
            continue
        same = next((group for group in groups[key] if _same(group[0], facts)), None)
        if same is None:
            groups[key].append([facts])
        else:
            same.append(facts)
    return [_duplicates(group) for found in groups.values() for group in found if len(group) > 1]


def _key(facts: Facts) -> Hashable | None:
    """Return what is equal for columns that say the same; None for a column not compared."""
    if facts.table is None:
        numbers = facts.numbers[:_COMPARED].astype(np.float64)
        spread = numbers.std()
        if len(numbers) < _FEW_ROWS or not 0 < spread < np.inf:
            return None
        standard = (numbers - numbers.mean()) / spread
        sign = 1.0 if standard[np.argmax(np.abs(standard) > 0.1)] > 0 else -1.0
        return facts.n_missing, np.round(sign * standard, 4).tobytes()
    _, counts, codes = facts.table
    usual = counts.max(initial=0)
    if not 1 < len(counts) <= facts.n_rows / 2 or facts.n_observed - usual < _DIFFERENT:
        return None
    return facts.n_missing, len(counts), _canonical(codes[:: facts.step]).tobytes()


def _canonical(codes: AnyArray) -> IntArray:
    """Rename codes in the order in which they first occur."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _same(left: Facts, right: Facts) -> bool:
    """Whether all rows agree, after renaming values or on a line."""
    if not np.array_equal(left.missing, right.missing):
        return False
    if left.table is None or right.table is None:
        x, y = left.numbers.astype(np.float64), right.numbers.astype(np.float64)
        x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
        return bool(np.allclose(x, y, atol=1e-9) or np.allclose(x, -y, atol=1e-9))
    size = len(right.table[0]) + 1
    pairs = (left.table[2].astype(np.int64) + 1) * size + right.table[2] + 1
    n_pairs = len(np.unique(pairs)) - bool(left.n_missing)
    return n_pairs == len(left.table[0])


def _duplicates(group: Sequence[Facts]) -> Finding:
    names = [facts.name for facts in group]
    others = ", ".join(map(repr, names[1:5])) + ("" if len(names) < 6 else ", …")
    exactly = all(_equal(group[0], facts) for facts in group[1:])
    how = "the same values" if exactly else "the same content under other values"
    if group[0].table is None and not exactly:
        how = "the same numbers in another unit"
    return Finding(
        DUPLICATE_COLUMNS,
        tuple(names),
        NOTE,
        f"Column {names[0]!r} and {others} have {how} in all {group[0].n_rows:,} rows, so their "
        "information is counted several times.",
        f"Keep one of them. {left_out(names[1:])}",
    )


def _equal(left: Facts, right: Facts) -> bool:
    if left.column.is_text or right.column.is_text:
        return left.labels == right.labels and np.array_equal(
            left.column.values, right.column.values
        )
    return np.array_equal(left.numbers, right.numbers)


def check_duplicate_rows(every: Sequence[Facts], n_columns: int) -> list[Finding]:
    """Find rows that occur several times, if the columns have too many values for chance.

    Two independent rows are equal with probability Π_j Σ_v p_jv². Columns depend on each other, so
    the square root of it is taken; only if it makes a single pair of equal rows unlikely are
    duplicates a finding. ``every`` should have no identifiers.
    """
    n = every[0].n_rows if every else 0
    if n < _FEW_ROWS:
        return []
    log_chance = 0.5 * sum(np.log(facts.collision) for facts in every)
    if log_chance + 2.0 * np.log(n) > 0.0:
        return []
    hashes = np.zeros(n, dtype=np.uint64)
    for place, facts in enumerate(sorted(every, key=lambda facts: facts.collision)):
        _mix(hashes, _bits(facts.column.values))
        if place in {_FIRST, len(every) - 1}:
            _, counts = np.unique(hashes, return_counts=True)
            repeated = n - len(counts)
            if repeated < _SHARE * n:
                return []
    left = "" if len(every) == n_columns else ", identifiers left out"
    return [
        Finding(
            DUPLICATE_ROWS,
            (),
            NOTE,
            f"{repeated:,} of {n:,} rows ({percent(repeated / n)}) repeat an earlier row{left}; "
            f"one row occurs {int(counts.max()):,} times.",
            "If the same case was recorded twice, drop the repeats: frame.drop_duplicates() in "
            "pandas; otherwise cross-validation is too optimistic.",
        )
    ]


def _bits(values: AnyArray) -> AnyArray:
    """Return values as 64-bit patterns; equal values have equal patterns."""
    if values.dtype.kind == "f":
        return (values.astype(np.float64) + 0.0).view(np.uint64)  # −0.0 becomes 0.0
    return values.astype(np.int64).view(np.uint64)


def _mix(hashes: AnyArray, bits: AnyArray) -> None:
    """Add a column to the rows' hashes, by the multiply and shift of MurmurHash."""
    hashes ^= bits
    hashes *= np.uint64(0xC6A4A7935BD1E995)
    hashes ^= hashes >> np.uint64(32)
