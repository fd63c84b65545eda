"""Tables of models in which a column depends on the class and on one other column at most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import (
    fill_priors,
    log_posterior,
    log_table,
    mark_missing,
    sum_factors,
    sum_product,
)
from unnaive.counts.joint import starts_of
from unnaive.structure.graph import LEFT_OUT
from unnaive.tables.base import Tables, own_classes
from unnaive.tables.hierarchy import Level, concentrations, hierarchical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unnaive._typing import AnyArray, CodeArray, CountArray, FloatArray, IntArray
    from unnaive.counts import JointCounts
    from unnaive.structure import ParentGraph
    from unnaive.tables.smoothing import Smoothing

    RootOf = Callable[[JointCounts, int, Smoothing, "HeldOut"], FloatArray]
    FactorOf = Callable[[JointCounts, int, int, Smoothing, "HeldOut"], FloatArray]

ROWS_A_TASK = 1 << 13
_NO_ROWS: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class HeldOut:
    """What leave-one-out takes off the counts: a row's weight, in the table of one class.

    ``value`` is taken off the cells of a table, ``total`` off the rows of all classes, and
    ``alone`` off N(c, x), which the row may be part of where it lacks a parent.
    """

    value: float = 0.0
    total: float = 0.0
    alone: float = 0.0


PLAIN = HeldOut()


def leave_one_out_sets(weight: float) -> tuple[HeldOut, ...]:
    """Tables for the other classes, for the row's own class, and for what it took no part in.

    Before the last: the own class's where the row has the column's cell and lacks a parent's.
    """
    own = HeldOut(weight, weight, weight)
    return HeldOut(0.0, weight), own, HeldOut(0.0, weight, weight), PLAIN


def estimate(
    counts: CountArray, pseudo: tuple[FloatArray, float], held: tuple[float, float] = (0.0, 0.0)
) -> FloatArray:
    """Log-probabilities of a table (contexts, values), see :mod:`unnaive.tables.smoothing`."""
    table = np.ascontiguousarray(counts, dtype=np.float64)
    out = np.empty(table.shape)
    log_table(table, np.ascontiguousarray(pseudo[0], dtype=np.float64), pseudo[1], *held, out)
    return out


def conditional(
    smoothing: Smoothing,
    margin: CountArray,
    levels: Sequence[Level],
    n_contexts: int,
    held: HeldOut = PLAIN,
    *,
    chosen: Sequence[float] | None = None,
) -> FloatArray:
    """Log P(x | context) of the last level's contexts; shape (q, v).

    ``margin`` (v,) counts the values whatever the context, ``levels`` go from few parents to
    all; ``n_contexts`` is how many contexts there could be. Leave-one-out: see
    :class:`HeldOut`. ``chosen``: concentrations of these levels, if they are known.
    """
    if smoothing.is_hierarchical:
        if chosen is None:
            chosen = chosen_concentrations(smoothing, margin, levels)
        alphas = chosen[: len(levels)]
        return np.log(hierarchical(margin, levels, alphas, (held.total, held.alone, held.value)))
    frequency = frequencies(margin, held.total, held.total)
    pseudo = smoothing.pseudo_counts(len(margin), n_contexts, frequency)
    return estimate(levels[-1].counts, pseudo, (held.value, held.value))


def chosen_concentrations(
    smoothing: Smoothing, margin: CountArray, levels: Sequence[Level]
) -> list[float]:
    """Return the concentrations of levels, none where smoothing has none."""
    if not smoothing.is_hierarchical:
        return []
    return concentrations(margin, levels, smoothing.concentration)


def log_prior(
    counts: JointCounts, smoothing: Smoothing, class_prior: FloatArray | None, held: HeldOut = PLAIN
) -> FloatArray:
    """Log P(c); shape (k,)."""
    if class_prior is not None:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(class_prior))
    table = counts.class_counts.reshape(1, -1)
    own = frequencies(counts.class_counts, held.value, held.total)
    pseudo = smoothing.pseudo_counts(table.size, 1, own)
    return np.asarray(estimate(table, pseudo, (held.value, held.total))[0])


def joint_prior(table: CountArray, smoothing: Smoothing, held: HeldOut = PLAIN) -> FloatArray:
    """Log P(c, x) of a table (k, v) as one variable of k·v values; shape (k, v)."""
    if smoothing.is_hierarchical:
        rows = table.sum(axis=1)[None]
        pseudo = smoothing.pseudo_counts(len(table), 1, frequencies(rows[0]))
        of_class = estimate(rows, pseudo, (held.value, held.total))[0]
        given = conditional(smoothing, table.sum(axis=0), [Level.of(table)], len(table), held)
        return np.asarray(of_class[:, None] + given)
    joint = table.reshape(1, -1)
    own = frequencies(joint[0], held.value, held.total)
    pseudo = smoothing.pseudo_counts(joint.size, 1, own)
    return estimate(joint, pseudo, (held.value, held.total)).reshape(table.shape)


def possible(joint: FloatArray, prior: FloatArray) -> FloatArray:
    """Keep a class that cannot be so, also where a column without values gives it 0/0 = 1/(k·v)."""
    return np.where(np.isneginf(prior)[:, None], -np.inf, joint)


def frequencies(counts: CountArray, held: float = 0.0, held_total: float = 0.0) -> FloatArray:
    """Relative frequencies of values, less ``held`` of each value's rows and of all rows."""
    total = float(counts.sum()) - held_total
    if total <= 0:
        return np.full(len(counts), 1.0 / max(len(counts), 1))
    return np.asarray(np.maximum(counts - held, 0.0) / total)


