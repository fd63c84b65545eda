"""Pazzani's classifier: naive Bayes over groups of columns, found by greed or by an EDA."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive import _progress
from unnaive.models.ienb import IENB, GroupClassifier
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
    from unnaive._typing import FloatArray, IntArray
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.structure.groups import Groups, Joined

_SEARCHES = ("forward", "backward", "eda")
_SEEDS = ("nb", "fssj", "bsej")


@dataclass(eq=False, repr=False, kw_only=True)
class PazzaniNB(GroupClassifier):
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

    search: str = "backward"
    criterion: str = "accuracy"
    delete: str = "group"
    algorithm: Any = None
    seed_with: Any = ("nb", "bsej")
    tune: Any = None
    paper: bool = False
    random_state: Any = None

    def _learn_structure(self, source: JointCounts | CodedRows) -> GroupGraph:
        families = source.families  # type: ignore[union-attr]
        if hasattr(self, "structure_") or not families:
            return super()._learn_structure(source)
        groups = tuple(family.columns for family in families)
        return GroupGraph(source.schema.names, source.schema.target, groups)

    def _learn_from_rows(self, source: JointCounts | CodedRows, rows: CodedRows) -> GroupGraph:
        self._check()
        scores = GroupScores(
            source,  # type: ignore[arg-type]
            rows,
            self._smoothing,
            class_prior=self._class_prior,
            criterion=self.criterion,
            max_memory=self.max_memory,
        )
        active = rows.schema.sizes > 0
        alone = tuple((column,) for column in np.flatnonzero(active).tolist())
        self.naive_loo_score_ = scores.total(alone)
        if self.search == "eda":
            found, groups = self._estimated(scores, active, alone)
        else:
            found = self._greedy(self.search, scores, active)
            groups = found.groups
        self.search_result_, self.loo_score_ = found, found.fitness
        self.evaluations_ = found.evaluations
        graph = GroupGraph(rows.schema.names, rows.schema.target, groups)
        return self._tuned(graph, rows) if self.tune is not None else graph

    @property
    def _tuner(self) -> IENB:
        """How the tables are tuned, once the groups are found."""
        return self.tune if isinstance(self.tune, IENB) else IENB(random_state=self.random_state)

    def _tuned(self, graph: GroupGraph, rows: CodedRows) -> GroupGraph:
        found, _ = self._tune_tables(graph, rows)
        self.tuned_loo_score_ = found.fitness
        return replace(graph, genome=found.best)

    def _check(self) -> None:
        if self.search not in _SEARCHES:
            raise ValueError(f"search={self.search!r}; it must be one of {', '.join(_SEARCHES)}")
        if self.criterion not in {"accuracy", "log_loss"}:
            raise ValueError(f"criterion={self.criterion!r}; it must be 'accuracy' or 'log_loss'")
        if self.delete not in {"group", "member"}:
            raise ValueError(f"delete={self.delete!r}; it must be 'group' or 'member'")
        if not (self.tune in (None, "intervals") or isinstance(self.tune, IENB)):
            raise ValueError(f"tune={self.tune!r}; it must be None, 'intervals' or an IENB()")
        strange = [seed for seed in self._seeds if seed not in _SEEDS]
        if strange:
            raise ValueError(f"seed_with names {strange[0]!r}; it may name {', '.join(_SEEDS)}")

    @property
    def _seeds(self) -> list[Any]:
        if isinstance(self.seed_with, str):
            return [self.seed_with]
        return [] if self.seed_with is None or self.paper else list(self.seed_with)

    def _greedy(self, search: str, scores: GroupScores, active: Any) -> Joined:
        watch = _progress.watcher()
        if search == "forward":
            return forward_joining(scores, active, watch)
        return backward_joining(scores, active, self.delete, watch)

    def _estimated(self, scores: GroupScores, active: Any, alone: Groups) -> Any:
        """Let an estimation-of-distribution algorithm find the groups."""
        from unnaive.search import UMDA, Categories, require_algorithm  # noqa: PLC0415 - costs time to import

        chosen = np.flatnonzero(active)
        seeds = [
            alone
            if seed == "nb"
            else self._greedy({"fssj": "forward", "bsej": "backward"}[seed], scores, active).groups
            for seed in self._seeds
        ]

        def whole(genomes: IntArray) -> IntArray:
            found = np.zeros((len(genomes), len(active)), dtype=np.int64)
            found[:, chosen] = genomes
            return found

        def fitness(genomes: IntArray) -> FloatArray:
            used, groups = (
                (genomes > 0).sum(axis=1),
                canonical_genomes(genomes).max(axis=1, initial=0),
            )
            return np.stack([scores.of_genomes(whole(genomes)), -used, -groups], axis=1)

        algorithm = self.algorithm or (UMDA.paper() if self.paper else UMDA())
        require_algorithm("algorithm", algorithm, Categories)
        found = algorithm.maximise(
            Categories([len(chosen) + 1] * len(chosen)),
            fitness,
            random_state=self.random_state,
            seeds=[genome_of(groups, len(active))[chosen] for groups in seeds] or None,
            key=canonical_genomes,
            watch=_progress.watcher(),
        )
        return found, groups_of(whole(found.best[None])[0])
