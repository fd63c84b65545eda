"""Estimates of probabilities, and tables of models in which a column has at most one parent."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.tables import fill_priors, log_table, mark_missing, sum_factors, sum_product
from unnaive._dataclasses import dataclass
from unnaive.counts.sizes import starts_of
from unnaive.structure.graph import LEFT_OUT
from unnaive.tables import describe
from unnaive.tables.base import NO_ROWS, Tables, hopeless_rows, own_classes
from unnaive.tables.hierarchy import Level, concentrations, factors_alone, hierarchical
from unnaive.tables.terms import Terms, chained, observed, single_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unnaive._typing import AnyArray, CodeArray, CountArray, FloatArray, IntArray, State
    from unnaive.counts import JointCounts
    from unnaive.structure import ParentGraph
    from unnaive.tables.base import Arrays
    from unnaive.tables.smoothing import Smoothing

    RootOf = Callable[[JointCounts, int, Smoothing, "HeldOut"], FloatArray]
    FactorOf = Callable[[JointCounts, int, int, Smoothing, "HeldOut"], FloatArray]

ROWS_A_TASK = 1 << 13


@dataclass(frozen=True)
class HeldOut:
    """The weight of a row that leave-one-out subtracts from the counts.

    Attributes
    ----------
    value : float
        Subtracted from the cells of a table and from the context's total.
    total : float
        Subtracted from the counts of all classes together.
    alone : float
        Subtracted from N(c, x), in which the row is counted even if its parent is missing.
    """

    value: float = 0.0
    total: float = 0.0
    alone: float = 0.0


PLAIN = HeldOut()


def leave_one_out_sets(weight: float | None) -> tuple[HeldOut, ...]:
    """Return what is subtracted in the four sets of leave-one-out tables; None: one plain set.

    In this order: for the other classes; for the row's class; for the row's class if the row
    has the cell but lacks a parent; for tables in which the row was not counted.
    """
    if weight is None:
        return (PLAIN,)
    own = HeldOut(weight, weight, weight)
    return HeldOut(0.0, weight), own, HeldOut(0.0, weight, weight), PLAIN


def estimate(
    counts: CountArray, pseudo: tuple[FloatArray, float], held: tuple[float, float] = (0.0, 0.0)
) -> FloatArray:
    r"""Log-probabilities of a table of counts (contexts, values), smoothed.

    .. math:: \log \frac{N(x, ctx) + \alpha_x}{N_{ctx} + A}

    Parameters
    ----------
    counts : ndarray of shape (contexts, values)
        Counts.
    pseudo : tuple of ndarray of shape (values,) and float
        α of every value, and A, see :mod:`unnaive.tables.smoothing`.
    held : tuple of 2 floats, default=(0.0, 0.0)
        Weight subtracted from each cell, and from each context's total.

    Returns
    -------
    ndarray of shape (contexts, values)
        Log-probabilities; log 1/v in a context without any counts.

    Examples
    --------
    >>> np.exp(estimate(np.array([[3, 1]]), (np.ones(2), 2.0))).round(3).tolist()
    [[0.667, 0.333]]
    """
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
    column: int | None = None,
) -> FloatArray:
    """Log P(x | context) of the contexts of the last level; shape (q, v).

    Parameters
    ----------
    smoothing : Smoothing
        The policy.
    margin : ndarray of shape (v,)
        Counts of the values in all contexts together.
    levels : sequence of Level
        Counts given few parents, then more, then all of them. Only hierarchical smoothing
        uses levels before the last.
    n_contexts : int
        Number of contexts that are possible.
    held : HeldOut, default=PLAIN
        What leave-one-out subtracts.
    chosen : sequence of float, default=None
        Concentrations of the levels, if they are known already.
    column : int, default=None
        The column, for a view of the posterior of tables that are averaged.

    Returns
    -------
    ndarray of shape (q, v)
        Log-probabilities, or the smoothing's view of them.
    """
    if smoothing.is_hierarchical:
        if chosen is None:
            chosen = concentrations(margin, levels, smoothing.concentration)
        alphas = chosen[: len(levels)]
        shares = hierarchical(margin, levels, alphas, (held.total, held.alone, held.value))[-1]
        if smoothing.view is None:
            return np.log(shares)
        counts = levels[-1].counts
        strength = counts.sum(axis=1, keepdims=True) + alphas[-1]
        return smoothing.view.given(
            counts, np.maximum(shares * strength - counts, 0.0), None, column
        )
    frequency = frequencies(margin, held.total, held.total)
    pseudo = smoothing.pseudo_counts(len(margin), n_contexts, frequency)
    if smoothing.view is not None:
        return smoothing.view.given(levels[-1].counts, pseudo[0], None, column)
    return estimate(levels[-1].counts, pseudo, (held.value, held.value))


def log_prior(
    counts: JointCounts, smoothing: Smoothing, class_prior: FloatArray | None, held: HeldOut = PLAIN
) -> FloatArray:
    """Log P(c), estimated from counts or given by ``class_prior``; shape (k,)."""
    if class_prior is not None:
        with np.errstate(divide="ignore"):
            logs = np.asarray(np.log(class_prior))
        return logs if smoothing.view is None else smoothing.view.fixed(logs)
    return _one_variable(counts.class_counts, smoothing, held)


def _one_variable(
    counts: CountArray, smoothing: Smoothing, held: HeldOut, frequency: FloatArray | None = None
) -> FloatArray:
    """Log-probabilities of all cells of a table as values of one variable; shape of ``counts``.

    A view of the posterior omits the sum of the cells, which is the same for all classes.
    """
    cells = counts.reshape(1, -1)
    if frequency is None:
        frequency = frequencies(cells[0], held.value, held.total)
    pseudo = smoothing.pseudo_counts(cells.size, 1, frequency)
    if smoothing.view is not None:
        return smoothing.view.together(cells, pseudo[0]).reshape(counts.shape)
    return estimate(cells, pseudo, (held.value, held.total)).reshape(counts.shape)


def joint_prior(
    table: CountArray,
    smoothing: Smoothing,
    held: HeldOut = PLAIN,
    values: FloatArray | None = None,
    known: dict[bytes, FloatArray] | None = None,
) -> FloatArray:
    """Log P(c, x) of a table (k, v) as one variable of k·v values; shape (k, v).

    ``values`` are hierarchical estimates of log P(x | c), if they are known. ``known`` keeps those
    of log P(c), by the counts of the classes, which most columns share.
    """
    if smoothing.is_hierarchical:
        classes, known = table.sum(axis=1), {} if known is None else known
        of_class = known.get(classes.tobytes())
        if of_class is None:
            of_class = _one_variable(classes, smoothing, held, frequencies(classes))
            known[classes.tobytes()] = of_class
        if values is None:
            levels = [Level.of(table)]
            values = conditional(smoothing, table.sum(axis=0), levels, len(table), held)
        return np.asarray(of_class[:, None] + values)
    return _one_variable(table, smoothing, held)


def possible(joint: FloatArray, prior: FloatArray) -> FloatArray:
    """Give classes of prior probability 0 a joint of 0, even if their counts are empty."""
    return np.where(np.isneginf(prior)[:, None], -np.inf, joint)


def frequencies(counts: CountArray, held: float = 0.0, held_total: float = 0.0) -> FloatArray:
    """Relative frequencies, after subtracting ``held`` from each count and ``held_total`` from all.

    Without any counts, all values are equally frequent.
    """
    total = float(counts.sum()) - held_total
    if total <= 0:
        return np.full(len(counts), 1.0 / max(len(counts), 1))
    return np.asarray(np.maximum(counts - held, 0.0) / total)


@dataclass(frozen=True, eq=False)
class TreeTables(Tables):
    """log P(c) and log P(x_i | x_parent, c) of a tree or forest, with a slot for missing cells.

    Attributes
    ----------
    columns : ndarray of shape (d, 3)
        Parent of each column or −1, number of its slots (v + 1), and where its table starts
        in a line of ``tables``.
    order : ndarray
        The columns that are used; with ``marginalize``, parents before children.
    tables : ndarray of shape (sets · k, 1 + cells)
        Log-probabilities; the first entry of each line is the log prior.
    n_classes : int
        Number of classes k.
    marginalize : bool
        Sum a missing parent out exactly; False replaces P(x | missing, c) by P(x | c).
    """

    columns: IntArray
    order: IntArray
    tables: FloatArray
    n_classes: int
    marginalize: bool = True

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        out = self._priors(held)
        self._add_factors(codes, held, self.order, out, n_jobs)
        self._sum_out(codes, held, self.order, out, n_jobs)
        return out

    def apart(self) -> TreeTables:
        """Return tables that use P(x | c) where the parent is missing."""
        return replace(self, marginalize=False)

    def prefixes(
        self, codes: CodeArray, held: IntArray | None, order: IntArray, n_jobs: int | None = None
    ) -> Iterator[FloatArray]:
        """Yield the log joint given the first column of an order, the first two, and so on.

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

        A missing parent is ignored; a missing cell has 0.
        """
        factors = np.zeros((codes.shape[1], self.n_classes, len(codes)))
        held = own_classes(None, codes)
        for column in self.order:
            factor = np.zeros(factors.shape[:2])
            self._add_factors(codes, held, np.array([column]), factor, 1)
            parent, slots, start = self.columns[column]
            if parent < 0:  # a root's table may include the prior, and so does its missing slot
                factor -= self.tables[: self.n_classes, start + slots - 1]
            factors[:, :, column] = factor
        return factors

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint: one term per column, see :mod:`unnaive.tables.terms`."""
        used, sizes = np.sort(self.order), self.columns[:, 1] - 1
        with np.errstate(invalid="ignore"):  # a root that includes a prior of 0
            factors = self.factors(codes)
        factors = np.where(np.isnan(factors), 0.0, factors)
        prior = self.tables[: self.n_classes, 0].copy()
        for root in used[self.columns[used, 0] < 0]:
            _, slots, start = self.columns[root]
            prior += self.tables[: self.n_classes, start + slots - 1]
        there = observed(codes, sizes)
        for place, column in enumerate(self.order.tolist() if self.marginalize else []):
            parent, later = self.columns[column, 0], self.order[place + 1 :]
            rows = np.flatnonzero(there[column] & ~there[parent] & (parent >= 0))
            if len(rows):
                some = np.ascontiguousarray(codes[:, rows])
                factors[rows, :, column] = chained(self.joint, some, sizes, later, column)
        keys = single_terms(used, lambda column: [p for p in self.columns[column, :1] if p >= 0])
        return Terms(keys, np.repeat(prior[None], codes.shape[1], axis=0), factors[:, :, used])

    def describe(self, arrays: Arrays) -> State:
        """Describe a tree as a product with one factor per column."""
        lines = self.tables[: self.n_classes]
        base, factors = lines[:, 0].copy(), []
        for column in self.order.tolist():
            parent, slots, start = self.columns[column].tolist()
            above = int(self.columns[parent, 1]) if parent >= 0 else 1
            table = lines[:, start : start + above * slots].reshape(len(lines), above, slots)
            alone = table[:, -1, :-1]
            if parent < 0:  # the prior, if the root's table includes it
                prior = table[:, 0, -1]
                base += prior
                alone = alone - np.where(np.isneginf(prior), 0.0, prior)[:, None]
            if slots > 1:
                parents = [parent] if parent >= 0 else []
                tables = []
                if parents:
                    tables.append(describe.table([parent, column], table[:, :-1, :-1], arrays))
                if not (parents and self.marginalize):
                    tables.append(describe.table([column], alone, arrays))
                factors.append(describe.factor([column], parents, tables))
        return describe.product(base, factors, arrays, marginalize=self.marginalize)

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
        """Compute the rows in which a parent is missing: sum over its values."""
        rows = self._rows_to_sum(codes, order)

        def sum_out(part: tuple[int, int]) -> None:
            chosen = rows[slice(*part)]
            sum_product(chosen, codes, self.columns, order, self.tables, held, out)

        _parallel.run(sum_out, _parallel.row_blocks(len(rows), ROWS_A_TASK), n_jobs)

    def answer_hopeless(self, joint: FloatArray, held: IntArray | None = None) -> None:
        """Put the log prior into rows (n, k) in which every class has probability 0."""
        rows = hopeless_rows(joint)
        joint[rows] = self._priors(np.full(len(rows), -1) if held is None else held[rows])

    def _rows_to_sum(self, codes: CodeArray, order: IntArray) -> IntArray:
        """Rows in which a column that has children is missing."""
        if not self.marginalize:
            return NO_ROWS
        inner = self._inner if order is self.order else self._parents_of(order)
        missing = np.empty(codes.shape[1], dtype=bool)
        some = mark_missing(codes, self.columns, inner, missing)
        return np.flatnonzero(missing) if some else NO_ROWS

    @cached_property
    def _inner(self) -> IntArray:
        return self._parents_of(self.order)

    def _parents_of(self, order: IntArray) -> IntArray:
        parents = self.columns[order, 0]
        return np.flatnonzero(np.bincount(parents[parents >= 0]))  # sorted; np.unique imports more


