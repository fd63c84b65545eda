"""What cells add whose parents are missing, in models of families with several parents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unnaive.structure.graph import topological
from unnaive.tables.terms.split import less, observed

if TYPE_CHECKING:
    from unnaive._typing import BoolArray, CodeArray, FloatArray
    from unnaive.tables.families import FamilyTables

    Family = tuple[int, ...]
    Question = tuple[tuple[Family, ...], tuple[Family, ...], tuple[int, ...]]


def family_parts(tables: FamilyTables, codes: CodeArray, parts: FloatArray) -> None:
    """Put into ``parts`` (n, k, d) what cells add by the chain rule whose parents are missing.

    Only the families count that missing columns tie to the cell's own; all others cancel.
    """
    sizes = tables.counts.schema.sizes
    families = [family.columns for family in tables.counts.families]
    parents = {family[0]: family[1:] for family in families}
    order = topological([parents.get(column, ()) for column in range(len(sizes))], sorted(parents))
    there = observed(codes, sizes)
    for place, column in enumerate(order):
        above = list(parents[column])
        rows = np.flatnonzero(there[column] & ~there[above].all(axis=0))
        if not len(rows):
            continue
        gaps = ~there[:, rows]
        gaps[order[place + 1 :]] = True
        patterns, pattern = np.unique(gaps, axis=1, return_inverse=True)
        questions: dict[Question, list[int]] = {}
        for index, missing in enumerate(patterns.T):
            question = _question(tables, families, column, missing)
            questions.setdefault(question, []).append(index)
        for (after, before, missing), indices in questions.items():
            mine = rows[np.isin(pattern.reshape(-1), indices)]
            parts[mine, :, column] = _added(tables, codes[:, mine], after, before, missing)


def _question(
    tables: FamilyTables, families: list[Family], column: int, gaps: BoolArray
) -> Question:
    """Families that missing columns tie to a column's own, then without it, and these columns."""
    own = next(family for family in families if family[0] == column)
    unknown = _unknown(tables, families, gaps)
    tied = {c for c in own if gaps[c]}
    while True:
        near = [f for f in unknown if any(c in tied for c in f)]
        more = {c for f in near for c in f if gaps[c]}
        if more <= tied:
            break
        tied |= more
    without = gaps.copy()
    without[column] = True
    before = [f for f in _unknown(tables, families, without) if any(c in tied for c in f)]
    return tuple(near), tuple(before), tuple(sorted(tied))


def _unknown(tables: FamilyTables, families: list[Family], gaps: BoolArray) -> list[Family]:
    """Families with missing columns that some observed one depends on."""
    relevant = tables._relevant(families, gaps)  # noqa: SLF001
    gapped = [family for family in families if gaps[list(family)].any()]
    return [family for family in gapped if not gaps[family[0]] or family[0] in relevant]


def _added(
    tables: FamilyTables,
    codes: CodeArray,
    after: tuple[Family, ...],
    before: tuple[Family, ...],
    missing: tuple[int, ...],
) -> FloatArray:
    """Log sum over missing columns of some families' product less that of others; (n, k)."""
    sizes = tables.counts.schema.sizes
    shown = sizes.astype(codes.dtype)[:, None].repeat(codes.shape[1], axis=1)
    there = [c for c in {c for family in after for c in family} if c not in missing]
    shown[there] = codes[there]
    found = _product(tables, after).joint(shown)
    return less(found, _product(tables, before).joint(shown)) if before else found


def _product(tables: FamilyTables, families: tuple[Family, ...]) -> FamilyTables:
    """Tables of some families alone, without the prior."""
    kept = tuple(counted for counted in tables.counts.families if counted.columns in families)
    counts = replace(tables.counts, families=kept)
    return replace(tables, counts=counts, prior=np.zeros_like(tables.prior))
