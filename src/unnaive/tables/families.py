"""Tables of models in which a column has several parents; only contexts that occurred."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.families import sum_families
from unnaive._core.tables import fill_priors, mark_missing
from unnaive.counts.families import context_of, strides_of
from unnaive.tables.base import Tables, rows_alike
from unnaive.tables.hierarchy import Level
from unnaive.tables.trees import PLAIN, ROWS_A_TASK, conditional, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from unnaive._typing import AnyArray, CodeArray, CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.counts.families import FamilyCounts
    from unnaive.tables.smoothing import Smoothing

_OTHER, _OWN, _PARENTLESS, _APART = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """log P(x | parents, c) of one family: (sets, k, contexts + 1, v), the last for all others.

    Or (sets, k, contexts, v), and a table with a parent less for all others.
    """

    parents: tuple[int, ...]
    contexts: IntArray
    table: FloatArray
    simpler: FamilyTable | None = None

    def look_up(self, codes: CodeArray, sizes: IntArray, child: AnyArray) -> FloatArray:
        """Entries of rows whose child and parents are observed; shape (sets, k, n)."""
        number, _ = context_of(codes, sizes, self.parents)
        place = np.searchsorted(self.contexts, number)
        place[place == len(self.contexts)] = 0
        others = self.contexts[place] != number if len(self.contexts) else place >= 0
        if self.simpler is None:
            place[others] = len(self.contexts)
            return np.asarray(self.table[:, :, place, child])
        found = np.empty((*self.table.shape[:2], len(number)))
        found[:, :, ~others] = self.table[:, :, place[~others], child[~others]]
        found[:, :, others] = self.simpler.look_up(codes[:, others], sizes, child[others])
        return found


@dataclass(frozen=True, eq=False)
class FamilyTables(Tables):
    """All families of a model, and how a missing cell is dealt with."""

    counts: JointCounts
    smoothing: Smoothing
    prior: FloatArray
    held_out: float | None
    marginalize: bool
    made: dict[tuple[int, ...], FamilyTable] = field(default_factory=dict)

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k)."""
        joint = np.empty((codes.shape[1], self.counts.n_classes))
        fill_priors(self._priors, held, joint)
        columns, gapped = self._columns, np.empty(codes.shape[1], dtype=bool)
        if not mark_missing(codes, columns, columns[:, 2].copy(), gapped):
            joint += self._sum_all(codes, held, n_jobs)
            return joint
        missing = codes >= self.counts.schema.sizes[:, None]
        whole, rest = np.flatnonzero(~gapped), np.flatnonzero(gapped)
        joint[whole] += self._sum_all(np.ascontiguousarray(codes[:, whole]), held[whole], n_jobs)
        for some, gaps in rows_alike(missing[:, rest]):
            rows = rest[some]
            joint[rows] += self._of_pattern(codes[:, rows], held[rows], gaps)
        return joint

    def _sum_all(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log of all factors of rows without missing cells; shape (n, k)."""
        out, flat = np.empty((codes.shape[1], self.counts.n_classes)), self._flat

        def look_up(rows: tuple[int, int]) -> None:
            part = np.ascontiguousarray(codes[:, slice(*rows)])
            sum_families(part, *flat, held[slice(*rows)], out[slice(*rows)])

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out

    @cached_property
    def _columns(self) -> IntArray:
        """Parent (none), slots and number of every column, as the kernel reads them; (d, 3)."""
        sizes = self.counts.schema.sizes
        return np.stack([np.full(len(sizes), -1), sizes + 1, np.arange(len(sizes))], axis=1)

    @cached_property
    def _priors(self) -> FloatArray:
        """Log priors of all sets and classes, one below the other, for the kernel."""
        return np.ascontiguousarray(self.prior.reshape(-1, 1))

    @cached_property
    def _flat(self) -> tuple[IntArray, IntArray, IntArray, FloatArray, int]:
        """All tables as the kernel reads them, see ``_core/families.cpp``."""
        tables = [(family.columns, self._table(family.columns)) for family in self.counts.families]
        used = len(tables)
        sizes, lines = self.counts.schema.sizes, min(2, len(self.prior)) * self.counts.n_classes
        families: list[list[int]] = []
        parents: list[tuple[int, int]] = []
        contexts: list[IntArray] = []
        entries = [np.empty((0, lines))]
        for family, table in tables:  # simpler ones are appended on the way
            strides = strides_of(sizes, table.parents)
            simpler = -1 if table.simpler is None else len(tables)
            if table.simpler is not None:
                tables.append((family[:-1], table.simpler))
            begin = [len(parents), len(parents) + len(table.parents), sum(map(len, contexts))]
            start, v = sum(map(len, entries)), int(sizes[family[0]])
            families.append([family[0], *begin, len(table.contexts), start, v, simpler])
            parents += zip(table.parents, strides, strict=True)
            contexts.append(table.contexts)
            sets, k, rows, _ = table.table.shape
            entries.append(table.table.reshape(sets * k, rows * v)[:lines].T)
            if table.simpler is None and rows == len(table.contexts):
                entries.append(np.zeros((v, lines)))  # for no context: that of a root is listed
        return (
            np.array(families, dtype=np.int64).reshape(-1, 8),
            np.array(parents, dtype=np.int64).reshape(-1, 2),
            np.concatenate([np.empty(0, dtype=np.int64), *contexts]),
            np.ascontiguousarray(np.concatenate(entries)),
            used,
        )

    def factors(self, codes: CodeArray) -> FloatArray:
        """Log P(x_i | parents, c) of every row, class and column; shape (n, k, d).

        Missing parents are left out, a missing cell has 0.
        """
        sizes = self.counts.schema.sizes
        missing = codes >= sizes[:, None]
        found = np.zeros((codes.shape[1], self.counts.n_classes, len(codes)))
        held = np.full(codes.shape[1], -1)
        for family in (counted.columns for counted in self.counts.families):
            for rows, gaps in rows_alike(missing[list(family)]):
                if not gaps[0]:
                    seen = tuple(c for c, gap in zip(family, gaps, strict=True) if not gap)
                    found[rows, :, family[0]] = self._product([seen], codes[:, rows], held[rows])
        return found

    def _of_pattern(self, codes: CodeArray, held: AnyArray, gaps: AnyArray) -> FloatArray:
        """Log of all factors of rows that miss the same cells; shape (n, k)."""
        families = [family.columns for family in self.counts.families]
        if not self.marginalize:
            return self._dropped(families, codes, held, gaps)
        relevant = self._relevant(families, gaps)
        known = [f for f in families if not gaps[list(f)].any()]
        gapped = [f for f in families if gaps[list(f)].any()]
        unknown = [f for f in gapped if not gaps[f[0]] or f[0] in relevant]
        total = self._product(known, codes, held)
        return total + self._eliminate(unknown, codes, held, gaps) if unknown else total

    def _dropped(
        self, families: list[tuple[int, ...]], codes: CodeArray, held: AnyArray, gaps: AnyArray
    ) -> FloatArray:
        """Log of all factors whose column is there, without the parents that are missing."""
        there = [family for family in families if not gaps[family[0]]]
        whole = [family for family in there if not gaps[list(family)].any()]
        rest = [tuple(c for c in family if not gaps[c]) for family in there if family not in whole]
        apart = self._product(rest, codes, held, (_OTHER, _PARENTLESS))
        return self._product(whole, codes, held) + apart

    def _relevant(self, families: list[tuple[int, ...]], gaps: AnyArray) -> set[int]:
        """Missing columns that are above some observed one; the others sum to one."""
        parents = {family[0]: family[1:] for family in families}
        relevant: set[int] = set()
        waiting = [p for f in families if not gaps[f[0]] for p in f[1:] if gaps[p]]
        while waiting:
            column = waiting.pop()
            if column not in relevant:
                relevant.add(column)
                waiting += [p for p in parents.get(column, ()) if gaps[p]]
        return relevant

    def _product(
        self,
        families: list[tuple[int, ...]],
        codes: CodeArray,
        held: AnyArray,
        sets: tuple[int, int] = (_OTHER, _OWN),
    ) -> FloatArray:
        sizes = self.counts.schema.sizes
        total = np.zeros((codes.shape[1], self.counts.n_classes))
        for family in families:
            entries = self._table(family).look_up(codes, sizes, codes[family[0]])
            total += self._choose(entries, held, sets)
        return total

    def _choose(
        self, entries: FloatArray, held: AnyArray, sets: tuple[int, int] = (_OTHER, _OWN)
    ) -> FloatArray:
        """Pick each row's set, for its own class the one without the row; shape (n, k)."""
        if self.held_out is None:
            return np.asarray(entries[0].T.copy())
        chosen = entries[sets[0]].T.copy()
        rows = np.flatnonzero(held >= 0)
        chosen[rows, held[rows]] = entries[sets[1]][held[rows], rows]
        return np.asarray(chosen)

    def _eliminate(
        self, families: list[tuple[int, ...]], codes: CodeArray, held: AnyArray, gaps: AnyArray
    ) -> FloatArray:
        """Sum missing columns out of a product of factors, the cheapest first; shape (n, k)."""
        factors = [self._open_factor(family, codes, held, gaps) for family in families]
        sizes = self.counts.schema.sizes
        while any(columns for columns, _ in factors):
            scopes = {
                c: {d for columns, _ in factors if c in columns for d in columns}
                for c in sorted({c for columns, _ in factors for c in columns})
            }
            cost = {c: math.prod(sizes[list(s)].tolist()) for c, s in scopes.items()}
            column = min(sorted(cost), key=cost.__getitem__)
            scope = sorted(scopes[column])
            touched = [factor for factor in factors if column in factor[0]]
            factors = [factor for factor in factors if column not in factor[0]]
            joined = sum(_aligned(columns, table, scope) for columns, table in touched)
            axis = 2 + scope.index(column)
            summed = np.logaddexp.reduce(joined, axis=axis)
            factors.append((tuple(c for c in scope if c != column), summed))
        return np.asarray(sum(table for _, table in factors))

    def _open_factor(
        self, family: tuple[int, ...], codes: CodeArray, held: AnyArray, gaps: AnyArray
    ) -> tuple[tuple[int, ...], FloatArray]:
        """Factor over the missing columns of a family; shape (n, k, one axis a column)."""
        sizes = self.counts.schema.sizes
        columns = tuple(sorted(c for c in family if gaps[c]))
        seen = (_APART, _APART) if gaps[family[0]] else (_OTHER, _PARENTLESS)
        shape = (codes.shape[1], self.counts.n_classes, *(int(sizes[c]) for c in columns))
        factor = np.empty(shape)
        filled = codes.copy()
        for values in product(*(range(int(sizes[c])) for c in columns)):
            for column, value in zip(columns, values, strict=True):
                filled[column] = value
            entries = self._table(family).look_up(filled, sizes, filled[family[0]])
            place: tuple[slice | int, ...] = (slice(None), slice(None), *values)
            factor[place] = self._choose(entries, held, seen)
        return columns, factor

    def _table(self, family: tuple[int, ...]) -> FamilyTable:
        if family not in self.made:
            self.made[family] = self._estimate(family)
        return self.made[family]

    def _estimate(self, family: tuple[int, ...]) -> FamilyTable:
        """Estimate a family's table, summing out parents that it was counted with."""
        counted = next(f for f in self.counts.families if f.columns[0] == family[0])
        contexts, levels = self._levels(counted, family)
        sets = (PLAIN,) if self.held_out is None else leave_one_out_sets(self.held_out)
        sizes, k = self.counts.schema.sizes, self.counts.n_classes
        margin = self.counts.marginal(family[0]).sum(axis=0)
        possible = k * math.prod(sizes[list(family[1:])].tolist())
        made = [conditional(self.smoothing, margin, levels, possible, held) for held in sets]
        table = np.stack(made).reshape(len(sets), k, -1, int(sizes[family[0]]))
        simpler = self.smoothing.is_hierarchical and len(family) > 1
        return FamilyTable(
            family[1:], contexts, table, self._table(family[:-1]) if simpler else None
        )

    def _levels(
        self, counted: FamilyCounts, family: tuple[int, ...]
    ) -> tuple[IntArray, list[Level]]:
        """Contexts that occurred, and the counts in them, one context more for all others.

        If smoothing asks for it, also those in contexts of no parent, of the first, and so on.
        """
        sizes, k = self.counts.schema.sizes, self.counts.n_classes
        contexts, table = _summed(counted, family, sizes)
        if not self.smoothing.is_hierarchical:
            others = np.zeros((k, 1, table.shape[2]), dtype=table.dtype)
            padded = np.concatenate([table, others], axis=1)
            return contexts, [Level.of(padded.reshape(-1, table.shape[2]))]
        levels = [Level.of(self.counts.marginal(family[0]))]
        contexts, last = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        for depth in range(1, len(family)):
            contexts, table = _summed(counted, family[: depth + 1], sizes)
            above = np.searchsorted(last, contexts // int(sizes[family[depth]]))
            place = np.arange(k)[:, None] * len(last) + above
            levels.append(Level.of(table.reshape(-1, table.shape[2]), place.reshape(-1)))
            last = contexts
        return contexts, levels


def _aligned(columns: tuple[int, ...], table: FloatArray, scope: list[int]) -> FloatArray:
    """Give a factor an axis for every column of a scope."""
    shape = [table.shape[2 + columns.index(c)] if c in columns else 1 for c in scope]
    return table.reshape(*table.shape[:2], *shape)


def _summed(
    counted: FamilyCounts, family: tuple[int, ...], sizes: IntArray
) -> tuple[IntArray, CountArray]:
    """Contexts and table of a family with fewer parents than it was counted with."""
    if counted.columns == family:
        return counted.contexts, counted.table
    parents, kept = counted.columns[1:], family[1:]
    number = np.zeros(len(counted.contexts), dtype=np.int64)
    old = dict(zip(parents, strides_of(sizes, parents), strict=True))
    for parent, stride in zip(kept, strides_of(sizes, kept), strict=True):
        number += counted.contexts // old[parent] % int(sizes[parent]) * stride
    contexts, place = np.unique(number, return_inverse=True)
    k, _, v = counted.table.shape
    cell = (place.reshape(-1, 1) * v + np.arange(v)).reshape(-1)
    summed = [np.bincount(cell, part.reshape(-1), len(contexts) * v) for part in counted.table]
    return contexts, np.stack(summed).reshape(k, len(contexts), v)


def family_tables(
    counts: JointCounts,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    marginalize: bool = True,
    held_out: float | None = None,
) -> FamilyTables:
    """Make the tables of all families that were counted; with ``held_out`` leave-one-out's."""
    sets = (PLAIN,) if held_out is None else leave_one_out_sets(held_out)
    prior = np.stack([log_prior(counts, smoothing, class_prior, held) for held in sets])
    tables = FamilyTables(counts, smoothing, prior, held_out, marginalize)
    for family in counts.families:
        tables._table(family.columns)  # noqa: SLF001 - made now, so that threads find them
    return tables
