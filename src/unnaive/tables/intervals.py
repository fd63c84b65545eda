r"""Naive Bayes whose probabilities lie anywhere in their confidence intervals.

.. math:: \hat p \pm z \sqrt{\hat p (1 - \hat p) / N}, \qquad
          \hat p = \frac{N(c, x) + \alpha}{N(c) + \alpha V}

A genome names a place in every interval. Its distributions are the nearest ones that sum to 1 and
stay inside; its fitness is how many rows they get right when every row is left out in turn, with
the intervals of the other rows and the same genome.

References
----------
Robles, Larrañaga, Peña, Menasalvas & Pérez, "Interval estimation naive Bayes", IDA 2003.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unnaive import _parallel
from unnaive._core.intervals import (
    ABSOLUTE,
    CENTRED,
    EPSILON,
    LINEAR,
    NORMALISE,
    PROJECT,
    fill_bounds,
    fill_distributions,
    fill_joint,
    fill_left_out,
    score,
)
from unnaive._ties import first_best
from unnaive.tables.interval_parts import Rows, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray

__all__ = ["IntervalFitness", "Intervals", "LeftOut", "interval_bounds", "interval_joint"]

ENCODINGS = {"centred": CENTRED, "linear": LINEAR, "absolute": ABSOLUTE}
REPAIRS = {"project": PROJECT, "normalise": NORMALISE}
KINDS = ("loo", "resubstitution")
ROWS_A_TASK = 1 << 13
_TASKS_A_THREAD = 4


def interval_bounds(
    counts: ArrayLike, z: float = 1.96, alpha: float = 1.0, *, clip: bool = True
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Estimates, and the lower and upper ends of their intervals, for lines of counts.

    .. math:: \hat p \pm z \sqrt{\hat p (1 - \hat p) / N}, \qquad
              \hat p = (n + \alpha) / (N + \alpha v)

    Parameters
    ----------
    counts : array-like of shape (..., v)
        Each line the counts of one distribution's values; N is their sum.
    z : float, default=1.96
        Quantile of the normal distribution.
    alpha : float, default=1.0
        Imaginary rows a value.
    clip : bool, default=True
        Keep the ends in [1e-6, 1 − 1e-6], but never beyond the estimate.

    Returns
    -------
    point, low, high : ndarray of shape (..., v)

    Examples
    --------
    Of nine days on which people play, two are sunny, four overcast and three rainy:

    >>> _, low, high = interval_bounds([2, 4, 3], clip=False)
    >>> [(round(a, 4), round(b, 4)) for a, b in zip(low.tolist(), high.tolist())][0]
    (-0.0329, 0.5329)

    References
    ----------
    Robles et al., "Interval estimation naive Bayes", IDA 2003.
    """
    lines = np.asarray(counts, dtype=float)
    out = np.empty((3, math.prod(lines.shape[:-1]), lines.shape[-1]))
    fill_bounds(np.ascontiguousarray(lines).reshape(out.shape[1:]), float(z), float(alpha), out)
    point, low, high = out.reshape(3, *lines.shape)
    if clip:
        low = np.minimum(np.maximum(low, EPSILON), point)
        high = np.maximum(np.minimum(high, 1.0 - EPSILON), point)
    return point, low, high


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What a genome says without one row.

    Attributes
    ----------
    prior : ndarray of shape (k, k)
        Line c: P(·) without a row of class c.
    own : list of ndarray of shape (k, V)
        One a group: P(x | c) without a row of class c that has x. A cell without rows has the
        probability that it has anyway.
    """

    prior: FloatArray
    own: list[FloatArray]


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    r"""Counts of classes and groups, and how a genome is read as distributions of them.

    A genome has :math:`k (1 + \sum V_G)` genes in [0, 1]: of the classes, then group by group,
    class by class, value by value. Each distribution is repaired to sum to 1.

    Parameters
    ----------
    class_counts : ndarray of shape (k,)
    tables : tuple of ndarray of shape (k, V)
        One a group: how many rows of each class have each of its joint values.
    sizes : tuple of int
        Number of values of every column.
    groups : tuple of tuple of int
        Columns of every group; the last one's value changes fastest.
    z, alpha : float, default=1.96, 1.0
        See :func:`interval_bounds`.
    shared : tuple of 2 floats, default=(0.0, 0.0)
        Imaginary rows that all classes, and all values of a table's line, share besides.
    encoding : {"centred", "linear", "absolute"}, default="centred"
        From the lower end by the estimate at 1/2 to the upper end; from the lower end straight to
        the upper; the probability itself.
    repair : {"project", "normalise"}, default="project"
        The nearest distribution inside the intervals; the sum divided out, wherever that leads.

    Notes
    -----
    "linear" is what the paper's boxes suggest. Under it, a genome that means the estimates of all
    rows means something else once a row is left out, and may get fewer rows right than naive
    Bayes does. Under "centred", 1/2 means the estimate whatever the rows.

    Examples
    --------
    >>> play = Intervals.from_counts([9, 5], [[[2, 4, 3], [3, 0, 2]]])
    >>> prior, (outlook,) = play.decode(play.point)
    >>> outlook.round(4).tolist()
    [[0.25, 0.4167, 0.3333], [0.5, 0.125, 0.375]]
    >>> prior, (outlook,) = play.decode([0.5, 0.5, 1, 1, 0, 0.5, 0.5, 0.5])
    >>> outlook[0].round(4).tolist()
    [0.3844, 0.5903, 0.0253]
    """

    class_counts: FloatArray
    tables: tuple[FloatArray, ...]
    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    z: float = 1.96
    alpha: float = 1.0
    shared: tuple[float, float] = (0.0, 0.0)
    encoding: str = "centred"
    repair: str = "project"

    def __post_init__(self) -> None:
        """Refuse names and numbers that mean nothing."""
        for name, allowed in (("encoding", ENCODINGS), ("repair", REPAIRS)):
            if getattr(self, name) not in allowed:
                names = ", ".join(map(repr, allowed))
                raise ValueError(f"{name}={getattr(self, name)!r}; it must be one of {names}")
        for name in ("z", "alpha"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name}={getattr(self, name)!r}; it must be a number ≥ 0")

    @classmethod
    def from_counts(
        cls,
        class_counts: ArrayLike,
        tables: Sequence[ArrayLike],
        *,
        sizes: Sequence[int] | None = None,
        groups: Sequence[Sequence[int]] | None = None,
        **options: Any,
    ) -> Self:
        """Make it from counts; without sizes and groups, every table is a column of its own."""
        counts = tuple(np.asarray(table, dtype=float) for table in tables)
        if sizes is None or groups is None:
            sizes = [table.shape[1] for table in counts]
            groups = [(column,) for column in range(len(counts))]
        return cls(
            np.asarray(class_counts, dtype=float),
            counts,
            tuple(int(size) for size in sizes),
            tuple(tuple(int(column) for column in group) for group in groups),
            **options,
        )

    @classmethod
    def of(
        cls,
        codes: CodeArray,
        classes: IntArray,
        weights: FloatArray | None,
        sizes: Sequence[int],
        n_classes: int,
        *,
        groups: Sequence[Sequence[int]] | None = None,
        **options: Any,
    ) -> Self:
        """Count rows; those without some of a group's cells take no part in its table.

        Parameters
        ----------
        codes : ndarray of shape (d, n)
            Codes from ``sizes[i]`` on are missing.
        classes : ndarray of shape (n,)
        weights : ndarray of shape (n,) or None
        sizes : sequence of int
        n_classes : int
        groups : sequence of sequences of int, default=None
            None: every column is a group.
        **options
            ``z``, ``alpha``, ``shared``, ``encoding`` and ``repair``.
        """
        groups = [(column,) for column in range(len(sizes))] if groups is None else groups
        tables = []
        for group in groups:
            cells, n_cells = _cells(codes, sizes, group)
            whole = cells >= 0
            at = np.asarray(classes)[whole] * n_cells + cells[whole]
            weighed = None if weights is None else weights[whole]
            table = np.bincount(at, weighed, n_classes * n_cells)
            tables.append(table.reshape(n_classes, n_cells))
        class_counts = np.bincount(classes, weights, n_classes)
        return cls.from_counts(class_counts, tables, sizes=sizes, groups=groups, **options)

    @property
    def n_classes(self) -> int:
        """Number of classes k."""
        return len(self.class_counts)

    @property
    def size(self) -> int:
        """Number of genes."""
        return self.n_classes * (1 + int(self.setting.starts[-1]))

    @cached_property
    def setting(self) -> Setting:
        """The same for kernels, all tables side by side."""
        starts = np.cumsum([0, *(table.shape[1] for table in self.tables)])
        counts = np.concatenate([np.empty((self.n_classes, 0)), *self.tables], axis=1)
        choices = ENCODINGS[self.encoding], REPAIRS[self.repair]
        of_prior, of_groups = (
            (float(self.z), float(self.alpha), *choices, float(part)) for part in self.shared
        )
        table = np.ascontiguousarray(counts)
        return Setting(self.class_counts, table, starts.astype(np.int64), of_groups, of_prior)

    @property
    def point(self) -> FloatArray:
        """Genome of the estimates themselves; shape (size,)."""
        if self.encoding == "centred":
            return np.full(self.size, 0.5)
        genes = []
        parts = [self.shared[0], *[self.shared[1]] * len(self.tables)]
        for part, counts in zip(parts, (self.class_counts, *self.tables), strict=True):
            alpha = self.alpha + part / max(counts.shape[-1], 1)
            point, low, high = interval_bounds(counts, self.z, alpha)
            if self.encoding == "linear":
                width = high - low
                point = np.where(width > 0, point - low, 0.5) / np.where(width > 0, width, 1.0)
            genes.append(point.reshape(-1))
        return np.concatenate(genes)

    def decode(self, genome: ArrayLike) -> tuple[FloatArray, list[FloatArray]]:
        """Return P(c), of shape (k,), and P(x | c) of every group, of shape (k, V)."""
        prior, chances = np.empty(self.n_classes), np.empty_like(self.setting.counts)
        fill_distributions(self.checked(genome), self.setting, prior, chances)
        return prior, self._split(chances)

    def left_out(self, genome: ArrayLike, weight: float = 1.0) -> LeftOut:
        """Return the probabilities with which a row of some weight is predicted by the others.

        Examples
        --------
        >>> play = Intervals.from_counts([9, 5], [[[2, 4, 3], [3, 0, 2]]])
        >>> play.left_out(play.point).own[0].round(4).tolist()
        [[0.1818, 0.3636, 0.2727], [0.4286, 0.125, 0.2857]]
        """
        k = self.n_classes
        prior, own = np.empty((k, k)), np.empty_like(self.setting.counts)
        fill_left_out(self.checked(genome), float(weight), self.setting, prior, own)
        return LeftOut(prior, self._split(own))

    def _split(self, chances: FloatArray) -> list[FloatArray]:
        return np.split(chances, self.setting.starts[1:-1], axis=1) if self.tables else []

    def checked(self, genomes: ArrayLike, n_axes: int = 1) -> FloatArray:
        """Genomes as numbers, the last of so many axes that of the genes."""
        found = np.array(genomes, dtype=float, order="C", copy=None)
        if found.ndim != n_axes or found.shape[-1] != self.size:
            raise ValueError(f"a genome of shape {found.shape}; it must have {self.size} genes")
        return found


def _cells(codes: CodeArray, sizes: Sequence[int], group: Sequence[int]) -> tuple[IntArray, int]:
    """Joint values of a group's columns, −1 for rows that lack some, and how many there can be."""
    cells, n_cells = np.zeros(codes.shape[1], dtype=np.int64), 1
    whole = np.ones(codes.shape[1], dtype=bool)
    for column in group:
        whole &= codes[column] < sizes[column]
        cells = cells * int(sizes[column]) + codes[column]
        n_cells *= int(sizes[column])
    return np.where(whole, cells, -1), n_cells


