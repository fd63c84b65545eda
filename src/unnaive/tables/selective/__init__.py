r"""Leave-one-out of nested models in one sweep: the first columns of an order, few parents or many.

A column's factors given no parent, the first, the first two, … are looked up for every row, left
out, once. Added up column by column they are the log joint of every model on the way:

.. math:: \log P_{k,s}(c, x) = \log P(c) + \sum_{i \le s} \log P(x_i \mid c, x_{\pi_1(i)}, \dots,
          x_{\pi_k(i)})

A row that lacks a parent's cell has the factor of the parents before that one.

References
----------
Martínez, Webb, Chen & Zaidi, "Scalable learning of Bayesian network classifiers", JMLR 17, 2016.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import _parallel
from unnaive.tables.hierarchy import ROOT, Level, concentrations
from unnaive.tables.selective.kernels import count_contexts, lean_rows, measure, smooth_rows
from unnaive.tables.trees import leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unnaive._typing import AnyArray, BoolArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.smoothing import Smoothing

    Family = tuple[int, ...]

ROWS_A_TASK = 1 << 13
SCORES = ("accuracy", "log_loss", "brier")


@dataclass(frozen=True, eq=False)
class Depth:
    """Counts of a column's values in the contexts of its first few parents.

    ``place`` (n,) is every row's context, −1 where it lacks a cell; ``table`` (q, v, k),
    ``totals`` (q, k); ``above`` (q,) is each context's place with a parent less.
    """

    place: IntArray
    above: IntArray
    table: FloatArray
    totals: FloatArray

    def level(self, n_above: int) -> Level:
        """Return the counts class by class, as hierarchical smoothing takes them."""
        n_values, n_classes = self.table.shape[1:]
        counts = self.table.transpose(2, 0, 1).reshape(-1, n_values)
        return Level.of(counts, (np.arange(n_classes)[:, None] * n_above + self.above).reshape(-1))


@dataclass(frozen=True, eq=False)
class Run:
    """Depths that the same rows take part in, ``first`` and those after; before it, what they need.

    ``alphas``: the concentration of every depth, where smoothing has any.
    """

    first: int
    depths: tuple[Depth, ...]
    alphas: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rows, and how their tables are estimated."""

    rows: CodedRows
    counts: JointCounts
    smoothing: Smoothing
    class_prior: FloatArray | None

    @cached_property
    def own(self) -> tuple[IntArray, FloatArray]:
        """Classes and weights of the rows."""
        weights = self.rows.weights
        ones = np.ones(len(self.rows.classes))
        return self.rows.classes.astype(np.int64), ones if weights is None else weights

    def prior(self, part: slice) -> FloatArray:
        """Log P(c) without the row; shape (n, k)."""
        classes, weights = (each[part] for each in self.own)
        found = np.empty((len(classes), self.counts.n_classes))
        distinct, kind = np.unique(weights, return_inverse=True)
        for index, weight in enumerate(distinct):
            sets = leave_one_out_sets(float(weight))[:2]
            others, own = (
                log_prior(self.counts, self.smoothing, self.class_prior, held) for held in sets
            )
            chosen = np.flatnonzero(kind == index)
            found[chosen] = others
            found[chosen, classes[chosen]] = own[classes[chosen]]
        return found

    def column(self, family: Family) -> Column:
        """Count a column with no parent, with its first, with its first two, ….

        Counts of one depth come from the rows that have its cells, and so do those that it
        leans on: they are what a model of that many parents has.
        """
        codes, sizes = self.rows.codes, self.counts.schema.sizes
        seen = [codes[family[0]] < sizes[family[0]]]
        for parent in family[1:]:
            seen.append(seen[-1] & (codes[parent] < sizes[parent]))
        values = np.where(seen[0], codes[family[0]], 0).astype(np.int64)
        return Column(self, family, values, tuple(self._runs(family, values, seen)))

    def _runs(self, family: Family, values: IntArray, seen: list[BoolArray]) -> Iterator[Run]:
        taking_part = [int(rows.sum()) for rows in seen]
        alone = self._count(np.where(seen[0], 0, -1), np.zeros(1, dtype=np.int64), values, family)
        starts = [m for m in range(len(seen)) if m == 0 or taking_part[m] < taking_part[m - 1]]
        for first, stop in zip(starts, [*starts[1:], len(seen)], strict=True):
            depths = [alone]
            place, n_contexts = np.where(seen[first], 0, -1), 1
            for parent in family[1:stop]:
                size = int(self.counts.schema.sizes[parent])
                place, above = deepen(place, n_contexts, self.rows.codes[parent], size)
                depths.append(self._count(place, above, values, family))
                n_contexts = len(above)
            yield Run(first, tuple(depths), self._alphas(family[0], depths))

    def _count(self, place: IntArray, above: IntArray, values: IntArray, family: Family) -> Depth:
        k = self.counts.n_classes
        table = np.zeros((len(above), int(self.counts.schema.sizes[family[0]]), k))
        totals = np.zeros((len(above), k))
        count_contexts(place, values, *self.own, table, totals)
        return Depth(place, above, table, totals)

    def _alphas(self, child: int, depths: list[Depth]) -> tuple[float, ...]:
        if not self.smoothing.is_hierarchical:
            return ()
        levels = [Level.of(depths[0].table[0].T)]
        levels += [below.level(len(above.above)) for above, below in pairwise(depths)]
        margin = self.counts.marginal(child).sum(axis=0)
        return tuple(concentrations(margin, levels, self.smoothing.concentration))


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the sweep: its value in every row, and its counts at every depth."""

    sweep: Sweep
    family: Family
    values: IntArray
    runs: tuple[Run, ...]

    def factors(self, part: slice) -> FloatArray:
        """Log P(x | first m parents, c) of rows that are left out; shape (depths, n, k)."""
        own = tuple(each[part] for each in self.sweep.own)
        values = self.values[part]
        out = np.zeros((len(self.family), len(values), self.sweep.counts.n_classes))
        fill = self._leaning if self.sweep.smoothing.is_hierarchical else self._smoothed
        for run in self.runs:
            fill(run, part, values, own, out)
        return out

    def _smoothed(self, run: Run, part: slice, values: IntArray, own: Any, out: FloatArray) -> None:
        sizes, k = self.sweep.counts.schema.sizes, self.sweep.counts.n_classes
        policy, n_values = self.sweep.smoothing, int(sizes[self.family[0]])
        for m in range(run.first, len(run.depths)):
            depth = run.depths[m]
            out[m] = out[max(m - 1, 0)]
            possible = k * math.prod(sizes[list(self.family[1 : m + 1])].tolist())
            alphas, total = policy.pseudo_counts(n_values, possible, self._frequencies(part))
            if not policy.uses_frequencies:
                alphas = np.full(len(values), alphas[0])
            counts = (depth.table, depth.totals)
            smooth_rows(depth.place[part], values, counts, own, alphas, total, out[m])

    def _leaning(self, run: Run, part: slice, values: IntArray, own: Any, out: FloatArray) -> None:
        chances = np.repeat(self._frequencies(part, ROOT)[:, None], out.shape[2], axis=1)
        for m, depth in enumerate(run.depths):
            place = depth.place[part]
            lean_rows(place, values, (depth.table, depth.totals), own, run.alphas[m], chances)
            if m >= run.first:
                seen = (place >= 0)[:, None]
                out[m] = np.where(seen, np.log(chances), out[max(m - 1, 0)])

    def _frequencies(self, part: slice, imaginary: float = 0.0) -> FloatArray:
        """Share of each row's value in the other rows, whatever their classes; shape (n,)."""
        margin = self.sweep.counts.marginal(self.family[0]).sum(axis=0)
        weights = self.sweep.own[1][part]
        even = 1.0 / max(len(margin), 1)
        rest = np.maximum(float(margin.sum()) - weights, 0.0) + imaginary
        own = np.maximum(margin[self.values[part]] - weights, 0.0) + imaginary * even
        return np.where(rest > 0, own / np.where(rest > 0, rest, 1.0), even)