def only_class(tree: TreeTables, label: int) -> TreeTables:
    """Return the tables of one class."""
    return replace(tree, tables=tree.tables[label :: tree.n_classes].copy(), n_classes=1)


def tree_bytes(sizes: IntArray, parents: IntArray, n_classes: int) -> int:
    """Bytes that one set of a graph's tables takes."""
    slots = np.where(parents > LEFT_OUT, sizes + 1, 0).astype(object)
    contexts = np.where(parents >= 0, slots[np.maximum(parents, 0)], 1)
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
    """Estimate the tables of a graph in which a column has at most one parent.

    With ``held_out``, the weight of a row, the tables are those of leave-one-out. ``root_of``
    estimates log P(c, x) of the only root as one variable, in place of P(c)·P(x | c); the root's
    table then includes the prior. ``factor_of`` estimates the table of a column that has a
    parent; None is :func:`column_factor`. ``shared`` caches factors for other graphs of the same
    counts. ``class_prior`` (k,) is P(c); None estimates it.
    """
    sizes, parents, n_classes = counts.schema.sizes, graph.parents, counts.n_classes
    contexts = np.where(parents >= 0, sizes[np.maximum(parents, 0)] + 1, 1)
    starts = 1 + starts_of(np.where(parents > LEFT_OUT, (sizes + 1) * contexts, 0))
    roots = np.flatnonzero(parents == -1)
    together = root_of is not None and class_prior is None and len(roots) == 1
    shared = {} if shared is None else shared
    sets = leave_one_out_sets(held_out)
    known = all((0, column, -1) in shared for column in roots.tolist())
    if smoothing.is_hierarchical and smoothing.view is None and not known:
        shared.update(factors_alone(counts, smoothing, sets))
    tables = np.empty((len(sets), n_classes, starts[-1]))
    for index, held in enumerate(sets):
        shared_values = smoothing.uses_frequencies or smoothing.is_hierarchical
        if index > 1 and not shared_values:
            tables[index] = tables[0]  # the prior of this set is never looked up
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
    """Return :func:`column_factor` for several sets; concentrations are chosen only once."""
    marginal = counts.marginal(column)
    n_classes, size = marginal.shape
    margin, levels = marginal.sum(axis=0), [Level.of(marginal)]
    above = counts.schema.sizes[parent] if parent >= 0 else 0
    if parent >= 0:
        pair = counts.pair(parent, column).reshape(n_classes * above, size)
        levels.append(Level.of(pair, np.repeat(np.arange(n_classes), above)))
    chosen = None
    if smoothing.is_hierarchical:
        chosen = concentrations(margin, levels, smoothing.concentration)
    factors = [np.zeros((n_classes, above + 1, size + 1)) for _ in sets]
    known: State = {"chosen": chosen, "column": column}
    for factor, held in zip(factors, sets, strict=True):
        if chosen is not None and smoothing.view is None:
            shares = hierarchical(margin, levels, chosen, (held.total, held.alone, held.value))
            factor[:, above, :size] = np.log(shares[1])
            if parent >= 0:
                factor[:, :above, :size] = np.log(shares[2]).reshape(n_classes, above, size)
            continue
        alone = conditional(smoothing, margin, levels[:1], n_classes, held, **known)
        factor[:, above, :size] = alone
        if parent >= 0:
            q = n_classes * int(above)
            entries = conditional(smoothing, margin, levels, q, held, **known)
            factor[:, :above, :size] = entries.reshape(n_classes, above, size)
    return factors