class _Places:
    """Where rows find each group's factor: nothing, a cell, or a sum of cells."""

    def __init__(self, intervals: Intervals, codes: CodeArray) -> None:
        self.n_cells = int(intervals.setting.starts[-1])
        self.places = np.zeros((codes.shape[1], len(intervals.groups)), dtype=np.uint32)
        self.sums: list[IntArray] = []
        for index, group in enumerate(intervals.groups):
            start = int(intervals.setting.starts[index])
            cells, _ = _cells(codes, intervals.sizes, group)
            self.places[:, index] = 1 + start + cells
            gaps = np.flatnonzero(cells < 0)
            self.places[gaps, index] = 0
            if len(gaps):
                self._sum(index, start, codes[list(group)][:, gaps], gaps, intervals)

    def _sum(
        self, index: int, start: int, shown: CodeArray, gaps: IntArray, intervals: Intervals
    ) -> None:
        """Give rows with gaps the sum over all cells that agree with what they do show."""
        sizes = np.array([intervals.sizes[column] for column in intervals.groups[index]])
        some = (shown < sizes[:, None]).any(axis=0)
        if not (some.any() and sizes.all()):
            return
        clipped = np.minimum(shown[:, some], sizes[:, None].astype(np.int64))
        patterns, pattern = np.unique(clipped, axis=1, return_inverse=True)
        first = 1 + self.n_cells + len(self.sums)
        self.places[gaps[some], index] = first + pattern.reshape(-1)
        grid = np.arange(math.prod(sizes.tolist())).reshape(sizes)
        for values in patterns.T:
            seen = tuple(
                slice(None) if value == size else int(value)
                for value, size in zip(values, sizes, strict=True)
            )
            self.sums.append(start + grid[seen].reshape(-1))

    def rows(self, order: IntArray, segments: list[list[int]], weights: list[float]) -> Rows:
        """Rows in some order, for kernels."""
        return Rows(
            np.ascontiguousarray(self.places[order]),
            np.array(segments, dtype=np.int64).reshape(-1, 5),
            np.array(weights, dtype=float),
            np.cumsum([0, *(len(cells) for cells in self.sums)]).astype(np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *self.sums]),
        )