@dataclass(frozen=True, eq=False)
class TreeTables(Tables):
    """log P(c) and log P(x_i | x_parent, c) with a slot for missing cells.

    ``columns`` (d, 3): parent, slots (v + 1), start of the table in a row of ``tables``
    (sets · k, 1 + cells).
    """

    columns: IntArray
    order: IntArray
    tables: FloatArray
    n_classes: int
    marginalize: bool = True

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k). ``held``: own classes, or −1."""
        out = self._priors(held)
        self._add_factors(codes, held, self.order, out, n_jobs)
        self._sum_out(codes, held, self.order, out, n_jobs)
        return out

    def prefixes(
        self, codes: CodeArray, held: IntArray | None, order: IntArray, n_jobs: int | None = None
    ) -> Iterator[FloatArray]:
        """Yield the log joint by the first column of an order, by the first two, and so on.

        Parents must come before children.
        """
        held = own_classes(held, codes)
        out = self._priors(held)
        for place in range(len(order)):
            self._add_factors(codes, held, order[place : place + 1], out, n_jobs)
            self._sum_out(codes, held, order[: place + 1], out, n_jobs)
            yield out.copy()

    def factors(self, codes: CodeArray) -> FloatArray:
        """Log P(x_i | x_parent, c) of every row, class and column; shape (n, k, d).

        A missing parent is left out, a missing cell has 0.
        """
        found = np.zeros((codes.shape[1], self.n_classes, len(codes)))
        held = np.full(codes.shape[1], -1)
        for column in self.order:
            factor = np.zeros(found.shape[:2])
            sum_factors(
                codes, self.columns, np.array([column]), self.tables, held, 0, len(held), factor
            )
            parent, slots, start = self.columns[column]
            if parent < 0:  # where the root's table holds the prior, its missing slot does
                factor -= self.tables[: self.n_classes, start + slots - 1]
            found[:, :, column] = factor
        return found

    def _priors(self, held: IntArray) -> FloatArray:
        """Log prior of every row; shape (n, k)."""
        out = np.empty((len(held), self.n_classes))
        fill_priors(self.tables, held, out)
        return out

    def _add_factors(
        self,
        codes: CodeArray,
        held: AnyArray,
        chosen: IntArray,
        out: FloatArray,
        n_jobs: int | None,
    ) -> None:
        def look_up(rows: tuple[int, int]) -> None:
            sum_factors(codes, self.columns, chosen, self.tables, held, *rows, out)

        _parallel.run(look_up, _parallel.row_blocks(codes.shape[1], ROWS_A_TASK), n_jobs)

    def _sum_out(
        self, codes: CodeArray, held: AnyArray, order: IntArray, out: FloatArray, n_jobs: int | None
    ) -> None:
        """Put in what the look-ups cannot give: rows in which inner nodes are missing."""
        rows = self._rows_to_sum(codes, order)

        def sum_out(part: tuple[int, int]) -> None:
            chosen = rows[slice(*part)]
            sum_product(chosen, codes, self.columns, order, self.tables, held, out)

        _parallel.run(sum_out, _parallel.row_blocks(len(rows), ROWS_A_TASK), n_jobs)

    def answer_hopeless(self, joint: FloatArray, held: IntArray | None = None) -> None:
        """Put the log prior where no class has any chance."""
        rows = np.flatnonzero(np.isneginf(joint).all(axis=1))
        own = np.full(len(rows), -1) if held is None else held[rows]
        joint[rows] = self._priors(own)

    def _rows_to_sum(self, codes: CodeArray, order: IntArray) -> IntArray:
        """Rows in which a column that has children is missing."""
        if not self.marginalize:
            return _NO_ROWS
        inner = self._inner if order is self.order else self._parents_of(order)
        missing = np.empty(codes.shape[1], dtype=bool)
        some = mark_missing(codes, self.columns, inner, missing)
        return np.flatnonzero(missing) if some else _NO_ROWS

    @cached_property
    def _inner(self) -> IntArray:
        return self._parents_of(self.order)

    def _parents_of(self, order: IntArray) -> IntArray:
        parents = self.columns[order, 0]
        return np.unique(parents[parents >= 0])


@dataclass(frozen=True, eq=False)
class AveragedTrees(Tables):
    """Several trees that vote: the log mean of their posteriors, or of their joints."""

    members: tuple[TreeTables, ...]
    of_posteriors: bool = True

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log mean of every row and class; shape (n, k)."""
        total = np.full((codes.shape[1], self.members[0].n_classes), -np.inf)
        for member in self.members:
            joint = member.joint(codes, held, n_jobs)
            if self.of_posteriors:
                member.answer_hopeless(joint, held)
                normalised = np.empty_like(joint)
                log_posterior(joint, normalised)
                joint = normalised
            np.logaddexp(total, joint, out=total)
        return np.asarray(total - np.log(len(self.members)))


