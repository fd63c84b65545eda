"""A sample of rows by a fixed hash: the same rows, wherever they are and however they are cut.

Models that classify rows while they learn need rows, not counts. They get all rows if there are
few, and otherwise those whose positions have the smallest hashes: every row is equally likely to
be among them, whatever it holds, and the sample depends only on the order of the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive.counts.engines.dispatch import (
    Rows,
    Work,
    changed_rows,
    columns_of,
    fold,
    weights_of,
)
from unnaive.exceptions import SchemaMismatch
from unnaive.io.frames import Column, Frame, joined_columns

if TYPE_CHECKING:
    from collections.abc import Sized

    from unnaive._typing import AnyArray, IntArray, State
    from unnaive.counts.engines.dispatch import Engine

SAMPLE_ROWS = 100_000  # of all rows, of which models that need rows learn
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Sampled(NamedTuple):
    """The rows of a sample, and the number of rows that it was drawn from.

    Attributes
    ----------
    rows : int
        Rows that the model was fitted to.
    of : int
        Rows of the whole source; each was equally likely to be drawn.

    Examples
    --------
    >>> Sampled(rows=100_000, of=2_500_000)
    Sampled(rows=100000, of=2500000)
    """

    rows: int
    of: int


def hash_of(positions: IntArray) -> AnyArray:
    """Hash positions of rows to 64 bits, each to another number (SplitMix64).

    The smallest hashes of a set of positions are a simple random sample of it that needs no
    random numbers: partitions can be sampled apart and their samples joined.

    Parameters
    ----------
    positions : ndarray of shape (n,)
        Positions among all rows, from 0 on.

    Returns
    -------
    ndarray of shape (n,)
        Unsigned numbers of 64 bits.

    References
    ----------
    Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

    Examples
    --------
    >>> [hex(number) for number in hash_of(np.arange(2)).tolist()]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    """
    mixed = (positions.astype(np.uint64) + np.uint64(1)) * np.uint64(_STEP)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_FIRST)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows with their positions among all rows, and the number of all rows.

    Attributes
    ----------
    places : ndarray of shape (m,)
        Positions of the rows, ascending.
    columns : tuple of Column
        Features, then the target, then the weights if there are any.
    of : int
        Number of all rows.
    """

    places: IntArray
    columns: tuple[Column, ...]
    of: int

    def names(self, *, weighted: bool) -> tuple[str, ...]:
        """Return the names of the features."""
        return tuple(column.name for column in self.columns[: -2 if weighted else -1])

    def smallest(self, size: int) -> Sample:
        """Keep the rows of smallest hash, in the order of their positions."""
        rows = np.arange(len(self.places))
        if len(rows) > size:
            rows = np.argpartition(hash_of(self.places), size)[:size]
        rows = rows[np.argsort(self.places[rows])]
        columns = tuple(column.take(rows) for column in self.columns)
        return Sample(self.places[rows], columns, self.of)

    def state(self) -> State:
        """Return plain values and arrays for the store."""
        columns = {
            str(place): {
                "name": column.name,
                "values": column.values,
                "categories": None if column.categories is None else list(column.categories),
                "declared": column.declared,
            }
            for place, column in enumerate(self.columns)
        }
        return {"places": self.places, "columns": columns, "of": self.of}

    @classmethod
    def from_state(cls, state: State) -> Sample:
        """Restore a sample from :meth:`state`."""
        saved = (state["columns"][str(place)] for place in range(len(state["columns"])))
        columns = tuple(
            Column(
                one["name"],
                one["values"],
                None if one["categories"] is None else tuple(one["categories"]),
                one["declared"],
            )
            for one in saved
        )
        return cls(state["places"], columns, state["of"])


@dataclass(frozen=True, kw_only=True)
class Measuring(Work["dict[int, int]"]):
    """Count the rows of every partition, by its number."""

    def run(self, rows: Rows) -> dict[int, int]:
        """Count rows of the first partition."""
        return {0: rows.frame.n_rows}

    def run_part(
        self,
        part: Frame | Sized,
        labels: object = None,  # noqa: ARG002 - they are as many as the rows
        weights: object = None,  # noqa: ARG002
        place: tuple[int, int] = (0, 0),
    ) -> dict[int, int] | None:
        """Count the rows of a partition."""
        return {place[0]: part.n_rows if isinstance(part, Frame) else len(part)}

    def join(self, results: list[dict[int, int]]) -> dict[int, int]:
        """Add the rows of the same partition."""
        total: dict[int, int] = {}
        for result in results:
            for number, rows in result.items():
                total[number] = total.get(number, 0) + rows
        return total

    def state(self, result: dict[int, int]) -> State:
        """Return plain values for the store."""
        return {"rows": {str(number): rows for number, rows in result.items()}}

    def new(self, state: State) -> dict[int, int]:
        """Restore numbers of rows."""
        return {int(number): rows for number, rows in state["rows"].items()}


