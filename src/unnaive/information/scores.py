r"""Scores of a variable given its parents, from counts; structure search maximizes them.

N_{jl} is the number of rows in which the parents have their j-th joint value and the variable its
l-th value, q the number of possible joint values, and v the number of values:

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
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from unnaive import _parallel
from unnaive._core.information import extend_groups, score_additions, score_both_ways, score_table
from unnaive.counts import CodedRows
from unnaive.counts.sizes import starts_of
from unnaive.exceptions import UnnaiveError
from unnaive.schema import CategoricalColumn, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import AnyArray, CodeArray, FloatArray, IntArray

KINDS = ("bic", "aic", "log-likelihood", "k2", "bd", "bdeu")
_MOST_SCORES = 1 << 24  # in the cache: 128 MB
_MOST_CELLS = 1 << 27
_MOST_CONTEXTS = 1 << 12  # possible ones; if there are more, only those that occur are numbered
_MOST_NUMBERS = 1 << 31  # of joint values
_CELLS_A_TASK = 1 << 20  # smaller tasks do not gain from another thread

Family = tuple[int, tuple[int, ...]]


def whole_logs(most: int) -> FloatArray:
    """Return x log x of the whole numbers up to the largest; shape (most + 1,)."""
    counts = np.arange(1, most + 1)
    return np.concatenate([[0.0], counts * np.log(counts)])


@dataclass(eq=False)
class FamilyScores:
    """Scores of families, each computed only once.

    Rows with a missing cell in a family are not counted for it. Its log-likelihood is then scaled
    to the number of all rows, so that families remain comparable.

    Attributes
    ----------
    codes : ndarray of shape (d, n)
        Codes of the values; the code ``sizes[i]`` is missing.
    sizes : ndarray of shape (d,)
        Numbers of values.
    kind : str, default="bic"
        One of "bic", "aic", "log-likelihood", "k2", "bd", "bdeu"; the last two optionally with
        a strength: "bdeu:10".
    weights : ndarray of shape (n,), default=None
        Weights of the rows.
    n_jobs : int or None, default=None
        Number of threads.
    logs : ndarray of shape (n + 1,)
        x log x of whole numbers; of 0 alone if there are weights.

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
    _known: dict[Family, FloatArray] = field(default_factory=dict, repr=False)

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
                "optionally with a strength above 0: 'bdeu:10'"
            )
        self._name = name
        self.codes = np.ascontiguousarray(self.codes)
        n_columns, rows = self.codes.shape
        incomplete = self.codes.max(axis=1, initial=0) >= self.sizes
        self._extents = np.stack([self.sizes, self.sizes + incomplete], axis=1).astype(np.int64)
        self._alone = np.full(n_columns, np.nan)
        self._team = _parallel.Team(self.n_jobs)
        self._total = float(rows if self.weights is None else self.weights.sum())
        self.logs = whole_logs(rows if self.weights is None else 0)

    @property
    def rule(self) -> FloatArray:
        """Whether gammas are summed, their α, whether cells share it, and a parameter's price."""
        by_gammas, shared = self._name in {"k2", "bd", "bdeu"}, self._name == "bdeu"
        return np.array([by_gammas, self._strength, shared, self._price], dtype=np.float64)

    @property
    def _price(self) -> float:
        return {"bic": math.log(max(self._total, 1.0)) / 2, "aic": 1.0}.get(self._name, 0.0)

    def local(self, node: int, parents: tuple[int, ...]) -> float:
        """Score of one variable given its parents."""
        if not parents:
            if math.isnan(self._alone.item(node)):
                self._alone[node] = self._score_alone(node)
            return float(self._alone[node])
        above = tuple(sorted(parents))
        for place, parent in enumerate(above):
            known = self._known.get((node, above[:place] + above[place + 1 :]))
            if known is not None and not math.isnan(score := known.item(parent)):
                return score
        return float(self.additions(node, above[:-1], np.array(above[-1:]))[0])

    def additions(self, node: int, parents: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Scores of a variable with each candidate as a further parent; shape (m,)."""
        above = tuple(sorted(parents))
        known = self._known.get((node, above))
        if known is None:
            if (len(self._known) + 1) * len(self.codes) > _MOST_SCORES:
                self._known.clear()
            known = self._known[node, above] = np.full(len(self.codes), np.nan)
        unknown = candidates[np.isnan(known[candidates])]
        if len(unknown):
            known[unknown] = self._scores(node, above, unknown)
        return np.asarray(known[candidates])

    def score_pairs(self) -> None:
        """Score every variable with every single parent, from counts of all pairs."""
        if self.weights is not None or len(self.codes) < 2:
            return
        columns = (CategoricalColumn(str(i), tuple(range(v))) for i, v in enumerate(self.sizes))
        one_class = np.zeros(self.codes.shape[1], dtype=np.int64)
        rows = CodedRows(Schema(tuple(columns), (0,)), self.codes, one_class, None, self.n_jobs)
        known = np.full((len(self.codes), len(self.codes)), np.nan)
        for pairs, tables in rows.pair_chunks():
            left, right = self.sizes[pairs[:, 0]], self.sizes[pairs[:, 1]]
            starts = starts_of(left * right)
            settings = np.stack(
                [self._settings(right, left), self._settings(left, right)], axis=1
            )  # the first given the second, and the other way round
            out = np.empty((len(pairs), 2, 2))
            score_both_ways(tables[0], pairs, starts, self.sizes, self.logs, settings, out)
            seen = np.maximum(out[:, :, 1], 1.0)
            scores = out[:, :, 0] * self._total / seen - settings[:, :, 2]
            known[pairs[:, 0], pairs[:, 1]] = scores[:, 0]
            known[pairs[:, 1], pairs[:, 0]] = scores[:, 1]
        self._known.update(((node, ()), line) for node, line in enumerate(known))

    def total(self, parents: Sequence[tuple[int, ...]]) -> float:
        """Score of a network: the sum over its variables, in their order."""
        scores = (self.local(node, tuple(above)) for node, above in enumerate(parents))
        return reduce(add, scores, 0.0)  # from Python 3.12 on, `sum` has other bits

    def _scores(self, node: int, parents: tuple[int, ...], candidates: IntArray) -> FloatArray:
        """Count and score; shape (m,)."""
        numbered = self._groups(node, parents)
        if numbered is None:
            return np.full(len(candidates), -np.inf)
        groups, n_contexts = numbered
        size, n_rows = int(self.sizes[node]), len(groups)
        extents = self._extents[candidates]
        fits = extents[:, 1] <= _MOST_CELLS // (n_contexts * size + 1)
        if not fits.all():  # the others have more cells than any number of rows can justify
            scores = np.full(len(candidates), -np.inf)
            scores[fits] = self.additions(node, parents, candidates[fits])
            return scores
        possible = math.prod(float(self.sizes[parent]) for parent in parents)
        settings = self._settings(possible * extents[:, 0], size)
        weights = np.empty(0) if self.weights is None else self.weights
        out = np.empty((len(candidates), 2))

        def score(part: tuple[int, int]) -> None:
            mine = slice(*part)
            score_additions(
                *(self.codes, candidates[mine], extents[mine], groups, (n_contexts, size)),
                *(weights, self.logs, settings[mine], out[mine]),
            )

        n_parts = min(self._team.size, 1 + len(candidates) * n_rows // _CELLS_A_TASK)
        each = -(-len(candidates) // n_parts)
        self._team.run(score, _parallel.row_blocks(len(candidates), each))
        scale = np.divide(self._total, out[:, 1], out=np.ones(len(out)), where=out[:, 1] > 0)
        return np.asarray(out[:, 0] * scale - settings[:, 2])

    def _score_alone(self, node: int) -> float:
        """Score a variable without parents."""
        size, out = int(self.sizes[node]), np.zeros(2)
        counts = np.bincount(self.codes[node], self.weights, size)[:size].astype(np.float64)
        settings = self._settings(np.ones(1), size)
        score_table(counts[:, None], (1, size), 1, settings[0], self.logs, out)
        scale = self._total / out[1] if out[1] > 0 else 1.0
        return float(out[0] * scale - settings[0, 2])

    def _settings(self, contexts: AnyArray, size: int | IntArray) -> FloatArray:
        """Whether the score sums gammas, their α, and the penalty, of every family; (m, 3)."""
        contexts = np.asarray(contexts, dtype=np.float64)
        settings = np.empty((len(contexts), 3))
        by_gammas, strength, shared, price = self.rule
        settings[:, 0], settings[:, 1] = by_gammas, strength
        if shared:
            settings[:, 1] /= np.maximum(size, 1) * np.maximum(contexts, 1.0)
        settings[:, 2] = price * contexts * (np.asarray(size) - 1)
        return settings

    def _groups(self, node: int, parents: tuple[int, ...]) -> tuple[AnyArray, int] | None:
        """Give each joint value of parents and variable a number; rows with missing cells the last.

        Returns context · v + value of every row, and the number of contexts; None if joint values
        are too many to have numbers.
        """
        groups, n_groups = np.zeros(self.codes.shape[1], dtype=np.uint32), 1
        for parent in parents:
            if n_groups * int(self.sizes[parent]) >= _MOST_NUMBERS:
                return None
            extend_groups(groups, self.codes[parent], self.sizes[parent], n_groups)
            n_groups *= int(self.sizes[parent])
            if n_groups > _MOST_CONTEXTS:
                seen, place = np.unique(groups, return_inverse=True)
                groups, n_groups = place.astype(np.uint32), len(seen) - int(seen[-1] == n_groups)
        if n_groups * int(self.sizes[node]) >= _MOST_NUMBERS:
            return None
        extend_groups(groups, self.codes[node], self.sizes[node], n_groups)
        return groups, n_groups