@dataclass(frozen=True, eq=False)
class ClassTrees(Tables):
    """A tree for every class: class c's joint comes from the c-th."""

    members: tuple[TreeTables, ...]

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        """Log joint of every row and class; shape (n, k)."""
        parts = [
            member.joint(codes, np.where(held == label, 0, -1), n_jobs)
            for label, member in enumerate(self.members)
        ]
        return np.concatenate(parts, axis=1)


def only_class(tree: TreeTables, label: int) -> TreeTables:
    """Return the tables of one class alone."""
    return replace(tree, tables=tree.tables[label :: tree.n_classes].copy(), n_classes=1)


def tree_bytes(sizes: IntArray, parents: IntArray, n_classes: int) -> int:
    """Bytes that one set of a graph's tables takes."""
    slots = np.where(parents > LEFT_OUT, sizes + 1, 0).astype(object)
    contexts = np.where(parents >= 0, slots[parents], 1)
    return int((slots * contexts).sum()) * n_classes * 8


def tree_tables(
    counts: JointCounts,
    graph: ParentGraph,
    smoothing: Smoothing,
    *,
    class_prior: FloatArray | None = None,
    marginalize: bool = True,
    held_out: float | None = None,
    root_of: RootOf | None = None,
    factor_of: FactorOf | None = None,
    shared: dict[tuple[int, int, int], FloatArray] | None = None,
) -> TreeTables:
    """Estimate the tables of a graph; with ``held_out`` those of leave-one-out.

    ``root_of`` estimates log P(c, x) of the only root, class and value together, in place of
    P(c)·P(x | c); its table then holds the prior, too. ``factor_of`` estimates the table of a
    column below another, :func:`column_factor` by default. ``shared`` keeps factors for other
    graphs of the same counts.
    """
    sizes, parents, n_classes = counts.schema.sizes, graph.parents, counts.n_classes
    contexts = np.where(parents >= 0, sizes[parents] + 1, 1)
    starts = 1 + starts_of(np.where(parents > LEFT_OUT, (sizes + 1) * contexts, 0))
    roots = np.flatnonzero(parents == -1)
    together = root_of is not None and class_prior is None and len(roots) == 1
    shared = {} if shared is None else shared
    sets = (PLAIN,) if held_out is None else leave_one_out_sets(held_out)
    tables = np.empty((len(sets), n_classes, starts[-1]))
    for index, held in enumerate(sets):
        shared_values = smoothing.uses_frequencies or smoothing.is_hierarchical
        if index > 1 and not shared_values:
            tables[index] = tables[0]  # the prior of a set that is never asked for it
            continue
        prior = log_prior(counts, smoothing, class_prior, held)
        tables[index, :, 0] = 0.0 if together else prior
        for column in graph.used:
            key = (index, column, int(parents[column]))
            if root_of and together and column == roots[0]:
                own = possible(root_of(counts, column, smoothing, held), prior)
                shared[key] = np.concatenate([own, prior[:, None]], axis=1)[:, None]
            elif key not in shared:
                estimated = column_factor if key[2] < 0 else (factor_of or column_factor)
                shared[key] = estimated(counts, column, key[2], smoothing, held)
            place = slice(starts[column], starts[column + 1])
            tables[index, :, place] = shared[key].reshape(n_classes, -1)
    columns = np.stack([parents, sizes + 1, starts[:-1]], axis=1)
    stacked = tables.reshape(len(sets) * n_classes, -1)
    order = graph.order if marginalize else graph.used
    return TreeTables(columns, order, stacked, n_classes, marginalize)


