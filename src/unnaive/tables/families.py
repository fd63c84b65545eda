"""Tables of models in which a column has several parents; only contexts that occurred."""

from __future__ import annotations

import math
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.families import sum_families
from unnaive._core.tables import fill_priors, mark_missing
from unnaive._dataclasses import dataclass
from unnaive.counts.cells import CellCounts, is_wide_family
from unnaive.counts.families import strides_of
from unnaive.counts.sizes import require_memory
from unnaive.structure.graph import topological
from unnaive.tables import describe
from unnaive.tables.base import Tables, hopeless_rows, less, own_classes, rows_alike
from unnaive.tables.family import CellTable, FamilyTable, back_off_levels, cell_table, summed_out
from unnaive.tables.hierarchy import Level
from unnaive.tables.opening import OpenFactor, Rows
from unnaive.tables.summing import Summation
from unnaive.tables.terms import Terms, observed, single_terms
from unnaive.tables.trees import ROWS_A_TASK, conditional, leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.counts.families import FamilyCounts
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing
    from unnaive.tables.summing import Folds

    Family = tuple[int, ...]
    Opened = tuple[tuple[Family, Family], ...]  # families, and their missing columns
    Question = tuple[tuple[Family, ...], tuple[Family, ...], tuple[int, ...]]

_OTHER, _OWN, _PARENTLESS, _APART, _LAST = 0, 1, 2, 3, -1
_ROWS_AT_ONCE = 1 << 15  # whose contexts are held for every family with missing columns
_MOST_COPIED = 1 << 20  # bytes of a table, where there are columns of very many values


