"""Missing columns summed out of products of factors, many rows and classes at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive import _parallel
from unnaive.counts.sizes import require_memory
from unnaive.tables.elimination import eliminate, elimination_order, multiply
from unnaive.tables.folding import Fold, FoldedFactor, fold_of, foldable

if TYPE_CHECKING:
    from collections.abc import Callable

    from unnaive._typing import CodeArray, FloatArray, IntArray
    from unnaive.schema import Schema
    from unnaive.tables.opening import OpenFactor

    Family = tuple[int, ...]
    Question = tuple[tuple[Family, Family], ...]  # families, and their missing columns
    Folds = dict[tuple[Family, int], Fold | None]
    Opening = Callable[[Family, Family, CodeArray, IntArray], OpenFactor]

_BLOCK_BYTES = 1 << 22  # of factors while missing columns are summed out: the cache holds them
_FOLD_BYTES = 1 << 24  # of all folded factors, which are kept


class Plan(NamedTuple):
    """Families to sum over missing columns, the order of these, and how many lines at a time.

    ``folds`` has factors that are folded, by their place in the question.
    """

    question: Question
    order: list[int]
    folds: dict[int, Fold]
    lines_at_once: int


@dataclass(frozen=True, eq=False)
class Summation:
    """Sums over missing columns of one set of tables.

    Attributes
    ----------
    schema : Schema
        The columns.
    n_classes, n_sets : int
        Number of classes k, and 2 if a row that is left out has other tables for its own class.
    max_memory : int
        Most bytes that factors may take.
    folds : dict
        Folded factors by family and the column that is summed out, None where folding is no help.
    """

    schema: Schema
    n_classes: int
    n_sets: int
    max_memory: int
    folds: Folds

    def plan(self, question: Question, opening: Opening) -> Plan:
        """Choose the order in which missing columns are summed out; refuse what is too large."""
        scopes = [scope for _, scope in question]
        order, cliques = elimination_order(scopes, (), self.schema.sizes)
        widths = self.schema.sizes.tolist()
        cells = [math.prod(widths[c] for c in some) for some in (*scopes, *cliques)]
        what = "summing missing values out of one row"
        require_memory(self.schema, 16 * self.n_classes * sum(cells), self.max_memory, what)
        folds: dict[int, Fold] = {}
        for place, variable in foldable(scopes, order).items():
            fold = self._folded(*question[place], variable, opening)
            if fold is not None:
                folds[place] = fold
                cells[place] = cells[len(scopes) + order.index(variable)] = fold.n_cells
        lines = min(_BLOCK_BYTES, self.max_memory) // (8 * sum(cells))
        return Plan(question, order, folds, max(1, lines))

    def _folded(
        self, family: Family, scope: Family, variable: int, opening: Opening
    ) -> Fold | None:
        """Fold a factor if all columns are missing and many of its lines are alike."""
        if len(family) > len(scope):
            return None
        if (family, variable) not in self.folds:
            codes = np.zeros((len(self.schema.sizes), self.n_classes + 1), dtype=np.uint8)
            factor = opening(family, scope, codes, np.arange(-1, self.n_classes))
            fold = fold_of(factor, variable, self.n_sets, self.n_classes)
            others = sum(other.nbytes for other in self.folds.values() if other is not None)
            most = min(_FOLD_BYTES, self.max_memory // 16)
            fits = fold is not None and others + fold.nbytes <= most
            self.folds[family, variable] = fold if fits else None
        return self.folds[family, variable]

    def sum_out(self, plan: Plan, codes: CodeArray, held: IntArray, opening: Opening) -> FloatArray:
        """Sum missing columns, whose codes are 0, out of a product of factors; shape (n, k)."""
        k, sizes = self.n_classes, self.schema.sizes
        folded = {at: FoldedFactor(fold, held, k) for at, fold in plan.folds.items()}
        opened = [
            folded[at] if at in folded else opening(*families, codes, held)
            for at, families in enumerate(plan.question)
        ]
        summed = np.empty(codes.shape[1] * k)
        for low, high in _parallel.row_blocks(len(summed), plan.lines_at_once):
            factors = [(factor.scope, factor.lines(low, high)) for factor in opened]
            unfold = {f.fold.variable: f.unfolding(low, high) for f in folded.values()}
            left = eliminate(factors, plan.order, sizes, unfold=unfold)[0]
            summed[low:high] = multiply(left, (), sizes)
        return summed.reshape(-1, k)
