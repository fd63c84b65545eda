r"""Leave-one-out of nested models in one sweep: the first s columns, each with up to k parents.

The leave-one-out factors of a column given no parent, the first, the first two, … are computed once
for every row. Multiplied column by column, they give the joint of every nested model:

.. math:: P_{k,s}(c, x) = P(c) \prod_{i \le s} P(x_i \mid c, x_{\pi_1(i)}, \dots, x_{\pi_k(i)})

If a parent is missing in a row, the factor is that of the parents before it.

References
----------
Martínez, Webb, Chen & Zaidi, "Scalable learning of Bayesian network classifiers", JMLR 17, 2016.
"""

from __future__ import annotations

import math
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.selective import NEVER, add_columns, count_steps, fill_factors
from unnaive._dataclasses import dataclass
from unnaive.tables.hierarchy import ROOT, Level, concentrations
from unnaive.tables.left_out import left_out_priors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from unnaive._typing import AnyArray, FloatArray, IntArray, ShortArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.tables.smoothing import Smoothing

    Family = tuple[int, ...]
    Span = tuple[int, int, int, bool]

ROWS_A_BLOCK = 1 << 8  # rows whose scores are summed first, at most
LEAST_ROWS = 1 << 13  # rows whose products are always in memory together
BATCH_BYTES = 1 << 23  # of columns that are counted together, while earlier ones are scored