def joint_root(counts: JointCounts, column: int, smoothing: Smoothing, held: HeldOut) -> FloatArray:
    """Log P(c, x) of a column as one variable of k·v values; shape (k, v)."""
    return joint_prior(counts.marginal(column), smoothing, held)


def column_factor(
    counts: JointCounts, column: int, parent: int, smoothing: Smoothing, held: HeldOut
) -> FloatArray:
    """Log P(x | x_parent, c) with missing slots; shape (k, v_parent + 1 or 1, v + 1)."""
    return column_factors(counts, column, parent, smoothing, (held,))[0]


def column_factors(
    counts: JointCounts, column: int, parent: int, smoothing: Smoothing, sets: Sequence[HeldOut]
) -> list[FloatArray]:
    """Return what :func:`column_factor` does for several sets; concentrations are chosen once."""
    marginal = counts.marginal(column)
    n_classes, size = marginal.shape
    margin, levels = marginal.sum(axis=0), [Level.of(marginal)]
    above = counts.schema.sizes[parent] if parent >= 0 else 0
    if parent >= 0:
        pair = counts.pair(parent, column).reshape(n_classes * above, size)
        levels.append(Level.of(pair, np.repeat(np.arange(n_classes), above)))
    chosen = chosen_concentrations(smoothing, margin, levels)
    found = []
    for held in sets:
        factor = np.zeros((n_classes, above + 1, size + 1))
        alone = conditional(smoothing, margin, levels[:1], n_classes, held, chosen=chosen)
        factor[:, above, :size] = alone
        if parent >= 0:
            given = conditional(
                smoothing, margin, levels, n_classes * int(above), held, chosen=chosen
            )
            factor[:, :above, :size] = given.reshape(n_classes, above, size)
        found.append(factor)
    return found
