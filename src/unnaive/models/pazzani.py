"""Pazzani's classifier: naive Bayes over groups of columns, found by greed or by an EDA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive import _progress
from unnaive.models.base import CountsClassifier
from unnaive.models.fitted import Shown
from unnaive.models.ienb import IENB, GroupFactors, single_groups
from unnaive.models.recipe import Learned, Recipe
from unnaive.parameters import flag, one_of, parameter
from unnaive.structure.groups import (
    GroupGraph,
    backward_joining,
    canonical_genomes,
    forward_joining,
    genome_of,
    groups_of,
)
from unnaive.tables.groups import GroupScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import BoolArray, FloatArray, IntArray
    from unnaive.counts import CodedRows
    from unnaive.models.ienb import Tuning
    from unnaive.models.recipe import Source, Task
    from unnaive.search import EstimationOfDistribution, Result
    from unnaive.search.loop import RandomState as Seed
    from unnaive.structure.groups import Groups, Joined

_SEEDS = {"nb": "", "fssj": "forward", "bsej": "backward"}


def _are_seeds(given: object) -> bool:
    """Whether seeds are a list of names that are known."""
    return isinstance(given, list | tuple) and all(seed in _SEEDS for seed in given)


@dataclass(eq=False, repr=False, kw_only=True)
class PazzaniNB(CountsClassifier):
    r"""Naive Bayes over groups of columns that are joined, or left out, for leave-one-out's sake.

    .. math:: P(c, x) = P(c) \prod_G P(x_G \mid c)

    Each group is one variable of all its joint values. Groups are found by FSSJ (from no column,
    one is added or joined at a time), BSEJ (from naive Bayes, a group is deleted or two are joined
    at a time), or an estimation-of-distribution algorithm over all groupings. What they maximise
    is exact leave-one-out accuracy, from counts; it is an optimised figure, so let
    cross-validation around ``fit`` tell how good the model is.

    ``partial_fit`` keeps the groups of the first batch.

    Parameters
    ----------
    search : {"backward", "forward", "eda"}, default="backward"
        BSEJ, FSSJ, or the algorithm below.
    criterion : {"accuracy", "log_loss"}, default="accuracy"
        What leave-one-out is to improve; "log_loss" asks for good probabilities, too.
    delete : {"group", "member"}, default="group"
        What BSEJ deletes: a whole group, or a single column of one.
    algorithm : UMDA, MIMIC or EBNA of :mod:`unnaive.search`, default=None
        For ``search="eda"``; None: ``UMDA()``.
    seed_with : list of {"nb", "fssj", "bsej"}, default=("nb", "bsej")
        What the first population holds besides chance, so that the result is at least as good.
    tune : "intervals", IENB or None, default=None
        What the paper proposes and never builds: once the groups are found, move the
        probabilities of their tables within their confidence intervals, as :class:`IENB` does.
        An ``IENB(z=1.64, …)`` says how.
    paper : bool, default=False
        Robles et al.'s setting of the EDA: 500 individuals, 1000 offspring, no seeds.
    random_state : int, Generator or None, default=None
        Of the EDA.
    {parameters}

    Attributes
    ----------
    structure_ : GroupGraph
        ``structure_.named`` lists the groups.
    loo_score_, naive_loo_score_ : float
        Criterion of the groups found, by leave-one-out, and of naive Bayes.
    tuned_loo_score_ : float
        With ``tune``: leave-one-out accuracy of the tuned tables.
    evaluations_ : int
        Groupings that were scored.
    search_result_ : Joined, or Result of :mod:`unnaive.search`
        With the history of the search.

    References
    ----------
    Pazzani, "Searching for dependencies in Bayesian classifiers", AI & Statistics 1996.
    Robles, Larrañaga, Peña, Menasalvas, Pérez & Herves, "Learning semi naive Bayes structures by
    estimation of distribution algorithms", EPIA 2003.

    Examples
    --------
    >>> from unnaive import PazzaniNB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 9
    >>> model = PazzaniNB().fit(X, [0, 1, 1, 0] * 9)
    >>> model.structure_.named
    [('x0', 'x1')]
    >>> model.loo_score_
    1.0
    """

    search: str = one_of("backward", "forward", "eda")
    criterion: str = one_of("accuracy", "log_loss")
    delete: str = one_of("group", "member")
    algorithm: EstimationOfDistribution | None = None
    seed_with: Sequence[str] | str | None = parameter(
        ("nb", "bsej"), f"a list of {', '.join(_SEEDS)}", also=(None, *_SEEDS), test=_are_seeds
    )
    tune: IENB | str | None = parameter(
        None, "an IENB()", also=("intervals", None), test=lambda value: isinstance(value, IENB)
    )
    paper: bool = flag(False)
    random_state: Seed = None

    family: ClassVar[str] = "groups"
    assumption: ClassVar[str] = (
        "Columns that are in one group are taken as a single one with all combinations of their "
        "values. Within a class, the groups are independent; some columns may be left out."
    )

    loo_score_ = Shown("Criterion of the groups found, by leave-one-out.")
    naive_loo_score_ = Shown("Criterion of naive Bayes.")
    tuned_loo_score_ = Shown("Leave-one-out accuracy of the tuned tables.")
    evaluations_ = Shown("Groupings that were scored.")
    search_result_ = Shown("How the search went.")

    def recipe(self) -> Recipe:
        """Search for groups in rows, make a table a group, and tune the tables if asked to."""
        return Recipe(
            learn=self._counted_groups,
            choose=self._search,
            tables=GroupFactors(self._tuning()),
            structure=GroupGraph,
            counts="values",
            keeps=True,
        )

    def _tuning(self) -> Tuning | None:
        """Say how the tables are tuned, once the groups are found."""
        if self.tune is None:
            return None
        tuner = self.tune if isinstance(self.tune, IENB) else IENB(random_state=self.random_state)
        return tuner.tuning()

    @staticmethod
    def _counted_groups(source: Source, rows: CodedRows | None) -> Learned | None:
        """Begin with naive Bayes; of counts of groups, take these."""
        families = () if rows is not None else getattr(source, "families", ())
        if not families:
            return single_groups(source, rows)
        groups = tuple(family.columns for family in families)
        return Learned(GroupGraph(source.schema.names, source.schema.target, groups))

    def _search(self, learned: Learned, task: Task) -> Learned:
        """Search for the groups that classify the rows best, each left out."""
        rows, how = task.rows, task.maker.how
        scores = GroupScores(
            task.counts,
            rows,
            how.smoothing,
            class_prior=how.class_prior,
            criterion=self.criterion,
            max_memory=how.max_memory,
        )
        active, alone = rows.schema.sizes > 0, learned.structure.families
        result: Joined | Result
        if self.search == "eda":
            result, groups = self._estimated(scores, active, alone)
        else:
            result = self._greedy(self.search, scores, active)
            groups = result.groups
        trace = {
            "naive_loo_score_": scores.total(alone),
            "search_result_": result,
            "loo_score_": result.fitness,
            "evaluations_": result.evaluations,
        }
        graph, tuning = GroupGraph(rows.schema.names, rows.schema.target, groups), self._tuning()
        if tuning is None:
            return Learned(graph, trace=trace)
        tuned = tuning.search(graph, rows, how).result
        trace = {**trace, "tuned_loo_score_": tuned.fitness}
        return Learned(graph, {"genome": tuned.best}, trace)

    def _greedy(self, search: str, scores: GroupScores, active: BoolArray) -> Joined:
        watch = _progress.watcher()
        if search == "forward":
            return forward_joining(scores, active, watch)
        return backward_joining(scores, active, self.delete, watch)

    def _estimated(
        self, scores: GroupScores, active: BoolArray, alone: Groups
    ) -> tuple[Result, Groups]:
        """Let an estimation-of-distribution algorithm find the groups."""
        from unnaive.search import UMDA, Categories, require_algorithm  # noqa: PLC0415 - import time

        chosen = np.flatnonzero(active)
        given = [self.seed_with] if isinstance(self.seed_with, str) else self.seed_with or ()
        seeds = [
            alone if seed == "nb" else self._greedy(_SEEDS[seed], scores, active).groups
            for seed in ([] if self.paper else given)
        ]

        def whole(genomes: IntArray) -> IntArray:
            every = np.zeros((len(genomes), len(active)), dtype=np.int64)
            every[:, chosen] = genomes
            return every

        def fitness(genomes: IntArray) -> FloatArray:
            used, groups = (
                (genomes > 0).sum(axis=1),
                canonical_genomes(genomes).max(axis=1, initial=0),
            )
            return np.stack([scores.of_genomes(whole(genomes)), -used, -groups], axis=1)

        algorithm = self.algorithm or (UMDA.paper() if self.paper else UMDA())
        require_algorithm("algorithm", algorithm, Categories)
        result = algorithm.maximise(
            Categories([len(chosen) + 1] * len(chosen)),
            fitness,
            random_state=self.random_state,
            seeds=[genome_of(groups, len(active))[chosen] for groups in seeds] or None,
            key=canonical_genomes,
            watch=_progress.watcher(),
        )
        return result, groups_of(whole(result.best[None])[0])
