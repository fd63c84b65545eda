r"""Leave-one-out of nested models in one sweep: the first columns of an order, few parents or many.

A column's factors given no parent, the first, the first two, … are looked up for every row, left
out, once. Multiplied column by column they are the joint of every model on the way:

.. math:: P_{k,s}(c, x) = P(c) \prod_{i \le s} P(x_i \mid c, x_{\pi_1(i)}, \dots, x_{\pi_k(i)})

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
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.selective import NEVER, add_columns, count_steps, fill_factors
from unnaive.tables.hierarchy import ROOT, Level, concentrations
from unnaive.tables.trees import leave_one_out_sets, log_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Span = tuple[int, int, int, bool]
    from unnaive._typing import AnyArray, FloatArray, IntArray, ShortArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.smoothing import Smoothing

    Family = tuple[int, ...]

ROWS_A_BLOCK = 1 << 8  # whose scores are added up first, at most
LEAST_ROWS = 1 << 13  # whose products are kept at once, however short memory is
BATCH_BYTES = 1 << 23  # of columns that are counted at once, while the ones before are scored


@dataclass(frozen=True, eq=False)
class Run:
    """Counts given no parent, one, two, …, in the same rows from step ``first`` on.

    ``places`` (steps + 1, 2, n) is every row's context and cell (context and value) after each
    step, −1 where it lacks one; ``starts`` (steps + 1, 2) are the first ones of the steps in
    ``totals`` (contexts, k) and ``table`` (cells, k).
    """

    first: int
    places: ShortArray
    starts: IntArray
    totals: FloatArray
    table: FloatArray

    @property
    def arrays(self) -> tuple[ShortArray, IntArray, tuple[FloatArray, FloatArray]]:
        """What the kernels take."""
        return self.places, self.starts, (self.totals, self.table)

    def levels(self, values: AnyArray, n_values: int) -> Iterator[Level]:
        """Yield counts class by class, step after step, as hierarchical smoothing takes them."""
        labels = np.arange(self.table.shape[1])[:, None]
        above, n_above = self.places[0, 0], 0
        for step, (context, cell) in enumerate(self.places[1:]):
            (first, low), (last, high) = self.starts[step], self.starts[step + 1]
            rows = np.flatnonzero(context >= 0)
            value, over = np.empty((2, high - low), dtype=np.int64)
            value[cell[rows]], over[cell[rows]] = values[rows], context[rows]
            counts = np.zeros((len(labels), last - first, n_values))
            counts[:, over, value] = self.table[low:high].T
            parents = np.empty(last - first, dtype=np.int64)
            parents[context[rows]] = above[rows]
            yield Level.of(counts.reshape(-1, n_values), (labels * n_above + parents).reshape(-1))
            above, n_above = context, last - first


@dataclass(frozen=True, eq=False)
class Space:
    """Factors of some columns for all rows of a part: what :func:`fill_factors` writes.

    ``steps`` (columns, depths) is what a model of so many parents takes.
    """

    steps: IntArray
    lines: ShortArray
    chances: FloatArray
    factors: FloatArray

    @classmethod
    def of(
        cls, steps: tuple[int, int], rows: tuple[int, ...], known: int, factors: tuple[int, ...]
    ) -> Space:
        """Make room; before the first step, and for rows beyond those known, nothing is said."""
        space = cls(
            np.empty(steps, dtype=np.int64),
            np.zeros(rows, dtype=np.int32),
            np.empty(rows),
            np.empty(factors),
        )
        space.chances[:, 0] = 1.0
        space.chances[:, :, known:] = 1.0
        space.factors[:, 0] = 1.0
        return space


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

    @cached_property
    def sizes(self) -> list[int]:
        """Number of values of every column."""
        found: list[int] = self.counts.schema.sizes.tolist()
        return found

    @cached_property
    def row_by_row(self) -> bool:
        """Whether rows of one cell have different factors, since their weights differ."""
        looks_at_rows = self.smoothing.is_hierarchical or self.smoothing.uses_frequencies
        return looks_at_rows and len(np.unique(self.own[1])) > 1

    @cached_property
    def everyone(self) -> ShortArray:
        """What says that all rows take part; shape (n,)."""
        return np.zeros(len(self.rows.classes), dtype=np.int32)

    def prior(self, part: slice) -> FloatArray:
        """Log P(c) without the row; shape (n, k)."""
        classes, weights = (each[part] for each in self.own)
        found = np.empty((len(classes), self.counts.n_classes))
        distinct, kind = np.unique(weights, return_inverse=True)
        ends = np.cumsum(np.bincount(kind))[:-1]
        alike = np.split(np.argsort(kind, kind="stable"), ends)
        for weight, chosen in zip(distinct, alike, strict=True):
            sets = leave_one_out_sets(float(weight))[:2]
            others, own = (
                log_prior(self.counts, self.smoothing, self.class_prior, held) for held in sets
            )
            found[chosen] = others
            found[chosen, classes[chosen]] = own[classes[chosen]]
        return found

    def fill(self, family: Family, rows: slice, out: tuple[AnyArray, AnyArray, AnyArray]) -> None:
        """Write the factors of a column given no parent, the first, the first two, ….

        ``out``: see :func:`fill_factors`. A row that lacks the column has line 0.
        """
        if not family:
            return
        share, span = self._shares(family[0]), (rows.start, rows.stop, 1, self.row_by_row)
        if self.smoothing.is_hierarchical:
            self._fill_leaning(family, share, span, out)
            return
        run = self._run(0, family, self.everyone)
        fill_factors(run.arrays, self.own, share, self._added(family), False, span, out)

    def _fill_leaning(
        self, family: Family, share: FloatArray, span: Span, out: tuple[AnyArray, ...]
    ) -> None:
        """Write factors that lean on those of a parent less, counted in the same rows."""
        (first_row, last_row, free, _), n_rows = span, span[1] - span[0]
        lines, chances, factors = (out[0][:, :n_rows], out[1][:, :n_rows], out[2])
        for run in self._runs(family):
            sizes = np.diff(run.starts[:, 1])
            if self.row_by_row:
                sizes = np.full(len(sizes), n_rows)
            starts = np.concatenate([[1], 1 + np.cumsum(sizes)])
            found = (
                np.zeros((len(starts), n_rows), dtype=np.int32),
                np.ones((len(starts), n_rows)),
                np.ones((starts[-1], factors.shape[1])),
            )
            pseudo = self._concentrated(family[0], run)
            fill_factors(run.arrays, self.own, share, pseudo, True, span, found)
            for step in range(run.first, len(sizes)):
                inside = run.places[step + 1, 0, first_row:last_row] >= 0
                moved = found[0][step + 1] + (free - starts[step])
                lines[step + 1] = np.where(inside, moved, lines[step])
                chances[step + 1] = np.where(inside, found[1][step + 1], chances[step])
                factors[free : free + sizes[step]] = found[2][starts[step] : starts[step + 1]]
                free += sizes[step]

    def _shares(self, column: int) -> FloatArray:
        """Return what smoothing leans on: the value's share of the other rows, or 1/v; (n,)."""
        policy, weights = self.smoothing, self.own[1]
        even = 1.0 / self.sizes[column]
        if not (policy.is_hierarchical or policy.uses_frequencies):
            return np.full(len(weights), even)
        imaginary = ROOT if policy.is_hierarchical else 0.0
        margin = self.counts.marginal(column).sum(axis=0)
        rest = np.maximum(float(margin.sum()) - weights, 0.0) + imaginary
        own = np.append(margin, 0.0)[self.rows.codes[column]] - weights
        own = np.maximum(own, 0.0) + imaginary * even
        return np.where(rest > 0, own / np.where(rest > 0, rest, 1.0), even)

    def _added(self, family: Family) -> FloatArray:
        """Return what smoothing adds at every step; see :func:`fill_factors`."""
        n_values, *sizes = (self.sizes[column] for column in family)
        possible, found = self.counts.n_classes, []
        for size in (1, *sizes):
            possible *= size
            each, shared = self.smoothing.shares(possible)
            found.append((each, shared, each * n_values + shared, 1.0 / n_values))
        return np.array(found)

    def _concentrated(self, column: int, run: Run) -> FloatArray:
        """Return what hierarchical smoothing adds at every step of a run."""
        margin = self.counts.marginal(column).sum(axis=0)
        levels = list(run.levels(self.rows.codes[column], len(margin)))
        alphas = concentrations(margin, levels, self.smoothing.concentration)
        return np.array([(0.0, alpha, alpha, 0.0) for alpha in alphas])

    def _runs(self, family: Family) -> Iterator[Run]:
        """Count a column with no parent, with its first, with its first two, ….

        Counts of a step come from the rows that have its cells, and so do those that it leans
        on: they are what a model of that many parents has.
        """
        codes, sizes = self.rows.codes, self.sizes
        lacks = [codes[family[0]] >= sizes[family[0]]]
        for parent in family[1:]:
            lacks.append(lacks[-1] | (codes[parent] >= sizes[parent]))
        taking_part = [len(rows) - int(rows.sum()) for rows in lacks]
        starts = [m for m in range(len(family)) if m == 0 or taking_part[m] < taking_part[m - 1]]
        for first, stop in zip(starts, [*starts[1:], len(family)], strict=True):
            yield self._run(first, family[:stop], -lacks[first].astype(np.int32))

    def _run(self, first: int, family: Family, taking_part: ShortArray) -> Run:
        sizes, n_rows = self.counts.schema.sizes, len(taking_part)
        contexts, cells = room(self.sizes, family, n_rows)
        n_slots = 1 << (2 * n_rows - 1).bit_length()
        run = Run(
            first,
            np.empty((len(family) + 1, 2, n_rows), dtype=np.int32),
            np.zeros((len(family) + 1, 2), dtype=np.int64),
            np.empty((contexts, self.counts.n_classes)),
            np.empty((cells, self.counts.n_classes)),
        )
        run.places[0] = 0
        slots, keys = np.empty(n_slots, dtype=np.int32), np.empty(n_rows, dtype=np.int64)
        columns = np.array(family, dtype=np.int64)
        count_steps(self.rows.codes, columns, sizes, taking_part, self.own, slots, keys, run.arrays)
        return run


