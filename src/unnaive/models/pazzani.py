"""Pazzani's classifier: naive Bayes over groups of features, found by greedy search or an EDA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive import _progress
from unnaive.models.base import CountsClassifier
from unnaive.models.fitted import Shown
from unnaive.models.ienb import IENB, GroupFactors, Tuning, single_groups
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
from unnaive.tables.groups import CompleteGroupScores, GroupScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unnaive._typing import BoolArray, FloatArray, IntArray, State
    from unnaive.counts import CodedRows
    from unnaive.models.recipe import Source, Task
    from unnaive.search import EstimationOfDistribution, Result
    from unnaive.search.loop import RandomState as Seed
    from unnaive.structure.groups import Groups, Joined

_SEEDS = {"nb": "", "fssj": "forward", "bsej": "backward"}


def _are_seeds(given: object) -> bool:
    """Whether a value is a list of known names of seeds."""
    return isinstance(given, list | tuple) and all(seed in _SEEDS for seed in given)


@dataclass(eq=False, repr=False, kw_only=True)
class PazzaniNB(CountsClassifier):
    r"""Semi-naive Bayes of Pazzani: naive Bayes over groups of joined features.

    .. math:: P(c, x) = P(c) \prod_G P(x_G \mid c)

    Each group is one variable; its values are the combinations of its features' values. Groups are
    found by FSSJ (start without features; add or join one at a time), BSEJ (start with naive Bayes;
    delete a group or join two at a time), or an estimation-of-distribution algorithm over all
    groupings. They maximize the exact leave-one-out accuracy, computed from counts. Use it where a
    few features interact strongly and others are irrelevant. The leave-one-out score was
    optimized; estimate the accuracy on new samples by cross-validation around ``fit``.

    ``partial_fit`` keeps the groups of the first batch.

    Parameters
    ----------
    search : {"backward", "forward", "eda"}, default="backward"
        BSEJ, FSSJ, or the estimation-of-distribution algorithm.
    criterion : {"accuracy", "log_loss"}, default="accuracy"
        Leave-one-out score that is optimized; "log_loss" rewards good probabilities.
    delete : {"group", "member"}, default="group"
        What BSEJ deletes: a whole group, or one feature of a group.
    algorithm : UMDA, MIMIC or EBNA of :mod:`unnaive.search`, default=None
        Algorithm of ``search="eda"``; None: ``UMDA()``.
    seed_with : list of {"nb", "fssj", "bsej"}, default=("nb", "bsej")
        Groupings in the first population; the result is at least as good as these.
    tune : "intervals", IENB or None, default=None
        After the search, tune the probabilities of the groups within their confidence intervals,
        as :class:`IENB` does (proposed as future work in the paper). ``IENB(z=1.64, …)`` gives
        the settings.
    paper : bool, default=False
        The rules of Robles et al. "eda": 500 individuals, 1000 offspring, no seeds. "forward": on
        ties a join comes before a new group, and the first feature is always taken. "backward":
        only single features are joined. A group has no factor for samples that lack one of its
        features, and ``evaluations_`` counts n (1 + groups) for a step forward, n² backward. The
        text leaves these rules open; the paper's table suggests them.
    random_state : int, Generator, RandomState or None, default=0
        Random seed of the estimation-of-distribution algorithm. With the default, two fits to
        the same samples agree. None uses a new seed in every fit, as in scikit-learn.
    {parameters}

    Attributes
    ----------
    structure_ : GroupGraph
        Groups of features; ``structure_.named`` lists them.
    loo_score_ : float
        Leave-one-out score of the groups.
    naive_loo_score_ : float
        Leave-one-out score of naive Bayes.
    tuned_loo_score_ : float
        Leave-one-out accuracy of the tuned tables; only with ``tune``.
    evaluations_ : int
        Number of groupings that were scored.
    search_result_ : Joined, or Result of :mod:`unnaive.search`
        Result and history of the search.
    {attributes}

    See Also
    --------
    IENB : Tunes the probabilities of naive Bayes.
    DecomposableNB : Groups that may overlap.

    Notes
    -----
    Assumption: the features of a group are treated as one feature with all combinations of their
    values. Within a class the groups are independent; some features may be left out.

    References
    ----------
    Pazzani, "Searching for dependencies in Bayesian classifiers", AI & Statistics 1996.
    Robles, Larrañaga, Peña, Pérez, Menasalvas & Herves, "Learning semi naïve Bayes structures by
    estimation of distribution algorithms", EPIA, LNCS 2902, 2003.

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
    random_state: Seed = 0

    family: ClassVar[str] = "groups"

    loo_score_ = Shown("Leave-one-out score of the groups.")
    naive_loo_score_ = Shown("Leave-one-out score of naive Bayes.")
    tuned_loo_score_ = Shown("Leave-one-out accuracy of the tuned tables.")
    evaluations_ = Shown("Number of groupings that were scored.")
    search_result_ = Shown("Result and history of the search.")

    def recipe(self) -> Recipe:
        """Search for groups, make one table per group, and tune the tables if ``tune`` is set."""
        factors = GroupFactors(self._tuning(), complete=self.paper)
        parts = (self._counted_groups, factors, self._search, GroupGraph)
        return Recipe(*parts, counts="values", keeps=True)

    def _tuning(self) -> Tuning | None:
        """Return how the tables are tuned after the search."""
        if self.tune is None:
            return None
        tuner = self.tune if isinstance(self.tune, IENB) else IENB(random_state=self.random_state)
        return Tuning.of(tuner)

    @staticmethod
    def _counted_groups(source: Source, rows: CodedRows | None) -> Learned | None:
        """Start with naive Bayes; counts of groups have their own."""
        families = () if rows is not None else getattr(source, "families", ())
        if not families:
            return single_groups(source, rows)
        groups = tuple(family.columns for family in families)
        return Learned(GroupGraph(source.schema.names, source.schema.target, groups))

    def _search(self, learned: Learned, task: Task) -> Learned:
        """Search for the groups of best leave-one-out score."""
        rows, how = task.rows, task.maker.how
        options: State = {"class_prior": how.class_prior, "criterion": self.criterion}
        options["max_memory"] = how.max_memory
        kind = CompleteGroupScores if self.paper else GroupScores
        scores = kind(task.counts, rows, how.smoothing, **options)
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
        watch = _progress.search_watcher()
        if search == "forward":
            return forward_joining(scores, active, watch, paper=self.paper)
        return backward_joining(scores, active, self.delete, watch, paper=self.paper)

    def _estimated(
        self, scores: GroupScores, active: BoolArray, alone: Groups
    ) -> tuple[Result, Groups]:
        """Search for the groups by an estimation-of-distribution algorithm."""
        from unnaive.search import UMDA, Categories, require_algorithm  # noqa: PLC0415 - import time

        chosen = np.flatnonzero(active)
        names = [self.seed_with] if isinstance(self.seed_with, str) else self.seed_with or ()
        seeds = [
            alone if name == "nb" else self._greedy(_SEEDS[name], scores, active).groups
            for name in ([] if self.paper else names)
        ]

        def whole(genomes: IntArray) -> IntArray:
            every = np.zeros((len(genomes), len(active)), dtype=np.int64)
            every[:, chosen] = genomes
            return every

        def fitness(genomes: IntArray) -> FloatArray:
            used = (genomes > 0).sum(axis=1)
            groups = canonical_genomes(genomes).max(axis=1, initial=0)
            return np.stack([scores.of_genomes(whole(genomes)), -used, -groups], axis=1)

        algorithm = self.algorithm or (UMDA.paper() if self.paper else UMDA())
        require_algorithm("algorithm", algorithm, Categories)
        result = algorithm.maximise(
            Categories([len(chosen) + 1] * len(chosen)),
            fitness,
            random_state=self.random_state,
            seeds=[genome_of(groups, len(active))[chosen] for groups in seeds] or None,
            key=canonical_genomes,
            watch=_progress.search_watcher(),
        )
        return result, groups_of(whole(result.best[None])[0])
