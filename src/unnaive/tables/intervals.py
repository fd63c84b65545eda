r"""Naive Bayes whose probabilities are chosen within their confidence intervals.

.. math:: \hat p \pm z \sqrt{\hat p (1 - \hat p) / N}, \qquad
          \hat p = \frac{N(c, x) + \alpha}{N(c) + \alpha V}

A genome has a position in every interval. Its distributions are the nearest ones that sum to 1 and
stay inside the intervals. Its fitness is the leave-one-out accuracy: each row is predicted with the
intervals of the other rows and the same genome.

References
----------
Robles, Larrañaga, Peña, Menasalvas & Pérez, "Interval estimation naive Bayes", IDA 2003.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

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
from unnaive._dataclasses import dataclass
from unnaive._ties import first_best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray

    Rule = tuple[float, float, int, int, float]  # z, α, encoding, repair, shared rows
    # Places of rows, segments, weights of segments, starts of sums, cells of sums.
    Rows = tuple[AnyArray, IntArray, FloatArray, IntArray, IntArray]

__all__ = ["IntervalFitness", "Intervals", "LeftOut", "interval_bounds", "interval_joint"]

ENCODINGS = {"centred": CENTRED, "linear": LINEAR, "absolute": ABSOLUTE}
REPAIRS = {"project": PROJECT, "normalise": NORMALISE}
KINDS = ("loo", "resubstitution")
ROWS_A_TASK = 1 << 13
_TASKS_A_THREAD = 4


def interval_bounds(
    counts: ArrayLike, z: float = 1.96, alpha: float = 1.0, *, clip: bool = True
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Estimates, and the lower and upper ends of their confidence intervals.

    .. math:: \hat p \pm z \sqrt{\hat p (1 - \hat p) / N}, \qquad
              \hat p = (n + \alpha) / (N + \alpha v)

    Parameters
    ----------
    counts : array-like of shape (..., v)
        Counts of the values of one distribution in each line; N is their sum.
    z : float, default=1.96
        Quantile of the normal distribution.
    alpha : float, default=1.0
        Pseudo-count of each value.
    clip : bool, default=True
        Keep the ends in [1e-6, 1 − 1e-6], but never beyond the estimate.

    Returns
    -------
    point, low, high : ndarray of shape (..., v)
        Estimates, lower ends and upper ends.

    Examples
    --------
    Of nine days on which people played, two were sunny, four overcast and three rainy:

    >>> _, low, high = interval_bounds([2, 4, 3], clip=False)
    >>> [(round(a, 4), round(b, 4)) for a, b in zip(low.tolist(), high.tolist())][0]
    (-0.0329, 0.5329)
    """
    lines = np.asarray(counts, dtype=float)
    out = np.empty((3, math.prod(lines.shape[:-1]), lines.shape[-1]))
    fill_bounds(np.ascontiguousarray(lines).reshape(out.shape[1:]), float(z), float(alpha), out)
    point, low, high = out.reshape(3, *lines.shape)
    if clip:
        low = np.minimum(np.maximum(low, EPSILON), point)
        high = np.maximum(np.minimum(high, 1.0 - EPSILON), point)
    return point, low, high


class LeftOut(NamedTuple):
    """The distributions of a genome without one row.

    Line c of ``prior`` (k, k) is P(·) without a row of class c. ``own`` has an array (k, V) for
    each group: P(x | c) without a row of class c that has x; cells without rows do not change.
    """

    prior: FloatArray
    own: list[FloatArray]


class Setting(NamedTuple):
    """What the kernels need: N(c), N(c, cell) of all groups (k, cells), starts of groups, rules."""

    class_counts: FloatArray
    counts: FloatArray
    starts: IntArray
    rule: Rule
    prior_rule: Rule


