"""Hidden naive Bayes, with all features or with the informative ones as hidden parents."""

from __future__ import annotations

from math import inf, isnan, log
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive._dataclasses import dataclass
from unnaive._ties import TIE_TOLERANCE
from unnaive.counts.sizes import all_pairs, wide_bytes
from unnaive.information import conditional_mutual_information
from unnaive.models.base import CountsClassifier
from unnaive.models.choice import criterion_of, select
from unnaive.models.recipe import Learned, Recipe, TableMaker
from unnaive.parameters import is_number, one_of, parameter
from unnaive.structure.parents import HiddenParents, average_information, bag_members, bag_weights
from unnaive.tables.hidden import (
    HiddenParentTables,
    hidden_parent_tables,
    sweep_bytes,
    table_bytes,
    threshold_path,
)
from unnaive.tables.smoothing import MEstimate, Smoothing, smoothing_policy

if TYPE_CHECKING:
    from unnaive._typing import FloatArray, State
    from unnaive.counts import CodedRows, JointCounts
    from unnaive.models.recipe import Estimate, Source, Task
    from unnaive.schema import Schema


@dataclass(frozen=True, eq=False)
class HiddenFactors(TableMaker):
    """Makes the tables of every column given its hidden parent."""

    def require(self, schema: Schema, how: Estimate, sets: int = 1) -> None:
        """Raise an error if columns have so many values that a bag of all columns is too large."""
        if wide_bytes(schema)[1]:
            weights = 1.0 - np.eye(len(schema.columns))
            how.require(schema, sets * table_bytes(schema.sizes, weights, len(schema.classes)))

    def combines(self, learned: Learned) -> str:
        """Return how predictions combine the entries of tables: average."""
        return "average"

    def tables(
        self, counts: JointCounts, learned: Learned, how: Estimate, held_out: float | None = None
    ) -> HiddenParentTables:
        """Estimate the tables; raises if they do not fit into memory."""
        bags, sizes = learned.graph(HiddenParents), counts.schema.sizes
        how.require(counts.schema, table_bytes(sizes, bags.weights, counts.n_classes))
        return hidden_parent_tables(
            counts, bags.weights, how.smoothing, class_prior=how.class_prior, held_out=held_out
        )


@dataclass(eq=False, repr=False, kw_only=True)
class HNB(CountsClassifier):
    r"""Hidden naive Bayes: every feature has a hidden parent, the weighted mean of all others.

    .. math:: P(c, x) \propto P(c) \prod_i \sum_{j \ne i} W_{ij}\, P(x_i \mid x_j, c),
              \qquad W_{ij} = \frac{I(X_i;X_j|Y)}{\sum_l I(X_i;X_l|Y)}

    All pairs are used and no structure is searched, so the variance is low. Like :class:`AODE` it
    is a good first choice for up to some hundred features. A feature without conditional mutual
    information with others has the factor P(x_i | c). A missing value has no factor and no weight
    in the hidden parents of others. Leave-one-out keeps the weights of all samples.
    ``smoothing="weka"`` also reproduces how WEKA rounds small terms of the information.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    PHNB : Only informative features as hidden parents.
    AODE : Averages models instead of parents.

    Notes
    -----
    Assumption: every feature depends on a weighted mean of all other features, its hidden parent.
    Dependences that only three or more features show together are not modelled.

    References
    ----------
    Zhang, Jiang & Su, "Hidden naive Bayes", AAAI 2005; Jiang, Zhang & Cai, "A novel
    Bayes model: hidden naive Bayes", IEEE TKDE 21, 2009.

    Examples
    --------
    >>> from unnaive import HNB
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 3
    >>> model = HNB().fit(X, [0, 1, 1, 0] * 3)
    >>> model.predict(X[:4])
    array([0, 1, 1, 0])
    """

    default_smoothing: ClassVar[Smoothing] = MEstimate(1.0)
    family: ClassVar[str] = "hidden parents"

    def recipe(self) -> Recipe:
        """Weight all other features by their conditional mutual information."""
        return Recipe(self._fill_bags, HiddenFactors(), structure=HiddenParents)

    def _fill_bags(self, source: Source, rows: CodedRows | None) -> Learned:
        return Learned(packed(self.information_of(source), -inf, source))

    def information_of(self, source: Source) -> FloatArray:
        """Compute the conditional mutual information that the weights are made of.

        Parameters
        ----------
        source : JointCounts or CodedRows
            Counts, or samples that are scored tile by tile.

        Returns
        -------
        ndarray of shape (d, d)
            I(X_i;X_j|Y) in nats.
        """
        guard = smoothing_policy(self.smoothing, self.default_smoothing).guard
        return conditional_mutual_information(source, self.n_jobs, guard)