@dataclass(frozen=True, eq=False)
class FamilyTables(Tables):
    """Tables of all families of a model.

    Attributes
    ----------
    counts : JointCounts
        Counts of the families.
    smoothing : Smoothing
        The smoothing policy.
    prior : ndarray of shape (sets, k)
        log P(c).
    held_out : float or None
        Weight of a row for leave-one-out.
    marginalize : bool
        Sum missing parents out exactly; False ignores them, as if they were not parents.
    made : dict
        Tables by family; those with fewer parents are estimated when they are needed.
    max_memory : int
        Most bytes that tables may take, also while missing columns are summed out.
    label : int or None
        The only class of the tables, see :meth:`only_class`.
    folds : dict
        Folded factors, see :class:`~unnaive.tables.summing.Summation`.
    """

    counts: JointCounts
    smoothing: Smoothing
    prior: FloatArray
    held_out: float | None
    marginalize: bool
    made: dict[Family, FamilyTable | CellTable] = field(default_factory=dict)
    max_memory: int = 2**31
    label: int | None = None
    folds: Folds = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """Number of classes k, 1 if they are tables of one class."""
        return self.counts.n_classes if self.label is None else 1

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        joint = np.empty((codes.shape[1], self.n_classes))
        fill_priors(self._priors, held, joint)
        columns, gapped = self.slots, np.empty(codes.shape[1], dtype=bool)
        if not mark_missing(codes, columns, columns[:, 2].copy(), gapped):
            joint += self._sum_all(codes, held, n_jobs)
            return joint
        missing = codes >= self.sizes[:, None]
        whole, rest = np.flatnonzero(~gapped), np.flatnonzero(gapped)
        joint[whole] += self._sum_all(np.ascontiguousarray(codes[:, whole]), held[whole], n_jobs)
        joint[rest] += self._sum_gapped(codes[:, rest], held[rest], missing[:, rest])
        return joint

    def apart(self) -> FamilyTables:
        """Return tables that ignore missing parents, as if they were not parents."""
        return replace(self, marginalize=False)

    def only_class(self, label: int) -> FamilyTables:
        """Return the tables of one class, which give the same numbers."""
        families = [family.columns for family in self.counts.families]
        known = {family[:size] for family in families for size in range(1, len(family) + 1)}
        made = {family: self.made[family].only_class(label) for family in known & self.made.keys()}
        prior = self.prior[:, label : label + 1]
        return replace(self, prior=prior, made=made, label=label, folds={})

    @property
    def sizes(self) -> IntArray:
        """Number of values of every column; shape (d,)."""
        return self.counts.schema.sizes

    @cached_property
    def _parents(self) -> dict[int, Family]:
        """The parents of every column, parents before children."""
        families = {family.columns[0]: family.columns[1:] for family in self.counts.families}
        if not self.marginalize:  # parents may then form circles
            return families
        above = [families.get(column, ()) for column in range(len(self.sizes))]
        return {column: families[column] for column in topological(above, sorted(families))}

    def answer_hopeless(self, joint: FloatArray, held: IntArray | None = None) -> None:
        """Put the log prior into rows (n, k) in which every class has probability 0."""
        rows = hopeless_rows(joint)
        own = np.full(len(rows), -1) if held is None else held[rows]
        prior = np.empty((len(rows), self.n_classes))
        fill_priors(self._priors, own, prior)
        joint[rows] = prior

    def prefixes(
        self, codes: CodeArray, held: IntArray | None, order: IntArray, n_jobs: int | None = None
    ) -> Iterator[FloatArray]:
        """Yield the log joint given the first column of an order, the first two, and so on.

        Parents must come before children.
        """
        families = {family.columns[0]: family for family in self.counts.families}
        for place in range(len(order)):
            first = tuple(families[column] for column in sorted(order[: place + 1].tolist()))
            some = replace(self, counts=replace(self.counts, families=first))
            yield some.joint(codes, held, n_jobs)

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint: one term per column, see :mod:`unnaive.tables.terms`."""
        parts, used = self.factors(codes), sorted(self._parents)
        if self.marginalize:
            self._chain(codes, parts)
        base = np.repeat(self.prior[:1], codes.shape[1], axis=0)
        return Terms(single_terms(used, self._parents.__getitem__), base, parts[:, :, used])

    def _chain(self, codes: CodeArray, parts: FloatArray) -> None:
        """Put the terms of cells whose parents are missing into ``parts`` (n, k, d).

        They depend only on families that are tied to the cell by missing columns; all other
        families cancel out.
        """
        there, order = observed(codes, self.sizes), list(self._parents)
        for place, (column, parents) in enumerate(self._parents.items()):
            rows = np.flatnonzero(there[column] & ~there[list(parents)].all(axis=0))
            gaps = ~there[:, rows]
            gaps[order[place + 1 :]] = True
            questions: dict[Question, list[IntArray]] = {}
            for some, missing in rows_alike(gaps):
                if len(some):
                    questions.setdefault(self._question(column, missing), []).append(rows[some])
            for question, blocks in questions.items():
                mine = np.concatenate(blocks)
                parts[mine, :, column] = self._added(codes[:, mine], *question)

    def _question(self, column: int, gaps: AnyArray) -> Question:
        """Families tied to a column by missing columns, the same without it, these columns."""
        unknown = self._unknown(gaps)
        tied = {c for c in (column, *self._parents[column]) if gaps[c]}
        while True:
            near = [f for f in unknown if any(c in tied for c in f)]
            more = {c for f in near for c in f if gaps[c]}
            if more <= tied:
                break
            tied |= more
        without = gaps.copy()
        without[column] = True
        before = [f for f in self._unknown(without) if any(c in tied for c in f)]
        return tuple(near), tuple(before), tuple(sorted(tied))

    def _added(
        self,
        codes: CodeArray,
        after: tuple[Family, ...],
        before: tuple[Family, ...],
        missing: tuple[int, ...],
    ) -> FloatArray:
        """Log product of the families ``after`` less that of ``before``, both summed; (n, k)."""
        shown = self.sizes.astype(codes.dtype)[:, None].repeat(codes.shape[1], axis=1)
        there = [c for c in {c for family in after for c in family} if c not in missing]
        shown[there] = codes[there]
        added = self._only(after).joint(shown)
        return less(added, self._only(before).joint(shown)) if before else added

    def _only(self, families: tuple[Family, ...]) -> FamilyTables:
        """Tables of some of the families, without the prior."""
        kept = tuple(counted for counted in self.counts.families if counted.columns in families)
        counts = replace(self.counts, families=kept)
        return replace(self, counts=counts, prior=np.zeros_like(self.prior))

    def describe(self, arrays: Arrays) -> State:
        """Describe the families as a product with one factor per column."""
        factors = []
        for child, parents in self._parents.items():
            fewest = len(parents) if self.marginalize else 0
            tables = [
                self.table_of((child, *some)).describe(child, arrays)
                for size in range(len(parents), fewest - 1, -1)
                for some in combinations(parents, size)
            ]
            factors.append(describe.factor([child], parents, tables))
        return describe.product(self.prior[0], factors, arrays, marginalize=self.marginalize)

    def _sum_all(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log product of all factors of rows without missing cells; shape (n, k)."""
        out, flat = np.empty((codes.shape[1], self.n_classes)), self.flat

        def look_up(rows: tuple[int, int]) -> None:
            part = np.ascontiguousarray(codes[:, slice(*rows)])
            sum_families(part, *flat, held[slice(*rows)], out[slice(*rows)])

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)
        return out + self._product(self.wide, codes, held) if self.wide else out

    @cached_property
    def wide(self) -> list[Family]:
        """Families whose tables the kernel does not read."""
        families = [family.columns for family in self.counts.families]
        return [family for family in families if self._is_wide(self.table_of(family))]

    def _is_wide(self, table: FamilyTable | CellTable) -> bool:
        """Whether a table is looked up where it is, not copied for the kernel."""
        n_bytes = table.nbytes * (self.counts.n_classes // self.n_classes)  # as with all classes
        large = bool(self.counts.cells) and n_bytes > _MOST_COPIED
        return isinstance(table, CellTable) or large

    @cached_property
    def slots(self) -> IntArray:
        """Parent (none), slots and index of every column, as the kernel reads them; (d, 3)."""
        column = np.arange(len(self.sizes))
        return np.stack([np.full(len(column), -1), self.sizes + 1, column], axis=1)

    @cached_property
    def _priors(self) -> FloatArray:
        """Log priors of all sets and classes in one column, for the kernel."""
        return np.ascontiguousarray(self.prior.reshape(-1, 1))

    @cached_property
    def flat(self) -> tuple[IntArray, IntArray, IntArray, FloatArray, int]:
        """All tables as the kernel reads them, see ``_core/families.cpp``."""
        every = [(family.columns, self.table_of(family.columns)) for family in self.counts.families]
        tables = [
            (family, table)
            for family, table in every
            if isinstance(table, FamilyTable) and not self._is_wide(table)
        ]
        used = len(tables)
        sizes, lines = self.sizes, min(2, len(self.prior)) * self.n_classes
        families: list[list[int]] = []
        parents: list[tuple[int, int]] = []
        contexts: list[IntArray] = []
        entries = [np.empty((0, lines))]
        for family, table in tables:  # the loop appends the simpler tables
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
                entries.append(np.zeros((v, lines)))  # never looked up: a root's context is listed
        return (
            np.array(families, dtype=np.int64).reshape(-1, 8),
            np.array(parents, dtype=np.int64).reshape(-1, 2),
            np.concatenate([np.empty(0, dtype=np.int64), *contexts]),
            np.ascontiguousarray(np.concatenate(entries)),
            used,
        )

    def factors(self, codes: CodeArray) -> FloatArray:
        """Log P(x_i | parents, c) of every row, class and column; shape (n, k, d).

        Missing parents are ignored; a missing cell has 0.
        """
        missing, held = codes >= self.sizes[:, None], own_classes(None, codes)
        factors = np.zeros((codes.shape[1], self.n_classes, len(codes)))
        for family in (counted.columns for counted in self.counts.families):
            for rows, gaps in rows_alike(missing[list(family)]):
                if not gaps[0]:
                    seen = tuple(c for c, gap in zip(family, gaps, strict=True) if not gap)
                    factors[rows, :, family[0]] = self._product([seen], codes[:, rows], held[rows])
        return factors

    def _sum_gapped(self, codes: CodeArray, held: IntArray, missing: AnyArray) -> FloatArray:
        """Log product of all factors of rows that miss some cells; shape (n, k)."""
        total = np.zeros((codes.shape[1], self.n_classes))
        filled = np.where(missing, 0, codes).astype(codes.dtype)
        for low, high in _parallel.row_blocks(codes.shape[1], ROWS_A_TASK):
            block = slice(low, high)
            for family in (counted.columns for counted in self.counts.families):
                gaps = missing[list(family), block].any(axis=0)
                if not gaps.all():
                    found = self._look_up(family, filled[:, block], held[block])
                    found[gaps] = 0.0
                    total[block] += found
        if not self.marginalize:
            return total + self._without_parents(codes, held, missing)
        questions, summation = self._questions(missing), self._summation
        for plan in [summation.plan(question, self._open_factor) for question in questions]:
            every = np.concatenate(questions[plan.question])
            for low, high in _parallel.row_blocks(len(every), _ROWS_AT_ONCE):
                rows = every[low:high]
                given = (filled[:, rows], held[rows])
                total[rows] += summation.sum_out(plan, *given, self._open_factor)
        return total

    def _without_parents(self, codes: CodeArray, held: IntArray, missing: AnyArray) -> FloatArray:
        """Log product of the families that miss parents, as if these were none; shape (n, k)."""
        total = np.zeros((codes.shape[1], self.n_classes))
        for family in (counted.columns for counted in self.counts.families):
            for rows, gaps in rows_alike(missing[list(family)]):
                if gaps.any() and not gaps[0]:
                    seen = tuple(c for c, gap in zip(family, gaps, strict=True) if not gap)
                    sets = (_OTHER, _PARENTLESS)
                    total[rows] += self._look_up(seen, codes[:, rows], held[rows], sets)
        return total

    def _unknown(self, missing: AnyArray) -> list[Family]:
        """Families with missing columns, except those that sum to 1: nothing observed below."""
        gaps, families = missing.tolist(), [family.columns for family in self.counts.families]
        relevant: set[int] = set()
        waiting = [p for f in families if not gaps[f[0]] for p in f[1:] if gaps[p]]
        while waiting:
            column = waiting.pop()
            if column not in relevant:
                relevant.add(column)
                waiting += [p for p in self._parents.get(column, ()) if gaps[p]]
        gapped = [family for family in families if any(gaps[c] for c in family)]
        return [family for family in gapped if not gaps[family[0]] or family[0] in relevant]

    def _product(self, families: list[Family], codes: CodeArray, held: AnyArray) -> FloatArray:
        total = np.zeros((codes.shape[1], self.n_classes))
        for family in families:
            total += self._look_up(family, codes, held)
        return total

    def _look_up(
        self,
        family: Family,
        codes: CodeArray,
        held: AnyArray,
        sets: tuple[int, int] = (_OTHER, _OWN),
    ) -> FloatArray:
        """Look up one set for all classes, and the other for the class of each row; (n, k)."""
        entries = self.table_of(family).look_up(codes, self.sizes, codes[family[0]])
        if self.held_out is None:
            return np.asarray(entries[0].T)
        chosen, rows = entries[sets[0]].T.copy(), np.flatnonzero(held >= 0)
        chosen[rows, held[rows]] = entries[sets[1]][held[rows], rows]
        return np.asarray(chosen)

    def _questions(self, missing: AnyArray) -> dict[Opened, list[IntArray]]:
        """Group rows (d, n) by the families that have to be summed over missing columns."""
        questions: dict[Opened, list[IntArray]] = {}
        for rows, gaps in rows_alike(missing):
            question = tuple(
                (family, tuple(sorted(c for c in family if gaps[c])))
                for family in self._unknown(gaps)
            )
            if question and len(rows):
                questions.setdefault(question, []).append(rows)
        return questions

    @cached_property
    def _summation(self) -> Summation:
        n_sets = 1 if self.held_out is None else 2
        fixed = (self.counts.schema, self.n_classes, n_sets, self.max_memory)
        return Summation(*fixed, self.folds)

    def _open_factor(
        self, family: Family, scope: Family, codes: CodeArray, held: IntArray
    ) -> OpenFactor:
        """Factor of a family over its missing columns."""
        wanted = (_APART, _LAST) if family[0] in scope else (_OTHER, _PARENTLESS)
        table = self.table_of(family)
        n_sets = 1 if self.held_out is None else table.n_sets  # the last one differs by table
        sets = (wanted[0] % n_sets, wanted[1] % n_sets)
        return OpenFactor(table, family, scope, Rows(codes, held, self.sizes, sets))

    def table_of(self, family: Family) -> FamilyTable | CellTable:
        """Return the table of a counted family, or of one with fewer parents."""
        if family not in self.made:
            self.made[family] = self._estimate(family)
        return self.made[family]

    def _estimate(self, family: Family) -> FamilyTable | CellTable:
        """Estimate a family's table; parents that were counted but are not in it are summed out."""
        counted = next(f for f in self.counts.families if f.columns[0] == family[0])
        sets = leave_one_out_sets(self.held_out)
        sizes, k = self.sizes, self.counts.n_classes
        margin = self.counts.marginal(family[0]).sum(axis=0)
        if isinstance(counted, CellCounts):
            cells = counted.given(family, sizes)
            if not self.smoothing.is_hierarchical and is_wide_family(family, sizes, k):
                table = cell_table(cells, sizes, margin, self.smoothing, k, sets)
                return table if self.label is None else table.only_class(self.label)
            needed = 16 * len(sets) * k * len(cells.contexts(sizes)[1]) * int(sizes[family[0]])
            what = "a table of a column and its parents"
            require_memory(self.counts.schema, needed, self.max_memory, what)
            counted = cells.by_context(sizes, k)
        contexts, levels = self._levels(counted, family)
        possible = k * math.prod(sizes[list(family[1:])].tolist())
        tables = [conditional(self.smoothing, margin, levels, possible, held) for held in sets]
        entries = np.stack(tables).reshape(len(sets), k, -1, int(sizes[family[0]]))
        entries = entries if self.label is None else entries[:, [self.label]]
        backs_off = self.smoothing.is_hierarchical and len(family) > 1
        simpler = self.table_of(family[:-1]) if backs_off else None
        return FamilyTable(family[1:], contexts, entries, simpler)  # type: ignore[arg-type]

    def _levels(self, counted: FamilyCounts, family: Family) -> tuple[IntArray, list[Level]]:
        """Contexts that occurred, and the counts in them, with one empty context for all others.

        Hierarchical smoothing also needs the counts given no parent, the first, and so on.
        """
        sizes, k = self.sizes, self.counts.n_classes
        if not self.smoothing.is_hierarchical:
            contexts, table = summed_out(counted, family, sizes)
            others = np.zeros((k, 1, table.shape[2]), dtype=table.dtype)
            padded = np.concatenate([table, others], axis=1)
            return contexts, [Level.of(padded.reshape(-1, table.shape[2]))]
        return back_off_levels(self.counts, counted, family)


def family_tables(
    counts: JointCounts,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    marginalize: bool = True,
    held_out: float | None = None,
    max_memory: int = 2**31,
    made: dict[Family, FamilyTable | CellTable] | None = None,
) -> FamilyTables:
    """Estimate the tables of all counted families; with ``held_out`` for leave-one-out.

    Tables of families that are in ``made`` are not estimated.
    """
    sets = leave_one_out_sets(held_out)
    prior = np.stack([log_prior(counts, smoothing, class_prior, held) for held in sets])
    fixed = (marginalize, {} if made is None else made, max_memory)
    tables = FamilyTables(counts, smoothing, prior, held_out, *fixed)
    for family in counts.families:
        tables.table_of(family.columns)  # before threads use them
    return tables