def room(sizes: Sequence[int], family: Family, n_rows: int) -> tuple[int, int]:
    """Contexts and cells of all steps of a family that rows can have."""
    contexts, cells, possible = 0, 0, 1
    for step, column in enumerate(family):
        possible *= sizes[column] if step else 1
        contexts += min(n_rows, possible)
        cells += min(n_rows, possible * sizes[family[0]])
    return contexts, cells


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that are swept together, and their products by every number of parents.

    Rows are filled up to whole blocks by some of no weight. Products are fractions and powers of
    two, (blocks, depths, k, rows a block) both; the prior has no depths.
    """

    sweep: Sweep
    rows: slice
    depths: IntArray
    own: tuple[IntArray, FloatArray]
    products: tuple[FloatArray, IntArray]
    prior: FloatArray

    @classmethod
    def of(cls, sweep: Sweep, rows: slice, depths: IntArray, block: int) -> Part:
        """Begin with the prior."""
        known = rows.stop - rows.start
        n_blocks = -(-known // block)
        classes, weights = (np.zeros(n_blocks * block, dtype=each.dtype) for each in sweep.own)
        classes[:known], weights[:known] = (each[rows] for each in sweep.own)
        log_prior = np.zeros((n_blocks * block, sweep.counts.n_classes))
        log_prior[:known] = sweep.prior(rows)
        prior = np.exp(log_prior).reshape(n_blocks, block, -1).transpose(0, 2, 1).copy()
        fraction, power = np.frexp(prior)
        power = np.where(prior > 0, power.astype(np.int64), NEVER)
        fractions, powers = (
            np.repeat(each[:, None], len(depths), axis=1)
            for each in (np.where(prior > 0, fraction, 1.0), power)
        )
        return cls(sweep, rows, depths, (classes, weights), (fractions, powers), prior)

    def add_scores(
        self, families: list[Family], team: _parallel.Team, max_memory: float, total: FloatArray
    ) -> None:
        """Add the scores after each of the columns to ``total`` (columns, depths, 3).

        While some columns are multiplied, the next ones are counted.
        """
        n_blocks = len(self.products[0])
        at_once, spaces = self._spaces(families, max_memory)
        batches = [families[i : i + at_once] for i in range(0, len(families), at_once)]
        first = 0
        for batch, following in pairwise([[], *batches, []]):
            found = np.zeros((n_blocks, len(batch), len(self.depths), 3))
            fill = partial(self._fill, spaces[1], following)
            multiply = partial(self._multiply, spaces[0], found)
            work = [partial(fill, span) for span in _shares_of(len(following), team)]
            work += [partial(multiply, span) for span in _shares_of(n_blocks, team) if batch]
            team.run(_do, work)
            for sums in found:
                total[first : first + len(batch)] += sums
            first += len(batch)
            spaces.reverse()

    def _spaces(self, families: list[Family], max_memory: float) -> tuple[int, list[Space]]:
        """Columns that are counted at once, and room for them and for the ones before."""
        sweep, n_rows = self.sweep, len(self.own[0])
        n_steps = max(1, *map(len, families))
        n_lines = n_steps * n_rows
        if not sweep.row_by_row:
            n_lines = max(room(sweep.sizes, family, len(sweep.own[0]))[1] for family in families)
        factors = (1 + n_lines, sweep.counts.n_classes)
        needed = 12 * n_steps * n_rows + 8 * factors[0] * factors[1]
        number = max(1, int(min(BATCH_BYTES, max_memory)) // needed)
        number = min(number, len(families))
        steps, rows = (number, len(self.depths)), (number, n_steps + 1, n_rows)
        known = self.rows.stop - self.rows.start
        return number, [Space.of(steps, rows, known, (number, *factors)) for _ in range(2)]

    def _fill(self, space: Space, families: list[Family], span: tuple[int, int]) -> None:
        """Count some of the columns, and write their factors."""
        for index in range(*span):
            space.steps[index] = np.minimum(self.depths + 1, len(families[index]))
            out = (space.lines[index], space.chances[index], space.factors[index])
            self.sweep.fill(families[index], self.rows, out)

    def _multiply(self, space: Space, found: FloatArray, blocks: tuple[int, int]) -> None:
        """Multiply some blocks of rows by columns, and score them after each."""
        columns = (space.steps[: found.shape[1]], space.lines, space.chances, space.factors)
        add_columns(columns, self.own, self.products, self.prior, blocks, found)


def _do(task: Callable[[], None]) -> None:
    task()


def _shares_of(number: int, team: _parallel.Team) -> list[tuple[int, int]]:
    """Cut a number of things into two shares a thread; results do not depend on it."""
    return _parallel.row_blocks(number, max(-(-number // (2 * team.size)), 1))


def nested_scores(
    sweep: Sweep, families: Sequence[Family], depths: IntArray, max_memory: float
) -> FloatArray:
    """Leave-one-out scores of the first 0, 1, … columns with up to so many parents each.

    ``families``: column and parents, in the order of entry. Shape (depths, columns + 1, 3):
    see :data:`~unnaive.tables.left_out.SCORES`. Rows are taken in blocks whose sums are added in
    one order, whatever the threads and the memory.
    """
    n_rows, k = len(sweep.rows.classes), sweep.counts.n_classes
    n_steps = max(map(len, families), default=1)
    block = -(-n_rows // (2 * -(-n_rows // (2 * ROWS_A_BLOCK))))
    needed = 16 * k * (len(depths) + 1) + 24 * n_steps + 16 * k * n_steps * sweep.row_by_row
    at_once = max(int(max_memory) // needed, LEAST_ROWS)
    team = _parallel.Team(sweep.rows.n_jobs)
    total = np.zeros((len(families) + 1, len(depths), 3))
    for start, stop in _parallel.row_blocks(n_rows, -(-at_once // block) * block):
        part = Part.of(sweep, slice(start, stop), depths, block)
        part.add_scores([(), *families], team, max_memory, total)
    return np.asarray(total.transpose(1, 0, 2) / float(sweep.own[1].sum()))


def table_bytes(sizes: IntArray, families: Iterable[Family], n_rows: int, n_classes: int) -> int:
    """Bytes that counts and tables of a model of these families may take."""
    values, found = sizes.tolist(), 0
    for family in families:
        contexts = min(n_rows, math.prod(values[parent] for parent in family[1:]))
        found += 16 * n_classes * contexts * (values[family[0]] + 1)
    return found


def sweep_bytes(sizes: IntArray, families: Iterable[Family], n_rows: int, n_classes: int) -> int:
    """Bytes that counting one column at all depths may take, at most."""
    values, found = sizes.tolist(), 0
    for family in families:
        contexts, cells = room(values, family, n_rows)
        lines = contexts * (1 + values[family[0]]) + 3 * cells
        found = max(found, 8 * n_rows * len(family) + 8 * n_classes * lines)
    return found