def deepen(
    place: IntArray, n_contexts: int, codes: AnyArray, size: int
) -> tuple[IntArray, IntArray]:
    """Split contexts by one more column: every row's new one, and the old one of each (q,)."""
    taking_part = np.flatnonzero(place >= 0)
    key = place[taking_part] * size + codes[taking_part]
    possible = n_contexts * size
    if possible <= max(1024, 4 * len(place)):
        used = np.zeros(possible, dtype=bool)
        used[key] = True
        found, number = np.flatnonzero(used), (np.cumsum(used) - 1)[key]
    else:
        found, number = np.unique(key, return_inverse=True)
    deeper = np.full(len(place), -1)
    deeper[taking_part] = number
    return deeper, found // size


@dataclass(frozen=True, eq=False)
class Joints:
    """Log joints so far of rows from ``start`` on, by every number of parents: (depths, n, k)."""

    sweep: Sweep
    depths: IntArray
    start: int
    prior: FloatArray
    joint: FloatArray

    def add(self, column: Column | None, block: tuple[int, int]) -> FloatArray:
        """Add a column to some rows, and score them; shape (depths, 3)."""
        here, rows = slice(*block), slice(self.start + block[0], self.start + block[1])
        if column is not None:
            factors = column.factors(rows)
            self.joint[:, here] += factors[np.minimum(self.depths, len(factors) - 1)]
        classes, weights = self.sweep.own
        return _scores(self.joint[:, here], self.prior[here], classes[rows], weights[rows])