@dataclass(frozen=True, eq=False, repr=False)
class Intervals:
    r"""Counts of classes and groups, and the rules that turn a genome into distributions.

    A genome has :math:`k (1 + \sum V_G)` genes in [0, 1]: those of the classes, then those of each
    group, class by class and value by value. Each distribution is repaired to sum to 1.

    Parameters
    ----------
    class_counts : ndarray of shape (k,)
        Counts of the classes.
    tables : tuple of ndarray of shape (k, V)
        For each group the counts of its joint values in each class.
    sizes : tuple of int
        Number of values of every column.
    groups : tuple of tuple of int
        Columns of every group; the value of the last column changes fastest.
    z, alpha : float, default=1.96, 1.0
        See :func:`interval_bounds`.
    shared : tuple of 2 floats, default=(0.0, 0.0)
        Further pseudo-counts, shared by all classes, and by all values of a table's line.
    encoding : {"centred", "linear", "absolute"}, default="centred"
        "centred": 0 is the lower end, 1/2 the estimate, 1 the upper end, linear between them.
        "linear": 0 is the lower end, 1 the upper end. "absolute": a gene is a probability.
    repair : {"project", "normalise"}, default="project"
        Use the nearest distribution inside the intervals, or divide by the sum, which may
        leave the intervals.

    Notes
    -----
    "linear" follows the paper's description. With it, a genome that stands for the estimates of
    all rows stands for something else when a row is left out, and may classify fewer rows
    correctly than naive Bayes. With "centred", 1/2 is the estimate for any set of rows.

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
        """Refuse invalid names and numbers."""
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
        """Create intervals from counts; without sizes and groups, every table is one column."""
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
        """Count rows; a row with missing cells in a group is not counted in its table.

        Codes (d, n) of at least ``sizes[i]`` are missing. ``classes`` and ``weights`` have shape
        (n,). Without ``groups``, each column is a group. Options are ``z``, ``alpha``,
        ``shared``, ``encoding`` and ``repair``.
        """
        groups = [(column,) for column in range(len(sizes))] if groups is None else groups
        tables = []
        for group in groups:
            cells, n_cells = _cells(codes, sizes, group)
            whole = cells >= 0
            place = np.asarray(classes)[whole] * n_cells + cells[whole]
            weighed = None if weights is None else weights[whole]
            table = np.bincount(place, weighed, n_classes * n_cells)
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
        """Counts and rules as the kernels read them, all tables side by side."""
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
        """Genome of the estimates; shape (size,)."""
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
        """Return the distributions that predict a row of some weight, without that row.

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
        """Genomes as an array of ``n_axes`` axes, the last of which has the genes."""
        genes = np.array(genomes, dtype=float, order="C", copy=None)
        if genes.ndim != n_axes or genes.shape[-1] != self.size:
            raise ValueError(f"a genome of shape {genes.shape}; it must have {self.size} genes")
        return genes


def _cells(codes: CodeArray, sizes: Sequence[int], group: Sequence[int]) -> tuple[IntArray, int]:
    """Joint value of a group in each row, −1 if a cell is missing, and the number of values."""
    cells, n_cells = np.zeros(codes.shape[1], dtype=np.int64), 1
    whole = np.ones(codes.shape[1], dtype=bool)
    for column in group:
        whole &= codes[column] < sizes[column]
        cells = cells * int(sizes[column]) + codes[column]
        n_cells *= int(sizes[column])
    return np.where(whole, cells, -1), n_cells