@dataclass(frozen=True, kw_only=True)
class Sampling(Work["Sample"]):
    """Draw rows by the hash of their positions.

    Attributes
    ----------
    size : int
        Largest number of rows.
    weighted : bool, default=False
        Whether the last column of a sample has weights.
    starts : tuple of int, default=(0,)
        Positions of the first rows of the partitions among all rows.
    """

    size: int
    weighted: bool = False
    starts: tuple[int, ...] = (0,)

    def run(self, rows: Rows) -> Sample:
        """Draw from the first rows of all."""
        weights = () if rows.weights is None else (Column("sample_weight", rows.weights),)
        return self._of(rows.frame, (rows.target, *weights), 0)

    def run_part(
        self,
        part: Frame | Sized,
        labels: object = None,
        weights: object = None,
        place: tuple[int, int] = (0, 0),
    ) -> Sample | None:
        """Draw from a partition; weights are only carried along."""
        apart = self.apart(part, labels, weights)
        if apart is None:
            return None
        frame, target, beside = apart
        more = () if beside is None else (weights_of(beside, frame.n_rows),)
        return self._of(frame, (target, *more), self.starts[place[0]] + place[1])

    def _of(self, frame: Frame, others: tuple[Column, ...], start: int) -> Sample:
        columns = tuple(frame.column(index) for index in range(len(frame.names)))
        places = np.arange(start, start + frame.n_rows)
        return Sample(places, (*columns, *others), frame.n_rows).smallest(self.size)

    def join(self, results: list[Sample]) -> Sample:
        """Keep the rows of smallest hash of several samples."""
        first, *others = [one.names(weighted=self.weighted) for one in results]
        for names in others:
            if names != first:
                raise SchemaMismatch(
                    f"columns {list(first)} in one partition, {list(names)} in another; give all "
                    "the same columns in the same order"
                )
        columns = tuple(map(joined_columns, zip(*(one.columns for one in results), strict=True)))
        places = np.concatenate([one.places for one in results])
        return Sample(places, columns, sum(one.of for one in results)).smallest(self.size)

    def state(self, result: Sample) -> State:
        """Return plain values and arrays for the store."""
        return result.state()

    def new(self, state: State) -> Sample:
        """Restore a sample."""
        return Sample.from_state(state)


def sample_rows(
    engine: Engine, target: object, sample_weight: object = None, size: int = SAMPLE_ROWS
) -> tuple[Rows, Sampled | None]:
    """Draw rows from the partitions of an engine, in their order; all rows if there are few.

    Parameters
    ----------
    engine : Engine
        Engine from :func:`unnaive.counts.engines.engine_of`.
    target, sample_weight : str, or series with the same partitions as the frame
        Names of columns, or the engine's series of labels and weights.
    size : int, default=100000
        Largest number of rows.

    Returns
    -------
    rows : Rows
        Features, labels and weights.
    sampled : Sampled or None
        Number of the rows and of all rows; None if these are all.
    """
    columns = columns_of(engine, target, sample_weight, None)
    weighted = sample_weight is not None
    work = Sampling(*columns, size=size, weighted=weighted)
    if not engine.in_order:
        sizes = fold(engine, Measuring(*columns), target, sample_weight)
        rows = [sizes.get(number, 0) for number in range(max(sizes) + 1)]
        work = replace(work, starts=(0, *np.cumsum(rows).tolist()))
    sample = fold(engine, work, target, sample_weight)
    if not engine.in_order and sample.of != work.starts[-1]:
        raise changed_rows(work.starts[-1], sample.of)
    names = sample.names(weighted=weighted)
    frame = Frame(names, len(sample.places), sample.columns[: len(names)])
    weights = sample.columns[-1].values if weighted else None
    said = Sampled(frame.n_rows, sample.of) if frame.n_rows < sample.of else None
    return Rows(frame, sample.columns[len(names)], weights), said