def nested_scores(
    sweep: Sweep, families: Sequence[Family], depths: IntArray, max_memory: float
) -> FloatArray:
    """Leave-one-out scores of the first 0, 1, … columns with up to so many parents each.

    ``families``: column and parents, in the order of entry. Shape (depths, columns + 1, 3):
    see :data:`SCORES`. Rows are taken in blocks whose sums are added in one order, whatever the
    threads and the memory.
    """
    k = sweep.counts.n_classes
    blocks_at_once = int(max_memory) // (16 * k * (len(depths) + 1) * ROWS_A_TASK)
    team = _parallel.Team(sweep.rows.n_jobs)
    total = np.zeros((len(families) + 1, len(depths), 3))
    for start, stop in _parallel.row_blocks(
        len(sweep.rows.classes), max(blocks_at_once, 1) * ROWS_A_TASK
    ):
        prior = sweep.prior(slice(start, stop))
        joint = np.repeat(prior[None], len(depths), axis=0)
        joints = Joints(sweep, depths, start, prior, joint)
        blocks = _parallel.row_blocks(stop - start, ROWS_A_TASK)
        for place in range(len(families) + 1):
            column = sweep.column(families[place - 1]) if place else None
            for found in team.run(partial(joints.add, column), blocks):
                total[place] += found
    return np.asarray(total.transpose(1, 0, 2) / float(sweep.own[1].sum()))


def path_scores(joints: Iterable[FloatArray], classes: IntArray, weights: FloatArray) -> FloatArray:
    """Weighted sums of the scores of rows by every model of a path; shape (models, 3).

    The first of the log joints is the log prior.
    """
    found, prior = [], None
    for joint in joints:
        prior = joint if prior is None else prior
        found.append(_scores(joint[None], prior, classes, weights)[0])
    return np.array(found)


def _scores(
    joints: FloatArray, prior: FloatArray, classes: IntArray, weights: FloatArray
) -> FloatArray:
    out = np.zeros((len(joints), 3))
    for joint, line in zip(joints, out, strict=True):
        measure(joint, prior, classes, weights, line)
    return out


def table_bytes(sizes: IntArray, families: Iterable[Family], n_rows: int, n_classes: int) -> int:
    """Bytes that counts and tables of a model of these families may take."""
    return sum(2 * _family_bytes(sizes, family, n_rows, n_classes) for family in families)


def sweep_bytes(sizes: IntArray, families: Iterable[Family], n_rows: int, n_classes: int) -> int:
    """Bytes that counting one column at all depths may take, at most."""
    return max(
        (
            sum(
                8 * n_rows + 3 * _family_bytes(sizes, family[: m + 1], n_rows, n_classes)
                for m in range(len(family))
            )
            for family in families
        ),
        default=0,
    )


def _family_bytes(sizes: IntArray, family: Family, n_rows: int, n_classes: int) -> int:
    contexts = min(n_rows, int(math.prod(sizes[list(family[1:])].tolist())))
    return 8 * n_classes * contexts * int(sizes[family[0]] + 1)
