"""Interval estimation naive Bayes: probabilities are tuned within confidence intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from unnaive import _progress
from unnaive._dataclasses import dataclass
from unnaive.counts.cells import by_context
from unnaive.exceptions import TableTooLarge
from unnaive.models.base import CountsClassifier
from unnaive.models.fitted import Shown
from unnaive.models.recipe import Learned, Recipe, TableMaker
from unnaive.parameters import flag, number, one_of
from unnaive.structure.groups import GroupGraph
from unnaive.tables.groups import GroupTables, IntervalTables, group_tables

if TYPE_CHECKING:
    from unnaive._typing import State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Source, Task
    from unnaive.schema import Schema
    from unnaive.search import EstimationOfDistribution, Result
    from unnaive.search.loop import RandomState as Seed
    from unnaive.tables.intervals import Intervals

_MOST_GENES = 50_000
_MOST_DRAWS = 8_000_000  # random numbers of a search by default


@dataclass(frozen=True, eq=False)
class GroupFactors(TableMaker):
    """Makes tables of groups of columns; a learned ``genome`` tunes them within intervals.

    ``tuning`` defines the intervals; None: tables are not tuned. ``complete``: a group has a factor
    only for rows that have all of its cells.
    """

    tuning: Tuning | None = None
    complete: bool = False

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: tuned, if learned."""
        return "tuned" if "genome" in learned.parameters else "product"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> GroupTables | IntervalTables:
        """Estimate the tables of all groups."""
        if self.tuning is None or "genome" not in learned.parameters:
            options: State = {"class_prior": how.class_prior, "complete": self.complete}
            return group_tables(counts, how.smoothing, held_out=held_out, **options)
        intervals = self.tuning.intervals_of(counts, how)
        return IntervalTables(intervals, learned.array("genome"), held_out)