@dataclass(eq=False, repr=False, kw_only=True)
class PHNB(HNB):
    r"""Packaged hidden naive Bayes: HNB restricted to informative parents.

    .. math:: P(c, x) \propto P(c) \prod_i \sum_{j \in B_i} W_{ij}\, P(x_i \mid x_j, c),
              \qquad B_i = \{j : I(X_i;X_j|Y) \ge t\}

    The hidden parent of feature i is the weighted mean over its bag :math:`B_i`; a feature with an
    empty bag depends on the class only. A threshold of −inf gives hidden naive Bayes, +inf naive
    Bayes. Use it instead of :class:`HNB` with many features, most of which are unrelated: it is
    faster, and the threshold can be chosen by leave-one-out.

    Parameters
    ----------
    threshold : "average", "loo" or float, default="average"
        Least conditional mutual information of a parent, in bits. "average": the mean over all
        pairs. "loo": of all thresholds that make a difference the one with the best exact
        leave-one-out score, found in one sweep of O(n·k·d²).
    criterion : {"log_loss", "accuracy"}, default="log_loss"
        Score that ``threshold="loo"`` optimizes; on ties the larger threshold, which is faster.
    rule : {"ge", "gt"}, default="ge"
        Whether the threshold must be reached (the listing of the paper) or exceeded (its text).
    {parameters}

    Attributes
    ----------
    path_ : dict of arrays
        With ``threshold="loo"``: ``threshold`` (bits, decreasing), ``members`` (of all bags),
        ``accuracy`` and ``log_loss`` by leave-one-out.
    {attributes}

    See Also
    --------
    HNB : All features as hidden parents.

    Notes
    -----
    Assumption: every feature depends on a weighted mean of the features that are informative about
    it. Dependences that only three or more features show together are not modelled.

    References
    ----------
    Ji, Yu & Zhang, "Packaged hidden naive Bayes".

    Examples
    --------
    >>> from unnaive import PHNB
    >>> X = [["a", "u", 1], ["a", "v", 2], ["b", "u", 2], ["b", "v", 1]] * 3
    >>> PHNB(threshold=0.5).fit(X, [0, 1, 1, 0] * 3).structure_.bags["x0"]
    ['x1']
    """

    threshold: float | str = parameter(
        "average",
        "a number of bits",
        also=("average", "loo"),
        test=lambda value: is_number(value) or (isinstance(value, float) and not isnan(value)),
    )
    criterion: str = criterion_of()
    rule: str = one_of("ge", "gt")

    def recipe(self) -> Recipe:
        """Restrict parents by a threshold, which leave-one-out may choose."""
        by_rows = self.threshold == "loo"
        parts = (self._fill_bags, HiddenFactors(), self._best_threshold if by_rows else None)
        return Recipe(*parts, structure=HiddenParents, keeps=by_rows)

    def _fill_bags(self, source: Source, rows: CodedRows | None) -> Learned:
        if self.threshold == "loo":  # _best_threshold fills the bags
            return Learned(packed(np.zeros((len(source.schema.names),) * 2), inf, source))
        information, threshold = self.information_of(source), self.threshold
        if threshold == "average":
            threshold = average_information(information) / log(2)
        return Learned(packed(information, float(threshold), source, self.rule))

    def _best_threshold(self, learned: Learned, task: Task) -> Learned:
        """Score the thresholds between all distinct values of information, decreasing."""
        rows, how, information = task.rows, task.maker.how, self.information_of(task.source)
        schema = rows.schema
        needed = sweep_bytes(schema.sizes, len(schema.classes))
        how.require(schema, needed, "the sweep over thresholds of PHNB")
        pairs = all_pairs(len(information))
        of_pair = information[pairs[:, 0], pairs[:, 1]]
        order = np.argsort(-of_pair, kind="stable")
        pairs, of_pair = pairs[order], of_pair[order]
        marks = np.append(-np.diff(of_pair) > TIE_TOLERANCE, np.ones(min(len(pairs), 1), bool))
        sweep: State = {"pairs": pairs, "information": of_pair, "marks": marks}
        sweep["class_prior"] = how.class_prior
        scores = threshold_path(rows, rows.count().filled(), how.smoothing, **sweep)
        ends = np.flatnonzero(marks)
        between = (of_pair[ends[:-1]] + of_pair[ends[:-1] + 1]) / 2 if len(ends) else ends
        edges = np.concatenate([[inf], between, [-inf][: len(ends)]]) / log(2)
        members = np.concatenate([[0], 2 * (ends + 1)])
        path = select(scores[:, ::-1], self.criterion, threshold=edges, members=members)
        bags = packed(information, float(edges[path.best]), rows)
        return Learned(bags, trace={"path_": path.table})


def packed(
    information: FloatArray, threshold: float, source: Source, rule: str = "ge"
) -> HiddenParents:
    """Return hidden parents of all columns that reach a threshold in bits."""
    members = bag_members(information, threshold * log(2), rule)
    weights = bag_weights(information, members)
    return HiddenParents(source.schema.names, source.schema.target, members, weights, threshold)