def _rows(
    intervals: Intervals,
    codes: CodeArray,
    order: IntArray,
    segments: list[list[int]],
    weights: list[float],
) -> Rows:
    """Rows in some order, as the kernels read them.

    The factor of a group in a row is at a place: 0 for none, 1 + a cell, or after all cells a sum
    of cells. Segments (s, 5) of rows of one class and weight have the class, the class that
    loses a row (−1: none), first row, last row + 1, and 1 if the class is the answer when all
    classes have probability 0.
    """
    places = np.zeros((codes.shape[1], len(intervals.groups)), dtype=np.uint32)
    starts, sums = intervals.setting.starts, [np.empty(0, dtype=np.int64)]
    for index, group in enumerate(intervals.groups):
        cells, n_cells = _cells(codes, intervals.sizes, group)
        places[:, index] = np.where(cells < 0, 0, 1 + starts[index] + cells)
        sizes = np.array([intervals.sizes[column] for column in group])
        partly = np.flatnonzero((cells < 0) & (codes[list(group)] < sizes[:, None]).any(axis=0))
        if not (len(partly) and n_cells):
            continue
        # A row with missing cells gets the sum over all cells that agree with its other cells.
        clipped = np.minimum(codes[list(group)][:, partly], sizes[:, None].astype(np.int64))
        patterns, pattern = np.unique(clipped, axis=1, return_inverse=True)
        places[partly, index] = starts[-1] + len(sums) + pattern.reshape(-1)
        grid = np.arange(n_cells).reshape(sizes)
        for values in np.where(patterns == sizes[:, None], -1, patterns).T.tolist():
            seen = tuple(slice(None) if value < 0 else value for value in values)
            sums.append(starts[index] + grid[seen].reshape(-1))
    return (
        np.ascontiguousarray(places[order]),
        np.array(segments, dtype=np.int64).reshape(-1, 5),
        np.array(weights, dtype=float),
        np.cumsum([len(cells) for cells in sums], dtype=np.int64),
        np.concatenate(sums),
    )


class IntervalFitness:
    """Share of rows that genomes classify correctly, by leave-one-out or resubstitution.

    A row of weight w above 1 stands for w equal rows, of which one is left out.

    Parameters
    ----------
    intervals : Intervals
        Intervals of the same rows.
    codes, classes, weights : ndarray of shape (d, n), (n,), (n,) or None
        As in :meth:`Intervals.of`.
    kind : {"loo", "resubstitution"}, default="loo"
        Predict each row without itself, or with it.
    n_jobs : int, default=None
        Number of threads.

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
        self._rows = _rows(intervals, codes, order, segments, of_segment)

    def __call__(self, genomes: ArrayLike) -> FloatArray:
        """Fitness of genomes (m, size), from 0 to 1; shape (m,)."""
        genes = self.intervals.checked(genomes, n_axes=2)
        out = np.empty(len(genes))

        def evaluate(span: tuple[int, int]) -> None:
            mine = slice(*span)
            score(genes[mine], self.intervals.setting, self._rows, out[mine])

        each = max(1, -(-len(genes) // (_TASKS_A_THREAD * self._team.size)))
        self._team.run(evaluate, _parallel.row_blocks(len(genes), each))
        return out / self.total


def _guess(intervals: Intervals, held: int, weight: float) -> int:
    """Class to predict if all have probability 0: the first of the most frequent ones."""
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
    """Log joint of rows and classes with the distributions of a genome; shape (n, k).

    Parameters
    ----------
    intervals : Intervals
        Counts and rules.
    genome : array-like of shape (size,)
        The genome.
    codes : ndarray of shape (d, n)
        Codes of at least ``sizes[i]`` are missing; missing columns of a group are summed out.
    held : ndarray of shape (n,), default=None
        Class of every row that was counted, −1 for new rows.
    n_jobs : int, default=None
        Number of threads.
    held_out : float, default=None
        Weight of every counted row, which is subtracted; None treats all rows as new.

    Returns
    -------
    ndarray of shape (n, k)
        log P(c, x).

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
    rows = _rows(intervals, codes, order, segments, [held_out or 0.0] * len(segments))
    joint, genes = np.empty((n_rows, intervals.n_classes)), intervals.checked(genome)
    blocks = _parallel.row_blocks(len(segments), 1)
    _parallel.run(
        lambda some: fill_joint(genes, intervals.setting, rows, some, joint), blocks, n_jobs
    )
    out = np.empty_like(joint)
    out[order] = joint
    return out