@dataclass(frozen=True, eq=False)
class Tuning:
    """Tunes probabilities within their confidence intervals, as the parameters of ``by`` say."""

    by: IENB

    @classmethod
    def of(cls, model: IENB) -> Tuning:
        """Keep the parameters of a model as they are now."""
        return cls(type(model)(**model.settings()))

    def options(self, how: Estimate, n_classes: int) -> State:
        """Return the options of intervals: their width, and the pseudo-counts of the smoothing."""
        if how.class_prior is not None:
            raise ValueError(
                "class_prior cannot be given where probabilities are tuned within intervals, "
                "since the prior is tuned too; use threshold_bias to prefer a class"
            )
        if how.smoothing.uses_frequencies or how.smoothing.is_hierarchical:
            raise ValueError(
                f"smoothing={how.smoothing.key!r} has no intervals; use 'laplace', "
                "'m-estimate', 'bdeu' or 'ml'"
            )
        each, of_all = how.smoothing.shares(1)
        shared = (of_all, how.smoothing.shares(n_classes)[1])
        known = {"z": self.by.z, "encoding": self.by.encoding, "repair": self.by.repair}
        return {**known, "alpha": each, "shared": shared}

    def intervals_of(self, counts: JointCounts, how: Estimate) -> Intervals:
        """Return the confidence intervals of the groups that were counted."""
        from unnaive.tables.intervals import Intervals  # noqa: PLC0415 - import time

        sizes, tables = counts.schema.sizes, []
        for counted in counts.families:
            family = by_context(counted, sizes, counts.n_classes)
            above = int(np.prod(sizes[list(family.columns[1:])].astype(object)))
            table = np.zeros((counts.n_classes, int(sizes[family.columns[0]]), above))
            table[:, :, family.contexts] = family.table.transpose(0, 2, 1)
            tables.append(table.reshape(counts.n_classes, -1))
        return Intervals.from_counts(
            counts.class_counts,
            tables,
            sizes=sizes.tolist(),
            groups=[family.columns for family in counts.families],
            **self.options(how, counts.n_classes),
        )

    def search(self, graph: GroupGraph, rows: CodedRows, how: Estimate) -> Tuned:
        """Search for the position of every probability within its interval."""
        from unnaive.search import Box, UMDAc, require_algorithm  # noqa: PLC0415 - import time
        from unnaive.tables.intervals import IntervalFitness, Intervals  # noqa: PLC0415

        by, sizes = self.by, rows.schema.sizes
        cells = sum(int(np.prod(sizes[list(g)].astype(object))) for g in graph.groups)
        genes = rows.n_classes * (1 + cells)
        require_few_genes(rows.schema, genes, how.model)
        most = max(5, min(UMDAc.max_generations, _MOST_DRAWS // (UMDAc.offspring * genes)))
        limit = UMDAc.max_generations if by.paper else most
        default = (UMDAc.paper if by.paper else UMDAc)(max_generations=limit)
        algorithm = by.algorithm or default
        require_algorithm("algorithm", algorithm, Box)
        data = (rows.codes, rows.classes, rows.weights)
        intervals = Intervals.of(
            *(*data, sizes.tolist(), rows.n_classes),
            groups=graph.groups,
            **self.options(how, rows.n_classes),
        )
        kind = "resubstitution" if by.criterion == "training" else "loo"
        untuned = IntervalFitness(replace(intervals, z=0.0), *data, kind=kind)([intervals.point])
        result = algorithm.maximise(
            Box([0.0] * intervals.size, [1.0] * intervals.size),
            IntervalFitness(intervals, *data, kind=kind, n_jobs=how.n_jobs),
            random_state=by.random_state,
            seeds=None if by.paper else [intervals.point],
            watch=_progress.search_watcher(),
        )
        return Tuned(result, float(untuned[0]))


class Tuned(NamedTuple):
    """Result of the search, and the fitness without tuning."""

    result: Result
    untuned: float


def require_few_genes(schema: Schema, genes: int, model: str) -> None:
    """Raise an error if there are too many probabilities to search."""
    if genes > _MOST_GENES:
        widest = schema.columns[int(np.argmax(schema.sizes))]
        raise TableTooLarge(
            f"{model} would have to tune {genes:,} probabilities together; the limit is "
            f"{_MOST_GENES:,}. Column {widest.name!r} has most values ({widest.size:,}): drop it, "
            "or group its rare values"
        )


def single_groups(source: Source, rows: CodedRows | None) -> Learned | None:
    """Return naive Bayes as groups: every column that has values is one group."""
    if rows is None:
        return None
    groups = tuple((column,) for column in np.flatnonzero(rows.schema.sizes > 0).tolist())
    return Learned(GroupGraph(source.schema.names, source.schema.target, groups))


@dataclass(eq=False, repr=False, kw_only=True)
class IENB(CountsClassifier):
    r"""Interval estimation naive Bayes: probabilities are tuned within confidence intervals.

    .. math:: P(c, x) = P(c) \prod_i P(x_i \mid c), \qquad
              P(x \mid c) \in \hat p \pm z \sqrt{\hat p (1 - \hat p) / N_c}

    Naive Bayes uses the point estimate of each probability. Where features depend on each other,
    other values within the confidence intervals may classify better. An
    estimation-of-distribution algorithm searches for the values with the best leave-one-out
    accuracy; a sample that is left out is also removed from the counts of the intervals. Use it for
    small problems where accuracy matters and time does not. The accuracy that it reports was
    optimized; estimate the accuracy on new samples by cross-validation around ``fit``.

    ``partial_fit`` keeps the positions within the intervals of the first batch.

    Parameters
    ----------
    z : float, default=1.96
        Half-width of the intervals in standard errors; 0 is naive Bayes.
    criterion : {"loo", "training"}, default="loo"
        Accuracy that is maximized: leave-one-out, or on the training samples.
    encoding : {"centred", "linear", "absolute"}, default="centred"
        Meaning of a gene from 0 to 1: the estimate at 1/2 and the ends at 0 and 1; linear between
        the ends; the probability itself.
    repair : {"project", "normalise"}, default="project"
        How probabilities are made to sum to 1: projected to the nearest that do within the
        intervals, or divided by their sum.
    algorithm : UMDAc, MIMICc, EGNA or EMNA of :mod:`unnaive.search`, default=None
        Search algorithm; None: ``UMDAc()`` with at most 100 generations, and with fewer if more
        than 800 probabilities are tuned: 80 000 divided by their number, but at least 5.
    paper : bool, default=False
        The setting of Robles et al.: 500 individuals, 1000 offspring, naive Bayes not among them.
        They give no stopping rule; the search ends with the first generation that adds nothing, and
        after at most 100.
    random_state : int, Generator, RandomState or None, default=0
        Random seed of the search. With the default, two fits to the same samples agree. None
        searches with a new seed in every fit, as in scikit-learn.
    {parameters}

    Attributes
    ----------
    loo_score_ : float
        Accuracy by the criterion.
    naive_loo_score_ : float
        Accuracy of naive Bayes by the criterion.
    search_result_ : Result of :mod:`unnaive.search`
        Result and history of the search.
    {attributes}

    See Also
    --------
    NaiveBayes : Point estimates.
    PazzaniNB : With ``tune``, the same for groups of features.
    AdjustedNB : Weights of classes instead.

    Notes
    -----
    Assumption: within a class, features are independent. Each probability was tuned within its
    confidence interval so that the samples are classified best.

    References
    ----------
    Robles, Larrañaga, Peña, Menasalvas & Pérez, "Interval estimation naive Bayes", IDA 2003.

    Examples
    --------
    >>> from unnaive import IENB
    >>> X = [["a", "u"], ["a", "u"], ["a", "v"], ["b", "v"], ["b", "v"], ["b", "u"]] * 3
    >>> model = IENB().fit(X, [0, 0, 1, 1, 1, 0] * 3)
    >>> model.loo_score_ >= model.naive_loo_score_
    True
    """

    z: float = number(1.96)
    criterion: str = one_of("loo", "training")
    encoding: str = one_of("centred", "linear", "absolute")
    repair: str = one_of("project", "normalise")
    algorithm: EstimationOfDistribution | None = None
    paper: bool = flag(False)
    random_state: Seed = 0

    family: ClassVar[str] = "adjusted naive"
    counts_twice: ClassVar[bool] = True

    loo_score_ = Shown("Accuracy of the tuned tables by the criterion.")
    naive_loo_score_ = Shown("Accuracy of naive Bayes by the criterion.")
    search_result_ = Shown("Result and history of the search.")

    def recipe(self) -> Recipe:
        """Take naive Bayes, and tune its tables within their intervals."""
        tables = GroupFactors(Tuning.of(self))
        parts = (single_groups, tables, self._tune, GroupGraph)
        return Recipe(*parts, counts="values", keeps=True)

    def _tune(self, learned: Learned, task: Task) -> Learned:
        graph = learned.graph(GroupGraph)
        result, untuned = Tuning(self).search(graph, task.rows, task.maker.how)
        scores = {"loo_score_": result.fitness, "naive_loo_score_": untuned}
        trace = {**scores, "search_result_": result}
        return replace(learned, parameters={"genome": result.best}, trace=trace)