class IntervalFitness:
    """Share of the rows that genomes get right, each row left out or not; a search maximises it.

    A row of weight w above 1 stands for w like rows, of which one is left out.

    Parameters
    ----------
    intervals : Intervals
        Of the same rows.
    codes, classes, weights : ndarray of shape (d, n), (n,), (n,) or None
        As in :meth:`Intervals.of`.
    kind : {"loo", "resubstitution"}, default="loo"
    n_jobs : int, default=None

    Examples
    --------
    >>> codes = np.array([[0, 0, 0, 0, 1, 1, 1, 0]], dtype=np.uint8)
    >>> classes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> fitness = IntervalFitness(Intervals.of(codes, classes, None, [2], 2), codes, classes)
    >>> fitness([[0.5] * 6, [0.5, 0.5, 0, 1, 1, 0]]).tolist()
    [0.875, 0.125]
    """

    def __init__(
        self,
        intervals: Intervals,
        codes: CodeArray,
        classes: IntArray,
        weights: FloatArray | None = None,
        *,
        kind: str = "loo",
        n_jobs: int | None = None,
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}; it must be 'loo' or 'resubstitution'")
        weigh = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=float)
        self.total = float(weigh.sum())
        if not self.total > 0:
            raise ValueError("no row has any weight")
        self.intervals, self.kind = intervals, kind
        self._team = _parallel.Team(n_jobs)
        order = np.lexsort((classes, weigh))
        order = order[weigh[order] > 0]
        keys = np.stack([weigh[order], np.asarray(classes)[order]])
        starts = np.flatnonzero((np.diff(keys, axis=1, prepend=-1.0) != 0).any(axis=0))
        segments, of_segment = [], []
        for first, last in zip(starts, [*starts[1:], len(order)], strict=True):
            weight, label = float(keys[0, first]), int(keys[1, first])
            held = label if kind == "loo" else -1
            guess = _guess(intervals, held, min(weight, 1.0)) == label
            segments.append([label, held, int(first), int(last), int(guess)])
            of_segment.append(weight)
        self._rows = _Places(intervals, codes).rows(order, segments, of_segment)

    def __call__(self, genomes: ArrayLike) -> FloatArray:
        """Fitness of genomes (m, size), from 0 to 1; shape (m,)."""
        found = self.intervals.checked(genomes, n_axes=2)
        out = np.empty(len(found))

        def evaluate(part: tuple[int, int]) -> None:
            mine = slice(*part)
            score(found[mine], self.intervals.setting, self._rows, out[mine])

        each = max(1, -(-len(found) // (_TASKS_A_THREAD * self._team.size)))
        self._team.run(evaluate, _parallel.row_blocks(len(found), each))
        return out / self.total


def _guess(intervals: Intervals, held: int, weight: float) -> int:
    """Class to guess where none has any chance: the first of the most frequent others."""
    counts = intervals.class_counts.copy()
    if held >= 0:
        counts[held] = max(counts[held] - weight, 0.0)
    return first_best(np.log(np.maximum(counts + intervals.alpha, 1e-300)))


def interval_joint(
    intervals: Intervals,
    genome: ArrayLike,
    codes: CodeArray,
    held: AnyArray | None = None,
    n_jobs: int | None = None,
    *,
    held_out: float | None = None,
) -> FloatArray:
    """Log joint of rows and classes under a genome; shape (n, k).

    Parameters
    ----------
    intervals : Intervals
    genome : array-like of shape (size,)
    codes : ndarray of shape (d, n)
        Codes from ``sizes[i]`` on are missing; a group's missing members are summed out.
    held : ndarray of shape (n,), default=None
        Own class of every row, −1 for none; rows without one are new.
    n_jobs : int, default=None
    held_out : float, default=None
        Weight that every row with a class has in the counts, and is predicted without; None: all
        rows are new.

    Examples
    --------
    >>> play = Intervals.from_counts([9, 5], [[[2, 4, 3], [3, 0, 2]]])
    >>> sunny = np.array([[0, 3]], dtype=np.uint8)
    >>> np.exp(interval_joint(play, play.point, sunny)).round(4).tolist()
    [[0.1563, 0.1875], [0.625, 0.375]]
    """
    n_rows = codes.shape[1]
    own = np.full(n_rows, -1) if held is None or held_out is None else np.asarray(held)
    order = np.argsort(own, kind="stable")
    segments = []
    for label in np.unique(own):
        first, last = (int(np.searchsorted(own[order], label, side)) for side in ("left", "right"))
        for low, high in _parallel.row_blocks(last - first, ROWS_A_TASK):
            segments.append([int(label), int(label), first + low, first + high, 0])
    rows = _Places(intervals, codes).rows(order, segments, [held_out or 0.0] * len(segments))
    found, genes = np.empty((n_rows, intervals.n_classes)), intervals.checked(genome)

    def fill(some: tuple[int, int]) -> None:
        fill_joint(genes, intervals.setting, rows, some, found)

    _parallel.run(fill, _parallel.row_blocks(len(segments), 1), n_jobs)
    out = np.empty_like(found)
    out[order] = found
    return out
