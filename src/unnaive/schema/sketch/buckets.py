"""Buckets: the distinct values of a column while they are few, then a fine histogram.

The content depends only on the rows that were added, not on their order or on how they were
divided into batches: two sketches of batches, merged, are bit for bit the sketch of all rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.buckets import BINADES, add_rows, fill_index, find_buckets

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import AnyArray, FloatArray, IntArray, State

EXACT = 4096  # up to this many distinct values, each has a bucket
ACCURACY = 1 << 14  # number of buckets beyond that, shared by the ranges between powers of two
_BUSY = 64  # up to this many values between two powers of two always have a bucket each
_FIRST = 256
_MANTISSA = np.uint64(52)


class Buckets:
    """Weights by class of the values of one column.

    Up to ``EXACT`` distinct values, every value has a bucket. Beyond that, the ranges between
    two powers of two (and between their negatives) that hold more than 64 distinct values get
    an equal share of ``accuracy`` buckets, rounded down to a power of two. The buckets of a range
    have equal width, as narrow as its share allows. Each bucket stores its lowest and its
    highest value, so every cut between two buckets is a cut between two neighboring values.

    Parameters
    ----------
    n_classes : int
        Number of classes so far; :meth:`widen` adds more.
    accuracy : int
        Number of buckets of all ranges together.

    Examples
    --------
    >>> import numpy as np
    >>> buckets = Buckets(n_classes=1)
    >>> buckets.add(np.array([2.0, 0.5, 2.0]), np.zeros(3, dtype=np.int64), np.ones(3))
    >>> buckets.ordered()[0].tolist(), buckets.ordered()[1].tolist()
    ([[0.5, 0.5], [2.0, 2.0]], [[1.0], [2.0]])
    """

    def __init__(self, n_classes: int, accuracy: int = ACCURACY) -> None:
        self.accuracy = accuracy
        self.exact = True
        self.shifts = np.zeros(BINADES, dtype=np.uint8)
        empty = np.empty(0)
        self.hold(np.empty(0, np.uint64), empty.reshape(0, 2), empty.reshape(0, n_classes))

    def hold(self, keys: AnyArray, ends: FloatArray, counts: FloatArray) -> None:
        """Replace all buckets, with room for as many more."""
        self.size = len(keys)
        room = max(_FIRST, 1 << max(0, 2 * self.size - 1).bit_length())
        if self.exact:
            room = min(room, EXACT)
        self._keys = np.zeros(room, dtype=np.uint64)
        self._ends = np.empty((room, 2))
        self._ends[:] = np.inf, -np.inf
        self._counts = np.zeros((room, counts.shape[1]))
        self._keys[: self.size] = keys
        self._ends[: self.size] = ends
        self._counts[: self.size] = counts
        self._index = np.full(2 * room, -1, dtype=np.int32)
        fill_index(self._keys[: self.size], self._index)

    def held(self) -> tuple[AnyArray, FloatArray, FloatArray]:
        """Keys, ends and counts of all buckets, not sorted."""
        return self._keys[: self.size], self._ends[: self.size], self._counts[: self.size]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self._counts.shape[1])

    def widen(self, n_classes: int) -> None:
        """Increase the number of classes."""
        more = n_classes - self.n_classes
        if more > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, more)))

    def add(self, values: FloatArray, classes: IntArray, weights: FloatArray) -> None:
        """Add numbers and skip NaN; the cost is proportional to their number."""
        rows = np.empty(len(values), dtype=np.int32)
        start = 0
        while start < len(values):
            rest = slice(start, None)
            done, self.size = find_buckets(
                values[rest], self.shifts, self._index, self._keys, self.size, rows[rest]
            )
            batch = slice(start, start + done)
            columns = (values[batch], rows[batch], classes[batch], weights[batch])
            add_rows(*columns, self._ends, self._counts)
            start += done
            if start < len(values):
                self._make_room()
        self._coarsen()

    def _make_room(self) -> None:
        self.exact = self.exact and self.size < EXACT
        self._coarsen()
        if 2 * self.size > len(self._keys):
            self.hold(*self.held())

    def _coarsen(self) -> None:
        """Widen the buckets of ranges that have more buckets than their share."""
        if self.exact:
            return
        keys, ends, counts = self.held()
        binades = (keys >> _MANTISSA).astype(np.int64)
        sizes = np.bincount(binades, minlength=BINADES)
        # Shares only shrink and busy ranges stay busy, so the order of the rows has no effect.
        busy = int(np.count_nonzero((self.shifts > 0) | (sizes > _BUSY)))
        share = max(_BUSY, 1 << (self.accuracy // max(1, busy)).bit_length() >> 1)
        full = np.flatnonzero(sizes > share)
        for binade in full:
            inside = np.sort(keys[binades == binade])
            while np.count_nonzero(np.diff(inside >> self.shifts[binade])) >= share:
                self.shifts[binade] += 1
        if len(full):
            self.hold(*_gather(keys, ends, counts, self.shifts))

    def merge(self, other: Buckets, places: IntArray) -> None:
        """Add buckets of another sketch, whose class c is class ``places[c]`` here."""
        counts = np.zeros((other.size, max(self.n_classes, int(places.max(initial=-1)) + 1)))
        counts[:, places] = other.held()[2]
        self.widen(counts.shape[1])
        np.maximum(self.shifts, other.shifts, out=self.shifts)
        both = zip(self.held(), (*other.held()[:2], counts), strict=True)
        gathered = _gather(*map(np.concatenate, both), self.shifts)  # type: ignore[call-arg]
        self.exact = self.exact and other.exact and len(gathered[0]) <= EXACT
        self.hold(*gathered)
        self._coarsen()

    def ordered(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest value of every bucket, (m, 2), and weights by class, (m, k)."""
        keys, ends, counts = self.held()
        order = np.argsort(keys)
        return ends[order], counts[order]

    def state(self) -> State:
        """Return plain values and arrays, with the buckets in order."""
        ends, counts = self.ordered()
        return {
            "accuracy": self.accuracy,
            "exact": self.exact,
            "shifts": self.shifts,
            "keys": np.sort(self._keys[: self.size]),
            "ends": ends,
            "counts": counts,
        }

    @classmethod
    def from_state(cls, state: State) -> Buckets:
        """Return the buckets of a :meth:`state`."""
        buckets = cls(0, int(state["accuracy"]))
        buckets.exact, buckets.shifts = bool(state["exact"]), state["shifts"].copy()
        buckets.hold(state["keys"], state["ends"], state["counts"])
        return buckets

    def __reduce__(self) -> tuple[Callable[[State], Buckets], tuple[State]]:
        """Pickle without the unused room."""
        return type(self).from_state, (self.state(),)


def _gather(
    keys: AnyArray, ends: FloatArray, counts: FloatArray, shifts: AnyArray
) -> tuple[AnyArray, FloatArray, FloatArray]:
    """Merge buckets whose keys become equal by the shifts, and sort them."""
    shift = shifts[keys >> _MANTISSA].astype(np.uint64)
    keys = (keys >> shift) << shift
    order = np.argsort(keys, kind="stable")
    keys, ends, counts = keys[order], ends[order], counts[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    if not len(first):
        return keys, ends, counts
    low = np.minimum.reduceat(ends[:, 0], first)
    high = np.maximum.reduceat(ends[:, 1], first)
    return keys[first], np.stack([low, high], axis=1), np.add.reduceat(counts, first, axis=0)
