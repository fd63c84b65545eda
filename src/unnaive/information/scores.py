r"""Scores of a variable given its parents, from counts: what structure search maximises.

With N_{jl} the rows in which the parents have their j-th joint value and the variable its l-th,
q the number of joint values that there could be, and v the number of values:

.. math:: LL = \sum_{jl} N_{jl} \log \frac{N_{jl}}{N_j}, \quad
          BIC = LL - \tfrac{\log N}{2}\, q (v-1), \quad AIC = LL - q (v-1)

.. math:: BD(\alpha) = \sum_j \Big[ \log\Gamma(v\alpha) - \log\Gamma(N_j + v\alpha)
          + \sum_l \log\Gamma(N_{jl} + \alpha) - \log\Gamma(\alpha) \Big]

K2 is BD(1), and BDeu(s) is BD with :math:`\alpha = s / (v q)`. BIC, AIC and BDeu give Markov
equivalent networks the same score; K2 does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import _parallel
from unnaive.counts import CodedRows
from unnaive.counts.joint import starts_of
from unnaive.exceptions import UnnaiveError
from unnaive.information.kernels import score_additions, score_both_ways
from unnaive.schema import CategoricalColumn, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import CodeArray, FloatArray, IntArray

KINDS = ("bic", "aic", "log-likelihood", "k2", "bd", "bdeu")
_MOST_SCORES = 1 << 20  # kept in the cache: some 200 MB
_MOST_CELLS = 1 << 27
_MOST_CONTEXTS = 1 << 12  # with those that never occurred; more are numbered anew
_CANDIDATES_A_TASK = 13

Family = tuple[int, tuple[int, ...]]


@dataclass(eq=False)
class FamilyScores:
    """Scores of families of the rows (d, n), each computed once.

    Rows with a missing cell in a family are left out of it, and its log-likelihood is scaled to
    the number of all rows, so that families remain comparable.

    Attributes
    ----------
    codes : ndarray of shape (d, n)
        Values; the code ``sizes[i]`` is missing.
    sizes : ndarray of shape (d,)
        Numbers of values.
    kind : str
        One of "bic", "aic", "log-likelihood", "k2", "bd", "bdeu", with a strength if you like:
        "bdeu:10".
    weights : ndarray of shape (n,), or None

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 1, 1]], dtype=np.uint8)
    >>> scores = FamilyScores(codes, np.array([2, 2]), "bic")
    >>> print(round(scores.local(1, (0,)) - scores.local(1, ()), 4))
    1.0137
    """

    codes: CodeArray
    sizes: IntArray
    kind: str = "bic"
    weights: FloatArray | None = None
    n_jobs: int | None = None
    _known: dict[Family, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        name, _, strength = self.kind.partition(":")
        default = {"bd": 0.5, "bdeu": 1.0}.get(name, 1.0)
        try:
            self._strength = float(strength) if strength else default
        except ValueError:
            self._strength = math.nan
        if name not in KINDS or not 0 < self._strength < math.inf:
            raise UnnaiveError(
                f"criterion={self.kind!r}; it must be one of {', '.join(KINDS)}, 'bd' and 'bdeu' "
                "with a strength above 0 if you like: 'bdeu:10'"
            )
        self._name = name
        rows = self.codes.shape[1]
        self._total = float(rows if self.weights is None else self.weights.sum())
        counts = np.arange(1, rows + 1 if self.weights is None else 1)
        self._logs = np.concatenate([[0.0], counts * np.log(counts)])

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """Score of one variable given its parents."""
        key = (node, tuple(sorted(parents)))
        if key not in self._known:
            self._keep(key, float(self._scores(node, key[1][:-1], np.array(key[1][-1:]))[0]))
        return self._known[key]

    def additions(self, node: int, parents: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Scores of a variable with each of some candidates as a further parent; shape (m,)."""
        keys = [(node, tuple(sorted((*parents, int(other))))) for other in candidates]
        unknown = [place for place, key in enumerate(keys) if key not in self._known]
        if unknown:
            found = self._scores(node, parents, np.asarray(candidates)[unknown])
            for place, score in zip(unknown, found, strict=True):
                self._keep(keys[place], float(score))
        return np.array([self._known[key] for key in keys])

    def score_pairs(self) -> None:
        """Score every variable with every single parent, from counts of pairs by bitmaps."""
        if self.weights is not None or len(self.codes) < 2:
            return
        columns = (CategoricalColumn(str(i), tuple(range(v))) for i, v in enumerate(self.sizes))
        one_class = np.zeros(self.codes.shape[1], dtype=np.int64)
        rows = CodedRows(Schema(tuple(columns), (0,)), self.codes, one_class, None, self.n_jobs)
        for pairs, tables in rows.pair_chunks():
            left, right = self.sizes[pairs[:, 0]], self.sizes[pairs[:, 1]]
            starts = starts_of(left * right)
            settings = np.stack(
                [self._settings(right, left), self._settings(left, right)], axis=1
            )  # the first given the second, and the other way round
            out = np.empty((len(pairs), 2, 2))
            score_both_ways(tables[0], pairs, starts, self.sizes, self._logs, settings, out)
            seen = np.maximum(out[:, :, 1], 1.0)
            found = out[:, :, 0] * self._total / seen - settings[:, :, 2]
            for (i, j), (first, second) in zip(pairs.tolist(), found.tolist(), strict=True):
                self._known[i, (j,)] = first
                self._known[j, (i,)] = second

    def total(self, parents: Sequence[tuple[int, ...]]) -> float:
        """Score of a network: the sum over its variables."""
        return sum(self.local(node, tuple(above)) for node, above in enumerate(parents))

    def _keep(self, key: Family, score: float) -> None:
        if len(self._known) >= _MOST_SCORES:
            self._known.clear()
        self._known[key] = score

    def _scores(self, node: int, parents: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Count and score, in one pass over the rows a candidate; shape (m,).

        No candidate at all gives the score of the variable without parents.
        """
        groups, n_contexts = self._groups(node, parents)
        possible = float(np.prod(self.sizes[list(parents)].astype(float)))
        size, weights = int(self.sizes[node]), np.empty(0) if self.weights is None else self.weights
        alone = not len(candidates)
        codes = np.zeros((1, len(groups)), dtype=np.uint8) if alone else self.codes
        candidates = (
            np.zeros(1, dtype=np.int64) if alone else np.asarray(candidates, dtype=np.int64)
        )
        values = np.ones(1, dtype=np.int64) if alone else self.sizes[candidates]
        settings = self._settings(possible * values, size)
        out = np.empty((len(candidates), 2))
        for width in np.unique(values) + 1:
            if (n_contexts * size + 1) * int(width) > _MOST_CELLS:
                out[values == width - 1] = -np.inf, self._total  # no rows could pay its price
                continue
            base = groups * np.uint32(width)
            mine = np.flatnonzero(values == width - 1)

            shape = (n_contexts, size, int(width))

            def score(
                part: tuple[int, int], mine: Any = mine, base: Any = base, shape: Any = shape
            ) -> None:
                chosen = mine[slice(*part)]
                found = np.empty((len(chosen), 2))
                score_additions(
                    *(codes, candidates[chosen], base, shape),
                    *(weights, self._logs, settings[chosen], found),
                )
                out[chosen] = found

            _parallel.run(score, _parallel.row_blocks(len(mine), _CANDIDATES_A_TASK), self.n_jobs)
        scale = np.divide(self._total, out[:, 1], out=np.ones(len(out)), where=out[:, 1] > 0)
        return np.asarray(out[:, 0] * scale - settings[:, 2])

    def _settings(self, contexts: Any, size: Any) -> FloatArray:
        """Whether gammas are summed, their α, and the price, of every family; shape (m, 3)."""
        contexts = np.asarray(contexts, dtype=np.float64)
        settings = np.empty((len(contexts), 3))
        settings[:, 0] = self._name in {"k2", "bd", "bdeu"}
        settings[:, 1] = self._strength
        if self._name == "bdeu":
            settings[:, 1] /= np.maximum(size, 1) * np.maximum(contexts, 1.0)
        price = {"bic": math.log(max(self._total, 1.0)) / 2, "aic": 1.0}.get(self._name, 0.0)
        settings[:, 2] = price * contexts * (np.asarray(size) - 1)
        return settings

    def _groups(self, node: int, parents: tuple[int, ...]) -> tuple[IntArray, int]:
        """Give each joint value of parents and variable a number, rows with gaps the last.

        Returns context · v + value of every row, and the number of contexts.
        """
        context = np.zeros(self.codes.shape[1], dtype=np.uint32)
        missing = self.codes[node] >= self.sizes[node]
        n_contexts = 1
        for parent in parents:
            context *= np.uint32(self.sizes[parent])
            context += self.codes[parent]
            missing |= self.codes[parent] >= self.sizes[parent]
            n_contexts *= int(self.sizes[parent])
            if n_contexts > _MOST_CONTEXTS:
                found, place = np.unique(context, return_inverse=True)
                context, n_contexts = place.reshape(-1).astype(np.uint32), len(found)
        size = int(self.sizes[node])
        groups = context * np.uint32(size) + self.codes[node]
        groups[missing] = n_contexts * size
        return groups, n_contexts
