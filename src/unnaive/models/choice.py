"""Choice by leave-one-out: candidates, their scores, and the best of them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE, first_best
from unnaive.exceptions import UnnaiveError
from unnaive.information import mutual_information
from unnaive.parameters import is_number, is_whole, one_of, parameter
from unnaive.structure.graph import LEFT_OUT, ClassGraphs, ParentGraph
from unnaive.tables.left_out import SCORES, left_out_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.base import CountsClassifier
    from unnaive.models.recipe import Learned, Maker, Source, Task
    from unnaive.tables.left_out import LeftOut
    from unnaive.tables.trees import TreeTables

    Order = Callable[[ParentGraph, Source], IntArray]


class Path(NamedTuple):
    """Candidates with their scores, as arrays by name, and the index of the best."""

    table: dict[str, AnyArray]
    best: int


def criterion_of(*others: str) -> str:
    """Declare the parameter ``criterion``: the score that leave-one-out optimizes."""
    return one_of("log_loss", "accuracy", *others)


def features_of() -> int | float | str | None:
    """Declare the parameter ``n_features``: how many columns to keep."""
    return parameter(
        None,
        "a share between 0 and 1, a whole number of columns",
        also=("loo", None),
        test=lambda value: is_whole(value, 0) or (is_number(value) and 0 < float(value) < 1),  # type: ignore[arg-type]
    )


def select(
    scores: FloatArray, criterion: str, *, then: str | None = None, **candidates: AnyArray
) -> Path:
    """Return the best candidate, the first one on ties, and the table of all candidates.

    ``scores`` has a column for each of :data:`~unnaive.tables.left_out.SCORES`, or for the first
    of them; ``then`` is a second criterion for ties. ``candidates`` are arrays that describe the
    candidates; the table holds them beside the scores.
    """
    columns = dict(zip(SCORES, scores.reshape(-1, scores.shape[-1]).T, strict=False))
    good = {name: column if name == "accuracy" else -column for name, column in columns.items()}
    merit = good[criterion]
    if then is not None:
        tied = merit >= merit.max() - TIE_TOLERANCE
        merit = np.where(tied, good[then], -np.inf)
    table = {**candidates, **{name: np.ascontiguousarray(c) for name, c in columns.items()}}
    return Path(table, first_best(merit))


def counted(rows: CodedRows, learned: Learned) -> JointCounts:
    """Count what the tables of a candidate need."""
    families = rows.count_families(learned.structure.families)
    return replace(rows.select(learned.structure.pairs), families=families)


def left_out_candidates(rows: CodedRows, maker: Maker, candidates: Sequence[Learned]) -> FloatArray:
    """Leave-one-out scores of candidates, whose tables are made one by one; shape (m, 3)."""
    scores = []
    for learned in candidates:
        counts = counted(rows, learned)

        def joints(group: LeftOut) -> Iterator[FloatArray]:
            tables = maker.tables(counts, learned, group.weight)  # noqa: B023
            yield tables.joint(group.codes, group.classes, rows.n_jobs)

        def prior(group: LeftOut) -> FloatArray:
            return maker.left_out_prior(counts, learned, group)  # noqa: B023

        scores.append(left_out_scores(rows, joints, prior)[0])
    return np.array(scores)


def entering_order(graph: ParentGraph, source: Source) -> IntArray:
    """Columns of a tree by decreasing I(X_i;Y), each after its parent; shape (m,)."""
    parents = np.where(source.schema.sizes > 0, graph.parents, LEFT_OUT)
    relevance = mutual_information(source)
    order: list[int] = []
    waiting = np.flatnonzero(parents > LEFT_OUT)
    while len(waiting):
        free = waiting[(parents[waiting] < 0) | np.isin(parents[waiting], order)]
        order.append(int(free[first_best(relevance[free])]))
        waiting = waiting[waiting != order[-1]]
    return np.array(order, dtype=np.int64)


def order_of_features(model: CountsClassifier) -> IntArray:
    """Columns of a fitted tree by decreasing I(X_i;Y), parents before children; shape (m,)."""
    graph = model.structure_
    if not isinstance(graph, ParentGraph):
        raise AttributeError("every class has its own tree, so the columns have no common order")
    return entering_order(graph, model.counts_)


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Keeps the first columns of a tree, in an order with parents before children.

    Attributes
    ----------
    n_features : int, float, "loo" or None
        Number of columns, or their share; "loo": the number with the best score.
    criterion : str
        Score that "loo" optimizes; fewer columns on ties.
    order : callable (graph, source) -> ndarray
        Order of the columns.
    least : int
        Smallest number of columns.
    """

    n_features: int | float | str | None
    criterion: str
    order: Order = entering_order
    least: int = 0

    @property
    def by_rows(self) -> bool:
        """Whether leave-one-out chooses the number of columns."""
        return self.n_features == "loo"

    def __call__(self, learned: Learned, task: Task) -> Learned:
        """Keep the given number of columns, or the one with the best score."""
        if self.n_features is None:
            return learned
        if isinstance(learned.structure, ClassGraphs):
            raise UnnaiveError(
                "with per_class=True every class has its own tree, so the columns have no common "
                "order; leave n_features out"
            )
        graph = learned.graph(ParentGraph)
        order = self.order(graph, task.source)
        if not self.by_rows:
            number = asked(self.n_features, len(order), self.least)
            return replace(learned, structure=graph.only(order[:number]))
        numbers = np.arange(min(self.least, len(order)), len(order) + 1)
        scores = self._scores(order, learned, task)[numbers]
        path = select(scores, self.criterion, n_features=numbers)
        kept = graph.only(order[: numbers[path.best]])
        return replace(learned, structure=kept, trace={"path_": path.table})

    @staticmethod
    def _scores(order: IntArray, learned: Learned, task: Task) -> FloatArray:
        """Leave-one-out scores of the first 0, 1, … columns, all in one sweep; (m + 1, 3)."""
        rows, maker = task.rows, task.maker
        counts = rows.select(learned.structure.pairs)

        def prior(group: LeftOut) -> FloatArray:
            return maker.left_out_prior(counts, learned, group)

        def joints(group: LeftOut) -> Iterator[FloatArray]:
            tables: TreeTables = maker.tables(counts, learned, group.weight)  # type: ignore[assignment]
            yield prior(group)
            yield from tables.prefixes(group.codes, group.classes, order, rows.n_jobs)

        return left_out_scores(rows, joints, prior)


def asked(number: object, most: int, least: int = 0) -> int:
    """Read ``n_features``: a number of columns, a share of them, or None for all."""
    least = min(least, most)
    if number is None:
        return most
    if not is_whole(number):
        return max(least, ceil(float(number) * most))  # type: ignore[arg-type]
    if not is_whole(number, least, most):
        raise ValueError(
            f"n_features={number!r}; it must be 'loo', None, a share between 0 and 1, or a "
            f"whole number from {least} to {most}, the number of columns that have values"
        )
    return int(number)  # type: ignore[call-overload, no-any-return]
