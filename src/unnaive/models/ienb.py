"""Naive Bayes over groups of columns, and probabilities that move within their intervals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unnaive import _progress
from unnaive.exceptions import TableTooLarge
from unnaive.models.base import CountsClassifier
from unnaive.structure.groups import GroupGraph
from unnaive.tables.groups import IntervalTables, group_tables

if TYPE_CHECKING:
    from unnaive._typing import IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.schema import Schema

_MOST_GENES = 50_000


@dataclass(eq=False, repr=False, kw_only=True)
class GroupClassifier(CountsClassifier):
    """Base of naive Bayes over groups of columns, tuned or not."""

    needs_pairs: ClassVar[bool] = False

    @property
    @abstractmethod
    def _tuner(self) -> IENB:
        """How tables are tuned."""

    def _learn_structure(self, source: JointCounts | CodedRows) -> GroupGraph:
        graph: GroupGraph = self._kept_structure(source)
        return graph

    def _restore_structure(self, state: Any, schema: Schema) -> GroupGraph:
        groups = tuple(tuple(group) for group in state["groups"])
        return GroupGraph(schema.names, schema.target, groups, state.get("genome"))

    def _pairs_of(self, structure: GroupGraph) -> IntArray:
        return np.empty((0, 2), dtype=np.int64)

    def _families_of(self, structure: GroupGraph) -> list[tuple[int, ...]]:
        return list(structure.groups)

    def _make_tables(self, held_out: float | None = None) -> Any:
        graph: GroupGraph = self.structure_
        if graph.genome is None:
            return group_tables(
                self.counts_, self._smoothing, class_prior=self._class_prior, held_out=held_out
            )
        intervals = self._tuner.intervals_of(self.counts_, self._pseudo_counts)
        return IntervalTables(intervals, graph.genome, held_out)

    @property
    def _pseudo_counts(self) -> dict[str, Any]:
        """Return what is added to counts, in the words of intervals."""
        if self._class_prior is not None:
            raise ValueError(
                "class_prior cannot be given where probabilities are moved within their "
                "intervals: the prior is one of them; use threshold_bias to prefer a class"
            )
        if self._smoothing.uses_frequencies or self._smoothing.is_hierarchical:
            raise ValueError(
                f"smoothing={self.smoothing!r} has no intervals; use 'laplace', 'm-estimate', "
                "'bdeu' or 'ml'"
            )
        each, of_all = self._smoothing.shares(1)
        return {"alpha": each, "shared": (of_all, self._smoothing.shares(len(self.classes_))[1])}

    def _require_few_genes(self, schema: Schema, genes: int) -> None:
        """Raise an error if a search would take days and find nothing."""
        if genes > _MOST_GENES:
            widest = schema.columns[int(np.argmax(schema.sizes))]
            raise TableTooLarge(
                f"{type(self).__name__} would have to tune {genes:,} probabilities at once, and "
                f"{_MOST_GENES:,} are the most; the widest column is {widest.name!r} with "
                f"{widest.size:,} values: drop it, or group its rare values"
            )

    def _tune_tables(self, graph: GroupGraph, rows: CodedRows) -> tuple[Any, float]:
        """Search for the place of every probability; what was found, and the untuned fitness."""
        from unnaive.search import Box, UMDAc, require_algorithm  # noqa: PLC0415 - import time
        from unnaive.tables.intervals import IntervalFitness, Intervals  # noqa: PLC0415

        tuner = self._tuner
        algorithm = tuner.algorithm or (UMDAc.paper() if tuner.paper else UMDAc())
        require_algorithm("algorithm", algorithm, Box)
        cells = sum(int(np.prod(rows.schema.sizes[list(g)].astype(object))) for g in graph.groups)
        self._require_few_genes(rows.schema, rows.n_classes * (1 + cells))
        data = (rows.codes, rows.classes, rows.weights)
        options = {**tuner.options, **self._pseudo_counts}
        intervals = Intervals.of(
            *(*data, rows.schema.sizes.tolist(), rows.n_classes), groups=graph.groups, **options
        )
        kind = "resubstitution" if tuner.criterion == "training" else "loo"
        untuned = IntervalFitness(replace(intervals, z=0.0), *data, kind=kind)([intervals.point])
        found = algorithm.maximise(
            Box([0.0] * intervals.size, [1.0] * intervals.size),
            IntervalFitness(intervals, *data, kind=kind, n_jobs=self.n_jobs),
            random_state=tuner.random_state,
            seeds=None if tuner.paper else [intervals.point],
            watch=_progress.watcher(),
        )
        return found, float(untuned[0])


@dataclass(eq=False, repr=False, kw_only=True)
class IENB(GroupClassifier):
    r"""Interval estimation naive Bayes: probabilities from their intervals, the best together.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c), \qquad
              P(x \mid c) \in \hat p \pm z \sqrt{\hat p (1 - \hat p) / N_c}

    Naive Bayes takes each probability's most likely value. Where columns depend on each other
    other values within the confidence intervals may classify better, and an
    estimation-of-distribution algorithm looks for them: those that get most rows right by
    leave-one-out. When a row is left out, so it is from the counts that the intervals stand on.
    The accuracy it finds is an optimised figure; cross-validation around ``fit`` is the honest one.

    ``partial_fit`` keeps the places within the intervals that the first batch gave.

    Parameters
    ----------
    z : float, default=1.96
        Half-width of the intervals in standard errors; 0 is naive Bayes.
    criterion : {"loo", "training"}, default="loo"
        Whether rows are left out when they are judged.
    encoding : {"centred", "linear", "absolute"}, default="centred"
        What a gene of 0 to 1 means: the estimate at 1/2, the ends at 0 and 1; between the ends in
        a straight line; the probability itself.
    repair : {"project", "normalise"}, default="project"
        How probabilities are made to sum to 1: the nearest that do inside their intervals, or
        divided by their sum.
    algorithm : UMDAc, MIMICc, EGNA or EMNA of :mod:`unnaive.search`, default=None
        None: ``UMDAc()``.
    paper : bool, default=False
        Robles et al.'s setting: 500 individuals, 1000 offspring, naive Bayes not among them.
    random_state : int, Generator or None, default=None
    {parameters}

    Attributes
    ----------
    loo_score_, naive_loo_score_ : float
        Accuracy by the criterion, and that of naive Bayes.
    search_result_ : Result of :mod:`unnaive.search`

    References
    ----------
    Robles, Larrañaga, Peña, Menasalvas & Pérez, "Interval estimation naive Bayes", IDA 2003.

    Examples
    --------
    >>> from unnaive import IENB
    >>> X = [["a", "u"], ["a", "u"], ["a", "v"], ["b", "v"], ["b", "v"], ["b", "u"]] * 3
    >>> model = IENB(random_state=0).fit(X, [0, 0, 1, 1, 1, 0] * 3)
    >>> model.loo_score_ >= model.naive_loo_score_
    True
    """

    z: float = 1.96
    criterion: str = "loo"
    encoding: str = "centred"
    repair: str = "project"
    algorithm: Any = None
    paper: bool = False
    random_state: Any = None

    @property
    def options(self) -> dict[str, Any]:
        """What intervals are and how genomes are read."""
        return {"z": self.z, "encoding": self.encoding, "repair": self.repair}

    @property
    def _tuner(self) -> IENB:
        return self

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> GroupGraph:
        if self.criterion not in {"loo", "training"}:
            raise ValueError(f"criterion={self.criterion!r}; it must be 'loo' or 'training'")
        active = np.flatnonzero(rows.schema.sizes > 0).tolist()
        groups = tuple((column,) for column in active)
        graph = GroupGraph(rows.schema.names, rows.schema.target, groups)
        found, self.naive_loo_score_ = self._tune_tables(graph, rows)
        self.search_result_, self.loo_score_ = found, found.fitness
        return replace(graph, genome=found.best)

    def intervals_of(self, counts: JointCounts, pseudo_counts: dict[str, Any]) -> Any:
        """Return the intervals of groups that were counted."""
        from unnaive.tables.intervals import Intervals  # noqa: PLC0415 - kernels of its own

        sizes, tables = counts.schema.sizes, []
        for family in counts.families:
            above = int(np.prod(sizes[list(family.columns[1:])].astype(object)))
            table = np.zeros((counts.n_classes, int(sizes[family.columns[0]]), above))
            table[:, :, family.contexts] = family.table.transpose(0, 2, 1)
            tables.append(table.reshape(counts.n_classes, -1))
        groups = [family.columns for family in counts.families]
        options = {**self.options, **pseudo_counts}
        return Intervals.from_counts(
            counts.class_counts, tables, sizes=sizes.tolist(), groups=groups, **options
        )