@dataclass(frozen=True, eq=False)
class Run:
    """Counts given no parent, one, two, …, of the same rows from step ``first`` on.

    Attributes
    ----------
    first : int
        The first step that these counts are used for.
    places : ndarray of shape (steps + 1, 2, n)
        Context and cell (context and value) of every row after each step, −1 if missing.
    starts : ndarray of shape (steps + 1, 2)
        Where the contexts and the cells of each step start.
    totals : ndarray of shape (contexts, k)
        Counts of the contexts.
    table : ndarray of shape (cells, k)
        Counts of the cells.
    """

    first: int
    places: ShortArray
    starts: IntArray
    totals: FloatArray
    table: FloatArray

    @property
    def arrays(self) -> tuple[ShortArray, IntArray, tuple[FloatArray, FloatArray]]:
        """The arrays as the kernels read them."""
        return self.places, self.starts, (self.totals, self.table)

    def levels(self, values: AnyArray, n_values: int) -> Iterator[Level]:
        """Yield the counts of each step as a level of hierarchical smoothing."""
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
    """Memory for the factors of some columns and all rows of a part, see :func:`fill_factors`.

    ``steps`` (columns, depths) is the step that a model of each depth uses.
    """

    steps: IntArray
    lines: ShortArray
    chances: FloatArray
    factors: FloatArray

    @classmethod
    def of(
        cls, steps: tuple[int, int], rows: tuple[int, ...], known: int, factors: tuple[int, ...]
    ) -> Space:
        """Allocate; factors are 1 before the first step and for rows after the ``known`` ones."""
        chances, lines = np.empty(rows), np.empty(factors)
        chances[:, 0] = chances[:, :, known:] = 1.0
        lines[:, 0] = 1.0
        return cls(np.empty(steps, dtype=np.int64), np.zeros(rows, dtype=np.int32), chances, lines)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Rows, and how their tables are estimated.

    Attributes
    ----------
    rows : CodedRows
        The rows.
    counts : JointCounts
        Counts of the classes and values.
    smoothing : Smoothing
        The smoothing policy.
    class_prior : ndarray of shape (k,), or None
        P(c); None estimates it.
    """

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
        return list(self.counts.schema.sizes.tolist())

    @cached_property
    def row_by_row(self) -> bool:
        """Whether rows of the same cell have different factors because their weights differ."""
        looks_at_rows = self.smoothing.is_hierarchical or self.smoothing.uses_frequencies
        return looks_at_rows and len(np.unique(self.own[1])) > 1

    def fill(self, family: Family, rows: slice, out: tuple[AnyArray, AnyArray, AnyArray]) -> None:
        """Write the factors of a column given no parent, the first, the first two, ….

        ``out``: see :func:`fill_factors`. Rows in which the column is missing have line 0.
        """
        if not family:
            return
        share, span = self._shares(family[0]), (rows.start, rows.stop, 1, self.row_by_row)
        if self.smoothing.is_hierarchical:
            self._fill_backed_off(family, share, span, out)
            return
        run = self._run(0, family, np.zeros(len(self.rows.classes), dtype=np.int32))
        fill_factors(run.arrays, self.own, share, self._added(family), False, span, out)

    def _fill_backed_off(
        self, family: Family, share: FloatArray, span: Span, out: tuple[AnyArray, ...]
    ) -> None:
        """Write factors that back off to those of one parent less, counted in the same rows."""
        (first_row, last_row, free, _), n_rows = span, span[1] - span[0]
        lines, chances, factors = (out[0][:, :n_rows], out[1][:, :n_rows], out[2])
        k = factors.shape[1]
        for run in self._runs(family):
            sizes = np.diff(run.starts[:, 1])
            if self.row_by_row:
                sizes = np.full(len(sizes), n_rows)
            starts = np.concatenate([[1], 1 + np.cumsum(sizes)])
            shape = (len(starts), n_rows)
            filled = (np.zeros(shape, dtype=np.int32), np.ones(shape), np.ones((starts[-1], k)))
            pseudo = self._concentrated(family[0], run)
            fill_factors(run.arrays, self.own, share, pseudo, True, span, filled)
            for step in range(run.first, len(sizes)):
                inside = run.places[step + 1, 0, first_row:last_row] >= 0
                moved = filled[0][step + 1] + (free - starts[step])
                lines[step + 1] = np.where(inside, moved, lines[step])
                chances[step + 1] = np.where(inside, filled[1][step + 1], chances[step])
                factors[free : free + sizes[step]] = filled[2][starts[step] : starts[step + 1]]
                free += sizes[step]

    def _shares(self, column: int) -> FloatArray:
        """Return the share of each row's value among the other rows, or 1/v; shape (n,)."""
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
        """Return the pseudo-counts of every step; see :func:`fill_factors`."""
        n_values, *sizes = (self.sizes[column] for column in family)
        possible, pseudo = self.counts.n_classes, []
        for size in (1, *sizes):
            possible *= size
            each, shared = self.smoothing.shares(possible)
            pseudo.append((each, shared, each * n_values + shared, 1.0 / n_values))
        return np.array(pseudo)

    def _concentrated(self, column: int, run: Run) -> FloatArray:
        """Return the pseudo-counts of hierarchical smoothing at every step of a run."""
        margin = self.counts.marginal(column).sum(axis=0)
        levels = list(run.levels(self.rows.codes[column], len(margin)))
        alphas = concentrations(margin, levels, self.smoothing.concentration)
        return np.array([(0.0, alpha, alpha, 0.0) for alpha in alphas])

    def _runs(self, family: Family) -> Iterator[Run]:
        """Count a column with no parent, with its first, with its first two, ….

        The counts of a step, and those that it backs off to, come from the rows in which all
        of its cells are observed, as in a model with that many parents.
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
    """Largest number of contexts and of cells in all steps of a family."""
    contexts, cells, possible = 0, 0, 1
    for step, column in enumerate(family):
        possible *= sizes[column] if step else 1
        contexts += min(n_rows, possible)
        cells += min(n_rows, possible * sizes[family[0]])
    return contexts, cells


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that are processed together, and their products for every number of parents.

    The last block is filled up with rows of weight 0. Products are fractions and powers of two,
    both of shape (blocks, depths, k, rows of a block); the prior has no depths.
    """

    sweep: Sweep
    rows: slice
    depths: IntArray
    own: tuple[IntArray, FloatArray]
    products: tuple[FloatArray, IntArray]
    prior: FloatArray

    @classmethod
    def of(cls, sweep: Sweep, rows: slice, depths: IntArray, block: int) -> Part:
        """Start with the prior."""
        known = rows.stop - rows.start
        n_blocks = -(-known // block)
        classes, weights = sweep.own[0][rows], sweep.own[1][rows]
        added, how = n_blocks * block - known, (sweep.counts, sweep.smoothing, sweep.class_prior)
        priors = left_out_priors(*how, classes, weights)
        classes, weights = np.pad(classes, (0, added)), np.pad(weights, (0, added))
        log_prior = np.pad(priors, ((0, added), (0, 0)))
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

        Threads count the next columns while others multiply the current ones.
        """
        n_blocks = len(self.products[0])
        at_once, spaces = self._spaces(families, max_memory)
        batches = [families[i : i + at_once] for i in range(0, len(families), at_once)]
        first = 0
        for batch, following in pairwise([[], *batches, []]):
            scores = np.zeros((n_blocks, len(batch), len(self.depths), 3))
            fill = partial(self._fill, spaces[1], following)
            multiply = partial(self._multiply, spaces[0], scores)
            work = [partial(fill, span) for span in _shares_of(len(following), team)]
            work += [partial(multiply, span) for span in _shares_of(n_blocks, team) if batch]
            team.run(_do, work)
            for sums in scores:
                total[first : first + len(batch)] += sums
            first += len(batch)
            spaces.reverse()

    def _spaces(self, families: list[Family], max_memory: float) -> tuple[int, list[Space]]:
        """Return how many columns are counted together, and memory for two such batches."""
        sweep, n_rows = self.sweep, len(self.own[0])
        n_steps = max(1, *map(len, families))
        n_lines = n_steps * n_rows
        if not sweep.row_by_row:
            n_lines = max(room(sweep.sizes, family, len(sweep.own[0]))[1] for family in families)
        k, known = sweep.counts.n_classes, self.rows.stop - self.rows.start
        needed = 12 * n_steps * n_rows + 8 * (1 + n_lines) * k
        number = min(max(1, int(min(BATCH_BYTES, max_memory)) // needed), len(families))
        steps, rows = (number, len(self.depths)), (number, n_steps + 1, n_rows)
        factors = (number, 1 + n_lines, k)
        return number, [Space.of(steps, rows, known, factors) for _ in range(2)]

    def _fill(self, space: Space, families: list[Family], span: tuple[int, int]) -> None:
        """Count some of the columns, and write their factors."""
        for index in range(*span):
            space.steps[index] = np.minimum(self.depths + 1, len(families[index]))
            out = (space.lines[index], space.chances[index], space.factors[index])
            self.sweep.fill(families[index], self.rows, out)

    def _multiply(self, space: Space, scores: FloatArray, blocks: tuple[int, int]) -> None:
        """Multiply some blocks of rows by columns, and score them after each."""
        columns = (space.steps[: scores.shape[1]], space.lines, space.chances, space.factors)
        add_columns(columns, self.own, self.products, self.prior, blocks, scores)


def _do(task: Callable[[], None]) -> None:
    task()


def _shares_of(number: int, team: _parallel.Team) -> list[tuple[int, int]]:
    """Split a number of things into two shares per thread; results do not depend on it."""
    return _parallel.row_blocks(number, max(-(-number // (2 * team.size)), 1))


def nested_scores(
    sweep: Sweep, families: Sequence[Family], depths: IntArray, max_memory: float
) -> FloatArray:
    """Leave-one-out scores of the first 0, 1, … columns with at most ``depths`` parents each.

    Rows are processed in blocks whose sums are added in a fixed order, so the result does not
    depend on the number of threads or the memory.

    Parameters
    ----------
    sweep : Sweep
        Rows, and how tables are estimated.
    families : sequence of tuple of int
        Each column followed by its parents, in the order in which they enter the model.
    depths : ndarray of shape (m,)
        Largest numbers of parents.
    max_memory : float
        Bytes that may be used.

    Returns
    -------
    ndarray of shape (m, columns + 1, 3)
        See :data:`~unnaive.tables.left_out.SCORES`.
    """
    n_rows, k = len(sweep.rows.classes), sweep.counts.n_classes
    n_steps = max(map(len, families), default=1)
    block = -(-n_rows // (2 * -(-n_rows // (2 * ROWS_A_BLOCK))))
    needed = 16 * k * (len(depths) + 1) + 24 * n_steps + 16 * k * n_steps * sweep.row_by_row
    at_once = max(int(max_memory) // needed, LEAST_ROWS)
    team = _parallel.Team(_parallel.jobs_for(sweep.rows.codes.size, sweep.rows.n_jobs))
    total = np.zeros((len(families) + 1, len(depths), 3))
    for start, stop in _parallel.row_blocks(n_rows, -(-at_once // block) * block):
        part = Part.of(sweep, slice(start, stop), depths, block)
        part.add_scores([(), *families], team, max_memory, total)
    return np.asarray(total.transpose(1, 0, 2) / float(sweep.own[1].sum()))


def table_bytes(sizes: IntArray, families: Iterable[Family], n_rows: int, n_classes: int) -> int:
    """Bytes that counts and tables of these families may need."""
    values, total = sizes.tolist(), 0
    for family in families:
        contexts = min(n_rows, math.prod(values[parent] for parent in family[1:]))
        total += 16 * n_classes * contexts * (values[family[0]] + 1)
    return total


def sweep_bytes(sizes: IntArray, families: Iterable[Family], n_rows: int, n_classes: int) -> int:
    """Bytes that counting one column at all depths may need."""
    values, most = sizes.tolist(), 0
    for family in families:
        contexts, cells = room(values, family, n_rows)
        lines = contexts * (1 + values[family[0]]) + 3 * cells
        most = max(most, 8 * n_rows * len(family) + 8 * n_classes * lines)
    return most
