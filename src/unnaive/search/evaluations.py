"""A cache around a fitness function, so that no genome is scored twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray
    from unnaive.search.spaces import Space

    Judge = Callable[[AnyArray], ArrayLike]  # of genomes (m, d), a row each

_MOST_BYTES = 1 << 27  # limit of the cache
_ENTRY_BYTES = 300  # of one cache entry, without its key


@dataclass(eq=False)
class Evaluations:
    """A fitness function with a cache.

    Attributes
    ----------
    space : Space
        The search space.
    fitness : callable
        Maps genomes (m, d) to scores (m,) or (m, t).
    key : callable or None
        Maps genomes to their canonical form, (m, anything); None: the genomes themselves.
    asked, hits : int
        Genomes whose score was requested so far, and how many of them were in the cache.
    """

    space: Space
    fitness: Judge
    key: Judge | None = None
    asked: int = 0
    hits: int = 0
    _known: dict[bytes, list[float]] = field(default_factory=dict, repr=False)
    _columns: int = 0

    def scores(self, genomes: AnyArray) -> FloatArray:
        """Score a population, with one call of the fitness for the new genomes; shape (m, t)."""
        keys = self._keys(genomes)
        new: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in self._known:
                new.setdefault(key, row)
        if new:
            answers = self._ask(genomes[list(new.values())])
            self._known.update(zip(new, answers.tolist(), strict=True))
        self.asked += len(keys)
        self.hits += len(keys) - len(new)
        scores = np.array([self._known[key] for key in keys])
        surplus = len(self._known) - _MOST_BYTES // (len(keys[0]) + _ENTRY_BYTES)
        for key in list(islice(self._known, max(surplus, 0))):  # the oldest entries
            del self._known[key]
        return scores

    def _keys(self, genomes: AnyArray) -> list[bytes]:
        if self.key is None:
            rows = self.space.compact(genomes)
        else:
            rows = np.asarray(self.key(genomes.copy()))
            if not rows.ndim or len(rows) != len(genomes) or rows.dtype.kind not in "iub":
                raise UnnaiveError(
                    f"key returned an array of shape {rows.shape} and type {rows.dtype} for "
                    f"{len(genomes)} genomes; it must return whole numbers, one row per genome"
                )
            rows = rows.reshape(len(rows), -1).astype(np.int64)
        if not rows.shape[1]:
            return [b""] * len(rows)
        rows = np.ascontiguousarray(rows)
        return list(rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist())

    def _ask(self, genomes: AnyArray) -> FloatArray:
        """Call the fitness; NaN becomes −inf."""
        m = len(genomes)
        answers = self.fitness(genomes)
        try:
            scores = np.asarray(answers, dtype=np.float64)
        except (TypeError, ValueError):
            raise UnnaiveError(
                f"fitness returned {type(answers).__name__}, which is not an array of numbers; it "
                f"must return one number per genome, here {m}"
            ) from None
        if scores.ndim not in {1, 2} or len(scores) != m or not scores.size:
            raise UnnaiveError(
                f"fitness returned an array of shape {scores.shape} for {m} genomes; it must "
                f"return one number per genome, shape ({m},), or more that break ties, ({m}, t)"
            )
        scores = scores.reshape(m, -1)
        if self._columns not in {0, scores.shape[1]}:
            raise UnnaiveError(
                f"fitness returned {scores.shape[1]} columns, {self._columns} before; it must "
                "return as many each time"
            )
        self._columns = scores.shape[1]
        return np.where(np.isnan(scores), -np.inf, scores)
